//! The stack of open blocks while a view is built.

mod texts;

use docs_model::{
    Block, BlockKind, BlockMeta, ContentRef, Fragment, HeadingData, Inline, Leaf, MarkKind, Node, TextAlign,
};

use super::{
    super::{
        limits::MAX_BLOCK_DEPTH,
        simple_blocks::{self, is_anchor, paragraph},
        spelling,
    },
    assemble::{self, Item, SourceLink},
    dialects::alert,
    rows::{self, Cell, Row},
    state::View,
};

/// Maximum number of open blocks and elements. Further ones are ignored, but their content is kept.
const MAX_OPEN: usize = 64;
/// Estimated memory of a block and of a text run, in bytes.
const BLOCK_BYTES: usize = 800;
const RUN_BYTES: usize = 240;
/// Estimated memory of a table cell in bytes, in addition to its blocks.
const CELL_BYTES: usize = 400;

/// The syntax that opened a block and must close it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Opener {
    Markdown,
    /// An HTML element with this name.
    Html(String),
}

/// The kind of an open block.
#[derive(Debug)]
pub(super) enum FrameKind {
    /// A block with child blocks.
    Block(BlockKind),
    /// An element that at most aligns its content.
    Plain(Option<TextAlign>),
    Details {
        is_open: Option<bool>,
        title: Vec<Node>,
    },
    Summary,
    Caption,
    Table(Vec<Row>),
    Row(Row),
    Cell(Cell),
    /// The body of the footnote with this label.
    Note(String),
}

#[derive(Debug)]
struct Frame {
    kind: FrameKind,
    opener: Opener,
    blocks: Vec<Block>,
}

/// The kind of an open text block.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum TextKind {
    Paragraph,
    Heading(u8, HeadingData),
}

#[derive(Debug)]
struct OpenText {
    kind: TextKind,
    align: Option<TextAlign>,
    opener: Option<Opener>,
    items: Vec<Item>,
}

/// An open code block: its info string and its text.
#[derive(Debug, Default)]
pub(super) struct OpenCode {
    pub(super) info: String,
    pub(super) text: String,
}

/// An HTML element whose content is skipped.
#[derive(Debug)]
pub(super) struct Skipped {
    pub(super) name: String,
    pub(super) depth: usize,
    /// The URL of a media element.
    pub(super) source: Option<String>,
}

/// Builds the blocks of one nesting level of a view.
pub(super) struct Builder<'v> {
    pub(super) view: &'v mut View,
    depth: usize,
    frames: Vec<Frame>,
    /// The number of open Markdown blocks beyond [`MAX_OPEN`], which are ignored.
    ignored: usize,
    root: Vec<Block>,
    text: Option<OpenText>,
    marks: Vec<MarkKind>,
    links: Vec<SourceLink>,
    link: Option<usize>,
    anchors: Vec<String>,
    pub(super) code: Option<OpenCode>,
    pub(super) skipped: Option<Skipped>,
    /// The names of dropped elements that have no closing tag in the rest of the block.
    pub(super) unclosed: Vec<String>,
    /// `true` in the header of an HTML table.
    pub(super) is_head: bool,
    /// The dark mode image of the open `picture` element.
    pub(super) dark: Option<ContentRef>,
    /// `true` for the content of a table cell.
    pub(super) is_cell: bool,
    /// The elements that placeholders in the text represent.
    pub(super) originals: Vec<Option<Inline>>,
}

impl<'v> Builder<'v> {
    pub(super) fn new(view: &'v mut View, depth: usize) -> Self {
        Self {
            view,
            depth,
            frames: Vec::new(),
            ignored: 0,
            root: Vec::new(),
            text: None,
            marks: Vec::new(),
            links: Vec::new(),
            link: None,
            anchors: Vec::new(),
            code: None,
            skipped: None,
            unclosed: Vec::new(),
            is_head: false,
            dark: None,
            is_cell: false,
            originals: Vec::new(),
        }
    }

    /// Returns the nesting depth of the next block.
    pub(super) const fn level(&self) -> usize {
        self.depth + self.frames.len()
    }

    /// Returns `true` if nothing is open or pending.
    pub(super) const fn is_idle(&self) -> bool {
        self.text.is_none() && self.anchors.is_empty()
    }

    /// Closes all open blocks and returns the blocks.
    pub(super) fn finish(mut self) -> Vec<Block> {
        self.close_code();
        self.close_text();
        while !self.frames.is_empty() {
            self.pop();
        }
        self.flush_anchors();
        self.root
    }

    pub(super) fn siblings(&mut self) -> &mut Vec<Block> {
        self.frames.last_mut().map_or(&mut self.root, |frame| &mut frame.blocks)
    }

    /// Adds a block to the innermost open block.
    pub(super) fn add(&mut self, block: Block) {
        self.flush_anchors();
        self.siblings().push(block);
    }

    /// Adds a new block if the memory budget permits.
    pub(super) fn add_new(&mut self, block: Block) {
        self.close_text();
        if self.view.take(BLOCK_BYTES) {
            self.add(block);
        }
    }

    /// Adds a paragraph with the annotated words of the column titles of the preceding table, if there are any.
    pub(super) fn add_title_notes(&mut self) {
        let mut nodes = Vec::new();
        for note in std::mem::take(&mut self.view.title_notes) {
            if !nodes.is_empty() {
                spelling::add(&mut nodes, Leaf::new(", ", Vec::new()));
            }
            nodes.push(Node::Inline(note));
        }
        if !nodes.is_empty() && self.view.take(BLOCK_BYTES) {
            self.add(paragraph(nodes));
        }
    }

    /// Records an anchor for the next block.
    pub(super) fn anchor(&mut self, id: &str) {
        if self.skipped.is_none() && is_id(id) && self.view.take(RUN_BYTES) {
            self.anchors.push(id.to_owned());
        }
    }

    /// Adds an empty paragraph for each pending anchor.
    fn flush_anchors(&mut self) {
        for id in std::mem::take(&mut self.anchors) {
            let block = Block { meta: Some(BlockMeta { id }), ..paragraph(Vec::new()) };
            self.siblings().push(block);
        }
    }

    /// Opens a block.
    pub(super) fn open(&mut self, kind: FrameKind, opener: Opener) {
        if self.skipped.is_some() && opener != Opener::Markdown {
            return;
        }
        self.close_text();
        let is_full = self.frames.len() >= MAX_OPEN || self.ignored > 0;
        if is_full && opener == Opener::Markdown {
            self.ignored += 1;
        }
        if is_full {
            return;
        }
        let kind = if self.fits(&kind) { kind } else { FrameKind::Plain(None) };
        self.frames.push(Frame { kind, opener, blocks: Vec::new() });
    }

    /// Returns `true` if the nesting and the memory budget permit a block, and deducts its memory.
    fn fits(&mut self, kind: &FrameKind) -> bool {
        match kind {
            FrameKind::Block(_) | FrameKind::Details { .. } | FrameKind::Table(_) => {
                self.depth + self.frames.len() < MAX_BLOCK_DEPTH && self.view.take(BLOCK_BYTES)
            }
            FrameKind::Row(_) => self.view.memory_left > 0,
            FrameKind::Cell(_) => self.view.take(CELL_BYTES),
            FrameKind::Plain(_) | FrameKind::Summary | FrameKind::Caption | FrameKind::Note(_) => true,
        }
    }

    /// Closes the innermost block that Markdown opened, and all blocks within it.
    pub(super) fn close_markdown(&mut self) {
        self.close_text();
        if self.ignored > 0 {
            self.ignored -= 1;
            return;
        }
        while let Some(frame) = self.frames.last() {
            let is_own = frame.opener == Opener::Markdown;
            self.pop();
            if is_own {
                break;
            }
        }
    }

    /// Closes the innermost open element with the given name, unless it contains an open Markdown block. Returns `true`
    /// if there is such an element.
    pub(super) fn close_element(&mut self, name: &str) -> bool {
        let Some(at) = self.element(|frame, _| matches!(&frame.opener, Opener::Html(own) if own == name))
        else {
            return false;
        };
        self.close_text();
        while self.frames.len() > at {
            self.pop();
        }
        true
    }

    /// Returns the position of the innermost open element that fulfils a condition.
    fn element(&self, mut is_wanted: impl FnMut(&Frame, usize) -> bool) -> Option<usize> {
        for (at, frame) in self.frames.iter().enumerate().rev() {
            if is_wanted(frame, at) {
                return Some(at);
            }
            if frame.opener == Opener::Markdown {
                return None;
            }
        }
        None
    }

    /// Closes the innermost open part of a list or table (item, row or cell) that has one of these names, without
    /// leaving the innermost list or table.
    pub(super) fn close_part(&mut self, names: &[&str]) {
        let is_end = |frame: &Frame| {
            matches!(&frame.kind, FrameKind::Table(_))
                || matches!(&frame.kind, FrameKind::Block(kind) if kind.is_list())
        };
        let mut is_past = false;
        let found = self.element(|frame, _| {
            is_past |= is_end(frame);
            !is_past && matches!(&frame.opener, Opener::Html(own) if names.contains(&own.as_str()))
        });
        if let Some(at) = found.filter(|_| !is_past) {
            self.close_text();
            while self.frames.len() > at {
                self.pop();
            }
        }
    }

    /// Returns `true` if the innermost open block is a list.
    pub(super) fn is_in_list(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { kind: FrameKind::Block(kind), .. }) if kind.is_list())
    }

    /// Returns `true` if the innermost open block is a table.
    pub(super) fn is_in_table(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { kind: FrameKind::Table(_), .. }))
    }

    /// Returns `true` if the innermost open block is a row.
    pub(super) fn is_in_row(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { kind: FrameKind::Row(_), .. }))
    }

    /// Marks the innermost item as a task.
    pub(super) fn check(&mut self, is_done: Option<bool>) {
        for frame in self.frames.iter_mut().rev() {
            match &mut frame.kind {
                FrameKind::Block(BlockKind::ListItem { checked }) => *checked = is_done,
                FrameKind::Block(kind @ (BlockKind::ListUnordered {} | BlockKind::ListOrdered { .. })) => {
                    *kind = BlockKind::ListTasks {};
                    return;
                }
                _ => {}
            }
        }
    }

    fn pop(&mut self) {
        self.close_text();
        let Some(Frame { kind, blocks, .. }) = self.frames.pop() else { return };
        match kind {
            FrameKind::Plain(_) => blocks.into_iter().for_each(|block| self.add_or_append(block)),
            FrameKind::Block(kind) => self.close_block(kind, blocks),
            FrameKind::Details { is_open, title } => {
                let title = if title.is_empty() { vec![Node::plain("Details")] } else { title };
                let part = |name: &str, nodes| Fragment::new(name, nodes).with_kind(name);
                let fragments =
                    vec![part("expandable-title", vec![paragraph(title)]), part("expandable-body", blocks)];
                self.add(Block::with_fragments(
                    BlockKind::Expandable { default_expanded: is_open },
                    fragments,
                ));
            }
            FrameKind::Summary => {
                let nodes = inlines(blocks);
                match self.frames.last_mut() {
                    Some(Frame { kind: FrameKind::Details { title, .. }, .. }) => *title = nodes,
                    _ if nodes.is_empty() => {}
                    _ => self.add(paragraph(nodes)),
                }
            }
            FrameKind::Caption => self.caption(inlines(blocks)),
            FrameKind::Table(rows) => {
                // Text outside of rows precedes the table. The text of rows beyond the memory budget follows it.
                let (front, rest) = match self.view.memory_left {
                    0 => (Vec::new(), blocks),
                    _ => (blocks, Vec::new()),
                };
                self.siblings().extend(front);
                if let Some(table) = rows::table(rows, self.view) {
                    self.add(table);
                    self.add_title_notes();
                }
                self.siblings().extend(rest);
            }
            FrameKind::Row(row) => match self.frames.last_mut() {
                Some(Frame { kind: FrameKind::Table(rows), blocks: outer, .. }) => {
                    outer.extend(blocks);
                    rows.push(row);
                }
                _ => {
                    let cells = row.cells.into_iter().flat_map(|cell| cell.blocks);
                    self.siblings().extend(cells);
                }
            },
            FrameKind::Cell(cell) => match self.frames.last_mut() {
                Some(Frame { kind: FrameKind::Row(row), .. }) => row.cells.push(Cell { blocks, ..cell }),
                _ => self.siblings().extend(blocks),
            },
            FrameKind::Note(label) => {
                self.view.notes.entry(label).or_insert(blocks);
            }
        }
    }

    fn close_block(&mut self, kind: BlockKind, blocks: Vec<Block>) {
        let is_item = matches!(kind, BlockKind::ListItem { .. });
        if blocks.is_empty() && !is_item {
            return;
        }
        let of_list = |block: Block| match block.kind {
            BlockKind::ListItem { .. } => block,
            _ => Block::new(BlockKind::ListItem { checked: None }, vec![Node::Block(block)]),
        };
        let is_list = kind.is_list();
        let nodes = blocks.into_iter().map(|block| Node::Block(if is_list { of_list(block) } else { block }));
        let mut block = Block::new(kind, nodes.collect());
        if let Some((style, nodes)) = alert(&block) {
            block = Block::new(BlockKind::Hint { style, icon: None }, nodes);
        }
        self.add(block);
    }

    /// Sets the caption of the preceding image. After other content, the caption becomes a paragraph.
    fn caption(&mut self, nodes: Vec<Node>) {
        if nodes.is_empty() {
            return;
        }
        let caption = vec![paragraph(nodes)];
        if let Some(Block { kind: BlockKind::Images { .. }, nodes, .. }) = self.siblings().last_mut()
            && let [Node::Block(image)] = nodes.as_mut_slice()
            && image.fragments().iter().all(|fragment| fragment.nodes.is_empty())
        {
            image.fragments = Some(vec![simple_blocks::caption(caption)]);
            return;
        }
        caption.into_iter().for_each(|block| self.add(block));
    }

    /// Opens a paragraph or heading. For a Markdown paragraph, an empty paragraph opened by HTML is reused.
    pub(super) fn open_text(&mut self, kind: TextKind, align: Option<TextAlign>, opener: Opener) {
        let is_reused = opener == Opener::Markdown
            && kind == TextKind::Paragraph
            && self.text.as_ref().is_some_and(|text| {
                matches!(text.opener, Some(Opener::Html(_))) && assemble::is_blank(&text.items)
            });
        if is_reused {
            return;
        }
        self.close_text();
        self.text = Some(OpenText { kind, align, opener: Some(opener), items: Vec::new() });
    }

    /// Returns the alignment of the innermost open element that has one.
    fn open_align(&self) -> Option<TextAlign> {
        self.frames.iter().rev().find_map(|frame| match frame.kind {
            FrameKind::Plain(align) => align,
            _ => None,
        })
    }

    /// Aligns a block of the document like the open element that contains it, unless it has an alignment of its own.
    pub(super) fn align(&self, block: &mut Block) {
        let Some(align) = self.open_align() else { return };
        match &mut block.kind {
            BlockKind::Paragraph { align: own } => *own = own.or(Some(align)),
            BlockKind::Heading1(data) | BlockKind::Heading2(data) | BlockKind::Heading3(data) => {
                data.align = data.align.or(Some(align));
            }
            BlockKind::Images { align: own, .. } => *own = own.or_else(|| assemble::image_align(align)),
            _ => {}
        }
    }
}

/// Returns `true` if `text` is a valid anchor. Anchors that begin with `~` are reserved for the layout of sites.
pub(super) fn is_id(text: &str) -> bool {
    is_anchor(text) && !text.starts_with('~')
}

/// Returns the inline nodes of blocks, separated by spaces.
fn inlines(blocks: Vec<Block>) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::new();
    for block in blocks {
        let nodes = match block.nodes.iter().all(|node| node.as_block().is_none()) {
            true => block.nodes,
            false => vec![Node::plain(spelling::text_of_nodes(&block.nodes))],
        };
        if !out.is_empty() {
            spelling::add(&mut out, Leaf::new(" ", Vec::new()));
        }
        out.extend(nodes);
    }
    out
}
