//! What the examples share: a platform in memory, and the first organization of a new server.

use std::{error::Error, fmt, path::PathBuf, str::FromStr, sync::Arc};

use docs_blobs::ObjectBlobs;
use docs_core::{
    Actor, ErrorKind, Platform,
    model::{
        CreateSite, CreateSpace, ImportGitRepository, OrgId, SiteId, SiteSpacesInput, SiteTitle, SpaceId,
        SpaceTitle,
    },
    platform::{NewUser, SetUp},
    store::{Objects, Store},
};
use docs_git::EmbeddedCheckout;
use docs_memstore::{MemObjects, MemSearch, MemStore};
use docs_sqlstore::{OpenError, Options, PostgresStore, SqliteStore};
use include_dir::{Dir, DirEntry, include_dir};
use url::Url;

/// The handbook, compiled in.
static HANDBOOK: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/handbook");

/// The address by which the compiled-in handbook is imported; no host is asked for it.
pub const HANDBOOK_URL: &str = "file:///handbook";
/// The ref of everything that is not a repository.
pub const MAIN: &str = "refs/heads/main";

/// Where a server keeps everything.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// In memory: gone when the server ends.
    Memory,
    /// In one file.
    Sqlite(PathBuf),
    /// In a PostgreSQL database, by its URL; it may hold a password.
    Postgres(String),
}

/// Without the URL, which may hold a password.
impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "Memory",
            Self::Sqlite(_) => "Sqlite",
            Self::Postgres(_) => "Postgres",
        })
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "memory" => Ok(Self::Memory),
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(Self::Postgres(text.to_owned()))
            }
            // The text is not repeated: it may hold a password.
            _ => {
                Err("must be `memory`, `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`".to_owned())
            }
        }
    }
}

/// Opens the store of a server, and its objects; large ones lie among `blobs`, where there are any.
///
/// # Errors
/// When the database cannot be used; the sentence says why.
pub async fn open(
    place: &Place,
    blobs: Option<ObjectBlobs>,
) -> Result<(Arc<dyn Store>, Arc<dyn Objects>), OpenError> {
    let options = match blobs {
        Some(blobs) => Options::new().blobs(Arc::new(blobs)),
        None => Options::new(),
    };
    Ok(match place {
        Place::Memory => (Arc::new(MemStore::new()), Arc::new(MemObjects::new())),
        Place::Sqlite(path) => {
            let store = SqliteStore::open(path, options).await?;
            let objects = store.objects();
            (Arc::new(store), Arc::new(objects))
        }
        Place::Postgres(url) => {
            let store = PostgresStore::open(url, options).await?;
            let objects = store.objects();
            (Arc::new(store), Arc::new(objects))
        }
    })
}

/// The compiled-in handbook as a commit.
///
/// # Errors
/// Never, unless the handbook was compiled in wrongly.
pub fn handbook() -> Result<EmbeddedCheckout, Box<dyn Error + Send + Sync>> {
    let mut files = Vec::new();
    let mut folders = vec![&HANDBOOK];
    while let Some(folder) = folders.pop() {
        for entry in folder.entries() {
            match entry {
                DirEntry::Dir(folder) => folders.push(folder),
                DirEntry::File(file) => {
                    files.push((file.path().to_str().ok_or("a path that is not text")?, file.contents()));
                }
            }
        }
    }
    // The list lives as long as the program, like the files it points to.
    let files: &'static [(&'static str, &'static [u8])] = Vec::leak(files);
    Ok(EmbeddedCheckout::new("The handbook", Default::default(), files)?)
}

/// A platform with its first organization.
pub struct Setup {
    /// The platform.
    pub platform: Platform,
    /// The administrator's token.
    pub token: String,
    /// The organization.
    pub org: OrgId,
    /// The administrator.
    pub admin: Actor,
}

/// Without the token.
impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup").field("org", &self.org).field("admin", &self.admin).finish_non_exhaustive()
    }
}

/// A platform in memory with one organization and an administrator.
///
/// # Errors
/// The platform's.
pub async fn in_memory(base_url: &str) -> Result<Setup, Box<dyn Error + Send + Sync>> {
    let builder = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new()));
    let platform = builder.base_url(base_url).search(Arc::new(MemSearch::new())).build();
    first_start(&platform, None).await?.ok_or_else(|| "a new store has no data".into())
}

/// Creates the first organization and its administrator; `None` on a store that has data.
///
/// # Errors
/// The platform's.
pub async fn first_start(
    platform: &Platform,
    token: Option<&str>,
) -> Result<Option<Setup>, Box<dyn Error + Send + Sync>> {
    let new = SetUp {
        administrator: NewUser {
            display_name: "Administrator".parse()?,
            email: "admin@docs.example".parse()?,
        },
        organization: "Documentation".parse()?,
        token: token.map(str::to_owned),
    };
    let done = match platform.set_up(&Actor::Platform, new).await {
        Err(error) if error.kind() == ErrorKind::Conflict => return Ok(None),
        done => done?,
    };
    let (token, admin) = (done.token.secret, Actor::User(done.administrator));
    Ok(Some(Setup { platform: platform.clone(), token, org: done.organization, admin }))
}

/// Starts importing a repository into a new space, and publishes it as a site.
///
/// # Errors
/// The platform's.
pub async fn publish(
    setup: &Setup,
    title: &str,
    url: &str,
) -> Result<(SpaceId, SiteId), Box<dyn Error + Send + Sync>> {
    let Setup { platform, org, admin, .. } = setup;
    let space = CreateSpace { title: SpaceTitle::cut(title), ..CreateSpace::default() };
    let space = platform.create_space(admin, org, space).await?.id;
    let spaces = Some(SiteSpacesInput::Existing(vec![space.to_string()]));
    let site = CreateSite { title: SiteTitle::cut(title), spaces, ..CreateSite::default() };
    let site = platform.create_site(admin, org, site).await?.id;
    platform.publish_site(admin, org, &site).await?;
    let import = ImportGitRepository {
        url: url.parse()?,
        reference: MAIN.parse()?,
        repo_cache_id: None,
        repo_tree_url: None,
        repo_commit_url: None,
        repo_project_directory: None,
        timestamp: None,
        force: None,
        standalone: None,
        git_info: None,
    };
    platform.import_git(admin, &space, import).await?;
    Ok((space, site))
}

/// Tells why the import into a space failed, if it did.
///
/// # Errors
/// The sentence the job ended with; the platform's errors.
pub async fn imported(setup: &Setup, space: &SpaceId) -> Result<(), Box<dyn Error + Send + Sync>> {
    let jobs = setup.platform.jobs_of_space(&setup.admin, space).await?;
    match jobs.iter().find_map(|job| job.error.clone()) {
        Some(why) => Err(why.into()),
        None => Ok(()),
    }
}

/// Reads an address under which others reach the server: absolute, and without a slash at its end.
///
/// # Errors
/// When it is none.
pub fn base_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|e| format!("{e}; write it like https://docs.example.com"))?;
    match url.scheme() {
        "http" | "https" if url.query().is_none() && url.fragment().is_none() => {
            Ok(text.trim_end_matches('/').to_owned())
        }
        _ => Err("must be an http or https address without `?` and `#`".to_owned()),
    }
}

/// Reads a token as an HTTP header can carry it.
///
/// # Errors
/// When it is too short, or has other characters than letters, digits and `-._~+/=` (RFC 6750).
pub fn token(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
    if text.len() < 16 || !text.chars().all(fits) {
        return Err("must be at least 16 letters, digits or characters of -._~+/=".to_owned());
    }
    Ok(text.to_owned())
}

/// Waits for SIGINT or SIGTERM.
pub async fn signalled() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without a way to hear of the signal the server runs until it is killed.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
