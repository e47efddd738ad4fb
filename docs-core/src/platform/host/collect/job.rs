//! Daily schedule of the garbage collector. Each step is a job of its own, so an interrupted collection resumes there.

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{CollectMode, Collection};
use crate::{
    Error, Result,
    model::{JobId, Timestamp},
    platform::{
        jobs::{Effect, Job, Payload, Run},
        kernel::platform::Platform,
    },
    ports::id_text,
    store::{
        Key, KeyBuf, Operation, StoreError, Tx, Value,
        jobs::{self, FinishJob, JobOutcome, NewJob},
    },
};

/// Interval between collections.
pub(in crate::platform) const COLLECT_EVERY: TimeDelta = TimeDelta::hours(24);
/// Subject of the jobs of the collector.
const COLLECT_SUBJECT: &str = "objects";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) enum CollectObjects {
    /// Collects the storage areas after one.
    Domains {
        /// The last area that is done.
        after: Option<String>,
    },
    /// Collects the leftovers of interrupted uploads.
    Leftovers,
}

impl Payload for CollectObjects {
    const KIND: &'static str = "objects_collect";
}

#[async_trait]
impl Job for CollectObjects {
    async fn run(self, platform: &Platform, run: &mut Run) -> Result<Effect> {
        let next = {
            let go_on = || !run.is_stopping();
            match self {
                Self::Leftovers => {
                    platform.collect_leftovers(CollectMode::Remove, &go_on).await?;
                    return Ok(Effect::Done);
                }
                Self::Domains { after } => {
                    let step = Collection::new(platform, CollectMode::Remove, &go_on);
                    step.step(after.as_deref()).await?.next
                }
            }
        };
        let next = next.map_or(Self::Leftovers, |after| Self::Domains { after: Some(after) });
        let now = platform.now();
        let finish = run.finish(platform, JobOutcome::default());
        let goes_on = GoOn { finish, next: next.about(&platform.id(), COLLECT_SUBJECT, now)? };
        // If another worker took the job over, that worker does the rest.
        platform.upkeep(&goes_on).await?;
        Ok(Effect::Finished)
    }
}

/// Finishes a step and enqueues the next.
struct GoOn {
    finish: FinishJob,
    next: NewJob,
}

#[async_trait]
impl Operation for GoOn {
    type Out = ();
    const NAME: &'static str = "collection_go_on";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        if jobs::finish(tx, &self.finish).await? {
            jobs::enqueue(tx, self.finish.now, self.next.clone()).await?;
        }
        Ok(())
    }
}

/// State of the collector of a store.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CollectionState {
    /// Identifies the store as the owner of its blobs.
    pub(super) store: String,
    /// Time when the last collection was enqueued.
    enqueued_at: Timestamp,
}

/// Reads the state, creating it if missing, and enqueues the next collection once it is due.
struct ReadState {
    drawn: String,
    now: Timestamp,
    enqueue: Option<NewJob>,
}

fn state_key() -> Key {
    KeyBuf::new("sys").part("collection").key()
}

#[async_trait]
impl Operation for ReadState {
    type Out = CollectionState;
    const NAME: &'static str = "collection_state";

    async fn apply(&self, tx: &mut Tx) -> Result<CollectionState> {
        let (mut state, is_new) = match tx.get_value(&state_key()).await? {
            Some(Value::Json(json)) => (serde_json::from_slice(&json).map_err(Error::internal)?, false),
            Some(_) => {
                return Err(StoreError::Corrupt(
                    "the stored state of collections is not valid JSON".to_owned(),
                )
                .into());
            }
            None => (CollectionState { store: self.drawn.clone(), enqueued_at: self.now }, true),
        };
        let due =
            self.enqueue.as_ref().filter(|_| self.now.time() - state.enqueued_at.time() >= COLLECT_EVERY);
        if let Some(job) = due {
            state.enqueued_at = self.now;
            jobs::enqueue(tx, self.now, job.clone()).await?;
        }
        if is_new || due.is_some() {
            let json = serde_json::to_vec(&state).map_err(Error::internal)?;
            tx.put_value(state_key(), Value::Json(json.into()));
        }
        Ok(state)
    }
}

impl Platform {
    pub(super) async fn collection_state(&self, enqueue: Option<NewJob>) -> Result<CollectionState> {
        let drawn = id_text(self.ids().next());
        self.upkeep(&ReadState { drawn, now: self.now(), enqueue }).await
    }

    /// Enqueues a collection if [`COLLECT_EVERY`] has passed since the last.
    pub(in crate::platform) async fn schedule_collection(&self) -> Result<()> {
        let now = self.now();
        let job = CollectObjects::Domains { after: None }.about(&self.id::<JobId>(), COLLECT_SUBJECT, now)?;
        self.collection_state(Some(job)).await.map(drop)
    }
}

/// Removes copy notes.
pub(super) struct DropNotes(pub(super) Vec<Key>);

#[async_trait]
impl Operation for DropNotes {
    type Out = ();
    const NAME: &'static str = "copy_notes_drop";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        for note in &self.0 {
            tx.delete_value(Key::clone(note));
        }
        Ok(())
    }
}
