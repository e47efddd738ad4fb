//! Git repositories outside: [`GitRemote`].

mod push;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};

pub use self::push::{
    MAX_PUSH_PATH, PushFile, PushFiles, PushRequest, Signature, SourceError, blob_id, check_push_path,
};

/// What is wanted of a repository.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// The repository: an https, http or git URL, or a file URL where the adapter allows it. May hold credentials.
    pub url: String,
    /// The ref in full, like `refs/heads/main`, or `HEAD` for the commit of the default branch.
    pub reference: String,
    /// A name under which the clone may be kept for the next time.
    pub cache_id: Option<String>,
}

/// A commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its object id: 40 hexadecimal digits.
    pub oid: String,
    /// Its message.
    pub message: String,
    /// When it was committed.
    pub committed_at: DateTime<Utc>,
}

/// What an entry of a commit's tree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoEntryKind {
    /// A file.
    File,
    /// A symbolic link with its target as it is written, unresolved.
    Symlink(String),
    /// Another repository.
    Submodule,
}

/// An entry of a commit's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoEntry {
    /// Its path from the root of the repository, `/` between its parts.
    pub path: String,
    /// The object id of its bytes.
    pub oid: String,
    /// Its size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: RepoEntryKind,
}

/// The files of one commit.
#[async_trait]
pub trait Checkout: Send + Sync {
    /// The commit.
    fn commit(&self) -> &Commit;

    /// All its entries, folders excluded, ordered by path.
    fn entries(&self) -> &[RepoEntry];

    /// Reads a file by its path.
    ///
    /// # Errors
    /// [`GitError::NoSuchFile`] when there is none; [`GitError::Broken`] when the repository is damaged.
    async fn read(&self, path: &str) -> Result<Bytes, GitError>;
}

/// What is done with a ref of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitAccess {
    /// It is read, by [`GitRemote::fetch`].
    Fetch,
    /// It is moved, by [`GitRemote::push`].
    Push,
}

/// Reads and writes Git repositories that are somewhere else.
///
/// An adapter guards what it connects to: which schemes and addresses are allowed is its configuration.
#[async_trait]
pub trait GitRemote: Send + Sync + 'static {
    /// Refuses what [`fetch`](GitRemote::fetch) or [`push`](GitRemote::push) would refuse without connecting to
    /// anything: a URL that is none, a scheme or an address that is not allowed, a ref that is no full name.
    ///
    /// # Errors
    /// [`GitError::Url`], [`GitError::Refused`], [`GitError::Ref`].
    fn check(&self, _url: &str, _reference: &str, _access: GitAccess) -> Result<(), GitError> {
        Ok(())
    }

    /// Fetches the tree of a ref. A repository without commits has no ref, `HEAD` neither.
    ///
    /// # Errors
    /// Every kind of [`GitError`] but those of a push. No message holds the URL's credentials.
    ///
    /// # Cancel safety
    /// Dropping the future leaves nothing behind but a cache.
    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError>;

    /// Tells which commit a ref points at; `None` where there is no such ref. Whoever needs no files asks this. By
    /// itself it costs a fetch, which is of what is new where the request names a cache: an adapter that can ask for
    /// less does so.
    ///
    /// # Errors
    /// As [`fetch`](GitRemote::fetch).
    async fn resolve(&self, request: &FetchRequest) -> Result<Option<String>, GitError> {
        match self.fetch(request).await {
            Ok(checkout) => Ok(Some(checkout.commit().oid.clone())),
            Err(GitError::NoRef(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a commit with these files and moves a ref to it, all or nothing. Answers the commit, as a fetch would
    /// show it.
    ///
    /// A push that fails with [`GitError::Unreachable`] may have happened all the same, where its answer got lost:
    /// whoever fetches again finds its commit.
    ///
    /// # Errors
    /// [`GitError::Moved`] when the ref does not point at what is expected; [`GitError::Rejected`] when the host
    /// refuses; [`GitError::Path`] for a file that cannot be where it should; [`GitError::Source`] when the files
    /// fail; and what a fetch fails with. No message holds the URL's credentials.
    ///
    /// # Cancel safety
    /// A future that is dropped has pushed everything or nothing.
    async fn push(&self, request: &PushRequest, files: &mut dyn PushFiles) -> Result<Commit, GitError>;
}

/// Why a repository could not be read or written. The texts are for the user.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// The URL is not one, or of a scheme that is not allowed.
    #[error("url: {0}")]
    Url(String),
    /// The URL leads where this server must not connect.
    #[error("url: {0}")]
    Refused(String),
    /// The host could not be reached, or broke off: may pass.
    #[error("the repository could not be reached: {0}")]
    Unreachable(String),
    /// The host wants other credentials.
    #[error("the repository refused the credentials")]
    Credentials,
    /// There is no repository at the URL.
    #[error("there is no repository at this URL")]
    NoRepository,
    /// The ref is not the full name of one.
    #[error("ref: {0}")]
    Ref(String),
    /// The repository has no such ref.
    #[error("ref: the repository has no `{0}`")]
    NoRef(String),
    /// There is no such file in the commit.
    #[error("the commit has no file `{0}`")]
    NoSuchFile(String),
    /// The repository, or a file, is larger than a limit.
    #[error("{0}")]
    TooLarge(String),
    /// The repository is damaged.
    #[error("the repository cannot be read: {0}")]
    Broken(String),
    /// The ref points elsewhere by now: may pass for who fetches again and makes the commit anew.
    #[error("ref: somebody else has changed it meanwhile")]
    Moved,
    /// The host refuses the update of the ref: a protected branch, a hook. The text is the host's, at most
    /// [`MAX_REJECTION`](GitError::MAX_REJECTION) characters, none of them a control character.
    #[error("the repository refused the push: {0}")]
    Rejected(String),
    /// A file that is pushed cannot be at its path.
    #[error("path: {0}")]
    Path(String),
    /// The files of a push could not be read.
    #[error("{0}")]
    Source(SourceError),
}

impl GitError {
    /// Most characters of what a host says to a push that it refuses.
    pub const MAX_REJECTION: usize = 2000;

    /// Tells whether trying again later may help; after a push, from the fetch on.
    ///
    /// Of [`Source`](GitError::Source) only whoever made the reason knows.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Moved)
    }

    /// A refusal by the words of a host: its lines are joined, what is not for reading is left out, and what is too
    /// long is cut.
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

/// A text without the sequences that make a terminal write in colours, and with a space for each other control
/// character.
fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.next_if_eq(&'[').is_some() {
            // Its parameters, up to its name.
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
