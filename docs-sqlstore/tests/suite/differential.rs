//! Differential tests of the stores: for random programs of operations, the platform returns the same results on every
//! store and leaves the same data.
//!
//! The platform of each store has its own clock and its own source of ids. The clocks advance in step, and the sources
//! produce the same ids. Results are therefore compared unchanged: any different id, time or cursor is a difference
//! between the stores. This includes ids drawn by retries of an operation, so every platform has to draw the same
//! number of ids.

mod acts;
mod dump;
mod known;
mod nodes;
mod outside;
mod program;

use std::{collections::BTreeMap, future::Future, time::Duration};

use docs_core::store::{PageRequest, verify};
use docs_memstore::{ManualClock, MemGit};
use parking_lot::Mutex;
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use serde_json::{Value, json};

use self::{
    acts::Act,
    known::Known,
    nodes::{Memory, Node, SqliteFile},
    program::{Step, What, programs},
};

/// Longer time spans in milliseconds, which pass occasionally. They cover leases, retries, receipts, the restore window
/// and the retention of jobs.
const SPANS: &[u64] = &[
    1_000,
    5_000,
    31_000,
    31_000,
    3_600_000,
    3_600_000,
    90_000_000,
    90_000_000,
    604_800_000,
    604_800_001,
    2_700_000_000,
];

/// Number of successes and failures of each operation.
static TALLY: Mutex<BTreeMap<What, (u64, u64)>> = Mutex::new(BTreeMap::new());

/// The platforms, and the items known to exist on them.
struct World {
    nodes: Vec<Node>,
    known: Known,
    repository: MemGit,
}

impl World {
    /// Creates platforms in memory and on an SQLite file, each with the actors and a first space.
    async fn new() -> Self {
        Self::with(outside::repository()).await
    }

    /// Creates the platforms with this Git repository.
    async fn with(repository: MemGit) -> Self {
        let (memory, sqlite) = (ManualClock::default(), ManualClock::default());
        let nodes = vec![
            Node::new(Box::new(Memory::new(&memory)), memory, &repository).await,
            Node::new(Box::new(SqliteFile::new(&sqlite)), sqlite, &repository).await,
        ];
        Self { nodes, known: Known::default(), repository }
    }

    /// Creates the platforms, plus one on a PostgreSQL server.
    #[cfg(feature = "postgres")]
    async fn with_postgres() -> Self {
        let mut world = Self::new().await;
        let server = crate::postgres::Postgres::new().expect("a server is named");
        let (schema, clock) = (server.new_schema().await, server.clock.clone());
        let place = Box::new(nodes::Schema { server, schema });
        world.nodes.push(Node::new(place, clock, &world.repository).await);
        world
    }

    /// Creates the actors on every platform.
    async fn begin(&mut self) -> Result<(), TestCaseError> {
        for at in 0..self.nodes.len() {
            let known = acts::cast(self.nodes[at].platform()).await;
            if at > 0 {
                prop_assert_eq!(&known, &self.known, "{}", self.nodes[at].name());
            }
            self.known = known;
        }
        Ok(())
    }

    /// Runs a step on every platform and compares the results.
    async fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        for node in &self.nodes {
            node.pass(Duration::from_millis(step.after));
        }
        let mut dice = step.dice();
        match step.what {
            What::Pass => {
                let span = Duration::from_millis(*dice.of(SPANS));
                self.nodes.iter().for_each(|node| node.pass(span));
            }
            What::ChangeRepository => outside::change(&self.repository, &mut dice),
            _ => {}
        }
        let mut answers = Vec::new();
        for node in &self.nodes {
            answers.push(Act::answer(node.platform(), &self.known, step).await);
        }
        for (node, answer) in self.nodes.iter().zip(&answers) {
            same(self.nodes[0].name(), &answers[0], node.name(), answer)
                .map_err(|why| TestCaseError::fail(format!("{step:?}: {why}")))?;
        }
        let failed = ["Internal", "Unavailable"].iter().any(|kind| answers[0]["refused"] == *kind);
        prop_assert!(!failed, "{:?}: {}", step, answers[0]);
        let refused = answers[0].get("refused").or(answers[0].get("unreadable")).is_some();
        let mut tally = TALLY.lock();
        let (done, not) = tally.entry(step.what).or_default();
        *(if refused { not } else { done }) += 1;
        drop(tally);
        self.known.learn(step, &answers[0]);
        Ok(())
    }

    /// Checks that indexes and counters match the records on every store, and that all stores have the same content.
    async fn check(&self) -> Result<(), TestCaseError> {
        let mut first = None;
        for node in &self.nodes {
            let drift = verify(node.platform().store().as_ref()).await.expect("the store can be read");
            prop_assert!(drift.is_none(), "{}: {drift:?}", node.name());
            let dump = dump::dump(node).await;
            let expected = first.get_or_insert_with(|| dump.clone());
            for (one, other) in expected.iter().zip(&dump) {
                same(self.nodes[0].name(), one, node.name(), other).map_err(TestCaseError::fail)?;
            }
            prop_assert_eq!(expected.len(), dump.len(), "{} holds more or less", node.name());
        }
        Ok(())
    }
}

/// Compares two values. The error contains both, reduced to the difference.
fn same(one: &str, a: &Value, other: &str, b: &Value) -> Result<(), String> {
    if a == b {
        return Ok(());
    }
    let (a, b) = (a.to_string(), b.to_string());
    let differs = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count().saturating_sub(200);
    let cut = |text: &str| text.chars().skip(differs).take(1_000).collect::<String>();
    Err(format!("they differ\n  {one}: …{}\n  {other}: …{}", cut(&a), cut(&b)))
}

async fn run(mut world: World, program: &[Step], reopened: &[usize]) -> Result<(), TestCaseError> {
    world.begin().await?;
    for (at, step) in program.iter().enumerate() {
        if reopened.contains(&at) {
            for node in &mut world.nodes {
                node.reopen().await;
            }
        }
        world.step(step).await?;
    }
    world.check().await
}

/// Runs a program to completion.
fn finish(program: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(program)
}

/// Runs `PROPTEST_CASES` programs; the default is `programs`. Programs are long, so the default is small.
fn config(programs: u32, seeds: &'static str) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(programs),
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(seeds))),
        max_shrink_iters: 2_000,
        max_shrink_time: 180_000,
        ..ProptestConfig::default()
    }
}

/// Prints the number of successes and failures of each operation, to show how much of the programs was effective.
fn tell() {
    println!("operations (done, refused): {:?}", TALLY.lock());
}

#[test]
fn git_import_terminates_for_unstorable_repository_content() {
    for (at, (repository, end)) in outside::odd().into_iter().enumerate() {
        let ended = finish(async {
            let mut world = World::with(repository).await;
            world.begin().await?;
            for node in &world.nodes {
                let (p, known) = (node.platform(), &world.known);
                let (admin, space) = (known.actor(0), known::id(&known.spaces[0].id));
                let request = json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" });
                let request = serde_json::from_value(request).expect("a request");
                p.as_actor(&admin).space(&space).import_git(request).await.expect("enqueued");
                p.settle().await.map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
                let jobs = p.as_actor(&admin).space(&space).list_jobs(&PageRequest::default()).await;
                let job = jobs.expect("listed").items.remove(0);
                prop_assert_eq!(job.state, end, "{:?}", job.error);
            }
            world.check().await
        });
        assert!(ended.is_ok(), "repository {at}: {ended:?}");
    }
}

const SEEDS: &str = "tests/suite/differential.regressions";

#[test]
fn results_are_equal_over_sqlite_and_memory() {
    proptest!(config(16, SEEDS), |(program in programs(220..310))| {
        finish(async { run(World::new().await, &program, &[]).await })?;
    });
    tell();
}

#[test]
fn reopening_a_sqlite_file_changes_no_result() {
    let moments = prop::collection::vec(1..250_usize, 1..6);
    proptest!(config(6, SEEDS), |(program in programs(220..310), moments in moments)| {
        finish(async { run(World::new().await, &program, &moments).await })?;
    });
    tell();
}

#[cfg(feature = "postgres")]
#[test]
fn results_are_equal_over_postgresql_sqlite_and_memory() {
    if crate::postgres::Postgres::new().is_none() {
        return;
    }
    proptest!(config(4, SEEDS), |(program in programs(220..310))| {
        finish(async { run(World::with_postgres().await, &program, &[]).await })?;
    });
    tell();
}

#[cfg(feature = "postgres")]
#[test]
fn node_takeover_on_postgresql_changes_no_result() {
    if crate::postgres::Postgres::new().is_none() {
        return;
    }
    let moments = prop::collection::vec(1..250_usize, 1..6);
    proptest!(config(2, SEEDS), |(program in programs(220..310), moments in moments)| {
        finish(async { run(World::with_postgres().await, &program, &moments).await })?;
    });
    tell();
}
