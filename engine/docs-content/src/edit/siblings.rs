//! Parents, and siblings: ranks among them, and slugs that none of them has.

use std::collections::HashSet;

use docs_markup::numbered;
use docs_model::PageId;
use docs_store::{Hash, key::segments};

use super::{
    super::{
        PageEntry, PageKind, Rank,
        error::invalid,
        keys,
        load::{Session, Step},
        map,
        read::{self, MAX_DEPTH},
    },
    At, Plan,
};

impl At<'_, '_> {
    pub(super) fn page(&self, id: &PageId) -> Step<Option<PageEntry>> {
        read::page(self.session, &self.root, id)
    }

    /// The page, or a refusal that names the field it was given in.
    pub(super) fn known(&self, id: &PageId, field: &'static str) -> Step<PageEntry> {
        self.page(id)?.ok_or_else(|| invalid(field, format!("is `{id}`, which does not exist")).into())
    }

    /// Checks that pages of a kind may stand below a page, `height` levels of them.
    pub(super) fn check_parent(&self, kind: PageKind, parent: Option<&PageId>, height: usize) -> Step<()> {
        let Some(parent) = parent else { return Ok(()) };
        if kind == PageKind::Group {
            return Err(invalid("into", "is not the top level, where groups have to be").into());
        }
        let entry = self.known(parent, "into")?;
        if !entry.kind.is_parent() {
            return Err(invalid("into", "is a page that can have none below it").into());
        }
        let depth = read::ancestors(self.session, &self.root, &entry)?.len() + 1;
        if depth + height > MAX_DEPTH {
            return Err(invalid("into", format!("would make more than {MAX_DEPTH} levels of pages")).into());
        }
        Ok(())
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
            let holder = read::holder(self.session, &self.root, entry.parent.as_ref(), slug)?;
            Ok(holder.is_none_or(|holder| holder == *page) && !taken.contains(slug))
        })
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
///
/// Doubles the number until one is free and then halves the distance, so a thousand twins cost twenty lookups.
pub(crate) fn first_free(
    first: u64,
    numbered: impl Fn(u64) -> String,
    is_free: impl Fn(&str) -> Step<bool>,
) -> Step<String> {
    let (mut taken, mut free) = (first - 1, first);
    while !is_free(&numbered(free))? {
        taken = free;
        free = free.saturating_mul(2);
    }
    while free - taken > 1 {
        let middle = taken.midpoint(free);
        if is_free(&numbered(middle))? { free = middle } else { taken = middle }
    }
    Ok(numbered(free))
}

/// A rank behind all children of a page.
pub(crate) fn appended(session: &Session<'_>, root: &Hash, parent: Option<&PageId>) -> Step<Rank> {
    let (from, to) = keys::children(parent).below();
    let last = map::range(session, root, &map::Range::new(from, to).reversed().limit(1))?;
    let last: Option<Rank> = last.first().and_then(|(key, _)| segments(key).get(2)?.parse().ok());
    Ok(Rank::between(last.as_ref(), None).or(last).unwrap_or_else(|| Rank::nth(0)))
}
