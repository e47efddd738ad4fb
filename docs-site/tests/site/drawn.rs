//! Prerendered documents look the same as documents rendered for the page.

use docs_core::model::SpaceId;
use poem::http::Method;
use serde_json::json;

use crate::{blocks::texts_of_all_kinds, world::World};

/// Returns the page at a path, after checking that a server without caches returns the same page.
async fn shown_by_both(w: &World, path: &str) -> String {
    let shown = w.html(path).await;
    let anew = World::ask_of(&w.forgetful(), Method::GET, path, &[]).await;
    assert_eq!(shown, anew.body, "{path}");
    shown
}

// Tests each customization that affects the rendering of text.
#[tokio::test]
async fn every_block_kind_renders_the_same_when_prerendered() {
    let w = World::new().await;
    let (space, texts) = texts_of_all_kinds(&w).await;
    // Combinations of blocks that affect the page's counters or depend on the site, and blocks that do not.
    let mut all: Vec<String> = texts.iter().map(|(_, text)| text.clone()).collect();
    all.extend((0..texts.len()).map(|at| {
        let (first, other) = (&texts[at].1, &texts[(at + 7) % texts.len()].1);
        format!("{first}\n\n{other}\n\n{first}\n\n## End")
    }));
    all.push(texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n\n"));
    for (at, texts) in all.chunks(20).enumerate() {
        let page = |(number, text): (usize, &String)| {
            json!({ "operation": "insert_page", "title": format!("Text {}", at * 20 + number),
                "document": { "markdown": text } })
        };
        w.edit(&space, json!(texts.iter().enumerate().map(page).collect::<Vec<_>>())).await;
    }
    let (id, site) = w.site("Docs", &space).await;
    let looks = [
        json!({}),
        json!({ "externalLinks": { "target": "blank" } }),
        json!({ "internationalization": { "locale": "de" } }),
        json!({ "title": "Other" }),
    ];
    for look in looks {
        w.look(&id, look).await;
        for at in 0..all.len() {
            shown_by_both(&w, &format!("{site}text-{at}")).await;
        }
    }
}

/// Creates a page that references other pages, a file and reusable content.
async fn leading(w: &World, space: &SpaceId) -> String {
    let target = w.page(space, "Target", "There.").await;
    let file = json!({ "name": "p.png", "base64": "YQ==", "contentType": "image/png", "ref": "p" });
    let again = json!({ "operation": "insert_reusable_content", "title": "Again",
        "document": { "markdown": format!("Again [](/pages/{target}).") } });
    let uses = json!({ "operation": "insert_page", "title": "Uses",
        "document": { "markdown": "![p](/files/p)" } });
    w.edit(space, json!([{ "operation": "insert_files", "files": [file] }, again, uses])).await;
    let content = w.me().space(space).content().get(Default::default()).await.expect("content");
    let text = format!(
        "See [](/pages/{target}) and [that](https://a.test).\n\n![p](/files/{})\n\n{{% include \"/reusable-content/{}\" %}}",
        content.files[0].id, content.reusable_contents[0].id,
    );
    w.page(space, "Leading", &text).await;
    target.to_string()
}

#[tokio::test]
async fn prerendered_texts_show_the_links_of_the_requested_site() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    leading(&w, &space).await;
    let (_, one) = w.site("One", &space).await;
    let (other_id, other) = w.site("Other", &space).await;
    w.look(&other_id, json!({ "externalLinks": { "target": "blank" } })).await;
    for (site, target) in [(&one, None), (&other, Some(" target=\"_blank\"")), (&one, None)] {
        let page = shown_by_both(&w, &format!("{site}leading")).await;
        let link = format!("See <a href=\"{site}target\">Target</a>");
        let outside = format!("<a href=\"https://a.test\" rel=\"noopener\"{}>that</a>", target.unwrap_or(""));
        for part in [link, outside, format!("<p>Again <a href=\"{site}target\">Target</a>.</p>")] {
            assert!(page.contains(&part), "{part} in {page}");
        }
    }
}

#[tokio::test]
async fn a_shared_prerendered_text_uses_each_sites_addresses() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    leading(&w, &space).await;
    let (_, one) = w.site("One", &space).await;
    let (_, other) = w.site("Other", &space).await;
    for (site, not) in [(&one, &other), (&other, &one)] {
        let page = shown_by_both(&w, &format!("{site}leading")).await;
        let again = format!("<p>Again <a href=\"{site}target\">Target</a>.</p>");
        for part in [&format!("See <a href=\"{site}target\">Target</a>"), &again] {
            assert!(page.contains(part.as_str()), "{part} in {page}");
        }
        assert!(!page.contains(not.as_str()), "{not} in {page}");
    }
}

#[tokio::test]
async fn prerendered_texts_show_current_targets_per_visitor() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    let target = leading(&w, &space).await;
    let (_, site) = w.site("Docs", &space).await;
    let path = format!("{site}leading");
    assert!(shown_by_both(&w, &path).await.contains(">Target</a>"));
    let change = |change: serde_json::Value| {
        let mut all = json!({ "operation": "update_page", "page": target });
        all.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        json!([all])
    };
    w.edit(&space, change(json!({ "title": "Renamed", "slug": "moved" }))).await;
    let page = shown_by_both(&w, &path).await;
    assert!(page.contains(&format!("<a href=\"{site}moved\">Renamed</a>")), "{page}");
    w.edit(&space, change(json!({ "condition": "visitor.claims.plan" }))).await;
    let page = shown_by_both(&w, &path).await;
    assert!(!page.contains("Renamed") && !page.contains("moved"), "{page}");
}
