//! The size limit of files.

/// Maximum size of a file in bytes, whether it comes from the web, a repository or an archive. An archive or a Word
/// document counts as one file, with its compressed size.
pub const MAX_FILE_BYTES: u64 = 100_000_000;
