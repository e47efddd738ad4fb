//! What an export writes, file by file, and that an import of it changes nothing.

use docs_core::model::JobState;
use serde_json::json;

use super::*;

#[tokio::test]
async fn a_space_that_was_never_in_git_becomes_a_repository_that_says_the_same() {
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

/// An import of what was exported changes nothing, and neither does another export.
async fn assert_same_after_import(w: &World, remote: &MemGit, space: &SpaceId) {
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

/// Shows only what differs.
fn assert_same(before: &Value, after: &Value, files: &BTreeMap<String, String>) {
    let lines = |value| -> Vec<String> {
        serde_json::to_string_pretty(value).expect("JSON").lines().map(str::to_owned).collect()
    };
    let (before, after) = (lines(before), lines(after));
    let lost: Vec<_> = before.iter().filter(|line| !after.contains(line)).collect();
    let new: Vec<_> = after.iter().filter(|line| !before.contains(line)).collect();
    assert!(before == after, "lost: {lost:#?}\nnew: {new:#?}\n{files:#?}");
}

/// A repository as people write them: nothing in it is as we would write it.
const AWKWARD: &[(&str, &str)] = &[
    (".gitbook.yaml", "root: ./docs/\nstructure:\n  readme: start.md\n  summary: nav/TOC.md\n"),
    ("package.json", "{}\n"),
    (
        "docs/nav/TOC.md",
        "\u{feff}# Summary\r\n\r\n<!-- first -->\r\n- [Begin](../start.md \"Short\")\r\n    - [A *page*](../One%20two.md)\r\n\
         - Nothing\r\n    - [Deep](../a/b/c.md)\r\n\r\n## API <a href=\"#x\" id=\"x\"></a>\r\n\r\n- [Call](../api/call.md)\r\n\
         - [Web](https://example.com)\r\n",
    ),
    ("docs/start.md", "---\n# hello\ntitle:   'Begin'\ncustom: [1,  2]\n---\n\n\nText  \nmore   \n"),
    (
        "docs/One two.md",
        "\u{feff}---\r\ndescription: >-\r\n  A long\r\n  text\r\nicon: rocket\r\n---\r\n\r\nPage\r\n====\r\n\r\n\
         See [it][1] and [that](./a/b/c.md#x), [again](<a/b/c.md>).\r\n\r\n![p](img/p.svg)\r\n\r\n[1]: /start.md 'T'\r\n",
    ),
    ("docs/a/b/c.md", "# Deep\n\n<a href=../../start.md>up</a> {% include \"../../.gitbook/includes/note.md\" %}\n"),
    ("docs/api/call.md", "# Call ##\n\n[gone](gone.md)"),
    ("docs/unlisted.md", "# Not a page\n"),
    ("docs/img/p.svg", "<svg/>"),
    ("docs/.gitbook/assets/a (1).txt", "file"),
    ("docs/.gitbook/includes/note.md", "---\ntitle: Note\n---\n# In it\n\n[s](../../start.md)\n"),
    ("docs/.gitbook/vars.yaml", "# mine\nversion:   '1.0'\nlimit: 5\n"),
];

#[tokio::test]
async fn what_was_not_edited_keeps_every_byte() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    assert_eq!(export(&w, &space, json!({ "force": true })).await, (JobState::Done, None));
    assert_eq!((commits(&remote), files(&remote)), (0, before));
    assert_same_after_import(&w, &remote, &space).await;
}

/// The files that differ.
fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

#[tokio::test]
async fn an_edited_page_changes_where_it_was_edited_alone() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    let one = at(&w, &space, "start/one-two").await;
    let deep = at(&w, &space, "nothing/c").await;
    let of = ContentOf::space(space.clone());
    let RevisionPage::Document(page) = crate::support::page(&w, &of, &one).await else { panic!("a document") };
    let text = page.markdown.expect("markdown").replace("and [that]", &format!("or [new](/pages/{deep}) and [that]"));
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
async fn a_moved_page_moves_its_file_and_the_links_to_it() {
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
async fn a_deleted_page_deletes_its_file_and_nothing_else() {
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

#[tokio::test]
async fn a_new_page_never_takes_the_place_of_a_file_that_was_there() {
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
async fn a_file_that_is_a_program_stops_the_export_and_is_named() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    let file = json!([{ "operation": "insert_files",
        "files": [{ "name": "run.js", "contentType": "text/plain", "base64": "eA==" }] }]);
    change(&w, &space, file).await;
    let (state, error) = export(&w, &space, json!({})).await;
    assert_eq!(state, JobState::Failed);
    let error = error.expect("why");
    assert!(error.starts_with("docs/.gitbook/assets/run.js: "), "{error}");
    assert_eq!(files(&remote), before);
}

#[tokio::test]
async fn files_reusable_contents_and_variables_go_where_an_import_finds_them() {
    let (w, remote, space) = world_of(AWKWARD).await;
    let before = files(&remote);
    let one = at(&w, &space, "start/one-two").await;
    let reusable = {
        let of = ContentOf::space(space.clone());
        w.as_admin().content(&of).get(Shown::default()).await.expect("read").reusable_contents[0].id.clone()
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
