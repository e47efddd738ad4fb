//! PDF rendering of pages: [`Pdf`].

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use docs_model::{ContentRef, Document, PageId, ReusableId, SpaceId};

/// Maximum nesting depth of reusable content blocks. Deeper blocks, and a reusable content block within itself, are
/// omitted.
pub const MAX_EMBED_DEPTH: usize = 8;

/// The pages to render as a PDF file. A book is self-contained: an adapter needs no other data.
#[derive(Clone, Debug, Default)]
pub struct Book {
    pub title: String,
    /// A line below the title, for example the change request whose content is rendered.
    pub subtitle: Option<String>,
    /// The language as a two- or three-letter code; English if absent.
    pub language: Option<String>,
    /// The space that contains the pages. References to this space link to the book itself.
    pub space: Option<SpaceId>,
    /// The pages in reading order.
    pub pages: Vec<BookPage>,
    /// The images. An image that is missing or cannot be loaded is replaced by its alternative text.
    pub images: BTreeMap<ContentRef, BookImage>,
    /// The targets and titles of references. A page or an anchor in the book becomes an internal link. A reference that
    /// is missing here and is not a URL is rendered without a link.
    pub links: BTreeMap<ContentRef, BookLink>,
    /// The reusable content blocks that the pages reference.
    pub reusables: BTreeMap<ReusableId, Arc<Document>>,
}

impl Book {
    /// Loads all images into memory, omitting images that no longer exist.
    ///
    /// An adapter that renders in this process calls this first. An adapter that sends the book to another process
    /// should instead load the images one at a time, so that at most one of them is in memory here.
    ///
    /// # Errors
    /// See [`ImageSource::load`].
    ///
    /// # Cancel safety
    /// No side effects.
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

#[derive(Clone)]
pub enum BookImage {
    /// An image in memory.
    Loaded(Bytes),
    /// An image that is loaded on demand.
    Stored(Arc<dyn ImageSource>),
}

impl BookImage {
    /// Returns the content of the image if it is in memory.
    #[must_use]
    pub const fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Loaded(bytes) => Some(bytes),
            Self::Stored(_) => None,
        }
    }

    /// Returns the content of the image, reading it from its source if necessary, or `None` if it no longer exists.
    ///
    /// # Errors
    /// See [`ImageSource::load`].
    ///
    /// # Cancel safety
    /// No side effects.
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

/// A source from which an image of a book is loaded on demand.
#[async_trait]
pub trait ImageSource: Send + Sync + 'static {
    /// Reads the image, or returns `None` if it no longer exists.
    ///
    /// # Errors
    /// [`PdfError::Unavailable`] if it temporarily cannot be read, [`PdfError::Failed`] if it is damaged.
    ///
    /// # Cancel safety
    /// No side effects.
    async fn load(&self) -> Result<Option<Bytes>, PdfError>;
}

#[derive(Clone, Debug)]
pub struct BookPage {
    pub id: PageId,
    pub title: String,
    pub description: Option<String>,
    /// The nesting depth: the number of ancestors within the book.
    pub depth: usize,
    /// The content, or `None` for a group.
    pub document: Option<Arc<Document>>,
}

/// The target of a reference.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BookLink {
    pub title: Option<String>,
    /// The web URL.
    pub url: Option<String>,
}

/// A PDF renderer.
///
/// The output is a pure function of the book: the same book results in the same bytes on all machines with the same
/// fonts. Typesetting is CPU-bound for seconds, so an adapter runs it outside the runtime and aborts it after a
/// configured time.
#[async_trait]
pub trait Pdf: Send + Sync + 'static {
    /// Renders a book.
    ///
    /// # Errors
    /// Any [`PdfError`]. Content alone never causes an error: unreadable images, invalid formulas and broken links are
    /// rendered as text.
    ///
    /// # Cancel safety
    /// Dropping the future has no side effects, but rendering may continue for some time.
    async fn render(&self, book: Arc<Book>) -> Result<Bytes, PdfError>;

    /// Renders a book to a sink. An adapter that can stream should override this method. The default implementation
    /// writes the output of [`render`](Self::render).
    ///
    /// # Errors
    /// The errors of [`render`](Self::render) and of the sink. After an error, the written data is incomplete.
    ///
    /// # Cancel safety
    /// See [`render`](Self::render).
    async fn render_into(&self, book: Arc<Book>, out: &mut dyn PdfSink) -> Result<(), PdfError> {
        out.write(self.render(book).await?).await
    }
}

/// A sink for the consecutive chunks of a PDF file. Chunks can have any length.
#[async_trait]
pub trait PdfSink: Send {
    /// Writes the next chunk.
    ///
    /// # Errors
    /// [`PdfError::Unavailable`] for a transient failure, [`PdfError::Failed`] for a permanent one.
    ///
    /// # Cancel safety
    /// If the future is dropped, the chunk may or may not have been written.
    async fn write(&mut self, part: Bytes) -> Result<(), PdfError>;
}

/// The reason a PDF file could not be rendered. The messages of the first three variants are intended for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PdfError {
    /// The book exceeds a size limit.
    #[error("{0}")]
    TooLarge(String),
    /// Rendering exceeded its time limit.
    #[error("{0}")]
    TooSlow(String),
    /// The content made the renderer crash or abort because of a bug in a parsing library. The user is not at fault,
    /// but retrying does not help.
    #[error("{0}")]
    Unprocessable(String),
    /// A resource of the adapter is temporarily unavailable.
    #[error("PDF rendering is temporarily unavailable: {0}")]
    Unavailable(String),
    /// The adapter failed.
    #[error("failed to render the PDF: {0}")]
    Failed(String),
}
