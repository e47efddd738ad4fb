//! The block renderer of one page.

use docs_core::{
    content::document::Anchors,
    model::{ContentRef, Document, ExternalLinksTarget},
};
use maud::Markup;

use super::{Counter, NodePosition, placeholder::Placeholders};
use crate::{
    address::{Addresses, Picture, ReferenceTarget},
    html::{Html, escaped_length},
    references::{ReusableContents, Specs},
    words::Words,
};

/// Renders the blocks of one page.
#[derive(Debug)]
pub(crate) struct Renderer<'r> {
    pub(crate) addresses: &'r Addresses,
    pub(crate) reused: &'r ReusableContents,
    pub(crate) specs: &'r Specs,
    pub(crate) words: &'r Words,
    pub(crate) outside: ExternalLinksTarget,
    /// Numbers the tab groups and notes of the page.
    pub(crate) counter: &'r Counter,
    /// Collects placeholders while a document is prerendered without a site.
    pub(crate) gaps: Option<&'r Placeholders>,
    /// The anchors of the document that is rendered as a whole.
    pub(crate) anchors: Option<&'r Anchors>,
}

impl Renderer<'_> {
    /// Writes a whole document.
    pub(crate) fn write_document(&self, html: &mut Html, document: &Document) {
        let anchors = Anchors::new(document);
        let renderer = Renderer { anchors: Some(&anchors), ..*self };
        renderer.write_blocks(html, &document.nodes, NodePosition::default());
    }

    /// Resolves a reference. Beyond the size of the resolved references of a page, references have neither a URL nor a
    /// name.
    pub(super) fn target(&self, target: &ContentRef) -> ReferenceTarget {
        self.gaps.inspect(|gaps| gaps.record_reference(target));
        if self.counter.is_resolved_full() {
            return ReferenceTarget::default();
        }
        let resolved = self.resolve(target);
        let bytes =
            [&resolved.href, &resolved.name].into_iter().flatten().map(|text| escaped_length(text)).sum();
        match self.counter.try_count_resolved(bytes) {
            true => resolved,
            false => ReferenceTarget::default(),
        }
    }

    fn resolve(&self, target: &ContentRef) -> ReferenceTarget {
        if let ContentRef::Anchor { anchor, page: None, space: None } = target
            && let Some(own) = self.anchors.and_then(|anchors| anchors.resolve(anchor))
        {
            let own = ContentRef::Anchor { anchor: own.to_owned(), page: None, space: None };
            return self.addresses.target(&own);
        }
        self.addresses.target(target)
    }

    /// Resolves the URL of an image, with its size if known. Counts like [`target`](Self::target).
    pub(super) fn picture(&self, target: &ContentRef) -> Option<Picture> {
        self.gaps.inspect(|gaps| gaps.record_reference(target));
        if self.counter.is_resolved_full() {
            return None;
        }
        self.addresses.picture(target).filter(|picture| self.counter.try_count_resolved(picture.src.len()))
    }

    /// Wraps content in a link. Without a URL, the content is not linked.
    pub(super) fn link(&self, target: &ReferenceTarget, class: Option<&str>, inner: Markup) -> Markup {
        Html::build_markup(|html| self.write_link_around(html, target, class, |html| html.markup(&inner)))
    }

    /// Writes content within a link. Without a URL, the content is not linked.
    pub(super) fn write_link_around(
        &self,
        html: &mut Html,
        target: &ReferenceTarget,
        class: Option<&str>,
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
