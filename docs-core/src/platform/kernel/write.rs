//! Write transactions, and the responses read within them.

use std::future::ready;

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    BoxFuture, Error, Result,
    platform::kernel::{actor::Actor, audit_log::AuditLog, platform::Platform},
    store::{Answers, AuditMode, KINDS, Operation, PendingWrite, Receipt, WriteContext},
};

/// Maximum number of attempts to write a change prepared for a certain head, if the head keeps changing.
pub(in crate::platform) const MAX_WRITE_ATTEMPTS: usize = 10;

/// The result of an idempotent operation, stored and returned when a client retries the request.
pub(crate) trait Answer: Serialize + DeserializeOwned + Send + Sync {}

impl<T: Serialize + DeserializeOwned + Send + Sync> Answer for T {}

impl Platform {
    /// Runs a write, with retries, until it commits or fails. The audit log records the actor.
    pub(crate) async fn write<O: Operation>(&self, actor: &Actor, operation: &O) -> Result<O::Output> {
        let receipt = self.receipt(self.audited(actor)?);
        docs_store::run(&self.inner.store, self.write_context(&receipt), operation).await
    }

    /// Runs a write, with retries, until it commits or fails. Returns a view read in the same transaction.
    ///
    /// An error means that nothing was changed. [`run_and_show`](docs_store::run_and_show) documents the one exception:
    /// an actor without access to the result of their own change.
    ///
    /// If the view reads counters, the write conflicts with concurrent writes that change them and is retried. A new
    /// record has no such conflicts. The response to an idempotent request is stored for
    /// [`idempotent`](Self::idempotent).
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

    /// Runs a write like [`write_and_show`](Self::write_and_show), also for visitors.
    ///
    /// It is not recorded in the audit log, which anyone could fill otherwise. The operation must limit the number of
    /// records that visitors can create.
    pub(crate) async fn write_unaudited_and_show<'e, O: Operation, V: Answer>(
        &self,
        actor: &Actor,
        operation: &O,
        show: impl for<'t> Fn(PendingWrite<'t, 'e, O::Output>) -> BoxFuture<'t, Result<V>> + Send + Sync,
    ) -> Result<V> {
        let receipt = self.receipt(AuditMode::Unaudited);
        let answers = self.answer_store(actor);
        let answers = answers.as_ref().map(|answers| answers as &dyn Answers<V>);
        docs_store::run_and_show(&self.inner.store, self.write_context(&receipt), operation, answers, show)
            .await
    }

    /// Writes a new revision that was prepared for a certain head. If the head has changed, returns `None` and stores
    /// nothing; the caller must prepare the revision again.
    pub(crate) async fn write_unless_moved<O: Operation<Output = bool>, V: Answer>(
        &self,
        actor: &Actor,
        operation: &O,
        answer: impl Fn() -> V + Send + Sync,
    ) -> Result<Option<V>> {
        self.write_and_show(actor, operation, |done| ready_answer(Ok(done.out.then(&answer)))).await
    }

    /// Runs a maintenance write that no user requested, such as claiming a job. It is not recorded in the audit log.
    pub(crate) async fn upkeep<O: Operation>(&self, operation: &O) -> Result<O::Output> {
        let receipt = self.receipt(AuditMode::Unaudited);
        docs_store::run(&self.inner.store, self.write_context(&receipt), operation).await
    }

    /// Repeats a maintenance write until it returns `false` because nothing remains to do.
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

    /// Returns the audit mode of a write.
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

/// A response that is already available.
pub(in crate::platform) fn ready_answer<'t, V: Send + 't>(answer: Result<V>) -> BoxFuture<'t, Result<V>> {
    Box::pin(ready(answer))
}
