//! Errors of Git operations.

use std::{error::Error, fmt, sync::Arc};

/// The reason a repository could not be read or written. The messages are intended for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The URL is malformed or has a scheme that is not permitted.
    #[error("url: {0}")]
    Url(String),
    /// The URL points to a network address that this server must not connect to.
    #[error("url: {0}")]
    Refused(String),
    /// The host is unreachable or closed the connection. The error is transient.
    #[error("the repository is not reachable: {0}")]
    Unreachable(String),
    /// The host rejects the credentials.
    #[error("the repository rejected the credentials")]
    Credentials,
    /// There is no repository at the URL.
    #[error("the URL is not the URL of a repository")]
    NoRepository,
    /// The ref is not a full ref name.
    #[error("ref: {0}")]
    Ref(String),
    /// The repository does not have this ref.
    #[error("ref: the repository has no `{0}`")]
    NoRef(String),
    /// The commit does not have this file.
    #[error("the commit has no file `{0}`")]
    NoSuchFile(String),
    /// The repository or a file exceeds the size limit, or fetching or reading it exceeded the time limit.
    #[error("{0}")]
    TooLarge(String),
    /// The repository is damaged.
    #[error("failed to read the repository: {0}")]
    Broken(String),
    /// The ref was moved by another push. The error is transient: the caller can fetch again and create a new commit.
    #[error("ref: was changed by another push")]
    Moved,
    /// The host rejected the ref update, for example because of a protected branch or a hook. The message is that of
    /// the host, with at most [`MAX_REJECTION`](GitError::MAX_REJECTION) (2,000) characters and without control
    /// characters.
    #[error("the repository rejected the push: {0}")]
    Rejected(String),
    /// A pushed file has an invalid path.
    #[error("path: {0}")]
    Path(String),
    /// The files of a push could not be read.
    #[error("{0}")]
    Source(SourceError),
}

impl GitError {
    /// Maximum length in characters of the host's message for a rejected push.
    pub const MAX_REJECTION: usize = 2000;

    /// Returns `true` for a transient error. Retrying a push must start with a fetch.
    ///
    /// Returns `false` for [`Source`](GitError::Source), because only the code that provides the files can classify
    /// that error.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Moved)
    }

    /// Creates a rejection from the host's message. Lines are joined, control characters are removed, and the length is
    /// limited.
    #[must_use]
    pub fn rejected(text: &str) -> Self {
        let plain = without_escapes(text);
        let words: Vec<&str> = plain.split_whitespace().collect();
        if words.is_empty() {
            return Self::Rejected("no reason given".to_owned());
        }
        Self::Rejected(words.join(" ").chars().take(Self::MAX_REJECTION).collect())
    }
}

/// Removes terminal color sequences and replaces other control characters by spaces.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            // Skip the parameters and the final byte.
            while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
        } else {
            plain.push(if c.is_control() { ' ' } else { c });
        }
    }
    plain
}

/// An error that occurred while the caller provided the files for a push. It can be downcast to its original type.
///
/// Two values are equal if one is a clone of the other.
///
/// ```
/// use docs_ports::{GitError, SourceError};
///
/// let error = GitError::from(SourceError::new(std::io::Error::other("the disk is gone")));
/// let GitError::Source(reason) = error else { unreachable!() };
/// assert_eq!(reason.downcast_ref::<std::io::Error>().map(|it| it.to_string()).as_deref(), Some("the disk is gone"));
/// ```
#[derive(Clone)]
pub struct SourceError(Arc<dyn Error + Send + Sync>);

impl SourceError {
    /// Wraps an error.
    #[must_use]
    pub fn new(reason: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(reason))
    }

    /// Returns the error if it is of type `E`.
    #[must_use]
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl PartialEq for SourceError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SourceError {}

impl fmt::Debug for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for SourceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl From<SourceError> for GitError {
    fn from(reason: SourceError) -> Self {
        Self::Source(reason)
    }
}
