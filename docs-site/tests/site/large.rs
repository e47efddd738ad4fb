//! Spaces with thousands of entries: the cost of pages, lists and requests does not depend on the size of the
//! space.

use std::collections::BTreeSet;

use docs_core::{
    content::Evaluated,
    model::{ContentFormat, ImportGitRepository, RevisionPage, SiteVisibility, SpaceId},
    platform::ContentOptions,
};
use docs_hostile::own_peak_of;
use docs_site::{ExportOptions, SiteConfig, Sites};
use poem::http::{Method, StatusCode};
use serde_json::json;

use crate::{exports::Files, world::World};

/// The maximum size of a page in bytes, excluding its text.
const MAX_PAGE: usize = 200_000;

/// Imports a table of contents.
pub(crate) async fn import(w: &World, space: &SpaceId, contents: &str) {
    w.git.put("README.md", "# Welcome\n\nHello.\n");
    w.git.put("SUMMARY.md", format!("# Table of contents\n\n* [Welcome](README.md)\n{contents}"));
    let from: ImportGitRepository =
        serde_json::from_value(json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" }))
            .expect("a repository");
    w.me().space(space).import_git(from).await.expect("enqueued");
    w.platform.settle().await.expect("settled");
}

/// Adds a specification with `tags` tags. Each tag becomes a page at each place where the specification is included.
async fn spec(w: &World, tags: usize) {
    let tags: Vec<_> = (0..tags).map(|tag| json!({ "name": format!("Tag {tag}") })).collect();
    let spec =
        json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" }, "tags": tags, "paths": {} });
    w.public_spec("pets", spec.to_string()).await;
    w.platform.settle().await.expect("settled");
}

/// The entry of a specification in a table of contents.
const PLACE: &str = "* ```yaml
  type: builtin:openapi
  dependencies:
    spec:
      ref:
        kind: openapi
        spec: pets
  ```
";

/// Creates a space with this number of sibling pages. They are computed from a specification, which is faster than
/// adding each one.
async fn wide_space(w: &World, pages: usize) -> SpaceId {
    let space = w.space("Wide").await;
    let tags = pages.min(1_000);
    import(w, &space, &PLACE.repeat(pages / tags)).await;
    spec(w, tags).await;
    space
}

/// Creates a site with a wide space.
async fn wide(w: &World, pages: usize) -> String {
    let space = wide_space(w, pages).await;
    w.site("Docs", &space).await.1
}

/// Returns the URLs in a page that begin with the URL of the site, without anchors.
fn links(page: &str, site: &str) -> BTreeSet<String> {
    let all = page.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    all.filter(|href| href.starts_with(site))
        .map(|href| href.split('#').next().unwrap_or(href).to_owned())
        .collect()
}

#[tokio::test]
async fn pages_of_a_wide_space_have_a_bounded_size() {
    let mut sizes = Vec::new();
    for pages in [500, 2_000] {
        let w = World::new().await;
        let site = wide(&w, pages).await;
        for path in
            ["", "tag-3", "tag-250", "tag-499", "no-such-page", "~site/pages.1.html", "~site/search?q=x"]
        {
            let got = w.get(&format!("{site}{path}")).await;
            assert!(got.body.len() < MAX_PAGE, "{path} of {pages}: {} bytes", got.body.len());
            sizes.push(got.body.len());
        }
        let page = w.html(&format!("{site}tag-250")).await;
        assert_eq!(page.matches(" aria-current=\"page\"").count(), 1, "the page is marked in the navigation");
        assert!(
            page.contains(">Tag 249</a>") && page.contains(">Tag 251</a>"),
            "its neighbours are beside it"
        );
        assert!(page.contains("rel=\"prev\"") && page.contains("rel=\"next\""));
    }
    let (small, large) = sizes.split_at(sizes.len() / 2);
    for (small, large) in small.iter().zip(large) {
        assert!(large.abs_diff(*small) < 2_000, "{sizes:?}");
    }
}

#[tokio::test]
async fn all_pages_of_a_large_space_are_reached_by_links() {
    let w = World::new().await;
    let site = wide(&w, 750).await;
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![site.clone()]);
    while let Some(path) = waiting.pop() {
        let page = w.html(&path).await;
        for link in links(&page, &site) {
            // Only lists are followed, because each page must be reachable through them.
            if seen.insert(link.clone()) && link.contains("/~site/pages.") {
                waiting.push(link);
            }
        }
    }
    let missing: Vec<usize> = (0..750).filter(|tag| !seen.contains(&format!("{site}tag-{tag}"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for wrong in [
        "pages.0.html",
        "pages.99.html",
        "pages.x.html",
        "pages.html",
        "pages.nothing.1.html",
        "pages.1.1.html",
    ] {
        assert_eq!(w.get(&format!("{site}~site/{wrong}")).await.status, StatusCode::NOT_FOUND, "{wrong}");
    }
    let list = w.get(&format!("{site}~site/pages.2.html")).await;
    assert_eq!(list.header("x-robots-tag"), "noindex", "search engines list the pages, not the lists");
}

#[tokio::test]
async fn a_deep_page_shows_the_way_to_it_in_a_bounded_navigation() {
    // One tree only exceeds the depth of a complete tree, the other also its number of entries.
    for beside in [0, 320] {
        deep_pages_are_bounded(beside).await;
    }
}

async fn deep_pages_are_bounded(beside: usize) {
    let w = World::new().await;
    let space = w.space("Deep").await;
    let line = |depth: usize| format!("{}* Level {depth}\n", "  ".repeat(depth));
    let beside: String = (0..beside).map(|at| format!("* Beside {at}\n")).collect();
    import(&w, &space, &((0..30).map(line).collect::<String>() + &beside)).await;
    let (_, site) = w.site("Docs", &space).await;
    let path = |depth: usize| (0..=depth).map(|at| format!("level-{at}")).collect::<Vec<_>>().join("/");
    for depth in [0, 1, 5, 9, 10, 11, 20, 29] {
        let page = w.html(&format!("{site}{}", path(depth))).await;
        assert_eq!(page.matches(" aria-current=\"page\"").count(), 1, "{depth}");
        assert!(page.contains(&format!(">Level {}</a>", depth.saturating_sub(1))), "{depth}");
        assert!(page.contains(">Level 0</a>"), "{depth}");
        assert!(page.len() < MAX_PAGE / 2, "{depth}: {} bytes", page.len());
        let tree =
            page.split("id=\"~pages\"").nth(1).and_then(|rest| rest.split("</nav>").next()).expect("a tree");
        let (mut open, mut deepest) = (0_usize, 0);
        for tag in tree.split('<') {
            open = open + usize::from(tag.starts_with("ul>")) - usize::from(tag.starts_with("/ul>"));
            deepest = deepest.max(open);
        }
        assert!(deepest <= 13, "{depth}: lists within {deepest} lists");
    }
}

#[tokio::test]
async fn titles_of_the_largest_size_do_not_make_a_large_page() {
    let w = World::new().await;
    let space = w.space("Titles").await;
    for batch in 0..7 {
        let page = |at: usize| {
            json!({ "operation": "insert_page", "title": format!("{batch} {at} {}", "\"".repeat(990)),
            "description": "&".repeat(200), "document": { "markdown": "Text." } })
        };
        w.edit(&space, json!((0..50).map(page).collect::<Vec<_>>())).await;
    }
    let (_, site) = w.site("Docs", &space).await;
    for path in ["", "llms.txt", "~site/pages.1.html"] {
        let got = w.get(&format!("{site}{path}")).await;
        let most = if path == "llms.txt" { 2 << 20 } else { MAX_PAGE };
        assert!(got.status == StatusCode::OK && got.body.len() < most, "{path}: {} bytes", got.body.len());
    }
}

#[tokio::test]
async fn one_reusable_content_used_many_times_makes_no_huge_page() {
    let w = World::new().await;
    let space = w.space("Reuses").await;
    let text = "A sentence of a long text. ".repeat(10_000);
    let reusable =
        json!({ "operation": "insert_reusable_content", "title": "Long", "document": { "markdown": text } });
    w.edit(&space, json!([reusable])).await;
    let content = w.me().space(&space).content().get(Default::default()).await.expect("content");
    let include = format!("{{% include \"/reusable-content/{}\" %}}\n\n", content.reusable_contents[0].id);
    w.page(&space, "Uses", &include.repeat(200)).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    assert!(page.len() > 4 << 20, "{} bytes: as many are shown as there is room for", page.len());
    assert!(page.len() < 5 << 20, "{} bytes", page.len());
}

/// Adds reusable content blocks, and returns the blocks that include them.
async fn reusables(w: &World, space: &SpaceId, texts: &[String]) -> Vec<String> {
    for (batch, texts) in texts.chunks(50).enumerate() {
        let insert = |(number, text): (usize, &String)| {
            let title = format!("{:04}", batch * 50 + number);
            json!({ "operation": "insert_reusable_content", "title": title, "document": { "markdown": text } })
        };
        w.edit(space, json!(texts.iter().enumerate().map(insert).collect::<Vec<_>>())).await;
    }
    let content = w.me().space(space).content().get(Default::default()).await.expect("content");
    let include = |id: &dyn std::fmt::Display| format!("{{% include \"/reusable-content/{id}\" %}}\n\n");
    content.reusable_contents.iter().map(|of| include(&of.id)).collect()
}

#[tokio::test]
async fn a_page_loads_a_bounded_number_of_reusable_contents() {
    let w = World::new().await;
    let space = w.space("Reuses").await;
    let includes = reusables(&w, &space, &vec!["reused".to_owned(); 201]).await;
    assert_eq!(includes.len(), 201);
    w.page(&space, "Uses", &includes.concat()).await;
    let (_, site) = w.site("Docs", &space).await;
    assert_eq!(w.html(&site).await.matches(">reused</p>").count(), 200);
}

#[tokio::test]
async fn reusable_contents_in_each_other_are_bounded() {
    let w = World::new().await;
    let space = w.space("Reuses").await;
    let mut include = String::new();
    for level in (1..=6).rev() {
        let known = reusables(&w, &space, &[]).await;
        let all = reusables(&w, &space, &[format!("level {level}\n\n{include}")]).await;
        include = all.into_iter().find(|include| !known.contains(include)).expect("a new one");
    }
    w.page(&space, "Uses", &include).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&site).await;
    let shown: Vec<bool> = (1..=6).map(|level| page.contains(&format!(">level {level}</p>"))).collect();
    assert_eq!(shown, [true, true, true, true, true, false]);
}

/// Returns an expression in the text of a page.
fn expression(source: &str) -> String {
    format!("<code class=\"expression\">{}</code> ", source.replace('&', "&amp;"))
}

#[tokio::test]
async fn full_text_beyond_its_size_becomes_links() {
    let w = World::new().await;
    let space = w.space("Values").await;
    let text = expression("'x'.repeat(100000)").repeat(2);
    for number in 1..=22 {
        w.page(&space, &format!("Page {number}"), &text).await;
    }
    let (_, site) = w.site("Docs", &space).await;
    let text = w.html(&format!("{site}llms-full.txt")).await;
    assert!(text.len() < (4 << 20) + 1000, "{} bytes", text.len());
    assert_eq!(text.matches("# Page ").count(), 20);
    let links: Vec<&str> = text.lines().filter(|line| line.starts_with("- [Page ")).collect();
    assert_eq!(links.len(), 2, "{links:?}");
    assert!(links[0].starts_with("- [Page 21](") && links[0].ends_with("page-21.md)"), "{links:?}");
}

#[tokio::test]
async fn full_text_beyond_its_evaluation_steps_becomes_links() {
    let w = World::new().await;
    let space = w.space("Steps").await;
    // About 70,000 steps each.
    let costly = |at: usize| expression(&format!("'x'.repeat(7000).split('').map(x => x + {at}).length"));
    for number in 1..=8 {
        w.page(&space, &format!("Page {number}"), &(0..8).map(costly).collect::<String>()).await;
    }
    w.page(&space, "Last", "No expression.").await;
    let (_, site) = w.site("Docs", &space).await;
    let text = w.html(&format!("{site}llms-full.txt")).await;
    let shown = text.matches("# Page ").count();
    assert!((1..8).contains(&shown), "{shown} pages");
    assert_eq!(text.matches("7000").count(), 8 * shown, "each page is complete or a link: {text}");
    let links: Vec<&str> = text.lines().filter(|line| line.starts_with("- [")).collect();
    assert_eq!(links.len(), 9 - shown, "{links:?}");
    assert!(links[0].starts_with(&format!("- [Page {}](", shown + 1)), "{links:?}");
    // A page alone has its own budget, and cached pages are counted too.
    let page = w.html(&format!("{site}page-8.md")).await;
    assert_eq!(page.matches("7000").count(), 8, "{page}");
    assert_eq!(w.html(&format!("{site}page-{}.md", shown + 1)).await.matches("7000").count(), 8);
    assert_eq!(w.html(&format!("{site}llms-full.txt")).await, text);
}

#[tokio::test]
async fn values_of_expressions_do_not_make_a_huge_page() {
    let w = World::new().await;
    let space = w.space("Values").await;
    let source = "'&'.repeat(100000)";
    let page = w.page(&space, "Signs", &format!("{}\n\nThe end.", expression(source).repeat(320))).await;
    let (_, site) = w.site("Docs", &space).await;
    let html = w.html(&site).await;
    assert!(html.len() < 2 << 20 && html.contains("The end."), "{} bytes", html.len());
    assert_eq!(html.matches("&amp;").count() / 100_000, 2);
    // All formats of the page contain the same values.
    for path in ["index.md", "llms-full.txt"] {
        let text = w.html(&format!("{site}{path}")).await;
        assert!(text.len() < 2 << 20 && text.contains("The end."), "{path}: {} bytes", text.len());
        let values = text.split(' ').filter(|word| word.matches('&').count() == 100_000).count();
        assert_eq!(values, 2, "{path}");
    }
    let shown = ContentOptions {
        format: ContentFormat::Markdown,
        evaluated: Evaluated::Yes,
        ..ContentOptions::default()
    };
    let page = w.me().space(&space).content().get_page(&page, shown).await.expect("a page");
    let RevisionPage::Document(page) = page else { panic!("{page:?}") };
    assert!(page.markdown.is_some_and(|text| text.len() < 2 << 20 && text.contains("The end.")));
}

#[tokio::test]
async fn reusable_contents_of_a_page_share_the_bytes_of_values() {
    let w = World::new().await;
    let space = w.space("Values").await;
    let (site, _) = w.site("Docs", &space).await;
    w.update(&site, json!({ "adaptiveContent": { "enabled": true } })).await;
    let texts: Vec<String> = (0..8).map(|at| expression(&format!("'{at}'.repeat(100000)"))).collect();
    let includes = reusables(&w, &space, &texts).await;
    w.page(&space, "Uses", &includes.concat()).await;
    let path = w.show(&site, SiteVisibility::Public).await;
    let html = w.html(&path).await;
    let is_shown = |at: usize| html.contains(&at.to_string().repeat(100_000));
    assert_eq!((0..8).filter(|at| is_shown(*at)).count(), 2);
    assert_eq!(html.matches(".repeat(100000)}}").count(), 6);
}

#[tokio::test]
async fn a_page_without_content_shows_a_bounded_number_of_cards() {
    let w = World::new().await;
    let space = w.space("Cards").await;
    let below: String = (0..150).map(|at| format!("  * Card {at}\n")).collect();
    import(&w, &space, &format!("* Parent\n{below}")).await;
    let (_, site) = w.site("Docs", &space).await;
    let page = w.html(&format!("{site}parent")).await;
    assert_eq!(page.matches("<a class=\"card\"").count(), 60);
    let list = links(&page, &format!("{site}~site/pages.")).into_iter().next().expect("a link to all");
    assert!(w.html(&list).await.contains(">Card 99</a>"));
}

#[tokio::test]
async fn lists_for_machines_come_in_parts() {
    let w = World::new().await;
    let first = wide_space(&w, 2_000).await;
    let (id, site) = w.site("Docs", &first).await;
    for _ in 0..2 {
        let other = wide_space(&w, 2_000).await;
        w.place(&id, &other).await;
    }
    let index = w.html(&format!("{site}sitemap.xml")).await;
    assert!(
        index.contains("<sitemapindex")
            && index.contains("sitemap-2.xml")
            && !index.contains("sitemap-3.xml")
    );
    let counts = [1, 2].map(|part| format!("{site}sitemap-{part}.xml"));
    let mut all = 0;
    for part in counts {
        all += w.html(&part).await.matches("<url>").count();
    }
    assert_eq!(all, 6_003);
    assert!(w.html(&format!("{site}llms.txt")).await.len() < 1 << 20);
}

/// After a change elsewhere, lists are rebuilt from the summaries of the spaces.
#[tokio::test]
async fn lists_do_not_build_the_page_trees_of_all_spaces_again() {
    let w = World::new().await;
    let contents: String = (0..900).map(|at| format!("* Page {at}\n")).collect();
    let mut spaces = Vec::new();
    for at in 0..6 {
        spaces.push(w.space(&format!("Space {at}")).await);
        import(&w, &spaces[at], &contents).await;
    }
    let (site, path) = w.site("Docs", &spaces[0]).await;
    for space in &spaces[1..] {
        w.place(&site, space).await;
    }
    for (list, part) in [("rss.xml", "<item>"), ("sitemap.xml", "sitemap-2.xml")] {
        // The cache has room for two of the page trees.
        let server = w.server_with(SiteConfig { cache_bytes: 2 << 20 });
        let mut begun = Vec::new();
        for _ in 0..2 {
            w.space("Elsewhere").await;
            let before = w.begun();
            let got = World::ask_of(&server, Method::GET, &format!("{path}{list}"), &[]).await;
            assert!(got.body.contains(part), "{list}: {}", got.body);
            begun.push(w.begun() - before);
        }
        // Building a page tree takes a transaction.
        assert!(begun[1] + spaces.len() as u64 <= begun[0], "{list}: {begun:?} transactions");
    }
}

#[tokio::test]
async fn an_export_holds_the_lists_that_its_pages_link_to() {
    let w = World::new().await;
    let site = wide(&w, 330).await;
    let sites = Sites::new(&w.platform, SiteConfig::default()).expect("an address");
    let mut files = Files::default();
    let done = sites.export(&site, &ExportOptions::default(), &mut files).await.expect("exported");
    assert!(done.broken.is_empty(), "{:?}", done.broken);
    let list = files.text("~site/pages.2.html");
    assert!(
        list.contains("href=\"../tag-150/\"") && list.contains("href=\"../~site/pages.1.html\""),
        "{list}"
    );
}

/// Returns the peak memory in bytes of a request for an uncached page, in a space whose tree is cached.
fn memory_of_a_page(pages: usize) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (w, site) = runtime.block_on(async {
        let w = World::new().await;
        let space = w.space("Stored").await;
        let contents: String = (0..pages).map(|at| format!("* Page {at}\n")).collect();
        import(&w, &space, &contents).await;
        let (_, site) = w.site("Docs", &space).await;
        w.html(&format!("{site}page-1")).await;
        (w, site)
    });
    own_peak_of(|| runtime.block_on(w.html(&format!("{site}page-2")))).1
}

#[test]
fn the_memory_of_a_page_does_not_follow_the_size_of_its_space() {
    let (small, large) = (memory_of_a_page(400), memory_of_a_page(1_600));
    assert!(large < small + small / 4, "{small} bytes of a page among 400, {large} among 1,600");
}
