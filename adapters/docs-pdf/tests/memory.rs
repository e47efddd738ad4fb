//! Memory that a book takes while it is typeset.

use std::{collections::BTreeMap, sync::Arc};

use docs_markup::document::parse;
use docs_model::{Block, BlockKind, ContentRef, Document};
use docs_pdf::{Fonts, Limits, Typesetter};
use docs_ports::{Book, BookPage};
use peak_alloc::PeakAlloc;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

/// Memory in bytes that every book takes, for fonts among others.
const BOOK: usize = 4 << 20;
/// Maximum memory per byte of text, and per part. Both stay below 220 MiB for the most text and parts of a book.
const PER_BYTE: usize = 6;
const PER_PART: usize = 450;

/// Returns a page that embeds the same blocks a number of times.
fn embedding(times: usize, markdown: &str) -> Book {
    let id = || "r1".parse().expect("an id");
    let target = ContentRef::ReusableContent { reusable_content: id(), space: None };
    let embed = Block::new(BlockKind::ReusableContent { target }, Vec::new());
    let page = BookPage {
        id: "p1".parse().expect("an id"),
        title: "A page".to_owned(),
        description: None,
        depth: 0,
        document: Some(Arc::new(Document::new(vec![embed; times]))),
    };
    let reusables = BTreeMap::from([(id(), Arc::new(parse(markdown)))]);
    Book { title: "Embeds".to_owned(), pages: vec![page], reusables, ..Book::default() }
}

/// Typesets a book. Returns the peak of its memory in bytes, or `None` if it exceeds a limit.
fn peak(book: &Book, limits: Limits) -> Option<usize> {
    let typesetter = Typesetter::new(Fonts::default(), limits);
    PEAK.reset_peak_usage();
    let before = PEAK.current_usage();
    // The layout is recursive, and test threads have a smaller stack than the adapter's thread.
    let size = std::thread::scope(|scope| {
        let work = || typesetter.set(book).map(|file| file.len());
        std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread").join()
    });
    size.expect("no panic").ok().map(|_| PEAK.peak_usage() - before)
}

/// One test, because the peak of the memory is that of the process.
#[test]
fn memory_of_a_book_follows_its_text_and_its_parts() {
    let words = "words of a text that are somewhat different from each other ";
    let paragraphs = format!("{}\n\n", words.repeat(1_000)).repeat(10);
    let taken = peak(&embedding(4, &paragraphs), Limits::default()).expect("a file");
    let most = BOOK + PER_BYTE * 4 * paragraphs.len();
    assert!(taken < most, "text: {taken} bytes instead of {most}");

    let cards = "{% content-ref url=\"https://e.e\" %}\n[a](https://e.e)\n{% endcontent-ref %}\n\n";
    for (name, block, parts) in [
        ("paragraphs", "a\n\n", 3),
        ("items", "* a\n", 4),
        ("tasks", "* [ ] a\n", 4),
        ("headings", "## a\n\n", 6),
        ("cards", cards, 6),
        ("hints", "{% hint style=\"info\" %}\na\n{% endhint %}\n\n", 4),
        ("formulas", "$$a$$ b ", 4),
    ] {
        let (times, count) = (5, 1_000);
        let book = embedding(times, &block.repeat(count));
        let parts = times * count * parts + 100;
        let taken = peak(&book, Limits { parts, ..Limits::default() });
        let taken = taken.unwrap_or_else(|| panic!("{name}: more than {parts} parts"));
        let most = BOOK + PER_PART * parts;
        println!("{name}: {taken} bytes for {parts} parts");
        assert!(taken < most, "{name}: {taken} bytes instead of {most}");
    }
}
