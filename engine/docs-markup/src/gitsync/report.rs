//! Errors and warnings of imports and exports.

use std::fmt;

use super::{PathError, RepoPath};

/// Maximum number of warnings per import. The last warning contains the number of omitted ones.
pub const MAX_WARNINGS: usize = 200;

/// The error for a repository that cannot be imported, or content that cannot be exported. The message names the file,
/// and the key or the limit.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A file is not YAML.
    #[error("{file}: {problem}")]
    Yaml {
        file: RepoPath,
        /// The error with its position.
        problem: String,
    },
    #[error("{file}: `{key}` must be {expected}")]
    Type {
        file: RepoPath,
        /// The key, with dots between its segments.
        key: String,
        /// The expected type.
        expected: &'static str,
    },
    /// A path in a YAML file is outside the repository.
    #[error("{file}: the path `{key}` {problem}")]
    Path {
        file: RepoPath,
        /// The key, with dots between its segments.
        key: String,
        problem: PathError,
    },
    /// A required symbolic link points outside the repository.
    #[error("{link}: the symbolic link must stay within the repository")]
    LinkLeaves { link: RepoPath },
    /// A required symbolic link is circular.
    #[error("{link}: the symbolic link is circular")]
    LinkLoops { link: RepoPath },
    /// A file is larger than the limit.
    #[error("{file}: {}", too_large(*size, *limit))]
    FileTooLarge {
        file: RepoPath,
        /// The size in bytes.
        size: u64,
        /// The maximum size in bytes.
        limit: u64,
    },
    /// A file of the space must not be written into a repository.
    #[error("{file}: {problem}")]
    Unsafe {
        /// The path of the file in the repository.
        file: RepoPath,
        /// The reason and the remedy.
        problem: &'static str,
    },
    /// The number of groups, pages and links exceeds the limit.
    #[error("{}: must have at most {limit} groups, pages and links", folder_name(file))]
    TooManyItems {
        /// The table of contents, or the scanned folder if there is none.
        file: RepoPath,
        limit: usize,
    },
    /// The number of pages exceeds the limit.
    #[error("the repository must have at most {limit} Markdown pages, has {count}")]
    TooManyPages {
        /// The number of pages found.
        count: usize,
        limit: usize,
    },
    /// There is nothing to import. An import replaces the content of the space, so it would delete all content.
    #[error("{}: must contain a Markdown file", folder_name(folder))]
    NoPages {
        /// The scanned folder.
        folder: RepoPath,
    },
}

/// A part of a repository that was omitted, or interpreted differently than its author may expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    pub file: RepoPath,
    /// The line in the file, counted from 1.
    pub line: Option<usize>,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None if self.file.is_root() => f.write_str(&self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// Collects warnings up to [`MAX_WARNINGS`] (200).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Warnings {
    kept: Vec<Warning>,
    more: usize,
}

impl Warnings {
    pub(super) fn push(&mut self, file: &RepoPath, line: Option<usize>, message: impl Into<String>) {
        if self.kept.len() < MAX_WARNINGS - 1 {
            self.kept.push(Warning { file: file.clone(), line, message: message.into() });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn append(&mut self, warnings: impl IntoIterator<Item = Warning>) {
        for warning in warnings {
            self.push(&warning.file, warning.line, warning.message);
        }
    }

    pub(super) fn finish(self) -> Vec<Warning> {
        let mut kept = self.kept;
        if self.more > 0 {
            let message = format!("{} more warnings", self.more);
            kept.push(Warning { file: RepoPath::default(), line: None, message });
        }
        kept
    }
}

const MIB: u64 = 1 << 20;

/// Formats the size of a file and its limit, in the unit of the limit.
fn too_large(size: u64, limit: u64) -> String {
    let (unit, name) = if limit.is_multiple_of(MIB) { (MIB, "MiB") } else { (1_000_000, "MB") };
    let (limit, size) = (limit / unit, size.div_ceil(unit));
    format!("must be at most {limit} {name}, has {size} {name}")
}

/// Checks the size of `text` before it is processed.
pub(super) fn check_size(file: &RepoPath, text: &str, limit: u64) -> Result<(), FormatError> {
    let size = text.len() as u64;
    if size > limit {
        return Err(FormatError::FileTooLarge { file: file.clone(), size, limit });
    }
    Ok(())
}

fn folder_name(folder: &RepoPath) -> &str {
    if folder.is_root() { "the repository" } else { folder.as_str() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_warnings_is_limited() {
        let mut warnings = Warnings::default();
        for line in 0..1_000 {
            warnings.push(&RepoPath::new("SUMMARY.md").unwrap(), Some(line), "odd");
        }
        let kept = warnings.finish();
        assert_eq!(kept.len(), MAX_WARNINGS);
        assert_eq!(kept[1].to_string(), "SUMMARY.md:1: odd");
        assert_eq!(kept[MAX_WARNINGS - 1].to_string(), "801 more warnings");
    }

    #[test]
    fn format_errors_have_readable_messages() {
        let file = RepoPath::new("docs/film.mp4").unwrap();
        assert_eq!(
            FormatError::FileTooLarge { file, size: 100_000_001, limit: 100_000_000 }.to_string(),
            "docs/film.mp4: must be at most 100 MB, has 101 MB"
        );
        let file = RepoPath::new("SUMMARY.md").unwrap();
        assert_eq!(
            FormatError::FileTooLarge { file: file.clone(), size: (4 << 20) + 1, limit: 4 << 20 }.to_string(),
            "SUMMARY.md: must be at most 4 MiB, has 5 MiB"
        );
        assert_eq!(
            FormatError::TooManyItems { file, limit: 20_000 }.to_string(),
            "SUMMARY.md: must have at most 20000 groups, pages and links"
        );
        assert_eq!(
            FormatError::NoPages { folder: RepoPath::default() }.to_string(),
            "the repository: must contain a Markdown file"
        );
    }
}
