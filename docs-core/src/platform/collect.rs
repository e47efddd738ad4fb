//! The collector: removes the objects that no revision names.
//!
//! An edit stores objects first, and a transaction then makes a revision name them. So an object that nothing names may
//! be one that is about to be named, and the collector must tell the two apart, beside writers and other collectors, on
//! this server and on others, without holding anybody up. It rests on four rules; why they are enough is proved in
//! `decisions/0016-collector.md`.
//!
//! 1. What is put is touched, also when it was there: [`Objects::put`](crate::store::Objects::put). What a write takes
//!    over without putting it is named by a revision that cannot go before the write is committed.
//! 2. A write commits within [`WRITE_WINDOW`] of its first `put` ([`StoringSince`]), or not at all.
//! 3. A collection is over within [`COLLECT_WINDOW`] of its first read, or removes nothing more; it removes only what
//!    was not touched for [`UNTOUCHED`], which is longer than both windows together.
//! 4. A copy of a space leaves a note ([`note_copy`]). A collection reads spaces one after the other, and may have
//!    passed the place of the copy before it came to the original that has gone meanwhile: the notes, which it reads
//!    last, lead it there.

mod job;
mod marks;
mod specs;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use chrono::TimeDelta;

pub(super) use self::job::{COLLECT_EVERY, CollectObjects};
use self::marks::MarkSet;
use super::{
    Platform,
    metrics::{COLLECTIONS, OBJECTS_KEPT, OBJECTS_REMOVED, UPLOADS_REMOVED},
    nouns::Caller,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::{CacheLimits, Content, ContentError, LineMerger},
    model::{ChangeRequestId, SpaceId, Timestamp},
    store::{
        Batches, Entity, Hash, Key, KeyBuf, MAX_SCAN, StoreError, StoreResult, Tx, Value, decode, key,
        records::{ChangeRequestRecord, RevisionRecord, SpaceRecord, TranslationRecord, linked_id},
    },
};

/// Longest time of a write from the first object that it stores to its commit.
pub const WRITE_WINDOW: TimeDelta = TimeDelta::hours(24);
/// Longest time of a collection from its first read to the last object that it removes.
pub const COLLECT_WINDOW: TimeDelta = TimeDelta::hours(24);
/// How far the clocks of servers on one store may be apart, and how long a commit may take once it is begun.
pub const CLOCKS_APART: TimeDelta = TimeDelta::hours(1);
/// How long an object was not touched that is removed.
pub const UNTOUCHED: TimeDelta = TimeDelta::hours(72);
/// How long notes of copies are kept: longer than a collection that needs them takes.
pub(super) const COPY_NOTES_KEPT: TimeDelta = TimeDelta::hours(72);
/// Storage areas that are collected together: a step.
const DOMAINS_AT_ONCE: u32 = 100;
/// Objects that are removed together.
const REMOVED_AT_ONCE: u32 = 500;
/// Spaces, revisions and change requests that one transaction reads.
const READ_AT_ONCE: u32 = if cfg!(test) { 2 } else { 200 };
/// Class of the notes of copies.
const COPY_NOTES: &str = "copied";

const _: () = assert!(
    UNTOUCHED.num_seconds()
        > WRITE_WINDOW.num_seconds() + COLLECT_WINDOW.num_seconds() + 2 * CLOCKS_APART.num_seconds()
        && COPY_NOTES_KEPT.num_seconds() > COLLECT_WINDOW.num_seconds() + 2 * CLOCKS_APART.num_seconds()
);

/// Whether a collection removes what it finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectMode {
    /// It counts what it would remove.
    DryRun,
    /// It removes.
    Remove,
}

/// What a collection did, or would do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Collected {
    /// Storage areas that were looked at.
    pub domains: u64,
    /// Storage areas that were left alone, because content in them cannot be read.
    pub unreadable: u64,
    /// Revisions that were read: what they name stays.
    pub roots: u64,
    /// Objects that were removed.
    pub objects: u64,
    /// Objects that were not touched for long, and stay because a revision names them.
    pub kept: u64,
    /// Bytes of broken-off uploads that were removed, each a blob.
    pub leftovers: u64,
}

/// When a write began to store objects that nothing names yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoringSince(Timestamp);

impl StoringSince {
    /// A write that stores its first object at this time or later.
    pub(super) const fn at(time: Timestamp) -> Self {
        Self(time)
    }
}

impl Platform {
    /// The start of a write that stores objects: taken before the first of them.
    pub(super) fn storing(&self) -> StoringSince {
        StoringSince(self.now())
    }

    /// Refuses a write whose objects may be collected before a revision names them; asked right before its commit.
    ///
    /// # Errors
    /// `Conflict`.
    pub(super) fn require_stored(&self, since: StoringSince) -> Result<()> {
        if self.clock().now() - since.0.time() <= WRITE_WINDOW {
            return Ok(());
        }
        Err(Error::conflict(
            "this took more than a day, and what was stored for it is not kept so long; try again",
        ))
    }
}

/// Leaves a note that a space was copied, in the transaction that copies it.
pub(super) fn note_copy(tx: &mut Tx, copy: &SpaceRecord) {
    let note = KeyBuf::new(COPY_NOTES).part(&copy.domain).time(copy.created_at.time()).part(copy.id.as_str());
    tx.put_value(note.key(), Value::Unit);
}

impl<'p> Caller<'p> {
    /// Removes the objects that no revision names: content of spaces that were purged, and what edits stored that were
    /// never committed. Those that were touched within [`UNTOUCHED`](crate::platform::UNTOUCHED) stay. Servers do it
    /// every day by a job; writers, servers and other collections may go on meanwhile. Only the platform itself may.
    ///
    /// An area of storage with content that cannot be read is left alone, and the log says so.
    ///
    /// # Errors
    /// `Forbidden` for users; the store's. What was removed until then stays removed.
    ///
    /// # Cancel safety
    /// Dropping the future leaves some of the objects removed; no object that a revision names is among them.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, platform::CollectMode};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// let would = platform.as_platform().collect(CollectMode::DryRun).await?;
    /// println!("{} objects would be removed", would.objects);
    /// # Ok(())
    /// # }
    /// ```
    pub fn collect(self, mode: CollectMode) -> BoxFuture<'p, Result<Collected>> {
        Box::pin(async move {
            self.actor().require_platform()?;
            let platform = self.platform;
            let (mut after, mut done) = (None, Collected::default());
            loop {
                let step = Collection::new(platform, mode, &|| true).step(after.as_deref()).await?;
                done.add(&step.collected);
                after = step.next;
                if after.is_none() {
                    break;
                }
            }
            done.leftovers = platform.collect_leftovers(mode, &|| true).await?;
            Ok(done)
        })
    }
}

impl Collected {
    fn add(&mut self, other: &Self) {
        self.domains += other.domains;
        self.unreadable += other.unreadable;
        self.roots += other.roots;
        self.objects += other.objects;
        self.kept += other.kept;
        self.leftovers += other.leftovers;
    }
}

/// What a step of a collection did.
struct Step {
    collected: Collected,
    /// The last storage area of the step; absent when there are no more.
    next: Option<String>,
}

/// One step of a collection: it marks what the revisions of some storage areas name, and removes the rest.
struct Collection<'p> {
    platform: &'p Platform,
    mode: CollectMode,
    go_on: &'p (dyn Fn() -> bool + Sync),
    /// With small caches: what is walked is walked once, and must not drive out what readers need.
    content: Content,
    marks: MarkSet,
    /// The storage areas, with what stands for each among the marks.
    domains: BTreeMap<String, u32>,
    unreadable: BTreeSet<String>,
    done: Collected,
    began: Timestamp,
}

impl<'p> Collection<'p> {
    fn new(platform: &'p Platform, mode: CollectMode, go_on: &'p (dyn Fn() -> bool + Sync)) -> Self {
        let limits =
            CacheLimits { node_bytes: 8 << 20, text_bytes: 1 << 20, tree_bytes: 1 << 20, document_bytes: 0 };
        let objects = Arc::clone(&platform.inner.objects);
        Self {
            platform,
            mode,
            go_on,
            content: Content::with(objects, limits, Arc::new(LineMerger)),
            marks: MarkSet::new(platform.ids().next()),
            domains: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            done: Collected::default(),
            began: platform.now(),
        }
    }

    async fn step(mut self, after: Option<&str>) -> Result<Step> {
        let found = self.platform.objects().domains(after, DOMAINS_AT_ONCE).await?;
        let next = found.last().cloned();
        self.domains = found.into_iter().zip(0..).collect();
        if !self.domains.is_empty() {
            self.mark_spaces().await?;
            self.mark_copies().await?;
            self.mark_specs().await?;
            self.sweep().await?;
        }
        self.count();
        Ok(Step { collected: self.done, next })
    }

    /// Marks what the spaces of these areas name, deleted ones too: they may be restored.
    async fn mark_spaces(&mut self) -> Result<()> {
        let mut batches = Batches::of(KeyBuf::new(SpaceRecord::KIND).scan(READ_AT_ONCE));
        while let Some(rows) = batches.next(&self.platform.read().await?).await? {
            for (_, value) in rows {
                let space: Arc<SpaceRecord> = decode(value)?;
                if self.domains.contains_key(&space.domain) {
                    self.mark_space(&space).await?;
                }
            }
        }
        Ok(())
    }

    /// Marks what copies name that were made since the collection began, and a while before.
    async fn mark_copies(&mut self) -> Result<()> {
        for domain in self.domains.keys().cloned().collect::<Vec<_>>() {
            let mut batches = Batches::of(KeyBuf::new(COPY_NOTES).part(&domain).scan(READ_AT_ONCE));
            loop {
                let tx = self.platform.read().await?;
                let Some(rows) = batches.next(&tx).await? else { break };
                let ids = rows.iter().filter_map(|(row, _)| key::last_segment(row).parse::<SpaceId>().ok());
                let keys: Vec<Key> = ids.map(|id| SpaceRecord::at(&id)).collect();
                let spaces = tx.get_many::<SpaceRecord>(&keys).await?;
                drop(tx);
                for space in spaces.into_iter().flatten() {
                    self.mark_space(&space).await?;
                }
            }
        }
        Ok(())
    }

    async fn mark_space(&mut self, space: &SpaceRecord) -> Result<()> {
        self.mark_root(&space.domain, space.root).await?;
        let mut revisions = Batches::of(RevisionRecord::of_space(&space.id).scan(READ_AT_ONCE));
        while let Some(rows) = revisions.next(&self.platform.read().await?).await? {
            let roots = rows.into_iter().map(|(_, value)| Ok(decode::<RevisionRecord>(value)?.root));
            for root in roots.collect::<StoreResult<Vec<Hash>>>()? {
                self.mark_root(&space.domain, root).await?;
            }
        }
        self.mark_translation(space).await?;
        // Each is a revision too; they are marked once more because a mistake there would cost content.
        let mut requests = Batches::of(ChangeRequestRecord::of_space(&space.id).scan(READ_AT_ONCE));
        loop {
            let tx = self.platform.read().await?;
            let Some(rows) = requests.next(&tx).await? else { break };
            let ids: StoreResult<Vec<ChangeRequestId>> = rows.iter().map(|(_, id)| linked_id(id)).collect();
            let keys: Vec<Key> = ids?.iter().map(ChangeRequestRecord::at).collect();
            let requests = tx.get_many::<ChangeRequestRecord>(&keys).await?;
            drop(tx);
            for request in requests.into_iter().flatten() {
                self.mark_root(&space.domain, request.root).await?;
                self.mark_root(&space.domain, request.base_root).await?;
            }
        }
        Ok(())
    }

    /// What a translator made of a space that follows another is the base of the next merge, and may be no revision's.
    async fn mark_translation(&mut self, space: &SpaceRecord) -> Result<()> {
        let tx = self.platform.read().await?;
        let rows = tx.below(&TranslationRecord::of_target(&space.id), MAX_SCAN).await?;
        let found = tx.get_many::<TranslationRecord>(&TranslationRecord::named_by_all(&rows)).await?;
        drop(tx);
        for done in found.iter().flatten().filter_map(|record| record.done.as_ref()) {
            self.mark_root(&space.domain, done.root).await?;
        }
        Ok(())
    }

    async fn mark_root(&mut self, domain: &str, root: Hash) -> Result<()> {
        self.check_time()?;
        let Some(number) = self.domains.get(domain).filter(|_| !self.unreadable.contains(domain)) else {
            return Ok(());
        };
        self.done.roots += 1;
        match self.content.mark(domain, root, self.marks.of_domain(*number)).await {
            Ok(()) => Ok(()),
            // What lies below is not known, so all of the area stays.
            Err(
                error @ (ContentError::NotFound(_)
                | ContentError::Corrupt(_)
                | ContentError::Store(StoreError::Corrupt(_))),
            ) => {
                tracing::error!(domain, %root, %error, "content cannot be read: nothing of its storage area is removed");
                self.unreadable.insert(domain.to_owned());
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes what is not marked and was not touched for long.
    async fn sweep(&mut self) -> Result<()> {
        let untouched = UNTOUCHED.to_std().map_err(Error::internal)?;
        self.done.domains += self.domains.len() as u64;
        self.done.unreadable += self.unreadable.len() as u64;
        for (domain, number) in &self.domains {
            if self.unreadable.contains(domain) {
                continue;
            }
            let mut after = None;
            loop {
                let found = self.platform.objects().list(domain, after, untouched, REMOVED_AT_ONCE).await?;
                let Some(last) = found.last() else { break };
                after = Some(*last);
                let marks = self.marks.of_domain(*number);
                let garbage: Vec<Hash> = found.iter().filter(|hash| !marks.has(**hash)).copied().collect();
                self.done.kept += (found.len() - garbage.len()) as u64;
                // Asked last: from here to the removal nothing waits but for the store.
                check_time(self.platform, self.began, self.go_on)?;
                if self.mode == CollectMode::Remove && !garbage.is_empty() {
                    self.platform.objects().delete(domain, &garbage, untouched).await?;
                }
                self.done.objects += garbage.len() as u64;
            }
        }
        Ok(())
    }

    fn check_time(&self) -> Result<()> {
        check_time(self.platform, self.began, self.go_on)
    }

    fn count(&self) {
        if self.mode == CollectMode::DryRun {
            return;
        }
        let metrics = self.platform.metrics();
        metrics.add(&OBJECTS_REMOVED, &[], self.done.objects);
        metrics.add(&OBJECTS_KEPT, &[], self.done.kept);
        metrics.add(&COLLECTIONS, &["read"], self.done.domains - self.done.unreadable);
        metrics.add(&COLLECTIONS, &["unreadable"], self.done.unreadable);
    }
}

/// Ends a collection whose marks are too old to remove anything by, or that is asked to stop.
fn check_time(platform: &Platform, began: Timestamp, go_on: &(dyn Fn() -> bool + Sync)) -> Result<()> {
    let ended = |why| Err(Error::new(ErrorKind::Unavailable, why));
    if !go_on() {
        return ended("the server stops; the collection goes on later");
    }
    if platform.clock().now() - began.time() > COLLECT_WINDOW {
        return ended("the collection took more than a day and has to begin again");
    }
    Ok(())
}

impl Platform {
    /// Removes what broken-off uploads left outside the tables of the store; answers how many blobs.
    async fn collect_leftovers(&self, mode: CollectMode, go_on: &(dyn Fn() -> bool + Sync)) -> Result<u64> {
        let owner = self.collection_state(None).await?.store;
        let (mut after, mut count, began) = (None, 0, self.now());
        loop {
            check_time(self, began, go_on)?;
            let untouched = UNTOUCHED.to_std().map_err(Error::internal)?;
            let found = self.objects().leftovers(&owner, after.as_deref(), untouched).await?;
            if mode == CollectMode::Remove && !found.names.is_empty() {
                self.objects().delete_leftovers(&found.names).await?;
                self.metrics().add(&UPLOADS_REMOVED, &[], found.names.len() as u64);
            }
            count += found.names.len() as u64;
            after = found.next;
            if after.is_none() {
                return Ok(count);
            }
        }
    }

    /// Removes the notes of copies that no collection needs any more.
    pub(super) async fn tidy_copy_notes(&self) -> Result<()> {
        let before = self.clock().now() - COPY_NOTES_KEPT;
        let mut batches = Batches::of(KeyBuf::new(COPY_NOTES).scan(MAX_SCAN));
        while let Some(rows) = batches.next(&self.read().await?).await? {
            let is_old = |row: &Key| {
                let parts = key::segments(row);
                let border = KeyBuf::new(COPY_NOTES).part(&parts[1]).time(before).key();
                **row < *border
            };
            let old: Vec<Key> = rows.into_iter().map(|(row, _)| row).filter(is_old).collect();
            if !old.is_empty() {
                self.upkeep(&job::DropNotes(old)).await?;
            }
        }
        Ok(())
    }
}
