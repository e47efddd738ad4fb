//! Lowering of page documents to the layout tree.

mod block;
mod image_size;
mod inline;
mod links;
mod table;

use std::{
    cell::OnceCell,
    collections::{BTreeMap, HashMap, HashSet},
};

use docs_markup::document::Anchors;
use docs_model::{ContentRef, PageId, ReusableId};
use docs_ports::Book;

use crate::{
    Limits,
    layout_tree::{ShownPage, ShownPart},
    pictures::Picture,
    termination::{LayoutResult, LayoutStop},
    text::{clean, one_line},
};

/// Maximum nesting of blocks. Deeper blocks are flattened.
const MAX_BLOCK_NESTING: usize = 7;
/// Maximum number of levels in the table of contents.
const MAX_CONTENTS_LEVELS: usize = 12;
/// Approximate number of characters in a line of text.
const LINE_CHARS: usize = 88;

/// State of lowering a book. Pages are lowered one at a time.
pub(crate) struct BookLowering<'a> {
    book: &'a Book,
    pictures: &'a BTreeMap<ContentRef, Picture>,
    pages: HashMap<&'a PageId, usize>,
    /// Labels in use.
    labels: HashSet<String>,
    /// The anchors of the pages that links with anchors refer to.
    anchors: Vec<OnceCell<Anchors>>,
    /// The index of the current page.
    page: usize,
    /// Remaining number of parts.
    left: usize,
    /// Remaining number of text bytes.
    text_left: usize,
    /// Reusable content being lowered, to detect cycles.
    reusables: Vec<&'a ReusableId>,
}

impl<'a> BookLowering<'a> {
    pub(crate) fn new(book: &'a Book, pictures: &'a BTreeMap<ContentRef, Picture>, limits: &Limits) -> Self {
        Self {
            book,
            pictures,
            pages: book.pages.iter().enumerate().map(|(at, page)| (&page.id, at)).collect(),
            labels: HashSet::new(),
            anchors: book.pages.iter().map(|_| OnceCell::new()).collect(),
            page: 0,
            left: limits.parts,
            text_left: limits.text,
            reusables: Vec::new(),
        }
    }

    /// Lowers a page of the book. Returns `None` after the last page.
    ///
    /// # Errors
    /// [`LayoutStop::TooManyParts`], [`LayoutStop::TooMuchText`]
    pub(crate) fn page(&mut self, at: usize) -> LayoutResult<Option<ShownPage>> {
        let book = self.book;
        let Some(page) = book.pages.get(at) else { return Ok(None) };
        self.page = at;
        let label = page_label(at);
        self.labels.insert(label.clone());
        let after_group =
            at.checked_sub(1).and_then(|at| book.pages.get(at)).is_some_and(|p| p.document.is_none());
        let body = match &page.document {
            Some(document) => self.blocks(&document.nodes, LowerContext::page(level(page.depth)))?,
            None => Vec::new(),
        };
        Ok(Some(ShownPage {
            label,
            level: level(page.depth),
            title: self.one_line(&page.title)?,
            description: self.optional_line(page.description.as_deref())?,
            fresh: at > 0 && !after_group,
            body,
        }))
    }

    /// Deducts parts from the limit of the book.
    fn count(&mut self, parts: usize) -> LayoutResult {
        self.left = self.left.checked_sub(parts).ok_or(LayoutStop::TooManyParts)?;
        Ok(())
    }

    /// Deducts bytes of text from the limit of the book. Text counts each time that it is shown, because its layout
    /// takes about 5 times its size.
    fn count_text(&mut self, bytes: usize) -> LayoutResult {
        self.text_left = self.text_left.checked_sub(bytes).ok_or(LayoutStop::TooMuchText)?;
        Ok(())
    }

    /// Prepares text with [`clean`], and deducts it from the limit.
    fn clean(&mut self, text: &str) -> LayoutResult<String> {
        self.count_text(text.len())?;
        Ok(clean(text))
    }

    /// Prepares text with [`one_line`], and deducts it from the limit.
    fn one_line(&mut self, text: &str) -> LayoutResult<String> {
        self.count_text(text.len())?;
        Ok(one_line(text))
    }

    fn optional_line(&mut self, text: Option<&str>) -> LayoutResult<Option<String>> {
        text.map(|text| self.one_line(text)).transpose()
    }
}

/// Returns the language of a book, or English if the book has no valid language.
pub(crate) fn language(book: &Book) -> String {
    book.language.as_deref().filter(|lang| is_language(lang)).unwrap_or("en").to_ascii_lowercase()
}

fn is_language(text: &str) -> bool {
    matches!(text.len(), 2 | 3) && text.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Returns the heading level of a page.
fn level(depth: usize) -> usize {
    depth.min(MAX_CONTENTS_LEVELS - 1) + 1
}

/// Returns the label of the page with this index.
fn page_label(at: usize) -> String {
    format!("p{at}")
}

/// Context of a block or inline element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowerContext {
    /// Line width in characters.
    width: usize,
    /// Number of enclosing blocks.
    nesting: usize,
    /// Heading level of the page.
    level: usize,
    /// `true` if footnotes are permitted. A footnote cannot contain footnotes.
    notes: bool,
}

impl LowerContext {
    const fn page(level: usize) -> Self {
        Self { width: LINE_CHARS, nesting: 0, level, notes: true }
    }

    /// Returns the context within a block that reduces the line width by `taken` characters.
    fn inner(self, taken: usize) -> Self {
        Self { width: self.width.saturating_sub(taken).max(4), nesting: self.nesting + 1, ..self }
    }

    /// Returns the context within a column that has a fraction of the line width.
    fn part(self, share: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "the number of characters is below 100"
        )]
        let width = (self.width as f64 * share.clamp(0.0, 1.0)) as usize;
        Self { width: width.saturating_sub(2).max(2), nesting: self.nesting + 1, ..self }
    }

    const fn is_deep(self) -> bool {
        self.nesting >= MAX_BLOCK_NESTING
    }
}

/// Creates a text part.
fn text(text: impl Into<String>) -> ShownPart {
    ShownPart::Text(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_below_the_last_level_are_on_it() {
        assert_eq!(
            [MAX_CONTENTS_LEVELS - 2, MAX_CONTENTS_LEVELS - 1, MAX_CONTENTS_LEVELS].map(level),
            [MAX_CONTENTS_LEVELS - 1, MAX_CONTENTS_LEVELS, MAX_CONTENTS_LEVELS]
        );
    }
}
