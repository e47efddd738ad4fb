//! Job states: random histories compared with a model of the transition table, and server crashes at every step.

use std::{
    collections::BTreeMap,
    future::{pending, ready},
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use chrono::TimeDelta;
use docs_core::{
    BoxFuture, ErrorKind, Platform,
    model::{
        EditMode, ExportGitRepository, ImportContent, ImportGitRepository, JobProgress, JobStage, JobState,
        Role, SpaceId, Timestamp, UpdateSpace,
    },
    platform::ContentOptions,
    ports::{
        Clock, ConvertError, ConvertedPage, Converter, Document, GitError, Ids, UnpackedArchive, Web,
        WebError, WebResponse,
    },
    store::{
        AuditMode, Entity as _, Key, Mode, Operation, PageRequest, Receipt, Store, Tx,
        jobs::{
            self, Audience, BeginJob, BusyOwner, ClaimJob, ClaimOutcome, DEFAULT_LEASE, FinishJob, JobClass,
            JobEnd, JobOutcome, MAX_LISTED, MAX_STARTS, NewJob, PutOff, RenewJob, TellProgress,
        },
        records::{JobRecord, JobState as Stored},
        run,
    },
};
use docs_memstore::{MemGit, MemStore, SeededIds};
use proptest::prelude::*;
use tokio::sync::Notify;

use crate::support::{BeforeTransactions, Refused, World};

/// A server action on jobs.
#[derive(Clone, Debug)]
enum Step {
    Enqueue {
        in_lane: bool,
        owner: usize,
        class: JobClass,
        later: i64,
    },
    Begin,
    Claim(Reach),
    /// Finishes a run, which may have ended already.
    Finish(usize, End),
    Renew(usize),
    Tell(usize),
    /// Cancels a job, unless it has ended.
    Cancel(usize),
    Wait(i64),
}

/// The jobs that a claim may return.
#[derive(Clone, Debug)]
struct Reach {
    classes: &'static [JobClass],
    busy: Vec<BusyOwner>,
}

impl Reach {
    fn all() -> Self {
        Self { classes: &JobClass::ALL, busy: Vec::new() }
    }

    fn contains(&self, job: &JobRecord) -> bool {
        let is_busy = |busy: &BusyOwner| {
            job.owner.as_deref() == Some(busy.owner.as_str()) && busy.classes.contains(&job.class)
        };
        matches!(job.state, Stored::Queued | Stored::Running)
            && self.classes.contains(&job.class)
            && !self.busy.iter().any(is_busy)
    }
}

/// The owners of the jobs. The first job has none.
const OWNERS: [Option<&str>; 4] = [None, Some("a"), Some("a!b"), Some("b")];

#[derive(Clone, Copy, Debug)]
enum End {
    Done,
    Failed,
    Again,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let end = prop_oneof![Just(End::Done), Just(End::Failed), Just(End::Again)];
    let class = || prop_oneof![Just(JobClass::Local), Just(JobClass::Remote)];
    let classes = || prop_oneof![2 => Just(&JobClass::ALL[..]), 1 => Just(&[JobClass::Local][..]), 1 => Just(&[JobClass::Remote][..])];
    let busy = prop::collection::vec((1..OWNERS.len(), classes()), 0..3);
    let reach = (classes(), busy).prop_map(|(classes, busy)| {
        let busy = busy
            .into_iter()
            .filter_map(|(owner, classes)| Some(BusyOwner { owner: OWNERS[owner]?.to_owned(), classes }));
        Reach { classes, busy: busy.collect() }
    });
    let later = prop_oneof![3 => Just(0), 1 => -5..30_i64];
    let enqueue = (any::<bool>(), 0..OWNERS.len(), class(), later);
    let step = prop_oneof![
        4 => enqueue.prop_map(|(in_lane, owner, class, later)| Step::Enqueue { in_lane, owner, class, later }),
        1 => Just(Step::Begin),
        3 => Just(Step::Claim(Reach::all())),
        3 => reach.prop_map(Step::Claim),
        4 => (0..20_usize, end).prop_map(|(run, end)| Step::Finish(run, end)),
        1 => (0..20_usize).prop_map(Step::Renew),
        1 => (0..20_usize).prop_map(Step::Tell),
        1 => (0..20_usize).prop_map(Step::Cancel),
        3 => prop_oneof![Just(1), Just(5), Just(DEFAULT_LEASE.num_seconds()), Just(3_601)].prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 1..60)
}

/// The jobs of a store, and all runs that were ever started.
struct Desk {
    w: World,
    ids: SeededIds,
    runs: Vec<JobRecord>,
    /// The records of finished jobs.
    ended: BTreeMap<String, JobRecord>,
    made: usize,
}

impl Desk {
    async fn new() -> Self {
        let ids = SeededIds::new(3);
        Self { w: World::new().await, ids, runs: Vec::new(), ended: BTreeMap::new(), made: 0 }
    }

    fn now(&self) -> Timestamp {
        self.w.clock.now().into()
    }

    async fn run<O: Operation>(&self, operation: &O) -> docs_core::Result<O::Output> {
        let receipt = Receipt { at: self.w.clock.now(), id: self.ids.next(), logged: AuditMode::Unaudited };
        run(self.w.platform.store(), &receipt, operation).await
    }

    fn job(&mut self, in_lane: bool) -> NewJob {
        self.made += 1;
        NewJob {
            id: format!("job-{}", self.made).parse().expect("an id"),
            kind: "test",
            payload: serde_json::Value::Null,
            subject: "subject".to_owned(),
            owner: None,
            class: JobClass::Local,
            audience: Audience::Subject { by: None, same: Some("same".to_owned()) },
            lane: in_lane.then(|| ("lane".to_owned(), self.now())),
            put_off: if self.made.is_multiple_of(2) { PutOff::Yields } else { PutOff::Holds },
            due: self.now(),
        }
    }

    async fn all(&self) -> Vec<Arc<JobRecord>> {
        let tx = Tx::new(self.w.platform.store().begin(Mode::Read, &[]).await.expect("begins"));
        let rows = tx.scan_prefix(&JobRecord::by_subject("subject"), 1_000).await.expect("read");
        let found = tx.get_many::<JobRecord>(&JobRecord::named_by_all(&rows)).await.expect("read");
        found.into_iter().map(|job| job.expect("a row leads to a job")).collect()
    }

    async fn keep_run(&mut self, id: &docs_core::model::JobId) {
        let job = self.all().await.into_iter().find(|job| job.id == *id).expect("a job");
        assert_eq!(job.state, Stored::Running);
        assert!(job.started_at.is_some() && job.attempt > 0);
        self.runs.push(JobRecord::clone(&job));
    }

    async fn step(&mut self, step: &Step) {
        match step {
            Step::Enqueue { in_lane, owner, class, later } => {
                let (job, now) = (self.job(*in_lane), self.now());
                let due = Timestamp::new(now.time() + TimeDelta::seconds(*later));
                let job = NewJob { owner: OWNERS[*owner].map(str::to_owned), class: *class, due, ..job };
                let begun = self.w.platform.store().begin(Mode::Write, &[]).await.expect("begins");
                let mut tx = Tx::new(begun);
                jobs::enqueue(&mut tx, now, job).await.expect("enqueued");
                tx.commit().await.expect("stored");
            }
            Step::Begin => {
                let begin = BeginJob { job: self.job(false), now: self.now(), lease: DEFAULT_LEASE };
                self.run(&begin).await.expect("begun");
                self.keep_run(&begin.job.id).await;
            }
            Step::Claim(reach) => self.claim(reach).await,
            Step::Finish(at, end) => self.finish(*at, *end).await,
            Step::Renew(at) => {
                if let Some(job) = self.runs.get(*at).cloned() {
                    let is_latest = self.is_latest(&job).await;
                    let renewed = self
                        .run(&RenewJob { job, now: self.now(), lease: DEFAULT_LEASE })
                        .await
                        .expect("renewed");
                    assert_eq!(renewed, is_latest);
                }
            }
            Step::Tell(at) => {
                if let Some(job) = self.runs.get(*at).cloned() {
                    let is_latest = self.is_latest(&job).await;
                    let progress = Some(JobProgress { done: 1, total: 2 });
                    let stage = JobStage::ContentProcess;
                    let tell = TellProgress { job, now: self.now(), lease: DEFAULT_LEASE, stage, progress };
                    assert_eq!(self.run(&tell).await.expect("told"), is_latest);
                }
            }
            Step::Cancel(at) => self.cancel(*at).await,
            Step::Wait(seconds) => {
                self.w.clock.advance(Duration::from_secs(seconds.unsigned_abs()));
            }
        }
    }

    async fn cancel(&self, at: usize) {
        let jobs = self.all().await;
        let Some(job) = jobs.get(at).filter(|job| !job.has_ended()) else { return };
        let mut tx = Tx::new(self.w.platform.store().begin(Mode::Write, &[]).await.expect("begins"));
        jobs::cancel(&mut tx, job, self.now()).await.expect("cancelled");
        tx.commit().await.expect("stored");
        let now = self.all().await.into_iter().find(|now| now.id == job.id).expect("a job");
        assert_eq!(now.state, Stored::Cancelled);
    }

    /// Claims a job: the first eligible one by due time and id.
    async fn claim(&mut self, reach: &Reach) {
        let all = self.all().await;
        let first = all.iter().filter(|job| reach.contains(job)).min_by_key(|job| (job.due, &job.id));
        let Reach { classes, busy } = reach.clone();
        let claim = ClaimJob { now: self.now(), lease: DEFAULT_LEASE, classes, busy };
        let claimed = self.run(&claim).await.expect("claimed");
        match first {
            Some(job) if job.due > claim.now && reach.busy.is_empty() => {
                assert_eq!(claimed, ClaimOutcome::Nothing(Some(job.due)));
            }
            Some(job) if job.due > claim.now => assert!(matches!(claimed, ClaimOutcome::Nothing(Some(_)))),
            Some(job) if job.attempt == MAX_STARTS => assert_eq!(claimed, ClaimOutcome::GivenUp),
            Some(job) => {
                assert_eq!(claimed, ClaimOutcome::Job(job.id.clone()));
                self.keep_run(&job.id).await;
            }
            None if reach.busy.is_empty() => assert_eq!(claimed, ClaimOutcome::Nothing(None)),
            None => assert!(matches!(claimed, ClaimOutcome::Nothing(_))),
        }
    }

    async fn is_latest(&self, run: &JobRecord) -> bool {
        let now = self.all().await.into_iter().find(|job| job.id == run.id).expect("a job");
        now.state == Stored::Running && now.attempt == run.attempt
    }

    async fn finish(&self, at: usize, end: End) {
        let Some(job) = self.runs.get(at).cloned() else { return };
        let is_latest = self.is_latest(&job).await;
        let why = "cannot read https://me:hunter2@git.example/a".to_owned();
        let end = match end {
            End::Done => JobEnd::Done(JobOutcome::default()),
            End::Failed => JobEnd::Failed(ErrorKind::Invalid, why),
            End::Again => JobEnd::Retry(jobs::again_at(self.w.clock.now(), job.attempt), why),
        };
        let finish = FinishJob { job, now: self.now(), end, log: Vec::new() };
        assert_eq!(self.run(&finish).await.expect("finished"), is_latest, "only the latest run ends a job");
    }

    /// Checks the invariants of every job.
    async fn check(&mut self) {
        let mut in_lane = 0;
        for job in self.all().await {
            assert_eq!(job.has_ended(), job.ended_at.is_some());
            assert_eq!(job.state == Stored::Failed, job.error.is_some() && job.failure.is_some());
            assert!(job.attempt <= MAX_STARTS);
            assert!(!format!("{job:?}").contains("hunter2"));
            in_lane += u32::from(job.lane.is_some() && job.state == Stored::Running);
            let before = self.ended.get(job.id.as_str());
            assert!(before.is_none_or(|before| *before == *job), "what has ended never changes");
            if job.has_ended() {
                self.ended.insert(job.id.to_string(), JobRecord::clone(&job));
            }
        }
        assert!(in_lane <= 1, "jobs of a lane run one after the other");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn job_end_states_are_final_and_every_job_ends(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(async {
            let mut desk = Desk::new().await;
            for step in &steps {
                desk.step(step).await;
                desk.check().await;
            }
            // Every server crashes during its run. Repeatedly claimed jobs must all end.
            for _ in 0..(desk.made + 1) * (MAX_STARTS as usize + 1) {
                desk.w.clock.advance(Duration::from_secs(3_601));
                desk.step(&Step::Claim(Reach::all())).await;
            }
            desk.check().await;
            assert!(desk.all().await.iter().all(|job| job.has_ended()));
            desk.w.check().await;
            desk.w.clock.advance(Duration::from_secs(31 * 24 * 3_600));
            desk.w.platform.tidy().await.expect("tidied");
            assert!(desk.all().await.is_empty(), "they are kept for a time only");
            desk.w.check().await;
        });
    }
}

/// The limit applies per job kind of a subject. Unfinished jobs are not evicted; another job is then a conflict.
#[tokio::test]
async fn oldest_finished_jobs_beyond_the_limit_are_evicted() {
    let mut desk = Desk::new().await;
    for _ in 0..MAX_LISTED {
        desk.step(&Step::Begin).await;
    }
    let more = BeginJob { job: desk.job(false), now: desk.now(), lease: DEFAULT_LEASE };
    let error = desk.run(&more).await.refused(ErrorKind::Conflict);
    assert!(error.message().contains("can be unfinished"), "{error}");
    // The second job finishes before the first.
    desk.finish(1, End::Failed).await;
    desk.w.clock.advance(Duration::from_millis(1));
    desk.finish(0, End::Done).await;
    desk.step(&Step::Begin).await;
    let kept: Vec<String> = desk.all().await.iter().map(|job| job.id.to_string()).collect();
    assert_eq!(kept.len(), MAX_LISTED as usize);
    assert!(kept.contains(&"job-1".to_owned()) && !kept.contains(&"job-2".to_owned()));
    // Other kinds have a separate limit.
    let other = NewJob { kind: "other", ..desk.job(false) };
    desk.run(&BeginJob { job: other, now: desk.now(), lease: DEFAULT_LEASE }).await.expect("begun");
    desk.w.check().await;
}

/// A server that crashes when it begins a transaction beyond its limit.
pub(crate) struct Mortal {
    left: AtomicI64,
    died: Notify,
}

impl Mortal {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { left: AtomicI64::new(i64::MAX), died: Notify::new() })
    }

    /// Returns a store for this server.
    pub(crate) fn store(self: &Arc<Self>) -> Arc<dyn Store> {
        let mortal = Arc::clone(self);
        let before = move |_: &[Key]| -> BoxFuture<'static, ()> {
            if mortal.left.fetch_sub(1, Ordering::SeqCst) > 0 {
                return Box::pin(ready(()));
            }
            mortal.died.notify_one();
            Box::pin(pending())
        };
        Arc::new(BeforeTransactions { store: MemStore::new(), before })
    }

    /// Runs a future until it completes, or until its server crashes before the transaction after `steps`. Returns
    /// `true` if the future completed.
    pub(crate) async fn until_death<T>(&self, steps: i64, doing: impl Future<Output = T>) -> bool {
        self.left.store(steps, Ordering::SeqCst);
        let done = tokio::select! {
            _ = doing => true,
            () = self.died.notified() => false,
        };
        self.left.store(i64::MAX, Ordering::SeqCst);
        done
    }
}

/// Returns the state and the error of the only job of a space.
async fn only_job(w: &World, space: &SpaceId) -> (JobState, String) {
    let jobs = w.as_admin().space(space).list_jobs(&PageRequest::default()).await.expect("listed").items;
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    (jobs[0].state, jobs[0].error.clone().unwrap_or_default())
}

async fn page_count(w: &World, space: &SpaceId) -> usize {
    let pages = w.as_admin().space(space).content().list_pages(ContentOptions::default()).await;
    pages.expect("read").pages.len()
}

#[tokio::test]
async fn import_survives_a_crash_at_any_step() {
    for failure in [None, Some(GitError::NoRef("refs/heads/nope".to_owned()))] {
        let mut deaths = 0;
        for steps in 1.. {
            let (mortal, remote) = (Mortal::new(), MemGit::new());
            remote.put("README.md", "# Welcome\n");
            remote.edit(|repository| repository.failure = failure.clone());
            let git = Arc::new(remote.clone());
            let w = World::build(mortal.store(), |builder| builder.git(git)).await;
            let space = w.space().await;
            let request = serde_json::json!({ "url": "https://git.example/docs", "ref": "refs/heads/nope" });
            let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
            w.as_admin().space(&space).import_git(request).await.expect("enqueued");
            if mortal.until_death(steps, w.platform.settle()).await {
                break;
            }
            deaths += 1;
            w.clock.advance(Duration::from_secs(DEFAULT_LEASE.num_seconds().unsigned_abs() + 1));
            w.platform.settle().await.expect("settled");
            let (state, error) = only_job(&w, &space).await;
            let pages = page_count(&w, &space).await;
            match &failure {
                None => assert_eq!((state, error.as_str(), pages), (JobState::Done, "", 1), "{steps}"),
                Some(why) => assert_eq!((state, error, pages), (JobState::Failed, why.to_string(), 0)),
            }
            w.check().await;
        }
        assert!(deaths >= 4, "{deaths}");
    }
}

/// The embedding application configures the lease.
#[tokio::test]
async fn job_of_a_crashed_server_resumes_after_the_lease() {
    for (chosen, held) in [(5, 5), (0, 1), (400, 400)] {
        let (mortal, remote) = (Mortal::new(), MemGit::new());
        remote.put("README.md", "# Welcome\n");
        let lease = Duration::from_secs(chosen);
        let w = World::build(mortal.store(), |builder| builder.git(Arc::new(remote)).job_lease(lease)).await;
        let space = w.space().await;
        let request = serde_json::json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
        let request: ImportGitRepository = serde_json::from_value(request).expect("a request");
        w.as_admin().space(&space).import_git(request).await.expect("enqueued");
        for steps in 1.. {
            assert!(
                !mortal.until_death(steps, w.platform.settle()).await,
                "it dies with the job in its hands"
            );
            if only_job(&w, &space).await.0 == JobState::Running {
                break;
            }
        }
        w.clock.advance(Duration::from_millis(held * 1_000 - 1));
        w.platform.settle().await.expect("settled");
        assert_eq!(only_job(&w, &space).await.0, JobState::Running, "{chosen}");
        w.clock.advance(Duration::from_millis(1));
        w.platform.settle().await.expect("settled");
        assert_eq!(only_job(&w, &space).await.0, JobState::Done, "{chosen}");
    }
}

#[tokio::test]
async fn export_survives_a_crash_at_any_step_with_one_commit() {
    let mut deaths = 0;
    for steps in 1.. {
        let (mortal, remote) = (Mortal::new(), MemGit::new());
        remote.put("README.md", "# Welcome\n");
        let git = Arc::new(remote.clone());
        let w = World::build(mortal.store(), |builder| builder.git(git)).await;
        let space = w.space().await;
        let request = serde_json::json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
        let import: ImportGitRepository = serde_json::from_value(request.clone()).expect("a request");
        w.as_admin().space(&space).import_git(import).await.expect("enqueued");
        w.platform.settle().await.expect("settled");
        let open = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
        w.as_admin().space(&space).update(open).await.expect("open for edits");
        let number = w.request(&space).await;
        let change = || w.as_admin().space(&space).change_request(&number);
        let edits = serde_json::json!({ "changes": [{ "operation": "insert_page", "title": "New", "document": { "markdown": "x" } }] });
        change().edit(serde_json::from_value(edits).expect("changes")).await.expect("edited");
        change().merge().await.expect("merged");
        let mut request = request;
        request["commitMessage"] = "Add a page".into();
        let export: ExportGitRepository = serde_json::from_value(request).expect("a request");
        w.clock.advance(Duration::from_secs(1));
        w.as_admin().space(&space).export_git(export).await.expect("enqueued");
        let is_over = mortal.until_death(steps, w.platform.settle()).await;
        w.clock.advance(Duration::from_secs(DEFAULT_LEASE.num_seconds().unsigned_abs() + 1));
        w.platform.settle().await.expect("settled");
        let jobs = w.as_admin().space(&space).list_jobs(&PageRequest::default()).await.expect("listed").items;
        assert!(jobs.iter().all(|job| job.state == JobState::Done), "{steps}: {jobs:?}");
        let commits = remote.commits();
        assert_eq!(commits.len(), 1, "{steps}: {commits:#?}");
        let of = docs_core::platform::ContentVersion::space(space.clone());
        let head = w.as_admin().content(&of).get(ContentOptions::default()).await.expect("read");
        let git = head.git.expect("it is in the repository");
        assert_eq!((&git.oid, git.created_by_git_book), (&commits[0].branch.commit.oid, true), "{steps}");
        w.check().await;
        if is_over {
            break;
        }
        deaths += 1;
    }
    assert!(deaths >= 6, "{deaths}");
}

/// A mock web with one page.
struct OnePage;

#[async_trait]
impl Web for OnePage {
    async fn get(&self, url: &str) -> Result<WebResponse, WebError> {
        if url.ends_with("/gone") {
            return Err(WebError::Status(404));
        }
        let (bytes, content_type) = (b"Start".as_slice().into(), Some("text/html".to_owned()));
        Ok(WebResponse { bytes, content_type, charset: None, url: url.to_owned() })
    }
}

/// A converter that returns a one-line page for every document.
struct OneLine;

#[async_trait]
impl Converter for OneLine {
    async fn convert(&self, _: Document) -> Result<ConvertedPage, ConvertError> {
        Ok(ConvertedPage { title: "Start".to_owned(), markdown: "Hello.\n".to_owned(), ..Default::default() })
    }

    async fn unpack(&self, _: bytes::Bytes) -> Result<UnpackedArchive, ConvertError> {
        Err(ConvertError::Unreadable("must be a zip archive".to_owned()))
    }
}

async fn with_web(store: Arc<dyn Store>) -> (World, SpaceId) {
    let w = World::build(store, |builder| builder.web(Arc::new(OnePage)).converter(Arc::new(OneLine))).await;
    let space = w.space().await;
    let open = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
    w.as_admin().space(&space).update(open).await.expect("open for edits");
    (w, space)
}

fn page_at(url: &str) -> ImportContent {
    serde_json::from_value(serde_json::json!({ "url": url, "source": "html" })).expect("a request")
}

#[tokio::test]
async fn document_import_is_atomic_when_its_server_crashes() {
    let (mut deaths, mut ends) = (0, Vec::new());
    for steps in 1.. {
        let mortal = Mortal::new();
        let (w, space) = with_web(mortal.store()).await;
        let (caller, request) = (w.as_admin(), page_at("https://web.example/a"));
        let import = async { caller.space(&space).content().import(request).await };
        if mortal.until_death(steps, import).await {
            break;
        }
        deaths += 1;
        w.clock.advance(Duration::from_secs(DEFAULT_LEASE.num_seconds().unsigned_abs() + 1));
        w.platform.settle().await.expect("settled");
        let jobs = w.as_admin().space(&space).list_jobs(&PageRequest::default()).await.expect("listed").items;
        let state = jobs.first().map(|job| job.state);
        let pages = page_count(&w, &space).await;
        assert_eq!(pages, usize::from(state == Some(JobState::Done)), "{steps}: {jobs:?}");
        assert!(jobs.iter().all(|job| matches!(job.state, JobState::Done | JobState::Failed)), "{jobs:?}");
        ends.push(state);
        w.check().await;
    }
    assert!(deaths >= 6 && ends.contains(&Some(JobState::Failed)), "{ends:?}");
}

#[tokio::test]
async fn document_import_is_a_job_with_a_revision_or_an_error() {
    let (w, space) = with_web(Arc::new(MemStore::new())).await;
    let import = async |url: &str| w.as_admin().space(&space).content().import(page_at(url)).await;
    let done = import("https://web.example/a").await.expect("imported");
    w.clock.advance(Duration::from_millis(1));
    let refused = import("https://me:hunter2@web.example/gone").await.refused(ErrorKind::Invalid);
    let jobs = w.as_admin().space(&space).list_jobs(&PageRequest::default()).await.expect("listed").items;
    let [failed, ended] = &jobs[..] else { panic!("{jobs:?}") };
    assert_eq!((failed.state, failed.error.as_deref()), (JobState::Failed, Some(refused.message())));
    assert_eq!(ended.state, JobState::Done);
    assert_eq!(ended.result.as_ref().and_then(|result| result.revision.as_ref()), Some(&done.revision));
    assert_eq!(ended.created_by.as_ref().map(|user| &user.id), w.admin.user());
    assert!(jobs.iter().all(|job| job.kind == "content_import" && job.log.is_empty()));
    let read = w.as_admin().space(&space).get_job(&ended.id).await.expect("a job");
    assert!(read.log.iter().any(|line| line.text == "read 1 of 1 pages and files"), "{:?}", read.log);
    assert!(!format!("{jobs:?}").contains("hunter2"));
    w.check().await;
}

#[tokio::test]
async fn jobs_are_visible_to_editors_of_their_space_only() {
    let (w, space) = with_web(Arc::new(MemStore::new())).await;
    w.as_admin().space(&space).content().import(page_at("https://web.example/a")).await.expect("imported");
    let list = async |platform: &Platform, who: &docs_core::Actor, space: &SpaceId| {
        platform.as_actor(who).space(space).list_jobs(&PageRequest::default()).await
    };
    let job = list(&w.platform, &w.admin, &space).await.expect("listed").items.remove(0);
    for (name, role, seen) in [
        ("Eve", Some(Role::Edit), Ok(())),
        ("Rob", Some(Role::Comment), Err(ErrorKind::Forbidden)),
        ("Gus", None, Err(ErrorKind::NotFound)),
    ] {
        let who = w.member(name, role).await;
        let listed = list(&w.platform, &who, &space).await.map(drop).map_err(|error| error.kind());
        let read = w.platform.as_actor(&who).space(&space).get_job(&job.id).await;
        assert_eq!((listed, read.map(drop).map_err(|error| error.kind())), (seen, seen), "{name}");
    }
    let other = w.space().await;
    assert!(list(&w.platform, &w.admin, &other).await.expect("listed").items.is_empty());
    w.as_admin().space(&other).get_job(&job.id).await.refused(ErrorKind::NotFound);
    // Maintenance jobs, such as the one that purges a deleted space, are not listed.
    w.as_admin().space(&other).delete().await.expect("deleted");
    w.as_admin().space(&other).restore().await.expect("restored");
    assert!(list(&w.platform, &w.admin, &other).await.expect("listed").items.is_empty());
}
