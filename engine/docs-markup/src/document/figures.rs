//! Blocks in HTML notation: images, expandables, aligned text and code with highlighted lines.

use docs_model::{
    Block, BlockKind, Fragment, HeadingData, ImageAlign, ImageData, Inline, InlineKind, MarkKind, Node,
    TextAlign,
};

use super::{
    atoms::picture_parts,
    attributes::{count, length, optional, read_word},
    escape,
    html::{self, Element, Html, OpeningTag},
    lines::{self, Line},
    print,
    reader::BlockReader,
    rich,
    simple_blocks::{self, heading, nodes, paragraph},
    spelling, targets,
};

/// Parses adjacent figures and their common attributes.
pub(super) fn images(
    reader: &mut BlockReader<'_>,
    elements: &[&Element<'_>],
    attributes: &[(String, Option<std::borrow::Cow<'_, str>>)],
) -> Option<Block> {
    let (mut align, mut full_width, mut with_frame) = (None, None, None);
    for (name, value) in attributes {
        let value = value.as_deref().unwrap_or_default();
        match name.as_str() {
            "align" => align = Some(read_word::<ImageAlign>(value)?),
            "data-full-width" => full_width = Some(value.parse().ok()?),
            "data-with-frame" => with_frame = Some(value.parse().ok()?),
            _ => return None,
        }
    }
    let mut nodes = Vec::new();
    for element in elements {
        nodes.push(Node::Block(figure(reader, element)?));
    }
    (!nodes.is_empty()).then(|| Block::new(BlockKind::Images { align, full_width, with_frame }, nodes))
}

/// Parses a figure: an image and its caption.
pub(super) fn figure(reader: &mut BlockReader<'_>, element: &Element<'_>) -> Option<Block> {
    if element.name() != "figure" || !element.open.has_only(&[]) {
        return None;
    }
    let parts = element.elements()?;
    let (picture, caption) = match parts.as_slice() {
        [picture] => (picture, None),
        [picture, caption] if caption.name() == "figcaption" && caption.open.has_only(&[]) => {
            (picture, Some(caption))
        }
        _ => return None,
    };
    let (open, dark) = match picture.name() {
        "img" => (&picture.open, None),
        "picture" => {
            let (source, image) = picture_parts(picture)?;
            (image, Some(targets::read(source.get("srcset")?)))
        }
        _ => return None,
    };
    let mut data = image(open)?;
    data.dark = dark;
    let caption = match caption {
        Some(caption) => rich_blocks(reader, &caption.children)?,
        None => Vec::new(),
    };
    Some(Block::with_fragments(BlockKind::Image(Box::new(data)), vec![simple_blocks::caption(caption)]))
}

fn image(open: &OpeningTag<'_>) -> Option<ImageData> {
    if !open.has_only(&["src", "alt", "width", "height"]) {
        return None;
    }
    Some(ImageData {
        target: targets::read(open.get("src")?),
        dark: None,
        width: optional(open.get("width"), length)?,
        height: optional(open.get("height"), length)?,
        alt: open.get("alt").filter(|alt| !alt.is_empty()).map(str::to_owned),
    })
}

pub(super) fn drawing(open: &OpeningTag<'_>) -> Option<Block> {
    let target = open.get("src").map(targets::read);
    let is_plain = open.has_only(&["src", "alt", "class"]);
    is_plain.then(|| Block::new(BlockKind::Drawing { target }, Vec::new()))
}

/// Converts an image that is the only content of a paragraph to a block.
pub(super) fn image_of(kind: &InlineKind, source: &str) -> Block {
    let InlineKind::InlineImage { target, dark, caption, alt, .. } = kind else {
        return paragraph(Vec::new());
    };
    let data = ImageData {
        target: (**target).clone(),
        dark: dark.as_deref().cloned(),
        width: None,
        height: None,
        alt: alt.clone(),
    };
    let caption = caption.iter().map(|text| paragraph(vec![Node::plain(text)]));
    let image = Block::with_fragments(
        BlockKind::Image(Box::new(data)),
        vec![simple_blocks::caption(caption.collect())],
    );
    let kind = BlockKind::Images { align: None, full_width: None, with_frame: None };
    Block { spelling: Some(source.to_owned()), ..Block::new(kind, vec![Node::Block(image)]) }
}

/// Parses `<p align="center">` and aligned headings.
pub(super) fn aligned_block(
    reader: &mut BlockReader<'_>,
    element: &Element<'_>,
    level: Option<u8>,
) -> Option<Block> {
    let align = match element.open.get("align") {
        Some("left") => TextAlign::Start,
        Some("center") => TextAlign::Center,
        Some("right") => TextAlign::End,
        _ => return None,
    };
    let id = element.open.get("id").map(str::to_owned);
    let names: &[&str] = if level.is_some() { &["align", "id"] } else { &["align"] };
    if !element.open.has_only(names) {
        return None;
    }
    let nodes = rich::inlines(trim_blank_nodes(&element.children), &mut reader.rules())?;
    let kind = match level {
        Some(level) => heading(level, HeadingData { id, align: Some(align), level: None }),
        None => BlockKind::Paragraph { align: Some(align) },
    };
    Some(Block::new(kind, nodes))
}

/// Trims whitespace nodes from both ends.
fn trim_blank_nodes<'n, 'a>(nodes: &'n [Html<'a>]) -> &'n [Html<'a>] {
    let is_space = |node: &Html<'_>| matches!(node, Html::Text(text) if text.trim().is_empty());
    let start = nodes.iter().take_while(|node| is_space(node)).count();
    let end = nodes.iter().rev().take_while(|node| is_space(node)).count();
    nodes.get(start..nodes.len() - end).unwrap_or_default()
}

/// Parses the blocks of a cell or a caption. Text outside of elements becomes a paragraph.
pub(super) fn rich_blocks(reader: &mut BlockReader<'_>, children: &[Html<'_>]) -> Option<Vec<Block>> {
    let is_block = |node: &Html<'_>| matches!(node, Html::Element(element) if CELL_BLOCK_ELEMENTS.contains(&element.name()));
    if !children.iter().any(is_block) {
        let nodes = rich::inlines(children, &mut reader.rules())?;
        return Some(if nodes.is_empty() { Vec::new() } else { vec![paragraph(nodes)] });
    }
    let mut out = Vec::new();
    for element in html::elements(children)? {
        reader.left = reader.left.saturating_sub(1);
        out.push(rich_block(reader, element)?);
    }
    if let [block] = out.as_mut_slice()
        && matches!(block.kind, BlockKind::Paragraph { .. })
    {
        block.spelling = Some("p".to_owned());
    }
    Some(out)
}

const CELL_BLOCK_ELEMENTS: [&str; 11] =
    ["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "figure", "pre"];

fn rich_block(reader: &mut BlockReader<'_>, element: &Element<'_>) -> Option<Block> {
    let has_align = element.open.has("align");
    match element.name() {
        "p" if has_align => aligned_block(reader, element, None),
        "p" => {
            let is_plain = element.open.has_only(&[]);
            let nodes = rich::inlines(&element.children, &mut reader.rules()).filter(|_| is_plain)?;
            Some(paragraph(nodes))
        }
        "ul" | "ol" => rich_list(reader, element),
        "figure" => images(reader, &[element], &[]),
        "pre" => pre(reader, element).map(|block| Block { spelling: Some("<pre".to_owned()), ..block }),
        name => {
            let level = name.strip_prefix('h')?.parse().ok()?;
            if has_align {
                return aligned_block(reader, element, Some(level));
            }
            let id = element.open.get("id").map(str::to_owned);
            let is_plain = element.open.has_only(&["id"]);
            let nodes = rich::inlines(&element.children, &mut reader.rules()).filter(|_| is_plain)?;
            Some(Block::new(heading(level, HeadingData { id, align: None, level: None }), nodes))
        }
    }
}

fn rich_list(reader: &mut BlockReader<'_>, element: &Element<'_>) -> Option<Block> {
    let (kind, is_plain) = if element.name() == "ul" {
        (BlockKind::ListUnordered {}, element.open.has_only(&[]))
    } else {
        let start = element.open.get("start").map(str::parse::<u64>).transpose().ok()?;
        (
            BlockKind::ListOrdered { start: start.filter(|start| *start != 1) },
            element.open.has_only(&["start"]),
        )
    };
    if !is_plain {
        return None;
    }
    let mut items = Vec::new();
    for item in element.elements()? {
        if item.name() != "li" || !item.open.has_only(&[]) {
            return None;
        }
        let inside = item_blocks(reader, &item.children)?;
        items.push(Node::Block(Block::new(BlockKind::ListItem { checked: None }, nodes(inside))));
    }
    Some(Block::new(kind, items))
}

/// Parses a list item, which may consist of text followed by a list.
fn item_blocks(reader: &mut BlockReader<'_>, children: &[Html<'_>]) -> Option<Vec<Block>> {
    let is_list =
        |node: &Html<'_>| matches!(node, Html::Element(element) if matches!(element.name(), "ul" | "ol"));
    let split = children.iter().position(is_list).unwrap_or(children.len());
    let (text, rest) = children.split_at(split);
    let mut out = rich_blocks(reader, text)?;
    if !rest.is_empty() {
        out.extend(rich_blocks(reader, rest)?);
    }
    Some(out)
}

/// The attributes of a code block in HTML.
const CODE_ATTRIBUTES: &[&str] = &[
    "class",
    "data-title",
    "data-overflow",
    "data-line-numbers",
    "data-full-width",
    "data-expandable",
    "data-collapsed-line-count",
];

/// Parses `<pre class="language-x" data-title="…"><code class="lang-x">…</code></pre>`.
pub(super) fn pre(reader: &mut BlockReader<'_>, element: &Element<'_>) -> Option<Block> {
    let open = &element.open;
    if !open.has_only(CODE_ATTRIBUTES) {
        return None;
    }
    let [Html::Element(code)] = element.children.as_slice() else { return None };
    let language = open.get("class").map(|class| class.strip_prefix("language-"));
    let inner = code.open.get("class").map(|class| class.strip_prefix("lang-"));
    let same = language == inner && code.name() == "code" && code.open.has_only(&["class"]);
    let syntax = optional(open.get("class"), |class| class.strip_prefix("language-").map(str::to_owned))?;
    let mut lines = CodeLines { lines: vec![Vec::new()], marked: vec![false] };
    lines.read(&code.children, reader)?;
    if lines.lines.last().is_some_and(Vec::is_empty) {
        lines.lines.pop();
    }
    let kind = BlockKind::Code {
        syntax,
        title: open.get("data-title").map(str::to_owned),
        overflow: optional(open.get("data-overflow"), read_word)?,
        line_numbers: optional(open.get("data-line-numbers"), flag)?,
        full_width: optional(open.get("data-full-width"), flag)?,
        expandable: optional(open.get("data-expandable"), flag)?,
        collapsed_line_count: optional(open.get("data-collapsed-line-count"), count)?,
    };
    reader.left = reader.left.saturating_sub(lines.lines.len());
    let nodes = lines.lines.into_iter().zip(lines.marked).map(|(nodes, marked)| {
        let kind = BlockKind::CodeLine { highlighted: marked.then_some(true) };
        Node::Block(Block::new(kind, nodes))
    });
    let nodes = nodes.collect();
    same.then(|| Block::new(kind, nodes))
}

/// Parses a Boolean attribute. An attribute without a value is `true`.
fn flag(value: &str) -> Option<bool> {
    if value.is_empty() { Some(true) } else { value.parse().ok() }
}

/// The lines of code within HTML.
struct CodeLines {
    lines: Vec<Vec<Node>>,
    marked: Vec<bool>,
}

impl CodeLines {
    fn read(&mut self, children: &[Html<'_>], reader: &mut BlockReader<'_>) -> Option<()> {
        for child in children {
            match child {
                Html::Text(text) => self.text(&html::unescape(text)),
                Html::Element(element) if element.name() == "strong" && element.open.has_only(&[]) => {
                    self.highlight_lines(element)?;
                }
                Html::Element(element) => {
                    let inlines = rich::inlines(&[Html::Element(element.clone())], &mut reader.rules())?;
                    let is_known = |node: &Node| {
                        matches!(
                            node,
                            Node::Inline(Inline {
                                kind: InlineKind::Expression { .. } | InlineKind::Annotation {},
                                ..
                            })
                        )
                    };
                    if !inlines.iter().all(is_known) {
                        return None;
                    }
                    self.lines.last_mut()?.extend(
                        inlines
                            .iter()
                            .flat_map(|node| spelling::remove_spellings(std::slice::from_ref(node))),
                    );
                }
            }
        }
        Some(())
    }

    fn text(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.lines.push(Vec::new());
                self.marked.push(false);
            }
            if let (false, Some(last)) = (line.is_empty(), self.lines.last_mut()) {
                // Most lines consist of one text node.
                last.reserve_exact(1);
                last.push(Node::plain(line));
            }
        }
    }

    /// Parses an element that highlights whole lines: it begins and ends at line boundaries.
    fn highlight_lines(&mut self, element: &Element<'_>) -> Option<()> {
        if !self.lines.last()?.is_empty()
            || !element.children.iter().all(|child| matches!(child, Html::Text(_)))
        {
            return None;
        }
        let text = element.text();
        let first = self.lines.len() - 1;
        self.text(&text);
        let last = if text.ends_with('\n') { self.marked.len() - 1 } else { self.marked.len() };
        for marked in self.marked.get_mut(first..last)? {
            *marked = true;
        }
        Some(())
    }
}

/// Parses `<details>` with its summary and content.
pub(super) fn expandable(reader: &mut BlockReader<'_>, lines: &[Line<'_>]) -> Option<Block> {
    let closes = |line: &Line<'_>| html::closing(&line.text, 0, "summary").is_some();
    let count = lines.iter().take(MAX_SUMMARY).position(closes)? + 1;
    let head = lines::join(&lines[..count]);
    let end = html::closing(&head, 0, "summary")?.end;
    let (html::TagToken::Open(open), length) = html::tag_at(head.trim_start())? else { return None };
    let is_open = open.has("open");
    if open.name != "details" || !open.has_only(&["open"]) || !head[end..].trim().is_empty() {
        return None;
    }
    let summary = head[..end].trim_start()[length..].trim().to_owned();
    let tree = html::tree(&summary)?;
    let [Html::Element(element)] = tree.as_slice() else { return None };
    if element.name() != "summary" || !element.open.has_only(&[]) {
        return None;
    }
    let before = reader.notes.label_log().clone();
    let nodes = rich::inlines(&element.children, &mut reader.rules())?;
    let mut title = paragraph(spelling::remove_spellings(&nodes));
    let usual = print::rich(&title.nodes, &before);
    let inner: String = element.children.iter().map(Html::source).collect();
    if usual.is_none_or(|usual| !escape::is_alike(&usual, &inner)) {
        title.nodes = nodes;
    }
    let body = reader.read_nested(&lines[count..]);
    let fragments = vec![
        Fragment::new("expandable-title", vec![title]).with_kind("expandable-title"),
        Fragment::new("expandable-body", body).with_kind("expandable-body"),
    ];
    let mut block =
        Block::with_fragments(BlockKind::Expandable { default_expanded: is_open.then_some(true) }, fragments);
    let usual = if is_open { "<details open>" } else { "<details>" };
    block.spelling = (open.source != usual).then(|| open.source.to_owned());
    Some(block)
}

/// Maximum number of lines in a summary.
const MAX_SUMMARY: usize = 16;

/// Returns `true` if no leaf has a mark other than code.
pub(super) fn is_plain_line(line: &Block) -> bool {
    line.nodes.iter().all(|node| match node {
        Node::Text(text) => {
            text.leaves.iter().all(|leaf| leaf.marks.iter().all(|mark| mark.kind == MarkKind::Code))
        }
        _ => false,
    })
}
