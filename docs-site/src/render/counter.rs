//! Counters for one page, with their limits.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
};

use maud::Markup;

use super::math;

/// The maximum number of reusable content blocks rendered per page, including repetitions.
const MAX_REUSES: u32 = 500;
/// The maximum number of operations, webhooks and schemas rendered per page.
const MAX_DESCRIBED: u32 = 500;
/// The sizes in bytes of reusable content, and of operations, webhooks and schemas, after which a page renders no more
/// of them. Without these limits, a page could repeat long content any number of times.
const MAX_REUSED_BYTES: usize = 4 << 20;
const MAX_DESCRIBED_BYTES: usize = 4 << 20;
/// The maximum size in bytes of the URLs, titles and labels that references on a page resolve to. A reference of a few
/// bytes can have a URL of thousands.
pub(crate) const MAX_RESOLVED_BYTES: usize = 4 << 20;

/// Counters for one page.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(super) groups: Cell<u32>,
    pub(super) reuses: Cell<u32>,
    pub(super) described: Cell<u32>,
    pub(super) reused_bytes: Cell<usize>,
    pub(super) described_bytes: Cell<usize>,
    resolved_bytes: Cell<usize>,
    pub(super) formulas: math::Budget,
    /// The anchors of the operations so far, because an id must be unique.
    anchors: RefCell<HashSet<blake3::Hash>>,
    /// `true` if the page has a notice that operations are left out.
    has_notice: Cell<bool>,
}

impl Counter {
    /// Returns `true` if anything was counted.
    pub(super) fn has_counted(&self) -> bool {
        let counted = [&self.groups, &self.reuses, &self.described].into_iter().any(|count| count.get() > 0);
        counted || self.formulas.is_exhausted()
    }

    pub(super) fn next_group(&self) -> u32 {
        self.groups.set(self.groups.get() + 1);
        self.groups.get()
    }

    /// Counts a use of reusable content. Returns `true` if it is within the limits.
    pub(super) fn try_count_reuse(&self) -> bool {
        self.reuses.set(self.reuses.get() + 1);
        self.reuses.get() <= MAX_REUSES && self.reused_bytes.get() < MAX_REUSED_BYTES
    }

    /// Counts an operation, webhook or schema. Returns `true` if it is within the limits.
    pub(super) fn try_count_described(&self) -> bool {
        self.described.set(self.described.get() + 1);
        self.described.get() <= MAX_DESCRIBED && self.described_bytes.get() < MAX_DESCRIBED_BYTES
    }

    /// Returns `true` if no more references are resolved.
    pub(super) fn is_resolved_full(&self) -> bool {
        self.resolved_bytes.get() > MAX_RESOLVED_BYTES
    }

    /// Counts the bytes of a URL, title or label of a reference. Returns `true` if they are within the limit.
    pub(super) fn try_count_resolved(&self, bytes: usize) -> bool {
        self.resolved_bytes.set(self.resolved_bytes.get().saturating_add(bytes));
        self.resolved_bytes.get() <= MAX_RESOLVED_BYTES
    }

    /// Returns `true` for the first use of an anchor.
    pub(super) fn is_first_use(&self, anchor: &str) -> bool {
        self.anchors.borrow_mut().insert(blake3::hash(anchor.as_bytes()))
    }

    /// Returns `true` for the first operation, webhook or schema that is left out.
    pub(super) fn is_first_left_out(&self) -> bool {
        !self.has_notice.replace(true)
    }

    /// Adds the size of rendered reusable content.
    pub(super) fn add_reused(&self, drawn: Markup) -> Markup {
        self.reused_bytes.set(self.reused_bytes.get() + drawn.0.len());
        drawn
    }

    /// Adds the size of a rendered operation, webhook or schema.
    pub(super) fn add_described(&self, drawn: Markup) -> Markup {
        self.described_bytes.set(self.described_bytes.get() + drawn.0.len());
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reusable_contents_beyond_the_bound_are_left_out() {
        let counter = Counter::default();
        let shown = (0..=MAX_REUSES).filter(|_| counter.try_count_reuse()).count();
        assert_eq!(u32::try_from(shown), Ok(MAX_REUSES));
    }

    #[test]
    fn resolved_references_beyond_their_bytes_are_left_out() {
        let counter = Counter::default();
        let counted = [(); 5].map(|()| counter.try_count_resolved(MAX_RESOLVED_BYTES / 4));
        assert_eq!(counted, [true, true, true, true, false]);
        assert!(counter.is_resolved_full());
    }

    #[test]
    fn subjects_of_specifications_beyond_their_bytes_are_left_out() {
        let counter = Counter::default();
        drop(counter.add_described(maud::PreEscaped("x".repeat(MAX_DESCRIBED_BYTES - 1))));
        assert!(counter.try_count_described());
        drop(counter.add_described(maud::PreEscaped("x".to_owned())));
        assert!(!counter.try_count_described());
    }
}
