//! The application: its configuration, and the assembly of an API with its middleware and endpoints.

use std::{fmt, sync::Arc};

use docs_core::{
    Platform,
    platform::own_paths,
    ports::{Ids, RandomIds},
};
use poem::{Endpoint, EndpointExt, Request, Response, Route, endpoint::BoxEndpoint};
use poem_openapi::{OpenApi, OpenApiService};

use crate::{
    auth::{Authenticator, SharedAuthenticator},
    cors::{self, Cors},
    endpoints::{HealthCheck, HealthEndpoint, MetricsEndpoint, ReadOnly},
    files_host::{self, HostRouter},
    metrics::{Metrics, Registry},
    middleware::RequestLayer,
    openapi::{
        self, ApiInfo, ClientOperation, OperationLayer, Problems,
        document_cache::{DocumentEndpoint, LazyDocument, build_service},
    },
    rate::{RateLimit, RateLimiter},
    saml::SamlPages,
    sign_in::HostSignIn,
    trusted_proxies::TrustedProxies,
    wire::{
        budget::{AnonymousBodyLimit, BodyBudget},
        payload::BodyLimit,
    },
};

/// Configuration of the application.
#[derive(Clone)]
pub struct HttpConfig {
    /// Maximum size of a request body in bytes. The limit for uploaded files is configured on the platform.
    pub body_limit: BodyLimit,
    /// Maximum size, in bytes, of the body of a request without a user token.
    pub anonymous_body_limit: AnonymousBodyLimit,
    /// Memory budget for buffered request bodies. Clone it to share one budget between applications.
    pub body_budget: BodyBudget,
    /// Path of the API within the application.
    pub api_path: String,
    /// Base URL of the API in the OpenAPI document, such as `https://docs.example.com/v1`. If absent, the document
    /// contains a path: the path of the API, prefixed by that of the platform's
    /// [`base_url`](docs_core::platform::Builder::base_url) when mounted by [`routes`](crate::routes).
    pub server_url: Option<String>,
    /// Rate limit per client; unlimited if absent. API requests, file requests and Git webhooks are counted separately.
    pub rate_limit: Option<RateLimit>,
    /// Proxies that the rate limit and the body budget trust to state client addresses.
    pub trusted_proxies: TrustedProxies,
    /// Authentication by the embedding application, for [`routes`](crate::routes). If absent, only platform tokens are
    /// accepted. [`assemble`] takes an authenticator instead.
    pub sign_in: Option<HostSignIn>,
    /// Sign-in through the organizations' SAML providers, for [`routes`](crate::routes); disabled if absent.
    pub saml: Option<SamlPages>,
    /// Origins whose web pages may call the API; only the application's own if absent.
    pub cors: Option<Cors>,
    /// Liveness check behind `/healthz`. Defaults to the platform's own check.
    pub health: Option<HealthCheck>,
    /// Readiness check behind `/readyz`. Defaults to the platform's own check.
    pub readiness: Option<HealthCheck>,
    /// Platform metrics to include in `/metrics`. If absent, only request metrics are included.
    pub registry: Option<Arc<Registry>>,
    /// Called before metrics are rendered. Defaults to the platform's own [`measure`](docs_core::Platform::measure).
    pub measure: Option<HealthCheck>,
    /// Generator of request ids.
    pub ids: Arc<dyn Ids>,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            body_limit: BodyLimit::DEFAULT,
            anonymous_body_limit: AnonymousBodyLimit::DEFAULT,
            body_budget: BodyBudget::default(),
            api_path: format!("/{}", own_paths::API),
            server_url: None,
            rate_limit: None,
            trusted_proxies: TrustedProxies::default(),
            sign_in: None,
            saml: None,
            cors: None,
            health: None,
            readiness: None,
            registry: None,
            measure: None,
            ids: Arc::new(RandomIds),
        }
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("body_limit", &self.body_limit)
            .field("anonymous_body_limit", &self.anonymous_body_limit)
            .field("body_budget", &self.body_budget)
            .field("api_path", &self.api_path)
            .field("server_url", &self.server_url)
            .field("rate_limit", &self.rate_limit)
            .field("trusted_proxies", &self.trusted_proxies)
            .field("sign_in", &self.sign_in)
            .field("saml", &self.saml)
            .field("cors", &self.cors)
            .finish_non_exhaustive()
    }
}

/// The complete application: a poem endpoint, to serve directly or to nest in a route.
///
/// | path | content |
/// |---|---|
/// | `/v1/…` | the API |
/// | `/healthz` | `{"status":"ok"}` if the process is alive and its store can be read, otherwise an error |
/// | `/readyz` | the same, but also requires that the search index is complete |
/// | `/metrics` | metrics for Prometheus |
/// | `/openapi.json` | the OpenAPI document |
/// | `/docs` | a page for trying the API; `/` redirects to it; feature `explorer` |
#[derive(Clone)]
pub struct HttpApp {
    endpoint: Arc<BoxEndpoint<'static>>,
    document: Arc<LazyDocument>,
    metrics: Arc<Metrics>,
    /// The platform, if its files are served from a separate origin.
    files_of: Option<Platform>,
}

impl HttpApp {
    /// Returns `true` if a request is for the host of [`files_origin`](docs_core::platform::Builder::files_origin),
    /// which serves only files. An embedding application with other routes has to pass these requests to this
    /// application first, with unchanged paths.
    #[must_use]
    pub fn is_for_files(&self, request: &Request) -> bool {
        self.files_of.as_ref().is_some_and(|platform| files_host::is_for_files(platform, request))
    }

    /// The OpenAPI document as JSON. It is generated by the first call or the first request, which takes as long as
    /// hundreds of other requests.
    #[must_use]
    pub fn document(&self) -> &str {
        self.document.text()
    }

    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

impl Endpoint for HttpApp {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        self.endpoint.call(request).await
    }
}

impl fmt::Debug for HttpApp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpApp").finish_non_exhaustive()
    }
}

/// Combines an API, usually a tuple of API objects, with its middleware and additional endpoints into an application.
///
/// # Errors
///
/// [`Problems`] if the API is inconsistent, for example if two operations share an id, or if `config` contains
/// [`saml`](HttpConfig::saml), or a [`sign_in`](HttpConfig::sign_in) in addition to the authenticator.
pub fn assemble<T, A>(
    api: T,
    about: ApiInfo,
    config: HttpConfig,
    authenticator: Arc<A>,
) -> Result<HttpApp, Problems>
where
    T: OpenApi + 'static,
    A: Authenticator,
{
    openapi::document_cache::validate_once::<T>()?;
    let further = ExtraRoutes { routes: Route::new(), files_host: None, client_operations: &[] };
    join(api, about, config, authenticator, further)
}

/// Additional routes next to the API.
pub(crate) struct ExtraRoutes {
    pub(crate) routes: Route,
    /// The platform whose files are served from a separate origin, and the routes of that origin.
    pub(crate) files_host: Option<(Platform, Route)>,
    /// The operations of published clients, which return an error with their name if the API does not serve them.
    pub(crate) client_operations: &'static [ClientOperation],
}

/// Combines a validated API with its middleware, endpoints and additional routes.
pub(crate) fn join<T, A>(
    api: T,
    about: ApiInfo,
    config: HttpConfig,
    authenticator: Arc<A>,
    further: ExtraRoutes,
) -> Result<HttpApp, Problems>
where
    T: OpenApi + 'static,
    A: Authenticator,
{
    check_path(&config.api_path)?;
    if config.sign_in.is_some() {
        return Err(Problems::new(
            "`sign_in` requires `routes`, because an authenticator is already attached",
        ));
    }
    if config.saml.is_some() {
        return Err(Problems::new("`saml` requires `routes`, because it signs in to a platform"));
    }
    let metrics = Arc::new(config.registry.map_or_else(Metrics::default, Metrics::with_registry));
    let server = config.server_url.unwrap_or_else(|| config.api_path.clone());
    let document = Arc::new(LazyDocument::new::<T>(about.clone(), server.clone())?);
    let layer = OperationLayer::new(api, Arc::clone(&metrics));
    let layer = layer.with_client_operations(further.client_operations);
    let service = build_service(layer, about).server(server.clone());
    let challenge = authenticator.challenge();
    let authenticator: SharedAuthenticator<A::Actor> = authenticator;
    let guard = RateLimiter::new(config.rate_limit, config.trusted_proxies.clone());
    let service = service
        .data(authenticator)
        .data(config.body_limit)
        .data(config.anonymous_body_limit)
        .data(config.body_budget)
        .data(config.trusted_proxies)
        .with(guard);
    let route = further
        .routes
        .nest(&config.api_path, service)
        .at(format!("/{}", own_paths::HEALTH), ReadOnly(HealthEndpoint(config.health.unwrap_or_default())))
        .at(format!("/{}", own_paths::READY), ReadOnly(HealthEndpoint(config.readiness.unwrap_or_default())))
        .at(
            format!("/{}", own_paths::METRICS),
            ReadOnly(MetricsEndpoint {
                metrics: Arc::clone(&metrics),
                measure: config.measure.unwrap_or_default(),
            }),
        )
        .at(format!("/{}", own_paths::OPENAPI), ReadOnly(DocumentEndpoint(Arc::clone(&document))));
    #[cfg(feature = "explorer")]
    let route = crate::explorer::mount(route, &server)?;
    let files_of = further.files_host.as_ref().map(|(platform, _)| platform.clone());
    let route = match further.files_host {
        Some((platform, files)) => HostRouter::new(&platform, files, route.boxed()).boxed(),
        None => route.boxed(),
    };
    let endpoint = Arc::new(cors::with_cors(config.cors, RequestLayer::new(route, config.ids, challenge)));
    Ok(HttpApp { endpoint, document, metrics, files_of })
}

/// Returns the API alone, for applications that add their own middleware.
///
/// Such an application attaches the authenticator (a [`SharedAuthenticator`]) and optionally a body limit as request
/// data: `service.data(authenticator).data(BodyLimit(1024))`.
///
/// # Errors
///
/// [`Problems`] if the API is inconsistent, for example if two operations share an id.
pub fn service<T: OpenApi>(
    api: T,
    about: ApiInfo,
    metrics: Arc<Metrics>,
) -> Result<OpenApiService<OperationLayer<T>, ()>, Problems> {
    openapi::check_api::<T>()?;
    Ok(build_service(OperationLayer::new(api, metrics), about))
}

/// Checks that routes can be nested under a path.
fn check_path(path: &str) -> Result<(), Problems> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    if path.starts_with('/') && path.bytes().all(is_plain) && !path.contains("//") {
        Ok(())
    } else {
        Err(Problems::new(format!("`{path}` must be a plain path like /v1")))
    }
}
