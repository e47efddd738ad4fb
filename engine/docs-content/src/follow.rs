//! Following content: a copy of the page tree, files and variables of an original, with texts of its own.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use docs_model::{PageId, ReusableId};
use docs_store::{Hash, Key};
use serde::de::DeserializeOwned;

use super::{
    Body, Content, ContentResult, FileEntry, NewBody, PageEntry, ReusableEntry,
    diff::differing_records,
    edit::MapChanges,
    entry::{decode, encode},
    error::check_text,
    keys,
    load::{PassResult, Session},
    map::{self, Difference},
    redirects,
};

/// The revisions involved in an update of following content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FollowUpdate {
    /// The revision of the original at the previous update, or [`Content::empty_hash`] for the first update.
    pub from: Hash,
    /// The current revision of the original.
    pub to: Hash,
    /// The following content that corresponds to `from`, or [`Content::empty_hash`] for the first update.
    pub onto: Hash,
}

/// The new title, description and body of a page in following content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageTexts {
    /// The title. It must not be empty.
    pub title: String,
    pub description: Option<String>,
    pub body: NewBody,
}

/// The new title and body of a reusable content block in following content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReusableTexts {
    /// The title. It must not be empty.
    pub title: String,
    pub body: NewBody,
}

/// New texts for following content, by page and by reusable content block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FollowTexts {
    pub pages: BTreeMap<PageId, PageTexts>,
    pub reusables: BTreeMap<ReusableId, ReusableTexts>,
}

impl Content {
    /// Updates following content: pages, files, reusable content blocks, variables and redirects are copied from the
    /// original with their ids. Titles, descriptions and bodies are taken from `texts` or, if they are not given there,
    /// from the existing following content. Git metadata of the original is not copied.
    ///
    /// The cost is proportional to the differences between `from` and `to` and to the given texts. Every object of the
    /// new root is stored before this function returns.
    ///
    /// # Errors
    /// [`ContentError::Invalid`](super::ContentError::Invalid) for text that is too long;
    /// [`ContentError::NotFound`](super::ContentError::NotFound) if a root does not exist;
    /// [`ContentError::Store`](super::ContentError::Store).
    ///
    /// # Cancel safety
    /// Dropping the future leaves only unreferenced objects.
    pub async fn follow(
        &self,
        domain: &str,
        follow: FollowUpdate,
        texts: &FollowTexts,
    ) -> ContentResult<Hash> {
        let mut session = self.session(domain);
        session.add_nodes(vec![map::empty()]);
        let bodies = texts.pages.values().map(|page| &page.body);
        let mut stored = BTreeSet::new();
        for body in bodies.chain(texts.reusables.values().map(|reusable| &reusable.body)) {
            if let NewBody::Text(text) = body
                && !text.is_empty()
            {
                check_text(text)?;
                stored.insert(session.add_text(text));
            }
        }
        let changes = session.run_long(|session| changes(session, follow, texts)).await?;
        let root = session.apply(follow.onto, &changes).await?;
        let root = self.relink(&mut session, follow.onto, root).await?;
        session.save(root, &stored).await?;
        Ok(root)
    }
}

fn changes(
    session: &Session<'_>,
    follow: FollowUpdate,
    texts: &FollowTexts,
) -> PassResult<BTreeMap<Key, map::ValueChange>> {
    let mut differences: BTreeMap<Key, Option<Bytes>> = differing_records(session, &follow.from, &follow.to)?
        .into_iter()
        .chain(redirects::changed_entries(session, &follow.from, &follow.to, keys::class(keys::REDIRECT))?)
        .map(|Difference { key, after, .. }| (key, after))
        .collect();
    let with_texts: Vec<Key> = texts
        .pages
        .keys()
        .map(keys::page)
        .chain(texts.reusables.keys().map(keys::reusable))
        .filter(|key| !differences.contains_key(key))
        .collect();
    let found = map::get_many(session, &follow.to, &with_texts)?;
    differences.extend(with_texts.into_iter().zip(found));
    let all: Vec<Key> = differences.keys().cloned().collect();
    let own = map::get_many(session, &follow.onto, &all)?;
    let mut changes = MapChanges::default();
    for ((key, after), own) in differences.into_iter().zip(own) {
        match key.split('!').next() {
            Some(keys::PAGE) => follow_page(&mut changes, &key, after, own, texts)?,
            Some(keys::FILE) => follow_file(&mut changes, &key, after, own)?,
            Some(keys::REUSABLE) => follow_reusable(&mut changes, &key, after, own, texts)?,
            _ => match after {
                Some(after) => changes.put(key, after),
                None => changes.remove(key),
            },
        }
    }
    Ok(changes.into_changes())
}

fn read_entry<T: DeserializeOwned>(key: &Key, bytes: Option<&Bytes>) -> ContentResult<Option<T>> {
    bytes.map(|bytes| decode(key, bytes)).transpose()
}

fn follow_page(
    changes: &mut MapChanges,
    key: &Key,
    after: Option<Bytes>,
    own: Option<Bytes>,
    texts: &FollowTexts,
) -> ContentResult<()> {
    let id: PageId = keys::id(key)?;
    let (after, own): (Option<PageEntry>, Option<PageEntry>) =
        (read_entry(key, after.as_ref())?, read_entry(key, own.as_ref())?);
    let after = after.map(|original| {
        let (title, description, body) = match (texts.pages.get(&id), &own) {
            (Some(texts), _) => (texts.title.clone(), texts.description.clone(), texts.body.body()),
            (None, Some(own)) => (own.title.clone(), own.description.clone(), own.body.clone()),
            (None, None) => (original.title.clone(), original.description.clone(), original.body.clone()),
        };
        PageEntry { title, description, body, git: None, source: None, clash: Default::default(), ..original }
    });
    changes.set_page(&id, own.as_ref(), after.as_ref())
}

fn follow_file(
    changes: &mut MapChanges,
    key: &Key,
    after: Option<Bytes>,
    own: Option<Bytes>,
) -> ContentResult<()> {
    let id = keys::id(key)?;
    if let Some(own) = read_entry::<FileEntry>(key, own.as_ref())? {
        changes.remove(keys::derived_of_file(&id, &own));
    }
    match read_entry::<FileEntry>(key, after.as_ref())? {
        Some(after) => {
            changes.put(keys::derived_of_file(&id, &after), Bytes::new());
            changes.put(key.clone(), encode(&FileEntry { git: None, clash: Default::default(), ..after })?);
        }
        None => changes.remove(key.clone()),
    }
    Ok(())
}

fn follow_reusable(
    changes: &mut MapChanges,
    key: &Key,
    after: Option<Bytes>,
    own: Option<Bytes>,
    texts: &FollowTexts,
) -> ContentResult<()> {
    let id: ReusableId = keys::id(key)?;
    let own: Option<ReusableEntry> = read_entry(key, own.as_ref())?;
    let Some(original) = read_entry::<ReusableEntry>(key, after.as_ref())? else {
        changes.remove(key.clone());
        return Ok(());
    };
    let (title, body): (String, Body) = match (texts.reusables.get(&id), own) {
        (Some(texts), _) => (texts.title.clone(), texts.body.body()),
        (None, Some(own)) => (own.title, own.body),
        (None, None) => (original.title.clone(), original.body.clone()),
    };
    let entry = ReusableEntry { title, body, git: None, source: None, clash: Default::default(), ..original };
    changes.put(key.clone(), encode(&entry)?);
    Ok(())
}
