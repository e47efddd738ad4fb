//! Requests on a condition: a change is made only where what it changes is what its caller has seen.
//!
//! A [tag](EntityTag) names one state of an answer. Whoever changes something names the states that the change is meant
//! for; [`change`](Platform::change) and [`change_and_show`](Platform::change_and_show) read the state within the
//! transaction of the change, so that nobody comes in between, and refuse any other.

use std::{fmt, marker::PhantomData};

use async_trait::async_trait;
use serde::Serialize;

use super::{Actor, Answer, Platform};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    store::{Hash, Key, Operation, Tx, Written},
};

/// The name of one state of an answer: two answers with the same tag are the same bytes.
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
    /// A tag by its text, as a caller sends it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The tag of an answer.
    ///
    /// # Errors
    /// `Internal` for what cannot be written as JSON.
    pub fn of(answer: &impl Serialize) -> Result<Self> {
        Ok(Self::of_bytes(&serde_json::to_vec(answer).map_err(Error::internal)?))
    }

    /// The tag of an answer that is written as JSON already.
    #[must_use]
    pub fn of_bytes(json: &[u8]) -> Self {
        let mut text = Hash::of(json).to_string();
        text.truncate(32);
        Self(text)
    }

    /// Its text.
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

/// The states that a condition names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Any: that there is something at all.
    Any,
    /// One of these.
    OneOf(Vec<EntityTag>),
}

impl Tags {
    /// Tells whether this state is among them; `None` where there is nothing.
    #[must_use]
    pub fn contain(&self, current: Option<&EntityTag>) -> bool {
        match (self, current) {
            (_, None) => false,
            (Self::Any, Some(_)) => true,
            (Self::OneOf(tags), Some(current)) => tags.contains(current),
        }
    }
}

/// What has to be so for a change to be made. Without any condition it is made.
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
    /// What is changed is in one of these states.
    pub if_match: Option<Tags>,
    /// What is changed is in none of these states.
    pub if_none_match: Option<Tags>,
}

impl Precondition {
    /// The condition that what is changed is in this state.
    #[must_use]
    pub fn if_match(tag: EntityTag) -> Self {
        Self { if_match: Some(Tags::OneOf(vec![tag])), if_none_match: None }
    }

    /// Checks it on what is there now; `None` where there is nothing.
    ///
    /// # Errors
    /// `Precondition` that names the condition.
    pub fn check(&self, current: Option<&EntityTag>) -> Result<()> {
        let refused = |why: &str| Err(Error::new(ErrorKind::Precondition, why.to_owned()));
        match (&self.if_match, &self.if_none_match) {
            (Some(tags), _) if !tags.contain(current) => refused(
                "If-Match: this is not the current state any more; read it again, and change what it is now",
            ),
            (_, Some(tags)) if tags.contain(current) => {
                refused("If-None-Match: there is such a state; leave the header out to change it")
            }
            _ => Ok(()),
        }
    }
}

impl Platform {
    /// The same platform for one request, which changes something only where it is in a state that the condition
    /// admits. The state is that of the answer to reading it, with default options and by the same caller: a tag of
    /// [`EntityTag::of`] that answer.
    ///
    /// It holds for the operations that change or delete one thing and say that they take a condition; others ignore
    /// it. Who may not make the change is refused for that, whatever the state is.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, platform::{EntityTag, Precondition}};
    /// # fn example(platform: &Platform, tag: EntityTag) {
    /// let platform = platform.with_precondition(Precondition::if_match(tag));
    /// # let _ = platform;
    /// # }
    /// ```
    #[must_use]
    pub fn with_precondition(&self, precondition: Precondition) -> Self {
        Self { precondition: Some(precondition), ..self.clone() }
    }

    /// The condition of the request.
    pub(super) fn precondition(&self) -> Option<&Precondition> {
        self.precondition.as_ref()
    }

    /// Runs a write of something, if what `show` reads of it before is what the request's condition admits.
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

    /// The same, and answers with what `show` reads of it afterwards, as [`write_and_show`](Self::write_and_show) does.
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

/// What the state of something is read as.
trait State<V>: Send + Sync {
    /// Reads it, as a transaction sees it.
    fn read<'t>(&'t self, tx: &'t Tx) -> BoxFuture<'t, Result<V>>;
}

/// A function that reads the state of something; `'e` is how long what it borrows lives.
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

/// A write on a condition about what is read before it, in its own transaction.
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
            // Whoever does not see it is refused by the write itself.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => None,
            Err(error) => return Err(error),
        };
        // A write that is refused anyway is refused for its own reason.
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
