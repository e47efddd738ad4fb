//! Traversal of a document: unchanged blocks are copied, and verbatim blocks are parsed again.

use std::rc::Rc;

use docs_model::{
    Block, BlockContent, BlockKind, Fragment, HeadingData, Inline, InlineKind, Leaf, MarkKind, Node,
    TextNode, WhenEmpty,
};

use super::{
    super::{
        escape::InlineContext,
        inlines::label,
        limits::MAX_BLOCK_DEPTH,
        print::{self, Labels as PrintLabels, Notation, split_outer_marks, write_inlines},
        spelling::{self, is_verbatim},
        texts, work_budget,
    },
    dialects::{alert, fence},
    elements::{SPANNING, closing_tag},
    frames::Builder,
    markdown, needs,
    placeholders::{CLOSE, EMPTY, OPEN},
    state::{MEMORY_PER_BYTE, View},
    tags::ends_comment,
};

impl View {
    /// Returns the view of adjacent blocks at a nesting depth.
    pub(super) fn level(&mut self, blocks: &[Block], depth: usize) -> Vec<Block> {
        // A comment ends within its level.
        let was_hidden = std::mem::take(&mut self.is_hidden);
        let mut builder = Builder::new(self, depth);
        let mut at = 0;
        let mut ends = LaterEnds::default();
        while let Some(block) = blocks.get(at) {
            builder.view.ends_later = ends.of(blocks, at);
            builder.source(block);
            at += 1;
            if let Some(name) = builder.view.open_element.take()
                && let Some(end) = ends.after(blocks, at, name)
            {
                builder.source_after(&blocks[end], name);
                at = end + 1;
            }
            if builder.view.is_hidden {
                let end = blocks[at..].iter().position(ends_comment);
                at += end.unwrap_or_default();
                // Only text can contain the rest of the comment.
                let is_text = blocks
                    .get(at)
                    .is_some_and(|block| block.nodes.iter().any(|node| node.as_block().is_none()));
                builder.view.is_hidden = end.is_some() && is_text;
            }
        }
        let shown = builder.finish();
        self.is_hidden = was_hidden;
        shown
    }

    /// Returns the view of a block that is not verbatim, or `None` if none of it is visible.
    pub(super) fn block(&mut self, block: &Block, depth: usize) -> Option<Block> {
        let shown = self.shown(block, depth);
        let is_emptied = shown.nodes.is_empty() && !block.nodes.is_empty();
        (!is_emptied || shown.kind.form().when_empty != WhenEmpty::Removed).then_some(shown)
    }

    fn shown(&mut self, block: &Block, depth: usize) -> Block {
        let mut shown = block.clone();
        let depth = (depth + 1).min(MAX_BLOCK_DEPTH);
        match &mut shown.kind {
            BlockKind::Code { syntax, title, .. } => {
                if let Some(info) = syntax.take() {
                    let (language, name) = fence(&info);
                    *syntax = Some(language.to_owned()).filter(|language| !language.is_empty());
                    *title = title.take().or(name);
                }
                if let Some(title) = title.as_mut().filter(|title| needs::has_code(title)) {
                    *title = texts::inline_text(&self.line(title, Vec::new()).nodes);
                }
                *title = title.take().map(|title| needs::unescaped(&title));
                if syntax.as_deref() == Some("math") {
                    let lines: Vec<String> =
                        block.children().map(|line| spelling::text_of_nodes(&line.nodes)).collect();
                    let formula = Block::new(BlockKind::Math { formula: lines.join("\n") }, Vec::new());
                    return Block { key: shown.key, ..formula };
                }
            }
            BlockKind::TabsItem { title: Some(title), .. } => *title = needs::unescaped(title),
            BlockKind::Table(data) => {
                for column in data.definition.values_mut().filter(|column| needs::is_title_markup(column)) {
                    let usual = || print::title(&column.title, InlineContext::Line);
                    let source =
                        column.spelling.clone().or_else(usual).unwrap_or_else(|| column.title.clone());
                    column.spelling = None;
                    let nodes = self.line(&source, Vec::new()).nodes;
                    column.title = texts::inline_text(&nodes);
                    self.keep_title_notes(&nodes);
                }
            }
            BlockKind::Heading1(data) | BlockKind::Heading2(data) | BlockKind::Heading3(data) => {
                let mut data = std::mem::take(data);
                if needs::nodes(&block.nodes) || needs::has_attributes(&block.nodes) {
                    shown.nodes = self.heading(&block.nodes, &mut data);
                    (shown.key, shown.meta) = (None, None);
                } else {
                    shown.nodes = self.kept_inlines(&block.nodes);
                }
                shown.kind = block.kind.clone();
                if let BlockKind::Heading1(own) | BlockKind::Heading2(own) | BlockKind::Heading3(own) =
                    &mut shown.kind
                {
                    *own = data;
                }
                return shown;
            }
            _ => {}
        }
        // The notes of the titles follow this table, not one within its cells.
        let title_notes = std::mem::take(&mut self.title_notes);
        self.children(&mut shown, depth);
        self.title_notes = title_notes;
        shown
    }

    fn children(&mut self, shown: &mut Block, depth: usize) {
        let is_text = shown.nodes.iter().any(|node| node.as_block().is_none());
        let is_code = matches!(shown.kind, BlockKind::CodeLine { .. });
        if is_text && !is_code && needs::nodes(&shown.nodes) {
            let (source, originals) = self.source(&shown.nodes, InlineContext::Line);
            (shown.nodes, shown.key) = (self.line(&source, originals).nodes, None);
        } else if is_text {
            shown.nodes = self.kept_inlines(&shown.nodes);
        } else if !shown.nodes.is_empty() {
            let blocks: Vec<Block> = std::mem::take(&mut shown.nodes)
                .into_iter()
                .filter_map(|node| if let Node::Block(block) = node { Some(block) } else { None })
                .collect();
            let blocks = match shown.kind.form().content {
                BlockContent::Parts if !blocks.iter().any(is_verbatim) => {
                    blocks.iter().filter_map(|block| self.block(block, depth)).collect()
                }
                _ => self.level(&blocks, depth),
            };
            shown.nodes = blocks.into_iter().map(Node::Block).collect();
            if let Some((style, rest)) = alert(shown) {
                shown.kind = BlockKind::Hint { style, icon: None };
                shown.nodes = rest;
            }
        }
        let is_table = matches!(shown.kind, BlockKind::Table(_));
        for fragment in shown.fragments.iter_mut().flatten() {
            match is_table {
                true => self.cell(fragment, depth),
                false => self.fragment(fragment, depth),
            }
        }
    }

    fn cell(&mut self, fragment: &mut Fragment, depth: usize) {
        let blocks = std::mem::take(&mut fragment.nodes);
        let mut builder = Builder::new(self, depth);
        builder.is_cell = true;
        blocks.iter().for_each(|block| builder.source(block));
        fragment.nodes = builder.finish();
        self.is_hidden = false;
    }

    fn fragment(&mut self, fragment: &mut Fragment, depth: usize) {
        let blocks = std::mem::take(&mut fragment.nodes);
        fragment.nodes = self.level(&blocks, depth);
    }

    /// Copies inline nodes. Only link labels and footnote bodies are replaced by their views.
    fn kept_inlines(&mut self, nodes: &[Node]) -> Vec<Node> {
        let shown = nodes.iter().map(|node| match node {
            Node::Inline(inline) => Node::Inline(self.inline(inline)),
            node => node.clone(),
        });
        shown.collect()
    }

    /// Returns the view of an inline element: its label, and the body of its footnote.
    fn inline(&mut self, inline: &Inline) -> Inline {
        let mut shown = inline.clone();
        match inline.kind {
            InlineKind::Link { .. } if needs::label(&inline.nodes) => {
                let (source, originals) = self.source(&inline.nodes, InlineContext::Line);
                shown.nodes = without_links(self.line(&source, originals).nodes);
            }
            InlineKind::Annotation {} => {
                let at = self.annotations;
                // Annotations in the body are not numbered.
                self.annotations = usize::MAX / 2;
                for fragment in shown.fragments.iter_mut().flatten() {
                    self.fragment(fragment, MAX_BLOCK_DEPTH - 2);
                }
                self.annotations = at.saturating_add(1);
                shown.nodes = self.kept_inlines(&inline.nodes);
                let labels = Rc::clone(&self.labels);
                let body = shown.fragments.iter().flatten().flat_map(|fragment| fragment.nodes.clone());
                if let Some(name) = labels.annotations.get(at) {
                    self.notes.insert(label(name), body.collect());
                }
            }
            _ => shown.nodes = self.kept_inlines(&inline.nodes),
        }
        shown
    }

    fn heading(&mut self, nodes: &[Node], data: &mut HeadingData) -> Vec<Node> {
        let (source, originals) = self.source(nodes, InlineContext::Line);
        let Line { nodes, anchors } = self.line(&source, originals);
        let mut anchors = anchors.into_iter();
        data.id = data.id.take().or_else(|| anchors.next());
        self.heading_anchors.extend(anchors);
        nodes
    }

    /// Parses a single line of Markdown, with placeholders for elements.
    fn line(&mut self, source: &str, originals: Vec<Option<Inline>>) -> Line {
        let source = source.replace('\n', " ");
        // A trailing `#` would be parsed as the closing sequence of the heading.
        let end = if source.ends_with('#') { "<!-- -->" } else { "" };
        let mut builder = Builder::new(self, MAX_BLOCK_DEPTH - 1);
        builder.originals = originals;
        markdown::read(&mut builder, &format!("## {source}{end}"));
        let mut line = Line::default();
        for block in builder.finish() {
            match &block.kind {
                BlockKind::Heading1(HeadingData { id: Some(id), .. }) => line.anchors.insert(0, id.clone()),
                _ => line.anchors.extend(block.meta.as_ref().map(|meta| meta.id.clone())),
            }
            block.visit(&mut |block| {
                let mut inlines = block.nodes.iter().filter(|node| node.as_block().is_none()).peekable();
                if inlines.peek().is_some() && !line.nodes.is_empty() {
                    line.nodes.push(Node::plain(" "));
                }
                line.nodes.extend(inlines.cloned());
            });
        }
        line
    }

    /// Returns the Markdown source of inline nodes with placeholders for their elements, and these elements.
    pub(super) fn source(&mut self, nodes: &[Node], context: InlineContext) -> (String, Vec<Option<Inline>>) {
        let mut originals = Vec::new();
        let source = self.source_from(nodes, context, &mut originals);
        (source, originals)
    }

    /// Like [`Self::source`], but appends the elements to `originals`.
    pub(super) fn source_from(
        &mut self,
        nodes: &[Node],
        context: InlineContext,
        originals: &mut Vec<Option<Inline>>,
    ) -> String {
        let mut leaves: Vec<Leaf> = Vec::new();
        for node in nodes {
            match node {
                Node::Text(text) => leaves.extend(text.leaves.iter().map(clean)),
                Node::Inline(link) if self.is_note(link) => leaves.extend(written_link(link, context)),
                Node::Inline(inline) => {
                    let mut inline = inline.clone();
                    let is_cut = needs::nodes(&inline.nodes) || leaves.last().is_some_and(is_within_tag);
                    if inline.kind == (InlineKind::Annotation {}) && is_cut {
                        // The annotated word begins or ends within a tag.
                        let text = std::mem::take(&mut inline.nodes);
                        leaves.extend(text.iter().flat_map(|node| match node {
                            Node::Text(text) => text.leaves.iter().map(clean).collect(),
                            _ => Vec::new(),
                        }));
                    }
                    // The closing delimiter of emphasis must be followed by punctuation, like that of a reference.
                    let is_noted = inline.kind == (InlineKind::Annotation {})
                        && leaves.last().is_some_and(|leaf| !leaf.marks.is_empty());
                    let before = if is_noted { "<!---->" } else { "" };
                    let (marks, _) = split_outer_marks(inline.spelling.as_deref());
                    let marks = leaves.last().map(|leaf| leaf.marks.iter().take(marks).copied().collect());
                    let text = format!("{before}{OPEN}{}{CLOSE}", originals.len());
                    let leaf = Leaf::new(text.clone(), marks.unwrap_or_default());
                    leaves.push(Leaf { spelling: Some(text), ..leaf });
                    let shown = self.inline(&inline);
                    originals.push(Some(shown));
                }
                Node::Block(_) => {}
            }
        }
        let plain: String = leaves.iter().map(|leaf| leaf.text.as_str()).collect();
        let nodes = [Node::Text(TextNode::new(leaves))];
        let mut labels = PrintLabels::default();
        let source = write_inlines(&nodes, Notation::Spelled, context, &mut labels).unwrap_or(plain);
        work_budget::step(source.len());
        self.memory_left += MEMORY_PER_BYTE * source.len();
        source
    }

    /// Returns `true` for a link whose label is a reference to an existing footnote.
    fn is_note(&self, link: &Inline) -> bool {
        matches!(link.kind, InlineKind::Link { .. })
            && needs::note_name(link).is_some_and(|name| self.labels.notes.contains(&label(name)))
    }

    /// Returns the source of a verbatim block.
    pub(super) fn verbatim(&mut self, block: &Block) -> String {
        let source = spelling::text_of_nodes(&block.nodes).replace([OPEN, CLOSE], "\u{fffd}");
        self.memory_left += MEMORY_PER_BYTE * source.len();
        source
    }
}

/// A line of Markdown.
#[derive(Default)]
struct Line {
    nodes: Vec<Node>,
    /// The anchors within the line. The attribute `{#id}` is the first.
    anchors: Vec<String>,
}

/// The blocks of a level that contain the closing tags of dropped elements, each found once.
#[derive(Default)]
struct LaterEnds {
    /// By element: the last result, with the first block that was searched.
    found: [Option<(usize, Option<usize>)>; SPANNING.len()],
}

impl LaterEnds {
    /// Returns the elements that a block opens and a later block ends.
    fn of(&mut self, blocks: &[Block], at: usize) -> Vec<&'static str> {
        if !is_verbatim(&blocks[at]) {
            return Vec::new();
        }
        let source = spelling::text_of_nodes(&blocks[at].nodes).to_ascii_lowercase();
        let is_open = |name: &&str| source.contains(&format!("<{name}"));
        SPANNING
            .into_iter()
            .filter(is_open)
            .filter(|name| self.after(blocks, at + 1, name).is_some())
            .collect()
    }

    /// Returns the first block from `start` that contains the closing tag of an element. Code does not count.
    fn after(&mut self, blocks: &[Block], start: usize, name: &str) -> Option<usize> {
        let known = &mut self.found[SPANNING.iter().position(|own| *own == name)?];
        if let Some((searched, end)) = *known
            && searched <= start
            && end.is_none_or(|end| end >= start)
        {
            return end;
        }
        let closing = closing_tag(name);
        let is_end = |block: &Block| closes(block, &closing);
        let end = blocks[start..].iter().position(is_end).map(|end| start + end);
        *known = Some((start, end));
        end
    }
}

/// Returns `true` if the text of a block contains a closing tag outside of code.
fn closes(block: &Block, closing: &str) -> bool {
    if is_verbatim(block) {
        return find_ignoring_case(&spelling::text_of_nodes(&block.nodes), closing).is_some();
    }
    let is_paragraph = matches!(block.kind, BlockKind::Paragraph { .. });
    is_paragraph
        && block.nodes.iter().any(|node| match node {
            Node::Text(text) => text.leaves.iter().any(|leaf| {
                let is_code = leaf.marks.iter().any(|mark| mark.kind == MarkKind::Code);
                !is_code && find_ignoring_case(&leaf.text, closing).is_some()
            }),
            _ => false,
        })
}

fn find_ignoring_case(text: &str, piece: &str) -> Option<usize> {
    text.to_ascii_lowercase().find(piece)
}

impl Builder<'_> {
    /// Adds the view of a block after the closing tag of an element.
    fn source_after(&mut self, block: &Block, name: &str) {
        let source = match is_verbatim(block) {
            true => self.view.verbatim(block),
            false => self.view.source_from(&block.nodes, InlineContext::Lines, &mut self.originals),
        };
        let start = find_ignoring_case(&source, &closing_tag(name)).unwrap_or_default();
        let rest = source[start..].split_once('>').map_or("", |(_, rest)| rest);
        markdown::read(self, rest);
    }

    /// Adds the view of a block of the document.
    pub(super) fn source(&mut self, block: &Block) {
        if spelling::is_verbatim(block) {
            let source = self.view.verbatim(block);
            return markdown::read(self, &source);
        }
        let is_paragraph = matches!(block.kind, BlockKind::Paragraph { align: None });
        if !is_paragraph || !needs::nodes(&block.nodes) {
            let shown = self.view.block(block, self.level());
            self.close_text();
            for id in std::mem::take(&mut self.view.heading_anchors) {
                self.anchor(&id);
            }
            if let Some(mut shown) = shown {
                self.align(&mut shown);
                self.add(shown);
                self.add_title_notes();
            }
            return;
        }
        let before = self.siblings().len();
        let own = self.originals.len();
        let mut source = self.view.source_from(&block.nodes, InlineContext::Lines, &mut self.originals);
        if self.is_cell && source.starts_with('<') {
            // A cell contains inline Markdown only. In an HTML block, its Markdown would be literal.
            source.insert_str(0, EMPTY);
        }
        markdown::read(self, &source);
        let is_same = self.originals.len() == own
            && self.is_idle()
            && matches!(self.siblings().get(before..), Some([only])
                if only.meta.is_none() && spelling::bare_block(only) == spelling::bare_block(block));
        if is_same && let Some(last) = self.siblings().last_mut() {
            *last = block.clone();
        }
    }
}

/// Returns `true` if the text ends within a tag.
fn is_within_tag(leaf: &Leaf) -> bool {
    let source = leaf.spelling.as_deref().unwrap_or_default();
    source.rfind('<').is_some_and(|start| !source[start..].contains('>'))
}

fn clean(leaf: &Leaf) -> Leaf {
    let clean = |text: &str| text.replace([OPEN, CLOSE], "\u{fffd}");
    Leaf { text: clean(&leaf.text), spelling: leaf.spelling.as_deref().map(clean), ..leaf.clone() }
}

/// Returns the source of a link as a leaf with the marks around the link.
fn written_link(link: &Inline, context: InlineContext) -> Option<Leaf> {
    let (_, notation) = split_outer_marks(link.spelling.as_deref());
    let mut own = Inline { spelling: Some(notation.to_owned()), ..link.clone() };
    let [Node::Text(TextNode { leaves, .. })] = own.nodes.as_mut_slice() else { return None };
    let marks = std::mem::take(&mut leaves.first_mut()?.marks);
    let source =
        write_inlines(&[Node::Inline(own)], Notation::Spelled, context, &mut PrintLabels::default())?;
    Some(Leaf { spelling: Some(source.clone()), ..Leaf::new(source, marks) })
}

/// Replaces links with their labels.
fn without_links(nodes: Vec<Node>) -> Vec<Node> {
    let mut out = Vec::new();
    for node in nodes {
        match node {
            Node::Inline(inline) if !inline.is_void => out.extend(without_links(inline.nodes)),
            node => out.push(node),
        }
    }
    out
}
