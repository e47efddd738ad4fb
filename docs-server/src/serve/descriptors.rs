//! The process's limit of open files.

/// Number of descriptors reserved for the store, indexes, repositories and worker processes.
const RESERVED_DESCRIPTORS: u64 = 256;
/// Maximum limit to request. Programs that iterate over all possible descriptors become slow with a higher one.
const MAX_DESCRIPTORS: u64 = 1 << 20;
/// Assumed limit if the operating system does not report one.
const FALLBACK_DESCRIPTORS: u64 = 4_096;

/// Raises the limit of open files as far as possible, and returns the number of descriptors available for connections.
pub(super) fn raise_for_connections() -> usize {
    let limit = raise_limit().unwrap_or(FALLBACK_DESCRIPTORS);
    usize::try_from(limit - RESERVED_DESCRIPTORS.min(limit / 2)).unwrap_or(usize::MAX)
}

#[cfg(unix)]
fn raise_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(MAX_DESCRIPTORS).min(MAX_DESCRIPTORS);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Some(limit.current.unwrap_or(MAX_DESCRIPTORS));
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum }) {
        Ok(()) => Some(wanted),
        Err(error) => {
            tracing::warn!(%error, "failed to raise limit of open files");
            limit.current
        }
    }
}

#[cfg(not(unix))]
const fn raise() -> Option<u64> {
    None
}
