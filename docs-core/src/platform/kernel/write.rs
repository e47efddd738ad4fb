//! Write transactions, and the responses that are read in them.

use std::future::ready;

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    BoxFuture, Error, Result,
    platform::kernel::{actor::Actor, audit_log::AuditLog, platform::Platform},
    store::{Answers, AuditMode, KINDS, Operation, PendingWrite, Receipt, WriteContext},
};

/// Maximum number of attempts of a write that was prepared for a certain head, while the head keeps moving.
pub(in crate::platform) const MAX_WRITE_ATTEMPTS: usize = 10;

/// A result of an operation that can be stored and replayed to a repeated request.
pub(crate) trait Answer: Serialize + DeserializeOwned + Send + Sync {}

impl<T: Serialize + DeserializeOwned + Send + Sync> Answer for T {}

impl Platform {
    /// Runs a write until it commits or fails. The audit log records the actor.
    pub(crate) async fn write<O: Operation>(&self, actor: &Actor, operation: &O) -> Result<O::Output> {
        let receipt = self.receipt(self.audited(actor)?);
        docs_store::run(&self.inner.store, self.write_context(&receipt), operation).await
    }

    /// Runs a write until it commits or fails, and returns a view that is read in the same transaction.
    ///
    /// An error means that nothing was changed, except in the case that [`run_and_show`](docs_store::run_and_show)
    /// documents for an actor who may not see their own change.
    ///
    /// Reading counters for the view makes the write conflict with writes that change them. For a new record there are
    /// none; for a space, a team or a member in use, the attempt is repeated. The response to an idempotent request is
    /// stored for [`once`](Self::once).
    pub(crate) async fn write_and_show<'e, O: Operation, V: Answer>(
        &self,
        actor: &Actor,
        operation: &O,
        show: impl for<'t> Fn(PendingWrite<'t, 'e, O::Output>) -> BoxFuture<'t, Result<V>> + Send + Sync,
    ) -> Result<V> {
        let receipt = self.receipt(self.audited(actor)?);
        let answers = self.answer_store(actor);
        let answers = answers.as_ref().map(|answers| answers as &dyn Answers<V>);
        docs_store::run_and_show(&self.inner.store, self.write_context(&receipt), operation, answers, show)
            .await
    }

    /// Runs a write of a new revision that was prepared for a certain head. Returns `None` and stores nothing if the
    /// head moved; the caller then prepares it again.
    pub(crate) async fn write_unless_moved<O: Operation<Output = bool>, V: Answer>(
        &self,
        actor: &Actor,
        operation: &O,
        answer: impl Fn() -> V + Send + Sync,
    ) -> Result<Option<V>> {
        self.write_and_show(actor, operation, |done| ready_answer(Ok(done.out.then(&answer)))).await
    }

    /// Runs a maintenance write that no user requested, such as the claim of a job. It is not recorded in the audit
    /// log.
    pub(crate) async fn upkeep<O: Operation>(&self, operation: &O) -> Result<O::Output> {
        let receipt = self.receipt(AuditMode::Unaudited);
        docs_store::run(&self.inner.store, self.write_context(&receipt), operation).await
    }

    /// Repeats a maintenance write until it returns `false`: nothing remains to do.
    pub(crate) async fn drain<O: Operation<Output = bool>>(&self, operation: &O) -> Result<()> {
        while self.upkeep(operation).await? {}
        Ok(())
    }

    /// Runs a maintenance write like [`write_and_show`](Self::write_and_show).
    pub(crate) async fn upkeep_and_show<'e, O: Operation, V: Answer>(
        &self,
        operation: &O,
        show: impl for<'t> Fn(PendingWrite<'t, 'e, O::Output>) -> BoxFuture<'t, Result<V>> + Send + Sync,
    ) -> Result<V> {
        let receipt = self.receipt(AuditMode::Unaudited);
        docs_store::run_and_show(&self.inner.store, self.write_context(&receipt), operation, None, show).await
    }

    fn write_context<'a>(&'a self, receipt: &'a Receipt) -> WriteContext<'a> {
        WriteContext { kinds: KINDS, receipt, observer: Some(&self.inner.observer) }
    }

    /// Audit log setting of a write.
    fn audited(&self, actor: &Actor) -> Result<AuditMode> {
        match (actor, self.inner.audit) {
            (Actor::Visitor(_), _) => Err(Error::forbidden("visitors of a site have read-only access")),
            (_, AuditLog::Off) => Ok(AuditMode::Unaudited),
            (_, AuditLog::Retained(_)) => Ok(AuditMode::Actor(actor.user().cloned())),
        }
    }

    fn receipt(&self, logged: AuditMode) -> Receipt {
        Receipt { at: self.inner.ports.clock.now(), id: self.inner.ports.ids.next(), logged }
    }
}

/// A response that needs no reads.
pub(in crate::platform) fn ready_answer<'t, V: Send + 't>(answer: Result<V>) -> BoxFuture<'t, Result<V>> {
    Box::pin(ready(answer))
}
