//! What the typesetter sees of the world: a template, a book, pictures and fonts. No disk, no network, no clock.

use std::{panic::resume_unwind, time::Instant};

use typst::{
    Library, LibraryExt as _, World,
    diag::{FileError, FileResult},
    foundations::{Bytes, Datetime, Duration},
    syntax::{FileId, RootedPath, Source, VirtualPath, VirtualRoot},
    text::{Font, FontBook},
    utils::LazyHash,
};

use crate::fonts::Fonts;

/// The template: the only code there is.
const TEMPLATE: &str = include_str!("book.typ");

/// One book and what belongs to it.
pub(crate) struct Desk<'a> {
    fonts: &'a Fonts,
    library: LazyHash<Library>,
    template: Source,
    book_id: FileId,
    book: Bytes,
    images: Vec<(FileId, Bytes)>,
    until: Instant,
}

/// What the work ends with when its time is over.
pub(crate) struct TimeIsOver;

impl<'a> Desk<'a> {
    /// A desk at which work ends at some time: who then asks for a font or a file is unwound with [`TimeIsOver`].
    ///
    /// The typesetter remembers what it was answered and takes it for granted that the same question has the same
    /// answer, so being late must not be an answer.
    pub(crate) fn new(fonts: &'a Fonts, until: Instant) -> Option<Self> {
        Some(Self {
            fonts,
            library: LazyHash::new(Library::builder().build()),
            template: Source::new(file_id("/book.typ")?, TEMPLATE.to_owned()),
            book_id: file_id("/book.json")?,
            book: Bytes::new([]),
            images: Vec::new(),
            until,
        })
    }

    /// Adds a picture; answers its path.
    pub(crate) fn add(&mut self, image: Bytes) -> Option<String> {
        // Names come from a small set, because the typesetter keeps every name for ever.
        let path = format!("/i/{}", self.images.len());
        self.images.push((file_id(&path)?, image));
        Some(path)
    }

    pub(crate) fn set_book(&mut self, book: Vec<u8>) {
        self.book = Bytes::new(book);
    }

    /// Tells whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Ends the work when its time is over. Nothing is told of it as of a panic that is a fault.
    fn check_time(&self) {
        if self.is_late() {
            resume_unwind(Box::new(TimeIsOver));
        }
    }
}

fn file_id(path: &str) -> Option<FileId> {
    Some(RootedPath::new(VirtualRoot::Project, VirtualPath::new(path).ok()?).intern())
}

fn missing(id: FileId) -> FileError {
    FileError::NotFound(id.get().vpath().get_without_slash().into())
}

impl World for Desk<'_> {
    fn library(&self) -> &LazyHash<Library> {
        &self.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &self.fonts.book
    }

    fn main(&self) -> FileId {
        self.template.id()
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        if id == self.template.id() { Ok(self.template.clone()) } else { Err(missing(id)) }
    }

    fn file(&self, id: FileId) -> FileResult<Bytes> {
        self.check_time();
        if id == self.book_id {
            return Ok(self.book.clone());
        }
        let image = self.images.iter().find(|(image, _)| *image == id);
        image.map(|(_, bytes)| bytes.clone()).ok_or_else(|| missing(id))
    }

    fn font(&self, index: usize) -> Option<Font> {
        self.check_time();
        self.fonts.fonts.get(index).cloned()
    }

    fn today(&self, _: Option<Duration>) -> Option<Datetime> {
        None
    }
}
