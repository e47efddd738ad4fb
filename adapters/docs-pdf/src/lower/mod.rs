//! From the document of a page to what the template draws.

mod block;
mod inline;
mod links;
mod table;

use std::collections::{BTreeMap, HashMap};

use docs_core::{
    model::{ContentRef, PageId, ReusableId},
    ports::Book,
};

use crate::{
    Limits,
    images::Picture,
    shown::{Shown, ShownBook, ShownPage},
    text::{Breaker, one_line},
};

/// How many levels of blocks stand within one another as they are; what is deeper stands beside.
const NESTING: usize = 7;
/// Most levels of the table of contents.
const LEVELS: usize = 12;
/// Characters of a line of text, about.
const LINE: usize = 88;

/// Why a book is not set.
#[derive(Debug)]
pub(crate) struct TooMuch;

/// The book as the template draws it.
pub(crate) fn lower(
    book: &Book,
    pictures: &BTreeMap<ContentRef, Picture>,
    limits: &Limits,
) -> Result<ShownBook, TooMuch> {
    let places = book.pages.iter().enumerate().map(|(at, page)| (&page.id, at)).collect();
    let mut lower = Lower {
        book,
        pictures,
        pages: places,
        labels: BTreeMap::new(),
        page: 0,
        left: limits.parts,
        reusables: Vec::new(),
    };
    let mut pages: Vec<ShownPage> = Vec::with_capacity(book.pages.len());
    for (at, page) in book.pages.iter().enumerate() {
        lower.page = at;
        let label = page_label(at);
        lower.labels.insert(label.clone(), true);
        let after_group =
            at.checked_sub(1).and_then(|at| book.pages.get(at)).is_some_and(|p| p.document.is_none());
        let body = match &page.document {
            Some(document) => lower.blocks(&document.nodes, At::page(level(page.depth)))?,
            None => Vec::new(),
        };
        let mut breaker = Breaker::new(40);
        pages.push(ShownPage {
            label,
            level: level(page.depth),
            title: breaker.run(&one_line(&page.title)),
            description: page.description.as_deref().map(|text| Breaker::new(LINE).run(&one_line(text))),
            fresh: at > 0 && !after_group,
            body,
        });
    }
    Ok(ShownBook {
        title: Breaker::new(30).run(&one_line(&book.title)),
        subtitle: book.subtitle.as_deref().map(|text| Breaker::new(40).run(&one_line(text))),
        lang: book.language.as_deref().filter(|lang| is_language(lang)).unwrap_or("en").to_ascii_lowercase(),
        headings: pages.len() <= 1,
        pages,
        places: lower.labels,
    })
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

/// A book on its way.
struct Lower<'a> {
    book: &'a Book,
    pictures: &'a BTreeMap<ContentRef, Picture>,
    pages: HashMap<&'a PageId, usize>,
    /// The labels that were given.
    labels: BTreeMap<String, bool>,
    /// The position of the page that is being set.
    page: usize,
    /// How many more parts the book may have.
    left: usize,
    /// The reusable contents that are being set, so that none holds itself.
    reusables: Vec<&'a ReusableId>,
}

impl Lower<'_> {
    /// Counts a part.
    fn count(&mut self, parts: usize) -> Result<(), TooMuch> {
        self.left = self.left.checked_sub(parts).ok_or(TooMuch)?;
        Ok(())
    }
}

/// Text that is one part.
fn text(text: impl Into<String>) -> Shown {
    Shown::Text(text.into())
}
