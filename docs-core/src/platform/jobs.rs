//! Background jobs: payloads, runs and results.

pub(in crate::platform) mod run;

use std::{future::Future, panic::AssertUnwindSafe};

use async_trait::async_trait;
use futures_util::FutureExt as _;
use serde::{Serialize, de::DeserializeOwned};

pub(super) use self::run::{JobRun, Progress, finish_in};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{JobId, Timestamp},
    platform::kernel::{actor::Actor, platform::Platform},
    store::{
        Operation, Tx,
        jobs::{self, Audience, JobClass, NewJob, PutOff},
        records::{JobLine, JobRecord},
    },
};

/// The number of times that a lease is renewed before it would expire.
const RENEWALS_PER_LEASE: i32 = 3;
/// The number of times that a failed renewal is repeated per lease, without the time that the store takes to fail.
const RETRIES_PER_LEASE: i32 = 30;

/// Urgency of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Urgency {
    /// Requested by a user. A postponed retry is run immediately.
    Requested,
    /// Follows from a change. A postponed retry stays postponed, because a burst of changes could otherwise use up the
    /// attempts while a dependency is unreachable.
    FollowUp,
}

/// The payload of a kind of background job.
///
/// A transaction enqueues a payload. The implementation of the job, [`Job`], may be defined in a higher layer.
pub(super) trait Payload: Serialize + DeserializeOwned + Send + Sync {
    /// Name of the kind in the store.
    const KIND: &'static str;

    /// Class of the work. Jobs that wait for external hosts do not delay jobs of other classes.
    const CLASS: JobClass = JobClass::Local;

    /// Creates the maintenance job to enqueue, outside any lane and due immediately.
    ///
    /// # Errors
    /// `Internal` for a payload that cannot be serialized.
    fn to_new_job(&self, id: &JobId, subject: impl ToString, now: Timestamp) -> Result<NewJob> {
        let payload = serde_json::to_value(self).map_err(Error::internal)?;
        let (id, subject) = (id.clone(), subject.to_string());
        let audience = Audience::Operator;
        Ok(NewJob {
            id,
            kind: Self::KIND,
            payload,
            subject,
            owner: None,
            class: Self::CLASS,
            audience,
            lane: None,
            put_off: PutOff::Holds,
            due: now,
        })
    }
}

/// The implementation of a kind of background job.
///
/// `JOB_KINDS` in `platform/host/kinds.rs` lists every implementation. A run may end at any point, for example because
/// of a crash, and is then repeated.
#[async_trait]
pub(super) trait Job: Payload {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect>;
}

/// A job that removes the records of a deleted resource in batches.
#[async_trait]
pub(super) trait Purge: Payload {
    /// `true` if the audit log records the batches.
    const LOGGED: bool = true;

    /// Removes a batch. Returns `true` if more may remain.
    async fn purge_some(&self, tx: &mut Tx) -> Result<bool>;
}

#[async_trait]
impl<P: Purge> Job for P {
    async fn run(self, platform: &Platform, _: &mut JobRun) -> Result<Effect> {
        let batch = PurgeBatch(self);
        if P::LOGGED {
            while platform.write(&Actor::Platform, &batch).await? {}
        } else {
            platform.drain(&batch).await?;
        }
        Ok(Effect::Done)
    }
}

struct PurgeBatch<P>(P);

#[async_trait]
impl<P: Purge> Operation for PurgeBatch<P> {
    type Output = bool;
    const NAME: &'static str = P::KIND;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        self.0.purge_some(tx).await
    }
}

/// A job kind with the function that runs it.
pub(in crate::platform) struct JobHandler {
    pub(in crate::platform) name: &'static str,
    pub(in crate::platform) run: for<'a> fn(&'a Platform, &'a mut JobRun) -> BoxFuture<'a, Result<Effect>>,
}

impl JobHandler {
    pub(in crate::platform) const fn new<J: Job>() -> Self {
        Self {
            name: J::KIND,
            run: |platform, run| {
                Box::pin(async move {
                    let job: J = serde_json::from_value(run.job.payload.clone()).map_err(Error::internal)?;
                    job.run(platform, run).await
                })
            },
        }
    }
}

/// State of a job after a successful run.
pub(super) enum Effect {
    /// The work is done, but the job is not marked as finished yet.
    Done,
    /// The work is done, and the same transaction marked the job as finished.
    Finished,
}

impl Platform {
    /// Renews the lease of a job while a future runs. Returns `None` if another worker has taken over the job.
    pub(super) async fn with_lease_renewal<T>(
        &self,
        job: &JobRecord,
        doing: impl Future<Output = Result<T>>,
    ) -> Option<Result<T>> {
        tokio::pin!(doing);
        let lease = self.inner.job_lease;
        let mut pause = lease / RENEWALS_PER_LEASE;
        loop {
            let renewal = self.clock().now() + pause;
            tokio::select! {
                result = &mut doing => return Some(result),
                () = self.clock().wait_until(renewal) => {
                    match self.upkeep(&jobs::RenewJob { job: job.clone(), now: self.now(), lease }).await {
                        Ok(true) => pause = lease / RENEWALS_PER_LEASE,
                        Ok(false) => {
                            tracing::warn!(job.id = %job.id, "stop job; another worker has it");
                            return None;
                        }
                        // The lease is still valid, and several attempts are made before it expires.
                        Err(error) => {
                            pause = lease / RETRIES_PER_LEASE;
                            tracing::warn!(job.id = %job.id, error = ?error, "failed to renew lease");
                        }
                    }
                }
            }
        }
    }

    /// Stores the result of a run, unless another worker took over the job or it has already ended.
    pub(in crate::platform) async fn end_run(&self, mut run: JobRun, end: jobs::JobEnd) -> Result<()> {
        if let jobs::JobEnd::Failed(_, why) | jobs::JobEnd::Retry(_, why) = &end {
            run.log.push(JobLine { at: self.now(), text: why.clone() });
        }
        let finish = jobs::FinishJob { job: run.job, now: self.now(), end, log: run.log };
        match self.upkeep(&finish).await {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Unavailable => Err(error),
            // The store rejects the log or the reason. End the job without them.
            Err(error) => {
                tracing::error!(job.id = %finish.job.id, error = ?error, "failed to store result of job");
                let why = "failed to store the result; see the log of the server";
                let end = jobs::JobEnd::Failed(ErrorKind::Internal, why.to_owned());
                self.upkeep(&jobs::FinishJob { end, log: Vec::new(), ..finish }).await.map(drop)
            }
        }
    }
}

/// Converts a panic into an error, so that a panicking job does not end the worker.
pub(super) async fn catch_panic<T>(doing: impl Future<Output = Result<T>>) -> Result<T> {
    let caught = AssertUnwindSafe(doing).catch_unwind().await;
    caught.unwrap_or_else(|_| Err(Error::internal("it panicked")))
}
