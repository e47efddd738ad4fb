//! Semantic edits of pages, files, reusable contents and variables.

mod pages;
pub(crate) mod patch;
mod pending;
mod revert;
mod siblings;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use docs_model::{FileId, GitBlob, PageId, PagePatch, ReusableId, VariableValue};
use docs_store::{Hash, Key};

pub use self::patch::{NewBody, ReusablePatch};
use self::pending::{Numbered, Pending};
pub(crate) use self::{
    patch::check_variables,
    pending::PagePlace,
    siblings::{appended, free_slug},
};
use super::{
    BuildPage, Content, ContentResult, Cost, FileEntry, PageEntry, PageKind, TextMerger,
    aside::yield_to_others,
    bounds,
    entry::encode,
    error::{check_text, invalid},
    keys,
    load::{Session, Step},
    map::{self, Change},
    redirects::{self, Departure},
};

/// A page to add.
#[derive(Clone, PartialEq, Debug)]
pub struct NewPage {
    /// The id of the new page, which must be unused.
    pub id: PageId,
    pub kind: PageKind,
    /// The parent page; `None` for the top level.
    pub parent: Option<PageId>,
    /// The position among the siblings, counted from 0. Sorts last if `None` or too large.
    pub at: Option<usize>,
    /// The fields. The title is required; an absent or empty slug is derived from the title.
    pub fields: PagePatch,
    pub body: NewBody,
}

impl NewPage {
    /// Creates a page without text that sorts last at the top level.
    #[must_use]
    pub fn new(id: PageId, kind: PageKind, fields: PagePatch) -> Self {
        Self { id, kind, parent: None, at: None, fields, body: NewBody::Empty }
    }
}

/// Edits planned before yielding to other tasks.
const PAUSE_EVERY: usize = 128;

/// An edit of the content.
#[derive(Clone, PartialEq, Debug)]
pub enum Edit {
    InsertPage(Box<NewPage>),
    /// Sets fields of a page. Title and slug are independent of each other.
    UpdatePage {
        page: PageId,
        fields: Box<PagePatch>,
    },
    /// Replaces the text of a page.
    ///
    /// If the page was shown with conflict markers, the parts without markers are resolved; a text without any
    /// markers resolves the conflict.
    SetBody {
        /// The page, which must be a document.
        page: PageId,
        body: NewBody,
    },
    /// Replaces all fields and the text of a page by those of an import. The page keeps its position and its
    /// children.
    ReplacePage(Box<BuildPage>),
    /// Moves a page with its descendants.
    MovePage {
        page: PageId,
        /// The new parent: `None` keeps the parent, `Some(None)` is the top level.
        into: Option<Option<PageId>>,
        /// The position among the new siblings, not counting the page itself. If absent, the page keeps its position
        /// under the same parent, and sorts last under another.
        at: Option<usize>,
    },
    /// Deletes a page with its descendants.
    DeletePage {
        page: PageId,
    },
    /// Restores the state that a page has in another revision.
    ///
    /// A page that the other revision lacks is deleted together with its descendants that the other revision lacks
    /// too; the remaining descendants move up. A missing page is restored with its descendants. A changed page gets
    /// its fields, text and position back.
    RevertPage {
        page: PageId,
        /// The root of the other revision.
        to: Hash,
    },
    /// Removes the recorded field conflicts of a page and keeps its current values. A text conflict remains.
    ClearClashes {
        page: PageId,
    },
    /// Adds or replaces a file with already stored bytes. A name that another file has is made unique by a number.
    PutFile {
        file: FileId,
        entry: FileEntry,
    },
    DeleteFile {
        file: FileId,
    },
    PutReusable {
        reusable: ReusableId,
        /// The fields to set. A new reusable content needs a title.
        fields: ReusablePatch,
    },
    DeleteReusable {
        reusable: ReusableId,
    },
    /// Records the Git files of pages, files and reusable contents. Nothing else changes, including timestamps;
    /// missing items are skipped.
    SetGit {
        files: Vec<GitFile>,
    },
    /// Sets variables of the space, and deletes those without a value. Other variables are unchanged.
    SetVariables {
        variables: BTreeMap<String, Option<VariableValue>>,
    },
}

/// An item that Git stores in a file.
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
    /// The text of the file, already stored; `None` for a file of the space.
    pub source: Option<Hash>,
}

/// The combined effect of a batch of edits on a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Touch {
    Created,
    Updated,
    Deleted,
}

/// The result of [`Content::edit`].
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edited {
    /// The new root, or the old one if nothing changed.
    pub root: Hash,
    /// The pages that changed, each once, in order of the first edit that touched them.
    pub pages: Vec<(PageId, Touch)>,
    pub cost: Cost,
}

impl Content {
    /// Applies edits in order and atomically: each edit sees the effects of the previous ones, and if one is
    /// rejected, none is applied.
    ///
    /// `now` becomes the time of the last change of the pages. Cost is proportional to the number of edits, the links
    /// of the texts they change, the backlinks of the items they add or remove, and the logarithm of the content's
    /// size. Every object of the new root is stored before this function returns.
    ///
    /// # Errors
    /// [`ContentError::Invalid`](super::ContentError::Invalid) with the position of the rejected edit and its field;
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
    ) -> ContentResult<Edited> {
        let mut session = self.session(domain);
        let mut current = root;
        let mut texts = BTreeSet::new();
        let mut touched = Touched::default();
        for (position, edit) in edits.iter().enumerate() {
            let Some(text) = edit.text() else { continue };
            check_text(text).map_err(|error| error.at(position))?;
            texts.insert(session.add_text(text));
        }
        // One batch of loads for the pages of all edits, instead of one for each edit.
        let named: Vec<Key> = edits.iter().flat_map(Edit::pages).map(keys::page).collect();
        session.run(|session| Ok(map::get_many(session, &root, &named)?)).await?;
        let mut pending = Pending::default();
        for (position, edit) in edits.iter().enumerate() {
            if edit.reads_tree() {
                current = session.apply(current, &pending.take()).await?;
            }
            let mut plan = self.plan((&mut session, now), (current, &pending), edit).await;
            if matches!(&plan, Ok(plan) if plan.apply_first) {
                current = session.apply(current, &pending.take()).await?;
                plan = self.plan((&mut session, now), (current, &pending), edit).await;
            }
            let mut plan = plan.map_err(|error| error.at(position))?;
            for text in &plan.texts {
                texts.insert(session.add_text(text));
            }
            for (page, touch) in std::mem::take(&mut plan.pages) {
                touched.add(page, touch);
            }
            pending.add(&mut plan);
            if edit.reads_tree() || !plan.departed.is_empty() {
                current = session.apply(current, &pending.take()).await?;
                current = redirects::leave(&mut session, current, &plan.departed, Some(now)).await?;
                if matches!(edit, Edit::RevertPage { .. }) {
                    let checked = bounds::check(&mut session, root, current).await?;
                    checked.map_err(|what| invalid("page", what).at(position))?;
                }
                session.drop_unreachable(current);
            }
            if position % PAUSE_EVERY == PAUSE_EVERY - 1 {
                yield_to_others().await;
            }
        }
        current = session.apply(current, &pending.take()).await?;
        current = self.relink(&mut session, root, current).await?;
        session.save(current, &texts).await?;
        Ok(Edited { root: current, pages: touched.list(), cost: session.finish() })
    }

    async fn plan(
        &self,
        (session, now): (&mut Session<'_>, DateTime<Utc>),
        (root, pending): (Hash, &Pending),
        edit: &Edit,
    ) -> ContentResult<Plan> {
        session.run(|session| At { session, root, pending, now, merger: self.merger() }.plan(edit)).await
    }
}

impl Edit {
    /// Returns `true` if the edit reads the order or the descendants of pages, or removes records. Such an edit is
    /// planned and applied on its own.
    fn reads_tree(&self) -> bool {
        match self {
            Self::InsertPage(page) => page.at.is_some(),
            // Removed records free capacity, which only the count of the map shows.
            Self::DeleteFile { .. } | Self::DeleteReusable { .. } => true,
            Self::MovePage { .. }
            | Self::DeletePage { .. }
            | Self::RevertPage { .. }
            | Self::SetGit { .. } => true,
            _ => false,
        }
    }

    /// Returns the pages that the edit refers to.
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

/// The changes of one edit.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) changes: Changes,
    pub(crate) pages: Vec<(PageId, Touch)>,
    departed: Vec<Departure>,
    /// Texts that the edit produced, in addition to its own text.
    pub(crate) texts: Vec<String>,
    new_below: Option<Option<PageId>>,
    new_record: Option<&'static str>,
    places: Vec<(PageId, PagePlace)>,
    numbered: Option<Numbered>,
    /// The pending changes have to be applied first; nothing else is planned.
    apply_first: bool,
}

impl Plan {
    /// Returns the plan of an edit that requires the pending changes to be in the map.
    fn apply_first() -> Self {
        Self { apply_first: true, ..Self::default() }
    }

    /// Changes a page and its derived entries.
    pub(crate) fn set(
        &mut self,
        id: &PageId,
        before: Option<&PageEntry>,
        after: Option<&PageEntry>,
    ) -> ContentResult<()> {
        if before == after {
            return Ok(());
        }
        let touch = match (before, after) {
            (None, _) => Touch::Created,
            (Some(_), Some(_)) => Touch::Updated,
            (Some(_), None) => Touch::Deleted,
        };
        self.pages.push((id.clone(), touch));
        self.departed.extend(before.and_then(|before| Departure::of(id, before, after)));
        self.changes.set_page(id, before, after)
    }
}

/// Changes to a map. If one page gives up a key and another takes it, the put wins over the removal.
#[derive(Default)]
pub(crate) struct Changes {
    put: BTreeMap<Key, bytes::Bytes>,
    removed: BTreeSet<Key>,
}

impl Changes {
    pub(crate) fn put(&mut self, key: Key, value: bytes::Bytes) {
        self.put.insert(key, value);
    }

    pub(crate) fn remove(&mut self, key: Key) {
        self.removed.insert(key);
    }

    pub(crate) fn set_page(
        &mut self,
        id: &PageId,
        before: Option<&PageEntry>,
        after: Option<&PageEntry>,
    ) -> ContentResult<()> {
        let old = before.map(|entry| keys::derived(id, entry)).unwrap_or_default();
        let new = after.map(|entry| keys::derived(id, entry)).unwrap_or_default();
        // Unchanged entries are not rewritten: their nodes need not even be loaded.
        for (key, _) in old.iter().filter(|entry| !new.contains(entry)) {
            self.remove(key.clone());
        }
        self.put.extend(new.into_iter().filter(|entry| !old.contains(entry)));
        let key = keys::page(id);
        match after {
            Some(entry) => self.put(key, encode(entry)?),
            None => self.remove(key),
        }
        Ok(())
    }

    pub(crate) fn into_changes(self) -> BTreeMap<Key, Change> {
        let mut out: BTreeMap<Key, Change> = self.removed.into_iter().map(|key| (key, None)).collect();
        out.extend(self.put.into_iter().map(|(key, value)| (key, Some(value))));
        out
    }
}

/// The content that an edit applies to.
pub(crate) struct At<'a, 's> {
    pub(crate) session: &'a Session<'s>,
    pub(crate) root: Hash,
    /// The changes of earlier edits, on top of the root.
    pending: &'a Pending,
    pub(crate) now: DateTime<Utc>,
    pub(crate) merger: &'a dyn TextMerger,
}

impl At<'_, '_> {
    fn plan(&self, edit: &Edit) -> Step<Plan> {
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
            Edit::SetVariables { variables } => self.set_variables(variables),
        }
    }
}

/// The pages that a batch touched, in order of the first touch.
#[derive(Default)]
struct Touched {
    order: Vec<PageId>,
    /// For each page: existed before the batch, and exists now.
    pages: BTreeMap<PageId, (bool, bool)>,
}

impl Touched {
    fn add(&mut self, page: PageId, touch: Touch) {
        let now = touch != Touch::Deleted;
        if let Some(known) = self.pages.get_mut(&page) {
            known.1 = now;
            return;
        }
        self.pages.insert(page.clone(), (touch != Touch::Created, now));
        self.order.push(page);
    }

    fn list(self) -> Vec<(PageId, Touch)> {
        let touch = |page: &PageId| match self.pages.get(page) {
            Some((false, true)) => Some(Touch::Created),
            Some((true, true)) => Some(Touch::Updated),
            Some((true, false)) => Some(Touch::Deleted),
            Some((false, false)) | None => None,
        };
        self.order.iter().filter_map(|page| Some((page.clone(), touch(page)?))).collect()
    }
}
