//! The API as a tower service, for axum, hyper and other servers.

use std::{
    convert::Infallible,
    error::Error as StdError,
    fmt,
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::TryStreamExt;
use http_body_util::{BodyDataStream, combinators::BoxBody};
use poem::{
    Addr, Body, Endpoint, Request, RequestParts,
    http::{self, Extensions, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};
use tower_service::Service;

use crate::app::HttpApp;

/// The body of a response.
pub type ResponseBody = BoxBody<Bytes, io::Error>;

/// The API as a [`tower_service::Service`].
///
/// Request and response bodies are streamed. The path is used unchanged: an application that mounts the service under a
/// prefix strips the prefix, as axum's `nest_service` does. The service is always ready and never fails.
///
/// ```no_run
/// # fn host(app: docs_http::HttpApp) -> axum::Router {
/// axum::Router::new().nest_service("/docs-api", app.into_tower())
/// # }
/// ```
#[derive(Clone)]
pub struct TowerService {
    app: HttpApp,
    peer: fn(&Extensions) -> Option<SocketAddr>,
}

impl HttpApp {
    /// Converts to a tower service, for servers other than poem's.
    #[must_use]
    pub fn into_tower(self) -> TowerService {
        TowerService::new(self)
    }
}

impl TowerService {
    pub(crate) fn new(app: HttpApp) -> Self {
        Self { app, peer: |extensions| extensions.get().copied() }
    }

    /// Sets how the client address is obtained from the request.
    ///
    /// The default is a plain [`SocketAddr`] in the request extensions. With axum's
    /// `into_make_service_with_connect_info`, use `|all| all.get::<ConnectInfo<SocketAddr>>().map(|info| info.0)`.
    #[must_use]
    pub fn peer(mut self, peer: fn(&Extensions) -> Option<SocketAddr>) -> Self {
        self.peer = peer;
        self
    }
}

impl fmt::Debug for TowerService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TowerService").finish_non_exhaustive()
    }
}

impl<B> Service<http::Request<B>> for TowerService
where
    B: http_body::Body + Send + 'static,
    B::Data: Into<Bytes>,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    type Response = http::Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let app = self.app.clone();
        let peer = (self.peer)(request.extensions());
        let request = poem_request(request, peer);
        Box::pin(async move { Ok(app.get_response(request).await.into()) })
    }
}

/// Converts a request of the `http` crate to a poem request from the address `peer`. The body is streamed.
pub fn poem_request<B>(request: http::Request<B>, peer: Option<SocketAddr>) -> Request
where
    B: http_body::Body + Send + 'static,
    B::Data: Into<Bytes>,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let (parts, body) = request.into_parts();
    let remote = RemoteAddr(peer.map_or_else(Addr::default, Addr::SocketAddr));
    let scheme = parts.uri.scheme().cloned().unwrap_or(Scheme::HTTP);
    let parts = RequestParts::from((parts, LocalAddr::default(), remote, scheme));
    // A stream cannot report that it is empty, but some operations check it.
    let body = if body.is_end_stream() {
        Body::empty()
    } else {
        Body::from_bytes_stream(BodyDataStream::new(body).map_err(io::Error::other))
    };
    Request::from_parts(parts, body)
}
