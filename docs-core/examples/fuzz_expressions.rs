//! Parses and evaluates random expressions in random contexts. Detects panics, slow inputs, excessive memory, and
//! results that depend on values that the expression reportedly does not read.
//!
//! An input is a list of random tokens, a mutated expression from the corpus, a few repeated fragments, or arbitrary
//! bytes. Times are CPU times, so other load on the machine has no effect: the time of parsing and evaluating an
//! expression, and the time of evaluating a small document that contains it. Memory is the peak of allocated bytes
//! during that time.
//!
//! `cargo run --release -p docs-core --example fuzz_expressions -- COUNT [SEED]`

#[path = "fuzz/inputs.rs"]
mod inputs;
#[path = "fuzz/random.rs"]
mod random;

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use docs_core::{
    content::{
        Evaluated, evaluate, evaluate_for_visitor,
        expression::{Claims, Context, Expression, ReadPath, condition, inline},
    },
    model::{Block, BlockKind, Document, Inline, InlineKind, Leaf, Node, TextNode, Variables},
};
use inputs::{TOKENS, input};
use peak_alloc::PeakAlloc;
use random::Random;
use serde_json::{Map, Value as Json, json};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Number of contexts in use.
const WORLDS: usize = 64;
/// Number of inputs after which the contexts are replaced.
const WHILE: u64 = 100_000;
/// Time limit per input.
const MOST_TIME: Duration = Duration::from_millis(10);
/// Memory limit per input in bytes.
const MOST_MEMORY: usize = 32 * 1024 * 1024;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let seed: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut random = Random::new(seed);
    let mut found = Found::default();
    let mut worlds = Vec::new();
    let start = Instant::now();
    for index in 0..count {
        if index % WHILE == 0 {
            worlds = (0..WORLDS).map(|_| World::any(&mut random)).collect();
        }
        let text = input(&mut random);
        let world = &worlds[random.below(WORLDS)];
        found.try_one(&text, world, &mut random);
        if index % 1_000_000 == 999_999 {
            found.report(index + 1, start.elapsed());
        }
    }
    found.report(count, start.elapsed());
}

/// The findings of a run.
#[derive(Default)]
struct Found {
    read: u64,
    valued: u64,
    panics: u64,
    slow: u64,
    slowest: Duration,
    slowest_document: Duration,
    large: u64,
    memory: usize,
    /// Number of inputs that were evaluated again after a change of values that they do not read, and the number of
    /// those with a different result.
    changed: u64,
    leaks: u64,
}

/// The outcome of an input. `leak` is set if the input was evaluated again after a change of values that it does not
/// read, and is `true` if its result differed.
struct Ended {
    read: bool,
    valued: bool,
    leak: Option<bool>,
    document: Duration,
}

impl Found {
    fn try_one(&mut self, text: &str, world: &World, random: &mut Random) {
        let (is_changed, is_document) = (random.below(32) == 0, random.below(64) == 0);
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let result = std::panic::catch_unwind(|| {
            let (taken, (read, valued)) = time(|| alone(text, world));
            let leak = is_changed.then(|| leak(text, world)).flatten();
            let document = if is_document { time(|| in_document(text, world)).0 } else { Duration::ZERO };
            (taken, Ended { read, valued, leak, document })
        });
        let memory = MEMORY.peak_usage().saturating_sub(before);
        let Ok((taken, ended)) = result else {
            self.panics += 1;
            return show("panic", text);
        };
        self.read += u64::from(ended.read);
        self.valued += u64::from(ended.valued);
        self.changed += u64::from(ended.leak.is_some());
        if ended.leak == Some(true) {
            self.leaks += 1;
            show("reads more than it says", text);
        }
        // Other processes share the CPU caches, so a slow input is measured again.
        let taken = again(taken, || time(|| alone(text, world)).0);
        let document = again(ended.document, || time(|| in_document(text, world)).0);
        if taken > self.slowest && taken > MOST_TIME / 2 {
            show(&format!("slowest so far ({taken:?})"), text);
        }
        self.slowest = self.slowest.max(taken);
        self.slowest_document = self.slowest_document.max(document);
        if taken > MOST_TIME {
            self.slow += 1;
            show(&format!("slow ({taken:?})"), text);
            for (name, claim) in world.signed.iter().chain(&world.unsigned) {
                let json = claim.to_string();
                println!(
                    "  claim {name}: {} bytes, {}",
                    json.len(),
                    json.chars().take(80).collect::<String>()
                );
            }
        }
        self.memory = self.memory.max(memory);
        if memory > MOST_MEMORY {
            self.large += 1;
            show(&format!("large ({memory} bytes)"), text);
        }
    }

    fn report(&self, count: u64, taken: Duration) {
        let seconds = taken.as_secs_f64().max(0.001);
        println!(
            "{count} inputs, {} read, {} with a value, {:.0} inputs/s; panics {}, slower than {MOST_TIME:?} {}, slowest \
             {:?} ({:?} in a document), more than {MOST_MEMORY} bytes {}, most {}, evaluated with other claims {}, \
             with another value then {}",
            self.read,
            self.valued,
            count as f64 / seconds,
            self.panics,
            self.slow,
            self.slowest,
            self.slowest_document,
            self.large,
            self.memory,
            self.changed,
            self.leaks,
        );
    }
}

fn time<T>(run: impl Fn() -> T) -> (Duration, T) {
    let start = ThreadTime::now();
    let answer = std::hint::black_box(run());
    (start.elapsed(), answer)
}

fn again(taken: Duration, run: impl Fn() -> Duration) -> Duration {
    if taken > MOST_TIME / 2 { (0..10).map(|_| run()).min().unwrap_or(taken).min(taken) } else { taken }
}

fn show(what: &str, text: &str) {
    println!("{what}: {:?}", text.chars().take(1_100).collect::<String>());
}

/// Parses and evaluates an expression on its own.
fn alone(text: &str, world: &World) -> (bool, bool) {
    let Ok(expression) = Expression::parse(text) else { return (false, false) };
    let _ = expression.is_deterministic(&world.claims);
    let value = expression.evaluate(&world.context);
    (true, value.is_ok())
}

/// Returns `true` if a change of values that the expression does not read changes its result, or `None` for a malformed
/// expression.
fn leak(text: &str, world: &World) -> Option<bool> {
    let expression = Expression::parse(text).ok()?;
    let (plain, other) = (world.context.clone(), world.without(expression.reads()));
    let value = |context: &Context| expression.evaluate(context).map(|value| format!("{value:?}"));
    let is_other = value(&plain) != value(&other)
        || condition(text, &plain) != condition(text, &other)
        || inline(text, &plain) != inline(text, &other);
    Some(is_other)
}

/// Evaluates a document that contains the expression as a condition and as inline content, in all modes: up to ten
/// evaluations.
fn in_document(text: &str, world: &World) -> usize {
    let paragraph = |nodes| Node::Block(Block::new(BlockKind::Paragraph { align: None }, nodes));
    let leaf = || Node::Text(TextNode::new(vec![Leaf::new("a", Vec::new())]));
    let value = Inline::new(InlineKind::Expression { expression: text.to_owned() }, Vec::new());
    let held = paragraph(vec![leaf(), Node::Inline(value)]);
    let document = Document::new(vec![Block::new(BlockKind::If { expression: text.to_owned() }, vec![held])]);
    let modes = [Evaluated::No, Evaluated::Yes, Evaluated::DeterministicOnly];
    let all = modes.map(|mode| {
        let member = evaluate(&document, mode, &world.context, &world.claims);
        member.nodes.len() + evaluate_for_visitor(&document, mode, &world.context, &world.claims).nodes.len()
    });
    all.iter().sum()
}

/// A visitor and a page.
struct World {
    signed: Map<String, Json>,
    unsigned: Map<String, Json>,
    space: Map<String, Json>,
    page: Map<String, Json>,
    context: Context,
    claims: Claims,
}

impl World {
    fn any(random: &mut Random) -> Self {
        let [signed, unsigned] = [(); 2].map(|()| members(random, CLAIMS, value));
        let [space, page] = [(); 2].map(|()| members(random, VARIABLES, |random, _| scalar(random)));
        let context = context([&signed, &unsigned, &space, &page]);
        let claims = Claims::from_schema(&json!({ "type": "object", "properties": schema(random, 2) }));
        Self { signed, unsigned, space, page, context, claims }
    }

    /// Returns a context where all values outside these paths are replaced.
    fn without(&self, read: &std::collections::BTreeSet<ReadPath>) -> Context {
        let other = |members: &Map<String, Json>, names: &[&str], value: &Json| {
            let is_read = |name: &str| {
                let own: Vec<&str> = names.iter().copied().chain([name]).collect();
                read.iter().any(|path| path.names().zip(&own).all(|(a, b)| a == *b))
            };
            let mut all: Map<String, Json> = members
                .iter()
                .filter(|(name, _)| is_read(name))
                .map(|(name, it)| (name.clone(), it.clone()))
                .collect();
            for name in members.keys().map(String::as_str).chain(["added"]).filter(|name| !is_read(name)) {
                all.insert(name.to_owned(), value.clone());
            }
            all
        };
        let signed = other(&self.signed, &["visitor", "claims"], &json!({ "other": ["other"] }));
        let unsigned = other(&self.unsigned, &["visitor", "claims", "unsigned"], &json!(["other"]));
        let space = other(&self.space, &["space", "vars"], &json!("other"));
        let page = other(&self.page, &["page", "vars"], &json!(-123.5));
        context([&signed, &unsigned, &space, &page])
    }
}

fn context([signed, unsigned, space, page]: [&Map<String, Json>; 4]) -> Context {
    let json = |members: &Map<String, Json>| Json::Object(members.clone());
    let variables =
        |members: &Map<String, Json>| serde_json::from_value::<Variables>(json(members)).unwrap_or_default();
    Context::empty()
        .with_visitor(&json(signed), &json(unsigned))
        .with_space(&variables(space))
        .with_page(&variables(page))
}

fn members(random: &mut Random, names: &[&str], value: fn(&mut Random, usize) -> Json) -> Map<String, Json> {
    let mut all = Map::new();
    for _ in 0..random.below(8) {
        let name = random.pick(names).to_owned();
        all.insert(name, value(random, 3));
    }
    all
}

fn scalar(random: &mut Random) -> Json {
    match random.below(4) {
        0 => json!(random.below(2) == 0),
        1 => json!(random.below(100)),
        2 => json!(f64::from_bits(random.next())),
        _ => json!(random.pick(TOKENS)),
    }
}

fn value(random: &mut Random, depth: usize) -> Json {
    // Some claims have the maximum size.
    let many = if random.below(8) == 0 { 4_000 } else { 6 };
    match random.below(if depth == 0 { 3 } else { 8 }) {
        0 => Json::Null,
        1 | 2 => scalar(random),
        3 => json!(random.pick(&["x", "ab", "aaaab", "é😀", " "]).repeat(random.below(many * 2))),
        4 | 5 => {
            let item = value(random, depth - 1);
            let is_small = item.is_number() || item.is_boolean() || item.is_null();
            Json::Array(vec![item; random.below(if is_small { many } else { 6 })])
        }
        _ => Json::Object(members(random, CLAIMS, |random, _| scalar(random))),
    }
}

fn schema(random: &mut Random, depth: usize) -> Json {
    let mut all = Map::new();
    for _ in 0..random.below(8) {
        let of = match random.below(if depth == 0 { 4 } else { 5 }) {
            0 => json!({ "type": "boolean" }),
            1 => json!({ "type": "string", "enum": ["a", "b"] }),
            2 => json!({ "type": "string" }),
            3 => json!({ "type": "array", "items": { "type": "boolean" } }),
            _ => json!({ "type": "object", "properties": schema(random, depth - 1) }),
        };
        all.insert(random.pick(CLAIMS).to_owned(), of);
    }
    Json::Object(all)
}

const CLAIMS: &[&str] =
    &["plan", "beta", "seats", "tags", "team", "text", "list", "flag", "unsigned", "a", "b", "0"];

const VARIABLES: &[&str] = &["version", "limit", "on", "a", "b", "text"];
