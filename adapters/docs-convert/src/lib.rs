//! Converter of HTML, Markdown, Word documents and archives to documentation pages.
//!
//! [`DocumentConverter`] implements the port [`Converter`]. It calls [`convert`] and [`unpack`], which are pure
//! functions of the input. Their time and memory are at most linear in the size of the input, including malicious
//! input. They access neither the network nor the file system.
//!
//! HTML and Word documents are both parsed into a small tree of elements, which is cleaned up and rendered as Markdown
//! of the platform. Both formats therefore share one renderer.

mod archive;
mod charset;
mod docx;
mod dom;
mod hint;
mod html;
mod link;
mod main_content;
mod markdown;
mod mathml;
mod render;
#[cfg(test)]
mod tests;
mod tex;
mod text;
mod tokens;
mod warnings;

pub use self::text::{MAX_CONVERTED_BYTES, MAX_MARKDOWN_BYTES};

use async_trait::async_trait;
use bytes::Bytes;
use docs_ports::{ConvertError, ConvertedPage, Converter, Document, DocumentFormat, UnpackedArchive};

/// Maximum size of an HTML document in bytes.
pub const MAX_TEXT_BYTES: usize = 8_000_000;
/// Maximum packed size of a Word document or archive in bytes.
pub const MAX_PACKED_BYTES: usize = docs_ports::MAX_FILE_BYTES as usize;

/// Converts documents on the blocking threads of the runtime.
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
        run_blocking(move || convert(&document)).await
    }

    async fn unpack(&self, archive: Bytes) -> Result<UnpackedArchive, ConvertError> {
        run_blocking(move || unpack(&archive)).await
    }
}

/// Converts a document to a page.
///
/// # Errors
/// [`ConvertError`], with a message for users.
pub fn convert(document: &Document) -> Result<ConvertedPage, ConvertError> {
    let (limit, what) = match document.format {
        DocumentFormat::Html => (MAX_TEXT_BYTES, "an HTML page"),
        DocumentFormat::Markdown => (MAX_MARKDOWN_BYTES, "a Markdown file"),
        DocumentFormat::Docx => (MAX_PACKED_BYTES, "a Word document"),
    };
    check_size(document.bytes.len(), limit, what)?;
    let mut page = match document.format {
        DocumentFormat::Html => html::page(document),
        DocumentFormat::Markdown => markdown::page(document),
        DocumentFormat::Docx => docx::page(document),
    }?;
    if text::is_full(&page.markdown) {
        page.markdown.truncate(page.markdown.floor_char_boundary(MAX_CONVERTED_BYTES));
        page.markdown.shrink_to_fit();
    }
    Ok(page)
}

/// Unpacks a zip archive.
///
/// # Errors
/// [`ConvertError`], with a message for users.
pub fn unpack(archive: &[u8]) -> Result<UnpackedArchive, ConvertError> {
    check_size(archive.len(), MAX_PACKED_BYTES, "an archive")?;
    archive::unpack(archive)
}

fn check_size(has: usize, limit: usize, what: &str) -> Result<(), ConvertError> {
    if has <= limit {
        return Ok(());
    }
    Err(ConvertError::TooLarge(format!("{what} must have at most {limit} bytes, has {has}")))
}

/// Runs blocking work on a blocking thread.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ConvertError> + Send + 'static,
) -> Result<T, ConvertError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        // The task does not panic, but a runtime that shuts down cancels it.
        tracing::error!(%error, "failed to convert document");
        Err(ConvertError::Failed(error.to_string()))
    })
}
