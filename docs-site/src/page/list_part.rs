//! The parts of the complete page lists.

use super::PageContext;
use crate::{assets::SITE_SEGMENT, page_tree::PageTree};

/// The maximum number of entries in a part.
pub(crate) const MAX_ENTRIES: usize = 100;
/// A part of the list of an entry's children, or of the top level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListPart {
    pub(super) parent: Option<usize>,
    /// The part number, starting from 0.
    pub(super) number: usize,
}

impl ListPart {
    /// Returns the first part of a list.
    pub(crate) const fn first(parent: Option<usize>) -> Self {
        Self { parent, number: 0 }
    }

    /// Returns the part of a list that contains the entry at a position.
    pub(super) const fn containing(parent: Option<usize>, position: usize) -> Self {
        Self { parent, number: position / MAX_ENTRIES }
    }

    /// Finds a part by its file name.
    pub(super) fn find(frame: &PageTree, name: &str) -> Option<Self> {
        let name = name.strip_prefix("pages.")?.strip_suffix(".html")?;
        let (parent, number) = match name.split_once('.') {
            None => (None, name),
            Some((id, number)) => (Some(frame.page(&id.parse().ok()?)?), number),
        };
        let part = Self { parent, number: number.parse::<usize>().ok()?.checked_sub(1)? };
        (part.number < part.count(frame)).then_some(part)
    }

    /// Returns the file name of the part below `~site`.
    pub(crate) fn name(&self, frame: &PageTree) -> String {
        let number = self.number + 1;
        match self.parent {
            None => format!("pages.{number}.html"),
            Some(parent) => format!("pages.{}.{number}.html", frame.entries[parent].id),
        }
    }

    pub(super) fn address(&self, scene: &PageContext<'_>) -> String {
        format!("{}{SITE_SEGMENT}/{}", scene.base(), self.name(&scene.frame))
    }

    /// Returns the number of parts of the list.
    pub(super) fn count(&self, frame: &PageTree) -> usize {
        frame.visible_children(self.parent).len().div_ceil(MAX_ENTRIES)
    }

    /// Returns all parts of all lists in a space.
    pub(crate) fn all(frame: &PageTree) -> impl Iterator<Item = Self> + '_ {
        let parents = [None].into_iter().chain((0..frame.entries.len()).map(Some));
        parents.flat_map(|parent| {
            (0..Self::first(parent).count(frame)).map(move |number| Self { parent, number })
        })
    }
}
