//! The size of the text of a book, where a reusable content block counts each time it is shown.

use std::collections::BTreeMap;

use crate::{
    model::{BlockKind, ContentRef, Document, DocumentPart, ReusableId},
    ports::MAX_EMBED_DEPTH,
};

/// The size of one document, and its embeds.
pub(super) struct DocumentText {
    /// The size of the Markdown and of the values of its expressions, in bytes.
    bytes: usize,
    /// The number of occurrences of each embedded reusable content block.
    embeds: BTreeMap<ReusableId, usize>,
}

impl DocumentText {
    pub(super) fn new(document: &Document, bytes: usize) -> Self {
        let mut embeds = BTreeMap::new();
        for part in document.parts() {
            if let DocumentPart::Block(block) = part
                && let BlockKind::ReusableContent { target } = &block.kind
                && let ContentRef::ReusableContent { reusable_content, .. } = target
            {
                *embeds.entry(reusable_content.clone()).or_default() += 1;
            }
        }
        Self { bytes, embeds }
    }
}

/// The text of the pages and reusable content blocks of a book.
#[derive(Default)]
pub(super) struct BookTexts {
    pub(super) pages: Vec<DocumentText>,
    pub(super) reusables: BTreeMap<ReusableId, DocumentText>,
}

impl BookTexts {
    /// Returns `true` if the text of all pages with their embeds exceeds `max`.
    ///
    /// An embed is expanded where the typesetter shows it: not within itself, and up to [`MAX_EMBED_DEPTH`]. The
    /// traversal ends as soon as `max` is exceeded. Each embed takes bytes of a counted text, so `max` also limits the
    /// number of steps.
    pub(super) fn exceed(&self, max: usize) -> bool {
        let mut walk = EmbedWalk { reusables: &self.reusables, max, total: 0 };
        let mut enclosing = Vec::with_capacity(MAX_EMBED_DEPTH);
        self.pages.iter().any(|page| !walk.fits(page, 1, &mut enclosing))
    }
}

/// The traversal of embedded reusable content blocks.
struct EmbedWalk<'b> {
    reusables: &'b BTreeMap<ReusableId, DocumentText>,
    max: usize,
    total: usize,
}

impl<'b> EmbedWalk<'b> {
    /// Adds text that is shown `places` times, with its embeds. Returns `false` if the total is exceeded.
    fn fits(&mut self, text: &'b DocumentText, places: usize, enclosing: &mut Vec<&'b ReusableId>) -> bool {
        self.total = self.total.saturating_add(text.bytes.saturating_mul(places));
        if self.total > self.max {
            return false;
        }
        if enclosing.len() == MAX_EMBED_DEPTH {
            return true;
        }
        text.embeds.iter().all(|(id, count)| {
            let Some((id, embedded)) = self.reusables.get_key_value(id) else { return true };
            if enclosing.contains(&id) {
                return true;
            }
            enclosing.push(id);
            let fits = self.fits(embedded, places.saturating_mul(*count), enclosing);
            enclosing.pop();
            fits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: usize, embeds: &[(&str, usize)]) -> DocumentText {
        let id = |name: &str| name.parse().expect("an id");
        let embeds = embeds.iter().map(|(name, places)| (id(name), *places)).collect();
        DocumentText { bytes, embeds }
    }

    /// Returns the smallest limit that the texts do not exceed.
    fn size(texts: &BookTexts) -> usize {
        (0..200_000).find(|max| !texts.exceed(*max)).expect("a limit")
    }

    fn book(pages: Vec<DocumentText>, reusables: Vec<(&str, DocumentText)>) -> BookTexts {
        let reusables =
            reusables.into_iter().map(|(name, text)| (name.parse().expect("an id"), text)).collect();
        BookTexts { pages, reusables }
    }

    #[test]
    fn reusable_contents_count_at_each_place() {
        let pages = vec![text(10, &[("a", 3), ("missing", 9)]), text(5, &[("a", 1)])];
        let reusables = vec![("a", text(7, &[("b", 2)])), ("b", text(100, &[]))];
        assert_eq!(size(&book(pages, reusables)), 15 + 4 * 7 + 8 * 100);
    }

    #[test]
    fn contents_within_themselves_count_once() {
        let pages = vec![text(1, &[("a", 1)])];
        let reusables = vec![("a", text(10, &[("a", 50), ("b", 2)])), ("b", text(100, &[("a", 50)]))];
        assert_eq!(size(&book(pages, reusables)), 1 + 10 + 2 * 100);
    }

    #[test]
    fn embeds_are_counted_to_the_maximum_depth() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let chain = |places| {
            let next = |at: usize| names.get(at + 1).map(|next| (*next, places));
            let texts = names.iter().enumerate();
            texts.map(|(at, name)| (*name, text(1, next(at).as_slice()))).collect::<Vec<_>>()
        };
        let one = vec![text(0, &[("a", 1)])];
        assert_eq!(size(&book(one, chain(1))), MAX_EMBED_DEPTH);
        let huge = vec![text(0, &[("a", usize::MAX)])];
        assert!(book(huge, chain(usize::MAX)).exceed(16 << 20));
    }
}
