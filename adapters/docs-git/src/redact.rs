//! What hosts say, without the credentials, which they know.

use docs_ports::GitError;
use docs_web::Credentials;

/// Shorter ones are words of any text.
const SHORTEST_SECRET: usize = 3;

/// A text of a host.
pub(crate) fn text(credentials: Option<&Credentials>, text: &str) -> String {
    let Some(Credentials { user, password }) = credentials else { return text.to_owned() };
    let mut text = text.to_owned();
    for secret in [password, user] {
        if secret.len() >= SHORTEST_SECRET {
            text = text.replace(secret.as_str(), "…");
        }
    }
    text
}

/// A refusal by the words of a host.
pub(crate) fn rejection(credentials: Option<&Credentials>, error: GitError) -> GitError {
    match error {
        GitError::Rejected(words) => GitError::rejected(&text(credentials, &words)),
        error => error,
    }
}
