//! PDF files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a PDF file can be loaded for an hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PdfLink {
    /// The address. Whoever has it can load the file, without a token.
    pub url: String,
}
