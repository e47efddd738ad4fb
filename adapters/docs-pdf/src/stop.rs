//! Why work ends early: [`Stop`], and the [`Clock`] that ends it.

use std::time::{Duration, Instant};

use docs_ports::PdfError;

/// Why work ends before it is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The time is over.
    Late,
    /// The book has more parts than its limit.
    TooMuch,
    /// The file has more bytes than its limit.
    TooLarge(usize),
    /// What is laid out on trial is higher than the room that it was given. Who gave the room does otherwise.
    Full,
    /// A library failed.
    Failed(String),
}

/// What may end early.
pub(crate) type Done<T = ()> = Result<T, Stop>;

/// The time that is left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    until: Option<Instant>,
    time: Duration,
}

impl Clock {
    /// A clock that begins now.
    pub(crate) fn new(time: Duration) -> Self {
        Self { until: Instant::now().checked_add(time), time }
    }

    /// Ends the work when its time is over.
    ///
    /// # Errors
    /// [`Stop::Late`]
    pub(crate) fn check(&self) -> Done {
        if self.is_late() { Err(Stop::Late) } else { Ok(()) }
    }

    /// Tells whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// What the user is told.
    pub(crate) fn late(time: Duration) -> PdfError {
        PdfError::TooSlow(format!("this PDF takes longer than {} seconds", time.as_secs_f32()))
    }

    /// The error that work ends with.
    pub(crate) fn error(&self, stop: Stop, most: usize) -> PdfError {
        match stop {
            Stop::Late => Self::late(self.time),
            Stop::TooMuch => PdfError::TooLarge("these pages are too much for one PDF".to_owned()),
            Stop::TooLarge(bytes) => {
                PdfError::TooLarge(format!("a PDF has at most {most} bytes, not {bytes}"))
            }
            Stop::Full => {
                PdfError::Unprocessable("something on these pages is higher than a sheet".to_owned())
            }
            Stop::Failed(why) => PdfError::Unprocessable(why),
        }
    }
}
