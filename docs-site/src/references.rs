//! The references of a document: other spaces of the site, reusable content and OpenAPI operations.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

/// The maximum number of other spaces that the links of a page refer to.
pub(crate) const MAX_SPACES: usize = 20;
/// The maximum number of pages of a large space that the links of a page refer to.
const MAX_LINKED_PAGES: usize = 5_000;
/// The maximum number of files that a page shows or links to, including those of reusable content blocks and of the
/// navigation. The URL of each is encrypted for the visitor.
pub(crate) const MAX_SHOWN_FILES: usize = 1_000;

use docs_core::{
    model::{
        BlockKind, CellValue, ContentRef, Document, DocumentPart, FileId, InlineKind, PageId, ReusableId,
        SpaceId, TableColumnKind,
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

impl Specs {
    /// Returns the files that the descriptions show or link to.
    pub(crate) fn described_files(&self) -> DocumentReferences {
        let mut found = DocumentReferences::default();
        for document in self.descriptions.documents() {
            let files = DocumentReferences::from_document(document).files;
            files.into_iter().for_each(|file| found.add_file(file));
        }
        found
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentReferences {
    /// The referenced pages, by space. `None` is the space of the document.
    pub(crate) pages: BTreeMap<Option<SpaceId>, BTreeSet<PageId>>,
    /// The referenced files, all of the space of the document.
    pub(crate) files: BTreeSet<FileId>,
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
        // The parts are in reverse order, and the bounds apply to the last ones.
        let parts: Vec<DocumentPart<'_>> = document.parts().collect();
        for part in parts.into_iter().rev() {
            match part {
                DocumentPart::Block(block) => {
                    shows_specs |= SpecSubject::from_block(&block.kind).is_some();
                    found.add_block(&block.kind);
                }
                DocumentPart::Inline(inline) => found.add_inline(&inline.kind),
            }
        }
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
        pages + self.files.len() * 64 + self.reused.len() * 128 + specs
    }

    fn add_block(&mut self, kind: &BlockKind) {
        kind.targets().for_each(|target| self.add(target));
        let BlockKind::Table(table) = kind else { return };
        for (column, value) in table.records.values().flat_map(|record| &record.values) {
            match (value, table.definition.get(column).map(|column| &column.kind)) {
                (CellValue::Reference(target) | CellValue::Image { target, .. }, _) => self.add(target),
                (CellValue::Ids(ids), Some(TableColumnKind::Files)) => {
                    ids.iter().filter_map(|id| id.parse().ok()).for_each(|id| self.add_file(id));
                }
                _ => {}
            }
        }
    }

    fn add_inline(&mut self, kind: &InlineKind) {
        kind.targets().for_each(|target| self.add(target));
    }

    fn add_file(&mut self, file: FileId) {
        if self.files.len() < MAX_SHOWN_FILES {
            self.files.insert(file);
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

    /// Adds the page, file or reusable content block that a target references.
    pub(crate) fn add(&mut self, target: &ContentRef) {
        match target {
            ContentRef::Page { page, space } | ContentRef::Anchor { page: Some(page), space, .. } => {
                self.add_page(space.as_ref(), page);
            }
            ContentRef::ReusableContent { reusable_content, space } => {
                self.reused.push((space.clone(), reusable_content.clone()));
            }
            ContentRef::File { file } => self.add_file(file.clone()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use docs_core::content::document::parse;

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
    fn files_beyond_the_bound_are_left_out() {
        let mut found = DocumentReferences::default();
        for number in 0..MAX_SHOWN_FILES + 9 {
            found.add(&ContentRef::File { file: format!("file{number}").parse().expect("an id") });
        }
        assert_eq!(found.files.len(), MAX_SHOWN_FILES);
        assert!(found.files.contains(&"file0".parse().expect("an id")));
    }

    #[test]
    fn files_of_all_parts_of_a_document_are_referenced() {
        let text = "![a](/files/f1) and [b](/files/f2)\n\n<figure><img src=\"/files/f3\" alt=\"\"></figure>\n\n\
            {% file src=\"/files/f4\" %}\n\n<table><thead><tr><th data-type=\"files\">Files</th></tr></thead>\
            <tbody><tr><td><a href=\"/files/f5\">f</a></td></tr></tbody></table>\n";
        let found = DocumentReferences::from_document(&parse(text));
        let files: Vec<&str> = found.files.iter().map(FileId::as_str).collect();
        assert_eq!(files, ["f1", "f2", "f3", "f4", "f5"]);
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
