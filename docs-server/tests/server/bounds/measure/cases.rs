//! The measured inputs, each at a bound of its row.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    client::{Client, id},
    hostile::{archive, serve},
    process::until,
};

/// Bytes of Markdown just below the limit of a page, with room for the end of a text.
const PAGE: usize = 999_000;

/// An input, by the request that sends it.
pub(super) enum Case {
    /// A document to import: its source, media type and bytes.
    Import(&'static str, &'static str, fn() -> Vec<u8>),
    /// The Markdown of a page that is written, then read in every format.
    Page(fn() -> String),
    /// The Markdown of a page that is rendered as PDF.
    Pdf(fn() -> String),
    /// A list of content changes.
    Edit(fn() -> Vec<Value>),
    /// A request body.
    Body(fn() -> String),
    /// A file to upload.
    Upload(fn() -> Vec<u8>),
    Specification(fn() -> String),
    /// A search query over a page of many words.
    Search(fn() -> String),
}

/// The inputs by the name of their measurement.
pub(super) const CASES: &[(&str, Case)] = &[
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
    ("reusable contents", Case::Edit(|| (0..50).map(reusable).collect())),
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

fn reusable(number: usize) -> Value {
    json!({ "operation": "insert_reusable_content", "title": format!("Text {number}"),
        "document": { "markdown": text(180_000) } })
}

/// Returns a text with one line at each nesting level.
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

/// Returns a Word document of paragraphs with distinct words, so that it compresses like ordinary text.
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

/// Returns an archive of one page and many files.
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

/// A server with a space and a site for the inputs.
pub(super) struct Prepared {
    client: Client,
    org: String,
    space: String,
    /// The path of a change request of the space.
    request: String,
    site: String,
    served: String,
}

impl Prepared {
    pub(super) async fn new(client: Client, case: &Case) -> Self {
        let org = id(&client.get("/orgs").await["items"][0]);
        let space = id(&client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Input" })).await);
        let live = json!({ "editMode": "live" });
        client.call("PATCH", &format!("/spaces/{space}"), live).await.expect("a space that is edited");
        let new = json!({ "title": "Input", "visibility": "public", "spaces": [space] });
        let site = id(&client.post(&format!("/orgs/{org}/sites"), new).await);
        let shown = client.post(&format!("/orgs/{org}/sites/{site}/publish"), Value::Null).await;
        let site = shown["urls"]["published"].as_str().expect("an address").to_owned();
        let served = match case {
            Case::Import(_, kind, bytes) => {
                serve(BTreeMap::from([("/input".to_owned(), (*kind, Arc::from(bytes())))])).await
            }
            _ => String::new(),
        };
        let requests = format!("/spaces/{space}/change-requests");
        let request = format!("{requests}/{}", id(&client.post(&requests, json!({})).await));
        Self { client, org, space, request, site, served }
    }

    pub(super) async fn send(&self, case: &Case) {
        let content = format!("/spaces/{}/content", self.space);
        match case {
            Case::Import(source, ..) => {
                let body = json!({ "url": format!("{}/input", self.served), "source": source });
                self.call("POST", &format!("{content}/import"), body).await;
                self.read().await;
            }
            Case::Page(markdown) => {
                self.edit(vec![insert(0, &markdown())]).await;
                self.read().await;
            }
            Case::Pdf(markdown) => {
                self.edit(vec![insert(0, &markdown())]).await;
                let link = self.client.get(&format!("/spaces/{}/pdf", self.space)).await;
                fetch(link["url"].as_str().expect("an address")).await;
            }
            Case::Edit(changes) => self.edit(changes()).await,
            Case::Body(body) => {
                fetch_with(&self.client.base, &format!("/v1/orgs/{}/spaces", self.org), &body()).await;
            }
            Case::Upload(bytes) => self.upload(&content, &bytes()).await,
            Case::Specification(text) => self.publish(text()).await,
            Case::Search(query) => {
                self.edit(vec![insert(0, &text(PAGE))]).await;
                let query = query().replace(' ', "%20");
                self.client.get(&format!("/spaces/{}/search?query={query}", self.space)).await;
            }
        }
    }

    /// Changes the content of the change request and merges it.
    async fn edit(&self, changes: Vec<Value>) {
        self.call("POST", &format!("{}/content", self.request), json!({ "changes": changes })).await;
        self.call("POST", &format!("{}/merge", self.request), json!({})).await;
    }

    async fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let answer = self.client.call(method, path, body).await.expect("the server answers");
        if answer.status >= 300 {
            println!("    {method} {path}: {} {}", answer.status, answer.body["error"]["message"]);
        }
        answer.body
    }

    /// Reads the page tree, and the first page as Markdown, as a document and on the site.
    async fn read(&self) {
        let content = format!("/spaces/{}/content", self.space);
        let pages = self.client.get(&format!("{content}/pages")).await;
        if let Some(page) = pages["pages"].as_array().and_then(|pages| pages.first()) {
            for form in ["markdown", "document"] {
                self.call("GET", &format!("{content}/page/{}?format={form}", id(page)), Value::Null).await;
            }
        }
        fetch(&self.site).await;
    }

    async fn upload(&self, content: &str, bytes: &[u8]) {
        let authority = self.client.base.trim_start_matches("http://");
        let mut stream = TcpStream::connect(authority).await.expect("a connection");
        let head = format!(
            "POST /v1{content}/files?name=a.bin HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\nauthorization: \
             Bearer {}\r\ncontent-type: application/octet-stream\r\ncontent-length: {}\r\n\r\n",
            crate::process::TOKEN,
            bytes.len()
        );
        stream.write_all(head.as_bytes()).await.expect("sent");
        stream.write_all(bytes).await.expect("sent");
        answer(stream).await;
    }

    async fn publish(&self, text: String) {
        let path = format!("/orgs/{}/openapi/input", self.org);
        self.call("PUT", &path, json!({ "source": { "text": text } })).await;
        until("the end of the round", async || {
            let state = self.client.get(&path).await["processingState"].clone();
            ["complete", "error"].iter().any(|end| state == *end)
        })
        .await;
        println!("    {}", self.client.get(&path).await["processingState"]);
    }
}

/// Requests a URL of the server and reads the whole response.
async fn fetch(url: &str) {
    let rest = url.trim_start_matches("http://");
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(authority).await.expect("a connection");
    let head = format!("GET /{path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("sent");
    answer(stream).await;
}

/// Posts a JSON body and reads the whole response.
async fn fetch_with(base: &str, path: &str, body: &str) {
    let authority = base.trim_start_matches("http://");
    let mut stream = TcpStream::connect(authority).await.expect("a connection");
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        crate::process::TOKEN,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    // The server may refuse the body before its end.
    let _ = stream.write_all(body.as_bytes()).await;
    answer(stream).await;
}

async fn answer(mut stream: TcpStream) {
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer).await;
    let status = String::from_utf8_lossy(&answer[..answer.len().min(12)]).into_owned();
    println!("    {status}, {} bytes, {read:?}", answer.len());
}
