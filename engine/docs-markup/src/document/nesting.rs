//! Detection of deeply nested lists and quotations before parsing.
//!
//! Each nesting level of a block is separately parsed, printed and parsed again. A long block beyond the nesting limit
//! would exhaust the work budget of the text before it is preserved verbatim. It is therefore preserved verbatim
//! immediately.

use super::{
    limits::MAX_BLOCK_DEPTH,
    lines::Line,
    marks::{CODE_INDENT, is_divider, item},
};

/// Blocks below this size, in bytes, are always parsed, down to the maximum depth.
const MIN_BYTES: usize = 16 * 1024;

/// Returns `true` if a block at this depth is too long for its nesting.
pub(super) fn is_too_deep(lines: &[Line<'_>], depth: usize) -> bool {
    let room = MAX_BLOCK_DEPTH.saturating_sub(depth);
    is_long(lines) && levels(lines, room) > room
}

/// Returns `true` if the lines are long. Indentation that a verbatim block loses is not counted.
fn is_long(lines: &[Line<'_>]) -> bool {
    let indent = lines.first().map(Line::indent).filter(|indent| *indent < CODE_INDENT).unwrap_or(0);
    let bytes = |line: &Line<'_>| line.text.len().saturating_sub(indent);
    lines.iter().map(bytes).sum::<usize>() > MIN_BYTES
}

/// Returns the maximum number of nested lists and quotations, counting up to the first number above `room`. Lines of
/// code count too, because only the parser of the block knows which lines are code. The limit bounds how often each
/// byte is visited.
fn levels(lines: &[Line<'_>], room: usize) -> usize {
    // The minimum column of a line that belongs to each open item.
    let mut open: Vec<usize> = Vec::new();
    let mut most = 0;
    for line in lines {
        let (mut quotes, column, mut rest) = marks(&line.text);
        if rest.is_empty() {
            continue;
        }
        while open.pop_if(|start| *start > column).is_some() {}
        let mut column = column;
        while open.len() + quotes <= room
            && !is_divider(rest)
            && let Some(item) = item(rest)
        {
            column += item.width;
            open.push(column);
            let (more, space, behind) = marks(rest.get(item.start..).unwrap_or_default());
            quotes += more;
            column += space.saturating_sub(item.space);
            rest = behind;
        }
        most = most.max(open.len() + quotes);
        if most > room {
            break;
        }
    }
    most
}

/// Returns the number of leading `>` characters, the column after them and the surrounding spaces, and the rest of the
/// text.
fn marks(text: &str) -> (usize, usize, &str) {
    let (mut quotes, mut column) = (0, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b' ' => column += 1,
            b'\t' => column += CODE_INDENT - column % CODE_INDENT,
            b'>' => {
                quotes += 1;
                column += 1;
            }
            _ => return (quotes, column, text.get(at..).unwrap_or_default()),
        }
    }
    (quotes, column, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::lines::split;

    #[test]
    fn levels_are_those_of_lists_and_quotations() {
        let deep: String = (0..30).map(|depth| format!("{}- a\n", "  ".repeat(depth))).collect();
        for (text, expected) in [
            ("a\n", 0),
            ("- a\n- b\n", 1),
            ("- a\n  - b\n- c\n", 2),
            ("1. a\n   1. b\n      1. c\n", 3),
            ("> > a\n", 2),
            ("> - a\n>   - b\n", 3),
            ("- - - a\n", 3),
            ("- > - > a\n", 4),
            ("- - -\n", 0),
            ("- a\n\n  ```\n  - - - - - a\n  ```\n", 6),
            ("- a\n  ```` `x\n  - b\n    - c\n", 3),
            ("- a\n  ```\n- b\n  - c\n", 2),
            (deep.as_str(), 30),
        ] {
            assert_eq!(levels(&split(text), usize::MAX), expected, "{text:?}");
        }
    }
}
