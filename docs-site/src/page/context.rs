//! The context for rendering pages.

use std::sync::{Arc, OnceLock};

use docs_core::model::{Customization, LocalizedText, RevisionId};

use super::{template::PageTemplate, written_tree::WrittenTree};
use crate::{
    address::{Addresses, SitePlace},
    page_tree::PageTree,
    render::RenderOptions,
    visit::Visit,
    words::Words,
};

/// The context for rendering a page of a site.
#[derive(Debug)]
pub(crate) struct PageContext<'s> {
    pub(crate) visit: &'s Visit,
    pub(crate) place: SitePlace<'s>,
    pub(crate) places: Vec<SitePlace<'s>>,
    pub(crate) look: &'s Customization,
    pub(crate) words: &'static Words,
    pub(crate) addresses: Arc<Addresses>,
    pub(crate) frame: Arc<PageTree>,
    /// The revision of the content.
    pub(super) revision: RevisionId,
    pub(super) around: Arc<SpaceLayout>,
    /// The path of the space, with a trailing slash.
    pub(super) base: String,
    /// The canonical URL of the site, with a trailing slash.
    pub(crate) canonical_base: String,
    /// The same page in each variant of this space: the variant's index in `places`, and the path of the page.
    pub(super) variants: Vec<(usize, String)>,
}

/// The layout of a space's pages, shared by all visitors with the same view of the space. It is built once.
#[derive(Debug)]
pub(crate) struct SpaceLayout {
    /// The URLs of the site, without page trees, which are cached separately.
    pub(super) addresses: Addresses,
    pub(super) template: OnceLock<PageTemplate>,
    pub(super) tree: OnceLock<Option<WrittenTree>>,
}

impl SpaceLayout {
    /// Returns the approximate memory in bytes.
    pub(crate) fn weight(&self) -> usize {
        let tree = self.tree.get().and_then(Option::as_ref);
        self.addresses.weight()
            + self.template.get().map_or(0, PageTemplate::weight)
            + tree.map_or(0, WrittenTree::weight)
    }
}

impl<'s> PageContext<'s> {
    /// Returns the render options of documents.
    pub(super) fn render_options(&self) -> RenderOptions {
        let outside = self.look.external_links.target;
        RenderOptions { words: self.words, outside, loads: self.visit.loads() }
    }

    /// Returns the variant of a text for the language of the space.
    pub(super) fn localized<'t, const MAX: usize>(
        &self,
        text: &'t str,
        variants: &'t LocalizedText<MAX>,
    ) -> &'t str {
        variants.choose(self.look.internationalization.locale.language(), text)
    }

    /// Returns the variants of this space that the navigation shows, and the space itself, with their indices in
    /// `places`.
    pub(super) fn shown_variants(&self) -> impl Iterator<Item = (usize, &SitePlace<'s>)> {
        self.variants().filter(|(_, place)| !place.space.hidden || place.space.id == self.place.space.id)
    }

    /// Returns the variants of this space, including itself, with their indices in `places`.
    pub(super) fn variants(&self) -> impl Iterator<Item = (usize, &SitePlace<'s>)> {
        let section = self.place.section.map(|section| &section.id);
        self.places.iter().enumerate().filter(move |(_, place)| place.section.map(|of| &of.id) == section)
    }

    /// Returns the path of a variant below the site: of the same page if it exists in the variant, otherwise of the
    /// space.
    pub(super) fn variant_path(&self, number: usize, place: &SitePlace<'_>) -> String {
        let same = self.variants.iter().find(|(of, _)| *of == number).map_or("", |(_, path)| path.as_str());
        format!("{}{same}", place.path)
    }

    /// Returns the page in each language of the site: HTML language code and URL. Empty if there is only one language,
    /// or if the URL of the site is unknown.
    pub(super) fn alternates(&self) -> Vec<(&'static str, String)> {
        let mut found: Vec<(&'static str, String)> = Vec::new();
        let own = self.places.iter().position(|place| place.space.id == self.place.space.id);
        // The space of the page takes precedence over other spaces in the same language.
        let first = self.variants.iter().filter(|(number, _)| Some(*number) == own);
        for (number, path) in first.chain(&self.variants).filter(|_| self.visit.has_address()) {
            let place = &self.places[*number];
            let look = self.visit.customization(&place.space.id);
            let language = Words::for_locale(look.internationalization.locale).language;
            if found.iter().all(|(known, _)| *known != language) {
                let below = format!("{}{path}", place.path);
                found.push((language, self.visit.address(&self.canonical_base, &below)));
            }
        }
        if found.len() > 1 { found } else { Vec::new() }
    }

    /// Returns the path of the space, with a trailing slash.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Returns the path of the site, with a trailing slash.
    pub(crate) fn site_base(&self) -> &str {
        &self.visit.found.site_base_path
    }

    pub(crate) fn title(&self) -> &str {
        self.visit.site_title(self.look)
    }

    /// Returns the canonical URL of an entry, or `None` if the URL of the site is unknown.
    pub(crate) fn canonical(&self, at: usize) -> Option<String> {
        if !self.visit.has_address() {
            return None;
        }
        let own = self.addresses.entry_address(&self.addresses.space, &self.frame, at)?;
        Some(self.visit.address(&self.canonical_base, own.strip_prefix(self.site_base())?))
    }
}
