//! Reads HTML, Markdown, Word documents and archives as pages for the documentation platform.
//!
//! [`DocumentConverter`] is the port [`Converter`]. [`convert`] and [`unpack`] do its work: pure functions of the
//! bytes, in time and memory that grow with the bytes and no faster, whoever made them. Nothing is fetched and no file
//! is touched.
//!
//! HTML and Word documents both become a small tree of elements first, which is then cleaned up and written as
//! Markdown of the platform, so that a list is a list wherever it came from.

mod archive;
mod charset;
mod clean;
mod docx;
mod dom;
mod html;
mod link;
mod markdown;
mod render;
#[cfg(test)]
mod tests;
mod text;
mod tokens;

use async_trait::async_trait;
use bytes::Bytes;
use docs_ports::{ConvertError, ConvertedPage, Converter, Document, DocumentFormat, UnpackedFile};

/// Most bytes of an HTML document.
pub const MAX_TEXT_BYTES: usize = 8_000_000;
/// Most bytes of a Markdown document: what a page may have, front matter, and room for encodings that need more than
/// UTF-8.
pub const MAX_MARKDOWN_BYTES: usize = 2_500_000;
/// Most bytes of a Word document and of an archive, as they are packed.
pub const MAX_PACKED_BYTES: usize = docs_ports::MAX_FILE_BYTES as usize;

/// Converts documents, on the threads that the runtime has for work that blocks.
///
/// ```
/// use docs_convert::DocumentConverter;
/// use docs_ports::{Converter as _, Document, DocumentFormat};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), docs_ports::ConvertError> {
/// let document = Document {
///     format: DocumentFormat::Html,
///     bytes: "<h1>Start</h1><p>See <a href='../more'>more</a>.</p>".into(),
///     name: "start".to_owned(),
///     url: Some("https://example.com/docs/start".to_owned()),
///     charset: None,
/// };
/// let page = DocumentConverter.convert(document).await?;
/// assert_eq!((page.title.as_str(), page.markdown.as_str()), ("Start", "See [more](https://example.com/more).\n"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentConverter;

#[async_trait]
impl Converter for DocumentConverter {
    async fn convert(&self, document: Document) -> Result<ConvertedPage, ConvertError> {
        aside(move || convert(&document)).await
    }

    async fn unpack(&self, archive: Bytes) -> Result<Vec<UnpackedFile>, ConvertError> {
        aside(move || unpack(&archive)).await
    }
}

/// Turns a document into a page.
///
/// # Errors
/// [`ConvertError`], with a sentence for the user.
pub fn convert(document: &Document) -> Result<ConvertedPage, ConvertError> {
    let (limit, what) = match document.format {
        DocumentFormat::Html => (MAX_TEXT_BYTES, "an HTML page"),
        DocumentFormat::Markdown => (MAX_MARKDOWN_BYTES, "a Markdown file"),
        DocumentFormat::Docx => (MAX_PACKED_BYTES, "a Word document"),
    };
    check_size(document.bytes.len(), limit, what)?;
    match document.format {
        DocumentFormat::Html => html::page(document),
        DocumentFormat::Markdown => markdown::page(document),
        DocumentFormat::Docx => docx::page(document),
    }
}

/// Unpacks a zip archive.
///
/// # Errors
/// [`ConvertError`], with a sentence for the user.
pub fn unpack(archive: &[u8]) -> Result<Vec<UnpackedFile>, ConvertError> {
    check_size(archive.len(), MAX_PACKED_BYTES, "an archive")?;
    archive::unpack(archive)
}

fn check_size(has: usize, limit: usize, what: &str) -> Result<(), ConvertError> {
    if has <= limit {
        return Ok(());
    }
    Err(ConvertError::TooLarge(format!("{what} must have at most {limit} bytes, has {has}")))
}

/// Runs work that blocks where it blocks nothing.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ConvertError> + Send + 'static,
) -> Result<T, ConvertError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        // The work does not panic; a runtime that ends takes it along.
        tracing::error!(%error, "a document was not converted");
        Err(ConvertError::Failed(error.to_string()))
    })
}
