//! Valid positions for splitting Markdown into pieces, and an estimate of the tree size of a piece.

/// Approximate length of a piece, in bytes.
pub(in crate::markdown) const PIECE_BYTES: usize = 4 << 10;
/// Maximum distance in bytes of a split within a list or table from the minimum length of a piece.
const MAX_CUT_DISTANCE: usize = 4 << 10;
/// Maximum number of nodes allowed in the tree of any piece.
const MAX_PIECE_NODES: usize = 6_000;
/// Bytes of text required per additional node of a piece: a node takes up to 160 bytes, and text may take 20 per input
/// byte. Prose has about twenty bytes per node, adjacent links have six.
const BYTES_A_NODE: usize = 8;
/// Maximum number of cells that the parser adds to rows with fewer cells than the table has columns.
const ADDED_CELLS: usize = 1 << 18;

/// Finds valid positions for splitting Markdown.
pub(super) struct CutFinder<'t> {
    text: &'t str,
    /// The minimum length of a piece.
    piece: usize,
    /// The most recently found position.
    apart: usize,
}

impl<'t> CutFinder<'t> {
    pub(super) const fn new(text: &'t str, piece: usize) -> Self {
        Self { text, piece, apart: 0 }
    }

    /// Returns the first position after the minimum length at which all containers and all paragraphs end: an
    /// unindented line that follows a blank line or begins with the marker of an item or heading. Fences and HTML may
    /// continue there.
    pub(super) fn next_boundary(&mut self, at: usize) -> usize {
        if self.apart < at + self.piece {
            let mut is_behind_blank = false;
            let found = lines(self.text, at + self.piece).find(|(_, line)| {
                let is_apart = (is_behind_blank && is_flush(line)) || interrupts(line);
                is_behind_blank = is_blank(line);
                is_apart
            });
            self.apart = found.map_or(self.text.len(), |(start, _)| start);
        }
        self.apart
    }

    /// Returns the first position after the minimum length at which a list or table continues with an item or row, if
    /// there is one nearby.
    pub(super) fn next_continuation(&self, at: usize) -> Option<usize> {
        let near = lines(self.text, at + self.piece)
            .take_while(|(start, _)| *start < at + self.piece + MAX_CUT_DISTANCE);
        let mut near = near.filter(|(_, line)| line.starts_with('|') || is_item(line));
        near.next().map(|(start, _)| start)
    }

    /// Returns `true` if the tree of a piece would be far larger than that of any text written by people.
    pub(super) fn is_dense(&self, piece: &str) -> bool {
        has_more_nodes(piece, MAX_PIECE_NODES + self.text.len() / BYTES_A_NODE)
    }
}

/// Iterates over the lines that begin at or after a position, with their offsets.
fn lines(text: &str, at: usize) -> impl Iterator<Item = (usize, &str)> {
    let at = text.floor_char_boundary(at);
    let start = match text[..at].ends_with('\n') {
        true => at,
        false => text[at..].find('\n').map_or(text.len(), |end| at + end + 1),
    };
    text[start..].split_inclusive('\n').scan(start, |next, line| {
        let start = *next;
        *next += line.len();
        Some((start, line))
    })
}

fn is_blank(line: &str) -> bool {
    line.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Returns `true` if a line has unindented text.
fn is_flush(line: &str) -> bool {
    !line.starts_with([' ', '\t', '\r', '\n', '\u{b}', '\u{c}'])
}

/// Returns `true` if a line begins a non-empty list item.
pub(super) fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => line.strip_prefix(['*', '-', '+']),
        1..=9 => line[digits..].strip_prefix(['.', ')']),
        _ => None,
    };
    rest.and_then(|rest| rest.strip_prefix(' '))
        .is_some_and(|rest| !rest.starts_with([' ', '\t', '\r', '\n']) && !rest.is_empty())
}

/// Returns `true` if a line ends any preceding paragraph.
fn interrupts(line: &str) -> bool {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let is_heading = (1..=6).contains(&level) && line[level..].starts_with(' ');
    is_heading || (!line.starts_with(|c: char| c.is_ascii_digit()) && is_item(line))
}

/// Detects code lines, where delimiters have no meaning: lines that are certainly between an unindented fence and its
/// end.
#[derive(Default)]
struct Code {
    /// The character and length of the open fence.
    open: Option<(char, usize)>,
    doubt: FenceDoubt,
}

/// The reason why an apparent fence may not be one.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum FenceDoubt {
    #[default]
    None,
    /// Until the next blank line: the line may be part of HTML or a definition.
    Block,
    /// For the rest of the piece: a block may be open.
    Lasting,
}

impl Code {
    /// Returns `true` if the next line of the piece is code or its fence.
    fn holds(&mut self, line: &str) -> bool {
        if let Some((mark, length)) = self.open {
            if closes(line, mark, length) {
                self.open = None;
            }
            return true;
        }
        match self.doubt {
            FenceDoubt::None => self.open = opens(line),
            FenceDoubt::Block if is_blank(line) => self.doubt = FenceDoubt::None,
            FenceDoubt::Block | FenceDoubt::Lasting => {}
        }
        if self.open.is_none() {
            self.doubt = self.fence_doubt(line);
        }
        self.open.is_some()
    }

    fn fence_doubt(&self, line: &str) -> FenceDoubt {
        if self.doubt == FenceDoubt::Lasting || !is_opening_line(line) {
            return if self.doubt == FenceDoubt::None && line.starts_with('[') {
                FenceDoubt::Block
            } else {
                self.doubt
            };
        }
        let inside = without_markers(line).strip_prefix('<').unwrap_or_default();
        let goes_on = UNTIL_END
            .iter()
            .any(|(name, _)| inside.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name)));
        match inside.starts_with(|c: char| c == '/' || c.is_ascii_alphabetic()) && !goes_on {
            true => FenceDoubt::Block,
            false => FenceDoubt::Lasting,
        }
    }
}

/// Returns the character and length of the fence that a line begins outside of any open block.
fn opens(line: &str) -> Option<(char, usize)> {
    let mark = line.bytes().next().filter(|mark| matches!(mark, b'`' | b'~')).map(char::from)?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// Returns `true` if an upper bound on the number of nodes in the tree of a piece exceeds `most`.
fn has_more_nodes(piece: &str, most: usize) -> bool {
    let (mut nodes, mut columns, mut code) = (0, 0, Code::default());
    for line in piece.split_inclusive('\n') {
        if nodes > most {
            return true;
        }
        let bytes = line.as_bytes();
        if code.holds(line) {
            // Each line of code is a text node.
            nodes += 4 + 2 * bytes.iter().filter(|b| matches!(b, b'\r' | b'\0')).count();
            columns = 0;
            continue;
        }
        let is_marker = |at: usize| matches!(bytes.get(at + 1), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
        let own = |at: usize, b: u8| match b {
            b'*' | b'_' | b'~' | b'`' | b'[' | b']' | b'<' | b'&' | b'\\' | b'|' | b'\r' | b'\0' => 2,
            b'-' | b'+' | b'.' | b')' if is_marker(at) => 2,
            b'>' => 1,
            _ => 0,
        };
        nodes += 4 + bytes.iter().enumerate().map(|(at, b)| own(at, *b)).sum::<usize>();
        nodes += columns;
        if is_blank(line) {
            columns = 0;
        }
        columns = columns.max(columns_of(line));
    }
    nodes > most
}

/// Returns the number of columns that a line may define for the rows below it.
fn columns_of(line: &str) -> usize {
    let is_before = |b: &u8| *b != b'-' && is_marker_byte(*b);
    let rest = &line.as_bytes()[line.bytes().take_while(is_before).count()..];
    let is_of_rule = |b: &u8| matches!(b, b'|' | b'-' | b':' | b' ' | b'\t' | b'\r' | b'\n');
    let is_rule = rest.iter().all(is_of_rule) && rest.contains(&b'-');
    let columns = if is_rule { rest.iter().filter(|b| **b == b'|').count() } else { 0 };
    columns.min(ADDED_CELLS)
}

/// Returns `true` if a block may be open at the end of an unparsed piece.
pub(super) fn may_stay_open(piece: &str) -> bool {
    let mut code = Code::default();
    let is_left_open = piece.lines().any(|line| !code.holds(line) && is_opening_line(line));
    is_left_open || code.open.is_some()
}

/// Returns `true` if a line begins a fence or HTML in any container.
fn is_opening_line(line: &str) -> bool {
    matches!(without_markers(line).as_bytes(), [b'<', ..] | [b'`', b'`', b'`', ..] | [b'~', b'~', b'~', ..])
}

/// Returns a line without the list and quotation markers that may precede the beginning of a block.
fn without_markers(line: &str) -> &str {
    &line[line.bytes().take_while(|b| is_marker_byte(*b)).count()..]
}

/// Returns `true` for the bytes of list and quotation markers.
const fn is_marker_byte(b: u8) -> bool {
    b.is_ascii_digit() || matches!(b, b' ' | b'\t' | b'>' | b'*' | b'+' | b'-' | b'.' | b')')
}

/// Returns the position of the first byte, at or after a position, that can be part of a destination, a definition, or
/// code or HTML that hides either. Text before it has no relevant parts, and leaves no block open.
pub(super) fn next_sign(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let is_sign = |at: usize| match bytes[at] {
        b'[' | b'<' | b'`' | b'~' => true,
        b'{' => bytes.get(at + 1) == Some(&b'%'),
        _ => false,
    };
    (at..bytes.len()).find(|at| is_sign(*at)).unwrap_or(bytes.len())
}

/// Returns the end of the fence that begins at a position, including its closing line.
pub(super) fn fence_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let Some(mark) = rest.chars().next() else { return text.len() };
    let length = rest.len() - rest.trim_start_matches(mark).len();
    let closing = lines(text, start + 1).find(|(_, line)| closes(line, mark, length));
    closing.map_or(text.len(), |(start, line)| start + line.len())
}

/// Returns `true` if a line closes a fence of this length.
fn closes(line: &str, mark: char, length: usize) -> bool {
    let inside = line.trim_start_matches(' ');
    let behind = inside.trim_start_matches(mark);
    line.len() - inside.len() < 4
        && inside.len() - behind.len() >= length
        && matches!(behind.trim_start_matches(' '), "" | "\n" | "\r\n")
}

/// Elements that extend to their end marker, even across empty lines.
const UNTIL_END: [(&str, &str); 4] =
    [("pre", "</pre>"), ("style", "</style>"), ("script", "</script>"), ("textarea", "</textarea>")];

/// Returns the end of the HTML that begins at a position, including its last line.
pub(super) fn html_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let inside = rest.strip_prefix('<').unwrap_or_default();
    let element = UNTIL_END.iter().find(|(name, _)| {
        let own = inside.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name));
        own && (inside.len() == name.len()
            || inside[name.len()..].starts_with(|c: char| c.is_ascii_whitespace() || c == '>'))
    });
    let end = match (element, inside) {
        (Some((_, end)), _) => Some(*end),
        _ if inside.starts_with("!--") => Some("-->"),
        _ if inside.starts_with('?') => Some("?>"),
        _ if inside.starts_with("![CDATA[") => Some("]]>"),
        _ if inside.starts_with('!') => Some(">"),
        _ => None,
    };
    match end {
        Some(end) => {
            let at = rest.find(end).map_or(text.len(), |at| start + at);
            text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
        }
        None => {
            lines(text, start + 1).find(|(_, line)| is_blank(line)).map_or(text.len(), |(start, _)| start)
        }
    }
}
