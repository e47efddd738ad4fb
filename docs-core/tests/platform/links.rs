//! Links of spaces and change requests, as seen by their readers.

use docs_core::{
    Actor, ErrorKind,
    content::LinkTarget,
    model::{
        BrokenContext, ContentLocation, ContentUpdateChange, CreateTeam, InternalLocation, LinkList,
        LinkRelation, LinkStatus, LinkUsage, PageId, PutTeamMember, Revision, RevisionPage, Role, SpaceId,
        TeamRole, UpdateContent, VersionContext,
    },
    platform::{ContentOptions, ContentVersion, RequestLinkFilter},
    store::PageRequest,
};
use serde_json::{Value, json};

use crate::support::{Refused, World};

async fn edit(w: &World, at: (&SpaceId, &str), changes: Value) -> Vec<PageId> {
    let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
    let done = w.as_admin().space(at.0).change_request(at.1).edit(update).await.expect("edited");
    let created = |change: &ContentUpdateChange| match change {
        ContentUpdateChange::CreatedPage { page, .. } => Some(page.id.clone()),
        _ => None,
    };
    done.changes.iter().filter_map(created).collect()
}

/// Merges pages with these texts into the space. `{0}` stands for the id of the first page.
async fn filled(w: &World, texts: &[&str]) -> (SpaceId, Vec<PageId>) {
    let space = w.space().await;
    let number = w.request(&space).await;
    let new = |n: usize| json!({ "operation": "insert_page", "title": format!("Page {n}"), "document": {} });
    let pages: Vec<Value> = (0..texts.len()).map(new).collect();
    let pages = edit(w, (&space, &number), json!(pages)).await;
    let set = |(page, text): (&PageId, &&str)| {
        let mut text = (*text).to_owned();
        for (n, id) in pages.iter().enumerate() {
            text = text.replace(&format!("{{{n}}}"), id.as_str());
        }
        json!({ "operation": "update_page", "page": page, "document": { "markdown": text } })
    };
    let sets: Vec<Value> = pages.iter().zip(texts).map(set).collect();
    edit(w, (&space, &number), json!(sets)).await;
    w.as_admin().space(&space).change_request(&number).merge().await.expect("merged");
    (space, pages)
}

async fn links(w: &World, actor: &Actor, space: &SpaceId, status: Option<LinkStatus>) -> LinkList {
    w.platform.as_actor(actor).space(space).list_links(status, &PageRequest::default()).await.expect("listed")
}

async fn request_links(w: &World, at: (&SpaceId, &str), filter: RequestLinkFilter) -> LinkList {
    w.as_admin()
        .space(at.0)
        .change_request(at.1)
        .list_links(filter, &PageRequest::default())
        .await
        .expect("listed")
}

/// Returns a short description of the target of a link.
fn target(link: &LinkUsage) -> String {
    match &link.target_reference {
        None => "nothing".to_owned(),
        Some(ContentLocation::Url { url }) => url.clone(),
        Some(ContentLocation::Page { page, internal_location, .. }) => {
            let RevisionPage::Document(page) = &**page else { panic!("{page:?}") };
            match internal_location {
                Some(InternalLocation::Anchor { anchor }) => format!("{}#{anchor}", page.path),
                _ => page.path.clone(),
            }
        }
        Some(ContentLocation::User { user }) => user.display_name.to_string(),
        Some(ContentLocation::Space { space, .. }) => space.id.to_string(),
        Some(other) => panic!("{other:?}"),
    }
}

fn told(list: &LinkList) -> Vec<(LinkStatus, String)> {
    list.items.iter().map(|link| (link.status, target(link))).collect()
}

#[tokio::test]
async fn deleted_page_breaks_links_by_context_of_request_or_space() {
    let w = World::new().await;
    let texts = ["[b](/pages/{1}#top) [gone](/other.md)", "plain", "[b](/pages/{1}) [a](/pages/{0})"];
    let (space, pages) = filled(&w, &texts).await;
    let before = links(&w, &w.admin, &space, None).await;
    assert_eq!(
        (before.stats.total, before.stats.broken.total, before.stats.broken.change_request),
        (4, 1, None)
    );
    let number = w.request(&space).await;
    let mine = w.as_admin().space(&space);
    let at = (&space, number.as_str());
    assert_eq!(request_links(&w, at, RequestLinkFilter::default()).await.items, []);
    edit(&w, at, json!([{ "operation": "delete_page", "page": pages[1] }])).await;
    let all = request_links(&w, at, RequestLinkFilter::default()).await;
    let mut broken: Vec<String> = all.items.iter().map(target).collect();
    broken.sort();
    assert_eq!(broken, [format!("/pages/{}", pages[1]), format!("/pages/{}#top", pages[1])]);
    assert!(all.items.iter().all(|link| link.status == LinkStatus::Broken));
    assert_eq!((all.stats.total, all.stats.broken.total, all.stats.broken.change_request), (4, 3, Some(2)));
    assert_eq!(all.count, Some(2));
    let of = |context| RequestLinkFilter { status: None, broken_context: Some(context) };
    let own = request_links(&w, at, of(BrokenContext::ChangeRequest)).await;
    assert_eq!((own.items, own.count), (all.items.clone(), Some(2)));
    let inherited = request_links(&w, at, of(BrokenContext::Space)).await;
    assert_eq!(told(&inherited), [(LinkStatus::Broken, "/other.md".to_owned())]);
    assert_eq!(inherited.count, Some(1));
    let ok = RequestLinkFilter { status: Some(LinkStatus::Ok), broken_context: None };
    assert_eq!(request_links(&w, at, ok).await.items, []);
    let wrong =
        RequestLinkFilter { status: Some(LinkStatus::Ok), broken_context: Some(BrokenContext::Space) };
    let refused = mine.change_request(&number).list_links(wrong, &PageRequest::default()).await;
    assert!(refused.refused(ErrorKind::Invalid).message().starts_with("brokenContext: "));
    // Links of the change request are located in the change request.
    let Some(ContentLocation::Page {
        version_context: Some(VersionContext::ChangeRequest { change_request }),
        ..
    }) = all.items[0].location_references.first()
    else {
        panic!("{:?}", all.items[0])
    };
    assert_eq!(change_request.number.to_string(), number);
    // The links of the space are unchanged until the merge; then they are those of the change request.
    let still = links(&w, &w.admin, &space, None).await;
    assert_eq!((told(&still), still.stats), (told(&before), before.stats));
    mine.change_request(&number).merge().await.expect("merged");
    assert_eq!(links(&w, &w.admin, &space, None).await.stats.broken.total, 3);
    let back = w.request(&space).await;
    edit(
        &w,
        (&space, &back),
        json!([{ "operation": "revert_page", "page": pages[1], "revision": before_of(&before) }]),
    )
    .await;
    mine.change_request(&back).merge().await.expect("merged");
    assert_eq!(
        links(&w, &w.admin, &space, None).await.stats,
        before.stats,
        "restoring the page heals its links"
    );
}

/// Returns the revision of a list of links.
fn before_of(list: &LinkList) -> String {
    match &list.items[0].location_references[0] {
        ContentLocation::Page { version_context: Some(VersionContext::Revision { revision }), .. } => {
            assert!(revision.pages.is_empty(), "a revision comes without what it holds");
            revision.id.to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn application_urls_are_classified_as_in_app_links() {
    let w = World::new().await;
    let app = format!("{}/app/s/x/page", w.platform.urls().base());
    let text =
        format!("[in]({app}) [out](https://example.com/app) {{% embed url=\"https://video.example\" %}}");
    let (space, _) = filled(&w, &[&text]).await;
    let list = links(&w, &w.admin, &space, Some(LinkStatus::InApp)).await;
    assert_eq!(told(&list), [(LinkStatus::InApp, app)]);
    assert_eq!((list.count, list.stats.total), (None, 3));
    let ok = links(&w, &w.admin, &space, Some(LinkStatus::Ok)).await;
    let shown: Vec<_> = ok.items.iter().map(|link| (target(link), link.relation)).collect();
    assert_eq!(
        shown,
        [
            ("https://example.com/app".to_owned(), LinkRelation::Reference),
            ("https://video.example".to_owned(), LinkRelation::DependsOn),
        ]
    );
}

#[tokio::test]
async fn status_of_a_link_depends_on_the_access_of_the_caller() {
    let w = World::new().await;
    let reader = w.member("Rob", Some(Role::Read)).await;
    let stranger = crate::support::person(&w.platform, "Sam").await;
    let (there, their_pages) = filled(&w, &["text"]).await;
    let gone = w.space().await;
    w.as_admin().space(&gone).delete().await.expect("deleted");
    let rob = reader.user().expect("a user");
    let sam = stranger.user().expect("a user");
    let text = format!(
        "[s](/spaces/{there}) [p](/spaces/{there}/pages/{}#x) [q](/spaces/{there}/pages/none) [g](/spaces/{gone}) \
         [u](/users/{rob}) [v](/users/{sam}) [c](/collections/none)\n\n{{% openapi-operation spec=\"none\" %}}",
        their_pages[0]
    );
    let (space, _) = filled(&w, &[&text]).await;
    let list = links(&w, &w.admin, &space, None).await;
    assert_eq!((list.stats.total, list.stats.broken.total), (8, 5));
    let mut ok = told(&links(&w, &w.admin, &space, Some(LinkStatus::Ok)).await);
    ok.sort_by(|a, b| a.1.cmp(&b.1));
    let mut expected = vec!["Rob".to_owned(), "page-0#x".to_owned(), there.to_string()];
    expected.sort();
    assert_eq!(ok.into_iter().map(|(_, target)| target).collect::<Vec<_>>(), expected);
    let broken = links(&w, &w.admin, &space, Some(LinkStatus::Broken)).await;
    assert_eq!((broken.items.len(), broken.count), (5, Some(5)));
    // Inaccessible targets are reported as missing.
    let hidden = serde_json::from_value(json!({ "defaultLevel": null })).expect("a change");
    w.as_admin().space(&there).update(hidden).await.expect("hidden");
    let list = links(&w, &reader, &space, None).await;
    assert_eq!((list.stats.total, list.stats.broken.total), (8, 7));
    assert_eq!(links(&w, &w.admin, &space, None).await.stats.broken.total, 5);
    let list = w.platform.as_actor(&stranger).space(&space).list_links(None, &PageRequest::default()).await;
    list.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn link_target_organization_equals_the_resource() {
    let w = World::new().await;
    let owner = w.member("Owen", Some(Role::Read)).await;
    let new = CreateTeam { title: "Team".parse().expect("a title"), members: None };
    let team = w.as_admin().org(&w.org).teams().create(new).await.expect("created").id;
    let put = PutTeamMember { role: Some(TeamRole::Owner) };
    let user = owner.user().expect("a user");
    w.as_admin().org(&w.org).team(&team).put_member(user, put).await.expect("owns");
    let (there, _) = filled(&w, &["text"]).await;
    let (space, _) = filled(&w, &["text", &format!("[s](/spaces/{there}) [p]({{0}})")]).await;
    for actor in [&owner, &w.admin] {
        let read = w.platform.as_actor(actor).org(&w.org).get().await.expect("read");
        assert_eq!(read.permissions.own_team, actor == &owner);
        let list = links(&w, actor, &space, None).await;
        let shown = list.items.iter().filter_map(|link| match &link.target_reference {
            Some(
                ContentLocation::Page { organization, .. } | ContentLocation::Space { organization, .. },
            ) => Some(organization),
            _ => None,
        });
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown, [&Box::new(read.clone()), &Box::new(read)], "in the space, and in another");
    }
}

/// Lists resolve every link.
#[tokio::test]
async fn totals_resolve_a_bounded_number_of_cross_space_links() {
    let w = World::new().await;
    let texts: Vec<String> = (0..6)
        .map(|page| (0..1_000).map(|n| format!("[x](/spaces/missing/pages/p{page}x{n})\n\n")).collect())
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (space, pages) = filled(&w, &texts).await;
    let all = links(&w, &w.admin, &space, None).await;
    assert_eq!((all.stats.total, all.stats.broken.total), (6_000, 5_000));
    assert!(all.items.iter().all(|link| link.status == LinkStatus::Broken));
    let of = ContentVersion::space(space);
    let page = PageRequest { limit: Some(1), ..PageRequest::default() };
    for id in &pages {
        let list = w.as_admin().content(&of).list_page_links(id, None, &page).await.expect("listed");
        assert_eq!((list.stats.broken.total, list.items[0].status), (1_000, LinkStatus::Broken));
    }
}

#[tokio::test]
async fn revision_of_a_link_location_has_no_content() {
    let w = World::new().await;
    let (space, _) = filled(&w, &["[b](/pages/{1})", "plain"]).await;
    let list = links(&w, &w.admin, &space, None).await;
    let Some(ContentLocation::Page { version_context: Some(VersionContext::Revision { revision }), .. }) =
        list.items[0].location_references.first()
    else {
        panic!("{list:?}")
    };
    let read = w.as_admin().space(&space).content().get(ContentOptions::default()).await;
    let read = read.expect("read");
    assert_eq!(read.pages.len(), 2);
    let bare = Revision { pages: Vec::new(), files: Vec::new(), variables: None, ..read };
    assert_eq!(**revision, bare);
}

#[tokio::test]
async fn link_to_its_own_space_is_resolved_in_its_own_content() {
    let w = World::new().await;
    let (space, pages) = filled(&w, &["one", "two"]).await;
    let number = w.request(&space).await;
    let at = (&space, number.as_str());
    let text = format!("[own](/spaces/{space}/pages/{}#x) [all](/spaces/{space})", pages[1]);
    let set = json!({ "operation": "update_page", "page": pages[0], "document": { "markdown": text } });
    edit(&w, at, json!([set])).await;
    let list = request_links(&w, at, RequestLinkFilter::default()).await;
    let mut found = told(&list);
    found.sort_by(|a, b| a.1.cmp(&b.1));
    let mut expected = vec![(LinkStatus::Ok, "page-1#x".to_owned()), (LinkStatus::Ok, space.to_string())];
    expected.sort_by(|a, b| a.1.cmp(&b.1));
    assert_eq!(found, expected);
    edit(&w, at, json!([{ "operation": "delete_page", "page": pages[1] }])).await;
    let list = request_links(&w, at, RequestLinkFilter::default()).await;
    assert_eq!(
        (list.stats.broken.total, list.stats.broken.change_request),
        (1, Some(1)),
        "live content has it"
    );
}

#[tokio::test]
async fn selective_filter_finds_every_link_across_pages() {
    let w = World::new().await;
    let text: String = (0..60).map(|n| format!("[{n}](https://x.example/{n})\n")).collect();
    let app = format!("{}/app/x", w.platform.urls().base());
    let (space, _) = filled(&w, &[&text, &format!("[a]({app})"), &text, &format!("[a]({app})")]).await;
    let (mut seen, mut cursor) = (Vec::new(), None);
    for _ in 0..200 {
        let page = PageRequest { page: cursor, limit: Some(1) };
        let list =
            w.as_admin().space(&space).list_links(Some(LinkStatus::InApp), &page).await.expect("listed");
        seen.extend(told(&list));
        cursor = list.next.map(|next| next.page);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(cursor, None);
    assert_eq!(seen.len(), 2);
}

#[tokio::test]
async fn a_link_to_an_anchor_that_does_not_exist_is_broken() {
    let w = World::new().await;
    let page = "## C, C++ & F#\n\n## Set up {#setup}\n\n<a id=\"old\"></a>\n\n## 快速开始\n\n[here](#c-c--f) [no](#nowhere)";
    let text = "[a](/pages/{0}#c-c++-f) [b](/pages/{0}#c-c--f) [c](/pages/{0}#setup) [d](/pages/{0}#old) \
                [e](/pages/{0}#%E5%BF%AB%E9%80%9F%E5%BC%80%E5%A7%8B) [f](/pages/{0}#gone) [g](/pages/{0}#c-c--f-1) \
                [h](/pages/{0}#top)";
    let (space, pages) = filled(&w, &[page, text]).await;
    let broken = links(&w, &w.admin, &space, Some(LinkStatus::Broken)).await;
    let mut found: Vec<String> = broken.items.iter().map(target).collect();
    found.sort();
    assert_eq!(found, ["page-0#c-c--f-1", "page-0#gone", "page-0#nowhere"]);
    assert_eq!(broken.stats.broken.total, 3);
    // A changed heading changes the status of links from other pages.
    let number = w.request(&space).await;
    let change =
        json!([{ "operation": "update_page", "page": pages[0], "document": { "markdown": "## Gone" } }]);
    edit(&w, (&space, &number), change).await;
    w.as_admin().space(&space).change_request(&number).merge().await.expect("merged");
    let broken = links(&w, &w.admin, &space, Some(LinkStatus::Broken)).await;
    assert_eq!((broken.items.len(), broken.stats.broken.total), (6, 6), "{:?}", told(&broken));
}

#[tokio::test]
async fn requests_list_the_links_to_anchors_that_they_change() {
    let w = World::new().await;
    let texts =
        ["## One\n\n## Two\n\n[own](#two)", "[a](/pages/{0}#one) [b](/pages/{0}#two) [c](/pages/{0}#three)"];
    let (space, pages) = filled(&w, &texts).await;
    let number = w.request(&space).await;
    let at = (&space, number.as_str());
    let text = "## One\n\n## Three\n\n[own](#two)";
    let set = json!({ "operation": "update_page", "page": pages[0], "document": { "markdown": text } });
    edit(&w, at, json!([set])).await;
    let list = request_links(&w, at, RequestLinkFilter::default()).await;
    let mut found = told(&list);
    found.sort_by(|a, b| a.1.cmp(&b.1));
    let (broken, ok) = (LinkStatus::Broken, LinkStatus::Ok);
    assert_eq!(
        found,
        [
            (ok, "page-0#three".to_owned()),
            (broken, "page-0#two".to_owned()),
            (broken, "page-0#two".to_owned())
        ]
    );
    assert_eq!((list.stats.broken.total, list.stats.broken.change_request), (2, Some(2)));
    let of = |context| RequestLinkFilter { status: None, broken_context: Some(context) };
    let own = request_links(&w, at, of(BrokenContext::ChangeRequest)).await;
    assert_eq!((own.items.len(), own.count), (2, Some(2)));
    let inherited = request_links(&w, at, of(BrokenContext::Space)).await;
    assert_eq!((inherited.items.len(), inherited.count), (0, Some(0)));
}

#[tokio::test]
async fn backlinks_list_the_pages_that_link_to_a_page() {
    let w = World::new().await;
    let (space, pages) =
        filled(&w, &["[me](/pages/{0})", "[a](/pages/{0}) [b](/pages/{0}#x)", "[a](/pages/{0})"]).await;
    let of = ContentVersion::space(space.clone());
    let back = async |n: usize, page: PageRequest| {
        w.as_admin().content(&of).list_backlinks(&LinkTarget::Page(pages[n].clone()), &page).await
    };
    let first = back(0, PageRequest { page: None, limit: Some(1) }).await.expect("listed");
    assert_eq!((first.items.len(), first.count), (1, Some(2)));
    let rest = back(0, PageRequest { page: first.next, limit: Some(1) }).await.expect("listed");
    assert_eq!((rest.items.len(), rest.next), (1, None));
    let mut found: Vec<&PageId> = first
        .items
        .iter()
        .chain(&rest.items)
        .map(|item| match item {
            ContentLocation::Page { page, .. } => match &**page {
                RevisionPage::Document(page) => {
                    assert_eq!(page.markdown, None, "without its text");
                    &page.base.id
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    found.sort();
    let mut expected = vec![&pages[1], &pages[2]];
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(back(1, PageRequest::default()).await.expect("listed").items, []);
    let unknown = LinkTarget::Page("none".parse().expect("an id"));
    let list = w.as_admin().content(&of).list_backlinks(&unknown, &PageRequest::default()).await;
    list.refused(ErrorKind::NotFound);
}
