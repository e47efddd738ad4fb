//! The platform over HTTP: three ways for a host to mount it.

use std::sync::Arc;

use async_trait::async_trait;
use docs_core::{Actor, Error, Platform, model::SpaceId};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use poem::{
    Endpoint, Request, Response, Route,
    http::{HeaderValue, StatusCode, header},
};
use poem_openapi::OpenApiService;

use crate::{
    About, HttpApp, HttpConfig,
    api::{Api, api},
    auth::Authenticator,
    join,
    meta::ReadOnly,
    metrics::Metrics,
    openapi::{Outer, Problems},
    wire::error::ApiError,
};

#[async_trait]
impl Authenticator for Platform {
    type Actor = Actor;

    async fn authenticate(&self, token: &str) -> docs_core::Result<Actor> {
        Platform::authenticate(self, token).await
    }
}

/// The platform's API as a poem endpoint, with everything around it: see [`HttpApp`] for the paths.
///
/// ```
/// use docs_core::Platform;
/// use docs_http::HttpConfig;
/// # fn mount(platform: &Platform) -> Result<(), docs_http::openapi::Problems> {
/// let app = poem::Route::new().nest("/docs-api", docs_http::routes(platform, HttpConfig::default())?);
/// # let _ = app;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Problems`] when `config` names a path that is none.
pub fn routes(platform: &Platform, config: HttpConfig) -> Result<HttpApp, Problems> {
    let files = Route::new()
        .at("/files/:space/:sealed/:name", ReadOnly(Files(platform.clone())))
        .at("/files/:space/pdf/:sealed/:name", ReadOnly(PdfFiles(platform.clone())));
    #[cfg(feature = "explorer")]
    let files = files.at("/", crate::explorer::way_there());
    join(api(platform), about(), config, Arc::new(platform.clone()), files)
}

/// The same for a host that is not poem: a `tower_service::Service` for axum and hyper.
///
/// # Errors
/// As [`routes`].
#[cfg(feature = "tower")]
pub fn tower_service(
    platform: &Platform,
    config: HttpConfig,
) -> Result<crate::tower::TowerService, Problems> {
    Ok(routes(platform, config)?.into_tower())
}

/// The API alone, for those who want the document or put their own things around it.
///
/// # Errors
/// [`Problems`] when the API contradicts itself, which a test of this crate rules out.
pub fn open_api_service(platform: &Platform) -> Result<OpenApiService<Outer<Api>, ()>, Problems> {
    crate::service(api(platform), about(), Arc::new(Metrics::default()))
}

fn about() -> About {
    let mut about = About::new("Documentation platform", env!("CARGO_PKG_VERSION"));
    about.description = Some(
        "Organizations, spaces with pages and files, change requests, sites. Every request carries a bearer token; \
         every failure is `{\"error\":{\"code\":…,\"message\":…}}` with the status as its code."
            .to_owned(),
    );
    about
}

/// The bytes of files. Their address is sealed by the platform and told to readers of the content only, so no token is
/// asked for; and what is there never changes, so it may be kept for ever.
struct Files(Platform);

impl Endpoint for Files {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let missing = || ApiError::from(Error::not_found("file"));
        let space: SpaceId =
            request.raw_path_param("space").and_then(|id| id.parse().ok()).ok_or_else(missing)?;
        let sealed = request.raw_path_param("sealed").ok_or_else(missing)?;
        let name = request.path_params::<(String, String, String)>().map_err(|_| missing())?.2;
        let bytes = self.0.file_bytes(&space, sealed).await.map_err(ApiError::from)?;
        let mut response = Response::builder()
            .status(StatusCode::OK)
            .content_type(docs_core::platform::media_type(&name))
            .header(header::CACHE_CONTROL, "public, max-age=31536000, immutable")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(bytes);
        // Files come from users: nothing in them may run as if it were a page of this host.
        response.headers_mut().insert(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        );
        Ok(response)
    }
}

/// What stands in the name of a file in a header as it is: letters, digits, and these.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');

/// PDF files. Their address is sealed as that of files is, and good for an hour.
struct PdfFiles(Platform);

impl Endpoint for PdfFiles {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let missing = || ApiError::from(Error::not_found("PDF"));
        let space: SpaceId =
            request.raw_path_param("space").and_then(|id| id.parse().ok()).ok_or_else(missing)?;
        let sealed = request.raw_path_param("sealed").ok_or_else(missing)?;
        let file = self.0.pdf_file(&space, sealed).await.map_err(ApiError::from)?;
        let name = utf8_percent_encode(&file.name, NAME);
        Ok(Response::builder()
            .status(StatusCode::OK)
            .content_type("application/pdf")
            .header(header::CONTENT_DISPOSITION, format!("inline; filename*=UTF-8''{name}"))
            // Who may read changes, and the address ends.
            .header(header::CACHE_CONTROL, "private, no-cache")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(file.bytes))
    }
}
