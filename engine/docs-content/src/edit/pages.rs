//! Edits of pages.

use std::collections::HashSet;

use docs_model::{JsonText, PageId, PagePatch};
use docs_store::Hash;

use super::{
    super::{
        Body, BuildPage, PageEntry, PageKind, Rank, bounds, clash_field,
        content::term_texts,
        error::invalid,
        keys,
        load::PassResult,
        read,
        text::{body_of, cancel, render, unfold},
    },
    EditChanges, EditState, NewBody, NewPage, patch,
    siblings::SubtreeSize,
};

impl EditState<'_, '_> {
    pub(super) fn insert(&self, new: &NewPage) -> PassResult<EditChanges> {
        let NewPage { id: page, kind, parent, at, fields, body } = new;
        let (kind, parent) = (*kind, parent.as_ref());
        if self.page(page)?.is_some() {
            return Err(invalid("page", format!("is `{page}`, which already exists")).into());
        }
        let title = fields.title.as_deref().ok_or_else(|| invalid("title", "is missing"))?;
        let pages = self.count_with_new(keys::PAGE)?;
        bounds::check_pages(pages).map_err(|what| invalid("page", what))?;
        let above = self.check_parent(kind, parent, 1)?;
        let mut plan = EditChanges::default();
        let mut entry = PageEntry::new(kind, title, Rank::nth(0));
        entry.parent = parent.cloned();
        patch::apply(fields, &mut entry)?;
        patch::check_complete(&entry)?;
        entry.body = body.body();
        check_body(kind, &entry.body)?;
        let last = if at.is_none() { self.rank_at_end(parent)? } else { None };
        entry.rank = match last {
            Some(rank) => rank,
            None if !self.pending.is_empty() => return Ok(EditChanges::apply_first()),
            None => self.rank_at(&mut plan, page, parent, *at)?,
        };
        let wanted = patch::wanted_slug(fields.slug.as_deref(), &entry);
        (entry.slug, plan.numbered) = self.new_slug(&entry, &wanted)?;
        let place = above.below(&entry.slug);
        Self::check_paths(place, SubtreeSize::default())?;
        plan.places.extend(parent.map(|parent| (parent.clone(), above)));
        plan.places.push((page.clone(), place));
        plan.new_below = Some(parent.cloned());
        plan.new_record = Some(keys::PAGE);
        entry.created_at = Some(self.now);
        entry.updated_at = Some(self.now);
        plan.set(page, None, Some(&entry))?;
        Ok(plan)
    }

    pub(super) fn update(&self, page: &PageId, fields: &PagePatch) -> PassResult<EditChanges> {
        let before = self.require_page(page, "page")?;
        let mut entry = before.clone();
        patch::apply(fields, &mut entry)?;
        if let Some(slug) = &fields.slug {
            let wanted = patch::wanted_slug(Some(slug), &entry);
            entry.slug = self.slug_for(page, &entry, &wanted, &HashSet::new())?;
        }
        self.plan_rename(page, &before, entry)
    }

    /// Plans a change of a page that may change its slug, and with it the paths of its descendants.
    fn plan_rename(&self, page: &PageId, before: &PageEntry, after: PageEntry) -> PassResult<EditChanges> {
        if after.slug.len() > before.slug.len() {
            if !self.pending.is_empty() {
                return Ok(EditChanges::apply_first());
            }
            Self::check_paths(self.place_of(page, &after)?, self.extent(page)?)?;
        }
        self.plan_write(page, before, after)
    }

    pub(super) fn set_body(&self, page: &PageId, body: &NewBody) -> PassResult<EditChanges> {
        let before = self.require_page(page, "page")?;
        let mut entry = before.clone();
        let mut texts = Vec::new();
        entry.body = self.next_body(&before.body, body, &mut texts)?;
        check_body(entry.kind, &entry.body)?;
        entry.clash.change(|clashes| drop(clashes.remove(clash_field::EXISTENCE)));
        let mut plan = self.plan_write(page, &before, entry)?;
        plan.texts = texts;
        Ok(plan)
    }

    pub(super) fn replace(&self, page: &BuildPage) -> PassResult<EditChanges> {
        let before = self.require_page(&page.id, "page")?;
        let mut entry = page.entry()?;
        (entry.parent, entry.rank) = (before.parent.clone(), before.rank.clone());
        if entry.kind.has_slug() {
            let wanted = patch::wanted_slug(page.fields.slug.as_deref(), &entry);
            entry.slug = self.slug_for(&page.id, &entry, &wanted, &HashSet::new())?;
        }
        (entry.created_at, entry.updated_at) = (before.created_at, before.updated_at);
        self.plan_rename(&page.id, &before, entry)
    }

    /// Returns the body after its text was replaced. Text that is still between conflict markers remains in conflict.
    pub(super) fn next_body(
        &self,
        before: &Body,
        new: &NewBody,
        texts: &mut Vec<String>,
    ) -> PassResult<Body> {
        let NewBody::Text(text) = new else { return Ok(new.body()) };
        if !before.is_conflict() {
            return Ok(new.body());
        }
        let terms = term_texts(self.session, before)?;
        let terms: Vec<&str> = terms.iter().map(|t| &**t).collect();
        let (shown, sizes) = render(self.merger, &terms);
        if shown == *text {
            return Ok(before.clone());
        }
        let terms =
            unfold(text, &sizes).ok_or_else(|| invalid("document", "has an unmatched conflict marker"))?;
        if terms.len() == 1 {
            return Ok(new.body());
        }
        let hashes: Vec<_> =
            terms.iter().map(|t| (!t.is_empty()).then(|| Hash::compute(t.as_bytes()))).collect();
        texts.extend(terms.into_iter().filter(|t| !t.is_empty()));
        Ok(body_of(cancel(&hashes)))
    }

    pub(super) fn move_page(
        &self,
        page: &PageId,
        into: Option<&Option<PageId>>,
        at: Option<usize>,
    ) -> PassResult<EditChanges> {
        let before = self.require_page(page, "page")?;
        let mut entry = before.clone();
        entry.clash.change(|clashes| {
            clashes.remove(clash_field::POSITION);
            clashes.remove(clash_field::EXISTENCE);
        });
        let parent = into.map_or(before.parent.as_ref(), Option::as_ref);
        let stays = parent == before.parent.as_ref();
        let mut place = None;
        if !stays {
            self.check_not_below(page, parent)?;
            let extent = self.extent(page)?;
            place = Some((self.check_parent(entry.kind, parent, extent.levels)?, extent));
        }
        let mut plan = EditChanges::default();
        if !stays || at.is_some() {
            entry.parent = parent.cloned();
            entry.rank = self.rank_at(&mut plan, page, parent, at)?;
            if let Some((above, extent)) = place {
                entry.slug = self.slug_for(page, &entry, &before.slug, &HashSet::new())?;
                Self::check_paths(above.below(&entry.slug), extent)?;
            }
        }
        if entry != before {
            entry.updated_at = Some(self.now);
        }
        plan.set(page, Some(&before), Some(&entry))?;
        Ok(plan)
    }

    pub(super) fn delete(&self, page: &PageId) -> PassResult<EditChanges> {
        self.require_page(page, "page")?;
        let ids = read::subtree(self.session, &self.root, page)?;
        let entries = read::pages(self.session, &self.root, &ids)?;
        let mut plan = EditChanges::default();
        for (id, entry) in ids.iter().zip(entries) {
            plan.set(id, entry.as_ref(), None)?;
        }
        Ok(plan)
    }

    pub(super) fn clear_clashes(&self, page: &PageId) -> PassResult<EditChanges> {
        let before = self.require_page(page, "page")?;
        let mut entry = before.clone();
        entry.clash = JsonText::default();
        self.plan_write(page, &before, entry)
    }

    /// Returns the plan that writes a page. The time of the last change is updated if the page differs.
    pub(super) fn plan_write(
        &self,
        page: &PageId,
        before: &PageEntry,
        mut after: PageEntry,
    ) -> PassResult<EditChanges> {
        let mut plan = EditChanges::default();
        if *before != after {
            after.updated_at = Some(self.now);
            plan.set(page, Some(before), Some(&after))?;
        }
        Ok(plan)
    }

    /// Rejects a parent that is the page itself or one of its descendants.
    pub(super) fn check_not_below(&self, page: &PageId, parent: Option<&PageId>) -> PassResult<()> {
        let Some(parent) = parent else { return Ok(()) };
        let entry = self.require_page(parent, "into")?;
        if parent == page || read::ancestor_ids(self.session, &self.root, &entry)?.contains(page) {
            return Err(invalid("into", "must not be the page itself or one of its descendants").into());
        }
        Ok(())
    }
}

fn check_body(kind: PageKind, body: &Body) -> PassResult<()> {
    if kind == PageKind::Document || body.is_empty() {
        return Ok(());
    }
    Err(invalid("document", "is allowed for documents only").into())
}
