//! A book to a file.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Instant,
};

use docs_core::ports::{Book, PdfError};
use typst::{diag::SourceDiagnostic, foundations::Smart};
use typst_layout::PagedDocument;
use typst_pdf::{PdfOptions, pdf};

use crate::{
    Limits,
    fonts::Fonts,
    images::pictures,
    lower::lower,
    world::{Desk, TimeIsOver},
};

/// The stack of a thread that sets type: layout is done by functions that call themselves.
pub(crate) const STACK: usize = 64 << 20;

/// Sets a book.
pub(crate) fn typeset(book: &Book, fonts: &Fonts, limits: &Limits) -> Result<Vec<u8>, PdfError> {
    let until = Instant::now() + limits.time;
    // The libraries that read pictures and fonts are many; a fault of theirs must not take the host down.
    let set = catch_unwind(AssertUnwindSafe(|| set(book, fonts, (limits, until))));
    // What is remembered of a book is of no use for the next.
    comemo::evict(0);
    match set {
        Ok(set) => set,
        Err(why) if why.is::<TimeIsOver>() => Err(late(limits)),
        Err(_) => Err(PdfError::Failed("the typesetter panicked".to_owned())),
    }
}

pub(crate) fn late(limits: &Limits) -> PdfError {
    PdfError::TooSlow(format!("this PDF takes longer than {} seconds", limits.time.as_secs_f32()))
}

fn set(book: &Book, fonts: &Fonts, (limits, until): (&Limits, Instant)) -> Result<Vec<u8>, PdfError> {
    let pages = book.pages.len();
    if pages > limits.pages {
        let most = limits.pages;
        return Err(PdfError::TooLarge(format!("a PDF has at most {most} pages of a space, not {pages}")));
    }
    let failed = |what: &str| PdfError::Failed(what.to_owned());
    let mut desk = Desk::new(fonts, until).ok_or_else(|| failed("the names of the files are none"))?;
    let pictures = pictures(&mut desk, book);
    let shown = lower(book, &pictures, limits)
        .map_err(|_| PdfError::TooLarge("these pages are too much for one PDF".to_owned()))?;
    desk.set_book(serde_json::to_vec(&shown).map_err(|e| PdfError::Failed(e.to_string()))?);
    drop(shown);
    let document = typst::compile::<PagedDocument>(&desk);
    // Writing the file is not interrupted, so it is not begun.
    if desk.is_late() {
        return Err(late(limits));
    }
    let document = document.output.map_err(|errors| PdfError::Failed(told(&errors)))?;
    let options = PdfOptions {
        ident: Smart::Auto,
        creator: Smart::Custom(None),
        timestamp: None,
        ..PdfOptions::default()
    };
    let file = pdf(&document, &options).map_err(|errors| PdfError::Failed(told(&errors)))?;
    if file.len() > limits.bytes {
        return Err(PdfError::TooLarge(format!(
            "a PDF has at most {} bytes, not {}",
            limits.bytes,
            file.len()
        )));
    }
    Ok(file)
}

fn told(errors: &[SourceDiagnostic]) -> String {
    let all: Vec<&str> = errors.iter().map(|error| error.message.as_str()).take(3).collect();
    all.join("; ")
}
