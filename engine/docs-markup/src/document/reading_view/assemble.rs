//! Builds the inline nodes of a text block: detects bare addresses, emoji and footnote references, and replaces
//! placeholders.

use std::ops::Range;

use docs_model::{
    Block, BlockKind, ContentRef, Fragment, ImageAlign, ImageData, Inline, InlineImageSize, InlineKind, Leaf,
    Length, Mark, MarkKind, Node, TextAlign, TextNode,
};

use super::{
    super::{
        emoji_names,
        inlines::label,
        simple_blocks::{self, paragraph},
        spelling, targets,
    },
    addresses, needs,
    placeholders::{CLOSE, OPEN, without_placeholders},
    state::View,
};

/// Maximum width or height, in pixels, of an image that is displayed at line height.
const LINE_PIXELS: f64 = 32.0;
/// Maximum length of the index in a placeholder with its closing delimiter, in bytes.
const MAX_INDEX: usize = 24;
/// Length of the text in which the end of a footnote reference is searched, in bytes.
const NOTE_WINDOW: usize = 240;

/// Estimated memory of an inline element in bytes.
const INLINE_BYTES: usize = 540;

/// An item of an open text block.
#[derive(Debug)]
pub(super) enum Item {
    Text { text: String, marks: Vec<MarkKind>, link: Option<usize> },
    Inline { inline: Inline, link: Option<usize> },
    Image { image: Image, link: Option<usize> },
}

#[derive(Clone, Debug)]
pub(super) struct Image {
    pub(super) data: ImageData,
    pub(super) title: Option<String>,
    pub(super) align: Option<ImageAlign>,
}

/// Returns `true` if the items have no visible content.
pub(super) fn is_blank(items: &[Item]) -> bool {
    items.iter().all(|item| matches!(item, Item::Text { text, .. } if text.trim().is_empty()))
}

/// Returns `true` if whitespace after the items would have no effect.
pub(super) fn ends_with_space(items: &[Item]) -> bool {
    match items.last() {
        Some(Item::Text { text, .. }) => text.ends_with([' ', '\n']),
        Some(_) => false,
        None => true,
    }
}

/// Returns an image block if the items consist of a single image without a link.
pub(super) fn image_block(items: &[Item], align: Option<TextAlign>) -> Option<Block> {
    let mut shown = items.iter().filter(|item| !is_blank(std::slice::from_ref(*item)));
    let (Some(Item::Image { image, link: None }), None) = (shown.next(), shown.next()) else { return None };
    Some(block_of(image, image.align.or_else(|| align.and_then(image_align))))
}

/// Returns the alignment of an image in aligned text.
pub(super) const fn image_align(align: TextAlign) -> Option<ImageAlign> {
    match align {
        TextAlign::Center => Some(ImageAlign::Center),
        TextAlign::End => Some(ImageAlign::Right),
        TextAlign::Start => None,
    }
}

fn block_of(image: &Image, align: Option<ImageAlign>) -> Block {
    let caption = image.title.iter().map(|text| paragraph(vec![Node::plain(text)])).collect();
    let fragments: Vec<Fragment> = vec![simple_blocks::caption(caption)];
    let own = Block::with_fragments(BlockKind::Image(Box::new(image.data.clone())), fragments);
    Block::new(BlockKind::Images { align, full_width: None, with_frame: None }, vec![Node::Block(own)])
}

/// A link of the source. A footnote reference or the end of a block divides it into several links of the document.
#[derive(Debug)]
pub(super) struct SourceLink {
    target: ContentRef,
    title: Option<String>,
    is_used: bool,
}

impl SourceLink {
    pub(super) const fn new(target: ContentRef, title: Option<String>) -> Self {
        Self { target, title, is_used: false }
    }

    /// Returns a link with this destination. Its first use is free; further ones are deducted from the budget for
    /// repeated destinations.
    ///
    /// # Errors
    /// The unchanged nodes if the budget is exhausted.
    fn link(&mut self, nodes: Vec<Node>, view: &View) -> Result<Inline, Vec<Node>> {
        let target = if let ContentRef::Url { url } = &self.target { url.len() } else { 0 };
        let bytes = target + self.title.as_ref().map_or(0, String::len);
        if std::mem::replace(&mut self.is_used, true) && !view.repeat_destination(bytes) {
            return Err(nodes);
        }
        let kind = InlineKind::Link { target: self.target.clone(), title: self.title.clone() };
        Ok(Inline::new(kind, nodes))
    }
}

/// Converts the items of a text block to inline nodes.
pub(super) fn nodes(
    items: Vec<Item>,
    links: &mut Vec<SourceLink>,
    originals: &mut [Option<Inline>],
    view: &mut View,
) -> Vec<Node> {
    let mut out = Assembly { nodes: Vec::new(), group: Vec::new(), link: None, links, originals, view };
    for item in items {
        match item {
            Item::Text { text, marks, link } => {
                out.enter(link);
                out.text(&text, &marks);
            }
            Item::Inline { inline, link } => {
                out.enter(link);
                out.element(inline);
            }
            Item::Image { image, link } => {
                out.enter(link);
                out.group.push(Node::Inline(inline_image(image)));
            }
        }
    }
    out.enter(None);
    trimmed(out.nodes)
}

fn inline_image(Image { data, title, .. }: Image) -> Inline {
    let is_small =
        |length: &Option<Length>| matches!(length, Some(Length::Pixels(pixels)) if *pixels <= LINE_PIXELS);
    let size = (is_small(&data.width) || is_small(&data.height)).then_some(InlineImageSize::Line);
    let kind = InlineKind::InlineImage {
        target: Box::new(data.target),
        dark: data.dark.map(Box::new),
        caption: title,
        alt: data.alt,
        size,
        width: data.width.map(Box::new),
        height: data.height.map(Box::new),
    };
    Inline::new(kind, Vec::new())
}

struct Assembly<'a> {
    nodes: Vec<Node>,
    /// The nodes of the current link, or those after the last link.
    group: Vec<Node>,
    link: Option<usize>,
    links: &'a mut Vec<SourceLink>,
    /// The elements that placeholders represent. Each is used once, so that text that forges placeholders cannot
    /// multiply elements.
    originals: &'a mut [Option<Inline>],
    view: &'a mut View,
}

impl Assembly<'_> {
    /// Ends the current link, unless it is the given one.
    fn enter(&mut self, link: Option<usize>) {
        if self.link == link && link.is_some() {
            return;
        }
        let group = std::mem::take(&mut self.group);
        let is_visible = !spelling::text_of_nodes(&group).trim().is_empty() || has_inline(&group);
        let ended = match self.link.and_then(|at| self.links.get_mut(at)) {
            Some(link) if is_visible => link.link(group, self.view),
            _ => Err(group),
        };
        match ended {
            Ok(link) => self.nodes.push(Node::Inline(link)),
            Err(group) => group.into_iter().for_each(|node| append(&mut self.nodes, node)),
        }
        self.link = link;
    }

    fn text(&mut self, text: &str, marks: &[MarkKind]) {
        let is_code = marks.contains(&MarkKind::Code);
        let marks: Vec<Mark> = marks.iter().copied().map(Mark::from).collect();
        let addresses = if is_code || self.link.is_some() { Vec::new() } else { addresses::find(text) };
        let mut at = 0;
        for (Range { start, end }, url) in addresses {
            if !self.view.take(INLINE_BYTES) {
                break;
            }
            self.pieces(&text[at..start], &marks);
            let kind = InlineKind::Link { target: targets::read(&url), title: None };
            let label = Node::Text(TextNode::new(vec![Leaf::new(&text[start..end], marks.clone())]));
            self.group.push(Node::Inline(Inline::new(kind, vec![label])));
            at = end;
        }
        match is_code {
            true => spelling::add(&mut self.group, Leaf::new(without_placeholders(&text[at..]), marks)),
            false => self.pieces(&text[at..], &marks),
        }
    }

    /// Adds text, converting the emoji, footnote references and placeholders in it.
    fn pieces(&mut self, text: &str, marks: &[Mark]) {
        let mut at = 0;
        let mut from = 0;
        while let Some(offset) = text[from..].find([':', '[', OPEN]) {
            let start = from + offset;
            let Some((piece, length)) = self.piece(&text[start..]) else {
                from = start + text[start..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            spelling::add(&mut self.group, Leaf::new(&text[at..start], marks.to_vec()));
            match piece {
                Piece::Inline(inline) => self.element(inline),
                Piece::Text(text) => spelling::add(&mut self.group, Leaf::new(text, marks.to_vec())),
                Piece::Note(label) => self.note(label),
                Piece::Nothing => {}
            }
            (at, from) = (start + length, start + length);
        }
        spelling::add(&mut self.group, Leaf::new(&text[at..], marks.to_vec()));
    }

    fn piece(&mut self, text: &str) -> Option<(Piece, usize)> {
        if let Some(rest) = text.strip_prefix(OPEN) {
            // A longer index is not a placeholder of this module.
            let (index, _) = rest[..rest.floor_char_boundary(MAX_INDEX)].split_once(CLOSE)?;
            let original = index.parse().ok().and_then(|index: usize| self.originals.get_mut(index)?.take());
            let piece = original.map_or(Piece::Nothing, Piece::Inline);
            return Some((piece, OPEN.len_utf8() + index.len() + CLOSE.len_utf8()));
        }
        if let Some(rest) = text.strip_prefix("[^") {
            let (name, _) = rest[..rest.floor_char_boundary(NOTE_WINDOW)].split_once(']')?;
            let label = label(name);
            if !self.view.labels.notes.contains(&label) {
                return None;
            }
            let piece = if self.view.take(2 * INLINE_BYTES) { Piece::Note(label) } else { Piece::Nothing };
            return Some((piece, name.len() + 3));
        }
        if self.view.memory_left < INLINE_BYTES {
            return emoji_names::emoji_at(text).map(|(emoji, length)| (Piece::Text(emoji), length));
        }
        let (code, length) = emoji_names::code_at(text)?;
        self.view.take(INLINE_BYTES);
        Some((Piece::Inline(Inline::new(InlineKind::Emoji { code }, Vec::new())), length))
    }

    /// Adds an inline element of the document.
    fn element(&mut self, inline: Inline) {
        match inline.kind {
            InlineKind::Link { .. } if self.link.is_some() => {
                inline.nodes.into_iter().for_each(|node| append(&mut self.group, node));
            }
            InlineKind::Link { .. } if inline.nodes.iter().any(needs::is_annotation) => {
                self.noted_link(inline);
            }
            InlineKind::Annotation {} if inline.nodes.is_empty() => self.annotate(inline),
            _ => self.group.push(Node::Inline(inline)),
        }
    }

    /// Adds a link whose label contains annotations. They are links too, so they divide it into several links.
    fn noted_link(&mut self, mut link: Inline) {
        let nodes = std::mem::take(&mut link.nodes);
        let InlineKind::Link { target, title } = &link.kind else { return };
        self.links.push(SourceLink::new(target.clone(), title.clone()));
        let own = self.links.len() - 1;
        for node in nodes {
            match node {
                Node::Inline(inline) if inline.kind == (InlineKind::Annotation {}) => {
                    self.enter(None);
                    match inline.nodes.is_empty() {
                        true => self.annotate(inline),
                        false => self.group.push(Node::Inline(inline)),
                    }
                }
                node => {
                    self.enter(Some(own));
                    append(&mut self.group, node);
                }
            }
        }
        self.enter(None);
    }

    /// Adds a footnote reference.
    fn note(&mut self, label: String) {
        self.annotate(Inline { spelling: Some(label), ..Inline::new(InlineKind::Annotation {}, Vec::new()) });
    }

    /// Annotates the last word. If there is none, inserts the number of the annotation and annotates that.
    fn annotate(&mut self, mut inline: Inline) {
        let link = self.link;
        self.enter(None);
        let number = self.view.number();
        inline.nodes = match last_word(&mut self.nodes) {
            Some(leaf) => vec![Node::Text(TextNode::new(vec![leaf]))],
            None => {
                let mark = Mark::from(MarkKind::Superscript);
                vec![Node::Text(TextNode::new(vec![Leaf::new(number, vec![mark])]))]
            }
        };
        self.nodes.push(Node::Inline(inline));
        self.link = link;
    }
}

/// Syntax within text that represents an element.
enum Piece {
    Inline(Inline),
    /// An emoji beyond the memory budget.
    Text(String),
    Note(String),
    Nothing,
}

/// Removes and returns the last word of the nodes. A last leaf with marks is removed as a whole.
fn last_word(nodes: &mut Vec<Node>) -> Option<Leaf> {
    let Some(Node::Text(text)) = nodes.last_mut() else { return None };
    let last = text.leaves.last_mut()?;
    let start = match last.marks.is_empty() {
        true => last
            .text
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + last.text[at..].chars().next().map_or(0, char::len_utf8)),
        false => 0,
    };
    let word = last.text.split_off(start);
    let marks = last.marks.clone();
    if word.trim().is_empty() {
        last.text.push_str(&word);
        return None;
    }
    if last.text.is_empty() {
        text.leaves.pop();
    }
    if text.leaves.is_empty() {
        nodes.pop();
    }
    Some(Leaf::new(word, marks))
}

fn append(nodes: &mut Vec<Node>, node: Node) {
    match node {
        Node::Text(text) => text.leaves.into_iter().for_each(|leaf| spelling::add(nodes, leaf)),
        node => nodes.push(node),
    }
}

fn has_inline(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| matches!(node, Node::Inline(_)))
}

/// Trims whitespace from both ends of the nodes.
fn trimmed(mut nodes: Vec<Node>) -> Vec<Node> {
    // A text can begin with as many empty leaves as its page has runs, so they are removed together.
    let is_blank_text =
        |node: &Node| matches!(node, Node::Text(text) if text.leaves.iter().all(is_blank_leaf));
    nodes.drain(..nodes.iter().take_while(|node| is_blank_text(node)).count());
    if let Some(Node::Text(text)) = nodes.first_mut() {
        text.leaves.drain(..text.leaves.iter().take_while(|leaf| is_blank_leaf(leaf)).count());
        if let Some(leaf) = text.leaves.first_mut() {
            leaf.text = leaf.text.trim_start().to_owned();
        }
    }
    while let Some(Node::Text(text)) = nodes.last_mut() {
        let Some(leaf) = text.leaves.last_mut() else {
            nodes.pop();
            continue;
        };
        leaf.text.truncate(leaf.text.trim_end().len());
        if !leaf.text.is_empty() {
            break;
        }
        text.leaves.pop();
    }
    nodes
}

fn is_blank_leaf(leaf: &Leaf) -> bool {
    leaf.text.trim_start().is_empty()
}
