//! `cargo bench -p docs-benches --bench stores`: each store on disk, compared with its bare driver running the same
//! statements on the same data. The result of interest is the ratio. PostgreSQL is included if `DOCS_TEST_POSTGRES` is
//! the URL of a server.

mod contention;
mod raw;

use std::{hint::black_box, sync::Arc};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use docs_benches::{Outcome, fill, key, platform_over, text, write_once};
use docs_core::{
    Actor,
    model::{CreateChangeRequest, UpdateContent},
    ports::{Ids, RandomIds, id_text},
    store::{Mode, Objects, Scan, Store},
};
use docs_memstore::{MemObjects, MemStore};
use docs_sqlstore::{Options, PostgresStore, SqliteStore};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::raw::{Postgres, Raw, Sqlite};

/// Number of keys in each store.
const KEYS: usize = 20_000;

/// A store, its objects, and its bare driver on the same data.
struct Engine {
    name: &'static str,
    store: Arc<dyn Store>,
    objects: Arc<dyn Objects>,
    raw: Option<Raw>,
    _folder: Option<TempDir>,
}

fn engines(rt: &Runtime) -> Outcome<Vec<Engine>> {
    let memory = Engine {
        name: "memory",
        store: Arc::new(MemStore::new()),
        objects: Arc::new(MemObjects::new()),
        raw: None,
        _folder: None,
    };
    let folder = TempDir::new()?;
    let path = folder.path().join("docs.db");
    let store = rt.block_on(SqliteStore::open(&path, Options::new()))?;
    let sqlite = Engine {
        name: "sqlite",
        objects: Arc::new(store.objects()),
        store: Arc::new(store),
        raw: Some(Raw::Sqlite(Sqlite::open(&path)?)),
        _folder: Some(folder),
    };
    let mut engines = vec![memory, sqlite];
    match std::env::var("DOCS_TEST_POSTGRES") {
        Err(_) => println!("PostgreSQL is not measured: DOCS_TEST_POSTGRES names no server"),
        Ok(server) => {
            let schema = format!("bench_{}", id_text(RandomIds.next()));
            let url = rt.block_on(raw::schema(&server, &schema))?;
            let store = rt.block_on(PostgresStore::open(&url, Options::new()))?;
            engines.push(Engine {
                name: "postgres",
                objects: Arc::new(store.objects()),
                store: Arc::new(store),
                raw: Some(Raw::Postgres(rt.block_on(Postgres::connect(&url))?)),
                _folder: None,
            });
        }
    }
    Ok(engines)
}

fn stores(c: &mut Criterion) {
    let rt = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let rt = rt.expect("a runtime");
    for engine in engines(&rt).expect("the stores can be opened") {
        rt.block_on(fill(&*engine.store, KEYS)).expect("the store takes them");
        keys(c, &rt, &engine);
        pages(c, &rt, &engine).expect("the platform works");
        let attempts = rt.block_on(contention::attempts(&engine.store)).expect("every writer gets on");
        println!("{}: {attempts}", engine.name);
    }
}

/// Measures the three basic operations through the store and through the driver.
fn keys(c: &mut Criterion, rt: &Runtime, engine: &Engine) {
    let mut n = 0;
    let mut next = move || {
        n = (n + 7_919) % (KEYS - 100);
        n
    };
    let store = &engine.store;
    let scan = |n: usize| Scan { from: key(n), to: key(n + 50), rev: false, limit: 50 };
    let mut group = c.benchmark_group(engine.name);
    group.bench_function(BenchmarkId::new("get", "store"), |b| {
        b.iter(|| {
            let n = next();
            rt.block_on(async { black_box(store.begin(Mode::Read, &[]).await?.get(&[key(n)]).await) })
        });
    });
    group.bench_function(BenchmarkId::new("list of 50", "store"), |b| {
        b.iter(|| {
            let scan = scan(next());
            rt.block_on(async { black_box(store.begin(Mode::Read, &[]).await?.scan(&[scan]).await) })
        });
    });
    group.bench_function(BenchmarkId::new("small write", "store"), |b| {
        b.iter(|| {
            let n = next();
            rt.block_on(write_once(&**store, n)).expect("nobody is in the way");
        });
    });
    if let Some(raw) = &engine.raw {
        group.bench_function(BenchmarkId::new("get", "driver"), |b| {
            b.iter(|| black_box(raw.get(rt, &key(next())).expect("the row is there")));
        });
        group.bench_function(BenchmarkId::new("list of 50", "driver"), |b| {
            b.iter(|| {
                let n = next();
                black_box(raw.list(rt, &key(n), &key(n + 50)).expect("the rows are there"))
            });
        });
        group.bench_function(BenchmarkId::new("small write", "driver"), |b| {
            b.iter(|| raw.write(rt, next()).expect("nobody is in the way"));
        });
    }
    group.finish();
}

/// Measures an edit of one page through a change request, as performed by a client.
fn pages(c: &mut Criterion, rt: &Runtime, engine: &Engine) -> Outcome<()> {
    let over = platform_over(engine.store.clone(), engine.objects.clone(), 1);
    let (platform, _, spaces, token) = rt.block_on(over)?;
    let actor: Actor = rt.block_on(platform.authenticate(&token))?;
    let new = CreateChangeRequest::default();
    let request = rt.block_on(platform.as_actor(&actor).space(&spaces[0]).change_requests().create(new))?.id;
    let change = |changes: serde_json::Value| -> Outcome<UpdateContent> {
        Ok(serde_json::from_value(json!({ "changes": changes }))?)
    };
    let insert: Vec<_> = (0..50)
        .map(|n| json!({ "operation": "insert_page", "title": format!("Page {n}"), "document": { "markdown": text(n, "new") } }))
        .collect();
    let name = request.as_str();
    rt.block_on(
        platform.as_actor(&actor).space(&spaces[0]).change_request(name).edit(change(insert.into())?),
    )?;
    let of = docs_core::platform::ContentVersion::request(spaces[0].clone(), name);
    let tree = rt.block_on(platform.as_actor(&actor).content(&of).list_pages(Default::default()))?;
    let tree = serde_json::to_value(tree)?;
    let page = tree["pages"][7]["id"].as_str().ok_or("a page")?.to_owned();
    let mut n = 0;
    c.benchmark_group(engine.name).bench_function("page edit", |b| {
        b.iter(|| {
            n += 1;
            let update = json!([{ "operation": "update_page", "page": page, "document": { "markdown": text(7, &n.to_string()) } }]);
            let update = change(update).expect("a change");
            rt.block_on(platform.as_actor(&actor).space(&spaces[0]).change_request(name).edit(update)).expect("an edit")
        });
    });
    Ok(())
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = stores
}
criterion_main!(benches);
