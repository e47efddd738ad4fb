//! A rendered page tree.

use std::collections::HashMap;

use maud::PreEscaped;

use crate::{
    html::{Html, NamedMarkup},
    page_tree::PageTree,
};

/// A rendered page tree without the attributes that depend on the current page.
#[derive(Debug)]
pub(crate) struct WrittenTree {
    pub(super) written: NamedMarkup,
    /// For each entry, the offsets where these attributes are inserted.
    pub(super) marks: HashMap<usize, Marks>,
}

/// The byte offsets where attributes of an entry are inserted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    /// The offset of the attribute that marks the current page.
    pub(super) current: Option<usize>,
    /// The offset of the attribute that expands the entry.
    pub(super) open: Option<usize>,
    /// The offset of a list below the current page.
    pub(super) below: Option<usize>,
}

impl WrittenTree {
    /// Writes the tree with the attributes for the current page, and a list below it.
    pub(super) fn write(
        &self,
        html: &mut Html,
        frame: &PageTree,
        current: Option<usize>,
        below: Option<&NamedMarkup>,
    ) {
        let marks = |at: usize| self.marks.get(&at).copied().unwrap_or_default();
        let way = current.into_iter().flat_map(|at| frame.ancestors(at).chain([at]));
        let open = way.filter_map(|at| Some((marks(at).open?, " open")));
        let here = current.and_then(|at| Some((marks(at).current?, " aria-current=\"page\"")));
        let below = current.and_then(|at| Some((marks(at).below?, below?.as_str())));
        let mut all: Vec<(usize, &str)> = open.chain(here).chain(below).collect();
        all.sort_unstable();
        let mut name = blake3::Hasher::new();
        name.update(self.written.name().as_bytes());
        for (at, mark) in &all {
            let place = [*at as u64, mark.len() as u64].map(u64::to_le_bytes);
            name.update(place.as_flattened()).update(mark.as_bytes());
        }
        html.write_under_name(&name.finalize(), |html| {
            let mut done = 0;
            for (at, mark) in all {
                html.piece(&self.written, done..at);
                html.markup(&PreEscaped(mark));
                done = at;
            }
            html.piece(&self.written, done..self.written.as_str().len());
        });
    }

    /// Returns the estimated memory in bytes.
    pub(super) fn weight(&self) -> usize {
        self.written.as_str().len() + self.marks.len() * 2 * size_of::<(usize, Marks)>()
    }
}
