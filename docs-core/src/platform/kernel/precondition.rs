//! Conditional requests: a change is made only if its target is in the state that the caller has seen.
//!
//! An [entity tag](EntityTag) identifies a state of a response. The caller names the acceptable states.
//! [`change`](Platform::change) and [`change_and_show`](Platform::change_and_show) read the current state in the
//! transaction of the change, which excludes concurrent changes, and reject any other state.

use std::{fmt, marker::PhantomData};

use async_trait::async_trait;
use serde::Serialize;

use crate::{
    BoxFuture, Error, ErrorKind, Result,
    platform::{Actor, Answer, Platform},
    store::{Hash, Key, Operation, Tx, Written},
};

/// Identifier of a state of a response. Two responses with the same tag are equal byte for byte.
///
/// # Example
/// ```
/// use docs_core::platform::EntityTag;
///
/// let (one, other) = (EntityTag::of(&["a"])?, EntityTag::of(&["b"])?);
/// assert_ne!(one, other);
/// assert_eq!(EntityTag::of(&["a"])?, one);
/// # Ok::<(), docs_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityTag(String);

impl EntityTag {
    /// Creates a tag from its text, as sent by a caller.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Computes the tag of a response.
    ///
    /// # Errors
    /// `Internal` for a response that cannot be serialized.
    pub fn of(answer: &impl Serialize) -> Result<Self> {
        Ok(Self::of_bytes(&serde_json::to_vec(answer).map_err(Error::internal)?))
    }

    /// Computes the tag of a response that is already serialized as JSON.
    #[must_use]
    pub fn of_bytes(json: &[u8]) -> Self {
        let mut text = Hash::of(json).to_string();
        text.truncate(32);
        Self(text)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EntityTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The states of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Any existing state.
    Any,
    /// One of these states.
    OneOf(Vec<EntityTag>),
}

impl Tags {
    /// Returns `true` if the current state matches; `None` if the target does not exist.
    #[must_use]
    pub fn contain(&self, current: Option<&EntityTag>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::OneOf(tags), Some(current)) => tags.contains(current),
        }
    }
}

/// Condition of a change. The default has no condition.
///
/// # Example
/// ```
/// # use docs_core::{Platform, model::{SpaceId, UpdateSpace, UserId}, platform::{EntityTag, Precondition}};
/// # async fn example(platform: &Platform, ada: &UserId, space: &SpaceId) -> docs_core::Result<()> {
/// let seen = platform.as_user(ada).space(space).get().await?;
/// let unchanged = Precondition::if_match(EntityTag::of(&seen)?);
/// let platform = platform.with_precondition(unchanged);
/// platform.as_user(ada).space(space).update(UpdateSpace::default()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// The target is in one of these states.
    pub if_match: Option<Tags>,
    /// The target is in none of these states.
    pub if_none_match: Option<Tags>,
}

impl Precondition {
    /// Creates the condition that the target is in this state.
    #[must_use]
    pub fn if_match(tag: EntityTag) -> Self {
        Self { if_match: Some(Tags::OneOf(vec![tag])), if_none_match: None }
    }

    /// Checks the condition for the current state; `None` if the target does not exist.
    ///
    /// # Errors
    /// `Precondition` naming the condition.
    pub fn check(&self, current: Option<&EntityTag>) -> Result<()> {
        let refused = |why: &str| Err(Error::new(ErrorKind::Precondition, why.to_owned()));
        match (&self.if_match, &self.if_none_match) {
            (Some(tags), _) if !tags.contain(current) => {
                refused("If-Match: the resource has changed; read it again, then repeat the change")
            }
            (_, Some(tags)) if tags.contain(current) => {
                refused("If-None-Match: the resource exists in this state; omit the header to change it")
            }
            _ => Ok(()),
        }
    }
}

impl Platform {
    /// Binds the platform to one request with a condition: a change is made only if its target is in a matching state.
    ///
    /// The state is that of the response to reading the target with default options and as the same caller: the
    /// [`EntityTag::of`] of that response.
    ///
    /// Conditions apply to operations that change or delete one item and document it; other operations ignore them.
    /// Missing rights are reported before the condition.
    #[must_use]
    pub fn with_precondition(&self, precondition: Precondition) -> Self {
        Self { precondition: Some(precondition), ..self.clone() }
    }

    pub(in crate::platform) fn precondition(&self) -> Option<&Precondition> {
        self.precondition.as_ref()
    }

    /// Runs a write if the view that `show` reads before it satisfies the condition of the request.
    pub(crate) fn change<'a, 'e: 'a, O: Operation, V: Serialize + Send + Sync + 'a>(
        &'a self,
        actor: &'a Actor,
        operation: &'a O,
        show: impl for<'t> Fn(Written<'t, 'e, ()>) -> BoxFuture<'t, Result<V>> + Send + Sync + 'a,
    ) -> BoxFuture<'a, Result<O::Out>> {
        let Some(precondition) = &self.precondition else {
            return Box::pin(self.write(actor, operation));
        };
        let state: Box<dyn State<V> + 'a> = Box::new(StateReader { show, lives: PhantomData });
        Box::pin(async move {
            self.write(actor, &ConditionalChange { operation, precondition, state: state.as_ref() }).await
        })
    }

    /// Like [`change`](Self::change), and returns the view that `show` reads afterwards, like
    /// [`write_and_show`](Self::write_and_show).
    pub(crate) fn change_and_show<'a, 'e: 'a, O: Operation, V: Answer + 'a>(
        &'a self,
        actor: &'a Actor,
        operation: &'a O,
        show: impl for<'t> Fn(Written<'t, 'e, ()>) -> BoxFuture<'t, Result<V>> + Send + Sync + 'a,
    ) -> BoxFuture<'a, Result<V>> {
        let state: Box<dyn State<V> + 'a> = Box::new(StateReader { show, lives: PhantomData });
        Box::pin(async move {
            let state = state.as_ref();
            match &self.precondition {
                Some(precondition) => {
                    let change = ConditionalChange { operation, precondition, state };
                    self.write_and_show(actor, &change, |done| state.read(done.tx)).await
                }
                None => self.write_and_show(actor, operation, |done| state.read(done.tx)).await,
            }
        })
    }
}

/// Reads the state of a target as a view of type `V`.
trait State<V>: Send + Sync {
    /// Reads the view within a transaction.
    fn read<'t>(&'t self, tx: &'t Tx) -> BoxFuture<'t, Result<V>>;
}

/// A function that reads the view; `'e` is the lifetime of its borrows.
struct StateReader<'e, F> {
    show: F,
    lives: PhantomData<fn(&'e ())>,
}

impl<'e, F, V> State<V> for StateReader<'e, F>
where
    F: for<'t> Fn(Written<'t, 'e, ()>) -> BoxFuture<'t, Result<V>> + Send + Sync,
{
    fn read<'t>(&'t self, tx: &'t Tx) -> BoxFuture<'t, Result<V>> {
        (self.show)(Written::new(tx, ()))
    }
}

/// A write that checks a condition on a view read before it, in the same transaction.
struct ConditionalChange<'c, O, V> {
    operation: &'c O,
    precondition: &'c Precondition,
    state: &'c dyn State<V>,
}

#[async_trait]
impl<O: Operation, V: Serialize + Send + Sync> Operation for ConditionalChange<'_, O, V> {
    type Out = O::Out;
    const NAME: &'static str = O::NAME;

    fn hot(&self) -> Vec<Key> {
        self.operation.hot()
    }

    fn taken(&self, key: &Key) -> Error {
        self.operation.taken(key)
    }

    fn detail(&self) -> Option<&str> {
        self.operation.detail()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<O::Out> {
        let before = match self.state.read(tx).await {
            Ok(before) => Some(EntityTag::of(&before)?),
            // The write itself rejects an actor who may not see the target.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => None,
            Err(error) => return Err(error),
        };
        // An error of the write takes precedence over the condition.
        let done = self.operation.apply(tx).await?;
        self.precondition.check(before.as_ref())?;
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(texts: &[&str]) -> Option<Tags> {
        Some(Tags::OneOf(texts.iter().copied().map(EntityTag::new).collect()))
    }

    #[test]
    fn a_condition_is_met_as_the_standard_says() {
        let (one, nothing) = (EntityTag::new("one"), None);
        for (if_match, if_none_match, current, met) in [
            (None, None, Some(&one), true),
            (None, None, nothing, true),
            (tags(&["one"]), None, Some(&one), true),
            (tags(&["two", "one"]), None, Some(&one), true),
            (tags(&["two"]), None, Some(&one), false),
            (tags(&[]), None, Some(&one), false),
            (tags(&["one"]), None, nothing, false),
            (Some(Tags::Any), None, Some(&one), true),
            (Some(Tags::Any), None, nothing, false),
            (None, tags(&["one"]), Some(&one), false),
            (None, tags(&["two"]), Some(&one), true),
            (None, Some(Tags::Any), Some(&one), false),
            (None, Some(Tags::Any), nothing, true),
            (tags(&["one"]), tags(&["one"]), Some(&one), false),
        ] {
            let condition = Precondition { if_match, if_none_match };
            let checked = condition.check(current);
            assert_eq!(checked.is_ok(), met, "{condition:?} of {current:?}");
            if let Err(refused) = checked {
                assert_eq!(refused.kind(), ErrorKind::Precondition);
                assert!(refused.message().starts_with("If-"), "{refused:?}");
            }
        }
    }
}
