//! `cargo bench -p docs-benches`. The results of interest are the ratios between the sizes in a group.

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use docs_benches::{Outcome, filled, key, platform_with, space_of, text, write_once};
use docs_core::{
    content::{
        Edit, NewBody, ThreeWay,
        expression::{Context, Expression},
    },
    store::{Mode, Scan, Store},
};
use poem::test::TestClient;
use tokio::runtime::Runtime;

fn runtime() -> Outcome<Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}

fn store(c: &mut Criterion) {
    store_sizes(c).expect("a store in memory does not fail");
}

fn store_sizes(c: &mut Criterion) -> Outcome<()> {
    let rt = runtime()?;
    let mut group = c.benchmark_group("store");
    for keys in [1_000, 1_000_000] {
        let store = rt.block_on(filled(keys))?;
        let mut n = 0;
        let mut next = move || {
            n = (n + 7_919) % (keys - 100);
            n
        };
        group.bench_function(BenchmarkId::new("get", keys), |b| {
            b.iter(|| {
                let n = next();
                rt.block_on(async { black_box(store.begin(Mode::Read, &[]).await?.get(&[key(n)]).await) })
            });
        });
        group.bench_function(BenchmarkId::new("scan of 50", keys), |b| {
            b.iter(|| {
                let n = next();
                let scan = Scan { from: key(n), to: key(n + 50), rev: false, limit: 50 };
                rt.block_on(async { black_box(store.begin(Mode::Read, &[]).await?.scan(&[scan]).await) })
            });
        });
        group.bench_function(BenchmarkId::new("write transaction", keys), |b| {
            b.iter(|| {
                let n = next();
                rt.block_on(write_once(&store, n))
            });
        });
    }
    group.finish();
    Ok(())
}

fn content(c: &mut Criterion) {
    content_sizes(c).expect("content in memory does not fail");
}

fn content_sizes(c: &mut Criterion) -> Outcome<()> {
    let rt = runtime()?;
    let now = chrono::DateTime::UNIX_EPOCH;
    let mut group = c.benchmark_group("content");
    for pages in [100, 10_000, 25_000] {
        let (content, root, ids) = rt.block_on(space_of(pages))?;
        let edit = |n: usize, edit: String| Edit::SetBody {
            page: ids[n].clone(),
            body: NewBody::Text(text(n, &edit)),
        };
        let mut n = 0;
        let mut next = || {
            n += 1;
            n
        };
        group.bench_function(BenchmarkId::new("edit of one page", pages), |b| {
            b.iter_batched(
                || {
                    let n = next();
                    [edit(n * 31 % pages, format!("edit {n}"))]
                },
                |edits| rt.block_on(content.edit("bench", root, now, &edits)).expect("an edit"),
                BatchSize::SmallInput,
            );
        });
        group.bench_function(BenchmarkId::new("merge of one page each", pages), |b| {
            b.iter_batched(
                || {
                    let n = next();
                    let one = |at: usize| {
                        rt.block_on(content.edit("bench", root, now, &[edit(at, format!("side {n}"))]))
                    };
                    let side = |at: usize| one(at).expect("an edit").root;
                    ThreeWay { base: root, ours: side(n * 31 % pages), theirs: side((n * 31 + 50) % pages) }
                },
                |sides| rt.block_on(content.merge("bench", sides)).expect("a merge"),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
    Ok(())
}

fn http(c: &mut Criterion) {
    http_requests(c).expect("a platform in memory does not fail");
}

fn http_requests(c: &mut Criterion) -> Outcome<()> {
    let rt = runtime()?;
    let (platform, org, spaces, token) = rt.block_on(platform_with(100))?;
    let client = TestClient::new(docs_http::routes(&platform, docs_http::HttpConfig::default())?);
    let bearer = format!("Bearer {token}");
    let get = |path: &str| {
        let request = client.get(path).header("authorization", &bearer);
        rt.block_on(async { request.send().await.0.into_body().into_bytes().await.map(|bytes| bytes.len()) })
    };
    let mut group = c.benchmark_group("http");
    let one = format!("/v1/spaces/{}", spaces[50]);
    group.bench_function("get a space", |b| b.iter(|| black_box(get(&one))));
    let all = format!("/v1/orgs/{org}/spaces?limit=100");
    group.bench_function("list 100 spaces", |b| b.iter(|| black_box(get(&all))));
    group.finish();
    Ok(())
}

fn expression(c: &mut Criterion) {
    let claims = serde_json::json!({ "plan": "pro", "beta": true });
    let context = Context::default().with_visitor(&claims, &serde_json::json!({}));
    let text = "visitor.claims.plan === 'pro' && (visitor.claims.beta || visitor.claims.unsigned.preview)";
    let parsed = Expression::parse(text).expect("an expression");
    let mut group = c.benchmark_group("expression");
    group.bench_function("parse a condition", |b| b.iter(|| Expression::parse(black_box(text))));
    group.bench_function("evaluate a condition", |b| b.iter(|| parsed.evaluate(black_box(&context))));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = store, content, expression, http
}
criterion_main!(benches);
