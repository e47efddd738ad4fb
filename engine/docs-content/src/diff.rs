//! Changes between two revisions, per page, file, reusable content block and variable.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
    vec,
};

use docs_model::{FileId, PageId, ReusableId, VariableValue};
use docs_store::{Hash, Key, key::last_segment};

use super::{
    Attribute, Content, ContentResult, FileEntry, PageEntry, Rank, ReusableEntry, VariableEntry,
    entry::{decode, flagged_attributes},
    keys,
    load::{MissingCollector, PassResult, Session},
    map::{self, Difference},
    offload::yield_to_others,
    read::{self, KnownPages, PageHead},
};

/// Number of differing pages ordered before other tasks run.
const DIFFERENCES_AT_ONCE: usize = 256;

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

/// The changes from one revision to another, in this order: pages in reading order, with deleted pages at their
/// previous position; reusable content blocks and files by id; variables. A change is decoded when the iterator returns
/// it.
pub struct RevisionDiff {
    records: vec::IntoIter<Difference>,
    variables: Vec<Difference>,
    before: KnownPages<PageHead>,
    after: KnownPages<PageHead>,
    /// The second change of the last page.
    second: Option<RevisionChange>,
}

impl Content {
    /// Returns the changes from one revision to another. The cost is proportional to the differences.
    ///
    /// Changes of timestamps and Git metadata are ignored. [`Content::empty_hash`] need not be stored.
    ///
    /// # Errors
    /// [`ContentError`](super::ContentError) if the content cannot be read.
    pub async fn diff(&self, domain: &str, before: Hash, after: Hash) -> ContentResult<RevisionDiff> {
        let mut session = self.session(domain);
        session.add_nodes(vec![map::empty()]);
        let found = session.run_long(|session| differing_records(session, &before, &after)).await?;
        let (mut reusables, mut files, mut variables) = (Vec::new(), Vec::new(), Vec::new());
        let mut pages = Vec::new();
        for difference in found {
            match difference.key.split('!').next() {
                Some(keys::PAGE) => pages.push(difference),
                Some(keys::FILE) => files.push(difference),
                Some(keys::REUSABLE) => reusables.push(difference),
                _ => variables.push(difference),
            }
        }
        let mut order = ReadingOrder::new(before, after);
        for some in pages.chunks(DIFFERENCES_AT_ONCE) {
            session
                .run(|session| {
                    let mut gather = MissingCollector::default();
                    for difference in some {
                        gather.ask(order.add(session, difference))?;
                    }
                    gather.finish()
                })
                .await?;
            yield_to_others().await;
        }
        let (mut records, [before, after]) = order.finish();
        records.append(&mut reusables);
        records.append(&mut files);
        Ok(RevisionDiff { records: records.into_iter(), variables, before, after, second: None })
    }
}

impl fmt::Debug for RevisionDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RevisionDiff").field("records", &self.records.len()).finish_non_exhaustive()
    }
}

impl Iterator for RevisionDiff {
    type Item = ContentResult<RevisionChange>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(change) = self.second.take() {
            return Some(Ok(change));
        }
        while let Some(difference) = self.records.next() {
            if let Some(change) = self.record_change(&difference).transpose() {
                return Some(change);
            }
        }
        self.variable_changes().transpose()
    }
}

impl RevisionDiff {
    /// Skips the next change if it creates or deletes an item, without decoding the item. Returns `true` if it was
    /// skipped.
    pub fn skip_created_or_deleted(&mut self) -> bool {
        let next = self.records.as_slice().first().filter(|_| self.second.is_none());
        let skipped = next.is_some_and(|next| next.before.is_some() != next.after.is_some());
        if skipped {
            self.records.next();
        }
        skipped
    }

    fn record_change(&mut self, difference: &Difference) -> ContentResult<Option<RevisionChange>> {
        match difference.key.split('!').next() {
            Some(keys::FILE) => file_change(difference),
            Some(keys::REUSABLE) => reusable_change(difference),
            _ => self.page_change(difference),
        }
    }

    /// Returns the first change of a page, and retains the second one.
    fn page_change(&mut self, difference: &Difference) -> ContentResult<Option<RevisionChange>> {
        let id: PageId = keys::id(&difference.key)?;
        let (before, after) = match decode_both::<PageEntry>(difference)? {
            (Some(before), Some(after)) => (before, after),
            (None, Some(entry)) => {
                return Ok(Some(RevisionChange::PageCreated(changed_page(&self.after, id, entry)?)));
            }
            (Some(entry), None) => {
                return Ok(Some(RevisionChange::PageDeleted(changed_page(&self.before, id, entry)?)));
            }
            (None, None) => return Ok(None),
        };
        let page = changed_page(&self.after, id, after)?;
        let attributes = before.differences(&page.entry);
        let moved = ((&before.parent, &before.rank) != (&page.entry.parent, &page.entry.rank)).then(|| {
            let (before, after) = (before.parent.clone(), page.entry.parent.clone());
            RevisionChange::PageMoved { page: page.clone(), before, after }
        });
        let edited = (!attributes.is_empty()).then(|| RevisionChange::PageEdited {
            page,
            before: Box::new(before),
            attributes,
        });
        Ok(match moved {
            Some(moved) => {
                self.second = edited;
                Some(moved)
            }
            None => edited,
        })
    }

    fn variable_changes(&mut self) -> ContentResult<Option<RevisionChange>> {
        let mut changed = BTreeMap::new();
        for difference in std::mem::take(&mut self.variables) {
            let (old, new) = decode_both::<VariableEntry>(&difference)?;
            let (old, new) = (old.map(|v| v.value), new.map(|v| v.value));
            if old != new {
                changed.insert(last_segment(&difference.key), (old, new));
            }
        }
        Ok((!changed.is_empty()).then_some(RevisionChange::VariablesEdited(changed)))
    }
}

fn changed_page(known: &KnownPages<PageHead>, id: PageId, entry: PageEntry) -> ContentResult<ChangedPage> {
    let path = read::path_below(&known.known_ancestors(entry.parent.as_ref())?, &entry.slug);
    Ok(ChangedPage { id, path, entry: Box::new(entry) })
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

/// One of the two revisions of a comparison.
struct Side {
    root: Hash,
    known: KnownPages<PageHead>,
    /// The places of the pages in [`ReadingOrder::places`].
    places: HashMap<PageId, usize>,
}

impl Side {
    fn new(root: Hash) -> Self {
        Self { root, known: KnownPages::default(), places: HashMap::new() }
    }
}

/// A page, or the top level, and its children in both revisions.
#[derive(Default)]
struct Place {
    children: BTreeMap<(Rank, PageId), usize>,
    difference: Option<Difference>,
}

/// The changed pages of two revisions below their ancestors. Deleted pages are at their previous position.
struct ReadingOrder {
    before: Side,
    after: Side,
    /// The first place is the top level.
    places: Vec<Place>,
}

impl ReadingOrder {
    fn new(before: Hash, after: Hash) -> Self {
        Self { before: Side::new(before), after: Side::new(after), places: vec![Place::default()] }
    }

    fn add(&mut self, session: &Session<'_>, difference: &Difference) -> PassResult<()> {
        let (side, value) = match (&difference.before, &difference.after) {
            (_, Some(after)) => (&mut self.after, after),
            (Some(before), None) => (&mut self.before, before),
            (None, None) => return Ok(()),
        };
        let id: PageId = keys::id(&difference.key)?;
        let head = Arc::new(decode::<PageHead>(&difference.key, value)?);
        side.known.insert(id.clone(), Arc::clone(&head));
        let (mut chain, mut place, mut above) = (vec![(id, Arc::clone(&head))], 0, head.parent.clone());
        while let Some(id) = above {
            if let Some(known) = side.places.get(&id) {
                place = *known;
                break;
            }
            if chain.len() > read::CYCLE_DEPTH {
                return Err(read::cycle(&id));
            }
            let head = side.known.parent(session, &side.root, &id)?;
            above = head.parent.clone();
            chain.push((id, head));
        }
        for (id, head) in chain.into_iter().rev() {
            let next = self.places.len();
            place = *self.places[place].children.entry((head.rank.clone(), id.clone())).or_insert(next);
            if place == next {
                self.places.push(Place::default());
            }
            side.places.insert(id, place);
        }
        self.places[place].difference = Some(difference.clone());
        Ok(())
    }

    /// Returns the differences in reading order, and the pages of both revisions that were read.
    fn finish(mut self) -> (Vec<Difference>, [KnownPages<PageHead>; 2]) {
        let (mut out, mut stack) = (Vec::new(), vec![0]);
        while let Some(place) = stack.pop() {
            let place = std::mem::take(&mut self.places[place]);
            out.extend(place.difference);
            stack.extend(place.children.into_values().rev());
        }
        (out, [self.before.known, self.after.known])
    }
}

fn decode_both<T: serde::de::DeserializeOwned>(
    difference: &Difference,
) -> ContentResult<(Option<T>, Option<T>)> {
    let read = |bytes: &Option<bytes::Bytes>| bytes.as_ref().map(|b| decode(&difference.key, b)).transpose();
    Ok((read(&difference.before)?, read(&difference.after)?))
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
