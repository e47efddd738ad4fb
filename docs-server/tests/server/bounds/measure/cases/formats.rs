//! Documents in other formats, websites, specifications and repositories at their limits.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use serde_json::{Value, json};

use super::{Case, Doing, OPEN, PAGE, Prepared, WORD, ZIP, insert, staircase, summary, text};
use crate::hostile::{archive, serve};

pub(super) const CASES: &[(&str, Case)] = &[
    ("names in HTML", Case::Import("html", HTML, names)),
    ("a table of HTML", Case::Import("html", HTML, table)),
    ("links of HTML", Case::Import("html", HTML, || "<a href=\"/b\">a</a> ".repeat(120_000).into_bytes())),
    ("lists of HTML", Case::Import("html", HTML, || "<ul><li>a".repeat(200_000).into_bytes())),
    ("elements of Word in each other", Case::Import("docx", WORD, deep_word)),
    ("pictures of a Word document", Case::Import("docx", WORD, pictures)),
    ("lists and styles of a Word document", Case::Import("docx", WORD, styles)),
    ("a document of Markdown", Case::Import("markdown", MARKDOWN, || text(PAGE).into_bytes())),
    ("front matter", Case::Import("markdown", MARKDOWN, front_matter)),
    ("a packed archive", Case::Import("zip", ZIP, packed)),
    ("files that pages show", Case::Import("zip", ZIP, shown)),
    ("long paths of an archive", Case::Import("zip", ZIP, paths)),
    ("imports at the same time", Case::Step(imports)),
    ("a website", Case::Step(website)),
    ("files of a specification", Case::Step(files_of_specification)),
    ("aliases of a specification", Case::Specification(aliases)),
    ("texts of a specification", Case::Specification(texts)),
    ("levels of a specification", Case::Specification(levels)),
    ("shown operations", Case::Steps(operations, page_of_operations)),
    ("entries of a repository", Case::Steps(repository_of_entries, import_of_repository)),
    ("pages of a repository", Case::Steps(repository_of_pages, import_of_repository)),
    ("files of a repository", Case::Steps(repository_of_files, import_of_repository)),
    ("settings of a repository", Case::Step(settings)),
    ("an export to a repository", Case::Steps(thousand_pages, export)),
    ("a delivery to a webhook", Case::Steps(synchronized, deliveries)),
];

const HTML: &str = "text/html";
const MARKDOWN: &str = "text/markdown";

fn names() -> Vec<u8> {
    (0..400_000).map(|at| format!("<a{at}>")).collect::<String>().into_bytes()
}

fn table() -> Vec<u8> {
    let row = format!("<tr>{}</tr>", "<td>a</td>".repeat(40));
    format!("<table>{}</table>", row.repeat(5_900)).into_bytes()
}

fn document_of_word(body: &str) -> (String, Vec<u8>) {
    let namespaces = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\" \
                      xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\" \
                      xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"";
    let text = format!("<w:document {namespaces}><w:body>{body}</w:body></w:document>");
    ("word/document.xml".to_owned(), text.into_bytes())
}

fn deep_word() -> Vec<u8> {
    let (open, close) = ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>");
    let cell = format!("{}<w:p><w:r><w:t>a</w:t></w:r></w:p>{}", open.repeat(38), close.repeat(38));
    archive([document_of_word(&cell.repeat(1_500))])
}

fn pictures() -> Vec<u8> {
    let shown =
        |at: usize| format!("<w:p><w:r><w:drawing><a:blip r:embed=\"r{at}\"/></w:drawing></w:r></w:p>");
    let related =
        |at: usize| format!("<Relationship Id=\"r{at}\" Type=\"image\" Target=\"media/{at}.png\"/>");
    let relations = format!(
        "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{}</Relationships>",
        (0..500).map(related).collect::<String>()
    );
    let media = |at: usize| (format!("word/media/{at}.png"), noise(190_000, at as u64));
    let parts = [
        document_of_word(&(0..500).map(shown).collect::<String>()),
        ("word/_rels/document.xml.rels".to_owned(), relations.into_bytes()),
    ];
    archive(parts.into_iter().chain((0..500).map(media)))
}

fn styles() -> Vec<u8> {
    let style = |at: usize| {
        format!(
            "<w:style w:type=\"paragraph\" w:styleId=\"s{at}\"><w:basedOn w:val=\"s{}\"/></w:style>",
            at + 1
        )
    };
    let styles = format!(
        "<w:styles xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">{}</w:styles>",
        (0..20_000).map(style).collect::<String>()
    );
    let item = |at: usize| {
        format!(
            "<w:p><w:pPr><w:pStyle w:val=\"s{}\"/><w:numPr><w:ilvl w:val=\"{}\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr>\
             <w:r><w:t>a</w:t></w:r></w:p>",
            at % 20_000,
            at % 9
        )
    };
    let body: String = (0..60_000).map(item).collect();
    archive([document_of_word(&body), ("word/styles.xml".to_owned(), styles.into_bytes())])
}

/// Returns YAML within the front matter limit whose aliases repeat its values.
fn front_matter() -> Vec<u8> {
    let list = |name: char| format!("{name}: &{name} [{}]\n", "1, ".repeat(9));
    let nested: String = ('b'..='e')
        .map(|name| {
            let before = char::from(name as u8 - 1);
            format!("{name}: &{name} [{}]\n", format!("*{before}, ").repeat(10))
        })
        .collect();
    format!("---\n{}{nested}title: Page\n---\n\nText.\n", list('a')).into_bytes()
}

/// Returns bytes that do not compress.
pub(super) fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut chance = 0x9e37_79b9_7f4a_7c15 ^ (seed + 1);
    let mut next = || {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        chance.to_le_bytes()
    };
    (0..bytes / 8).flat_map(|_| next()).collect()
}

fn packed() -> Vec<u8> {
    let links: String = (0..10).map(|at| format!("![](f{at}.bin)\n")).collect();
    let page = ("README.md".to_owned(), format!("# Start\n\n{links}").into_bytes());
    archive(std::iter::once(page).chain((0..10).map(|at| (format!("f{at}.bin"), noise(9_900_000, at)))))
}

fn shown() -> Vec<u8> {
    let links: String = (0..1_000).map(|at| format!("![](f{at}.png)\n")).collect();
    let page = ("README.md".to_owned(), format!("# Start\n\n{links}").into_bytes());
    archive(std::iter::once(page).chain((0..1_000).map(|at| (format!("f{at}.png"), noise(90_000, at)))))
}

fn paths() -> Vec<u8> {
    let folders = "folder/".repeat(140);
    archive((0..1_000).map(|at| (format!("{folders}{at}.md"), b"# Page\n".to_vec())))
}

/// Six concurrent imports of the largest tables of contents.
fn imports(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let contents = format!("* p\n{}", "  * a\n".repeat(8_300)).repeat(2);
        let body = on.served("zip", ZIP, summary(contents)).await;
        let mut spaces = Vec::new();
        for _ in 0..6 {
            spaces.push(on.new_space().await);
        }
        let import = |at: usize| on.call("POST", &spaces[at], body.clone());
        tokio::join!(import(0), import(1), import(2), import(3), import(4), import(5));
    })
}

fn website(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let links: String = (0..40).map(|at| format!("<a href=/p{at}>{at}</a> <img src=/i{at}>")).collect();
        let page = |at: usize| {
            let paths = (0..10_000).map(|link| format!("<a href=/p{at}-{link}>b</a> ")).collect::<String>();
            format!("<h1>Page {at}</h1><p>{paths}</p>")
        };
        let mut documents: BTreeMap<String, (&'static str, Arc<[u8]>)> = BTreeMap::new();
        documents.insert("/".to_owned(), (HTML, Arc::from(format!("<h1>Start</h1>{links}").into_bytes())));
        for at in 0..40 {
            documents.insert(format!("/p{at}"), (HTML, Arc::from(page(at).into_bytes())));
            documents.insert(format!("/i{at}"), ("image/png", Arc::from(noise(9_900_000, at as u64))));
        }
        let body = json!({ "url": format!("{}/", serve(documents).await), "source": "website" });
        on.call("POST", &format!("/spaces/{}/content/import", on.space), body).await;
    })
}

/// A specification of 4,900 files that reference each other in chains of 16.
fn files_of_specification(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let mut documents: BTreeMap<String, (&'static str, Arc<[u8]>)> = BTreeMap::new();
        let mut paths = String::new();
        for at in 0..4_900 {
            if at % 15 == 0 {
                let _ = write!(paths, "\"/p{at}\":{{\"$ref\":\"f{at}.json\"}},");
            }
            let next =
                if at % 15 == 14 { "{}".to_owned() } else { format!("{{\"$ref\":\"f{}.json\"}}", at + 1) };
            let file = format!("{{\"get\":{{\"description\":\"{}\",\"x-a\":{next}}}}}", "word ".repeat(700));
            documents.insert(format!("/f{at}.json"), ("application/json", Arc::from(file.into_bytes())));
        }
        let root = OPEN.replace("\"paths\":{}", &format!("\"paths\":{{{}}}", paths.trim_end_matches(',')));
        documents.insert("/api.json".to_owned(), ("application/json", Arc::from(root.into_bytes())));
        let base = serve(documents).await;
        on.publish_from(json!({ "url": format!("{base}/api.json") })).await;
    })
}

fn aliases() -> String {
    let start =
        "openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths: {}\nx-a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
    format!("{start}x-b: [{}]\n", "*a, ".repeat(49_000))
}

fn texts() -> String {
    let text = text(90_000).replace('\n', "");
    let start = format!("openapi: 3.1.0\ninfo: {{title: A, version: '1'}}\npaths: {{}}\nx-a: &a '{text}'\n");
    format!("{start}x-b: [{}]\n", "*a, ".repeat(430))
}

fn levels() -> String {
    let nested = "{\"a\":".repeat(120) + "1" + &"}".repeat(120);
    OPEN.replace("\"paths\":{}", &format!("\"paths\":{{}},\"x-a\":[{}0]", (nested + ",").repeat(5_000)))
}

/// A specification of 500 operations with wide and deep schemas and many parameters, and a page that shows them.
fn operations(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let field = |at: usize| format!("\"f{at}\":{{\"$ref\":\"#/components/schemas/S{}\"}}", at % 50);
        let fields: Vec<String> = (0..100).map(field).collect();
        let schema = |at: usize| {
            format!(
                "\"S{at}\":{{\"type\":\"object\",\"description\":\"{}\",\"properties\":{{{}}}}}",
                text(2_000).trim(),
                fields.join(",")
            )
        };
        let schemas: Vec<String> = (0..50).map(schema).collect();
        let parameters: Vec<String> = (0..100)
            .map(|at| format!("{{\"name\":\"q{at}\",\"in\":\"query\",\"schema\":{{\"type\":\"string\"}}}}"))
            .collect();
        let body = "\"requestBody\":{\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/S1\"}}}}";
        let operation = |at: usize| {
            format!(
                "\"/p{at}\":{{\"post\":{{\"parameters\":[{}],{body},\"responses\":{{}}}}}}",
                parameters.join(",")
            )
        };
        let paths: Vec<String> = (0..500).map(operation).collect();
        let all = format!(
            "\"components\":{{\"schemas\":{{{}}}}},\"paths\":{{{}}}",
            schemas.join(","),
            paths.join(",")
        );
        on.publish(OPEN.replace("\"paths\":{}", &all)).await;
        let block = |at: usize| {
            format!(
                "{{% openapi-operation spec=\"input\" path=\"/p{at}\" method=\"post\" %}}\n[a](https://e.example/)\n{{% endopenapi-operation %}}\n\n"
            )
        };
        on.edit(vec![insert(0, &(0..500).map(block).collect::<String>())]).await;
    })
}

fn page_of_operations(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.fetch(&on.site).await;
    })
}

fn repository_of_entries(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let page = ("README.md".to_owned(), b"# Start\n".to_vec());
        let file = |at: usize| (format!("f{at}.bin"), b"a".to_vec());
        on.note(&on.repository(&std::iter::once(page).chain((0..198_000).map(file)).collect::<Vec<_>>()));
    })
}

fn repository_of_pages(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let page = |at: usize| (format!("p{at}.md"), format!("# Page {at}\n\n{}", text(39_000)).into_bytes());
        on.note(&on.repository(&(0..4_900).map(page).collect::<Vec<_>>()));
    })
}

fn repository_of_files(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let links: String = (0..19).map(|at| format!("![](f{at}.bin)\n")).collect();
        let page = ("README.md".to_owned(), format!("# Start\n\n{links}").into_bytes());
        let bytes = noise(99_000_000, 0);
        let file = |at: usize| (format!("f{at}.bin"), bytes.clone());
        on.note(&on.repository(&std::iter::once(page).chain((0..19).map(file)).collect::<Vec<_>>()));
    })
}

fn import_of_repository(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.import_repository(&on.noted()).await;
    })
}

/// A repository with a large table of contents, settings and variables, a deep tree, and long entries.
fn settings(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let contents = (0..480).map(|at| format!("* {}{at}\n", "x".repeat(8_000))).collect::<String>();
        let list = format!("a: &a [{}]\n", "1, ".repeat(40));
        let yaml = format!("{list}b: [{}]\nstructure: {{summary: SUMMARY.md}}\n", "*a, ".repeat(5));
        let files = [
            ("README.md".to_owned(), b"# Start\n".to_vec()),
            ("SUMMARY.md".to_owned(), (contents + &staircase("* a\n", 32)).into_bytes()),
            (".gitbook.yaml".to_owned(), format!("{yaml}# {}\n", "c".repeat(900_000)).into_bytes()),
            (".gitbook/vars.yaml".to_owned(), format!("{yaml}# {}\n", "c".repeat(900_000)).into_bytes()),
        ];
        on.import_repository(&on.repository(&files)).await;
    })
}

fn thousand_pages(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..20 {
            on.edit((0..50).map(|at| insert(part * 50 + at, &text(9_000))).collect()).await;
        }
        on.note(&on.repository(&[("README.md".to_owned(), b"# Start\n".to_vec())]));
    })
}

fn export(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let request =
            json!({ "url": on.noted(), "ref": "refs/heads/main", "commitMessage": "x".repeat(4_000) });
        on.call("POST", &format!("/spaces/{}/git/export", on.space), request).await;
        on.job_ends().await;
    })
}

fn synchronized(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let url = on.repository(&[("README.md".to_owned(), b"# Start\n".to_vec())]);
        let setting = json!({ "url": url, "ref": "refs/heads/main", "direction": "both" });
        // Synchronization in both directions requires that live content is locked.
        on.call("PATCH", &format!("/spaces/{}", on.space), json!({ "editMode": "locked" })).await;
        let path = format!("/spaces/{}/git/sync", on.space);
        let set = on.call("PUT", &path, setting).await;
        for field in ["url", "secret"] {
            on.note(set["webhook"][field].as_str().expect("a webhook"));
        }
    })
}

fn deliveries(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let (secret, url) = (on.noted(), on.noted());
        let body = json!({ "commits": "x".repeat(26_000_000), "ref": "refs/heads/main" }).to_string();
        let path = url.trim_start_matches(&on.client.base);
        let headers = format!(
            "x-gitlab-event: Push Hook\r\nx-gitlab-token: {secret}\r\ncontent-type: application/json"
        );
        for _ in 0..4 {
            on.post(path, &headers, body.as_bytes()).await;
        }
        on.call("GET", &format!("/spaces/{}/git/sync", on.space), Value::Null).await;
    })
}
