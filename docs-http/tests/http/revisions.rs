//! Revisions by id, documents by id, and change lists.

use serde_json::{Value, json};

use crate::server::{Server, id};

fn insert(reference: &str, title: &str, text: &str) -> Value {
    json!({ "operation": "insert_page", "ref": reference, "title": title, "document": { "markdown": text } })
}

fn file(name: &str, base64: &str) -> Value {
    json!({ "name": name, "base64": base64, "contentType": "text/plain" })
}

async fn edit(s: &Server, request: &str, changes: Value) -> Value {
    let body = json!({ "changes": changes });
    s.post(&format!("{request}/content?compat=false"), 200, body).await.body
}

async fn merge(s: &Server, request: &str) -> String {
    let merged = s.post(&format!("{request}/merge"), 200, json!({})).await.body;
    merged["revision"].as_str().expect("an id").to_owned()
}

async fn import(s: &Server, space: &str) {
    let body = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main", "force": true });
    s.post(&format!("/v1/spaces/{space}/git/import"), 204, body).await;
    s.platform.settle().await.expect("settled");
}

/// Returns the paths of all read operations on revisions, relative to a base path.
fn operations(revision: &Value) -> Vec<String> {
    let page = &revision["pages"][0];
    let path = page["path"].as_str().expect("a path");
    let page = id(page);
    let file = id(&revision["files"][0]);
    let reusable = id(&revision["reusableContents"][0]);
    vec![
        String::new(),
        "/pages".to_owned(),
        "/files".to_owned(),
        format!("/files/{file}"),
        format!("/page/{page}"),
        format!("/page/{page}?format=document"),
        format!("/path/{path}"),
        format!("/reusable-contents/{reusable}"),
    ]
}

/// Returns the paths of operations that exist only for revisions by id.
fn more(revision: &Value) -> Vec<String> {
    let page = id(&revision["pages"][0]);
    let reusable = id(&revision["reusableContents"][0]);
    vec![
        format!("/page/{page}/document"),
        format!("/reusable-contents/{reusable}/document"),
        "/changes".to_owned(),
    ]
}

/// Creates a space with a page, a file, a reusable content block and a variable.
async fn filled(s: &Server) -> String {
    let space = s.space().await;
    s.repository.put("README.md", "# Start\n\nHello, ![it](a.svg).\n");
    s.repository.put("a.svg", "<svg/>");
    s.repository.put(".gitbook/includes/note.md", "---\ntitle: Note\n---\n\nMind the gap.\n");
    s.repository.put(".gitbook/vars.yaml", "version: \"1\"\nold: true\n");
    import(s, &space).await;
    space
}

#[tokio::test]
async fn revision_equals_the_content_at_its_creation() {
    let s = Server::new().await;
    let space = filled(&s).await;
    let base = format!("/v1/spaces/{space}");
    let request = s.request(&space).await;
    edit(&s, &request, json!([insert("new", "New", "New.")])).await;
    let (live, draft) = (s.get(&format!("{base}/content")).await, s.get(&format!("{request}/content")).await);
    assert_ne!(id(&live), id(&draft));
    let mut kept = Vec::new();
    for (at, revision) in [(format!("{base}/content"), &live), (format!("{request}/content"), &draft)] {
        let by_id = format!("{base}/revisions/{}", id(revision));
        for operation in operations(revision) {
            let here = s.get(&format!("{by_id}{operation}")).await;
            assert_eq!(here, s.get(&format!("{at}{operation}")).await, "{operation}");
            kept.push((format!("{by_id}{operation}"), here));
        }
        for operation in more(revision) {
            kept.push((format!("{by_id}{operation}"), s.get(&format!("{by_id}{operation}")).await));
        }
    }
    let page = id(&live["pages"][0]);
    edit(&s, &request, json!([{ "operation": "delete_page", "page": page }])).await;
    merge(&s, &request).await;
    s.repository.put("README.md", "# Another\n\nText.\n");
    import(&s, &space).await;
    for (path, before) in kept {
        assert_eq!(s.get(&path).await, before, "{path}: a revision never changes");
    }
}

#[tokio::test]
async fn a_revision_is_found_in_its_own_space_only() {
    let s = Server::new().await;
    let (space, other) = (filled(&s).await, filled(&s).await);
    let revision = s.get(&format!("/v1/spaces/{space}/content")).await;
    let foreign = s.get(&format!("/v1/spaces/{other}/content")).await;
    for operation in operations(&revision).into_iter().chain(more(&revision)) {
        // A revision of another space, a malformed id, and the id of another kind of resource.
        for unknown in
            [id(&foreign), "unknown".to_owned(), "not%20an%20id".to_owned(), id(&revision["pages"][0])]
        {
            let path = format!("/v1/spaces/{space}/revisions/{unknown}{operation}");
            s.ask("GET", &path, &s.admin, None).await.refused(404, &path);
        }
    }
    // Resources of the other space are not found in a revision of this space.
    let base = format!("/v1/spaces/{space}/revisions/{}", id(&revision));
    for operation in operations(&foreign).into_iter().chain(more(&foreign)) {
        let named =
            ["/page/", "/files/", "/reusable-contents/"].iter().any(|noun| operation.starts_with(noun));
        if named {
            let path = format!("{base}{operation}");
            s.ask("GET", &path, &s.admin, None).await.refused(404, &path);
        }
    }
    for path in ["path/nowhere", "path/start/nowhere", "path/%2F", "path/a%2Fb"] {
        let path = format!("{base}/{path}");
        s.ask("GET", &path, &s.admin, None).await.refused(404, &path);
    }
    let gone = format!("/v1/spaces/{space}");
    s.ask("DELETE", &gone, &s.admin, None).await.is(204, &gone);
    s.ask("GET", &base, &s.admin, None).await.refused(404, "a revision of a deleted space");
}

#[tokio::test]
async fn file_cursor_is_valid_only_for_its_own_content_path() {
    let s = Server::new().await;
    let space = filled(&s).await;
    let request = s.request(&space).await;
    let files =
        json!([{ "operation": "insert_files", "files": [file("1.txt", "YQ=="), file("2.txt", "Yg==")] }]);
    edit(&s, &request, files).await;
    let head = id(&s.get(&format!("{request}/content")).await);
    let lists = [
        format!("/v1/spaces/{space}/revisions/{head}/files"),
        format!("{request}/content/files"),
        format!("/v1/spaces/{space}/content/files"),
    ];
    let first = s.get(&format!("{}?limit=1", lists[0])).await;
    let cursor = first["next"]["page"].as_str().expect("more").to_owned();
    let second = s.get(&format!("{}?limit=1&page={cursor}", lists[0])).await;
    assert_ne!(first["items"], second["items"]);
    assert_eq!(second["count"], 3);
    for list in &lists[1..] {
        let path = format!("{list}?page={cursor}");
        let answer = s.ask("GET", &path, &s.admin, None).await;
        assert!(answer.refused(400, &path).starts_with("page: "));
    }
    for wrong in ["x", "", "AAAA"] {
        let path = format!("{}?page={wrong}", lists[0]);
        assert!(s.ask("GET", &path, &s.admin, None).await.refused(400, &path).starts_with("page: "));
    }
}

#[tokio::test]
async fn a_document_is_found_by_its_id_in_its_own_space_only() {
    let s = Server::new().await;
    let space = filled(&s).await;
    let base = format!("/v1/spaces/{space}");
    let request = s.request(&space).await;
    let changes = json!([insert("a", "A", "Same."), insert("b", "B", "Same."), insert("c", "C", "Other.")]);
    edit(&s, &request, changes).await;
    let draft = s.get(&format!("{request}/content")).await;
    let named = |slug: &str| {
        let pages = draft["pages"].as_array().expect("pages");
        pages.iter().find(|page| page["slug"] == slug).expect("the page").clone()
    };
    let document = |slug: &str| named(slug)["documentId"].as_str().expect("an id").to_owned();
    assert_eq!(document("a"), document("b"), "equal texts have equal names");
    assert_ne!(document("a"), document("c"));
    let told = s.get(&format!("{base}/documents/{}", document("a"))).await;
    assert!(told.to_string().contains("Same."));
    let page = format!("{base}/revisions/{}/page/{}/document", id(&draft), id(&named("a")));
    assert_eq!(s.get(&page).await, told);
    // A copy shares the stored text but has different document ids.
    let copy = id(&s.post(&format!("{base}/duplicate"), 201, json!({})).await.body);
    let start = s.get(&format!("{base}/content")).await["pages"][0]["documentId"].clone();
    let copied = s.get(&format!("/v1/spaces/{copy}/content")).await["pages"][0]["documentId"].clone();
    assert_ne!(start, copied);
    let start = start.as_str().expect("an id");
    let path = format!("/v1/spaces/{copy}/documents/{start}");
    s.ask("GET", &path, &s.admin, None).await.refused(404, "of another space");
    // Hashes of text and other objects, and the sealed name of a file, are not document ids.
    let text = docs_core::store::Hash::compute(b"Same.").to_string();
    let bytes = docs_core::store::Hash::compute(b"<svg/>").to_string();
    let url = draft["files"][0]["downloadURL"].as_str().expect("an address").to_owned();
    let sealed = url.split('/').nth_back(1).expect("a sealed name").to_owned();
    let cut = start[..start.len() - 1].to_owned();
    for wrong in [text, bytes, sealed, cut, format!("{start}a"), "x".to_owned(), id(&draft)] {
        let path = format!("{base}/documents/{wrong}");
        s.ask("GET", &path, &s.admin, None).await.refused(404, &path);
    }
    let path = format!("{base}/documents/{start}?schema=old");
    assert!(s.ask("GET", &path, &s.admin, None).await.refused(400, &path).starts_with("schema: "));
}

#[tokio::test]
async fn a_page_without_content_has_no_document() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    edit(&s, &request, json!([insert("a", "Empty", "")])).await;
    let draft = s.get(&format!("{request}/content")).await;
    let page = &draft["pages"][0];
    assert_eq!(page.get("documentId"), None);
    let path = format!("/v1/spaces/{space}/revisions/{}/page/{}", id(&draft), id(page));
    s.ask("GET", &format!("{path}/document"), &s.admin, None).await.refused(404, "no document");
    let read = s.get(&format!("{path}?format=document")).await;
    assert_eq!((read.get("document"), read.get("markdown")), (None, None));
}

#[tokio::test]
async fn conflicting_page_document_shows_change_request_text() {
    let s = Server::new().await;
    let space = s.space().await;
    let first = s.request(&space).await;
    edit(&s, &first, json!([insert("a", "A", "One.\n")])).await;
    merge(&s, &first).await;
    let page = id(&s.get(&format!("/v1/spaces/{space}/content")).await["pages"][0]);
    let (ours, theirs) = (s.request(&space).await, s.request(&space).await);
    for (request, text) in [(&ours, "Ours.\n"), (&theirs, "Theirs.\n")] {
        let change = json!([{ "operation": "update_page", "page": page, "document": { "markdown": text } }]);
        edit(&s, request, change).await;
    }
    merge(&s, &ours).await;
    assert_eq!(s.post(&format!("{theirs}/merge"), 200, json!({})).await.body["result"], "conflicts");
    let live = s.get(&format!("/v1/spaces/{space}/content/page/{page}")).await;
    let document = live["documentId"].as_str().expect("an id");
    let told = s.get(&format!("/v1/spaces/{space}/documents/{document}")).await.to_string();
    assert!(told.contains("Theirs.") && !told.contains("Ours."), "{told}");
    let again = s.get(&format!("/v1/spaces/{space}/content/page/{page}?format=document")).await;
    assert_eq!(again["document"].to_string(), told);
}

/// The list contains all conflicting values.
#[tokio::test]
async fn conflicting_fields_are_listed_until_set_again() {
    let s = Server::new().await;
    let space = s.space().await;
    let first = s.request(&space).await;
    edit(&s, &first, json!([insert("a", "A", "One.\n")])).await;
    merge(&s, &first).await;
    let page = id(&s.get(&format!("/v1/spaces/{space}/content")).await["pages"][0]);
    let address = format!("/v1/spaces/{space}/content/page/{page}");
    let (ours, theirs) = (s.request(&space).await, s.request(&space).await);
    let set = |field: &str, value: &str| json!([{ "operation": "update_page", "page": page, field: value }]);
    edit(&s, &ours, set("title", "Ours")).await;
    edit(&s, &theirs, set("title", "Theirs")).await;
    let clean = s.post(&format!("{ours}/merge"), 200, json!({})).await.body;
    assert_eq!((&clean["result"], &clean["conflicts"]), (&json!("merge"), &Value::Null));
    let merged = s.post(&format!("{theirs}/merge"), 200, json!({})).await.body;
    assert_eq!(merged["result"], "conflicts");
    assert_eq!(merged["conflicts"], json!([{ "type": "page", "id": page, "field": "title" }]));
    let live = s.get(&address).await;
    let listed = json!([{ "field": "title", "current": "Ours", "base": "A", "changeRequest": "Theirs" }]);
    assert_eq!((&live["title"], &live["conflicts"]), (&json!("Theirs"), &listed));
    // Conflicts of an earlier merge do not belong to this one, but remain listed.
    let other = s.request(&space).await;
    edit(&s, &other, set("description", "New")).await;
    let later = s.post(&format!("{other}/merge"), 200, json!({})).await.body;
    assert_eq!(later["result"], "merge");
    assert_eq!(s.get(&address).await["conflicts"], listed);
    let decided = s.request(&space).await;
    edit(&s, &decided, set("title", "Ours")).await;
    merge(&s, &decided).await;
    assert_eq!(s.get(&address).await["conflicts"], Value::Null);
}

/// Returns the changes without values that differ between test runs.
fn plain(changes: &Value) -> Vec<String> {
    let name = |value: &Value| {
        let named = ["path", "title", "name"].iter().find_map(|field| value[*field].as_str());
        named.unwrap_or_default().to_owned()
    };
    let list = changes["changes"].as_array().expect("changes");
    list.iter()
        .map(|change| {
            let kind = change["type"].as_str().expect("a type");
            let thing = ["page", "file", "reusableContent"].iter().map(|noun| name(&change[*noun]));
            let thing = thing.collect::<String>();
            let mut attributes = change["attributes"].clone();
            for place in ["document", "downloadURL"] {
                let Some(change) = attributes.get_mut(place) else { continue };
                assert_ne!(change["before"], change["after"], "{place}");
                *change = json!("changed");
            }
            let more = match kind {
                "page_moved" => {
                    let parent = &change["parent"];
                    format!(" {} -> {}", name(&parent["before"]), name(&parent["after"]))
                }
                "variables_edited" => format!(" {}", change["variables"]),
                _ if attributes.is_null() => String::new(),
                _ => format!(" {attributes}"),
            };
            format!("{kind} {thing}{more}")
        })
        .collect()
}

#[tokio::test]
async fn revision_changes_list_every_kind_of_change() {
    let s = Server::new().await;
    let space = filled(&s).await;
    let first = s.request(&space).await;
    let changes = json!([insert("a", "Alpha", "A."), insert("b", "Beta", "B."), insert("c", "Gamma", "C."),
        { "operation": "insert_files", "files": [file("one.txt", "YQ==")] }]);
    let done = edit(&s, &first, changes).await;
    let page = |n: usize| done["changes"][n]["page"]["id"].as_str().expect("an id").to_owned();
    let expected = ["page_created alpha", "page_created beta", "page_created gamma", "file_created one.txt"];
    assert_eq!(plain(&s.get(&format!("{first}/changes")).await), expected);
    let revision = merge(&s, &first).await;
    let told = s.get(&format!("/v1/spaces/{space}/revisions/{revision}/changes")).await;
    assert_eq!(plain(&told), expected);
    assert_eq!(told["mergedFrom"]["number"], 1);
    // After the merge, the change request still lists its changes.
    assert_eq!(plain(&s.get(&format!("{first}/changes")).await), expected);
    let second = s.request(&space).await;
    let changes = json!([
        { "operation": "update_page", "page": page(0), "title": "Alef", "description": "First", "emoji": "🚀",
          "hidden": true, "condition": "visitor.claims.beta", "document": { "markdown": "A!" } },
        { "operation": "update_page", "page": page(1), "into": page(0), "slug": "bet" },
        { "operation": "delete_page", "page": page(2) },
    ]);
    edit(&s, &second, changes).await;
    let told = s.get(&format!("{second}/changes")).await;
    let edited = "page_edited alpha {\"condition\":{\"after\":\"visitor.claims.beta\"},\
        \"description\":{\"after\":\"First\"},\"document\":\"changed\",\"emoji\":{\"after\":\"1f680\"},\
        \"hidden\":{\"after\":true,\"before\":false},\"title\":{\"after\":\"Alef\",\"before\":\"Alpha\"}}";
    let slug = "page_edited alpha/bet {\"slug\":{\"after\":\"bet\",\"before\":\"beta\"}}";
    assert_eq!(plain(&told), [edited, "page_moved alpha/bet  -> alpha", slug, "page_deleted gamma"]);
    assert_eq!(told.get("more"), None);
    assert_eq!(told.get("mergedFrom"), None);
}

#[tokio::test]
async fn import_revision_lists_its_changes() {
    let s = Server::new().await;
    let space = filled(&s).await;
    let head = id(&s.get(&format!("/v1/spaces/{space}/content")).await);
    let told = s.get(&format!("/v1/spaces/{space}/revisions/{head}/changes")).await;
    let variables = "variables_edited  {\"old\":{\"after\":true},\"version\":{\"after\":\"1\"}}";
    let note = "reusable_content_created Note";
    assert_eq!(plain(&told), ["page_created readme", note, "file_created a.svg", variables]);
    s.repository.put("a.svg", "<svg width='2' height='1'/>");
    s.repository.put(".gitbook/includes/note.md", "---\ntitle: Notice\n---\n\nMind the step.\n");
    s.repository.put(".gitbook/vars.yaml", "version: \"2\"\nnew: 5\n");
    import(&s, &space).await;
    let head = id(&s.get(&format!("/v1/spaces/{space}/content")).await);
    let path = format!("/v1/spaces/{space}/revisions/{head}/changes");
    let told = s.get(&path).await;
    let file = "file_edited a.svg {\"dimensions\":{\"after\":{\"height\":1.0,\"width\":2.0}},\
        \"downloadURL\":\"changed\",\"size\":{\"after\":27,\"before\":6}}";
    let note = "reusable_content_edited Notice {\"document\":\"changed\",\"title\":{\"after\":\"Notice\",\"before\":\"Note\"}}";
    let variables = "variables_edited  {\"new\":{\"after\":5},\"old\":{\"before\":true},\
        \"version\":{\"after\":\"2\",\"before\":\"1\"}}";
    assert_eq!(plain(&told), [note, file, variables]);
    for (limit, shown) in [(0, 0), (1, 1), (2, 2), (3, 3), (1000, 3)] {
        let cut = s.get(&format!("{path}?limit={limit}")).await;
        assert_eq!(
            cut["changes"].as_array().expect("a list"),
            &told["changes"].as_array().expect("a list")[..shown]
        );
        assert_eq!(cut.get("more").cloned(), (shown < 3).then(|| json!(3 - shown)), "{limit}");
    }
    for wrong in ["1001", "-1", "x", "1.5"] {
        let path = format!("{path}?limit={wrong}");
        assert!(s.ask("GET", &path, &s.admin, None).await.refused(400, &path).starts_with("limit: "));
    }
}

#[tokio::test]
async fn change_list_defaults_to_ten_entries() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let pages: Vec<Value> = (0..13).map(|n| insert(&format!("p{n}"), &format!("Page {n}"), "x")).collect();
    edit(&s, &request, json!(pages)).await;
    let told = s.get(&format!("{request}/changes")).await;
    assert_eq!((told["changes"].as_array().map(Vec::len), &told["more"]), (Some(10), &json!(3)));
}

#[tokio::test]
async fn duplicate_lists_all_content_and_update_only_new_changes() {
    let s = Server::new().await;
    let space = filled(&s).await;
    // A copy has no parent revisions, so all of its content is new.
    let copy = id(&s.post(&format!("/v1/spaces/{space}/duplicate"), 201, json!({})).await.body);
    let head = id(&s.get(&format!("/v1/spaces/{copy}/content")).await);
    let told = plain(&s.get(&format!("/v1/spaces/{copy}/revisions/{head}/changes")).await);
    assert_eq!(
        told.iter().map(|change| change.split(' ').next().expect("a type")).collect::<Vec<_>>(),
        ["page_created", "reusable_content_created", "file_created", "variables_edited",]
    );
    // An update lists the new changes of the space.
    let (old, new) = (s.request(&space).await, s.request(&space).await);
    edit(&s, &old, json!([insert("o", "Old", "o")])).await;
    edit(&s, &new, json!([insert("n", "New", "n")])).await;
    merge(&s, &new).await;
    let updated = s.post(&format!("{old}/update"), 200, json!({})).await.body["revision"].clone();
    let path = format!("/v1/spaces/{space}/revisions/{}/changes", updated.as_str().expect("an id"));
    assert_eq!(plain(&s.get(&path).await), ["page_created new"]);
    assert_eq!(plain(&s.get(&format!("{old}/changes")).await), ["page_created old"], "against its new base");
}
