//! A separate origin for files: [`files_origin`](docs_core::platform::Builder::files_origin).

use docs_core::Platform;
use poem::{
    Endpoint, Request, Response, Route,
    endpoint::BoxEndpoint,
    http::{StatusCode, header},
};

use crate::wire::error::ApiError;

/// Returns `true` if a request is for the files host.
pub(crate) fn is_for_files(platform: &Platform, request: &Request) -> bool {
    let authority = request.uri().authority().map(|authority| authority.as_str());
    let named = || request.headers().get(header::HOST)?.to_str().ok();
    authority.or_else(named).is_some_and(|host| platform.urls().is_files_host(host))
}

/// Routes requests of the files host to the file routes, and all others to the application.
pub(crate) struct HostRouter {
    platform: Platform,
    files: Route,
    rest: BoxEndpoint<'static>,
}

impl HostRouter {
    pub(crate) fn new(platform: &Platform, files: Route, rest: BoxEndpoint<'static>) -> Self {
        Self { platform: platform.clone(), files, rest }
    }
}

impl Endpoint for HostRouter {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        match is_for_files(&self.platform, &request) {
            true => self.files.call(request).await,
            false => self.rest.call(request).await,
        }
    }
}

/// Redirects file URLs on other hosts to the files origin. Text written before that origin was configured may contain
/// them.
pub(crate) struct FilesOriginRedirect(pub(crate) Platform);

impl Endpoint for FilesOriginRedirect {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let to = format!("{}{path}", self.0.urls().files_base());
        let response =
            Response::builder().status(StatusCode::PERMANENT_REDIRECT).header(header::LOCATION, to);
        // The URL may grant access to a confidential file, and browsers would cache a permanent redirect.
        let response = response.header(header::CACHE_CONTROL, "no-store").finish();
        match response.headers().contains_key(header::LOCATION) {
            true => Ok(response),
            false => Err(ApiError::from(docs_core::Error::not_found("file")).into()),
        }
    }
}
