//! Search for the pages that are generated from specifications.

use docs_core::{
    Actor,
    model::{SearchSite, SiteVisibility, SpaceId},
    ports::SearchIndex,
};
use docs_memstore::{MemGit, MemSearch};

use super::{pages::*, *};
use crate::{git::import, visitors};

/// A specification that no page shows.
const SECRET: &str = "openapi: 3.1.0\ninfo: { title: Hidden, version: '1' }\npaths: { /vault: { get: { \
                      summary: Opens the vault, tags: [vaults], responses: {} } } }\n";

/// Creates a space with a computed page below a page with this text, and an index.
async fn indexed(api: &str) -> (World, Arc<MemSearch>, SpaceId) {
    let (index, git) = (Arc::new(MemSearch::new()), MemGit::new());
    git.put("README.md", "# Welcome\n");
    git.put("api.md", api.to_owned());
    git.put("SUMMARY.md", SUMMARY.to_owned());
    let search = Arc::clone(&index) as Arc<dyn SearchIndex>;
    let w = World::build(Arc::new(MemStore::new()), |builder| {
        let builder = builder.web(Arc::new(MemWeb::new())).git(Arc::new(git));
        builder.spec_reader(Arc::new(OpenApiReader)).search(search)
    })
    .await;
    let space = w.space().await;
    assert_eq!(import(&w, &space).await.1, None);
    (w, index, space)
}

/// Returns the paths of the pages and sections that a query finds in a space.
async fn found(w: &World, space: &SpaceId, query: &str) -> Vec<String> {
    let query = query.parse().expect("a query");
    let page = PageRequest::default();
    let pages = w.as_admin().space(space).search(&query, &page).await.expect("searched").items;
    let paths = pages.into_iter().flat_map(|page| {
        let sections = page.sections.into_iter().map(|section| section.path);
        std::iter::once(page.path).chain(sections)
    });
    paths.collect()
}

#[tokio::test]
async fn generated_pages_are_found_by_operation_and_tag() {
    let (w, index, space) = indexed(API).await;
    assert_eq!(found(&w, &space, "listPets").await, Vec::<String>::new());
    put(&w, SPEC).await;
    for (query, path) in [
        ("listPets", "api/the-store#get/pets"),
        ("\"/pets\" post", "api/the-store#post/pets"),
        ("health", "api/default#get/health"),
        ("sold webhook", ""),
        ("\"POST sold\"", "api/the-store#webhook/post/sold"),
        ("Error", "api/schemas"),
        ("the store", "api/the-store"),
        ("\"those who may\"", "api/users/admins"),
    ] {
        let all = found(&w, &space, query).await;
        assert!(
            if path.is_empty() { all.is_empty() } else { all.iter().any(|own| own == path) },
            "{query}: {all:?}"
        );
    }
    // A later version replaces the pages, and an unchanged one changes nothing.
    let changed = SPEC.replace("listPets", "allAnimals").replace("admins", "chiefs");
    put(&w, &changed).await;
    assert_eq!(found(&w, &space, "listPets").await, Vec::<String>::new());
    assert!(found(&w, &space, "allAnimals").await.contains(&"api/the-store#get/pets".to_owned()));
    assert!(found(&w, &space, "chiefs").await.contains(&"api/users/chiefs".to_owned()));
    assert_eq!(found(&w, &space, "admins").await, Vec::<String>::new());
    let before = index.documents(&space).await.expect("documents");
    put(&w, &changed).await;
    assert_eq!(index.documents(&space).await.expect("documents"), before);
    // Pages of a deleted specification are not found, and not indexed anymore.
    w.as_admin().org(&w.org).openapi_spec("pets").delete().await.expect("deleted");
    assert_eq!(found(&w, &space, "allAnimals").await, Vec::<String>::new());
    w.settled().await;
    assert_eq!(index.documents(&space).await.expect("documents").len(), 2);
}

#[tokio::test]
async fn specifications_without_a_page_are_not_found() {
    let (w, index, space) = indexed(API).await;
    put(&w, SPEC).await;
    w.put_spec("hidden", SpecSource::Text(SECRET.to_owned())).await;
    w.settled().await;
    for query in ["vault", "vaults", "Opens"] {
        assert_eq!(found(&w, &space, query).await, Vec::<String>::new());
    }
    let all = index.documents(&space).await.expect("documents");
    assert!(!format!("{all:?}").contains("vault"));
}

#[tokio::test]
async fn visitors_do_not_find_hidden_generated_pages() {
    assert_eq!(found_on_a_site(&format!("---\nif: visitor.claims.beta\n---\n\n{API}")).await, [0, 0, 1]);
    assert_eq!(found_on_a_site(&format!("---\nnoIndex: true\n---\n\n{API}")).await, [0, 0, 0]);
    assert_eq!(found_on_a_site(API).await, [1, 1, 1]);
}

#[tokio::test]
async fn sites_for_everybody_do_not_find_private_specifications() {
    assert_eq!(found_on_a_site_with(API, SpecVisibility::Private).await, [0, 0, 1]);
}

/// Returns the number of pages that a visitor and a member find on a site, and a member in the space.
async fn found_on_a_site(api: &str) -> [usize; 3] {
    found_on_a_site_with(api, SpecVisibility::Public).await
}

/// Like [`found_on_a_site`], for a specification with a visibility.
async fn found_on_a_site_with(api: &str, visibility: SpecVisibility) -> [usize; 3] {
    let (w, _, space) = indexed(api).await;
    put(&w, SPEC).await;
    w.as_admin()
        .org(&w.org)
        .openapi_spec("pets")
        .update(UpdateOpenApiSpec { visibility })
        .await
        .expect("set");
    let docs = visitors::site(&w, "Docs").await;
    visitors::place(&w, &docs, &space).await;
    visitors::show(&w, &docs, SiteVisibility::Public).await;
    let url = visitors::address(&w, &docs).await;
    let on_site = async |actor: &Actor| {
        let search: SearchSite = serde_json::from_value(json!({ "query": "listPets" })).expect("a search");
        let site = w.platform.as_actor(actor).org(&w.org).site(&docs);
        site.search(&search, &PageRequest::default()).await.expect("searched").items.len()
    };
    let (_, visitor) = visitors::enter(&w, &url, json!({})).await.expect("open");
    let in_space = found(&w, &space, "listPets").await;
    let in_space = in_space.iter().filter(|path| !path.contains('#')).count();
    [on_site(&visitor).await, on_site(&w.admin).await, in_space]
}
