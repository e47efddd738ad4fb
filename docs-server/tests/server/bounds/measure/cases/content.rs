//! Content at its limits: many pages and files, long text, merges, translations and PDF files.

use std::io::Write as _;

use flate2::{Compression, Crc, write::ZlibEncoder};
use serde_json::{Value, json};

use super::{Case, Doing, PAGE, Prepared, expression, formats::noise, insert, summary, tags, text};
use crate::{client::id, process::until};

pub(super) const CASES: &[(&str, Case)] = &[
    ("an edit of many files", Case::Steps(files, more_files)),
    ("files fetched by an edit", Case::Step(fetched_files)),
    ("a large space", Case::Steps(large_space, whole_tree)),
    ("a page of a large space", Case::Steps(large_space, anonymous_page)),
    ("the list of all pages of a site", Case::Steps(large_space, page_lists)),
    ("lists for machines", Case::Steps(large_space, machine_lists)),
    ("computed pages in many places", Case::Steps(computed_pages, anonymous_page)),
    ("reusable contents of a space", Case::Steps(many_small, more_small)),
    ("many reusable contents", Case::Steps(reusables, page_of_reusables)),
    ("moved pages", Case::Steps(moved_pages, old_paths)),
    ("a merge of a large text", Case::Steps(both_sides, merge)),
    ("conflicting pages", Case::Steps(conflicts, merge)),
    ("links to other spaces", Case::Steps(links, link_totals)),
    ("dense inline text", Case::Page(|| "*a* ".repeat(PAGE / 4))),
    ("tags in Markdown", Case::Page(|| "<a b=\"c\" ".repeat(PAGE / 10))),
    ("HTML in Markdown", Case::Page(|| "<div>".repeat(PAGE / 5))),
    ("link definitions", Case::Page(definitions)),
    ("inline formulas", Case::Page(|| "$$x^{y}$$ ".repeat(PAGE / 10))),
    (
        "expandable blocks",
        Case::Page(|| "<details>\n<summary>a</summary>\n\nb\n\n</details>\n\n".repeat(5_000)),
    ),
    ("expressions of a PDF file", Case::Pdf(|| expression().repeat(2_000))),
    ("formulas of a PDF file", Case::Pdf(|| "$$\nx^{y}+\\frac{a}{b}\n$$\n\n".repeat(11_000))),
    ("references of a PDF file", Case::Pdf(|| "[a](https://e.example/)\n".repeat(19_900))),
    ("blocks in blocks of a PDF file", Case::Pdf(nested)),
    ("pictures of a PDF file", Case::Steps(pictures, pdf)),
    ("drawings of a PDF file", Case::Steps(drawings, pdf)),
    ("pages of a PDF file", Case::Steps(many_pages, pdf)),
    ("reusable contents of a PDF file", Case::Steps(many_reusables, pdf)),
    ("a translation", Case::Steps(glossary, translation)),
    ("translations of a space", Case::Steps(translated, many_translations)),
];

/// Target languages of translations from English.
const LANGUAGES: [&str; 25] = [
    "fr", "de", "es", "it", "pt", "pt-br", "ru", "ja", "zh", "yue", "ko", "ar", "hi", "nl", "pl", "tr", "sv",
    "no", "da", "fi", "el", "cs", "hu", "ro", "th",
];

fn definitions() -> String {
    (0..PAGE / 24).map(|at| format!("[a{at:06}]: /b \"c\"\n\n")).collect()
}

fn nested() -> String {
    let hint = |depth: usize| "> ".repeat(depth) + "a\n\n";
    (0..PAGE / 60).map(|at| hint(1 + at % 20)).collect()
}

/// Returns a change that inserts 20 files.
fn insert_files(first: usize) -> Value {
    let file =
        |at: usize| json!({ "name": format!("{at}.txt"), "contentType": "text/plain", "base64": "YQ==" });
    json!({ "operation": "insert_files", "files": (first..first + 20).map(file).collect::<Vec<_>>() })
}

async fn thousand_files(on: &Prepared, part: usize) {
    on.edit((0..50).map(|at| insert_files(part * 1_000 + at * 20)).collect()).await;
}

fn files(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..24 {
            thousand_files(on, part).await;
        }
    })
}

fn more_files(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        thousand_files(on, 24).await;
        on.call("GET", &format!("/spaces/{}/content/files?limit=1000", on.space), Value::Null).await;
    })
}

fn fetched_files(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let base = on.serve_file("application/octet-stream", vec![7; 99_000_000]).await;
        let file = |at: usize| json!({ "name": format!("{at}.bin"), "url": base });
        let files: Vec<_> = (0..20).map(file).collect();
        on.edit(vec![json!({ "operation": "insert_files", "files": files })]).await;
    })
}

/// Fills the space with the maximum number of pages, in three groups.
fn large_space(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for _ in 0..3 {
            let pages = format!("* p\n{}", "  * a\n".repeat(8_300));
            on.import("zip", "application/zip", summary(pages)).await;
        }
    })
}

fn whole_tree(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.call("GET", &format!("/spaces/{}/content/pages", on.space), Value::Null).await;
        on.edit(vec![insert(0, "One more page.\n")]).await;
    })
}

fn anonymous_page(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.fetch(&on.site).await;
        on.fetch(&format!("{}no-such-page", on.site)).await;
    })
}

fn page_lists(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let page = on.fetch(&format!("{}p", on.site)).await;
        let lists = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let lists: Vec<&str> = lists.filter(|href| href.contains("~site/pages.")).collect();
        assert!(!lists.is_empty(), "a large page tree has a list of all pages");
        for list in lists {
            on.fetch(list).await;
        }
    })
}

fn machine_lists(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for list in ["llms.txt", "sitemap.xml", "rss.xml"] {
            let text = on.fetch(&format!("{}{list}", on.site)).await;
            let parts = text.split("<loc>").skip(1).filter_map(|rest| rest.split("</loc>").next());
            for part in parts.filter(|part| part.ends_with(".xml")) {
                on.fetch(part).await;
            }
        }
        on.agent("list_pages", json!({ "offset": 20_000 })).await;
    })
}

fn computed_pages(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.publish(tags()).await;
        let place = "* ```yaml\n  type: builtin:openapi\n  dependencies:\n    spec:\n      ref: {kind: openapi, spec: input}\n  ```\n";
        on.import("zip", "application/zip", summary(place.repeat(200))).await;
    })
}

/// Inserts 200 reusable content blocks with many short paragraphs, and a page that uses all of them.
fn reusables(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..4 {
            let new = |at: usize| {
                json!({ "operation": "insert_reusable_content", "title": format!("{:04}", part * 50 + at),
                    "document": { "markdown": "a\n\n".repeat(3_000) } })
            };
            on.edit((0..50).map(new).collect()).await;
        }
        page_of_all(on).await;
    })
}

async fn fifty_reusables(on: &Prepared, part: usize) {
    let new = |at: usize| {
        json!({ "operation": "insert_reusable_content", "title": format!("{:04}", part * 50 + at),
            "document": { "markdown": "a\n" } })
    };
    on.edit((0..50).map(new).collect()).await;
}

fn many_small(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..99 {
            fifty_reusables(on, part).await;
        }
    })
}

fn more_small(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        fifty_reusables(on, 99).await;
        on.call("GET", &format!("/spaces/{}/content", on.space), Value::Null).await;
    })
}

/// Inserts a page that uses all reusable content of the space.
async fn page_of_all(on: &Prepared) {
    let content = on.client.get(&format!("/spaces/{}/content", on.space)).await;
    let contents = content["reusableContents"].as_array().expect("a list");
    let include = |of: &Value| format!("{{% include \"/reusable-content/{}\" %}}\n\n", id(of));
    let includes: String = contents.iter().map(include).collect();
    on.edit(vec![insert(0, &includes)]).await;
}

fn page_of_reusables(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.fetch(&on.site).await;
    })
}

fn moved_pages(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.import("zip", "application/zip", summary(format!("* p\n{}", "  * a\n".repeat(9_900)))).await;
        let tree = on.client.get(&format!("/spaces/{}/content/pages", on.space)).await;
        let pages: Vec<String> =
            tree["pages"][0]["pages"].as_array().expect("pages").iter().map(id).collect();
        for part in pages.chunks(50) {
            let rename = |page: &String| {
                let title = format!("Moved {page}");
                json!({ "operation": "update_page", "page": page, "slug": page.to_lowercase(), "title": title })
            };
            on.edit(part.iter().map(rename).collect()).await;
        }
    })
}

fn old_paths(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for at in 2..50 {
            on.fetch(&format!("{}p/a-{at}", on.site)).await;
        }
        on.edit(vec![insert(0, "One more page.\n")]).await;
    })
}

/// Returns text of 49,000 lines; every second line differs between the sides of a merge.
fn lines(side: &str) -> String {
    (0..49_000)
        .map(|at| if at % 2 == 0 { format!("Line {at}\n") } else { format!("Line {side} {at}\n") })
        .collect()
}

async fn update(on: &Prepared, request: &str, changes: Vec<Value>) {
    on.call("POST", &format!("{request}/content"), json!({ "changes": changes })).await;
}

async fn pages_of(on: &Prepared) -> Vec<String> {
    let tree = on.client.get(&format!("/spaces/{}/content/pages", on.space)).await;
    tree["pages"].as_array().expect("pages").iter().map(id).collect()
}

fn set_text(page: &str, markdown: &str) -> Value {
    json!({ "operation": "update_page", "page": page, "document": { "markdown": markdown } })
}

fn both_sides(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.edit(vec![insert(0, &lines("base"))]).await;
        let page = pages_of(on).await.remove(0);
        let other = on.new_request().await;
        update(on, &other, vec![set_text(&page, &lines("other"))]).await;
        on.edit(vec![set_text(&page, &lines("live"))]).await;
        on.note(&other);
    })
}

fn conflicts(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..20 {
            on.edit((0..50).map(|at| insert(part * 50 + at, "Base.\n")).collect()).await;
        }
        let pages = pages_of(on).await;
        let other = on.new_request().await;
        for part in pages.chunks(50) {
            update(on, &other, part.iter().map(|page| set_text(page, "Other.\n")).collect()).await;
        }
        for part in pages.chunks(50) {
            on.edit(part.iter().map(|page| set_text(page, "Live.\n")).collect()).await;
        }
        on.note(&other);
    })
}

fn merge(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let request = on.noted();
        on.call("POST", &format!("{request}/update"), json!({})).await;
        on.call("GET", &format!("{request}/content/pages"), Value::Null).await;
        on.call("GET", &format!("{request}/changes?limit=1000"), Value::Null).await;
        on.call("POST", &format!("{request}/merge"), json!({})).await;
    })
}

fn links(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let other = json!({ "title": "Other" });
        let other = id(&on.client.post(&format!("/orgs/{}/spaces", on.org), other).await);
        let link = |at: usize| format!("[a](/spaces/{other}/pages/page{at})\n\n");
        let page: String = (0..5_000).map(link).collect();
        on.edit(vec![insert(0, &page)]).await;
    })
}

fn link_totals(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.call("GET", &format!("/spaces/{}/links?limit=1000", on.space), Value::Null).await;
    })
}

fn pdf(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.read_pdf().await;
    })
}

/// Uploads files, and inserts a page that contains them.
async fn shown_files(on: &Prepared, name: &str, count: usize, bytes: impl Fn(usize) -> Vec<u8>) {
    let mut page = String::new();
    for at in 0..count {
        let file = on.upload(&format!("{at}{name}"), &bytes(at)).await;
        page += &format!("![](/files/{file})\n\n");
    }
    on.edit(vec![insert(0, &page)]).await;
}

/// Returns an 8-bit greyscale PNG file.
fn png(width: usize, pixels: Vec<u8>) -> Vec<u8> {
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::fast());
    let mut height = 0_u32;
    for row in pixels.chunks_exact(width) {
        // Each row begins with its filter type.
        rows.write_all(&[0]).and_then(|()| rows.write_all(row)).expect("a row");
        height += 1;
    }
    let width = u32::try_from(width).expect("a width");
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let parts = [(b"IHDR", head), (b"IDAT", rows.finish().expect("all rows")), (b"IEND", Vec::new())];
    let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in parts {
        let mut sum = Crc::new();
        sum.update(kind);
        sum.update(&data);
        let length = u32::try_from(data.len()).expect("a small chunk").to_be_bytes();
        image.extend([&length[..], kind, &data, &sum.sum().to_be_bytes()].concat());
    }
    image
}

fn pictures(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        shown_files(on, ".png", 100, |at| {
            if at < 7 { png(5_500, noise(31_000_000, at as u64)) } else { png(6_400, vec![0; 6_400 * 6_200]) }
        })
        .await;
    })
}

fn drawings(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let drawing = |at: usize| {
            let shapes = format!("<rect x=\"{at}\" width=\"9\" height=\"9\"/>").repeat(25_000);
            format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"99\" height=\"99\">{shapes}</svg>")
                .into_bytes()
        };
        shown_files(on, ".svg", 20, drawing).await;
    })
}

fn many_pages(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..98 {
            on.edit((0..50).map(|at| insert(part * 50 + at, "Some words.\n")).collect()).await;
        }
    })
}

fn many_reusables(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        for part in 0..20 {
            let new = |at: usize| {
                json!({ "operation": "insert_reusable_content", "title": format!("{:04}", part * 50 + at),
                    "document": { "markdown": text(16_000) } })
            };
            on.edit((0..50).map(new).collect()).await;
        }
        page_of_all(on).await;
    })
}

fn glossary(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let entry = |at: usize| json!({ "term": format!("term {at}"), "translations": { "de": format!("Begriff {at}") } });
        let entries: Vec<_> = (0..1_000).map(entry).collect();
        on.call("PUT", &format!("/orgs/{}/glossary", on.org), json!({ "entries": entries })).await;
        on.edit((0..5).map(|at| insert(at, &text(PAGE))).collect()).await;
        on.edit((5..9).map(|at| insert(at, &"term 7 and words.\n\n".repeat(9_000))).collect()).await;
    })
}

fn translation(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let translations = format!("/orgs/{}/translations", on.org);
        let new = json!({ "source": { "space": on.space, "language": "en" }, "language": "de" });
        let made = on.call("POST", &translations, new).await;
        let path = format!("{translations}/{}", id(&made));
        until("the translation", async || on.client.get(&path).await["status"] == "completed").await;
    })
}

fn translated(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        on.edit((0..9).map(|at| insert(at, &text(20_000))).collect()).await;
    })
}

/// Translates a space into the maximum number of languages.
fn many_translations(on: &Prepared) -> Doing<'_> {
    Box::pin(async move {
        let translations = format!("/orgs/{}/translations", on.org);
        for language in LANGUAGES.iter().cycle().take(50) {
            let new = json!({ "source": { "space": on.space, "language": "en" }, "language": language });
            on.call("POST", &translations, new).await;
        }
        until("the translations", async || {
            let list = on.client.get(&format!("{translations}?limit=100")).await;
            list["items"].as_array().is_some_and(|all| all.iter().all(|one| one["status"] == "completed"))
        })
        .await;
    })
}
