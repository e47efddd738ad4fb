//! The size limit of files.

/// Maximum size of a file in bytes, whether from the web, a repository or an archive. An archive or a Word document
/// counts as one file, at its compressed size.
pub const MAX_FILE_BYTES: u64 = 100_000_000;
