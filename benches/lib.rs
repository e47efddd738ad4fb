//! Benchmark fixtures: filled stores, spaces of a given size, and a platform with its HTTP routes.

use std::sync::Arc;

use docs_core::{
    Actor, Platform,
    content::{BuildItem, BuildPage, Content, NewBody, PageKind, PagePatch},
    model::OrgId,
    platform::{NewToken, NewUser},
    ports::new_id,
    store::{Batch, FeedItem, Hash, Key, KeyBuf, Mode, Objects, Op, Store, StoreResult, Value},
};
use docs_memstore::{MemObjects, MemStore, SeededIds};

/// The result of a benchmark.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Number of operations per commit while a store is filled.
const CHUNK: usize = 1_000;

/// Returns the n-th key of a filled store.
#[must_use]
pub fn key(n: usize) -> Key {
    KeyBuf::new("bench").number(n as u64).key()
}

/// Returns a small value, as in an index row.
#[must_use]
pub fn value(n: usize) -> Value {
    Value::Json(bytes::Bytes::from(format!("{{\"n\":{n},\"title\":\"A title of a usual length\"}}")))
}

/// Returns a store with `keys` keys.
///
/// # Errors
///
/// Errors of the store.
pub async fn filled(keys: usize) -> StoreResult<MemStore> {
    let store = MemStore::new();
    fill(&store, keys).await?;
    Ok(store)
}

/// Puts `keys` keys into a store.
///
/// # Errors
///
/// Errors of the store.
pub async fn fill(store: &dyn Store, keys: usize) -> StoreResult<()> {
    for start in (0..keys).step_by(CHUNK) {
        let ops = (start..keys.min(start + CHUNK)).map(|n| Op::Put(key(n), value(n))).collect();
        store.begin(Mode::Write, &[]).await?.commit(Batch { ops, feed: Vec::new() }).await?;
    }
    Ok(())
}

/// Performs a typical write: a read, a short scan, five keys, a counter, and a feed item.
///
/// # Errors
///
/// Errors of the store.
pub async fn write_once(store: &dyn Store, n: usize) -> StoreResult<()> {
    let txn = store.begin(Mode::Write, &[]).await?;
    txn.get(&[key(n)]).await?;
    let (from, to) = (key(n), key(n + 10));
    txn.scan(&[docs_core::store::Scan { from, to, rev: false, limit: 10 }]).await?;
    let mut ops: Vec<Op> = (0..5).map(|i| Op::Put(key(n + i * 7), value(n))).collect();
    ops.push(Op::Add("ctr!bench".into(), 1));
    txn.commit(Batch { ops, feed: vec![FeedItem { topic: 1, key: key(n) }] }).await
}

/// Returns content with `pages` pages: folders of up to 20 pages with different text.
///
/// # Errors
///
/// Errors of the content engine.
pub async fn space_of(pages: usize) -> Outcome<(Content, Hash, Vec<docs_core::model::PageId>)> {
    let ids = SeededIds::new(1);
    let content = Content::new(Arc::new(MemObjects::new()));
    let names: Vec<docs_core::model::PageId> = (0..pages).map(|_| new_id(&ids)).collect();
    let items = (0..pages).map(|n| {
        // Every 21st page is a folder for the next 20.
        let parent = (n % 21 != 0).then(|| names[n - n % 21].clone());
        let fields = PagePatch::from_title(&format!("Page {n}"));
        let mut page = BuildPage::new(names[n].clone(), parent, PageKind::Document, fields);
        page.body = NewBody::Text(text(n, "as it was"));
        BuildItem::Page(Box::new(page))
    });
    let built = content.build("bench", chrono::DateTime::UNIX_EPOCH, items.collect::<Vec<_>>()).await?;
    Ok((content, built.root, names))
}

/// Returns the text of a page: forty lines, including one with `edit`.
#[must_use]
pub fn text(n: usize, edit: &str) -> String {
    let mut text = format!("Page {n} {edit}.\n\n");
    for line in 0..40 {
        text.push_str(&format!("Line {line} of page {n} says what lines of handbooks say.\n"));
    }
    text
}

/// Returns a platform with one organization and `spaces` spaces, and the token of its administrator.
///
/// # Errors
///
/// Errors of the platform.
pub async fn platform_with(
    spaces: usize,
) -> Outcome<(Platform, OrgId, Vec<docs_core::model::SpaceId>, String)> {
    platform_over(Arc::new(MemStore::new()), Arc::new(MemObjects::new()), spaces).await
}

/// Returns the same platform as [`platform_with`], on the given empty stores.
///
/// # Errors
///
/// Errors of the platform.
pub async fn platform_over(
    store: Arc<dyn Store>,
    objects: Arc<dyn Objects>,
    spaces: usize,
) -> Outcome<(Platform, OrgId, Vec<docs_core::model::SpaceId>, String)> {
    let platform = Platform::builder(store, objects).ids(SeededIds::new(3)).build();
    let user = NewUser { display_name: "Bench".parse()?, email: "bench@example.com".parse()? };
    let user = platform.as_platform().users().create(user).await?;
    let org = platform.as_platform().orgs().create("Bench".parse()?, &user.id).await?.id;
    let token = NewToken { label: "bench".parse()?, secret: None, expires_at: None };
    let token = platform.as_platform().user(&user.id).issue_token(token).await?;
    let actor = Actor::User(user.id);
    let mut ids = Vec::with_capacity(spaces);
    for _ in 0..spaces {
        ids.push(platform.as_actor(&actor).org(&org).spaces().create(Default::default()).await?.id);
    }
    Ok((platform, org, ids, token.secret))
}
