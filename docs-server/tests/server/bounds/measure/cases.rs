//! The measured inputs, each at the limit of its row.

mod connections;
mod content;
mod formats;
mod prepared;
mod requests;
mod sites;

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::hostile::archive;

pub(super) use prepared::Prepared;
use prepared::{Doing, Step};

/// Size of generated Markdown in bytes, slightly below the page limit to leave room for the end of the text.
const PAGE: usize = 999_000;

/// An input, and how it is sent.
pub(super) enum Case {
    /// An imported document: its source, media type and bytes.
    Import(&'static str, &'static str, fn() -> Vec<u8>),
    /// The Markdown of a page that is written and then read in every format.
    Page(fn() -> String),
    /// The Markdown of a page that is rendered to PDF.
    Pdf(fn() -> String),
    /// A list of content edits.
    Edit(fn() -> Vec<Value>),
    /// A request body.
    Body(fn() -> String),
    /// A file to upload.
    Upload(fn() -> Vec<u8>),
    Specification(fn() -> String),
    /// A search query over a page with many words.
    Search(fn() -> String),
    /// Requests to the prepared server.
    Step(Step),
    /// Requests that are not measured, followed by measured ones.
    Steps(Step, Step),
}

/// Returns the inputs, each with the name of its measurement.
pub(super) fn cases() -> impl Iterator<Item = &'static (&'static str, Case)> {
    let parts =
        [DOCUMENTS, connections::CASES, requests::CASES, content::CASES, formats::CASES, sites::CASES];
    parts.into_iter().flatten()
}

const DOCUMENTS: &[(&str, Case)] = &[
    ("a body of JSON", Case::Edit(|| (0..9).map(|at| insert(at, &text(PAGE))).collect())),
    ("JSON in JSON", Case::Body(|| "[".repeat(10 << 20))),
    ("an uploaded file", Case::Upload(|| vec![7; 99_000_000])),
    ("an edit of many pages", Case::Edit(|| (0..50).map(|at| insert(at, &text(180_000))).collect())),
    ("a page of paragraphs", Case::Page(|| text(PAGE))),
    ("lists in lists", Case::Page(|| staircase("* a\n", 900))),
    ("quotations in quotations", Case::Page(quotations)),
    ("a page of short blocks", Case::Page(|| "a\n\n".repeat(20_000))),
    ("a table", Case::Page(|| table(200, 1_000))),
    ("footnotes", Case::Page(footnotes)),
    ("links", Case::Page(|| "[a](https://e.example/)\n".repeat(20_000))),
    ("headings", Case::Page(|| "## Heading\n\n".repeat(20_000))),
    ("code", Case::Page(|| format!("```rust\n{}```\n", "let a = \"b\"; // c\n".repeat(14_000)))),
    ("a formula", Case::Page(|| format!("$$\n{}\n$$\n", "x^{y}".repeat(799)))),
    ("a formula with macros", Case::Page(|| formula_with_macros().repeat(60))),
    ("formulas", Case::Page(|| "$$\nx^{y}+\\frac{a}{b}\n$$\n\n".repeat(11_000))),
    ("expressions on a page", Case::Page(|| expression().repeat(2_000))),
    ("a page as PDF", Case::Pdf(|| text(PAGE))),
    ("a table as PDF", Case::Pdf(|| table(20, 5_000))),
    (
        "a search",
        Case::Search(|| (0..64).map(|at| format!("w{at:06} ")).collect::<String>()[..511].to_owned()),
    ),
    (
        "a document of HTML",
        Case::Import("html", "text/html", || {
            format!("<p>{}</p>", "Some words. ".repeat(660_000)).into_bytes()
        }),
    ),
    ("elements of HTML", Case::Import("html", "text/html", || "<p>a</p>".repeat(120_000).into_bytes())),
    (
        "elements of HTML in each other",
        Case::Import("html", "text/html", || "<div>".repeat(490_000).into_bytes()),
    ),
    (
        "attributes of HTML",
        Case::Import("html", "text/html", || {
            format!("<p {}>a</p>", " a=\"v\"".repeat(1_200_000)).into_bytes()
        }),
    ),
    ("elements of a Word document", Case::Import("docx", WORD, || word(240_000, 1))),
    ("text of a Word document", Case::Import("docx", WORD, || word(15_000, 60))),
    ("entries of an archive", Case::Import("zip", ZIP, || files(10_000, "txt", "a"))),
    ("files of an archive", Case::Import("zip", ZIP, || files(190, "bin", &text(1_000_000)))),
    ("pages of an archive", Case::Import("zip", ZIP, || files(1_000, "md", "# Page\n\nText.\n"))),
    ("texts of an archive", Case::Import("zip", ZIP, || files(49, "md", &text(PAGE)))),
    ("entries of SUMMARY.md", Case::Import("zip", ZIP, || summary("* a\n".repeat(19_900)))),
    ("levels of SUMMARY.md", Case::Import("zip", ZIP, || summary(staircase("* a\n", 300)))),
    ("a specification", Case::Specification(|| specification(15_000, &text(500)))),
    (
        "values of a specification",
        Case::Specification(|| {
            format!("{}{}{}", &OPEN[..OPEN.len() - 1], ",\"x-a\":[", "0,".repeat(999_000) + "0]}")
        }),
    ),
    ("paths of a specification", Case::Specification(|| specification(19_900, "Text."))),
    ("tags of a specification", Case::Specification(tags)),
];

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const ZIP: &str = "application/zip";
const OPEN: &str = r#"{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{}}"#;

/// Returns words with a total length of `bytes`.
fn text(bytes: usize) -> String {
    "Some words of a text. ".repeat(bytes / 22) + "\n"
}

fn insert(number: usize, markdown: &str) -> Value {
    json!({ "operation": "insert_page", "title": format!("Page {number}"), "document": { "markdown": markdown } })
}

/// Returns text with one line at each nesting level.
fn staircase(line: &str, levels: usize) -> String {
    (0..levels).fold(String::new(), |text, level| text + &"  ".repeat(level) + line)
}

fn quotations() -> String {
    let mut text = String::new();
    for depth in (1..=40).cycle() {
        if text.len() >= PAGE {
            break;
        }
        let _ = writeln!(text, "{}a", "> ".repeat(depth));
    }
    text
}

fn table(columns: usize, rows: usize) -> String {
    let row = |cell: &str| format!("|{}\n", format!("{cell}|").repeat(columns));
    row("a") + &row("-") + &row("b").repeat(rows)
}

fn footnotes() -> String {
    let references: String = (0..1_000).map(|note| format!("Text[^{note}]\n")).collect();
    references + "\n" + &(0..1_000).map(|note| format!("[^{note}]: Note.\n")).collect::<String>()
}

fn formula_with_macros() -> String {
    let doubled: String = (b'b'..=b'm')
        .map(|at| format!("\\def\\{}{{\\{1}\\{1}}}", char::from(at), char::from(at - 1)))
        .collect();
    format!("$$\n\\def\\a{{xx}}{doubled}\\m\n$$\n\n")
}

/// Returns an expression that takes many evaluation steps.
fn expression() -> String {
    "<code class=\"expression\">\"a\".repeat(90000).includes(\"b\")</code>\n\n".to_owned()
}

/// Returns a Word document whose paragraphs contain distinct words, so that it compresses like ordinary text.
fn word(paragraphs: usize, words: usize) -> Vec<u8> {
    let namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let mut chance: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut paragraph = || {
        let mut text = String::new();
        for _ in 0..words {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            let _ = write!(text, "{chance:016x} ");
        }
        format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
    };
    let body: String = (0..paragraphs).map(|_| paragraph()).collect();
    let document = format!("<w:document xmlns:w=\"{namespace}\"><w:body>{body}</w:body></w:document>");
    archive([("word/document.xml".to_owned(), document.into_bytes())])
}

/// Returns an archive with one page and many files.
fn files(count: usize, extension: &str, text: &str) -> Vec<u8> {
    let page = ("README.md".to_owned(), b"# Start\n".to_vec());
    let file = |at: usize| (format!("f{at}.{extension}"), text.as_bytes().to_vec());
    archive(std::iter::once(page).chain((1..count).map(file)))
}

fn summary(text: String) -> Vec<u8> {
    archive([("SUMMARY.md".to_owned(), text.into_bytes())])
}

fn specification(paths: usize, description: &str) -> String {
    let path = |at: usize| {
        format!("\"/p{at}\":{{\"get\":{{\"description\":\"{}\",\"responses\":{{}}}}}}", description.trim())
    };
    let paths: Vec<String> = (0..paths).map(path).collect();
    OPEN.replace("\"paths\":{}", &format!("\"paths\":{{{}}}", paths.join(",")))
}

fn tags() -> String {
    let tags: Vec<String> = (0..2_000).map(|at| format!("{{\"name\":\"tag {at}\"}}")).collect();
    OPEN.replace("\"paths\":{}", &format!("\"tags\":[{}],\"paths\":{{}}", tags.join(",")))
}
