//! Conversion of a book to a PDF file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use docs_ports::{Book, PdfError};

use crate::{
    Limits,
    fonts::Fonts,
    layout::{Front, Setter, number_sheets},
    lower::{BookLowering, language},
    pictures::Pictures,
    termination::{Clock, LayoutResult, LayoutStop},
    text::one_line,
    write::{PdfMetadata, SheetResources, write},
};

/// Stack size of a typesetting thread, because nested blocks are laid out recursively.
pub(crate) const STACK: usize = 64 << 20;

pub(crate) fn typeset(book: &Book, fonts: &Fonts, limits: &Limits) -> Result<Vec<u8>, PdfError> {
    let pages = book.pages.len();
    if pages > limits.pages {
        let most = limits.pages;
        return Err(PdfError::TooLarge(format!(
            "a PDF must have at most {most} pages of a space, has {pages}"
        )));
    }
    let clock = Clock::new(limits.time);
    // Many libraries read fonts and images. A panic in one of them must not crash the embedding application.
    match catch_unwind(AssertUnwindSafe(|| set(book, fonts, limits, clock))) {
        Ok(set) => set.map_err(|stop| clock.error(stop, limits.bytes)),
        Err(_) => {
            Err(PdfError::Unprocessable("the pages cannot be laid out: the typesetter panicked".to_owned()))
        }
    }
}

fn set(book: &Book, fonts: &Fonts, limits: &Limits, clock: Clock) -> LayoutResult<Vec<u8>> {
    clock.check()?;
    let pictures = Pictures::read(book, fonts, &clock, limits.bytes)?;
    let mut lower = BookLowering::new(book, &pictures.known, limits);
    let mut setter = Setter::new(fonts, clock, book.pages.len());
    let mut at = 0;
    while let Some(page) = lower.page(at)? {
        setter.page(&page)?;
        at += 1;
    }
    let body = setter.take_sheets();
    let title = one_line(&book.title);
    let subtitle = book.subtitle.as_deref().map(one_line);
    let body = if book.pages.is_empty() { Vec::new() } else { body };
    let front = Front { title: &title, subtitle: subtitle.as_deref() };
    let mut sheets = front.lay(&mut setter, &body)?;
    sheets.extend(body);
    number_sheets(&mut setter, &mut sheets, &title)?;
    let about = PdfMetadata { title, language: language(book) };
    let Setter { faces, targets, tags, .. } = setter;
    let sources = SheetResources { faces: &faces, targets: &targets, shapes: pictures.shapes };
    let file = write(sheets, &about, sources, tags, &clock)?;
    clock.check()?;
    if file.len() > limits.bytes { Err(LayoutStop::TooLarge(file.len())) } else { Ok(file) }
}
