//! XML as a tree. Prefixes of names are left out: within a Word document no two of them mean different things.

use docs_ports::ConvertError;
use quick_xml::{
    Reader,
    escape::{resolve_xml_entity, unescape},
    events::{BytesRef, BytesStart, Event},
};

/// Most elements and texts of a part.
const MAX_NODES: usize = 1_000_000;
/// Most bytes of the texts and the attributes of a part: a page holds far less.
const MAX_TEXT_BYTES: usize = 16_000_000;
/// Most levels of elements; what is deeper is left out. Whatever walks the tree may recurse.
const MAX_DEPTH: usize = 120;

/// An element, or a text where the name is empty.
#[derive(Debug, Default)]
struct Node {
    name: Box<str>,
    attributes: Vec<(Box<str>, Box<str>)>,
    children: Vec<usize>,
    text: String,
}

#[derive(Debug)]
pub(super) struct Xml {
    nodes: Vec<Node>,
    /// Bytes of its texts and attributes.
    text_bytes: usize,
}

/// An element within its tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    xml: &'a Xml,
    at: usize,
}

impl Xml {
    pub(super) fn read(text: &str) -> Result<Self, ConvertError> {
        let damaged = || ConvertError::Unreadable("the Word document is damaged".to_owned());
        let mut reader = Reader::from_str(text);
        let mut xml = Self { nodes: vec![Node::default()], text_bytes: 0 };
        let mut open = vec![0];
        // Elements that are open and too deep to be kept.
        let mut beyond = 0_usize;
        loop {
            match reader.read_event().map_err(|_| damaged())? {
                Event::Start(_) if open.len() >= MAX_DEPTH => beyond += 1,
                Event::Empty(_) if open.len() >= MAX_DEPTH => {}
                Event::Start(start) => open.push(xml.element(&open, &start)),
                Event::Empty(start) => drop(xml.element(&open, &start)),
                Event::End(_) if beyond > 0 => beyond -= 1,
                Event::End(_) => drop(open.pop()),
                Event::Text(text) => xml.text(&open, &text.decode().map_err(|_| damaged())?),
                Event::CData(data) => xml.text(&open, &data.decode().map_err(|_| damaged())?),
                Event::GeneralRef(reference) => xml.text(&open, &resolved(&reference)),
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
            if xml.nodes.len() > MAX_NODES {
                return Err(ConvertError::TooLarge(format!("a part must have at most {MAX_NODES} elements")));
            }
            if xml.text_bytes > MAX_TEXT_BYTES {
                let what = format!("a part must have at most {MAX_TEXT_BYTES} bytes of text");
                return Err(ConvertError::TooLarge(what));
            }
        }
        Ok(xml)
    }

    pub(super) fn root(&self) -> Element<'_> {
        Element { xml: self, at: 0 }
    }

    /// The text of the first element of a name, if it has one.
    pub(super) fn text_of(&self, name: &str) -> Option<String> {
        let found = self.root().below().find(|element| element.name() == name)?;
        Some(found.text()).filter(|text| !text.trim().is_empty())
    }

    fn element(&mut self, open: &[usize], start: &BytesStart<'_>) -> usize {
        let local = |name: &[u8]| String::from_utf8_lossy(name).into_owned().into_boxed_str();
        let mut attributes = start.attributes();
        let attributes = attributes.with_checks(false).filter_map(Result::ok).take(100).map(|attribute| {
            let value = String::from_utf8_lossy(&attribute.value);
            let value = unescape(&value).map(|value| value.into_owned()).unwrap_or_default();
            (local(attribute.key.local_name().as_ref()), value.into_boxed_str())
        });
        let attributes: Vec<(Box<str>, Box<str>)> = attributes.collect();
        self.text_bytes += attributes.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        let node = Node { name: local(start.local_name().as_ref()), attributes, ..Node::default() };
        self.add(open, node)
    }

    fn text(&mut self, open: &[usize], text: &str) {
        self.text_bytes += text.len();
        let last =
            open.last().and_then(|top| self.nodes.get(*top)).and_then(|top| top.children.last().copied());
        match last.and_then(|last| self.nodes.get_mut(last)).filter(|last| last.name.is_empty()) {
            Some(last) => last.text.push_str(text),
            None => drop(self.add(open, Node { text: text.to_owned(), ..Node::default() })),
        }
    }

    fn add(&mut self, open: &[usize], node: Node) -> usize {
        let at = self.nodes.len();
        self.nodes.push(node);
        if let Some(parent) = open.last().and_then(|top| self.nodes.get_mut(*top)) {
            parent.children.push(at);
        }
        at
    }
}

/// What an entity stands for. Those that a document defines itself stand for nothing.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return c.to_string();
    }
    let name = reference.decode().unwrap_or_default();
    resolve_xml_entity(&name).unwrap_or_default().to_owned()
}

impl<'a> Element<'a> {
    fn node(self) -> &'a Node {
        &self.xml.nodes[self.at]
    }

    pub(super) fn name(self) -> &'a str {
        &self.node().name
    }

    pub(super) fn attribute(self, name: &str) -> Option<&'a str> {
        self.node().attributes.iter().find(|(own, _)| &**own == name).map(|(_, value)| &**value)
    }

    /// The attribute `val`, where Word keeps most values.
    pub(super) fn value(self) -> Option<&'a str> {
        self.attribute("val")
    }

    pub(super) fn children(self) -> impl Iterator<Item = Element<'a>> {
        self.node().children.iter().map(move |at| Element { xml: self.xml, at: *at })
    }

    pub(super) fn child(self, name: &str) -> Option<Element<'a>> {
        self.children().find(|child| child.name() == name)
    }

    /// Everything below, in the order of the document.
    pub(super) fn below(self) -> impl Iterator<Item = Element<'a>> {
        let mut todo: Vec<usize> = self.node().children.iter().rev().copied().collect();
        std::iter::from_fn(move || {
            let at = todo.pop()?;
            let element = Element { xml: self.xml, at };
            todo.extend(element.node().children.iter().rev());
            Some(element)
        })
    }

    /// Its own text.
    pub(super) fn text(self) -> String {
        self.children()
            .filter(|child| child.name().is_empty())
            .map(|child| child.node().text.as_str())
            .collect()
    }

    /// Tells whether a switch is on: it is there, and does not say `0`.
    pub(super) fn is_on(self, name: &str) -> bool {
        let is_off = |value: &str| matches!(value, "0" | "false" | "off" | "none");
        self.child(name).is_some_and(|switch| !switch.value().is_some_and(is_off))
    }
}
