//! Content changes over HTTP: of every kind of content, and rejected ones.

use serde_json::{Value, json};

use crate::server::{Server, id};

/// Changes the content of a change request. Returns the applied changes.
async fn edit(s: &Server, request: &str, changes: Value) -> Value {
    s.post(&format!("{request}/content?compat=false"), 200, json!({ "changes": changes })).await.body
}

/// Returns the page with this title from a page tree.
fn page<'v>(pages: &'v Value, title: &str) -> Option<&'v Value> {
    pages.as_array()?.iter().find_map(|one| match one["title"] == title {
        true => Some(one),
        false => page(&one["pages"], title),
    })
}

#[track_caller]
fn titled<'v>(pages: &'v Value, title: &str) -> &'v Value {
    page(pages, title).unwrap_or_else(|| panic!("a page {title}: {pages:#}"))
}

async fn pages(s: &Server, request: &str) -> Value {
    s.get(&format!("{request}/content/pages")).await["pages"].clone()
}

fn url(to: &str) -> Value {
    json!({ "kind": "url", "url": to })
}

/// Creates a change request with a group, a page in it, a file, and a link to each of them.
async fn filled(s: &Server) -> (String, Value) {
    let request = s.request(&s.space().await).await;
    let file = json!({ "name": "a.txt", "ref": "a", "contentType": "text/plain", "base64": "YQ==" });
    let link = |title: &str, target: Value| json!({ "operation": "insert_page", "type": "link", "title": title, "target": target });
    let done = edit(s, &request, json!([
        { "operation": "insert_page", "type": "group", "title": "Guides", "emoji": "🚀", "ref": "guides" },
        { "operation": "insert_page", "title": "Start", "ref": "start", "into": "guides", "document": {} },
        { "operation": "insert_files", "files": [file] },
        link("Web", url("https://x.example/")),
        link("To page", json!({ "kind": "page", "page": "start" })),
        link("To place", json!({ "kind": "anchor", "page": "start", "anchor": "top" })),
        link("To file", json!({ "kind": "file", "file": "a" })),
    ]))
    .await;
    (request, done)
}

#[tokio::test]
async fn groups_and_links_are_inserted_with_type_and_target() {
    let s = Server::new().await;
    let (request, done) = filled(&s).await;
    assert_eq!(done["changes"].as_array().map(Vec::len), Some(6), "each page once: {done:#}");
    assert_eq!(done["changes"][0]["ref"], "guides");
    let shown = pages(&s, &request).await;
    let (group, start) = (titled(&shown, "Guides"), titled(&shown, "Start"));
    assert_eq!(
        (&group["type"], &group["slug"], &group["emoji"]),
        (&json!("group"), &json!("guides"), &json!("1f680"))
    );
    assert_eq!((&start["type"], &start["path"]), (&json!("document"), &json!("guides/start")));
    let web = titled(&shown, "Web");
    assert_eq!(
        (&web["type"], &web["target"], &web["href"]),
        (&json!("link"), &url("https://x.example/"), &json!("https://x.example/"))
    );
    assert_eq!(titled(&shown, "To page")["target"], json!({ "kind": "page", "page": id(start) }));
    assert_eq!(
        titled(&shown, "To place")["target"],
        json!({ "kind": "anchor", "anchor": "top", "page": id(start) })
    );
    let file = id(&done["insertedFiles"][0]);
    assert_eq!(titled(&shown, "To file")["target"], json!({ "kind": "file", "file": file }));
    // Merging preserves the changes.
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let space = request.split("/change-requests").next().expect("a space").to_owned();
    assert_eq!(page(&pages(&s, &space).await, "Web").map(|page| &page["type"]), Some(&json!("link")));
    s.check().await;
}

#[tokio::test]
async fn groups_and_links_are_changed_and_moved() {
    let s = Server::new().await;
    let (request, _) = filled(&s).await;
    let shown = pages(&s, &request).await;
    let (group, web) = (id(titled(&shown, "Guides")), id(titled(&shown, "Web")));
    edit(&s, &request, json!([
        { "operation": "update_page", "page": group, "type": "group", "title": "Manuals", "slug": "manuals",
          "emoji": null, "icon": "book", "hidden": true, "condition": "true" },
        { "operation": "update_page", "page": web, "title": "Elsewhere", "target": url("https://y.example/"),
          "hidden": true, "into": group, "at": 0 },
    ]))
    .await;
    let shown = pages(&s, &request).await;
    let group = titled(&shown, "Manuals");
    assert_eq!(
        (&group["slug"], &group["icon"], &group["hidden"]),
        (&json!("manuals"), &json!("book"), &json!(true))
    );
    assert_eq!(group.get("emoji"), None);
    let web = &group["pages"][0];
    assert_eq!(
        (&web["title"], &web["href"], &web["hidden"]),
        (&json!("Elsewhere"), &json!("https://y.example/"), &json!(true))
    );
    assert_eq!(titled(&shown, "Start")["path"], "manuals/start");
    s.check().await;
}

#[tokio::test]
async fn field_not_allowed_for_a_page_type_is_rejected() {
    let s = Server::new().await;
    let (request, _) = filled(&s).await;
    let shown = pages(&s, &request).await;
    let [group, link, document] = ["Guides", "Web", "Start"].map(|title| id(titled(&shown, title)));
    let (text, to) = (json!({ "markdown": "Text." }), url("https://x.example/"));
    let insert = |more: Value| with(json!({ "operation": "insert_page", "title": "New" }), more);
    let update = |page: &str, more: Value| with(json!({ "operation": "update_page", "page": page }), more);
    for (change, field) in [
        (insert(json!({})), "document: is required"),
        (insert(json!({ "type": "document" })), "document: is required"),
        (insert(json!({ "type": "computed", "document": {} })), "type: "),
        (insert(json!({ "type": "sheet", "document": {} })), "type"),
        (insert(json!({ "document": {}, "target": to })), "target: is allowed for links only"),
        (insert(json!({ "type": "group", "document": text })), "document: is allowed for documents only"),
        (insert(json!({ "type": "group", "target": to })), "target: is allowed for links only"),
        (
            insert(json!({ "type": "group", "description": "x" })),
            "description: is allowed for documents only",
        ),
        (insert(json!({ "type": "group", "into": group })), "into: "),
        (insert(json!({ "type": "link" })), "target: is required"),
        (insert(json!({ "type": "link", "target": null })), "target: "),
        (insert(json!({ "type": "link", "target": { "kind": "elsewhere" } })), "target"),
        (insert(json!({ "type": "link", "target": { "kind": "page", "page": "nothing" } })), "target.page: "),
        (insert(json!({ "type": "link", "target": { "kind": "file", "file": "nothing" } })), "target.file: "),
        (insert(json!({ "type": "link", "target": { "kind": "anchor", "anchor": "a" } })), "target.page: "),
        (
            insert(
                json!({ "type": "link", "target": { "kind": "reusable-content", "reusableContent": "x" } }),
            ),
            "target.reusableContent: ",
        ),
        (
            insert(json!({ "type": "link", "target": to, "document": text })),
            "document: is allowed for documents only",
        ),
        (insert(json!({ "type": "link", "target": to, "slug": "x" })), "slug: "),
        (insert(json!({ "type": "link", "target": to, "description": "x" })), "description: "),
        (insert(json!({ "type": "link", "target": to, "noIndex": true })), "noIndex: "),
        (insert(json!({ "type": "link", "target": to, "noRobotsIndex": true })), "noRobotsIndex: "),
        (update(&document, json!({ "type": "group" })), "type: cannot be changed"),
        (update(&group, json!({ "type": "link" })), "type: cannot be changed"),
        (update(&document, json!({ "target": to })), "target: is allowed for links only"),
        (update(&group, json!({ "target": to })), "target: is allowed for links only"),
        (update(&group, json!({ "document": text })), "document: is allowed for documents only"),
        (update(&group, json!({ "description": "x" })), "description: is allowed for documents only"),
        (update(&link, json!({ "document": text })), "document: is allowed for documents only"),
        (update(&link, json!({ "target": { "kind": "page", "page": "nothing" } })), "target.page: "),
        (update(&link, json!({ "slug": "x" })), "slug: "),
    ] {
        let fine = json!({ "operation": "insert_page", "document": {} });
        let body = json!({ "changes": [fine, change] });
        s.invalid("POST", &format!("{request}/content"), body, &format!("changes[1].{field}")).await;
    }
}

/// Returns an object extended by the fields of another one.
fn with(mut one: Value, more: Value) -> Value {
    if let (Some(one), Value::Object(more)) = (one.as_object_mut(), more) {
        one.extend(more);
    }
    one
}

#[tokio::test]
async fn variables_are_set_or_removed_and_others_unchanged() {
    let s = Server::new().await;
    let request = s.request(&s.space().await).await;
    let set = |variables: Value| json!([{ "operation": "update_variables", "variables": variables }]);
    edit(&s, &request, set(json!({ "name": "Engine", "beta": true, "seats": 3 }))).await;
    edit(&s, &request, set(json!({ "beta": null, "seats": 4, "unknown": null }))).await;
    let shown = s.get(&format!("{request}/content")).await;
    assert_eq!(shown["variables"], json!({ "name": "Engine", "seats": "4" }));
    for (variables, field) in [
        (json!({}), "variables: must have"),
        (json!({ "1x": "a" }), "variables"),
        (json!({ "x": "a".repeat(257) }), "variables"),
        (json!({ "x": [] }), "variables"),
        (json!(null), "variables"),
    ] {
        let body = json!({ "changes": set(variables) });
        s.invalid("POST", &format!("{request}/content"), body, &format!("changes[0].{field}")).await;
    }
    s.check().await;
}

/// Returns the document of a reusable content block in a change request.
async fn said(s: &Server, request: &str, reusable: &str) -> String {
    let revision = id(&s.get(&format!("{request}/content")).await);
    let space = request.split("/change-requests").next().expect("a space");
    s.get(&format!("{space}/revisions/{revision}/reusable-contents/{reusable}/document")).await.to_string()
}

#[tokio::test]
async fn reusable_contents_are_inserted_included_changed_and_deleted() {
    let s = Server::new().await;
    let request = s.request(&s.space().await).await;
    let insert = json!({ "operation": "insert_reusable_content", "title": "Note", "document": { "markdown": "# Mind\n\nThe gap.\n" } });
    let done = edit(&s, &request, json!([insert])).await;
    let made = &done["insertedReusableContents"][0];
    assert_eq!((&made["title"], done["changes"].as_array().map(Vec::len)), (&json!("Note"), Some(0)));
    let note = id(made);
    let text = format!("{{% include \"/reusable-content/{note}\" %}}\n");
    let insert = json!({ "operation": "insert_page", "title": "Page", "document": { "markdown": text } });
    edit(&s, &request, json!([insert])).await;
    let whole = s.get(&format!("{request}/content")).await;
    assert_eq!(whole["reusableContents"][0]["id"], json!(note));
    let read = said(&s, &request, &note).await;
    assert!(read.contains("Mind") && read.contains("The gap."), "all that was sent is there: {read}");
    let rename =
        json!({ "operation": "update_reusable_content", "reusableContent": note, "title": "Warning" });
    edit(&s, &request, json!([rename])).await;
    assert_eq!(said(&s, &request, &note).await, read, "what is left out stays");
    edit(&s, &request, json!([
        { "operation": "update_reusable_content", "reusableContent": note, "document": { "markdown": "Mind the step." } },
    ]))
    .await;
    assert!(said(&s, &request, &note).await.contains("step"));
    assert_eq!(s.get(&format!("{request}/content")).await["reusableContents"][0]["title"], "Warning");
    let delete = json!({ "operation": "delete_reusable_content", "reusableContent": note });
    for (changes, field) in [
        (
            json!([{ "operation": "insert_reusable_content", "document": {} }]),
            "changes[0].title: is required",
        ),
        (
            json!([{ "operation": "insert_reusable_content", "title": "", "document": {} }]),
            "changes[0].title: ",
        ),
        (
            json!([{ "operation": "insert_reusable_content", "title": "T" }]),
            "changes[0].document: is required",
        ),
        (
            json!([{ "operation": "update_reusable_content", "reusableContent": "nothing" }]),
            "changes[0].reusableContent: ",
        ),
        (
            json!([{ "operation": "delete_reusable_content", "reusableContent": "nothing" }]),
            "changes[0].reusableContent: ",
        ),
        (json!([delete, delete]), "changes[1].reusableContent: "),
    ] {
        s.invalid("POST", &format!("{request}/content"), json!({ "changes": changes }), field).await;
    }
    edit(&s, &request, json!([delete])).await;
    assert_eq!(s.get(&format!("{request}/content")).await["reusableContents"], json!([]));
    s.check().await;
}

#[tokio::test]
async fn deleting_a_file_breaks_links_to_it() {
    let s = Server::new().await;
    let (request, done) = filled(&s).await;
    let file = id(&done["insertedFiles"][0]);
    let delete = |files: Value| json!({ "changes": [{ "operation": "delete_files", "files": files }] });
    let path = format!("{request}/content");
    for (files, field) in [
        (json!([]), "files: must be 1 to 20"),
        (json!(vec![&file; 21]), "files: must be 1 to 20"),
        (json!(["nothing"]), "files[0]: "),
        (json!([file, "must be an id!"]), "files[1]: "),
        (json!([file, file]), "files[1]: "),
        (json!(null), "files"),
    ] {
        s.invalid("POST", &path, delete(files), &format!("changes[0].{field}")).await;
    }
    s.post(&path, 200, delete(json!([file]))).await;
    assert_eq!(s.get(&format!("{request}/content/files")).await["items"], json!([]));
    s.ask("GET", &format!("{request}/content/files/{file}"), &s.admin, None).await.refused(404, "deleted");
    let broken = s.get(&format!("{request}/links?status=broken")).await;
    assert_eq!(broken["items"].as_array().map(Vec::len), Some(1), "{broken:#}");
    s.check().await;
}

#[tokio::test]
async fn an_edit_reports_unknown_blocks_tables_and_dead_links() {
    let s = Server::new().await;
    let request = s.request(&s.space().await).await;
    let text = "{% nope %}\n\n| a | b |\n| --- |\n\n[gone](gone.md) [web](https://a.test/) ![](gone.png)\n";
    let insert = json!({ "operation": "insert_page", "title": "A", "document": { "markdown": text } });
    let done =
        edit(&s, &request, json!([{ "operation": "insert_page", "type": "group", "title": "G" }, insert]))
            .await;
    let expected = json!([
        "changes[1]: the block `{% nope %}` is unknown",
        "changes[1]: the table `| a | b |` is text: its head has 2 columns, its delimiter row has 1",
        "changes[1]: the link to `gone.md` has no target",
        "changes[1]: the link to `gone.png` has no target",
    ]);
    assert_eq!(done["warnings"], expected);
    let shown = pages(&s, &request).await;
    let page = id(titled(&shown, "A"));
    // Problems that the page already has are not reported again.
    let update = json!({ "operation": "update_page", "page": page, "document": { "markdown": "{% nope %}\n\nnew\n" } });
    let done = edit(&s, &request, json!([update])).await;
    assert_eq!(done.get("warnings"), None);
}

#[tokio::test]
async fn descriptions_of_pages_are_bounded() {
    let s = Server::new().await;
    let request = s.request(&s.space().await).await;
    let insert = |characters: usize| {
        let description = "ä".repeat(characters);
        let page =
            json!({ "operation": "insert_page", "title": "A", "description": description, "document": {} });
        json!({ "changes": [page] })
    };
    let path = format!("{request}/content?compat=false");
    let rejected = s.post(&path, 400, insert(1_001)).await.body;
    let message = rejected["error"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("changes[0].description: "), "{message}");
    assert_eq!(page(&pages(&s, &request).await, "A"), None, "nothing was inserted");
    s.post(&path, 200, insert(1_000)).await;
    let shown = pages(&s, &request).await;
    assert_eq!(titled(&shown, "A")["description"], "ä".repeat(1_000));
}
