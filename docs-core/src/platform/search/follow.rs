//! Synchronization of the search index, which follows the feed of head changes and compares all spaces at startup.
//!
//! The index records, for each space, the root of the indexed content. Updating a space compares that root with the
//! current one. The cost is proportional to the changes, and the update is idempotent and resumable.
//!
//! An index is updated by its own process. Two servers on one store have separate indexes.

use std::{
    collections::BTreeSet,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::{Mutex, Notify};

use super::{
    index_batch::{IndexBatch, lost_batch_error},
    index_queue::IndexQueue,
    space_task::{SpaceTask, current_metadata},
};
use crate::{
    Error, ErrorKind, Result,
    model::{OrgId, SpaceId},
    platform::{content::openapi_specs::SPEC_FEED, jobs::catch_panic, kernel::platform::Platform},
    ports::{SearchError, SearchIndex, search::IndexChange},
    store::{
        Batches, Entity, FeedPos, Key, KeyBuf, StoreError, StoreResult, decode, key, records::SpaceRecord,
        topic,
    },
};

/// Number of feed entries per round.
const FEED_BATCH: u32 = 500;
/// Number of spaces compared per batch.
const COMPARE_BATCH: usize = 100;
/// Maximum time that a search waits for an index that has never been complete.
const INDEX_TIMEOUT: Duration = Duration::from_secs(1);

/// A search index with its synchronization state in this process.
pub(in crate::platform) struct Follower {
    index: Arc<dyn SearchIndex>,
    /// Held by the worker that updates the index.
    turn: Mutex<()>,
    /// Held for one round.
    state: Mutex<IndexState>,
    /// Notified when the index is complete.
    caught_up: Notify,
    /// The time when the feed was last read to its end, in milliseconds. Initially the time of opening.
    followed_at: AtomicI64,
    /// `true` if the index has ever been complete. Its results may then be stale, but not partial.
    is_caught_up: AtomicBool,
}

#[derive(Default)]
struct IndexState {
    /// `true` if all spaces have been compared since this process started. A persisted index may belong to another
    /// store, or to a state from before this store was restored.
    is_compared: bool,
    /// `true` if the spaces that differed are indexed.
    is_complete: bool,
    /// `true` if a round failed or was cancelled, so that changes may be lost.
    is_interrupted: bool,
    /// The end of the feed that was read. The position of the index may be before it.
    read_to: Option<FeedPos>,
    /// The spaces to index.
    queue: IndexQueue<SpaceTask>,
}

impl IndexState {
    /// Continues from the position of the index.
    fn restart(&mut self, position: Option<FeedPos>) {
        *self = match self.is_complete {
            true => Self { is_compared: true, is_complete: true, read_to: position, ..Self::default() },
            false => Self::default(),
        };
    }
}

/// The result of reading the feed.
enum FeedNews {
    None,
    Some,
    /// Entries may have been dropped before they were read.
    Lost,
}

/// The end of the turn of an organization.
#[derive(PartialEq, Eq)]
enum TurnEnd {
    Over,
    /// A space changed again while it was indexed.
    Repeated,
}

/// The result of one round.
pub(in crate::platform) enum RoundOutcome {
    /// Changes were applied, and there may be more.
    Changed,
    /// Changes were applied, and there are more.
    Unfinished,
    /// No changes. The index is current up to this position.
    Current(Option<FeedPos>),
}

impl Follower {
    /// Creates a follower. Its lag is measured from `now`.
    pub(in crate::platform) fn new(index: Arc<dyn SearchIndex>, now: DateTime<Utc>) -> Self {
        Self {
            index,
            turn: Mutex::default(),
            state: Mutex::default(),
            caught_up: Notify::new(),
            followed_at: AtomicI64::new(now.timestamp_millis()),
            is_caught_up: AtomicBool::new(false),
        }
    }

    pub(in crate::platform) fn index(&self) -> &Arc<dyn SearchIndex> {
        &self.index
    }

    /// Returns `true` if the index has been complete once, in this process or before. A persistent index indicates this
    /// by having a position.
    pub(in crate::platform) async fn is_caught_up(&self) -> Result<bool> {
        if self.is_caught_up.load(Ordering::Acquire) {
            return Ok(true);
        }
        match self.index.position().await {
            Ok(position) => {
                if position.is_some() {
                    self.is_caught_up.store(true, Ordering::Release);
                }
                Ok(position.is_some())
            }
            // The worker rebuilds it.
            Err(SearchError::Damaged(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the time since the feed was last read to its end, or since the index was opened.
    pub(in crate::platform) fn lag(&self, now: DateTime<Utc>) -> TimeDelta {
        TimeDelta::milliseconds(now.timestamp_millis() - self.followed_at.load(Ordering::Relaxed))
    }

    /// Clears the index. Results are partial until everything is reindexed.
    async fn clear(&self) -> Result<()> {
        self.is_caught_up.store(false, Ordering::Release);
        Ok(self.index.clear().await?)
    }

    /// Waits until no other worker of this process is updating the index.
    pub(in crate::platform) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}

impl Platform {
    /// Updates the search index to the current state of the store.
    pub(in crate::platform) async fn index_all(&self) -> Result<()> {
        let Some(follower) = self.follower() else { return Ok(()) };
        while !matches!(self.index_batch(&follower).await?, RoundOutcome::Current(_)) {}
        Ok(())
    }

    /// Returns a search index that has been complete at some time.
    ///
    /// If it was never complete, this waits for completion, and runs rounds itself if no worker does.
    ///
    /// # Errors
    ///
    /// `Unavailable` on timeout; `Precondition` if there is no index.
    pub(super) async fn searchable_index(&self) -> Result<Arc<dyn SearchIndex>> {
        let missing = || Error::new(ErrorKind::Precondition, "this server has no search index");
        let follower = self.follower().ok_or_else(missing)?;
        let catching_up = async {
            loop {
                let mut caught_up = pin!(follower.caught_up.notified());
                caught_up.as_mut().enable();
                if follower.is_caught_up().await? {
                    return Ok(());
                }
                match follower.turn.try_lock() {
                    Ok(_turn) => drop(self.index_batch(&follower).await?),
                    // A worker updates the index. If this call ended one of its rounds, the round would be lost.
                    Err(_) => caught_up.await,
                }
            }
        };
        match tokio::time::timeout(INDEX_TIMEOUT, catching_up).await {
            Ok(caught_up) => caught_up.map(|()| Arc::clone(follower.index())),
            Err(_) => Err(incomplete_index_error()),
        }
    }

    /// Rejects the call while searches would return partial results.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub(in crate::platform) async fn require_index(&self) -> Result<()> {
        match self.follower() {
            Some(follower) if !follower.is_caught_up().await? => Err(incomplete_index_error()),
            _ => Ok(()),
        }
    }

    /// Runs one round of updates.
    pub(in crate::platform) async fn index_batch(&self, follower: &Follower) -> Result<RoundOutcome> {
        let mut state = follower.state.lock().await;
        let position = match follower.index.position().await {
            Err(error @ SearchError::Damaged(_)) => {
                tracing::error!(%error, "rebuild search index");
                follower.clear().await?;
                *state = IndexState::default();
                None
            }
            position => position?,
        };
        if state.is_interrupted {
            state.restart(position.clone());
        }
        state.is_interrupted = true;
        let outcome = self.run_round(follower, &mut state, position).await?;
        state.is_interrupted = false;
        Ok(outcome)
    }

    async fn run_round(
        &self,
        follower: &Follower,
        state: &mut IndexState,
        position: Option<FeedPos>,
    ) -> Result<RoundOutcome> {
        let mut pending = IndexBatch::default();
        let news = match state.is_compared {
            true => self.read_feed(follower, state, &mut pending).await?,
            false => {
                self.compare_all(follower, state, position, &mut pending).await?;
                FeedNews::Some
            }
        };
        match news {
            FeedNews::Lost => {
                *state = IndexState::default();
                return Ok(RoundOutcome::Changed);
            }
            FeedNews::None if state.queue.is_empty() => {
                follower.followed_at.store(self.clock().now().timestamp_millis(), Ordering::Relaxed);
                return Ok(RoundOutcome::Current(state.read_to.clone()));
            }
            FeedNews::None | FeedNews::Some => {}
        }
        self.index_turns(follower, &mut state.queue, &mut pending).await?;
        match state.queue.take_finished() {
            Some(end) => {
                follower.index.apply(pending.changes, end).await?;
                state.is_complete = true;
                follower.is_caught_up.store(true, Ordering::Release);
                follower.caught_up.notify_waiters();
            }
            None if pending.changes.is_empty() => {}
            None => follower.index.apply(pending.changes, None).await.map_err(lost_batch_error)?,
        }
        Ok(if state.queue.is_empty() { RoundOutcome::Changed } else { RoundOutcome::Unfinished })
    }

    /// Reads a part of the feed, and adds the changed spaces to the queue.
    async fn read_feed(
        &self,
        follower: &Follower,
        state: &mut IndexState,
        pending: &mut IndexBatch,
    ) -> Result<FeedNews> {
        let news = match self.store().changes(topic::HEAD, state.read_to.clone(), FEED_BATCH).await {
            Err(StoreError::Misuse(_)) => return Ok(FeedNews::Lost),
            news => news?,
        };
        let (Some((first, _)), Some((last, _))) = (news.first(), news.last()) else {
            return Ok(FeedNews::None);
        };
        // If the next entry is also the oldest retained one, older entries may have been dropped before they were read.
        let oldest = self.store().changes(topic::HEAD, None, 1).await?;
        if oldest.first().is_none_or(|(oldest, _)| oldest == first) {
            return Ok(FeedNews::Lost);
        }
        let mut moved: BTreeSet<SpaceId> = BTreeSet::new();
        let mut changed_specs: BTreeSet<OrgId> = BTreeSet::new();
        for (_, key) in &news {
            // Keys for heads of change requests have a third segment.
            match key::segments(key).as_slice() {
                [kind, org] if kind == SPEC_FEED => changed_specs.extend(org.parse()),
                [_, space] => moved.extend(space.parse()),
                _ => {}
            }
        }
        for org in &changed_specs {
            moved.extend(self.spaces_with_generated_pages(&*follower.index, org).await?);
        }
        let moved: Vec<SpaceId> = moved.into_iter().collect();
        let mut found = Vec::new();
        for some in moved.chunks(COMPARE_BATCH) {
            let keys: Vec<Key> = some.iter().map(SpaceRecord::key_for).collect();
            let records = self.read().await?.get_many::<SpaceRecord>(&keys).await?;
            for (id, record) in some.iter().zip(records) {
                match record {
                    Some(space) => found.push((space.organization.clone(), id.clone())),
                    None => {
                        state.queue.remove(id);
                        pending.push(IndexChange::DropSpace(id.clone()));
                    }
                }
            }
        }
        state.queue.add(found, Some(last.clone()));
        state.read_to = Some(last.clone());
        Ok(FeedNews::Some)
    }

    /// Compares every space in the store and in the index, and adds those that differ to the queue.
    async fn compare_all(
        &self,
        follower: &Follower,
        state: &mut IndexState,
        noted: Option<FeedPos>,
        pending: &mut IndexBatch,
    ) -> Result<()> {
        // Later feed entries are processed afterwards, so no concurrent change is missed.
        let position = self.last_head_position().await?;
        if position.is_none() && noted.is_some() {
            // A feed that once had entries is never empty, so the index belongs to another store.
            follower.clear().await?;
        }
        *state = IndexState {
            is_interrupted: true,
            is_compared: true,
            read_to: position,
            ..IndexState::default()
        };
        let limit = u32::try_from(COMPARE_BATCH).unwrap_or(u32::MAX);
        let mut batches = Batches::of(KeyBuf::new(SpaceRecord::KIND).scan(limit));
        let mut differing = Vec::new();
        while let Some(rows) = batches.next(&self.read().await?).await? {
            let records = rows.into_iter().map(|(_, value)| decode(value));
            let records: Vec<Arc<SpaceRecord>> = records.collect::<StoreResult<_>>()?;
            let ids: Vec<SpaceId> = records.iter().map(|space| space.id.clone()).collect();
            let noted = follower.index.indexed(&ids).await?;
            let spaces = records.iter().zip(noted).filter(|(space, noted)| match space.deleted_at {
                None => noted.as_ref() != Some(&current_metadata(space)),
                Some(_) => noted.is_some(),
            });
            differing.extend(spaces.map(|(space, _)| (space.organization.clone(), space.id.clone())));
        }
        state.queue.add(differing, state.read_to.clone());
        let mut after = None;
        loop {
            let ids = follower.index.spaces(after.as_ref(), COMPARE_BATCH).await?;
            let Some(last) = ids.last() else { break };
            after = Some(last.clone());
            let keys: Vec<Key> = ids.iter().map(SpaceRecord::key_for).collect();
            let records = self.read().await?.get_many::<SpaceRecord>(&keys).await?;
            let gone = ids.iter().zip(records).filter(|(_, record)| record.is_none());
            pending.extend(gone.map(|(id, _)| IndexChange::DropSpace(id.clone())));
        }
        Ok(())
    }

    /// Indexes spaces in turns of their organizations, until the batch is full or the queue is empty.
    async fn index_turns(
        &self,
        follower: &Follower,
        queue: &mut IndexQueue<SpaceTask>,
        pending: &mut IndexBatch,
    ) -> Result<()> {
        while !pending.is_full()
            && let Some(org) = queue.next_org().cloned()
        {
            pending.begin_turn();
            let end = self.index_org(follower, &org, queue, pending).await?;
            queue.end_turn();
            if end == TurnEnd::Repeated {
                break;
            }
        }
        Ok(())
    }

    /// Indexes spaces of an organization for one turn. A space that cannot be read does not block the others.
    async fn index_org(
        &self,
        follower: &Follower,
        org: &OrgId,
        queue: &mut IndexQueue<SpaceTask>,
        pending: &mut IndexBatch,
    ) -> Result<TurnEnd> {
        loop {
            let Some(task) = queue.work(org) else {
                let ids = queue.take_waiting(org, COMPARE_BATCH);
                if ids.is_empty() {
                    return Ok(TurnEnd::Over);
                }
                let keys: Vec<Key> = ids.iter().map(SpaceRecord::key_for).collect();
                let records = self.read().await?.get_many::<SpaceRecord>(&keys).await?;
                let noted = follower.index.indexed(&ids).await?;
                for ((id, record), noted) in ids.into_iter().zip(records).zip(noted) {
                    queue.begin(org, id.clone(), SpaceTask::New(id, record, noted));
                }
                continue;
            };
            let is_done = match catch_panic(self.continue_task(&*follower.index, task, pending)).await {
                // The content was replaced and removed in the meantime, or cannot be read.
                Err(error) if matches!(error.kind(), ErrorKind::Internal | ErrorKind::NotFound) => {
                    tracing::error!(organization = %org, error = ?error, "failed to index space");
                    true
                }
                done => done?,
            };
            // The metadata of a space that changed again is not in the index before the batch is applied.
            if is_done && queue.finish(org) {
                return Ok(TurnEnd::Repeated);
            }
            if pending.ends_turn() {
                return Ok(TurnEnd::Over);
            }
        }
    }

    /// Returns the position of the latest retained head change.
    async fn last_head_position(&self) -> Result<Option<FeedPos>> {
        let mut position = None;
        loop {
            let news = self.store().changes(topic::HEAD, position.clone(), FEED_BATCH).await?;
            match news.last() {
                Some((last, _)) => position = Some(last.clone()),
                None => return Ok(position),
            }
        }
    }
}

fn incomplete_index_error() -> Error {
    Error::new(ErrorKind::Unavailable, "the search index is still being built; try again")
}

impl Platform {
    pub(in crate::platform) fn follower(&self) -> Option<Arc<Follower>> {
        self.inner.memory.get()
    }
}
