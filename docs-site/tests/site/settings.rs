//! The effect of the settings of a site and its pages on the output.

use docs_core::model::{Customization, ImportGitRepository, SpaceId, Styling};
use poem::http::Method;
use serde_json::{Value, json};

use crate::world::World;

/// Imports a page into a space from a repository, with additional import options.
pub(crate) async fn import(w: &World, space: &SpaceId, more: Value) {
    w.git.put("README.md", "# Welcome\n\n[out](https://a.test)\n");
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
async fn edit_links_require_the_setting_and_a_known_repository() {
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
async fn blocked_images_become_links_and_blocked_logos_the_title() {
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
async fn the_default_theme_applies_with_and_without_the_toggle() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    for theme in ["light", "dark", "system"] {
        for may_choose in [true, false] {
            w.look(&site, json!({ "themes": { "default": theme, "toggeable": may_choose } })).await;
            let shown = w.html(&path).await;
            assert!(shown.contains(&format!("data-theme=\"{theme}\"")), "{shown}");
            assert_eq!(shown.contains("data-choose"), may_choose, "{shown}");
            assert_eq!(shown.contains("class=\"theme\""), may_choose, "{shown}");
        }
    }
}

/// The expected effect of a setting.
enum Row {
    /// With this value, the page contains the text.
    Brings(Value, &'static str),
    /// With this value, the page does not contain the text.
    Takes(Value, &'static str),
    /// The setting has no effect, as documented in the decision on sites.
    Named,
}

/// Returns a row for each setting. The match is exhaustive, so that new settings must be added here.
#[expect(clippy::too_many_lines, reason = "a row for each field")]
fn rows(look: &Customization) -> Vec<(&'static str, Row)> {
    let Customization {
        title: _,
        localized_title: _,
        styling: _,
        internationalization: _,
        favicon: _,
        header: _,
        footer: _,
        announcement: _,
        themes: _,
        pdf: _,
        feedback: _,
        ai: _,
        advanced_customization: _,
        git: _,
        page_actions: _,
        external_links: _,
        pagination: _,
        trademark: _,
        privacy_policy: _,
        social_preview: _,
        social_accounts: _,
        insights: _,
    } = look;
    let to = json!({ "kind": "url", "url": "https://a.test/shop" });
    let link = |title: &str| json!({ "title": title, "to": to });
    let both = json!({ "light": "https://a.test/l.png", "dark": "https://a.test/d.png" });
    let menu =
        json!({ "preset": "default", "links": [{ "title": "More", "to": null, "links": [link("Jobs")] }] });
    let said = json!({ "enabled": true, "message": "New version", "link": link("Read on"), "style": "info" });
    let mut styling = serde_json::to_value(Styling::default()).expect("JSON");
    styling["links"] = "accent".into();
    let brings = Row::Brings;
    vec![
        ("title", brings(json!("The Handbook"), "<title>Welcome | The Handbook</title>")),
        ("localizedTitle", brings(json!({ "en": "The Handbook" }), "<title>Welcome | The Handbook</title>")),
        ("styling", brings(styling, "~site/theme.")),
        ("internationalization", brings(json!({ "locale": "de" }), "<html lang=\"de\"")),
        ("favicon", brings(json!({ "icon": both }), "rel=\"icon\" href=\"https://a.test/l.png\"")),
        ("header", brings(menu, "<summary>More</summary><ul><li><a href=\"https://a.test/shop\"")),
        (
            "footer",
            brings(
                json!({ "groups": [], "logo": both }),
                "class=\"logo for-dark\" src=\"https://a.test/d.png\"",
            ),
        ),
        ("announcement", brings(said, "href=\"https://a.test/shop\" rel=\"noopener\">Read on</a>")),
        ("themes", brings(json!({ "default": "dark", "toggeable": true }), "data-theme=\"dark\"")),
        ("pdf", Row::Named),
        ("feedback", Row::Named),
        ("ai", Row::Named),
        ("advancedCustomization", Row::Named),
        ("git", brings(json!({ "showEditLink": true }), "https://github.com/o/docs/edit/main/README.md")),
        ("pageActions", Row::Takes(json!({ "items": ["external-ai", "mcp", "pdf"] }), "View as Markdown")),
        ("externalLinks", brings(json!({ "target": "blank" }), "target=\"_blank\"")),
        ("pagination", Row::Takes(json!({ "enabled": false }), "class=\"beside\"")),
        ("trademark", Row::Named),
        (
            "privacyPolicy",
            brings(json!({ "url": "https://a.test/privacy" }), "href=\"https://a.test/privacy\""),
        ),
        (
            "socialPreview",
            brings(json!({ "url": "https://a.test/card.png" }), "content=\"https://a.test/card.png\""),
        ),
        (
            "socialAccounts",
            brings(
                json!([{ "platform": "github", "handle": "@engines", "display": { "footer": true, "header": false } }]),
                "href=\"https://github.com/engines\" rel=\"noopener me\">GitHub</a>",
            ),
        ),
        ("insights", Row::Named),
    ]
}

/// Returns the value that removes a setting without a default.
fn unset(name: &str) -> Value {
    // An omitted `localizedTitle` is unchanged.
    if name == "localizedTitle" { json!({}) } else { Value::Null }
}

#[tokio::test]
async fn each_setting_has_an_effect_or_is_documented() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.git.put("second.md", "# Second\n\nText.\n");
    w.git.put("SUMMARY.md", "# Table of contents\n\n* [Welcome](README.md)\n* [Second](second.md)\n");
    import(&w, &space, json!({ "repoTreeURL": "https://github.com/o/docs/tree/main" })).await;
    let (site, path) = w.site("Docs", &space).await;
    let look = Customization::default();
    let usual = serde_json::to_value(&look).expect("JSON");
    let note = include_str!("../../../decisions/0027-site.md");
    let (_, note) = note.split_once("**Settings without an effect.**").expect("a part");
    let note = note.split("\n\n").next().expect("a part");
    let kept = include_str!("../../../examples/handbook/reference/kept-for-clients.md");
    let before = w.html(&path).await;
    for (name, row) in rows(&look) {
        let (value, part, is_there) = match row {
            Row::Brings(value, part) => (value, part, true),
            Row::Takes(value, part) => (value, part, false),
            Row::Named => {
                assert!(note.contains(&format!("`{name}`")), "{name} is not named");
                assert!(kept.contains(&format!("`{name}`")), "{name} is not in the handbook");
                continue;
            }
        };
        w.look(&site, json!({ name: value })).await;
        let shown = w.html(&path).await;
        assert_ne!(shown, before, "{name} changes nothing");
        assert_eq!(shown.contains(part), is_there, "{name}: {part}:\n{shown}");
        assert!(is_there || before.contains(part), "{name}: {part} is never there");
        w.look(&site, json!({ name: usual.get(name).cloned().unwrap_or_else(|| unset(name)) })).await;
    }
}

#[tokio::test]
async fn an_icon_may_be_an_emoji() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    w.look(&site, json!({ "favicon": { "emoji": "🚀" } })).await;
    let icon = w.get(&format!("{path}~site/icon.svg")).await;
    assert_eq!(icon.header("content-type"), "image/svg+xml");
    assert!(icon.body.contains('🚀'), "{icon:?}");
}

#[tokio::test]
async fn sections_and_section_groups_are_shown_above_each_page() {
    let w = World::new().await;
    let mut spaces = Vec::new();
    for title in ["Guide", "Calls", "Programs"] {
        let space = w.space(title).await;
        w.page(&space, "First", "Text.").await;
        spaces.push(space);
    }
    let (site, path) = w.site("Docs", &spaces[0]).await;
    assert!(!w.html(&path).await.contains("class=\"sections\""), "a site of one part has none");
    let mut sections = Vec::new();
    for (space, title) in spaces[1..].iter().zip(["API", "Tools"]) {
        let new = json!({ "spaceId": space, "title": title });
        let new = serde_json::from_value(new).expect("a section");
        sections.push(w.me().org(&w.org).site(&site).sections().create(new).await.expect("added").id);
    }
    let group = json!({ "title": "More", "sections": [sections[1]] });
    let group = serde_json::from_value(group).expect("a group");
    let group = w.me().org(&w.org).site(&site).section_groups().create(group).await.expect("added").id;
    for (title, url, more) in [
        ("Forum", "https://forum.test/a", json!({ "description": "To talk" })),
        ("Chat", "https://chat.test/", json!({ "parent": group })),
        ("Draft", "https://draft.test/", json!({ "draft": true })),
    ] {
        let mut link = json!({ "title": title, "url": url });
        link.as_object_mut().expect("an object").extend(more.as_object().expect("fields").clone());
        let link = serde_json::from_value(link).expect("a link");
        w.me().org(&w.org).site(&site).external_links().create(link).await.expect("added");
    }
    let bar = async |page: &str| {
        let shown = w.html(&format!("{path}{page}")).await;
        let bar = shown.split("<nav class=\"sections\">").nth(1).and_then(|rest| rest.split("</nav>").next());
        bar.expect("sections").to_owned()
    };
    let first = bar("").await;
    for part in [
        format!("href=\"{path}api/\""),
        "<summary>More</summary>".to_owned(),
        format!("href=\"{path}tools/\""),
        "<span title=\"To talk\"><a href=\"https://forum.test/a\" rel=\"noopener\">Forum</a></span>"
            .to_owned(),
        "<li><a href=\"https://chat.test/\" rel=\"noopener\">Chat</a></li></ul>".to_owned(),
    ] {
        assert!(first.contains(&part), "{part}: {first}");
    }
    assert!(!first.contains("draft.test"));
    for page in ["api/", "tools/"] {
        let here = format!("href=\"{path}{page}\" aria-current=\"true\"");
        assert!(bar(page).await.contains(&here) && !first.contains(&here), "{page}");
    }
}

#[tokio::test]
async fn texts_are_shown_in_the_language_of_the_space() {
    let w = World::new().await;
    let (guide, calls) = (w.space("Guide").await, w.space("Calls").await);
    for space in [&guide, &calls] {
        w.page(space, "First", "Text.").await;
    }
    let (site, path) = w.site("Docs", &guide).await;
    let read = |body: Value| serde_json::from_value(body).expect("a request");
    let handle = || w.me().org(&w.org).site(&site);
    let new = serde_json::from_value(json!({ "spaceId": calls, "title": "Calls" })).expect("a section");
    let part = handle().sections().create(new).await.expect("a section");
    let change = json!({ "localizedTitle": { "de": "Aufrufe" }, "description": "All calls",
        "localizedDescription": { "de": "Alle Aufrufe" } });
    handle().section(&part.id).update(read(change)).await.expect("changed");
    let first = handle().sections().list(&Default::default()).await.expect("listed").items.remove(0);
    handle().section(&first.id).update(read(json!({ "title": "Start" }))).await.expect("renamed");
    let group = json!({ "title": "Group", "sections": [first.id] });
    let group = handle().section_groups().create(serde_json::from_value(group).expect("a group")).await;
    let change = json!({ "localizedTitle": { "de": "Gruppe" } });
    let change = serde_json::from_value(change).expect("a change");
    handle().section_group(&group.expect("a group").id).update(change).await.expect("changed");
    let to = json!({ "kind": "url", "url": "https://a.test/shop" });
    let link = json!({ "title": "Shop", "localizedTitle": { "de": "Laden" }, "to": to });
    let texts = [
        ("Calls", "Aufrufe"),
        ("All calls", "Alle Aufrufe"),
        ("Group", "Gruppe"),
        ("Docs", "Handbuch"),
        ("Shop", "Laden"),
        ("More", "Mehr"),
        ("Help", "Hilfe"),
        ("New version", "Neue Fassung"),
    ];
    for locale in ["en", "de"] {
        w.look(&site, json!({
            "internationalization": { "locale": locale }, "localizedTitle": { "de": "Handbuch" },
            "header": { "preset": "default", "primaryLink": to,
                "links": [{ "title": "More", "localizedTitle": { "de": "Mehr" }, "to": null, "links": [link] }] },
            "footer": { "groups": [{ "title": "Help", "localizedTitle": { "de": "Hilfe" }, "links": [link] }] },
            "announcement": { "enabled": true, "message": "New version", "style": "info",
                "localizedMessage": { "de": "Neue Fassung" } },
        }))
        .await;
        let shown = w.html(&path).await;
        for (english, german) in texts {
            let (there, other) = if locale == "de" { (german, english) } else { (english, german) };
            let has = |text: &str| {
                shown.contains(&format!(">{text}<")) || shown.contains(&format!("title=\"{text}\""))
            };
            assert!(has(there) && !has(other), "{locale}: {there}, not {other}:\n{shown}");
        }
        assert!(shown.contains("class=\"brand\" href=\"https://a.test/shop\""), "{shown}");
    }
}

#[tokio::test]
async fn hidden_variant_is_readable_but_not_in_the_navigation() {
    let w = World::new().await;
    let mut spaces = Vec::new();
    for title in ["Guide", "Second", "Third"] {
        let space = w.space(title).await;
        w.page(&space, "First", &format!("Text of {title}.")).await;
        spaces.push(space);
    }
    let (site, path) = w.site("Docs", &spaces[0]).await;
    let mut places = Vec::new();
    for space in &spaces[1..] {
        places.push(w.place(&site, space).await);
    }
    let hide = serde_json::from_value(json!({ "hidden": true })).expect("a change");
    w.me().org(&w.org).site(&site).space(&places[0]).update(hide).await.expect("hidden");
    let shown = w.html(&path).await;
    assert!(shown.contains("/third/") && !shown.contains("/second/"), "{shown}");
    let hidden = w.html(&format!("{path}second/")).await;
    assert!(hidden.contains("Text of Second.") && hidden.contains("<summary>Second</summary>"), "{hidden}");
}

#[tokio::test]
async fn heading_font_and_system_theme_are_in_the_style_sheet() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Text.").await;
    let (site, path) = w.site("Docs", &space).await;
    let mut styling = serde_json::to_value(Styling::default()).expect("JSON");
    styling["headingFont"] = "Merriweather".into();
    // A site without a theme follows the visitor's system, too.
    assert!(w.html(&path).await.contains("data-theme=\"system\" data-choose"));
    w.look(&site, json!({ "themes": { "default": "light", "toggeable": false } })).await;
    assert!(w.html(&path).await.contains("data-theme=\"light\""));
    w.look(&site, json!({ "styling": styling, "themes": { "default": "system", "toggeable": false } })).await;
    let page = w.html(&path).await;
    assert!(page.contains("data-theme=\"system\""), "{page}");
    let at = page.find("~site/theme.").expect("a style sheet");
    let name = page[at..].split('"').next().expect("a name");
    let sheet = w.get(&format!("{path}{name}")).await.body;
    assert!(sheet.contains("h1,h2,h3,h4,h5,h6{font-family:\"Merriweather\",Georgia"), "{sheet}");
    assert!(sheet.contains("@media(prefers-color-scheme:dark){html[data-theme=system]{"), "{sheet}");
}
