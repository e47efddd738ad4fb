//! Parents and siblings: ranks, positions and unique slugs.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use docs_markup::append_number;
use docs_model::{MAX_PAGE_LEVELS, PageId};
use docs_store::{Hash, Key, key::segments};

use super::{
    super::{
        PageEntry, PageKind, Rank, bounds,
        entry::decode,
        error::invalid,
        keys,
        load::{PassResult, Session},
        map,
        read::{self, CYCLE_DEPTH},
    },
    EditChanges, EditState, NumberedName, PagePlace,
};

/// The size of the subtree of a page.
#[derive(Clone, Copy, Default)]
pub(super) struct SubtreeSize {
    /// The number of levels, including the page itself.
    pub(super) levels: usize,
    /// The difference in bytes between the longest path in the subtree and the path of the page.
    pub(super) path_bytes: usize,
}

impl EditState<'_, '_> {
    /// Returns the value of a key, taking pending changes into account.
    pub(super) fn get(&self, key: &Key) -> PassResult<Option<Bytes>> {
        match self.pending.get(key) {
            Some(change) => Ok(change.clone()),
            None => Ok(map::get(self.session, &self.root, key)?),
        }
    }

    pub(super) fn page(&self, id: &PageId) -> PassResult<Option<PageEntry>> {
        let key = keys::page(id);
        Ok(self.get(&key)?.map(|value| decode(&key, &value)).transpose()?)
    }

    /// Returns a page, or an error for the given field if the page does not exist.
    pub(super) fn require_page(&self, id: &PageId, field: &'static str) -> PassResult<PageEntry> {
        self.page(id)?.ok_or_else(|| invalid(field, format!("is `{id}`, which does not exist")).into())
    }

    /// Checks that a page can have a child of the given kind with `height` levels. Returns the level and path length of
    /// the page.
    pub(super) fn check_parent(
        &self,
        kind: PageKind,
        parent: Option<&PageId>,
        height: usize,
    ) -> PassResult<PagePlace> {
        let mut place = PagePlace::default();
        if let Some(parent) = parent {
            if kind == PageKind::Group {
                return Err(invalid("into", "must be the top level for a group").into());
            }
            let entry = self.require_page(parent, "into")?;
            if !entry.kind.is_parent() {
                return Err(invalid("into", "must be a page that can have child pages").into());
            }
            place = self.place_of(parent, &entry)?;
        }
        bounds::check_levels(place.level + height).map_err(|what| invalid("into", what))?;
        let (from, to) = keys::children(parent).prefix_range();
        let siblings = map::count(self.session, &self.root, &from, &to)? + self.pending.children(parent);
        bounds::check_siblings(siblings + 1).map_err(|what| invalid("into", what))?;
        Ok(place)
    }

    /// Returns the number of records of a class including a new one.
    pub(super) fn count_with_new(&self, class: &'static str) -> PassResult<u64> {
        let (from, to) = keys::class(class);
        Ok(map::count(self.session, &self.root, &from, &to)? + self.pending.records(class) + 1)
    }

    pub(super) fn place_of(&self, page: &PageId, entry: &PageEntry) -> PassResult<PagePlace> {
        let mut slugs: Vec<String> = Vec::new();
        let mut place = self.pending.place(page);
        let (mut slug, mut above) = (entry.slug.clone(), entry.parent.clone());
        while place.is_none() {
            slugs.push(slug);
            let Some(id) = above else { break };
            if slugs.len() > CYCLE_DEPTH {
                return Err(read::cycle(&id));
            }
            place = self.pending.place(&id);
            let entry = self.require_page(&id, "into")?;
            (slug, above) = (entry.slug, entry.parent);
        }
        Ok(slugs.iter().rev().fold(place.unwrap_or_default(), |place, slug| place.below(slug)))
    }

    /// Checks that the longest path in a subtree does not exceed the limit.
    pub(super) fn check_paths(place: PagePlace, extent: SubtreeSize) -> PassResult<()> {
        let longest = place.path_bytes + extent.path_bytes;
        Ok(bounds::check_path(longest).map_err(|what| invalid("slug", what))?)
    }

    /// Returns the size of a page's subtree.
    pub(super) fn extent(&self, page: &PageId) -> PassResult<SubtreeSize> {
        let mut extent = SubtreeSize::default();
        let mut level = HashMap::from([(page.clone(), 0)]);
        while !level.is_empty() && extent.levels <= MAX_PAGE_LEVELS {
            extent.levels += 1;
            let parents: Vec<PageId> = level.keys().cloned().collect();
            let below = read::children_of_all(self.session, &self.root, &parents)?;
            let entries = read::pages(self.session, &self.root, &below)?;
            let mut next = HashMap::new();
            for (id, entry) in below.into_iter().zip(entries) {
                let Some(entry) = entry else { continue };
                let above = entry.parent.as_ref().and_then(|parent| level.get(parent)).copied();
                let path_bytes = above.unwrap_or_default() + 1 + entry.slug.len();
                if !entry.slug.is_empty() {
                    extent.path_bytes = extent.path_bytes.max(path_bytes);
                }
                next.insert(id, path_bytes);
            }
            level = next;
        }
        Ok(extent)
    }

    /// Returns a rank for a page at a position among its siblings, not counting the page itself. If no rank is
    /// available there, the plan assigns new ranks to all siblings.
    pub(super) fn rank_at(
        &self,
        plan: &mut EditChanges,
        page: &PageId,
        parent: Option<&PageId>,
        at: Option<usize>,
    ) -> PassResult<Rank> {
        let (from, to) = keys::children(parent).prefix_range();
        let start = map::rank(self.session, &self.root, &from)?;
        let siblings = map::count(self.session, &self.root, &from, &to)?;
        let own = self.own_position(page, parent, start)?;
        let others = siblings - u64::from(own.is_some());
        let at = at.map_or(others, |at| others.min(at as u64));
        let neighbour = |position: u64| -> PassResult<Option<Rank>> {
            let position = position + u64::from(own.is_some_and(|own| own <= position));
            let found = map::nth(self.session, &self.root, start + position)?;
            Ok(found.and_then(|(key, _)| segments(&key).get(2).and_then(|rank| rank.parse().ok())))
        };
        let low = if at > 0 { neighbour(at - 1)? } else { None };
        let high = if at < others { neighbour(at)? } else { None };
        match Rank::between(low.as_ref(), high.as_ref()) {
            Some(rank) => Ok(rank),
            None => self.rerank_siblings(plan, page, parent, at),
        }
    }

    /// Returns the position of a page among the children of a parent, or `None` if it is not one of them.
    fn own_position(&self, page: &PageId, parent: Option<&PageId>, start: u64) -> PassResult<Option<u64>> {
        match self.page(page)? {
            Some(entry) if entry.parent.as_ref() == parent => {
                let key = keys::child(parent, &entry.rank, page);
                Ok(Some(map::rank(self.session, &self.root, &key)? - start))
            }
            _ => Ok(None),
        }
    }

    /// Assigns new ranks to all siblings in their order. Returns the rank of the page.
    fn rerank_siblings(
        &self,
        plan: &mut EditChanges,
        page: &PageId,
        parent: Option<&PageId>,
        at: u64,
    ) -> PassResult<Rank> {
        let mut ids = read::child_ids(self.session, &self.root, parent)?;
        ids.retain(|id| id != page);
        let entries = read::pages(self.session, &self.root, &ids)?;
        for (position, (id, before)) in ids.iter().zip(entries).enumerate() {
            let Some(before) = before else { continue };
            let position = position + usize::from(position as u64 >= at);
            let after = PageEntry { rank: Rank::nth(position), ..before.clone() };
            plan.changes.set_page(id, Some(&before), Some(&after))?;
        }
        Ok(Rank::nth(usize::try_from(at).unwrap_or(usize::MAX)))
    }

    /// Returns a rank after all children of a page, or `None` if the siblings need new ranks.
    pub(super) fn rank_at_end(&self, parent: Option<&PageId>) -> PassResult<Option<Rank>> {
        let (from, to) = keys::children(parent).prefix_range();
        let last = map::range(self.session, &self.root, &map::Range::new(from, to).reversed().limit(1))?;
        let last: Option<Rank> = last.first().and_then(|(key, _)| segments(key).get(2)?.parse().ok());
        let last = last.max(self.pending.last_child(parent));
        Ok(Rank::between(last.as_ref(), None))
    }

    /// Returns the child of a parent that has the given slug.
    fn slug_owner(&self, parent: Option<&PageId>, slug: &str) -> PassResult<Option<PageId>> {
        let key = keys::slug(parent, slug);
        Ok(self.get(&key)?.map(|value| keys::derived_page_id(&key, &value)).transpose()?)
    }

    /// Returns a slug based on the wanted one that no sibling has, or an empty slug for kinds without a slug.
    pub(super) fn slug_for(
        &self,
        page: &PageId,
        entry: &PageEntry,
        wanted: &str,
        taken: &HashSet<String>,
    ) -> PassResult<String> {
        if !entry.kind.has_slug() {
            return Ok(String::new());
        }
        free_slug(wanted, |slug| {
            let holder = self.slug_owner(entry.parent.as_ref(), slug)?;
            Ok(holder.is_none_or(|holder| holder == *page) && !taken.contains(slug))
        })
    }

    /// Returns a slug for a new page. The numbering of duplicate slugs continues after the last number used.
    pub(super) fn new_slug(
        &self,
        entry: &PageEntry,
        wanted: &str,
    ) -> PassResult<(String, Option<NumberedName>)> {
        if !entry.kind.has_slug() {
            return Ok((String::new(), None));
        }
        let base = keys::slug(entry.parent.as_ref(), wanted);
        let is_free = |slug: &str| Ok(self.slug_owner(entry.parent.as_ref(), slug)?.is_none());
        self.free_name(base, wanted, 2, |number| append_number(wanted, number), is_free)
    }

    /// Returns the wanted name if it is free. Otherwise appends the first free number after the last one used for
    /// `base`.
    pub(super) fn free_name(
        &self,
        base: Key,
        wanted: &str,
        first: u64,
        numbered: impl Fn(u64) -> String,
        is_free: impl Fn(&str) -> PassResult<bool>,
    ) -> PassResult<(String, Option<NumberedName>)> {
        if is_free(wanted)? {
            return Ok((wanted.to_owned(), None));
        }
        let last = self.pending.number(&base).unwrap_or(first - 1);
        let number = first_free_number(last, first, |number| is_free(&numbered(number)))?;
        Ok((numbered(number), Some(NumberedName { base, number })))
    }
}

/// Returns the wanted slug, or the slug with the first free number. Assumes that the numbers in use have no gaps.
pub(crate) fn free_slug(wanted: &str, is_free: impl Fn(&str) -> PassResult<bool>) -> PassResult<String> {
    if is_free(wanted)? {
        return Ok(wanted.to_owned());
    }
    first_free(2, |number| append_number(wanted, number), is_free)
}

/// Returns the name with the first free number. Assumes that the numbers in use have no gaps.
fn first_free(
    first: u64,
    numbered: impl Fn(u64) -> String,
    is_free: impl Fn(&str) -> PassResult<bool>,
) -> PassResult<String> {
    Ok(numbered(first_free_number(first - 1, first, |number| is_free(&numbered(number)))?))
}

/// Returns the first free number after `last`. Assumes that the numbers in use have no gaps.
///
/// Doubles the distance until a number is free and then bisects, so a thousand duplicates require twenty lookups.
fn first_free_number(last: u64, first: u64, is_free: impl Fn(u64) -> PassResult<bool>) -> PassResult<u64> {
    let start = if last < first { 0 } else { last };
    let (mut taken, mut free) = (last, last + 1);
    while !is_free(free)? {
        taken = free;
        free = free.saturating_add(free - start);
    }
    while free - taken > 1 {
        let middle = taken.midpoint(free);
        if is_free(middle)? { free = middle } else { taken = middle }
    }
    Ok(free)
}

/// Returns a rank after all children of a page.
pub(crate) fn rank_after_children(
    session: &Session<'_>,
    root: &Hash,
    parent: Option<&PageId>,
) -> PassResult<Rank> {
    let (from, to) = keys::children(parent).prefix_range();
    let last = map::range(session, root, &map::Range::new(from, to).reversed().limit(1))?;
    let last: Option<Rank> = last.first().and_then(|(key, _)| segments(key).get(2)?.parse().ok());
    Ok(Rank::between(last.as_ref(), None).or(last).unwrap_or_else(|| Rank::nth(0)))
}
