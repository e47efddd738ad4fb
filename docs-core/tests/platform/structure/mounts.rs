//! The hosts and paths where sites may be mounted.

use std::sync::Arc;

use docs_core::{
    ErrorKind,
    model::{ResolveUrl, ResolvedUrl, SiteVisibility, UpdateSite},
    platform::{SiteHostRule, SiteHosts, own_paths},
};
use docs_memstore::MemStore;
use serde_json::{Value, json};

use crate::{
    search::space,
    support::{Refused, World},
    visitors::{place, show, site},
};

fn mount(origin: &str) -> UpdateSite {
    serde_json::from_value(json!({ "proxy": origin })).expect("a change")
}

fn rules(rules: &[&str]) -> Vec<SiteHostRule> {
    rules.iter().map(|rule| rule.parse().expect("a rule")).collect()
}

fn ask(url: &str) -> ResolveUrl {
    serde_json::from_value(json!({ "url": url })).expect("a request")
}

#[tokio::test]
async fn site_is_mounted_on_listed_hosts_only() {
    let listed = SiteHosts::from_rules(rules(&["www.example.com", "*.docs.example.com"]));
    let listed = listed.with_excluded_host("files.docs.example.com");
    let w = World::build(Arc::new(MemStore::new()), |builder| builder.site_hosts(listed)).await;
    let docs = site(&w, "Docs").await;
    let set = async |origin: &str| w.as_admin().org(&w.org).site(&docs).update(mount(origin)).await;
    for origin in ["www.example.com/guide", "WWW.example.com/docs/v1", "a.docs.example.com/x"] {
        set(origin).await.expect(origin);
    }
    for origin in ["example.com/guide", "docs.example.com/x", "files.docs.example.com/x", "second.example/v1"]
    {
        let refused = set(origin).await.refused(ErrorKind::Invalid);
        assert!(refused.message().starts_with("proxy: "), "{refused}");
    }
    // A rule for another organization does not apply.
    let bound = SiteHosts::from_rules(rules(&[
        &format!("own.example.org={}", w.org),
        "b.example.org=aaaaaaaaaaaaaaaaaaaa",
    ]));
    let bound = w.beside_with(|builder| builder.site_hosts(bound));
    let set =
        async |origin: &str| bound.as_actor(&w.admin).org(&w.org).site(&docs).update(mount(origin)).await;
    set("own.example.org/x").await.expect("bound to this organization");
    set("b.example.org/x").await.refused(ErrorKind::Invalid);
}

#[tokio::test]
async fn own_paths_are_never_mounted() {
    let w = World::new().await;
    let docs = site(&w, "Docs").await;
    for own in own_paths::ALL.iter().filter(|own| !own.contains('.')) {
        for origin in [format!("second.example/{own}"), format!("second.example/{}/x", own.to_uppercase())] {
            let refused = w.as_admin().org(&w.org).site(&docs).update(mount(&origin)).await;
            let refused = refused.refused(ErrorKind::Invalid);
            assert!(refused.message().starts_with("proxy: must not begin with "), "{refused}");
        }
    }
    w.as_admin().org(&w.org).site(&docs).update(mount("second.example/v12")).await.expect("another path");
}

#[tokio::test]
async fn stored_mount_that_is_not_allowed_is_not_served() {
    let w = World::new().await;
    let (guide, docs) = (space(&w, "Guide").await, site(&w, "Docs").await);
    place(&w, &docs, &guide).await;
    show(&w, &docs, SiteVisibility::Public).await;
    w.as_admin().org(&w.org).site(&docs).update(mount("second.example/api/x")).await.expect("mounted");
    let base = w.platform.urls().base().to_owned();
    let own = format!("{base}/sites/docs/");
    let hosts = SiteHosts::from_rules;
    for (hosts, served) in [
        (SiteHosts::any(), true),
        (hosts(rules(&["second.example"])), true),
        (hosts(rules(&["*"])), true),
        (SiteHosts::any().with_reserved_segment("API"), false),
        (SiteHosts::any().with_excluded_host("second.example"), false),
        (hosts(Vec::new()), false),
        (hosts(rules(&["other.example", "*.second.example"])), false),
    ] {
        let what = format!("{hosts:?}");
        let platform = w.beside_with(|builder| builder.site_hosts(hosts));
        for url in [
            "https://second.example/api/x/",
            "https://SECOND.example//api/%78/",
            "https://second.example/a/../%61pi/./x",
        ] {
            let found = platform.resolve_url(&ask(url)).await;
            assert_eq!(found.is_ok(), served, "{what}: {url}: {found:?}");
        }
        match platform.resolve_url(&ask(&own)).await.expect("found by its base name") {
            ResolvedUrl::Content(content) => {
                assert_eq!(content.canonical_url.starts_with("https://second.example/"), served, "{what}");
            }
            other => panic!("{what}: {other:?}"),
        }
        let shown = platform.as_actor(&w.admin).org(&w.org).site(&docs).get().await.expect("a site");
        let shown: Value = serde_json::to_value(shown).expect("JSON");
        assert_eq!(shown["proxy"]["origin"], "second.example/api/x", "it is stored and shown");
    }
}
