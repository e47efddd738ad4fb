//! Background jobs: order, lanes and leases.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use docs_core::{
    ErrorKind, Platform,
    model::{ImportGitRepository, JobId, SpaceId, Timestamp},
    ports::Clock,
    store::{
        AuditMode, Entity as _, KeyBuf, MAX_SCAN, Mode, Receipt, StoreLayout, Tx, Value,
        jobs::{
            self, Audience, BusyOwner, ClaimJob, ClaimOutcome, DEFAULT_LEASE, FinishJob, JobClass, JobEnd,
            JobOutcome, MAX_UNFINISHED, NewJob, PutOff,
        },
        records::{JobLine, JobRecord, JobState},
        run,
    },
};
use docs_memstore::{MemGit, MemStore, SeededIds};
use futures_util::FutureExt as _;
use serde_json::json;
use tokio::time::timeout;

use crate::support::{CountedReads, Refused as _, World, person};

fn new_job(w: &World, id: &str) -> NewJob {
    NewJob {
        id: id.parse().expect("an id"),
        kind: "test",
        payload: serde_json::Value::Null,
        subject: "test".to_owned(),
        owner: None,
        class: JobClass::Local,
        audience: Audience::Operator,
        lane: None,
        put_off: PutOff::Holds,
        due: w.clock.now().into(),
    }
}

async fn enqueue(w: &World, job: NewJob) {
    let mut tx = Tx::new(w.platform.store().begin(Mode::Write, &[]).await.expect("begins"));
    jobs::enqueue(&mut tx, w.clock.now().into(), job).await.expect("enqueued");
    tx.commit().await.expect("stored");
}

async fn add(w: &World, id: &str, lane: Option<(&str, u64)>) {
    let at = |seconds| Timestamp::new(w.clock.now() + Duration::from_secs(seconds));
    let lane = lane.map(|(lane, seconds)| (lane.to_owned(), at(seconds)));
    enqueue(w, NewJob { lane, ..new_job(w, id) }).await;
}

async fn add_owned(w: &World, id: &str, owner: &str, class: JobClass) {
    enqueue(w, NewJob { owner: Some(owner.to_owned()), class, ..new_job(w, id) }).await;
}

fn receipt(w: &World) -> Receipt {
    use docs_core::ports::Ids as _;
    Receipt {
        at: w.clock.now(),
        id: SeededIds::new(w.clock.now().timestamp_micros().unsigned_abs()).next(),
        logged: AuditMode::Unaudited,
    }
}

/// Claims the next job, at a new time.
async fn claim(w: &World) -> Option<JobRecord> {
    w.clock.advance(Duration::from_millis(1));
    match claim_of(w, &JobClass::ALL, &[]).await {
        ClaimOutcome::Job(id) => Some(job(&w.platform, &id).await),
        ClaimOutcome::GivenUp | ClaimOutcome::Nothing(_) => None,
    }
}

/// Claims the next job of these classes, except those of busy owners.
async fn claim_of(w: &World, classes: &'static [JobClass], busy: &[BusyOwner]) -> ClaimOutcome {
    let claim = ClaimJob { now: w.clock.now().into(), lease: DEFAULT_LEASE, classes, busy: busy.to_vec() };
    run(w.platform.store(), &receipt(w), &claim).await.expect("claimed")
}

async fn finish(w: &World, job: &JobRecord, end: JobEnd, log: Vec<JobLine>) -> bool {
    w.clock.advance(Duration::from_millis(1));
    let finish = FinishJob { job: job.clone(), now: w.clock.now().into(), end, log };
    run(w.platform.store(), &receipt(w), &finish).await.expect("finished")
}

async fn job(platform: &Platform, id: &JobId) -> JobRecord {
    let tx = Tx::new(platform.store().begin(Mode::Read, &[]).await.expect("begins"));
    let job: Option<Arc<JobRecord>> = tx.get(&JobRecord::key_for(id)).await.expect("read");
    let job = JobRecord::clone(&*job.expect("a job"));
    let shown = platform.as_platform().get_job(id).await.expect("a job");
    assert_eq!((shown.state, &shown.error, &shown.log), (job.state.shown(), &job.error, &job.log));
    job
}

async fn next(w: &World) -> Option<String> {
    let job = claim(w).await?;
    assert!(finish(w, &job, JobEnd::Done(JobOutcome::default()), Vec::new()).await);
    Some(job.id.to_string())
}

#[tokio::test]
async fn full_lane_does_not_block_other_jobs() {
    let w = World::new().await;
    for n in 0..200 {
        add(&w, &format!("lane-{n:03}"), Some(("a", n))).await;
    }
    add(&w, "other", None).await;
    let first = claim(&w).await.expect("a job");
    assert_eq!(next(&w).await.as_deref(), Some("other"));
    assert!(claim(&w).await.is_none(), "the lane's next job waits for the first");
    assert!(finish(&w, &first, JobEnd::Done(JobOutcome::default()), Vec::new()).await);
    assert_eq!((first.id.as_str(), next(&w).await.as_deref()), ("lane-000", Some("lane-001")));
    w.check().await;
}

#[tokio::test]
async fn jobs_of_a_lane_run_in_the_order_of_their_events() {
    let w = World::new().await;
    for (id, at) in [("c", 30), ("a", 10), ("b", 20)] {
        add(&w, id, Some(("lane", at))).await;
    }
    let running = claim(&w).await.expect("a job");
    // An event earlier than the running one is next, without interrupting it.
    add(&w, "early", Some(("lane", 5))).await;
    assert!(claim(&w).await.is_none());
    assert!(finish(&w, &running, JobEnd::Failed(ErrorKind::Invalid, "no".to_owned()), Vec::new()).await);
    let mut order = vec![running.id.to_string()];
    while let Some(id) = next(&w).await {
        order.push(id);
    }
    assert_eq!(order, ["a", "early", "b", "c"]);
    w.check().await;
}

/// The former worker cannot finish the job.
#[tokio::test]
async fn job_of_a_dead_worker_is_reclaimed_and_fenced() {
    let w = World::new().await;
    add(&w, "job", None).await;
    let dead = claim(&w).await.expect("a job");
    assert!(claim(&w).await.is_none(), "it is leased");
    w.clock.advance(Duration::from_secs(31));
    let alive = claim(&w).await.expect("the lease is over");
    assert_eq!((dead.attempt, alive.attempt), (1, 2));
    assert!(!finish(&w, &dead, JobEnd::Failed(ErrorKind::Invalid, "late".to_owned()), Vec::new()).await);
    assert!(finish(&w, &alive, JobEnd::Done(JobOutcome::default()), Vec::new()).await);
    assert_eq!(job(&w.platform, &alive.id).await.state, JobState::Done);
}

#[tokio::test]
async fn job_retries_and_log_size_are_bounded() {
    let w = World::new().await;
    add(&w, "job", None).await;
    let line = JobLine { at: w.clock.now().into(), text: "ä".repeat(5_000) };
    for attempt in 1..=jobs::MAX_STARTS {
        let run = claim(&w).await.expect("it is due again");
        assert_eq!(run.attempt, attempt);
        let due = jobs::again_at(w.clock.now(), attempt);
        assert!(finish(&w, &run, JobEnd::Retry(due, "no answer".to_owned()), vec![line.clone(); 100]).await);
        w.clock.set(due.time());
    }
    let given_up = job(&w.platform, &"job".parse().expect("an id")).await;
    assert_eq!((given_up.state, given_up.error.as_deref()), (JobState::Failed, Some("no answer")));
    assert!(serde_json::to_string(&given_up).expect("JSON").len() < 200_000);
    assert!(claim(&w).await.is_none());
}

#[tokio::test]
async fn job_that_crashes_every_worker_fails_after_max_starts() {
    let w = World::new().await;
    add(&w, "job", None).await;
    for attempt in 1..=jobs::MAX_STARTS {
        assert_eq!(claim(&w).await.expect("its lease is over").attempt, attempt);
        w.clock.advance(Duration::from_secs(31));
    }
    assert!(claim(&w).await.is_none());
    let given_up = job(&w.platform, &"job".parse().expect("an id")).await;
    assert_eq!(given_up.state, JobState::Failed);
    assert!(claim(&w).await.is_none());
    w.clock.advance(Duration::from_secs(31 * 24 * 3600));
    w.platform.tidy().await.expect("tidied");
    let gone = w.platform.as_platform().get_job(&given_up.id).await;
    assert!(gone.is_err(), "ended jobs are kept for a time only");
    w.check().await;
}

#[tokio::test]
async fn imports_of_a_space_run_in_the_order_of_their_timestamps() {
    let remote = MemGit::new();
    remote.put("README.md", "# Welcome\n");
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space: SpaceId = w.space().await;
    for hour in [3, 1, 2] {
        let request: ImportGitRepository = serde_json::from_value(serde_json::json!({
            "url": format!("https://git.example/{hour}"), "ref": "refs/heads/main",
            "timestamp": format!("2026-01-01T0{hour}:00:00Z"), "force": true,
        }))
        .expect("a request");
        w.as_admin().space(&space).import_git(request).await.expect("enqueued");
    }
    w.platform.settle().await.expect("settled");
    assert_eq!(remote.urls(), ["https://git.example/1", "https://git.example/2", "https://git.example/3"]);
}

#[tokio::test]
async fn worker_runs_new_jobs_until_shutdown() {
    let remote = MemGit::new();
    remote.put("README.md", "# Welcome\n");
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space = w.as_admin().org(&w.org).spaces().create(Default::default()).await.expect("created");
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = tokio::spawn({
        let platform = w.platform.clone();
        async move { platform.work(async move { drop(stopped.await) }).await }
    });
    let request = serde_json::json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    let request = serde_json::from_value(request).expect("a request");
    w.as_admin().space(&space.id).import_git(request).await.expect("enqueued");
    // The change feed contains the new head of the space.
    let (store, topic) = (w.platform.store(), docs_core::store::topic::HEAD);
    let mut seen = None;
    while w.as_admin().space(&space.id).get().await.expect("read").revision == space.revision {
        while let Some((last, _)) = store.changes(topic, seen.clone(), 100).await.expect("news").last() {
            seen = Some(last.clone());
        }
        if w.as_admin().space(&space.id).get().await.expect("read").revision == space.revision {
            store.changed(topic, seen.clone(), Duration::from_secs(30)).await.expect("news");
        }
    }
    stop.send(()).expect("it listens");
    worker.await.expect("it ended");
}

/// Returns the time that a job has left after its worker is stopped.
fn stop_window() -> Duration {
    let limits = docs_core::platform::LIMITS.iter().flat_map(|group| group.limits);
    let window = limits.filter(|limit| limit.name.ends_with("may end after its server is stopped"));
    match window.map(|limit| limit.most).next() {
        Some(docs_core::platform::Amount::Time(window)) => window,
        other => panic!("{other:?}"),
    }
}

/// Requests an import that never ends, and stops the worker that runs it.
async fn interrupt(w: &World, platform: &Platform, remote: &MemGit) {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut working = platform.work(async move { drop(stopped.await) });
    tokio::select! {
        () = &mut working => panic!("the worker runs until it is stopped"),
        () = remote.wait_until_held(1) => {}
    }
    stop.send(()).expect("the worker listens");
    assert!((&mut working).now_or_never().is_none(), "the job continues");
    w.clock.advance(stop_window() - Duration::from_millis(1));
    assert!((&mut working).now_or_never().is_none(), "the job may end within the window");
    w.clock.advance(Duration::from_millis(1));
    timeout(Duration::from_secs(60), working).await.expect("the worker ends");
}

#[tokio::test]
async fn a_stopped_worker_leaves_its_job_to_another_server() {
    let remote = MemGit::new();
    remote.hold();
    let w = World::with_git(Arc::new(remote.clone())).await;
    let space = w.as_admin().org(&w.org).spaces().create(Default::default()).await.expect("created");
    let request = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
    let id = w.as_admin().space(&space.id).import_git(request).await.expect("enqueued");
    w.platform.tidy().await.expect("tidied");
    interrupt(&w, &w.platform, &remote).await;
    let interrupted = job(&w.platform, &id).await;
    assert_eq!((interrupted.state, interrupted.attempt), (JobState::Queued, 1));
    assert_eq!(interrupted.due, w.clock_now(), "the job is due at once");
    assert_eq!(
        interrupted.log.last().map(|line| &*line.text),
        Some("the server stopped before the job ended")
    );
    let unchanged = w.as_admin().space(&space.id).get().await.expect("read");
    assert_eq!(unchanged.revision, space.revision);
    w.check().await;
    let responsive = MemGit::new();
    responsive.put("README.md", "# Welcome\n");
    let other = w.beside_with(|builder| builder.git(Arc::new(responsive)));
    other.settle().await.expect("settled");
    let done = job(&w.platform, &id).await;
    assert_eq!((done.state, done.attempt), (JobState::Done, 2), "{done:?}");
    assert_ne!(w.as_admin().space(&space.id).get().await.expect("read").revision, space.revision);
    w.check().await;
}

#[tokio::test]
async fn a_job_that_outlasts_every_worker_fails() {
    let remote = MemGit::new();
    remote.hold();
    let w = World::with_git(Arc::new(remote)).await;
    let space = w.space().await;
    let request = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
    let id = w.as_admin().space(&space).import_git(request).await.expect("enqueued");
    for attempt in 1..=jobs::MAX_STARTS {
        assert_eq!(job(&w.platform, &id).await.state, JobState::Queued);
        let remote = MemGit::new();
        remote.hold();
        let server = w.beside_with(|builder| builder.git(Arc::new(remote.clone())));
        interrupt(&w, &server, &remote).await;
        assert_eq!(job(&w.platform, &id).await.attempt, attempt);
    }
    let failed = job(&w.platform, &id).await;
    let why = failed.error.as_deref();
    assert_eq!((failed.state, why), (JobState::Failed, Some("the server stopped before the job ended")));
    w.check().await;
}

#[tokio::test]
async fn unresponsive_hosts_do_not_block_other_jobs() {
    let remote = MemGit::new();
    remote.hold();
    let w = World::with_git(Arc::new(remote.clone())).await;
    let request = serde_json::json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    for _ in 0..6 {
        let request: ImportGitRepository = serde_json::from_value(request.clone()).expect("a request");
        w.as_admin().space(&w.space().await).import_git(request).await.expect("enqueued");
    }
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let platform = w.platform.clone();
        workers.spawn(async move { platform.work(std::future::pending()).await });
    }
    // Jobs of one organization leave a worker to other organizations.
    remote.wait_until_held(1).await;
    let zoe = person(&w.platform, "Zoe").await;
    let other = crate::collections::organization(&w, &zoe).await;
    let caller = w.platform.as_actor(&zoe);
    let space = caller.org(&other).spaces().create(Default::default()).await.expect("created");
    let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
    caller.space(&space.id).import_git(request).await.expect("enqueued");
    remote.wait_until_held(2).await;
    // The new job runs after all others.
    add(&w, "other", None).await;
    let other = "other".parse().expect("an id");
    let (store, topic) = (w.platform.store(), docs_core::store::topic::JOBS);
    let mut seen = None;
    while job(&w.platform, &other).await.ended_at.is_none() {
        while let Some((last, _)) = store.changes(topic, seen.clone(), 100).await.expect("news").last() {
            seen = Some(last.clone());
        }
        if job(&w.platform, &other).await.ended_at.is_none() {
            store.changed(topic, seen.clone(), Duration::from_secs(30)).await.expect("news");
        }
    }
    assert_eq!(remote.urls().len(), 2, "the others wait for their turn");
    workers.shutdown().await;
}

#[tokio::test]
async fn claim_of_one_class_finds_later_jobs() {
    let w = World::new().await;
    for n in 0..150 {
        enqueue(&w, NewJob { class: JobClass::Remote, ..new_job(&w, &format!("left-{n}")) }).await;
    }
    w.clock.advance(Duration::from_millis(1));
    assert_eq!(claim_of(&w, &[JobClass::Local], &[]).await, ClaimOutcome::Nothing(None));
    let space = w.space().await;
    w.as_admin().space(&space).delete().await.expect("deleted");
    // The job has been purged by then.
    w.clock.advance(Duration::from_secs(90 * 24 * 3_600));
    let ClaimOutcome::Job(id) = claim_of(&w, &[JobClass::Local], &[]).await else {
        panic!("there is another one")
    };
    assert_ne!(job(&w.platform, &id).await.kind, "test");
    assert!(matches!(claim_of(&w, &JobClass::ALL, &[]).await, ClaimOutcome::Job(_)));
}

/// The number of values that a claim reads, in addition to those it returns, depends only on the number of busy owners.
/// It does not depend on the length of their queues, or on the number of owners whose jobs it may not claim.
#[tokio::test]
async fn claim_reads_few_values_of_long_queues() {
    let store = CountedReads::new(MemStore::new());
    let reads = store.reads();
    let w = World::over(Arc::new(store)).await;
    w.platform.settle().await.expect("settled");
    for n in 0..2_000 {
        add_owned(&w, &format!("local-{n:04}"), "busy", JobClass::Local).await;
        add_owned(&w, &format!("remote-{n:04}"), "busy", JobClass::Remote).await;
    }
    for n in 0..1_000 {
        add_owned(&w, &format!("owner-{n:04}"), &format!("owner-{n}"), JobClass::Remote).await;
    }
    w.clock.advance(Duration::from_millis(1));
    add_owned(&w, "other", "other", JobClass::Local).await;
    add(&w, "upkeep", None).await;
    let busy = |classes| [BusyOwner { owner: "busy".to_owned(), classes }];
    let claimed = async |classes, busy: &[BusyOwner]| {
        w.clock.advance(Duration::from_millis(1));
        reads.take();
        match claim_of(&w, classes, busy).await {
            ClaimOutcome::Job(id) => (id.to_string(), reads.take()),
            other => panic!("{other:?}"),
        }
    };
    for (classes, busy, expected) in [
        (&[JobClass::Local][..], &busy(&JobClass::ALL)[..], "other"),
        (&[JobClass::Local], &busy(&JobClass::ALL), "upkeep"),
        (&JobClass::ALL, &busy(&JobClass::ALL), "owner-0000"),
        (&JobClass::ALL, &busy(&[JobClass::Remote]), "local-0000"),
        (&[JobClass::Local], &[], "local-0001"),
        (&JobClass::ALL, &[], "local-0002"),
        (&[JobClass::Remote], &[], "owner-0001"),
    ] {
        let (id, read) = claimed(classes, busy).await;
        assert_eq!(id, expected);
        assert!(read <= 16, "{id}: {read} values");
    }
    reads.take();
    add_owned(&w, "last", "busy", JobClass::Local).await;
    let read = reads.take();
    assert!(read <= 8, "a new job: {read} values");
    w.check().await;
}

#[tokio::test]
async fn requests_above_the_jobs_of_an_organization_conflict() {
    let w = World::with_git(Arc::new(MemGit::new())).await;
    let space = w.space().await;
    w.platform.settle().await.expect("settled");
    let owned = |id: &str, kind| {
        let owner = Some(w.org.to_string());
        NewJob { owner, kind, class: JobClass::Remote, subject: id.to_owned(), ..new_job(&w, id) }
    };
    for n in 0..MAX_UNFINISHED {
        enqueue(&w, owned(&format!("job-{n:03}"), "git_import")).await;
    }
    let request = serde_json::json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
    let import: ImportGitRepository = serde_json::from_value(request.clone()).expect("a request");
    let refused = w.as_admin().space(&space).import_git(import.clone()).await.refused(ErrorKind::Conflict);
    assert!(refused.message().contains("at most 500 jobs of this kind"), "{refused}");
    assert!(refused.message().contains("wait until one of them ends"), "{refused}");
    // Jobs caused by a change, maintenance, other kinds, and jobs of other organizations are not restricted.
    enqueue(&w, owned("job-follows", "git_import")).await;
    add(&w, "upkeep", None).await;
    let mut request = request;
    request["commitMessage"] = "Export".into();
    let export = serde_json::from_value(request).expect("a request");
    w.as_admin().space(&space).export_git(export).await.expect("another kind");
    let zoe = person(&w.platform, "Zoe").await;
    let other = crate::collections::organization(&w, &zoe).await;
    let caller = w.platform.as_actor(&zoe);
    let theirs = caller.org(&other).spaces().create(Default::default()).await.expect("created");
    caller.space(&theirs.id).import_git(import.clone()).await.expect("another organization");
    for _ in 0..2 {
        w.as_admin().space(&space).import_git(import.clone()).await.refused(ErrorKind::Conflict);
        while !next(&w).await.expect("a job").starts_with("job-") {}
    }
    w.as_admin().space(&space).import_git(import).await.expect("one has ended");
    w.check().await;
}

/// Removes the fields and rows that layout 5 does not have.
async fn downgrade(w: &World) {
    let mut tx = Tx::new(w.platform.store().begin(Mode::Write, &[]).await.expect("begins"));
    for (key, _) in tx.scan_prefix(&KeyBuf::new(JobRecord::KIND), MAX_SCAN).await.expect("read") {
        let job: Arc<JobRecord> = tx.get(&key).await.expect("read").expect("a job");
        let mut json = serde_json::to_value(&*job).expect("JSON");
        let fields = json.as_object_mut().expect("an object");
        fields.retain(|name, _| !["class", "behind"].contains(&name.as_str()));
        if let Some(owner) = &job.owner {
            tx.delete_value(JobRecord::unfinished_of(owner, &job.kind));
        }
        tx.put_value(key, Value::Json(json.to_string().into()));
    }
    for class in ["job.c", "job.o"] {
        for (row, _) in tx.scan_prefix(&KeyBuf::new(class), MAX_SCAN).await.expect("read") {
            tx.delete_value(row);
        }
    }
    let layout = serde_json::to_vec(&StoreLayout { version: 5, rebuild: None }).expect("JSON");
    tx.put_value(KeyBuf::new("sys").part("layout").key(), Value::Json(layout.into()));
    tx.commit().await.expect("stored");
}

#[tokio::test]
async fn jobs_of_an_earlier_version_run_in_order_after_a_rebuild() {
    let w = World::new().await;
    w.platform.settle().await.expect("settled");
    for n in 0..4 {
        w.clock.advance(Duration::from_millis(1));
        add_owned(&w, &format!("old-{n}"), "owner", JobClass::Local).await;
    }
    let running = claim(&w).await.expect("a job");
    downgrade(&w).await;
    let refused = w.platform.check_layout().await.refused(ErrorKind::Precondition);
    assert!(refused.message().contains("admin rebuild"), "{refused}");
    w.platform.as_platform().rebuild().await.expect("rebuilt");
    w.platform.check_layout().await.expect("it is current");
    w.check().await;
    add_owned(&w, "new", "owner", JobClass::Local).await;
    let due = Timestamp::new(w.clock.now() - TimeDelta::hours(1));
    enqueue(&w, NewJob { due, owner: Some("owner".to_owned()), ..new_job(&w, "early") }).await;
    let running = job(&w.platform, &running.id).await;
    assert!(finish(&w, &running, JobEnd::Done(JobOutcome::default()), Vec::new()).await);
    let mut order = Vec::new();
    while let Some(id) = next(&w).await {
        order.push(id);
    }
    assert_eq!(order, ["early", "old-1", "old-2", "old-3", "new"]);
    w.check().await;
}
