//! The formats of repositories.

use serde::{Deserialize, Serialize};

/// The format of a repository, which determines how its table of contents and its pages are interpreted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookFormat {
    /// Configured by `.gitbook.yaml`, or not at all.
    #[default]
    Native,
    MdBook,
    HonKit,
}
