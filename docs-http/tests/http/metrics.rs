//! Metrics for operators, at `/metrics`.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use docs_core::{
    Platform,
    model::{OrgId, SpaceId, UserId},
    platform::{CollectMode, NewUser, OBJECT_GRACE_PERIOD, metrics},
    ports::{Metric, Metrics},
};
use docs_http::{HttpConfig, metrics::Registry};
use docs_memstore::{
    CallKind, Fault, FaultPlan, FaultStore, ManualClock, MemGit, MemObjects, MemSearch, MemStore,
};
use poem::test::TestClient;
use serde_json::json;

use crate::toy::parts;

type Client = TestClient<docs_http::HttpApp>;

fn served(store: Arc<dyn docs_core::store::Store>, clock: ManualClock) -> (Platform, Client) {
    let registry = Arc::new(Registry::default());
    let objects = MemObjects::with_clock(Arc::new(clock.clone()));
    let platform = Platform::builder(store, Arc::new(objects))
        .clock(clock)
        .git(Arc::new(MemGit::new()))
        .metrics(registry.clone())
        .search(Arc::new(MemSearch::new()))
        .build();
    let config = HttpConfig { registry: Some(registry), ..HttpConfig::default() };
    let app = docs_http::routes(&platform, config).expect("routes");
    (platform, TestClient::new(app))
}

async fn shown(client: &Client) -> String {
    parts(client.get("/metrics").send().await.0).await.1
}

/// Returns the value of a series.
#[track_caller]
fn number(text: &str, series: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{series} is missing in\n{text}")).parse().expect("a number")
}

async fn person(platform: &Platform, n: usize) -> docs_core::Result<docs_core::model::User> {
    let new = NewUser {
        display_name: "Ada".parse().expect("a name"),
        email: format!("ada{n}@example.com").parse().expect("an address"),
    };
    platform.as_platform().users().create(new).await
}

/// Creates a user with an organization and a space.
async fn space(platform: &Platform) -> (UserId, OrgId, SpaceId) {
    let ada = person(platform, 1).await.expect("created").id;
    let org = platform.as_platform().orgs().create("Engines".parse().expect("a title"), &ada);
    let org = org.await.expect("created").id;
    let space =
        platform.as_user(&ada).org(&org).spaces().create(Default::default()).await.expect("created").id;
    (ada, org, space)
}

#[tokio::test(start_paused = true)]
async fn metrics_cover_store_jobs_index_and_caches() {
    let clock = ManualClock::default();
    let (platform, client) = served(Arc::new(MemStore::new()), clock.clone());
    let (ada, _, space) = space(&platform).await;
    let me = platform.as_user(&ada);
    person(&platform, 1).await.expect_err("the address is taken");
    let request = me.space(&space).change_requests().create(Default::default()).await.expect("created").id;
    let insert = json!({ "operation": "insert_page", "title": "Page", "document": { "markdown": "text" } });
    let update = serde_json::from_value(json!({ "changes": [insert] })).expect("changes");
    me.space(&space).change_request(request.as_str()).edit(update).await.expect("edited");
    me.space(&space).change_request(request.as_str()).merge().await.expect("merged");
    let text = shown(&client).await;
    let created = r#"docs_transaction_attempts_total{operation="user_create",outcome="done"}"#;
    let failed = r#"docs_write_failures_total{operation="user_create",error="conflict"}"#;
    assert_eq!((number(&text, created), number(&text, failed)), (1.0, 1.0));
    assert_eq!(number(&text, r#"docs_transactions_open{mode="write"}"#), 0.0);
    assert_eq!(number(&text, r#"docs_transactions_open{mode="read"}"#), 0.0);
    assert_eq!(number(&text, "docs_search_index_ready"), 0.0);
    assert!(number(&text, "docs_search_index_lag_changes") >= 1.0, "{text}");
    let hits = r#"docs_content_cache_lookups_total{cache="nodes",result="hit"}"#;
    assert!(number(&text, hits) >= 1.0, "{text}");

    platform.settle().await.expect("settled");
    me.space(&space).delete().await.expect("deleted");
    tokio::time::advance(Duration::from_secs(2)).await;
    clock.advance(Duration::from_secs(60));
    let text = shown(&client).await;
    assert_eq!(number(&text, "docs_search_index_ready"), 1.0);
    assert_eq!(number(&text, "docs_search_index_lag_changes"), 1.0);
    assert_eq!(number(&text, "docs_search_index_lag_seconds"), 60.0);
    assert_eq!((number(&text, "docs_jobs_due"), number(&text, "docs_jobs_later")), (0.0, 1.0));

    // The restore window has ended, and the purge is overdue by a day.
    clock.advance(Duration::from_secs(8 * 86_400 - 60));
    let same = shown(&client).await;
    assert_eq!(number(&same, "docs_jobs_due"), 0.0, "the store is asked once a second");
    tokio::time::advance(Duration::from_secs(2)).await;
    let text = shown(&client).await;
    assert_eq!((number(&text, "docs_jobs_due"), number(&text, "docs_jobs_later")), (1.0, 0.0));
    let waited = number(&text, "docs_jobs_oldest_due_seconds");
    assert!((86_399.0..=86_400.0).contains(&waited), "{waited}");

    platform.settle().await.expect("settled");
    tokio::time::advance(Duration::from_secs(2)).await;
    let text = shown(&client).await;
    assert_eq!(number(&text, r#"docs_job_runs_total{kind="space_purge",outcome="done"}"#), 1.0);
    assert_eq!(number(&text, r#"docs_job_duration_seconds_count{kind="space_purge"}"#), 1.0);
    for gone in [
        "docs_jobs_due",
        "docs_jobs_oldest_due_seconds",
        "docs_search_index_lag_changes",
        "docs_search_index_lag_seconds",
    ] {
        assert_eq!(number(&text, gone), 0.0, "{gone}");
    }
}

#[tokio::test]
async fn transaction_attempts_are_counted_by_operation_and_outcome() {
    let faults = FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none());
    let (platform, client) = served(Arc::new(faults.clone()), ManualClock::default());
    faults.set_plan(FaultPlan::none().with_fault(CallKind::Commit, 1, Fault::Conflict));
    person(&platform, 1).await.expect("at the second attempt");
    let text = shown(&client).await;
    let attempts = |outcome: &str| {
        format!(r#"docs_transaction_attempts_total{{operation="user_create",outcome="{outcome}"}}"#)
    };
    assert_eq!(number(&text, &attempts("conflict")), 1.0);
    assert_eq!(number(&text, &attempts("done")), 1.0);
}

#[tokio::test(start_paused = true)]
async fn open_transactions_are_counted_by_mode() {
    let faults = FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none());
    let (platform, client) = served(Arc::new(faults.clone()), ManualClock::default());
    let (ada, org, _) = space(&platform).await;
    let open = |text: &str| {
        ["read", "write"].map(|mode| number(text, &format!(r#"docs_transactions_open{{mode="{mode}"}}"#)))
    };
    for (step, expected) in [(CallKind::Commit, [0.0, 1.0]), (CallKind::Get, [1.0, 0.0])] {
        faults.set_plan(FaultPlan::none().with_fault(step, faults.calls(step) + 1, Fault::HoldBefore));
        let (platform, ada, org) = (platform.clone(), ada.clone(), org.clone());
        let held = tokio::spawn(async move {
            match step {
                CallKind::Commit => person(&platform, 2).await.map(drop),
                _ => platform.as_user(&ada).org(&org).get().await.map(drop),
            }
        });
        faults.wait_until_held(1).await;
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(open(&shown(&client).await), expected, "{step:?}");
        faults.release(1);
        held.await.expect("no panic").expect("done");
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(open(&shown(&client).await), [0.0, 0.0], "{step:?}");
    }
}

#[tokio::test]
async fn feedback_of_agents_is_counted_by_subject() {
    let (platform, client) = served(Arc::new(MemStore::new()), ManualClock::default());
    let (ada, org, _) = space(&platform).await;
    let me = platform.as_user(&ada).org(&org);
    let site = me.sites().create(Default::default()).await.expect("created").id;
    let submit = async || {
        let feedback = serde_json::from_value(json!({
            "subject": { "kind": "generic" }, "feedback": { "category": "usability", "summary": "Confusing" },
        }));
        me.site(&site).submit_agent_feedback(feedback.expect("feedback")).await
    };
    submit().await.expect_err("the site is not published");
    me.site(&site).publish().await.expect("published");
    for _ in 0..2 {
        submit().await.expect("stored");
    }
    let series = r#"docs_agent_feedback_total{subject="generic"}"#;
    assert!((number(&shown(&client).await, series) - 2.0).abs() < f64::EPSILON);
}

#[tokio::test]
async fn failed_jobs_are_counted_by_kind_and_failure() {
    let (platform, client) = served(Arc::new(MemStore::new()), ManualClock::default());
    let (ada, _, space) = space(&platform).await;
    let request = json!({ "url": "https://git.example/none", "ref": "refs/heads/main" });
    let request = serde_json::from_value(request).expect("a request");
    platform.as_user(&ada).space(&space).import_git(request).await.expect("enqueued");
    platform.settle().await.expect("settled");
    let text = shown(&client).await;
    assert_eq!(number(&text, r#"docs_job_runs_total{kind="git_import",outcome="failed"}"#), 1.0);
    assert_eq!(number(&text, r#"docs_job_failures_total{kind="git_import",error="invalid"}"#), 1.0);
}

#[tokio::test]
async fn gc_counts_removed_and_retained_objects() {
    let faults = FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none());
    let clock = ManualClock::default();
    let (platform, client) = served(Arc::new(faults.clone()), clock.clone());
    let (ada, _, space) = space(&platform).await;
    let me = platform.as_user(&ada);
    let request = me.space(&space).change_requests().create(Default::default()).await.expect("created").id;
    let edit = |text: &str| {
        let insert = json!({ "operation": "insert_page", "title": "Page", "document": { "markdown": text } });
        let update = serde_json::from_value(json!({ "changes": [insert] })).expect("changes");
        me.space(&space).change_request(request.as_str()).edit(update)
    };
    edit("kept").await.expect("edited");
    // The objects of a failed edit are unreferenced.
    faults.set_plan(FaultPlan::none().with_fault(
        CallKind::Commit,
        faults.calls(CallKind::Commit) + 1,
        Fault::Unavailable,
    ));
    edit("lost").await.expect_err("the store is away");
    clock.advance(OBJECT_GRACE_PERIOD.to_std().expect("a span") + Duration::from_secs(3600));
    let done = platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    let text = shown(&client).await;
    assert!(done.objects >= 1, "{done:?}");
    assert_eq!(number(&text, "docs_objects_removed_total"), done.objects as f64);
    assert!(number(&text, "docs_objects_kept_total") >= 1.0, "{text}");
    assert!(number(&text, r#"docs_storage_areas_collected_total{outcome="read"}"#) >= 1.0, "{text}");
}

/// The embedding application's metrics sink, which records metric names.
#[derive(Debug, Default)]
struct Told(Mutex<BTreeSet<&'static str>>);

impl Told {
    fn note(&self, metric: &Metric) {
        self.0.lock().expect("no panic").insert(metric.name);
    }
}

impl Metrics for Told {
    fn add(&self, metric: &'static Metric, _: &[&'static str], _: u64) {
        self.note(metric);
    }

    fn set_total(&self, metric: &'static Metric, _: &[&'static str], _: u64) {
        self.note(metric);
    }

    fn set(&self, metric: &'static Metric, _: &[&'static str], _: f64) {
        self.note(metric);
    }

    fn observe(&self, metric: &'static Metric, _: &[&'static str], _: Duration) {
        self.note(metric);
    }
}

#[tokio::test]
async fn custom_metrics_sink_receives_platform_metrics() {
    let told = Arc::new(Told::default());
    let platform = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new()))
        .metrics(told.clone())
        .build();
    person(&platform, 1).await.expect("created");
    person(&platform, 1).await.expect_err("the address is taken");
    platform.measure().await.expect("measured");
    let told = told.0.lock().expect("no panic").clone();
    for name in [
        "docs_transaction_attempts_total",
        "docs_write_failures_total",
        "docs_transactions_open",
        "docs_content_cache_lookups_total",
        "docs_jobs_due",
    ] {
        assert!(told.contains(name), "{name}: {told:?}");
    }
    assert!(told.iter().all(|name| metrics::METRICS.iter().any(|metric| metric.name == *name)), "{told:?}");
}

/// Returns the metric names, kinds and labels documented in the handbook.
fn listed() -> BTreeSet<[String; 3]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/handbook/reference/metrics.md");
    let text = std::fs::read_to_string(path).expect("the page is there");
    let plain = |cell: &str| cell.trim().replace('`', "");
    let rows = text.lines().filter(|line| line.starts_with("| `docs_"));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(plain);
        std::array::from_fn(|_| cells.next().expect("three columns and more"))
    })
    .collect()
}

#[test]
fn handbook_lists_exactly_the_defined_metrics() {
    let row = |metric: &&Metric| {
        [metric.name.to_owned(), metric.kind.as_str().to_owned(), metric.labels.join(", ")]
    };
    let all: BTreeSet<_> = metrics::METRICS.iter().chain(docs_http::metrics::METRICS).map(row).collect();
    assert_eq!(listed(), all);
}
