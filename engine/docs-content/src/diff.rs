//! What changed between two revisions, as people would say it.

use std::collections::BTreeMap;

use docs_model::{FileId, PageId, ReusableId, VariableValue};
use docs_store::{Hash, Key, key::last_segment};

use super::{
    Attribute, Content, ContentResult, FileEntry, PageEntry, Rank, ReusableEntry, VariableEntry,
    entry::{decode, listed},
    keys,
    load::{Gather, Session, Step},
    map::{self, Difference},
    read,
};

/// A page in a list of changes.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangedPage {
    /// The page.
    pub id: PageId,
    /// Its path; `None` for kinds that have none.
    pub path: Option<String>,
    /// Its record after the change, or before it when it was deleted.
    pub entry: Box<PageEntry>,
}

/// One change between two revisions.
#[derive(Clone, PartialEq, Debug)]
pub enum RevisionChange {
    /// A page was added.
    PageCreated(ChangedPage),
    /// Fields or the text of a page changed.
    PageEdited {
        /// The page, as it is now.
        page: ChangedPage,
        /// As it was.
        before: Box<PageEntry>,
        /// What is different.
        attributes: Vec<Attribute>,
    },
    /// A page was removed.
    PageDeleted(ChangedPage),
    /// A page stands elsewhere: below another page, or among the same siblings at another place.
    PageMoved {
        /// The page, as it is now.
        page: ChangedPage,
        /// The page it stood below.
        before: Option<PageId>,
        /// The page it stands below.
        after: Option<PageId>,
    },
    /// A reusable content was added.
    ReusableCreated(ReusableId, ReusableEntry),
    /// A reusable content changed.
    ReusableEdited {
        /// The reusable content.
        id: ReusableId,
        /// As it was.
        before: ReusableEntry,
        /// As it is.
        after: ReusableEntry,
        /// What is different.
        attributes: Vec<Attribute>,
    },
    /// A reusable content was removed.
    ReusableDeleted(ReusableId, ReusableEntry),
    /// A file was added.
    FileCreated(FileId, FileEntry),
    /// A file changed.
    FileEdited {
        /// The file.
        id: FileId,
        /// As it was.
        before: FileEntry,
        /// As it is.
        after: FileEntry,
        /// What is different.
        attributes: Vec<Attribute>,
    },
    /// A file was removed.
    FileDeleted(FileId, FileEntry),
    /// Variables of the space changed: by name, the value before and after.
    VariablesEdited(BTreeMap<String, (Option<VariableValue>, Option<VariableValue>)>),
}

impl Content {
    /// What changed from one revision to another: pages in reading order (deleted ones where they were), then reusable
    /// contents and files in the order of their ids, then variables. Costs what differs.
    ///
    /// Times of change and what Git knows of a page are no change. [`Content::nothing`] need not be stored.
    ///
    /// # Errors
    /// [`ContentError`](super::ContentError) when the content cannot be read.
    pub async fn diff(&self, domain: &str, before: Hash, after: Hash) -> ContentResult<Vec<RevisionChange>> {
        let mut session = self.session(domain);
        session.add_nodes(vec![map::empty()]);
        session.run(|session| changes(session, &before, &after)).await
    }
}

/// The records that differ, in key order.
pub(crate) fn differing(session: &Session<'_>, before: &Hash, after: &Hash) -> Step<Vec<Difference>> {
    let ranges: Vec<(Key, Key)> = keys::RECORDS.iter().map(|class| keys::class(class)).collect();
    Ok(map::diff(session, before, after, &ranges)?)
}

/// Where a page is in reading order.
type Position = Vec<(Rank, PageId)>;

fn changes(session: &Session<'_>, before: &Hash, after: &Hash) -> Step<Vec<RevisionChange>> {
    let mut pages: Vec<(Position, RevisionChange)> = Vec::new();
    let (mut files, mut reusables) = (Vec::new(), Vec::new());
    let mut variables = BTreeMap::new();
    let mut gather = Gather::default();
    for difference in differing(session, before, after)? {
        match difference.key.split('!').next() {
            Some(keys::PAGE) => {
                let found = gather.ask(page_changes(session, (before, after), &difference))?;
                pages.extend(found.unwrap_or_default());
            }
            Some(keys::FILE) => files.extend(file_change(&difference)?),
            Some(keys::REUSABLE) => reusables.extend(reusable_change(&difference)?),
            _ => {
                let (old, new) = both::<VariableEntry>(&difference)?;
                let (old, new) = (old.map(|v| v.value), new.map(|v| v.value));
                if old != new {
                    variables.insert(last_segment(&difference.key), (old, new));
                }
            }
        }
    }
    gather.done()?;
    pages.sort_by(|a, b| a.0.cmp(&b.0));
    let mut out: Vec<RevisionChange> = pages.into_iter().map(|(_, change)| change).collect();
    out.append(&mut reusables);
    out.append(&mut files);
    if !variables.is_empty() {
        out.push(RevisionChange::VariablesEdited(variables));
    }
    Ok(out)
}

fn both<T: serde::de::DeserializeOwned>(difference: &Difference) -> ContentResult<(Option<T>, Option<T>)> {
    let read = |bytes: &Option<bytes::Bytes>| bytes.as_ref().map(|b| decode(&difference.key, b)).transpose();
    Ok((read(&difference.before)?, read(&difference.after)?))
}

fn page_changes(
    session: &Session<'_>,
    (old_root, new_root): (&Hash, &Hash),
    difference: &Difference,
) -> Step<Vec<(Position, RevisionChange)>> {
    let id: PageId = keys::id(&difference.key)?;
    let (before, after) = both::<PageEntry>(difference)?;
    let mut out = Vec::new();
    match (before, after) {
        (None, Some(entry)) => {
            let (at, page) = placed(session, new_root, id, entry)?;
            out.push((at, RevisionChange::PageCreated(page)));
        }
        (Some(entry), None) => {
            let (at, page) = placed(session, old_root, id, entry)?;
            out.push((at, RevisionChange::PageDeleted(page)));
        }
        (Some(before), Some(after)) => {
            let (at, page) = placed(session, new_root, id, after)?;
            let attributes = before.differences(&page.entry);
            if (&before.parent, &before.rank) != (&page.entry.parent, &page.entry.rank) {
                let (old, new) = (before.parent.clone(), page.entry.parent.clone());
                out.push((
                    at.clone(),
                    RevisionChange::PageMoved { page: page.clone(), before: old, after: new },
                ));
            }
            if !attributes.is_empty() {
                out.push((at, RevisionChange::PageEdited { page, before: Box::new(before), attributes }));
            }
        }
        (None, None) => {}
    }
    Ok(out)
}

fn placed(session: &Session<'_>, root: &Hash, id: PageId, entry: PageEntry) -> Step<(Position, ChangedPage)> {
    let above = read::ancestors(session, root, &entry)?;
    let mut position: Position = above.iter().rev().map(|(id, e)| (e.rank.clone(), id.clone())).collect();
    position.push((entry.rank.clone(), id.clone()));
    let path = read::path(session, root, &entry)?;
    Ok((position, ChangedPage { id, path, entry: Box::new(entry) }))
}

fn file_change(difference: &Difference) -> ContentResult<Option<RevisionChange>> {
    let id: FileId = keys::id(&difference.key)?;
    Ok(match both::<FileEntry>(difference)? {
        (None, Some(entry)) => Some(RevisionChange::FileCreated(id, entry)),
        (Some(entry), None) => Some(RevisionChange::FileDeleted(id, entry)),
        (Some(before), Some(after)) => {
            let attributes = listed([
                (before.name != after.name, Attribute::Name),
                (before.content_type != after.content_type, Attribute::ContentType),
                (before.size != after.size, Attribute::Size),
                (before.dimensions != after.dimensions, Attribute::Dimensions),
                (before.blob != after.blob, Attribute::Blob),
                (before.clash != after.clash, Attribute::Clash),
            ]);
            (!attributes.is_empty()).then_some(RevisionChange::FileEdited { id, before, after, attributes })
        }
        (None, None) => None,
    })
}

fn reusable_change(difference: &Difference) -> ContentResult<Option<RevisionChange>> {
    let id: ReusableId = keys::id(&difference.key)?;
    Ok(match both::<ReusableEntry>(difference)? {
        (None, Some(entry)) => Some(RevisionChange::ReusableCreated(id, entry)),
        (Some(entry), None) => Some(RevisionChange::ReusableDeleted(id, entry)),
        (Some(before), Some(after)) => {
            let attributes = listed([
                (before.title != after.title, Attribute::Title),
                (before.body != after.body, Attribute::Body),
                (before.computed != after.computed, Attribute::Computed),
                (before.computed_seed != after.computed_seed, Attribute::ComputedSeed),
                (before.extra != after.extra, Attribute::Extra),
                (before.clash != after.clash, Attribute::Clash),
            ]);
            (!attributes.is_empty()).then_some(RevisionChange::ReusableEdited {
                id,
                before,
                after,
                attributes,
            })
        }
        (None, None) => None,
    })
}
