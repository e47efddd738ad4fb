//! How a platform is put together: its store, its ports, its settings.

use std::{fmt, sync::Arc, time::Duration};

use chrono::TimeDelta;

use super::{
    AuditLog, Inner, Platform, SiteHosts, Urls, computed, import,
    metrics::{Measuring, OpenTransactions, StoreObserver},
    openapi_specs, pdf, saml,
    search::Follower,
    visitors,
};
use crate::{
    content::Content,
    ports::{
        Clock, Converter, GitRemote, Ids, Metrics, NoMetrics, Pdf, PseudoTranslator, RandomIds, Saml,
        SealingKey, SearchIndex, Secrets, SpecReader, SystemClock, Translator, Web,
    },
    store::{
        Objects, Store,
        jobs::{LEASE, MAX_LEASE},
    },
};

/// The ports that operations ask. What needs one that is `None` is refused.
pub(super) struct Ports {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Arc<dyn Ids>,
    pub(super) git: Option<Arc<dyn GitRemote>>,
    pub(super) web: Option<Arc<dyn Web>>,
    pub(super) converter: Option<Arc<dyn Converter>>,
    pub(super) pdf: Option<Arc<dyn Pdf>>,
    pub(super) spec_reader: Option<Arc<dyn SpecReader>>,
    pub(super) saml: Option<Arc<dyn Saml>>,
    pub(super) translator: Arc<dyn Translator>,
    pub(super) metrics: Arc<dyn Metrics>,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            git: None,
            web: None,
            converter: None,
            pdf: None,
            spec_reader: None,
            saml: None,
            translator: Arc::new(PseudoTranslator),
            metrics: Arc::new(NoMetrics),
        }
    }
}

/// What a platform is made of.
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
    import_memory: import::ImportMemory,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("urls", &self.urls).finish_non_exhaustive()
    }
}

impl Builder {
    /// A platform over a store and its objects, with the machine's clock and random ids.
    pub(super) fn new(store: Arc<dyn Store>, objects: Arc<dyn Objects>) -> Self {
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
            job_lease: LEASE,
            import_memory: import::ImportMemory::default(),
        }
    }

    /// Takes the time from somewhere else, such as a manual clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.ports.clock = Arc::new(clock);
        self
    }

    /// The hosts that organizations may mount sites on by `proxy`; every host when absent. A program whose server
    /// answers under more names than the sites have lists them, as the server of this project does: a site that is
    /// mounted on another name of the platform shows its pages there.
    #[must_use]
    pub fn site_hosts(mut self, hosts: SiteHosts) -> Self {
        self.site_hosts = hosts;
        self
    }

    /// Takes ids from somewhere else, such as a seeded source.
    #[must_use]
    pub fn ids(mut self, ids: impl Ids) -> Self {
        self.ports.ids = Arc::new(ids);
        self
    }

    /// Reads Git repositories through this; without it, Git imports are refused.
    #[must_use]
    pub fn git(mut self, git: Arc<dyn GitRemote>) -> Self {
        self.ports.git = Some(git);
        self
    }

    /// Fetches from the web through this; without it, content that only has an address is refused.
    #[must_use]
    pub fn web(mut self, web: Arc<dyn Web>) -> Self {
        self.ports.web = Some(web);
        self
    }

    /// Reads documents of other formats through this; without it, imports of documents are refused.
    #[must_use]
    pub fn converter(mut self, converter: Arc<dyn Converter>) -> Self {
        self.ports.converter = Some(converter);
        self
    }

    /// Searches with this index, which the platform keeps up to date; without it, searches are refused.
    ///
    /// An index belongs to one platform. Servers that share a store each have their own.
    #[must_use]
    pub fn search(mut self, index: Arc<dyn SearchIndex>) -> Self {
        self.search = Some(index);
        self
    }

    /// Makes PDF files with this; without it, they are refused.
    #[must_use]
    pub fn pdf(mut self, pdf: Arc<dyn Pdf>) -> Self {
        self.ports.pdf = Some(pdf);
        self
    }

    /// Reads OpenAPI specifications with this; without it, they are refused.
    #[must_use]
    pub fn spec_reader(mut self, reader: Arc<dyn SpecReader>) -> Self {
        self.ports.spec_reader = Some(reader);
        self
    }

    /// Reads what SAML identity providers say with this, and asks them; without it, nobody signs in through them.
    #[must_use]
    pub fn saml(mut self, saml: Arc<dyn Saml>) -> Self {
        self.ports.saml = Some(saml);
        self
    }

    /// Translates spaces with this; without it, with the [pseudo-translator](PseudoTranslator), which knows no language
    /// and only shows what would be translated.
    #[must_use]
    pub fn translator(mut self, translator: Arc<dyn Translator>) -> Self {
        self.ports.translator = translator;
        self
    }

    /// Counts with this what operators watch; without it, nothing is counted. [`METRICS`](super::metrics::METRICS)
    /// lists all of it.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.ports.metrics = metrics;
        self
    }

    /// Seals secrets with this; without it, with a key that lives as long as the process.
    #[must_use]
    pub fn secrets(mut self, secrets: impl Secrets) -> Self {
        self.secrets = Some(Arc::new(secrets));
        self
    }

    /// Keeps the audit log like this; without it, for a year.
    #[must_use]
    pub fn audit(mut self, audit: AuditLog) -> Self {
        self.audit = audit;
        self
    }

    /// Gives a background job to another worker when nothing was heard of the one that has it for this long; without
    /// it, for [`LEASE`].
    ///
    /// A worker tells that it lives each third of that. Less than a second becomes a second, and more than a day a day.
    /// The clocks of servers on one store may differ by less than that only; where they differ by more, work is done
    /// twice, but ends once all the same.
    #[must_use]
    pub fn job_lease(mut self, lease: Duration) -> Self {
        let lease = TimeDelta::from_std(lease).unwrap_or(MAX_LEASE);
        self.job_lease = lease.clamp(TimeDelta::seconds(1), MAX_LEASE);
        self
    }

    /// Sets the bytes of memory that all imports may take together; [`LIMITS`](super::LIMITS) has the default. An import
    /// waits until others have given back the memory that it needs. One that needs more than the budget runs alone.
    #[must_use]
    pub fn import_memory(mut self, bytes: u64) -> Self {
        self.import_memory = import::ImportMemory::new(bytes);
        self
    }

    /// Makes the addresses in answers begin with this.
    #[must_use]
    pub fn base_url(mut self, base: &str) -> Self {
        self.urls = Urls::new(base);
        self
    }

    /// Makes the addresses of files begin with an origin of their own, such as `https://files.example.net`: scheme and
    /// host, with a port if wanted. Without it they begin with the base address.
    ///
    /// Files are written by users. A browser keeps what it runs of another origin away from the platform's, so choose a
    /// host that shares no registrable domain with the platform. Requests for both have to reach the same application.
    #[must_use]
    pub fn files_origin(mut self, origin: &str) -> Self {
        self.files_origin = Some(origin.to_owned());
        self
    }

    /// The platform.
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
        } = self;
        let urls = match files_origin {
            Some(origin) => urls.with_files_origin(&origin),
            None => urls,
        };
        let open = Arc::new(OpenTransactions::default());
        let inner = Inner {
            secrets: secrets.unwrap_or_else(|| Arc::new(SealingKey::of_process(ports.ids.as_ref()))),
            content: Content::new(Arc::clone(&objects)),
            follower: search.map(|index| Follower::new(index, ports.clock.now())),
            turns: super::jobs::Turns::default(),
            job_lease,
            import_memory,
            pdf_news: pdf::PdfNews::default(),
            spec_pages: computed::SpecPagesCache::default(),
            spec_details: openapi_specs::SpecDetailCache::default(),
            unsigned: saml::Unsigned::default(),
            shown_files: visitors::ShownFiles::default(),
            observer: Arc::new(StoreObserver {
                open: Arc::clone(&open),
                metrics: Arc::clone(&ports.metrics),
            }),
            open,
            measuring: Measuring::default(),
            store,
            objects,
            ports,
            audit,
            site_hosts: site_hosts.below(urls.base()),
            urls,
        };
        Platform { inner: Arc::new(inner), request: None, precondition: None }
    }
}
