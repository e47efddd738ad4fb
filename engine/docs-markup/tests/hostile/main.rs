//! Runs every parser of untrusted text in this crate on inputs that repeat its constructs, in breadth and in depth. The
//! process must not crash, and memory must be proportional to the input.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-markup --test hostile -- --nocapture` runs each parser on
//! this many inputs, and also enforces a time limit. `DOCS_FUZZ_PARSER=document` selects one parser.

mod uses;

use docs_hostile::{CONSTANT_MEMORY, MARKDOWN, MARKDOWN_FRAMES, MAX_MEMORY_PER_BYTE, Parser, ParserFn};
use docs_markup::{
    diff::{Lines, changes},
    directives::{IncludeBudget, IncludedFile, MAX_EXPANDED_BYTES, resolve},
    document,
    gitsync::{CommitEntry, EntryKind, ImportPlan, RepoConfig, RepoPath, RepoTree, Summary, variables},
    markdown::{links, parse_page},
    slugify,
    syntax::tag,
};
use docs_model::MAX_PAGE_BYTES;

#[test]
fn repeated_constructs_take_linear_memory() {
    docs_hostile::run_among_others(PARSERS);
}

#[test]
fn memory_estimate_is_within_a_factor_of_three() {
    for piece in [
        "Some *words* and a [link](a.md).\n\n",
        "* a\n",
        "| a | b |\n| - | - |\n| c | d |\n\n",
        "```\na\nb\n```\n\n",
    ] {
        let text = piece.repeat(20_000 / piece.len());
        let document = document::parse(&text);
        let (copy, taken) = docs_hostile::own_peak_of(|| document.clone());
        let told = document::memory(&copy);
        assert!(taken / 3 <= told && told <= 3 * taken, "{piece:?}: told {told}, takes {taken}");
    }
}

#[test]
fn small_yaml_objects_and_anchors_take_bounded_memory() {
    for piece in ["- a: b\n", "- a: &a [x,x,x,x]\n", "- - a\n\n", "{a: b},", "&a {a: "] {
        for length in [20_000, 40_000] {
            let text = piece.repeat(length / piece.len());
            let page = format!("---\n{text}---\n");
            let reads: [&dyn Fn(); 3] =
                [&|| read_config(&text), &|| read_variables(&text), &|| read_page(&page)];
            for (at, read) in reads.into_iter().enumerate() {
                let ((), peak) = docs_hostile::own_peak_of(read);
                assert!(
                    peak < CONSTANT_MEMORY + MAX_MEMORY_PER_BYTE * text.len(),
                    "{piece:?} {at}: {peak} bytes for {}",
                    text.len()
                );
            }
        }
    }
}

#[test]
fn an_unclosed_fence_of_short_lines_takes_linear_memory() {
    for piece in ["> a\n", "$$\na\n$$\n\n<i></i>"] {
        let text = format!("```\n{}", piece.repeat(32 * 1024 / piece.len()));
        let (_, peak) = docs_hostile::own_peak_of(|| document::parse(&text));
        assert!(peak < 50 * text.len(), "{piece:?}: {peak} bytes for {}", text.len());
    }
}

#[test]
fn dense_paragraphs_take_linear_memory() {
    for piece in ["|a|a|\n[a](b)* a\n\n", "a [b](c) d\n\n", "a :tv: b\n\n", "# [a](b) c\n\n", "a $$b$$ c\n\n"]
    {
        let text = piece.repeat(128 * 1024 / piece.len());
        let (_, peak) = docs_hostile::own_peak_of(|| document::parse(&text));
        assert!(peak < 50 * text.len(), "{piece:?}: {peak} bytes for {}", text.len());
    }
}

#[test]
fn documents_of_short_lines_or_links_take_linear_memory() {
    for (piece, end) in [("[a]: b\n[:tv:", "</[^1]: a\n\n"), ("🚀![a](b)", "{% endhint %}\n\n")] {
        let mut text = String::new();
        for count in (0..64).cycle() {
            text.push_str(&piece.repeat(count));
            text.push_str(end);
            if text.len() > MAX_PAGE_BYTES - 2_000 {
                break;
            }
        }
        let ((), peak) = docs_hostile::own_peak_of(|| read_document(&text));
        assert!(
            peak < DOCUMENT + MAX_MEMORY_PER_BYTE * text.len(),
            "{piece:?}: {peak} bytes for {}",
            text.len()
        );
    }
    let (before, behind) = ("<table><tbody><tr><td>", "</td></tr></tbody></table>");
    let text = format!("{before}{}{behind}", "some words of a cell\n\nand some more\n\n".repeat(27_000));
    let ((), peak) = docs_hostile::own_peak_of(|| read_document(&text));
    assert!(peak < DOCUMENT + MAX_MEMORY_PER_BYTE * text.len(), "{peak} bytes for {}", text.len());
}

/// Memory in bytes that any document may take. A short text has the limit of a longer one, so that a page of tables and
/// lists is parsed as a tree.
const DOCUMENT: usize = 8 << 20;

/// Memory in bytes that any table of contents may take: it has at most 20,000 items, and each takes about 380 bytes in
/// a plan.
const CONTENTS_TREE: usize = 8 << 20;

/// Memory in bytes that any configuration of a book may take: each key and value of TOML takes some hundred bytes.
const BOOK_TREE: usize = 16 << 20;

/// Memory in bytes that the results of any directives may take: they are stored, and copied into the text.
const DIRECTIVE_RESULTS: usize = 8 << 20;

/// Memory in bytes that any front matter may take: checking whether a scalar is a number copies it many times, even at
/// the maximum length.
const SCALAR: usize = 2 << 20;

const PARSERS: &[Parser] = &[
    Parser {
        name: "document",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: MAX_PAGE_BYTES,
        own: DOCUMENT,
        read: ParserFn::Text(read_document),
    },
    Parser {
        name: "links",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: MAX_PAGE_BYTES,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_links),
    },
    Parser {
        name: "page",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: MAX_PAGE_BYTES,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_page),
    },
    Parser {
        name: "front matter",
        pieces: YAML,
        frames: FRONT,
        most: 256 << 10,
        own: SCALAR,
        read: ParserFn::Text(read_page),
    },
    Parser {
        name: "configuration",
        pieces: YAML,
        frames: &[("", ""), ("redirects:\n", "")],
        most: 1 << 20,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_config),
    },
    Parser {
        name: "books",
        pieces: BOOKS,
        frames: &[
            ("", ""),
            ("[output.html.redirect]\n", ""),
            ("{\"variables\":", "}"),
            ("[book]\ntitle = ", ""),
        ],
        most: 256 << 10,
        own: BOOK_TREE,
        read: ParserFn::Text(read_books),
    },
    Parser {
        name: "directives",
        pieces: DIRECTIVES,
        frames: &[("", ""), ("```rust\n", "\n```"), ("> ", "\n")],
        most: MAX_PAGE_BYTES,
        own: DIRECTIVE_RESULTS,
        read: ParserFn::Text(read_directives),
    },
    Parser {
        name: "variables",
        pieces: YAML,
        frames: &[("", ""), ("a: ", "")],
        most: 1 << 20,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_variables),
    },
    Parser {
        name: "table of contents",
        pieces: CONTENTS,
        frames: &[("", ""), ("# Title\n\n", ""), ("* ", "\n")],
        most: 4 << 20,
        own: CONTENTS_TREE,
        read: ParserFn::Text(read_summary),
    },
    Parser {
        name: "tags",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: 10 << 20,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_tags),
    },
    Parser {
        name: "slugs",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: 10 << 20,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_slug),
    },
    Parser {
        name: "differences",
        pieces: MARKDOWN,
        frames: MARKDOWN_FRAMES,
        most: MAX_PAGE_BYTES,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_diff),
    },
];

fn read_document(text: &str) {
    drop(document::parse(text));
}

fn read_links(text: &str) {
    drop(links(text));
}

fn read_page(text: &str) {
    let page = parse_page(text);
    // The body gains at most a line break.
    assert!(page.body.len() <= text.len() + 1);
}

fn read_config(text: &str) {
    drop(RepoConfig::read(Some(text), &RepoPath::default()));
}

fn read_books(text: &str) {
    drop(RepoConfig::from_mdbook(text, &RepoPath::default()));
    drop(RepoConfig::from_honkit(text, &RepoPath::default()));
}

/// Resolves the directives of a page that includes itself and a short file.
fn read_directives(text: &str) {
    let page = RepoPath::default();
    let file = |path: &str| {
        RepoPath::new(path).map(|path| (path, IncludedFile::Text("{{#include a.md}}\nb\n".to_owned())))
    };
    let files = ["a.md", "b.md"].into_iter().filter_map(|path| file(path).ok()).collect();
    for config in [RepoConfig::from_mdbook("", &page), RepoConfig::from_honkit("", &page)] {
        if let Some(found) = resolve(text, &page, &config, &files, &mut IncludeBudget::default()) {
            assert!(found.expansions.expand(text).len() <= MAX_EXPANDED_BYTES);
        }
    }
}

fn read_variables(text: &str) {
    drop(variables(text, &RepoPath::default()));
}

fn read_summary(text: &str) {
    let entries = ["README.md", "a.md", "a/README.md", "b/c.md"];
    let files = entries.map(|path| CommitEntry { path: path.to_owned(), size: 1, kind: EntryKind::File });
    let link = |path: &str, to: &str| CommitEntry {
        path: path.to_owned(),
        size: 1,
        kind: EntryKind::Symlink(to.to_owned()),
    };
    let tree = RepoTree::new(files.into_iter().chain([link("l", "a"), link("m", "l/m")]));
    if let Ok(config) = RepoConfig::read(None, &RepoPath::default()) {
        drop(Summary::read(text, &config, &tree));
        drop(ImportPlan::new(&config, &tree, Some(text)));
    }
}

fn read_tags(text: &str) {
    assert!(tag::tags(text, &[]).count() <= text.len());
}

fn read_slug(text: &str) {
    drop(slugify(text));
}

/// Compares the first half of `text` with the second.
fn read_diff(text: &str) {
    let (a, b) = text.split_at(text.floor_char_boundary(text.len() / 2));
    let mut lines = Lines::default();
    let [a, b] = [a, b].map(|text| lines.number(text));
    drop(changes(&a, &b));
}

const BOOKS: &[&str] = &[
    "a",
    "=",
    ".",
    "\"",
    "'",
    "\n",
    "[",
    "]",
    "{",
    "}",
    ",",
    "1",
    "a = 1\n",
    "a.b = 1\n",
    "[[a]]\n",
    "[a]\n",
    "\"a\":",
    "\"a\": 1,",
    "\"x.html\" = \"y.html\"\n",
    "#",
    "\\u0041",
    "\"\"\"",
    "true",
    "{\"a\":",
];

const DIRECTIVES: &[&str] = &[
    "{{",
    "}}",
    "#include ",
    "{{#include a.md}}",
    "{{#include b.md:1:2}}",
    "{{#playground a.md}}",
    "{{#title a}}",
    "{{#x}}",
    "\\{{#",
    "```",
    "```rust\n",
    "```admonish tip \"a\"\n",
    "~~~",
    "# ",
    "\n",
    "> ",
    "- ",
    "{%",
    "%}",
    "{% raw %}",
    "{% endraw %}",
    "{% include \"a.md\" %}",
    "{{ book.title }}",
    "a",
    " ",
];

const YAML: &[&str] = &[
    "a",
    " ",
    "\n",
    ": ",
    "a: b\n",
    "- ",
    "- a\n",
    "  ",
    "[",
    "]",
    "{",
    "}",
    "[a,",
    "{a: ",
    ",",
    "\"",
    "'",
    "|\n",
    ">\n",
    "&a ",
    "*a",
    "*a,",
    "&a [*a]",
    "a: &a [x,x,x,x]\n",
    "b: [*a,*a,*a,*a]\n",
    "<<: *a\n",
    "!!str ",
    "!a ",
    "# ",
    "? ",
    "---\n",
    "...\n",
    "%YAML",
    "\\",
    "\\0",
    "\t",
    "~",
    "1",
    ".inf",
    "0x1",
    "é",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "\r",
];

const FRONT: &[(&str, &str)] = &[
    ("---\n", "\n---\n"),
    ("---\na: ", "\n---\n# a\n"),
    ("---\nvars:\n  ", "\n---\n"),
    ("---\ncover: ", "\n---\n"),
];

const CONTENTS: &[&str] = &[
    "* ",
    "  * ",
    "    - ",
    "1. ",
    "* [a](a.md)\n",
    "  * [a](b/c.md)\n",
    "* [a](l/a/",
    "l/",
    "m/",
    "../",
    "a/",
    "%2e",
    "## ",
    "## a\n",
    "# ",
    "a",
    "\n",
    "\n\n",
    "[",
    "](",
    ")",
    "\"",
    "*",
    "_",
    "`",
    "<a id=\"b\">",
    "<!-- ",
    "-->",
    "```yaml\n",
    "* ```yaml\n  type: a\n  ",
    "* ```yaml\n  type: &a aaaaaaaaaaaaaaaa\n  b: [",
    "*a,",
    "]\n",
    "  ```\n",
    "```\n",
    "---\n",
    "===\n",
    "***\n",
    "\t",
    "&amp;",
    "\\",
    "![",
    "<",
    ">",
    "> ",
    "http://a.b",
    "#",
    "é",
    "🚀",
    "\0",
    "\r\n",
];
