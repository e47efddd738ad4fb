//! Feedback of AI agents about sites: its authors, its readers and its bounds.

use std::{sync::Arc, time::Duration};

use docs_core::{
    Actor, ErrorKind,
    model::{AgentFeedbackInput, Role, SiteAgentFeedback, SiteId, SiteVisibility},
    platform::{AuditFilter, Visitor},
    store::{KeyBuf, MAX_SCAN, Mode, PageRequest, Tx, records::AgentFeedbackRecord},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    support::{Refused, World, block_on, failing, person},
    visitors::{address, enter, place, show, site},
};

/// Maximum number of stored entries of a site.
const KEPT: usize = 1_000;

fn feedback(summary: &str) -> AgentFeedbackInput {
    serde_json::from_value(json!({
        "subject": { "kind": "documentation", "url": "https://docs.example/start" },
        "feedback": { "category": "usability", "summary": summary },
    }))
    .expect("feedback")
}

async fn submit(w: &World, actor: &Actor, site: &SiteId, summary: &str) -> docs_core::Result<()> {
    let site = w.platform.as_actor(actor).org(&w.org).site(site);
    site.submit_agent_feedback(feedback(summary)).await.map(drop)
}

/// Submits feedback, one entry per second.
pub(crate) async fn fill(w: &World, site: &SiteId, entries: usize) {
    for n in 0..entries {
        w.clock.advance(Duration::from_secs(1));
        submit(w, &w.admin, site, &n.to_string()).await.expect("stored");
    }
}

/// Returns the entries of a site from all pages, and the count of the first one.
async fn listed(w: &World, site: &SiteId) -> (Vec<SiteAgentFeedback>, Option<u64>) {
    let (mut items, mut count) = (Vec::new(), None);
    let mut page = PageRequest { page: None, limit: Some(300) };
    loop {
        let found = w.as_admin().org(&w.org).site(site).list_agent_feedback(&page).await.expect("listed");
        items.extend(found.items);
        count = count.or(found.count);
        page.page = found.next;
        if page.page.is_none() {
            return (items, count);
        }
    }
}

async fn summaries(w: &World, site: &SiteId) -> Vec<String> {
    listed(w, site).await.0.iter().map(|entry| entry.feedback.summary.to_string()).collect()
}

/// Returns the stored records of feedback as JSON.
async fn records(w: &World) -> Vec<String> {
    let tx = Tx::new(w.platform.store().begin(Mode::Read, &[]).await.expect("a snapshot"));
    let rows = tx.scan_prefix(&KeyBuf::new("afb"), MAX_SCAN).await.expect("read");
    rows.into_iter().map(|(_, value)| format!("{value:?}")).collect()
}

async fn published(w: &World, title: &str) -> SiteId {
    let site = site(w, title).await;
    show(w, &site, SiteVisibility::Public).await;
    site
}

fn anonymous() -> Actor {
    Actor::Visitor(Visitor::anonymous())
}

#[tokio::test]
async fn newest_1000_entries_of_a_site_are_stored() {
    let w = World::new().await;
    let (docs, other) = (published(&w, "Docs").await, published(&w, "Other").await);
    submit(&w, &w.admin, &other, "other").await.expect("stored");
    fill(&w, &docs, KEPT).await;
    assert_eq!(summaries(&w, &docs).await.last().map(String::as_str), Some("0"), "the bound is not exceeded");
    w.clock.advance(Duration::from_secs(1));
    submit(&w, &anonymous(), &docs, "one more").await.expect("stored");
    let (entries, count) = listed(&w, &docs).await;
    assert_eq!((entries.len(), count), (KEPT, Some(KEPT as u64)));
    let found: Vec<&str> = entries.iter().map(|entry| entry.feedback.summary.as_str()).collect();
    let expected: Vec<String> =
        std::iter::once("one more".to_owned()).chain((1..KEPT).rev().map(|n| n.to_string())).collect();
    assert_eq!(found, expected, "newest first, without the oldest");
    assert_eq!(summaries(&w, &other).await, ["other"]);
    w.check().await;
}

#[tokio::test]
async fn submission_evicts_at_most_ten_entries_above_the_bound() {
    let w = World::new().await;
    let docs = published(&w, "Docs").await;
    fill(&w, &docs, KEPT).await;
    // A store may contain more entries, for example of a version with a larger bound.
    let store = w.platform.store();
    let mut tx = Tx::new(store.begin(Mode::Write, &[]).await.expect("begins"));
    let key = AgentFeedbackRecord::key_for(&listed(&w, &docs).await.0[0].id);
    let newest: Arc<AgentFeedbackRecord> = tx.get(&key).await.expect("read").expect("an entry");
    for n in 0..15 {
        let id = format!("extra{n}").parse().expect("an id");
        tx.create(AgentFeedbackRecord { id, ..AgentFeedbackRecord::clone(&newest) });
    }
    tx.commit().await.expect("committed");
    let mut counts = Vec::new();
    for _ in 0..3 {
        w.clock.advance(Duration::from_secs(1));
        submit(&w, &w.admin, &docs, "more").await.expect("stored");
        counts.push(listed(&w, &docs).await.0.len());
    }
    assert_eq!(counts, [KEPT + 6, KEPT, KEPT]);
    w.check().await;
}

#[tokio::test]
async fn site_accepts_60_submissions_a_minute() {
    let w = World::new().await;
    let (docs, other) = (published(&w, "Docs").await, published(&w, "Other").await);
    let closed = site(&w, "Closed").await;
    for n in 0..60 {
        submit(&w, &w.admin, &closed, "not published").await.refused(ErrorKind::NotFound);
        submit(&w, &anonymous(), &docs, &n.to_string()).await.expect("stored");
    }
    for actor in [&anonymous(), &w.admin] {
        let error = submit(&w, actor, &docs, "too much").await.refused(ErrorKind::RateLimited);
        assert!(error.to_string().contains("try again later"), "{error}");
    }
    submit(&w, &anonymous(), &other, "of another site").await.expect("stored");
    show(&w, &closed, SiteVisibility::Public).await;
    submit(&w, &anonymous(), &closed, "rejected submissions do not count").await.expect("stored");
    w.clock.advance(Duration::from_secs(59));
    submit(&w, &anonymous(), &docs, "too early").await.refused(ErrorKind::RateLimited);
    w.clock.advance(Duration::from_secs(1));
    submit(&w, &anonymous(), &docs, "in the next minute").await.expect("stored");
    assert_eq!(listed(&w, &docs).await.1, Some(61));
}

#[tokio::test]
async fn readers_of_restricted_sites_submit_with_their_credentials() {
    let w = World::new().await;
    let docs = published(&w, "Docs").await;
    place(&w, &docs, &w.space().await).await;
    let stranger = person(&w.platform, "Sam").await;
    let new = serde_json::from_value(json!({ "name": "Friends" })).expect("a link");
    let link = w.as_admin().org(&w.org).site(&docs).share_links().create(new).await.expect("a link");
    show(&w, &docs, SiteVisibility::ShareLink).await;
    let url = link.urls.published.expect("a URL");
    let (content, with_token) = enter(&w, &url, Value::Null).await.expect("open");
    let key = content.share_key.as_deref();
    submit(&w, &anonymous(), &docs, "no key").await.refused(ErrorKind::Unauthenticated);
    submit(&w, &stranger, &docs, "no key").await.refused(ErrorKind::NotFound);
    submit(&w, &with_token, &docs, "token").await.expect("stored");
    for actor in [&anonymous(), &stranger] {
        let site = w.platform.as_actor(actor).org(&w.org).site(&docs).with_share_key(key);
        site.submit_agent_feedback(feedback("key")).await.expect("stored");
    }
    let off = serde_json::from_value(json!({ "active": false })).expect("a change");
    w.as_admin().org(&w.org).site(&docs).share_link(&link.id).update(off).await.expect("revoked");
    submit(&w, &with_token, &docs, "revoked").await.refused(ErrorKind::NotFound);
    show(&w, &docs, SiteVisibility::Public).await;
    let (_, visitor) = enter(&w, &address(&w, &docs).await, Value::Null).await.expect("open");
    let other = published(&w, "Other").await;
    submit(&w, &visitor, &docs, "visitor").await.expect("stored");
    submit(&w, &visitor, &other, "a token of another site").await.refused(ErrorKind::NotFound);
    assert_eq!(listed(&w, &docs).await.1, Some(4));
}

#[tokio::test]
async fn feedback_is_listed_100_entries_per_page() {
    let w = World::new().await;
    let docs = published(&w, "Docs").await;
    fill(&w, &docs, 101).await;
    let list = async |limit, page| {
        let request = PageRequest { page, limit };
        w.as_admin().org(&w.org).site(&docs).list_agent_feedback(&request).await
    };
    for limit in [Some(101), Some(1_000)] {
        let first = list(limit, None).await.expect("listed");
        assert_eq!((first.items.len(), first.count), (100, Some(101)));
        let second = list(limit, first.next).await.expect("listed");
        assert_eq!((second.items.len(), second.next), (1, None));
        assert_eq!(second.items[0].feedback.summary.as_str(), "0");
    }
    assert_eq!(list(Some(99), None).await.expect("listed").items.len(), 99);
    list(Some(1_001), None).await.refused(ErrorKind::Invalid);
}

#[tokio::test]
async fn feedback_is_listed_to_those_who_manage_the_site() {
    let w = World::new().await;
    let docs = published(&w, "Docs").await;
    submit(&w, &anonymous(), &docs, "Hello").await.expect("stored");
    let list = async |actor: &Actor| {
        let site = w.platform.as_actor(actor).org(&w.org).site(&docs);
        site.list_agent_feedback(&PageRequest::default()).await.map(|page| page.items.len())
    };
    assert_eq!(list(&w.admin).await.expect("an administrator"), 1);
    for role in [Role::Read, Role::Edit, Role::Create] {
        list(&w.member(role.as_str(), Some(role)).await).await.refused(ErrorKind::Forbidden);
    }
    for actor in [&anonymous(), &person(&w.platform, "Sam").await, &w.member("Guest", None).await] {
        list(actor).await.refused(ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn caller_of_feedback_is_neither_stored_nor_audited() {
    let w = World::new().await;
    let docs = published(&w, "Docs").await;
    let member = w.member("Mel", Some(Role::Read)).await;
    let all = AuditFilter { organization: Some(w.org.clone()), ..AuditFilter::default() };
    let before = w.as_admin().audit_log(&all, &PageRequest::default()).await.expect("a log");
    submit(&w, &member, &docs, "Hello").await.expect("stored");
    let stored = records(&w).await;
    let user = member.user().expect("a user").as_str();
    assert!(stored.len() == 1 && stored[0].contains("Hello") && !stored[0].contains(user), "{stored:?}");
    let after = w.as_admin().audit_log(&all, &PageRequest::default()).await.expect("a log");
    assert_eq!(before.items, after.items);
}

/// A page of the form for pages becomes the subject, and its text the summary and, if it is longer, the detail.
#[tokio::test]
async fn feedback_about_a_page_is_listed_like_other_feedback() {
    let w = World::new().await;
    let docs = published(&w, "Docs").await;
    let long = "ä".repeat(257);
    for text in ["Short", &long] {
        w.clock.advance(Duration::from_secs(1));
        let new = serde_json::from_value(json!({
            "feedback": text, "goal": "Install it", "url": "https://docs.example/start", "spaceId": "space",
            "pageId": "page", "source": "mcp",
        }));
        let visitor = anonymous();
        let site = w.platform.as_actor(&visitor).org(&w.org).site(&docs);
        site.submit_agent_feedback_for_page(new.expect("feedback")).await.expect("stored");
    }
    let entries = serde_json::to_value(listed(&w, &docs).await.0).expect("JSON");
    let subject = json!({ "kind": "documentation", "url": "https://docs.example/start" });
    let page = json!({ "spaceId": "space", "pageId": "page", "source": "mcp" });
    let short = json!({ "category": "documentation", "goal": "Install it", "summary": "Short" });
    let cut = json!({ "category": "documentation", "goal": "Install it", "summary": "ä".repeat(256), "detail": long });
    for (entry, feedback) in [(&entries[1], short), (&entries[0], cut)] {
        assert_eq!((&entry["subject"], &entry["page"], &entry["feedback"]), (&subject, &page, &feedback));
    }
}

/// A step of a random history. Sites and actors are numbers.
#[derive(Clone, Debug)]
enum Step {
    Submit(usize, usize),
    Publish(usize),
    Unpublish(usize),
    Show(usize, SiteVisibility),
    Delete(usize),
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let visibility = prop::sample::select(vec![
        SiteVisibility::Public,
        SiteVisibility::Unlisted,
        SiteVisibility::ShareLink,
        SiteVisibility::VisitorAuth,
    ]);
    let step = prop_oneof![
        8 => (0_usize..4, 0_usize..2).prop_map(|(actor, site)| Step::Submit(actor, site)),
        2 => (0_usize..2).prop_map(Step::Publish),
        1 => (0_usize..2).prop_map(Step::Unpublish),
        2 => (0_usize..2, visibility).prop_map(|(site, visibility)| Step::Show(site, visibility)),
        1 => (0_usize..2).prop_map(Step::Delete),
        3 => Just(Step::Wait),
    ];
    prop::collection::vec(step, 1..40)
}

/// The expected state of a site.
struct Model {
    exists: bool,
    published: bool,
    visibility: SiteVisibility,
    summaries: Vec<String>,
}

impl Model {
    /// Returns the expected error of a submission by a member, a reader, a user without membership, or an anonymous
    /// visitor.
    fn error(&self, actor: usize) -> Option<ErrorKind> {
        let is_open = matches!(self.visibility, SiteVisibility::Public | SiteVisibility::Unlisted);
        let is_reader = self.exists && self.published && (is_open || actor < 2);
        (!is_reader).then_some(if actor == 3 { ErrorKind::Unauthenticated } else { ErrorKind::NotFound })
    }
}

async fn run(w: World, steps: Vec<Step>) {
    let reader = w.member("Reader", Some(Role::Read)).await;
    let actors = [w.admin.clone(), reader, person(&w.platform, "Sam").await, anonymous()];
    let sites = [site(&w, "One").await, site(&w, "Two").await];
    let new = || Model {
        exists: true,
        published: false,
        visibility: SiteVisibility::Public,
        summaries: Vec::new(),
    };
    let mut models = [new(), new()];
    for site in &sites {
        show(&w, site, SiteVisibility::Public).await;
        w.as_admin().org(&w.org).site(site).unpublish().await.expect("unpublished");
    }
    for (n, step) in steps.into_iter().enumerate() {
        w.clock.advance(Duration::from_secs(1));
        let (Step::Submit(_, at)
        | Step::Publish(at)
        | Step::Unpublish(at)
        | Step::Show(at, _)
        | Step::Delete(at)) = step
        else {
            w.clock.advance(Duration::from_secs(60));
            continue;
        };
        let (model, handle) = (&mut models[at], w.as_admin().org(&w.org).site(&sites[at]));
        match step {
            Step::Submit(actor, _) => {
                let summary = n.to_string();
                let done = submit(&w, &actors[actor], &sites[at], &summary).await;
                assert_eq!(done.err().map(|error| error.kind()), model.error(actor), "{actor}");
                if model.error(actor).is_none() {
                    model.summaries.insert(0, summary);
                }
            }
            _ if !model.exists => {}
            Step::Publish(_) => model.published = handle.publish().await.expect("published").published,
            Step::Unpublish(_) => model.published = handle.unpublish().await.expect("unpublished").published,
            Step::Show(_, visibility) => {
                let change = serde_json::from_value(json!({ "visibility": visibility })).expect("a change");
                model.visibility = handle.update(change).await.expect("changed").visibility;
            }
            Step::Delete(_) => {
                assert!(handle.delete().await.expect("deleted"));
                *model = Model { exists: false, summaries: Vec::new(), ..new() };
            }
            Step::Wait => {}
        }
    }
    w.platform.settle().await.expect("settled");
    for (model, site) in models.iter().zip(&sites).filter(|(model, _)| model.exists) {
        assert_eq!(summaries(&w, site).await, model.summaries);
    }
    assert_eq!(records(&w).await.len(), models.iter().map(|model| model.summaries.len()).sum::<usize>());
    w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn stored_feedback_matches_the_submissions_of_readers(steps in steps()) {
        block_on(async { run(World::new().await, steps).await });
    }
}

proptest! {
    // Each fault causes a delay of several milliseconds.
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn retried_submissions_are_stored_once(steps in steps()) {
        block_on(async { run(World::over(failing()).await, steps).await });
    }
}
