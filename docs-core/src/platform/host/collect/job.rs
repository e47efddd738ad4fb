//! Daily schedule of the garbage collector. Each step is a separate job, so an interrupted collection resumes at the
//! last step.

use async_trait::async_trait;
use chrono::TimeDelta;
use docs_macros::operation;
use serde::{Deserialize, Serialize};

use super::{CollectMode, CollectionPass};
use crate::{
    Error, Result,
    model::{JobId, Timestamp},
    platform::{
        jobs::{Effect, Job, JobRun, Payload},
        kernel::platform::Platform,
    },
    ports::id_text,
    store::{
        Key, KeyBuf, Operation, StoreError, Tx, Value,
        jobs::{self, FinishJob, JobOutcome, NewJob},
    },
};

/// Interval between collections.
pub(in crate::platform) const COLLECT_INTERVAL: TimeDelta = TimeDelta::hours(24);
/// Subject of the collector's jobs.
const COLLECT_SUBJECT: &str = "objects";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) enum CollectObjects {
    /// Collects the storage domains after a given one.
    Domains {
        /// The last domain already collected.
        after: Option<String>,
    },
    /// Collects leftovers of interrupted uploads.
    Leftovers,
}

impl Payload for CollectObjects {
    const KIND: &'static str = "objects_collect";
}

#[async_trait]
impl Job for CollectObjects {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        let next = {
            let go_on = || !run.is_stopping();
            match self {
                Self::Leftovers => {
                    platform.collect_leftovers(CollectMode::Remove, &go_on).await?;
                    return Ok(Effect::Done);
                }
                Self::Domains { after } => {
                    let step = CollectionPass::new(platform, CollectMode::Remove, &go_on);
                    step.step(after.as_deref()).await?.next
                }
            }
        };
        let next = next.map_or(Self::Leftovers, |after| Self::Domains { after: Some(after) });
        let now = platform.now();
        let finish = run.finish(platform, JobOutcome::default());
        let next = next.to_new_job(&platform.id(), COLLECT_SUBJECT, now)?;
        // If another worker has taken over the job, it continues from here.
        platform.upkeep(&go_on(&finish, &next)).await?;
        Ok(Effect::Finished)
    }
}

/// Completes a step and enqueues the next.
#[operation("collection_go_on")]
async fn go_on(tx: &mut Tx, finish: &FinishJob, next: &NewJob) -> Result<()> {
    if jobs::finish(tx, finish).await? {
        jobs::enqueue(tx, finish.now, next.clone()).await?;
    }
    Ok(())
}

/// The collector's state for a store.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CollectionState {
    /// Identifies the store as the owner of its blobs.
    pub(super) store: String,
    /// Time when the last collection was enqueued.
    enqueued_at: Timestamp,
}

fn state_key() -> Key {
    KeyBuf::new("sys").part("collection").key()
}

/// Reads the state, creating it if missing, and enqueues the next collection once it is due.
#[operation("collection_state")]
async fn read_state(
    tx: &mut Tx,
    drawn: &str,
    now: Timestamp,
    enqueue: Option<&NewJob>,
) -> Result<CollectionState> {
    let (mut state, is_new) = match tx.get_value(&state_key()).await? {
        Some(Value::Json(json)) => (serde_json::from_slice(&json).map_err(Error::internal)?, false),
        Some(_) => {
            return Err(
                StoreError::Corrupt("the stored state of collections is not valid JSON".to_owned()).into()
            );
        }
        None => (CollectionState { store: drawn.to_owned(), enqueued_at: now }, true),
    };
    let due = enqueue.filter(|_| now.time() - state.enqueued_at.time() >= COLLECT_INTERVAL);
    if let Some(job) = due {
        state.enqueued_at = now;
        jobs::enqueue(tx, now, job.clone()).await?;
    }
    if is_new || due.is_some() {
        let json = serde_json::to_vec(&state).map_err(Error::internal)?;
        tx.put_value(state_key(), Value::Json(json.into()));
    }
    Ok(state)
}

impl Platform {
    pub(super) async fn collection_state(&self, enqueue: Option<NewJob>) -> Result<CollectionState> {
        let drawn = id_text(self.ids().next());
        self.upkeep(&read_state(&drawn, self.now(), enqueue.as_ref())).await
    }

    /// Enqueues a collection if [`COLLECT_INTERVAL`] has passed since the last one.
    pub(in crate::platform) async fn schedule_collection(&self) -> Result<()> {
        let now = self.now();
        let job =
            CollectObjects::Domains { after: None }.to_new_job(&self.id::<JobId>(), COLLECT_SUBJECT, now)?;
        self.collection_state(Some(job)).await.map(drop)
    }
}

/// Removes copy notes.
pub(super) struct DropNotes(pub(super) Vec<Key>);

#[async_trait]
impl Operation for DropNotes {
    type Output = ();
    const NAME: &'static str = "copy_notes_drop";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        for note in &self.0 {
            tx.delete_value(Key::clone(note));
        }
        Ok(())
    }
}
