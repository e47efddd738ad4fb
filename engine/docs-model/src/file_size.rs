//! How large a file may be.

/// Most bytes of a file, wherever it is from: the web, a repository or an archive. An archive or a Word document,
/// packed as it comes, is one file.
pub const MAX_FILE_BYTES: u64 = 100_000_000;
