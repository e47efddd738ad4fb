//! From the document of a page to what is laid out.

mod block;
mod inline;
mod links;
mod table;

use std::collections::{BTreeMap, HashMap, HashSet};

use docs_model::{ContentRef, PageId, ReusableId};
use docs_ports::Book;

use crate::{
    Limits,
    pictures::Picture,
    shown::{Shown, ShownPage},
    stop::{Done, Stop},
    text::one_line,
};

/// How many levels of blocks stand within one another as they are; what is deeper stands beside.
const NESTING: usize = 7;
/// Most levels of the table of contents.
const LEVELS: usize = 12;
/// Characters of a line of text, about.
const LINE: usize = 88;

/// The book, about to be laid out page after page.
pub(crate) struct Lower<'a> {
    book: &'a Book,
    pictures: &'a BTreeMap<ContentRef, Picture>,
    pages: HashMap<&'a PageId, usize>,
    /// The labels that were given.
    labels: HashSet<String>,
    /// The position of the page that is being set.
    page: usize,
    /// How many more parts the book may have.
    left: usize,
    /// The reusable contents that are being set, so that none holds itself.
    reusables: Vec<&'a ReusableId>,
}

impl<'a> Lower<'a> {
    pub(crate) fn new(book: &'a Book, pictures: &'a BTreeMap<ContentRef, Picture>, limits: &Limits) -> Self {
        Self {
            book,
            pictures,
            pages: book.pages.iter().enumerate().map(|(at, page)| (&page.id, at)).collect(),
            labels: HashSet::new(),
            page: 0,
            left: limits.parts,
            reusables: Vec::new(),
        }
    }

    /// A page of the book; `None` behind the last.
    ///
    /// # Errors
    /// [`Stop::TooMuch`]
    pub(crate) fn page(&mut self, at: usize) -> Done<Option<ShownPage>> {
        let book = self.book;
        let Some(page) = book.pages.get(at) else { return Ok(None) };
        self.page = at;
        let label = page_label(at);
        self.labels.insert(label.clone());
        let after_group =
            at.checked_sub(1).and_then(|at| book.pages.get(at)).is_some_and(|p| p.document.is_none());
        let body = match &page.document {
            Some(document) => self.blocks(&document.nodes, At::page(level(page.depth)))?,
            None => Vec::new(),
        };
        Ok(Some(ShownPage {
            label,
            level: level(page.depth),
            title: one_line(&page.title),
            description: page.description.as_deref().map(one_line),
            fresh: at > 0 && !after_group,
            body,
        }))
    }

    /// Counts a part.
    fn count(&mut self, parts: usize) -> Done {
        self.left = self.left.checked_sub(parts).ok_or(Stop::TooMuch)?;
        Ok(())
    }
}

/// The language of a book: English where it says nothing that is one.
pub(crate) fn language(book: &Book) -> String {
    book.language.as_deref().filter(|lang| is_language(lang)).unwrap_or("en").to_ascii_lowercase()
}

fn is_language(text: &str) -> bool {
    matches!(text.len(), 2 | 3) && text.bytes().all(|b| b.is_ascii_alphabetic())
}

/// The level of the heading of a page.
fn level(depth: usize) -> usize {
    depth.min(LEVELS - 1) + 1
}

/// The label of a page, by its position.
fn page_label(at: usize) -> String {
    format!("p{at}")
}

/// Where something stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    /// How many characters its lines have.
    width: usize,
    /// How many blocks it stands in.
    nesting: usize,
    /// The level of the page's own heading.
    level: usize,
    /// Whether a note at the foot may be called from here: not from a note.
    notes: bool,
}

impl At {
    const fn page(level: usize) -> Self {
        Self { width: LINE, nesting: 0, level, notes: true }
    }

    /// Within a block that takes some of the line.
    fn inner(self, taken: usize) -> Self {
        Self { width: self.width.saturating_sub(taken).max(4), nesting: self.nesting + 1, ..self }
    }

    /// Within one of several blocks beside one another, which has a part of the line.
    fn part(self, share: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a number of characters, below a hundred"
        )]
        let width = (self.width as f64 * share.clamp(0.0, 1.0)) as usize;
        Self { width: width.saturating_sub(2).max(2), nesting: self.nesting + 1, ..self }
    }

    const fn is_deep(self) -> bool {
        self.nesting >= NESTING
    }
}

/// Text that is one part.
fn text(text: impl Into<String>) -> Shown {
    Shown::Text(text.into())
}
