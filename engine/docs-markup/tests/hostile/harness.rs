//! Inputs that repeat something, and what reading them may take.
//!
//! Every input is read on a thread with as much stack as a runtime gives its threads, so that recursion that follows
//! the input ends the test. Memory is the most bytes that were alive at once: so many for each byte of the input, and
//! what a parser has of its own whatever it reads. Time is that of the processor, and asked for only where
//! `DOCS_FUZZ_INPUTS` says how many inputs each parser gets: what a machine takes is no matter of a test.
//! `DOCS_FUZZ_PARSER` names the only parser that is tried, `DOCS_FUZZ_SEED` is where chance begins. With `--nocapture`
//! each parser says which inputs took the most.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cpu_time::ThreadTime;
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// As much stack as a runtime gives its threads.
const STACK: usize = 2 * 1024 * 1024;
/// Inputs of each parser in a run that does not say how many.
const INPUTS: u64 = 40;
/// Bytes of memory for each byte of an input.
pub(crate) const MEMORY: usize = 20;
/// Bytes of memory that any input may take: buffers and tables that are as large for one byte as for a million.
pub(crate) const OWN: usize = 1 << 20;
/// The longest that an input may take, where time is asked for.
const MOST_TIME: Duration = Duration::from_secs(1);

/// Something that reads foreign text.
pub(crate) struct Parser {
    pub(crate) name: &'static str,
    /// What inputs are made of.
    pub(crate) pieces: &'static [&'static str],
    /// What stands before and behind all that is repeated.
    pub(crate) frames: &'static [(&'static str, &'static str)],
    /// Most bytes that reach it; what is longer is refused before.
    pub(crate) most: usize,
    /// Most bytes of memory for each byte of an input.
    pub(crate) memory: usize,
    /// Bytes of memory that any input may take beside.
    pub(crate) own: usize,
    pub(crate) read: fn(&str),
}

/// Reads inputs of all parsers, on one thread with a small stack: each piece over and over at first, then what chance
/// makes of them.
pub(crate) fn run(parsers: &'static [Parser]) {
    let _alone = alone();
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let (inputs, seed) = (number("DOCS_FUZZ_INPUTS"), number("DOCS_FUZZ_SEED").unwrap_or(1));
    let wanted = std::env::var("DOCS_FUZZ_PARSER").ok();
    let is_wanted = |parser: &&Parser| wanted.as_deref().is_none_or(|name| name == parser.name);
    let chosen: Vec<&'static Parser> = parsers.iter().filter(is_wanted).collect();
    let names: Vec<&str> = parsers.iter().map(|parser| parser.name).collect();
    if chosen.is_empty() {
        println!("DOCS_FUZZ_PARSER names none of {names:?}");
    }
    let work = move || chosen.into_iter().flat_map(|parser| of_one(parser, inputs, seed)).collect::<Vec<_>>();
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    let failures = thread.join().expect("nothing panics");
    assert!(failures.is_empty(), "{} inputs take too much:\n{}", failures.len(), failures.join("\n"));
}

/// Reads inputs of one parser; answers those that take too much. What they are depends on the parser and the seed
/// alone.
fn of_one(parser: &Parser, inputs: Option<u64>, seed: u64) -> Vec<String> {
    let mut seen = Seen::default();
    for input in whole(parser, inputs.is_some()) {
        seen.read(parser, &input, inputs.is_some());
    }
    let mut random =
        Random(parser.name.bytes().fold(seed, |seed, b| seed.wrapping_mul(31).wrapping_add(u64::from(b))));
    for _ in 0..inputs.unwrap_or(INPUTS) {
        let input = parser.input(&mut random);
        seen.read(parser, &input, inputs.is_some());
    }
    println!(
        "{}: {} inputs, {} bytes, at most {:.1} bytes of memory a byte beyond {}, slowest {:?}",
        parser.name, seen.inputs, seen.bytes, seen.memory, parser.own, seen.slowest
    );
    println!("    slowest: {}", seen.slow);
    for (beyond, told) in &seen.worst {
        println!("    {beyond:.1}: {told}");
    }
    seen.failures
}

/// Tests that count memory run one after the other.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What some work answers, and the most bytes that were alive at once for it.
#[allow(dead_code, reason = "tests of some crates ask for it, and not those of all")]
pub(crate) fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let answer = work();
    (answer, HEAP.peak_usage().saturating_sub(before))
}

#[derive(Clone, Default)]
struct Seen {
    inputs: u64,
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
    fn read(&mut self, parser: &Parser, input: &str, is_timed: bool) {
        HEAP.reset_peak_usage();
        let before = HEAP.current_usage();
        let start = ThreadTime::now();
        (parser.read)(input);
        let mut taken = start.elapsed();
        let peak = HEAP.peak_usage().saturating_sub(before);
        if is_timed && taken > MOST_TIME / 2 {
            // Caches are shared with what else runs: what is slow is so each time.
            let again = ThreadTime::now();
            (parser.read)(input);
            taken = taken.min(again.elapsed());
        }
        self.inputs += 1;
        self.bytes += input.len() as u64;
        let beyond = peak.saturating_sub(parser.own) as f64 / input.len().max(1) as f64;
        self.memory = self.memory.max(beyond);
        let told = || {
            let start: String = input.chars().take(60).collect();
            format!("{} bytes take {peak} bytes and {taken:?}: {start:?}", input.len())
        };
        if taken > self.slowest {
            (self.slowest, self.slow) = (taken, told());
        }
        if self.worst.len() < TOLD || self.worst.last().is_some_and(|(least, _)| beyond > *least) {
            self.worst.push((beyond, told()));
            self.worst.sort_by(|a, b| b.0.total_cmp(&a.0));
            self.worst.truncate(TOLD);
        }
        if beyond > parser.memory as f64 || (is_timed && taken > MOST_TIME) {
            self.failures.push(format!("{}: {}", parser.name, told()));
        }
    }
}

/// Bytes of the inputs that repeat one piece.
const SHORT: usize = 40_000;
const LONG: usize = 1_000_000;
/// The same in a run that does not say how many inputs it wants: unoptimised code takes minutes for longer ones.
const ORDINARY: [usize; 2] = [10_000, 50_000];

/// Each piece and a frame with it over and over, short, long, and as long as anything that is read; and as stairs: once
/// on the first line, and once more on each line than on the one before. A run that does not say how many inputs it
/// wants has no stairs that are long.
fn whole(parser: &Parser, is_long: bool) -> impl Iterator<Item = String> {
    let lengths = if is_long { vec![SHORT, LONG, parser.most] } else { ORDINARY.to_vec() };
    let mut lengths: Vec<usize> = lengths.into_iter().map(|length| length.min(parser.most)).collect();
    lengths.dedup();
    lengths.into_iter().flat_map(move |length| {
        parser.pieces.iter().enumerate().flat_map(move |(at, piece)| {
            let (before, behind) = parser.frames[at % parser.frames.len()];
            let is_stairs = is_long || length < ORDINARY[1];
            let length = length.saturating_sub(before.len() + behind.len());
            let even = piece.repeat(length / piece.len().max(1));
            let stairs = is_stairs.then(|| stairs(piece, length));
            std::iter::once(even).chain(stairs).map(move |inside| format!("{before}{inside}{behind}"))
        })
    })
}

/// Lines that repeat a piece once more each, up to a length.
fn stairs(piece: &str, length: usize) -> String {
    let mut out = String::with_capacity(length);
    for count in 1.. {
        if out.len() + count * piece.len() + 2 > length {
            break;
        }
        out.push_str(&piece.repeat(count));
        out.push_str("a\n");
    }
    out
}

impl Parser {
    fn input(&self, random: &mut Random) -> String {
        // Most are as short as one likes to have them: a million of them can be read. Few are long.
        let length = match random.below(1 << 16) {
            0 => self.most,
            1..=32 => 400_000,
            33..=1056 => 40_000,
            _ => {
                let least = 200 << random.below(4);
                least + random.below(3 * least / 2)
            }
        };
        let length = length.min(self.most);
        let (before, behind) = self.frames[random.below(self.frames.len())];
        let mut text = before.to_owned();
        while text.len() < length {
            let part = self.part(random, length - text.len());
            text.push_str(&part);
            if random.below(3) > 0 {
                break;
            }
        }
        text.push_str(behind);
        text
    }

    /// Some pieces: over and over, around one another, or one more on each line.
    fn part(&self, random: &mut Random, length: usize) -> String {
        let (a, b) = (self.unit(random), self.unit(random));
        let count = (length / (a.len() + b.len() + 1)).max(1);
        match random.below(4) {
            0 => format!("{}{}", a.repeat(count), b.repeat(count)),
            1 => {
                let steps = 1 + random.below(64);
                let mut out = String::new();
                for line in 0.. {
                    if out.len() >= length {
                        break;
                    }
                    out.push_str(&a.repeat(line % steps));
                    out.push_str(&b);
                    out.push('\n');
                }
                out
            }
            2 => (0..count).map(|_| self.pieces[random.below(self.pieces.len())]).collect(),
            _ => format!("{a}{b}").repeat(count),
        }
    }

    fn unit(&self, random: &mut Random) -> String {
        (0..=random.below(3)).map(|_| self.pieces[random.below(self.pieces.len())]).collect()
    }
}

/// Numbers that follow from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap_or_default()
    }
}
