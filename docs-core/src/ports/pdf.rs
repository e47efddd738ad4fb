//! Pages as a PDF file: [`Pdf`].

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;

use crate::model::{ContentRef, Document, PageId, ReusableId, SpaceId};

/// Pages to be set as one file, with everything they need: an adapter asks for nothing else.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// The title.
    pub title: String,
    /// A line below the title, such as the change request that it shows.
    pub subtitle: Option<String>,
    /// The language as a two or three letter code; English when absent.
    pub language: Option<String>,
    /// The space whose pages they are: a reference that names it means the book.
    pub space: Option<SpaceId>,
    /// The pages in reading order.
    pub pages: Vec<BookPage>,
    /// The pictures that could be loaded. What is not here is shown by its alternative text.
    pub images: BTreeMap<ContentRef, Bytes>,
    /// Where references lead, and what they are called. A page or an anchor that is in the book is jumped to; a
    /// reference that is not here, and is no address, leads nowhere.
    pub links: BTreeMap<ContentRef, BookLink>,
    /// Reusable contents that the pages refer to.
    pub reusables: BTreeMap<ReusableId, Arc<Document>>,
}

/// A page of a [`Book`].
#[derive(Clone, Debug)]
pub struct BookPage {
    /// The page.
    pub id: PageId,
    /// The title.
    pub title: String,
    /// What it is about.
    pub description: Option<String>,
    /// How many pages of the book are above it.
    pub depth: usize,
    /// The content; a group has none.
    pub document: Option<Arc<Document>>,
}

/// Where a reference leads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BookLink {
    /// What it is called.
    pub title: Option<String>,
    /// Its address on the web.
    pub url: Option<String>,
}

/// Sets books as PDF files.
///
/// An adapter is a pure function of the book: the same book gives the same bytes, on every machine that has the same
/// fonts. Setting type takes seconds of computing, so an adapter does it where no other work waits, and ends it after a
/// time that its configuration says.
#[async_trait]
pub trait Pdf: Send + Sync + 'static {
    /// Sets a book.
    ///
    /// # Errors
    /// Every kind of [`PdfError`]. What a book holds is never wrong: a picture that cannot be read, a formula that is
    /// none and a link that leads nowhere are shown as text.
    ///
    /// # Cancel safety
    /// Dropping the future has no effect but that work may go on for a while.
    async fn render(&self, book: Arc<Book>) -> Result<Bytes, PdfError>;
}

/// Why there is no PDF. The texts of the first two are for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PdfError {
    /// The book is larger than a limit.
    #[error("{0}")]
    TooLarge(String),
    /// It took longer than it may.
    #[error("{0}")]
    TooSlow(String),
    /// The adapter failed.
    #[error("the PDF could not be made: {0}")]
    Failed(String),
}
