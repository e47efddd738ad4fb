//! Changes between two revisions, per page, file, reusable content block and variable.

use std::collections::BTreeMap;

use docs_model::{FileId, PageId, ReusableId, VariableValue};
use docs_store::{Hash, Key, key::last_segment};

use super::{
    Attribute, Content, ContentResult, FileEntry, PageEntry, Rank, ReusableEntry, VariableEntry,
    entry::{decode, flagged_attributes},
    keys,
    load::{MissingCollector, PassResult, Session},
    map::{self, Difference},
    read,
};

/// A page in a list of changes.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangedPage {
    pub id: PageId,
    /// The path, or `None` for page kinds without a path.
    pub path: Option<String>,
    /// The record after the change; for a deleted page, the record before it.
    pub entry: Box<PageEntry>,
}

/// A change between two revisions.
#[derive(Clone, PartialEq, Debug)]
pub enum RevisionChange {
    PageCreated(ChangedPage),
    /// Fields or the text of a page changed.
    PageEdited {
        /// The page after the change.
        page: ChangedPage,
        /// The record before the change.
        before: Box<PageEntry>,
        /// The attributes that differ.
        attributes: Vec<Attribute>,
    },
    PageDeleted(ChangedPage),
    /// A page has a different parent, or a different position among the same siblings.
    PageMoved {
        /// The page after the change.
        page: ChangedPage,
        /// The previous parent.
        before: Option<PageId>,
        /// The new parent.
        after: Option<PageId>,
    },
    ReusableCreated(ReusableId, ReusableEntry),
    ReusableEdited {
        id: ReusableId,
        /// The record before the change.
        before: ReusableEntry,
        /// The record after the change.
        after: ReusableEntry,
        /// The attributes that differ.
        attributes: Vec<Attribute>,
    },
    ReusableDeleted(ReusableId, ReusableEntry),
    FileCreated(FileId, FileEntry),
    FileEdited {
        id: FileId,
        /// The record before the change.
        before: FileEntry,
        /// The record after the change.
        after: FileEntry,
        /// The attributes that differ.
        attributes: Vec<Attribute>,
    },
    FileDeleted(FileId, FileEntry),
    /// Variables of the space changed. Maps names to the value before and after the change.
    VariablesEdited(BTreeMap<String, (Option<VariableValue>, Option<VariableValue>)>),
}

impl Content {
    /// Returns the changes from one revision to another, in this order: pages in reading order, with deleted pages at
    /// their previous position; reusable content blocks and files by id; variables. The cost is proportional to the
    /// differences.
    ///
    /// Changes of timestamps and Git metadata are ignored. [`Content::empty_hash`] need not be stored.
    ///
    /// # Errors
    /// [`ContentError`](super::ContentError) if the content cannot be read.
    pub async fn diff(&self, domain: &str, before: Hash, after: Hash) -> ContentResult<Vec<RevisionChange>> {
        let mut session = self.session(domain);
        session.add_nodes(vec![map::empty()]);
        session.run(|session| changes(session, &before, &after)).await
    }
}

/// Returns the records that differ, in key order.
pub(crate) fn differing_records(
    session: &Session<'_>,
    before: &Hash,
    after: &Hash,
) -> PassResult<Vec<Difference>> {
    let ranges: Vec<(Key, Key)> = keys::RECORDS.iter().map(|class| keys::class(class)).collect();
    Ok(map::diff(session, before, after, &ranges)?)
}

/// The position of a page in reading order: the ranks and ids of its ancestors from the top level down, and its own.
type Position = Vec<(Rank, PageId)>;

fn changes(session: &Session<'_>, before: &Hash, after: &Hash) -> PassResult<Vec<RevisionChange>> {
    let mut pages: Vec<(Position, RevisionChange)> = Vec::new();
    let (mut files, mut reusables) = (Vec::new(), Vec::new());
    let mut variables = BTreeMap::new();
    let mut gather = MissingCollector::default();
    for difference in differing_records(session, before, after)? {
        match difference.key.split('!').next() {
            Some(keys::PAGE) => {
                let found = gather.ask(page_changes(session, before, after, &difference))?;
                pages.extend(found.unwrap_or_default());
            }
            Some(keys::FILE) => files.extend(file_change(&difference)?),
            Some(keys::REUSABLE) => reusables.extend(reusable_change(&difference)?),
            _ => {
                let (old, new) = decode_both::<VariableEntry>(&difference)?;
                let (old, new) = (old.map(|v| v.value), new.map(|v| v.value));
                if old != new {
                    variables.insert(last_segment(&difference.key), (old, new));
                }
            }
        }
    }
    gather.finish()?;
    pages.sort_by(|a, b| a.0.cmp(&b.0));
    let mut out: Vec<RevisionChange> = pages.into_iter().map(|(_, change)| change).collect();
    out.append(&mut reusables);
    out.append(&mut files);
    if !variables.is_empty() {
        out.push(RevisionChange::VariablesEdited(variables));
    }
    Ok(out)
}

fn decode_both<T: serde::de::DeserializeOwned>(
    difference: &Difference,
) -> ContentResult<(Option<T>, Option<T>)> {
    let read = |bytes: &Option<bytes::Bytes>| bytes.as_ref().map(|b| decode(&difference.key, b)).transpose();
    Ok((read(&difference.before)?, read(&difference.after)?))
}

fn page_changes(
    session: &Session<'_>,
    old_root: &Hash,
    new_root: &Hash,
    difference: &Difference,
) -> PassResult<Vec<(Position, RevisionChange)>> {
    let id: PageId = keys::id(&difference.key)?;
    let (before, after) = decode_both::<PageEntry>(difference)?;
    let mut out = Vec::new();
    match (before, after) {
        (None, Some(entry)) => {
            let (at, page) = page_position(session, new_root, id, entry)?;
            out.push((at, RevisionChange::PageCreated(page)));
        }
        (Some(entry), None) => {
            let (at, page) = page_position(session, old_root, id, entry)?;
            out.push((at, RevisionChange::PageDeleted(page)));
        }
        (Some(before), Some(after)) => {
            let (at, page) = page_position(session, new_root, id, after)?;
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

fn page_position(
    session: &Session<'_>,
    root: &Hash,
    id: PageId,
    entry: PageEntry,
) -> PassResult<(Position, ChangedPage)> {
    let above = read::ancestors(session, root, &entry)?;
    let mut position: Position = above.iter().rev().map(|(id, e)| (e.rank.clone(), id.clone())).collect();
    position.push((entry.rank.clone(), id.clone()));
    let path = read::path(session, root, &entry)?;
    Ok((position, ChangedPage { id, path, entry: Box::new(entry) }))
}

fn file_change(difference: &Difference) -> ContentResult<Option<RevisionChange>> {
    let id: FileId = keys::id(&difference.key)?;
    Ok(match decode_both::<FileEntry>(difference)? {
        (None, Some(entry)) => Some(RevisionChange::FileCreated(id, entry)),
        (Some(entry), None) => Some(RevisionChange::FileDeleted(id, entry)),
        (Some(before), Some(after)) => {
            let attributes = flagged_attributes([
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
    Ok(match decode_both::<ReusableEntry>(difference)? {
        (None, Some(entry)) => Some(RevisionChange::ReusableCreated(id, entry)),
        (Some(entry), None) => Some(RevisionChange::ReusableDeleted(id, entry)),
        (Some(before), Some(after)) => {
            let attributes = flagged_attributes([
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
