//! Pages as a PDF file: [`Pdf`].

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use docs_model::{ContentRef, Document, PageId, ReusableId, SpaceId};

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
    /// The pictures. What is not here, or cannot be loaded, is shown by its alternative text.
    pub images: BTreeMap<ContentRef, BookImage>,
    /// Where references lead, and what they are called. A page or an anchor that is in the book is jumped to; a
    /// reference that is not here, and is no address, leads nowhere.
    pub links: BTreeMap<ContentRef, BookLink>,
    /// Reusable contents that the pages refer to.
    pub reusables: BTreeMap<ReusableId, Arc<Document>>,
}

impl Book {
    /// The same book with the bytes of all its pictures in memory; those that are gone are left out.
    ///
    /// An adapter that sets a book in this process calls it first. One that hands the book on loads the pictures one
    /// after the other instead, so that no more than one is in memory here.
    ///
    /// # Errors
    /// Those of [`ImageSource::load`].
    ///
    /// # Cancel safety
    /// Nothing is left behind.
    pub async fn with_images_loaded(self: Arc<Self>) -> Result<Arc<Self>, PdfError> {
        if self.images.values().all(|image| image.bytes().is_some()) {
            return Ok(self);
        }
        let mut book = Arc::unwrap_or_clone(self);
        let mut images = BTreeMap::new();
        for (name, image) in std::mem::take(&mut book.images) {
            if let Some(bytes) = image.load().await? {
                images.insert(name, BookImage::Loaded(bytes));
            }
        }
        book.images = images;
        Ok(Arc::new(book))
    }
}

/// A picture of a [`Book`]: its bytes, or where they are.
#[derive(Clone)]
pub enum BookImage {
    /// The bytes of the file.
    Loaded(Bytes),
    /// A file that is read when it is needed.
    Stored(Arc<dyn ImageSource>),
}

impl BookImage {
    /// The bytes, where they are in memory.
    #[must_use]
    pub const fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Loaded(bytes) => Some(bytes),
            Self::Stored(_) => None,
        }
    }

    /// The bytes, read from their source if need be; `None` when they are gone.
    ///
    /// # Errors
    /// Those of [`ImageSource::load`].
    ///
    /// # Cancel safety
    /// Nothing is left behind.
    pub async fn load(&self) -> Result<Option<Bytes>, PdfError> {
        match self {
            Self::Loaded(bytes) => Ok(Some(bytes.clone())),
            Self::Stored(source) => source.load().await,
        }
    }
}

impl fmt::Debug for BookImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loaded(bytes) => write!(f, "Loaded({} bytes)", bytes.len()),
            Self::Stored(_) => f.write_str("Stored"),
        }
    }
}

impl From<Bytes> for BookImage {
    fn from(bytes: Bytes) -> Self {
        Self::Loaded(bytes)
    }
}

impl From<Vec<u8>> for BookImage {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Loaded(bytes.into())
    }
}

impl From<&'static [u8]> for BookImage {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Loaded(Bytes::from_static(bytes))
    }
}

impl From<&'static str> for BookImage {
    fn from(text: &'static str) -> Self {
        Self::Loaded(Bytes::from_static(text.as_bytes()))
    }
}

/// Reads the bytes of one picture of a book.
#[async_trait]
pub trait ImageSource: Send + Sync + 'static {
    /// Reads the picture; `None` when it is gone.
    ///
    /// # Errors
    /// [`PdfError::Unavailable`] when it cannot be read now, [`PdfError::Failed`] when it is damaged.
    ///
    /// # Cancel safety
    /// Nothing is left behind.
    async fn load(&self) -> Result<Option<Bytes>, PdfError>;
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

    /// Sets a book and hands the file on as it comes, which an adapter does that need not have it whole. Others hand on
    /// what [`render`](Self::render) made.
    ///
    /// # Errors
    /// As [`render`](Self::render), and what the sink answers. What it has taken by then is no file.
    ///
    /// # Cancel safety
    /// As [`render`](Self::render).
    async fn render_into(&self, book: Arc<Book>, out: &mut dyn PdfSink) -> Result<(), PdfError> {
        out.write(self.render(book).await?).await
    }
}

/// Takes a PDF file in parts, of any length, in their order.
#[async_trait]
pub trait PdfSink: Send {
    /// Takes the next part.
    ///
    /// # Errors
    /// [`PdfError::Unavailable`] when it cannot be kept now, [`PdfError::Failed`] when it cannot be kept.
    ///
    /// # Cancel safety
    /// The part may have been taken or not.
    async fn write(&mut self, part: Bytes) -> Result<(), PdfError>;
}

/// Why there is no PDF. The texts of the first three are for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PdfError {
    /// The book is larger than a limit.
    #[error("{0}")]
    TooLarge(String),
    /// It took longer than it may.
    #[error("{0}")]
    TooSlow(String),
    /// What the book holds ended the work before it was done, by a fault of a library that reads it. The fault is not
    /// the user's, but neither does trying again help.
    #[error("{0}")]
    Unprocessable(String),
    /// Something that the adapter needs cannot be used now.
    #[error("the PDF cannot be made now: {0}")]
    Unavailable(String),
    /// The adapter failed.
    #[error("the PDF could not be made: {0}")]
    Failed(String),
}
