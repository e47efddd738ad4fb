//! Redaction of credentials in server messages.

use docs_ports::GitError;
use docs_web::Credentials;

/// Minimum length of a redacted credential. Shorter ones would match arbitrary text.
const SHORTEST_SECRET: usize = 3;

/// Redacts the credentials in `text`.
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

/// Redacts the credentials in the message of a rejection.
pub(crate) fn rejection(credentials: Option<&Credentials>, error: GitError) -> GitError {
    match error {
        GitError::Rejected(words) => GitError::rejected(&text(credentials, &words)),
        error => error,
    }
}
