//! A platform for tests: a manual clock, seeded ids, and one organization with members of every role.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use docs_core::{
    Actor, BoxFuture, Error, ErrorKind, Platform,
    model::{CreateChangeRequest, CreateSpace, OrgId, PageId, RevisionPage, Role, SpaceId, Timestamp},
    platform::{Builder, Caller, ContentOptions, ContentVersion, NewUser},
    ports::{GitRemote, Pdf, SearchIndex, Web},
    store::{Batch, FeedPos, Key, Mode, Objects, Scan, Store, StoreResult, Txn, Value as Stored, verify},
};
use docs_memstore::{CallKind, Fault, FaultPlan, FaultStore, ManualClock, MemObjects, MemStore, SeededIds};
use serde_json::{Value, json};

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) platform: Platform,
    pub(crate) clock: ManualClock,
    objects: Arc<dyn Objects>,
    pub(crate) org: OrgId,
    pub(crate) admin: Actor,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::over(Arc::new(MemStore::new())).await
    }

    pub(crate) async fn over(store: Arc<dyn Store>) -> Self {
        Self::build(store, |builder| builder).await
    }

    pub(crate) async fn with_git(git: Arc<dyn GitRemote>) -> Self {
        Self::build(Arc::new(MemStore::new()), |builder| builder.git(git)).await
    }

    pub(crate) async fn with_web(web: Arc<dyn Web>) -> Self {
        Self::build(Arc::new(MemStore::new()), |builder| builder.web(web)).await
    }

    pub(crate) async fn with_search(index: Arc<dyn SearchIndex>) -> Self {
        Self::build(Arc::new(MemStore::new()), |builder| builder.search(index)).await
    }

    pub(crate) async fn with_pdf(pdf: Arc<dyn Pdf>) -> Self {
        Self::build(Arc::new(MemStore::new()), |builder| builder.pdf(pdf)).await
    }

    pub(crate) async fn build(store: Arc<dyn Store>, more: impl FnOnce(Builder) -> Builder) -> Self {
        let clock = ManualClock::default();
        let objects: Arc<dyn Objects> = Arc::new(MemObjects::with_clock(Arc::new(clock.clone())));
        let builder =
            Platform::builder(store, Arc::clone(&objects)).clock(clock.clone()).ids(SeededIds::new(7));
        let platform = more(builder).build();
        let admin = person(&platform, "Ada").await;
        let user = admin.user().expect("a user").clone();
        let title = "Test organization".parse().expect("a title");
        let org = platform.as_platform().orgs().create(title, &user).await.expect("an organization").id;
        Self { platform, clock, objects, org, admin }
    }

    /// Creates another server on the same store, with a separate search index.
    pub(crate) fn beside(&self, index: Arc<dyn SearchIndex>) -> Platform {
        self.beside_with(|builder| builder.search(index))
    }

    /// Creates another server on the same store, with additional components.
    pub(crate) fn beside_with(&self, more: impl FnOnce(Builder) -> Builder) -> Platform {
        let builder = Platform::builder(Arc::clone(self.platform.store()), Arc::clone(&self.objects));
        more(builder.clock(self.clock.clone()).ids(SeededIds::new(8))).build()
    }

    /// Creates a member with a role, or a guest for `None`.
    pub(crate) async fn member(&self, name: &str, role: Option<Role>) -> Actor {
        let actor = person(&self.platform, name).await;
        let user = actor.user().expect("a user");
        self.platform.as_platform().org(&self.org).member(user).put(role).await.expect("a member");
        actor
    }

    /// Returns the platform with the first administrator as the caller.
    pub(crate) fn as_admin(&self) -> Caller<'_> {
        self.platform.as_actor(&self.admin)
    }

    /// Creates an untitled space as the administrator.
    pub(crate) async fn space(&self) -> SpaceId {
        self.as_admin().org(&self.org).spaces().create(CreateSpace::default()).await.expect("a space").id
    }

    /// Creates an untitled change request as the administrator, and returns its number.
    pub(crate) async fn request(&self, space: &SpaceId) -> String {
        let new = CreateChangeRequest::default();
        let request = self.as_admin().space(space).change_requests().create(new).await.expect("a request");
        request.number.to_string()
    }

    pub(crate) fn clock_now(&self) -> Timestamp {
        docs_core::ports::Clock::now(&self.clock).into()
    }

    /// Checks that every index row and counter is consistent with the records.
    pub(crate) async fn check(&self) {
        let drift = verify(self.platform.store().as_ref()).await.expect("the store can be read");
        assert!(drift.is_none(), "{drift:?}");
    }
}

/// Runs a future to completion, for property tests.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// Creates a store where every second commit fails in one of three ways.
pub(crate) fn failing() -> Arc<dyn Store> {
    let faults = [Fault::Conflict, Fault::UnknownApplied, Fault::UnknownLost];
    let plan = (1..2_000)
        .fold(FaultPlan::none(), |plan, n| plan.with_fault(CallKind::Commit, 2 * n, faults[n as usize % 3]));
    Arc::new(FaultStore::new(Arc::new(MemStore::new()), plan))
}

pub(crate) async fn person(platform: &Platform, name: &str) -> Actor {
    let email = format!("{}@example.com", name.to_lowercase().replace(' ', "."));
    let new =
        NewUser { display_name: name.parse().expect("a name"), email: email.parse().expect("an address") };
    Actor::User(platform.as_platform().users().create(new).await.expect("a user").id)
}

pub(crate) trait Refused {
    fn refused(self, kind: ErrorKind) -> Error;
}

impl<T: std::fmt::Debug> Refused for docs_core::Result<T> {
    #[track_caller]
    fn refused(self, kind: ErrorKind) -> Error {
        let error = self.expect_err("it is refused");
        assert_eq!(error.kind(), kind, "{error:?}");
        error
    }
}

/// Returns a change that inserts a page.
pub(crate) fn insert(title: &str, text: &str) -> Value {
    json!({ "operation": "insert_page", "title": title, "document": { "markdown": text } })
}

/// Reads a page with its Markdown.
pub(crate) async fn page(w: &World, of: &ContentVersion, id: &PageId) -> RevisionPage {
    w.as_admin().content(of).get_page(id, ContentOptions::default()).await.expect("read")
}

/// A store that calls a hook with the hot keys before each transaction.
pub(crate) struct BeforeTransactions<S, F> {
    pub(crate) store: S,
    pub(crate) before: F,
}

#[async_trait]
impl<S: Store, F: Fn(&[Key]) -> BoxFuture<'static, ()> + Send + Sync + 'static> Store
    for BeforeTransactions<S, F>
{
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        (self.before)(hot).await;
        self.store.begin(mode, hot).await
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

/// A store that counts the values read by transactions.
pub(crate) struct CountedReads<S> {
    store: S,
    reads: Reads,
}

/// The number of values read.
#[derive(Clone, Default)]
pub(crate) struct Reads(Arc<AtomicUsize>);

impl Reads {
    /// Returns the number of values read since the last call.
    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

impl<S> CountedReads<S> {
    pub(crate) fn new(store: S) -> Self {
        Self { store, reads: Reads::default() }
    }

    pub(crate) fn reads(&self) -> Reads {
        self.reads.clone()
    }
}

#[async_trait]
impl<S: Store> Store for CountedReads<S> {
    async fn begin(&self, mode: Mode, hot: &[Key]) -> StoreResult<Box<dyn Txn>> {
        let txn = self.store.begin(mode, hot).await?;
        Ok(Box::new(CountedTxn { txn, reads: self.reads.clone() }))
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

struct CountedTxn {
    txn: Box<dyn Txn>,
    reads: Reads,
}

#[async_trait]
impl Txn for CountedTxn {
    async fn get(&self, keys: &[Key]) -> StoreResult<Vec<Option<Stored>>> {
        self.reads.0.fetch_add(keys.len(), Ordering::SeqCst);
        self.txn.get(keys).await
    }

    async fn scan(&self, scans: &[Scan]) -> StoreResult<Vec<Vec<(Key, Stored)>>> {
        let found = self.txn.scan(scans).await?;
        self.reads.0.fetch_add(found.iter().map(Vec::len).sum(), Ordering::SeqCst);
        Ok(found)
    }

    async fn commit(self: Box<Self>, batch: Batch) -> StoreResult<()> {
        self.txn.commit(batch).await
    }
}
