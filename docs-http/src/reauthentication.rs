//! Repeated authentication of requests whose bodies arrive slowly, so that a token that is revoked meanwhile cannot
//! write.

use std::{io, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream, stream::BoxStream};
use poem::{
    Body, Request, RequestBody, RequestParts,
    http::{self, Extensions},
    web::{LocalAddr, RemoteAddr},
};
use tokio::time::Instant;

use crate::{
    authenticator::{RequestHead, SharedAuthenticator},
    wire::error::ApiError,
};

/// Age at which an authentication is repeated before the next chunk, or the end, of the body is used.
const AUTHENTICATION_AGE: Duration = Duration::from_secs(1);

/// Replaces the body of an authenticated request with one that fails if the caller loses access while the body arrives.
pub(crate) fn guard_body<A: Send + Sync + 'static>(
    authenticator: &SharedAuthenticator<A>,
    request: &Request,
    body: &mut RequestBody,
) {
    // The body is missing if it has already been read.
    let Ok(unguarded) = body.take() else { return };
    if unguarded.is_empty() {
        *body = RequestBody::new(unguarded);
        return;
    }
    let guarded = GuardedBody {
        authenticator: SharedAuthenticator::clone(authenticator),
        head: clone_head(request),
        parts: unguarded.into_bytes_stream().boxed(),
        authenticated_at: Instant::now(),
    };
    let parts = stream::unfold(Some(guarded), |body| async { Some(body?.next().await).flatten() });
    *body = RequestBody::new(Body::from_bytes_stream(parts));
}

struct GuardedBody<A> {
    authenticator: SharedAuthenticator<A>,
    /// The request without its body.
    head: Request,
    parts: BoxStream<'static, io::Result<Bytes>>,
    authenticated_at: Instant,
}

impl<A: Send + Sync + 'static> GuardedBody<A> {
    /// Returns the next chunk and the remaining body, or `None` at the end. No chunks follow an error.
    async fn next(mut self) -> Option<(io::Result<Bytes>, Option<Self>)> {
        let part = self.parts.next().await;
        if self.authenticated_at.elapsed() >= AUTHENTICATION_AGE {
            match authenticate(&self.authenticator, &self.head).await {
                Ok(()) => self.authenticated_at = Instant::now(),
                Err(error) => return Some((Err(io::Error::other(error)), None)),
            }
        }
        part.map(|part| (part, Some(self)))
    }
}

async fn authenticate<A>(authenticator: &SharedAuthenticator<A>, head: &Request) -> Result<(), ApiError>
where
    A: Send + Sync + 'static,
{
    match authenticator.identify(RequestHead::new(head)).await? {
        Some(_) => Ok(()),
        None => Err(authenticator.missing_credentials()),
    }
}

/// Returns a request with the same head and without a body.
fn clone_head(request: &Request) -> Request {
    let (mut parts, ()) = http::Request::new(()).into_parts();
    parts.method = request.method().clone();
    parts.uri = request.original_uri().clone();
    parts.version = request.version();
    parts.headers = request.headers().clone();
    parts.extensions = Extensions::clone(request.extensions());
    let addresses = (LocalAddr(request.local_addr().0.clone()), RemoteAddr(request.remote_addr().0.clone()));
    let parts = RequestParts::from((parts, addresses.0, addresses.1, request.scheme().clone()));
    Request::from_parts(parts, Body::empty())
}
