//! Findings of sites: the broken targets of the links in their spaces.

use std::{collections::BTreeMap, time::Duration};

use docs_core::{
    Actor, ErrorKind,
    model::{
        Patch, ReusableId, Role, SettableFindingStatus, SiteFinding, SiteFindingOrder, SiteFindingSeverity,
        SiteFindingSource, SiteFindingStats, SiteFindingStatus, SiteFindingType, SiteId, SpaceId, Timestamp,
        UpdateSiteFinding, UpdateSiteSpace, UpdateSpace,
    },
    platform::{ContentOptions, SiteFindingFilter},
    store::{Mode, PageRequest, Tx, records::SiteFindingsRecord},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    permissions::to_users,
    search::{add, change, edit, space},
    support::{Refused, World, block_on, insert},
    visitors::{place, site},
};

/// Creates a site with a space whose pages have these texts.
async fn site_with(w: &World, texts: &[&str]) -> (SiteId, SpaceId) {
    let (site, space) = (site(w, "Docs").await, space(w, "Guide").await);
    place(w, &site, &space).await;
    let pages: Vec<Value> =
        texts.iter().enumerate().map(|(n, text)| insert(&format!("Page {n}"), text)).collect();
    edit(w, &space, json!(pages)).await.expect("inserted");
    (site, space)
}

/// Lists all findings for an actor, in pages of two.
async fn listed(w: &World, actor: &Actor, site: &SiteId, filter: &SiteFindingFilter) -> Vec<SiteFinding> {
    let (mut found, mut page) = (Vec::new(), PageRequest { page: None, limit: Some(2) });
    loop {
        let findings = w.platform.as_actor(actor).org(&w.org).site(site).findings();
        let list = findings.list(filter, &page).await.expect("listed");
        assert!(list.complete && list.items.len() <= 2, "{list:?}");
        found.extend(list.items);
        let Some(next) = list.next else {
            assert_eq!(list.count, Some(found.len() as u64));
            return found;
        };
        page.page = Some(next.page);
    }
}

async fn all(w: &World, site: &SiteId) -> Vec<SiteFinding> {
    listed(w, &w.admin, site, &SiteFindingFilter::default()).await
}

async fn set(
    w: &World,
    actor: &Actor,
    site: &SiteId,
    finding: &SiteFinding,
    status: SettableFindingStatus,
) -> docs_core::Result<SiteFinding> {
    let finding = w.platform.as_actor(actor).org(&w.org).site(site).finding(&finding.id);
    finding.update(UpdateSiteFinding { status }).await
}

/// Returns the titles of the affected pages, in order.
async fn pages(w: &World, site: &SiteId, finding: &SiteFinding) -> Vec<String> {
    let (mut found, mut page) = (Vec::new(), PageRequest { page: None, limit: Some(1) });
    loop {
        let list = w.as_admin().org(&w.org).site(site).finding(&finding.id).list_pages(&page).await;
        let list = list.expect("listed");
        assert_eq!(list.count, Some(finding.pages));
        found.extend(list.items.into_iter().map(|item| item.page.title));
        page.page = list.next;
        if page.page.is_none() {
            found.sort();
            return found;
        }
    }
}

/// Returns the titles of findings with their numbers of pages, in order.
fn told(findings: &[SiteFinding]) -> Vec<(String, u64)> {
    let mut told: Vec<_> = findings.iter().map(|it| (it.title.to_string(), it.pages)).collect();
    told.sort();
    told
}

async fn stored(w: &World, site: &SiteId) -> Option<usize> {
    let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("a snapshot"));
    let record = tx.get::<SiteFindingsRecord>(&SiteFindingsRecord::key_for(site)).await.expect("read");
    record.map(|record| record.statuses.len())
}

#[tokio::test]
async fn each_broken_target_of_a_space_is_one_finding() {
    let w = World::new().await;
    let (site, guide) = site_with(&w, &["[f](/gone.md) [g](#top) [h](https://example.com)"]).await;
    let gone = add(&w, &guide, "Gone", "text").await;
    let text = format!("[a](/gone.md) [b](/gone.md) [c](/pages/{gone}#x) [d](/pages/{gone}) [e](#nowhere)");
    add(&w, &guide, "Page 1", &text).await;
    edit(&w, &guide, json!([{ "operation": "delete_page", "page": gone }])).await.expect("deleted");
    let other = space(&w, "Reference").await;
    place(&w, &site, &other).await;
    place(&w, &site, &guide).await;
    add(&w, &other, "Call", "[i](/gone.md)").await;
    let found = all(&w, &site).await;
    let page = format!("/pages/{gone}");
    let expected = [("/gone.md", 1), ("/gone.md", 2), ("/page-1#nowhere", 1), (page.as_str(), 1)];
    assert_eq!(told(&found), expected.map(|(target, pages)| (format!("Broken link to {target}"), pages)));
    let both = found.iter().find(|finding| finding.pages == 2).expect("a finding");
    assert_eq!(pages(&w, &site, both).await, ["Page 0", "Page 1"]);
    assert_eq!((both.severity, both.kind), (SiteFindingSeverity::Medium, SiteFindingType::BrokenLink));
    let content = w.as_admin().space(&guide).content().get(ContentOptions::default()).await.expect("read");
    assert_eq!((&both.scan, both.created_at), (&content.id, content.created_at));
    let leaves = serde_json::to_value(&both.description).expect("JSON");
    let leaf = |n: usize| leaves["nodes"][0]["nodes"][0]["leaves"][n]["text"].clone();
    assert_eq!(leaf(0), "2 pages link to a target that does not exist or that you cannot access: ");
    assert_eq!(leaf(1), "/gone.md");
    let read = w.as_admin().org(&w.org).site(&site).finding(&both.id).get().await.expect("read");
    assert_eq!(read, *both);
}

#[tokio::test]
async fn findings_keep_their_ids_until_their_links_are_repaired() {
    let w = World::new().await;
    let (site, space) = site_with(&w, &["[a](/gone.md)"]).await;
    let before = all(&w, &site).await.remove(0);
    w.clock.advance(Duration::from_secs(60));
    let page = add(&w, &space, "More", "[b](/gone.md) [c](/later.md)").await;
    let after = all(&w, &site).await;
    let same = after.iter().find(|finding| finding.id == before.id).expect("the same finding");
    assert_eq!((same.pages, after.len()), (2, 2));
    assert!(same.created_at > before.created_at, "the time of the revision");
    change(&w, &space, &page, json!({ "document": { "markdown": "plain" } })).await;
    assert_eq!(told(&all(&w, &site).await), told(std::slice::from_ref(&before)));
    let gone = after.iter().find(|finding| finding.id != before.id).expect("another finding");
    let finding = w.as_admin().org(&w.org).site(&site).finding(&gone.id);
    finding.get().await.refused(ErrorKind::NotFound);
    finding.list_pages(&PageRequest::default()).await.refused(ErrorKind::NotFound);
    finding.list_questions(&PageRequest::default()).await.refused(ErrorKind::NotFound);
    set(&w, &w.admin, &site, gone, SettableFindingStatus::Done).await.refused(ErrorKind::NotFound);
}

/// Returns a change that inserts a reusable content block.
fn block(title: &str, text: &str) -> Value {
    json!({ "operation": "insert_reusable_content", "title": title, "document": { "markdown": text } })
}

/// Returns the ids of the reusable content blocks of a space by title.
async fn blocks(w: &World, space: &SpaceId) -> BTreeMap<String, ReusableId> {
    let content = w.as_admin().space(space).content().get(ContentOptions::default()).await.expect("read");
    content.reusable_contents.into_iter().map(|it| (it.title.to_string(), it.id)).collect()
}

fn include(block: &ReusableId) -> String {
    format!("{{% include \"/reusable-content/{block}\" %}}")
}

#[tokio::test]
async fn links_in_reusable_content_affect_the_pages_that_show_it() {
    let w = World::new().await;
    let (site, space) = site_with(&w, &["plain"]).await;
    edit(&w, &space, json!([block("Inner", "[a](/gone.md)"), block("Outer", "x")])).await.expect("inserted");
    assert_eq!(all(&w, &site).await, [], "no page shows the link");
    let blocks = blocks(&w, &space).await;
    let include = |title: &str| include(&blocks[title]);
    let outer = json!({
        "operation": "update_reusable_content", "reusableContent": blocks["Outer"],
        "document": { "markdown": include("Inner") },
    });
    let changes = json!([outer, insert("Direct", &include("Inner")), insert("Nested", &include("Outer"))]);
    edit(&w, &space, changes).await.expect("changed");
    let found = all(&w, &site).await;
    assert_eq!(told(&found), [("Broken link to /gone.md".to_owned(), 2)]);
    assert_eq!(pages(&w, &site, &found[0]).await, ["Direct", "Nested"]);
}

#[tokio::test]
async fn drafts_and_deleted_spaces_of_a_site_have_no_findings() {
    let w = World::new().await;
    let (site, _) = site_with(&w, &["[a](/gone.md)"]).await;
    let draft = space(&w, "Draft").await;
    let id = place(&w, &site, &draft).await;
    add(&w, &draft, "Page", "[b](/other.md)").await;
    assert_eq!(all(&w, &site).await.len(), 2, "the site is not published");
    let hidden = UpdateSiteSpace { draft: Some(true), ..UpdateSiteSpace::default() };
    w.as_admin().org(&w.org).site(&site).space(&id).update(hidden).await.expect("a draft");
    assert_eq!(told(&all(&w, &site).await), [("Broken link to /gone.md".to_owned(), 1)]);
    let live = UpdateSiteSpace { draft: Some(false), ..UpdateSiteSpace::default() };
    w.as_admin().org(&w.org).site(&site).space(&id).update(live).await.expect("live");
    assert_eq!(all(&w, &site).await.len(), 2);
    w.as_admin().space(&draft).delete().await.expect("deleted");
    assert_eq!(all(&w, &site).await.len(), 1);
}

#[tokio::test]
async fn status_of_a_finding_is_stored_until_its_links_are_repaired() {
    let w = World::new().await;
    let (site, space) = site_with(&w, &["[a](/gone.md)"]).await;
    let page = add(&w, &space, "More", "[b](/later.md)").await;
    let found = all(&w, &site).await;
    assert!(found.iter().all(|finding| finding.status == SiteFindingStatus::Open));
    w.clock.advance(Duration::from_secs(60));
    set(&w, &w.admin, &site, &found[0], SettableFindingStatus::Open).await.expect("unchanged");
    assert_eq!(stored(&w, &site).await, None, "an open finding needs no record");
    for finding in &found {
        let done = set(&w, &w.admin, &site, finding, SettableFindingStatus::Canceled).await.expect("set");
        assert_eq!((done.status, done.updated_at), (SiteFindingStatus::Canceled, w.clock_now()));
        let read = w.as_admin().org(&w.org).site(&site).finding(&finding.id).get().await.expect("read");
        assert_eq!(read, done);
    }
    assert_eq!(stored(&w, &site).await, Some(2));
    change(&w, &space, &page, json!({ "document": { "markdown": "plain" } })).await;
    let left = all(&w, &site).await;
    assert_eq!((left.len(), left[0].status), (1, SiteFindingStatus::Canceled));
    w.clock.advance(Duration::from_secs(60));
    let open = set(&w, &w.admin, &site, &left[0], SettableFindingStatus::Open).await.expect("set");
    assert_eq!((open.status, open.updated_at), (SiteFindingStatus::Open, w.clock_now()));
    assert_eq!(stored(&w, &site).await, Some(1), "the status of the repaired link is dropped");
    w.check().await;
    w.as_admin().org(&w.org).site(&site).delete().await.expect("deleted");
    assert_eq!(stored(&w, &site).await, None);
}

#[tokio::test]
async fn findings_show_managers_nothing_of_spaces_they_cannot_read() {
    let w = World::new().await;
    let (site, secret) = site_with(&w, &["[a](/secret.md)"]).await;
    let open = space(&w, "Open").await;
    place(&w, &site, &open).await;
    let text = format!("[b](/open.md) [c](/spaces/{secret})");
    add(&w, &open, "Page", &text).await;
    let hidden = UpdateSpace { default_level: Patch::Clear, ..UpdateSpace::default() };
    w.as_admin().space(&secret).update(hidden).await.expect("hidden");
    let manager = w.member("Max", Some(Role::Read)).await;
    let invite = to_users(Some(Role::Admin), &[&manager]);
    w.as_admin().org(&w.org).site(&site).permissions().invite(invite).await.expect("a manager");
    let every = all(&w, &site).await;
    let titles = ["Broken link to /open.md", "Broken link to /secret.md"];
    assert_eq!(told(&every), titles.map(|title| (title.to_owned(), 1)));
    let find = |title: &str| every.iter().find(|it| it.title.as_str() == title).expect("a finding");
    set(&w, &w.admin, &site, find(titles[1]), SettableFindingStatus::Done).await.expect("set");
    let seen = listed(&w, &manager, &site, &SiteFindingFilter::default()).await;
    // A target that the manager cannot access counts as missing, as in lists of links.
    let title = format!("Broken link to /spaces/{secret}");
    assert_eq!(told(&seen), [(titles[0].to_owned(), 1), (title, 1)]);
    let mine = w.platform.as_actor(&manager).org(&w.org).site(&site);
    mine.finding(&find(titles[1]).id).get().await.refused(ErrorKind::NotFound);
    mine.finding(&find(titles[1]).id).list_pages(&PageRequest::default()).await.refused(ErrorKind::NotFound);
    set(&w, &manager, &site, find(titles[1]), SettableFindingStatus::Open).await.refused(ErrorKind::NotFound);
    let stats = mine.findings().stats(&SiteFindingFilter::default()).await.expect("counted");
    assert_eq!((stats.total, stats.statuses.done), (2, 0), "no number leaks");
    // The manager's change keeps the status that they cannot see.
    set(&w, &manager, &site, find(titles[0]), SettableFindingStatus::Canceled).await.expect("set");
    assert_eq!(stored(&w, &site).await, Some(2));
    let done = SiteFindingFilter { status: Some(SiteFindingStatus::Done), ..SiteFindingFilter::default() };
    assert_eq!(listed(&w, &w.admin, &site, &done).await.len(), 1);
    let reader = w.member("Rob", Some(Role::Read)).await;
    let reads = w.platform.as_actor(&reader).org(&w.org).site(&site);
    reads.findings().stats(&done).await.refused(ErrorKind::Forbidden);
    reads.finding(&find(titles[0]).id).get().await.refused(ErrorKind::Forbidden);
}

#[tokio::test]
async fn a_bounded_number_of_links_of_a_site_is_examined() {
    let w = World::new().await;
    let links = |page: usize, kind: &str| -> String {
        (0..1_000).map(|n| format!("[x](/{kind}/p{page}x{n})\n\n")).collect()
    };
    let mut texts: Vec<String> = (0..4).map(|page| links(page, "gone")).collect();
    texts.push(links(4, "spaces"));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (site, space) = site_with(&w, &texts).await;
    let page = PageRequest { page: None, limit: Some(1) };
    let filter = SiteFindingFilter::default();
    let findings = w.as_admin().org(&w.org).site(&site).findings();
    let list = findings.list(&filter, &page).await.expect("listed");
    assert_eq!((list.count, list.complete), (Some(5_000), true));
    add(&w, &space, "More", "[y](/gone.md)").await;
    let list = findings.list(&filter, &page).await.expect("listed");
    assert_eq!((list.count, list.complete), (Some(5_000), false));
    let stats = findings.stats(&filter).await.expect("counted");
    assert_eq!((stats.total, stats.complete), (5_000, false));
    assert!(has_finding(&w, &site, "/gone.md").await, "links that are certainly broken come first");
}

#[tokio::test]
async fn a_bounded_number_of_uses_of_reusable_content_is_examined() {
    let w = World::new().await;
    let (site, space) = site_with(&w, &["plain"]).await;
    for half in [0..50, 50..100] {
        let new: Vec<Value> = half.map(|n| block(&format!("B{n}"), &format!("[x](/gone-{n}.md)"))).collect();
        edit(&w, &space, json!(new)).await.expect("inserted");
    }
    let text: Vec<String> = blocks(&w, &space).await.values().map(include).collect();
    let text = text.join("\n\n");
    let users: Vec<Value> = (0..50).map(|n| insert(&format!("User {n}"), &text)).collect();
    edit(&w, &space, json!(users)).await.expect("inserted");
    let stats = async || {
        let findings = w.as_admin().org(&w.org).site(&site).findings();
        findings.stats(&SiteFindingFilter::default()).await.expect("counted")
    };
    let exact = stats().await;
    assert_eq!((exact.total, exact.severities.high, exact.complete), (100, 100, true));
    edit(&w, &space, json!([insert("More", &text)])).await.expect("inserted");
    let beyond = stats().await;
    assert_eq!((beyond.total, beyond.severities.high, beyond.complete), (99, 98, false));
}

/// Returns `true` if the site has a finding about a destination.
async fn has_finding(w: &World, site: &SiteId, destination: &str) -> bool {
    let mut page = PageRequest { page: None, limit: Some(1_000) };
    loop {
        let findings = w.as_admin().org(&w.org).site(site).findings();
        let list = findings.list(&SiteFindingFilter::default(), &page).await.expect("listed");
        if list.items.iter().any(|it| it.title.as_str() == format!("Broken link to {destination}")) {
            return true;
        }
        let Some(next) = list.next else { return false };
        page.page = Some(next.page);
    }
}

/// A finding of the model: its pages, its status, and the minute of the last change of the status.
type Planned = (usize, SettableFindingStatus);

fn any_filter() -> impl Strategy<Value = SiteFindingFilter> {
    use prop::{option::of, sample::select};
    let statuses = [
        SiteFindingStatus::Candidate,
        SiteFindingStatus::Open,
        SiteFindingStatus::Done,
        SiteFindingStatus::Canceled,
    ];
    let severities = [SiteFindingSeverity::Low, SiteFindingSeverity::Medium, SiteFindingSeverity::High];
    let types = [SiteFindingType::BrokenLink, SiteFindingType::ContentGap, SiteFindingType::Other];
    let orders = [SiteFindingOrder::UpdatedAt, SiteFindingOrder::Severity, SiteFindingOrder::Sources];
    let source = SiteFindingSource::new("connection:x").expect("a source");
    (
        of(select(statuses.to_vec())),
        prop::collection::vec(select(types.to_vec()), 0..3),
        of(select(severities.to_vec())),
        of(any::<bool>()),
        (prop::bool::weighted(0.1), prop::bool::weighted(0.1), prop::bool::weighted(0.1)),
        (of(0..8_u64), of(0..8_u64)),
        select(orders.to_vec()),
    )
        .prop_map(move |(status, types, severity, has_change_requests, nothing, times, order)| {
            SiteFindingFilter {
                status,
                types,
                severity,
                has_change_requests,
                topic: nothing.0.then(|| "x".to_owned()),
                question: nothing.1.then(|| "x".to_owned()),
                sources: nothing.2.then(|| source.clone()).into_iter().collect(),
                updated_after: times.0.map(minute),
                updated_before: times.1.map(minute),
                order,
            }
        })
}

/// The time a number of minutes after the start of a test.
fn minute(n: u64) -> Timestamp {
    let start = docs_core::ports::Clock::now(&docs_memstore::ManualClock::default());
    Timestamp::new(start + Duration::from_secs(60 * n))
}

fn expected(filter: &SiteFindingFilter, all: &[SiteFinding]) -> Vec<SiteFinding> {
    let mut kept: Vec<SiteFinding> = all
        .iter()
        .filter(|it| filter.status.is_none_or(|status| status == it.status))
        .filter(|it| filter.types.is_empty() || filter.types.contains(&it.kind))
        .filter(|it| filter.severity.is_none_or(|severity| severity == it.severity))
        .filter(|_| filter.has_change_requests != Some(true))
        .filter(|_| filter.topic.is_none() && filter.question.is_none() && filter.sources.is_empty())
        .filter(|it| filter.updated_after.is_none_or(|after| after <= it.updated_at))
        .filter(|it| filter.updated_before.is_none_or(|before| it.updated_at < before))
        .cloned()
        .collect();
    kept.sort_by(|a, b| {
        let by_time = b.updated_at.cmp(&a.updated_at).then(a.id.cmp(&b.id));
        match filter.order {
            SiteFindingOrder::UpdatedAt | SiteFindingOrder::Sources => by_time,
            SiteFindingOrder::Severity => b.severity.cmp(&a.severity).then(by_time),
        }
    });
    kept
}

fn counted(findings: &[SiteFinding]) -> SiteFindingStats {
    let count = |fits: &dyn Fn(&SiteFinding) -> bool| findings.iter().filter(|it| fits(it)).count() as u64;
    let mut stats = SiteFindingStats { total: findings.len() as u64, ..SiteFindingStats::default() };
    stats.statuses.open = count(&|it| it.status == SiteFindingStatus::Open);
    stats.statuses.done = count(&|it| it.status == SiteFindingStatus::Done);
    stats.statuses.canceled = count(&|it| it.status == SiteFindingStatus::Canceled);
    stats.severities.low = count(&|it| it.pages == 1);
    stats.severities.medium = count(&|it| (2..10).contains(&it.pages));
    stats.severities.high = count(&|it| it.pages >= 10);
    SiteFindingStats { complete: true, ..stats }
}

/// Sets a status each minute, and compares the findings with a model.
async fn follow(planned: Vec<Planned>, filters: Vec<SiteFindingFilter>) {
    let w = World::new().await;
    let pages = planned.iter().map(|(pages, _)| *pages).max().unwrap_or_default();
    let text = |page: usize| -> String {
        let links = planned.iter().enumerate().filter(|(_, (pages, _))| page < *pages);
        links.map(|(n, _)| format!("[x](/gone-{n}.md) ")).collect()
    };
    let texts: Vec<String> = (0..pages).map(text).collect();
    let (site, _) = site_with(&w, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut model: BTreeMap<String, SiteFinding> =
        all(&w, &site).await.into_iter().map(|it| (it.title.to_string(), it)).collect();
    assert_eq!(model.len(), planned.len());
    for (n, (pages, status)) in planned.into_iter().enumerate() {
        w.clock.advance(Duration::from_secs(60));
        let finding = model.get_mut(&format!("Broken link to /gone-{n}.md")).expect("a finding");
        assert_eq!(finding.pages, pages as u64);
        if finding.status != status.into() {
            (finding.status, finding.updated_at) = (status.into(), w.clock_now());
        }
        let set = set(&w, &w.admin, &site, finding, status).await.expect("set");
        assert_eq!(set, *finding);
    }
    let model: Vec<SiteFinding> = model.into_values().collect();
    for filter in &filters {
        let expected = expected(filter, &model);
        assert_eq!(listed(&w, &w.admin, &site, filter).await, expected, "{filter:?}");
        let stats = w.as_admin().org(&w.org).site(&site).findings().stats(filter).await.expect("counted");
        assert_eq!(stats, counted(&expected), "{filter:?}");
    }
    w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn lists_and_counts_of_findings_match_a_model(
        planned in prop::collection::vec(
            (
                prop::sample::select(vec![1_usize, 2, 9, 10]),
                prop::sample::select(vec![
                    SettableFindingStatus::Open,
                    SettableFindingStatus::Done,
                    SettableFindingStatus::Canceled,
                ]),
            ),
            1..6,
        ),
        filters in prop::collection::vec(any_filter(), 1..8),
    ) {
        block_on(follow(planned, filters));
    }
}
