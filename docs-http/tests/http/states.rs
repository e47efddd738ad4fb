//! Updates by state: absent, cleared and set fields, and states where a request is rejected.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Server, id};

/// Sets a field, omits it, and clears it, and checks the returned value after each request.
async fn kept_and_cleared(s: &Server, path: &str, field: &str, values: (Value, Value, Value)) {
    let (value, shown, cleared) = values;
    let show = |body: &Value| match field {
        "logo" => body["urls"]["logo"].clone(),
        "icon" => body["urls"]["icon"].clone(),
        "proxy" => body["proxy"]["origin"].clone(),
        other => body[other].clone(),
    };
    let set = s.patch(path, json!({ field: value })).await;
    assert_eq!(show(&set), shown, "{field} is set");
    let kept = s.patch(path, json!({})).await;
    assert_eq!(kept, set, "{field} is left out, so nothing changes");
    assert_eq!(s.get(path).await, set, "{field}: a second reader sees it");
    let gone = s.patch(path, json!({ field: null })).await;
    assert_eq!(show(&gone), cleared, "{field} is cleared");
    assert_eq!(s.patch(path, json!({ field: null })).await, gone, "{field} is cleared twice");
    assert_eq!(s.get(path).await, gone);
}

#[tokio::test]
async fn omitted_field_is_unchanged_and_null_clears_it() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let site_id = site.rsplit('/').next().expect("an id").to_owned();
    let org = format!("/v1/orgs/{}", s.org);
    let pointer = json!({ "type": "site", "site": site_id });
    let url = "https://x.example/a.png";
    kept_and_cleared(&s, &org, "defaultRole", (json!("edit"), json!("edit"), Value::Null)).await;
    kept_and_cleared(&s, &org, "defaultContent", (pointer.clone(), pointer, Value::Null)).await;
    kept_and_cleared(&s, &org, "logo", (json!(url), json!(url), Value::Null)).await;
    let space = format!("/v1/spaces/{space}");
    kept_and_cleared(&s, &space, "defaultLevel", (json!("review"), json!("review"), Value::Null)).await;
    kept_and_cleared(&s, &space, "emoji", (json!("🚀"), json!("1f680"), json!("1f4d8"))).await;
    kept_and_cleared(&s, &space, "icon", (json!(url), json!(url), Value::Null)).await;
    kept_and_cleared(&s, &site, "proxy", (json!("a.example/help"), json!("a.example/help"), Value::Null))
        .await;
    let shown = s.get(&org).await;
    assert!(shown.as_object().expect("an object").contains_key("defaultRole"), "null is guest, and is said");
    assert!(shown.get("defaultContent").is_none() && shown["urls"].get("logo").is_none());
    s.check().await;
}

#[tokio::test]
async fn null_is_refused_for_fields_that_cannot_be_cleared() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let request = s.request(&space).await;
    let org = format!("/v1/orgs/{}", s.org);
    for (path, fields) in [
        (&org, &["title", "emailDomains", "hostname", "sso", "ai", "inviteLinks"][..]),
        (&format!("/v1/spaces/{space}"), &["title", "editMode"][..]),
        (&request, &["subject", "status"][..]),
        (
            &site,
            &["title", "visibility", "basename", "adaptiveContent", "agentsContext", "defaultSiteSpace"][..],
        ),
    ] {
        let before = s.get(path).await;
        for field in fields {
            s.invalid("PATCH", path, json!({ *field: null }), field).await;
        }
        assert_eq!(s.get(path).await, before);
    }
}

#[tokio::test]
async fn space_emoji_and_icon_are_mutually_exclusive() {
    let s = Server::new().await;
    let path = format!("/v1/spaces/{}", s.space().await);
    let both = json!({ "emoji": "🚀", "icon": "https://x.example/a.png" });
    s.invalid("PATCH", &path, both, "icon: must not be set together with `emoji`").await;
    s.patch(&path, json!({ "emoji": "🚀" })).await;
    let icon = s.patch(&path, json!({ "icon": "https://x.example/a.png" })).await;
    assert_eq!((&icon["emoji"], &icon["urls"]["icon"]), (&json!("1f4d8"), &json!("https://x.example/a.png")));
    let emoji = s.patch(&path, json!({ "emoji": "🚀" })).await;
    assert_eq!((&emoji["emoji"], emoji["urls"].get("icon")), (&json!("1f680"), None));
    let neither = s.patch(&path, json!({ "emoji": null, "icon": null })).await;
    assert_eq!((&neither["emoji"], neither["urls"].get("icon")), (&json!("1f4d8"), None));
}

#[tokio::test]
async fn every_level_of_a_space_can_be_set() {
    let s = Server::new().await;
    let path = format!("/v1/spaces/{}", s.space().await);
    for level in ["read", "comment", "edit", "review", "create", "admin"] {
        assert_eq!(s.patch(&path, json!({ "defaultLevel": level })).await["defaultLevel"], level);
    }
    assert_eq!(s.patch(&path, json!({ "defaultLevel": "inherit" })).await["defaultLevel"], "inherit");
    assert_eq!(
        s.ask("GET", &path, &s.editor, None).await.body["defaultLevel"],
        "inherit",
        "to everybody alike"
    );
    s.invalid("PATCH", &path, json!({ "defaultLevel": "owner" }), "defaultLevel: must be").await;
}

/// Sends a request that must fail with this status and change nothing. Returns the error message.
async fn refused(s: &Server, method: &str, path: &str, body: Value, status: u16) -> String {
    let before = s.stored().await;
    let answer = s.ask(method, path, &s.admin, Some(body)).await;
    let message = answer.refused(status, &format!("{method} {path}")).to_owned();
    assert_eq!(before, s.stored().await, "{method} {path}: nothing changed");
    message
}

#[tokio::test]
async fn merged_change_request_cannot_change_status_or_content() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    s.post(&format!("{request}/merge"), 200, json!({})).await;
    for status in ["draft", "open", "archived"] {
        refused(&s, "PATCH", &request, json!({ "status": status }), 409).await;
        let both = json!({ "status": status, "subject": "New" });
        assert!(refused(&s, "PATCH", &request, both, 409).await.starts_with("status: "));
    }
    for doing in ["merge", "update"] {
        let told = refused(&s, "POST", &format!("{request}/{doing}"), json!({}), 409).await;
        assert!(told.contains("merged"), "{told}");
    }
    let page = json!({ "changes": [{ "operation": "insert_page", "document": {} }] });
    refused(&s, "POST", &format!("{request}/content"), page, 409).await;
    let renamed = s.patch(&request, json!({ "subject": "Said better" })).await;
    assert_eq!((&renamed["subject"], &renamed["status"]), (&json!("Said better"), &json!("merged")));
}

#[tokio::test]
async fn archived_change_request_is_read_only_until_reopened() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    s.patch(&request, json!({ "status": "archived" })).await;
    for doing in ["merge", "update"] {
        refused(&s, "POST", &format!("{request}/{doing}"), json!({}), 409).await;
    }
    let page = json!({ "changes": [{ "operation": "insert_page", "document": {} }] });
    refused(&s, "POST", &format!("{request}/content"), page, 409).await;
    for status in ["open", "draft", "archived", "draft"] {
        assert_eq!(s.patch(&request, json!({ "status": status })).await["status"], status);
    }
    s.post(&format!("{request}/merge"), 200, json!({})).await;
}

#[tokio::test]
async fn change_request_status_cannot_be_set_to_merged() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    for wrong in ["merged", "MERGED", "closed", ""] {
        s.invalid("PATCH", &request, json!({ "status": wrong }), "status: ").await;
    }
}

#[tokio::test]
async fn a_deleted_space_can_be_restored_for_seven_days() {
    let s = Server::new().await;
    let space = s.space().await;
    let path = format!("/v1/spaces/{space}");
    let restore = format!("{path}/restore");
    assert!(refused(&s, "POST", &restore, json!({}), 409).await.contains("not deleted"));
    let live = s.get(&path).await;
    for _ in 0..2 {
        assert_eq!(s.ask("DELETE", &path, &s.admin, None).await.is(204, &path), Value::Null);
    }
    assert!(s.get(&path).await["deletedAt"].is_string());
    for hidden in ["/content", "/content/pages", "/content/files", "/change-requests", "/git/info"] {
        s.ask("GET", &format!("{path}{hidden}"), &s.admin, None).await.refused(404, hidden);
    }
    refused(&s, "PATCH", &path, json!({ "title": "New" }), 404).await;
    refused(&s, "POST", &format!("{path}/duplicate"), json!({}), 404).await;
    let spaces = s.get(&format!("/v1/orgs/{}/spaces", s.org)).await;
    assert_eq!((&spaces["items"], &spaces["count"]), (&json!([]), &json!(0)));

    s.clock.advance(Duration::from_secs(7 * 24 * 3600));
    let restored = s.post(&restore, 200, json!({})).await.body;
    assert_eq!((restored.get("deletedAt"), &restored["revision"]), (None, &live["revision"]));
    s.ask("DELETE", &path, &s.admin, None).await.is(204, &path);
    s.clock.advance(Duration::from_millis(7 * 24 * 3_600_000 + 1));
    refused(&s, "POST", &restore, json!({}), 404).await;
    s.ask("GET", &path, &s.admin, None).await.refused(404, &path);
    s.platform.settle().await.expect("settled");
    refused(&s, "POST", &restore, json!({}), 404).await;
    s.check().await;
}

#[tokio::test]
async fn missing_references_in_a_body_are_rejected_by_field() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[]).await;
    let (org, other) = (format!("/v1/orgs/{}", s.org), format!("/v1/orgs/{}", s.other_org));
    let there = s.ask("POST", &format!("{other}/spaces"), &s.both, None).await;
    let elsewhere = id(&there.is(201, "a space of the other organization"));
    let their_site = id(&s.ask("POST", &format!("{other}/sites"), &s.both, None).await.is(201, "a site"));
    for wrong in ["unknown", "not an id", &elsewhere] {
        let pointer = json!({ "defaultContent": { "type": "site", "site": wrong } });
        s.invalid("PATCH", &org, pointer, "defaultContent.site: ").await;
        s.invalid("POST", &format!("{org}/spaces"), json!({ "parent": wrong }), "parent: ").await;
        s.invalid("POST", &format!("{org}/sites"), json!({ "spaces": [space, wrong] }), "spaces[1]: ").await;
        s.invalid("PATCH", &site, json!({ "defaultSiteSpace": wrong }), "defaultSiteSpace: ").await;
        s.invalid("PATCH", &site, json!({ "defaultSiteSection": wrong }), "defaultSiteSection: ").await;
        s.invalid("POST", &format!("{site}/site-spaces"), json!({ "spaceId": wrong }), "spaceId: ").await;
        let section = json!({ "spaceId": space, "sectionId": wrong });
        s.invalid("POST", &format!("{site}/site-spaces"), section, "sectionId: ").await;
    }
    let pointer = json!({ "defaultContent": { "type": "site", "site": their_site } });
    s.invalid("PATCH", &org, pointer, "defaultContent.site: ").await;
    let request = s.request(&space).await;
    for (change, field) in [
        (json!({ "operation": "delete_page", "page": "unknown" }), "changes[0].page: "),
        (json!({ "operation": "update_page", "page": "not an id" }), "changes[0].page: "),
        (json!({ "operation": "revert_page", "page": "unknown" }), "changes[0].page: "),
        (json!({ "operation": "insert_page", "document": {}, "into": "unknown" }), "changes[0].into: "),
        (json!({ "operation": "rename_page" }), "changes[0].operation: must be"),
    ] {
        s.invalid("POST", &format!("{request}/content"), json!({ "changes": [change] }), field).await;
    }
}

#[tokio::test]
async fn names_in_use_are_rejected_until_released() {
    let s = Server::new().await;
    let (org, other) = (format!("/v1/orgs/{}", s.org), format!("/v1/orgs/{}", s.other_org));
    let taken = json!({ "hostname": "engines", "emailDomains": ["engines.example"] });
    s.ask("PATCH", &other, &s.both, Some(taken)).await.is(200, "the first takes it");
    let (first, second) = (s.site("One", &[]).await, s.site("Two", &[]).await);
    s.patch(&first, json!({ "basename": "guide", "proxy": "a.example/help" })).await;
    for (path, body, field) in [
        (&org, json!({ "hostname": "engines", "title": "New" }), "hostname: "),
        (&org, json!({ "emailDomains": ["new.example", "engines.example"] }), "emailDomains: "),
        (&org, json!({ "emailDomains": ["ENGINES.example"] }), "emailDomains: "),
        (&second, json!({ "basename": "guide", "title": "New" }), "basename: "),
        (&second, json!({ "basename": "one-2", "proxy": "a.example/help" }), "proxy: "),
    ] {
        let message = refused(&s, "PATCH", path, body, 409).await;
        assert!(message.starts_with(field), "{message}");
    }
    // A resource does not conflict with itself.
    s.patch(&first, json!({ "basename": "guide", "proxy": "a.example/help" })).await;
    // A value that is no longer used can be taken.
    s.patch(&first, json!({ "basename": "manual", "proxy": null })).await;
    s.patch(&second, json!({ "basename": "guide", "proxy": "a.example/help" })).await;
    s.ask("PATCH", &other, &s.both, Some(json!({ "hostname": "others", "emailDomains": [] })))
        .await
        .is(200, "");
    s.patch(&org, json!({ "hostname": "engines", "emailDomains": ["engines.example"] })).await;
    s.check().await;
}

#[tokio::test]
async fn sites_with_equal_titles_get_unique_basenames() {
    let s = Server::new().await;
    let mut names = Vec::new();
    for title in ["The Guide", "The Guide", "the guide!", "日本語", "日本語"] {
        let site = s.get(&s.site(title, &[]).await).await;
        names.push(site["basename"].as_str().expect("a name").to_owned());
    }
    assert_eq!(names[..3], ["the-guide", "the-guide-2", "the-guide-3"]);
    let unlike: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!(unlike.len(), names.len(), "{names:?}");
}

#[tokio::test]
async fn first_space_of_a_site_is_default_until_another_is_set() {
    let s = Server::new().await;
    let (one, two) = (s.space().await, s.space().await);
    let site = s.site("Docs", &[]).await;
    let places = format!("{site}/site-spaces");
    let add = async |space: &str| {
        let answer = s.post(&places, 201, json!({ "spaceId": space })).await;
        assert!(answer.header("location").is_some_and(|at| at.ends_with(&id(&answer.body))));
        answer.body
    };
    let (first, second) = (add(&one).await, add(&two).await);
    assert_eq!((&first["default"], &second["default"]), (&json!(true), &json!(false)));
    assert_ne!(first["path"], second["path"], "spaces of one title have paths of their own");
    s.patch(&site, json!({ "defaultSiteSpace": second["id"] })).await;
    let default = s.get(&format!("{places}?default=true")).await;
    assert_eq!(
        (default["items"].as_array().map(Vec::len), &default["items"][0]["id"]),
        (Some(1), &second["id"])
    );
    let others = s.get(&format!("{places}?default=false")).await;
    assert_eq!(
        (others["items"].as_array().map(Vec::len), &others["items"][0]["id"]),
        (Some(1), &first["id"])
    );
}

#[tokio::test]
async fn a_site_takes_300_spaces_and_refuses_one_more() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[space.as_str(); 100]).await;
    let places = format!("{site}/site-spaces");
    for _ in 100..300 {
        s.post(&places, 201, json!({ "spaceId": space })).await;
    }
    s.post(&places, 409, json!({ "spaceId": space })).await;
    assert_eq!(s.get(&site).await["siteSpaces"], 300);
    assert_eq!(s.ask("DELETE", &site, &s.admin, None).await.status, 204, "it can be deleted whole");
}

#[tokio::test]
async fn publish_and_unpublish_are_idempotent() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    for (doing, published) in
        [("publish", true), ("publish", true), ("unpublish", false), ("unpublish", false)]
    {
        let answer = s.post(&format!("{site}/{doing}"), 200, json!({})).await.body;
        assert_eq!(answer["published"], published, "{doing}");
        let status = s.ask("GET", &format!("{site}/published"), &s.reader, None).await.status;
        assert_eq!(status, if published { 200 } else { 404 }, "{doing}");
    }
}

/// A deleted site is removed from everything that references it. Its spaces remain.
#[tokio::test]
async fn deleting_a_site_retains_its_spaces() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let org = format!("/v1/orgs/{}", s.org);
    let pointer = json!({ "type": "site", "site": site.rsplit('/').next() });
    s.patch(&org, json!({ "defaultContent": pointer })).await;
    for _ in 0..2 {
        s.ask("DELETE", &site, &s.admin, None).await.is(204, &site);
    }
    assert!(s.get(&org).await.get("defaultContent").is_none());
    s.ask("GET", &site, &s.admin, None).await.refused(404, &site);
    assert_eq!(s.get(&format!("/v1/spaces/{space}")).await["visibility"], "private");
    s.check().await;
}

/// Conflicts of an update are reported when the same change request is merged, not by later merges of other requests.
#[tokio::test]
async fn unresolved_conflicts_are_reported_by_their_merge_only() {
    let s = Server::new().await;
    let space = s.space().await;
    let first = s.request(&space).await;
    let insert =
        json!({ "changes": [{ "operation": "insert_page", "document": { "markdown": "# A\n\nOne." } }] });
    s.post(&format!("{first}/content"), 200, insert).await;
    s.post(&format!("{first}/merge"), 200, json!({})).await;
    let page = crate::server::id(&s.get(&format!("/v1/spaces/{space}/content/pages")).await["pages"][0]);
    let edit = |text: &str| json!({ "changes": [{ "operation": "update_page", "page": page, "document": { "markdown": text } }] });
    let (second, third) = (s.request(&space).await, s.request(&space).await);
    s.post(&format!("{second}/content"), 200, edit("Two.")).await;
    s.post(&format!("{third}/content"), 200, edit("Three.")).await;
    let clean = s.post(&format!("{second}/merge"), 200, json!({})).await.body;
    assert_eq!(clean["result"], "merge");
    let updated = s.post(&format!("{third}/update"), 200, json!({})).await.body;
    assert_eq!(updated["result"], "conflicts");
    let merged = s.post(&format!("{third}/merge"), 200, json!({})).await.body;
    assert_eq!(merged["result"], "conflicts", "nobody has decided yet");
    let fourth = s.request(&space).await;
    let insert = json!({ "changes": [{ "operation": "insert_page", "document": { "markdown": "# B" } }] });
    s.post(&format!("{fourth}/content"), 200, insert).await;
    let later = s.post(&format!("{fourth}/merge"), 200, json!({})).await.body;
    assert_eq!(later["result"], "merge", "this one brings nothing to decide");
}

#[tokio::test]
async fn a_page_is_read_by_its_path_with_plain_or_encoded_slashes() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let changes = json!({ "changes": [
        { "operation": "insert_page", "document": { "markdown": "# Install" }, "ref": "up" },
        { "operation": "insert_page", "document": { "markdown": "# Linux" }, "into": "up" },
    ] });
    s.post(&format!("{request}/content"), 200, changes).await;
    for path in ["install/linux", "install%2Flinux"] {
        let page = s.get(&format!("{request}/content/path/{path}")).await;
        assert_eq!(page["title"], "Linux", "{path}");
    }
    s.ask("GET", &format!("{request}/content/path/install/mac"), &s.admin, None).await.refused(404, "page");
}
