//! Parser from Markdown to blocks.

use std::collections::HashMap;

use docs_model::{Block, BlockKind, Fragment, HeadingData, Inline, InlineKind, Leaf, Node, TextNode};

use super::{
    blocks::settled,
    chunks::{self, Chunk, ChunkKind, List, Scanner},
    escape::{self, InlineContext},
    figures, html,
    inlines::{self, Rules},
    lines::{self, Line, SPACE},
    marks::CODE,
    nesting,
    notes::{LabelLog, Notes},
    print::{self, Labels, Mode, write_inlines},
    spelling, tables, tagged, weight,
};

/// The spelling of a paragraph with verbatim Markdown.
pub(super) const VERBATIM: &str = "verbatim";

/// Maximum nesting of blocks; deeper ones are preserved verbatim.
pub(super) const MAX_DEPTH: usize = 20;
/// Maximum number of blocks; the rest is preserved verbatim.
pub(super) const MAX_BLOCKS: usize = 20_000;
/// Number of parts of a block (items of a list, lines of code, cells of a table) that are always parsed, and the
/// bytes required for each further part. Blocks with more and smaller parts are preserved verbatim: their tree would
/// need disproportionate memory.
const MAX_PARTS: usize = 2_000;
const BYTES_A_PART: usize = 8;

/// Number of times a block is written and parsed before it is preserved verbatim.
pub(super) const SETTLING: usize = 3;

/// Converts indented code after a list to fenced code: indented code would be part of the list.
pub(super) fn fenced(block: Block, follows_list: bool) -> Block {
    let is_code = matches!(block.kind, BlockKind::Code { .. }) && block.spelling.as_deref() == Some("    ");
    if follows_list && is_code { Block { spelling: None, ..block } } else { block }
}

/// Returns lines as a verbatim block.
pub(super) fn verbatim(lines: &[Line<'_>]) -> Block {
    verbatim_run(lines, &[])
}

/// Returns the lines of a block and those of the following blocks as a verbatim block.
pub(super) fn verbatim_run(first: &[Line<'_>], rest: &[Line<'_>]) -> Block {
    // After a list, leading space would make the block part of the list. More leading space would make it code; lines
    // indented as far as code remain so.
    let indent = first.first().map(Line::indent).filter(|indent| *indent < CODE).unwrap_or(0);
    let less = |line: &Line<'_>| match line.indent() {
        own if own >= CODE => indent.min(own - CODE),
        _ => indent,
    };
    let mut lines: Vec<Line<'_>> = first.iter().map(|line| line.without(less(line))).collect();
    lines.extend_from_slice(rest);
    let text = lines::join(&lines);
    let leaf = Leaf::new(text.trim_matches('\n'), Vec::new());
    let mut block = paragraph(vec![Node::Text(TextNode::new(vec![leaf]))]);
    block.spelling = Some(VERBATIM.to_owned());
    block
}

pub(super) fn paragraph(nodes: Vec<Node>) -> Block {
    Block::new(BlockKind::Paragraph { align: None }, nodes)
}

pub(super) struct Reader<'r> {
    pub(super) definitions: &'r HashMap<String, (String, String)>,
    pub(super) notes: Notes,
    pub(super) depth: usize,
    pub(super) left: usize,
}

impl<'r> Reader<'r> {
    /// Creates a reader of a separate text.
    pub(super) fn alone(definitions: &'r HashMap<String, (String, String)>, notes: Notes) -> Self {
        Self { definitions, notes, depth: 0, left: MAX_BLOCKS }
    }

    /// Parses lines into blocks at the current level.
    pub(super) fn level(&mut self, lines: &[Line<'_>]) -> Vec<Block> {
        self.scanned(chunks::each(lines))
    }

    /// Parses lines that are being split into chunks.
    pub(super) fn scanned(&mut self, scanner: Scanner<'_, '_>) -> Vec<Block> {
        let lines = scanner.lines();
        let mut out = Vec::new();
        for chunk in scanner {
            if self.left == 0 {
                out.push(verbatim(&lines[chunk.lines.start..]));
                break;
            }
            match &chunk.kind {
                ChunkKind::Note(..) | ChunkKind::Rest => out.push(verbatim(&lines[chunk.lines.clone()])),
                _ => {
                    let follows_list = out.last().is_some_and(print::is_list);
                    out.extend(
                        self.chunk(&chunk, lines).into_iter().map(|block| fenced(block, follows_list)),
                    );
                }
            }
        }
        out.shrink_to_fit();
        out
    }

    /// Parses the body of a note: blocks that are unchanged by writing and parsing.
    pub(super) fn note(&mut self, lines: &[Line<'_>], labels: &Labels) -> Vec<Block> {
        if !weight::fits_note(lines) {
            return vec![verbatim(lines)];
        }
        self.depth += 1;
        let mut out = Vec::new();
        for chunk in chunks::each(lines) {
            let own = &lines[chunk.lines.clone()];
            if matches!(chunk.kind, ChunkKind::Note(..)) || self.left == 0 {
                out.push(verbatim(own));
                continue;
            }
            let blocks = self.chunk(&chunk, lines);
            let is_one = blocks.len() == 1;
            out.extend(
                blocks.into_iter().map(|block| if is_one { settled(block, own, labels).0 } else { block }),
            );
        }
        self.depth -= 1;
        out
    }

    /// Parses the blocks inside another block.
    pub(super) fn inside(&mut self, lines: &[Line<'_>]) -> Vec<Block> {
        if lines.iter().all(Line::is_blank) {
            return Vec::new();
        }
        if self.depth >= MAX_DEPTH {
            self.left = self.left.saturating_sub(1);
            return vec![verbatim(lines)];
        }
        self.depth += 1;
        let blocks = self.level(lines);
        self.depth -= 1;
        blocks
    }

    /// Parses a chunk: one block, unless it is an unknown tag.
    pub(super) fn chunk(&mut self, chunk: &Chunk<'_>, lines: &[Line<'_>]) -> Vec<Block> {
        self.left = self.left.saturating_sub(1);
        let own = &lines[chunk.lines.clone()];
        let is_deep = matches!(chunk.kind, ChunkKind::List(_) | ChunkKind::Quote(_))
            && nesting::is_too_deep(own, self.depth);
        if is_deep || is_crowded(&chunk.kind, own) {
            return vec![verbatim(own)];
        }
        let block = match &chunk.kind {
            ChunkKind::Paragraph => self.paragraph(own),
            ChunkKind::Heading(level, text, is_underlined) => {
                let underline = is_underlined
                    .then(|| own.last().map(|line| line.text.trim_matches(SPACE).to_owned()))
                    .flatten();
                self.heading(*level, text, underline)
            }
            ChunkKind::Divider => {
                let mut block = Block::new(BlockKind::Divider {}, Vec::new());
                let written = own[0].text.trim_matches(SPACE);
                block.spelling = (written != "***").then(|| written.to_owned());
                Some(block)
            }
            ChunkKind::Fence((mark, length, info), code) => {
                let mut block = self.code(info, code);
                let written = own[0].text.trim_start_matches(SPACE);
                let usual = format!("{}{info}", "`".repeat(spelling::fence_length(&block)));
                block.spelling =
                    (*mark != '`' || *length < 3 || written != usual).then(|| written.to_owned());
                Some(block)
            }
            ChunkKind::Indented(code) => {
                let mut block = self.code("", code);
                block.spelling = Some("    ".to_owned());
                Some(block)
            }
            ChunkKind::Quote(inside) => {
                let mut block = Block::new(BlockKind::Blockquote {}, nodes(self.inside(inside)));
                let is_tight = block.nodes.len() > 1 && !inside.iter().any(Line::is_blank);
                block.spelling = is_tight.then(|| "tight".to_owned());
                Some(block)
            }
            ChunkKind::List(list) => Some(self.list(list)),
            ChunkKind::Html => self.html(own),
            ChunkKind::Table => tables::pipes(self, own),
            ChunkKind::Math(formula) => {
                let mut block = Block::new(BlockKind::Math { formula: formula.clone() }, Vec::new());
                let written = lines::join(own);
                block.spelling = (own.len() == 1).then(|| written.trim_matches(SPACE).to_owned());
                Some(block)
            }
            ChunkKind::Note(..) | ChunkKind::Definition(..) | ChunkKind::Rest => None,
            ChunkKind::Tag(tag, inside) => {
                return tagged::blocks(self, (tag, inside.clone()), (lines, chunk));
            }
            ChunkKind::Details(inside) => figures::expandable(self, &lines[inside.clone()]),
        };
        // A paragraph without content would disappear when it is written.
        let block = block.filter(|block| !print::is_nothing(block));
        vec![block.unwrap_or_else(|| verbatim(own))]
    }

    /// Parses text with marks.
    pub(super) fn text(&mut self, text: &str, context: InlineContext) -> Option<Vec<Node>> {
        if is_plain(text) {
            return Some(vec![Node::Text(TextNode::new(vec![Leaf::new(text, Vec::new())]))]);
        }
        let before = self.notes.taken().clone();
        let mut rules = Rules { definitions: self.definitions, notes: &mut self.notes };
        let read = spelling::compact(inlines::read(text, &mut rules)?);
        Some(settle(read, text, (context, &before)))
    }

    /// Returns the rules for inline text.
    pub(super) fn rules(&mut self) -> Rules<'_> {
        Rules { definitions: self.definitions, notes: &mut self.notes }
    }

    fn paragraph(&mut self, lines: &[Line<'_>]) -> Option<Block> {
        let text = lines::join(lines);
        let text = text.trim_matches([' ', '\t', '\n']);
        let nodes = self.text(text, InlineContext::Lines).filter(|nodes| !nodes.is_empty())?;
        // A paragraph that consists of an image is a block.
        if let [Node::Inline(Inline { kind: kind @ InlineKind::InlineImage { size: None, .. }, .. })] =
            nodes.as_slice()
            && text.starts_with("![")
        {
            return Some(figures::image_of(kind, text));
        }
        Some(paragraph(nodes))
    }

    fn heading(&mut self, level: u8, text: &str, underline: Option<String>) -> Option<Block> {
        let (text, id) = anchor(text);
        let context = if underline.is_some() && text.contains('\n') {
            InlineContext::Lines
        } else {
            InlineContext::Line
        };
        let nodes = self.text(text.trim_matches(SPACE), context)?;
        let data = HeadingData { id, ..HeadingData::default() };
        let mut block = Block::new(heading(level, data), nodes);
        block.spelling = underline;
        Some(block)
    }

    /// Creates a code block with a block for each line.
    pub(super) fn code(&mut self, info: &str, code: &[Line<'_>]) -> Block {
        let nodes = code.iter().map(|line| Node::Block(code_line(&line.text))).collect();
        self.left = self.left.saturating_sub(code.len());
        let syntax = (!info.is_empty()).then(|| info.to_owned());
        let kind =
            BlockKind::Code { syntax, title: None, overflow: None, line_numbers: None, full_width: None };
        Block::new(kind, nodes)
    }

    fn list(&mut self, list: &List<'_>) -> Block {
        let boxes: Vec<_> =
            list.items.iter().map(|item| item.first().and_then(|line| task(&line.text))).collect();
        let is_tasks = list.numbers.is_empty() && boxes.iter().all(Option::is_some);
        let start = list.numbers.first().copied();
        let kind = match start {
            Some(start) => BlockKind::ListOrdered { start: (start != 1).then_some(start) },
            None if is_tasks => BlockKind::ListTasks {},
            None => BlockKind::ListUnordered {},
        };
        let mut items = Vec::with_capacity(list.items.len());
        for (lines, checked) in list.items.iter().zip(boxes) {
            self.left = self.left.saturating_sub(1);
            let inside = match checked {
                Some(_) => {
                    let mut lines = lines.clone();
                    let at = lines[0].text.len() - lines[0].text.trim_start_matches(SPACE).len() + 3;
                    lines[0] = lines[0].from(at).without(1);
                    self.inside(&lines)
                }
                None => self.inside(lines),
            };
            items.push(Node::Block(Block::new(BlockKind::ListItem { checked }, nodes(inside))));
        }
        let mut block = Block::new(kind, items);
        let usual = if start.is_some() { '.' } else { '*' };
        let is_same = list.numbers.len() > 1 && list.numbers.iter().all(|number| Some(*number) == start);
        let is_counted = list.numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let numbers = match (is_same, is_counted) {
            (true, _) => "=".to_owned(),
            (false, true) => String::new(),
            (false, false) => {
                let numbers: Vec<String> = list.numbers.iter().map(u64::to_string).collect();
                format!(":{}", numbers.join(","))
            }
        };
        if list.mark != usual || !numbers.is_empty() {
            block.spelling = Some(format!("{}{numbers}", list.mark));
        }
        block
    }

    fn html(&mut self, lines: &[Line<'_>]) -> Option<Block> {
        let text = lines::join(lines);
        let source = text.trim_matches(SPACE);
        let tree = html::tree(source)?;
        figures::block(self, &tree, source)
    }
}

/// Returns `true` if a text is plain: a line of words that does not begin a block.
fn is_plain(text: &str) -> bool {
    let mut is_behind_word = false;
    let is_within = |c: char| {
        let is_edge = !std::mem::replace(&mut is_behind_word, c != ' ');
        c.is_alphanumeric() || (!is_edge && matches!(c, ' ' | ',' | '.'))
    };
    text.starts_with(char::is_alphabetic) && !text.ends_with(' ') && text.chars().all(is_within)
}

/// Returns `true` if a block has too many parts for the size of its text.
fn is_crowded(kind: &ChunkKind<'_>, lines: &[Line<'_>]) -> bool {
    let parts = match kind {
        ChunkKind::List(list) => 2 * list.items.len(),
        ChunkKind::Fence(_, code) | ChunkKind::Indented(code) => code.len(),
        ChunkKind::Table => {
            lines.iter().map(|line| 1 + line.text.bytes().filter(|b| *b == b'|').count()).sum()
        }
        ChunkKind::Html => lines.iter().map(|line| line.text.matches("</td").count()).sum(),
        _ => 0,
    };
    parts > MAX_PARTS
        && parts - MAX_PARTS > lines.iter().map(|line| line.text.len()).sum::<usize>() / BYTES_A_PART
}

/// Converts blocks to nodes.
pub(super) fn nodes(blocks: Vec<Block>) -> Vec<Node> {
    blocks.into_iter().map(Node::Block).collect()
}

pub(super) fn code_line(text: &str) -> Block {
    let leaves = if text.is_empty() {
        Vec::new()
    } else {
        vec![Leaf::new(text.replace('\0', "\u{fffd}"), Vec::new())]
    };
    Block::new(BlockKind::CodeLine { highlighted: None }, vec![Node::Text(TextNode::new(leaves))])
}

/// Returns the kind of a heading with `level` number signs.
pub(super) fn heading(level: u8, data: HeadingData) -> BlockKind {
    let level_kept = matches!(level, 1 | 5 | 6).then_some(level);
    let data = HeadingData { level: level_kept, ..data };
    match level {
        0..=2 => BlockKind::Heading1(data),
        3 => BlockKind::Heading2(data),
        _ => BlockKind::Heading3(data),
    }
}

/// Splits the text of a heading from a trailing anchor: `<a href="#x" id="x"></a>`.
fn anchor(text: &str) -> (&str, Option<String>) {
    let whole = (text, None);
    let Some(start) = text.trim_end_matches(SPACE).strip_suffix("</a>").and_then(|text| text.rfind("<a "))
    else {
        return whole;
    };
    let Some((html::Token::Open(open), length)) = html::tag_at(&text[start..]) else { return whole };
    let Some(id) = open.get("id").filter(|id| is_anchor(id)) else { return whole };
    let is_usual = open.source == format!("<a href=\"#{id}\" id=\"{id}\">")
        && text[start + length..].trim_end_matches(SPACE) == "</a>";
    if is_usual { (text[..start].trim_end_matches(SPACE), Some(id.to_owned())) } else { whole }
}

/// Returns `true` if a text is valid as the anchor of a heading.
pub(super) fn is_anchor(text: &str) -> bool {
    !text.is_empty()
        && !text
            .contains(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '&' | '\\' | '`' | '\''))
}

/// Parses the check box at the beginning of an item; returns `None` if it is missing.
fn task(text: &str) -> Option<bool> {
    let rest = text.trim_start_matches(SPACE).strip_prefix('[')?;
    let mut chars = rest.chars();
    let checked = match chars.next()? {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    let behind = chars.as_str().strip_prefix(']')?;
    (behind.is_empty() || behind.starts_with([' ', '\t'])).then_some(checked)
}

/// Removes the spellings that equal the default.
fn settle(nodes: Vec<Node>, text: &str, (context, taken): (InlineContext, &LabelLog)) -> Vec<Node> {
    let usual = spelling::labelled(&nodes);
    let mut labels = Labels::default().at(taken);
    let is_usual = write_inlines(&usual, (Mode::Labelled, context), &mut labels)
        .is_some_and(|written| escape::is_alike(&written, text));
    if is_usual {
        drop(nodes);
        spelling::compact(usual)
    } else {
        drop(usual);
        spelling::reduced(nodes)
    }
}

pub(super) fn caption(blocks: Vec<Block>) -> Fragment {
    Fragment::new("caption", blocks)
}
