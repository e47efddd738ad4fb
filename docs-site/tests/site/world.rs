//! A platform with sites, and a client that reads them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use data_encoding::BASE64URL_NOPAD;
use docs_core::{
    Actor, Platform,
    model::{
        AddSiteSpace, ContentUpdateChange, CreateChangeRequest, CreateSite, CreateSpace, OrgId, PageId,
        PutOpenApiSpec, SiteId, SiteSpaceId, SiteSpacesInput, SiteVisibility, SpaceId, SpecSource,
        SpecVisibility, UpdateContent, UpdateOpenApiSpec, UpdateSite,
    },
    platform::{Builder, Caller, NewUser},
    ports::{Metric, Metrics, NotSealed, SealingKey, Secrets},
};
use docs_memstore::{
    CallKind, FaultPlan, FaultStore, ManualClock, MemGit, MemObjects, MemSearch, MemStore, SeededIds,
};
use docs_openapi::OpenApiReader;
use docs_site::{SiteConfig, Sites};
use hmac::{Hmac, KeyInit, Mac};
use poem::{
    Endpoint, EndpointExt as _, Request, Response,
    endpoint::{BoxEndpoint, make_sync},
    http::{Method, StatusCode, header},
};
use serde_json::{Value, json};
use sha2::Sha256;

/// The URL of the platform.
pub(crate) const BASE: &str = "http://docs.test:4000";

/// The seed of the ids and of the key of the platform.
const SEED: u64 = 7;

pub(crate) struct World {
    pub(crate) platform: Platform,
    pub(crate) clock: ManualClock,
    pub(crate) admin: Actor,
    pub(crate) org: OrgId,
    /// The repository for imports.
    pub(crate) git: MemGit,
    stores: Stores,
    app: BoxEndpoint<'static>,
}

/// A server that counts the page trees it reads and the URLs of files it encrypts.
pub(crate) struct Measured {
    pub(crate) platform: Platform,
    pub(crate) app: BoxEndpoint<'static>,
    trees: Arc<TreeReads>,
    sealed: Arc<AtomicU64>,
}

impl Measured {
    /// Returns the number of page trees that were read from content so far, and of those that were built, because they
    /// were not cached. Later calls within a second return the same numbers.
    pub(crate) async fn tree_reads(&self) -> (u64, u64) {
        self.platform.measure().await.expect("measured");
        let [hits, misses] =
            [&self.trees.hits, &self.trees.misses].map(|total| total.load(Ordering::Relaxed));
        (hits + misses, misses)
    }

    /// Returns the number of URLs of files that were encrypted so far.
    pub(crate) fn sealed_files(&self) -> u64 {
        self.sealed.load(Ordering::Relaxed)
    }
}

/// The key of the platform, which counts the URLs of files that it encrypts.
struct CountedKey {
    key: SealingKey,
    files: Arc<AtomicU64>,
}

impl Secrets for CountedKey {
    fn seal(&self, purpose: &str, secret: &str, nonce: uuid::Uuid) -> Result<String, NotSealed> {
        self.files.fetch_add(u64::from(purpose.starts_with("file of ")), Ordering::Relaxed);
        self.key.seal(purpose, secret, nonce)
    }

    fn open(&self, purpose: &str, sealed: &str) -> Result<String, NotSealed> {
        self.key.open(purpose, sealed)
    }
}

/// The numbers of page trees that were cached, and that were not.
#[derive(Debug, Default)]
struct TreeReads {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Metrics for TreeReads {
    fn add(&self, _: &'static Metric, _: &[&'static str], _: u64) {}

    fn set_total(&self, _: &'static Metric, labels: &[&'static str], total: u64) {
        match labels {
            ["trees", "hit"] => self.hits.store(total, Ordering::Relaxed),
            ["trees", "miss"] => self.misses.store(total, Ordering::Relaxed),
            _ => {}
        }
    }

    fn set(&self, _: &'static Metric, _: &[&'static str], _: f64) {}

    fn observe(&self, _: &'static Metric, _: &[&'static str], _: Duration) {}
}

/// A response.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: poem::http::HeaderMap,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }
}

impl World {
    /// Adds or replaces a specification that sites for everybody show. It is not processed yet.
    pub(crate) async fn public_spec(&self, slug: &str, text: String) {
        let spec = self.me().org(&self.org).openapi_spec(slug);
        spec.put(PutOpenApiSpec { source: SpecSource::Text(text) }).await.expect("put");
        spec.update(UpdateOpenApiSpec { visibility: SpecVisibility::Public }).await.expect("public");
    }

    pub(crate) async fn new() -> Self {
        Self::at(BASE).await
    }

    pub(crate) async fn at(base: &str) -> Self {
        let (clock, git) = (ManualClock::default(), MemGit::new());
        let objects = Arc::new(MemObjects::with_clock(Arc::new(clock.clone())));
        let stores = (FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none()), objects, Arc::default());
        let platform = platform(&stores, &clock, &git, base);
        let new = NewUser {
            display_name: "Ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
        };
        let ada = platform.as_platform().users().create(new).await.expect("a user").id;
        let title = "Engines".parse().expect("a title");
        let org = platform.as_platform().orgs().create(title, &ada).await.expect("an organization").id;
        let app = sites(&platform);
        Self { platform, clock, admin: Actor::User(ada), org, git, stores, app }
    }

    /// Creates another server over the same stores, with empty caches.
    pub(crate) fn server(&self) -> BoxEndpoint<'static> {
        sites(&platform(&self.stores, &self.clock, &self.git, BASE))
    }

    /// Creates another server over the same stores, without caches.
    pub(crate) fn forgetful(&self) -> BoxEndpoint<'static> {
        self.server_with(SiteConfig { cache_bytes: 0 })
    }

    /// Creates another server over the same stores, with empty caches of this size.
    pub(crate) fn server_with(&self, config: SiteConfig) -> BoxEndpoint<'static> {
        sites_with(&platform(&self.stores, &self.clock, &self.git, BASE), config)
    }

    /// Creates another server over the same stores, with empty caches, that counts its work.
    pub(crate) fn measured(&self) -> Measured {
        let (trees, sealed) = (Arc::<TreeReads>::default(), Arc::<AtomicU64>::default());
        // The same key as that of the other servers.
        let key = SealingKey::ephemeral(&SeededIds::new(SEED));
        let builder = builder(&self.stores, &self.clock, &self.git, BASE).metrics(trees.clone());
        let platform = builder.secrets(CountedKey { key, files: Arc::clone(&sealed) }).build();
        Measured { app: sites(&platform), platform, trees, sealed }
    }

    /// Returns the number of transactions started so far.
    pub(crate) fn begun(&self) -> u64 {
        self.stores.0.calls(CallKind::Begin)
    }

    pub(crate) fn me(&self) -> Caller<'_> {
        self.platform.as_actor(&self.admin)
    }

    pub(crate) async fn space(&self, title: &str) -> SpaceId {
        let new = CreateSpace { title: Some(title.parse().expect("a title")), ..CreateSpace::default() };
        self.me().org(&self.org).spaces().create(new).await.expect("a space").id
    }

    /// Publishes a new site with a space. Returns its id and path.
    pub(crate) async fn site(&self, title: &str, space: &SpaceId) -> (SiteId, String) {
        let new = CreateSite {
            title: title.parse().ok(),
            spaces: Some(SiteSpacesInput::Existing(vec![space.to_string()])),
            ..CreateSite::default()
        };
        let site = self.me().org(&self.org).sites().create(new).await.expect("a site").id;
        (site.clone(), self.show(&site, SiteVisibility::Public).await)
    }

    /// Publishes a site to an audience. Returns its path.
    pub(crate) async fn show(&self, site: &SiteId, visibility: SiteVisibility) -> String {
        let change = UpdateSite { visibility: Some(visibility), ..UpdateSite::default() };
        self.me().org(&self.org).site(site).update(change).await.expect("changed");
        let shown = self.me().org(&self.org).site(site).publish().await.expect("published");
        path_of(&shown.urls.published.expect("an address"))
    }

    /// Changes settings of a site.
    pub(crate) async fn update(&self, site: &SiteId, change: Value) {
        let change = serde_json::from_value(change).expect("settings");
        self.me().org(&self.org).site(site).update(change).await.expect("changed");
    }

    /// Changes the customization of a site, replacing the given fields.
    pub(crate) async fn look(&self, site: &SiteId, change: Value) {
        let org = self.me().org(&self.org);
        let look = org.site(site).get_customization().await.expect("a look");
        let mut look = serde_json::to_value(look).expect("JSON");
        for (name, value) in change.as_object().expect("an object") {
            look[name] = value.clone();
        }
        let look = serde_json::from_value(look).expect("a look");
        org.site(site).set_customization(look).await.expect("changed");
    }

    pub(crate) async fn place(&self, site: &SiteId, space: &SpaceId) -> SiteSpaceId {
        let add = AddSiteSpace { space_id: Some(space.to_string()), ..AddSiteSpace::default() };
        self.me().org(&self.org).site(site).spaces().create(add).await.expect("a place").id
    }

    /// Changes the live content of a space. Returns the created pages.
    pub(crate) async fn edit(&self, space: &SpaceId, changes: Value) -> Vec<PageId> {
        let requests = self.me().space(space);
        let request = requests.change_requests().create(CreateChangeRequest::default()).await.expect("one");
        let number = request.number.to_string();
        let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
        let done = requests.change_request(&number).edit(update).await.expect("edited");
        requests.change_request(&number).merge().await.expect("merged");
        let created = done.changes.iter().filter_map(|change| match change {
            ContentUpdateChange::CreatedPage { page, .. } => Some(page.id.clone()),
            _ => None,
        });
        created.collect()
    }

    pub(crate) async fn page(&self, space: &SpaceId, title: &str, markdown: &str) -> PageId {
        let insert =
            json!({ "operation": "insert_page", "title": title, "document": { "markdown": markdown } });
        self.edit(space, json!([insert])).await.remove(0)
    }

    /// Returns the current time, in seconds since the epoch.
    pub(crate) fn seconds(&self) -> i64 {
        docs_core::ports::Clock::now(&self.clock).timestamp()
    }

    /// Returns the signing key for a site's sign-in.
    pub(crate) async fn key(&self, site: &SiteId) -> String {
        self.me().org(&self.org).site(site).get_publishing_auth().await.expect("a key").private_key
    }

    pub(crate) async fn get(&self, path: &str) -> Got {
        self.ask(Method::GET, path, &[]).await
    }

    /// Returns the page at a path. Fails unless the status is 200.
    pub(crate) async fn html(&self, path: &str) -> String {
        let got = self.get(path).await;
        assert_eq!(got.status, StatusCode::OK, "{path}: {got:?}");
        got.body
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Got {
        Self::ask_of(&self.app, method, path, headers).await
    }

    /// Sends a request to another server.
    pub(crate) async fn ask_of(
        server: &BoxEndpoint<'static>,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Got {
        let mut request = Request::builder().method(method).uri(path.parse().expect("a path"));
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header(header::HOST, "docs.test:4000");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        got(server, request.finish()).await
    }

    /// Sends a POST request.
    pub(crate) async fn send(&self, path: &str, headers: &[(&str, &str)], body: String) -> Got {
        let mut request = Request::builder().method(Method::POST).uri(path.parse().expect("a path"));
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header(header::HOST, "docs.test:4000");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        got(&self.app, request.body(body)).await
    }

    /// Serves the sites on a free local port until the test ends. Returns the URL.
    pub(crate) async fn serve(&self) -> String {
        self.serve_at(tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port"))
    }

    /// Serves the sites on a listener until the test ends. Returns the URL.
    pub(crate) fn serve_at(&self, listener: tokio::net::TcpListener) -> String {
        let address = listener.local_addr().expect("an address");
        let next = make_sync(|_| Response::builder().status(StatusCode::IM_A_TEAPOT).finish());
        let app = Sites::new(&self.platform, SiteConfig::default()).expect("an address").with_fallback(next);
        let acceptor = poem::listener::TcpAcceptor::from_tokio(listener).expect("an acceptor");
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(app));
        format!("http://{address}")
    }
}

type Stores = (FaultStore<MemStore>, Arc<MemObjects>, Arc<MemSearch>);

/// Creates a platform over stores that can be shared.
fn platform(stores: &Stores, clock: &ManualClock, git: &MemGit, base: &str) -> Platform {
    builder(stores, clock, git, base).build()
}

fn builder((store, objects, search): &Stores, clock: &ManualClock, git: &MemGit, base: &str) -> Builder {
    let (objects, search) = (Arc::clone(objects), Arc::clone(search));
    Platform::builder(Arc::new(store.clone()), objects)
        .clock(clock.clone())
        .ids(SeededIds::new(SEED))
        .search(search)
        .git(Arc::new(git.clone()))
        .spec_reader(Arc::new(OpenApiReader))
        .base_url(base)
}

fn sites(platform: &Platform) -> BoxEndpoint<'static> {
    sites_with(platform, SiteConfig::default())
}

fn sites_with(platform: &Platform, config: SiteConfig) -> BoxEndpoint<'static> {
    let next = make_sync(|_| Response::builder().status(StatusCode::IM_A_TEAPOT).body("the next one"));
    Sites::new(platform, config).expect("an address").with_fallback(next).boxed()
}

async fn got(app: &BoxEndpoint<'static>, request: Request) -> Got {
    let response = app.get_response(request).await;
    let (parts, body) = response.into_parts();
    let body = body.into_bytes().await.expect("a body");
    Got { status: parts.status, headers: parts.headers, body: String::from_utf8_lossy(&body).into_owned() }
}

/// Returns the path of a URL.
pub(crate) fn path_of(url: &str) -> String {
    let (_, rest) = url.split_once("://").expect("an address");
    rest[rest.find('/').expect("a path")..].to_owned()
}

/// Creates a token like those of a site's sign-in.
pub(crate) fn token(key: &str, claims: &Value) -> String {
    let encoded = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
    let text = format!("{}.{}", encoded(r#"{"alg":"HS256","typ":"JWT"}"#), encoded(&claims.to_string()));
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("a key");
    mac.update(text.as_bytes());
    format!("{text}.{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes()))
}
