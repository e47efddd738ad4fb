//! The parts of a document other than its body, link targets and notes among them.

use std::collections::HashMap;

use docs_ports::ConvertError;

use super::{
    numbering::ListDefinitions,
    styles::Styles,
    xml::{Element, Xml},
};
use crate::{archive::Archive, charset};

/// The title element of the document properties.
pub(super) const TITLE: &str = "title";
/// The parts of a document other than its body.
#[derive(Debug, Default)]
pub(super) struct DocumentParts {
    pub(super) styles: Styles,
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
            parts.styles = Styles::read(&xml);
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

/// Returns a part of the document as a tree, or `None` if it does not exist.
pub(super) fn part(archive: &mut Archive<'_>, path: &str) -> Result<Option<Xml>, ConvertError> {
    let Some(bytes) = archive.part(path)? else { return Ok(None) };
    Xml::read(&charset::xml(&bytes)).map(Some)
}
