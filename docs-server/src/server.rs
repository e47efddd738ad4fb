//! The server, from startup to shutdown.

use std::{io, sync::Arc, time::Duration};

use docs_core::{ErrorKind, Platform};
use docs_http::{Cors, HttpApp, HttpConfig, RateLimit, RateLimiter, SamlPages, metrics::Registry};
use docs_site::{SiteConfig, Sites};
use poem::{
    Endpoint, EndpointExt as _, Request, Response, Route,
    endpoint::{BoxEndpoint, DynEndpoint, ToDynEndpoint},
};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, timeout_at},
};
use url::Url;

use crate::{
    FirstAdmin, FirstStart, SamlMode, Secret, ServerConfig, ServerError, StoreUrl, adapters,
    adapters::FirstImport,
    home::Home,
    serve::Service,
    setup::{self, CreatedSite},
};

/// Maximum duration of requests in progress after shutdown begins. Workers interrupt their jobs earlier, and a
/// worker that has not ended by then, because its store does not respond, is abandoned.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);

/// Number of concurrent jobs, so that a long import does not delay PDF rendering.
const JOB_WORKERS: usize = 4;

/// A listening server with an open store.
pub struct Server {
    platform: Platform,
    service: Service,
    base: String,
    store: StoreUrl,
    first: Option<FirstStart>,
    import: Option<FirstImport>,
}

/// Omits the token.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("base", &self.base).field("store", &self.store).finish_non_exhaustive()
    }
}

impl Server {
    /// Starts listening, opens the store, and creates the first organization and its administrator in a new store.
    /// Requests are answered only once [`serve`](Self::serve) runs.
    ///
    /// # Errors
    /// Returns a [`ServerError`] that names the invalid flag, which corresponds to a field of `config`.
    pub async fn start(config: ServerConfig) -> Result<Self, ServerError> {
        let admin = FirstAdmin::from_config(&config)?;
        let cannot = |source: io::Error| ServerError::Listen { address: config.bind.to_string(), source };
        let listener = config.bind.listen().await.map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let given = config.given_base_url()?;
        let base = given.clone().unwrap_or_else(|| format!("http://{}", config.bind.display_address(port)));
        if given.is_none() && config.bind.is_unspecified() {
            tracing::warn!(
                "listen on all addresses; responses contain the base URL {base}, so set --base-url to the \
                 public address"
            );
        }
        let registry = Arc::new(Registry::default());
        let (platform, import) = adapters::platform(&config, &base, registry.clone()).await?;
        let http = HttpConfig { registry: Some(registry), ..http_config(&config) };
        // Without a configured base URL, the OpenAPI document contains no host.
        let server_url = given.map(|base| format!("{base}{}", http.api_path));
        let app = docs_http::routes(&platform, HttpConfig { server_url, ..http })
            .map_err(ServerError::from_error)?;
        let limit = config.rate_limit.map(RateLimit::per_minute);
        let limit = limit.map(|limit| limit.middleware(config.trusted_proxies.clone().unwrap_or_default()));
        let app = mount_app(app, &base, &platform, limit)?;
        let proxies = config.trusted_proxies.clone().unwrap_or_default();
        let service = Service::new(app, listener, (config.connections.clone(), proxies));
        let first = setup::first_start(&platform, &admin).await?;
        if let (None, Some(token)) = (&first, &config.token) {
            warn_about_unknown_token(&platform, token).await;
        }
        Ok(Self { platform, service, base, store: config.store, first, import })
    }

    /// Returns the base URL of the server, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base
    }

    /// Returns the platform that the server serves.
    #[must_use]
    pub const fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Returns the first organization and the token of its administrator, if this start created them.
    #[must_use]
    pub const fn first_start(&self) -> Option<&FirstStart> {
        self.first.as_ref()
    }

    /// Creates the first space of a new store, imports the repository given by `--import` or the handbook, and
    /// publishes the space as a site. A repository on the network is imported by a background job. Returns `None` for
    /// [`ImportSource::Nothing`](crate::ImportSource::Nothing).
    ///
    /// # Errors
    /// Fails if the store is not new, or if the import into a store in memory fails, because such a server would be
    /// useless. With a persistent store, a failed import is only logged and can be retried.
    pub async fn publish_first(&self) -> Result<Option<CreatedSite>, ServerError> {
        let first =
            self.first.as_ref().ok_or_else(|| ServerError::from_error("the store already has data"))?;
        let Some(import) = &self.import else { return Ok(None) };
        let published = setup::create_site(&self.platform, first, &import.title).await?;
        let Some(source) = &import.source else { return Ok(Some(published)) };
        setup::import(&self.platform, first, &published.space, &source.url).await?;
        if source.is_at_hand {
            self.platform.settle().await?;
            match setup::check_import(&self.platform, first, &published.space).await {
                Err(why) if self.store != StoreUrl::Memory => tracing::error!("--import: {why}"),
                imported => imported.map_err(|why| ServerError::for_flag("--import", why))?,
            }
        }
        Ok(Some(published))
    }

    /// Serves requests and runs background jobs until `stop` completes. Requests then have 30 seconds to complete, and
    /// running jobs end as described in [`Platform::work`]. Blocking work of an interrupted job can last longer. An
    /// application that exits afterwards should therefore call
    /// [`shutdown_timeout`](tokio::runtime::Runtime::shutdown_timeout) on its runtime.
    ///
    /// # Errors
    /// Fails if a background worker panics.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServerError> {
        let Self { platform, service, .. } = self;
        let (stopping, stopped) = watch::channel(None::<Instant>);
        let mut workers = JoinSet::new();
        for _ in 0..JOB_WORKERS {
            let (platform, mut stopped) = (platform.clone(), stopped.clone());
            workers.spawn(async move {
                platform.work(async move { drop(stopped.wait_for(Option::is_some).await) }).await;
            });
        }
        let ended = async move {
            stop.await;
            tracing::info!("stop server after requests and jobs in progress");
            // Sending fails only if all workers have already ended.
            let _ = stopping.send(Some(Instant::now()));
        };
        service.run(ended, SHUTDOWN_GRACE).await;
        let stopped_at = stopped.borrow().unwrap_or_else(Instant::now);
        let joined = async {
            while let Some(ended) = workers.join_next().await {
                ended.map_err(ServerError::from_error)?;
            }
            Ok(())
        };
        timeout_at(stopped_at + SHUTDOWN_GRACE, joined).await.unwrap_or_else(|_| {
            tracing::warn!("abandon background jobs that exceed the shutdown time");
            Ok(())
        })
    }
}

/// Logs a warning if the configured token of the first administrator is not a valid token of an existing store.
async fn warn_about_unknown_token(platform: &Platform, token: &Secret) {
    match platform.authenticate(token.reveal()).await {
        Err(error) if error.kind() == ErrorKind::Unauthenticated => tracing::warn!(
            "ignore --token (DOCS_TOKEN): {error}; only the first start on a new store creates it; create tokens with \
             `docs-server admin token create`"
        ),
        Err(error) => tracing::error!("cannot check --token: {error}"),
        Ok(_) => {}
    }
}

/// Mounts the application both at the path of the base URL and at the root, because some proxies strip the path from
/// forwarded requests. Published sites and the redirect of the root take precedence over it.
fn mount_app(
    app: HttpApp,
    base: &str,
    platform: &Platform,
    limit: Option<RateLimiter>,
) -> Result<BoxEndpoint<'static>, ServerError> {
    let url = Url::parse(base).map_err(ServerError::from_error)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let files = app.clone();
    let next = match path.as_str() {
        "" => app.boxed(),
        path => Route::new().nest(path, app.clone()).nest("/", app).boxed(),
    };
    let home = Home { platform: platform.clone(), path, next };
    let home: Arc<dyn DynEndpoint<Output = Response>> = Arc::new(ToDynEndpoint(home));
    let sites = Sites::new(platform, SiteConfig::default())?;
    let pages = sites.clone().with_fallback(home.clone());
    let pages = match limit {
        Some(limit) => pages.with(limit).boxed(),
        None => pages.boxed(),
    };
    Ok(HostDispatcher { sites, pages, files, rest: home }.boxed())
}

/// Dispatches requests to site pages or to the API, each of which applies the rate limit. The files host serves nothing
/// else.
struct HostDispatcher {
    sites: Sites,
    pages: BoxEndpoint<'static>,
    files: HttpApp,
    rest: Arc<dyn DynEndpoint<Output = Response>>,
}

impl Endpoint for HostDispatcher {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if self.files.is_for_files(&request) {
            return self.files.call(request).await;
        }
        match self.sites.can_handle(&request) {
            true => self.pages.call(request).await,
            false => self.rest.call(request).await,
        }
    }
}

fn http_config(config: &ServerConfig) -> HttpConfig {
    HttpConfig {
        saml: saml_pages(config),
        rate_limit: config.rate_limit.map(RateLimit::per_minute),
        trusted_proxies: config.trusted_proxies.clone().unwrap_or_default(),
        cors: Some(Cors::from_origins(config.cors_origins.clone())),
        ..HttpConfig::default()
    }
}

/// Returns the SAML sign-in pages if the adapter is built in and enabled.
fn saml_pages(config: &ServerConfig) -> Option<SamlPages> {
    (cfg!(feature = "saml") && config.saml == SamlMode::On).then(SamlPages::default)
}
