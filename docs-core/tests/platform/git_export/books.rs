//! Repositories of mdBook and HonKit: imported without changes to their files, and exported byte for byte.

use docs_core::{
    content::{Evaluated, document::plain_text, gitsync::MAX_BOOK_BYTES},
    model::{ContentFormat, JobState},
};
use serde_json::json;

use super::{
    round_trip::{assert_same_after_import, changed},
    *,
};

/// A book in the format of mdBook.
const MDBOOK: &[(&str, &str)] = &[
    (
        "book.toml",
        "[book]\ntitle = \"Guide\"\n\n[output.html.redirect]\n\"/old/place.html\" = \"../part/first.html\"\n",
    ),
    (
        "src/SUMMARY.md",
        "# Summary\n\n[Introduction](intro.md)\n\n# Part one\n\n- [The `first`](part/first.md)\n    - [Draft]()\n\
         - [Second](part/second.md)\n\n---\n\n# Part two\n\n1. [1. Third](part/README.md)\n\n[End](end.md)\n",
    ),
    (
        "src/intro.md",
        "# Introduction\n\n[1](part/first.html) [2](./part/second.md#x) [3](part/index.html) [4](print.html)\n\n\
         ![p](images/p.png)\n",
    ),
    ("src/part/first.md", "# The first\n\n[up](../intro.html#introduction)\n"),
    ("src/part/second.md", "Second\n======\n\n## X\n"),
    ("src/part/README.md", "# Third\n"),
    ("src/end.md", "# End\n"),
    ("src/unlisted.md", "# Unlisted\n"),
    ("src/images/p.png", "picture"),
];

/// Returns the tree as lines of indented titles and paths.
async fn outline(w: &World, space: &SpaceId) -> Vec<String> {
    fn walk(pages: &[RevisionPage], depth: usize, out: &mut Vec<String>) {
        for page in pages {
            let (title, path, below): (_, &str, &[RevisionPage]) = match page {
                RevisionPage::Document(page) => (&page.base.title, &page.path, &page.pages),
                RevisionPage::Group(page) => (&page.base.title, &page.path, &page.pages),
                RevisionPage::Link(page) => (&page.base.title, "", &[]),
                RevisionPage::Computed(page) => (&page.base.title, "", &[]),
            };
            out.push(format!("{}{title} /{path}", "  ".repeat(depth)));
            walk(below, depth + 1, out);
        }
    }
    let of = ContentVersion::space(space.clone());
    let pages = w.as_admin().content(&of).list_pages(ContentOptions::default()).await.expect("read").pages;
    let mut out = Vec::new();
    walk(&pages, 0, &mut out);
    out
}

/// Returns the Markdown of the page at a path.
async fn markdown(w: &World, space: &SpaceId, path: &str) -> String {
    let of = ContentVersion::space(space.clone());
    let options = ContentOptions { format: ContentFormat::Markdown, ..ContentOptions::default() };
    match w.as_admin().content(&of).get_page_by_path(path, options).await.expect(path) {
        RevisionPage::Document(page) => page.markdown.expect("Markdown"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn mdbook_repository_imports_and_exports_unchanged() {
    let (w, remote, space) = world_of(MDBOOK).await;
    assert_eq!(
        outline(&w, &space).await,
        [
            "Introduction /intro",
            "Part one /part-one",
            "  The first /part-one/first",
            "    Draft /part-one/first/draft",
            "  Second /part-one/second",
            "Part two /part-two",
            "  Third /part-two/part",
            "End /end",
        ]
    );
    let first = at(&w, &space, "part-one/first").await;
    assert_eq!(at(&w, &space, "old/place").await, first);
    assert_eq!(latest(&w, &space).await.log.iter().filter(|line| line.text.contains("skipped")).count(), 0);
    let before = files(&remote);
    assert_same_after_import(&w, &remote, &space).await;
    assert_eq!(files(&remote), before);
}

#[tokio::test]
async fn links_to_html_pages_of_mdbook_resolve() {
    let (w, _, space) = world_of(MDBOOK).await;
    let mut ids = Vec::new();
    for path in ["part-one/first", "part-one/second", "part-two/part", "intro"] {
        ids.push(at(&w, &space, path).await);
    }
    let text = markdown(&w, &space, "intro").await;
    let links = format!(
        "[1](/pages/{}) [2](/pages/{}#x) [3](/pages/{}) [4](/pages/{})",
        ids[0], ids[1], ids[2], ids[3]
    );
    assert!(text.starts_with(&links), "{text}");
    let up = markdown(&w, &space, "part-one/first").await;
    assert_eq!(up.trim(), format!("[up](/pages/{}#introduction)", ids[3]));
}

#[tokio::test]
async fn edits_of_an_mdbook_space_change_only_their_lines() {
    let (w, remote, space) = world_of(MDBOOK).await;
    let before = files(&remote);
    let end = at(&w, &space, "end").await;
    let group = at(&w, &space, "part-one").await;
    change(
        &w,
        &space,
        json!([
            { "operation": "update_page", "page": end, "title": "The end" },
            { "operation": "insert_page", "title": "New", "into": group, "document": { "markdown": "Text.\n" } },
            { "operation": "insert_page", "title": "Part three", "type": "group" },
        ]),
    )
    .await;
    exported(&w, &space).await;
    let (after, part) = (files(&remote), "- [Second](part/second.md)\n");
    let expected = before["src/SUMMARY.md"]
        .replace(part, &format!("{part}- [New](part-one/new.md)\n"))
        .replace("[End](end.md)\n", "[The end](end.md)\n\n# Part three\n");
    assert_eq!(after["src/SUMMARY.md"], expected);
    assert_eq!(after["book.toml"], before["book.toml"]);
    assert_same_after_import(&w, &remote, &space).await;
}

#[tokio::test]
async fn honkit_repository_imports_and_exports_unchanged() {
    let (w, remote, space) = world_of(&[
        (
            "book.json",
            "{ \"title\": \"T\", \"root\": \"./docs\", \"structure\": { \"readme\": \"start.md\" }, \"plugins\": [\"x\"] }",
        ),
        (
            "docs/SUMMARY.md",
            "# Summary\n\n### Part I\n\n* [Start](start.md)\n    * [Place](start.md#place)\n* [Web](https://example.com)\n\n\
             ----\n\n### Part II\n\n* [Next](next)\n* [Later](later.md)\n",
        ),
        ("docs/start.md", "# Start\n\n## Place\n\n[next](next.html)\n"),
        ("docs/next.md", "# Next {#other}\n\n## Below {#below}\n"),
        ("docs/GLOSSARY.md", "## Word\nMeaning\n"),
        ("README.md", "# About the repository\n"),
    ])
    .await;
    assert_eq!(
        outline(&w, &space).await,
        [
            "Part I /part-i",
            "  Start /part-i/start",
            "    Place /",
            "  Web /",
            "Part II /part-ii",
            "  Next /part-ii/next",
            "  Later /part-ii/later"
        ]
    );
    assert!(log(&latest(&w, &space).await).contains("book.json: plugins are not run: `x`"));
    let before = files(&remote);
    assert_same_after_import(&w, &remote, &space).await;
    assert_eq!(files(&remote), before);
}

#[tokio::test]
async fn gitbook_configuration_takes_precedence_over_a_book() {
    let mut all = MDBOOK.to_vec();
    all.extend([
        (".gitbook.yaml", "root: other\n"),
        ("other/README.md", "# Other\n"),
        ("other/SUMMARY.md", "* [O](README.md)\n"),
    ]);
    let (w, _, space) = world_of(&all).await;
    assert_eq!(outline(&w, &space).await, ["Other /readme"]);
}

#[tokio::test]
async fn unreadable_books_are_imported_with_the_defaults() {
    let long = "#".repeat(usize::try_from(MAX_BOOK_BYTES).expect("a length") + 1);
    for (name, text, warning) in [
        ("book.toml", "[book", "book.toml: not valid TOML"),
        ("book.toml", &*long, "book.toml: must be at most 256 KiB; the defaults apply"),
        ("book.json", "{", "book.json: not valid JSON"),
        (
            "book.js",
            "module.exports = {}",
            "book.js: a program, which is not run; write the settings to book.json",
        ),
    ] {
        let root = if name == "book.toml" { "src/" } else { "" };
        let summary = (format!("{root}SUMMARY.md"), format!("{root}a.md"));
        let (w, remote, space) =
            world_of(&[(name, text), (&summary.0, "* [A](a.md)\n* [B](b.md)\n"), (&summary.1, "# A\n")])
                .await;
        let log = log(&latest(&w, &space).await);
        assert!(log.contains(warning), "{log}");
        assert_eq!(outline(&w, &space).await, ["A /a", "B /b"], "{name}");
        let before = files(&remote);
        assert_same_after_import(&w, &remote, &space).await;
        assert_eq!(files(&remote), before);
    }
}

#[tokio::test]
async fn export_of_a_book_to_a_bare_repository_can_be_imported() {
    let (w, remote, space) = world_of(MDBOOK).await;
    let before = files(&remote);
    remote.edit(|repository| repository.files.clear());
    assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
    let exported = files(&remote);
    assert_eq!(
        exported["book.toml"],
        "[book]\ntitle = \"Guide\"\nsrc = \"src\"\n\n[output.html.redirect]\n\
         \"/old/place.html\" = \"/part/first.html\"\n"
    );
    assert!(!exported.contains_key(".gitbook.yaml"), "{exported:?}");
    // The repository has no table of contents that names the first page of the whole book.
    assert_eq!(exported["src/intro.md"], MDBOOK[2].1.replace("print.html", "intro.md"));
    let changes = ["book.toml", "src/SUMMARY.md", "src/intro.md", "src/unlisted.md"];
    assert_eq!(changed(&before, &exported), changes);
    assert_same_after_import(&w, &remote, &space).await;
    assert_eq!(changed(&exported, &files(&remote)), Vec::<String>::new());
}

/// A book of HonKit whose pages contain templates.
const TEMPLATES: &[(&str, &str)] = &[
    (
        "book.json",
        "{ \"title\": \"Course\", \"structure\": { \"readme\": \"start.md\" }, \"variables\": { \"version\": 3 } }",
    ),
    ("SUMMARY.md", "# Summary\n\n* [Start](start.md)\n"),
    ("start.md", "# Start\n\n{{ book.title }} {{ book.version }}\n\n{% include \"./part.html\" %}\n"),
    ("part.html", "<p>The part <img src=\"p.png\"></p>"),
    ("p.png", "picture"),
];

fn without_ids(text: &str) -> String {
    ["/files/", "/pages/"].into_iter().fold(text.to_owned(), |text, place| {
        let mut parts = text.split(place);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |out, part| {
            out + place + part.trim_start_matches(|c: char| c.is_ascii_alphanumeric())
        })
    })
}

#[tokio::test]
async fn included_text_survives_an_export_to_a_bare_repository() {
    let (w, _, space) = world_of(TEMPLATES).await;
    let text = shown(&w, &space, "start").await;
    assert!(text.contains("Course 3") && text.contains("The part"), "{text}");
    assert_survives_a_bare_repository(TEMPLATES, &["start"]).await;
}

/// Exports a space to a bare repository, imports that into another space, and compares what readers see at some paths.
async fn assert_survives_a_bare_repository(all: &[(&str, &str)], paths: &[&str]) -> BTreeMap<String, String> {
    let (w, remote, space) = world_of(all).await;
    remote.edit(|repository| repository.files.clear());
    assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
    let exported = files(&remote);
    let again = w.space().await;
    let job = run_import(&w, &again, "").await;
    assert_eq!((job.state, job.error), (JobState::Done, None));
    for path in paths {
        let (first, second) = (shown(&w, &space, path).await, shown(&w, &again, path).await);
        assert_eq!(without_ids(&second), without_ids(&first), "{path}");
    }
    remote.edit(|repository| repository.files.clear());
    assert_eq!(export(&w, &again, json!({ "force": true })).await, (JobState::Done, None));
    assert_eq!(changed(&exported, &files(&remote)), Vec::<String>::new());
    exported
}

#[tokio::test]
async fn included_files_survive_an_export_to_a_bare_repository() {
    let exported = assert_survives_a_bare_repository(LISTINGS, &["one", "two", "three"]).await;
    // The configuration and the table of contents are written from the content of the space.
    let is_written = |path: &str| ["book.toml", "src/SUMMARY.md"].contains(&path);
    for (path, text) in LISTINGS.iter().filter(|(path, _)| !is_written(path)) {
        assert_eq!(exported.get(*path).map(String::as_str), Some(*text), "{path}");
    }
    let own = [
        LISTINGS[0],
        ("src/SUMMARY.md", "# Summary\n\n- [One](one.md)\n"),
        ("src/one.md", "# One\n\n{{#include SUMMARY.md}}\n\n```toml\n{{#include ../book.toml}}\n```\n"),
    ];
    let exported = assert_survives_a_bare_repository(&own, &[]).await;
    assert_eq!(exported.keys().collect::<Vec<_>>(), ["book.toml", "src/SUMMARY.md", "src/one.md"]);
}

#[tokio::test]
async fn book_values_beyond_the_stored_size_are_reported() {
    let book = format!("{{ \"variables\": {{ \"a\": \"{}\", \"b\": \"c\" }} }}", "x".repeat(16 << 10));
    let all = [
        ("book.json", book.as_str()),
        ("SUMMARY.md", "# Summary\n\n* [Start](README.md)\n"),
        ("README.md", "# Start\n\n{{ book.b }}\n"),
    ];
    let (w, remote, space) = world_of(&all).await;
    let log = log(&latest(&w, &space).await);
    assert!(log.contains("book.json: exports to other repositories omit 1 variables"), "{log}");
    remote.edit(|repository| repository.files.clear());
    assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
    assert_eq!(files(&remote)["book.json"], "{\n  \"variables\": {\n    \"b\": \"c\"\n  }\n}\n");
}

/// Returns the Markdown of the page at a path, as visitors of a site see it.
async fn shown(w: &World, space: &SpaceId, path: &str) -> String {
    let of = ContentVersion::space(space.clone());
    let options = ContentOptions {
        format: ContentFormat::Markdown,
        evaluated: Evaluated::Yes,
        ..ContentOptions::default()
    };
    match w.as_admin().content(&of).get_page_by_path(path, options).await.expect(path) {
        RevisionPage::Document(page) => page.markdown.unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

/// A book whose pages include other files.
const LISTINGS: &[(&str, &str)] = &[
    ("book.toml", "[book]\ntitle = \"Guide\"\n"),
    ("src/SUMMARY.md", "# Summary\n\n- [One](one.md)\n- [Two](two.md)\n- [Three](three.md)\n"),
    (
        "src/one.md",
        "{{#title The first}}\n# One\n\n```rust\n{{#rustdoc_include ../listings/a.rs:body}}\n```\n\nSome {{#include part/b.md}} here.\n\n\
         {{#include ../gone.md}}\n\\{{#include x}}\n",
    ),
    ("src/two.md", "{{#title Second page}}\n\n{{#playground ../listings/a.rs}}\n"),
    ("src/three.md", "# Three\n\nPlain.\n"),
    ("src/part/b.md", "[three](three.md) ![p](p.png) {{#include c.txt}}"),
    ("src/part/c.txt", "deep"),
    ("src/p.png", "picture"),
    ("listings/a.rs", "// ANCHOR: body\nfn main() {}\n// ANCHOR_END: body\n"),
];

#[tokio::test]
async fn directives_of_mdbook_are_evaluated_for_readers_only() {
    let (w, remote, space) = world_of(LISTINGS).await;
    assert_eq!(outline(&w, &space).await, ["One /one", "Second page /two", "Three /three"]);
    let three = at(&w, &space, "three").await;
    let text = shown(&w, &space, "one").await;
    let file =
        text.split("![p](").nth(1).and_then(|rest| rest.split(')').next()).expect("a picture").to_owned();
    assert!(file.starts_with("/files/"), "{text}");
    assert_eq!(
        text,
        format!(
            "\n\n```rust\nfn main() {{}}\n```\n\nSome [three](/pages/{three}) ![p]({file}) deep here.\n\n\n{{{{#include x}}}}\n"
        )
    );
    assert!(shown(&w, &space, "two").await.contains("```rust\n// ANCHOR: body\nfn main() {}"));
    let source = markdown(&w, &space, "one").await;
    assert!(source.contains("{{#rustdoc_include ../listings/a.rs:body}}"), "{source}");
    let log = log(&latest(&w, &space).await);
    assert!(log.contains("src/one.md: the included file `../gone.md` does not exist"), "{log}");
    let before = files(&remote);
    assert_same_after_import(&w, &remote, &space).await;
    assert_eq!(files(&remote), before);
}

#[tokio::test]
async fn documents_of_mdbook_pages_contain_the_results() {
    let (w, _, space) = world_of(LISTINGS).await;
    let of = ContentVersion::space(space.clone());
    let one = at(&w, &space, "one").await;
    let document =
        w.as_admin().content(&of).get_page_document(&one, Evaluated::Yes.into()).await.expect("a document");
    assert!(plain_text(&document).contains("fn main() {}"));
    let RevisionPage::Document(page) = crate::support::page(&w, &of, &one).await else {
        panic!("a document")
    };
    let by_id =
        w.as_admin().space(&space).get_document(&page.document_id.expect("an id")).await.expect("a document");
    assert_eq!(by_id, document);
    assert_ne!(page.base.title, "The first");
}

#[tokio::test]
async fn included_text_survives_an_edit_and_follows_its_file() {
    let (w, remote, space) = world_of(LISTINGS).await;
    let one = at(&w, &space, "one").await;
    let source = markdown(&w, &space, "one").await;
    change(&w, &space, set(&one, &source.replace("Some", "Any"))).await;
    let text = shown(&w, &space, "one").await;
    assert!(text.contains("fn main() {}") && text.contains("Any [three]"), "{text}");
    exported(&w, &space).await;
    assert_eq!(files(&remote)["src/one.md"], LISTINGS[2].1.replace("Some", "Any"));
    for (path, text, page, expected) in [
        ("listings/a.rs", "// ANCHOR: body\nfn other() {}\n", "one", "fn other() {}"),
        // An included page.
        ("src/three.md", "# Three\n\n{{#include one.md:8}}\n", "three", "Any [three]"),
        ("src/part/c.txt", "new", "one", "new here."),
    ] {
        remote.put(path, text.to_owned());
        import_again(&w, &space).await;
        let text = shown(&w, &space, page).await;
        assert!(text.contains(expected), "{text}");
    }
    w.check().await;
}

#[tokio::test]
async fn change_of_an_included_page_changes_the_including_page() {
    let mut all = LISTINGS.to_vec();
    for number in 0..20 {
        let path: &'static str = Box::leak(format!("src/x{number}.md").into_boxed_str());
        all.push((path, "# X\n"));
    }
    let summary: String = (0..20).map(|number| format!("- [X](x{number}.md)\n")).collect();
    let summary = format!("{}{summary}", LISTINGS[1].1);
    all[1].1 = &summary;
    all[4].1 = "# Three\n\n{{#include x1.md:3}}\n";
    let (w, remote, space) = world_of(&all).await;
    assert_eq!(shown(&w, &space, "three").await.trim(), "");
    remote.put("src/x1.md", "# X\n\nLater.\n".to_owned());
    w.clock.advance(Duration::from_millis(1));
    let request = json!({ "url": URL, "ref": "refs/heads/main" });
    w.as_admin()
        .space(&space)
        .import_git(serde_json::from_value(request).expect("a request"))
        .await
        .expect("enqueued");
    w.platform.settle().await.expect("settled");
    assert_eq!(shown(&w, &space, "three").await.trim(), "Later.");
}

#[tokio::test]
async fn templates_of_honkit_are_evaluated_for_readers_only() {
    let (w, remote, space) = world_of(&[
        ("book.json", "{ \"title\": \"Course\", \"variables\": { \"version\": 3 } }"),
        ("SUMMARY.md", "# Summary\n\n* [Start](README.md)\n* [Part](part.md)\n"),
        (
            "README.md",
            "# Start\n\n{{ book.title }} {{ book.version }}\n\n{% include \"./part.md\" %}\n\n```js\n{% raw %}{{ x }}{% endraw %}\n```\n",
        ),
        ("part.md", "The [part](part.md).\n"),
    ])
    .await;
    let part = at(&w, &space, "part").await;
    assert_eq!(
        shown(&w, &space, "readme").await,
        format!(
            "Course 3\n\nThe [part](/pages/{part}).\n\n```js\n{{% raw %}}{{{{ x }}}}{{% endraw %}}\n```\n"
        )
    );
    let before = files(&remote);
    assert_same_after_import(&w, &remote, &space).await;
    assert_eq!(files(&remote), before);
}

#[tokio::test]
async fn languages_of_a_honkit_book_share_its_configuration() {
    let (w, remote, space) = world_of(&[
        ("book.json", "{ \"variables\": { \"version\": 3 } }"),
        ("LANGS.md", "* [English](en/)\n* [日本語](ja/)\n* [Français](fr/)\n"),
        ("README.md", "# About\n"),
        ("en/SUMMARY.md", "* [Start](README.md)\n"),
        ("en/README.md", "# Start\n\n{% set x = \"a\" %}{{ book.version }} {{ x }}\n"),
        ("ja/SUMMARY.md", "* [Start](README.md)\n"),
        ("ja/README.md", "# Start\n\n{{ book.version }}\n"),
        ("ja/book.json", "{ \"variables\": { \"version\": 4 } }"),
    ])
    .await;
    let reported = log(&latest(&w, &space).await);
    assert!(reported.contains("as the project directory, such as `en`, `ja`"), "{reported}");
    let before = files(&remote);
    for (folder, expected) in [("en", "3 a\n"), ("ja", "4\n")] {
        import_folder(&w, &space, folder).await;
        let pages = outline(&w, &space).await;
        let path = pages[0].strip_prefix("Start /").expect("the first page of the language");
        assert_eq!((pages.len(), shown(&w, &space, path).await.as_str()), (1, expected));
        let request = json!({ "force": true, "repoProjectDirectory": folder });
        assert_eq!(export(&w, &space, request).await, (JobState::Done, None));
        assert_eq!(files(&remote), before);
    }
}

#[tokio::test]
async fn variables_that_expand_to_too_much_text_fail_the_import() {
    let pages = |count: usize| {
        let text = format!("# P\n\n{{% set a = \"{}\" %}}{}\n", "x".repeat(450), "{{ a }}".repeat(2_000));
        let summary: String = (10..10 + count).map(|page| format!("* [P{page}](p{page}.md)\n")).collect();
        let pages = (10..10 + count).map(move |page| (format!("p{page}.md"), text.clone()));
        let files = [("book.json".to_owned(), "{}".to_owned()), ("SUMMARY.md".to_owned(), summary)];
        files.into_iter().chain(pages).collect::<Vec<(String, String)>>()
    };
    // Each page adds 0.9 MB.
    let files = pages(50);
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (w, remote, space) = world_of(&files).await;
    assert_eq!(outline(&w, &space).await.len(), 50);
    for (path, text) in pages(60) {
        remote.put(&path, text);
    }
    let job = run_import(&w, &space, "").await;
    let error = job.error.unwrap_or_default();
    assert_eq!(job.state, JobState::Failed, "{error}");
    let expected = "p66.md: the includes and variables of all pages must add at most 50 MB of text together";
    assert!(error.starts_with(expected), "{error}");
    assert_eq!(outline(&w, &space).await.len(), 50, "the space is unchanged");
}

#[tokio::test]
async fn symbolic_links_are_not_included() {
    let (w, remote, space) = world_of(LISTINGS).await;
    remote.edit(|repository| {
        repository.links.insert("listings/a.rs".to_owned(), "../src/three.md".to_owned());
        repository.files.remove("listings/a.rs");
    });
    import_again(&w, &space).await;
    let log = log(&latest(&w, &space).await);
    assert!(log.contains("src/one.md: the included file `../listings/a.rs` is a symbolic link"), "{log}");
    assert!(shown(&w, &space, "one").await.contains("```rust\n\n```"));
}

#[tokio::test]
async fn merge_keeps_the_edit_and_the_newest_included_text() {
    let (w, remote, space) = world_of(LISTINGS).await;
    let one = at(&w, &space, "one").await;
    let source = markdown(&w, &space, "one").await;
    let requests = w.as_admin().space(&space).change_requests();
    let number = requests.create(CreateChangeRequest::default()).await.expect("created").number.to_string();
    let changes = json!({ "changes": set(&one, &source.replace("Some", "Any")) });
    let request = || w.as_admin().space(&space).change_request(&number);
    request().edit(serde_json::from_value(changes).expect("changes")).await.expect("edited");
    remote.put("listings/a.rs", "// ANCHOR: body\nfn newest() {}\n".to_owned());
    import_again(&w, &space).await;
    assert_eq!(request().merge().await.expect("merged").result, MergeOutcome::Merge);
    let text = shown(&w, &space, "one").await;
    assert!(text.contains("fn newest() {}") && text.contains("Any [three]"), "{text}");
    w.check().await;
}
