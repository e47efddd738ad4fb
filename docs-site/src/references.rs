//! The references of a document: other spaces of the site, reusable content and OpenAPI operations.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// The maximum number of other spaces that the links of a page refer to.
pub(crate) const MAX_SPACES: usize = 20;
/// The maximum number of pages of a large space that the links of a page refer to.
const MAX_LINKED_PAGES: usize = 5_000;

use docs_core::{
    model::{
        BlockKind, CellValue, ContentRef, Document, DocumentPart, InlineKind, PageId, ReusableId, SpaceId,
    },
    platform::{SpecDetail, SpecSubject},
};

use crate::descriptions::Descriptions;

/// Reusable content blocks by space and id.
pub(crate) type ReusableContents = HashMap<(SpaceId, ReusableId), Document>;

/// The shown parts of OpenAPI specifications.
#[derive(Debug, Default)]
pub(crate) struct Specs {
    /// The parts by slug and subject.
    pub(crate) details: HashMap<(String, SpecSubject), Arc<SpecDetail>>,
    /// The shown operations by slug and operation id.
    pub(crate) operations: HashMap<(String, String), SpecSubject>,
    pub(crate) descriptions: Descriptions,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentReferences {
    /// The referenced pages, by space. `None` is the space of the document.
    pub(crate) pages: BTreeMap<Option<SpaceId>, BTreeSet<PageId>>,
    /// The reusable content blocks, in the order of the document.
    pub(crate) reused: Vec<(Option<SpaceId>, ReusableId)>,
    /// The slugs of the OpenAPI specifications that the document shows, and the number of their operations, webhooks
    /// and schemas.
    pub(crate) specs: (Vec<String>, usize),
}

impl DocumentReferences {
    /// Collects the references of a document.
    pub(crate) fn from_document(document: &Document) -> Self {
        let mut found = Self::default();
        let mut shows_specs = false;
        for part in document.parts() {
            match part {
                DocumentPart::Block(block) => {
                    shows_specs |= SpecSubject::from_block(&block.kind).is_some();
                    found.add_block(&block.kind);
                }
                DocumentPart::Inline(inline) => found.add_inline(&inline.kind),
            }
        }
        // The parts are in reverse order, and the bound of loaded blocks applies to the last ones.
        found.reused.reverse();
        if shows_specs {
            let shown = SpecSubject::from_document(document);
            let subjects = shown.values().map(Vec::len).sum();
            found.specs = (shown.into_keys().collect(), subjects);
        }
        found
    }

    /// Returns the approximate memory in bytes.
    pub(crate) fn weight(&self) -> usize {
        let specs = self.specs.0.iter().map(|slug| 32 + slug.len()).sum::<usize>();
        let pages = self.pages.values().map(|pages| 512 + pages.len() * 100).sum::<usize>();
        pages + self.reused.len() * 128 + specs
    }

    fn add_block(&mut self, kind: &BlockKind) {
        match kind {
            BlockKind::ContentRef { target } | BlockKind::ReusableContent { target } => self.add(target),
            BlockKind::Table(table) => {
                for value in table.records.values().flat_map(|record| record.values.values()) {
                    if let CellValue::Reference(target) = value {
                        self.add(target);
                    }
                }
            }
            // Images and files belong to the current space.
            _ => {}
        }
    }

    fn add_inline(&mut self, kind: &InlineKind) {
        match kind {
            InlineKind::Link { target, .. } | InlineKind::Mention { target } => self.add(target),
            InlineKind::Button { target: Some(target), .. } => self.add(target),
            _ => {}
        }
    }

    fn add_page(&mut self, space: Option<&SpaceId>, page: &PageId) {
        let space = space.cloned();
        let others = self.pages.len() - usize::from(self.pages.contains_key(&None));
        if space.is_none() || self.pages.contains_key(&space) || others <= MAX_SPACES {
            let pages = self.pages.entry(space).or_default();
            if pages.len() < MAX_LINKED_PAGES {
                pages.insert(page.clone());
            }
        }
    }

    /// Adds the page or reusable content block that a target references.
    pub(crate) fn add(&mut self, target: &ContentRef) {
        match target {
            ContentRef::Page { page, space } | ContentRef::Anchor { page: Some(page), space, .. } => {
                self.add_page(space.as_ref(), page);
            }
            ContentRef::ReusableContent { reusable_content, space } => {
                self.reused.push((space.clone(), reusable_content.clone()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_beyond_the_bound_are_left_out() {
        let mut found = DocumentReferences::default();
        for number in 0..MAX_SPACES + 9 {
            let space = Some(format!("space{number}").parse().expect("an id"));
            found.add(&ContentRef::Page { page: "page".parse().expect("an id"), space });
        }
        // The space of the page itself may be included.
        assert_eq!(found.pages.len(), MAX_SPACES + 1);
    }

    #[test]
    fn pages_of_a_space_beyond_the_bound_are_left_out() {
        let mut found = DocumentReferences::default();
        let space = Some("space".parse().expect("an id"));
        for number in 0..MAX_LINKED_PAGES + 9 {
            let page = format!("page{number}").parse().expect("an id");
            found.add(&ContentRef::Page { page, space: space.clone() });
        }
        assert_eq!(found.pages[&space].len(), MAX_LINKED_PAGES);
    }
}
