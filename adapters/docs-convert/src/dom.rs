//! A compact tree of elements and text nodes, shared by HTML, XML and Word documents.
//!
//! A node takes 16 bytes, because a document may consist almost entirely of nodes. Names are interned as numbers, and
//! all text and attribute values share one string.

use std::collections::HashMap;

/// Maximum number of elements and text nodes in a document.
pub(crate) const MAX_NODES: usize = 500_000;
/// Maximum depth of elements. Deeper ones are attached to the last level. The limit makes recursion over the tree safe.
pub(crate) const MAX_DOM_DEPTH: usize = 200;
/// Maximum number of distinct element and attribute names. Further names share the last number; no real document has
/// that many.
const MAX_NAMES: u16 = 4_096;

/// The index of a node.
pub(crate) type Id = u32;

/// The root of every tree.
pub(crate) const ROOT: Id = 0;
/// The absence of a node.
const NONE: Id = Id::MAX;

/// The content of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeKind<'a> {
    /// An element with its name.
    Element(&'a str),
    Text(&'a str),
}

#[derive(Clone, Debug)]
struct DomNode {
    next: Id,
    /// For an element, its first and last child. For a text node, its start and end offset.
    first: u32,
    last: u32,
    /// The number of the element name, or [`TEXT`].
    name: u16,
    is_block: bool,
    /// `true` if a descendant is a block element.
    has_block: bool,
}

/// The name number of text nodes.
const TEXT: u16 = u16::MAX;

#[derive(Debug)]
struct Attribute {
    of: Id,
    start: u32,
    end: u32,
    name: u16,
}

/// The tree. Children follow their parents, so a backward iteration visits descendants first.
#[derive(Debug)]
pub(crate) struct Dom {
    nodes: Vec<DomNode>,
    /// All attributes, in the order of their elements.
    attributes: Vec<Attribute>,
    /// All text and attribute values, concatenated.
    text: String,
    names: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u16>,
}

impl Dom {
    pub(crate) fn new() -> Self {
        Self::with_room(0, 0)
    }

    /// Creates a tree with capacity for this many nodes and bytes of text.
    pub(crate) fn with_room(nodes: usize, text: usize) -> Self {
        let mut dom = Self {
            nodes: Vec::with_capacity(nodes + 1),
            attributes: Vec::new(),
            text: String::with_capacity(text),
            names: Vec::new(),
            numbers: HashMap::new(),
        };
        let name = dom.number("root");
        dom.nodes.push(DomNode {
            next: NONE,
            first: NONE,
            last: NONE,
            name,
            is_block: true,
            has_block: false,
        });
        dom
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len() >= MAX_NODES
    }

    /// Returns the number of elements and text nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the total length of all text and attribute values in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn element(&mut self, parent: Id, name: &str) -> Id {
        let number = self.number(name);
        let (is_block, has_block) = (is_block(name), false);
        self.add(parent, DomNode { next: NONE, first: NONE, last: NONE, name: number, is_block, has_block })
    }

    /// Adds an attribute to the last element.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let of = to_u32(self.nodes.len().saturating_sub(1));
        let name = self.number(name);
        let start = to_u32(self.text.len());
        self.text.push_str(value);
        if self.attributes.len() == self.attributes.capacity() {
            self.attributes.reserve_exact(16 + self.attributes.len() / 4);
        }
        self.attributes.push(Attribute { of, start, end: to_u32(self.text.len()), name });
    }

    /// Adds text. It is merged with directly preceding text.
    pub(crate) fn text(&mut self, parent: Id, text: &str) {
        let start = to_u32(self.text.len());
        self.text.push_str(text);
        let end = to_u32(self.text.len());
        let last = self.node(parent).last;
        let goes_on = |node: &&mut DomNode| node.name == TEXT && node.last == start;
        if let Some(before) = self.nodes.get_mut(large(last)).filter(goes_on) {
            before.last = end;
            return;
        }
        let (is_block, has_block) = (false, false);
        self.add(parent, DomNode { next: NONE, first: start, last: end, name: TEXT, is_block, has_block });
    }

    fn add(&mut self, parent: Id, node: DomNode) -> Id {
        let id = to_u32(self.nodes.len());
        self.nodes.push(node);
        let Some(around) = self.nodes.get_mut(large(parent)) else { return id };
        let last = std::mem::replace(&mut around.last, id);
        match self.nodes.get_mut(large(last)) {
            Some(last) => last.next = id,
            None => self.nodes[large(parent)].first = id,
        }
        id
    }

    /// Returns the name number of an element.
    pub(crate) fn number_at(&self, id: Id) -> u16 {
        self.node(id).name
    }

    /// Returns the number of a name, or `None` if no element or attribute has the name.
    pub(crate) fn number_of(&self, name: &str) -> Option<u16> {
        let is_full = self.names.len() >= usize::from(MAX_NAMES);
        self.numbers.get(name).copied().or_else(|| is_full.then_some(MAX_NAMES - 1))
    }

    fn number(&mut self, name: &str) -> u16 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u16::try_from(self.names.len()).unwrap_or(MAX_NAMES).min(MAX_NAMES - 1);
        if self.names.len() < usize::from(MAX_NAMES) {
            self.names.push(name.into());
            self.numbers.insert(name.into(), number);
        }
        number
    }

    /// Computes which nodes contain blocks. Call it when the tree is complete.
    pub(crate) fn finish(&mut self) {
        for id in (0..to_u32(self.nodes.len())).rev() {
            let below = self.children(id).any(|child| self.is_block(child) || self.has_block(child));
            if let Some(node) = self.nodes.get_mut(large(id)) {
                node.has_block = below;
            }
        }
    }

    fn node(&self, id: Id) -> &DomNode {
        &self.nodes[large(id)]
    }

    fn text_at(&self, start: u32, end: u32) -> &str {
        self.text.get(large(start)..large(end)).unwrap_or_default()
    }

    pub(crate) fn kind(&self, id: Id) -> NodeKind<'_> {
        let node = self.node(id);
        match node.name {
            TEXT => NodeKind::Text(self.text_at(node.first, node.last)),
            _ => NodeKind::Element(self.name(id)),
        }
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + Clone {
        let node = self.node(id);
        let first = Some(node.first).filter(|first| node.name != TEXT && *first != NONE);
        std::iter::successors(first, |id| self.next(*id))
    }

    fn next(&self, id: Id) -> Option<Id> {
        Some(self.node(id).next).filter(|next| *next != NONE)
    }

    /// Returns the last child of an element.
    pub(crate) fn last(&self, id: Id) -> Option<Id> {
        let node = self.node(id);
        Some(node.last).filter(|last| node.name != TEXT && *last != NONE)
    }

    /// Returns the name of an element, or an empty string for a text node.
    pub(crate) fn name(&self, id: Id) -> &str {
        self.names.get(usize::from(self.node(id).name)).map_or("", |name| name)
    }

    pub(crate) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        let wanted = *self.numbers.get(wanted)?;
        let start = self.attributes.partition_point(|attribute| attribute.of < id);
        let mut own = self.attributes[start..].iter().take_while(|attribute| attribute.of == id);
        own.find(|attribute| attribute.name == wanted)
            .map(|attribute| self.text_at(attribute.start, attribute.end))
    }

    /// Returns the classes of an element in lower case.
    pub(crate) fn classes(&self, id: Id) -> Vec<String> {
        let class = self.attribute(id, "class").unwrap_or_default();
        class.split_whitespace().take(50).map(str::to_ascii_lowercase).collect()
    }

    /// Returns `true` if a node is a block element.
    pub(crate) fn is_block(&self, id: Id) -> bool {
        self.node(id).is_block
    }

    pub(crate) fn has_block(&self, id: Id) -> bool {
        self.node(id).has_block
    }

    /// Iterates over the descendants in document order, parents first. Nodes below a skipped node are not visited.
    pub(crate) fn descendants(&self, top: Id, skip: impl Fn(Id) -> bool) -> impl Iterator<Item = Id> {
        // The next node of each level.
        let mut todo: Vec<Id> = self.children(top).next().into_iter().collect();
        std::iter::from_fn(move || {
            loop {
                let id = todo.pop()?;
                todo.extend(self.next(id));
                if !skip(id) {
                    todo.extend(self.children(id).next());
                    return Some(id);
                }
            }
        })
    }

    /// Returns the text of all descendants.
    pub(crate) fn text_of(&self, top: Id, skip: impl Fn(Id) -> bool) -> String {
        let mut out = String::new();
        let texts = std::iter::once(top).chain(self.descendants(top, skip));
        for id in texts {
            match self.kind(id) {
                NodeKind::Text(text) => out.push_str(text),
                NodeKind::Element(name) if self.is_block(id) || name == "br" => out.push(' '),
                NodeKind::Element(_) => {}
            }
        }
        out
    }
}

/// The conversion never saturates, because the input size is limited.
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn large(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns `true` if elements with this name are block elements.
pub(crate) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "iframe"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "note"
            | "ol"
            | "p"
            | "pre"
            | "root"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_bound_share_the_last_number() {
        let mut dom = Dom::new();
        // The root uses one of the name numbers.
        let ids: Vec<Id> = (0..MAX_NAMES).map(|name| dom.element(ROOT, &format!("x{name}"))).collect();
        let last = ids.len() - 1;
        assert_eq!(dom.name(ids[last - 1]), format!("x{}", last - 1));
        assert_eq!(dom.name(ids[last]), dom.name(ids[last - 1]));
        assert_eq!(dom.number_of("another"), Some(MAX_NAMES - 1));
    }
}
