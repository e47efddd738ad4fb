//! Exported files, and the round trip: importing an export changes nothing.

use docs_core::model::JobState;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::support::block_on;

#[tokio::test]
async fn first_export_of_a_space_contains_all_of_its_content() {
    let (w, remote, space) = world_of(&[]).await;
    let made = change(
        &w,
        &space,
        json!([
            insert("Welcome", "Hello *there*.\n"),
            insert("Guides", ""),
            { "operation": "insert_page", "title": "Reference", "type": "group" },
            { "operation": "insert_page", "title": "Elsewhere", "type": "link",
              "target": { "kind": "url", "url": "https://example.com/a" } },
        ]),
    )
    .await;
    let (welcome, guides, group) = (&made[0], &made[1], &made[2]);
    change(
        &w,
        &space,
        json!([
            { "operation": "insert_page", "title": "First: steps", "into": guides, "description": "How to: start",
              "document": { "markdown": format!("[home](/pages/{welcome}#top)\n") } },
            { "operation": "insert_page", "title": "Errors", "into": group, "emoji": "🚨", "hidden": true,
              "document": { "markdown": "None.\n" } },
        ]),
    )
    .await;
    exported(&w, &space).await;
    let files = files(&remote);
    assert_eq!(
        files["SUMMARY.md"],
        "# Table of contents\n\n* [Welcome](README.md)\n* [Guides](guides/README.md)\n  * [First: steps](guides/first-steps.md)\n\n\
         ## Reference\n\n* [🚨 Errors](reference/errors.md)\n\n***\n\n* [Elsewhere](https://example.com/a)\n"
    );
    assert_eq!(files["README.md"], "# Welcome\n\nHello *there*.\n");
    assert_eq!(files["guides/README.md"], "# Guides\n");
    assert_eq!(
        files["guides/first-steps.md"],
        "---\ndescription: \"How to: start\"\n---\n\n# First: steps\n\n[home](../README.md#top)\n"
    );
    assert_eq!(files["reference/errors.md"], "---\nhidden: true\n---\n\n# 🚨 Errors\n\nNone.\n");
    assert_eq!(files.len(), 5, "{files:?}");
    assert_same_after_import(&w, &remote, &space).await;
}

/// Checks that importing the export changes nothing, and neither does another export.
pub(super) async fn assert_same_after_import(w: &World, remote: &MemGit, space: &SpaceId) {
    let (before, there, made) = (content(w, space).await, files(remote), commits(remote));
    assert_eq!(export(w, space, json!({ "force": true })).await, (JobState::Done, None));
    assert_eq!((commits(remote), files(remote)), (made, there.clone()), "a second export makes no commit");
    import_again(w, space).await;
    let after = content(w, space).await;
    assert_same(&before, &after, &there);
    assert_eq!(export(w, space, json!({ "force": true })).await, (JobState::Done, None));
    assert_eq!((commits(remote), files(remote)), (made, there), "an export of an import makes no commit");
    w.check().await;
}

/// Compares two values, and prints only the differences.
fn assert_same(before: &Value, after: &Value, files: &BTreeMap<String, String>) {
    let lines = |value| -> Vec<String> {
        serde_json::to_string_pretty(value).expect("JSON").lines().map(str::to_owned).collect()
    };
    let (before, after) = (lines(before), lines(after));
    let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    let new: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
    assert!(before == after, "lost: {lost:#?}\nnew: {new:#?}\n{files:#?}");
}

/// A repository with noncanonical formatting.
pub(super) const AWKWARD: &[(&str, &str)] = &[
    (".gitbook.yaml", "root: ./docs/\nstructure:\n  readme: start.md\n  summary: nav/TOC.md\n"),
    ("package.json", "{}\n"),
    (
        "docs/nav/TOC.md",
        "\u{feff}# Summary\r\n\r\n<!-- first -->\r\n- [Begin](../start.md \"Short\")\r\n    - [A *page*](../One%20two.md)\r\n\
         - Nothing\r\n    - [Deep](../a/b/c.md)\r\n\r\n## API <a href=\"#x\" id=\"x\"></a>\r\n\r\n- [Call](../api/call.md)\r\n\
         - [Web](https://example.com)\r\n- [Picture](../img/p.svg)\r\n",
    ),
    ("docs/start.md", "---\n# hello\ntitle:   'Begin'\ncustom: [1,  2]\n---\n\n\nText  \nmore   \n"),
    (
        "docs/One two.md",
        "\u{feff}---\r\ndescription: >-\r\n  A long\r\n  text\r\nicon: rocket\r\n---\r\n\r\nPage\r\n====\r\n\r\n\
         See [it][1] and [that](./a/b/c.md#x), [again](<a/b/c.md>).\r\n\r\n![p](img/p.svg)\r\n\r\n[1]: /start.md 'T'\r\n",
    ),
    (
        "docs/a/b/c.md",
        "# Deep\n\n<a href=../../start.md>up</a> {% include \"../../.gitbook/includes/note.md\" %}\n",
    ),
    ("docs/api/call.md", "# Call ##\n\n[gone](gone.md)"),
    ("docs/unlisted.md", "# Not a page\n"),
    ("docs/img/p.svg", "<svg/>"),
    ("docs/.gitbook/assets/a (1).txt", "file"),
    ("docs/.gitbook/includes/note.md", "---\ntitle: Note\n---\n# In it\n\n[s](../../start.md)\n"),
    ("docs/.gitbook/vars.yaml", "# mine\nversion:   '1.0'\nlimit: 5\n"),
];

#[tokio::test]
async fn forced_export_without_edits_keeps_every_byte() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
    assert_eq!((commits(&remote), files(&remote)), (0, before));
    assert_same_after_import(&w, &remote, &space).await;
}

#[tokio::test]
async fn page_titled_readme_keeps_its_path() {
    let (w, remote, space) = world_of(&[]).await;
    change(&w, &space, json!([insert("Welcome", "Hello.\n"), insert("README", "Text.\n")])).await;
    exported(&w, &space).await;
    assert_same_after_import(&w, &remote, &space).await;
    let readme = at(&w, &space, "readme").await;
    change(&w, &space, set(&readme, "Other.\n")).await;
    exported(&w, &space).await;
    assert_same_after_import(&w, &remote, &space).await;
}

/// A repository without configuration and documentation gets the directory layout that the space was imported with.
#[tokio::test]
async fn export_keeps_the_layout_of_the_space_in_a_bare_repository() {
    for (added, is_same) in [
        (None, true),
        (Some(("README.md", "# Made by a host\n")), true),
        // The repository already contains documentation, in the default location.
        (Some(("SUMMARY.md", "* [Other](other.md)\n")), false),
    ] {
        let (w, remote, space) = world_of(AWKWARD).await;
        let before = files(&remote);
        remote.edit(|repository| {
            repository.files.clear();
            repository.message = "Nothing".to_owned();
        });
        added.iter().for_each(|(path, text)| remote.put(path, (*text).to_owned()));
        assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
        let after = files(&remote);
        let texts: Vec<_> = ["docs/start.md", "docs/One two.md", "docs/a/b/c.md", "docs/api/call.md"].into();
        let same = texts.iter().filter(|path| after.get(**path) == Some(&before[**path])).count();
        assert_eq!(same == texts.len(), is_same, "{after:#?}");
        let config = "root: ./docs/\nstructure:\n  readme: ./start.md\n  summary: ./nav/TOC.md\n";
        assert_eq!(after.get(".gitbook.yaml").map(String::as_str), is_same.then_some(config));
        assert_same_after_import(&w, &remote, &space).await;
    }
}

#[tokio::test]
async fn a_bare_repository_gets_the_folder_of_the_last_import() {
    let (w, remote, _) = world_of(&[
        ("docs/SUMMARY.md", "# Table of contents\n\n* [Home](README.md)\n* [Page](part/page.md)\n"),
        ("docs/README.md", "# Home\n\n![a](.gitbook/assets/a.png)\n"),
        ("docs/part/page.md", "# Page\n\n{% include \"../.gitbook/includes/note.md\" %}\n"),
        ("docs/.gitbook/assets/a.png", "a"),
        ("docs/.gitbook/assets/unlinked.json", "{}"),
        ("docs/.gitbook/includes/note.md", "---\ntitle: Note\n---\nText\n"),
    ])
    .await;
    let before = files(&remote);
    let space = w.space().await;
    import_folder(&w, &space, "docs").await;
    remote.edit(|repository| {
        repository.files.clear();
        repository.message = "Nothing".to_owned();
    });
    exported(&w, &space).await;
    assert_eq!(changed(&before, &files(&remote)), [".gitbook.yaml"]);
    assert_eq!(files(&remote)[".gitbook.yaml"], "root: ./docs/\n");
    assert_same_after_import(&w, &remote, &space).await;
}

/// Returns the names of the files that differ.
pub(super) fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

#[tokio::test]
async fn edited_page_changes_only_its_edited_parts() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    let one = at(&w, &space, "start/one-two").await;
    let deep = at(&w, &space, "nothing/c").await;
    let of = ContentVersion::space(space.clone());
    let RevisionPage::Document(page) = crate::support::page(&w, &of, &one).await else {
        panic!("a document")
    };
    let text = page
        .markdown
        .expect("markdown")
        .replace("and [that]", &format!("or [new](/pages/{deep}) and [that]"));
    let mut edits = set(&one, &text);
    edits[0]["description"] = json!("short");
    change(&w, &space, edits).await;
    exported(&w, &space).await;
    let after = files(&remote);
    assert_eq!(changed(&before, &after), ["docs/One two.md"]);
    assert_eq!(
        after["docs/One two.md"],
        before["docs/One two.md"]
            .replace("description: >-\r\n  A long\r\n  text\r\n", "description: short\r\n")
            .replace("and [that]", "or [new](a/b/c.md) and [that]")
    );
    assert_same_after_import(&w, &remote, &space).await;
}

#[tokio::test]
async fn moved_page_moves_its_file_and_updates_links_to_it() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    let deep = at(&w, &space, "nothing/c").await;
    let group = at(&w, &space, "x").await;
    change(&w, &space, json!([{ "operation": "update_page", "page": deep, "into": group, "at": 0 }])).await;
    exported(&w, &space).await;
    let after = files(&remote);
    assert_eq!(
        changed(&before, &after),
        ["docs/One two.md", "docs/a/b/c.md", "docs/nav/TOC.md", "docs/x/c.md"]
    );
    assert_eq!(
        after["docs/x/c.md"],
        "# Deep\n\n<a href=\"../start.md\">up</a> {% include \"../.gitbook/includes/note.md\" %}\n"
    );
    assert_eq!(
        after["docs/One two.md"],
        before["docs/One two.md"].replace("./a/b/c.md", "x/c.md").replace("a/b/c.md", "x/c.md")
    );
    assert_eq!(
        after["docs/nav/TOC.md"],
        before["docs/nav/TOC.md"]
            .replace("    - [Deep](../a/b/c.md)\r\n", "")
            .replace("- [Call]", "- [Deep](../x/c.md)\r\n- [Call]")
    );
    assert_same_after_import(&w, &remote, &space).await;
}

#[tokio::test]
async fn deleted_page_deletes_its_file_and_breaks_links_to_it() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    let deep = at(&w, &space, "nothing/c").await;
    change(&w, &space, json!([{ "operation": "delete_page", "page": deep }])).await;
    exported(&w, &space).await;
    let after = files(&remote);
    assert_eq!(changed(&before, &after), ["docs/One two.md", "docs/a/b/c.md", "docs/nav/TOC.md"]);
    assert!(!after.contains_key("docs/a/b/c.md"));
    assert!(after["docs/One two.md"].contains(&format!("[that](/broken/pages/{deep}#x)")), "{after:?}");
    assert_same_after_import(&w, &remote, &space).await;
}

/// No file contains the new slug of its parent.
#[tokio::test]
async fn page_without_file_keeps_its_id_after_a_parent_slug_change() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let (start, nothing) = (at(&w, &space, "start").await, at(&w, &space, "nothing").await);
    let below = json!({ "operation": "insert_page", "title": "A", "into": start, "at": 0, "document": {} });
    change(&w, &space, json!([{ "operation": "update_page", "page": nothing, "into": start, "at": 0 }]))
        .await;
    change(&w, &space, json!([below])).await;
    exported(&w, &space).await;
    change(&w, &space, json!([{ "operation": "update_page", "page": start, "slug": "a" }])).await;
    exported(&w, &space).await;
    assert_same_after_import(&w, &remote, &space).await;
    assert_eq!(at(&w, &space, "a/nothing").await, nothing);
}

#[tokio::test]
async fn a_space_without_pages_is_not_exported() {
    let (w, remote, space) = world_of(&[]).await;
    let made = change(&w, &space, json!([insert("Welcome", "Hello.\n")])).await;
    let below = json!({ "operation": "insert_page", "title": "Below", "into": made[0], "document": { "markdown": "x\n" } });
    change(&w, &space, json!([below])).await;
    exported(&w, &space).await;
    let before = files(&remote);
    change(&w, &space, json!([{ "operation": "delete_page", "page": made[0] }])).await;
    let (state, error) = export(&w, &space, json!({})).await;
    assert_eq!(state, JobState::Failed, "nobody could import what that would leave");
    assert!(error.expect("why").contains("must contain a Markdown file"), "it is said what is missing");
    assert_eq!(files(&remote), before);
    w.check().await;
}

#[tokio::test]
async fn new_page_never_overwrites_an_existing_file() {
    let files_there = [
        ("SUMMARY.md", "* [Start](README.md)\n"),
        ("README.md", "# Start\n"),
        ("new.md", "not a page\n"),
        ("NEW/readme.MD", "not a page\n"),
        ("e\u{301}tude.md", "not a page\n"),
    ];
    let (w, remote, space) = world_of(&files_there).await;
    let before = files(&remote);
    change(&w, &space, json!([insert("New", "a\n"), insert("Étude", "b\n"), insert("Summary", "c\n")])).await;
    exported(&w, &space).await;
    let after = files(&remote);
    for (path, text) in &files_there[1..] {
        assert_eq!(after[*path], *text);
    }
    assert_eq!(
        changed(&before, &after),
        ["SUMMARY.md", "new-1.md", "summary/README.md", "\u{e9}tude/README.md"],
    );
}

#[tokio::test]
async fn files_reusables_and_variables_are_exported_for_import() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    let one = at(&w, &space, "start/one-two").await;
    let reusable = {
        let of = ContentVersion::space(space.clone());
        w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read").reusable_contents[0]
            .id
            .clone()
    };
    change(
        &w,
        &space,
        json!([
            { "operation": "insert_files", "files": [{ "name": "A (1).txt", "contentType": "text/plain", "base64": "eA==" }] },
            { "operation": "update_reusable_content", "reusableContent": reusable, "title": "Hint" },
            { "operation": "insert_reusable_content", "title": "Note", "document": { "markdown": "# Own\n\nx\n" } },
            { "operation": "update_variables", "variables": { "limit": 6, "beta": true } },
            { "operation": "update_page", "page": one, "title": "One & *two*" },
        ]),
    )
    .await;
    exported(&w, &space).await;
    let after = files(&remote);
    assert_eq!(
        changed(&before, &after),
        [
            "docs/.gitbook/assets/A (1) (1).txt",
            "docs/.gitbook/includes/note-1.md",
            "docs/.gitbook/includes/note.md",
            "docs/.gitbook/vars.yaml",
            "docs/One two.md",
        ]
    );
    assert_eq!(after["docs/.gitbook/vars.yaml"], "# mine\nversion:   '1.0'\nlimit: 6\nbeta: true\n");
    assert_eq!(
        after["docs/.gitbook/includes/note.md"],
        before["docs/.gitbook/includes/note.md"].replace("title: Note", "title: Hint")
    );
    assert_eq!(after["docs/.gitbook/includes/note-1.md"], "---\ntitle: Note\n---\n\n# Own\n\nx\n");
    assert!(after["docs/One two.md"].contains("\r\n\r\n# One & \\*two\\*\r\n\r\nSee"), "{after:?}");
    assert_same_after_import(&w, &remote, &space).await;
}

/// An action on a space. Indexes are taken modulo the number of pages.
#[derive(Clone, Debug)]
enum Act {
    Insert { title: String, text: String, below: usize, at: u32 },
    Group { title: String },
    Link { title: String, to: Option<usize> },
    Text { page: usize, text: String },
    Fields { page: usize, fields: Value },
    Lead { page: usize, to: usize },
    Move { page: usize, below: usize, at: u32 },
    Delete { page: usize },
    File { name: String },
    Reusable { title: String, text: String },
    Variable { name: String, value: Value },
}

fn title() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-C][a-c]{0,2}( [a-c]{1,3})?",
        1 => prop::sample::select(vec![
            "README", "Summary", "1. First", "a *b* [c](d) `e`", "C#", "x #", "été", "Ete\u{301}", "&amp; <b>", "true", "_a_b_",
        ]).prop_map(str::to_owned),
    ]
}

fn markdown() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        3 => "[a-d ]{0,6}",
        1 => prop::sample::select(vec![
            "# Title", "---", "```", "* item", "[x](gone.md)", "<b>&amp;", "a: b", "text  \r", "\u{feff}", "Title\n===",
        ]).prop_map(str::to_owned),
    ];
    // Leading blank lines are not part of the content of a file.
    proptest::collection::vec(line, 0..6).prop_map(|lines| lines.join("\n").trim_start().to_owned())
}

fn fields() -> impl Strategy<Value = Value> {
    prop_oneof![
        title().prop_map(|title| json!({ "title": title })),
        "[a-z: #\"'-]{0,12}[a-z]".prop_map(|text| json!({ "description": text })),
        Just(json!({ "emoji": "🚀" })),
        Just(json!({ "icon": "rocket" })),
        Just(json!({ "icon": null, "emoji": null })),
        any::<[bool; 3]>().prop_map(|[a, b, c]| json!({ "hidden": a, "noIndex": b, "noRobotsIndex": c })),
        "[a-c]{1,3}".prop_map(|slug| json!({ "slug": slug })),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let (place, at) = (any::<usize>, || 0..4_u32);
    prop_oneof![
        3 => (title(), markdown(), place(), at()).prop_map(|(title, text, below, at)| Act::Insert { title, text, below, at }),
        1 => "[D-F][a-c]{0,2}".prop_map(|title| Act::Group { title }),
        1 => ("[a-c]{1,3}", proptest::option::of(place())).prop_map(|(title, to)| Act::Link { title, to }),
        2 => (place(), markdown()).prop_map(|(page, text)| Act::Text { page, text }),
        2 => (place(), fields()).prop_map(|(page, fields)| Act::Fields { page, fields }),
        2 => (place(), place()).prop_map(|(page, to)| Act::Lead { page, to }),
        2 => (place(), place(), at()).prop_map(|(page, below, at)| Act::Move { page, below, at }),
        1 => place().prop_map(|page| Act::Delete { page }),
        1 => "[abAB]{1,2}\\.(png|txt)".prop_map(|name| Act::File { name }),
        1 => (title(), markdown()).prop_map(|(title, text)| Act::Reusable { title, text }),
        1 => ("[a-c]", prop_oneof![Just(json!(null)), Just(json!(1.5)), "[a-z: ]{0,4}".prop_map(Value::from)])
            .prop_map(|(name, value)| Act::Variable { name, value }),
    ]
}

/// A document or a group, with its depth.
struct Place {
    id: PageId,
    is_document: bool,
    depth: usize,
}

/// Returns the documents and groups in reading order.
async fn pages(w: &World, space: &SpaceId) -> Vec<Place> {
    fn walk(pages: &[RevisionPage], depth: usize, out: &mut Vec<Place>) {
        for page in pages {
            match page {
                RevisionPage::Document(page) => {
                    out.push(Place { id: page.base.id.clone(), is_document: true, depth });
                    walk(&page.pages, depth + 1, out);
                }
                RevisionPage::Group(page) => {
                    out.push(Place { id: page.base.id.clone(), is_document: false, depth });
                    walk(&page.pages, depth + 1, out);
                }
                RevisionPage::Link(_) | RevisionPage::Computed(_) => {}
            }
        }
    }
    let of = ContentVersion::space(space.clone());
    let mut out = Vec::new();
    walk(&w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read").pages, 0, &mut out);
    out
}

/// Returns `true` if a document remains without `page` and its descendants. A repository without documents cannot be
/// imported.
fn leaves_a_document(all: &[Place], page: &PageId) -> bool {
    let mut within = None;
    all.iter().any(|place| {
        within = within.filter(|depth| place.depth > *depth).or((place.id == *page).then_some(place.depth));
        within.is_none() && place.is_document
    })
}

/// Returns the change of an action, or `None` if it has no target.
async fn as_change(w: &World, space: &SpaceId, act: &Act) -> Option<Value> {
    let all = pages(w, space).await;
    let documents: Vec<&PageId> =
        all.iter().filter(|place| place.is_document).map(|place| &place.id).collect();
    let of = |n: &usize| documents.get(n % documents.len().max(1)).copied();
    // The extra index stands for the top level.
    let below = |n: &usize| all.get(n % (all.len() + 1)).map(|place| &place.id);
    Some(match act {
        Act::Insert { title, text, below: n, at } => {
            let mut new = insert(title, text);
            new["at"] = json!(at);
            if let Some(id) = below(n) {
                new["into"] = json!(id);
            }
            new
        }
        Act::Group { title } => json!({ "operation": "insert_page", "title": title, "type": "group" }),
        Act::Link { title, to } => {
            let target = match to.and_then(|n| of(&n)) {
                Some(page) => json!({ "kind": "page", "page": page }),
                None => json!({ "kind": "url", "url": "https://example.com/(a" }),
            };
            json!({ "operation": "insert_page", "title": title, "type": "link", "target": target })
        }
        Act::Text { page, text } => set(of(page)?, text)[0].clone(),
        Act::Fields { page, fields } => {
            let mut change = json!({ "operation": "update_page", "page": of(page)? });
            let (Value::Object(all), Value::Object(more)) = (&mut change, fields.clone()) else {
                panic!("maps")
            };
            all.extend(more);
            change
        }
        Act::Lead { page, to } => {
            let (page, to) = (of(page)?, of(to)?);
            let shown = crate::support::page(w, &ContentVersion::space(space.clone()), page).await;
            let RevisionPage::Document(shown) = shown else { panic!("a document") };
            let text =
                format!("[x](/pages/{to}) <a href='/pages/{to}#a'>\n{}", shown.markdown.unwrap_or_default());
            set(page, &text)[0].clone()
        }
        Act::Move { page, below: n, at } => {
            json!({ "operation": "update_page", "page": of(page)?, "into": below(n), "at": at })
        }
        Act::Delete { page } => {
            let page = of(page).filter(|page| leaves_a_document(&all, page))?;
            json!({ "operation": "delete_page", "page": page })
        }
        Act::File { name } => json!({ "operation": "insert_files",
            "files": [{ "name": name, "contentType": "text/plain", "base64": "eA==" }] }),
        Act::Reusable { title, text } => {
            json!({ "operation": "insert_reusable_content", "title": title, "document": { "markdown": text } })
        }
        Act::Variable { name, value } => {
            json!({ "operation": "update_variables", "variables": { name: value } })
        }
    })
}

/// Performs the valid actions. Actions that the platform rejects are skipped.
async fn act_out(w: &World, space: &SpaceId, acts: &[Act]) {
    for act in acts {
        let Some(change) = as_change(w, space, act).await else { continue };
        let requests = w.as_admin().space(space).change_requests();
        let number =
            requests.create(CreateChangeRequest::default()).await.expect("created").number.to_string();
        let update: UpdateContent = serde_json::from_value(json!({ "changes": [change] })).expect("changes");
        let request = || w.as_admin().space(space).change_request(&number);
        if request().edit(update).await.is_ok() {
            request().merge().await.expect("merged");
        }
    }
}

/// Returns the number of random histories: `DOCS_EXPORT_CASES`, or 24.
fn cases() -> u32 {
    std::env::var("DOCS_EXPORT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn import_of_any_export_is_a_no_op(
        is_new in any::<bool>(),
        first in proptest::collection::vec(act(), 0..8),
        then in proptest::collection::vec(act(), 0..8),
    ) {
        block_on(async {
            let (w, remote, space) = world_of(if is_new { &[] } else { AWKWARD }).await;
            if is_new {
                change(&w, &space, json!([insert("Welcome", "Hello.\n")])).await;
            }
            for (round, acts) in [&first, &then].into_iter().enumerate() {
                act_out(&w, &space, acts).await;
                assert_eq!(export(&w, &space, json!({})).await, (JobState::Done, None));
                assert_same_after_import(&w, &remote, &space).await;
                if is_new && round == 0 {
                    assert_eq!(written_anew(&remote).await, files(&remote), "the files alone say everything");
                }
            }
        });
    }
}

/// Imports a repository into a space, and returns its export to an empty repository.
async fn written_anew(remote: &MemGit) -> BTreeMap<String, String> {
    let copy = MemGit::empty();
    let w = World::with_git(Arc::new(copy.clone())).await;
    let space = w.space().await;
    copy.edit(|repository| *repository = remote.edit(|repository| repository.clone()));
    import_again(&w, &space).await;
    copy.edit(|repository| {
        repository.files.clear();
        repository.message = "Nothing".to_owned();
    });
    assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
    files(&copy)
}
