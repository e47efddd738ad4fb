//! Documents as HTML, from the tree of blocks. No text of a page is ever HTML here: what is not understood is shown as
//! it was written.

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

/// How many blocks and elements of text stand within one another; of what is deeper only the text is shown.
const MAX_DEPTH: usize = 40;
/// Most reusable contents that a page shows, each time that one is used counted.
const MAX_REUSES: u32 = 500;
/// Most operations, webhooks and schemas that a page shows as specifications have them.
const MAX_DESCRIBED: u32 = 500;
/// Bytes of reusable contents, and of operations, webhooks and schemas, after which a page shows no further ones: a
/// page may use one long text any number of times.
const MAX_REUSED_BYTES: usize = 4 << 20;
const MAX_DESCRIBED_BYTES: usize = 4 << 20;
/// How many reusable contents stand within one another.
const MAX_REUSE_DEPTH: usize = 5;

/// Draws the blocks of one page.
#[derive(Debug)]
pub(crate) struct Renderer<'r> {
    pub(crate) addresses: &'r Addresses,
    pub(crate) reused: &'r Reused,
    pub(crate) specs: &'r Specs,
    pub(crate) words: &'r Words,
    /// Where links off the site open.
    pub(crate) outside: ExternalLinksTarget,
    /// Numbers the groups of tabs and the notes of the page.
    pub(crate) counter: &'r Counter,
    /// The gaps that are left, where it is not known yet where references lead.
    pub(crate) gaps: Option<&'r Gaps>,
}

/// What is counted while a page is drawn.
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
    /// Tells whether anything was counted.
    fn has_counted(&self) -> bool {
        let counted = [&self.groups, &self.reuses, &self.described].into_iter().any(|count| count.get() > 0);
        counted || self.formulas.is_taken()
    }

    fn next_group(&self) -> u32 {
        self.groups.set(self.groups.get() + 1);
        self.groups.get()
    }

    /// Counts one more use of a reusable content; tells whether there is room for it.
    fn counts_reuse(&self) -> bool {
        self.reuses.set(self.reuses.get() + 1);
        self.reuses.get() <= MAX_REUSES && self.reused_bytes.get() < MAX_REUSED_BYTES
    }

    /// Counts one more subject of a specification; tells whether there is room for it.
    fn counts_described(&self) -> bool {
        self.described.set(self.described.get() + 1);
        self.described.get() <= MAX_DESCRIBED && self.described_bytes.get() < MAX_DESCRIBED_BYTES
    }

    /// Adds a reusable content that is drawn.
    fn add_reused(&self, drawn: Markup) -> Markup {
        self.reused_bytes.set(self.reused_bytes.get() + drawn.0.len());
        drawn
    }

    /// Adds a subject of a specification that is drawn.
    fn add_described(&self, drawn: Markup) -> Markup {
        self.described_bytes.set(self.described_bytes.get() + drawn.0.len());
        drawn
    }
}

/// Where something is drawn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At {
    /// How many blocks and elements it stands in.
    depth: usize,
    /// How many reusable contents it stands in.
    reuses: usize,
    /// Whether it is what a specification says.
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

    /// Where a reference leads.
    fn target(&self, target: &ContentRef) -> Target {
        self.gaps.inspect(|gaps| gaps.asks(target));
        self.addresses.target(target)
    }

    /// The address of a picture, with its size where that is known.
    fn picture(&self, target: &ContentRef) -> Option<Picture> {
        self.gaps.inspect(|gaps| gaps.asks(target));
        self.addresses.picture(target)
    }

    /// A link to a target around something; that alone where the target has no address.
    fn linked(&self, target: &Target, class: Option<&str>, inner: Markup) -> Markup {
        Html::markup_of(|html| self.write_linked(html, (target, class), |html| html.markup(&inner)))
    }

    /// Writes the same.
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
