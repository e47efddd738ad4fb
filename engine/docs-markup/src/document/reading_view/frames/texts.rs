//! The open paragraph, heading or code block, with its marks and links.

use docs_model::{Block, BlockKind, BlockMeta, ContentRef, HeadingData, Leaf, MarkKind, Node};

use super::{
    super::{
        super::{simple_blocks, spelling, texts},
        assemble::{self, Item, SourceLink},
        dialects::fence,
        placeholders::without_placeholders,
    },
    BLOCK_BYTES, Builder, MAX_OPEN, OpenCode, OpenText, RUN_BYTES, TextKind,
};

/// Estimated memory of a paragraph in bytes, in addition to its text runs.
const PARAGRAPH_BYTES: usize = 320;
/// Estimated memory of a heading in bytes, with its key, its anchors and its entry in the outline.
const HEADING_BYTES: usize = 2_000;

impl Builder<'_> {
    /// Completes the open paragraph or heading.
    pub(in crate::document::reading_view) fn close_text(&mut self) {
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
    pub(super) fn add_or_append(&mut self, block: Block) {
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
    pub(in crate::document::reading_view) fn reset_marks(&mut self) {
        self.marks.clear();
        self.unclosed.clear();
        (self.link, self.skipped, self.dark) = (None, None, None);
    }

    pub(in crate::document::reading_view) fn open_mark(&mut self, kind: MarkKind) {
        if self.marks.len() < MAX_OPEN {
            self.marks.push(kind);
        }
    }

    pub(in crate::document::reading_view) fn close_mark(&mut self, kind: MarkKind) {
        if let Some(at) = self.marks.iter().rposition(|own| *own == kind) {
            self.marks.remove(at);
        }
    }

    pub(in crate::document::reading_view) fn open_link(&mut self, target: ContentRef, title: Option<String>) {
        if self.view.take(RUN_BYTES) {
            self.links.push(SourceLink::new(target, title));
            self.link = Some(self.links.len() - 1);
        }
    }

    pub(in crate::document::reading_view) const fn close_link(&mut self) {
        self.link = None;
    }

    fn items(&mut self) -> &mut Vec<Item> {
        let new = || OpenText { kind: TextKind::Paragraph, align: None, opener: None, items: Vec::new() };
        &mut self.text.get_or_insert_with(new).items
    }

    /// Adds text.
    pub(in crate::document::reading_view) fn push(&mut self, text: &str) {
        let mut marks: Vec<MarkKind> = Vec::new();
        self.marks.iter().for_each(|mark| {
            if !marks.contains(mark) {
                marks.push(*mark);
            }
        });
        self.push_marked(text, marks);
    }

    /// Adds inline code.
    pub(in crate::document::reading_view) fn push_code(&mut self, text: &str) {
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
    pub(in crate::document::reading_view) fn push_collapsed(&mut self, text: &str) {
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
    pub(in crate::document::reading_view) fn push_break(&mut self) {
        if !self.text.as_ref().is_none_or(|text| assemble::is_blank(&text.items)) || self.code.is_some() {
            self.push("\n");
        }
    }

    /// Returns `true` if neither text nor code is open, for example between list items.
    pub(in crate::document::reading_view) fn is_between(&self) -> bool {
        self.text.is_none() && self.code.is_none()
    }

    /// Ends an HTML block: closes its text and its marks.
    pub(in crate::document::reading_view) fn end_html(&mut self) {
        let is_text =
            self.text.as_ref().is_some_and(|text| text.opener.is_none() || !assemble::is_blank(&text.items));
        if is_text {
            self.close_text();
        }
        self.reset_marks();
        self.close_code();
    }

    /// Adds an inline element or an image.
    pub(in crate::document::reading_view) fn push_item(&mut self, item: impl FnOnce(Option<usize>) -> Item) {
        if self.skipped.is_some() || self.code.is_some() || !self.view.take(RUN_BYTES) {
            return;
        }
        let link = self.link;
        self.items().push(item(link));
    }

    /// Opens a code block.
    pub(in crate::document::reading_view) fn open_code(&mut self, info: String) {
        if self.skipped.is_none() {
            self.close_text();
            self.code = Some(OpenCode { info, text: String::new() });
        }
    }

    /// Closes the code block and adds it.
    pub(in crate::document::reading_view) fn close_code(&mut self) {
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
