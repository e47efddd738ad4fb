//! Edits of pages, files, reusable content blocks and variables.

mod changes;
mod edit_state;
mod page_place;
mod pages;
pub(crate) mod patch;
mod pending_edits;
mod plan;
mod revert;
mod siblings;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use docs_model::{FileId, GitBlob, PageId, PagePatch, ReusableId, VariableValue};
use docs_store::{Hash, Key};

pub(crate) use self::{
    changes::MapChanges,
    page_place::PagePlace,
    patch::check_variables,
    siblings::{free_slug, rank_after_children},
};
use self::{
    edit_state::EditState,
    pending_edits::PendingEdits,
    plan::{EditChanges, NumberedName},
};
pub use self::{
    patch::{NewBody, ReusablePatch},
    plan::PageEffect,
};
use super::{
    BuildPage, Content, ContentResult, Cost, FileEntry, PageKind, bounds,
    error::{check_text, invalid},
    keys,
    load::{PassResult, Session},
    map::{self},
    offload::yield_after_each,
    redirects::{self},
};

/// A page to insert.
#[derive(Clone, PartialEq, Debug)]
pub struct NewPage {
    /// The id of the new page. It must be unused.
    pub id: PageId,
    pub kind: PageKind,
    /// The parent page, or `None` for the top level.
    pub parent: Option<PageId>,
    /// The zero-based position among the siblings. The page is placed last if this is `None` or too large.
    pub at: Option<usize>,
    /// The fields of the page. The title is required. An absent or empty slug is derived from the title.
    pub fields: PagePatch,
    pub body: NewBody,
}

impl NewPage {
    /// Creates a page without text, placed last at the top level.
    #[must_use]
    pub fn new(id: PageId, kind: PageKind, fields: PagePatch) -> Self {
        Self { id, kind, parent: None, at: None, fields, body: NewBody::Empty }
    }
}

/// Number of edits planned before yielding to other tasks.
const PAUSE_EVERY: usize = 128;

/// An edit of the content.
#[derive(Clone, PartialEq, Debug)]
pub enum Edit {
    InsertPage(Box<NewPage>),
    /// Sets fields of a page. The title and the slug do not affect each other.
    UpdatePage {
        page: PageId,
        fields: Box<PagePatch>,
    },
    /// Replaces the text of a page.
    ///
    /// If the text was displayed with conflict markers, the passages without remaining markers are resolved. Text
    /// without any markers resolves the whole conflict.
    SetBody {
        /// The page, which must be a document.
        page: PageId,
        body: NewBody,
    },
    /// Replaces all fields and the text of a page with those of an import. The page keeps its position and its
    /// children.
    ReplacePage(Box<BuildPage>),
    /// Moves a page and its descendants.
    MovePage {
        page: PageId,
        /// The new parent. `None` keeps the parent, and `Some(None)` is the top level.
        into: Option<Option<PageId>>,
        /// The position among the new siblings, not counting the page itself. If `None`, the page keeps its position
        /// under the same parent and is placed last under a different one.
        at: Option<usize>,
    },
    /// Deletes a page and its descendants.
    DeletePage {
        page: PageId,
    },
    /// Restores the state of a page in another revision.
    ///
    /// If the page is missing in the other revision, it is deleted with all descendants that are missing there too, and
    /// the remaining descendants move up. If the page is missing in this revision, it is restored with its descendants.
    /// Otherwise its fields, text and position are restored.
    RevertPage {
        page: PageId,
        /// The root of the other revision.
        to: Hash,
    },
    /// Removes the recorded field conflicts of a page and keeps the current values. A text conflict remains.
    ClearClashes {
        page: PageId,
    },
    /// Adds or replaces a file whose content is already stored. A number is added to its name if another file has the
    /// same name.
    PutFile {
        file: FileId,
        entry: FileEntry,
    },
    DeleteFile {
        file: FileId,
    },
    PutReusable {
        reusable: ReusableId,
        /// The fields to set. A new block requires a title.
        fields: ReusablePatch,
    },
    DeleteReusable {
        reusable: ReusableId,
    },
    /// Records the Git files of pages, files and reusable content blocks. Nothing else changes, not even timestamps.
    /// Missing items are skipped.
    SetGit {
        files: Vec<GitFile>,
    },
    /// Adds redirects from complete paths to pages, each with an optional anchor, like those of a repository. A path
    /// with a redirect keeps it. Redirects beyond [`MAX_MOVED`](crate::MAX_MOVED) are omitted.
    AddRedirects {
        redirects: Vec<(String, PageId, Option<String>)>,
    },
    /// Sets variables of the space, and deletes those without a value. Other variables are unchanged.
    SetVariables {
        variables: BTreeMap<String, Option<VariableValue>>,
    },
}

/// An item that Git represents as a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GitThing {
    Page(PageId),
    File(FileId),
    Reusable(ReusableId),
}

/// The Git file of an item.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GitFile {
    pub thing: GitThing,
    pub blob: GitBlob,
    /// The hash of the file's text, which must already be stored, or `None` for a file of the space.
    pub source: Option<Hash>,
}

/// The result of [`Content::edit`].
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditOutcome {
    /// The new root, or the old one if nothing changed.
    pub root: Hash,
    /// The pages that the edits changed, without duplicates, in the order of their first edit.
    pub pages: Vec<(PageId, PageEffect)>,
    pub cost: Cost,
}

impl Content {
    /// Applies edits in order and atomically. Each edit sees the effects of the previous ones. If an edit is rejected,
    /// none is applied.
    ///
    /// `now` becomes the time of the last change of the edited pages. The cost is proportional to the number of edits,
    /// the links in the edited texts, the backlinks of added and removed items, and the logarithm of the content size.
    /// Every object of the new root is stored before this function returns.
    ///
    /// # Errors
    /// [`ContentError::Invalid`](super::ContentError::Invalid) with the index and the field of the rejected edit;
    /// [`ContentError::NotFound`](super::ContentError::NotFound) if the root does not exist;
    /// [`ContentError::Store`](super::ContentError::Store).
    ///
    /// # Cancel safety
    /// Dropping the future leaves only unreferenced objects.
    pub async fn edit(
        &self,
        domain: &str,
        root: Hash,
        now: DateTime<Utc>,
        edits: &[Edit],
    ) -> ContentResult<EditOutcome> {
        let mut session = self.session(domain);
        let mut current = root;
        let mut texts = BTreeSet::new();
        let mut touched = TouchedPages::default();
        for (position, edit) in edits.iter().enumerate() {
            let Some(text) = edit.text() else { continue };
            check_text(text).map_err(|error| error.at_index(position))?;
            texts.insert(session.add_text(text));
        }
        // Load the pages of all edits in one batch instead of one batch per edit.
        let named: Vec<Key> = edits.iter().flat_map(Edit::pages).map(keys::page).collect();
        session.run(|session| Ok(map::get_many(session, &root, &named)?)).await?;
        let mut pending = PendingEdits::default();
        for (position, edit) in edits.iter().enumerate() {
            if edit.reads_tree() {
                current = session.apply(current, &pending.take()).await?;
            }
            let mut plan = self.plan(&mut session, now, current, &pending, edit).await;
            if matches!(&plan, Ok(plan) if plan.apply_first) {
                current = session.apply(current, &pending.take()).await?;
                plan = self.plan(&mut session, now, current, &pending, edit).await;
            }
            let mut plan = plan.map_err(|error| error.at_index(position))?;
            for text in &plan.texts {
                texts.insert(session.add_text(text));
            }
            for (page, touch) in std::mem::take(&mut plan.pages) {
                touched.add(page, touch);
            }
            pending.add(&mut plan);
            if edit.reads_tree() || !plan.departed.is_empty() {
                current = session.apply(current, &pending.take()).await?;
                current =
                    redirects::record_departures(&mut session, current, &plan.departed, Some(now)).await?;
                if matches!(edit, Edit::RevertPage { .. }) {
                    let checked = bounds::check(&mut session, root, current).await?;
                    checked.map_err(|what| invalid("page", what).at_index(position))?;
                }
                session.drop_unreachable(current);
            }
            yield_after_each(PAUSE_EVERY, position + 1).await;
        }
        current = session.apply(current, &pending.take()).await?;
        let is_grown = |class: &&str| edits.iter().any(|edit| edit.grown_classes().contains(class));
        let grown: Vec<&str> = bounds::COUNTED.into_iter().filter(is_grown).collect();
        let checked = session.run(|session| bounds::check_records(session, &root, &current, &grown)).await?;
        checked.map_err(|what| invalid("fields", what).at_index(edits.len().saturating_sub(1)))?;
        current = self.relink(&mut session, root, current).await?;
        session.save(current, &texts).await?;
        Ok(EditOutcome { root: current, pages: touched.list(), cost: session.finish() })
    }

    async fn plan(
        &self,
        session: &mut Session<'_>,
        now: DateTime<Utc>,
        root: Hash,
        pending: &PendingEdits,
        edit: &Edit,
    ) -> ContentResult<EditChanges> {
        session
            .run(|session| EditState { session, root, pending, now, merger: self.merger() }.plan(edit))
            .await
    }
}

impl Edit {
    /// Returns `true` if the edit reads the order or the descendants of pages, or removes records. Such an edit is
    /// planned and applied separately.
    fn reads_tree(&self) -> bool {
        match self {
            Self::InsertPage(page) => page.at.is_some(),
            // Removing records frees capacity, which becomes visible only in the counts of the map.
            Self::DeleteFile { .. } | Self::DeleteReusable { .. } => true,
            Self::MovePage { .. }
            | Self::DeletePage { .. }
            | Self::RevertPage { .. }
            | Self::SetGit { .. } => true,
            _ => false,
        }
    }

    /// Returns the classes whose records the edit can enlarge.
    const fn grown_classes(&self) -> &'static [&'static str] {
        match self {
            Self::InsertPage(_) | Self::UpdatePage { .. } | Self::ReplacePage(_) => &[keys::PAGE],
            Self::PutFile { .. } => &[keys::FILE],
            Self::PutReusable { .. } => &[keys::REUSABLE],
            Self::SetGit { .. } => &[keys::PAGE, keys::FILE, keys::REUSABLE],
            // Reverts are checked separately. The other edits replace fields of a bounded size.
            _ => &[],
        }
    }

    /// Returns the pages to which the edit refers.
    fn pages(&self) -> Vec<&PageId> {
        match self {
            Self::InsertPage(new) => new.parent.iter().chain([&new.id]).collect(),
            Self::MovePage { page, into, .. } => into.iter().flatten().chain([page]).collect(),
            Self::UpdatePage { page, .. }
            | Self::SetBody { page, .. }
            | Self::DeletePage { page }
            | Self::RevertPage { page, .. }
            | Self::ClearClashes { page } => vec![page],
            Self::ReplacePage(page) => vec![&page.id],
            _ => Vec::new(),
        }
    }

    /// Returns the text that the edit contains.
    fn text(&self) -> Option<&str> {
        let body = match self {
            Self::InsertPage(page) => Some(&page.body),
            Self::SetBody { body, .. } => Some(body),
            Self::ReplacePage(page) => Some(&page.body),
            Self::PutReusable { fields, .. } => fields.body.as_ref(),
            _ => None,
        };
        match body {
            Some(NewBody::Text(text)) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}

impl EditState<'_, '_> {
    fn plan(&self, edit: &Edit) -> PassResult<EditChanges> {
        match edit {
            Edit::InsertPage(page) => self.insert(page),
            Edit::UpdatePage { page, fields } => self.update(page, fields),
            Edit::SetBody { page, body } => self.set_body(page, body),
            Edit::ReplacePage(page) => self.replace(page),
            Edit::MovePage { page, into, at } => self.move_page(page, into.as_ref(), *at),
            Edit::DeletePage { page } => self.delete(page),
            Edit::RevertPage { page, to } => self.revert(page, to),
            Edit::ClearClashes { page } => self.clear_clashes(page),
            Edit::PutFile { file, entry } => self.put_file(file, entry),
            Edit::DeleteFile { file } => self.delete_file(file),
            Edit::PutReusable { reusable, fields } => self.put_reusable(reusable, fields),
            Edit::DeleteReusable { reusable } => self.delete_reusable(reusable),
            Edit::SetGit { files } => self.set_git(files),
            Edit::AddRedirects { redirects } => self.add_redirects(redirects),
            Edit::SetVariables { variables } => self.set_variables(variables),
        }
    }
}

/// The pages changed by a batch, in the order of their first change.
#[derive(Default)]
struct TouchedPages {
    order: Vec<PageId>,
    /// For each page, whether it existed before the batch, and whether it exists now.
    pages: BTreeMap<PageId, (bool, bool)>,
}

impl TouchedPages {
    fn add(&mut self, page: PageId, touch: PageEffect) {
        let now = touch != PageEffect::Deleted;
        if let Some(known) = self.pages.get_mut(&page) {
            known.1 = now;
            return;
        }
        self.pages.insert(page.clone(), (touch != PageEffect::Created, now));
        self.order.push(page);
    }

    fn list(self) -> Vec<(PageId, PageEffect)> {
        let touch = |page: &PageId| match self.pages.get(page) {
            Some((false, true)) => Some(PageEffect::Created),
            Some((true, true)) => Some(PageEffect::Updated),
            Some((true, false)) => Some(PageEffect::Deleted),
            Some((false, false)) | None => None,
        };
        self.order.iter().filter_map(|page| Some((page.clone(), touch(page)?))).collect()
    }
}
