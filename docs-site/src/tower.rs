//! A tower service for embedding applications that use axum, hyper or another framework.

use std::{
    convert::Infallible,
    error::Error as StdError,
    fmt,
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use http_body_util::{BodyDataStream, combinators::BoxBody};
use poem::{
    Addr, Body, Endpoint as _, Request, RequestParts, Response,
    endpoint::{BoxEndpoint, EndpointExt as _, make_sync},
    http::{self, StatusCode, uri::Scheme},
    web::{LocalAddr, RemoteAddr},
};
use tower_service::Service;

use crate::Sites;

pub type ResponseBody = BoxBody<Bytes, io::Error>;

/// Published sites as a [`tower_service::Service`]. Requests that do not belong to a site get status 404.
///
/// The path of a request must be the path that visitors see, without a stripped prefix. The service is always ready and
/// never fails.
///
/// ```
/// # fn host(sites: docs_site::Sites) {
/// let service = sites.into_tower();
/// # let _ = service.clone();
/// # }
/// ```
#[derive(Clone)]
pub struct SitesService(std::sync::Arc<BoxEndpoint<'static>>);

impl Sites {
    /// Converts the sites into a tower service.
    #[must_use]
    pub fn into_tower(self) -> SitesService {
        let nothing = make_sync(|_| Response::builder().status(StatusCode::NOT_FOUND).finish());
        SitesService(std::sync::Arc::new(self.with_fallback(nothing).boxed()))
    }
}

impl fmt::Debug for SitesService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SitesService").finish_non_exhaustive()
    }
}

impl<B> Service<http::Request<B>> for SitesService
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
        let sites = std::sync::Arc::clone(&self.0);
        let (parts, body) = request.into_parts();
        let scheme = parts.uri.scheme().cloned().unwrap_or(Scheme::HTTP);
        let remote = RemoteAddr(Addr::default());
        let parts = RequestParts::from((parts, LocalAddr::default(), remote, scheme));
        let body = Body::from_bytes_stream(BodyDataStream::new(body).map_err(io::Error::other));
        let request = Request::from_parts(parts, body);
        Box::pin(async move { Ok(sites.get_response(request).await.into()) })
    }
}
