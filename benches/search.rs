//! `cargo bench -p docs-benches --bench search`: the cost of searches and writes in an index, in a folder and in
//! memory.
//!
//! Each page has about 5 kB of words with a Zipf distribution. `DOCS_BENCH_PAGES=1000,10000,100000` selects the numbers
//! of pages. Prints the median and the 99th percentile of the CPU time of each kind of query, over 200 queries.

use std::{
    collections::BTreeSet,
    env, fs,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use cpu_time::ProcessTime;
use docs_benches::Outcome;
use docs_core::{
    ports::{
        SearchIndex,
        search::{IndexChange, PageDocument, Query, Scope, SearchQuery, Section},
    },
    store::Hash,
};
use docs_memstore::MemSearch;
use docs_search::TantivySearch;
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// Number of pages per space.
const OF_A_SPACE: usize = 100;
/// Number of distinct words.
const WORDS: usize = 50_000;
/// Words per section, and sections per page: about 5 kB.
const OF_A_SECTION: usize = 140;
const SECTIONS: usize = 5;
/// Number of different queries of a kind.
const QUERIES: usize = 200;
/// Hits per query.
const HITS: usize = 20;

/// A generator of pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap_or_default()
    }

    /// Returns the rank of a word: the probability of rank `n` is proportional to `1 / n`.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn zipf(&mut self) -> usize {
        let part = self.next() as f64 / u64::MAX as f64;
        ((WORDS as f64).powf(part) as usize).clamp(1, WORDS) - 1
    }
}

/// Returns a word of two to five syllables that encodes its rank.
fn word(rank: usize) -> String {
    let mut mixed = rank.wrapping_mul(0x9e37_79b1) ^ (rank << 7);
    let mut word = String::new();
    for _ in 0..2 + rank.ilog10_or_zero() / 2 {
        word.push(char::from(b"bcdfghklmnprstvwz"[mixed % 17]));
        word.push(char::from(b"aeiou"[mixed / 17 % 5]));
        mixed /= 85;
    }
    word + ["", "n", "r", "l", "s"][rank % 5] + &suffix(rank)
}

/// Returns letters that make a word unique.
fn suffix(rank: usize) -> String {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap_or_default());
    match rank {
        0..500 => String::new(),
        _ => [letter(rank), letter(rank / 26), letter(rank / 676)].into_iter().collect(),
    }
}

trait Log10 {
    fn ilog10_or_zero(self) -> usize;
}

impl Log10 for usize {
    fn ilog10_or_zero(self) -> usize {
        self.checked_ilog10().unwrap_or_default() as usize
    }
}

fn words(random: &mut Random, count: usize) -> String {
    let mut text = String::new();
    for n in 0..count {
        if n > 0 {
            text.push_str(if random.below(12) == 0 { ". " } else { " " });
        }
        text.push_str(&word(random.zipf()));
    }
    text
}

fn page(n: usize, edit: usize) -> Outcome<PageDocument> {
    let random = &mut Random(0x1234_5678_9abc_def1 ^ ((n as u64 + 1) << 20) ^ edit as u64);
    (0..4).for_each(|_| _ = random.next());
    let sections = (0..SECTIONS).map(|at| Section {
        anchor: Some(format!("part-{at}")),
        heading: (at > 0).then(|| words(random, 3)),
        text: words(random, OF_A_SECTION),
    });
    Ok(PageDocument {
        organization: "org".parse()?,
        space: format!("space{}", n / OF_A_SPACE).parse()?,
        page: format!("page{n}").parse()?,
        sections: sections.collect(),
        title: words(random, 4),
        description: Some(words(random, 10)),
        text: Hash::compute(&[n.to_be_bytes(), edit.to_be_bytes()].concat()),
    })
}

/// Fills an index. Returns the time that the index took, without that of making the pages.
async fn fill(index: &impl SearchIndex, pages: usize) -> Outcome<Duration> {
    let mut took = Duration::ZERO;
    for start in (0..pages).step_by(500) {
        let pages = (start..pages.min(start + 500)).map(|n| Ok(IndexChange::PutPage(Box::new(page(n, 0)?))));
        let changes: Vec<IndexChange> = pages.collect::<Outcome<_>>()?;
        let began = Instant::now();
        index.apply(changes, None).await?;
        took += began.elapsed();
    }
    Ok(took)
}

fn size_of(folder: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}

/// A kind of query, and a function that makes one.
type Kind = (&'static str, fn(&mut Random, usize) -> String);

fn rare(random: &mut Random) -> String {
    word(2_000 + random.below(20_000))
}

fn frequent(random: &mut Random) -> String {
    word(random.below(20))
}

fn usual(random: &mut Random) -> String {
    word(50 + random.below(1_000))
}

const KINDS: [Kind; 9] = [
    ("rare word", |random, _| rare(random) + " "),
    ("frequent word", |random, _| frequent(random) + " "),
    ("two words", |random, _| format!("{} {} ", usual(random), frequent(random))),
    ("two frequent words", |random, _| format!("{} {} ", frequent(random), frequent(random))),
    ("three words", |random, _| format!("{} {} {} ", usual(random), frequent(random), usual(random))),
    ("phrase", |random, pages| {
        let text = page(random.below(pages), 0).map(|page| page.sections[0].text.clone()).unwrap_or_default();
        let mut words = text.split(' ').skip(random.below(100));
        format!("\"{} {}\"", words.next().unwrap_or_default(), words.next().unwrap_or_default())
    }),
    ("prefix of two letters", |random, _| usual(random)[..2].to_owned()),
    ("prefix of four letters", |random, _| usual(random)[..4].to_owned()),
    ("one typo", |random, _| {
        let word = usual(random);
        let at = 1 + random.below(word.len() - 2);
        format!("{}x{} ", &word[..at], &word[at + 1..])
    }),
];

fn percentile(times: &mut [Duration], part: usize) -> f64 {
    times.sort_unstable();
    times.get(times.len() * part / 100).map_or(0.0, Duration::as_secs_f64) * 1_000.0
}

/// Measures each kind of query in a scope, and prints a line for each.
fn measure(rt: &Runtime, index: &impl SearchIndex, name: &str, pages: usize) -> Outcome<()> {
    let spaces = pages.div_ceil(OF_A_SPACE);
    let site = (0..spaces).step_by(10).map(|n| Ok(format!("space{n}").parse()?)).collect::<Outcome<_>>()?;
    let scopes = [
        ("organization", Scope::Organization("org".parse()?)),
        ("space", Scope::Spaces(BTreeSet::from([format!("space{}", spaces / 2).parse()?]))),
        ("site", Scope::Spaces(site)),
    ];
    for (place, scope) in scopes {
        for (kind, make) in KINDS {
            let mut random = Random(0x9e37_79b9_7f4a_7c15);
            let mut times = Vec::new();
            let mut hits = 0;
            for _ in 0..QUERIES.min(pages) {
                let query = SearchQuery {
                    query: Query::parse(&make(&mut random, pages)),
                    scope: scope.clone(),
                    after: None,
                    limit: HITS,
                    tenant: "org".into(),
                };
                let began = ProcessTime::now();
                let found = rt.block_on(async { black_box(index.find_pages(&query).await) })?;
                times.push(began.elapsed());
                hits += found.len();
            }
            let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
            let mean = hits / times.len().max(1);
            println!(
                "{pages:>7} {name:>7} {place:>13} {kind:>23} p50 {p50:8.3} ms p99 {p99:8.3} ms hits {mean}"
            );
        }
    }
    Ok(())
}

fn measure_writes(rt: &Runtime, index: &impl SearchIndex, name: &str, pages: usize) -> Outcome<()> {
    let mut times = Vec::new();
    for edit in 1..=20 {
        let change = IndexChange::PutPage(Box::new(page(edit * 7 % pages, edit)?));
        let began = Instant::now();
        rt.block_on(index.apply(vec![change], None))?;
        times.push(began.elapsed());
    }
    let (p50, p99) = (percentile(&mut times, 50), percentile(&mut times, 99));
    println!("{pages:>7} {name:>7} {:>37} p50 {p50:8.3} ms p99 {p99:8.3} ms", "update of one page");
    Ok(())
}

fn main() -> Outcome<()> {
    let is_bench = env::args().any(|arg| arg == "--bench");
    let sizes = env::var("DOCS_BENCH_PAGES").unwrap_or_else(|_| "1000,10000".to_owned());
    let sizes = if is_bench { sizes } else { "100".to_owned() };
    let rt: Runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    for pages in sizes.split(',') {
        let pages: usize = pages.trim().parse()?;
        let folder = TempDir::new()?;
        let index = TantivySearch::folder(folder.path())?;
        let took = rt.block_on(fill(&index, pages))?;
        println!("{pages} pages: indexed in {took:.1?}, {} kB on disk", size_of(folder.path())? / 1_000);
        drop(index);
        let began = Instant::now();
        let index = TantivySearch::folder(folder.path())?;
        println!(
            "{pages} pages: opened in {:.1?}, {} kB on disk",
            began.elapsed(),
            size_of(folder.path())? / 1_000
        );
        measure(&rt, &index, "folder", pages)?;
        measure_writes(&rt, &index, "folder", pages)?;
        if pages <= 10_000 {
            let index = MemSearch::new();
            let took = rt.block_on(fill(&index, pages))?;
            println!("{pages} pages: indexed in memory in {took:.1?}");
            measure(&rt, &index, "memory", pages)?;
            measure_writes(&rt, &index, "memory", pages)?;
        }
    }
    Ok(())
}
