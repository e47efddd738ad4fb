//! For tests: inputs that repeat something, and what reading them may take.
//!
//! Every input is read on a thread with as much stack as a runtime gives its threads, so that recursion that
//! follows the input ends the test. Memory is the most bytes that were alive at once: so many for each byte of the
//! input, and what a parser has of its own whatever it reads. Time is that of the processor, and asked for only
//! where `DOCS_FUZZ_INPUTS` says how many inputs each parser gets: what a machine takes is no matter of a test.
//! Both are those of the thread that reads, so tests run beside each other; where it has threads of its own they are
//! those of all threads of the process, and tests run one after the other.
//!
//! First each piece is read over and over and as stairs, short, long and as long as anything that is read; then
//! what chance makes of them. 998 in 1,000 of these inputs have from 16 bytes to 2 KiB: how long they are is spread
//! evenly over the powers of two, so half of them are shorter than 200 bytes. One in 1,000 lies between 2 KiB and 1
//! MiB, spread in the same way. One in 1,000, so 1,000 in a million, is long: 1 to 1.25 MB, and each sixteenth of
//! these as long as anything that is read; where less than 1 MB is read, all of these are as long as that. So short
//! inputs bring breadth, long ones show what grows, and a million of all is some 2 GB.
//!
//! `DOCS_FUZZ_PARSER` names the only parser that is tried, `DOCS_FUZZ_SEED` is where chance begins,
//! `DOCS_FUZZ_SECONDS` how long a parser is tried at most, and `DOCS_FUZZ_KEEP` a folder for the inputs that take
//! too much or panic: each of them can be read alone again with `DOCS_FUZZ_AGAIN`. With `--nocapture` each parser
//! says which inputs took the most.
//!
//! Whoever uses this crate has its allocator, which counts.

mod heap;
mod inputs;
mod tex;

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use cpu_time::{ProcessTime, ThreadTime};

pub use heap::{own_peak_of, peak_of};
pub use inputs::Random;
pub use tex::TEX;

/// As much stack as a runtime gives its threads.
const STACK: usize = 2 * 1024 * 1024;
/// Inputs of each parser in a run that does not say how many.
const INPUTS: u64 = 40;
/// Bytes of memory for each byte of an input.
pub const MEMORY: usize = 20;
/// Bytes of memory that any input may take: buffers and tables that are as large for one byte as for a million.
pub const OWN: usize = 1 << 20;
/// The longest that an input may take, where time is asked for.
const MOST_TIME: Duration = Duration::from_secs(1);

/// Something that reads what others wrote.
#[derive(Clone, Copy, Debug)]
pub struct Parser {
    /// The name that `DOCS_FUZZ_PARSER` gives it.
    pub name: &'static str,
    /// What inputs are made of.
    pub pieces: &'static [&'static str],
    /// What stands before and behind all that is repeated.
    pub frames: &'static [(&'static str, &'static str)],
    /// Most bytes of the text that an input is made of: what is longer is refused before it is read.
    pub most: usize,
    /// Bytes of memory that any input may take beside [`MEMORY`] for each of its bytes.
    pub own: usize,
    /// What reads.
    pub read: Read,
}

/// How a text is read.
#[derive(Clone, Copy, Debug)]
pub enum Read {
    /// As it is.
    Text(fn(&str)),
    /// As the bytes that are made of it. Neither their making counts nor they themselves.
    Bytes {
        /// Makes the bytes.
        make: fn(&str) -> Vec<u8>,
        /// Reads them.
        read: fn(&[u8]),
    },
}

/// Reads inputs of all parsers, on one thread with a small stack: each piece over and over at first, then what chance
/// makes of them. What all threads of the process take counts, so tests that do this run one after the other.
///
/// # Panics
/// Where an input takes too much, or ends the thread.
pub fn run(parsers: &'static [Parser]) {
    let _alone = alone();
    run_within(parsers, Beside::Nothing);
}

/// The same for a test that others run beside: only what the reading thread takes counts. A parser may have no threads
/// of its own.
///
/// # Panics
/// As [`run`].
pub fn run_among_others(parsers: &'static [Parser]) {
    run_within(parsers, Beside::Others);
}

/// What else runs in the process of a test.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    Others,
}

impl Beside {
    /// The bytes and the time that some work takes.
    fn taken(self, work: impl FnOnce()) -> (usize, Duration) {
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

fn run_within(parsers: &'static [Parser], beside: Beside) {
    let chosen = Chosen {
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
            assert!(failures.is_empty(), "{} inputs take too much:\n{told}", failures.len());
        }
        Ok(Err(_)) => panic!("an input ended the thread that read it"),
        Err(error) => panic!("no thread: {error}"),
    }
}

/// A number of the environment.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, is {text:?}")))
}

/// Tests that count the memory of the process run one after the other.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which inputs are read.
struct Chosen {
    inputs: Option<u64>,
    beside: Beside,
    seed: u64,
    /// The longest that one parser is tried.
    until: Option<Duration>,
}

impl Chosen {
    /// Reads inputs of one parser; answers those that take too much. What they are depends on the parser and the seed
    /// alone.
    fn read(&self, parser: &Parser) -> Vec<String> {
        let began = Instant::now();
        let is_over = || self.until.is_some_and(|most| began.elapsed() > most);
        let mut seen = Seen::default();
        let is_long = self.inputs.is_some();
        if let Some(file) = std::env::var_os("DOCS_FUZZ_AGAIN") {
            let kept = std::fs::read(&file).unwrap_or_else(|error| panic!("{file:?}: {error}"));
            seen.take(parser, (&String::from_utf8_lossy(&kept), &kept), self);
            seen.tell(parser);
            return seen.failures;
        }
        for input in inputs::whole(parser, is_long) {
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
        seen.tell(parser);
        seen.failures
    }
}

#[derive(Default)]
struct Seen {
    inputs: u64,
    /// Those made of 1 MB, or of nearly as much as is read.
    long: u64,
    bytes: u64,
    memory: f64,
    slowest: Duration,
    /// What the slowest input was.
    slow: String,
    /// The inputs that took the most memory, the worst first.
    worst: Vec<(f64, String)>,
    failures: Vec<String>,
}

/// How many of the inputs that took the most are told.
const TOLD: usize = 4;

impl Seen {
    /// Says what was read and what it took.
    fn tell(&self, parser: &Parser) {
        println!(
            "{}: {} inputs, {} of them long, {} bytes, at most {:.1} bytes of memory a byte beyond {}, slowest {:?}",
            parser.name, self.inputs, self.long, self.bytes, self.memory, parser.own, self.slowest
        );
        println!("    slowest: {}", self.slow);
        for (beyond, told) in &self.worst {
            println!("    {beyond:.1}: {told}");
        }
    }

    fn read(&mut self, parser: &Parser, input: &str, chosen: &Chosen) {
        let made = match parser.read {
            Read::Text(_) => Vec::new(),
            Read::Bytes { make, .. } => make(input),
        };
        self.take(parser, (input, &made), chosen);
    }

    /// Reads an input, or the bytes that were made of it.
    fn take(&mut self, parser: &Parser, (input, made): (&str, &[u8]), chosen: &Chosen) {
        let read = || match parser.read {
            Read::Text(read) => read(input),
            Read::Bytes { read, .. } => read(made),
        };
        let bytes = if made.is_empty() { input.len() } else { made.len() };
        let text = if made.is_empty() { input.as_bytes() } else { made };
        let (peak, mut taken) = match catch_unwind(AssertUnwindSafe(|| chosen.beside.taken(read))) {
            Ok(taken) => taken,
            Err(panic) => {
                keep(&format!("{}-panic", parser.name), text);
                resume_unwind(panic);
            }
        };
        let is_timed = chosen.inputs.is_some();
        if is_timed && taken > MOST_TIME / 2 {
            // Caches are shared with what else runs: what is slow is so each time.
            taken = taken.min(chosen.beside.taken(read).1);
        }
        self.inputs += 1;
        self.long += u64::from(input.len() >= inputs::LONG.min(parser.most / 10 * 9));
        self.bytes += bytes as u64;
        let beyond = peak.saturating_sub(parser.own) as f64 / bytes.max(1) as f64;
        self.memory = self.memory.max(beyond);
        let told = || {
            let start: String = input.chars().take(60).collect();
            format!("{bytes} bytes take {peak} bytes and {taken:?}: {start:?}")
        };
        if taken > self.slowest {
            (self.slowest, self.slow) = (taken, told());
        }
        if self.worst.len() < TOLD || self.worst.last().is_some_and(|(least, _)| beyond > *least) {
            self.worst.push((beyond, told()));
            self.worst.sort_by(|a, b| b.0.total_cmp(&a.0));
            self.worst.truncate(TOLD);
        }
        if beyond > MEMORY as f64 || (is_timed && taken > MOST_TIME) {
            self.failures.push(format!("{}: {}", parser.name, told()));
            keep(&format!("{}-{}", parser.name, self.failures.len()), text);
        }
    }
}

/// Keeps an input that takes too much or panics, where a folder for these is named.
pub fn keep(file: &str, text: &[u8]) {
    if let Some(folder) = std::env::var_os("DOCS_FUZZ_KEEP") {
        let kept = std::fs::write(std::path::Path::new(&folder).join(file), text);
        println!("{file} is kept: {kept:?}");
    }
}
