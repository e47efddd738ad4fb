//! Synchronization of the search index, which follows the feed of head changes and compares all spaces at startup.
//!
//! The index records, for each space, the root of the indexed content. Updating a space compares that root with the
//! current one. The cost is proportional to the changes, and the update is idempotent and resumable.
//!
//! An index is updated by its own process. Two servers on one store have separate indexes.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::Mutex;

use super::indexed_text::{is_indexed, text_hash};
use crate::{
    Error, ErrorKind, Result,
    content::{
        Attribute, ContentError, PageEntry, PageKind, RevisionChange, UndecidedConditions, View, document,
        run_on_text,
    },
    model::{Block, BlockKind, Node, OrgId, PageId, SpaceId},
    platform::{content::openapi_specs::SPEC_FEED, jobs::catch_panic, kernel::platform::Platform},
    ports::{
        SearchError, SearchIndex,
        search::{IndexChange, IndexedSpace, PageDocument, Section},
    },
    store::{
        Batches, Entity, FeedPos, Key, KeyBuf, StoreError, StoreResult, decode, key, records::SpaceRecord,
        topic,
    },
};

/// Number of feed entries per round.
const FEED_BATCH: u32 = 500;
/// Number of spaces compared per batch.
const COMPARE_BATCH: usize = 100;
/// Number of changes passed to the index per batch.
const INDEX_BATCH: usize = 500;
/// Bytes of text passed to the index per batch.
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Maximum time that a search waits for an index that has never been complete.
const INDEX_TIMEOUT: Duration = Duration::from_secs(1);

/// A search index with its synchronization state in this process.
pub(in crate::platform) struct Follower {
    index: Arc<dyn SearchIndex>,
    /// Held by the worker that updates the index.
    turn: Mutex<()>,
    /// Held for one round.
    state: Mutex<IndexState>,
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
}

/// The result of one round.
pub(in crate::platform) enum RoundOutcome {
    /// Changes were applied, and there may be more.
    Changed,
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

    /// Passes a full batch to the index, without a position: until the space is recorded, its previous root applies.
    pub(super) async fn apply_if_full(&self, pending: &mut IndexBatch) -> Result<()> {
        if pending.is_full() {
            let full = std::mem::take(pending);
            self.index.apply(full.changes, None).await.map_err(lost_batch_error)?;
        }
        Ok(())
    }

    /// Waits until no other worker of this process is updating the index.
    pub(in crate::platform) async fn turn(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}

/// A batch of index changes.
#[derive(Default)]
pub(super) struct IndexBatch {
    changes: Vec<IndexChange>,
    bytes: usize,
}

impl IndexBatch {
    pub(super) fn push(&mut self, change: IndexChange) {
        if let IndexChange::PutPage(page) = &change {
            self.bytes += page.size();
        }
        self.changes.push(change);
    }

    pub(super) fn extend(&mut self, changes: impl IntoIterator<Item = IndexChange>) {
        changes.into_iter().for_each(|change| self.push(change));
    }

    const fn is_full(&self) -> bool {
        self.changes.len() >= INDEX_BATCH || self.bytes >= BATCH_BYTES
    }
}

impl Platform {
    /// Updates the search index to the current state of the store.
    pub(in crate::platform) async fn index_all(&self) -> Result<()> {
        let Some(follower) = self.follower() else { return Ok(()) };
        while let RoundOutcome::Changed = self.index_batch(&follower).await? {}
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
            while !follower.is_caught_up().await? {
                self.index_batch(&follower).await?;
            }
            Ok(())
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
                None
            }
            position => position?,
        };
        if !state.is_compared {
            self.compare_all(follower, position).await?;
            state.is_compared = true;
            follower.is_caught_up.store(true, Ordering::Release);
            return Ok(RoundOutcome::Changed);
        }
        let news = match self.store().changes(topic::HEAD, position.clone(), FEED_BATCH).await {
            Err(StoreError::Misuse(_)) => None,
            news => Some(news?),
        };
        let Some(news) = news else {
            state.is_compared = false;
            return Ok(RoundOutcome::Changed);
        };
        let (Some((first, _)), Some((last, _))) = (news.first(), news.last()) else {
            follower.followed_at.store(self.clock().now().timestamp_millis(), Ordering::Relaxed);
            return Ok(RoundOutcome::Current(position));
        };
        // If the next entry is also the oldest retained one, older entries may have been dropped before they were read.
        let oldest = self.store().changes(topic::HEAD, None, 1).await?;
        if oldest.first().is_none_or(|(oldest, _)| oldest == first) {
            state.is_compared = false;
            return Ok(RoundOutcome::Changed);
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
            moved.extend(self.spaces_with_generated_pages(follower, org).await?);
        }
        let moved: Vec<SpaceId> = moved.into_iter().collect();
        let mut pending = IndexBatch::default();
        for some in moved.chunks(COMPARE_BATCH) {
            let keys: Vec<Key> = some.iter().map(SpaceRecord::key_for).collect();
            let records = self.read().await?.get_many::<SpaceRecord>(&keys).await?;
            self.index_spaces(follower, some, &records, &mut pending).await?;
        }
        follower.index.apply(pending.changes, Some(last.clone())).await?;
        Ok(RoundOutcome::Changed)
    }

    /// Compares every space in the store and in the index.
    async fn compare_all(&self, follower: &Follower, noted: Option<FeedPos>) -> Result<()> {
        // Later feed entries are processed afterwards, so no concurrent change is missed.
        let position = self.last_head_position().await?;
        if position.is_none() && noted.is_some() {
            // A feed that once had entries is never empty, so the index belongs to another store.
            follower.clear().await?;
        }
        let mut pending = IndexBatch::default();
        let limit = u32::try_from(COMPARE_BATCH).unwrap_or(u32::MAX);
        let mut batches = Batches::of(KeyBuf::new(SpaceRecord::KIND).scan(limit));
        while let Some(rows) = batches.next(&self.read().await?).await? {
            let records = rows.into_iter().map(|(_, value)| decode(value).map(Some));
            let records: Vec<Option<Arc<SpaceRecord>>> = records.collect::<StoreResult<_>>()?;
            let ids: Vec<SpaceId> = records.iter().flatten().map(|space| space.id.clone()).collect();
            self.index_spaces(follower, &ids, &records, &mut pending).await?;
        }
        let mut after = None;
        loop {
            let ids = follower.index.spaces(after.as_ref(), COMPARE_BATCH).await?;
            let Some(last) = ids.last() else { break };
            after = Some(last.clone());
            let keys: Vec<Key> = ids.iter().map(SpaceRecord::key_for).collect();
            let records = self.read().await?.get_many::<SpaceRecord>(&keys).await?;
            let gone = ids.iter().zip(records).filter(|(_, record)| record.is_none());
            pending.changes.extend(gone.map(|(id, _)| IndexChange::DropSpace(id.clone())));
        }
        follower.index.apply(pending.changes, position).await?;
        Ok(())
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

    /// Updates the index for these spaces. A space that cannot be read does not block the others.
    async fn index_spaces(
        &self,
        follower: &Follower,
        ids: &[SpaceId],
        records: &[Option<Arc<SpaceRecord>>],
        pending: &mut IndexBatch,
    ) -> Result<()> {
        let noted = follower.index.indexed(ids).await?;
        for ((id, record), noted) in ids.iter().zip(records).zip(noted) {
            let live = record.as_ref().filter(|space| space.deleted_at.is_none());
            let doing = async {
                match (live, noted) {
                    (None, None) => Ok(()),
                    (None, Some(_)) => {
                        pending.push(IndexChange::DropSpace(id.clone()));
                        Ok(())
                    }
                    (Some(space), noted) => self.index_space(follower, space, noted, pending).await,
                }
            };
            match catch_panic(doing).await {
                Err(error) if error.kind() == ErrorKind::Internal => {
                    tracing::error!(space = %id, error = ?error, "failed to index space");
                }
                other => other?,
            }
        }
        Ok(())
    }

    async fn index_space(
        &self,
        follower: &Follower,
        space: &SpaceRecord,
        noted: Option<IndexedSpace>,
        pending: &mut IndexBatch,
    ) -> Result<()> {
        let mut now = IndexedSpace {
            space: space.id.clone(),
            organization: space.organization.clone(),
            root: space.root,
            generated: None,
        };
        if noted.as_ref() == Some(&now) {
            return Ok(());
        }
        let before = noted.clone();
        let view = self.content().view(&space.domain, space.root);
        let changes = match noted.filter(|noted| noted.organization == now.organization) {
            None => None,
            Some(noted) if noted.root == now.root => Some(Vec::new()),
            Some(noted) => match self.content().diff(&space.domain, noted.root, space.root).await {
                // The indexed content no longer exists.
                Err(ContentError::NotFound(_)) => None,
                changes => Some(changes?),
            },
        };
        let Some(changes) = changes else {
            let tree = view.tree().await?;
            pending.push(IndexChange::DropSpace(space.id.clone()));
            for page in tree.pages().iter().filter(|page| is_indexed(&page.entry)) {
                self.put_page(follower, space, &view, &page.id, &page.entry, pending).await?;
            }
            now.generated = self.index_generated_pages(follower, space, &view, None, pending).await?;
            pending.push(IndexChange::PutSpace(now));
            return Ok(());
        };
        let generated = before.as_ref().and_then(|before| before.generated.as_ref());
        // Only content that has a computed page, or gets one, is read as a whole.
        if generated.is_some() || changes.iter().any(is_computed) {
            now.generated = self.index_generated_pages(follower, space, &view, generated, pending).await?;
        }
        if before.as_ref() == Some(&now) {
            return Ok(());
        }
        for change in changes {
            match change {
                RevisionChange::PageCreated(page) if is_indexed(&page.entry) => {
                    self.put_page(follower, space, &view, &page.id, &page.entry, pending).await?;
                }
                RevisionChange::PageEdited { page, attributes, .. } if is_indexed_change(&attributes) => {
                    if is_indexed(&page.entry) {
                        self.put_page(follower, space, &view, &page.id, &page.entry, pending).await?;
                    } else {
                        pending.push(IndexChange::DropPage(space.id.clone(), page.id));
                    }
                }
                RevisionChange::PageDeleted(page) => {
                    pending.push(IndexChange::DropPage(space.id.clone(), page.id));
                }
                // Page paths are read when results are displayed.
                _ => {}
            }
        }
        pending.push(IndexChange::PutSpace(now));
        Ok(())
    }

    async fn put_page(
        &self,
        follower: &Follower,
        space: &SpaceRecord,
        view: &View,
        id: &PageId,
        entry: &PageEntry,
        pending: &mut IndexBatch,
    ) -> Result<()> {
        let text = view.reader_text(&entry.body, entry.expansions).await?;
        pending.push(IndexChange::PutPage(Box::new(PageDocument {
            organization: space.organization.clone(),
            space: space.id.clone(),
            page: id.clone(),
            title: entry.title.clone(),
            description: entry.description.clone(),
            text: text_hash(entry)?,
            sections: run_on_text(&text, split_sections).await,
        })));
        follower.apply_if_full(pending).await
    }
}

fn incomplete_index_error() -> Error {
    Error::new(ErrorKind::Unavailable, "the search index is still being built; try again")
}

/// Wraps an error of `apply`. A failed batch, which may contain several spaces, ends the round. The next round reads
/// the feed again.
fn lost_batch_error(error: SearchError) -> Error {
    Error::new(ErrorKind::Unavailable, "the search index does not accept changes now").caused_by(error)
}

/// Returns `true` if a change creates or edits a computed page.
fn is_computed(change: &RevisionChange) -> bool {
    match change {
        RevisionChange::PageCreated(page) | RevisionChange::PageEdited { page, .. } => {
            page.entry.kind == PageKind::Computed
        }
        _ => false,
    }
}

/// Returns `true` if an indexed attribute changed.
fn is_indexed_change(attributes: &[Attribute]) -> bool {
    use Attribute::{Body, Description, Kind, NoIndex, Title};
    attributes.iter().any(|attribute| matches!(attribute, Body | Description | Kind | NoIndex | Title))
}

/// Splits the text of a page by headings. Conditional content is omitted, because the index also serves visitors and
/// cannot evaluate their conditions.
pub(super) fn split_sections(markdown: &str) -> Vec<Section> {
    let mut document = document::parse(markdown);
    document.nodes.iter_mut().for_each(without_conditions);
    let mut undecided = UndecidedConditions::default();
    document
        .nodes
        .retain(|block| !undecided.is_undecided(block) && !matches!(block.kind, BlockKind::If { .. }));
    let sections = document::sections(&document::reading_view(&document)).into_iter();
    sections.map(|it| Section { anchor: it.anchor, heading: it.heading, text: it.text }).collect()
}

/// Removes conditional content from a block. The depth of documents is bounded.
fn without_conditions(block: &mut Block) {
    let mut undecided = UndecidedConditions::default();
    block.nodes.retain(|node| match node {
        Node::Block(block) => !undecided.is_undecided(block) && !matches!(block.kind, BlockKind::If { .. }),
        _ => true,
    });
    for node in &mut block.nodes {
        if let Node::Block(block) = node {
            without_conditions(block);
        }
    }
    for fragment in block.fragments.iter_mut().flatten() {
        let mut undecided = UndecidedConditions::default();
        fragment
            .nodes
            .retain(|block| !undecided.is_undecided(block) && !matches!(block.kind, BlockKind::If { .. }));
        fragment.nodes.iter_mut().for_each(without_conditions);
    }
}

impl Platform {
    pub(in crate::platform) fn follower(&self) -> Option<Arc<Follower>> {
        self.inner.memory.get()
    }
}

#[cfg(test)]
mod tests {
    use super::split_sections;

    #[test]
    fn indexed_text_contains_no_markup() {
        let text = "See [<u>it</u>][a]. <!-- hidden -->\n\n[a]: /pages/p\n\n## <a id=\"x\"></a>StepOutcome {#next}\n\n\
                    > [!NOTE]\n> <b class=\"x\">Mind</b>\n\n{% if true %}\nSecret\n{% endif %}\n";
        let sections = split_sections(text);
        let found: Vec<_> = sections.iter().map(|own| (own.anchor.as_deref(), own.text.as_str())).collect();
        assert_eq!(found, [(None, "See it."), (Some("next"), "Mind")]);
    }
}
