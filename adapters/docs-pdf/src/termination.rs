//! Early termination: [`LayoutStop`], and the [`Clock`] that enforces the time limit.

use std::time::{Duration, Instant};

use docs_ports::PdfError;

/// The reason for early termination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum LayoutStop {
    /// The time limit was exceeded.
    Late,
    /// The book exceeds its limit of parts.
    TooManyParts,
    /// The book has more bytes of text than its limit.
    TooMuchText,
    /// The file exceeds its size limit. Contains the size in bytes.
    TooLarge(usize),
    /// A trial layout is higher than the available space. The caller then uses a different layout.
    Full,
    /// A library failed.
    Failed(String),
}

/// The result of an operation that may terminate early.
pub(crate) type LayoutResult<T = ()> = Result<T, LayoutStop>;

/// The remaining time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    until: Option<Instant>,
    time: Duration,
}

impl Clock {
    /// Starts a clock.
    pub(crate) fn new(time: Duration) -> Self {
        Self { until: Instant::now().checked_add(time), time }
    }

    /// Checks the time limit.
    ///
    /// # Errors
    /// [`LayoutStop::Late`]
    pub(crate) fn check(&self) -> LayoutResult {
        if self.is_late() { Err(LayoutStop::Late) } else { Ok(()) }
    }

    /// Returns `true` if the time limit was exceeded.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Returns the error for an exceeded time limit.
    pub(crate) fn late_error(time: Duration) -> PdfError {
        PdfError::TooSlow(format!("rendering the PDF exceeded its limit of {} seconds", time.as_secs_f32()))
    }

    /// Converts to an error of the port.
    pub(crate) fn error(&self, stop: LayoutStop, most: usize) -> PdfError {
        match stop {
            LayoutStop::Late => Self::late_error(self.time),
            LayoutStop::TooManyParts | LayoutStop::TooMuchText => {
                PdfError::TooLarge("the pages have too much content for one PDF".to_owned())
            }
            LayoutStop::TooLarge(bytes) => {
                PdfError::TooLarge(format!("the PDF must be at most {most} bytes, has {bytes}"))
            }
            LayoutStop::Full => {
                PdfError::Unprocessable("an element of the pages is higher than a sheet".to_owned())
            }
            LayoutStop::Failed(why) => PdfError::Unprocessable(why),
        }
    }
}
