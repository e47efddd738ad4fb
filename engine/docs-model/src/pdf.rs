//! PDF files.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a PDF file can be loaded for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PdfLink {
    /// The address. Whoever has it can load the file, without a token.
    pub url: String,
}
