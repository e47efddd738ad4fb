//! Remote Git repositories: [`GitRemote`].

mod push;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};

pub use self::push::{
    MAX_PUSH_PATH, PushFile, PushFiles, PushRequest, Signature, SourceError, blob_id, check_push_path,
};

/// A request to fetch a ref.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// The https or http URL of the repository, or a file URL if the adapter permits it. May contain credentials.
    pub url: String,
    /// The full ref name such as `refs/heads/main`, or `HEAD` for the default branch.
    pub reference: String,
    /// The cache key of a clone that later fetches reuse.
    pub cache_id: Option<String>,
}

/// A commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The object id: 40 hexadecimal digits.
    pub oid: String,
    /// The commit message.
    pub message: String,
    /// The committer date.
    pub committed_at: DateTime<Utc>,
}

/// The kind of a tree entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoEntryKind {
    /// A regular file.
    File,
    /// A symbolic link with its target, unresolved.
    Symlink(String),
    /// A submodule.
    Submodule,
}

/// An entry of a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoEntry {
    /// The path from the repository root, with `/` separators.
    pub path: String,
    /// The object id of the content.
    pub oid: String,
    /// The size in bytes.
    pub size: u64,
    /// The kind of entry.
    pub kind: RepoEntryKind,
}

/// The files of a commit.
#[async_trait]
pub trait Checkout: Send + Sync {
    fn commit(&self) -> &Commit;

    /// All entries except directories, ordered by path.
    fn entries(&self) -> &[RepoEntry];

    /// Reads a file by its path.
    ///
    /// # Errors
    /// [`GitError::NoSuchFile`] when it does not exist; [`GitError::Broken`] when the repository is damaged.
    async fn read(&self, path: &str) -> Result<Bytes, GitError>;
}

/// The access to a ref.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitAccess {
    /// Read, by [`GitRemote::fetch`].
    Fetch,
    /// Update, by [`GitRemote::push`].
    Push,
}

/// A client for remote Git repositories.
///
/// An adapter enforces the permitted URL schemes and addresses, which are part of its configuration.
#[async_trait]
pub trait GitRemote: Send + Sync + 'static {
    /// Validates the arguments of [`fetch`](GitRemote::fetch) or [`push`](GitRemote::push) without connecting: the URL,
    /// its scheme and address, and the full ref name.
    ///
    /// # Errors
    /// [`GitError::Url`], [`GitError::Refused`], [`GitError::Ref`].
    fn check(&self, _url: &str, _reference: &str, _access: GitAccess) -> Result<(), GitError> {
        Ok(())
    }

    /// Fetches the tree of a ref. A repository without commits has no refs, including `HEAD`.
    ///
    /// # Errors
    /// Any [`GitError`] except those of a push. Messages never contain the credentials of the URL.
    ///
    /// # Cancel safety
    /// Dropping the future leaves no side effects except a cache.
    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError>;

    /// Returns the commit that a ref points to, without its files; `None` if the ref does not exist. The default
    /// implementation fetches, incrementally if the request has a cache key. An adapter should override it if it can
    /// query refs at lower cost.
    ///
    /// # Errors
    /// See [`fetch`](GitRemote::fetch).
    async fn resolve(&self, request: &FetchRequest) -> Result<Option<String>, GitError> {
        match self.fetch(request).await {
            Ok(checkout) => Ok(Some(checkout.commit().oid.clone())),
            Err(GitError::NoRef(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Creates a commit with these files and moves a ref to it, atomically. Returns the commit as a fetch would return
    /// it.
    ///
    /// A push that fails with [`GitError::Unreachable`] may have succeeded if only the response was lost. A later fetch
    /// finds its commit.
    ///
    /// # Errors
    /// [`GitError::Moved`] when the ref does not point to the expected commit; [`GitError::Rejected`] when the host
    /// rejects the push; [`GitError::Path`] for an invalid file path; [`GitError::Source`] when reading the files
    /// fails; and the errors of a fetch. Messages never contain the credentials of the URL.
    ///
    /// # Cancel safety
    /// If the future is dropped, the push happened as a whole or not at all.
    async fn push(&self, request: &PushRequest, files: &mut dyn PushFiles) -> Result<Commit, GitError>;
}

/// The reason that a repository could not be read or written. The messages are for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The URL is malformed or has a scheme that is not permitted.
    #[error("url: {0}")]
    Url(String),
    /// The URL points to an address that this server must not connect to.
    #[error("url: {0}")]
    Refused(String),
    /// The host is unreachable or closed the connection: transient.
    #[error("the repository could not be reached: {0}")]
    Unreachable(String),
    /// The host rejects the credentials.
    #[error("the repository refused the credentials")]
    Credentials,
    /// The URL is not that of a repository.
    #[error("there is no repository at this URL")]
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
    /// The repository or a file exceeds a size limit.
    #[error("{0}")]
    TooLarge(String),
    /// The repository is damaged.
    #[error("the repository cannot be read: {0}")]
    Broken(String),
    /// The ref has moved. Transient if the caller fetches again and creates a new commit.
    #[error("ref: somebody else has changed it meanwhile")]
    Moved,
    /// The host rejects the ref update, for example because of a protected branch or a hook. The message is the host's,
    /// at most [`MAX_REJECTION`](GitError::MAX_REJECTION) characters without control characters.
    #[error("the repository refused the push: {0}")]
    Rejected(String),
    /// A pushed file has an invalid path.
    #[error("path: {0}")]
    Path(String),
    /// The files of a push could not be read.
    #[error("{0}")]
    Source(SourceError),
}

impl GitError {
    /// Maximum length of the host's message for a rejected push, in characters.
    pub const MAX_REJECTION: usize = 2000;

    /// Returns `true` for a transient error. After a push, the retry must start with a fetch.
    ///
    /// For [`Source`](GitError::Source) it returns `false`: only the code that provides the files can classify that
    /// error.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Moved)
    }

    /// Creates a rejection from the host's message: lines are joined, control characters are removed, and the length is
    /// limited.
    #[must_use]
    pub fn rejected(text: &str) -> Self {
        let plain = without_escapes(text);
        let words: Vec<&str> = plain.split_whitespace().collect();
        if words.is_empty() {
            return Self::Rejected("it gave no reason".to_owned());
        }
        Self::Rejected(words.join(" ").chars().take(Self::MAX_REJECTION).collect())
    }
}

/// Removes the escape sequences of terminal colors, and replaces other control characters with spaces.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            // The parameters, up to the final byte.
            while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
        } else {
            plain.push(if c.is_control() { ' ' } else { c });
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_host_are_one_line_of_a_bounded_length() {
        for (text, words) in [
            ("", "it gave no reason"),
            (" pre-receive hook\ndeclined\r\n", "pre-receive hook declined"),
            ("\u{1b}[1;31mno\u{1b}[0m pushes\u{7}\u{0}on Fridays\u{1b}[", "no pushes on Fridays"),
            ("a\u{1b}b \u{9b}31m", "a b 31m"),
        ] {
            assert_eq!(GitError::rejected(text), GitError::Rejected(words.to_owned()), "{text:?}");
        }
        for (text, length) in [("ä".repeat(5000), 2000), ("ä ".repeat(5000), 2000), ("ä".repeat(2000), 2000)]
        {
            let GitError::Rejected(words) = GitError::rejected(&text) else { panic!() };
            assert_eq!(words.chars().count(), length);
        }
    }
}
