//! The error of an adapter, as sent by a worker process.

use docs_ports::{ConvertError, PdfError, SpecError};
use serde::{Deserialize, Serialize};

/// An error returned by an adapter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct AdapterRefusal {
    pub(crate) kind: RefusalKind,
    pub(crate) text: String,
}

/// The kind of a refusal, common to all ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum RefusalKind {
    TooLarge,
    TooSlow,
    /// The input is invalid, or a sink stopped the job.
    Unreadable,
    Failed,
}

impl AdapterRefusal {
    pub(crate) fn failed(text: impl ToString) -> Self {
        Self { kind: RefusalKind::Failed, text: text.to_string() }
    }

    pub(crate) fn into_pdf_error(self) -> PdfError {
        match self.kind {
            RefusalKind::TooLarge => PdfError::TooLarge(self.text),
            RefusalKind::TooSlow => PdfError::TooSlow(self.text),
            RefusalKind::Unreadable => PdfError::Unprocessable(self.text),
            RefusalKind::Failed => PdfError::Failed(self.text),
        }
    }

    pub(crate) fn into_convert_error(self) -> ConvertError {
        match self.kind {
            RefusalKind::TooLarge | RefusalKind::TooSlow => ConvertError::TooLarge(self.text),
            RefusalKind::Unreadable => ConvertError::Unreadable(self.text),
            RefusalKind::Failed => ConvertError::Failed(self.text),
        }
    }
}

impl From<PdfError> for AdapterRefusal {
    fn from(error: PdfError) -> Self {
        match error {
            PdfError::TooLarge(text) => Self { kind: RefusalKind::TooLarge, text },
            PdfError::TooSlow(text) => Self { kind: RefusalKind::TooSlow, text },
            PdfError::Unprocessable(text) => Self { kind: RefusalKind::Unreadable, text },
            PdfError::Failed(text) => Self::failed(text),
            error => Self::failed(error),
        }
    }
}

impl From<ConvertError> for AdapterRefusal {
    fn from(error: ConvertError) -> Self {
        match error {
            ConvertError::TooLarge(text) => Self { kind: RefusalKind::TooLarge, text },
            ConvertError::Unreadable(text) => Self { kind: RefusalKind::Unreadable, text },
            ConvertError::Failed(text) => Self::failed(text),
            error => Self::failed(error),
        }
    }
}

impl AdapterRefusal {
    pub(crate) fn into_spec_error(self) -> SpecError {
        match self.kind {
            RefusalKind::TooLarge | RefusalKind::TooSlow | RefusalKind::Unreadable => {
                SpecError::TooLarge(self.text)
            }
            RefusalKind::Failed => SpecError::Failed(self.text),
        }
    }
}

impl From<SpecError> for AdapterRefusal {
    fn from(error: SpecError) -> Self {
        match error {
            SpecError::TooLarge(text) => Self { kind: RefusalKind::TooLarge, text },
            SpecError::Failed(text) => Self::failed(text),
            error => Self::failed(error),
        }
    }
}
