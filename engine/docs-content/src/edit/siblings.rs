//! Parents, and siblings: ranks among them, and slugs that none of them has.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use docs_markup::numbered;
use docs_model::{MAX_PAGE_LEVELS, PageId};
use docs_store::{Hash, Key, key::segments};

use super::{
    super::{
        PageEntry, PageKind, Rank, bounds,
        entry::decode,
        error::invalid,
        keys,
        load::{Session, Step},
        map,
        read::{self, ENDLESS},
    },
    At, Numbered, PagePlace, Plan,
};

/// The size of a page with everything below it.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    /// The levels, its own included.
    pub(super) levels: usize,
    /// The bytes that the longest path has beyond that of the page.
    pub(super) path_bytes: usize,
}

impl At<'_, '_> {
    /// The value of a key, pending changes included.
    pub(super) fn get(&self, key: &Key) -> Step<Option<Bytes>> {
        match self.pending.get(key) {
            Some(change) => Ok(change.clone()),
            None => Ok(map::get(self.session, &self.root, key)?),
        }
    }

    pub(super) fn page(&self, id: &PageId) -> Step<Option<PageEntry>> {
        let key = keys::page(id);
        Ok(self.get(&key)?.map(|value| decode(&key, &value)).transpose()?)
    }

    /// The page, or a refusal that names the field it was given in.
    pub(super) fn known(&self, id: &PageId, field: &'static str) -> Step<PageEntry> {
        self.page(id)?.ok_or_else(|| invalid(field, format!("is `{id}`, which does not exist")).into())
    }

    /// Checks that pages of a kind may be below a page, `height` levels of them; returns the place of that page.
    pub(super) fn check_parent(
        &self,
        kind: PageKind,
        parent: Option<&PageId>,
        height: usize,
    ) -> Step<PagePlace> {
        let mut place = PagePlace::default();
        if let Some(parent) = parent {
            if kind == PageKind::Group {
                return Err(invalid("into", "is not the top level, where groups have to be").into());
            }
            let entry = self.known(parent, "into")?;
            if !entry.kind.is_parent() {
                return Err(invalid("into", "is a page that can have none below it").into());
            }
            place = self.place_of(parent, &entry)?;
        }
        bounds::check_levels(place.level + height).map_err(|what| invalid("into", what))?;
        let (from, to) = keys::children(parent).below();
        let siblings = map::count(self.session, &self.root, &from, &to)? + self.pending.children(parent);
        bounds::check_siblings(siblings + 1).map_err(|what| invalid("into", what))?;
        Ok(place)
    }

    /// The number of records of a class with one more.
    pub(super) fn count_with_new(&self, class: &'static str) -> Step<u64> {
        let (from, to) = keys::class(class);
        Ok(map::count(self.session, &self.root, &from, &to)? + self.pending.records(class) + 1)
    }

    /// The place of a page.
    pub(super) fn place_of(&self, page: &PageId, entry: &PageEntry) -> Step<PagePlace> {
        let mut slugs: Vec<String> = Vec::new();
        let mut place = self.pending.place(page);
        let (mut slug, mut above) = (entry.slug.clone(), entry.parent.clone());
        while place.is_none() {
            slugs.push(slug);
            let Some(id) = above else { break };
            if slugs.len() > ENDLESS {
                return Err(read::cycle(&id));
            }
            place = self.pending.place(&id);
            let entry = self.known(&id, "into")?;
            (slug, above) = (entry.slug, entry.parent);
        }
        Ok(slugs.iter().rev().fold(place.unwrap_or_default(), |place, slug| place.below(slug)))
    }

    /// Checks the paths of a page that gets a place and of all pages below it, whose changes are in the map.
    pub(super) fn check_paths(place: PagePlace, extent: Extent) -> Step<()> {
        let longest = place.path_bytes + extent.path_bytes;
        Ok(bounds::check_path(longest).map_err(|what| invalid("slug", what))?)
    }

    /// The extent of a page with everything below it.
    pub(super) fn extent(&self, page: &PageId) -> Step<Extent> {
        let mut extent = Extent::default();
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

    /// A rank for a page at a position among the siblings it has without itself. When there is no room, the plan
    /// spreads the siblings anew.
    pub(super) fn rank_at(
        &self,
        plan: &mut Plan,
        page: &PageId,
        parent: Option<&PageId>,
        at: Option<usize>,
    ) -> Step<Rank> {
        let (from, to) = keys::children(parent).below();
        let start = map::rank(self.session, &self.root, &from)?;
        let siblings = map::count(self.session, &self.root, &from, &to)?;
        let own = self.own_position(page, parent, start)?;
        let others = siblings - u64::from(own.is_some());
        let at = at.map_or(others, |at| others.min(at as u64));
        let neighbour = |position: u64| -> Step<Option<Rank>> {
            let position = position + u64::from(own.is_some_and(|own| own <= position));
            let found = map::nth(self.session, &self.root, start + position)?;
            Ok(found.and_then(|(key, _)| segments(&key).get(2).and_then(|rank| rank.parse().ok())))
        };
        let low = if at > 0 { neighbour(at - 1)? } else { None };
        let high = if at < others { neighbour(at)? } else { None };
        match Rank::between(low.as_ref(), high.as_ref()) {
            Some(rank) => Ok(rank),
            None => self.spread(plan, page, parent, at),
        }
    }

    /// The position of a page among the children of a page, if it is one of them.
    fn own_position(&self, page: &PageId, parent: Option<&PageId>, start: u64) -> Step<Option<u64>> {
        match self.page(page)? {
            Some(entry) if entry.parent.as_ref() == parent => {
                let key = keys::child(parent, &entry.rank, page);
                Ok(Some(map::rank(self.session, &self.root, &key)? - start))
            }
            _ => Ok(None),
        }
    }

    /// Gives all siblings new ranks, in their order; answers the one of the page.
    fn spread(&self, plan: &mut Plan, page: &PageId, parent: Option<&PageId>, at: u64) -> Step<Rank> {
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

    /// A rank after all children of a page; `None` when the siblings have to be spread.
    pub(super) fn rank_at_end(&self, parent: Option<&PageId>) -> Step<Option<Rank>> {
        let (from, to) = keys::children(parent).below();
        let last = map::range(self.session, &self.root, &map::Range::new(from, to).reversed().limit(1))?;
        let last: Option<Rank> = last.first().and_then(|(key, _)| segments(key).get(2)?.parse().ok());
        let last = last.max(self.pending.last_child(parent));
        Ok(Rank::between(last.as_ref(), None))
    }

    /// The page that has a slug among its siblings.
    fn holder(&self, parent: Option<&PageId>, slug: &str) -> Step<Option<PageId>> {
        let key = keys::slug(parent, slug);
        Ok(self.get(&key)?.map(|value| keys::page_of(&key, &value)).transpose()?)
    }

    /// A slug like the wanted one that no sibling has; empty for kinds without.
    pub(super) fn slug_for(
        &self,
        page: &PageId,
        entry: &PageEntry,
        wanted: &str,
        taken: &HashSet<String>,
    ) -> Step<String> {
        if !entry.kind.has_slug() {
            return Ok(String::new());
        }
        free_slug(wanted, |slug| {
            let holder = self.holder(entry.parent.as_ref(), slug)?;
            Ok(holder.is_none_or(|holder| holder == *page) && !taken.contains(slug))
        })
    }

    /// The same for a new page. A run of equal slugs is numbered on from the last one.
    pub(super) fn new_slug(&self, entry: &PageEntry, wanted: &str) -> Step<(String, Option<Numbered>)> {
        if !entry.kind.has_slug() {
            return Ok((String::new(), None));
        }
        let base = keys::slug(entry.parent.as_ref(), wanted);
        let numbers = (2, |number| numbered(wanted, number));
        self.free_name(base, wanted, numbers, |slug| Ok(self.holder(entry.parent.as_ref(), slug)?.is_none()))
    }

    /// The wanted name, or the first free one with a number after the last that this base was given.
    pub(super) fn free_name(
        &self,
        base: Key,
        wanted: &str,
        (first, numbered): (u64, impl Fn(u64) -> String),
        is_free: impl Fn(&str) -> Step<bool>,
    ) -> Step<(String, Option<Numbered>)> {
        if is_free(wanted)? {
            return Ok((wanted.to_owned(), None));
        }
        let last = self.pending.number(&base).unwrap_or(first - 1);
        let number = first_free_after(last, first, |number| is_free(&numbered(number)))?;
        Ok((numbered(number), Some(Numbered { base, number })))
    }
}

/// The wanted slug, or the same with the first free number, as far as the numbers in use have no gaps.
pub(crate) fn free_slug(wanted: &str, is_free: impl Fn(&str) -> Step<bool>) -> Step<String> {
    if is_free(wanted)? {
        return Ok(wanted.to_owned());
    }
    first_free(2, |number| numbered(wanted, number), is_free)
}

/// The first free one of numbered names, as far as the numbers in use have no gaps.
fn first_free(
    first: u64,
    numbered: impl Fn(u64) -> String,
    is_free: impl Fn(&str) -> Step<bool>,
) -> Step<String> {
    Ok(numbered(first_free_after(first - 1, first, |number| is_free(&numbered(number)))?))
}

/// The first free number after one that is taken, as far as the numbers in use have no gaps.
///
/// Doubles the distance until a number is free and then halves it, so a thousand twins cost twenty lookups.
fn first_free_after(last: u64, first: u64, is_free: impl Fn(u64) -> Step<bool>) -> Step<u64> {
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

/// A rank behind all children of a page.
pub(crate) fn appended(session: &Session<'_>, root: &Hash, parent: Option<&PageId>) -> Step<Rank> {
    let (from, to) = keys::children(parent).below();
    let last = map::range(session, root, &map::Range::new(from, to).reversed().limit(1))?;
    let last: Option<Rank> = last.first().and_then(|(key, _)| segments(key).get(2)?.parse().ok());
    Ok(Rank::between(last.as_ref(), None).or(last).unwrap_or_else(|| Rank::nth(0)))
}
