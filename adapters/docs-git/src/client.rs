//! The Git client.

use std::{
    fmt, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use docs_ports::{Checkout, Commit, FetchRequest, GitAccess, GitError, GitRemote, PushFiles, PushRequest};
use docs_web::{Dialer, Guard};

use crate::{
    Limits, Outbound, Resolve, SystemResolver,
    address::{self, RepositoryAddress},
    bridge::channel,
    cache::{Cache, FolderLock},
    cancel::CancelOnDrop,
    checkout::{GitCheckout, GuardedRepository},
    clone::{CloneFolder, CommitSelector, FetchedCommit, History, Job, check_reference},
    disk,
    lfs::LfsHost,
    listing,
    push::{self, ParentCommit, update::Update},
    scratch::{CloneKey, Scratch},
    transport, web,
};

/// Fetches repositories over https and http URLs, and from disk where permitted, and pushes to them.
///
/// Only the commit of the ref is fetched, without its history, if the server supports shallow fetches. The fetched
/// repository is stored in a temporary folder that is deleted with the checkout, or in a cache. A repository on disk is
/// read in place.
///
/// A push sends only new objects. A push to a repository on disk runs no hooks. It is rejected if the repository has
/// hooks that could reject it.
///
/// A fetch needs a Tokio runtime with I/O and time enabled. libgit2 runs on a blocking thread.
///
/// ```no_run
/// use docs_ports::{FetchRequest, GitRemote as _};
/// use docs_git::{GitClient, Outbound};
///
/// # async fn example() -> Result<(), docs_ports::GitError> {
/// let client = GitClient::new(Outbound::Public)?;
/// let request = FetchRequest {
///     url: "https://example.com/owner/docs.git".to_owned(),
///     reference: "refs/heads/main".to_owned(),
///     cache_id: None,
/// };
/// let checkout = client.fetch(&request).await?;
/// let readme = checkout.read("README.md").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct GitClient {
    outbound: Outbound,
    resolver: Arc<dyn Resolve>,
    limits: Limits,
    cache: Option<Arc<Cache>>,
    scratch: Arc<Scratch>,
    dialer: Dialer,
}

impl GitClient {
    /// Default maximum size of the cache in bytes: 10 GB.
    pub const CACHE_BYTES: u64 = 10_000_000_000;

    /// Creates a client for the addresses that `outbound` allows, with the default [`Limits`] and no cache.
    ///
    /// The first client registers transports with libgit2 and limits its memory mappings of packs. Both settings are
    /// process-wide and not synchronized by libgit2. A program that also uses libgit2 directly must create its client
    /// before any other thread uses a repository.
    ///
    /// # Errors
    /// [`GitError::Broken`] if libgit2 or TLS cannot be set up.
    pub fn new(outbound: Outbound) -> Result<Self, GitError> {
        transport::register()?;
        Ok(Self {
            outbound,
            resolver: Arc::new(SystemResolver),
            limits: Limits::default(),
            cache: None,
            scratch: Arc::new(Scratch::system_temp()),
            dialer: Dialer::new(web::USER_AGENT).map_err(|error| GitError::Broken(error.to_string()))?,
        })
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a cache folder for requests with a cache id, of at most [`CACHE_BYTES`](Self::CACHE_BYTES).
    ///
    /// A cached repository belongs to one URL and one id. It is deleted when it exceeds the size limit of a repository.
    /// The folder must be used by one client and its clones only.
    #[must_use]
    pub fn with_cache(self, folder: impl Into<PathBuf>) -> Self {
        self.with_cache_of(folder, Self::CACHE_BYTES)
    }

    /// Adds a cache folder with a maximum total size in bytes. Temporary repositories are also stored in it while they
    /// are read.
    ///
    /// The least recently used repositories are evicted at the end of a fetch or push. Repositories in use are not
    /// evicted, so the folder may temporarily exceed the limit.
    #[must_use]
    pub fn with_cache_of(mut self, folder: impl Into<PathBuf>, bytes: u64) -> Self {
        let folder = folder.into();
        self.scratch = Arc::new(Scratch::new(folder.clone()));
        self.cache = Some(Arc::new(Cache::new(folder, bytes)));
        self
    }

    /// Same as [`with_cache_of`](Self::with_cache_of), but creates the folder if it is missing, and locks it for as
    /// long as the client or one of its clones exists.
    ///
    /// # Errors
    /// [`WouldBlock`](std::io::ErrorKind::WouldBlock) if another process or another client uses the folder. Other
    /// errors if files cannot be created in it.
    pub fn with_own_cache(self, folder: impl Into<PathBuf>, bytes: u64) -> io::Result<Self> {
        let folder = folder.into();
        let lock = FolderLock::acquire(&folder)?;
        let mut client = self.with_cache_of(folder.clone(), bytes);
        client.cache = Some(Arc::new(Cache::new(folder, bytes).with_lock(lock)));
        Ok(client)
    }

    /// Replaces the DNS resolver.
    #[must_use]
    pub fn with_resolver(mut self, resolver: impl Resolve) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    fn guard(&self) -> Guard {
        Guard::new(self.outbound, self.resolver.clone())
    }

    fn lfs_host(&self, web: &address::Web) -> LfsHost {
        let (guard, dialer) = (self.guard(), self.dialer.clone());
        LfsHost::new(web.clone(), guard, dialer, self.limits)
    }

    async fn clone_folder(&self, cache_id: Option<&String>, address: &RepositoryAddress) -> CloneFolder {
        match (&self.cache, cache_id) {
            (Some(cache), Some(id)) => CloneFolder::Cached(cache.repository(id, &address.identity()).await),
            _ => CloneFolder::Temporary(Arc::clone(&self.scratch)),
        }
    }

    /// Fetches a commit over the network and reads it. If earlier commits are also fetched and exceed a limit, fetches
    /// the commit again without them.
    async fn download<T: Send + 'static>(
        &self,
        address: RepositoryAddress,
        cache_id: Option<&String>,
        wanted: CommitSelector,
        read: impl Fn(FetchedCommit) -> Result<T, GitError> + Clone + Send + 'static,
    ) -> Result<T, GitError> {
        let receiving = Arc::new(AtomicBool::new(false));
        let recent = History::Recent(Arc::clone(&receiving));
        let result = self.attempt(address.clone(), cache_id, (wanted.clone(), recent), read.clone()).await;
        match result {
            Err(GitError::TooLarge(reason)) if receiving.load(Ordering::SeqCst) => {
                tracing::info!(%reason, "fetch the newest commit without its history");
                self.attempt(address, cache_id, (wanted, History::Omitted), read).await
            }
            result => result,
        }
    }

    async fn attempt<T: Send + 'static>(
        &self,
        address: RepositoryAddress,
        cache_id: Option<&String>,
        (wanted, history): (CommitSelector, History),
        read: impl Fn(FetchedCommit) -> Result<T, GitError> + Send + 'static,
    ) -> Result<T, GitError> {
        let work = CancelOnDrop::default();
        let (guard, limits) = (self.guard(), self.limits);
        let folder = self.clone_folder(cache_id, &address).await;
        let credentials = match &address {
            RepositoryAddress::Web(web) => web.credentials.clone(),
            RepositoryAddress::Disk(_) => None,
        };
        let (line, asks) = channel();
        let cancelled = work.cancelled();
        let source = CloneKey::new(&address.identity(), credentials.as_ref());
        let job =
            |url| Job { line, url, wanted: wanted.clone(), history, limits, credentials, source, cancelled };
        match address {
            RepositoryAddress::Disk(_) => {
                Err(GitError::Broken("a repository on disk cannot be read over the network".to_owned()))
            }
            RepositoryAddress::Web(web) => {
                let session = web::HttpSession::new(web, guard, self.dialer.clone(), limits);
                let job = job(transport::WEB_URL);
                run_both(web::serve(session, wanted, asks), move || job.run(folder, read)).await
            }
        }
    }

    /// Fetches the parent of the commit to push.
    async fn base(
        &self,
        web: &address::Web,
        request: &PushRequest,
    ) -> Result<Option<ParentCommit>, GitError> {
        let Some(parent) = Update::new(request)?.parent else { return Ok(None) };
        let address = RepositoryAddress::Web(web.clone());
        self.download(address, request.cache_id.as_ref(), CommitSelector::Commit(parent), ParentCommit::new)
            .await
            .map(Some)
    }
}

#[async_trait]
impl GitRemote for GitClient {
    fn check(&self, url: &str, reference: &str, access: GitAccess) -> Result<(), GitError> {
        check_reference(reference, access)?;
        let guard = self.guard();
        match RepositoryAddress::parse(url, self.outbound)? {
            RepositoryAddress::Disk(_) => return Ok(()),
            RepositoryAddress::Web(web) => match (web.url.host(), web.url.port_or_known_default()) {
                (Some(host), Some(port)) => guard.check(&host.to_owned(), port),
                _ => return Err(GitError::Url("the URL must have a host".to_owned())),
            },
        }
        .map_err(|error| GitError::Refused(error.to_string()))
    }

    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        let address = RepositoryAddress::parse(&request.url, self.outbound)?;
        check_reference(&request.reference, GitAccess::Fetch)?;
        let (reference, limits) = (request.reference.clone(), self.limits);
        let host = match &address {
            RepositoryAddress::Web(web) => Some(self.lfs_host(web)),
            RepositoryAddress::Disk(_) => None,
        };
        let work = async {
            if let RepositoryAddress::Disk(disk) = address {
                let work = CancelOnDrop::default();
                let cancelled = work.cancelled();
                let read = move || disk::fetch(&disk.path, &reference, limits, &cancelled);
                return listing::blocking(read).await;
            }
            let read = move |fetched: FetchedCommit| {
                let FetchedCommit { repository, commit, held, cancelled } = fetched;
                GitCheckout::read(GuardedRepository::new(repository, held), commit, limits, &cancelled)
            };
            self.download(address, request.cache_id.as_ref(), CommitSelector::Ref(reference), read).await
        };
        match tokio::time::timeout(self.limits.time, work).await {
            Ok(result) => {
                let checkout = result?;
                Ok(Box::new(match host {
                    Some(host) => checkout.with_host(host),
                    None => checkout,
                }))
            }
            Err(_) => {
                let seconds = self.limits.time.as_secs();
                Err(GitError::TooLarge(format!("the fetch exceeded its limit of {seconds} seconds")))
            }
        }
    }

    /// Requests only the list of refs, with a short time limit.
    async fn resolve(&self, request: &FetchRequest) -> Result<Option<String>, GitError> {
        let address = RepositoryAddress::parse(&request.url, self.outbound)?;
        check_reference(&request.reference, GitAccess::Fetch)?;
        let (guard, limits, reference) = (self.guard(), self.limits, request.reference.clone());
        let work = async {
            match address {
                RepositoryAddress::Disk(disk) => {
                    listing::blocking(move || disk::commit_of(&disk.path, &reference, limits)).await
                }
                RepositoryAddress::Web(web) => {
                    web::HttpSession::new(web, guard, self.dialer.clone(), limits).commit_of(&reference).await
                }
            }
        };
        match tokio::time::timeout(limits.look, work).await {
            Ok(found) => Ok(found?.map(|id| id.to_string())),
            Err(_) => {
                let seconds = limits.look.as_secs();
                Err(GitError::Unreachable(format!(
                    "listing the refs exceeded its limit of {seconds} seconds"
                )))
            }
        }
    }

    async fn push(&self, request: &PushRequest, files: &mut dyn PushFiles) -> Result<Commit, GitError> {
        check_reference(&request.reference, GitAccess::Push)?;
        match RepositoryAddress::parse(&request.url, self.outbound)? {
            RepositoryAddress::Disk(disk) => push::to_disk(disk.path, request, self.limits, files).await,
            RepositoryAddress::Web(web) => {
                let (guard, dialer) = (self.guard(), self.dialer.clone());
                let way = push::PushTransport { guard, dialer, limits: self.limits };
                push::to_web(web.clone(), way, request, files, self.base(&web, request)).await
            }
        }
    }
}

impl fmt::Debug for GitClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitClient")
            .field("outbound", &self.outbound)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Runs libgit2 and the network concurrently. If libgit2 fails, a network error is reported as the cause. If libgit2
/// succeeds, network errors are ignored.
async fn run_both<T: Send + 'static>(
    network: impl Future<Output = Result<(), GitError>> + Send,
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    let (network, work) = tokio::join!(network, listing::blocking(work));
    work.map_err(|error| network.err().unwrap_or(error))
}
