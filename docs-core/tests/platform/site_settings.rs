//! Settings of a site other than its structure.

mod adaptive;
mod customization;
mod redirects;
mod secrets;

use docs_core::{
    ErrorKind,
    model::{AddSiteSpace, CreateSite, CreateSpace, SiteId, SiteSpaceId, SiteSpacesInput, SpaceId},
    store::{MAX_SCAN, Mode, Scan},
};

use crate::support::World;

/// A site with one space.
struct Published {
    site: SiteId,
    place: SiteSpaceId,
    space: SpaceId,
}

async fn published(w: &World, title: &str) -> Published {
    let (p, me) = (&w.platform, &w.admin);
    let new = CreateSpace { title: title.parse().ok(), ..CreateSpace::default() };
    let space = p.as_actor(me).org(&w.org).spaces().create(new).await.expect("a space").id;
    let new = CreateSite {
        title: title.parse().ok(),
        spaces: Some(SiteSpacesInput::Existing(Vec::new())),
        ..CreateSite::default()
    };
    let site = p.as_actor(me).org(&w.org).sites().create(new).await.expect("a site").id;
    let place = add(w, &site, &space).await;
    p.as_actor(me).org(&w.org).site(&site).publish().await.expect("published");
    Published { site, place, space }
}

async fn add(w: &World, site: &SiteId, space: &SpaceId) -> SiteSpaceId {
    let add = AddSiteSpace { space_id: Some(space.to_string()), ..AddSiteSpace::default() };
    w.as_admin().org(&w.org).site(site).spaces().create(add).await.expect("a place").id
}

/// Returns the number of records of the kinds that hold settings, and of feedback.
async fn records(w: &World) -> usize {
    let tx = w.platform.store().begin(Mode::Read, &[]).await.expect("a snapshot");
    let kinds = ["cust", "shl", "sauth", "srd", "adap", "afb"];
    let scans = kinds.map(|kind| {
        let (from, to) = docs_core::store::KeyBuf::new(kind).prefix_range();
        Scan { from, to, rev: false, limit: MAX_SCAN }
    });
    tx.scan(&scans).await.expect("a scan").iter().map(Vec::len).sum()
}

fn kind<T: std::fmt::Debug>(answer: docs_core::Result<T>) -> ErrorKind {
    answer.expect_err("refused").kind()
}

#[tokio::test]
async fn site_deletion_deletes_its_settings_and_feedback() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let (gone, kept) = (published(&w, "Gone").await, published(&w, "Kept").await);
    for one in [&gone, &kept] {
        customization::set_everything(&w, one).await;
        adaptive::set(&w, one).await;
        p.as_actor(me).org(&w.org).site(&one.site).get_publishing_auth().await.expect("a key");
    }
    let left = records(&w).await / 2;
    let key = secrets::create(&w, &gone.site).await.1;
    crate::agent_feedback::fill(&w, &gone.site, 65).await;
    for n in 0..95 {
        redirects::create(&w, &gone, &format!("/old/{n}")).await;
        if n % 2 == 0 {
            secrets::create(&w, &gone.site).await;
        }
        if n < 50 {
            let place = add(&w, &gone.site, &gone.space).await;
            customization::retitle(&w, &gone.site, &place, "Other").await;
        }
    }
    assert!(p.as_actor(me).org(&w.org).site(&gone.site).delete().await.expect("deleted"));
    let platform = &docs_core::Actor::Platform;
    assert!(!p.as_actor(platform).opens_site(&gone.site, &key).await.expect("asked"), "at once");
    assert_eq!(p.as_actor(platform).signing_key(&gone.site).await.expect("asked"), None, "at once");
    p.settle().await.expect("settled");
    assert_eq!(records(&w).await, left, "those of the other site");
    w.check().await;
}

/// The target is a section or a space.
#[tokio::test]
async fn deleting_a_target_deletes_all_redirects_to_it() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    let section = redirects::section(&w, &one).await;
    let inside = p
        .as_actor(me)
        .org(&w.org)
        .site(&one.site)
        .spaces()
        .list(Default::default(), &Default::default())
        .await
        .expect("places");
    let inside = inside.items.iter().find(|place| place.section.as_ref() == Some(&section)).expect("a place");
    redirects::create(&w, &one, "/kept").await;
    for n in 0..75 {
        redirects::lead(&w, &one.site, &format!("/to/space/{n}"), redirects::to_space(&inside.id)).await;
        if n % 3 == 0 {
            redirects::lead(&w, &one.site, &format!("/to/{n}"), redirects::to_section(&section)).await;
        }
    }
    assert!(p.as_actor(me).org(&w.org).site(&one.site).section(&section).delete().await.expect("deleted"));
    let refused = redirects::rename_left(&w, &one.site, "/kept").await;
    assert_eq!(refused, Some(ErrorKind::NotFound), "until the job has run");
    p.settle().await.expect("settled");
    assert_eq!(redirects::sources(&w, &one.site).await, ["/kept"]);
    redirects::create(&w, &one, "/to/0").await;
    w.check().await;
    // A small number of redirects is deleted in one transaction.
    let place = add(&w, &one.site, &one.space).await;
    let page = crate::search::add(&w, &one.space, "Page", "text").await;
    redirects::lead(&w, &one.site, "/page", redirects::to_page(&place, &page)).await;
    redirects::lead(&w, &one.site, "/space", redirects::to_space(&place)).await;
    assert!(p.as_actor(me).org(&w.org).site(&one.site).space(&place).delete().await.expect("deleted"));
    assert_eq!(redirects::sources(&w, &one.site).await, ["/kept", "/to/0"]);
    // A purged space deletes its redirects too.
    for n in 0..75 {
        redirects::create(&w, &one, &format!("/{n}")).await;
    }
    assert!(p.as_actor(me).space(&one.space).delete().await.expect("deleted"));
    assert_eq!(redirects::sources(&w, &one.site).await.len(), 77, "it may be restored");
    p.as_platform().space(&one.space).purge().await.expect("purged");
    assert_eq!(records(&w).await, 0);
    w.check().await;
}

/// Redirects to the section are deleted in the same transaction.
#[tokio::test]
async fn largest_section_is_deleted_in_one_transaction() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    for n in 1..300 {
        let place = add(&w, &one.site, &one.space).await;
        customization::retitle(&w, &one.site, &place, "Other").await;
        if n % 5 == 0 {
            redirects::lead(&w, &one.site, &format!("/{n}"), redirects::to_space(&place)).await;
        }
    }
    assert!(
        p.as_actor(me)
            .org(&w.org)
            .site(&one.site)
            .space(&one.place)
            .delete()
            .await
            .expect("room for another")
    );
    let section = redirects::section(&w, &one).await;
    assert!(p.as_actor(me).org(&w.org).site(&one.site).section(&section).delete().await.expect("deleted"));
    let rest = p
        .as_actor(me)
        .org(&w.org)
        .site(&one.site)
        .sections()
        .list(&Default::default())
        .await
        .expect("sections");
    let all = rest.items.first().expect("the one that took in all").id.clone();
    assert!(p.as_actor(me).org(&w.org).site(&one.site).section(&all).delete().await.expect("deleted"));
    p.settle().await.expect("settled");
    assert_eq!(records(&w).await, 0);
    w.check().await;
}

#[tokio::test]
async fn space_purge_deletes_its_customization_override() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let one = published(&w, "Docs").await;
    customization::retitle(&w, &one.site, &one.place, "Other").await;
    assert_eq!(records(&w).await, 1);
    assert!(p.as_actor(me).space(&one.space).delete().await.expect("deleted"));
    p.as_platform().space(&one.space).purge().await.expect("purged");
    assert_eq!(records(&w).await, 0);
    w.check().await;
}
