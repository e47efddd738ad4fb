//! A server from its start to its end.

use std::{io, sync::Arc, time::Duration};

use docs_core::Platform;
use docs_http::{Cors, HttpApp, HttpConfig, RateLimit, RateLimiter, SamlPages, metrics::Registry};
use docs_site::{SiteConfig, Sites};
use poem::{
    Endpoint, EndpointExt as _, Request, Response, Route,
    endpoint::{BoxEndpoint, DynEndpoint, ToDynEndpoint},
};
use tokio::{sync::watch, task::JoinSet};
use url::Url;

use crate::{
    FirstStart, SamlMode, ServerConfig, ServerError, StoreUrl, adapters,
    adapters::FirstImport,
    config::base_url,
    home::Home,
    serve::Service,
    setup::{self, Published},
};

/// How long requests in flight may take when the server stops.
const GRACE: Duration = Duration::from_secs(30);

/// Jobs that are done at a time: a long import keeps no PDF file waiting.
const WORKERS: usize = 4;

/// A server that listens, over an open store.
pub struct Server {
    platform: Platform,
    service: Service,
    base: String,
    store: StoreUrl,
    first: Option<FirstStart>,
    import: FirstImport,
}

/// Without the token.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("base", &self.base).field("store", &self.store).finish_non_exhaustive()
    }
}

impl Server {
    /// Listens, opens the store, and makes the first organization and its administrator where the store is new. Nothing
    /// is answered before [`serve`](Self::serve).
    ///
    /// # Errors
    /// [`ServerError`] names the flag whose value cannot be used, which is also that of the field of `config`.
    pub async fn start(config: ServerConfig) -> Result<Self, ServerError> {
        let cannot = |source: io::Error| ServerError::Listen { address: config.bind.to_string(), source };
        let listener = config.bind.listen().await.map_err(cannot)?;
        let port = listener.local_addr().map_err(cannot)?.port();
        let given = config.base_url.as_deref().map(base_url).transpose();
        let given = given.map_err(|why| ServerError::flag("--base-url", why))?;
        let base = given.clone().unwrap_or_else(|| format!("http://{}", config.bind.shown(port)));
        if given.is_none() && config.bind.is_unspecified() {
            tracing::warn!(
                "the server listens on all addresses of this machine, and addresses in answers begin with {base}; \
                 --base-url says under which address others reach it"
            );
        }
        let registry = Arc::new(Registry::default());
        let (platform, import) = adapters::platform(&config, &base, registry.clone()).await?;
        let http = HttpConfig { registry: Some(registry), ..http_config(&config) };
        // Where nobody says what others call the server, its document names no host either.
        let server_url = given.map(|base| format!("{base}{}", http.api_path));
        let app =
            docs_http::routes(&platform, HttpConfig { server_url, ..http }).map_err(ServerError::other)?;
        let limit = config.rate_limit.map(RateLimit::per_minute);
        let limit = limit.map(|limit| limit.middleware(config.trusted_proxies.clone().unwrap_or_default()));
        let app = mounted(app, &base, (&platform, limit))?;
        let proxies = config.trusted_proxies.clone().unwrap_or_default();
        let service = Service::new(app, listener, (config.connections.clone(), proxies));
        let first = setup::first_start(&platform, config.token.as_ref()).await?;
        Ok(Self { platform, service, base, store: config.store, first, import })
    }

    /// The address under which others reach the server, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base
    }

    /// The platform that is served.
    #[must_use]
    pub const fn platform(&self) -> &Platform {
        &self.platform
    }

    /// The organization and the token of its administrator that were made because the store was new.
    #[must_use]
    pub const fn first_start(&self) -> Option<&FirstStart> {
        self.first.as_ref()
    }

    /// Makes the first space of a new store, imports into it what `--import` names or the handbook, and publishes it as
    /// a site. A repository that has to be fetched is imported by a job later on.
    ///
    /// # Errors
    /// When the store is not new, or the import fails of a server in memory, which would be of no use. A store that
    /// lasts is there for another try.
    pub async fn publish_first(&self) -> Result<Published, ServerError> {
        let first = self.first.as_ref().ok_or_else(|| ServerError::other("the store is not new"))?;
        let published = setup::create_site(&self.platform, first, &self.import.title).await?;
        let Some(source) = &self.import.source else { return Ok(published) };
        setup::import(&self.platform, first, &published.space, &source.url).await?;
        if source.is_at_hand {
            self.platform.settle().await?;
            match setup::imported(&self.platform, first, &published.space).await {
                Err(why) if self.store != StoreUrl::Memory => tracing::error!("--import: {why}"),
                imported => imported.map_err(|why| ServerError::flag("--import", why))?,
            }
        }
        Ok(published)
    }

    /// Answers requests and does background work until `stop` ends. Requests and jobs in flight are finished first.
    ///
    /// # Errors
    /// When a background worker panics.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<(), ServerError> {
        let Self { platform, service, .. } = self;
        let (stopping, stopped) = watch::channel(false);
        let mut workers = JoinSet::new();
        for _ in 0..WORKERS {
            let (platform, mut stopped) = (platform.clone(), stopped.clone());
            workers.spawn(async move {
                platform.work(async move { drop(stopped.wait_for(|stop| *stop).await) }).await;
            });
        }
        let ended = async move {
            stop.await;
            tracing::info!("stopping: requests and jobs in flight are finished first");
            // The workers may have ended already; then nobody has to hear it.
            let _ = stopping.send(true);
        };
        service.run(ended, GRACE).await;
        while let Some(ended) = workers.join_next().await {
            ended.map_err(ServerError::other)?;
        }
        Ok(())
    }
}

/// The application below the path of the address that others use, and at the root: some proxies take the path away
/// before they forward a request, others leave it. Published sites stand before it, and what the root leads to.
fn mounted(
    app: HttpApp,
    base: &str,
    (platform, limit): (&Platform, Option<RateLimiter>),
) -> Result<BoxEndpoint<'static>, ServerError> {
    let url = Url::parse(base).map_err(ServerError::other)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let files = app.clone();
    let next = match path.as_str() {
        "" => app.boxed(),
        path => Route::new().nest(path, app.clone()).nest("/", app).boxed(),
    };
    let home = Home { platform: platform.clone(), path, next };
    let home: Arc<dyn DynEndpoint<Output = Response>> = Arc::new(ToDynEndpoint(home));
    let sites = Sites::new(platform, SiteConfig::default())?;
    let pages = sites.clone().before(home.clone());
    let pages = match limit {
        Some(limit) => pages.with(limit).boxed(),
        None => pages.boxed(),
    };
    Ok(Front { sites, pages, files, rest: home }.boxed())
}

/// Sends requests to where they are counted: those of sites here, those of the API by itself. On the host of files
/// nothing else is answered.
struct Front {
    sites: Sites,
    pages: BoxEndpoint<'static>,
    files: HttpApp,
    rest: Arc<dyn DynEndpoint<Output = Response>>,
}

impl Endpoint for Front {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if self.files.is_for_files(&request) {
            return self.files.call(request).await;
        }
        match self.sites.may_answer(&request) {
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
        cors: Some(Cors::origins(config.cors_origins.clone())),
        ..HttpConfig::default()
    }
}

/// Where people sign in. Without the adapter, nobody could.
fn saml_pages(config: &ServerConfig) -> Option<SamlPages> {
    (cfg!(feature = "saml") && config.saml == SamlMode::On).then(SamlPages::default)
}
