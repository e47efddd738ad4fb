//! Settings of sites in the forms of older and newer clients.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    story::has,
};

#[tokio::test]
async fn customization_accepts_the_forms_of_both_clients() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let path = format!("{site}/customization");
    let put = async |change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
        let mut look = s.get(&path).await;
        change(look.as_object_mut().expect("fields"));
        s.put(&path, look).await
    };
    // A newer client sends the list alone.
    let newer = put(&|look| {
        look.retain(|name, _| name != "pdf" && name != "git");
        look.insert("pageActions".to_owned(), json!({ "items": ["git", "mcp"] }));
    })
    .await;
    assert_eq!((&newer["git"]["showEditLink"], &newer["pdf"]["enabled"]), (&json!(true), &json!(false)));
    // An older client sends the list back as it is, and changes a switch.
    let older = put(&|look| look["pageActions"]["markdown"] = true.into()).await;
    assert_eq!(older["pageActions"]["items"], json!(["git", "mcp", "markdown"]));
    let older = put(&|look| {
        look.insert("pageActions".to_owned(), json!({ "externalAI": true, "markdown": false }));
        look.insert("git".to_owned(), json!({ "showEditLink": false }));
    })
    .await;
    assert_eq!(older["pageActions"]["items"], json!(["mcp", "external-ai"]));
    let titled =
        put(&|look| drop(look.insert("localizedTitle".to_owned(), json!({ "de": "Handbuch" })))).await;
    assert_eq!(titled["localizedTitle"], json!({ "de": "Handbuch" }));
    let kept = put(&|look| drop(look.remove("localizedTitle"))).await;
    assert_eq!(kept["localizedTitle"], json!({ "de": "Handbuch" }), "a client that does not know it");
    let assistant = put(&|look| {
        look["ai"] = json!({ "mode": "assistant", "instructions": "The secret instructions." });
        look["themes"]["default"] = "system".into();
    })
    .await;
    assert_eq!(assistant["ai"]["mode"], "assistant");
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    let published = s.get(&format!("{site}/published")).await;
    assert_eq!(published["customizations"]["site"]["ai"], json!({ "mode": "none" }));
    assert_eq!(published["customizations"]["site"]["themes"]["default"], "system");
    assert!(!published.to_string().contains("secret instructions"));
}

#[tokio::test]
async fn share_links_are_searched_by_name_and_key() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    let links = format!("{site}/share-links");
    for name in ["Friends", "Old friends", "Agency"] {
        s.post(&links, 201, json!({ "name": name })).await;
        // The list has the order of creation.
        s.clock.advance(Duration::from_millis(1));
    }
    let all = s.get(&links).await;
    assert_eq!(all["count"], 3);
    let url = all["items"][2]["urls"]["published"].as_str().expect("an address");
    let key = url.trim_end_matches('/').rsplit('/').next().expect("a key");
    for (search, names) in [("FRIEND", &["Friends", "Old friends"][..]), (key, &["Agency"]), ("nobody", &[])]
    {
        let found = s.get(&format!("{links}?search={search}")).await;
        let items = found["items"].as_array().expect("a list");
        let found: Vec<&str> = items.iter().filter_map(|link| link["name"].as_str()).collect();
        assert_eq!(found, names, "{search}");
    }
}

#[tokio::test]
async fn logout_url_is_stored_and_removed() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    let auth = format!("{site}/publishing/auth");
    s.invalid("PATCH", &auth, json!({ "logoutURL": "/out" }), "logoutURL: must be an absolute").await;
    let set = s.patch(&auth, json!({ "logoutURL": "https://in.example/out" })).await;
    assert_eq!(set["logoutURL"], "https://in.example/out");
    assert_eq!(
        s.patch(&auth, json!({ "fallbackURL": "https://in.example/" })).await["logoutURL"],
        set["logoutURL"]
    );
    assert_eq!(s.patch(&auth, json!({ "logoutURL": null })).await.get("logoutURL"), None);
}

#[tokio::test]
async fn redirects_have_wildcards_external_targets_and_drafts() {
    let s = Server::new().await;
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    let redirects = format!("{site}/redirects");
    let to = |url: &str| json!({ "kind": "external", "url": url });
    let new = json!({ "source": "/go+on/*", "destination": to("https://x.example/a"), "captureWildcard": true,
        "permanent": true });
    let made = s.post(&redirects, 201, new).await.body;
    has(&made, &["draft", "captureWildcard", "permanent", "createdAt"]);
    assert_eq!(made.get("updatedAt"), None);
    let found = s.get(&format!("{site}/redirect?source=/go%2Bon/b")).await;
    assert_eq!((&found["redirect"], &found["target"]), (&made, &json!("https://x.example/a/b")));
    let this = format!("{redirects}/{}", id(&made));
    let draft = s.patch(&this, json!({ "draft": true, "permanent": false })).await;
    assert_eq!(
        (&draft["draft"], &draft["permanent"], draft.get("updatedAt").is_some()),
        (&json!(true), &json!(false), true)
    );
    let path = format!("{site}/redirect?source=/go%2Bon/b");
    s.ask("GET", &path, &s.admin, None).await.refused(404, "a draft");
    assert_eq!(s.get(&redirects).await["items"], json!([]));
    assert_eq!(
        s.get(&format!("{redirects}?draft=true&search=GO&orderBy=source")).await["items"],
        json!([draft])
    );
    for query in ["draft=maybe", "orderBy=age"] {
        let path = format!("{redirects}?{query}");
        s.ask("GET", &path, &s.admin, None).await.refused(400, query);
    }
    for (field, value) in
        [("url", json!("javascript:alert(1)")), ("url", json!("/a")), ("url", json!("https://"))]
    {
        let body = json!({ "source": "/x", "destination": { "kind": "external", field: value } });
        s.invalid("POST", &redirects, body, "destination.url: must be").await;
    }
    let long = format!("https://x.example/{}", "a".repeat(2048 - 18));
    s.post(&redirects, 201, json!({ "source": "/long", "destination": to(&long) })).await;
    let body = json!({ "source": "/x", "destination": to(&format!("{long}a")) });
    s.invalid("POST", &redirects, body, "destination.url: must be at most 2048").await;
    let path = |path: &str| json!({ "source": "/p", "destination": { "kind": "path", "spaceId": space, "path": path } });
    s.invalid("POST", &redirects, path("nothing"), "destination.path: must be the path of a page").await;
    s.invalid("POST", &redirects, path(""), "destination.path: must be at least 1").await;
    let other = s.space().await;
    let body = json!({ "source": "/p", "destination": { "kind": "path", "spaceId": other, "path": "a" } });
    s.invalid("POST", &redirects, body, "destination.spaceId: must be a space on the site").await;
}
