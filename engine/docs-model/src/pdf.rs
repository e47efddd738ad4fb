//! PDF files.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A link to download a PDF file. It expires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PdfLink {
    /// The download URL. It requires no token: anyone who has the URL can download the file.
    pub url: String,
}
