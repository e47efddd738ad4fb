//! Removal of credentials from messages of servers.

use docs_ports::GitError;
use docs_web::Credentials;

/// Minimum length of a redacted credential. Shorter ones would match parts of any text.
const SHORTEST_SECRET: usize = 3;

/// Removes the credentials from a text.
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

/// Removes the credentials from the message of a rejection.
pub(crate) fn rejection(credentials: Option<&Credentials>, error: GitError) -> GitError {
    match error {
        GitError::Rejected(words) => GitError::rejected(&text(credentials, &words)),
        error => error,
    }
}
