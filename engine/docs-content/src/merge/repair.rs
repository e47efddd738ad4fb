//! Repair of the page tree after a merge.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use docs_model::PageId;
use docs_store::Hash;

use super::{
    super::{
        ContentError, FieldClash, PageEntry, PageKind, Rank, clash_field,
        edit::free_slug,
        load::{PassResult, Session},
        read,
    },
    Conflict, ConflictNote, MergedRecords, Subject, TouchedPage,
    three_way::position,
};

pub(super) struct RepairedPages {
    pub(super) pages: BTreeMap<PageId, Option<PageEntry>>,
    pub(super) notes: BTreeSet<ConflictNote>,
}

/// Repairs the page tree: every page has an existing parent that can have children, no page is its own ancestor, and
/// siblings have distinct slugs.
///
/// Only changed pages can be invalid: the position of an unchanged page is the same on both sides, and a deleted or
/// moved parent is itself a changed page.
pub(super) fn repair(
    session: &Session<'_>,
    ours: &Hash,
    united: &MergedRecords,
) -> PassResult<RepairedPages> {
    let pages = united.pages.iter().map(|(id, page)| (id.clone(), page.merged.clone())).collect();
    let mut tree = Tree { session, root: *ours, touched: &united.pages, pages, notes: BTreeSet::new() };
    for id in united.pages.keys() {
        tree.find_parent(id)?;
    }
    tree.break_cycles()?;
    tree.number_slugs()?;
    Ok(RepairedPages { pages: tree.pages, notes: tree.notes })
}

/// The merged tree: main content overlaid with the changed pages.
struct Tree<'a, 's> {
    session: &'a Session<'s>,
    root: Hash,
    touched: &'a BTreeMap<PageId, TouchedPage>,
    pages: BTreeMap<PageId, Option<PageEntry>>,
    notes: BTreeSet<ConflictNote>,
}

impl Tree<'_, '_> {
    fn page(&self, id: &PageId) -> PassResult<Option<PageEntry>> {
        match self.pages.get(id) {
            Some(page) => Ok(page.clone()),
            None => read::page(self.session, &self.root, id),
        }
    }

    fn note(&mut self, id: &PageId, conflict: Conflict) {
        self.notes.insert(ConflictNote { subject: Subject::Page(id.clone()), conflict });
    }

    /// Moves a page to a different parent and records its position in each version.
    fn move_page(&mut self, id: &PageId, parent: Option<PageId>, rank: Rank) {
        let known = self.touched.get(id);
        let clash = FieldClash {
            other: position(known.and_then(|page| page.ours.as_ref())),
            base: position(known.and_then(|page| page.base.as_ref())),
            request: position(known.and_then(|page| page.theirs.as_ref())),
        };
        if let Some(Some(entry)) = self.pages.get_mut(id) {
            entry.parent = parent;
            entry.rank = rank;
            entry.clash.change(|clashes| drop(clashes.insert(clash_field::POSITION.to_owned(), clash)));
        }
    }

    /// Moves a page up to its nearest ancestor that exists and can contain it.
    fn find_parent(&mut self, id: &PageId) -> PassResult<()> {
        let Some(Some(entry)) = self.pages.get(id).cloned() else { return Ok(()) };
        let mut parent = entry.parent.clone();
        let mut problem = None;
        let mut seen = BTreeSet::new();
        while let Some(above) = parent.take() {
            if !seen.insert(above.clone()) {
                break;
            }
            let living = self.page(&above)?;
            let nests = entry.kind == PageKind::Group;
            match living {
                Some(living) if living.kind.is_parent() && !nests => {
                    parent = Some(above);
                    break;
                }
                Some(living) => {
                    problem.get_or_insert(Conflict::Misplaced);
                    parent = living.parent;
                }
                None => {
                    problem.get_or_insert(Conflict::ParentGone { parent: above.clone() });
                    parent = self.last_parent_of_deleted(&above);
                }
            }
        }
        if let Some(problem) = problem {
            self.move_page(id, parent, entry.rank);
            self.note(id, problem);
        }
        Ok(())
    }

    /// Returns the last parent of a deleted page: from the side that did not delete it or, if there is none, from the
    /// base.
    fn last_parent_of_deleted(&self, id: &PageId) -> Option<PageId> {
        let known = self.touched.get(id)?;
        let last = known.ours.as_ref().or(known.theirs.as_ref()).or(known.base.as_ref())?;
        last.parent.clone()
    }

    /// Undoes moves by the change request until no page is its own ancestor.
    fn break_cycles(&mut self) -> PassResult<()> {
        let mut undone = BTreeSet::new();
        for id in self.touched.keys() {
            while let Some(cycle) = self.cycle_above(id)? {
                self.undo_one(&cycle, &mut undone)?;
            }
        }
        Ok(())
    }

    /// Returns the pages of a cycle among a page and its ancestors, if there is one.
    fn cycle_above(&self, id: &PageId) -> PassResult<Option<Vec<PageId>>> {
        let mut chain: Vec<PageId> = Vec::new();
        let mut seen: HashMap<PageId, usize> = HashMap::new();
        let mut next = Some(id.clone());
        while let Some(id) = next {
            if let Some(start) = seen.get(&id) {
                return Ok(Some(chain.split_off(*start)));
            }
            seen.insert(id.clone(), chain.len());
            next = self.page(&id)?.and_then(|entry| entry.parent);
            chain.push(id);
        }
        Ok(None)
    }

    /// Removes a page from a cycle: moves it back to its position in main content or, if that was already tried, to the
    /// top level.
    ///
    /// Neither side has a cycle, so every cycle contains a page moved by the change request or by a repair. Each page
    /// is moved back at most once and to the top level at most once, so repeated calls terminate.
    fn undo_one(&mut self, cycle: &[PageId], undone: &mut BTreeSet<PageId>) -> PassResult<()> {
        let moved = |id: &&PageId| {
            let Some(page) = self.touched.get(*id) else { return false };
            let place = |entry: &Option<PageEntry>| entry.as_ref().map(|e| e.parent.clone());
            let by_theirs =
                place(&page.theirs) != place(&page.base) && place(&page.theirs) != place(&page.ours);
            page.ours.is_some() && by_theirs && !undone.contains(*id)
        };
        let back = cycle.iter().filter(moved).min().cloned();
        let known = back.as_ref().and_then(|id| self.touched.get(id)).and_then(|page| page.ours.clone());
        if let (Some(id), Some(ours)) = (back, known) {
            undone.insert(id.clone());
            self.move_page(&id, ours.parent, ours.rank);
            self.note(&id, Conflict::Cycle);
            return self.find_parent(&id);
        }
        let touched = cycle.iter().filter(|id| self.touched.contains_key(*id)).min().cloned();
        let rank =
            touched.as_ref().and_then(|id| self.pages.get(id)?.as_ref()).map(|entry| entry.rank.clone());
        let (Some(id), Some(rank)) = (touched, rank) else {
            return Err(ContentError::Corrupt("pages that were not merged form a cycle".into()).into());
        };
        self.move_page(&id, None, rank);
        self.note(&id, Conflict::Cycle);
        Ok(())
    }

    /// Assigns new slugs to pages whose slug equals that of a sibling.
    fn number_slugs(&mut self) -> PassResult<()> {
        let mut claims: BTreeMap<(Option<PageId>, String), Vec<PageId>> = BTreeMap::new();
        for (id, entry) in &mut self.pages {
            let Some(entry) = entry else { continue };
            if !entry.kind.has_slug() {
                entry.slug.clear();
                continue;
            }
            if entry.slug.is_empty() {
                "page".clone_into(&mut entry.slug);
            }
            claims.entry((entry.parent.clone(), entry.slug.clone())).or_default().push(id.clone());
        }
        let mut taken: BTreeSet<(Option<PageId>, String)> = claims.keys().cloned().collect();
        for ((parent, slug), mut claimants) in claims {
            claimants.sort_by_key(|id| self.claim(id, parent.as_ref(), &slug));
            let keeps = usize::from(self.untouched_holder(parent.as_ref(), &slug)?.is_none());
            for id in claimants.iter().skip(keeps) {
                let new = free_slug(&slug, |wanted| {
                    let free = !taken.contains(&(parent.clone(), wanted.to_owned()));
                    Ok(free && self.untouched_holder(parent.as_ref(), wanted)?.is_none())
                })?;
                taken.insert((parent.clone(), new.clone()));
                if let Some(Some(entry)) = self.pages.get_mut(id) {
                    entry.slug = new;
                }
                self.note(id, Conflict::SlugTaken { slug: slug.clone() });
            }
        }
        Ok(())
    }

    /// Returns a sort key that determines which page keeps a slug: the page that has it in the base comes first, then
    /// the page that has it in main content.
    fn claim(&self, id: &PageId, parent: Option<&PageId>, slug: &str) -> (u8, PageId) {
        let has = |entry: &Option<PageEntry>| {
            entry.as_ref().is_some_and(|entry| entry.parent.as_ref() == parent && entry.slug == slug)
        };
        let order = match self.touched.get(id) {
            Some(page) if has(&page.base) => 0,
            Some(page) if has(&page.ours) => 1,
            _ => 2,
        };
        (order, id.clone())
    }

    /// Returns the page with the given slug, if neither side changed that page.
    fn untouched_holder(&self, parent: Option<&PageId>, slug: &str) -> PassResult<Option<PageId>> {
        let holder = read::slug_owner(self.session, &self.root, parent, slug)?;
        Ok(holder.filter(|id| !self.pages.contains_key(id)))
    }
}
