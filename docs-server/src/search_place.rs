//! Location of a server's search index.

use std::{convert::Infallible, fmt, path::PathBuf, str::FromStr};

/// The location of the search index. An index belongs to one process and is updated from the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SearchPlace {
    /// In memory, rebuilt from the store at each start.
    Memory,
    /// In a folder, and reused at the next start.
    Folder(PathBuf),
}

impl FromStr for SearchPlace {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(if text == "memory" { Self::Memory } else { Self::Folder(text.into()) })
    }
}

impl fmt::Display for SearchPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::Folder(folder) => folder.display().fmt(f),
        }
    }
}
