//! Semantic edits: what people do to pages, files, reusable contents and variables.

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
    /// The id it gets; no page has it yet.
    pub id: PageId,
    /// What it is.
    pub kind: PageKind,
    /// The page it stands below; the top level when none.
    pub parent: Option<PageId>,
    /// Its position among its siblings, counted from 0; the last one when none or too large.
    pub at: Option<usize>,
    /// Its fields. The title is required; the slug is made of the title when it is absent or empty.
    pub fields: PagePatch,
    /// Its text.
    pub body: NewBody,
}

impl NewPage {
    /// A page without text, the last one at the top level.
    #[must_use]
    pub fn new(id: PageId, kind: PageKind, fields: PagePatch) -> Self {
        Self { id, kind, parent: None, at: None, fields, body: NewBody::Empty }
    }
}

/// Edits that are planned before other tasks get their turn.
const PAUSE_EVERY: usize = 128;

/// One thing a person does to the content.
#[derive(Clone, PartialEq, Debug)]
pub enum Edit {
    /// Adds a page.
    InsertPage(Box<NewPage>),
    /// Sets fields of a page. Title and slug are independent of each other.
    UpdatePage {
        /// The page.
        page: PageId,
        /// The fields.
        fields: Box<PagePatch>,
    },
    /// Replaces the text of a page.
    ///
    /// Of a text that was shown with conflict markers, the parts without markers are decided; a text without any
    /// resolves the conflict.
    SetBody {
        /// The page, a document.
        page: PageId,
        /// The text.
        body: NewBody,
    },
    /// Makes a page what an import says of it: each of its fields and its text, whatever they were. It stays where it
    /// is, with the pages below it.
    ReplacePage(Box<BuildPage>),
    /// Moves a page with everything below it.
    MovePage {
        /// The page.
        page: PageId,
        /// Where to: `None` stays below the same page, `Some(None)` is the top level.
        into: Option<Option<PageId>>,
        /// The position among the new siblings, not counting the page itself. When absent, the page keeps its
        /// position if it stays below the same page, else it becomes the last one.
        at: Option<usize>,
    },
    /// Removes a page with everything below it.
    DeletePage {
        /// The page.
        page: PageId,
    },
    /// Makes a page what it was in another revision.
    ///
    /// A page the other revision lacks is removed, with the pages below it that the other lacks too (others move up);
    /// one that is missing is restored, with what was below it; one that changed gets its fields, text and place back.
    RevertPage {
        /// The page.
        page: PageId,
        /// The root of the other revision.
        to: Hash,
    },
    /// Drops the notes of what merges could not unite, keeping the values as they are. A text in conflict stays so.
    ClearClashes {
        /// The page.
        page: PageId,
    },
    /// Adds or replaces a file. Its bytes were stored before. When another file has its name, it gets a number.
    PutFile {
        /// The file.
        file: FileId,
        /// What it is.
        entry: FileEntry,
    },
    /// Removes a file.
    DeleteFile {
        /// The file.
        file: FileId,
    },
    /// Adds or changes a reusable content.
    PutReusable {
        /// The reusable content.
        reusable: ReusableId,
        /// Its fields; a new one needs a title.
        fields: ReusablePatch,
    },
    /// Removes a reusable content.
    DeleteReusable {
        /// The reusable content.
        reusable: ReusableId,
    },
    /// Says where Git keeps pages, files and reusable contents. Nothing else of them changes, their times neither;
    /// those that are not there are passed over.
    SetGit {
        /// What is kept where.
        files: Vec<GitFile>,
    },
    /// Sets variables of the space, or removes those with no value; others stay.
    SetVariables {
        /// The variables.
        variables: BTreeMap<String, Option<VariableValue>>,
    },
}

/// Something that Git keeps in a file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GitThing {
    /// A page.
    Page(PageId),
    /// A file.
    File(FileId),
    /// A reusable content.
    Reusable(ReusableId),
}

/// A file in which Git keeps something.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GitFile {
    /// What it keeps.
    pub thing: GitThing,
    /// Where it is.
    pub blob: GitBlob,
    /// Its text, stored before; none of a file of the space.
    pub source: Option<Hash>,
}

/// What happened to a page over all edits of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Touch {
    /// It is new.
    Created,
    /// It was there and is another now.
    Updated,
    /// It is gone.
    Deleted,
}

/// Content after a batch of edits.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edited {
    /// The new root; the old one when nothing changed.
    pub root: Hash,
    /// The pages that changed, each once, in the order the edits first touched them.
    pub pages: Vec<(PageId, Touch)>,
    /// What it cost.
    pub cost: Cost,
}

impl Content {
    /// Applies edits in order and all together: each sees what those before it did; when one is refused, nothing
    /// happens.
    ///
    /// `now` becomes the time of change of the pages. The cost grows with the number of edits, the links of the texts
    /// they change, the backlinks of what they add or remove, and the logarithm of the content's size. Every object of
    /// the new root is stored before this answers.
    ///
    /// # Errors
    /// [`ContentError::Invalid`](super::ContentError::Invalid) with the position of the refused edit and its field;
    /// [`ContentError::NotFound`](super::ContentError::NotFound) when the root does not exist;
    /// [`ContentError::Store`](super::ContentError::Store).
    ///
    /// # Cancel safety
    /// Dropping the future leaves at most objects that nothing refers to.
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
        // One batch of loads for the pages the edits name, instead of one for each edit.
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
    /// Returns `true` if the edit reads the order of pages or the pages below one, or removes records: it is planned
    /// and applied on its own.
    fn reads_tree(&self) -> bool {
        match self {
            Self::InsertPage(page) => page.at.is_some(),
            // Records that go make room, which the count of the map shows.
            Self::DeleteFile { .. } | Self::DeleteReusable { .. } => true,
            Self::MovePage { .. }
            | Self::DeletePage { .. }
            | Self::RevertPage { .. }
            | Self::SetGit { .. } => true,
            _ => false,
        }
    }

    /// The pages the edit names.
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

    /// The text the edit brings along.
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

/// What one edit changes.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) changes: Changes,
    pub(crate) pages: Vec<(PageId, Touch)>,
    departed: Vec<Departure>,
    /// Texts the edit made, beside those it brought along.
    pub(crate) texts: Vec<String>,
    /// The parent of the page that the edit adds.
    new_below: Option<Option<PageId>>,
    /// The class of the record that the edit adds.
    new_record: Option<&'static str>,
    places: Vec<(PageId, PagePlace)>,
    numbered: Option<Numbered>,
    /// The pending changes have to be applied first; nothing else is planned.
    apply_first: bool,
}

impl Plan {
    /// The plan of an edit that takes the pending changes to be in the map.
    fn apply_first() -> Self {
        Self { apply_first: true, ..Self::default() }
    }

    /// Changes a page and what follows from it.
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

/// Changes to a map. A key that one page gives up and another takes ends up with the one that takes it.
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
        // What stays is not written again: the nodes it is in need not even be loaded.
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

/// One edit's view of the content it applies to.
pub(crate) struct At<'a, 's> {
    pub(crate) session: &'a Session<'s>,
    pub(crate) root: Hash,
    /// The changes of the edits before, on top of the root.
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

/// The pages a batch touched, in first-touch order.
#[derive(Default)]
struct Touched {
    order: Vec<PageId>,
    /// Whether each was there before the batch, and whether it is now.
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
