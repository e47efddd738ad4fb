//! Typesetter for PDF files of documentation pages.
//!
//! Each page of a book is converted to a tree of plain data (`lower`). The tree is laid out on sheets, which are the
//! pages of the PDF file (`layout`, `pages`), as a compact list of drawing operations (`sheet`). When all sheets are
//! known, they are written (`write`). Libraries shape text, lay out formulas, decode images and drawings, and write the
//! file. User content is never interpreted as code, images are checked before use, and neither the disk nor the network
//! is accessed. The output is deterministic: the same book produces the same bytes.
//!
//! ```no_run
//! # async fn example(book: std::sync::Arc<docs_ports::Book>) -> Result<(), docs_ports::PdfError> {
//! use docs_ports::Pdf as _;
//! let pdf = docs_pdf::Typesetter::default().render(book).await?;
//! assert!(pdf.starts_with(b"%PDF"));
//! # Ok(())
//! # }
//! ```

mod appearance;
mod fonts;
mod formula;
mod layout;
mod layout_tree;
mod limits;
mod lower;
mod pages;
mod pictures;
mod sheet;
mod tags;
mod termination;
mod text;
mod typeset;
mod write;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use docs_ports::{Book, Pdf, PdfError};
use tokio::sync::Semaphore;

pub use fonts::{Fonts, NoFont};
pub use limits::Limits;

/// Time that a caller waits in addition to the time limit of a book.
const TIMEOUT_GRACE: Duration = Duration::from_secs(2);

/// Typesets books as PDF files. Clones are cheap and share the limit on concurrent books.
#[derive(Clone, Debug)]
pub struct Typesetter {
    fonts: Arc<Fonts>,
    limits: Arc<Limits>,
    places: Arc<Semaphore>,
}

impl Default for Typesetter {
    fn default() -> Self {
        Self::new(Fonts::default(), Limits::default())
    }
}

impl Typesetter {
    /// Creates a typesetter with fonts and limits.
    #[must_use]
    pub fn new(fonts: Fonts, limits: Limits) -> Self {
        let places = Arc::new(Semaphore::new(limits.at_once.clamp(1, Semaphore::MAX_PERMITS)));
        Self { fonts: Arc::new(fonts), limits: Arc::new(limits), places }
    }

    /// Typesets a book on the current thread, which may take seconds. Images that are not loaded are replaced by their
    /// alternative text.
    ///
    /// # Errors
    /// The errors of [`Pdf::render`].
    pub fn set(&self, book: &Book) -> Result<Vec<u8>, PdfError> {
        typeset::typeset(book, &self.fonts, &self.limits)
    }
}

#[async_trait]
impl Pdf for Typesetter {
    async fn render(&self, book: Arc<Book>) -> Result<Bytes, PdfError> {
        let failed = |why: &dyn std::fmt::Display| PdfError::Failed(why.to_string());
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|e| failed(&e))?;
        let book = book.with_images_loaded().await?;
        let this = self.clone();
        let (done, set) = tokio::sync::oneshot::channel();
        // Hold the permit until the work is done, even if the caller stops waiting earlier.
        let work = move || {
            let _place = place;
            let set = this.set(&book);
            // Sending fails if the caller no longer waits.
            let _ = done.send(set);
        };
        std::thread::Builder::new()
            .name("typesetter".to_owned())
            .stack_size(typeset::STACK)
            .spawn(work)
            .map_err(|e| failed(&e))?;
        // The thread stops soon after its time limit. The caller need not wait for that.
        match tokio::time::timeout(self.limits.time.saturating_add(TIMEOUT_GRACE), set).await {
            Ok(set) => set.map_err(|_| failed(&"the typesetter thread ended early"))?.map(Bytes::from),
            Err(_) => Err(termination::Clock::late_error(self.limits.time)),
        }
    }
}
