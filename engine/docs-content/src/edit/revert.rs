//! Reverts a page to its state in another revision.

use std::collections::{HashMap, HashSet};

use docs_model::PageId;
use docs_store::Hash;

use super::{
    super::{PageEntry, error::invalid, load::PassResult, read},
    EditChanges, EditState, rank_after_children,
};

/// The slugs that a plan has assigned, by parent.
type AssignedSlugs = HashMap<Option<PageId>, HashSet<String>>;

impl EditState<'_, '_> {
    pub(super) fn revert(&self, page: &PageId, to: &Hash) -> PassResult<EditChanges> {
        let now = self.page(page)?;
        let then = read::page(self.session, to, page)?;
        match (now, then) {
            (None, None) => Err(invalid("page", format!("is `{page}`, which does not exist")).into()),
            (Some(now), None) => self.take_away(page, &now, to),
            (None, Some(_)) => self.bring_back(page, to),
            (Some(now), Some(then)) => self.restore_page(page, &now, then),
        }
    }

    /// Deletes a page that is missing in the other revision. Descendants that exist there are kept, because they are
    /// not part of the reverted change, and move up to the parent of the page.
    fn take_away(&self, page: &PageId, now: &PageEntry, to: &Hash) -> PassResult<EditChanges> {
        let below = read::subtree(self.session, &self.root, page)?;
        let mut gone = HashSet::new();
        for (id, entry) in below.iter().zip(read::pages(self.session, to, &below)?) {
            if entry.is_none() {
                gone.insert(id.clone());
            }
        }
        let mut plan = EditChanges::default();
        let mut given = AssignedSlugs::new();
        let mut last = rank_after_children(self.session, &self.root, now.parent.as_ref())?;
        for (id, entry) in below.iter().zip(read::pages(self.session, &self.root, &below)?) {
            let Some(before) = entry else { continue };
            if gone.contains(id) {
                plan.set(id, Some(&before), None)?;
                continue;
            }
            if before.parent.as_ref().is_some_and(|parent| gone.contains(parent)) {
                let mut after =
                    PageEntry { parent: now.parent.clone(), rank: last.clone(), ..before.clone() };
                last = super::super::Rank::between(Some(&last), None).unwrap_or(last);
                after.slug = self.unique(id, &after, &mut given)?;
                after.updated_at = Some(self.now);
                plan.set(id, Some(&before), Some(&after))?;
            }
        }
        Ok(plan)
    }

    /// Restores a missing page together with its missing descendants.
    fn bring_back(&self, page: &PageId, to: &Hash) -> PassResult<EditChanges> {
        let below = read::subtree(self.session, to, page)?;
        let mut plan = EditChanges::default();
        let mut given = AssignedSlugs::new();
        let mut back: HashSet<PageId> = HashSet::new();
        let living = read::pages(self.session, &self.root, &below)?;
        for ((id, then), living) in below.iter().zip(read::pages(self.session, to, &below)?).zip(living) {
            let (Some(mut entry), None) = (then, living) else { continue };
            let parent = entry.parent.clone();
            if !parent.as_ref().is_some_and(|parent| back.contains(parent)) {
                entry.parent = self.nearest_parent(&entry, to)?;
            }
            if entry.parent != parent {
                entry.rank = rank_after_children(self.session, &self.root, entry.parent.as_ref())?;
            }
            entry.slug = self.unique(id, &entry, &mut given)?;
            back.insert(id.clone());
            plan.set(id, None, Some(&entry))?;
        }
        Ok(plan)
    }

    /// Restores the fields, the text and, if it is still valid, the position of a page.
    fn restore_page(&self, page: &PageId, now: &PageEntry, then: PageEntry) -> PassResult<EditChanges> {
        let mut entry = then;
        entry.kind = now.kind;
        entry.created_at = now.created_at;
        entry.updated_at = now.updated_at;
        if !self.may_stand(page, &entry)? {
            entry.parent.clone_from(&now.parent);
            entry.rank = now.rank.clone();
        }
        entry.slug = self.unique(page, &entry, &mut AssignedSlugs::new())?;
        self.plan_write(page, now, entry)
    }

    /// Returns `true` if the parent in the record exists, can have children and is not a descendant of the page.
    fn may_stand(&self, page: &PageId, entry: &PageEntry) -> PassResult<bool> {
        let Some(parent) = &entry.parent else { return Ok(true) };
        match self.page(parent)? {
            Some(above) if above.kind.is_parent() && parent != page => {
                let chain = read::ancestor_ids(self.session, &self.root, &above)?;
                Ok(!chain.contains(page))
            }
            _ => Ok(false),
        }
    }

    /// Returns the nearest ancestor that still exists and can have children.
    fn nearest_parent(&self, entry: &PageEntry, to: &Hash) -> PassResult<Option<PageId>> {
        for id in read::ancestor_ids(self.session, to, entry)? {
            if self.page(&id)?.is_some_and(|above| above.kind.is_parent()) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    fn unique(&self, page: &PageId, entry: &PageEntry, given: &mut AssignedSlugs) -> PassResult<String> {
        let taken = given.entry(entry.parent.clone()).or_default();
        let wanted = if entry.slug.is_empty() { "page" } else { &entry.slug };
        let slug = self.slug_for(page, entry, wanted, taken)?;
        taken.insert(slug.clone());
        Ok(slug)
    }
}
