//! The references in a document.

use std::collections::BTreeSet;

use crate::model::{
    Block, BlockKind, CellValue, ContentRef, Document, DocumentPart, FileId, Inline, TableColumnKind, UserId,
};

/// The distinct references of a book, up to [`BookReferences::MAX`].
#[derive(Default)]
pub(super) struct BookReferences {
    all: BTreeSet<ContentRef>,
    more: bool,
}

impl BookReferences {
    /// Maximum number of references. Each one costs a lookup.
    pub(super) const MAX: usize = 20_000;

    /// Returns `true` if references were dropped at the limit.
    pub(super) const fn is_over(&self) -> bool {
        self.more
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ContentRef> {
        self.all.iter()
    }

    pub(super) fn into_set(self) -> BTreeSet<ContentRef> {
        self.all
    }
}

impl Extend<ContentRef> for BookReferences {
    fn extend<I: IntoIterator<Item = ContentRef>>(&mut self, all: I) {
        for target in all {
            if self.all.len() < Self::MAX || self.all.contains(&target) {
                self.all.insert(target);
            } else {
                self.more = true;
                return;
            }
        }
    }
}

/// Number of references used per block or element. Further ones are variants for the dark theme, which a PDF does not
/// have.
const LIGHT: usize = 1;

/// Adds the references in a document.
pub(super) fn collect_references(document: &Document, out: &mut BookReferences) {
    for part in document.parts() {
        match part {
            DocumentPart::Block(block) => collect_block(block, out),
            DocumentPart::Inline(inline) => collect_inline(inline, out),
        }
    }
}

fn collect_block(block: &Block, out: &mut BookReferences) {
    // Inline elements are visited separately. A plain URL needs no title.
    out.extend(block.kind.targets().take(LIGHT).cloned());
    if let BlockKind::Table(table) = &block.kind {
        for (column, value) in table.records.values().flat_map(|row| &row.values) {
            let kind = table.definition.get(column).map(|column| &column.kind);
            collect_cell(kind, value, out);
        }
    }
}

fn collect_cell(kind: Option<&TableColumnKind>, value: &CellValue, out: &mut BookReferences) {
    match (value, kind) {
        (CellValue::Reference(target) | CellValue::Image { target, .. }, _) => out.extend([target.clone()]),
        (CellValue::Ids(ids), Some(TableColumnKind::Files)) => {
            let files = ids.iter().filter_map(|id| id.parse::<FileId>().ok());
            out.extend(files.map(|file| ContentRef::File { file }));
        }
        (CellValue::Ids(ids), Some(TableColumnKind::Users { .. })) => {
            let users = ids.iter().filter_map(|id| id.parse::<UserId>().ok());
            out.extend(users.map(|user| ContentRef::User { user }));
        }
        _ => {}
    }
}

fn collect_inline(inline: &Inline, out: &mut BookReferences) {
    out.extend(inline.kind.targets().take(LIGHT).cloned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_above_the_limit_are_dropped_and_reported() {
        let to = |n: usize| ContentRef::Url { url: format!("https://example.com/{n}") };
        let mut references = BookReferences::default();
        references.extend((0..BookReferences::MAX).map(to));
        references.extend([to(0), to(1)]);
        assert!(!references.is_over(), "what is there already counts once");
        references.extend([to(BookReferences::MAX)]);
        assert!(references.is_over());
        assert_eq!(references.into_set().len(), BookReferences::MAX);
    }
}
