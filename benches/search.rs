//! `cargo bench -p docs-benches --bench search`: the cost of a query and a write in a folder index with one thousand
//! and ten thousand pages, and the cost of a word in memory and in a folder index with ten thousand and one hundred
//! thousand words.

use std::{collections::BTreeSet, fs, hint::black_box, time::Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use docs_benches::Outcome;
use docs_core::{
    ports::{
        SearchIndex,
        search::{IndexChange, PageDocument, Query, Scope, SearchQuery, Section},
    },
    store::Hash,
};
use docs_memstore::MemSearch;
use docs_search::SqliteSearch;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Number of pages per space.
const OF_A_SPACE: usize = 100;

/// Returns a page of forty lines, whose words differ between pages.
fn page(n: usize, edit: usize) -> Outcome<PageDocument> {
    let line = |line: usize| {
        format!("Line {line} says word{} and word{} as handbooks do. ", n * line % 5_000, n % 97)
    };
    Ok(PageDocument {
        organization: "org".parse()?,
        space: format!("space{}", n / OF_A_SPACE).parse()?,
        page: format!("page{n}").parse()?,
        title: format!("Configuration of part {n}"),
        description: Some(format!("Edit {edit}")),
        text: Hash::compute(&n.to_be_bytes()),
        sections: vec![Section {
            anchor: Some("set-up".to_owned()),
            heading: Some("Set up".to_owned()),
            text: (0..40).map(line).collect(),
        }],
    })
}

/// Creates a folder index with `pages` pages. Prints the duration and the size.
async fn filled(pages: usize) -> Outcome<(SqliteSearch, TempDir)> {
    let folder = TempDir::new()?;
    let index = SqliteSearch::folder(folder.path())?;
    let began = Instant::now();
    for start in (0..pages).step_by(500) {
        let pages = (start..pages.min(start + 500)).map(|n| Ok(IndexChange::PutPage(Box::new(page(n, 0)?))));
        let changes: Vec<IndexChange> = pages.collect::<Outcome<_>>()?;
        index.apply(changes, None).await?;
    }
    let mut bytes = 0;
    for file in fs::read_dir(folder.path().join("sqlite"))? {
        bytes += file?.metadata()?.len();
    }
    println!("search: {pages} pages are indexed in {:?}, and take {} kB", began.elapsed(), bytes / 1_000);
    Ok((index, folder))
}

fn search(c: &mut Criterion) {
    search_sizes(c).expect("an index in a folder of this machine does not fail");
}

fn search_sizes(c: &mut Criterion) -> Outcome<()> {
    let rt: Runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    let org = Scope::Organization("org".parse()?);
    let space = Scope::Spaces(BTreeSet::from(["space3".parse()?]));
    let mut group = c.benchmark_group("search");
    for pages in [1_000, 10_000] {
        let (index, _folder) = rt.block_on(filled(pages))?;
        for (what, text, scope) in [
            ("a rare word", "word4321", &org),
            ("a word of every page", "configuration", &org),
            ("a beginning", "con", &org),
            ("a word with typos", "confguraton", &org),
            ("a phrase", "\"set up\"", &org),
            ("three words in a space", "configuration handbooks part", &space),
        ] {
            let query = SearchQuery {
                query: Query::parse(text),
                scope: scope.clone(),
                after: None,
                limit: 50,
                tenant: "org".into(),
            };
            group.bench_function(BenchmarkId::new(what, pages), |b| {
                b.iter(|| rt.block_on(async { black_box(index.find_pages(&query).await) }));
            });
        }
        let mut edit = 0;
        group.bench_function(BenchmarkId::new("a write", pages), |b| {
            b.iter(|| {
                edit += 1;
                let change = IndexChange::PutPage(Box::new(page(edit % pages, edit).expect("a page")));
                rt.block_on(index.apply(vec![change], None)).expect("applied");
            });
        });
    }
    group.finish();
    Ok(())
}

/// Number of words per page of that index.
const OF_A_PAGE: usize = 100;

/// Returns a word that encodes a number as a fixed number of syllables.
fn syllables(mut n: usize) -> String {
    let mut word = String::new();
    for _ in 0..5 {
        let (first, second) = (n % 17, n / 17 % 5);
        word.push(char::from(b"bcdfghklmnprstvwz"[first]));
        word.push(char::from(b"aeiou"[second]));
        n /= 85;
    }
    word
}

/// Fills an index with pages that have `words` distinct words in total.
async fn fill_with_words(index: &impl SearchIndex, words: usize) -> Outcome<()> {
    let mut changes = Vec::new();
    for number in 0..words / OF_A_PAGE {
        // Consecutive words share no prefix, because they are distributed over all combinations of syllables.
        let word = |n: usize| syllables((number * OF_A_PAGE + n).wrapping_mul(0x9e37_79b9) % 85_usize.pow(5));
        let text = (0..OF_A_PAGE).map(|n| word(n) + " ").collect();
        let sections = vec![Section { anchor: None, heading: None, text }];
        let page = PageDocument { sections, title: format!("Part {number}"), ..page(number, 0)? };
        changes.push(IndexChange::PutPage(Box::new(page)));
    }
    Ok(index.apply(changes, None).await?)
}

fn words(c: &mut Criterion) {
    words_sizes(c).expect("an index in memory or in a folder of this machine does not fail");
}

fn words_sizes(c: &mut Criterion) -> Outcome<()> {
    let rt: Runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    for words in [10_000, 100_000] {
        let (memory, folder) = (MemSearch::new(), TempDir::new()?);
        words_of(c, &rt, "words in memory", words, &memory)?;
        words_of(c, &rt, "words in a folder", words, &SqliteSearch::folder(folder.path())?)?;
    }
    Ok(())
}

fn words_of(
    c: &mut Criterion,
    rt: &Runtime,
    name: &str,
    words: usize,
    index: &impl SearchIndex,
) -> Outcome<()> {
    rt.block_on(fill_with_words(index, words))?;
    let scope = Scope::Organization("org".parse()?);
    let whole = syllables(0);
    let (beginning, mistyped) = (&whole[..4], format!("{}x{}", &whole[..5], &whole[7..]));
    let mut group = c.benchmark_group(name);
    // Quoted text is a phrase search.
    for (what, text) in [
        ("a word", format!("\"{whole}\"")),
        ("a beginning", beginning.to_owned()),
        ("a short beginning", whole[..1].to_owned()),
        ("a word with typos", mistyped),
    ] {
        let query = SearchQuery {
            query: Query::parse(&text),
            scope: scope.clone(),
            after: None,
            limit: 50,
            tenant: "org".into(),
        };
        group.bench_function(BenchmarkId::new(what, words), |b| {
            b.iter(|| rt.block_on(async { black_box(index.find_pages(&query).await) }));
        });
    }
    group.finish();
    Ok(())
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = search, words
}
criterion_main!(benches);
