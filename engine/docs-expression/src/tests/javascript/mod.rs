//! Compares the results of random expressions with those of a JavaScript engine (`node`), if one is installed.
//!
//! Where the languages differ, an expression is generated in both forms; [`generate`] documents the differences.
//! Expressions that reach one of our limits or take too long in the engine are not compared. They must be rare.
//!
//! `DOCS_TEST_EXPRESSIONS` sets the number of expressions, and `DOCS_TEST_SEED` the random seed.

mod generate;
mod kinds;
mod literals;
mod mutate;
mod pools;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde::Deserialize;
use serde_json::{Value as Json, json};

use self::generate::{Both, Generator};
use crate::*;

const ENGINE: &str = include_str!("engine.js");
/// Number of expressions per line of engine input.
const BATCH: usize = 500;
/// Number of contexts shared by the expressions of a batch.
const CONTEXTS: usize = 20;
/// Maximum number of differences to report.
const SHOWN: usize = 25;

/// A small pseudorandom number generator (xorshift). Equal seeds result in equal expressions.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// The engine process, which exits at the end of its input.
struct Engine {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// The result of an expression in the engine.
#[derive(Deserialize, Debug)]
#[serde(untagged)]
#[expect(dead_code, reason = "why it failed there is for who reads the message of a difference")]
enum Answer {
    Value { value: String, holds: bool, inline: String },
    Failed { failed: String },
    Refused { refused: String },
    Read { read: bool },
    Long { long: bool },
}

impl Engine {
    fn start() -> Option<Self> {
        let node =
            Command::new("node").args(["-e", ENGINE]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = match node {
            Ok(child) => child,
            Err(error) => {
                println!("skipped: there is no `node` to compare with ({error})");
                return None;
            }
        };
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Some(Self { child, input, output })
    }

    fn ask(&mut self, batch: &Json) -> Vec<Answer> {
        writeln!(self.input, "{batch}").unwrap();
        self.input.flush().unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn stop(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

/// Returns the number of expressions to compare and the random seed.
fn asked(usual: usize) -> (usize, u64) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let count = number("DOCS_TEST_EXPRESSIONS").map_or(usual, |count| usize::try_from(count).unwrap());
    (count, number("DOCS_TEST_SEED").unwrap_or(1).max(1))
}

fn context_of(json: &Json) -> Context {
    let variables =
        |name: &str| serde_json::from_value::<BTreeMap<String, Json>>(json[name].clone()).unwrap();
    Context::empty()
        .with_visitor(&json["signed"], &json["unsigned"])
        .with_space(&variables("space"))
        .with_page(&variables("page"))
}

/// Formats a value like the engine's `shown`.
fn shown(value: &Value) -> String {
    let list = |all: Vec<String>| all.join(", ");
    match value {
        Value::Array(array) => format!("[{}]", list(array.items().iter().map(shown).collect())),
        Value::Object(object) => {
            let name = |name: &str| serde_json::to_string(name).unwrap();
            let members = object.members().map(|(key, value)| format!("{}: {}", name(key), shown(value)));
            format!("{{{}}}", list(members.collect()))
        }
        other => format!("{other:?}"),
    }
}

/// The numbers of compared expressions, and their differences.
#[derive(Default)]
struct Tally {
    values: usize,
    failures: usize,
    limits: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn compare(&mut self, both: &Both, world: &Json, context: &Context, ours: Ended, answer: &Answer) {
        let (found, agrees) = match (&ours, answer) {
            (Ended::Value(value), Answer::Value { value: theirs, holds, inline: text }) => {
                self.values += 1;
                let agrees = shown(value) == *theirs
                    && condition(&both.ours, context) == *holds
                    && inline(&both.ours, context) == *text;
                (shown(value), agrees)
            }
            (Ended::Failed(error), Answer::Failed { .. }) => {
                self.failures += 1;
                (error.clone(), true)
            }
            (Ended::Value(_), Answer::Long { long }) => {
                self.limits += usize::from(*long);
                return;
            }
            (Ended::Value(value), _) => (shown(value), false),
            (Ended::Failed(error) | Ended::Refused(error), _) => (format!("({error})"), false),
        };
        if !agrees {
            let Both { ours, theirs } = both;
            self.wrong.push(format!("{ours}\n  as {theirs}\n  with {world}\n  is {found}, not {answer:?}"));
        }
    }

    fn conclude(self, what: &str, seed: u64) {
        let Self { values, failures, limits, mut wrong } = self;
        let count = wrong.len();
        wrong.sort_by_key(String::len);
        println!(
            "{what}: {values} agree, {failures} fail on both sides, {limits} at a limit, {count} differ; seed {seed}"
        );
        assert!(wrong.is_empty(), "seed {seed}:\n{}", wrong[..count.min(SHOWN)].join("\n"));
        assert!(limits * 20 <= values, "too few are compared");
    }
}

/// The result of an expression in our evaluator.
enum Ended {
    Value(Value),
    Failed(String),
    Refused(String),
}

/// Evaluates an expression. Returns `None` if it reaches a limit that does not exist in JavaScript.
fn ended(source: &str, context: &Context) -> Option<Ended> {
    match Expression::parse(source) {
        Err(error) if error.message.contains("exceeds the limit of") => None,
        Err(error) => Some(Ended::Refused(error.to_string())),
        Ok(expression) => match expression.evaluate(context) {
            Ok(value) => Some(Ended::Value(value)),
            Err(EvalError::Wrong(message)) => Some(Ended::Failed(message.into_owned())),
            Err(_) => None,
        },
    }
}

#[test]
fn random_expressions_evaluate_as_in_javascript() {
    let (count, seed) = asked(20_000);
    let Some(mut engine) = Engine::start() else { return };
    let mut random = Random(seed);
    let mut tally = Tally::default();
    for start in (0..count).step_by(BATCH) {
        let worlds: Vec<Json> = (0..CONTEXTS).map(|_| pools::world(&mut random)).collect();
        let contexts: Vec<Context> = worlds.iter().map(context_of).collect();
        let mut cases = Vec::new();
        while cases.len() < BATCH.min(count - start) {
            let at = random.below(CONTEXTS);
            let both = Generator::expression(&mut random);
            if both.ours.chars().count() > MAX_LENGTH {
                continue;
            }
            // Expressions that reach our limits might not terminate in the engine.
            match ended(&both.ours, &contexts[at]) {
                None => tally.limits += 1,
                Some(ended) => cases.push((both, at, ended)),
            }
        }
        let sent: Vec<Json> =
            cases.iter().map(|(both, at, _)| json!({ "source": both.theirs, "context": at })).collect();
        let answers = engine.ask(&json!({ "contexts": worlds, "cases": sent }));
        assert_eq!(answers.len(), cases.len());
        for ((both, at, ended), answer) in cases.into_iter().zip(&answers) {
            tally.compare(&both, &worlds[at], &contexts[at], ended, answer);
        }
    }
    engine.stop();
    tally.conclude("random expressions", seed);
}

#[test]
fn mutated_expressions_parse_exactly_if_javascript_parses_them() {
    let (count, seed) = asked(10_000);
    let Some(mut engine) = Engine::start() else { return };
    let mut random = Random(seed);
    let mut tally = Tally::default();
    for start in (0..count).step_by(BATCH) {
        let size = BATCH.min(count - start);
        let sources: Vec<String> = (0..size).map(|_| mutate::broken(&mut random)).collect();
        let cases: Vec<Json> = sources.iter().map(|source| json!({ "source": source })).collect();
        let answers = engine.ask(&json!({ "contexts": [], "cases": cases }));
        assert_eq!(answers.len(), sources.len());
        for (source, answer) in sources.iter().zip(&answers) {
            match (Expression::parse(source), answer) {
                (Ok(_), Answer::Read { read: true }) => tally.values += 1,
                (Err(_), Answer::Refused { .. } | Answer::Read { read: false }) => tally.failures += 1,
                (Err(error), Answer::Read { read: true }) if mutate::is_left_out(source, &error) => {
                    tally.limits += 1;
                }
                (Ok(_), _) if mutate::is_added(source) => tally.limits += 1,
                (ours, answer) => tally.wrong.push(format!("{source}\n  is {ours:?}, not {answer:?}")),
            }
        }
    }
    engine.stop();
    assert!(tally.failures > count / 10);
    tally.conclude("broken expressions", seed);
}
