//! Parts of a document other than its body: styles, list definitions, link targets, notes.

use std::collections::HashMap;

use docs_ports::ConvertError;

use super::{
    numbering::ListDefinitions,
    xml::{Element, Xml},
};
use crate::{archive::Archive, charset};

/// The title element of the document properties.
pub(super) const TITLE: &str = "title";
/// Maximum length of a chain of base styles.
const MAX_BASED: usize = 20;

/// The role of a paragraph, derived from its style.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Title,
    /// A heading with its level, counting from 1.
    Heading(u8),
    Quote,
    Code,
    /// A line of a table of contents.
    Contents,
    Text,
}

#[derive(Debug, Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    outline: Option<u8>,
    list: Option<(String, usize)>,
    /// The properties of text that a character style sets, with `false` for those it switches off.
    marks: Vec<(&'static str, bool)>,
}

/// The properties of text that are shown.
const MARKS: [&str; 6] = ["b", "i", "strike", "dstrike", SUPERSCRIPT, SUBSCRIPT];
/// The values of `vertAlign`.
pub(super) const SUPERSCRIPT: &str = "superscript";
pub(super) const SUBSCRIPT: &str = "subscript";

/// The parts of a document other than its body.
#[derive(Debug, Default)]
pub(super) struct DocumentParts {
    styles: HashMap<String, Style>,
    pub(super) lists: ListDefinitions,
    relations: HashMap<PartKind, HashMap<String, Relation>>,
    pub(super) footnotes: Option<Xml>,
    pub(super) endnotes: Option<Xml>,
}

/// A part with relations of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum PartKind {
    Body,
    Footnotes,
    Endnotes,
}

/// The target of a relation.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) target: String,
    pub(super) is_external: bool,
}

impl DocumentParts {
    pub(super) fn read(archive: &mut Archive<'_>) -> Result<Self, ConvertError> {
        let mut parts = Self::default();
        if let Some(xml) = part(archive, "word/styles.xml")? {
            parts.read_styles(&xml);
        }
        if let Some(xml) = part(archive, "word/numbering.xml")? {
            parts.lists = ListDefinitions::read(&xml);
        }
        for (kind, path) in [
            (PartKind::Body, "word/_rels/document.xml.rels"),
            (PartKind::Footnotes, "word/_rels/footnotes.xml.rels"),
            (PartKind::Endnotes, "word/_rels/endnotes.xml.rels"),
        ] {
            if let Some(xml) = part(archive, path)? {
                parts.relations.insert(kind, read_relations(&xml));
            }
        }
        parts.footnotes = part(archive, "word/footnotes.xml")?;
        parts.endnotes = part(archive, "word/endnotes.xml")?;
        Ok(parts)
    }

    pub(super) fn relation(&self, of: PartKind, id: &str) -> Option<&Relation> {
        self.relations.get(&of)?.get(id)
    }

    /// Returns the role of paragraphs with a style.
    pub(super) fn role(&self, style: &str) -> Role {
        let mut next = Some(style);
        for _ in 0..MAX_BASED {
            let Some(style) = next.and_then(|id| self.styles.get(id)) else { break };
            match role_of(&style.name) {
                Role::Text => {}
                role => return role,
            }
            if let Some(level) = style.outline {
                return Role::Heading(level + 1);
            }
            next = style.based_on.as_deref();
        }
        // Without a style table, only style ids are available.
        if self.styles.is_empty() { role_of(&style_name_from_id(style)) } else { Role::Text }
    }

    /// Returns the list that a style assigns, and the level.
    pub(super) fn style_list(&self, style: &str) -> Option<(&str, usize)> {
        let mut next = Some(style);
        for _ in 0..MAX_BASED {
            let style = next.and_then(|id| self.styles.get(id))?;
            if let Some((list, level)) = &style.list {
                return Some((list, *level));
            }
            next = style.based_on.as_deref();
        }
        None
    }

    /// Returns `true` if a character style switches on a property of text, itself or through its base styles.
    pub(super) fn has_mark(&self, style: &str, mark: &str) -> bool {
        let mut next = Some(style);
        for _ in 0..MAX_BASED {
            let Some(style) = next.and_then(|id| self.styles.get(id)) else { break };
            if let Some((_, is_on)) = style.marks.iter().find(|(name, _)| *name == mark) {
                return *is_on;
            }
            next = style.based_on.as_deref();
        }
        false
    }

    /// Returns `true` if text with this style is code.
    pub(super) fn is_code(&self, style: &str) -> bool {
        self.role(style) == Role::Code
    }

    fn read_styles(&mut self, xml: &Xml) {
        for style in xml.root().descendants().filter(|element| element.name() == "style") {
            let Some(id) = style.attribute("styleId") else { continue };
            let value = |name: &str| style.child(name).and_then(|child| child.value());
            let properties = style.child("pPr");
            let outline = properties.and_then(|it| it.child("outlineLvl")).and_then(|it| it.value());
            let list = properties.and_then(|it| it.child("numPr"));
            let list = list.and_then(|list| {
                let id = list.child("numId")?.value()?.to_owned();
                let level = list.child("ilvl").and_then(|level| level.value()?.parse().ok());
                Some((id, level.unwrap_or_default()))
            });
            let style = Style {
                name: value("name").unwrap_or(id).to_lowercase(),
                based_on: value("basedOn").map(str::to_owned),
                // Outline level 10 means body text.
                outline: outline.and_then(|level| level.parse().ok()).filter(|level| *level < 9),
                list,
                marks: if style.attribute("type") == Some("character") { marks(style) } else { Vec::new() },
            };
            self.styles.insert(id.to_owned(), style);
        }
    }
}

fn read_relations(xml: &Xml) -> HashMap<String, Relation> {
    let all = xml.root().descendants().filter(|element| element.name() == "Relationship");
    let relation = |element: Element<'_>| {
        let (id, target) = (element.attribute("Id")?, element.attribute("Target")?);
        let is_external = element.attribute("TargetMode") == Some("External");
        Some((id.to_owned(), Relation { target: target.to_owned(), is_external }))
    };
    all.filter_map(relation).collect()
}

/// Returns the properties of text that a style sets.
fn marks(style: Element<'_>) -> Vec<(&'static str, bool)> {
    let Some(properties) = style.child("rPr") else { return Vec::new() };
    let align = properties.child("vertAlign").and_then(|align| align.value());
    let set = |name: &&'static str| match *name {
        SUPERSCRIPT | SUBSCRIPT => align.map(|align| (*name, align == *name)),
        name => properties.child(name).map(|_| (name, properties.is_toggled_on(name))),
    };
    MARKS.iter().filter_map(set).collect()
}

/// Returns the role for a style name in lower case. Word stores built-in style names in English in every language.
fn role_of(name: &str) -> Role {
    if let Some(level) = name.strip_prefix("heading ").and_then(|level| level.trim().parse().ok()) {
        return Role::Heading(level);
    }
    match name {
        "title" => Role::Title,
        "quote" | "intense quote" | "block text" | "quotations" => Role::Quote,
        _ if name.starts_with("toc ") => Role::Contents,
        _ if ["code", "preformatted", "source code", "verbatim"].iter().any(|word| name.contains(word)) => {
            Role::Code
        }
        _ => Role::Text,
    }
}

/// Converts a style id such as `Heading1` to a name such as `heading 1`.
fn style_name_from_id(id: &str) -> String {
    let stem = id.trim_end_matches(|c: char| c.is_ascii_digit());
    format!("{} {}", stem.to_lowercase(), &id[stem.len()..]).trim_end().to_owned()
}

/// Returns a part of the document as a tree, or `None` if it does not exist.
pub(super) fn part(archive: &mut Archive<'_>, path: &str) -> Result<Option<Xml>, ConvertError> {
    let Some(bytes) = archive.part(path)? else { return Ok(None) };
    Xml::read(&charset::xml(&bytes)).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the role of the first style in a chain where only the last style is a heading.
    fn role_of_chain(length: usize) -> Role {
        let mut parts = DocumentParts::default();
        for at in 1..=length {
            let is_last = at == length;
            let name = if is_last { "heading 1" } else { "other" }.to_owned();
            let based_on = (!is_last).then(|| (at + 1).to_string());
            parts.styles.insert(at.to_string(), Style { name, based_on, ..Style::default() });
        }
        parts.role("1")
    }

    #[test]
    fn base_styles_beyond_the_bound_are_left_out() {
        let roles = [MAX_BASED, MAX_BASED + 1].map(role_of_chain);
        assert_eq!(roles, [Role::Heading(1), Role::Text]);
    }
}
