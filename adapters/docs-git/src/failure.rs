//! Errors of repositories on disk and over HTTP.

use docs_ports::GitError;

pub(crate) fn git_failure(error: &git2::Error) -> GitError {
    GitError::Broken(error.message().to_owned())
}

/// Returns the error for a full or locked disk, which may be temporary.
pub(crate) fn no_room(reason: &str) -> GitError {
    tracing::error!(reason, "failed to write repository");
    GitError::Unreachable("this server has no disk space for the repository".to_owned())
}

/// Returns the error for a host that sends nothing.
pub(crate) fn idle_error() -> GitError {
    GitError::Unreachable(docs_web::NO_RESPONSE.to_owned())
}

pub(crate) fn unreachable_error(error: &reqwest::Error) -> GitError {
    GitError::Unreachable(docs_web::reason(error))
}
