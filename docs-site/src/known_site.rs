//! Sites as visitors see them.

use std::{collections::HashMap, iter, ops::Deref, sync::OnceLock};

use docs_core::{
    Error, Result,
    model::{Customization, DefaultTheme, PublishedSite, SiteSpaceId},
};

use crate::theme::StyleSheet;

/// A site as a visitor sees it, with derived data.
#[derive(Debug)]
pub(crate) struct KnownSite {
    pub(crate) published: PublishedSite,
    /// A hash of the site as seen by the visitor.
    pub(crate) hash: blake3::Hash,
    /// The size of the JSON form in bytes.
    size: usize,
    /// The style sheets of the site and of each space with its own customization, computed on first use.
    sheets: HashMap<Option<SiteSpaceId>, OnceLock<StyleSheet>>,
}

impl Deref for KnownSite {
    type Target = PublishedSite;

    fn deref(&self) -> &PublishedSite {
        &self.published
    }
}

impl KnownSite {
    pub(crate) fn new(published: PublishedSite) -> Result<Self> {
        let known = serde_json::to_vec(&published).map_err(Error::internal)?;
        let own = published.customizations.site_spaces.keys().cloned().map(Some);
        let sheets = own.chain([None]).map(|look| (look, OnceLock::new())).collect();
        let looks = &published.customizations;
        let mut hasher = blake3::Hasher::new();
        hasher.update(&known);
        // In JSON, a theme that was never set is `light`.
        for look in iter::once(&looks.site).chain(looks.site_spaces.values()) {
            hasher.update(&[u8::from(look.themes.default == DefaultTheme::Unset)]);
        }
        Ok(Self { hash: hasher.finalize(), size: known.len(), sheets, published })
    }

    /// Returns the customization of a space.
    pub(crate) fn customization(&self, space: &SiteSpaceId) -> &Customization {
        let looks = &self.published.customizations;
        looks.site_spaces.get(space).unwrap_or(&looks.site)
    }

    /// Returns the style sheet of a space.
    pub(crate) fn style_sheet(&self, space: &SiteSpaceId) -> StyleSheet {
        let own = self.sheets.get(&Some(space.clone())).or_else(|| self.sheets.get(&None));
        let sheet = || StyleSheet::new(self.customization(space));
        own.map_or_else(sheet, |kept| kept.get_or_init(sheet).clone())
    }

    /// Returns the approximate memory in bytes. Without the style sheets, it is less than the JSON size.
    pub(crate) fn weight(&self) -> usize {
        self.size + self.sheets.len() * 2048
    }
}
