//! Templates for empty sites, and for the new spaces of organizations and sites.

use serde_json::{Value, json};

use crate::server::{Server, id};

async fn page_titles(s: &Server, space: &str) -> Vec<String> {
    let pages = s.get(&format!("/v1/spaces/{space}/content/pages")).await;
    let titles = pages["pages"].as_array().into_iter().flatten().map(|page| page["title"].to_string());
    titles.collect()
}

#[tokio::test]
async fn template_fills_an_empty_site_once() {
    let s = Server::new().await;
    let site = s.site("Docs", &[]).await;
    let path = format!("{site}/template");
    let answer = s.ask("POST", &path, &s.admin, None).await;
    assert_eq!((answer.status, &answer.body), (200, &Value::Null));
    let structure = s.get(&format!("{site}/structure")).await;
    let place = &structure["structure"][0];
    assert_eq!((&place["title"], &place["default"]), (&json!("Documentation"), &json!(true)));
    let space = place["space"]["id"].as_str().expect("a space");
    let spaces = format!("/v1/orgs/{}/spaces", s.org);
    let expected = s.post(&spaces, 201, json!({ "template": { "id": "product-docs" } })).await.body;
    let expected = page_titles(&s, &id(&expected)).await;
    assert!(expected.len() > 1, "{expected:?}");
    assert_eq!(page_titles(&s, space).await, expected);
    let message = s.ask("POST", &path, &s.admin, None).await;
    assert!(message.refused(409, "not empty").contains("not empty"));
    let other = s.site("Other", &[]).await;
    s.post(&format!("{other}/section-groups"), 201, json!({ "title": "Group" })).await;
    s.ask("POST", &format!("{other}/template"), &s.admin, None).await.refused(409, "it has a group");
    assert_eq!(s.get(&format!("{site}/structure")).await, structure);
    s.check().await;
}

#[tokio::test]
async fn new_spaces_have_the_pages_of_their_template() {
    let s = Server::new().await;
    let spaces = format!("/v1/orgs/{}/spaces", s.org);
    let site = s.site("Docs", &[&s.space().await]).await;
    let url = json!({ "kind": "url", "url": "https://help.example/" });
    let template = json!({ "id": "handbook", "params": { "contentRefs": { "help": url } } });
    let space = s.post(&spaces, 201, json!({ "title": "Team", "template": template })).await.body;
    let expected = page_titles(&s, &id(&space)).await;
    assert!(expected.len() > 1, "{expected:?}");
    for list in ["site-spaces", "sections"] {
        let path = format!("{site}/{list}");
        let new = |template: Value| json!({ "spaceId": null, "title": "Team", "template": template });
        let part = s.post(&path, 201, new(json!({ "id": "handbook" }))).await.body;
        let place = if list == "sections" { &part["siteSpaces"][0] } else { &part };
        let space = place["space"]["id"].as_str().expect("a space");
        assert_eq!(page_titles(&s, space).await, expected, "{list}");
        let before = s.stored().await;
        s.invalid("POST", &path, new(json!({ "id": "novel" })), "template.id: must be one of blank, ").await;
        let request = json!({ "id": "blank", "changeRequestId": "1" });
        s.invalid("POST", &path, new(request), "template.changeRequestId: must be omitted").await;
        let existing = json!({ "spaceId": space, "title": "Team", "template": { "id": "blank" } });
        s.invalid("POST", &path, existing, "template: must be omitted unless `spaceId` is null").await;
        assert_eq!(before, s.stored().await);
    }
    s.invalid("POST", &spaces, json!({ "template": { "id": "novel" } }), "template.id: must be one of ")
        .await;
    s.check().await;
}
