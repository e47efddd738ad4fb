//! The budgets for conditions, which all spaces that a request reads share.

use docs_core::model::SpaceId;
use serde_json::{Value, json};

use crate::world::World;

/// A condition that is met and whose evaluation takes about 70,000 steps. A request has 2,000,000.
fn costly(at: usize) -> String {
    format!("'x'.repeat(7000).split('').map(x => x + {at}).length == 7000")
}

/// Adds pages whose conditions differ from each other.
async fn add_pages(w: &World, space: &SpaceId, number: usize) {
    let page = |at: usize| {
        json!({ "operation": "insert_page", "title": format!("Costly {at}"), "condition": costly(at),
            "document": { "markdown": "Text." } })
    };
    w.edit(space, (0..number).map(page).collect::<Vec<Value>>().into()).await;
}

#[tokio::test]
async fn lists_evaluate_conditions_within_one_budget() {
    let w = World::new().await;
    let spaces = [w.space("One").await, w.space("Two").await, w.space("Three").await];
    let (id, site) = w.site("Docs", &spaces[0]).await;
    for space in &spaces {
        add_pages(&w, space, 20).await;
    }
    for space in &spaces[1..] {
        w.place(&id, space).await;
    }
    // Spaces that are read completely are cached, so a repeated request gets further.
    let mut listed = Vec::new();
    for _ in 0..3 {
        listed.push(w.html(&format!("{site}llms.txt")).await.matches("[Costly ").count());
    }
    assert!((20..40).contains(&listed[0]), "{listed:?}");
    assert!((40..60).contains(&listed[1]), "{listed:?}");
    assert_eq!(listed[2], 60, "{listed:?}");
}

#[tokio::test]
async fn hidden_reusable_contents_count_as_well() {
    let w = World::new().await;
    let (space, other) = (w.space("Uses").await, w.space("Other").await);
    let insert = |at: usize| {
        json!({ "operation": "insert_reusable_content", "title": format!("{at:04}"),
            "document": { "markdown": "reused" } })
    };
    for _ in 0..4 {
        w.edit(&other, (0..50).map(insert).collect::<Vec<Value>>().into()).await;
    }
    let content = w.me().space(&other).content().get(Default::default()).await.expect("content");
    let include = |at: usize| {
        format!(
            "{{% include \"/spaces/{other}/reusable-content/{}\" %}}\n\n",
            content.reusable_contents[at].id
        )
    };
    let own = json!({ "operation": "insert_reusable_content", "title": "Own", "document": { "markdown": "own text" } });
    w.edit(&space, json!([own])).await;
    let own = w.me().space(&space).content().get(Default::default()).await.expect("content");
    let own = format!("{{% include \"/reusable-content/{}\" %}}\n\n", own.reusable_contents[0].id);
    // The blocks of the other space are used by a page that no visitor sees.
    let includes: String = (0..200)
        .map(|at| format!("{{% include \"/reusable-content/{}\" %}}\n\n", content.reusable_contents[at].id))
        .collect();
    let hidden = json!({ "operation": "insert_page", "title": "Hidden", "condition": "false",
        "document": { "markdown": includes } });
    w.edit(&other, json!([hidden])).await;
    w.page(&space, "Home", "Text.").await;
    let (id, site) = w.site("Docs", &space).await;
    w.place(&id, &other).await;
    for (number, is_shown) in [(199, true), (200, false)] {
        // A block that is named again is not looked up again.
        let text = (0..number).map(include).collect::<String>() + &include(0).repeat(20) + &own;
        w.page(&space, &format!("Uses {number}"), &text).await;
        let page = w.html(&format!("{site}uses-{number}")).await;
        assert!(!page.contains(">reused</p>"), "{number}");
        assert_eq!(page.contains(">own text</p>"), is_shown, "{number}");
    }
}
