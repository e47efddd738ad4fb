//! Documents of other formats as pages: [`Converter`].

use async_trait::async_trait;
use bytes::Bytes;

/// Most bytes of the texts of all pages that one archive or website may have.
pub const MAX_TEXTS_BYTES: u64 = 50_000_000;

/// What a document is written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DocumentFormat {
    /// HTML.
    Html,
    /// Markdown.
    Markdown,
    /// A Word document.
    Docx,
}

/// A document to convert.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it is written in.
    pub format: DocumentFormat,
    /// Its bytes.
    pub bytes: Bytes,
    /// What it is called where nothing in it says so.
    pub name: String,
    /// Where it was. Relative links become addresses, seen from there; without it they stay as they are written.
    pub url: Option<String>,
    /// The name of the character set that its bytes are in, as its host told. What it says of itself need not be told.
    pub charset: Option<String>,
}

/// A document as a page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConvertedPage {
    /// Its title, never empty.
    pub title: String,
    /// Its text. A Markdown document keeps its front matter and its heading; of others the title is not in the text.
    pub markdown: String,
    /// The addresses on the web that it links to, each once, in the order of the text: normalised, and without the
    /// place on the page. In the text they stand in the same form, with the place.
    pub links: Vec<String>,
    /// The pictures that it shows, each once, in the order of the text.
    pub images: Vec<FoundFile>,
    /// The files that came within the document.
    pub files: Vec<EmbeddedFile>,
}

/// A file on the web that a page shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundFile {
    /// Its address, as it stands in the text.
    pub url: String,
    /// A name for it, made from the address.
    pub name: String,
}

/// A file within a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmbeddedFile {
    /// The destination by which the text refers to it.
    pub destination: String,
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// A file of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnpackedFile {
    /// Its path: relative, `/` between its parts, none of them `.` or `..`.
    pub path: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// Turns documents of other formats into pages.
///
/// The answer depends on the document alone: nothing is fetched, nothing is kept. A converter bounds its own work, so
/// that no document, whoever made it, takes long or much memory; converting may block, so an adapter sees to it that
/// it does not block the runtime.
#[async_trait]
pub trait Converter: Send + Sync + 'static {
    /// Turns a document into a page.
    ///
    /// # Errors
    /// [`ConvertError`], with a sentence for the user.
    ///
    /// # Cancel safety
    /// Nothing is left behind.
    async fn convert(&self, document: Document) -> Result<ConvertedPage, ConvertError>;

    /// Unpacks a zip archive. Folders, links, and archives within it are left out.
    ///
    /// # Errors
    /// [`ConvertError`], also for an archive that is encrypted or whose paths lead out of it.
    ///
    /// # Cancel safety
    /// Nothing is left behind.
    async fn unpack(&self, archive: Bytes) -> Result<Vec<UnpackedFile>, ConvertError>;
}

/// Why a document cannot be converted. The texts of the first two are for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// It is not what it should be, or damaged.
    #[error("{0}")]
    Unreadable(String),
    /// It is larger than a limit, or takes more time or memory than it may.
    #[error("{0}")]
    TooLarge(String),
    /// The converter failed, whatever the document is.
    #[error("the document could not be converted: {0}")]
    Failed(String),
}
