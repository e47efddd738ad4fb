//! Three-way merge of revisions.
//!
//! Both sides are compared with their common ancestor. Only records changed by both sides are merged: field by field
//! (parent and rank count as one field), texts by line, and sets by element. A conflicting field has the value of the
//! change request, and all three values are recorded. A record that one side deleted and the other changed is kept. The
//! page tree is then repaired. Every conflict and repair is reported as a [`ConflictNote`].

mod conflict;
mod merged_records;
mod repair;
mod three_way;
mod versions;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use docs_model::{FileId, PageId};
use docs_store::{Hash, Key, key::last_segment};
use serde::{Serialize, de::DeserializeOwned};

pub use self::{
    conflict::{Conflict, ConflictNote, Subject},
    versions::ThreeWay,
};
use self::{
    merged_records::{MergedRecords, StoredRecord, TouchedPage},
    three_way::Fields,
    versions::WinningSide,
};
use super::{
    Content, ContentError, ContentResult, Cost, FileEntry, PageEntry, ReusableEntry, VariableEntry, bounds,
    diff::differing_records,
    edit::MapChanges,
    entry::{decode, encode},
    keys,
    load::{PassResult, Session},
    map::{self, Difference},
    redirects,
};

/// The result of a merge.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContentMerge {
    pub root: Hash,
    /// The conflicts of this merge, ordered by subject; empty if there are none.
    pub conflicts: Vec<ConflictNote>,
    /// The number of conflicted pages in the result, from this and earlier merges.
    pub conflicted: u64,
    /// The number of conflicted pages in main content before the merge.
    pub conflicted_before: u64,
    pub cost: Cost,
}

impl ContentMerge {
    /// Returns `true` if this merge adds no conflicts to main content: no new ones, and none from earlier merges into
    /// the change request.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.conflicts.is_empty() && self.conflicted <= self.conflicted_before
    }
}

impl Content {
    /// Merges a change request into main content, given their common ancestor. The result can be the root of either
    /// side.
    ///
    /// The result is always valid content: conflicts are reported and the values of both sides are retained. The cost
    /// is proportional to the changes of both sides and independent of the size of the content. Every object of the new
    /// root is stored before this function returns.
    ///
    /// # Errors
    /// [`ContentError::NotFound`](super::ContentError::NotFound) if a root does not exist;
    /// [`ContentError::Store`](super::ContentError::Store).
    ///
    /// # Cancel safety
    /// Dropping the future leaves only unreferenced objects.
    pub async fn merge(&self, domain: &str, sides: ThreeWay<Hash>) -> ContentResult<ContentMerge> {
        let mut session = self.session(domain);
        let (root, notes) = match sides.winning_side() {
            WinningSide::Theirs | WinningSide::Equal => (sides.theirs, BTreeSet::new()),
            WinningSide::Ours => (sides.ours, BTreeSet::new()),
            WinningSide::Conflict => self.three_way(&mut session, sides).await?,
        };
        let (conflicted, conflicted_before) = session
            .run(|session| {
                let (from, to) = keys::class(keys::CONFLICTED);
                let count = |root| map::count(session, root, &from, &to);
                Ok((count(&root)?, count(&sides.ours)?))
            })
            .await?;
        let conflicts = notes.into_iter().collect();
        Ok(ContentMerge { root, conflicts, conflicted, conflicted_before, cost: session.finish() })
    }

    async fn three_way(
        &self,
        session: &mut Session<'_>,
        ThreeWay { base, ours, theirs }: ThreeWay<Hash>,
    ) -> ContentResult<(Hash, BTreeSet<ConflictNote>)> {
        let (first, second) = session
            .run_long(|session| {
                let mut gather = super::load::MissingCollector::default();
                let first = gather.ask(differing_records(session, &base, &ours))?.unwrap_or_default();
                let second = gather.ask(differing_records(session, &base, &theirs))?.unwrap_or_default();
                gather.finish()?;
                Ok((first, second))
            })
            .await?;
        let sides = Sides::from_differences(first, second);
        let united = session.run_long(|session| sides.merge_records(session, self.merger())).await?;
        let repaired = session.run_long(|session| repair::repair(session, &ours, &united)).await?;
        let mut notes = united.notes;
        notes.extend(repaired.notes);
        let mut changes = MapChanges::default();
        for (key, value) in united.values {
            match value {
                Some(value) => changes.put(key, value),
                None => changes.remove(key),
            }
        }
        for (id, after) in &repaired.pages {
            let before = united.pages.get(id).and_then(|page| page.ours.as_ref());
            if before != after.as_ref() {
                changes.set_page(id, before, after.as_ref())?;
            }
        }
        let texts: BTreeSet<Hash> = united.texts.iter().map(|text| session.add_text(text)).collect();
        let root = session.apply(ours, &changes.into_changes()).await?;
        bounds::check(session, ours, root).await?.map_err(ContentError::TooLarge)?;
        let root = self.relink(session, ours, root).await?;
        let root = redirects::merge_redirects(session, ThreeWay { base, ours, theirs }, root).await?;
        session.save(root, &texts).await?;
        Ok((root, notes))
    }
}

struct Sides(BTreeMap<Key, ThreeWay<StoredRecord>>);

impl Sides {
    fn from_differences(ours: Vec<Difference>, theirs: Vec<Difference>) -> Self {
        let mut sides: BTreeMap<Key, ThreeWay<StoredRecord>> = BTreeMap::new();
        for Difference { key, before, after } in ours {
            // If the change request has no difference for the key, its value is unchanged there.
            sides.insert(key, ThreeWay { base: before.clone(), ours: after, theirs: before });
        }
        for Difference { key, before, after } in theirs {
            sides
                .entry(key)
                .or_insert_with(|| ThreeWay { base: before.clone(), ours: before, theirs: None })
                .theirs = after;
        }
        Self(sides)
    }

    fn merge_records(
        &self,
        session: &Session<'_>,
        merger: &dyn super::TextMerger,
    ) -> PassResult<MergedRecords> {
        let mut united = MergedRecords::default();
        let mut fields = Fields::new(session, merger);
        for (key, three) in &self.0 {
            match key.split('!').next() {
                Some(keys::PAGE) => {
                    let id: PageId = keys::id(key)?;
                    let page = unite_page(&mut fields, key, &id, three)?;
                    united.pages.insert(id, page);
                }
                Some(keys::FILE) => {
                    let id: FileId = keys::id(key)?;
                    let subject = Subject::File(id.clone());
                    let change = unite_value::<FileEntry>(&mut fields, key, subject, three)?;
                    if let Some((_, after)) = &change {
                        united.values.extend(file_key_changes(
                            key,
                            &id,
                            three.ours.as_ref(),
                            after.as_ref(),
                        )?);
                    }
                    united.values.extend(change);
                }
                Some(keys::REUSABLE) => {
                    let subject = Subject::Reusable(keys::id(key)?);
                    united.values.extend(unite_value::<ReusableEntry>(&mut fields, key, subject, three)?);
                }
                _ => {
                    let subject = Subject::Variable(last_segment(key));
                    united.values.extend(unite_value::<VariableEntry>(&mut fields, key, subject, three)?);
                }
            }
        }
        (united.notes, united.texts) = fields.finish()?;
        Ok(united)
    }
}

fn unite_page(
    fields: &mut Fields<'_, '_>,
    key: &Key,
    id: &PageId,
    three: &ThreeWay<StoredRecord>,
) -> PassResult<TouchedPage> {
    let subject = Subject::Page(id.clone());
    let merged = fields.record::<PageEntry>(key, subject, three)?;
    let read = |bytes: &Option<Bytes>| -> ContentResult<Option<PageEntry>> {
        bytes.as_ref().map(|b| decode(key, b)).transpose()
    };
    let ThreeWay { base, ours, theirs } = three.as_ref().try_map(read)?;
    Ok(TouchedPage { base, ours, theirs, merged })
}

/// Returns the changes to the entries derived from a file record.
fn file_key_changes(
    key: &Key,
    id: &FileId,
    before: Option<&Bytes>,
    after: Option<&Bytes>,
) -> ContentResult<BTreeMap<Key, Option<Bytes>>> {
    let derived = |record: Option<&Bytes>| -> ContentResult<Option<Key>> {
        let entry: Option<FileEntry> = record.map(|bytes| decode(key, bytes)).transpose()?;
        Ok(entry.map(|entry| keys::derived_of_file(id, &entry)))
    };
    let (before, after) = (derived(before)?, derived(after)?);
    let mut changes: BTreeMap<Key, Option<Bytes>> = before.map(|key| (key, None)).into_iter().collect();
    changes.extend(after.map(|key| (key, Some(Bytes::new()))));
    Ok(changes)
}

/// Returns the merged record if it differs from that in main content.
fn unite_value<T: Serialize + DeserializeOwned>(
    fields: &mut Fields<'_, '_>,
    key: &Key,
    subject: Subject,
    three: &ThreeWay<StoredRecord>,
) -> PassResult<Option<(Key, Option<Bytes>)>> {
    let merged: Option<T> = fields.record(key, subject, three)?;
    let merged = merged.as_ref().map(encode).transpose()?;
    Ok((merged != three.ours).then(|| (key.clone(), merged)))
}
