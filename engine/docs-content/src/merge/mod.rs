//! Three-way merge of revisions.
//!
//! Both sides are compared with the revision they came from, and only what both changed is merged: a record field by
//! field (parent and rank are one), a text line by line, sets by element. What does not unite keeps the change
//! request's value and remembers all three; what one side removed and the other changed is kept. Then the pages that
//! either side touched are made a sound tree again. Nothing of this is silent: each is a [`ConflictNote`].

mod repair;
mod three_way;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use docs_model::{FileId, PageId, ReusableId};
use docs_store::{Hash, Key, key::last_segment};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use self::three_way::ThreeWay;
use self::three_way::{Fields, Winner};
use super::{
    Content, ContentError, ContentResult, Cost, FileEntry, PageEntry, ReusableEntry, VariableEntry, bounds,
    diff::differing,
    edit::Changes,
    entry::{decode, encode},
    keys,
    load::{Session, Step},
    map::{self, Difference},
    redirects,
};

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
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged {
    /// The root of the merged content.
    pub root: Hash,
    /// What this merge could not unite, ordered by subject; empty for a clean merge.
    pub conflicts: Vec<ConflictNote>,
    /// How many pages of the result have something to decide, from this merge or an earlier one.
    pub conflicted: u64,
    /// How many pages of the side of main content had something to decide before.
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
    /// Merges two revisions that both came from a third one, main content and a change request, whichever of them is to
    /// become the result.
    ///
    /// The result is always sound content: where both do not unite, it says so and keeps what either had. The cost
    /// grows with what the sides changed, not with the size of the content. Every object of the new root is stored
    /// before this answers.
    ///
    /// # Errors
    /// [`ContentError::NotFound`](super::ContentError::NotFound) when a root does not exist;
    /// [`ContentError::Store`](super::ContentError::Store).
    ///
    /// # Cancel safety
    /// Dropping the future leaves at most objects that nothing refers to.
    pub async fn merge(&self, domain: &str, sides: ThreeWay<Hash>) -> ContentResult<Merged> {
        let mut session = self.session(domain);
        let (root, notes) = match sides.winner() {
            Winner::Theirs | Winner::Either => (sides.theirs, BTreeSet::new()),
            Winner::Ours => (sides.ours, BTreeSet::new()),
            Winner::Neither => self.three_way(&mut session, sides).await?,
        };
        let (conflicted, conflicted_before) = session
            .run(|session| {
                let (from, to) = keys::class(keys::CONFLICTED);
                let count = |root| map::count(session, root, &from, &to);
                Ok((count(&root)?, count(&sides.ours)?))
            })
            .await?;
        let conflicts = notes.into_iter().collect();
        Ok(Merged { root, conflicts, conflicted, conflicted_before, cost: session.finish() })
    }

    async fn three_way(
        &self,
        session: &mut Session<'_>,
        ThreeWay { base, ours, theirs }: ThreeWay<Hash>,
    ) -> ContentResult<(Hash, BTreeSet<ConflictNote>)> {
        let (first, second) = session
            .run(|session| {
                let mut gather = super::load::Gather::default();
                let first = gather.ask(differing(session, &base, &ours))?.unwrap_or_default();
                let second = gather.ask(differing(session, &base, &theirs))?.unwrap_or_default();
                gather.done()?;
                Ok((first, second))
            })
            .await?;
        let sides = Sides::of(first, second);
        let united = session.run(|session| sides.unite(session, self.merger())).await?;
        let repaired = session.run(|session| repair::repair(session, &ours, &united)).await?;
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
            let before = united.pages.get(id).and_then(|page| page.ours.as_ref());
            if before != after.as_ref() {
                changes.set_page(id, before, after.as_ref())?;
            }
        }
        let texts: BTreeSet<Hash> = united.texts.iter().map(|text| session.add_text(text)).collect();
        let root = session.apply(ours, &changes.into_changes()).await?;
        bounds::check(session, ours, root).await?.map_err(ContentError::TooLarge)?;
        let root = self.relink(session, ours, root).await?;
        let root = redirects::unite(session, ThreeWay { base, ours, theirs }, root).await?;
        session.save(root, &texts).await?;
        Ok((root, notes))
    }
}

/// A record as it is stored.
type Stored = Option<Bytes>;

/// All records that a side changed.
struct Sides(BTreeMap<Key, ThreeWay<Stored>>);

/// A page that a side changed, as all have it.
pub(crate) struct TouchedPage {
    pub(crate) base: Option<PageEntry>,
    pub(crate) ours: Option<PageEntry>,
    pub(crate) theirs: Option<PageEntry>,
    pub(crate) merged: Option<PageEntry>,
}

/// The records merged one by one, before the tree is repaired.
#[derive(Default)]
pub(crate) struct United {
    pub(crate) pages: BTreeMap<PageId, TouchedPage>,
    /// Changes of other records, against the side of main content.
    values: BTreeMap<Key, Option<Bytes>>,
    pub(crate) notes: BTreeSet<ConflictNote>,
    texts: Vec<String>,
}

impl Sides {
    fn of(ours: Vec<Difference>, theirs: Vec<Difference>) -> Self {
        let mut sides: BTreeMap<Key, ThreeWay<Stored>> = BTreeMap::new();
        for Difference { key, before, after } in ours {
            // Until their list says otherwise, the request left it as it was.
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
                        united.values.extend(renamed(key, &id, three.ours.as_ref(), after.as_ref())?);
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
    three: &ThreeWay<Stored>,
) -> Step<TouchedPage> {
    let subject = Subject::Page(id.clone());
    let merged = fields.record::<PageEntry>(key, subject, three)?;
    let read = |bytes: &Option<Bytes>| -> ContentResult<Option<PageEntry>> {
        bytes.as_ref().map(|b| decode(key, b)).transpose()
    };
    let ThreeWay { base, ours, theirs } = three.as_ref().try_map(read)?;
    Ok(TouchedPage { base, ours, theirs, merged })
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

/// The change of a record against the side of main content, if it is one.
fn unite_value<T: Serialize + DeserializeOwned>(
    fields: &mut Fields<'_, '_>,
    key: &Key,
    subject: Subject,
    three: &ThreeWay<Stored>,
) -> Step<Option<(Key, Option<Bytes>)>> {
    let merged: Option<T> = fields.record(key, subject, three)?;
    let merged = merged.as_ref().map(encode).transpose()?;
    Ok((merged != three.ours).then(|| (key.clone(), merged)))
}
