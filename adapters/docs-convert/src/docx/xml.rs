//! XML as a tree. Namespace prefixes are dropped, because local names are unambiguous in Word documents.

use docs_ports::ConvertError;
use quick_xml::{
    Reader,
    escape::{resolve_xml_entity, unescape},
    events::{BytesRef, BytesStart, Event},
};

use crate::dom::{Dom, Id, NodeKind, ROOT};

/// Maximum number of elements and text nodes in a part.
const MAX_NODES: usize = 1_000_000;
/// Maximum total size of the text and attributes of a part in bytes, far above that of real documents.
pub(super) const MAX_TEXT_BYTES: usize = 16_000_000;
/// Maximum depth of elements. Deeper ones are dropped. The limit makes recursion over the tree safe.
const MAX_XML_DEPTH: usize = 120;

/// Maximum length in bytes of the id of a style or list and of the name of a font. Longer ones are ignored, because
/// each use compares them.
pub(super) const MAX_ID: usize = 255;

#[derive(Debug)]
pub(super) struct Xml {
    dom: Dom,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    xml: &'a Xml,
    at: Id,
}

impl Xml {
    pub(super) fn read(text: &str) -> Result<Self, ConvertError> {
        let damaged = || ConvertError::Unreadable("the Word document is damaged".to_owned());
        let mut reader = Reader::from_str(text);
        let mut xml = Self { dom: Dom::with_room(most_nodes(text).min(MAX_NODES), text.len() / 8) };
        let mut open = vec![ROOT];
        // Number of open elements that are too deep to be stored.
        let mut beyond = 0_usize;
        loop {
            match reader.read_event().map_err(|_| damaged())? {
                Event::Start(_) if open.len() >= MAX_XML_DEPTH => beyond += 1,
                Event::Empty(_) if open.len() >= MAX_XML_DEPTH => {}
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
            if xml.dom.len() > MAX_NODES {
                return Err(ConvertError::TooLarge(format!("a part must have at most {MAX_NODES} elements")));
            }
            if xml.dom.bytes() > MAX_TEXT_BYTES {
                let what = format!("a part must have at most {MAX_TEXT_BYTES} bytes of text");
                return Err(ConvertError::TooLarge(what));
            }
        }
        Ok(xml)
    }

    pub(super) fn root(&self) -> Element<'_> {
        Element { xml: self, at: ROOT }
    }

    /// Returns the text of the first element with a name, if not blank.
    pub(super) fn text_of(&self, name: &str) -> Option<String> {
        let found = self.root().descendants().find(|element| element.name() == name)?;
        Some(found.text()).filter(|text| !text.trim().is_empty())
    }

    fn element(&mut self, open: &[Id], start: &BytesStart<'_>) -> Id {
        let parent = open.last().copied().unwrap_or(ROOT);
        let id = self.dom.element(parent, &String::from_utf8_lossy(start.local_name().as_ref()));
        let mut attributes = start.attributes();
        for attribute in attributes.with_checks(false).filter_map(Result::ok).take(100) {
            let value = String::from_utf8_lossy(&attribute.value);
            let value = unescape(&value).unwrap_or_default();
            self.dom.set(&String::from_utf8_lossy(attribute.key.local_name().as_ref()), &value);
        }
        id
    }

    fn text(&mut self, open: &[Id], text: &str) {
        self.dom.text(open.last().copied().unwrap_or(ROOT), text);
    }
}

/// Returns an upper bound on the number of nodes in `text`.
fn most_nodes(text: &str) -> usize {
    let pairs = text.bytes().zip(text.bytes().skip(1));
    let is_node = |pair: &(u8, u8)| match pair {
        // An element, or text after a tag.
        (b'<', next) => !matches!(next, b'/' | b'<'),
        (b'>', next) => !matches!(next, b'<' | b'>'),
        _ => false,
    };
    pairs.filter(is_node).count() + 1
}

/// Resolves an entity. Entities defined by a document itself resolve to nothing.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return c.to_string();
    }
    let name = reference.decode().unwrap_or_default();
    resolve_xml_entity(&name).unwrap_or_default().to_owned()
}

impl<'a> Element<'a> {
    fn with_id(self, at: Id) -> Self {
        Self { at, ..self }
    }

    /// Returns the element name, or an empty string for a text node.
    pub(super) fn name(self) -> &'a str {
        self.xml.dom.name(self.at)
    }

    pub(super) fn attribute(self, name: &str) -> Option<&'a str> {
        self.xml.dom.attribute(self.at, name)
    }

    /// Returns an attribute that is an id, unless it is longer than [`MAX_ID`].
    pub(super) fn id(self, name: &str) -> Option<&'a str> {
        self.attribute(name).filter(|id| id.len() <= MAX_ID)
    }

    /// Returns the attribute `val`, which holds most values in Word documents.
    pub(super) fn value(self) -> Option<&'a str> {
        self.attribute("val")
    }

    pub(super) fn children(self) -> impl Iterator<Item = Element<'a>> {
        self.xml.dom.children(self.at).map(move |at| self.with_id(at))
    }

    pub(super) fn child(self, name: &str) -> Option<Element<'a>> {
        self.children().find(|child| child.name() == name)
    }

    /// Returns all descendants in document order.
    pub(super) fn descendants(self) -> impl Iterator<Item = Element<'a>> {
        self.xml.dom.descendants(self.at, |_| false).map(move |at| self.with_id(at))
    }

    /// Returns all descendants in document order, without elements with one of these names and their content.
    pub(super) fn descendants_outside(self, names: &[&str]) -> impl Iterator<Item = Element<'a>> {
        let dom = &self.xml.dom;
        dom.descendants(self.at, |at| names.contains(&dom.name(at))).map(move |at| self.with_id(at))
    }

    /// Returns the concatenated text of the direct children.
    pub(super) fn text(self) -> String {
        let text = |child: Element<'a>| match self.xml.dom.kind(child.at) {
            NodeKind::Text(text) => text,
            NodeKind::Element(_) => "",
        };
        self.children().map(text).collect()
    }

    /// Returns `true` if a toggle element exists and its value does not switch it off.
    pub(super) fn is_toggled_on(self, name: &str) -> bool {
        let is_off = |value: &str| matches!(value, "0" | "false" | "off" | "none");
        self.child(name).is_some_and(|switch| !switch.value().is_some_and(is_off))
    }
}
