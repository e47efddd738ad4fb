//! Sites: creation, settings and publication.

use serde_json::json;

use super::{CUSTOMIZATION, SITE, has};
use crate::{
    server::{Server, id},
    visitors,
};

pub(super) async fn story(s: &Server, space: &str) {
    let path = format!("/v1/orgs/{}/sites", s.org);
    let bare = s.ask("POST", &path, &s.admin, None).await;
    assert!(bare.header("location").is_some_and(|at| at.ends_with(&id(&bare.body))));
    let bare = bare.is(201, "nothing is needed");
    has(&bare, SITE);
    assert_eq!((bare.get("proxy"), bare["urls"].get("published")), (None, None));
    let site = format!("{path}/{}", id(&bare));
    let added = s.post(&format!("{site}/site-spaces"), 201, json!({ "spaceId": space })).await.body;
    let place =
        ["object", "id", "path", "title", "default", "hasAdvancedCustomizationFeature", "urls", "space.id"];
    has(&added, &place);
    let full = json!({
        "title": "Docs", "visibility": "unlisted", "basename": "docs", "adaptiveContent": { "enabled": true },
        "agentsContext": "included", "defaultSiteSpace": added["id"], "proxy": "a.example/help",
    });
    let full = s.patch(&site, full).await;
    has(&full, &["proxy.origin", "proxy.target"]);
    assert_eq!(full["agentsContext"], "included");
    let published = s.post(&format!("{site}/publish"), 200, json!({})).await.body;
    has(&published, &["urls.published"]);
    visitors::story(s, &site).await;
    let answer = s.get(&format!("{site}/published?shareKey=key")).await;
    has(&answer, &["object", "site.features", "structure.type", "customizations.siteSpaces", "scripts"]);
    has(&answer["customizations"]["site"], CUSTOMIZATION);
    has(&answer["structure"], &["structure[].space.revision", "structure[].urls.published"]);
    has(&s.get(&format!("/v1/spaces/{space}")).await, &["urls.published"]);
    let places = s.get(&format!("{site}/site-spaces?shareKey=key&default=true")).await;
    has(&places, &["items[].space.urls.location"]);
    let page = id(&s.get(&format!("/v1/spaces/{space}/content/pages")).await["pages"][0]);
    crate::site_settings::story(s, &site, &id(&added), &page).await;
    s.post(&format!("{site}/unpublish"), 200, json!({})).await;
    has(&s.get(&site).await, SITE);
    let new = json!({ "type": "premium", "title": "New", "visibility": "public", "spaces": "sample" });
    let new = s.post(&path, 201, new).await.body;
    let list = s.get(&format!("{path}?type=premium&title=new&published=false&limit=5")).await;
    assert_eq!(list["items"], json!([new]));
    let gone = format!("{path}/{}", id(&new));
    s.ask("DELETE", &gone, &s.admin, None).await.is(204, &gone);
}
