//! Conversion of documents to pages: [`Converter`].

use async_trait::async_trait;
use bytes::Bytes;

/// Maximum total size in bytes of the page texts of an archive or a website.
pub const MAX_TEXTS_BYTES: u64 = 50_000_000;

/// Maximum number of warnings of one document or archive. The last one states the number of others.
pub const MAX_CONVERSION_WARNINGS: usize = 50;

/// The format of a document.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DocumentFormat {
    Html,
    Markdown,
    /// A Word document (`.docx`).
    Docx,
}

/// A document to convert.
#[derive(Clone, Debug)]
pub struct Document {
    pub format: DocumentFormat,
    /// The content.
    pub bytes: Bytes,
    /// The title to use if the document has none.
    pub name: String,
    /// The URL of the document, against which relative links are resolved. Without it, they remain relative.
    pub url: Option<String>,
    /// The charset stated in the HTTP response. A declaration in the document itself need not be passed here.
    pub charset: Option<String>,
}

/// The page resulting from a conversion.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConvertedPage {
    /// The title, never empty.
    pub title: String,
    /// The text. For a Markdown document, it includes the front matter and the heading. For other formats, it does not
    /// contain the title.
    pub markdown: String,
    /// The web URLs that the page links to, normalized and without fragments, in text order without duplicates. The
    /// text contains them in the same form with their fragments.
    pub links: Vec<String>,
    /// The images of the page, in text order without duplicates.
    pub images: Vec<FoundFile>,
    /// The files embedded in the document.
    pub files: Vec<EmbeddedFile>,
    /// Messages for the user about content of the document that the page lacks. At most
    /// [`MAX_CONVERSION_WARNINGS`].
    pub warnings: Vec<String>,
}

/// An image on the web that a page displays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundFile {
    /// The URL, in the same form as in the text.
    pub url: String,
    /// A file name derived from the URL.
    pub name: String,
}

/// A file embedded in a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmbeddedFile {
    /// The link destination by which the text references the file.
    pub destination: String,
    pub name: String,
    /// The content.
    pub bytes: Bytes,
}

/// The files of an archive, including those of archives within it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnpackedArchive {
    /// The files, each under a unique path.
    pub files: Vec<UnpackedFile>,
    /// Messages for the user about entries that were left out. At most [`MAX_CONVERSION_WARNINGS`].
    pub warnings: Vec<String>,
}

/// A file of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnpackedFile {
    /// The relative path with `/` separators and without `.` and `..` components.
    pub path: String,
    /// The content.
    pub bytes: Bytes,
}

/// A converter from other formats to pages.
///
/// The result depends only on the document: a converter neither fetches nor stores anything. It limits its own time and
/// memory, because a document may be malicious. Conversion may be CPU-bound, so an adapter must not block the runtime.
#[async_trait]
pub trait Converter: Send + Sync + 'static {
    /// Converts a document to a page.
    ///
    /// # Errors
    /// [`ConvertError`], with a message for the user.
    ///
    /// # Cancel safety
    /// No side effects.
    async fn convert(&self, document: Document) -> Result<ConvertedPage, ConvertError>;

    /// Unpacks a zip archive and the zip archives within it, whose files take the place of the archive. Skips
    /// directories and links, and reports archives of other formats as a warning.
    ///
    /// # Errors
    /// [`ConvertError`], including for an encrypted archive or a path outside the archive.
    ///
    /// # Cancel safety
    /// No side effects.
    async fn unpack(&self, archive: Bytes) -> Result<UnpackedArchive, ConvertError>;
}

/// The reason a document cannot be converted. The messages of the first two variants are intended for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The document is damaged or has a different format.
    #[error("{0}")]
    Unreadable(String),
    /// The document exceeds a size limit, or its conversion exceeds the time or memory limit.
    #[error("{0}")]
    TooLarge(String),
    /// The converter failed for a reason unrelated to the document.
    #[error("failed to convert the document: {0}")]
    Failed(String),
}
