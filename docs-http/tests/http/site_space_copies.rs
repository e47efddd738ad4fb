//! Copies of spaces on a site, over HTTP.

use serde_json::json;

use crate::server::{Server, id};

#[tokio::test]
async fn duplicated_site_space_follows_the_original() {
    let s = Server::new().await;
    let (first, second) = (s.space().await, s.space().await);
    let site = s.site("Docs", &[&first, &second]).await;
    let places = s.get(&format!("{site}/site-spaces")).await;
    let place = format!("{site}/site-spaces/{}", id(&places["items"][0]));
    s.patch(&place, json!({ "condition": "visitor.claims.beta", "title": "Guide", "hidden": true })).await;
    s.patch(&format!("{place}/customization"), json!({ "title": "Other look" })).await;
    let made = s.post(&format!("{place}/duplicate"), 201, json!({ "draft": true })).await;
    let copy = &made.body;
    let location = format!("{site}/site-spaces/{}", id(copy));
    assert!(made.header("location").is_some_and(|at| at.ends_with(&location)));
    assert_eq!((&copy["title"], &copy["path"]), (&json!("Guide (copy)"), &json!("guide-copy")));
    assert_eq!(
        (&copy["draft"], &copy["hidden"], &copy["default"]),
        (&json!(true), &json!(true), &json!(false))
    );
    assert_eq!(copy["condition"], "visitor.claims.beta");
    assert_ne!(copy["space"]["id"], first);
    let list = s.get(&format!("{site}/site-spaces")).await;
    let order: Vec<String> = list["items"].as_array().expect("items").iter().map(id).collect();
    assert_eq!(order, [id(&places["items"][0]), id(copy), id(&places["items"][1])]);
    assert_eq!(s.get(&format!("{location}/customization")).await["title"], "Other look");
    // The only space of a section.
    let add = json!({ "spaceId": second, "title": "API", "icon": "book" });
    let section = s.post(&format!("{site}/sections"), 201, add).await.body;
    let after =
        s.post(&format!("{site}/sections"), 201, json!({ "spaceId": second, "title": "Zoo" })).await.body;
    let place = format!("{site}/site-spaces/{}", id(&section["siteSpaces"][0]));
    let copy = s.post(&format!("{place}/duplicate"), 201, json!({})).await.body;
    let sections = s.get(&format!("{site}/sections")).await;
    let of = |at: usize| &sections["items"][at];
    assert_eq!((of(2)["id"].clone(), of(2)["title"].clone()), (copy["section"].clone(), json!("API (copy)")));
    assert_eq!((of(2)["icon"].clone(), of(2)["path"].clone()), (json!("book"), json!("api-copy")));
    assert_eq!((id(of(1)), id(of(3))), (id(&section), id(&after)));
    assert_eq!((&copy["draft"], &copy["default"]), (&json!(false), &json!(true)));
    s.invalid("POST", &format!("{place}/duplicate"), json!({ "draft": null }), "draft: ").await;
    s.ask("POST", &format!("{site}/site-spaces/unknown/duplicate"), &s.admin, None)
        .await
        .refused(404, "unknown");
}
