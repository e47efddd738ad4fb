//! Imports of archives: exports of other tools, books, and what is left out.

use super::*;

#[tokio::test]
async fn an_archive_of_more_pages_than_the_bound_is_refused() {
    let s = Setting::new().await;
    let names: Vec<String> = (0..=1_000).map(|number| format!("p{number}.md")).collect();
    let pages: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"text\n"[..])).collect();
    s.web.put("https://a.test/x.zip", "application/zip", archive(&pages));
    let error = s.try_import("https://a.test/x.zip", "zip").await.refused(ErrorKind::Invalid);
    assert!(error.message().ends_with("must have at most 1000 pages, has 1001"), "{error}");
}

#[tokio::test]
async fn files_of_an_archive_beyond_the_bound_are_left_out() {
    let s = Setting::new().await;
    let names: Vec<String> = (0..=1_000).map(|number| format!("i{number}.png")).collect();
    let page: String = names.iter().map(|name| format!("![]({name})\n\n")).collect();
    let mut files: Vec<(&str, &[u8])> = vec![("README.md", page.as_bytes())];
    files.extend(names.iter().map(|name| (name.as_str(), &b"png"[..])));
    s.web.put("https://a.test/x.zip", "application/zip", archive(&files));
    assert_eq!(s.import("https://a.test/x.zip", "zip").await, (1_001, 1_002));
}

impl Setting {
    /// Imports an archive and returns the warnings.
    async fn import_archive(&self, files: &[(&str, &[u8])]) -> Vec<String> {
        self.web.put("https://a.test/x.zip", "application/zip", archive(files));
        self.try_import("https://a.test/x.zip", "zip").await.expect("imported").warnings
    }
}

#[tokio::test]
async fn exported_pages_with_ids_become_a_tree() {
    let s = Setting::new().await;
    let (home, sub, tasks, row) = (
        "1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d",
        "2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e",
        "3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f",
        "4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a",
    );
    let text = format!(
        "# Home\n\n[Sub](Home%20{home}/Sub%20{sub}.md) [Tasks](Home%20{home}/Tasks%20{tasks}.csv) ![](Home%20{home}/a.png)\n"
    );
    let view = "Name,Status\nOne,open\n";
    let all = "Name,Status\nOne,open\nTwo,done\n";
    let paths = [
        format!("Home {home}.md"),
        format!("Home {home}/Sub {sub}.md"),
        format!("Home {home}/Tasks {tasks}.csv"),
        format!("Home {home}/Tasks {tasks}_all.csv"),
        format!("Home {home}/Tasks {tasks}/One {row}.md"),
        format!("Home {home}/a.png"),
    ];
    let up = format!("# Sub\n\n[Home](../Home%20{home}.md) [gone](gone.md)\n");
    let texts = [text.as_str(), up.as_str(), view, all, "# One\n\nText\n", "png"];
    let files: Vec<(&str, &[u8])> = paths.iter().map(String::as_str).zip(texts.map(str::as_bytes)).collect();
    let inner = archive(&files);
    let warnings = s.import_archive(&[("Export-Part-1.zip", &inner)]).await;
    assert_eq!(warnings, ["`Home/Sub.md`: `Home/gone.md` is not a page or file of the import"]);
    assert_eq!(s.paths().await, ["home", "home/sub", "home/tasks", "home/tasks/one"]);
    let ((home, text), (sub, up)) = (s.at("home").await, s.at("home/sub").await);
    let ((tasks, table), (one, _)) = (s.at("home/tasks").await, s.at("home/tasks/one").await);
    let file = &s.files().await[0].0;
    assert_eq!(text, format!("[Sub](/pages/{sub}) [Tasks](/pages/{tasks}) ![](/files/{file})\n"));
    assert_eq!(up, format!("[Home](/pages/{home}) [gone](gone.md)\n"));
    assert_eq!(
        table,
        format!("| Name | Status |\n| --- | --- |\n| [One](/pages/{one}) | open |\n| Two | done |\n")
    );
    s.check().await;
}

#[tokio::test]
async fn exported_html_spaces_follow_their_index() {
    let s = Setting::new().await;
    let page = |title: &str, body: &str| {
        format!(
            "<html><head><title>The space : {title}</title></head><body><div id=main-header><ol id=breadcrumbs><li><a href=index.html>\
             The space</a></li></ol><h1 id=title-heading class=pagetitle><span id=title-text>The space : {title}</span></h1></div>\
             <div id=content><div class=page-metadata>Created by Ada</div><div id=main-content class=\"wiki-content group\">{body}</div>\
             <h2>Attachments:</h2></div></body></html>"
        )
    };
    let index = "<html><head><title>The space (TS)</title></head><body><h2>Available Pages:</h2><ul><li><a href=\"Home_65591.html\">Home</a>\
                 <ul><li><a href=\"Second-page_65600.html\">Second page</a><ul><li><a href=\"65700.html\">Third</a></li></ul></li></ul>\
                 </li></ul></body></html>";
    let home = page(
        "Home",
        "<p>See <a href=\"Second-page_65600.html\">this</a> <img src=\"attachments/65591/1.png\"></p>",
    );
    let note = "<div class=\"confluence-information-macro confluence-information-macro-warning\"><span class=aui-icon></span>\
                <div class=\"confluence-information-macro-body\"><p>Careful.</p></div></div>";
    let (second, third) = (page("Second page", note), page("Third", "<p>3</p>"));
    let warnings = s
        .import_archive(&[
            ("TS/index.html", index.as_bytes()),
            ("TS/Home_65591.html", home.as_bytes()),
            ("TS/Second-page_65600.html", second.as_bytes()),
            ("TS/65700.html", third.as_bytes()),
            ("TS/attachments/65591/1.png", b"png"),
        ])
        .await;
    assert!(warnings.is_empty(), "{warnings:?}");
    let titles: Vec<String> = s.tree().await.into_iter().map(|(_, title)| title).collect();
    assert_eq!(titles, ["Home", "Second page", "Third"]);
    assert_eq!(s.paths().await, ["home", "home/second-page", "home/second-page/65700"]);
    let (second, text) = s.at("home/second-page").await;
    assert_eq!(text, "{% hint style=\"warning\" %}\nCareful.\n{% endhint %}\n");
    let file = &s.files().await[0].0;
    assert_eq!(s.at("home").await.1, format!("See [this](/pages/{second}) ![](/files/{file})\n"));
}

#[tokio::test]
async fn pages_next_to_their_folder_are_parents() {
    let s = Setting::new().await;
    let files: [(&str, &[u8]); 4] = [
        ("Team/Start.md", b"# Start\n\n[a](Start/Deep.md)\n"),
        ("Team/Start/Deep.md", b"# Deep\n"),
        ("Team.md", b"# Team\n"),
        ("x.tar", b"x"),
    ];
    let warnings = s.import_archive(&files).await;
    assert_eq!(warnings, ["left out: `x.tar`, an archive within the archive"]);
    assert_eq!(s.paths().await, ["team", "team/start", "team/start/deep"]);
}

#[tokio::test]
async fn omitted_content_is_in_the_answer_and_the_job_log() {
    let s = Setting::new().await;
    s.web.put("https://a.test/x.html", HTML, "<h1>X</h1><p>a<video src=v></video> <img src=/gone.png></p>");
    let done = s.try_import("https://a.test/x.html", "html").await.expect("imported");
    assert_eq!(done.warnings.len(), 2, "{:?}", done.warnings);
    assert_eq!(done.warnings[0], "left out: a video");
    assert!(
        done.warnings[1].starts_with("image not imported: https://a.test/gone.png: "),
        "{:?}",
        done.warnings
    );
    let jobs =
        s.w.as_admin()
            .space(s.space())
            .list_jobs(&PageRequest { page: None, limit: None })
            .await
            .expect("read");
    let job = s.w.as_admin().space(s.space()).get_job(&jobs.items[0].id).await.expect("a job");
    let log: Vec<String> = job.log.into_iter().map(|line| line.text).collect();
    for warning in &done.warnings {
        assert!(log.contains(warning), "{log:?}");
    }
}

#[tokio::test]
async fn archives_of_mdbook_are_imported_like_repositories() {
    let s = Setting::new().await;
    let files: [(&str, &[u8]); 8] = [
        ("guide/book.toml", b"[book]\nsrc = \"text\"\n[output.html.redirect]\n\"/old/place.html\" = \"../one.html\"\n"),
        (
            "guide/text/SUMMARY.md",
            b"[Introduction](index.md)\n\n# Part\n\n- [One](one.md)\n    - [Draft]()\n- [Two](two.md)\n",
        ),
        ("guide/text/index.md", b"# Introduction\n\n[1](one.html#x) [all](print.html)\n"),
        (
            "guide/text/one.md",
            b"# One\n\n```rust\n{{#include ../a.rs:body}}\n```\n\n{{#include part/b.md}} {{#include gone.md}}\n",
        ),
        ("guide/text/two.md", b"{{#title The second}}\n\n\\{{#include x}}\n"),
        ("guide/text/part/b.md", b"See [two](two.md) ![p](p.png)"),
        ("guide/text/p.png", b"picture"),
        ("guide/a.rs", b"// ANCHOR: body\nfn main() {}\n// ANCHOR_END: body\n"),
    ];
    let warnings = s.import_archive(&files).await;
    assert_eq!(warnings, ["`text/one.md`: the included file `gone.md` does not exist"]);
    assert_eq!(s.paths().await, ["index", "part/", "part/one", "part/one/draft", "part/two"]);
    let ((start, text), (one, code), (two, plain)) =
        (s.at("index").await, s.at("part/one").await, s.at("part/two").await);
    assert_eq!(text, format!("[1](/pages/{one}#x) [all](/pages/{start})\n"));
    let file = &s.files().await[0].0;
    let included = format!("See [two](/pages/{two}) ![p](/files/{file}) \n");
    assert_eq!(code, format!("```rust\nfn main() {{}}\n```\n\n{included}"));
    assert_eq!(plain.trim_start(), "{{#include x}}\n");
    assert_eq!(s.title("part/two").await, "The second");
    assert_eq!(s.at("old/place").await.0, one);
    assert_eq!(s.at("two").await.0, two, "the path in the HTML output of the book");
    s.check().await;
}

// The folder is part of the addresses of the book, whatever the title of its first page.
#[tokio::test]
async fn chapters_of_an_archive_have_the_paths_of_their_folders() {
    let s = Setting::new().await;
    let files: [(&str, &[u8]); 4] = [
        ("book.toml", b"[book]\n"),
        (
            "src/SUMMARY.md",
            b"- [Start](README.md)\n- [Players](players/README.md)\n  - [FAQ](players/faq.md)\n",
        ),
        ("src/README.md", b"# The manual\n"),
        ("src/players/README.md", b"# Veloren for players\n"),
    ];
    let faq: (&str, &[u8]) = ("src/players/faq.md", b"# Questions\n");
    assert_eq!(s.import_archive(&[files.as_slice(), &[faq]].concat()).await, [""; 0]);
    assert_eq!(s.paths().await, ["the-manual", "players", "players/faq"]);
    s.check().await;
}

#[tokio::test]
async fn archives_of_honkit_are_imported_like_repositories() {
    let s = Setting::new().await;
    let files: [(&str, &[u8]); 5] = [
        ("book.json", b"{\"root\": \"docs\", \"title\": \"T\", \"variables\": {\"v\": 2}}"),
        ("docs/README.md", b"# Start\n\n{{ book.title }} {{ book.v }} {% raw %}{{ x }}{% endraw %}\n"),
        ("docs/SUMMARY.md", b"* [Start](README.md)\n* [One](one.md)\n"),
        ("docs/one.md", b"# One\n\n{% include \"./part.md\" %}\n"),
        ("docs/part.md", b"From [here](README.md)."),
    ];
    assert_eq!(s.import_archive(&files).await, [""; 0]);
    assert_eq!(s.paths().await, ["start", "one"]);
    let (start, text) = s.at("start").await;
    assert_eq!(text, "T 2 {{ x }}\n");
    assert_eq!(s.at("one").await.1, format!("From [here](/pages/{start}).\n"));
}

#[tokio::test]
async fn pointers_of_git_lfs_in_archives_are_left_out() {
    let s = Setting::new().await;
    let pointer =
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n", "a".repeat(64));
    let files: [(&str, &[u8]); 3] = [
        ("README.md", b"# Start\n\n![a](a.png) ![b](b.png)\n"),
        ("a.png", pointer.as_bytes()),
        ("b.png", b"png"),
    ];
    let warnings = s.import_archive(&files).await;
    let problem = "`a.png` is left out: the import has only a pointer of Git LFS";
    assert_eq!(warnings, [problem, "`README.md`: `a.png` is not a page or file of the import"]);
    let files = s.files().await;
    assert_eq!(files.len(), 1);
    assert_eq!(s.at("start").await.1, format!("![a](a.png) ![b](/files/{})\n", files[0].0));
}

#[tokio::test]
async fn archive_import_follows_the_summary_or_the_folders() {
    let s = Setting::new().await;
    let listed = archive(&[
        ("docs/SUMMARY.md", b"# Table of contents\n\n* [Hello](README.md)\n\n## Part\n\n* [Two](b/two.md)\n"),
        ("docs/README.md", b"# Hello\n\n[two](b/two.md#x) ![i](a%20b.png) [gone](gone.md) {% include \".gitbook/includes/c.md\" %}\n"),
        ("docs/b/two.md", b"---\ncover: ../a b.png\n---\n# Two\n\n<a href=\"../README.md\">up</a>\n"),
        ("docs/a b.png", b"png"),
        ("docs/unused.md", b"# Unused\n"),
        ("docs/.gitbook/includes/c.md", b"---\ntitle: C\n---\nShared\n"),
        ("__MACOSX/docs/._README.md", b"litter"),
    ]);
    s.web.put("https://a.test/listed.zip", "application/zip", listed);
    assert_eq!(s.import("https://a.test/listed.zip", "zip").await, (3, 3));
    assert_eq!(s.paths().await, ["hello", "part/", "part/two"]);
    let ((hello, text), (two, up)) = (s.at("hello").await, s.at("part/two").await);
    let file = s.files().await[0].0.clone();
    assert!(
        text.starts_with(&format!("[two](/pages/{two}#x) ![i](/files/{file}) [gone](gone.md) ")),
        "{text}"
    );
    assert!(text.contains("{% include \"/reusable-content/"), "{text}");
    assert_eq!(up, format!("<a href=\"/pages/{hello}\">up</a>\n"));
    let inferred = archive(&[
        ("index.html", b"<h1>Site</h1><a href='guides/first.html'>First</a> <a href=guides/>All</a>"),
        ("guides/index.md", b"# Guides\n\n[first](first)\n"),
        ("guides/first.html", b"<title>First</title><body><p>x</p><img src='../i.png'></body>"),
        ("i.png", b"png"),
        ("broken.docx", b"no document"),
    ]);
    s.web.put("https://a.test/inferred.zip", "application/zip", inferred);
    assert_eq!(s.import("https://a.test/inferred.zip", "zip").await, (4, 5));
    assert_eq!(s.paths().await[3..], ["site", "guides", "guides/first"]);
    let ((first, text), (guides, guide)) = (s.at("guides/first").await, s.at("guides").await);
    assert!(text.starts_with("x\n\n![](/files/"), "{text}");
    assert_eq!(s.at("site").await.1, format!("[First](/pages/{first}) [All](/pages/{guides})\n"));
    assert_eq!(guide, format!("[first](/pages/{first})\n"));
    s.check().await;
}

/// A converter that unpacks archives and fails on documents.
pub(super) struct Unpacking;

#[async_trait]
impl Converter for Unpacking {
    async fn convert(&self, _: Document) -> Result<ConvertedPage, ConvertError> {
        panic!("no document is converted");
    }

    async fn unpack(&self, bytes: Bytes) -> Result<UnpackedArchive, ConvertError> {
        DocumentConverter.unpack(bytes).await
    }
}

#[tokio::test]
async fn documents_of_an_archive_are_counted_before_conversion() {
    let s = Setting::with(Unpacking).await;
    let names: Vec<_> = (0..2_001).map(|n| format!("{n}.html")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), b"<p>a".as_slice())).collect();
    s.web.put("https://example.com/a.zip", "application/zip", archive(&files));
    let done = s.try_import("https://example.com/a.zip", "zip").await;
    let error = done.refused(ErrorKind::Invalid);
    assert_eq!(error.message(), "url: the archive must have at most 2000 documents, has 2001");
}

#[tokio::test]
async fn archives_set_variables_and_keep_links_to_resources() {
    let s = Setting::new().await;
    let page = "# Page\n\n[Spec](/openapi/pets) [Ada](/users/ada) [Gone](/gone)\n";
    let files: [(&str, &[u8]); 3] = [
        ("README.md", page.as_bytes()),
        ("SUMMARY.md", b"# Table of contents\n\n* [Page](README.md)\n"),
        (".gitbook/vars.yaml", b"version: \"2\"\nbeta: true\nBad Name: 1\n"),
    ];
    let warnings = s.import_archive(&files).await;
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(
        warnings.iter().any(|warning| warning == "`README.md`: `gone` is not a page or file of the import")
    );
    assert!(warnings.iter().any(|warning| warning.starts_with(".gitbook/vars.yaml: skipped variable ")));
    let content = s.w.as_admin().content(&s.of).get(Default::default()).await.expect("content");
    let variables = serde_json::to_value(&content).expect("JSON")["variables"].clone();
    assert_eq!((&variables["version"], variables.as_object().map(|all| all.len())), (&"2".into(), Some(2)));
    s.check().await;
}
