//! Property tests that interleave the collector with writers, other collectors, and the passage of time.

use std::{
    collections::{BTreeMap, HashSet},
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use docs_memstore::{ManualClock, MemObjects, MemStore, SeededIds};
use proptest::prelude::*;
use serde_json::json;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::*;
use crate::{
    Actor,
    model::{CreateChangeRequest, CreateSpace, OrgId, UpdateContent},
    platform::{jobs::Payload as _, kernel::write_window::WRITE_WINDOW, people::users::NewUser},
    store::{
        Batch, FeedPos, Mode, Objects, OrphanPage, Scan, Store, Tx, Txn, Value,
        jobs::{self, NewJob},
    },
};

/// Yields at each call, so that other tasks can run in any order between two calls of one task.
struct Stepping(Arc<MemObjects>);

async fn step() {
    let mut is_first = true;
    poll_fn(|context| {
        if std::mem::take(&mut is_first) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

/// A store that runs one write transaction at a time, during which no time passes.
///
/// Rule 2 is checked right before the commit and assumes that the commit itself does not take hours. Serial writes also
/// avoid conflicts, whose retries would wait in real time.
struct SteppingStore {
    store: MemStore,
    writing: Arc<AsyncMutex<()>>,
}

#[async_trait]
impl Store for SteppingStore {
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        step().await;
        let alone = match mode {
            Mode::Read => None,
            Mode::Write => Some(Arc::clone(&self.writing).lock_owned().await),
        };
        Ok(Box::new(SteppingTxn { txn: self.store.begin(mode, hot).await?, _alone: alone }))
    }
    async fn changes(
        &self,
        topic: u16,
        after: Option<FeedPos>,
        max: u32,
    ) -> StoreResult<Vec<(FeedPos, Key)>> {
        self.store.changes(topic, after, max).await
    }
    async fn changed(&self, topic: u16, after: Option<FeedPos>, wait: Duration) -> StoreResult<bool> {
        self.store.changed(topic, after, wait).await
    }
    async fn trim(&self, topic: u16, upto: &FeedPos) -> StoreResult<()> {
        self.store.trim(topic, upto).await
    }
}

struct SteppingTxn {
    txn: Box<dyn Txn>,
    _alone: Option<OwnedMutexGuard<()>>,
}

#[async_trait]
impl Txn for SteppingTxn {
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Value>>> {
        self.txn.get(keys).await
    }
    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Value)>>> {
        self.txn.scan(scans).await
    }
    async fn commit(self: Box<Self>, batch: Batch) -> StoreResult<()> {
        step().await;
        self.txn.commit(batch).await
    }
}

#[async_trait]
impl Objects for Stepping {
    async fn put(&self, domain: &str, objects: &[(Hash, Bytes)]) -> StoreResult<()> {
        step().await;
        self.0.put(domain, objects).await
    }
    async fn get(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Bytes>>> {
        step().await;
        self.0.get(domain, hashes).await
    }
    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        untouched_for: Duration,
        max: u32,
    ) -> StoreResult<Vec<Hash>> {
        step().await;
        self.0.list(domain, after, untouched_for, max).await
    }
    async fn delete(&self, domain: &str, hashes: &[Hash], untouched_for: Duration) -> StoreResult<()> {
        // Rule 3 is checked right before the removal and assumes that the removal does not take hours.
        self.0.delete(domain, hashes, untouched_for).await?;
        step().await;
        Ok(())
    }
    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>> {
        self.0.domains(after, max).await
    }
    async fn leftovers(&self, owner: &str, after: Option<&str>, by: Duration) -> StoreResult<OrphanPage> {
        self.0.leftovers(owner, after, by).await
    }
    async fn delete_leftovers(&self, names: &[String]) -> StoreResult<()> {
        self.0.delete_leftovers(names).await
    }
}

struct World {
    store: Arc<SteppingStore>,
    writing: Arc<AsyncMutex<()>>,
    objects: Arc<Stepping>,
    clock: ManualClock,
    platform: Platform,
    ada: Actor,
    org: OrgId,
    spaces: Mutex<Vec<SpaceId>>,
}

impl World {
    async fn new(seed: u64) -> Self {
        let clock = ManualClock::default();
        let writing = Arc::new(AsyncMutex::new(()));
        let store = Arc::new(SteppingStore { store: MemStore::new(), writing: Arc::clone(&writing) });
        let objects = Arc::new(Stepping(Arc::new(MemObjects::with_clock(Arc::new(clock.clone())))));
        let platform = Platform::builder(store.clone(), objects.clone());
        let platform = platform.clock(clock.clone()).ids(SeededIds::new(seed)).build();
        let ada = NewUser {
            display_name: "Ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
        };
        let ada = platform.as_platform().users().create(ada).await.expect("created").id;
        let org = platform.as_platform().orgs().create("Engines".parse().expect("a title"), &ada).await;
        let (ada, org) = (Actor::User(ada), org.expect("created").id);
        Self { store, writing, objects, clock, platform, ada, org, spaces: Mutex::default() }
    }

    /// Creates a second server on the same store.
    fn beside(&self, seed: u64) -> Platform {
        let platform = Platform::builder(self.store.clone(), self.objects.clone());
        platform.clock(self.clock.clone()).ids(SeededIds::new(seed)).build()
    }

    fn space(&self, n: usize) -> Option<SpaceId> {
        let spaces = self.spaces.lock().expect("nobody panicked");
        spaces.get(n.checked_rem(spaces.len())?).cloned()
    }

    fn made(&self, space: SpaceId) {
        self.spaces.lock().expect("nobody panicked").push(space);
    }

    /// Returns `true` if a space was not purged, or if the action has no space.
    async fn exists(&self, space: Option<SpaceId>) -> bool {
        let Some(space) = space else { return true };
        let tx = self.platform.read().await.expect("begins");
        tx.get::<SpaceRecord>(&SpaceRecord::key_for(&space)).await.expect("read").is_some()
    }

    /// Returns the objects referenced by records, and checks that each exists.
    async fn named(&self) -> BTreeMap<String, HashSet<Hash>> {
        let content = Content::new(Arc::clone(&self.objects.0) as Arc<dyn Objects>);
        let mut marked: BTreeMap<String, HashSet<Hash>> = BTreeMap::new();
        let tx = self.platform.read().await.expect("begins");
        let spaces = tx.scan_prefix(&KeyBuf::new("spc"), MAX_SCAN).await.expect("read");
        for (_, space) in spaces {
            let space: Arc<SpaceRecord> = decode(space).expect("a space");
            let marked = marked.entry(space.domain.clone()).or_default();
            let revisions =
                tx.scan_prefix(&RevisionRecord::by_space(&space.id), MAX_SCAN).await.expect("read");
            let revisions =
                revisions.into_iter().map(|(_, it)| decode::<RevisionRecord>(it).expect("one").root);
            for root in revisions.chain([space.root]) {
                content.mark(&space.domain, root, marked).await.expect("what a revision names is there");
            }
            let all: Vec<Hash> = marked.iter().copied().collect();
            let found = self.objects.0.get(&space.domain, &all).await.expect("read");
            assert!(found.iter().all(Option::is_some), "what a revision names is there");
        }
        marked
    }

    async fn stored(&self) -> BTreeMap<String, HashSet<Hash>> {
        let mut stored = BTreeMap::new();
        for domain in self.objects.0.domains(None, 100).await.expect("listed") {
            let all = self.objects.0.list(&domain, None, Duration::ZERO, 100_000).await.expect("listed");
            stored.insert(domain, all.into_iter().collect());
        }
        stored
    }
}

#[derive(Clone, Debug)]
enum Act {
    Create,
    Edit(usize, u8),
    Duplicate(usize),
    Delete(usize),
    Restore(usize),
    Purge(usize),
    Pass(u8),
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => Just(Act::Create),
        5 => (any::<usize>(), 0..6_u8).prop_map(|(space, text)| Act::Edit(space, text)),
        3 => any::<usize>().prop_map(Act::Duplicate),
        2 => any::<usize>().prop_map(Act::Delete),
        1 => any::<usize>().prop_map(Act::Restore),
        3 => any::<usize>().prop_map(Act::Purge),
        4 => (1..50_u8).prop_map(Act::Pass),
    ]
}

impl Act {
    /// Returns the space that the action changes, assuming that no other space is created first.
    fn space(&self, w: &World) -> Option<SpaceId> {
        match self {
            Self::Edit(n, _) | Self::Duplicate(n) | Self::Delete(n) | Self::Restore(n) | Self::Purge(n) => {
                w.space(*n)
            }
            Self::Create | Self::Pass(_) => None,
        }
    }
}

/// Performs an action. Impossible actions fail without effect.
async fn act(w: &World, platform: &Platform, act: &Act) -> Result<()> {
    let me = platform.as_actor(&w.ada);
    let of = |n: &usize| w.space(*n).ok_or_else(|| Error::not_found("space"));
    match act {
        Act::Create => w.made(me.org(&w.org).spaces().create(CreateSpace::default()).await?.id),
        Act::Edit(n, text) => {
            let space = of(n)?;
            let request = me.space(&space).change_requests().create(CreateChangeRequest::default()).await?;
            let change = json!({ "operation": "insert_page", "title": format!("Page {text}"),
                "document": { "markdown": format!("Text {text}") } });
            let update: UpdateContent =
                serde_json::from_value(json!({ "changes": [change] })).map_err(Error::internal)?;
            me.space(&space).change_request(request.id.as_str()).edit(update).await?;
            me.space(&space).change_request(request.id.as_str()).merge().await?;
        }
        Act::Duplicate(n) => w.made(me.space(&of(n)?).duplicate().await?.id),
        Act::Delete(n) => drop(me.space(&of(n)?).delete().await?),
        Act::Restore(n) => drop(me.space(&of(n)?).restore().await?),
        Act::Purge(n) => {
            let space = of(n)?;
            me.space(&space).delete().await?;
            platform.as_platform().space(&space).purge().await?;
        }
        Act::Pass(hours) => {
            for _ in 0..u32::from(*hours) * 4 {
                let nobody_writes = w.writing.lock().await;
                w.clock.advance(Duration::from_secs(900));
                drop(nobody_writes);
                step().await;
            }
        }
    }
    Ok(())
}

/// Runs tasks to completion, polling one at a time in a seeded order.
async fn interleave(mut tasks: Vec<Pin<Box<dyn Future<Output = ()> + Send + '_>>>, mut seed: u64) {
    poll_fn(|context| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let n = usize::try_from(seed >> 33).expect("small") % tasks.len();
        if tasks[n].as_mut().poll(context).is_ready() {
            drop(tasks.swap_remove(n));
        }
        context.waker().wake_by_ref();
        if tasks.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

async fn run(seed: u64, scripts: [Vec<Act>; 3]) {
    let w = World::new(seed).await;
    for _ in 0..3 {
        act(&w, &w.platform, &Act::Create).await.expect("created");
    }
    let servers = [w.beside(seed + 1), w.beside(seed + 2)];
    let w = &w;
    let mut tasks: Vec<Pin<Box<dyn Future<Output = ()> + Send + '_>>> = Vec::new();
    for (n, script) in scripts.iter().enumerate() {
        let platform = &servers[n % 2];
        tasks.push(Box::pin(async move {
            for it in script {
                let (space, began) = (it.space(w), platform.now());
                if let Err(error) = act(w, platform, it).await
                    && error.kind() == ErrorKind::Internal
                {
                    // Its stored objects were removed before it finished, or the space it reads was purged.
                    let took = platform.now().time() - began.time();
                    assert!(took >= OBJECT_GRACE_PERIOD || !w.exists(space).await, "{it:?}: {error:?}");
                }
            }
        }));
    }
    for platform in [&servers[0], &servers[1]] {
        tasks.push(Box::pin(async move {
            for _ in 0..4 {
                // A collection that took too long must be restarted.
                if let Err(error) = platform.as_platform().collect(CollectMode::Remove).await {
                    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");
                }
            }
        }));
    }
    interleave(tasks, seed).await;
    w.named().await;
    // Once all writers are done, referenced objects are retained and all others are removed.
    w.clock.advance(Duration::from_secs(100 * 3_600));
    let dry = w.platform.as_platform().collect(CollectMode::DryRun).await.expect("counted");
    let done = w.platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    assert_eq!((dry.objects, dry.kept), (done.objects, done.kept));
    let mut named = w.named().await;
    named.retain(|_, objects| !objects.is_empty());
    assert_eq!(w.stored().await, named);
}

fn block_on(doing: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(doing);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Runs with concurrent writers and collectors. Referenced objects are never removed, and no unreferenced objects
    /// remain at the end.
    #[test]
    fn collection_removes_exactly_the_unreferenced_objects(
        seed in any::<u32>(),
        scripts in [
            proptest::collection::vec(any_act(), 1..12),
            proptest::collection::vec(any_act(), 1..12),
            proptest::collection::vec(any_act(), 1..12),
        ],
    ) {
        block_on(run(u64::from(seed), scripts));
    }
}

/// The race of rule 4: the copy sorts before the collection's position, and the original is purged before it is
/// reached.
#[tokio::test]
async fn copy_missed_by_a_collection_outlives_its_purged_original() {
    for seed in 0..40 {
        let w = World::new(1_000 + seed).await;
        let other = w.beside(2_000 + seed);
        for _ in 0..6 {
            act(&w, &w.platform, &Act::Create).await.expect("created");
        }
        let original = w.spaces.lock().expect("nobody panicked").iter().max().expect("some").clone();
        let at = w.spaces.lock().expect("nobody panicked").iter().position(|it| *it == original);
        let at = at.expect("it is there");
        act(&w, &w.platform, &Act::Edit(at, 1)).await.expect("edited");
        w.clock.advance(Duration::from_secs(100 * 3_600));
        let (w, other) = (&w, &other);
        let tasks: Vec<Pin<Box<dyn Future<Output = ()> + Send + '_>>> = vec![
            Box::pin(async move {
                other.as_platform().collect(CollectMode::Remove).await.expect("collected");
            }),
            Box::pin(async move {
                for _ in 0..4 {
                    act(w, &w.platform, &Act::Duplicate(at)).await.expect("copied");
                }
                act(w, &w.platform, &Act::Purge(at)).await.expect("purged");
            }),
        ];
        interleave(tasks, seed).await;
        w.named().await;
    }
}

#[tokio::test]
async fn collection_removes_purged_content_but_not_its_copy() {
    let w = World::new(1).await;
    for it in [Act::Create, Act::Create, Act::Edit(0, 1), Act::Edit(1, 2), Act::Duplicate(0)] {
        act(&w, &w.platform, &it).await.expect("done");
    }
    act(&w, &w.platform, &Act::Purge(0)).await.expect("purged");
    act(&w, &w.platform, &Act::Purge(1)).await.expect("purged");
    let before = w.stored().await;
    let young = w.platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    assert_eq!((young.objects, w.stored().await), (0, before.clone()), "all of it was touched today");
    w.clock.advance(OBJECT_GRACE_PERIOD.to_std().expect("a time"));
    let dry = w.platform.as_platform().collect(CollectMode::DryRun).await.expect("counted");
    assert!(dry.objects > 0);
    assert_eq!(w.stored().await, before, "a dry run only counts");
    let done = w.platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    assert_eq!(done, dry);
    assert_eq!(w.stored().await, w.named().await);
    // The copy can be compared with its base, the empty content, which no revision references any longer.
    let copy = w.space(2).expect("a copy");
    let changes = w.platform.as_actor(&w.ada).space(&copy).content().list_changes(None);
    assert_eq!(changes.await.expect("compared").changes.len(), 1);
    w.platform.as_user(w.ada.user().expect("a user")).org(&w.org).get().await.expect("there");
}

#[tokio::test]
async fn only_the_operator_may_collect() {
    let w = World::new(2).await;
    let refused = w.platform.as_actor(&w.ada).collect(CollectMode::DryRun).await.expect_err("refused");
    assert_eq!(refused.kind(), ErrorKind::Forbidden);
}

#[tokio::test]
async fn unreadable_storage_domain_is_skipped() {
    let w = World::new(3).await;
    act(&w, &w.platform, &Act::Create).await.expect("created");
    act(&w, &w.platform, &Act::Create).await.expect("created");
    act(&w, &w.platform, &Act::Edit(0, 1)).await.expect("edited");
    act(&w, &w.platform, &Act::Edit(1, 2)).await.expect("edited");
    act(&w, &w.platform, &Act::Purge(1)).await.expect("purged");
    let space: Option<Arc<SpaceRecord>> = {
        let tx = w.platform.read().await.expect("begins");
        tx.get(&SpaceRecord::key_for(&w.space(0).expect("a space"))).await.expect("read")
    };
    let space = space.expect("there");
    w.objects.0.damage(&space.domain, space.root).expect("there");
    w.clock.advance(Duration::from_secs(100 * 3_600));
    let before = w.stored().await;
    let done = w.platform.as_platform().collect(CollectMode::Remove).await.expect("it goes on elsewhere");
    assert_eq!((done.objects, done.unreadable), (0, 1));
    assert_eq!(w.stored().await, before);
}

#[tokio::test]
async fn write_after_the_write_window_is_rejected() {
    let w = World::new(4).await;
    let storing = w.platform.begin_write_window();
    w.clock.advance(WRITE_WINDOW.to_std().expect("a time"));
    w.platform.check_write_window(storing).expect("just in time");
    w.clock.advance(Duration::from_millis(1));
    let refused = w.platform.check_write_window(storing).expect_err("too late");
    assert_eq!(refused.kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn tidy_enqueues_a_daily_collection_that_runs_in_steps() {
    let w = World::new(5).await;
    for it in [Act::Create, Act::Edit(0, 1), Act::Purge(0)] {
        act(&w, &w.platform, &it).await.expect("done");
    }
    w.platform.tidy().await.expect("tidied");
    w.platform.settle().await.expect("settled");
    w.clock.advance(Duration::from_secs(23 * 3_600));
    w.platform.tidy().await.expect("tidied");
    assert_eq!(w.platform.settle().await.expect("settled"), 0, "not yet");
    assert!(!w.stored().await.is_empty());
    w.clock.advance(Duration::from_secs(60 * 3_600));
    w.platform.tidy().await.expect("tidied");
    w.platform.tidy().await.expect("tidied");
    // Three jobs: the storage domain, the check that no other remains, and the leftovers of uploads.
    assert_eq!(w.platform.settle().await.expect("settled"), 3);
    assert_eq!(w.stored().await, BTreeMap::new());
    w.platform.tidy().await.expect("tidied");
    assert_eq!(w.platform.settle().await.expect("settled"), 0, "done for today");
}

#[tokio::test]
async fn stopped_collection_removes_nothing() {
    let w = World::new(6).await;
    for it in [Act::Create, Act::Edit(0, 1), Act::Purge(0)] {
        act(&w, &w.platform, &it).await.expect("done");
    }
    w.clock.advance(Duration::from_secs(100 * 3_600));
    let before = w.stored().await;
    let stopped = CollectionPass::new(&w.platform, CollectMode::Remove, &|| false).step(None).await;
    assert_eq!(stopped.map(|step| step.next).expect_err("stopped").kind(), ErrorKind::Unavailable);
    assert_eq!(w.stored().await, before);
}

#[tokio::test]
async fn stopping_worker_finishes_a_short_collection() {
    let w = World::new(7).await;
    act(&w, &w.platform, &Act::Create).await.expect("created");
    w.platform.settle().await.expect("settled");
    let job: NewJob = CollectObjects::Domains { after: None }
        .to_new_job(&w.platform.id(), "objects", w.platform.now())
        .expect("a job");
    let mut tx = Tx::new(w.store.begin(Mode::Write, &[]).await.expect("begins"));
    let id = job.id.clone();
    jobs::enqueue(&mut tx, w.platform.now(), job).await.expect("enqueued");
    tx.commit().await.expect("stored");
    w.platform.work(std::future::ready(())).await;
    let job = w.platform.as_platform().get_job(&id).await.expect("there");
    assert_eq!(job.state, crate::model::JobState::Done);
}
