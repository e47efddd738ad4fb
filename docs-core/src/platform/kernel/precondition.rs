//! Conditional requests. A change is made only if its target is in a state that the caller has seen.
//!
//! An [entity tag](EntityTag) identifies a state of a response. The caller specifies the acceptable states.
//! [`change`](Platform::change) and [`change_and_show`](Platform::change_and_show) read the current state in the
//! transaction of the change, which excludes concurrent changes, and reject any other state.

use std::marker::PhantomData;

use async_trait::async_trait;
use serde::Serialize;

use crate::{
    BoxFuture, Error, ErrorKind, Result,
    platform::kernel::{
        actor::Actor,
        platform::Platform,
        request::{EntityTag, Precondition},
        write::Answer,
    },
    store::{Key, Operation, PendingWrite, Tx},
};

impl Platform {
    /// Binds the platform to one request with a condition. A change is made only if the state of its target matches.
    ///
    /// The state is the [`EntityTag::from_answer`] of the response that the same caller gets when reading the target
    /// with default options.
    ///
    /// Conditions apply to operations that change or delete one item and document it. Other operations ignore them.
    /// Missing permissions are reported before an unmet condition.
    #[must_use]
    pub fn with_precondition(&self, precondition: Precondition) -> Self {
        Self { precondition: Some(precondition), ..self.clone() }
    }

    pub(in crate::platform) fn precondition(&self) -> Option<&Precondition> {
        self.precondition.as_ref()
    }

    /// Runs a write if the view read by `show` before the write satisfies the request's condition.
    pub(crate) fn change<'a, 'e: 'a, O: Operation, V: Serialize + Send + Sync + 'a>(
        &'a self,
        actor: &'a Actor,
        operation: &'a O,
        show: impl for<'t> Fn(PendingWrite<'t, 'e, ()>) -> BoxFuture<'t, Result<V>> + Send + Sync + 'a,
    ) -> BoxFuture<'a, Result<O::Output>> {
        let Some(precondition) = &self.precondition else {
            return Box::pin(self.write(actor, operation));
        };
        let state: Box<dyn TargetState<V> + 'a> = Box::new(StateReader { show, lives: PhantomData });
        Box::pin(async move {
            self.write(actor, &ConditionalChange { operation, precondition, state: state.as_ref() }).await
        })
    }

    /// Like [`change`](Self::change), but returns the view read by `show` after the write, like
    /// [`write_and_show`](Self::write_and_show).
    pub(crate) fn change_and_show<'a, 'e: 'a, O: Operation, V: Answer + 'a>(
        &'a self,
        actor: &'a Actor,
        operation: &'a O,
        show: impl for<'t> Fn(PendingWrite<'t, 'e, ()>) -> BoxFuture<'t, Result<V>> + Send + Sync + 'a,
    ) -> BoxFuture<'a, Result<V>> {
        let state: Box<dyn TargetState<V> + 'a> = Box::new(StateReader { show, lives: PhantomData });
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
trait TargetState<V>: Send + Sync {
    /// Reads the view within a transaction.
    fn read<'t>(&'t self, tx: &'t Tx) -> BoxFuture<'t, Result<V>>;
}

/// A function that reads the view. `'e` is the lifetime of its borrows.
struct StateReader<'e, F> {
    show: F,
    lives: PhantomData<fn(&'e ())>,
}

impl<'e, F, V> TargetState<V> for StateReader<'e, F>
where
    F: for<'t> Fn(PendingWrite<'t, 'e, ()>) -> BoxFuture<'t, Result<V>> + Send + Sync,
{
    fn read<'t>(&'t self, tx: &'t Tx) -> BoxFuture<'t, Result<V>> {
        (self.show)(PendingWrite::new(tx, ()))
    }
}

/// A write that checks a condition on a view read earlier in the same transaction.
struct ConditionalChange<'c, O, V> {
    operation: &'c O,
    precondition: &'c Precondition,
    state: &'c dyn TargetState<V>,
}

#[async_trait]
impl<O: Operation, V: Serialize + Send + Sync> Operation for ConditionalChange<'_, O, V> {
    type Output = O::Output;
    const NAME: &'static str = O::NAME;

    fn hot_keys(&self) -> Vec<Key> {
        self.operation.hot_keys()
    }

    fn taken_error(&self, key: &Key) -> Error {
        self.operation.taken_error(key)
    }

    fn detail(&self) -> Option<&str> {
        self.operation.detail()
    }

    async fn apply(&self, tx: &mut Tx) -> Result<O::Output> {
        let before = match self.state.read(tx).await {
            Ok(before) => Some(EntityTag::from_answer(&before)?),
            // The write itself rejects an actor without access to the target.
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
    use crate::platform::kernel::request::Tags;

    fn tags(texts: &[&str]) -> Option<Tags> {
        Some(Tags::OneOf(texts.iter().copied().map(EntityTag::new).collect()))
    }

    #[test]
    fn if_match_and_if_none_match_follow_http_semantics() {
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
