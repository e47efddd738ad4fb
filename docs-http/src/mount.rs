//! The platform over HTTP, with three ways to mount it.

use std::sync::Arc;

use async_trait::async_trait;
use docs_core::{
    Actor, BoxFuture, Platform,
    platform::own_paths::{FILES, SAML, WEBHOOKS},
};
use poem::{EndpointExt as _, Middleware as _, Route};
use poem_openapi::OpenApiService;
use url::Url;

use crate::{
    api::{Api, api},
    app::{ExtraRoutes, HttpApp, HttpConfig, join, service},
    auth::Authenticator,
    endpoints::{HealthCheck, ReadOnly},
    files::{FileEndpoint, SandboxEndpoint},
    files_host::FilesOriginRedirect,
    metrics::Metrics,
    openapi::{ApiInfo, OperationLayer, Problems, client_operations},
    pdf::PdfFiles,
    rate::RateLimiter,
    saml,
    sign_in::CombinedAuthenticator,
    storage_upload::StorageUploads,
    webhooks::GitWebhooks,
};

#[async_trait]
impl Authenticator for Platform {
    type Actor = Actor;

    async fn authenticate(&self, token: &str) -> docs_core::Result<Actor> {
        Platform::authenticate(self, token).await
    }

    fn is_personal(&self, actor: &Actor) -> bool {
        !matches!(actor, Actor::Visitor(_))
    }

    fn user_id<'a>(&self, actor: &'a Actor) -> Option<&'a str> {
        actor.user().map(|user| user.as_str())
    }
}

/// Returns the platform's API as a poem endpoint with all middleware. See [`HttpApp`] for its paths.
///
/// Files, including PDF files and OpenAPI specifications, are served under `/files`. If
/// [`files_origin`](docs_core::platform::Builder::files_origin) is set, they are served only on that host. Git hosts
/// report pushes under `/webhooks`. Users authenticate with platform tokens, which they can also obtain under `/saml`
/// with [`HttpConfig::saml`], or through [`HttpConfig::sign_in`].
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
///
/// [`Problems`] if `config` contains a malformed path.
pub fn routes(platform: &Platform, mut config: HttpConfig) -> Result<HttpApp, Problems> {
    config.health.get_or_insert_with(|| check(platform, Platform::health));
    config.readiness.get_or_insert_with(|| check(platform, Platform::ready));
    config.measure.get_or_insert_with(|| check(platform, Platform::measure));
    if config.server_url.is_none() {
        // URLs in the document are those of the platform, regardless of the host that the document is read from.
        let base = Url::parse(platform.urls().base());
        let path = base.as_ref().map_or("", |base| base.path().trim_end_matches('/'));
        config.server_url = Some(format!("{path}{}", config.api_path));
    }
    let deliveries = RateLimiter::new(config.rate_limit.clone(), config.trusted_proxies.clone());
    let reads = RateLimiter::new(config.rate_limit.clone(), config.trusted_proxies.clone());
    let (routes, files_host) = match platform.urls().files_origin() {
        None => (files(platform, &reads), None),
        Some(_) => (file_redirects(platform), Some((platform.clone(), files(platform, &reads)))),
    };
    let webhooks = GitWebhooks { platform: platform.clone() };
    let routes = routes.at(format!("/{WEBHOOKS}/git/:space"), webhooks.with(deliveries));
    #[cfg(feature = "explorer")]
    let routes = routes.at("/", crate::explorer::explorer_redirect());
    let routes = match config.saml.take() {
        Some(saml) => {
            let budget = config.body_budget.for_anonymous();
            let pages = saml::pages(platform, saml, budget, config.trusted_proxies.clone());
            routes.nest(format!("/{SAML}"), pages)
        }
        None => routes,
    };
    let doors = CombinedAuthenticator { platform: platform.clone(), host: config.sign_in.take() };
    join(
        api(platform),
        api_info(),
        config,
        Arc::new(doors),
        ExtraRoutes { routes, files_host, client_operations: client_operations() },
    )
}

/// Paths of files: in a space, PDF files, specifications, and public specifications.
const FILE_PATHS: [&str; 4] = [
    "/:owner/:sealed/:name",
    "/:owner/pdf/:sealed/:name",
    "/:owner/openapi/:sealed/:name",
    "/:owner/openapi/:slug",
];

/// Routes of files. They have their own rate limit counts, because a page can contain many files.
fn files(platform: &Platform, limit: &RateLimiter) -> Route {
    let [space, pdf, spec, published] = FILE_PATHS.map(|path| format!("/{FILES}{path}"));
    Route::new()
        .at(space, limit.transform(SandboxEndpoint(ReadOnly(FileEndpoint::for_space(platform)))))
        .at(pdf, limit.transform(SandboxEndpoint(ReadOnly(PdfFiles(platform.clone())))))
        .at(spec, limit.transform(SandboxEndpoint(ReadOnly(FileEndpoint::for_spec(platform)))))
        .at(published, limit.transform(SandboxEndpoint(ReadOnly(FileEndpoint::for_published_spec(platform)))))
        .at(format!("/{FILES}/:owner/upload/:sealed"), limit.transform(StorageUploads(platform.clone())))
}

/// Redirects file URLs of other hosts to the files origin.
fn file_redirects(platform: &Platform) -> Route {
    FILE_PATHS.into_iter().fold(Route::new(), |route, path| {
        route.at(format!("/{FILES}{path}"), SandboxEndpoint(ReadOnly(FilesOriginRedirect(platform.clone()))))
    })
}

/// Wraps a platform check as a health check.
fn check(
    platform: &Platform,
    check: for<'a> fn(&'a Platform) -> BoxFuture<'a, docs_core::Result<()>>,
) -> HealthCheck {
    let platform = platform.clone();
    HealthCheck::new(move || {
        let platform = platform.clone();
        async move { check(&platform).await }
    })
}

/// Returns the application as a `tower_service::Service` for axum and hyper.
///
/// # Errors
///
/// The errors of [`routes`].
#[cfg(feature = "tower")]
pub fn tower_service(
    platform: &Platform,
    config: HttpConfig,
) -> Result<crate::tower::TowerService, Problems> {
    Ok(routes(platform, config)?.into_tower())
}

/// Returns the API alone, to read its document or to add other middleware.
///
/// # Errors
///
/// [`Problems`] if the API is inconsistent, which a test of this crate rules out.
pub fn open_api_service(platform: &Platform) -> Result<OpenApiService<OperationLayer<Api>, ()>, Problems> {
    service(api(platform), api_info(), Arc::new(Metrics::default()))
}

fn api_info() -> ApiInfo {
    let mut about = ApiInfo::new("Documentation platform", env!("CARGO_PKG_VERSION"));
    about.examples = Some(include_str!("examples.json"));
    about.description = Some(
        "Organizations, spaces with pages and files, change requests, and sites. Every request carries a \
         bearer token. Every error has the body `{\"error\":{\"code\":…,\"message\":…}}` with the HTTP \
         status as its code."
            .to_owned(),
    );
    about
}

#[cfg(test)]
mod tests {
    use super::Api;
    use crate::openapi::check_api;

    #[test]
    fn platform_api_is_consistent() {
        let found = check_api::<Api>();
        assert!(found.is_ok(), "{found:?}");
    }
}
