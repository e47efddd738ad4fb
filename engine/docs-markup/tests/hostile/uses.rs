//! Processing of parsed text: rewriting of links, references and segments, and documents as JSON.

use docs_hostile::{CONSTANT_MEMORY, MARKDOWN, MARKDOWN_FRAMES, Parser, ParserFn};
use docs_markup::{
    document,
    gitsync::{RepoPath, references},
    markdown::{Resolution, rewrite_links},
    translate::translated_markdown,
};
use docs_model::{Document, MAX_PAGE_BYTES};

use crate::DOCUMENT;

#[test]
fn processing_repeated_constructs_takes_linear_memory() {
    docs_hostile::run_among_others(PARSERS);
}

#[test]
fn translation_holds_one_tree_while_parsing_the_printed_text() {
    let text = "</div>\n\n[a](b)<img src=\"a\">[c d](b)<img src=\"a\">\n\n".repeat(1_000);
    let (read, reading) = docs_hostile::own_peak_of(|| document::parse(&text));
    let (copy, tree) = docs_hostile::own_peak_of(|| read.clone());
    drop((read, copy));
    let ((), peak) = docs_hostile::own_peak_of(|| translate(&text));
    // The printed text is parsed while the tree that it was printed from is still in memory.
    assert!(peak <= reading + tree + tree / 2, "{peak} bytes, {reading} to read it, {tree} for the tree");
}

#[test]
fn printing_takes_at_most_15_bytes_of_memory_per_byte() {
    let text = "a - b! ".repeat(5_000);
    let read = document::parse(text.trim_end());
    let (written, peak) = docs_hostile::own_peak_of(|| document::print(&read));
    assert_eq!(written.as_deref(), Ok(format!("{}\n", text.trim_end()).as_str()));
    assert!(peak <= 15 * text.len(), "{peak} bytes for {}", text.len());
}

const PARSERS: &[Parser] = &[
    Parser {
        name: "rewritten links",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: MAX_PAGE_BYTES,
        own: LINKS,
        read: ParserFn::Text(rewrite),
    },
    Parser {
        name: "references",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: MAX_PAGE_BYTES,
        own: LINKS,
        read: ParserFn::Text(refer),
    },
    Parser {
        name: "translation",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: MAX_PAGE_BYTES,
        own: 2 * DOCUMENT,
        read: ParserFn::Text(translate),
    },
    Parser {
        name: "document as JSON",
        pieces: JSON,
        frames: IN_JSON,
        most: 2 * MAX_PAGE_BYTES,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_json),
    },
];

/// Memory in bytes that the processing of links may take, regardless of the text: there are at most 20,000 links.
const LINKS: usize = 4 << 20;

fn rewrite(text: &str) {
    let new = rewrite_links(text, |_| Resolution::To("x y(".to_owned()));
    drop(rewrite_links(&new, |_| Resolution::Plain));
}

fn refer(text: &str) {
    drop(references(text, &RepoPath::default(), &RepoPath::default()));
}

fn translate(text: &str) {
    drop(translated_markdown(text, |segment| Some(segment.to_owned())));
}

fn read_json(text: &str) {
    if let Ok(read) = serde_json::from_str::<Document>(text) {
        drop(document::print(&read));
    }
}

const JSON: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    ",",
    "0,",
    "\"a\":",
    "\"a\",",
    "\"nodes\":[",
    "{\"object\":\"block\",\"type\":\"paragraph\",\"nodes\":[]},",
    "{\"object\":\"block\",\"type\":\"divider\"},",
    "{\"object\":\"block\",\"type\":\"blockquote\",\"nodes\":[",
    "{\"object\":\"text\",\"leaves\":[]},",
    "{\"object\":\"text\",\"leaves\":[{\"object\":\"leaf\",\"text\":\"a\",\"marks\":[]}]},",
    "{\"object\":\"leaf\",\"text\":\"a\",\"marks\":[]},",
    "{\"object\":\"mark\",\"type\":\"bold\"},",
    "{\"object\":\"inline\",\"type\":\"annotation\",\"nodes\":[]},",
    "{\"object\":\"block\",\"type\":\"image\",\"data\":{\"ref\":{\"kind\":\"url\",\"url\":\"a\"}}},",
    "{\"object\":\"block\",\"type\":\"hint\",\"data\":{\"style\":\"info\"},\"nodes\":[",
    "\\u0000",
    "\"",
    " ",
    "é",
];

const IN_JSON: &[(&str, &str)] = &[
    ("", ""),
    ("{\"object\":\"document\",\"nodes\":[", "{\"object\":\"block\",\"type\":\"paragraph\",\"nodes\":[]}]}"),
    (
        "{\"object\":\"document\",\"nodes\":[{\"object\":\"block\",\"type\":\"paragraph\",\"nodes\":[",
        "{\"object\":\"text\",\"leaves\":[]}]}]}",
    ),
];
