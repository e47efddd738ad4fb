//! Background jobs: order, lanes and leases.

use std::{sync::Arc, time::Duration};

use docs_core::{
    ErrorKind, Platform,
    model::{ImportGitRepository, JobId, SpaceId, Timestamp},
    ports::Clock,
    store::{
        Logged, Mode, Receipt, Tx,
        jobs::{
            self, Audience, ClaimJob, Claimed, FinishJob, JobEnd, JobOutcome, LEASE, NewJob, PutOff, Skipped,
        },
        records::{JobLine, JobRecord, JobState},
        run,
    },
};
use docs_memstore::{MemGit, SeededIds};

use crate::support::{World, person};

async fn add(w: &World, id: &str, lane: Option<(&str, u64)>) {
    let now: Timestamp = w.clock.now().into();
    let at = |seconds| Timestamp::new(w.clock.now() + Duration::from_secs(seconds));
    let mut tx = Tx::new(w.platform.store().begin(Mode::Write, &[]).await.expect("begins"));
    let job = NewJob {
        id: id.parse().expect("an id"),
        kind: "test",
        payload: serde_json::Value::Null,
        subject: "test".to_owned(),
        owner: None,
        audience: Audience::Operator,
        lane: lane.map(|(lane, seconds)| (lane.to_owned(), at(seconds))),
        put_off: PutOff::Holds,
        due: now,
    };
    jobs::enqueue(&mut tx, now, job).await.expect("enqueued");
    tx.commit().await.expect("stored");
}

fn skipped(kinds: &[&'static str]) -> Vec<Skipped> {
    vec![Skipped { kinds: kinds.to_vec(), owner: None }]
}

fn receipt(w: &World) -> Receipt {
    use docs_core::ports::Ids as _;
    Receipt {
        at: w.clock.now(),
        id: SeededIds::new(w.clock.now().timestamp_micros().unsigned_abs()).next(),
        logged: Logged::No,
    }
}

/// Claims the next job at a distinct time.
async fn claim(w: &World) -> Option<JobRecord> {
    w.clock.advance(Duration::from_millis(1));
    let claim = ClaimJob { now: w.clock.now().into(), lease: LEASE, but: Vec::new() };
    match run(w.platform.store(), &receipt(w), &claim).await.expect("claimed") {
        Claimed::Job(id) => Some(job(&w.platform, &id).await),
        Claimed::GivenUp | Claimed::Nothing(_) => None,
    }
}

async fn finish(w: &World, job: &JobRecord, end: JobEnd, log: Vec<JobLine>) -> bool {
    w.clock.advance(Duration::from_millis(1));
    let finish = FinishJob { job: job.clone(), now: w.clock.now().into(), end, log };
    run(w.platform.store(), &receipt(w), &finish).await.expect("finished")
}

async fn job(platform: &Platform, id: &JobId) -> JobRecord {
    let tx = Tx::new(platform.store().begin(Mode::Read, &[]).await.expect("begins"));
    let job: Option<Arc<JobRecord>> = tx.get(&JobRecord::at(id)).await.expect("read");
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
async fn a_full_lane_keeps_no_other_job_waiting() {
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
    // An event before the running one comes next, without interrupting it.
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
async fn what_keeps_failing_is_given_up_and_a_long_log_still_fits() {
    let w = World::new().await;
    add(&w, "job", None).await;
    let line = JobLine { at: w.clock.now().into(), text: "ä".repeat(5_000) };
    for attempt in 1..=jobs::MAX_STARTS {
        let run = claim(&w).await.expect("it is due again");
        assert_eq!(run.attempt, attempt);
        let due = jobs::again_at(w.clock.now(), attempt);
        assert!(finish(&w, &run, JobEnd::Again(due, "no answer".to_owned()), vec![line.clone(); 100]).await);
        w.clock.set(due.time());
    }
    let given_up = job(&w.platform, &"job".parse().expect("an id")).await;
    assert_eq!((given_up.state, given_up.error.as_deref()), (JobState::Failed, Some("no answer")));
    assert!(serde_json::to_string(&given_up).expect("JSON").len() < 200_000);
    assert!(claim(&w).await.is_none());
}

#[tokio::test]
async fn a_job_that_takes_every_worker_with_it_is_given_up() {
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
async fn a_worker_does_what_comes_and_ends_when_told() {
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

#[tokio::test]
async fn hosts_that_say_nothing_keep_no_other_job_waiting() {
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
    // The jobs of an organization leave a worker to those of others.
    remote.held(1).await;
    let zoe = person(&w.platform, "Zoe").await;
    let other = crate::collections::organization(&w, &zoe).await;
    let caller = w.platform.as_actor(&zoe);
    let space = caller.org(&other).spaces().create(Default::default()).await.expect("created");
    let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
    caller.space(&space.id).import_git(request).await.expect("enqueued");
    remote.held(2).await;
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
async fn claim_with_excluded_kinds_finds_later_jobs() {
    let w = World::new().await;
    for n in 0..150 {
        add(&w, &format!("left-{n}"), None).await;
    }
    w.clock.advance(Duration::from_millis(1));
    let claim =
        |but: &[&'static str]| ClaimJob { now: w.clock.now().into(), lease: LEASE, but: skipped(but) };
    let claimed = async |claim| run(w.platform.store(), &receipt(&w), &claim).await.expect("claimed");
    assert_eq!(claimed(claim(&["test"])).await, Claimed::Nothing(None));
    let space = w.space().await;
    w.as_admin().space(&space).delete().await.expect("deleted");
    // The job is purged by then.
    w.clock.advance(Duration::from_secs(90 * 24 * 3_600));
    let Claimed::Job(id) = claimed(claim(&["test"])).await else { panic!("there is another one") };
    assert_ne!(job(&w.platform, &id).await.kind, "test");
    assert!(matches!(claimed(claim(&[])).await, Claimed::Job(_)));
}
