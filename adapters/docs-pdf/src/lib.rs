//! Sets pages of the documentation platform as PDF files.
//!
//! A book is brought page after page into a tree of plain data (`lower`), which is laid out on sheets (`layout`,
//! `pages`) as a compact list of what is drawn (`sheet`); when all sheets are known they are written (`write`). Shaping
//! of text, formulas, pictures, drawings and the file itself are the work of libraries. What users wrote is never code;
//! pictures are looked at before they are used; nothing is read from a disk or fetched from anywhere. The same book
//! gives the same bytes.
//!
//! ```no_run
//! # async fn example(book: std::sync::Arc<docs_ports::Book>) -> Result<(), docs_ports::PdfError> {
//! use docs_ports::Pdf as _;
//! let pdf = docs_pdf::Typesetter::default().render(book).await?;
//! assert!(pdf.starts_with(b"%PDF"));
//! # Ok(())
//! # }
//! ```

mod fonts;
mod formula;
mod layout;
mod look;
mod lower;
mod pages;
mod pictures;
mod sheet;
mod shown;
mod stop;
mod tags;
mod text;
mod typeset;
mod write;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use docs_ports::{Book, Pdf, PdfError};
use tokio::sync::Semaphore;

pub use fonts::{Fonts, NoFont};

/// How much longer than its time somebody waits for a book.
const GRACE: Duration = Duration::from_secs(2);

/// How much of a book is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most pages of the space.
    pub pages: usize,
    /// Most parts: texts, blocks, cells, lines of code.
    pub parts: usize,
    /// Most bytes of the file.
    pub bytes: usize,
    /// Most time.
    pub time: Duration,
    /// Most books at once; others wait.
    pub at_once: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pages: 5_000, parts: 1_000_000, bytes: 256 << 20, time: Duration::from_secs(60), at_once: 2 }
    }
}

/// Sets books as PDF files. Cheap to clone; all clones share the limit of books at once.
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
    /// A typesetter with fonts and limits of the host's choice.
    #[must_use]
    pub fn new(fonts: Fonts, limits: Limits) -> Self {
        let places = Arc::new(Semaphore::new(limits.at_once.clamp(1, Semaphore::MAX_PERMITS)));
        Self { fonts: Arc::new(fonts), limits: Arc::new(limits), places }
    }

    /// Sets a book on this thread: a pure function that takes seconds. Pictures that are not loaded are shown by
    /// their alternative text.
    ///
    /// # Errors
    /// As [`Pdf::render`].
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
        // The place goes along: it is free when the work is done, not when nobody waits for it any more.
        let work = move || {
            let _place = place;
            let set = this.set(&book);
            // Nobody may wait any more.
            let _ = done.send(set);
        };
        std::thread::Builder::new()
            .name("typesetter".to_owned())
            .stack_size(typeset::STACK)
            .spawn(work)
            .map_err(|e| failed(&e))?;
        // The work ends by itself soon after its time; who waits need not wait for that.
        match tokio::time::timeout(self.limits.time.saturating_add(GRACE), set).await {
            Ok(set) => set.map_err(|_| failed(&"the typesetter stopped"))?.map(Bytes::from),
            Err(_) => Err(stop::Clock::late(self.limits.time)),
        }
    }
}
