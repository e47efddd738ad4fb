//! Tests that typeset books and read the files back.

mod everything;
mod hostile;
mod large;
mod limits;
mod read;

use std::sync::Arc;

use docs_model::{Block, BlockKind, Document, HeadingData, Leaf, Node, PageId, TextNode};
use docs_pdf::Typesetter;
use docs_ports::{Book, BookPage};

use crate::read::Read;

/// Typesets a book and reads the file back. If `DOCS_PDF_OUT` is set, the file is also written to that folder for
/// inspection.
fn set(name: &str, book: &Book) -> Read {
    // The layout is recursive, and test threads have a smaller stack than the adapter's thread.
    let set = std::thread::scope(|scope| {
        let work = || Typesetter::default().set(book).unwrap_or_else(|e| panic!("{name}: {e}"));
        std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread").join()
    });
    let bytes = set.expect("the typesetter does not panic");
    if let Some(folder) = std::env::var_os("DOCS_PDF_OUT") {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.pdf")), &bytes).expect("a file");
    }
    Read::new(&bytes)
}

fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("an id")
}

fn page(name: &str, title: &str, blocks: Vec<Block>) -> BookPage {
    BookPage {
        id: id::<PageId>(name),
        title: title.to_owned(),
        description: None,
        depth: 0,
        document: Some(Arc::new(Document::new(blocks))),
    }
}

fn book(title: &str, pages: Vec<BookPage>) -> Book {
    Book { title: title.to_owned(), pages, ..Book::default() }
}

fn text(text: &str) -> Node {
    Node::Text(TextNode::new(vec![Leaf::new(text, Vec::new())]))
}

fn paragraph(said: &str) -> Block {
    Block::new(BlockKind::Paragraph { align: None }, vec![text(said)])
}

fn heading(said: &str) -> Block {
    Block::new(BlockKind::Heading1(HeadingData::default()), vec![text(said)])
}

/// Returns the drawing operations of all sheets.
fn operations(read: &Read) -> Vec<Vec<u8>> {
    read.pdf.get_pages().values().map(|page| read.pdf.get_page_content(*page)).collect()
}

#[test]
fn variants_of_emoji_are_drawn_without_a_box() {
    for emoji in ["⚠", "❤", "⚙", "✔", "ℹ", "▶", "☎", "❤\u{200d}🔥"] {
        let with: String = emoji.chars().flat_map(|c| [c, '\u{fe0f}', '\u{1f3fd}']).collect();
        let [with, without] = [with.as_str(), emoji].map(|emoji| {
            let blocks = vec![heading(emoji), paragraph(&format!("a {emoji} b"))];
            operations(&set("emoji", &book(emoji, vec![page("one", emoji, blocks)])))
        });
        assert!(with == without, "{emoji}");
    }
}

#[test]
fn references_to_urls_show_their_labels() {
    let text = "[Beam](https://a.test/b \"mention\")\n\n\
                {% content-ref url=\"https://a.test/d\" %}\n[Card](https://a.test/d)\n{% endcontent-ref %}\n";
    let blocks = docs_markup::document::parse(text).nodes;
    let shown = set("labels", &book("Labels", vec![page("one", "A page", blocks)])).sheets.concat();
    assert!(shown.contains("Beam") && shown.contains("Card") && !shown.contains("a.test"), "{shown}");
}

#[test]
fn mentions_of_anchors_name_the_page_and_the_anchor() {
    let blocks = docs_markup::document::parse("[x](/pages/one#a-part \"mention\")\n\n## A part\n").nodes;
    let shown = set("anchors", &book("Anchors", vec![page("one", "This page", blocks)])).sheets.concat();
    assert!(shown.contains("Thispage#a-part"), "{shown}");
}

#[test]
fn text_of_an_emoji_sequence_is_complete() {
    let family = "👩\u{200d}👩\u{200d}👧";
    let read = set("family", &book("Family", vec![page("one", "A page", vec![paragraph(family)])]));
    assert!(read.sheets.concat().contains(family), "{:?}", read.sheets);
}
