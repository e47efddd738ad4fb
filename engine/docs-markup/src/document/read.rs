//! Parser for blocks of Markdown.

use docs_model::{Block, BlockKind, HeadingData, Inline, InlineKind, Node};

use super::{
    blocks::settle_block,
    chunks::{self, Chunk, ChunkKind, ListChunk, Scanner},
    escape::{self, InlineContext},
    figures, html, html_blocks,
    inlines::{self, Rules},
    limits::MAX_BLOCK_DEPTH,
    lines::{self, Line, SPACE},
    nesting,
    notes::LabelLog,
    print::{Labels, Notation, write_inlines},
    reader::BlockReader,
    simple_blocks::{code_line, fenced, heading, is_anchor, is_list, is_nothing, nodes, paragraph, verbatim},
    spelling, tables, tagged, weight,
};

/// Number of parts of a block (list items, code lines, table cells) that are always parsed, and number of bytes
/// required for each further part. Blocks with more and smaller parts are preserved verbatim, because their trees would
/// need disproportionate memory.
const MAX_PARTS: usize = 2_000;
const BYTES_A_PART: usize = 8;

impl BlockReader<'_> {
    /// Parses lines into blocks at the current level.
    pub(super) fn level(&mut self, lines: &[Line<'_>]) -> Vec<Block> {
        self.read_chunks(chunks::scan_chunks(lines))
    }

    /// Parses the chunks of a scanner into blocks.
    pub(super) fn read_chunks(&mut self, scanner: Scanner<'_, '_>) -> Vec<Block> {
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
                    let follows_list = out.last().is_some_and(is_list);
                    out.extend(
                        self.chunk(&chunk, lines).into_iter().map(|block| fenced(block, follows_list)),
                    );
                }
            }
        }
        out.shrink_to_fit();
        out
    }

    /// Parses the body of a footnote into blocks that round-trip through printing.
    pub(super) fn note(&mut self, lines: &[Line<'_>], labels: &Labels) -> Vec<Block> {
        if !weight::fits_note(lines) {
            return vec![verbatim(lines)];
        }
        self.depth += 1;
        let mut out = Vec::new();
        for chunk in chunks::scan_chunks(lines) {
            let own = &lines[chunk.lines.clone()];
            if matches!(chunk.kind, ChunkKind::Note(..)) || self.left == 0 {
                out.push(verbatim(own));
                continue;
            }
            let blocks = self.chunk(&chunk, lines);
            let is_one = blocks.len() == 1;
            out.extend(
                blocks
                    .into_iter()
                    .map(|block| if is_one { settle_block(block, own, labels).0 } else { block }),
            );
        }
        self.depth -= 1;
        out
    }

    /// Parses the blocks inside another block.
    pub(super) fn read_nested(&mut self, lines: &[Line<'_>]) -> Vec<Block> {
        if lines.iter().all(Line::is_blank) {
            return Vec::new();
        }
        if self.depth >= MAX_BLOCK_DEPTH {
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
                let mut block = Block::new(BlockKind::Blockquote {}, nodes(self.read_nested(inside)));
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
                return tagged::blocks(self, tag, inside.clone(), lines, chunk);
            }
            ChunkKind::Details(inside) => figures::expandable(self, &lines[inside.clone()]),
        };
        // A paragraph without content would be lost in printing.
        let block = block.filter(|block| !is_nothing(block));
        vec![block.unwrap_or_else(|| verbatim(own))]
    }

    /// Parses inline text with marks.
    pub(super) fn text(&mut self, text: &str, context: InlineContext) -> Option<Vec<Node>> {
        if is_plain(text) {
            return Some(vec![Node::plain(text)]);
        }
        let before = self.notes.label_log().clone();
        let mut rules = Rules { definitions: self.definitions, notes: &mut self.notes };
        let read = spelling::compact(inlines::read(text, &mut rules)?);
        Some(remove_default_spellings(read, text, context, &before))
    }

    /// Returns the rules for inline text.
    pub(super) fn rules(&mut self) -> Rules<'_> {
        Rules { definitions: self.definitions, notes: &mut self.notes }
    }

    fn paragraph(&mut self, lines: &[Line<'_>]) -> Option<Block> {
        let text = lines::join(lines);
        let text = text.trim_matches([' ', '\t', '\n']);
        let nodes = self.text(text, InlineContext::Lines).filter(|nodes| !nodes.is_empty())?;
        // A paragraph that only contains an image becomes an image block.
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

    /// Creates a code block with one child block per line.
    pub(super) fn code(&mut self, info: &str, code: &[Line<'_>]) -> Block {
        let nodes = code.iter().map(|line| Node::Block(code_line(&line.text))).collect();
        self.left = self.left.saturating_sub(code.len());
        let syntax = (!info.is_empty()).then(|| info.to_owned());
        Block::new(BlockKind::plain_code(syntax), nodes)
    }

    fn list(&mut self, list: &ListChunk<'_>) -> Block {
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
                    lines[0] = lines[0].slice_from(at).dedent(1);
                    self.read_nested(&lines)
                }
                None => self.read_nested(lines),
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
        html_blocks::block(self, &tree, source)
    }
}

/// Returns `true` if `text` is plain: a single line of words that does not begin a block.
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

/// Splits a trailing anchor from the text of a heading: `<a href="#x" id="x"></a>`.
fn anchor(text: &str) -> (&str, Option<String>) {
    let whole = (text, None);
    let Some(start) = text.trim_end_matches(SPACE).strip_suffix("</a>").and_then(|text| text.rfind("<a "))
    else {
        return whole;
    };
    let Some((html::TagToken::Open(open), length)) = html::tag_at(&text[start..]) else { return whole };
    let Some(id) = open.get("id").filter(|id| is_anchor(id)) else { return whole };
    let is_usual = open.source == format!("<a href=\"#{id}\" id=\"{id}\">")
        && text[start + length..].trim_end_matches(SPACE) == "</a>";
    if is_usual { (text[..start].trim_end_matches(SPACE), Some(id.to_owned())) } else { whole }
}

/// Parses the check box at the beginning of an item. Returns `None` if it is missing.
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

/// Removes spellings that equal the default.
fn remove_default_spellings(
    nodes: Vec<Node>,
    text: &str,
    context: InlineContext,
    taken: &LabelLog,
) -> Vec<Node> {
    let usual = spelling::retain_labels(&nodes);
    let mut labels = Labels::default().with_notes(taken);
    let is_usual = write_inlines(&usual, Notation::Labelled, context, &mut labels)
        .is_some_and(|written| escape::is_alike(&written, text));
    if is_usual {
        drop(nodes);
        spelling::compact(usual)
    } else {
        drop(usual);
        spelling::remove_canonical(nodes)
    }
}
