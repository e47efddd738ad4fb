//! `/webhooks/…`: push notifications from Git hosts.
//!
//! No token is required: the host signs with the secret of the space's webhook, or sends the secret. Without either,
//! the response is the same as for a space that does not exist.

use docs_core::{
    Error, Platform,
    platform::{GitDelivery, GitHostEvent, GitWebhook, GitWebhookAnswer},
};
use futures_util::StreamExt as _;
use poem::{
    Body, Endpoint, Request, Response,
    http::{HeaderMap, HeaderValue, Method, StatusCode},
};

use crate::{
    endpoints::method_response,
    wire::{chunks::announced_length, error::ApiError},
};

/// Signature headers: of GitHub, Gitea and Forgejo, then of Bitbucket.
const SIGNATURE_HEADERS: [&str; 2] = ["x-hub-signature-256", "x-hub-signature"];
/// The secret header of GitLab.
const GITLAB_TOKEN_HEADER: &str = "x-gitlab-token";
/// Event headers, with the values that denote a push.
const PUSH_EVENTS: [(&str, &[&str]); 5] = [
    ("x-github-event", &["push"]),
    ("x-gitlab-event", &["Push Hook", "Tag Push Hook"]),
    ("x-gitea-event", &["push"]),
    ("x-forgejo-event", &["push"]),
    ("x-event-key", &["repo:push", "repo:refs_changed"]),
];

/// Webhooks of spaces, rate-limited by sender address. The response is `202` if a synchronization was enqueued, `204`
/// if the event has no effect. Bodies are verified while they are read and are not buffered, because the sender is
/// authenticated only at the end: unauthenticated senders cannot use up memory that other deliveries need.
pub(crate) struct GitWebhooks {
    pub(crate) platform: Platform,
}

impl Endpoint for GitWebhooks {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        if request.method() != Method::POST {
            return Ok(method_response(request.method(), HeaderValue::from_static("POST, OPTIONS")));
        }
        let body = request.take_body();
        let status = match self.receive(&request, body).await? {
            GitWebhookAnswer::Enqueued => StatusCode::ACCEPTED,
            _ => StatusCode::NO_CONTENT,
        };
        Ok(Response::builder().status(status).finish())
    }
}

impl GitWebhooks {
    async fn receive(&self, request: &Request, body: Body) -> Result<GitWebhookAnswer, ApiError> {
        let space = request.raw_path_param("space").unwrap_or_default();
        let mut webhook = GitWebhook::open(&self.platform, space, delivery(request.headers())).await?;
        webhook.announce(announced_length(request).unwrap_or_default())?;
        let mut parts = Box::pin(body.into_bytes_stream());
        while let Some(part) = parts.next().await {
            webhook.take(&part.map_err(|_| Error::invalid("the body", "ended before it was complete"))?)?;
        }
        Ok(webhook.end().await?)
    }
}

/// Extracts the credentials and the event of a delivery.
fn delivery(headers: &HeaderMap) -> GitDelivery<'_> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_push =
        PUSH_EVENTS.iter().any(|(name, pushes)| text(name).is_some_and(|event| pushes.contains(&event)));
    GitDelivery {
        signature: SIGNATURE_HEADERS.iter().find_map(|name| text(name)),
        token: text(GITLAB_TOKEN_HEADER),
        event: if is_push { GitHostEvent::Push } else { GitHostEvent::Other },
    }
}
