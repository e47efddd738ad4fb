//! Messages between the server and a worker process.
//!
//! The server sends [`Bounds`] and the process responds with [`Ready`]. The server then sends a [`Job`], followed by
//! its documents and files in order. The process responds with a [`JobAnswer`], followed by its files. Both sides must
//! have the same protocol version.

use std::{collections::BTreeMap, sync::Arc};

use docs_model::{ContentRef, Document, PageId, ReusableId, SpaceId};
use docs_ports::{
    self as ports, Book, BookLink, BookPage, ConvertedPage, DocumentFormat, EmbeddedFile, FoundFile,
};
use serde::{Deserialize, Serialize};

use crate::{
    refusal::AdapterRefusal,
    spec::{SpecLocations, SpecReading},
};

/// Protocol version. Increment it when frames change.
pub(crate) const PROTOCOL: u32 = 3;

/// Limits that a process sets on itself before it reads its job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Bounds {
    pub(crate) protocol: u32,
    pub(crate) memory: u64,
    pub(crate) cpu_seconds: u64,
}

/// Confirmation that the limits are set.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) protocol: u32,
}

/// A job for a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Job {
    /// Render a book as PDF. The documents of its pages, the documents of its reusable content, and its images follow.
    Render(BookOutline),
    /// Convert a document to a page. Its bytes follow.
    Convert(DocumentOutline),
    /// Unpack an archive. Its bytes follow.
    Unpack,
    /// Parse a specification. The bytes of its files follow.
    ReadSpec(SpecLocations),
}

/// A book without documents and images.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BookOutline {
    title: String,
    subtitle: Option<String>,
    language: Option<String>,
    space: Option<SpaceId>,
    pub(crate) pages: Vec<PageOutline>,
    links: Vec<LinkOutline>,
    pub(crate) reusables: Vec<ReusableId>,
    pub(crate) images: Vec<ContentRef>,
}

/// A page without its document.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PageOutline {
    id: PageId,
    title: String,
    description: Option<String>,
    depth: usize,
    pub(crate) has_document: bool,
}

/// A resolved reference.
#[derive(Debug, Serialize, Deserialize)]
struct LinkOutline {
    target: ContentRef,
    title: Option<String>,
    url: Option<String>,
}

impl BookOutline {
    pub(crate) fn new(book: &Book) -> Self {
        let pages = book.pages.iter().map(|page| PageOutline {
            id: page.id.clone(),
            title: page.title.clone(),
            description: page.description.clone(),
            depth: page.depth,
            has_document: page.document.is_some(),
        });
        let links = book.links.iter().map(|(target, link)| LinkOutline {
            target: target.clone(),
            title: link.title.clone(),
            url: link.url.clone(),
        });
        Self {
            title: book.title.clone(),
            subtitle: book.subtitle.clone(),
            language: book.language.clone(),
            space: book.space.clone(),
            pages: pages.collect(),
            links: links.collect(),
            reusables: book.reusables.keys().cloned().collect(),
            images: book.images.keys().cloned().collect(),
        }
    }

    /// Assembles the book. `read` provides each document.
    ///
    /// # Errors
    /// The errors of `read`.
    pub(crate) fn into_book<E>(self, mut read: impl FnMut() -> Result<Document, E>) -> Result<Book, E> {
        let mut pages = Vec::with_capacity(self.pages.len());
        for page in self.pages {
            let document = if page.has_document { Some(Arc::new(read()?)) } else { None };
            pages.push(BookPage {
                id: page.id,
                title: page.title,
                description: page.description,
                depth: page.depth,
                document,
            });
        }
        let mut reusables = BTreeMap::new();
        for id in self.reusables {
            reusables.insert(id, Arc::new(read()?));
        }
        let links = self.links.into_iter();
        let links = links.map(|link| (link.target, BookLink { title: link.title, url: link.url })).collect();
        Ok(Book {
            title: self.title,
            subtitle: self.subtitle,
            language: self.language,
            space: self.space,
            pages,
            images: BTreeMap::new(),
            links,
            reusables,
        })
    }
}

/// A document to convert, without its bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DocumentOutline {
    format: Format,
    charset: Option<String>,
    name: String,
    url: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Format {
    Html,
    Markdown,
    Docx,
}

impl DocumentOutline {
    pub(crate) fn new(document: &ports::Document) -> Self {
        let format = match document.format {
            DocumentFormat::Html => Format::Html,
            DocumentFormat::Markdown => Format::Markdown,
            DocumentFormat::Docx => Format::Docx,
        };
        Self {
            format,
            charset: document.charset.clone(),
            name: document.name.clone(),
            url: document.url.clone(),
        }
    }

    pub(crate) fn into_document(self, bytes: bytes::Bytes) -> ports::Document {
        let format = match self.format {
            Format::Html => DocumentFormat::Html,
            Format::Markdown => DocumentFormat::Markdown,
            Format::Docx => DocumentFormat::Docx,
        };
        ports::Document { format, bytes, charset: self.charset, name: self.name, url: self.url }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum JobAnswer {
    /// A PDF file. Its bytes follow.
    Rendered,
    /// A page. The bytes of its files follow.
    Converted(PageHeader),
    /// An unpacked archive. The bytes of its files follow.
    Unpacked(ArchiveHeader),
    /// A parsed specification. The JSON of its files follows.
    SpecRead(Box<SpecReading>),
    /// The adapter returned an error.
    Refused(AdapterRefusal),
}

/// An unpacked archive without the bytes of its files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ArchiveHeader {
    /// The paths of the files.
    pub(crate) paths: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// A converted page without the bytes of its files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PageHeader {
    title: String,
    markdown: String,
    links: Vec<String>,
    /// Image URLs, each with a file name.
    images: Vec<(String, String)>,
    /// File destinations, each with a file name.
    pub(crate) files: Vec<(String, String)>,
    warnings: Vec<String>,
}

impl PageHeader {
    /// Splits a page into its wire format and the bytes of its files.
    pub(crate) fn split(page: ConvertedPage) -> (Self, Vec<bytes::Bytes>) {
        let (files, bytes) =
            page.files.into_iter().map(|file| ((file.destination, file.name), file.bytes)).unzip();
        let images = page.images.into_iter().map(|image| (image.url, image.name)).collect();
        let header = Self {
            title: page.title,
            markdown: page.markdown,
            links: page.links,
            images,
            files,
            warnings: page.warnings,
        };
        (header, bytes)
    }

    /// Reassembles the page from the bytes of its files, in order.
    pub(crate) fn with_files(self, bytes: Vec<bytes::Bytes>) -> ConvertedPage {
        let files = self.files.into_iter().zip(bytes);
        ConvertedPage {
            title: self.title,
            markdown: self.markdown,
            links: self.links,
            images: self.images.into_iter().map(|(url, name)| FoundFile { url, name }).collect(),
            files: files
                .map(|((destination, name), bytes)| EmbeddedFile { destination, name, bytes })
                .collect(),
            warnings: self.warnings,
        }
    }
}
