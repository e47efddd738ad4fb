//! Fuzzing with repetitive inputs, for tests. Checks the time and memory that parsers use.
//!
//! Every input is parsed on a thread with the stack size of a runtime thread, so that unbounded recursion fails the
//! test. Memory usage is the peak of live bytes. It is limited to a number of bytes per input byte, plus a constant per
//! parser. Time is CPU time, which depends on the machine, so it is checked only if `DOCS_FUZZ_INPUTS` sets the number
//! of inputs per parser. Both are measured for the parsing thread, so that tests can run concurrently. For a parser
//! that starts threads, they are measured for the whole process, and tests run one after another.
//!
//! First, each fragment is repeated, both plainly and as a staircase, to a short, a long and the maximum length of the
//! parser. Random combinations of fragments follow. Of these, 998 in 1,000 have 16 bytes to 2 KiB, distributed evenly
//! over the powers of two, so half of them are shorter than 200 bytes. One in 1,000 has 2 KiB to 1 MiB, with the same
//! distribution. One in 1,000 is long: 1 to 1.25 MB, and one in 16 of these has the maximum length. If the maximum
//! length is less than 1 MB, all of these have it. Short inputs provide coverage, and long inputs expose superlinear
//! growth. A million inputs have about 2 GB.
//!
//! `DOCS_FUZZ_PARSER` selects a single parser, `DOCS_FUZZ_SEED` sets the random seed, `DOCS_FUZZ_SECONDS` limits the
//! time per parser, and `DOCS_FUZZ_KEEP` names a directory for inputs that exceed a limit or panic. `DOCS_FUZZ_AGAIN`
//! parses one of these files again. With `--nocapture`, each parser prints its most expensive inputs.
//!
//! Crates that depend on this crate use its counting allocator.

mod heap;
mod inputs;
mod markdown;
mod parser;
mod tex;

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use cpu_time::{ProcessTime, ThreadTime};

pub use heap::{assert_weight, own_peak_of, peak_of, retained_by};
pub use inputs::Random;
pub use markdown::{MARKDOWN, MARKDOWN_FRAMES};
pub use parser::{Parser, ParserFn};
pub use tex::TEX;

/// The stack size of a runtime thread.
const STACK: usize = 2 * 1024 * 1024;
/// Default number of inputs per parser.
const INPUTS: u64 = 40;
/// Maximum memory in bytes per input byte.
pub const MAX_MEMORY_PER_BYTE: usize = 20;
/// Constant memory in bytes available to each input, for buffers and tables of fixed size.
pub const CONSTANT_MEMORY: usize = 1 << 20;
/// Maximum time per input, if time is checked.
const MOST_TIME: Duration = Duration::from_secs(1);

/// Runs all parsers on a thread with a small stack: first with repeated fragments, then with random inputs. All threads
/// of the process are measured, so tests that call this run one after another.
///
/// # Panics
/// If an input exceeds a limit, or if the thread panics.
pub fn run(parsers: &'static [Parser]) {
    let _alone = lock_process();
    run_within(parsers, MeasureScope::Nothing);
}

/// Runs all parsers like [`run`], but measures only the parsing thread, so that tests can run concurrently. The parsers
/// must not start threads.
///
/// # Panics
/// See [`run`].
pub fn run_among_others(parsers: &'static [Parser]) {
    run_within(parsers, MeasureScope::Others);
}

/// Concurrent activity in the process during a test.
#[derive(Clone, Copy)]
enum MeasureScope {
    Nothing,
    Others,
}

impl MeasureScope {
    /// Measures the memory in bytes and the time that `work` uses.
    fn measure(self, work: impl FnOnce()) -> (usize, Duration) {
        match self {
            Self::Nothing => {
                let start = ProcessTime::now();
                let ((), peak) = peak_of(work);
                (peak, start.elapsed())
            }
            Self::Others => {
                let start = ThreadTime::now();
                let ((), peak) = own_peak_of(work);
                (peak, start.elapsed())
            }
        }
    }
}

fn run_within(parsers: &'static [Parser], beside: MeasureScope) {
    let chosen = RunConfig {
        inputs: number("DOCS_FUZZ_INPUTS"),
        beside,
        seed: number("DOCS_FUZZ_SEED").unwrap_or(1),
        until: number("DOCS_FUZZ_SECONDS").map(Duration::from_secs),
    };
    let wanted = std::env::var("DOCS_FUZZ_PARSER").ok();
    let is_wanted = |parser: &&Parser| wanted.as_deref().is_none_or(|name| name == parser.name);
    let parsers: Vec<&'static Parser> = parsers.iter().filter(is_wanted).collect();
    let failures = std::thread::scope(|scope| {
        let work = || parsers.iter().flat_map(|parser| chosen.read(parser)).collect::<Vec<_>>();
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        thread.map(|thread| thread.join())
    });
    match failures {
        Ok(Ok(failures)) => {
            let told = failures.join("\n");
            assert!(failures.is_empty(), "{} inputs exceed their limits:\n{told}", failures.len());
        }
        Ok(Err(_)) => panic!("an input crashed its parser thread"),
        Err(error) => panic!("failed to start thread: {error}"),
    }
}

/// Reads a number from an environment variable.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, is {text:?}")))
}

/// Serializes tests that measure the memory of the process.
pub fn lock_process() -> MutexGuard<'static, ()> {
    static PROCESS_LOCK: Mutex<()> = Mutex::new(());
    PROCESS_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The configuration of a run.
struct RunConfig {
    inputs: Option<u64>,
    beside: MeasureScope,
    seed: u64,
    /// Maximum time per parser.
    until: Option<Duration>,
}

impl RunConfig {
    /// Runs the inputs of a parser, which depend only on the parser and the seed. Returns the failures.
    fn read(&self, parser: &Parser) -> Vec<String> {
        let began = Instant::now();
        let is_over = || self.until.is_some_and(|most| began.elapsed() > most);
        let mut seen = RunStats::default();
        let is_long = self.inputs.is_some();
        if let Some(file) = std::env::var_os("DOCS_FUZZ_AGAIN") {
            let kept = std::fs::read(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            seen.take(parser, &String::from_utf8_lossy(&kept), &kept, self);
            seen.print_summary(parser);
            return seen.failures;
        }
        for input in inputs::repeated_inputs(parser, is_long) {
            seen.read(parser, &input, self);
            if is_over() {
                break;
            }
        }
        let name = parser.name.bytes();
        let mut random = Random::new(
            name.fold(self.seed, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))),
        );
        for at in 0..self.inputs.unwrap_or(INPUTS) {
            if is_over() {
                break;
            }
            seen.read(parser, &parser.input(at, &mut random), self);
        }
        seen.print_summary(parser);
        seen.failures
    }
}

#[derive(Default)]
struct RunStats {
    inputs: u64,
    /// Number of long inputs, which have at least 1 MB or nearly the maximum length.
    long: u64,
    bytes: u64,
    memory: f64,
    slowest: Duration,
    /// A description of the slowest input.
    slow: String,
    /// The inputs that used the most memory per byte, worst first.
    worst: Vec<(f64, String)>,
    failures: Vec<String>,
}

/// Number of worst inputs to report.
const REPORTED_INPUTS: usize = 4;

impl RunStats {
    /// Prints a summary of the inputs and their cost.
    fn print_summary(&self, parser: &Parser) {
        println!(
            "{}: {} inputs, {} of them long, {} bytes, at most {:.1} bytes of memory per byte above {}, \
             slowest {:?}",
            parser.name, self.inputs, self.long, self.bytes, self.memory, parser.own, self.slowest
        );
        println!("    slowest: {}", self.slow);
        for (beyond, told) in &self.worst {
            println!("    {beyond:.1}: {told}");
        }
    }

    fn read(&mut self, parser: &Parser, input: &str, chosen: &RunConfig) {
        let made = match parser.read {
            ParserFn::Text(_) => Vec::new(),
            ParserFn::Bytes { make, .. } => make(input),
        };
        self.take(parser, input, &made, chosen);
    }

    /// Parses an input, or the bytes generated from it, and records its cost.
    fn take(&mut self, parser: &Parser, input: &str, made: &[u8], chosen: &RunConfig) {
        let read = || match parser.read {
            ParserFn::Text(read) => read(input),
            ParserFn::Bytes { read, .. } => read(made),
        };
        let bytes = if made.is_empty() { input.len() } else { made.len() };
        let text = if made.is_empty() { input.as_bytes() } else { made };
        let (peak, mut taken) = match catch_unwind(AssertUnwindSafe(|| chosen.beside.measure(read))) {
            Ok(taken) => taken,
            Err(panic) => {
                keep(&format!("{}-panic", parser.name), text);
                resume_unwind(panic);
            }
        };
        let is_timed = chosen.inputs.is_some();
        if is_timed && taken > MOST_TIME / 2 {
            // Other processes affect the caches, so an input counts only if it is slow repeatedly.
            taken = taken.min(chosen.beside.measure(read).1);
        }
        self.inputs += 1;
        self.long += u64::from(input.len() >= inputs::LONG.min(parser.most / 10 * 9));
        self.bytes += bytes as u64;
        let beyond = peak.saturating_sub(parser.own) as f64 / bytes.max(1) as f64;
        self.memory = self.memory.max(beyond);
        let told = || {
            let start: String = input.chars().take(60).collect();
            format!("{bytes} bytes of input take {peak} bytes of memory and {taken:?}: {start:?}")
        };
        if taken > self.slowest {
            (self.slowest, self.slow) = (taken, told());
        }
        if self.worst.len() < REPORTED_INPUTS || self.worst.last().is_some_and(|(least, _)| beyond > *least) {
            self.worst.push((beyond, told()));
            self.worst.sort_by(|a, b| b.0.total_cmp(&a.0));
            self.worst.truncate(REPORTED_INPUTS);
        }
        if beyond > MAX_MEMORY_PER_BYTE as f64 || (is_timed && taken > MOST_TIME) {
            self.failures.push(format!("{}: {}", parser.name, told()));
            keep(&format!("{}-{}", parser.name, self.failures.len()), text);
        }
    }
}

/// If `DOCS_FUZZ_KEEP` is set, saves an input that exceeds a limit or panics.
pub fn keep(file: &str, text: &[u8]) {
    if let Some(folder) = std::env::var_os("DOCS_FUZZ_KEEP") {
        let kept = std::fs::write(std::path::Path::new(&folder).join(file), text);
        println!("saved {file}: {kept:?}");
    }
}
