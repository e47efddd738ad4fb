//! The client: a remote for repositories anywhere.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use docs_ports::{Checkout, Commit, FetchRequest, GitAccess, GitError, GitRemote, PushFiles, PushRequest};
use docs_web::{Dialer, Guard};
use parking_lot::Mutex;

use crate::{
    Limits, Outbound, Resolve, SystemResolver,
    address::{self, Address, Daemon},
    checkout::GitCheckout,
    clone::{CloneFolder, Job, Source, check_reference},
    daemon,
    line::line,
    listing, transport, web,
};

/// Fetches repositories over https, http and git, and from disks where that is allowed.
///
/// Only the commit of the ref is fetched, without its history, from servers that can do that. What is fetched stands in
/// a temporary folder that goes with the checkout, or in a cache.
///
/// A fetch needs a Tokio runtime with input, output and time; libgit2 runs in a thread for blocking work.
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
    dialer: Dialer,
}

impl GitClient {
    /// A client that connects to what `outbound` allows, with the default [`Limits`] and no cache.
    ///
    /// The first one registers our transports with libgit2, which does not lock their list. A program that uses libgit2
    /// on its own as well has to make its client before another thread of it connects to a remote.
    ///
    /// # Errors
    /// [`GitError::Broken`] when libgit2 or TLS cannot be set up.
    pub fn new(outbound: Outbound) -> Result<Self, GitError> {
        transport::register()?;
        Ok(Self {
            outbound,
            resolver: Arc::new(SystemResolver),
            limits: Limits::default(),
            cache: None,
            dialer: Dialer::new(web::USER_AGENT).map_err(|error| GitError::Broken(error.to_string()))?,
        })
    }

    /// The same client with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same client with a folder that keeps repositories for requests with a cache id.
    ///
    /// A kept repository belongs to one URL and one id. It is deleted when it has grown over the limit of bytes.
    #[must_use]
    pub fn with_cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(Arc::new(Cache { folder: folder.into(), busy: Mutex::default() }));
        self
    }

    /// The same client with another way to find the addresses of names.
    #[must_use]
    pub fn with_resolver(mut self, resolver: impl Resolve) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    fn guard(&self) -> Guard {
        Guard::new(self.outbound, self.resolver.clone())
    }

    async fn clone_folder(&self, request: &FetchRequest, address: &Address) -> CloneFolder {
        match (&self.cache, &request.cache_id) {
            (Some(cache), Some(id)) => cache.clone_folder(id, &address.identity()).await,
            _ => CloneFolder::Temporary,
        }
    }

    async fn run(&self, address: Address, job: JobParts) -> Result<GitCheckout, GitError> {
        let guard = self.guard();
        let (line, asks) = line();
        match address {
            Address::Disk(disk) => listing::blocking(move || job.with(Source::Disk(disk)).run()).await,
            Address::Web(web) => {
                let session = web::Session::new(web, guard, self.dialer.clone(), self.limits);
                let job = job.with(Source::Network(line, transport::WEB_URL));
                both(web::serve(session, asks), job).await
            }
            Address::Daemon(address) => {
                let job = job.with(Source::Network(line, transport::DAEMON_URL));
                both(daemon::serve(address, guard, self.limits, asks), job).await
            }
        }
    }
}

#[async_trait]
impl GitRemote for GitClient {
    fn check(&self, url: &str, reference: &str, access: GitAccess) -> Result<(), GitError> {
        check_reference(reference, access)?;
        let guard = self.guard();
        match Address::parse(url, self.outbound)? {
            Address::Daemon(_) if access == GitAccess::Push => return Err(address::read_only()),
            Address::Disk(_) => return Ok(()),
            Address::Daemon(Daemon { host, port, .. }) => guard.check(&host, port),
            Address::Web(web) => match (web.url.host(), web.url.port_or_known_default()) {
                (Some(host), Some(port)) => guard.check(&host.to_owned(), port),
                _ => return Err(GitError::Url("the URL has no host".to_owned())),
            },
        }
        .map_err(|error| GitError::Refused(error.to_string()))
    }

    async fn fetch(&self, request: &FetchRequest) -> Result<Box<dyn Checkout>, GitError> {
        let address = Address::parse(&request.url, self.outbound)?;
        check_reference(&request.reference, GitAccess::Fetch)?;
        let stop = StopOnDrop::default();
        let work = async {
            let job = JobParts {
                reference: request.reference.clone(),
                limits: self.limits,
                folder: self.clone_folder(request, &address).await,
                cancelled: stop.0.clone(),
            };
            self.run(address, job).await
        };
        match tokio::time::timeout(self.limits.time, work).await {
            Ok(result) => Ok(Box::new(result?)),
            Err(_) => {
                let seconds = self.limits.time.as_secs();
                Err(GitError::Unreachable(format!("fetching took longer than {seconds} seconds")))
            }
        }
    }

    async fn push(&self, request: &PushRequest, _files: &mut dyn PushFiles) -> Result<Commit, GitError> {
        self.check(&request.url, &request.reference, GitAccess::Push)?;
        Err(GitError::Refused("this client does not push yet".to_owned()))
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

/// Runs libgit2 and the network side by side. When libgit2 fails, the network may know why; when it does not, it has
/// all it needs, however the connection ended.
async fn both(
    network: impl Future<Output = Result<(), GitError>> + Send,
    job: Job,
) -> Result<GitCheckout, GitError> {
    let (network, work) = tokio::join!(network, listing::blocking(move || job.run()));
    work.map_err(|error| network.err().unwrap_or(error))
}

/// A job without its source.
struct JobParts {
    reference: String,
    limits: Limits,
    folder: CloneFolder,
    cancelled: Arc<AtomicBool>,
}

impl JobParts {
    fn with(self, source: Source) -> Job {
        let Self { reference, limits, folder, cancelled } = self;
        Job { source, reference, limits, folder, cancelled }
    }
}

/// Tells the thread of libgit2 that nobody waits any more.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The folder that keeps repositories.
struct Cache {
    folder: PathBuf,
    /// A lock for each repository that is in use.
    busy: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl Cache {
    /// The folder of a repository, when nobody else writes to it.
    ///
    /// The name is made from the URL too: who may choose an id must not get at what somebody else fetched.
    async fn clone_folder(&self, id: &str, identity: &str) -> CloneFolder {
        let mut hasher = blake3::Hasher::new_derive_key("docs-git cache of repositories");
        hasher.update(&(id.len() as u64).to_le_bytes());
        hasher.update(id.as_bytes());
        hasher.update(identity.as_bytes());
        let name = hasher.finalize().to_hex().to_string();
        let lock = {
            let mut busy = self.busy.lock();
            busy.retain(|_, lock| Arc::strong_count(lock) > 1);
            busy.entry(name.clone()).or_default().clone()
        };
        CloneFolder::Kept(self.folder.join(format!("{name}.git")), lock.lock_owned().await)
    }
}
