//! How much memory a text takes as a tree, as far as that can be told before it is read.
//!
//! A text of nothing but the smallest blocks, links or marks would take hundreds of bytes for each of its own. What is
//! counted here is what such texts were seen to take, so that what is too dense is kept as it is instead.

use super::{
    chunks::{self, Chunk, ChunkKind, Scanner},
    lines::{Line, SPACE},
    marks::item,
};

/// Bytes of memory that any text may take as a tree: a page of tables and lists is one, as long as it is no longer than
/// pages are.
const ROOM: usize = 28 * 120 * 1024;
/// Bytes of memory that are counted for each byte of a text beyond that. What is not counted here takes the rest of the
/// 20 that a text may take.
const A_BYTE: usize = 9;

/// What a line takes that is a block, or an item and the block in it.
const LINE: usize = 800;
const ITEM: usize = 900;
const CODE_LINE: usize = 520;
/// What a cell of a table takes, and a row.
const CELL: usize = 900;
const ROW: usize = 1600;
/// What a sign takes that may be part of a mark or an element, and while its text is read.
const SIGN: usize = 130;
const READING: usize = 1100;
/// How often the text of a paragraph is there while it is read, written and read again.
const COPIES: usize = 32;
/// What a tag takes while the HTML around it is read.
const TAG: usize = 500;

/// The room of a text of so many bytes.
const fn room(bytes: usize) -> usize {
    ROOM + A_BYTE * bytes
}

/// The room that a text has: what is left of it, and all of it.
pub(super) struct Room {
    left: usize,
    all: usize,
}

impl Room {
    pub(super) fn new(lines: &[Line<'_>]) -> Self {
        // Empty lines change when a text is written.
        let full = || lines.iter().filter(|line| !line.is_blank());
        let bytes: usize = full().map(|line| line.text.len() + 1).sum();
        // Lines are there beside what they are.
        Self::of(room(bytes).saturating_sub(full().count() * ANY_LINE / 3))
    }

    const fn of(all: usize) -> Self {
        Self { left: all, all }
    }

    /// Tells whether so little is left that which of the smaller blocks still fit would be chance.
    pub(super) const fn is_used_up(&self) -> bool {
        self.left < self.all / 8
    }

    /// Tells whether half of it is left.
    pub(super) const fn is_half_left(&self) -> bool {
        self.left >= self.all / 2
    }

    /// Takes the room for a chunk; tells whether there is as much.
    pub(super) fn take(&mut self, chunk: &Chunk<'_>, lines: &[Line<'_>]) -> bool {
        if matches!(chunk.kind, ChunkKind::Rest) {
            return false;
        }
        let (kept, reading) = weight(&chunk.kind, &lines[chunk.lines.clone()]);
        if kept + reading > self.left {
            return false;
        }
        self.left -= kept;
        true
    }
}

/// What a line takes while it is taken apart, before it is anything.
const ANY_LINE: usize = 160;

/// Tells whether a text is so many lines that it is not even taken apart.
pub(super) fn is_all_lines(text: &str) -> bool {
    let count = text.bytes().filter(|b| matches!(b, b'\n' | b'\r')).count() - text.matches("\r\n").count();
    count * ANY_LINE > room(text.len())
}

/// How many chunks there is room for, were they the smallest.
pub(super) fn most_chunks(lines: &[Line<'_>]) -> usize {
    Room::new(lines).all / LINE + 1
}

/// Tells whether there is room for all that lines on their own are.
pub(super) fn fits(scanner: &mut Scanner<'_, '_>) -> bool {
    let lines = scanner.lines();
    let mut room = Room::new(lines);
    scanner.all(|chunk| room.take(&chunk, lines))
}

/// The same for the lines of a note, which are there twice: as the note and as what the text has of it.
pub(super) fn fits_note(lines: &[Line<'_>]) -> bool {
    let mut room = Room::of(Room::new(lines).all / 3);
    chunks::each(lines).all(|chunk| room.take(&chunk, lines))
}

/// What a chunk takes as a tree, and what reading it takes beyond that.
fn weight(kind: &ChunkKind<'_>, lines: &[Line<'_>]) -> (usize, usize) {
    let bytes: usize = lines.iter().map(|line| line.text.len() + 1).sum();
    let full = || lines.iter().filter(|line| !line.is_blank());
    let signs: usize = full().map(signs).sum();
    match kind {
        ChunkKind::Paragraph | ChunkKind::Heading(..) | ChunkKind::Definition(..) => {
            (LINE + SIGN * signs + 2 * bytes, READING * (signs + lines.len()) + COPIES * bytes)
        }
        ChunkKind::Fence(_, code) | ChunkKind::Indented(code) => {
            let kept = LINE + CODE_LINE * code.len() + 2 * bytes;
            (kept, kept / 5 * 4)
        }
        ChunkKind::Divider | ChunkKind::Math(_) => (LINE + 2 * bytes, 4 * bytes),
        ChunkKind::Table => {
            let cells: usize = full().map(|line| 1 + line.text.matches('|').count()).sum();
            let kept = LINE + ROW * lines.len() + CELL * cells + SIGN * signs + 2 * bytes;
            (kept, longest(lines))
        }
        ChunkKind::Html => {
            let tags: usize = full().map(|line| line.text.matches('<').count()).sum();
            let blocks: usize = full().map(|line| blocks_of_html(&line.text)).sum();
            let is_code = |line: &Line<'_>| line.text.to_ascii_lowercase().contains("<pre");
            let code = if full().any(is_code) { CODE_LINE * lines.len() } else { 0 };
            let kept = LINE + CELL * blocks + code + SIGN * tags + 2 * bytes;
            // Nothing of code is a mark. Whether it needs HTML is found by writing it without.
            let text = if full().next().is_some_and(is_code) { 0 } else { longest_of_html(lines) };
            (kept, kept / 2 + code / 4 * 5 + TAG * tags + text)
        }
        _ => {
            let items = full().filter(|line| item(&line.text).is_some()).count();
            let others = full().count() - items;
            // The bullets are no marks.
            let signs = signs.saturating_sub(items);
            let kept = LINE * (1 + others) + ITEM * items + SIGN * signs + 2 * bytes;
            // What stands between tags is written and read again.
            let again = if matches!(kind, ChunkKind::List(_)) { 0 } else { kept / 2 };
            (kept, again + longest(lines))
        }
    }
}

/// How many blocks HTML may be, the rows and cells of tables among them.
fn blocks_of_html(text: &str) -> usize {
    let text = text.to_ascii_lowercase();
    ["<td", "<tr", "<th", "<p", "<img", "<li", "<h", "<figure", "<pre"]
        .iter()
        .map(|tag| text.matches(tag).count())
        .sum()
}

/// What the paragraph takes while it is read that takes the most.
fn longest(lines: &[Line<'_>]) -> usize {
    let (mut most, mut signs, mut bytes) = (0, 0, 0);
    let mut is_code = false;
    for line in lines {
        let text = line.text.trim_start_matches(SPACE);
        is_code ^= text.starts_with("```") || text.starts_with("~~~");
        let begins = !is_code && (text.starts_with(['<', '>', '#']) || item(text).is_some());
        if text.is_empty() || begins {
            bytes = 0;
        }
        // A row, which may be text that goes on.
        if text.is_empty() || begins || text.starts_with('|') {
            signs = 0;
        }
        signs += usize::from(!is_code);
        for (index, piece) in parts_of(text).enumerate() {
            if index > 0 {
                (signs, bytes) = (0, 0);
            }
            signs += if is_code { 0 } else { signs_of(piece) };
            bytes += piece.len();
            most = most.max(READING * signs + COPIES * bytes);
        }
    }
    most
}

/// What stands between ends of cells, rows and paragraphs.
fn parts_of(text: &str) -> impl Iterator<Item = &str> {
    text.split("</t").flat_map(|part| part.split("</p"))
}

/// The same of HTML, in which empty lines are part of a text.
fn longest_of_html(lines: &[Line<'_>]) -> usize {
    let (mut most, mut signs, mut bytes) = (0, 0, 0);
    for line in lines {
        let text = line.text.trim_start_matches(SPACE);
        for (index, piece) in parts_of(text).enumerate() {
            if index > 0 || piece.starts_with('<') {
                (signs, bytes) = (0, 0);
            }
            signs += 1 + signs_of(piece);
            bytes += piece.len() + 1;
            most = most.max(READING * signs + COPIES * bytes);
        }
    }
    most
}

fn signs(line: &Line<'_>) -> usize {
    signs_of(&line.text)
}

/// How many signs of a text may be part of a mark or an element. Those that go on with a run, and those that seldom
/// are, count a third.
fn signs_of(text: &str) -> usize {
    let bytes = text.as_bytes();
    let third = |at: usize, b: u8| {
        let goes_on = at > 0 && bytes[at - 1] == b;
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        let is_within = at > 0 && bytes[at - 1].is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
        match b {
            // Pictures and links in pointed brackets take more.
            b'<' => 9,
            b'[' | b']' => 3,
            b'*' | b'~' | b'`' | b'$' | b'{' if !goes_on => 3,
            b':' if next.is_ascii_alphanumeric() => 3,
            b'_' if !goes_on && !is_within => 3,
            b'*' | b'~' | b'`' | b'$' | b'{' | b'_' | b'&' | b'\\' => 1,
            _ => 0,
        }
    };
    let thirds: usize = bytes.iter().enumerate().map(|(at, b)| third(at, *b)).sum();
    // Each of these was one byte before, a NUL.
    thirds / 3 + text.matches('\u{fffd}').count()
}
