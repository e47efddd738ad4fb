//! Output for machines.

use docs_core::model::SiteVisibility;
use poem::http::{Method, StatusCode};
use serde_json::json;

use crate::world::World;

#[tokio::test]
async fn pages_are_markdown_by_md_suffix_or_accept_header() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let first = w.page(&space, "First", "Start.").await;
    w.page(&space, "Second", &format!("See [the first](/pages/{first}), **bold**.")).await;
    let (_, site) = w.site("Docs", &space).await;
    let got = w.get(&format!("{site}second.md")).await;
    assert_eq!(got.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(got.body, format!("# Second\n\nSee [the first](http://docs.test:4000{site}), **bold**.\n"));
    assert_eq!(got.header("x-robots-tag"), "noindex");
    let same = w.ask(Method::GET, &format!("{site}second"), &[("accept", "text/markdown")]).await;
    assert_eq!(same.body, got.body);
    assert!(w.html(&format!("{site}index.md")).await.starts_with("# First\n"));
    assert_eq!(w.get(&format!("{site}third.md")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn machine_readable_lists_contain_pages_of_all_spaces() {
    let w = World::new().await;
    let (guide, api) = (w.space("Guide").await, w.space("Reference").await);
    w.page(&guide, "First", "Start.").await;
    let second = json!({ "operation": "insert_page", "title": "Second", "description": "All of it",
        "document": { "markdown": "Text." } });
    w.edit(&guide, json!([second])).await;
    w.page(&api, "Calls", "Reference text.").await;
    let (site, path) = w.site("Docs", &guide).await;
    w.place(&site, &api).await;
    let base = format!("http://docs.test:4000{path}");
    let list = w.html(&format!("{path}llms.txt")).await;
    assert!(list.starts_with("# Docs\n\n") && list.contains("\n## Guide\n"), "{list}");
    assert!(list.contains(&format!("- [First]({base}index.md)\n")), "{list}");
    assert!(list.contains(&format!("- [Second]({base}second.md): All of it\n")), "{list}");
    assert!(list.contains(&format!("- [Calls]({base}reference/index.md)\n")), "{list}");
    for line in list.lines().filter_map(|line| line.split("](http://docs.test:4000").nth(1)) {
        let address = line.split(')').next().expect("an address");
        assert_eq!(w.get(address).await.status, StatusCode::OK, "{address}");
    }
    let whole = w.html(&format!("{path}llms-full.txt")).await;
    assert!(whole.contains("# First\n\nStart.") && whole.contains("Reference text."), "{whole}");
    assert_eq!(w.get(&format!("{path}llms-full.txt/1")).await.body, whole);
    assert_eq!(w.get(&format!("{path}llms-full.txt/2")).await.status, StatusCode::NOT_FOUND);
    let map = w.html(&format!("{path}sitemap.xml")).await;
    for page in ["", "second", "reference/"] {
        assert!(map.contains(&format!("<loc>{base}{page}</loc>")), "{map}");
    }
}

#[tokio::test]
async fn unindexed_pages_and_sites_are_hidden_from_crawlers() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    let secret = json!({ "operation": "insert_page", "title": "Kept out", "noRobotsIndex": true,
        "document": { "markdown": "Text." } });
    w.page(&space, "First", "Start.").await;
    w.edit(&space, json!([secret])).await;
    let (site, path) = w.site("Docs", &space).await;
    let robots = w.html(&format!("{path}robots.txt")).await;
    assert!(robots.contains(&format!("Sitemap: http://docs.test:4000{path}sitemap.xml")), "{robots}");
    assert!(!w.html(&format!("{path}sitemap.xml")).await.contains("kept-out"));
    let got = w.get(&format!("{path}kept-out")).await;
    assert!(
        got.header("x-robots-tag") == "noindex" && got.body.contains("name=\"robots\" content=\"noindex\"")
    );
    w.show(&site, SiteVisibility::Unlisted).await;
    assert_eq!(w.html(&format!("{path}robots.txt")).await, "User-agent: *\nDisallow: /\n");
    assert_eq!(w.get(&format!("{path}sitemap.xml")).await.status, StatusCode::NOT_FOUND);
    assert_eq!(w.get(&path).await.header("x-robots-tag"), "noindex");
}

#[tokio::test]
async fn rss_feed_lists_visible_pages_newest_first() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First & last", "Start.").await;
    let hidden = json!({ "operation": "insert_page", "title": "Left out", "hidden": true,
        "document": { "markdown": "Text." } });
    w.edit(&space, json!([hidden])).await;
    w.clock.advance(std::time::Duration::from_secs(60));
    w.page(&space, "Second", "Text.").await;
    let (_, path) = w.site("Docs", &space).await;
    let got = w.get(&format!("{path}rss.xml")).await;
    assert_eq!(got.header("content-type"), "application/rss+xml; charset=utf-8");
    let base = format!("http://docs.test:4000{path}");
    let (second, first) =
        (format!("<link>{base}second</link>"), format!("<title>First &amp; last</title><link>{base}</link>"));
    let (second, first) = (got.body.find(&second).expect("a page"), got.body.find(&first).expect("a page"));
    assert!(second < first, "the newest comes first: {}", got.body);
    assert!(!got.body.contains("Left out"));
    assert!(
        w.html(&path)
            .await
            .contains(&format!("type=\"application/rss+xml\" title=\"Docs\" href=\"{path}rss.xml\""))
    );
    let again = w.ask(Method::GET, &format!("{path}rss.xml"), &[("if-none-match", got.header("etag"))]).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn a_feed_has_a_bounded_number_of_pages() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    for first in [0, 26] {
        let page = |number: usize| {
            json!({ "operation": "insert_page", "title": format!("Page {number}"),
                "document": { "markdown": "Text." } })
        };
        w.edit(&space, json!((first..first + 26).map(page).collect::<Vec<_>>())).await;
    }
    let (_, path) = w.site("Docs", &space).await;
    let feed = w.get(&format!("{path}rss.xml")).await.body;
    assert_eq!(feed.matches("<item>").count(), 50);
}
