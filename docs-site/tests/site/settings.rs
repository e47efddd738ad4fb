//! What the settings of a site and of its pages change in what readers see.

use docs_core::model::{ImportGitRepository, SpaceId};
use poem::http::Method;
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

#[tokio::test]
async fn a_picture_that_a_page_may_not_load_is_a_link_and_a_logo_the_title() {
    let picture = "http://pictures.test/a.png";
    let markdown = format!("<figure><img src=\"{picture}\" alt=\"An A\"></figure>\n\nIn ![B]({picture}) it");
    for (base, is_loaded) in [("http://docs.test:4000", true), ("https://docs.test", false)] {
        let w = World::at(base).await;
        let space = w.space("Guide").await;
        w.page(&space, "First", &markdown).await;
        let (site, path) = w.site("Docs", &space).await;
        let both = json!({ "light": picture, "dark": picture });
        w.look(
            &site,
            json!({ "favicon": { "icon": both }, "header": { "preset": "default", "logo": both,
            "links": [] } }),
        )
        .await;
        let got = w.ask(Method::GET, &path, &[("host", base.split("//").nth(1).expect("a host"))]).await;
        let policy = got.header("content-security-policy");
        assert_eq!(policy.contains(" http:;"), is_loaded, "{policy}");
        let part = |loaded: &'static str, link: &'static str| if is_loaded { loaded } else { link };
        for expected in [
            part("alt=\"An A\" loading", "href=\"http://pictures.test/a.png\""),
            part("alt=\"B\"", "<span class=\"missing\">B</span>"),
            part("class=\"logo\" src=\"http://pictures.test/a.png\"", "<span class=\"title\">Docs</span>"),
            part("rel=\"icon\" href=\"http://pictures.test/a.png\"", "~site/icon.svg"),
        ] {
            assert!(got.body.contains(expected), "{base}: {expected}:\n{}", got.body);
        }
        assert_eq!(got.body.contains("src=\"http:"), is_loaded, "{}", got.body);
    }
}

#[tokio::test]
async fn a_site_begins_light_or_dark_as_it_says_whether_or_not_visitors_may_choose() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    for theme in ["light", "dark"] {
        for may_choose in [true, false] {
            w.look(&site, json!({ "themes": { "default": theme, "toggeable": may_choose } })).await;
            let shown = w.html(&path).await;
            assert!(shown.contains(&format!("data-theme=\"{theme}\"")), "{shown}");
            assert_eq!(shown.contains("data-choose"), may_choose, "{shown}");
            assert_eq!(shown.contains("class=\"theme\""), may_choose, "{shown}");
        }
    }
}
