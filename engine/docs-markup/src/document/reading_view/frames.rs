//! The stack of open blocks while a view is built.

use docs_model::{
    Block, BlockKind, BlockMeta, ContentRef, Fragment, HeadingData, Inline, Leaf, MarkKind, Node, TextAlign,
};

use super::{
    super::{
        limits::MAX_BLOCK_DEPTH,
        simple_blocks::{self, is_anchor, paragraph},
        spelling, texts,
    },
    assemble::{self, Item, SourceLink},
    dialects::{alert, fence},
    placeholders::without_placeholders,
    rows::{self, Cell, Row},
    state::View,
};

/// Maximum number of open blocks and elements. Further ones are ignored, but their content is kept.
const MAX_OPEN: usize = 64;
/// Estimated memory of a block and of a text run, in bytes.
const BLOCK_BYTES: usize = 800;
const RUN_BYTES: usize = 240;
/// Estimated memory of a paragraph in bytes, in addition to its text runs.
const PARAGRAPH_BYTES: usize = 320;
/// Estimated memory of a heading in bytes, with its key, its anchors and its entry in the outline.
const HEADING_BYTES: usize = 2_000;
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

    /// Completes the open paragraph or heading.
    pub(super) fn close_text(&mut self) {
        let Some(OpenText { kind, align, items, .. }) = self.text.take() else { return };
        let has_memory = self.view.memory_left > 0;
        let kind = if has_memory { kind } else { TextKind::Paragraph };
        let align = align.or_else(|| self.open_align());
        if kind == TextKind::Paragraph
            && has_memory
            && let Some(image) = assemble::image_block(&items, align)
        {
            self.view.take(BLOCK_BYTES);
            return self.add(image);
        }
        self.view.take(if kind == TextKind::Paragraph { PARAGRAPH_BYTES } else { HEADING_BYTES });
        let nodes = assemble::nodes(items, &mut self.links, &mut self.originals, self.view);
        if nodes.is_empty() || self.view.memory_left == 0 && self.append(&nodes) {
            return;
        }
        let id = match kind {
            TextKind::Paragraph if !self.anchors.is_empty() => Some(self.anchors.remove(0)),
            _ => None,
        };
        let kind = match kind {
            TextKind::Paragraph => BlockKind::Paragraph { align },
            TextKind::Heading(level, data) => simple_blocks::heading(level, HeadingData { align, ..data }),
        };
        let block = Block { meta: id.map(|id| BlockMeta { id }), ..Block::new(kind, nodes) };
        self.add(block);
    }

    /// Adds a block, or, beyond the memory budget, appends a paragraph to the preceding one.
    fn add_or_append(&mut self, block: Block) {
        let is_appended = self.view.memory_left == 0
            && matches!(block.kind, BlockKind::Paragraph { .. })
            && self.append(&block.nodes);
        if !is_appended {
            self.siblings().push(block);
        }
    }

    /// Appends the text of nodes to the preceding paragraph. Returns `false` if there is none.
    fn append(&mut self, nodes: &[Node]) -> bool {
        let Some(Block { kind: BlockKind::Paragraph { .. }, nodes: own, .. }) = self.siblings().last_mut()
        else {
            return false;
        };
        spelling::add(own, Leaf::new("\n", Vec::new()));
        spelling::add(own, Leaf::new(texts::inline_text(nodes), Vec::new()));
        true
    }

    /// Closes the marks and links that are still open at the end of a Markdown text block.
    pub(super) fn reset_marks(&mut self) {
        self.marks.clear();
        self.unclosed.clear();
        (self.link, self.skipped, self.dark) = (None, None, None);
    }

    pub(super) fn open_mark(&mut self, kind: MarkKind) {
        if self.marks.len() < MAX_OPEN {
            self.marks.push(kind);
        }
    }

    pub(super) fn close_mark(&mut self, kind: MarkKind) {
        if let Some(at) = self.marks.iter().rposition(|own| *own == kind) {
            self.marks.remove(at);
        }
    }

    pub(super) fn open_link(&mut self, target: ContentRef, title: Option<String>) {
        if self.view.take(RUN_BYTES) {
            self.links.push(SourceLink::new(target, title));
            self.link = Some(self.links.len() - 1);
        }
    }

    pub(super) const fn close_link(&mut self) {
        self.link = None;
    }

    fn items(&mut self) -> &mut Vec<Item> {
        let new = || OpenText { kind: TextKind::Paragraph, align: None, opener: None, items: Vec::new() };
        &mut self.text.get_or_insert_with(new).items
    }

    /// Adds text.
    pub(super) fn push(&mut self, text: &str) {
        let mut marks: Vec<MarkKind> = Vec::new();
        self.marks.iter().for_each(|mark| {
            if !marks.contains(mark) {
                marks.push(*mark);
            }
        });
        self.push_marked(text, marks);
    }

    /// Adds inline code.
    pub(super) fn push_code(&mut self, text: &str) {
        let mut marks = self.marks.clone();
        marks.dedup();
        if !marks.contains(&MarkKind::Code) {
            marks.push(MarkKind::Code);
        }
        self.push_marked(text, marks);
    }

    fn push_marked(&mut self, text: &str, marks: Vec<MarkKind>) {
        if self.skipped.is_some() || text.is_empty() {
            return;
        }
        if let Some(code) = &mut self.code {
            code.text.push_str(text);
            return;
        }
        let link = self.link;
        let has_memory = self.view.memory_left > 0;
        if let Some(Item::Text { text: last, marks: own, link: at }) = self.items().last_mut()
            && ((*own == marks && *at == link) || !has_memory)
        {
            last.push_str(text);
            return;
        }
        self.view.take(RUN_BYTES);
        self.items().push(Item::Text { text: text.to_owned(), marks, link });
    }

    /// Adds HTML text with collapsed whitespace.
    pub(super) fn push_collapsed(&mut self, text: &str) {
        if self.code.is_some() {
            return self.push(text);
        }
        let is_start = self.text.as_ref().is_none_or(|text| assemble::ends_with_space(&text.items));
        let mut out = String::with_capacity(text.len());
        let mut is_space = is_start;
        for c in text.chars() {
            let is_white = c.is_ascii_whitespace();
            if !is_white {
                out.push(c);
            } else if !is_space {
                out.push(' ');
            }
            is_space = is_white;
        }
        self.push(&out);
    }

    /// Adds a line break, unless nothing precedes it.
    pub(super) fn push_break(&mut self) {
        if !self.text.as_ref().is_none_or(|text| assemble::is_blank(&text.items)) || self.code.is_some() {
            self.push("\n");
        }
    }

    /// Returns `true` if neither text nor code is open, for example between list items.
    pub(super) fn is_between(&self) -> bool {
        self.text.is_none() && self.code.is_none()
    }

    /// Ends an HTML block: closes its text and its marks.
    pub(super) fn end_html(&mut self) {
        let is_text =
            self.text.as_ref().is_some_and(|text| text.opener.is_none() || !assemble::is_blank(&text.items));
        if is_text {
            self.close_text();
        }
        self.marks.clear();
        self.unclosed.clear();
        (self.link, self.skipped, self.dark) = (None, None, None);
        self.close_code();
    }

    /// Adds an inline element or an image.
    pub(super) fn push_item(&mut self, item: impl FnOnce(Option<usize>) -> Item) {
        if self.skipped.is_some() || self.code.is_some() || !self.view.take(RUN_BYTES) {
            return;
        }
        let link = self.link;
        self.items().push(item(link));
    }

    /// Opens a code block.
    pub(super) fn open_code(&mut self, info: String) {
        if self.skipped.is_none() {
            self.close_text();
            self.code = Some(OpenCode { info, text: String::new() });
        }
    }

    /// Closes the code block and adds it.
    pub(super) fn close_code(&mut self) {
        let Some(OpenCode { info, text }) = self.code.take() else { return };
        let (language, title) = fence(&info);
        let text = without_placeholders(&text);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        if text.trim().is_empty() {
            return;
        }
        let count = text.matches('\n').count() + 1;
        if !self.view.take(count * BLOCK_BYTES) {
            self.push(text);
            return self.close_text();
        }
        let line = |line: &str| Node::Block(simple_blocks::code_line(line.trim_end_matches('\r')));
        let syntax = Some(language.to_owned()).filter(|language| !language.is_empty());
        let mut kind = BlockKind::plain_code(syntax);
        if let BlockKind::Code { title: shown, .. } = &mut kind {
            *shown = title;
        }
        let block = Block::new(kind, text.split('\n').map(line).collect());
        self.add_new(block);
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
