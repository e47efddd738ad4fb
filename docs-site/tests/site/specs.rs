//! Pages that are computed from OpenAPI specifications.

use docs_core::model::{ImportGitRepository, PutOpenApiSpec, SpaceId, SpecSource};
use poem::http::StatusCode;
use serde_json::json;

use crate::world::World;

const SUMMARY: &str = "# Table of contents

* [Welcome](README.md)
* ```yaml
  type: builtin:openapi
  props:
    models: true
  dependencies:
    spec:
      ref:
        kind: openapi
        spec: pets
  ```
";

impl World {
    async fn import(&self, space: &SpaceId) {
        let from: ImportGitRepository =
            serde_json::from_value(json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" }))
                .expect("a repository");
        self.me().space(space).import_git(from).await.expect("enqueued");
        self.platform.settle().await.expect("settled");
    }

    /// Has a specification with these tags, each of one operation.
    async fn spec(&self, tags: &[&str]) {
        let paths: serde_json::Map<_, _> = tags
            .iter()
            .map(|tag| (format!("/{tag}"), json!({ "get": { "tags": [tag], "responses": {} } })))
            .collect();
        let spec = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "paths": paths });
        let put = PutOpenApiSpec { source: SpecSource::Text(spec.to_string()) };
        self.me().org(&self.org).openapi_spec("pets").put(put).await.expect("put");
        self.platform.settle().await.expect("settled");
    }
}

#[tokio::test]
async fn a_site_shows_the_pages_of_a_specification_as_it_is_now() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.git.put("README.md", "# Welcome\n\nHello.\n");
    w.git.put("SUMMARY.md", SUMMARY);
    w.import(&space).await;
    let (_, site) = w.site("Docs", &space).await;
    assert!(!w.html(&site).await.contains("Schemas"));
    assert_eq!(w.get(&format!("{site}cats")).await.status, StatusCode::NOT_FOUND);
    w.spec(&["cats"]).await;
    for _ in 0..2 {
        assert!(w.html(&site).await.contains(&format!("href=\"{site}cats\"")));
        let cats = w.html(&format!("{site}cats")).await;
        assert!(cats.contains("<code>GET /cats</code>"), "{cats}");
    }
    assert!(w.get(&format!("{site}cats.md")).await.body.contains("path=\"/cats\""));
    assert!(w.get(&format!("{site}llms.txt")).await.body.contains("cats"));
    w.spec(&["cats", "dogs"]).await;
    assert!(w.html(&site).await.contains(&format!("href=\"{site}dogs\"")), "nothing older is shown");
    assert!(w.html(&format!("{site}dogs")).await.contains("<code>GET /dogs</code>"));
    w.me().org(&w.org).openapi_spec("pets").delete().await.expect("deleted");
    assert_eq!(w.get(&format!("{site}cats")).await.status, StatusCode::NOT_FOUND);
    assert!(!w.html(&site).await.contains("cats"));
}
