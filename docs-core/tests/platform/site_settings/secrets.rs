//! Share links and signing keys: only active keys grant access, and replaced keys are invalid.

use docs_core::{
    Actor, ErrorKind, Platform,
    model::{CreateShareLink, Patch, Role, ShareLinkId, SiteId, UpdatePublishingAuth, UpdateShareLink, Url},
    store::PageRequest,
};
use proptest::prelude::*;

use super::{kind, published};
use crate::support::{World, block_on};

/// Creates a share link and returns its key.
pub(super) async fn create(w: &World, site: &SiteId) -> (ShareLinkId, String) {
    create_at(&w.platform, w, site).await
}

/// Creates a share link on one of several servers.
async fn create_at(platform: &Platform, w: &World, site: &SiteId) -> (ShareLinkId, String) {
    let new = CreateShareLink { name: "Friends".parse().expect("a name") };
    let link =
        platform.as_actor(&w.admin).org(&w.org).site(site).share_links().create(new).await.expect("a link");
    let url = link.urls.published.expect("an address");
    let key = url.trim_end_matches('/').rsplit('/').next().expect("a key").to_owned();
    (link.id, key)
}

#[derive(Clone, Debug)]
enum Step {
    Create(usize),
    Switch(usize, bool),
    Rename(usize, String),
    Delete(usize),
    Regenerate(usize),
    Settle(usize, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..2_usize).prop_map(Step::Create),
        3 => (0..6_usize, any::<bool>()).prop_map(|(n, on)| Step::Switch(n, on)),
        1 => (0..6_usize, "[a-z]{0,50}").prop_map(|(n, name)| Step::Rename(n, name)),
        2 => (0..6_usize).prop_map(Step::Delete),
        2 => (0..2_usize).prop_map(Step::Regenerate),
        1 => (0..2_usize, any::<bool>()).prop_map(|(n, set)| Step::Settle(n, set)),
    ];
    prop::collection::vec(step, 1..16)
}

struct Link {
    site: usize,
    id: ShareLinkId,
    key: String,
    name: String,
    /// `None` if deleted.
    active: Option<bool>,
}

async fn run(steps: Vec<Step>) {
    let w = World::new().await;
    let org = w.platform.as_actor(&w.admin).org(&w.org);
    let sites = [published(&w, "One").await.site, published(&w, "Two").await.site];
    let mut links: Vec<Link> = Vec::new();
    let mut keys: Vec<Vec<String>> = vec![Vec::new(), Vec::new()];
    for step in steps {
        match step {
            Step::Create(site) => {
                let (id, key) = create(&w, &sites[site]).await;
                links.push(Link { site, id, key, name: "Friends".to_owned(), active: Some(true) });
            }
            Step::Switch(n, _) | Step::Rename(n, _) | Step::Delete(n) if n >= links.len() => {}
            Step::Switch(n, on) => {
                let link = &mut links[n];
                let change = UpdateShareLink { active: Some(on), name: None };
                let answer = org.site(&sites[link.site]).share_link(&link.id).update(change).await;
                match &mut link.active {
                    Some(active) => *active = answer.map(|shown| shown.active).expect("switched"),
                    None => assert_eq!(kind(answer), ErrorKind::NotFound),
                }
            }
            Step::Rename(n, name) => {
                let link = &mut links[n];
                let change = UpdateShareLink { active: None, name: name.parse().ok() };
                let answer = org.site(&sites[link.site]).share_link(&link.id).update(change).await;
                match link.active {
                    Some(_) => link.name = answer.map(|shown| shown.name.to_string()).expect("renamed"),
                    None => assert_eq!(kind(answer), ErrorKind::NotFound),
                }
            }
            Step::Delete(n) => {
                let link = &mut links[n];
                // The link does not exist under another site.
                let other = org.site(&sites[1 - link.site]);
                assert!(!other.share_link(&link.id).delete().await.expect("no error"));
                let there =
                    org.site(&sites[link.site]).share_link(&link.id).delete().await.expect("no error");
                assert_eq!(there, link.active.take().is_some());
            }
            Step::Regenerate(n) => {
                let auth = org.site(&sites[n]).regenerate_publishing_auth().await.expect("another key");
                assert!(!keys.iter().flatten().any(|old| *old == auth.private_key), "never the same");
                keys[n].push(auth.private_key);
            }
            Step::Settle(n, set) => {
                let url = Url::new("https://login.example/").expect("a URL");
                let fallback_url = if set { Patch::Set(url.clone()) } else { Patch::Clear };
                let change = UpdatePublishingAuth { fallback_url, ..UpdatePublishingAuth::default() };
                let auth = org.site(&sites[n]).update_publishing_auth(change).await.expect("settled");
                assert_eq!(auth.fallback_url, set.then_some(url));
                if keys[n].is_empty() {
                    keys[n].push(auth.private_key);
                }
            }
        }
        check(&w, &sites, &links, &keys).await;
    }
    w.check().await;
}

async fn check(w: &World, sites: &[SiteId; 2], links: &[Link], keys: &[Vec<String>]) {
    let (p, platform) = (&w.platform, &Actor::Platform);
    for (n, site) in sites.iter().enumerate() {
        for link in links {
            let opens = p.as_actor(platform).opens_site(site, &link.key).await.expect("asked");
            assert_eq!(opens, link.site == n && link.active == Some(true), "exactly the active keys open");
        }
        for wrong in ["", "x", &"a".repeat(52), &"a".repeat(100_000), sites[n].as_str()] {
            assert!(!p.as_actor(platform).opens_site(site, wrong).await.expect("asked"));
        }
        let listed = w
            .as_admin()
            .org(&w.org)
            .site(site)
            .share_links()
            .list(None, &PageRequest::default())
            .await
            .expect("a list");
        let mut shown: Vec<_> =
            listed.items.iter().map(|l| (l.id.clone(), l.name.to_string(), l.active)).collect();
        shown.sort();
        let there = links.iter().filter(|link| link.site == n);
        let mut there: Vec<_> =
            there.filter_map(|link| Some((link.id.clone(), link.name.clone(), link.active?))).collect();
        there.sort();
        assert_eq!(shown, there);
        assert_eq!(listed.count, Some(there.len() as u64));
        let key = p.as_actor(platform).signing_key(site).await.expect("asked");
        assert_eq!(key.as_ref(), keys[n].last(), "the latest key signs, and no other");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn only_active_keys_open_and_only_the_latest_key_signs(steps in steps()) {
        block_on(run(steps));
    }
}

#[tokio::test]
async fn secrets_are_returned_only_to_site_managers() {
    let w = World::new().await;
    let p = &w.platform;
    let site = published(&w, "Docs").await.site;
    let link = create(&w, &site).await.0;
    let reader = w.member("Rob", Some(Role::Read)).await;
    let creator = w.member("Cleo", Some(Role::Create)).await;
    let guest = w.member("Gus", None).await;
    let of = (&w.org, &site);
    for (actor, refusal) in
        [(&reader, ErrorKind::Forbidden), (&creator, ErrorKind::Forbidden), (&guest, ErrorKind::NotFound)]
    {
        assert_eq!(
            kind(
                p.as_actor(actor)
                    .org(of.0)
                    .site(of.1)
                    .share_links()
                    .list(None, &PageRequest::default())
                    .await
            ),
            refusal
        );
        let change = UpdateShareLink::default();
        assert_eq!(
            kind(p.as_actor(actor).org(of.0).site(of.1).share_link(&link).update(change).await),
            refusal
        );
        assert_eq!(kind(p.as_actor(actor).org(of.0).site(of.1).get_publishing_auth().await), refusal);
        assert_eq!(kind(p.as_actor(actor).org(of.0).site(of.1).regenerate_publishing_auth().await), refusal);
        assert_eq!(kind(p.as_actor(actor).opens_site(of.1, "key").await), ErrorKind::Forbidden);
        assert_eq!(kind(p.as_actor(actor).signing_key(of.1).await), ErrorKind::Forbidden);
    }
    let platform = &Actor::Platform;
    assert_eq!(p.as_actor(platform).signing_key(&site).await.expect("asked"), None, "looking made no key");
}

#[tokio::test]
async fn a_site_has_at_most_100_share_links() {
    let w = World::new().await;
    let site = published(&w, "Docs").await.site;
    let mut first = None;
    for _ in 0..100 {
        first = Some(create(&w, &site).await.0);
    }
    let new = CreateShareLink { name: "".parse().expect("a name") };
    let more = w.as_admin().org(&w.org).site(&site).share_links().create(new.clone()).await;
    assert_eq!(kind(more), ErrorKind::Conflict);
    let of = (&w.org, &site);
    w.as_admin().org(of.0).site(of.1).share_link(&first.expect("a link")).delete().await.expect("deleted");
    w.as_admin().org(&w.org).site(&site).share_links().create(new).await.expect("room again");
}

/// Such secrets are distinguished from deleted ones.
#[tokio::test]
async fn secrets_sealed_by_another_server_are_listed_without_url() {
    let w = World::new().await;
    let (p, me) = (&w.platform, &w.admin);
    let site = published(&w, "Docs").await.site;
    let (link, key) = create(&w, &site).await;
    p.as_actor(me).org(&w.org).site(&site).get_publishing_auth().await.expect("a key");
    let beside = w.beside(std::sync::Arc::new(docs_memstore::MemSearch::new()));
    let of = (&w.org, &site);
    let (other, _) = create_at(&beside, &w, &site).await;
    let list = beside
        .as_actor(me)
        .org(of.0)
        .site(of.1)
        .share_links()
        .list(None, &PageRequest::default())
        .await
        .expect("a list")
        .items;
    let shown: Vec<_> = list.iter().map(|link| (&link.id, link.urls.published.is_some())).collect();
    assert_eq!(
        shown,
        [(&link, false), (&other, true)],
        "what cannot be opened is listed, without its secret"
    );
    let change = UpdateShareLink { active: Some(false), name: "Foes".parse().ok() };
    let changed =
        beside.as_actor(me).org(of.0).site(of.1).share_link(&link).update(change).await.expect("changed");
    assert_eq!((changed.name.as_str(), changed.active, changed.urls.published), ("Foes", false, None));
    let change = UpdateShareLink { active: Some(true), name: None };
    beside.as_actor(me).org(of.0).site(of.1).share_link(&link).update(change).await.expect("changed");
    assert_eq!(
        kind(beside.as_actor(me).org(of.0).site(of.1).get_publishing_auth().await),
        ErrorKind::Conflict
    );
    let fallback_url = Patch::Set(serde_json::from_value("https://x.example/".into()).expect("a URL"));
    let change = UpdatePublishingAuth { fallback_url, ..UpdatePublishingAuth::default() };
    assert_eq!(
        kind(beside.as_actor(me).org(of.0).site(of.1).update_publishing_auth(change).await),
        ErrorKind::Conflict
    );
    let auth = p.as_actor(me).org(of.0).site(of.1).get_publishing_auth().await.expect("the key");
    assert_eq!(auth.fallback_url, None, "a refusal changes nothing");
    // The operations needed for recovery still succeed.
    assert!(beside.as_platform().opens_site(&site, &key).await.expect("asked"));
    assert!(beside.as_actor(me).org(of.0).site(of.1).share_link(&link).delete().await.expect("deleted"));
    beside.as_actor(me).org(of.0).site(of.1).regenerate_publishing_auth().await.expect("another key");
    beside.as_actor(me).org(of.0).site(of.1).get_publishing_auth().await.expect("the new key");
}
