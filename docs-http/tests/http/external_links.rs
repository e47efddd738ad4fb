//! External links in the structure of a site, over HTTP.

use serde_json::{Value, json};

use crate::server::{Server, id};

/// Creates a published site with two sections.
async fn sectioned(s: &Server) -> String {
    let space = s.space().await;
    let site = s.site("Docs", &[&space]).await;
    s.post(&format!("{site}/sections"), 201, json!({ "spaceId": space, "title": "API" })).await;
    s.post(&format!("{site}/publish"), 200, json!({})).await;
    site
}

/// Returns the titles of the top level of a structure.
fn titles(structure: &Value) -> Vec<&str> {
    let items = structure["structure"].as_array().expect("items");
    items.iter().map(|item| item["title"].as_str().expect("a title")).collect()
}

#[tokio::test]
async fn external_link_is_created_changed_sorted_and_deleted() {
    let s = Server::new().await;
    let site = sectioned(&s).await;
    let links = format!("{site}/external-links");
    let new = json!({ "title": "Forum", "url": "https://forum.example/" });
    let made = s.post(&links, 201, new).await;
    let link = format!("{links}/{}", id(&made.body));
    assert!(made.header("location").is_some_and(|at| at.ends_with(&link)));
    assert_eq!(
        made.body,
        json!({
            "object": "site-external-link", "id": id(&made.body), "title": "Forum",
            "url": "https://forum.example/", "draft": false, "siteSpaces": [], "children": [],
        })
    );
    let group = s.post(&format!("{site}/section-groups"), 201, json!({ "title": "More" })).await.body;
    let structure = async || s.get(&format!("{site}/structure")).await;
    assert_eq!(titles(&structure().await), ["Docs", "API", "Forum", "More"]);
    let sort = json!({
        "item": { "type": "site-external-link", "id": id(&made.body) },
        "position": { "before": { "type": "site-section", "id": id(&structure().await["structure"][1]) } },
    });
    let sorted = s.patch(&format!("{site}/structure/sort"), sort).await;
    assert_eq!(sorted["id"], made.body["id"]);
    assert_eq!(titles(&structure().await), ["Docs", "Forum", "API", "More"]);
    let change =
        json!({ "parent": id(&group), "title": "Community", "icon": "book", "description": "To talk" });
    let changed = s.patch(&link, change).await;
    assert_eq!((&changed["sectionGroup"], &changed["icon"]), (&group["id"], &json!("book")));
    let now = structure().await;
    assert_eq!(titles(&now), ["Docs", "API", "More"]);
    assert_eq!(now["structure"][2]["children"][0], changed);
    assert_eq!(now["structure"][2]["sections"], json!([]));
    s.patch(&link, json!({ "parent": null, "icon": null })).await;
    assert_eq!(titles(&structure().await), ["Docs", "API", "More", "Community"]);
    for _ in 0..2 {
        s.ask("DELETE", &link, &s.admin, None).await.is(204, "deleted");
    }
    assert_eq!(titles(&structure().await), ["Docs", "API", "More"]);
    s.ask("PATCH", &link, &s.admin, Some(json!({ "draft": true }))).await.refused(404, "gone");
}

#[tokio::test]
async fn drafts_and_conditional_links_are_hidden_from_visitors() {
    let s = Server::new().await;
    let site = sectioned(&s).await;
    let links = format!("{site}/external-links");
    let add = async |title: &str, fields: Value| {
        let mut new = json!({ "title": title, "url": "https://forum.example/" });
        new.as_object_mut().expect("an object").extend(fields.as_object().expect("fields").clone());
        s.post(&links, 201, new).await.body
    };
    add("Open", json!({})).await;
    add("Draft", json!({ "draft": true })).await;
    add("Conditional", json!({ "condition": "visitor.claims.beta" })).await;
    let group = json!({ "title": "Draft group", "draft": true });
    let group = s.post(&format!("{site}/section-groups"), 201, group).await.body;
    add("Inside", json!({ "parent": group["id"] })).await;
    let all = s.get(&format!("{site}/structure")).await;
    assert_eq!(titles(&all), ["Docs", "API", "Open", "Draft", "Conditional", "Draft group"]);
    assert_eq!(all["structure"][4]["condition"], "visitor.claims.beta");
    let seen = s.ask("GET", &format!("{site}/structure"), &s.outsider, None).await.is(200, "a visitor");
    assert_eq!(titles(&seen), ["Docs", "API", "Open"]);
    let published = s.ask("GET", &format!("{site}/published"), &s.outsider, None).await.is(200, "published");
    assert_eq!(titles(&published["structure"]), ["Docs", "API", "Open"]);
    // Front ends that know only sections and groups read both lists of every item.
    for list in ["siteSpaces", "children"] {
        assert_eq!(published["structure"]["structure"][2][list], json!([]), "{list}");
    }
}

#[tokio::test]
async fn invalid_external_links_are_rejected() {
    let s = Server::new().await;
    let simple = s.site("Simple", &[&s.space().await]).await;
    let new = json!({ "title": "Forum", "url": "https://forum.example/" });
    let message = "an external link needs a site with sections";
    s.invalid("POST", &format!("{simple}/external-links"), new.clone(), message).await;
    let site = sectioned(&s).await;
    let links = format!("{site}/external-links");
    let link = format!("{links}/{}", id(&s.post(&links, 201, new.clone()).await.body));
    for (field, value, message) in [
        ("title", json!("a"), "title: must be"),
        ("url", json!("javascript:alert(1)"), "url: must be"),
        ("url", json!("/relative"), "url: must be"),
        ("parent", json!("unknown"), "parent: the site has no such section group"),
        ("draft", json!(null), "draft: "),
        ("condition", json!("a b"), "condition: "),
    ] {
        s.invalid("PATCH", &link, json!({ field: value }), message).await;
        let mut body = new.clone();
        body[field] = value;
        s.invalid("POST", &links, body, message).await;
    }
    s.invalid("POST", &links, json!({ "title": "Forum" }), "url: is required").await;
}

#[tokio::test]
async fn a_site_has_a_bounded_number_of_external_links() {
    let s = Server::new().await;
    let links = format!("{}/external-links", sectioned(&s).await);
    let new = json!({ "title": "Forum", "url": "https://forum.example/" });
    for _ in 0..50 {
        s.post(&links, 201, new.clone()).await;
    }
    let refused = s.ask("POST", &links, &s.admin, Some(new)).await;
    assert_eq!(refused.refused(409, "full"), "a site must have at most 50 external links");
}
