//! Generation of repetitive inputs.

use std::cmp::Ordering;

use crate::parser::Parser;

/// Lengths in bytes of inputs that repeat a single fragment.
const SHORT: usize = 40_000;
pub(crate) const LONG: usize = 1_000_000;
/// Lengths of such inputs if the number of inputs is not set, because longer ones would take minutes in unoptimized
/// code. One in `LONG_ONES` fragments is also repeated to the second length.
const DEFAULT_LENGTHS: [usize; 2] = [4_000, 50_000];
const LONG_ONES: usize = 5;

/// Of this many random inputs, one is long and one has a medium length.
const ONE_IN: u64 = 1_000;
/// Of this many long inputs, one has the maximum length.
const MAX_LENGTH_PERIOD: u64 = 16;

/// Repeats each fragment within a frame to a short, a long and the maximum length. Except for the maximum length, each
/// fragment is also repeated as a staircase: once on the first line, and once more on each following line. If the
/// number of inputs is not set, there are only a few long inputs, and only short staircases.
pub(crate) fn repeated_inputs(parser: &Parser, is_long: bool) -> impl Iterator<Item = String> {
    let lengths = if is_long { vec![SHORT, LONG, parser.most] } else { DEFAULT_LENGTHS.to_vec() };
    let mut lengths: Vec<usize> = lengths.into_iter().map(|length| length.min(parser.most)).collect();
    lengths.dedup();
    // For each parser, a different fifth of the fragments is repeated to the second length.
    let some = parser.name.len();
    lengths.into_iter().flat_map(move |length| {
        let is_short = length <= DEFAULT_LENGTHS[0];
        let is_read = move |at: usize| is_long || is_short || at % LONG_ONES == some % LONG_ONES;
        let pieces = parser.pieces.iter().enumerate().filter(move |(at, _)| is_read(*at));
        pieces.flat_map(move |(at, piece)| {
            let (before, behind) = parser.frames[at % parser.frames.len()];
            let length = length.saturating_sub(before.len() + behind.len());
            let even = piece.repeat(length / piece.len().max(1));
            let has_stairs = if is_long { length <= LONG } else { is_short };
            let stairs = has_stairs.then(|| growing_lines(piece, length));
            std::iter::once(even).chain(stairs).map(move |inside| format!("{before}{inside}{behind}"))
        })
    })
}

/// Returns lines with an increasing number of repetitions of a fragment, limited to `length` bytes.
fn growing_lines(piece: &str, length: usize) -> String {
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
    /// Generates a random input of at most `most` bytes from the fragments. The crate documentation describes the
    /// distribution of lengths.
    pub(crate) fn input(&self, at: u64, random: &mut Random) -> String {
        let (before, behind) = self.frames[random.next_below(self.frames.len())];
        let room = random.length(at, self.most).min(self.most.saturating_sub(before.len() + behind.len()));
        let mut text = before.to_owned();
        let parts = [1, 1, 2, 3][random.next_below(4)];
        for part in 1..=parts {
            self.part(random, &mut text, before.len() + room * part / parts);
        }
        if text.len() == before.len() {
            text.push_str(self.pieces[random.next_below(self.pieces.len())]);
        }
        text.push_str(behind);
        text
    }

    /// Appends fragments up to a length: repeated, nested or as a staircase.
    fn part(&self, random: &mut Random, text: &mut String, end: usize) {
        let (a, b) = (self.unit(random), self.unit(random));
        match random.next_below(4) {
            0 => {
                let middle = text.len() + end.saturating_sub(text.len()) / 2;
                fill(text, middle, || &a);
                fill(text, end, || &b);
            }
            1 => {
                // Repeated once more on each line than on the previous one, starting over after `steps` lines.
                let steps = 1 + random.next_below(64);
                let (mut line, mut at) = (0, 0);
                fill(text, end, || {
                    at += 1;
                    match (at - 1).cmp(&(line % steps)) {
                        Ordering::Less => &a,
                        Ordering::Equal => &b,
                        Ordering::Greater => {
                            (line, at) = (line + 1, 0);
                            "\n"
                        }
                    }
                });
            }
            2 => fill(text, end, || self.pieces[random.next_below(self.pieces.len())]),
            _ => {
                let both = format!("{a}{b}");
                fill(text, end, || &both);
            }
        }
    }

    fn unit(&self, random: &mut Random) -> String {
        (0..=random.next_below(3)).map(|_| self.pieces[random.next_below(self.pieces.len())]).collect()
    }
}

/// Appends fragments until the next one does not fit.
fn fill<'a>(text: &mut String, end: usize, mut piece: impl FnMut() -> &'a str) {
    let mut next = piece();
    while text.len() + next.len() <= end {
        text.push_str(next);
        next = piece();
    }
}

/// A seeded pseudorandom number generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number, which is less than `end`.
    pub fn next_below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap_or_default()
    }

    /// Returns the length of the input with the given index, at most `most`.
    fn length(&mut self, at: u64, most: usize) -> usize {
        let from = match at % ONE_IN {
            999 if (at / ONE_IN).is_multiple_of(MAX_LENGTH_PERIOD) => return most,
            999 => return (LONG + self.next_below(LONG / 4)).min(most),
            499 => 2_048 << self.next_below(9),
            _ => 16 << self.next_below(7),
        };
        (from + self.next_below(from)).min(most)
    }

    /// Mutates some bytes.
    pub fn change(&mut self, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        for _ in 0..self.next_below(6) {
            let at = self.next_below(bytes.len());
            bytes[at] = u8::try_from(self.next_below(256)).unwrap_or_default();
        }
    }
}
