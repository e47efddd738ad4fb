//! The planned changes of one edit.

use docs_model::PageId;
use docs_store::Key;

use super::{
    super::{ContentResult, PageEntry, redirects::Departure},
    changes::MapChanges,
    page_place::PagePlace,
};

/// The combined effect of a batch of edits on a page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PageEffect {
    Created,
    Updated,
    Deleted,
}

/// The changes of one edit.
#[derive(Default)]
pub(crate) struct EditChanges {
    pub(crate) changes: MapChanges,
    pub(crate) pages: Vec<(PageId, PageEffect)>,
    pub(super) departed: Vec<Departure>,
    /// Texts that the edit produced, in addition to its own text.
    pub(crate) texts: Vec<String>,
    pub(super) new_below: Option<Option<PageId>>,
    pub(super) new_record: Option<&'static str>,
    pub(super) places: Vec<(PageId, PagePlace)>,
    pub(super) numbered: Option<NumberedName>,
    /// The pending changes have to be applied first; nothing else is planned.
    pub(super) apply_first: bool,
}

impl EditChanges {
    /// Returns the plan of an edit that requires the pending changes to be in the map.
    pub(super) fn apply_first() -> Self {
        Self { apply_first: true, ..Self::default() }
    }

    /// Changes a page and its derived entries.
    pub(crate) fn set(
        &mut self,
        id: &PageId,
        before: Option<&PageEntry>,
        after: Option<&PageEntry>,
    ) -> ContentResult<()> {
        if before == after {
            return Ok(());
        }
        let touch = match (before, after) {
            (None, _) => PageEffect::Created,
            (Some(_), Some(_)) => PageEffect::Updated,
            (Some(_), None) => PageEffect::Deleted,
        };
        self.pages.push((id.clone(), touch));
        self.departed.extend(before.and_then(|before| Departure::from_entries(id, before, after)));
        self.changes.set_page(id, before, after)
    }
}

/// The number given to a name that is in use, so that the next search starts there.
pub(super) struct NumberedName {
    /// The key of the wanted name within the scope in which it must be unique.
    pub(super) base: Key,
    pub(super) number: u64,
}
