//! Texts that repeat something.

use crate::Parser;

/// Bytes of the inputs that repeat one piece.
const SHORT: usize = 40_000;
const LONG: usize = 1_000_000;
/// The same in a run that does not say how many inputs it wants: unoptimised code takes minutes for longer ones. One
/// piece in so many is as long as the second.
const ORDINARY: [usize; 2] = [4_000, 50_000];
const LONG_ONES: usize = 5;

/// Each piece and a frame with it over and over, short, long, and as long as anything that is read; and as stairs: once
/// on the first line, and once more on each line than on the one before. A run that does not say how many inputs it
/// wants has few that are long, and no stairs among them.
pub(crate) fn whole(parser: &Parser, is_long: bool) -> impl Iterator<Item = String> {
    let lengths = if is_long { vec![SHORT, LONG, parser.most] } else { ORDINARY.to_vec() };
    let mut lengths: Vec<usize> = lengths.into_iter().map(|length| length.min(parser.most)).collect();
    lengths.dedup();
    // Which pieces are long is another fifth with each parser.
    let some = parser.name.len();
    lengths.into_iter().flat_map(move |length| {
        let is_short = length <= ORDINARY[0];
        let is_read = move |at: usize| is_long || is_short || at % LONG_ONES == some % LONG_ONES;
        let pieces = parser.pieces.iter().enumerate().filter(move |(at, _)| is_read(*at));
        pieces.flat_map(move |(at, piece)| {
            let (before, behind) = parser.frames[at % parser.frames.len()];
            let length = length.saturating_sub(before.len() + behind.len());
            let even = piece.repeat(length / piece.len().max(1));
            let stairs = (is_long || is_short).then(|| stairs(piece, length));
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
    pub(crate) fn input(&self, random: &mut Random) -> String {
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
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that follow from this one.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number below another.
    pub fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end.max(1) as u64).unwrap_or_default()
    }

    /// Changes some bytes.
    pub fn change(&mut self, bytes: &mut [u8]) {
        if bytes.is_empty() {
            return;
        }
        for _ in 0..self.below(6) {
            let at = self.below(bytes.len());
            bytes[at] = u8::try_from(self.below(256)).unwrap_or_default();
        }
    }
}
