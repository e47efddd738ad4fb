//! The text of a page or reusable content block, and its translation.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::segments::{MAX_SEGMENT_BYTES, Settings};
use crate::{
    Result,
    content::{
        Body, PageEntry, PageTexts, Rendering, ReusableEntry, ReusableTexts,
        document::parse,
        translate::{segments, text_segment, translated_markdown, translated_text},
    },
    model::MAX_TITLE,
    platform::kernel::platform::Platform,
    store::{Hash, records::TranslatedItemId},
};

/// A page or reusable content block to translate.
pub(super) struct TranslationItem {
    pub(super) of: TranslatedItemId,
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) body: Body,
}

impl From<(crate::model::PageId, PageEntry)> for TranslationItem {
    fn from((id, entry): (crate::model::PageId, PageEntry)) -> Self {
        let PageEntry { title, description, body, .. } = entry;
        Self { of: TranslatedItemId::Page(id), title, description, body }
    }
}

impl From<(crate::model::ReusableId, ReusableEntry)> for TranslationItem {
    fn from((id, entry): (crate::model::ReusableId, ReusableEntry)) -> Self {
        let ReusableEntry { title, body, .. } = entry;
        Self { of: TranslatedItemId::Reusable(id), title, description: None, body }
    }
}

/// An item with its text and its segments.
pub(super) struct ItemSegments {
    pub(super) thing: TranslationItem,
    markdown: Arc<str>,
    /// The segments, each with the hash of the segment and everything its translation depends on.
    pub(super) keys: BTreeMap<String, Hash>,
    /// The number of segments that exceed the size limit.
    pub(super) too_long: u64,
}

impl ItemSegments {
    /// Reads the text of an item and extracts its segments.
    pub(super) async fn new(
        platform: &Platform,
        domain: &str,
        thing: TranslationItem,
        settings: &Settings,
    ) -> Result<Self> {
        let markdown = platform.content().body_text(domain, &thing.body, Rendering::Request).await?;
        let read = || Self::from_text(thing, markdown, settings);
        Ok(platform.run_translation_work(read).await)
    }

    fn from_text(thing: TranslationItem, markdown: Arc<str>, settings: &Settings) -> Self {
        let told = [Some(&thing.title), thing.description.as_ref()];
        let told = told.into_iter().flatten().filter_map(|text| text_segment(text));
        let all: BTreeSet<String> = told.chain(segments(&parse(&markdown))).collect();
        let (fit, long): (Vec<String>, Vec<String>) =
            all.into_iter().partition(|segment| segment.len() <= MAX_SEGMENT_BYTES);
        let keys = fit.into_iter().map(|segment| (settings.key(&segment), segment));
        let keys = keys.map(|(key, segment)| (segment, key)).collect();
        Self { thing, markdown, keys, too_long: long.len() as u64 }
    }

    /// Returns the size of the text in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.markdown.len()
    }

    /// Returns `true` if any segment has no translation.
    pub(super) fn has_failed(&self, known: &BTreeMap<String, String>) -> bool {
        self.keys.keys().any(|segment| !known.contains_key(segment))
    }

    /// Returns the Markdown of the translation, or `None` for an item without text.
    pub(super) fn markdown(&self, known: &BTreeMap<String, String>) -> Option<String> {
        let is_empty = self.markdown.is_empty();
        (!is_empty).then(|| translated_markdown(&self.markdown, |segment| known.get(segment).cloned()))
    }

    fn text(text: &str, known: &BTreeMap<String, String>) -> String {
        let new = translated_text(text, |segment| known.get(segment).cloned());
        // Single-line text has no line breaks, and a title is never empty.
        let new = new.replace(['\n', '\r'], " ");
        let fits = !new.trim().is_empty() && new.chars().count() <= MAX_TITLE;
        if fits { new } else { text.to_owned() }
    }

    /// Returns the translated title and description of a page, with a body that is already stored.
    pub(super) fn page(&self, known: &BTreeMap<String, String>, body: Body) -> PageTexts {
        PageTexts {
            title: Self::text(&self.thing.title, known),
            description: self.thing.description.as_ref().map(|text| Self::text(text, known)),
            body: crate::content::NewBody::Stored(body),
        }
    }

    /// Returns the translated title of a reusable content block, with a body that is already stored.
    pub(super) fn reusable(&self, known: &BTreeMap<String, String>, body: Body) -> ReusableTexts {
        let body = crate::content::NewBody::Stored(body);
        ReusableTexts { title: Self::text(&self.thing.title, known), body }
    }
}
