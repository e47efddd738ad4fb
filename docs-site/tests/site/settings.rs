//! What the settings of a site and of its pages change in what readers see.

use docs_core::model::{ImportGitRepository, SpaceId};
use serde_json::{Value, json};

use crate::world::World;

/// Imports a page into a space from a repository of which this is said besides.
async fn import(w: &World, space: &SpaceId, more: Value) {
    w.git.put("README.md", "# Welcome\n\nHello.\n");
    let mut from =
        json!({ "url": "https://git.example/o/docs.git", "ref": "refs/heads/main", "force": true });
    for (name, value) in more.as_object().expect("an object") {
        from[name] = value.clone();
    }
    let from: ImportGitRepository = serde_json::from_value(from).expect("a repository");
    w.me().space(space).import_git(from).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
}

#[tokio::test]
async fn a_page_is_edited_where_its_repository_has_a_form_for_that_if_the_site_says_so() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let (site, path) = w.site("Docs", &space).await;
    let (github, gitlab) = ("https://github.com/o/docs/tree/main", "https://gitlab.com/o/docs/-/tree/main");
    w.look(&site, json!({ "git": { "showEditLink": true } })).await;
    for (more, form) in [
        (json!({ "repoTreeURL": github }), Some("https://github.com/o/docs/edit/main/README.md")),
        (
            json!({ "repoTreeURL": gitlab, "gitInfo": { "url": "https://gitlab.com/o/docs" } }),
            Some("https://gitlab.com/o/docs/-/edit/main/README.md"),
        ),
        (json!({ "gitInfo": { "url": github } }), Some("https://github.com/o/docs/edit/main/README.md")),
        (json!({}), None),
        (json!({ "gitInfo": { "url": "https://github.com/o/docs" } }), None),
    ] {
        import(&w, &space, more.clone()).await;
        let shown = w.html(&path).await;
        let link = form.map(|form| format!("<a href=\"{form}\" rel=\"noopener\">Edit this page</a>"));
        assert_eq!(shown.contains("Edit this page"), form.is_some(), "{more}");
        assert!(link.is_none_or(|link| shown.contains(&link)), "{more}: {shown}");
    }
    import(&w, &space, json!({ "repoTreeURL": github })).await;
    w.look(&site, json!({ "git": { "showEditLink": false } })).await;
    assert!(!w.html(&path).await.contains("Edit this page"));
}
