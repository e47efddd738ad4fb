//! Garbage collector: removes objects that no revision references.
//!
//! An edit stores objects first; a later transaction commits the revision that references them. An unreferenced object
//! may therefore be about to be referenced. The collector has to distinguish the two cases while writers and other
//! collectors run on this and other servers, without blocking any of them. It relies on four rules.
//! `decisions/0016-collector.md` proves that they suffice.
//!
//! 1. [`Objects::put`](crate::store::Objects::put) touches an object even if it already exists. If a write reuses an
//!    object without putting it, that object is referenced by a revision that cannot be removed before the write
//!    commits.
//! 2. A write commits within [`WRITE_WINDOW`] (24 hours) of its first `put` ([`WriteWindow`]), or not at all.
//! 3. A collection stops removing objects [`COLLECT_WINDOW`] (24 hours) after its first read. It removes only objects
//!    that have been untouched for [`OBJECT_GRACE_PERIOD`] (72 hours), which is longer than both windows together.
//! 4. Copying a space records a copy note ([`note_copy`]). A collection reads spaces in key order and may miss a copy
//!    that sorts before its current position, while the original may be removed before it is reached. The collection
//!    therefore reads the copy notes last and marks the content of these copies.

mod job;
mod marks;
mod specs;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use docs_macros::boxed;

pub(in crate::platform) use self::job::{COLLECT_INTERVAL, CollectObjects};
use self::marks::MarkSet;
use crate::{
    Error, ErrorKind, Result,
    content::{CacheLimits, Content, ContentError, LineMerger},
    model::{ChangeRequestId, SpaceId, Timestamp},
    platform::{
        kernel::{
            metrics::{COLLECTIONS, OBJECTS_REMOVED, OBJECTS_RETAINED, UPLOADS_REMOVED},
            platform::Platform,
            write_window::{COLLECT_WINDOW, COPY_NOTE_RETENTION, COPY_NOTES, OBJECT_GRACE_PERIOD},
        },
        nouns::Caller,
    },
    store::{
        Batches, Entity, Hash, Key, KeyBuf, MAX_SCAN, StoreError, StoreResult, decode, key,
        records::{ChangeRequestRecord, RevisionRecord, SpaceRecord, TranslationRecord, linked_id},
    },
};

/// Number of storage domains collected per step.
const DOMAIN_BATCH: u32 = 100;
/// Number of objects removed per call.
const REMOVAL_BATCH: u32 = 500;
/// Number of spaces, revisions and change requests read per transaction.
const READ_BATCH: u32 = if cfg!(test) { 2 } else { 200 };

/// Mode of a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectMode {
    /// Counts the objects that would be removed.
    DryRun,
    /// Removes the objects.
    Remove,
}

/// Counters of a collection or dry run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct CollectionStats {
    /// Storage domains examined.
    pub domains: u64,
    /// Storage domains skipped because of unreadable content.
    pub unreadable: u64,
    /// Revisions read. Their objects are retained.
    pub roots: u64,
    /// Objects removed.
    pub objects: u64,
    /// Objects past [`OBJECT_GRACE_PERIOD`] retained because a revision references them.
    pub kept: u64,
    /// Leftover blobs of interrupted uploads removed.
    pub leftovers: u64,
}

impl<'p> Caller<'p> {
    /// Removes objects that no revision references: the content of purged spaces, and objects of edits that were never
    /// committed.
    ///
    /// Objects touched within [`OBJECT_GRACE_PERIOD`] are retained. A daily job on each server does the same. Writers,
    /// servers and other collections can run concurrently. Reserved for the platform itself.
    ///
    /// A storage domain with unreadable content is skipped and logged.
    ///
    /// # Errors
    /// `Forbidden` for users; errors of the store. Objects removed before the error stay removed.
    ///
    /// # Cancel safety
    /// If the future is dropped, some unreferenced objects may already be removed. Referenced objects are never
    /// removed.
    #[boxed]
    pub async fn collect(self, mode: CollectMode) -> Result<CollectionStats> {
        self.actor().require_platform()?;
        let platform = self.platform;
        let (mut after, mut done) = (None, CollectionStats::default());
        loop {
            let step = CollectionPass::new(platform, mode, &|| true).step(after.as_deref()).await?;
            done.add(&step.collected);
            after = step.next;
            if after.is_none() {
                break;
            }
        }
        done.leftovers = platform.collect_leftovers(mode, &|| true).await?;
        Ok(done)
    }
}

impl CollectionStats {
    fn add(&mut self, other: &Self) {
        self.domains += other.domains;
        self.unreadable += other.unreadable;
        self.roots += other.roots;
        self.objects += other.objects;
        self.kept += other.kept;
        self.leftovers += other.leftovers;
    }
}

/// Result of one step of a collection.
struct CollectionStep {
    collected: CollectionStats,
    /// The last storage domain of the step, or `None` if there are no more.
    next: Option<String>,
}

/// One step of a collection. It marks the references of some storage domains and removes all other objects.
struct CollectionPass<'p> {
    platform: &'p Platform,
    mode: CollectMode,
    go_on: &'p (dyn Fn() -> bool + Sync),
    /// Has small caches, because each object is walked once and must not evict entries from the readers' cache.
    content: Content,
    marks: MarkSet,
    /// The storage domains, each with the number that identifies it in the mark set.
    domains: BTreeMap<String, u32>,
    unreadable: BTreeSet<String>,
    done: CollectionStats,
    began: Timestamp,
}

impl<'p> CollectionPass<'p> {
    fn new(platform: &'p Platform, mode: CollectMode, go_on: &'p (dyn Fn() -> bool + Sync)) -> Self {
        let limits =
            CacheLimits { node_bytes: 8 << 20, text_bytes: 1 << 20, tree_bytes: 1 << 20, document_bytes: 0 };
        let objects = Arc::clone(&platform.inner.objects);
        Self {
            platform,
            mode,
            go_on,
            content: Content::with_config(objects, limits, Arc::new(LineMerger)),
            marks: MarkSet::new(platform.ids().next()),
            domains: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            done: CollectionStats::default(),
            began: platform.now(),
        }
    }

    async fn step(mut self, after: Option<&str>) -> Result<CollectionStep> {
        let found = self.platform.objects().domains(after, DOMAIN_BATCH).await?;
        let next = found.last().cloned();
        self.domains = found.into_iter().zip(0..).collect();
        if !self.domains.is_empty() {
            self.mark_spaces().await?;
            self.mark_copies().await?;
            self.mark_specs().await?;
            self.sweep().await?;
        }
        self.count();
        Ok(CollectionStep { collected: self.done, next })
    }

    /// Marks the references of the spaces in these domains, including deleted spaces, which can be restored.
    async fn mark_spaces(&mut self) -> Result<()> {
        let mut batches = Batches::of(KeyBuf::new(SpaceRecord::KIND).scan(READ_BATCH));
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

    /// Marks the references of copies made since, or shortly before, the collection started.
    async fn mark_copies(&mut self) -> Result<()> {
        for domain in self.domains.keys().cloned().collect::<Vec<_>>() {
            let mut batches = Batches::of(KeyBuf::new(COPY_NOTES).part(&domain).scan(READ_BATCH));
            loop {
                let tx = self.platform.read().await?;
                let Some(rows) = batches.next(&tx).await? else { break };
                let ids = rows.iter().filter_map(|(row, _)| key::last_segment(row).parse::<SpaceId>().ok());
                let keys: Vec<Key> = ids.map(|id| SpaceRecord::key_for(&id)).collect();
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
        let mut revisions = Batches::of(RevisionRecord::by_space(&space.id).scan(READ_BATCH));
        while let Some(rows) = revisions.next(&self.platform.read().await?).await? {
            let roots = rows.into_iter().map(|(_, value)| Ok(decode::<RevisionRecord>(value)?.root));
            for root in roots.collect::<StoreResult<Vec<Hash>>>()? {
                self.mark_root(&space.domain, root).await?;
            }
        }
        self.mark_translation(space).await?;
        // Revisions cover these references too. They are marked again as a safeguard, because a missed mark would lose
        // content.
        let mut requests = Batches::of(ChangeRequestRecord::by_space(&space.id).scan(READ_BATCH));
        loop {
            let tx = self.platform.read().await?;
            let Some(rows) = requests.next(&tx).await? else { break };
            let ids: StoreResult<Vec<ChangeRequestId>> = rows.iter().map(|(_, id)| linked_id(id)).collect();
            let keys: Vec<Key> = ids?.iter().map(ChangeRequestRecord::key_for).collect();
            let requests = tx.get_many::<ChangeRequestRecord>(&keys).await?;
            drop(tx);
            for request in requests.into_iter().flatten() {
                self.mark_root(&space.domain, request.root).await?;
                self.mark_root(&space.domain, request.base_root).await?;
            }
        }
        Ok(())
    }

    /// Marks the last output of translators. It is the base of the next merge and need not belong to any revision.
    async fn mark_translation(&mut self, space: &SpaceRecord) -> Result<()> {
        let tx = self.platform.read().await?;
        let rows = tx.scan_prefix(&TranslationRecord::by_target(&space.id), MAX_SCAN).await?;
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
        match self.content.mark(domain, root, self.marks.select_domain(*number)).await {
            Ok(()) => Ok(()),
            // The references below this object are unknown, so the whole domain is retained.
            Err(
                error @ (ContentError::NotFound(_)
                | ContentError::Corrupt(_)
                | ContentError::Store(StoreError::Corrupt(_))),
            ) => {
                tracing::error!(domain, %root, %error, "skip storage area with unreadable content");
                self.unreadable.insert(domain.to_owned());
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes unmarked objects past [`OBJECT_GRACE_PERIOD`].
    async fn sweep(&mut self) -> Result<()> {
        let untouched = OBJECT_GRACE_PERIOD.to_std().map_err(Error::internal)?;
        self.done.domains += self.domains.len() as u64;
        self.done.unreadable += self.unreadable.len() as u64;
        for (domain, number) in &self.domains {
            if self.unreadable.contains(domain) {
                continue;
            }
            let mut after = None;
            loop {
                let found = self.platform.objects().list(domain, after, untouched, REMOVAL_BATCH).await?;
                let Some(last) = found.last() else { break };
                after = Some(*last);
                let marks = self.marks.select_domain(*number);
                let garbage: Vec<Hash> = found.iter().filter(|hash| !marks.has(**hash)).copied().collect();
                self.done.kept += (found.len() - garbage.len()) as u64;
                // Checked last: nothing but the store is awaited between this check and the removal.
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
        metrics.add(&OBJECTS_RETAINED, &[], self.done.kept);
        metrics.add(&COLLECTIONS, &["read"], self.done.domains - self.done.unreadable);
        metrics.add(&COLLECTIONS, &["unreadable"], self.done.unreadable);
    }
}

/// Aborts a collection if its marks are too old or its worker is stopping.
fn check_time(platform: &Platform, began: Timestamp, go_on: &(dyn Fn() -> bool + Sync)) -> Result<()> {
    let ended = |why: String| Err(Error::new(ErrorKind::Unavailable, why));
    if !go_on() {
        return ended("the server is stopping; the collection continues later".to_owned());
    }
    if platform.clock().now() - began.time() > COLLECT_WINDOW {
        let hours = COLLECT_WINDOW.num_hours();
        return ended(format!("the collection exceeded its limit of {hours} hours and starts again"));
    }
    Ok(())
}

impl Platform {
    /// Removes blobs that interrupted uploads left outside the tables of the store. Returns their number.
    async fn collect_leftovers(&self, mode: CollectMode, go_on: &(dyn Fn() -> bool + Sync)) -> Result<u64> {
        let owner = self.collection_state(None).await?.store;
        let (mut after, mut count, began) = (None, 0, self.now());
        loop {
            check_time(self, began, go_on)?;
            let untouched = OBJECT_GRACE_PERIOD.to_std().map_err(Error::internal)?;
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

    /// Removes copy notes that no collection needs any longer.
    pub(in crate::platform) async fn tidy_copy_notes(&self) -> Result<()> {
        let before = self.clock().now() - COPY_NOTE_RETENTION;
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
