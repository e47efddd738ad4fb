//! A scenario that calls every operation, with and without optional fields. The test server validates each response
//! against the document; this file checks additional fields that clients rely on.

#[path = "story/fields.rs"]
mod fields;
#[path = "story/newest.rs"]
mod newest;
#[path = "story/sites.rs"]
mod sites;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use self::fields::*;
pub(crate) use self::fields::{CUSTOMIZATION, ORGANIZATION};
use crate::{
    contract::Contract,
    server::{Server, id},
};

/// Asserts that a value has all these fields. `.` selects a field of an object, `[]` each item of a list.
#[track_caller]
pub(crate) fn has(value: &Value, fields: &[&str]) {
    for field in fields {
        let (first, rest) = field.split_once('.').map_or((*field, None), |(first, rest)| (first, Some(rest)));
        let name = first.strip_suffix("[]").unwrap_or(first);
        let inner = value.get(name).unwrap_or_else(|| panic!("`{name}` of `{field}` is in {value:#}"));
        let Some(rest) = rest else { continue };
        match inner.as_array().filter(|_| first.ends_with("[]")) {
            Some(items) => items.iter().for_each(|item| has(item, &[rest])),
            None => has(inner, &[rest]),
        }
    }
}

#[tokio::test]
async fn every_operation_returns_the_fields_clients_rely_on() {
    let s = Server::new().await;
    has(&s.get("/v1/user").await, &["object", "id", "displayName", "email", "urls.location"]);
    organizations(&s).await;
    let space = spaces(&s).await;
    repository(&s, &space).await;
    crate::git_sync::story(&s).await;
    crate::translations::story(&s).await;
    change_requests(&s, &space).await;
    content(&s, &space).await;
    links(&s, &space).await;
    discussion(&s, &space).await;
    reviews(&s, &space).await;
    imports(&s).await;
    doors(&s).await;
    history(&s).await;
    pdfs(&s, &space).await;
    crate::collections::story(&s).await;
    sites::story(&s, &space).await;
    crate::structure::story(&s, &space).await;
    search(&s, &space).await;
    integrations(&s, &space).await;
    crate::teams::story(&s, &space).await;
    crate::people::story(&s, &space).await;
    crate::accounts::story(&s).await;
    crate::audit::story(&s).await;
    crate::openapi_specs::story(&s).await;
    newest::story(&s).await;
    let path = format!("/v1/spaces/{space}");
    s.ask("DELETE", &path, &s.admin, None).await.is(204, &path);
    has(&s.get(&path).await, &["deletedAt"]);
    let deleted = s.get(&format!("/v1/orgs/{}/deleted-spaces", s.org)).await;
    has(&deleted["items"][0], &["id", "title", "deletedAt", "restorableUntil"]);
    has(&s.post(&format!("{path}/restore"), 200, json!({})).await.body, SPACE);
    let declared: BTreeSet<String> =
        Contract::of(s.document).operations().iter().map(|operation| operation.id.clone()).collect();
    let asked = s.asked.lock().expect("nobody panicked").clone();
    assert_eq!(declared.difference(&asked).collect::<Vec<_>>(), Vec::<&String>::new(), "all are asked for");
    let held = s.held.lock().expect("nobody panicked").clone();
    for others in Contract::of_others() {
        let is_held = |id: &str| held.contains(&(others.name.clone(), id.to_owned()));
        let both = || others.operations().iter().map(|it| &it.id).filter(|id| declared.contains(*id));
        let missed: Vec<_> = both().filter(|id| !is_held(id)).collect();
        assert_eq!(missed, Vec::<&String>::new(), "all that both have are held against {}", others.name);
        assert!(both().count() > 150, "{}: {held:?}", others.name);
    }
    s.check().await;
}

/// Checks that the lists of integrations are empty.
async fn integrations(s: &Server, space: &str) {
    let (org, site) = (format!("/v1/orgs/{}", s.org), s.site("Without integrations", &[space]).await);
    for list in [
        "/v1/integrations".to_owned(),
        format!("/v1/spaces/{space}/integrations"),
        format!("{org}/integrations"),
        format!("{org}/installations"),
        format!("{org}/integrations/installations-status"),
        format!("{site}/integrations"),
    ] {
        assert_eq!(s.get(&list).await, json!({ "count": 0, "items": [] }), "{list}");
    }
    for list in [format!("/v1/spaces/{space}/integration-blocks"), format!("{site}/integration-scripts")] {
        assert_eq!(s.get(&list).await, json!([]), "{list}");
    }
}

/// Uploads a local file, and checks its entry in the audit log.
async fn doors(s: &Server) {
    let space = s.space().await;
    s.patch(&format!("/v1/spaces/{space}"), json!({ "editMode": "live" })).await;
    let request = s.request(&space).await;
    for content in [format!("/v1/spaces/{space}/content"), format!("{request}/content")] {
        let upload = format!("{content}/files?name=a.json");
        has(&s.post(&upload, 201, json!("any JSON is a file")).await.body, FILE);
    }
    let log = s.get(&format!("/v1/orgs/{}/audit-log?operation=content_append", s.org)).await;
    has(&log["items"][0], &["id", "at", "user", "operation", "organizations", "records", "changed"]);
}

/// Checks the revision list of a space, and a rollback.
async fn history(s: &Server) {
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    s.patch(&path, json!({ "editMode": "live" })).await;
    s.post(&format!("{path}/content/files?name=a.json"), 201, json!("a file")).await;
    let revisions = s.get(&format!("{path}/revisions")).await;
    has(
        &revisions["items"][0],
        &["id", "number", "type", "createdAt", "createdBy.displayName", "urls.location"],
    );
    let first = id(&revisions["items"][1]);
    let back = s.post(&format!("{path}/revisions/{first}/rollback"), 201, json!({})).await.body;
    has(&back, &["id", "number", "type", "restoredFrom"]);
}

async fn search(s: &Server, space: &str) {
    s.platform.settle().await.expect("settled");
    let title = s.get(&format!("/v1/spaces/{space}/content/pages")).await["pages"][0]["title"].clone();
    let query: String = title.as_str().expect("a title").bytes().map(|byte| format!("%{byte:02X}")).collect();
    let page = ["id", "title", "path", "urls.app"];
    has(&s.get(&format!("/v1/spaces/{space}/search?query={query}&limit=5")).await["items"][0], &page);
    let found = s.get(&format!("/v1/orgs/{}/search?query={query}", s.org)).await;
    has(&found["items"][0], &["id", "title", "pages[].urls.app"]);
    let site = s.site("Searched", &[space]).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let body = json!({ "query": title, "scope": { "mode": "default" } });
    has(&s.post(&format!("{site}/search"), 200, body).await.body["items"][0], &["id", "title", "pages[].id"]);
}

async fn organizations(s: &Server) {
    let path = format!("/v1/orgs/{}", s.org);
    let bare = s.get(&path).await;
    has(&bare, ORGANIZATION);
    for absent in ["hostname", "defaultContent", "useCase", "communityType"] {
        assert!(bare.get(absent).is_none(), "{absent}");
    }
    let full = s
        .patch(
            &path,
            json!({
                "title": "Engines & Co", "emailDomains": ["a.example", "B.example"], "hostname": "engines",
                "defaultRole": "edit", "logo": "https://x.example/a.png", "sso": true, "ai": true,
                "inviteLinks": true, "unknown": { "is": "ignored" },
            }),
        )
        .await;
    has(&full, &["hostname", "urls.logo", "sso", "ai", "defaultRole"]);
    // From here on, members sign in by token.
    s.patch(&path, json!({ "sso": false })).await;
    has(&s.get("/v1/subdomains/engines").await, &["object", "subdomain", "target.organization", "isActive"]);
    has(&s.get("/v1/").await, &["version", "build"]);
    has(&s.get("/v1/orgs").await, &["count", "items[].trial.status"]);
}

async fn spaces(s: &Server) -> String {
    let path = format!("/v1/orgs/{}/spaces", s.org);
    let bare = s.ask("POST", &path, &s.admin, None).await;
    assert!(bare.header("location").is_some_and(|at| at.starts_with("https://docs.example/v1/spaces/")));
    let bare = bare.is(201, "nothing is needed");
    has(&bare, SPACE);
    assert_eq!((bare["title"].as_str(), bare["editMode"].as_str()), (Some("Untitled"), Some("locked")));
    for absent in ["parent", "gitSync", "deletedAt", "visitorAuth"] {
        assert!(bare.get(absent).is_none(), "{absent}");
    }
    let new = json!({ "title": "Guide", "emoji": "🚀", "editMode": "live" });
    let space = id(&s.post(&path, 201, new).await.body);
    let this = format!("/v1/spaces/{space}");
    let icon = json!({ "icon": "https://x.example/a.png", "defaultLevel": null });
    has(&s.patch(&this, icon).await, &["urls.icon", "defaultLevel"]);
    s.patch(&this, json!({ "defaultLevel": "inherit" })).await;
    has(&s.get(&format!("{this}?shareKey=key&unknown=1")).await, SPACE);
    let copy = s.post(&format!("{this}/duplicate"), 201, json!({})).await;
    assert!(copy.header("location").is_some_and(|at| at.ends_with(&id(&copy.body))));
    has(&copy.body, SPACE);
    let list = s.get(&format!("{path}?limit=2")).await;
    has(&list, &["count", "next.page", "items[].permissions.view"]);
    space
}

async fn repository(s: &Server, space: &str) {
    s.repository.put("README.md", "---\nicon: star\ndescription: Hello\n---\n\n# Start\n\n[a](a.svg)\n");
    s.repository.put("a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"2\" height=\"1\"/>");
    s.repository.put("part/one.md", "# One\n");
    s.repository.put(".gitbook/includes/note.md", "---\ntitle: Note\n---\n\nMind the gap.\n");
    let summary = "# Summary\n\n* [Start](README.md)\n* [Away](https://away.example/)\n\n## Part\n\n* [One](part/one.md)\n";
    s.repository.put("SUMMARY.md", summary);
    let path = format!("/v1/spaces/{space}");
    s.ask("GET", &format!("{path}/git/info"), &s.admin, None).await.refused(404, "nothing was imported yet");
    let full = json!({
        "url": "https://me:secret@git.example/docs", "ref": "refs/heads/main", "repoCacheID": "c",
        "repoTreeURL": "https://git.example/docs/tree/main", "repoCommitURL": "https://git.example/docs/commit",
        "repoProjectDirectory": "", "timestamp": "2025-01-01T00:00:00Z", "force": true, "standalone": false,
        "gitInfo": { "provider": "github", "url": "https://git.example/docs" },
    });
    s.post(&format!("{path}/git/import"), 204, full).await;
    s.platform.settle().await.expect("settled");
    let info = s.get(&format!("{path}/git/info")).await;
    has(&info, &["url", "updatedAt"]);
    assert!(!info.to_string().contains("secret"), "{info}");
    assert_eq!(s.get(&path).await["gitSync"], info);
    let jobs = s.get(&format!("{path}/jobs")).await;
    has(&jobs["items"][0], &["id", "kind", "state", "stage", "createdBy.displayName", "result.revision"]);
    has(&s.get(&format!("{path}/jobs/{}", id(&jobs["items"][0]))).await, &["endedAt", "log[].text"]);
    assert!(!jobs.to_string().contains("secret"), "{jobs}");
    let short = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    s.post(&format!("{path}/git/import"), 204, short).await;
    s.platform.settle().await.expect("settled");
    let full = json!({
        "url": "https://me:secret@git.example/docs", "ref": "refs/heads/exported", "commitMessage": "Export",
        "repoCacheID": "c", "repoTreeURL": "https://git.example/docs/tree/exported",
        "repoCommitURL": "https://git.example/docs/commit", "repoProjectDirectory": "",
        "timestamp": "2025-01-02T00:00:00Z", "force": true,
        "gitInfo": { "provider": "github", "url": "https://git.example/docs" },
    });
    s.post(&format!("{path}/git/export"), 204, full).await;
    s.platform.settle().await.expect("settled");
    let short =
        json!({ "url": "https://git.example/docs", "ref": "refs/heads/exported", "commitMessage": "Again" });
    s.post(&format!("{path}/git/export"), 204, short).await;
    s.platform.settle().await.expect("settled");
    let jobs = s.get(&format!("{path}/jobs")).await;
    let exports: Vec<&Value> =
        jobs["items"].as_array().expect("jobs").iter().filter(|job| job["kind"] == "git_export").collect();
    assert_eq!(exports.len(), 2, "{jobs}");
    assert!(exports.iter().all(|job| job["state"] == "done"), "{jobs}");
    let legacy = format!("{path}/git/legacy-installation");
    s.ask("DELETE", &legacy, &s.admin, None).await.is(204, &legacy);
}

async fn change_requests(s: &Server, space: &str) {
    let path = format!("/v1/spaces/{space}/change-requests");
    let bare = s.post(&path, 201, json!({})).await;
    assert!(bare.header("location").is_some_and(|at| at.ends_with(&id(&bare.body))));
    has(&bare.body, REQUEST);
    for absent in ["revisionMerged", "revisionMergedAncestor"] {
        assert!(bare.body.get(absent).is_none(), "{absent}");
    }
    has(&s.get(&format!("/v1/orgs/{}/change-requests?status=draft", s.org)).await["items"][0], REQUEST);
    let other = s.post(&path, 201, json!({ "subject": "Other", "agentTaskId": "task" })).await.body;
    let other = format!("{path}/{}", other["number"]);
    s.patch(&other, json!({ "subject": "Better", "status": "open" })).await;
    let page = json!({ "operation": "insert_page", "ref": "p", "document": { "markdown": "# New\n\nText.\n" },
        "slug": "new", "emoji": "🚀", "description": "D", "hidden": true, "noIndex": true, "noRobotsIndex": true,
        "condition": "visitor.claims.x", "at": 0 });
    let file = json!({ "operation": "insert_files", "files": [
        { "name": "b.txt", "base64": "YQ==", "contentType": "text/plain", "ref": "f" },
    ] });
    let changes = json!({ "changes": [page, file] });
    let full = s.post(&format!("{other}/content?compat=false"), 200, changes).await.body;
    has(&full, &["changeRequest.space", "changes[].object", "changes[].page.urls.location", "changes[].ref"]);
    has(&full, &["insertedFiles[].downloadURL", "insertedFiles[].size"]);
    let new = id(&full["changes"][0]["page"]);
    let update = json!({ "changes": [
        { "operation": "update_page", "page": new, "title": "Newer", "emoji": null, "into": null, "at": 1 },
        { "operation": "insert_page", "document": {}, "into": new },
    ] });
    has(&s.post(&format!("{other}/content"), 200, update).await.body, REQUEST);
    let first = format!("{path}/{}", id(&bare.body));
    s.post(&format!("{first}/merge"), 200, json!({})).await;
    has(&s.post(&format!("{other}/update"), 200, json!({})).await.body, &["revision", "result"]);
    let merged = s.post(&format!("{other}/merge"), 200, json!({})).await.body;
    assert_eq!(merged["result"], "merge");
    has(&s.get(&other).await, &["revisionMerged"]);
    has(&s.get(&path).await, &["count", "items[].createdBy.id", "items[].outdated"]);
}

async fn content(s: &Server, space: &str) {
    let space = format!("/v1/spaces/{space}");
    let head = id(&s.get(&format!("{space}/content")).await);
    for base in [
        format!("{space}/content"),
        format!("{space}/change-requests/2/content"),
        format!("{space}/revisions/{head}"),
    ] {
        let revision = s.get(&base).await;
        has(&revision, &["object", "id", "parents", "type", "pages", "files", "reusableContents"]);
        has(&revision, &["createdAt", "urls.app", "files[].downloadURL"]);
        let pages = s.get(&format!("{base}/pages?computed=false&metadata=true")).await;
        assert_eq!(pages["pages"], revision["pages"]);
        every_page(&pages["pages"]);
        let plain = s.get(&format!("{base}/pages?metadata=false")).await;
        assert!(!plain.to_string().contains("\"git\""), "metadata of Git can be left out");
        let start = pages["pages"].as_array().and_then(|p| p.iter().find(|p| p["git"].is_object()));
        let start = start.expect("a page of the repository");
        has(start, &["git.oid", "git.path", "icon", "description", "documentId", "createdAt", "updatedAt"]);
        let query = "?format=markdown&evaluated=true&computed=false&metadata=false&dereferenced=reusable-contents&format.markdown.refs=relative";
        for at in [format!("page/{}", id(start)), format!("path/{}", start["path"].as_str().unwrap_or(""))] {
            let page = s.get(&format!("{base}/{at}{query}")).await;
            has(&page, DOCUMENT);
            has(&page, &["markdown"]);
            assert_eq!(page.get("git"), None);
            let page = s.get(&format!("{base}/{at}?format=document&evaluated=deterministic-only")).await;
            has(&page, &["document.object", "document.data", "document.nodes"]);
            assert_eq!(page.get("markdown"), None);
            let path = format!("{base}/{at}?format=html");
            let told = s.ask("GET", &path, &s.admin, None).await;
            assert!(told.refused(400, &path).starts_with("format: "));
        }
        let files = s.get(&format!("{base}/files?metadata=true&computed=true")).await;
        has(&files, &["count", "items"]);
        for file in files["items"].as_array().expect("a list") {
            has(file, FILE);
            assert_eq!(s.get(&format!("{base}/files/{}?computed=false", id(file))).await, *file);
        }
        assert!(files["items"].to_string().contains("\"git\""), "{files}");
        reusable(s, &space, &base, &revision["reusableContents"][0]).await;
        if base.contains("/revisions/") {
            let path = format!("{base}/page/{}/document?evaluated=deterministic-only", id(start));
            has(&s.get(&path).await, &["object", "data", "nodes"]);
            has(&s.get(&format!("{base}/changes?metadata=false&computed=false")).await, &["changes"]);
        }
    }
    has(&s.get(&format!("{space}/change-requests/2/changes")).await, &["changes"]);
    let last = s.get(&format!("{space}/content")).await;
    has(&last, &["mergedFrom.number"]);
    assert_eq!(last["type"], "merge");
}

/// Checks reusable content of a revision in the list and by id, and its document.
async fn reusable(s: &Server, space: &str, base: &str, reusable: &Value) {
    has(reusable, &["id", "title", "document", "git.oid", "git.path"]);
    let path = format!("{base}/reusable-contents/{}", id(reusable));
    assert_eq!(s.get(&format!("{path}?metadata=true&computed=true")).await, *reusable);
    assert_eq!(s.get(&format!("{path}?metadata=false")).await.get("git"), None);
    let document = reusable["document"].as_str().expect("an id");
    has(&s.get(&format!("{space}/documents/{document}?schema=current")).await, &["object", "data", "nodes"]);
    if base.contains("/revisions/") {
        has(&s.get(&format!("{path}/document?evaluated=false")).await, &["object", "data", "nodes"]);
    }
}

async fn links(s: &Server, space: &str) {
    let space = format!("/v1/spaces/{space}");
    let request = format!("{space}/change-requests/2");
    for (of, context) in [(&space, "revision"), (&request, "changeRequest")] {
        let pages = s.get(&format!("{of}/content/pages")).await;
        let is_start = |page: &&Value| page["title"] == "Start";
        let start = pages["pages"].as_array().and_then(|pages| pages.iter().find(is_start)).map(id);
        let start = start.expect("a page of the repository");
        let links = s.get(&format!("{of}/content/page/{start}/links?status=ok")).await;
        has(&links, &["stats.total", "stats.broken.total", "items[].status", "items[].relation"]);
        let location = &links["items"][0]["locationReferences"][0];
        has(location, &["kind", "organization.object", "space.object", "versionContext", "page.path"]);
        assert_eq!((location["kind"].as_str(), &location["page"]["id"]), (Some("page"), &json!(start)));
        let target = &links["items"][0]["targetReference"];
        has(target, &["organization.object", "space.object", "versionContext", "file.downloadURL"]);
        assert_eq!(
            (target["kind"].as_str(), target["versionContext"]["type"].as_str()),
            (Some("file"), Some(context))
        );
        let file = id(&target["file"]);
        let back = s.get(&format!("{of}/content/files/{file}/backlinks")).await;
        has(
            &back,
            &[
                "count",
                "items[].kind",
                "items[].organization.id",
                "items[].space.id",
                "items[].versionContext",
            ],
        );
        assert_eq!(back["items"], json!([location]));
        let back = s.get(&format!("{of}/content/page/{start}/backlinks")).await;
        assert_eq!((&back["items"], &back["count"]), (&json!([]), &json!(0)));
    }
    // A link page and an image.
    let all = s.get(&format!("{space}/links")).await;
    assert_eq!((&all["stats"]["total"], &all["count"]), (&json!(2), &json!(2)));
    assert_eq!(all["items"][1]["targetReference"], json!({ "kind": "url", "url": "https://away.example/" }));
    let request = s.get(&format!("{request}/links?brokenContext=change-request")).await;
    has(&request, &["stats.broken.changeRequest"]);
}

async fn discussion(s: &Server, space: &str) {
    let space = format!("/v1/spaces/{space}");
    let page = id(&s.get(&format!("{space}/content/pages")).await["pages"][0]);
    for base in [space.clone(), format!("{space}/change-requests/1")] {
        let comments = format!("{base}/comments");
        let said = |text: &str| json!({ "body": { "markdown": text } });
        let bare = s.post(&comments, 200, said("Why?")).await.body;
        has(&bare, COMMENT);
        for absent in ["editedAt", "resolvedAt", "resolvedBy"] {
            assert!(bare.get(absent).is_none(), "{absent}");
        }
        for absent in ["page", "node", "review"] {
            assert!(bare["target"].get(absent).is_none(), "{absent}");
        }
        let tree = s.get(&format!("{base}/content/page/{page}?format=document")).await;
        let block = &tree["document"]["nodes"][0]["key"];
        let full = json!({ "page": page, "node": block, "body": { "markdown": "**Why?**" } });
        let full = s.post(&comments, 200, full).await.body;
        has(&full["target"], &["node.id", "page.id", "page.title", "page.path", "page.outdated", "revision"]);
        assert_eq!(full["target"].get("changeRequest").is_some(), base != space);
        let this = format!("{comments}/{}", id(&full));
        assert!(full["urls"]["location"].as_str().is_some_and(|at| at.ends_with(&id(&full))));
        let change = json!({ "resolved": true, "body": { "markdown": "How?" }, "addedReactions": ["👍", "🎉"],
            "removedReactions": ["🎉"], "unknown": 1 });
        let changed = s.put(&this, change).await;
        has(&changed, &["editedAt", "resolvedAt", "resolvedBy.displayName", "reactions[].users"]);
        has(&changed["reactions"][0], &["emoji", "count", "users[].user.id", "users[].reactedAt"]);
        assert_eq!(s.get(&format!("{this}?format=markdown")).await, changed);
        let replies = format!("{this}/replies");
        let at = replied(s, &replies, base == space).await;
        let query = format!("?order=asc&status=resolved&targetPage={page}&format=markdown&limit=5");
        has(&s.get(&format!("{comments}{query}")).await, &["items[].resolvedAt", "items[].target.space"]);
        has(&s.get(&format!("{base}/commenters?limit=1")).await, MEMBER);
        for path in [&this, &at] {
            let body = s.get(&format!("{path}?format=document")).await["body"].clone();
            has(
                &body,
                &["document.object", "document.data", "document.nodes[].type", "document.nodes[].key"],
            );
        }
        for path in [&comments, &replies] {
            has(&s.get(&format!("{path}?format=document")).await, &["items[].body.document.nodes"]);
        }
        for gone in [&at, &this] {
            s.ask("DELETE", gone, &s.admin, None).await.is(204, gone);
        }
    }
    assert_eq!(s.get(&space).await["comments"], 1);
    assert_eq!(s.get(&format!("{space}/change-requests/1")).await["comments"], 1);
}

/// Posts a reply, edits it, and checks that it is listed. Returns its path.
async fn replied(s: &Server, replies: &str, in_space: bool) -> String {
    let said = |text: &str| json!({ "body": { "markdown": text } });
    let query = if in_space { "" } else { "?format=markdown" };
    let reply = s.post(&format!("{replies}{query}"), 200, said("So.")).await.body;
    has(&reply, &["object", "id", "postedBy.id", "postedAt", "reactions", "body.markdown", "urls.location"]);
    has(&reply, &["permissions.view", "permissions.edit", "permissions.reply", "permissions.delete"]);
    let at = format!("{replies}/{}", id(&reply));
    let change = json!({ "body": { "markdown": "Thus." }, "addedReactions": ["1f44d"], "resolved": true });
    let changed = s.put(&at, change).await;
    has(&changed, &["editedAt"]);
    assert_eq!(changed["reactions"][0]["emoji"], "1f44d");
    assert_eq!(s.get(&format!("{at}?format=markdown")).await, changed);
    has(&s.get(&format!("{replies}?limit=1")).await, &["count", "items[].postedAt"]);
    at
}

async fn reviews(s: &Server, space: &str) {
    let request = s.request(space).await;
    let me = id(&s.get("/v1/user").await);
    let asked = format!("{request}/requested-reviewers");
    let users = json!({ "users": [me], "subject": "Read this" });
    let answer = s.post(&asked, 200, users).await.body;
    let waiting = ["object", "revision", "requestedBy.id", "createdAt", "kind", "user.displayName"];
    has(&answer["users"][0], &waiting);
    assert_eq!(s.get(&asked).await["items"], answer["users"]);
    let reviews = format!("{request}/reviews");
    let said = json!({ "status": "changes-requested", "comment": { "markdown": "Not yet." } });
    let review = s.post(&reviews, 201, said).await;
    assert_eq!(review.header("location"), Some(format!("https://docs.example{reviews}").as_str()));
    has(&review.body, &["object", "id", "revision", "reviewer.id", "requestedBy.id", "status", "outdated"]);
    has(&review.body, &["createdAt", "updatedAt", "comment.body.markdown", "comment.target.review"]);
    // Items created at the same time have no defined order.
    s.clock.advance(std::time::Duration::from_millis(1));
    has(&s.post(&reviews, 201, json!({ "status": "approved" })).await.body, &["reviewer.id"]);
    let list = s.get(&format!("{reviews}?format=markdown&limit=5")).await;
    assert_eq!((&list["count"], &list["items"][1]), (&json!(2), &review.body), "the newest first");
    assert_eq!(s.get(&format!("{reviews}/{}", id(&review.body))).await, list["items"][1]);
    let trees = s.get(&format!("{reviews}?format=document")).await;
    has(&trees["items"][1], &["comment.body.document.nodes[].key"]);
    let gone = format!("{asked}/{me}");
    s.ask("DELETE", &gone, &s.admin, None).await.is(204, &gone);
    has(&s.get(&format!("{request}/contributors")).await, &["items[].updatedAt", "items[].user.id", "count"]);
}

async fn pdfs(s: &Server, space: &str) {
    let space = format!("/v1/spaces/{space}");
    let page = id(&s.get(&format!("{space}/content/pages")).await["pages"][0]);
    for base in [space.clone(), format!("{space}/change-requests/1")] {
        for query in [String::new(), format!("?page={page}&only=true")] {
            let answer = s.get(&format!("{base}/pdf{query}")).await;
            assert!(answer["url"].as_str().is_some_and(|url| url.starts_with("https://docs.example/files/")));
        }
    }
}

/// Checks the fields that clients need for each kind of page.
#[track_caller]
fn every_page(pages: &Value) {
    let pages = pages.as_array().expect("pages");
    let one = |kind: &str| pages.iter().find(|p| p["type"] == kind).unwrap_or_else(|| panic!("a {kind}"));
    let kinds = |kind: &str| one(kind)["kind"].as_str().expect("text").to_owned();
    has(one("document"), DOCUMENT);
    assert_eq!(kinds("document"), "sheet");
    has(
        one("group"),
        &["id", "title", "type", "kind", "slug", "path", "pages", "hidden", "noIndex", "noRobotsIndex"],
    );
    assert_eq!(kinds("group"), "group");
    has(one("link"), &["id", "title", "type", "kind", "target.kind", "target.url", "href", "hidden"]);
    assert_eq!(one("link")["href"], "https://away.example/");
}

/// Imports into a separate space, so that the lists of other spaces do not change.
async fn imports(s: &Server) {
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    s.patch(&path, json!({ "editMode": "live" })).await;
    let request = s.request(&space).await;
    for content in [format!("{path}/content"), format!("{request}/content")] {
        let import = json!({ "url": "https://web.example/start", "source": "website" });
        let done = s.post(&format!("{content}/import"), 201, import).await;
        has(&done.body, &["revision", "importedResources", "totalResources"]);
        assert!(done.header("location").is_some());
        let page = id(&s.get(&content).await["pages"][0]);
        let import = json!({ "url": "https://web.example/start", "source": "html" });
        let below = s.post(&format!("{content}/page/{page}/import"), 201, import).await;
        assert!(below.header("location").is_some());
    }
    s.post(&format!("{path}/content/template"), 201, json!({ "id": "changelog" })).await;
}

/// The document declares the parameters that clients send, including those without effect.
#[tokio::test]
async fn openapi_document_declares_parameters_that_clients_send() {
    let s = Server::new().await;
    let mut declared: Vec<(String, BTreeSet<&str>)> = Vec::new();
    for ops in s.document["paths"].as_object().expect("paths").values() {
        for operation in ops.as_object().expect("operations").values() {
            let parameters = operation["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
            let query = parameters.iter().filter(|p| p["in"] == "query");
            let told = query.inspect(|p| assert!(p["description"].is_string(), "{p} says what it is"));
            let names = told.map(|p| p["name"].as_str().expect("a name")).collect();
            declared.push((operation["operationId"].as_str().expect("an id").to_owned(), names));
        }
    }
    let of = |id: &str| &declared.iter().find(|(of, _)| of == id).expect("the operation").1;
    for id in [
        "getSpaceById",
        "getPublishedContentSite",
        "listSiteSpaces",
        "listSiteSections",
        "getSiteStructure",
        "getSiteRedirectBySource",
    ] {
        assert!(of(id).contains("shareKey"), "{id}");
    }
    for id in
        ["getCurrentRevision", "listPages", "listFiles", "getFileById", "getRevisionOfChangeRequestById"]
    {
        assert!(of(id).is_superset(&BTreeSet::from(["metadata", "computed"])), "{id}");
    }
    for id in [
        "getPageById",
        "getPageByPath",
        "getPageInChangeRequestById",
        "getPageInChangeRequestByPath",
        "getPageInRevisionById",
        "getPageInRevisionByPath",
    ] {
        let all = [
            "cachedMetadata",
            "computed",
            "dereferenced",
            "evaluated",
            "format",
            "format.markdown.refs",
            "metadata",
        ];
        assert_eq!(*of(id), BTreeSet::from(all), "{id}");
    }
}
