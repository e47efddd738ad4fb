//! Rendering of documents from the block tree to HTML. Text of a page is never interpreted as HTML:
//! unsupported content is shown as it was written.

mod api;
mod block;
mod code;
mod drawn;
mod figure;
mod inline;
mod math;
mod plain;
mod table;

use std::cell::Cell;

use docs_core::model::{ContentRef, Document, ExternalLinksTarget};
use maud::Markup;

use crate::{
    address::{Addresses, Picture, Target},
    gather::{Reused, Specs},
    html::Html,
    words::Words,
};

use self::drawn::Gaps;
pub(crate) use self::{
    drawn::{Drawn, Manner},
    plain::outline,
};

/// The maximum nesting depth of blocks and inline elements. Deeper content is shown as plain text.
const MAX_DEPTH: usize = 40;
/// The maximum number of uses of reusable content per page.
const MAX_REUSES: u32 = 500;
/// The maximum number of operations, webhooks and schemas rendered per page.
const MAX_DESCRIBED: u32 = 500;
/// The sizes in bytes of reusable content, and of operations, webhooks and schemas, after which a page
/// renders no more of them. Without them, a page could repeat one long text any number of times.
const MAX_REUSED_BYTES: usize = 4 << 20;
const MAX_DESCRIBED_BYTES: usize = 4 << 20;
/// The maximum nesting depth of reusable content.
const MAX_REUSE_DEPTH: usize = 5;

/// Renders the blocks of one page.
#[derive(Debug)]
pub(crate) struct Renderer<'r> {
    pub(crate) addresses: &'r Addresses,
    pub(crate) reused: &'r Reused,
    pub(crate) specs: &'r Specs,
    pub(crate) words: &'r Words,
    /// The target of external links.
    pub(crate) outside: ExternalLinksTarget,
    /// Numbers the tab groups and notes of the page.
    pub(crate) counter: &'r Counter,
    /// Collects placeholders while a document is prerendered without a site.
    pub(crate) gaps: Option<&'r Gaps>,
}

/// Counters of one page.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    groups: Cell<u32>,
    reuses: Cell<u32>,
    described: Cell<u32>,
    reused_bytes: Cell<usize>,
    described_bytes: Cell<usize>,
    formulas: math::Budget,
}

impl Counter {
    /// Returns `true` if anything was counted.
    fn has_counted(&self) -> bool {
        let counted = [&self.groups, &self.reuses, &self.described].into_iter().any(|count| count.get() > 0);
        counted || self.formulas.is_taken()
    }

    fn next_group(&self) -> u32 {
        self.groups.set(self.groups.get() + 1);
        self.groups.get()
    }

    /// Counts a use of reusable content; returns `true` if it is within the limits.
    fn counts_reuse(&self) -> bool {
        self.reuses.set(self.reuses.get() + 1);
        self.reuses.get() <= MAX_REUSES && self.reused_bytes.get() < MAX_REUSED_BYTES
    }

    /// Counts an operation, webhook or schema; returns `true` if it is within the limits.
    fn counts_described(&self) -> bool {
        self.described.set(self.described.get() + 1);
        self.described.get() <= MAX_DESCRIBED && self.described_bytes.get() < MAX_DESCRIBED_BYTES
    }

    /// Adds the size of rendered reusable content.
    fn add_reused(&self, drawn: Markup) -> Markup {
        self.reused_bytes.set(self.reused_bytes.get() + drawn.0.len());
        drawn
    }

    /// Adds the size of a rendered operation, webhook or schema.
    fn add_described(&self, drawn: Markup) -> Markup {
        self.described_bytes.set(self.described_bytes.get() + drawn.0.len());
        drawn
    }
}

/// The position of a node during rendering.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At {
    /// The number of enclosing blocks and inline elements.
    depth: usize,
    /// The number of enclosing reusable contents.
    reuses: usize,
    /// `true` within descriptions of OpenAPI specifications.
    is_told: bool,
}

impl At {
    const fn inner(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    const fn is_deep(self) -> bool {
        self.depth > MAX_DEPTH
    }
}

impl Renderer<'_> {
    /// Writes a whole document.
    pub(crate) fn write_document(&self, html: &mut Html, document: &Document) {
        self.write_blocks(html, &document.nodes, At::default());
    }

    /// Resolves a reference.
    fn target(&self, target: &ContentRef) -> Target {
        self.gaps.inspect(|gaps| gaps.asks(target));
        self.addresses.target(target)
    }

    /// Resolves the address of an image, with its size if known.
    fn picture(&self, target: &ContentRef) -> Option<Picture> {
        self.gaps.inspect(|gaps| gaps.asks(target));
        self.addresses.picture(target)
    }

    /// Wraps content in a link. Without an address, the content is not linked.
    fn linked(&self, target: &Target, class: Option<&str>, inner: Markup) -> Markup {
        Html::markup_of(|html| self.write_linked(html, (target, class), |html| html.markup(&inner)))
    }

    /// Writes content within a link. Without an address, the content is not linked.
    fn write_linked(
        &self,
        html: &mut Html,
        (target, class): (&Target, Option<&str>),
        inner: impl FnOnce(&mut Html),
    ) {
        let Some(href) = &target.href else {
            html.tags("<span").attribute_if(" class=\"", class).tags(">");
            inner(html);
            html.tags("</span>");
            return;
        };
        html.tags("<a").attribute_if(" class=\"", class).attribute(" href=\"", href);
        if target.is_outside {
            html.tags(" rel=\"noopener\"");
        }
        if target.is_outside && self.outside == ExternalLinksTarget::Blank {
            html.tags(" target=\"_blank\"");
        }
        html.tags(">");
        inner(html);
        html.tags("</a>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reusable_contents_beyond_the_bound_are_left_out() {
        let counter = Counter::default();
        let shown = (0..=MAX_REUSES).filter(|_| counter.counts_reuse()).count();
        assert_eq!(u32::try_from(shown), Ok(MAX_REUSES));
    }

    #[test]
    fn subjects_of_specifications_beyond_their_bytes_are_left_out() {
        let counter = Counter::default();
        drop(counter.add_described(maud::PreEscaped("x".repeat(MAX_DESCRIBED_BYTES - 1))));
        assert!(counter.counts_described());
        drop(counter.add_described(maud::PreEscaped("x".to_owned())));
        assert!(!counter.counts_described());
    }
}
