//! Memory estimation for a tree before its text is parsed.
//!
//! Text that only consists of minimal blocks, links or marks would take hundreds of bytes per input byte. The weights
//! are measured on such text, and blocks that are too dense are preserved verbatim instead.

use super::{
    chunks::{self, Chunk, ChunkKind, Scanner},
    lines::{Line, SPACE},
    marks::item,
    memory_budget::{LINE_WEIGHT, Room},
};

/// Weight of a list item, including the block in it.
const ITEM: usize = 900;
const CODE_LINE: usize = 520;
/// Weights of a table cell and of a row.
const CELL: usize = 900;
const ROW: usize = 1600;
/// Additional weight of a link, formula or emoji of a paragraph: the element, and the text after it.
const ELEMENT: usize = 400;
/// Weights of a delimiter that may be part of a mark or element: in the tree, and additionally during parsing.
const DELIMITER_WEIGHT: usize = 130;
const PARSED_DELIMITER_WEIGHT: usize = 1100;
/// Number of copies of a paragraph's text that exist while it is parsed, printed and parsed again.
const PARAGRAPH_COPIES: usize = 32;
/// Weight of a tag during parsing of the enclosing HTML.
const TAG: usize = 500;

/// The estimated memory of a chunk in bytes: as a tree, and additionally while it is parsed.
#[derive(Clone, Copy)]
pub(super) struct Weight {
    kept: usize,
    reading: usize,
}

impl Weight {
    /// Estimates the memory of a chunk. [`ChunkKind::Rest`] exceeds every budget.
    pub(super) fn of(chunk: &Chunk<'_>, lines: &[Line<'_>]) -> Self {
        let (kept, reading) = match chunk.kind {
            ChunkKind::Rest => (usize::MAX, 0),
            _ => weight(&chunk.kind, &lines[chunk.lines.clone()]),
        };
        Self { kept, reading }
    }
}

impl Room {
    /// Reserves memory. Returns `false` if the budget does not suffice.
    pub(super) const fn take(&mut self, weight: Weight) -> bool {
        if weight.kept.saturating_add(weight.reading) > self.left {
            return false;
        }
        self.left -= weight.kept;
        true
    }
}

/// Returns `true` if the blocks in the lines of `scanner` fit into the budget.
pub(super) fn fits(scanner: &mut Scanner<'_, '_>) -> bool {
    let lines = scanner.lines();
    let mut room = Room::new(lines);
    scanner.all(|chunk| room.take(Weight::of(&chunk, lines)))
}

/// Like [`fits`], but for the lines of a footnote, which are stored twice: in the footnote and in the referencing text.
pub(super) fn fits_note(lines: &[Line<'_>]) -> bool {
    let mut room = Room::of(Room::new(lines).all / 3);
    chunks::scan_chunks(lines).all(|chunk| room.take(Weight::of(&chunk, lines)))
}

/// Returns the weight of a chunk as a tree, and the additional weight while it is parsed.
fn weight(kind: &ChunkKind<'_>, lines: &[Line<'_>]) -> (usize, usize) {
    let bytes: usize = lines.iter().map(|line| line.text.len() + 1).sum();
    let full = || lines.iter().filter(|line| !line.is_blank());
    let signs: usize = full().map(signs).sum();
    match kind {
        ChunkKind::Paragraph | ChunkKind::Heading(..) | ChunkKind::Definition(..) => (
            LINE_WEIGHT
                + DELIMITER_WEIGHT * signs
                + ELEMENT * full().map(elements).sum::<usize>()
                + 2 * bytes,
            PARSED_DELIMITER_WEIGHT * (signs + lines.len()) + PARAGRAPH_COPIES * bytes,
        ),
        ChunkKind::Fence(_, code) | ChunkKind::Indented(code) => {
            let kept = LINE_WEIGHT + CODE_LINE * code.len() + 2 * bytes;
            (kept, kept / 5 * 4)
        }
        ChunkKind::Divider | ChunkKind::Math(_) => (LINE_WEIGHT + 2 * bytes, 4 * bytes),
        ChunkKind::Table => {
            let cells: usize = full().map(|line| 1 + line.text.matches('|').count()).sum();
            let kept = LINE_WEIGHT + ROW * lines.len() + CELL * cells + DELIMITER_WEIGHT * signs + 2 * bytes;
            (kept, heaviest_paragraph(lines))
        }
        ChunkKind::Html => {
            let tags: usize = full().map(|line| line.text.matches('<').count()).sum();
            let blocks: usize = full().map(|line| blocks_of_html(&line.text)).sum();
            let is_code = |line: &Line<'_>| line.text.to_ascii_lowercase().contains("<pre");
            let code = if full().any(is_code) { CODE_LINE * lines.len() } else { 0 };
            let kept = LINE_WEIGHT + CELL * blocks + code + DELIMITER_WEIGHT * tags + 2 * bytes;
            // Code contains no marks. It is first printed without HTML to check whether it needs HTML.
            let text = if full().next().is_some_and(is_code) { 0 } else { heaviest_html_text(lines) };
            (kept, kept / 2 + code / 4 * 5 + TAG * tags + text)
        }
        _ => {
            let items = full().filter(|line| item(&line.text).is_some()).count();
            let others = full().count() - items;
            // The bullets are not delimiters.
            let signs = signs.saturating_sub(items);
            let kept = LINE_WEIGHT * (1 + others) + ITEM * items + DELIMITER_WEIGHT * signs + 2 * bytes;
            // Content between tags is printed and parsed again.
            let again = if matches!(kind, ChunkKind::List(_)) { 0 } else { kept / 2 };
            (kept, again + heaviest_paragraph(lines))
        }
    }
}

/// Returns an upper bound on the number of blocks in HTML, including rows and cells of tables.
fn blocks_of_html(text: &str) -> usize {
    let text = text.to_ascii_lowercase();
    ["<td", "<tr", "<th", "<p", "<img", "<li", "<h", "<figure", "<pre"]
        .iter()
        .map(|tag| text.matches(tag).count())
        .sum()
}

/// Returns the weight of parsing the heaviest paragraph.
fn heaviest_paragraph(lines: &[Line<'_>]) -> usize {
    let (mut most, mut signs, mut bytes) = (0, 0, 0);
    let mut is_code = false;
    for line in lines {
        let text = line.text.trim_start_matches(SPACE);
        is_code ^= text.starts_with("```") || text.starts_with("~~~");
        let begins = !is_code && (text.starts_with(['<', '>', '#']) || item(text).is_some());
        if text.is_empty() || begins {
            bytes = 0;
        }
        // A table row. It may also continue a paragraph.
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
            most = most.max(PARSED_DELIMITER_WEIGHT * signs + PARAGRAPH_COPIES * bytes);
        }
    }
    most
}

/// Splits `text` at the ends of cells, rows and paragraphs.
fn parts_of(text: &str) -> impl Iterator<Item = &str> {
    text.split("</t").flat_map(|part| part.split("</p"))
}

/// Like [`heaviest_paragraph`], but for HTML, where empty lines are part of the text.
fn heaviest_html_text(lines: &[Line<'_>]) -> usize {
    let (mut most, mut signs, mut bytes) = (0, 0, 0);
    for line in lines {
        let text = line.text.trim_start_matches(SPACE);
        for (index, piece) in parts_of(text).enumerate() {
            if index > 0 || piece.starts_with('<') {
                (signs, bytes) = (0, 0);
            }
            signs += 1 + signs_of(piece);
            bytes += piece.len() + 1;
            most = most.max(PARSED_DELIMITER_WEIGHT * signs + PARAGRAPH_COPIES * bytes);
        }
    }
    most
}

/// Returns an upper bound on the number of links, formulas and emoji.
fn elements(line: &Line<'_>) -> usize {
    let bytes = line.text.as_bytes();
    let is_element = |pair: &[u8]| match pair {
        [b']', next] => *next != b':',
        [b':', next] => next.is_ascii_alphanumeric(),
        [b'$', next] => *next != b'$',
        _ => false,
    };
    bytes.windows(2).filter(|pair| is_element(pair)).count()
}

fn signs(line: &Line<'_>) -> usize {
    signs_of(&line.text)
}

/// Counts the characters that may be part of a mark or element. Repetitions in a run, and characters that are rarely
/// delimiters, count one third.
fn signs_of(text: &str) -> usize {
    let bytes = text.as_bytes();
    let third = |at: usize, b: u8| {
        let goes_on = at > 0 && bytes[at - 1] == b;
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        let is_within = at > 0 && bytes[at - 1].is_ascii_alphanumeric() && next.is_ascii_alphanumeric();
        match b {
            // Images and links in angle brackets have a higher weight.
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
    // Each U+FFFD replaces a NUL of one byte.
    thirds / 3 + text.matches('\u{fffd}').count()
}
