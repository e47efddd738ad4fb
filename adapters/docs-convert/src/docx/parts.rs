//! What a document says beside its text: styles, kinds of lists, where links lead, notes.

use std::collections::HashMap;

use docs_ports::ConvertError;

use super::{part, xml::Xml};
use crate::archive::Archive;

/// Levels of a list in Word.
const LEVELS: usize = 9;

/// The element of the title in the properties of a document.
pub(super) const TITLE: &str = "title";
/// How many styles are asked, each for the one that it is based on.
const MAX_BASED: usize = 20;

/// What a paragraph is by its style.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// The title of the document.
    Title,
    /// A heading of a level, from one.
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
}

/// The parts of a document beside its text.
#[derive(Debug, Default)]
pub(super) struct Parts {
    styles: HashMap<String, Style>,
    /// The levels of each list, whether they are numbered.
    lists: HashMap<String, Vec<bool>>,
    relations: HashMap<String, Relation>,
    pub(super) footnotes: Option<Xml>,
    pub(super) endnotes: Option<Xml>,
}

/// What a part of the text refers to.
#[derive(Debug)]
pub(super) struct Relation {
    pub(super) target: String,
    pub(super) is_external: bool,
}

impl Parts {
    pub(super) fn read(archive: &mut Archive<'_>) -> Result<Self, ConvertError> {
        let mut parts = Self::default();
        if let Some(xml) = part(archive, "word/styles.xml")? {
            parts.read_styles(&xml);
        }
        if let Some(xml) = part(archive, "word/numbering.xml")? {
            parts.read_lists(&xml);
        }
        if let Some(xml) = part(archive, "word/_rels/document.xml.rels")? {
            for relation in xml.root().below().filter(|element| element.name() == "Relationship") {
                let (Some(id), Some(target)) = (relation.attribute("Id"), relation.attribute("Target"))
                else {
                    continue;
                };
                let is_external = relation.attribute("TargetMode") == Some("External");
                parts.relations.insert(id.to_owned(), Relation { target: target.to_owned(), is_external });
            }
        }
        parts.footnotes = part(archive, "word/footnotes.xml")?;
        parts.endnotes = part(archive, "word/endnotes.xml")?;
        Ok(parts)
    }

    pub(super) fn relation(&self, id: &str) -> Option<&Relation> {
        self.relations.get(id)
    }

    /// What a paragraph of a style is.
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
        // Without a table of styles their ids are all there is.
        if self.styles.is_empty() { role_of(&spaced(style)) } else { Role::Text }
    }

    /// The list that a style puts its paragraphs into, and the level in it.
    pub(super) fn list_of(&self, style: &str) -> Option<(&str, usize)> {
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

    /// Tells whether text of a style is code.
    pub(super) fn is_code(&self, style: &str) -> bool {
        self.role(style) == Role::Code
    }

    /// Tells whether a level of a list is numbered; `None` when there is no such list.
    pub(super) fn is_numbered(&self, list: &str, level: usize) -> Option<bool> {
        let levels = self.lists.get(list)?;
        Some(levels.get(level).or(levels.last()).copied().unwrap_or_default())
    }

    fn read_styles(&mut self, xml: &Xml) {
        for style in xml.root().below().filter(|element| element.name() == "style") {
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
                // The tenth level means that it is none.
                outline: outline.and_then(|level| level.parse().ok()).filter(|level| *level < 9),
                list,
            };
            self.styles.insert(id.to_owned(), style);
        }
    }

    fn read_lists(&mut self, xml: &Xml) {
        let mut kinds: HashMap<&str, Vec<bool>> = HashMap::new();
        for kind in xml.root().below().filter(|element| element.name() == "abstractNum") {
            let Some(id) = kind.attribute("abstractNumId") else { continue };
            let levels = kind.children().filter(|child| child.name() == "lvl");
            let is_numbered = |format: &str| !matches!(format, "bullet" | "none");
            // Lists share a kind, and each keeps its levels: Word has nine.
            let levels = levels
                .take(LEVELS)
                .map(|level| level.child("numFmt").and_then(|it| it.value()).is_some_and(is_numbered))
                .collect();
            kinds.insert(id, levels);
        }
        for list in xml.root().below().filter(|element| element.name() == "num") {
            let kind = list.child("abstractNumId").and_then(|kind| kind.value());
            if let (Some(id), Some(levels)) = (list.attribute("numId"), kind.and_then(|kind| kinds.get(kind)))
            {
                self.lists.insert(id.to_owned(), levels.clone());
            }
        }
    }
}

/// What the name of a style says, in lower case. Word keeps the English name in every language.
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

/// `Heading1` as `heading 1`.
fn spaced(id: &str) -> String {
    let stem = id.trim_end_matches(|c: char| c.is_ascii_digit());
    format!("{} {}", stem.to_lowercase(), &id[stem.len()..]).trim_end().to_owned()
}
