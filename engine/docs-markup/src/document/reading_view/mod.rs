//! The reading view of a document: the tree that is displayed on sites and in PDF files, and indexed for search.
//!
//! [`parse`](super::parse) is lossless: it preserves Markdown that would not round-trip as verbatim text, and
//! unsupported HTML as plain text. Readers must not see either. The reading view replaces both with blocks from
//! tolerant parsers: `pulldown-cmark` for CommonMark and GitHub Flavored Markdown, and a single allow-list of elements
//! for HTML. It is never printed as Markdown.
//!
//! - Elements of the allow-list become blocks, inline elements and marks. Unknown elements keep their content. Scripts,
//!   styles and comments are dropped with their content. Unsupported attributes, such as event handlers, are dropped.
//! - Link and footnote definitions are invisible. They apply to the whole document, regardless of their position.
//! - All other blocks are unchanged and keep their keys.
//! - The time is linear in the length of the text. Text beyond the memory budget is shown without its markup.

mod addresses;
mod assemble;
mod code_ranges;
mod dialects;
mod elements;
mod empty_lines;
mod finish;
mod frames;
mod labels;
mod markdown;
mod needs;
mod options;
mod placeholders;
mod rows;
mod state;
mod tags;
mod walk;

use std::borrow::Cow;

use docs_model::Document;

pub(crate) use self::code_ranges::{code_ranges, is_within};
use self::state::View;
use super::keys;

/// Returns the document as readers see it, or the document itself if it contains no markup that was preserved as text.
///
/// ```
/// use docs_markup::document::{parse, plain_text, reading_view};
/// let document = parse("<!-- note -->\n\nAn <u>open</u> [door].\n\n[door]: https://example.com\n");
/// assert_eq!(plain_text(&reading_view(&document)), "An open door.");
/// ```
#[must_use]
pub fn reading_view(document: &Document) -> Cow<'_, Document> {
    if !needs::document(document) {
        return Cow::Borrowed(document);
    }
    let mut view = View::new(document);
    let nodes = view.level(&document.nodes, 0);
    let mut shown = Document { nodes, data: document.data.clone(), ..Document::new(Vec::new()) };
    finish::notes(&mut shown, &mut view);
    keys::assign_missing(&mut shown);
    Cow::Owned(shown)
}

/// Like [`reading_view`], but takes ownership, so that an unchanged document is not copied.
#[must_use]
pub fn into_reading_view(document: Document) -> Document {
    match reading_view(&document) {
        Cow::Owned(view) => view,
        Cow::Borrowed(_) => document,
    }
}
