//! Builds a platform from its store, ports and settings.

use std::{fmt, sync::Arc, time::Duration};

use chrono::TimeDelta;

use crate::{
    content::{Content, LineMerger},
    platform::{
        host::cache_budget::CacheBudget,
        kernel::{
            audit_log::AuditLog,
            import_memory::ImportMemory,
            memory::Memory,
            metrics::{OpenTransactions, StoreObserver},
            platform::{Platform, PlatformState},
            ports::Ports,
            site_hosts::SiteHosts,
            urls::Urls,
        },
        people::orgs::ORGANIZATIONS_PER_USER,
        search::Follower,
    },
    ports::{
        Clock, Converter, GitRemote, Ids, Metrics, Pdf, Saml, SealingKey, SearchIndex, Secrets, SpecReader,
        Translator, Web,
    },
    store::{
        Objects, Store,
        jobs::{DEFAULT_LEASE, MAX_LEASE},
    },
};

/// Builder of a [`Platform`].
pub struct Builder {
    store: Arc<dyn Store>,
    objects: Arc<dyn Objects>,
    ports: Ports,
    search: Option<Arc<dyn SearchIndex>>,
    secrets: Option<Arc<dyn Secrets>>,
    audit: AuditLog,
    urls: Urls,
    files_origin: Option<String>,
    site_hosts: SiteHosts,
    job_lease: TimeDelta,
    import_memory: ImportMemory,
    caches: CacheBudget,
    organizations_per_user: u32,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("urls", &self.urls).finish_non_exhaustive()
    }
}

impl Builder {
    /// Creates a builder for a platform on a store and its objects, with the system clock and random ids.
    pub(in crate::platform) fn new(store: Arc<dyn Store>, objects: Arc<dyn Objects>) -> Self {
        let urls = Urls::new("http://127.0.0.1:4000");
        let (ports, audit) = (Ports::default(), AuditLog::default());
        Self {
            store,
            objects,
            ports,
            search: None,
            secrets: None,
            audit,
            urls,
            files_origin: None,
            site_hosts: SiteHosts::any(),
            job_lease: DEFAULT_LEASE,
            import_memory: ImportMemory::default(),
            caches: CacheBudget::default(),
            organizations_per_user: ORGANIZATIONS_PER_USER,
        }
    }

    /// Sets the clock, for example a manual one for tests. Default: the system clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.ports.clock = Arc::new(clock);
        self
    }

    /// Sets the hosts on which organizations may mount sites with `proxy`. Default: every host.
    ///
    /// If the application has host names other than those of its sites, list the site hosts, as `docs-server` does. A
    /// site mounted on one of the other names would show its pages there.
    #[must_use]
    pub fn site_hosts(mut self, hosts: SiteHosts) -> Self {
        self.site_hosts = hosts;
        self
    }

    /// Sets the id generator, for example a seeded one for tests. Default: random ids.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids) -> Self {
        self.ports.ids = Arc::new(ids);
        self
    }

    /// Sets the Git client. Without it, Git imports are rejected.
    #[must_use]
    pub fn git(mut self, git: Arc<dyn GitRemote>) -> Self {
        self.ports.git = Some(git);
        self
    }

    /// Sets the HTTP client. Without it, content specified by URL is rejected.
    #[must_use]
    pub fn web(mut self, web: Arc<dyn Web>) -> Self {
        self.ports.web = Some(web);
        self
    }

    /// Sets the document converter. Without it, imports of documents are rejected.
    #[must_use]
    pub fn converter(mut self, converter: Arc<dyn Converter>) -> Self {
        self.ports.converter = Some(converter);
        self
    }

    /// Sets the search index, which the platform keeps up to date. Without it, searches are rejected.
    ///
    /// An index belongs to one platform. Each server on a shared store has its own.
    #[must_use]
    pub fn search(mut self, index: Arc<dyn SearchIndex>) -> Self {
        self.search = Some(index);
        self
    }

    /// Sets the PDF renderer. Without it, PDF exports are rejected.
    #[must_use]
    pub fn pdf(mut self, pdf: Arc<dyn Pdf>) -> Self {
        self.ports.pdf = Some(pdf);
        self
    }

    /// Sets the reader of OpenAPI specifications. Without it, they are rejected.
    #[must_use]
    pub fn spec_reader(mut self, reader: Arc<dyn SpecReader>) -> Self {
        self.ports.spec_reader = Some(reader);
        self
    }

    /// Sets the SAML implementation. Without it, SAML sign-in is disabled.
    #[must_use]
    pub fn saml(mut self, saml: Arc<dyn Saml>) -> Self {
        self.ports.saml = Some(saml);
        self
    }

    /// Sets the translator of spaces. Default: the [pseudo-translator](crate::ports::PseudoTranslator), which only
    /// marks the text that would be translated.
    #[must_use]
    pub fn translator(mut self, translator: Arc<dyn Translator>) -> Self {
        self.ports.translator = translator;
        self
    }

    /// Sets the metrics sink. Without it, nothing is recorded. [`METRICS`](crate::platform::metrics::METRICS)
    /// lists all metrics.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.ports.metrics = metrics;
        self
    }

    /// Sets the implementation that seals secrets. Default: a key with the lifetime of the process.
    #[must_use]
    pub fn secrets(mut self, secrets: impl Secrets) -> Self {
        self.secrets = Some(Arc::new(secrets));
        self
    }

    /// Sets the audit log. Default: [`AuditLog::default`].
    #[must_use]
    pub fn audit(mut self, audit: AuditLog) -> Self {
        self.audit = audit;
        self
    }

    /// Sets the lease of running jobs. If it is not renewed in time, another worker takes over the job. Default:
    /// [`DEFAULT_LEASE`].
    ///
    /// A worker renews its lease after a third of this time. Values are clamped to between one second and one day. The
    /// clock skew between servers on one store must be less than the lease. Otherwise work may be done twice, but it
    /// still completes only once.
    #[must_use]
    pub fn job_lease(mut self, lease: Duration) -> Self {
        let lease = TimeDelta::from_std(lease).unwrap_or(MAX_LEASE);
        self.job_lease = lease.clamp(TimeDelta::seconds(1), MAX_LEASE);
        self
    }

    /// Sets the total memory for fetched and imported documents, in bytes. The default is in
    /// [`LIMITS`](crate::platform::LIMITS). An import waits until enough memory is released. One organization may use
    /// at most as much memory as it leaves free for others.
    #[must_use]
    pub fn import_memory(mut self, bytes: u64) -> Self {
        self.import_memory = ImportMemory::new(bytes);
        self
    }

    /// Sets the memory of the caches. Default: 416 MiB together.
    ///
    /// The caches of published sites are part of the budget, but belong to the embedding application: it passes
    /// [`site_bytes`](CacheBudget::site_bytes) to them.
    #[must_use]
    pub const fn caches(mut self, budget: CacheBudget) -> Self {
        self.caches = budget;
        self
    }

    /// Sets the number of organizations that each user can create. The default is in
    /// [`LIMITS`](crate::platform::LIMITS). With 0, only the platform itself can create organizations.
    #[must_use]
    pub const fn organizations_per_user(mut self, most: u32) -> Self {
        self.organizations_per_user = most;
        self
    }

    /// Sets the base URL of all URLs in responses.
    #[must_use]
    pub fn base_url(mut self, base: &str) -> Self {
        self.urls = Urls::new(base);
        self
    }

    /// Sets a separate origin for file URLs, such as `https://files.example.net`: scheme, host and optional port.
    /// Default: the base URL.
    ///
    /// Files are uploaded by users. Browsers isolate scripts of another origin from the platform, so choose a host that
    /// shares no registrable domain with the platform. Requests to both must reach the same application.
    #[must_use]
    pub fn files_origin(mut self, origin: &str) -> Self {
        self.files_origin = Some(origin.to_owned());
        self
    }

    #[must_use]
    pub fn build(self) -> Platform {
        let Self {
            store,
            objects,
            ports,
            search,
            secrets,
            audit,
            urls,
            files_origin,
            site_hosts,
            job_lease,
            import_memory,
            caches,
            organizations_per_user,
        } = self;
        // A site on the file host would share an origin with uploaded files.
        let (urls, site_hosts) = match files_origin {
            Some(origin) => {
                let host = origin.split_once("://").map_or(origin.as_str(), |(_, host)| host);
                (urls.with_files_origin(&origin), site_hosts.with_excluded_host(host))
            }
            None => (urls, site_hosts),
        };
        let open = Arc::new(OpenTransactions::default());
        let memory = Memory::default();
        memory.insert(import_memory);
        caches.insert_caches(&memory);
        if let Some(index) = search {
            memory.insert(Follower::new(index, ports.clock.now()));
        }
        let inner = PlatformState {
            memory,
            secrets: secrets.unwrap_or_else(|| Arc::new(SealingKey::ephemeral(ports.ids.as_ref()))),
            content: Content::with_config(Arc::clone(&objects), caches.content, Arc::new(LineMerger)),
            job_lease,
            organizations_per_user,
            observer: Arc::new(StoreObserver {
                open: Arc::clone(&open),
                metrics: Arc::clone(&ports.metrics),
            }),
            open,
            prove_right: |platform, right, tx, actor| Box::pin(right.prove(platform, tx, actor)),
            store,
            objects,
            ports,
            audit,
            site_hosts: site_hosts.with_base(urls.base()),
            urls,
        };
        Platform { inner: Arc::new(inner), request: None, precondition: None }
    }
}

impl Platform {
    /// Creates a builder for a platform on a store and its objects, with the system clock and random ids.
    ///
    /// # Example
    /// ```
    /// # use std::sync::Arc;
    /// # use docs_core::Platform;
    /// # use docs_memstore::{MemObjects, MemStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (store, objects) = (Arc::new(MemStore::new()), Arc::new(MemObjects::new()));
    /// let platform = Platform::builder(store, objects).base_url("https://docs.example.com").build();
    /// platform.ready().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn builder(store: Arc<dyn Store>, objects: Arc<dyn Objects>) -> Builder {
        Builder::new(store, objects)
    }
}
