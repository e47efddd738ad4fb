//! Redirects from the previous paths of pages, and redirects configured in a repository.
//!
//! A page that leaves a location (a parent and a slug) leaves an entry with its id there. An old path is resolved
//! top-down like a current path. At a location without a page, the recorded entries are followed. A single entry
//! therefore covers a moved page and its descendants, and a path keeps resolving however often its pages move. Deleting
//! a page records an entry only if some of its descendants had moved away before.
//!
//! A repository configures redirects for complete paths. Each leads to one page and does not apply to its descendants.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashSet},
};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use docs_model::PageId;
use docs_store::{Hash, Key, key::segments};
use serde::{Deserialize, Serialize};

use super::{
    Content, ContentError, ContentResult, PageEntry, ThreeWay, View,
    entry::{decode, encode},
    keys,
    load::{MissingCollector, PassResult, Session},
    map::{self, Difference, Range, ValueChange},
    read,
    tree::normal_path,
};

/// Maximum number of redirects of moved pages in a revision.
pub const MAX_MOVED: u64 = 10_000;
/// Maximum number of pages visited while resolving a path.
const MAX_STEPS: usize = 1_000;

/// A page found at a previous path.
#[non_exhaustive]
#[derive(Clone, PartialEq, Debug)]
pub struct MovedPage {
    pub id: PageId,
    pub entry: PageEntry,
    /// The anchor on the page, if the repository configures one.
    pub anchor: Option<String>,
}

/// A redirect configured in a repository.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfiguredRedirect {
    /// The path in lower case.
    pub path: String,
    pub page: PageId,
    /// The anchor on the page.
    pub anchor: Option<String>,
}

/// The stored form of a redirect configured in a repository.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct GitRedirect {
    pub(crate) page: PageId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) anchor: Option<String>,
}

/// The value of the redirect of a moved page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct RedirectTrace {
    /// The time when the page left the location. The redirect of the page that left last takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<DateTime<Utc>>,
}

type RedirectTraces = BTreeMap<Key, RedirectTrace>;

impl View {
    /// Resolves a path to a page, ignoring case and surrounding slashes. The current page at the path takes precedence
    /// over pages that had the path before, including descendants of moved pages. Redirects configured in the
    /// repository are used last.
    ///
    /// # Errors
    /// See [`View::page`].
    pub async fn find_moved(&self, path: &str) -> ContentResult<Option<MovedPage>> {
        let (root, path) = (self.root(), normal_path(path));
        if path.is_empty() {
            return Ok(None);
        }
        self.run(|session| match resolve_path(session, &root, &path)? {
            None => find_configured(session, &root, &path),
            found => Ok(found),
        })
        .await
    }

    /// Returns the redirects that the repository configures, ordered by path.
    ///
    /// # Errors
    /// [`ContentError::NotFound`] if the revision does not exist; [`ContentError::Store`].
    pub async fn configured_redirects(&self) -> ContentResult<Vec<ConfiguredRedirect>> {
        let (from, to) = keys::git_redirects().prefix_range();
        let found = self.range(Range::new(from, to)).await?;
        let redirect = |(key, value): &(Key, Bytes)| {
            let damaged = || ContentError::Corrupt(format!("the key `{key}` is not the key of a redirect"));
            let GitRedirect { page, anchor } = decode(key, value)?;
            Ok(ConfiguredRedirect { path: segments(key).pop().ok_or_else(damaged)?, page, anchor })
        };
        found.iter().map(redirect).collect()
    }
}

impl Content {
    /// Makes the paths of `before` keep resolving in `after`, which was built from scratch at `now`: copies the
    /// existing redirects, and adds redirects for the pages that moved. Returns the new root.
    ///
    /// # Errors
    /// [`ContentError::NotFound`] if a root does not exist; [`ContentError::Store`].
    ///
    /// # Cancel safety
    /// Dropping the future leaves only unreferenced objects.
    pub async fn keep_redirects(
        &self,
        domain: &str,
        now: DateTime<Utc>,
        before: Hash,
        after: Hash,
    ) -> ContentResult<Hash> {
        let mut session = self.session(domain);
        let traces = session
            .run_long(|session| {
                changed_entries(session, &after, &before, keys::trace_prefix().prefix_range())
            })
            .await?;
        let root = keep(&mut session, after, added(traces)?).await?;
        let departed = find_departures(&mut session, before, after).await?;
        let root = record_departures(&mut session, root, &departed, Some(now)).await?;
        session.save(root, &BTreeSet::new()).await?;
        Ok(root)
    }
}

/// Resolves a path from the current pages and the former paths of moved pages. A page is visited at most once per path
/// segment.
fn resolve_path(session: &Session<'_>, root: &Hash, path: &str) -> PassResult<Option<MovedPage>> {
    let slugs: Vec<&str> = path.split('/').collect();
    // The last element is processed next, so the current page takes precedence over pages that moved.
    let mut todo: Vec<(Option<PageId>, usize)> = vec![(None, 0)];
    let mut seen = HashSet::new();
    let mut room = MAX_STEPS;
    for _ in 0..MAX_STEPS {
        let Some((at, level)) = todo.pop() else { break };
        if !seen.insert((at.clone(), level)) {
            continue;
        }
        let Some(slug) = slugs.get(level) else {
            match at.map(|id| locate_page(session, root, id, None)).transpose()?.flatten() {
                None => continue,
                found => return Ok(found),
            }
        };
        let left = left_at(session, root, at.as_ref(), slug, room)?;
        room -= left.len();
        let holder = read::slug_owner(session, root, at.as_ref(), slug)?;
        todo.extend(left.into_iter().rev().chain(holder).map(|page| (Some(page), level + 1)));
    }
    Ok(None)
}

/// Returns the page to which the repository redirects a path.
fn find_configured(session: &Session<'_>, root: &Hash, path: &str) -> PassResult<Option<MovedPage>> {
    let key = keys::git_redirect(path);
    let Some(value) = map::get(session, root, &key)? else { return Ok(None) };
    let GitRedirect { page, anchor } = decode(&key, &value)?;
    locate_page(session, root, page, anchor)
}

/// Returns a page if it exists and has a path.
fn locate_page(
    session: &Session<'_>,
    root: &Hash,
    id: PageId,
    anchor: Option<String>,
) -> PassResult<Option<MovedPage>> {
    let entry = read::page(session, root, &id)?.filter(|entry| !entry.slug.is_empty());
    Ok(entry.map(|entry| MovedPage { id, entry, anchor }))
}

/// Returns the pages that left a location, most recent first. Returns an arbitrary selection if there are more than
/// `most`.
fn left_at(
    session: &Session<'_>,
    root: &Hash,
    parent: Option<&PageId>,
    slug: &str,
    most: usize,
) -> PassResult<Vec<PageId>> {
    let (from, to) = keys::moved_from(parent, slug).prefix_range();
    let mut left = Vec::new();
    for (key, value) in map::range(session, root, &Range::new(from, to).limit(most))? {
        left.push((Reverse(decode::<RedirectTrace>(&key, &value)?), keys::id::<PageId>(&key)?));
    }
    left.sort();
    Ok(left.into_iter().map(|(_, id)| id).collect())
}

/// A page that left its location.
#[derive(Clone, Debug)]
pub(crate) struct Departure {
    page: PageId,
    parent: Option<PageId>,
    slug: String,
    to: Destination,
}

/// The reason a page left its location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Destination {
    Moved,
    /// The page was deleted.
    Deleted,
}

impl Departure {
    /// Creates the departure of a page that had a location, unless the page is still there.
    pub(crate) fn from_entries(page: &PageId, before: &PageEntry, after: Option<&PageEntry>) -> Option<Self> {
        let is_there =
            after.is_some_and(|after| (&before.parent, &before.slug) == (&after.parent, &after.slug));
        (!is_there && !before.slug.is_empty()).then(|| Self {
            page: page.clone(),
            parent: before.parent.clone(),
            slug: before.slug.clone(),
            to: if after.is_some() { Destination::Moved } else { Destination::Deleted },
        })
    }

    /// Returns the departure implied by a difference of two maps, if any.
    fn from_difference(difference: &Difference) -> ContentResult<Option<Self>> {
        let (key, Some(before)) = (&difference.key, &difference.before) else { return Ok(None) };
        if key.split('!').next() != Some(keys::PAGE) {
            return Ok(None);
        }
        let after: Option<PageEntry> =
            difference.after.as_ref().map(|after| decode(key, after)).transpose()?;
        Ok(Self::from_entries(&keys::id(key)?, &decode(key, before)?, after.as_ref()))
    }

    fn trace_key(&self) -> Key {
        keys::moved_from(self.parent.as_ref(), &self.slug).part(self.page.as_str()).key()
    }
}

/// Records redirects for pages that left their location, and returns the new root. New nodes remain in the session.
///
/// A deleted page gets a redirect only if former descendants have moved away, because their old paths resolve through
/// it.
pub(crate) async fn record_departures(
    session: &mut Session<'_>,
    root: Hash,
    departed: &[Departure],
    at: Option<DateTime<Utc>>,
) -> ContentResult<Hash> {
    if departed.is_empty() {
        return Ok(root);
    }
    let left = session.run_long(|session| left(session, &root, departed)).await?;
    keep(session, root, left.into_iter().map(|key| (key, RedirectTrace { at })).collect()).await
}

/// Merges the redirects of a change request into a merged revision. Applies the changes of the change request to
/// repository redirects, and keeps the redirects of moved pages of both sides.
pub(crate) async fn merge_redirects(
    session: &mut Session<'_>,
    ThreeWay { base, ours, theirs }: ThreeWay<Hash>,
    merged: Hash,
) -> ContentResult<Hash> {
    let class = keys::class(keys::REDIRECT);
    let changed = session.run_long(|session| changed_entries(session, &base, &theirs, class.clone())).await?;
    let (from, to) = keys::trace_prefix().prefix_range();
    let (moved, named): (Vec<_>, Vec<_>) =
        changed.into_iter().partition(|it| *from <= *it.key && *it.key < *to);
    let named = named.into_iter().map(|it| (it.key, it.after)).collect();
    let root = session.apply(merged, &named).await?;
    let root = keep(session, root, added(moved)?).await?;
    // Descendants of a page deleted by one side may have been moved away by the other. A page moved by one side and
    // renamed by the other is at a location that it has on neither side.
    let mut left = Vec::new();
    for before in [base, ours, theirs] {
        left.extend(find_departures(session, before, merged).await?);
    }
    // The moves of each side already have times. Moves caused by the merge have none, so that the result does not
    // depend on when the merge runs.
    record_departures(session, root, &left, None).await
}

/// Returns the entries of a range that differ between two maps.
pub(crate) fn changed_entries(
    session: &Session<'_>,
    before: &Hash,
    after: &Hash,
    range: (Key, Key),
) -> PassResult<Vec<Difference>> {
    Ok(map::diff(session, before, after, &[range])?)
}

/// Returns the departures between two maps.
async fn find_departures(
    session: &mut Session<'_>,
    before: Hash,
    after: Hash,
) -> ContentResult<Vec<Departure>> {
    let pages = session
        .run_long(|session| changed_entries(session, &before, &after, keys::class(keys::PAGE)))
        .await?;
    pages.iter().filter_map(|difference| Departure::from_difference(difference).transpose()).collect()
}

/// Returns the redirects of moved pages that are present in the second map of the differences.
fn added(differences: Vec<Difference>) -> ContentResult<RedirectTraces> {
    let added = differences.into_iter().filter_map(|it| Some((it.key, it.after?)));
    added.map(|(key, value)| Ok((key.clone(), decode(&key, &value)?))).collect()
}

/// Stores redirects of moved pages.
async fn keep(session: &mut Session<'_>, root: Hash, traces: RedirectTraces) -> ContentResult<Hash> {
    if traces.is_empty() {
        return Ok(root);
    }
    let changes = session.run_long(|session| evict_excess_traces(session, &root, &traces, MAX_MOVED)).await?;
    session.apply(root, &changes).await
}

fn left(session: &Session<'_>, root: &Hash, departed: &[Departure]) -> PassResult<Vec<Key>> {
    let (gone, moved): (Vec<_>, Vec<_>) = departed.iter().partition(|it| it.to == Destination::Deleted);
    let mut left: Vec<Key> = moved.iter().map(|it| it.trace_key()).collect();
    let mut steps: Vec<PageId> = moved.iter().filter_map(|it| it.parent.clone()).collect();
    let mut gather = MissingCollector::default();
    for it in &gone {
        let (from, to) = keys::moved_below(Some(&it.page)).prefix_range();
        let below = map::range(session, root, &Range::new(from, to).limit(1)).map_err(Into::into);
        if gather.ask(below)?.is_some_and(|below| !below.is_empty()) {
            steps.push(it.page.clone());
        }
    }
    gather.finish()?;
    let mut gone: BTreeMap<&PageId, &Departure> = gone.into_iter().map(|it| (&it.page, it)).collect();
    while let Some(page) = steps.pop() {
        let Some(it) = gone.remove(&page) else { continue };
        left.push(it.trace_key());
        steps.extend(it.parent.clone());
    }
    Ok(left)
}

/// Returns the changes that store redirects, limited to `most` redirects in total. If necessary, evicts obsolete
/// redirects first and then the oldest. In the latter case, evicts more than required, so that later edits need not
/// evict again.
fn evict_excess_traces(
    session: &Session<'_>,
    root: &Hash,
    traces: &RedirectTraces,
    most: u64,
) -> PassResult<BTreeMap<Key, ValueChange>> {
    let wanted: Vec<&Key> = traces.keys().collect();
    let known = map::get_many(session, root, &wanted)?;
    let new = known.iter().filter(|known| known.is_none()).count() as u64;
    let (from, to) = keys::trace_prefix().prefix_range();
    let mut room = most.saturating_sub(map::count(session, root, &from, &to)?);
    let mut changes = BTreeMap::new();
    if new > room {
        let spent = obsolete_traces(session, root)?;
        changes.extend(spent.into_iter().filter(|key| !traces.contains_key(key)).map(|key| (key, None)));
        room += changes.len() as u64;
    }
    if new > room {
        let wanted = usize::try_from(new - room + most / 10).unwrap_or(usize::MAX);
        let is_kept = |key: &Key| !traces.contains_key(key) && !changes.contains_key(key);
        let oldest = oldest(session, root, is_kept)?;
        let went = changes.len();
        changes.extend(oldest.into_iter().take(wanted).map(|key| (key, None)));
        room += (changes.len() - went) as u64;
    }
    for ((key, trace), known) in traces.iter().zip(known) {
        match known {
            Some(known) if decode::<RedirectTrace>(key, &known)? >= *trace => continue,
            Some(_) => {}
            None if room == 0 => continue,
            None => room -= 1,
        }
        changes.insert(key.clone(), Some(encode(trace)?));
    }
    Ok(changes)
}

/// Returns the redirects of moved pages that `is_kept` accepts, oldest first.
fn oldest(session: &Session<'_>, root: &Hash, is_kept: impl Fn(&Key) -> bool) -> PassResult<Vec<Key>> {
    let (from, to) = keys::trace_prefix().prefix_range();
    let mut known = Vec::new();
    for (key, value) in map::range(session, root, &Range::new(from, to))? {
        if is_kept(&key) {
            known.push((decode::<RedirectTrace>(&key, &value)?, key));
        }
    }
    known.sort();
    Ok(known.into_iter().map(|(_, key)| key).collect())
}

/// Returns obsolete redirects: those of deleted pages on which no redirect of a descendant depends, and those at the
/// location of a current page.
fn obsolete_traces(session: &Session<'_>, root: &Hash) -> PassResult<Vec<Key>> {
    let (from, to) = keys::trace_prefix().prefix_range();
    let mut traces = Vec::new();
    for (key, _) in map::range(session, root, &Range::new(from, to))? {
        let (parent, slug, page) = parts(&key)?;
        traces.push((key, keys::slug(parent.as_ref(), &slug), parent, page));
    }
    let mut gather = MissingCollector::default();
    let slugs: Vec<&Key> = traces.iter().map(|(_, slug, ..)| slug).collect();
    let holders = gather.ask(map::get_many(session, root, &slugs).map_err(Into::into))?.unwrap_or_default();
    let pages: Vec<Key> = traces.iter().map(|(.., page)| keys::page(page)).collect();
    let pages = gather.ask(map::get_many(session, root, &pages).map_err(Into::into))?.unwrap_or_default();
    gather.finish()?;
    let parents: BTreeSet<&PageId> = traces.iter().filter_map(|(_, _, parent, _)| parent.as_ref()).collect();
    let is_spent =
        |((_, _, _, page), (holder, entry)): &((&_, &_, &_, &PageId), (&Option<Bytes>, &Option<Bytes>))| {
            holder.is_some() || (entry.is_none() && !parents.contains(page))
        };
    let all = traces.iter().map(|(key, slug, parent, page)| (key, slug, parent, page));
    Ok(all.zip(holders.iter().zip(&pages)).filter(is_spent).map(|((key, ..), _)| Key::clone(key)).collect())
}

/// Returns the location of a redirect and the page that left it.
fn parts(key: &str) -> ContentResult<(Option<PageId>, String, PageId)> {
    let damaged = || ContentError::Corrupt(format!("the key `{key}` is not the key of a redirect"));
    let Ok([_, _, parent, slug, page]) = <[String; 5]>::try_from(segments(key)) else {
        return Err(damaged());
    };
    let id = |text: &str| text.parse::<PageId>().map_err(|_| damaged());
    let parent = if parent.is_empty() { None } else { Some(id(&parent)?) };
    Ok((parent, slug, id(&page)?))
}

/// Checks that an entry is a valid redirect.
pub(crate) fn check(key: &str, value: &[u8]) -> ContentResult<()> {
    match segments(key).as_slice() {
        [_, origin, _] if origin == keys::GIT => decode::<GitRedirect>(key, value).map(drop),
        [_, origin, ..] if origin == keys::MOVED => {
            parts(key)?;
            decode::<RedirectTrace>(key, value).map(drop)
        }
        _ => Err(ContentError::Corrupt(format!("the key `{key}` is not the key of a redirect"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{DOMAIN, content, id, insert, now, time};

    // A redirect is obsolete if a page has its location, or if its page is deleted and no redirect of a descendant
    // depends on it.
    #[test]
    fn full_space_evicts_spent_then_oldest_redirect_traces() {
        let content = content();
        let root = now(content.empty_root(DOMAIN)).unwrap();
        let pages = [insert(id(1), None, None, "One"), insert(id(2), None, None, "Two")];
        let root = now(content.edit(DOMAIN, root, time(0), &pages)).unwrap().root;
        let trace = |slug: &str, page: usize| {
            (keys::moved_from(None, slug).part(id(page).as_str()).key(), RedirectTrace { at: Some(time(1)) })
        };
        // The first redirect is obsolete because its location has a current page, the second because its page is
        // deleted. The others are not obsolete.
        let mut below = trace("below", 1);
        below.0 = keys::moved_from(Some(&id(8)), "below").part(id(1).as_str()).key();
        let old = RedirectTraces::from([
            trace("two", 1),
            trace("gone", 9),
            trace("old", 2),
            trace("way", 8),
            below,
        ]);
        let mut session = content.session(DOMAIN);
        let root = now(keep(&mut session, root, old)).unwrap();
        let new = RedirectTraces::from([trace("a", 1), trace("b", 1), trace("c", 1), trace("old", 2)]);
        let changes = now(session.run(|session| evict_excess_traces(session, &root, &new, 5))).unwrap();
        let changed: Vec<(&str, bool)> =
            changes.iter().map(|(key, value)| (&**key, value.is_some())).collect();
        assert_eq!(
            changed,
            [
                ("o!moved!!a!page00001", true),
                ("o!moved!!b!page00001", true),
                ("o!moved!!c!page00001", true),
                ("o!moved!!gone!page00009", false),
                ("o!moved!!two!page00001", false),
                ("o!moved!!way!page00008", false),
            ]
        );
        let changes = now(session.run(|session| evict_excess_traces(session, &root, &new, 8))).unwrap();
        assert_eq!(changes.values().filter(|value| value.is_some()).count(), 3);
    }
}
