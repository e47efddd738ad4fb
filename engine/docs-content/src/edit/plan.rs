//! The planned changes of an edit.

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

/// The planned changes of an edit.
#[derive(Default)]
pub(crate) struct EditChanges {
    pub(crate) changes: MapChanges,
    pub(crate) pages: Vec<(PageId, PageEffect)>,
    pub(super) departed: Vec<Departure>,
    /// Texts that planning the edit produced, in addition to the text in the edit.
    pub(crate) texts: Vec<String>,
    pub(super) new_below: Option<Option<PageId>>,
    pub(super) new_record: Option<&'static str>,
    pub(super) places: Vec<(PageId, PagePlace)>,
    pub(super) numbered: Option<NumberedName>,
    /// `true` if the pending changes must be applied first. The plan is otherwise empty.
    pub(super) apply_first: bool,
}

impl EditChanges {
    /// Returns a plan for an edit that requires the pending changes to be applied first.
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

/// The number appended to a name that was in use. The next search starts at this number.
pub(super) struct NumberedName {
    /// The key of the base name within the scope where names are unique.
    pub(super) base: Key,
    pub(super) number: u64,
}
