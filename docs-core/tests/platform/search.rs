//! Search: users with access find the current content.

mod following;
mod programs;

use std::sync::Arc;

use docs_core::{
    Actor, ErrorKind,
    model::{
        ContentUpdateChange, CreateChangeRequest, CreateSite, CreateSpace, OrgId, PageId, Patch, Role,
        SearchPageResult, SearchSite, SearchSpaceResult, SearchSpaceType, SearchText, SiteId, SpaceId,
        UpdateContent, UpdateSpace,
    },
    ports::SearchIndex,
    store::{Page, PageRequest},
};
use docs_memstore::MemSearch;
use serde_json::{Value, json};

use crate::support::{Refused, World, person};

pub(crate) async fn world() -> (World, Arc<MemSearch>) {
    let index = Arc::new(MemSearch::new());
    (World::with_search(Arc::clone(&index) as Arc<dyn SearchIndex>).await, index)
}

pub(crate) async fn space(w: &World, title: &str) -> SpaceId {
    let new = CreateSpace { title: Some(title.parse().expect("a title")), ..CreateSpace::default() };
    w.as_admin().org(&w.org).spaces().create(new).await.expect("created").id
}

/// Changes the live content of a space. Returns the created pages.
pub(crate) async fn edit(w: &World, space: &SpaceId, changes: Value) -> docs_core::Result<Vec<PageId>> {
    let (p, me) = (&w.platform, &w.admin);
    let request =
        p.as_actor(me).space(space).change_requests().create(CreateChangeRequest::default()).await?;
    let number = request.number.to_string();
    let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
    let done = p.as_actor(me).space(space).change_request(&number).edit(update).await?;
    p.as_actor(me).space(space).change_request(&number).merge().await?;
    let created = done.changes.iter().filter_map(|change| match change {
        ContentUpdateChange::CreatedPage { page, .. } => Some(page.id.clone()),
        _ => None,
    });
    Ok(created.collect())
}

pub(crate) async fn add(w: &World, space: &SpaceId, title: &str, text: &str) -> PageId {
    add_below(w, space, None, title, text).await
}

pub(crate) async fn add_below(
    w: &World,
    space: &SpaceId,
    parent: Option<&PageId>,
    title: &str,
    text: &str,
) -> PageId {
    let mut insert = json!({ "operation": "insert_page", "title": title, "document": { "markdown": text } });
    if let Some(parent) = parent {
        insert["into"] = parent.as_str().into();
    }
    edit(w, space, json!([insert])).await.expect("inserted").pop().expect("a page")
}

pub(crate) async fn change(w: &World, space: &SpaceId, page: &PageId, fields: Value) {
    let mut change = json!({ "operation": "update_page", "page": page });
    change.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    edit(w, space, json!([change])).await.expect("changed");
}

fn text(query: &str) -> SearchText {
    query.parse().expect("a query")
}

async fn pages(w: &World, actor: &Actor, space: &SpaceId, query: &str) -> Vec<SearchPageResult> {
    let page = PageRequest::default();
    w.platform.as_actor(actor).space(space).search(&text(query), &page).await.expect("searched").items
}

async fn paths(w: &World, space: &SpaceId, query: &str) -> Vec<String> {
    pages(w, &w.admin, space, query).await.into_iter().map(|page| page.path).collect()
}

async fn org(w: &World, actor: &Actor, query: &str) -> Vec<SearchSpaceResult> {
    let page = PageRequest::default();
    w.platform.as_actor(actor).org(&w.org).search(&text(query), &page).await.expect("searched").items
}

/// Returns the titles of the spaces that an actor finds.
async fn spaces(w: &World, actor: &Actor, query: &str) -> Vec<String> {
    let mut titles: Vec<String> =
        org(w, actor, query).await.iter().map(|space| space.title.to_string()).collect();
    titles.sort();
    titles
}

#[tokio::test]
async fn written_content_is_found_once_indexed() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    w.platform.settle().await.expect("settled");
    let markdown = "Intro.\n\n## Set up *webhooks*\n\nOpen the settings, then add a secret.\n";
    let page = add(&w, &guide, "Events", markdown).await;
    assert!(pages(&w, &w.admin, &guide, "secret").await.is_empty(), "nothing works in the background here");
    w.platform.settle().await.expect("settled");
    let found = pages(&w, &w.admin, &guide, "secret").await;
    assert_eq!(found.len(), 1);
    let app = w.platform.urls().base().to_owned() + &format!("/app/s/{guide}/events");
    assert_eq!((&found[0].id, found[0].title.as_str(), found[0].path.as_str()), (&page, "Events", "events"));
    assert_eq!(found[0].urls.app, app);
    let [section] = found[0].sections.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (section.title.as_str(), section.path.as_str()),
        ("Set up webhooks", "events#set-up-webhooks")
    );
    assert_eq!(section.body, "Open the settings, then add a secret.");
    assert_eq!(section.urls.app, format!("{app}#set-up-webhooks"));
    assert_eq!(
        org(&w, &w.admin, "secret").await,
        [SearchSpaceResult {
            kind: SearchSpaceType::Is,
            id: guide.clone(),
            title: "Guide".parse().expect("a title"),
            score: found[0].score,
            pages: found,
        }]
    );
    let titled = pages(&w, &w.admin, &guide, "event").await;
    assert_eq!((titled.len(), titled[0].sections.len()), (1, 0), "a title says it all");
    for (query, sections) in [("intro", 1), ("webhook secrets", 1), ("\"the settings\"", 1)] {
        let found = pages(&w, &w.admin, &guide, query).await;
        assert_eq!(found.first().map(|page| page.sections.len()), Some(sections), "{query}");
    }
}

#[tokio::test]
async fn a_search_finds_the_plural_in_the_language_of_a_site() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    add(&w, &guide, "Plurals", "All repositories have policies. Zeitpläne sind Einstellungen.").await;
    w.platform.settle().await.expect("settled");
    for query in ["repository", "policy ", "repositories"] {
        assert_eq!(paths(&w, &guide, query).await, ["plurals"], "{query}");
    }
    let site = site(&w, &[&guide]).await;
    w.as_admin().org(&w.org).site(&site).publish().await.expect("published");
    let ask = async |query: &str| {
        let search: SearchSite = serde_json::from_value(json!({"query": query})).expect("a search");
        w.as_admin()
            .org(&w.org)
            .site(&site)
            .search(&search, &PageRequest::default())
            .await
            .expect("found")
            .items
            .len()
    };
    assert_eq!((ask("Zeitplan").await, ask("policy ").await), (1, 1), "one letter less is a typo");
    assert_eq!(ask("einstellen ").await, 0);
    let mut look = w.as_admin().org(&w.org).site(&site).get_customization().await.expect("read");
    look.internationalization.locale = docs_core::model::Locale::De;
    w.as_admin().org(&w.org).site(&site).set_customization(look).await.expect("set");
    assert_eq!((ask("einstellen ").await, ask("policy ").await), (1, 1));
}

#[tokio::test]
async fn edit_updates_the_search_results() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    let page = add(&w, &guide, "First", "former text").await;
    add(&w, &guide, "Second", "other text").await;
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &guide, "former").await, ["first"]);
    change(&w, &guide, &page, json!({ "document": { "markdown": "latter text" } })).await;
    change(&w, &guide, &page, json!({ "description": "A summary" })).await;
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &guide, "former").await.len(), 0);
    assert_eq!(paths(&w, &guide, "latter").await, ["first"]);
    assert_eq!(paths(&w, &guide, "summary").await, ["first"]);
    edit(&w, &guide, json!([{ "operation": "delete_page", "page": page }])).await.expect("deleted");
    assert_eq!(paths(&w, &guide, "latter").await.len(), 0, "what is gone is not shown, settled or not");
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &guide, "text").await, ["second"]);
}

#[tokio::test]
async fn result_has_the_current_path_and_title() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    let above = add(&w, &guide, "Above", "").await;
    let middle = add_below(&w, &guide, Some(&above), "Middle", "").await;
    let below = add_below(&w, &guide, Some(&middle), "Below", "## Part\n\nneedle").await;
    let other = add(&w, &guide, "Other", "").await;
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &guide, "needle").await, ["above/middle/below"]);
    change(&w, &guide, &above, json!({ "slug": "upper" })).await;
    assert_eq!(paths(&w, &guide, "needle").await, ["upper/middle/below"]);
    change(&w, &guide, &middle, json!({ "into": other })).await;
    change(&w, &guide, &below, json!({ "title": "Lower" })).await;
    w.platform.settle().await.expect("settled");
    let found = pages(&w, &w.admin, &guide, "needle").await;
    assert_eq!((found[0].title.as_str(), found[0].path.as_str()), ("Lower", "other/middle/below"));
    assert_eq!(found[0].sections[0].path, "other/middle/below#part");
}

#[tokio::test]
async fn no_index_excludes_a_page_and_its_descendants() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    let above = add(&w, &guide, "Above", "needle").await;
    let below = add_below(&w, &guide, Some(&above), "Below", "needle").await;
    let hidden = add(&w, &guide, "Hidden", "needle").await;
    change(&w, &guide, &hidden, json!({ "hidden": true })).await;
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &guide, "needle").await.len(), 3, "hiding is for the table of contents");
    change(&w, &guide, &above, json!({ "noIndex": true })).await;
    for _ in 0..2 {
        assert_eq!(paths(&w, &guide, "needle").await, ["hidden"]);
        w.platform.settle().await.expect("settled");
    }
    change(&w, &guide, &above, json!({ "noIndex": false })).await;
    change(&w, &guide, &below, json!({ "noIndex": true })).await;
    w.platform.settle().await.expect("settled");
    assert_eq!(paths(&w, &guide, "above").await, ["above"]);
    assert_eq!(paths(&w, &guide, "below").await.len(), 0);
}

#[tokio::test]
async fn search_returns_only_accessible_spaces() {
    let (w, _) = world().await;
    let reader = w.member("Rob", Some(Role::Read)).await;
    let creator = w.member("Cara", Some(Role::Create)).await;
    let guest = w.member("Gus", None).await;
    let stranger = person(&w.platform, "Sam").await;
    let (open, closed) = (space(&w, "Open").await, space(&w, "Closed").await);
    for space in [&open, &closed] {
        add(&w, space, "Page", "needle").await;
    }
    w.platform.settle().await.expect("settled");
    for (who, found) in [(&w.admin, 2), (&reader, 2), (&creator, 2), (&guest, 0)] {
        assert_eq!(spaces(&w, who, "needle").await.len(), found, "{who:?}");
    }
    let page = PageRequest::default();
    for org in [w.platform.as_actor(&stranger).org(&w.org).search(&text("needle"), &page)] {
        org.await.refused(ErrorKind::NotFound);
    }
    w.platform
        .as_actor(&guest)
        .space(&open)
        .search(&text("needle"), &page)
        .await
        .refused(ErrorKind::NotFound);
    // The change is effective immediately, regardless of the index.
    let close = UpdateSpace { default_level: Patch::Clear, ..UpdateSpace::default() };
    w.as_admin().space(&closed).update(close).await.expect("closed");
    assert_eq!(spaces(&w, &reader, "needle").await, ["Open"]);
    assert_eq!(spaces(&w, &w.admin, "needle").await, ["Closed", "Open"]);
    w.platform
        .as_actor(&reader)
        .space(&closed)
        .search(&text("needle"), &page)
        .await
        .refused(ErrorKind::NotFound);
    let user = reader.user().expect("a user");
    w.platform.as_platform().org(&w.org).member(user).put(None).await.expect("a guest now");
    assert_eq!(spaces(&w, &reader, "needle").await.len(), 0);
}

/// A short or empty result page must not reveal hits that the caller cannot access.
#[tokio::test]
async fn inaccessible_spaces_do_not_shorten_result_pages() {
    let (w, _) = world().await;
    let member = w.member("Mia", Some(Role::Create)).await;
    let mut all = Vec::new();
    for n in 0..9 {
        let space = if n % 3 == 0 {
            // The creator keeps access to a closed space.
            let new = CreateSpace {
                title: Some(format!("Space {n}").parse().expect("a title")),
                ..CreateSpace::default()
            };
            w.platform.as_actor(&member).org(&w.org).spaces().create(new).await.expect("created").id
        } else {
            space(&w, &format!("Space {n}")).await
        };
        add(&w, &space, "Page", "needle").await;
        if n < 6 {
            let close = UpdateSpace { default_level: Patch::Clear, ..UpdateSpace::default() };
            w.as_admin().space(&space).update(close).await.expect("closed");
        }
        all.push(space);
    }
    w.platform.settle().await.expect("settled");
    let one_by_one = async |actor: &Actor| {
        let (mut page, mut found) = (PageRequest { page: None, limit: Some(1) }, Vec::new());
        loop {
            let answer =
                w.platform.as_actor(actor).org(&w.org).search(&text("needle"), &page).await.expect("found");
            assert_eq!(answer.items.len(), 1, "no page is short");
            found.extend(answer.items.into_iter().map(|space| space.title.to_string()));
            page.page = answer.next;
            if page.page.is_none() {
                found.sort();
                return found;
            }
        }
    };
    assert_eq!(one_by_one(&w.admin).await.len(), 9);
    let seen: Vec<String> = [0, 3, 6, 7, 8].map(|n| format!("Space {n}")).into();
    assert_eq!(one_by_one(&member).await, seen);
    let reader = w.member("Rob", Some(Role::Read)).await;
    assert_eq!(one_by_one(&reader).await, seen[2..]);
    let open = UpdateSpace {
        default_level: Patch::Set(serde_json::from_value(json!("inherit")).expect("a level")),
        ..UpdateSpace::default()
    };
    w.as_admin().space(&all[1]).update(open).await.expect("opened");
    assert_eq!(one_by_one(&reader).await.len(), 4);
    w.check().await;
}

#[tokio::test]
async fn a_deleted_space_is_not_found_until_it_is_restored() {
    let (w, index) = world().await;
    let (guide, copied) = (space(&w, "Guide").await, space(&w, "Copied").await);
    let page = add(&w, &copied, "Page", "needle").await;
    let copy = w.as_admin().space(&copied).duplicate().await.expect("copied").id;
    add(&w, &guide, "Page", "needle").await;
    w.platform.settle().await.expect("settled");
    assert_eq!(spaces(&w, &w.admin, "needle").await, ["Copied", "Copied (copy)", "Guide"]);
    assert_eq!(pages(&w, &w.admin, &copy, "needle").await[0].id, page, "a copy has the same pages");
    w.as_admin().space(&copied).delete().await.expect("deleted");
    for _ in 0..2 {
        assert_eq!(spaces(&w, &w.admin, "needle").await, ["Copied (copy)", "Guide"]);
        w.platform.settle().await.expect("settled");
    }
    assert_eq!(index.documents(&copied).await.expect("documents"), []);
    let page = PageRequest::default();
    w.as_admin().space(&copied).search(&text("needle"), &page).await.refused(ErrorKind::NotFound);
    w.as_admin().space(&copied).restore().await.expect("restored");
    w.platform.settle().await.expect("settled");
    assert_eq!(spaces(&w, &w.admin, "needle").await, ["Copied", "Copied (copy)", "Guide"]);
}

async fn walk<T>(limit: u32, mut ask: impl AsyncFnMut(PageRequest) -> Page<T>) -> Vec<T> {
    let (mut items, mut cursor) = (Vec::new(), None);
    loop {
        let page = ask(PageRequest { page: cursor, limit: Some(limit) }).await;
        assert!(page.items.len() <= limit as usize);
        items.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return items;
        }
    }
}

/// Merges the spaces of several responses, each with all of its pages.
fn by_space(parts: Vec<SearchSpaceResult>) -> Vec<SearchSpaceResult> {
    let mut whole: Vec<SearchSpaceResult> = Vec::new();
    for part in parts {
        match whole.iter_mut().find(|space| space.id == part.id) {
            Some(space) => space.pages.extend(part.pages),
            None => whole.push(part),
        }
    }
    whole
}

#[tokio::test]
async fn search_results_are_paginated_with_any_limit() {
    let (w, _) = world().await;
    let all: Vec<SpaceId> = {
        let mut all = Vec::new();
        for n in 0..9 {
            all.push(space(&w, &format!("Space {n}")).await);
        }
        all
    };
    for (n, space) in all.iter().enumerate() {
        let pages: Vec<Value> = (0..4)
            .map(|p| {
                json!({ "operation": "insert_page", "title": format!("Page {p}"), "noIndex": p == 3,
                "document": { "markdown": "needle ".repeat(n + p + 1) } })
            })
            .collect();
        edit(&w, space, json!(pages)).await.expect("inserted");
    }
    w.platform.settle().await.expect("settled");
    let query = text("needle");
    let in_org =
        async |page: PageRequest| w.as_admin().org(&w.org).search(&query, &page).await.expect("found");
    let whole = walk(1000, in_org).await;
    assert_eq!(whole.len(), 9, "each space once in one answer");
    assert!(whole.iter().all(|space| space.pages.len() == 3));
    let in_space =
        async |page: PageRequest| w.as_admin().space(&all[0]).search(&query, &page).await.expect("found");
    let whole_space = walk(1000, in_space).await;
    assert_eq!(whole_space.len(), 3);
    for limit in [1, 2, 3, 8, 26, 27, 28] {
        assert_eq!(by_space(walk(limit, in_org).await), whole, "{limit}");
        assert_eq!(walk(limit, in_space).await, whole_space, "{limit}");
    }
    let cursor = in_org(PageRequest { page: None, limit: Some(1) }).await.next;
    assert!(cursor.is_some());
    for (query, space) in [("needle", Some(&all[0])), ("needles", None)] {
        let page = PageRequest { page: cursor.clone(), limit: None };
        let error = match space {
            Some(space) => {
                w.as_admin().space(space).search(&text(query), &page).await.refused(ErrorKind::Invalid)
            }
            None => w.as_admin().org(&w.org).search(&text(query), &page).await.refused(ErrorKind::Invalid),
        };
        assert!(error.message().starts_with("page: "), "{error}");
    }
    let none = in_org(PageRequest { page: None, limit: Some(0) }).await;
    assert_eq!((none.items.len(), none.next), (0, None));
}

/// A list continues even if the store filters out many pages of it.
#[tokio::test]
async fn filtered_result_page_may_be_short_but_has_a_next_cursor() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    let above = add(&w, &guide, "Above", "").await;
    let pages: Vec<Value> = (0..40)
        .map(|n| {
            json!({ "operation": "insert_page", "title": format!("Needle {n}"), "into": above,
            "document": { "markdown": "needle" } })
        })
        .collect();
    edit(&w, &guide, json!(pages)).await.expect("inserted");
    add(&w, &guide, "Last", "needle").await;
    change(&w, &guide, &above, json!({ "noIndex": true })).await;
    w.platform.settle().await.expect("settled");
    let query = text("needle");
    let ask = async |page| w.as_admin().space(&guide).search(&query, &page).await.expect("found");
    let first = ask(PageRequest { page: None, limit: Some(1) }).await;
    assert!(first.items.is_empty() && first.next.is_some());
    let all: Vec<String> = walk(1, ask).await.into_iter().map(|page| page.path).collect();
    assert_eq!(all, ["last"]);
}

async fn site(w: &World, spaces: &[&SpaceId]) -> SiteId {
    let new: CreateSite =
        serde_json::from_value(json!({ "title": "Docs", "spaces": spaces })).expect("a site");
    w.as_admin().org(&w.org).sites().create(new).await.expect("created").id
}

async fn on_site(w: &World, (org, site): (&OrgId, &SiteId), search: Value) -> docs_core::Result<Vec<String>> {
    let mut search = search;
    search["query"] = "needle".into();
    let search: SearchSite = serde_json::from_value(search).expect("a search");
    let found = w.as_admin().org(org).site(site).search(&search, &PageRequest::default()).await?;
    let mut titles: Vec<String> = found.items.iter().map(|space| space.title.to_string()).collect();
    titles.sort();
    Ok(titles)
}

#[tokio::test]
async fn a_published_site_is_searched_whole_or_in_part() {
    let (w, _) = world().await;
    let (one, two) = (space(&w, "One").await, space(&w, "Two").await);
    let three = space(&w, "Three").await;
    for space in [&one, &two, &three] {
        add(&w, space, "Page", "needle").await;
    }
    let site = site(&w, &[&one, &two]).await;
    w.platform.settle().await.expect("settled");
    let of = (&w.org, &site);
    on_site(&w, of, json!({})).await.refused(ErrorKind::NotFound);
    w.as_admin().org(&w.org).site(&site).publish().await.expect("published");
    let places =
        w.as_admin().org(of.0).site(of.1).spaces().list(Default::default(), &PageRequest::default()).await;
    let ids: Vec<String> = places.expect("listed").items.iter().map(|place| place.id.to_string()).collect();
    let [first, second] = ids.as_slice() else { panic!("{ids:?}") };
    let part = |current: &str, part: &str| json!({ "scope": { "mode": "default", "currentSiteSpace": current, "restrictTo": part } });
    for (search, expected) in [
        (json!({}), &["One", "Two"][..]),
        (json!({ "mode": "all" }), &["One", "Two"]),
        (json!({ "scope": { "mode": "all" } }), &["One", "Two"]),
        (json!({ "mode": "current", "siteSpaceId": first }), &["One"]),
        (json!({ "mode": "current", "siteSpaceId": second }), &["One", "Two"]),
        (json!({ "mode": "specific", "siteSpaceIds": [first] }), &["One"]),
        (json!({ "siteSpaceIds": [second, first, second] }), &["One", "Two"]),
        (json!({ "scope": { "mode": "specific", "siteSpaceIds": [second] } }), &["Two"]),
        (json!({ "scope": { "mode": "default" } }), &["One"]),
        (json!({ "scope": { "mode": "default", "includedSiteSpaces": [second] } }), &["One", "Two"]),
        (json!({ "scope": { "mode": "default", "currentSiteSpace": second } }), &["One", "Two"]),
        (part(second, "currentSiteSpace"), &["Two"]),
        (part(second, "otherSiteSpaces"), &["One"]),
        (part(first, "otherSiteSpaces"), &[]),
        (json!({ "scope": { "mode": "all" }, "mode": "current" }), &["One", "Two"]),
    ] {
        assert_eq!(on_site(&w, of, search.clone()).await.expect("searched"), expected, "{search}");
    }
    for (search, field) in [
        (json!({ "mode": "current" }), "siteSpaceId: "),
        (json!({ "mode": "current", "siteSpaceId": "unknown" }), "siteSpaceId: "),
        (json!({ "mode": "specific" }), "siteSpaceIds: "),
        (json!({ "siteSpaceIds": [] }), "siteSpaceIds: "),
        (json!({ "siteSpaceIds": [first, "no id!"] }), "siteSpaceIds[1]: "),
        (json!({ "scope": { "mode": "specific", "siteSpaceIds": [three] } }), "scope.siteSpaceIds[0]: "),
        (
            json!({ "scope": { "mode": "default", "includedSiteSpaces": ["x"] } }),
            "scope.includedSiteSpaces[0]: ",
        ),
        (part("x", "currentSiteSpace"), "scope.currentSiteSpace: "),
        (
            json!({ "scope": { "mode": "default", "restrictTo": "otherSiteSpaces" } }),
            "scope.currentSiteSpace: ",
        ),
    ] {
        let error = on_site(&w, of, search.clone()).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with(field), "{search}: {error}");
    }
}

#[tokio::test]
async fn site_search_excludes_pages_with_a_condition() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    let above = add(&w, &guide, "Above", "needle").await;
    add_below(&w, &guide, Some(&above), "Below", "needle").await;
    let site = site(&w, &[&guide]).await;
    w.as_admin().org(&w.org).site(&site).publish().await.expect("published");
    w.platform.settle().await.expect("settled");
    assert_eq!(on_site(&w, (&w.org, &site), json!({})).await.expect("searched"), ["Guide"]);
    change(&w, &guide, &above, json!({ "condition": "visitor.claims.beta == true" })).await;
    assert!(on_site(&w, (&w.org, &site), json!({})).await.expect("searched").is_empty());
    assert_eq!(paths(&w, &guide, "needle").await.len(), 2, "who works on the content finds it all");
}

#[tokio::test]
async fn any_query_text_is_accepted() {
    let (w, _) = world().await;
    let guide = space(&w, "Guide").await;
    add(&w, &guide, "全文検索 AND OR NOT", "検索エンジン").await;
    w.platform.settle().await.expect("settled");
    let stars = "*".repeat(512);
    for (query, found) in [
        (stars.as_str(), 0),
        ("\"", 0),
        ("x", 0),
        ("AND OR NOT", 1),
        ("\"and or", 1),
        ("title:(and", 0),
        ("検索", 1),
        ("エンジン", 1),
        ("擎", 0),
    ] {
        assert_eq!(paths(&w, &guide, query).await.len(), found, "{query}");
    }
}

#[tokio::test]
async fn search_without_an_index_is_rejected() {
    let w = World::new().await;
    let guide = space(&w, "Guide").await;
    let page = PageRequest::default();
    w.platform.settle().await.expect("settled");
    let answer = w.as_admin().space(&guide).search(&text("a"), &page).await;
    assert!(answer.refused(ErrorKind::Precondition).message().contains("search index"));
    w.as_admin().org(&w.org).search(&text("a"), &page).await.refused(ErrorKind::Precondition);
}
