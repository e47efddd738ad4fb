//! The operations that published clients know, for those that this server does not serve.
//!
//! `client_operations.txt` lists the operations of the OpenAPI documents of published clients. A test compares it with
//! the documents. The served operations follow from the API itself, so they need no second list.

use std::sync::LazyLock;

use poem::http::{Method, StatusCode};

use crate::wire::error::ApiError;

/// An operation of a published client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientOperation {
    /// The method in upper case.
    pub method: &'static str,
    /// The path below `/v1`, with parameters in braces.
    pub path: &'static str,
    pub id: &'static str,
    /// `true` if the newest client has the operation, `false` if only older ones do.
    pub is_current: bool,
}

/// Parts of paths, with the reason for not serving operations whose path contains them. The first match applies.
const REASONS: [(&str, &str); 21] = [
    ("/git/", "Git Sync of a space is set up with `setSpaceGitSync`, without an app at the Git host"),
    ("/integration", "the platform has no integrations"),
    ("/installations", "the platform has no integrations"),
    ("/ask", "the platform has no AI model"),
    ("/ai", "the platform has no AI model"),
    ("/agent", "the platform has no AI model"),
    ("/conversations", "the platform has no AI model"),
    ("/mcp-servers", "the platform has no AI model; the MCP endpoint of a site is part of the site"),
    ("/channels", "the platform has no AI model"),
    ("/context-", "the platform has no AI model"),
    ("/topics", "the platform has no AI model"),
    ("/question", "the platform has no AI model"),
    ("/answers", "the platform has no AI model"),
    (
        "/scans",
        "links are checked with each change of content, not in scans; `listSiteFindings` returns the broken ones",
    ),
    ("/findings", "the platform has no AI model"),
    ("/styleguide", "the platform has no AI model"),
    ("/insights", "events of readers are only counted in the metrics of the server"),
    ("/ads", "the platform shows no advertisements"),
    ("/fonts", "sites use the fonts that their customization offers"),
    ("/custom-hostnames", "the embedding application sets the hostnames of sites"),
    ("/notifications", "the platform sends no notifications"),
];

impl ClientOperation {
    /// Returns the reason for not serving the operation.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        let reason = REASONS.iter().find(|(part, _)| self.path.contains(part));
        reason.map_or("it is not implemented yet", |(_, reason)| reason)
    }

    pub(super) fn verb(&self) -> Option<Method> {
        Method::from_bytes(self.method.as_bytes()).ok()
    }

    /// Returns the status of the error response of the operation.
    ///
    /// Front ends render the blocks of integrations in pages, and omit those whose integration does not exist. For any
    /// other status they do not show the page.
    fn status(&self) -> StatusCode {
        match self.path {
            "/integrations/{integrationName}/render" => StatusCode::NOT_FOUND,
            _ => StatusCode::NOT_IMPLEMENTED,
        }
    }

    /// Returns the error response of the operation.
    pub(super) fn unserved(&self) -> ApiError {
        let message = format!("`{}` is not served: {}", self.id, self.reason());
        ApiError::new(self.status(), message)
    }
}

/// Returns the operations of published clients, ordered by path.
#[must_use]
pub fn client_operations() -> &'static [ClientOperation] {
    static OPERATIONS: LazyLock<Vec<ClientOperation>> = LazyLock::new(|| {
        let lines = include_str!("client_operations.txt").lines();
        lines.filter_map(|line| parse(&mut line.split(' '))).collect()
    });
    &OPERATIONS
}

fn parse(words: &mut std::str::Split<'static, char>) -> Option<ClientOperation> {
    let (method, path, id, age) = (words.next()?, words.next()?, words.next()?, words.next()?);
    Some(ClientOperation { method, path, id, is_current: age == "current" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_applies_to_an_operation() {
        for (part, reason) in REASONS {
            let applies =
                client_operations().iter().any(|it| it.path.contains(part) && it.reason() == reason);
            assert!(applies, "{part}: {reason}");
        }
    }
}
