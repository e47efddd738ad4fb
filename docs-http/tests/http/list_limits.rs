//! Limits on the number of items per page.

use std::collections::BTreeMap;

use serde_json::json;

use crate::{
    limits::{file, work},
    server::{Server, id},
};

/// Creates a site with a section, a group, a site space, a share link, a redirect and feedback.
async fn site_with_lists(s: &Server, space: &str) -> String {
    let site = s.site("Docs", &[]).await;
    let section = s.post(&format!("{site}/sections"), 201, json!({ "spaceId": space })).await.body;
    let group = json!({ "title": "Group", "sections": [section["id"]] });
    s.post(&format!("{site}/section-groups"), 201, group).await;
    let place = id(&s.get(&format!("{site}/site-spaces")).await["items"][0]);
    s.post(&format!("{site}/share-links"), 201, json!({ "name": "Friends" })).await;
    let destination = json!({ "kind": "site-space", "siteSpaceId": place });
    let redirect = json!({ "source": "/old", "destination": destination });
    s.post(&format!("{site}/redirects"), 201, redirect).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    s.post(&format!("{site}/agents/feedback"), 201, crate::agent_feedback::feedback()).await;
    site
}

/// Returns all lists of the platform, each with one item, except for lists of links, which have two, and for empty
/// lists of a finding.
async fn lists(s: &Server) -> Vec<String> {
    let (space, request, page) = work(s).await;
    let files = json!({ "operation": "insert_files", "files": [file("YQ==")] });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [files] })).await;
    let file = id(&s.get(&format!("{request}/content/files")).await["items"][0]);
    let text = format!("![file](/files/{file}) [page](/pages/{page}#gone)");
    let linking = json!({ "operation": "insert_page", "title": "B", "document": { "markdown": text } });
    s.post(&format!("{request}/content"), 200, json!({ "changes": [linking] })).await;
    let linking = id(&s.get(&format!("{request}/content/pages")).await["pages"][1]);
    s.post(&format!("{request}/reviews"), 201, json!({ "status": "approved" })).await;
    let users = json!({ "users": [id(&s.get("/v1/user").await)] });
    s.post(&format!("{request}/requested-reviewers"), 200, users).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    let site = site_with_lists(s, &space).await;
    let collection = s.post(&format!("/v1/orgs/{}/collections", s.org), 201, json!({})).await.body;
    s.post(&format!("/v1/spaces/{space}/move"), 200, json!({ "parent": collection["id"] })).await;
    crate::openapi_specs::spec(s, "pets").await;
    s.platform.settle().await.expect("settled");
    let head = id(&s.get(&format!("/v1/spaces/{space}/content")).await);
    let mut lists = vec![
        "/v1/orgs".to_owned(),
        format!("/v1/spaces/{space}/revisions/{head}/files"),
        format!("/v1/orgs/{}/audit-log?operation=collection_create", s.org),
        format!("/v1/orgs/{}/audit-events?action=collection_create", s.org),
        format!("/v1/orgs/{}/spaces", s.org),
        format!("/v1/orgs/{}/collections", s.org),
        format!("/v1/collections/{}/spaces", id(&collection)),
        format!("/v1/orgs/{}/openapi", s.org),
        format!("/v1/orgs/{}/openapi/pets/versions", s.org),
        format!("/v1/orgs/{}/sites", s.org),
        format!("{site}/site-spaces"),
        format!("{site}/share-links"),
        format!("{site}/agents/feedback"),
        format!("{site}/redirects"),
        format!("{site}/sections"),
        format!("{site}/section-groups"),
        format!("/v1/spaces/{space}/change-requests"),
        format!("/v1/orgs/{}/change-requests?space={space}&status=draft&status=open&status=merged", s.org),
        format!("/v1/spaces/{space}/content/files"),
        format!("{request}/content/files"),
    ];
    lists.extend(of_links(&space, &request, [&linking, &page, &file]));
    lists.extend(["reviews", "requested-reviewers"].map(|list| format!("{request}/{list}")));
    for base in [format!("/v1/spaces/{space}"), request] {
        lists.extend(of_comments(s, &base).await);
    }
    let collection = format!("/v1/collections/{}", id(&collection));
    lists.extend(of_people(s, [&format!("/v1/spaces/{space}"), &collection, &site]).await);
    lists.extend(
        [format!("/v1/orgs/{}", s.org), format!("/v1/spaces/{space}")]
            .map(|of| format!("{of}/search?query=a")),
    );
    lists.push(of_jobs(s, &format!("/v1/spaces/{space}")).await);
    lists.extend(of_history(s, &space).await);
    lists.push(of_imports(s).await);
    lists.extend(of_findings(s, &site).await);
    lists
}

/// Returns the findings of a site and the pages of the finding, each with one item, and the empty lists of the finding.
async fn of_findings(s: &Server, site: &str) -> [String; 5] {
    let findings = format!("{site}/findings");
    let finding = format!("{findings}/{}", id(&s.get(&findings).await["items"][0]));
    let [pages, questions, records, requests] =
        ["pages", "questions", "records", "change-requests"].map(|list| format!("{finding}/{list}"));
    [findings, pages, questions, records, requests]
}

/// Returns the import runs of the organization, with one item.
async fn of_imports(s: &Server) -> String {
    let space = s.space().await;
    let request = s.request(&space).await;
    let request = request.rsplit('/').next().expect("an id").to_owned();
    let names = BTreeMap::from([("spaceId", space), ("changeRequestId", request)]);
    crate::import_runs::pending(s, &names).await;
    format!("/v1/org/{}/imports", s.org)
}

/// Returns link lists of a space and a change request: all links, links of a page, backlinks of a page, and backlinks
/// of a file.
fn of_links(space: &str, request: &str, [linking, page, file]: [&str; 3]) -> [String; 8] {
    [
        format!("/v1/spaces/{space}/links"),
        format!("{request}/links"),
        format!("/v1/spaces/{space}/content/page/{linking}/links"),
        format!("{request}/content/page/{linking}/links"),
        format!("/v1/spaces/{space}/content/page/{page}/backlinks"),
        format!("{request}/content/page/{page}/backlinks"),
        format!("/v1/spaces/{space}/content/files/{file}/backlinks"),
        format!("{request}/content/files/{file}/backlinks"),
    ]
}

/// Returns the revisions of a space, and the deleted spaces, each with one item.
async fn of_history(s: &Server, space: &str) -> [String; 2] {
    let deleted = s.space().await;
    s.ask("DELETE", &format!("/v1/spaces/{deleted}"), &s.admin, None).await.is(204, "deleted");
    [format!("/v1/spaces/{space}/revisions"), format!("/v1/orgs/{}/deleted-spaces", s.org)]
}

/// Returns the jobs of a space, with one item.
async fn of_jobs(s: &Server, space: &str) -> String {
    let import = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    s.post(&format!("{space}/git/import"), 204, import).await;
    format!("{space}/jobs")
}

/// Returns the filled comment lists of a space or a change request.
async fn of_comments(s: &Server, base: &str) -> [String; 3] {
    let body = json!({ "body": { "markdown": "Why?" } });
    let comments = format!("{base}/comments");
    let comment = id(&s.post(&comments, 200, body.clone()).await.body);
    let replies = format!("{comments}/{comment}/replies");
    s.post(&replies, 200, body).await;
    [comments, replies, format!("{base}/commenters")]
}

/// Returns the filled lists of people and their permissions.
async fn of_people(s: &Server, [space, collection, site]: [&str; 3]) -> Vec<String> {
    let org = format!("/v1/orgs/{}", s.org);
    let me = id(&s.get("/v1/user").await);
    let team = json!({ "title": "Team", "members": [me] });
    let team = id(&s.ask("PUT", &format!("{org}/teams"), &s.admin, Some(team)).await.is(201, "a team"));
    s.post(&format!("{org}/saml"), 201, json!({ "label": "Okta" })).await;
    crate::translations::of(s, space.rsplit('/').next().expect("an id")).await;
    crate::translations::term(s, json!({ "en": "page" })).await;
    s.patch(&org, json!({ "inviteLinks": true })).await;
    s.post(&format!("{org}/link-invites"), 201, json!({ "role": "read" })).await;
    let mut lists = vec![
        format!("{org}/teams"),
        format!("{org}/teams/{team}/members"),
        format!("{org}/saml"),
        format!("{org}/translations"),
        format!("{org}/translations-glossary"),
        format!("{org}/link-invites"),
        format!("{org}/members"),
        format!("{org}/members/{me}/teams"),
        format!("{org}/members/{me}/spaces"),
    ];
    for content in [space, collection, site] {
        let grant = json!({ "users": [me], "teams": [team], "role": "edit" });
        s.post(&format!("{content}/permissions"), 204, grant).await;
        lists.extend(["users", "teams", "aggregate"].map(|of| format!("{content}/permissions/{of}")));
    }
    lists
}

#[tokio::test]
async fn a_list_takes_a_limit_of_0_to_1000() {
    let s = Server::new().await;
    let lists = lists(&s).await;
    let declared = s.document["paths"].as_object().expect("paths").values();
    let limited = declared.filter(|ops| {
        let parameters = ops["get"]["parameters"].to_string();
        parameters.contains("\"limit\"") && parameters.contains("\"name\":\"page\"")
    });
    assert_eq!(lists.len(), limited.count(), "every list is here");
    for list in lists {
        let limited =
            |limit: &str| format!("{list}{}limit={limit}", if list.contains('?') { '&' } else { '?' });
        let all = s.get(&limited("1000")).await;
        let n = all["items"].as_array().expect("items").len();
        match list.rsplit('/').next() {
            Some("links") => assert_eq!(n, 2, "{list}"),
            Some("questions" | "records") => assert_eq!(n, 0, "{list}"),
            Some("change-requests") if list.contains("/findings/") => assert_eq!(n, 0, "{list}"),
            // These lists contain more than the created item: all people of the organization, all revisions of the
            // space, and its translation.
            Some("members" | "aggregate" | "revisions" | "spaces") => assert!(n >= 1, "{list}"),
            _ => assert_eq!(n, 1, "{list}"),
        }
        assert_eq!(s.get(&list).await, all, "{list}");
        let mut exact = s.get(&limited(&n.to_string())).await;
        if list.contains("/audit-") {
            // With a filter, it is unknown if there is another item until it is read.
            exact.as_object_mut().expect("a list").remove("next");
        }
        assert_eq!(exact, all, "{list}");
        let none = s.get(&limited("0")).await;
        assert_eq!(none["items"], json!([]), "{list}");
        assert_eq!(none["count"], all["count"], "{list}");
        assert_eq!(none.get("next"), None, "{list}");
        // Lists without counts: permissions, commenters, search results, translations, and the children of a
        // collection. The spaces of a site are counted by the site.
        let uncounted = ["/site-spaces", "/commenters"].iter().any(|end| list.ends_with(end));
        let uncounted = uncounted || list.starts_with("/v1/collections/") || list.contains("/permissions/");
        let uncounted = uncounted
            || ["/link-invites", "/imports", "/jobs", "/deleted-spaces", "/translations"]
                .iter()
                .any(|end| list.ends_with(end));
        let uncounted = uncounted || (list.contains("/members/") && list.ends_with("/spaces"));
        let uncounted =
            uncounted || ["/search?", "/audit-", "/change-requests?"].iter().any(|of| list.contains(of));
        assert!(all["count"] == n || uncounted, "{list}: {all}");
        for wrong in ["1001", "4294967296", "-1", "1.5", "abc", "", "%00", "0x1", "1&limit=2"] {
            let path = limited(wrong);
            let answer = s.ask("GET", &path, &s.admin, None).await;
            let message = answer.refused(400, &path);
            assert!(message.starts_with("limit: "), "{path}: {message}");
        }
    }
}

#[tokio::test]
async fn list_filters_limits_and_cursors_are_validated() {
    let s = Server::new().await;
    let space = s.space().await;
    let sites = format!("/v1/orgs/{}/sites", s.org);
    let requests = format!("/v1/spaces/{space}/change-requests");
    for (path, field) in [
        (format!("{sites}?published=yes"), "published: "),
        (format!("{sites}?type=gold"), "type: "),
        (format!("{sites}?title=%00"), "title: "),
        (format!("{sites}?space=a%00"), "space: "),
        (format!("{sites}?space=not%20an%20id&limit=1001"), "limit: "),
        (format!("{sites}?space=not%20an%20id&page=x"), "page: "),
        (format!("{requests}?status=resolved"), "status: "),
        (format!("/v1/spaces/{space}/links?status=fine"), "status: "),
        (format!("/v1/spaces/{space}/links?status=inApp"), "status: "),
        (format!("{requests}?contributor=not%20an%20id&limit=1001"), "limit: "),
        (format!("{requests}?creator=not%20an%20id&page=x"), "page: "),
        (format!("{requests}?contributor=not%20an%20id&page=x"), "page: "),
    ] {
        let answer = s.ask("GET", &path, &s.admin, None).await;
        let message = answer.refused(400, &path);
        assert!(message.starts_with(field), "{path}: {message}");
    }
}
