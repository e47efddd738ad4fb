//! Three-way merge of revisions.
//!
//! Both sides are compared with the revision they came from, and only what both changed is merged: a record field by
//! field (parent and rank are one), a text line by line, sets by element. What does not unite keeps the change
//! request's value and remembers all three; what one side removed and the other changed is kept. Then the pages that
//! either side touched are made a sound tree again. Nothing of this is silent: each is a [`ConflictNote`].

mod fields;
mod repair;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use docs_model::{FileId, PageId, ReusableId};
use docs_store::{Hash, Key, key::last_segment};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use self::fields::Fields;
use super::{
    Content, ContentResult, Cost, FileEntry, PageEntry, ReusableEntry, VariableEntry,
    diff::differing,
    edit::Changes,
    entry::{decode, encode},
    keys,
    load::{Session, Step},
    map::{self, Difference},
};

/// Which of the two sides of a merge is the change request's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The first: main content is pulled into the request.
    Ours,
    /// The second: the request is merged into main content.
    Theirs,
}

/// What a conflict is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "type", content = "id", rename_all = "camelCase")]
pub enum Subject {
    /// A page.
    Page(PageId),
    /// A file.
    File(FileId),
    /// A reusable content.
    Reusable(ReusableId),
    /// A variable of the space.
    Variable(String),
}

/// What did not unite, and what the merge did about it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "conflict", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Conflict {
    /// Both sides set a field differently; the change request's value stands.
    Field {
        /// The field, see [`Clashes`](super::Clashes).
        field: String,
    },
    /// Both sides changed the same part of the text; the record holds all terms.
    Text,
    /// One side removed what the other changed; it was kept.
    Existence,
    /// The page it stood below is gone; it moved up.
    ParentGone {
        /// The page that is gone.
        parent: PageId,
    },
    /// It would have stood below itself; the change request's move was undone.
    Cycle,
    /// It may not stand where both changes together put it; it moved up.
    Misplaced,
    /// A sibling has its slug; it got another.
    SlugTaken {
        /// The slug it had.
        slug: String,
    },
}

/// Something a merge could not unite.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ConflictNote {
    /// What it is about.
    pub subject: Subject,
    /// What happened.
    #[serde(flatten)]
    pub conflict: Conflict,
}

/// The result of a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged {
    /// The root of the merged content.
    pub root: Hash,
    /// What this merge could not unite, ordered by subject; empty for a clean merge.
    pub conflicts: Vec<ConflictNote>,
    /// How many pages of the result have something to decide, from this merge or an earlier one.
    pub conflicted: u64,
    /// How many pages of the side that is not the change request's had something to decide before.
    pub conflicted_before: u64,
    /// What it cost.
    pub cost: Cost,
}

impl Merged {
    /// Tells whether this merge brings nothing to decide: neither of its own, nor something that an earlier one left
    /// in the change request.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.conflicts.is_empty() && self.conflicted <= self.conflicted_before
    }
}

impl Content {
    /// Merges two revisions that both came from `base`; `side` tells which is the change request's.
    ///
    /// The result depends on which side is the request's, not on which is first. It is always sound content: where
    /// both do not unite, it says so in the result and keeps what either had. The cost grows with what the sides
    /// changed, not with the size of the content. Every object of the new root is stored before this answers.
    ///
    /// # Errors
    /// [`ContentError::NotFound`](super::ContentError::NotFound) when a root does not exist;
    /// [`ContentError::Store`](super::ContentError::Store).
    ///
    /// # Cancel safety
    /// Dropping the future leaves at most objects that nothing refers to.
    pub async fn merge(
        &self,
        domain: &str,
        base: Hash,
        (ours, theirs): (Hash, Hash),
        side: Side,
    ) -> ContentResult<Merged> {
        let mut session = self.session(domain);
        let (other, request) = match side {
            Side::Ours => (theirs, ours),
            Side::Theirs => (ours, theirs),
        };
        let (root, notes) = if other == base || other == request {
            (request, BTreeSet::new())
        } else if request == base {
            (other, BTreeSet::new())
        } else {
            self.three_way(&mut session, base, other, request).await?
        };
        let (conflicted, conflicted_before) = session
            .run(|session| {
                let (from, to) = keys::class(keys::CONFLICTED);
                let count = |root| map::count(session, root, &from, &to);
                Ok((count(&root)?, count(&other)?))
            })
            .await?;
        let conflicts = notes.into_iter().collect();
        Ok(Merged { root, conflicts, conflicted, conflicted_before, cost: session.finish() })
    }

    async fn three_way(
        &self,
        session: &mut Session<'_>,
        base: Hash,
        other: Hash,
        request: Hash,
    ) -> ContentResult<(Hash, BTreeSet<ConflictNote>)> {
        let (first, second) = session
            .run(|session| {
                let mut gather = super::load::Gather::default();
                let first = gather.ask(differing(session, &base, &other))?.unwrap_or_default();
                let second = gather.ask(differing(session, &base, &request))?.unwrap_or_default();
                gather.done()?;
                Ok((first, second))
            })
            .await?;
        let sides = Sides::of(first, second);
        let united = session.run(|session| sides.unite(session, self.merger())).await?;
        let repaired = session.run(|session| repair::repair(session, &other, &united)).await?;
        let mut notes = united.notes;
        notes.extend(repaired.notes);
        let mut changes = Changes::default();
        for (key, value) in united.values {
            match value {
                Some(value) => changes.put(key, value),
                None => changes.remove(key),
            }
        }
        for (id, after) in &repaired.pages {
            let before = united.pages.get(id).and_then(|page| page.other.as_ref());
            if before != after.as_ref() {
                changes.set_page(id, before, after.as_ref())?;
            }
        }
        let texts: BTreeSet<Hash> = united.texts.iter().map(|text| session.add_text(text)).collect();
        let root = session.apply(other, &changes.into_changes()).await?;
        let root = self.relink(session, other, root).await?;
        session.save(root, &texts).await?;
        Ok((root, notes))
    }
}

/// A record as the base and both sides have it.
#[derive(Clone, Default)]
struct Three {
    base: Option<Bytes>,
    other: Option<Bytes>,
    request: Option<Bytes>,
}

/// All records that a side changed.
struct Sides(BTreeMap<Key, Three>);

/// A page that a side changed, as all have it.
pub(crate) struct TouchedPage {
    pub(crate) base: Option<PageEntry>,
    pub(crate) other: Option<PageEntry>,
    pub(crate) request: Option<PageEntry>,
    pub(crate) merged: Option<PageEntry>,
}

/// The records merged one by one, before the tree is repaired.
#[derive(Default)]
pub(crate) struct United {
    pub(crate) pages: BTreeMap<PageId, TouchedPage>,
    /// Changes of other records, against the side that is not the request's.
    values: BTreeMap<Key, Option<Bytes>>,
    pub(crate) notes: BTreeSet<ConflictNote>,
    texts: Vec<String>,
}

impl Sides {
    fn of(other: Vec<Difference>, request: Vec<Difference>) -> Self {
        let mut sides: BTreeMap<Key, Three> = BTreeMap::new();
        for Difference { key, before, after } in other {
            // Until the other list says otherwise, the request left it as it was.
            sides.insert(key, Three { base: before.clone(), other: after, request: before });
        }
        for Difference { key, before, after } in request {
            sides
                .entry(key)
                .or_insert_with(|| Three { base: before.clone(), other: before, request: None })
                .request = after;
        }
        Self(sides)
    }

    fn unite(&self, session: &Session<'_>, merger: &dyn super::TextMerger) -> Step<United> {
        let mut united = United::default();
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
                        united.values.extend(renamed(key, &id, three.other.as_ref(), after.as_ref())?);
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

fn unite_page(fields: &mut Fields<'_, '_>, key: &Key, id: &PageId, three: &Three) -> Step<TouchedPage> {
    let subject = Subject::Page(id.clone());
    let merged = fields.record::<PageEntry>(key, subject, three)?;
    let read = |bytes: &Option<Bytes>| -> ContentResult<Option<PageEntry>> {
        bytes.as_ref().map(|b| decode(key, b)).transpose()
    };
    let (base, other, request) = (read(&three.base)?, read(&three.other)?, read(&three.request)?);
    Ok(TouchedPage { base, other, request, merged })
}

/// The changes of what follows from a file record.
fn renamed(
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

/// The change of a record against the side that is not the request's, if it is one.
fn unite_value<T: Serialize + DeserializeOwned>(
    fields: &mut Fields<'_, '_>,
    key: &Key,
    subject: Subject,
    three: &Three,
) -> Step<Option<(Key, Option<Bytes>)>> {
    let merged: Option<T> = fields.record(key, subject, three)?;
    let merged = merged.as_ref().map(encode).transpose()?;
    Ok((merged != three.other).then(|| (key.clone(), merged)))
}
