//! The index work for a space, which is done in parts.

use std::{sync::Arc, vec};

use super::{
    index_batch::IndexBatch,
    indexed_text::{is_indexed, text_hash},
    sections::split_sections,
};
use crate::{
    Result,
    content::{
        Attribute, ContentError, PageEntry, PageKind, RevisionChange, RevisionDiff, View, run_on_text,
        yield_to_others,
    },
    model::{PageId, SpaceId},
    platform::kernel::platform::Platform,
    ports::{
        SearchIndex,
        search::{IndexChange, IndexedSpace, PageDocument},
    },
    store::records::SpaceRecord,
};

/// The index work for a space.
pub(super) enum SpaceTask {
    /// The space and its metadata in the index. Its changes are not determined yet.
    New(SpaceId, Option<Arc<SpaceRecord>>, Option<IndexedSpace>),
    Begun(SpaceWork),
}

/// The remaining work for a space.
pub(super) struct SpaceWork {
    space: Arc<SpaceRecord>,
    view: View,
    /// The metadata to store at the end.
    now: IndexedSpace,
    pages: RemainingPages,
}

/// Number of pages that are read at a time.
const PAGE_BATCH: usize = 100;

/// The pages that are not indexed yet. Spaces of many organizations can wait at once, so this contains no trees and no
/// entries.
enum RemainingPages {
    /// All pages after this one, by id.
    All(Option<PageId>),
    Changed(vec::IntoIter<PageId>),
}

impl Platform {
    /// Continues a task until its turn ends. Returns `true` if the task is complete.
    pub(super) async fn continue_task(
        &self,
        index: &dyn SearchIndex,
        task: &mut SpaceTask,
        pending: &mut IndexBatch,
    ) -> Result<bool> {
        if let SpaceTask::New(id, record, noted) = task {
            let Some(space) = record.as_ref().filter(|space| space.deleted_at.is_none()) else {
                pending.extend(noted.as_ref().map(|_| IndexChange::DropSpace(id.clone())));
                return Ok(true);
            };
            match self.begin_space(index, space, noted.take(), pending).await? {
                Some(work) => *task = SpaceTask::Begun(work),
                None => return Ok(true),
            }
        }
        let SpaceTask::Begun(work) = task else { return Ok(true) };
        if work.index_pages(pending).await? {
            pending.push(IndexChange::PutSpace(work.now.clone()));
            return Ok(true);
        }
        Ok(false)
    }

    /// Determines the changes of a space. Returns `None` if there are none.
    async fn begin_space(
        &self,
        index: &dyn SearchIndex,
        space: &Arc<SpaceRecord>,
        noted: Option<IndexedSpace>,
        pending: &mut IndexBatch,
    ) -> Result<Option<SpaceWork>> {
        let mut now = current_metadata(space);
        if noted.as_ref() == Some(&now) {
            return Ok(None);
        }
        let before = noted.clone();
        let view = self.content().view(&space.domain, space.root);
        let changes = match noted.filter(|noted| noted.organization == now.organization) {
            None => None,
            Some(noted) if noted.root == now.root => Some(RelevantChanges::default()),
            Some(noted) => match self.content().diff(&space.domain, noted.root, space.root).await {
                // The indexed content no longer exists.
                Err(ContentError::NotFound(_)) => None,
                changes => Some(relevant_changes(changes?).await?),
            },
        };
        let pages = match changes {
            None => {
                pending.push(IndexChange::DropSpace(space.id.clone()));
                now.generated = self.index_generated_pages(index, space, &view, None, pending).await?;
                RemainingPages::All(None)
            }
            Some(changes) => {
                let generated = before.as_ref().and_then(|before| before.generated.as_ref());
                // Only content that has a computed page, or gets one, is read as a whole.
                if generated.is_some() || changes.has_computed {
                    now.generated =
                        self.index_generated_pages(index, space, &view, generated, pending).await?;
                }
                if before.as_ref() == Some(&now) {
                    return Ok(None);
                }
                RemainingPages::Changed(changes.pages.into_iter())
            }
        };
        Ok(Some(SpaceWork { space: Arc::clone(space), view, now, pages }))
    }
}

impl SpaceWork {
    /// Indexes pages until the turn ends. Returns `true` if none remains.
    async fn index_pages(&mut self, pending: &mut IndexBatch) -> Result<bool> {
        let Self { space, view, pages, .. } = self;
        match pages {
            RemainingPages::All(last) => loop {
                let read = view.pages_after(last.as_ref(), PAGE_BATCH).await?;
                let is_end = read.len() < PAGE_BATCH;
                for (id, entry) in read {
                    if pending.ends_turn() {
                        return Ok(false);
                    }
                    if is_indexed(&entry) {
                        pending.push(page_change(space, view, &id, &entry).await?);
                    }
                    *last = Some(id);
                }
                if is_end {
                    return Ok(true);
                }
            },
            RemainingPages::Changed(changed) => {
                while !pending.ends_turn() {
                    let Some(id) = changed.next() else { return Ok(true) };
                    let entry = view.page(&id).await?.filter(is_indexed);
                    pending.push(match entry {
                        Some(entry) => page_change(space, view, &id, &entry).await?,
                        None => IndexChange::DropPage(space.id.clone(), id),
                    });
                }
                Ok(changed.as_slice().is_empty())
            }
        }
    }
}

/// Returns the metadata of a space whose current content without generated pages is indexed.
pub(super) fn current_metadata(space: &SpaceRecord) -> IndexedSpace {
    IndexedSpace {
        space: space.id.clone(),
        organization: space.organization.clone(),
        root: space.root,
        generated: None,
    }
}

async fn page_change(
    space: &SpaceRecord,
    view: &View,
    id: &PageId,
    entry: &PageEntry,
) -> Result<IndexChange> {
    let text = view.reader_text(&entry.body, entry.expansions).await?;
    Ok(IndexChange::PutPage(Box::new(PageDocument {
        organization: space.organization.clone(),
        space: space.id.clone(),
        page: id.clone(),
        title: entry.title.clone(),
        description: entry.description.clone(),
        text: text_hash(entry)?,
        sections: run_on_text(&text, split_sections).await,
    })))
}

/// The changes of a revision that affect the index.
#[derive(Default)]
struct RelevantChanges {
    pages: Vec<PageId>,
    /// A computed page was created or edited.
    has_computed: bool,
}

async fn relevant_changes(diff: RevisionDiff) -> Result<RelevantChanges> {
    let mut relevant = RelevantChanges::default();
    for (position, change) in diff.enumerate() {
        let change = change?;
        relevant.has_computed |= is_computed(&change);
        relevant.pages.extend(changed_page(change));
        if position % PAGE_BATCH == PAGE_BATCH - 1 {
            yield_to_others().await;
        }
    }
    Ok(relevant)
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

/// Returns the page whose index entry a change affects. Page paths are read when results are displayed.
fn changed_page(change: RevisionChange) -> Option<PageId> {
    match change {
        RevisionChange::PageCreated(page) if is_indexed(&page.entry) => Some(page.id),
        RevisionChange::PageEdited { page, attributes, .. } if is_indexed_change(&attributes) => {
            Some(page.id)
        }
        RevisionChange::PageDeleted(page) => Some(page.id),
        _ => None,
    }
}

/// Returns `true` if an indexed attribute changed.
fn is_indexed_change(attributes: &[Attribute]) -> bool {
    use Attribute::{Body, Description, Kind, NoIndex, Title};
    attributes.iter().any(|attribute| matches!(attribute, Body | Description | Kind | NoIndex | Title))
}
