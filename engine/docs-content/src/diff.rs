//! What changed between two revisions, as people would say it.

use std::collections::BTreeMap;

use docs_model::{FileId, PageId, ReusableId, VariableValue};
use docs_store::{Hash, Key, key::last_segment};

use super::{
    Content, ContentResult, FileEntry, PageEntry, Rank, ReusableEntry, VariableEntry,
    entry::decode,
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

/// A part of a record that changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "named after the fields of the records")]
pub enum Attribute {
    Kind,
    Title,
    Slug,
    Emoji,
    Icon,
    Description,
    Body,
    Cover,
    Layout,
    Variables,
    Hidden,
    NoIndex,
    NoRobotsIndex,
    Condition,
    Target,
    Computed,
    Extra,
    Clash,
    Name,
    ContentType,
    Size,
    Dimensions,
    Blob,
}

/// One change between two revisions.
#[derive(Clone, PartialEq, Debug)]
pub enum ContentChange {
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
    pub async fn diff(&self, domain: &str, before: Hash, after: Hash) -> ContentResult<Vec<ContentChange>> {
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

fn changes(session: &Session<'_>, before: &Hash, after: &Hash) -> Step<Vec<ContentChange>> {
    let mut pages: Vec<(Position, ContentChange)> = Vec::new();
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
    let mut out: Vec<ContentChange> = pages.into_iter().map(|(_, change)| change).collect();
    out.append(&mut reusables);
    out.append(&mut files);
    if !variables.is_empty() {
        out.push(ContentChange::VariablesEdited(variables));
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
) -> Step<Vec<(Position, ContentChange)>> {
    let id: PageId = keys::id(&difference.key)?;
    let (before, after) = both::<PageEntry>(difference)?;
    let mut out = Vec::new();
    match (before, after) {
        (None, Some(entry)) => {
            let (at, page) = placed(session, new_root, id, entry)?;
            out.push((at, ContentChange::PageCreated(page)));
        }
        (Some(entry), None) => {
            let (at, page) = placed(session, old_root, id, entry)?;
            out.push((at, ContentChange::PageDeleted(page)));
        }
        (Some(before), Some(after)) => {
            let (at, page) = placed(session, new_root, id, after)?;
            let attributes = page_attributes(&before, &page.entry);
            if (&before.parent, &before.rank) != (&page.entry.parent, &page.entry.rank) {
                let (old, new) = (before.parent.clone(), page.entry.parent.clone());
                out.push((
                    at.clone(),
                    ContentChange::PageMoved { page: page.clone(), before: old, after: new },
                ));
            }
            if !attributes.is_empty() {
                out.push((at, ContentChange::PageEdited { page, before: Box::new(before), attributes }));
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

fn listed<const N: usize>(different: [(bool, Attribute); N]) -> Vec<Attribute> {
    different.into_iter().filter_map(|(is, attribute)| is.then_some(attribute)).collect()
}

fn page_attributes(a: &PageEntry, b: &PageEntry) -> Vec<Attribute> {
    listed([
        (a.kind != b.kind, Attribute::Kind),
        (a.title != b.title, Attribute::Title),
        (a.slug != b.slug, Attribute::Slug),
        (a.emoji != b.emoji, Attribute::Emoji),
        (a.icon != b.icon, Attribute::Icon),
        (a.description != b.description, Attribute::Description),
        (a.body != b.body, Attribute::Body),
        (a.cover != b.cover, Attribute::Cover),
        (a.layout != b.layout, Attribute::Layout),
        (a.variables != b.variables, Attribute::Variables),
        (a.hidden != b.hidden, Attribute::Hidden),
        (a.no_index != b.no_index, Attribute::NoIndex),
        (a.no_robots_index != b.no_robots_index, Attribute::NoRobotsIndex),
        (a.condition != b.condition, Attribute::Condition),
        (a.target != b.target, Attribute::Target),
        ((&a.computed, &a.computed_seed) != (&b.computed, &b.computed_seed), Attribute::Computed),
        (a.extra != b.extra, Attribute::Extra),
        (a.clash != b.clash, Attribute::Clash),
    ])
}

fn file_change(difference: &Difference) -> ContentResult<Option<ContentChange>> {
    let id: FileId = keys::id(&difference.key)?;
    Ok(match both::<FileEntry>(difference)? {
        (None, Some(entry)) => Some(ContentChange::FileCreated(id, entry)),
        (Some(entry), None) => Some(ContentChange::FileDeleted(id, entry)),
        (Some(before), Some(after)) => {
            let attributes = listed([
                (before.name != after.name, Attribute::Name),
                (before.content_type != after.content_type, Attribute::ContentType),
                (before.size != after.size, Attribute::Size),
                (before.dimensions != after.dimensions, Attribute::Dimensions),
                (before.blob != after.blob, Attribute::Blob),
                (before.clash != after.clash, Attribute::Clash),
            ]);
            (!attributes.is_empty()).then_some(ContentChange::FileEdited { id, before, after, attributes })
        }
        (None, None) => None,
    })
}

fn reusable_change(difference: &Difference) -> ContentResult<Option<ContentChange>> {
    let id: ReusableId = keys::id(&difference.key)?;
    Ok(match both::<ReusableEntry>(difference)? {
        (None, Some(entry)) => Some(ContentChange::ReusableCreated(id, entry)),
        (Some(entry), None) => Some(ContentChange::ReusableDeleted(id, entry)),
        (Some(before), Some(after)) => {
            let computed =
                (&before.computed, &before.computed_seed) != (&after.computed, &after.computed_seed);
            let attributes = listed([
                (before.title != after.title, Attribute::Title),
                (before.body != after.body, Attribute::Body),
                (computed, Attribute::Computed),
                (before.extra != after.extra, Attribute::Extra),
                (before.clash != after.clash, Attribute::Clash),
            ]);
            (!attributes.is_empty()).then_some(ContentChange::ReusableEdited {
                id,
                before,
                after,
                attributes,
            })
        }
        (None, None) => None,
    })
}
