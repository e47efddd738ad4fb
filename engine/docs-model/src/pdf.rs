//! PDF files.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link to download a PDF file, valid for a limited time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PdfLink {
    /// The download address. It needs no token: anyone who has the address can download the file.
    pub url: String,
}
