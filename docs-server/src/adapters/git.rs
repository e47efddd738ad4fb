//! Git repositories available for import: on the network, in a local folder, and the embedded handbook.

use std::{
    borrow::Cow,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use docs_core::ports::{Checkout as _, GitRemote};
use docs_git::{EmbeddedCheckout, FolderCheckout, GitClient, Limits, LocalRemote, Outbound};
use rust_embed::RustEmbed;
use url::Url;

use super::first_import::{FirstImport, FirstImportSource};
use crate::{
    ByteSize, GitCachePlace, HANDBOOK_URL, ImportSource, MAIN_REF, ServerConfig, ServerError, StoreUrl,
};

/// Default of `--git-cache-size`, in bytes.
const DEFAULT_CACHE_BYTES: u64 = 2_000_000_000;

/// The embedded files of the handbook.
#[derive(RustEmbed)]
#[folder = "../examples/handbook"]
struct Handbook;

/// Returns the embedded handbook as a commit.
///
/// # Errors
/// Fails only if the handbook was embedded incorrectly at build time.
pub fn handbook() -> Result<EmbeddedCheckout, ServerError> {
    let file = |path: Cow<'static, str>| {
        let bytes = match Handbook::get(&path)?.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => bytes.into(),
        };
        Some((path, bytes))
    };
    let files = Handbook::iter().filter_map(file);
    EmbeddedCheckout::new("The handbook", Default::default(), files).map_err(ServerError::from_error)
}

/// Returns the Git client, and the content to create on the first start.
pub(super) async fn open_remote(
    config: &ServerConfig,
) -> Result<(Arc<dyn GitRemote>, Option<FirstImport>), ServerError> {
    let remote = LocalRemote::new().or(client(config)?);
    let import = match &config.import {
        None => {
            let source = FirstImportSource { url: HANDBOOK_URL.to_owned(), is_at_hand: true };
            let first = FirstImport { title: "Handbook".to_owned(), source: Some(source) };
            let remote = remote.with_checkout(HANDBOOK_URL, MAIN_REF, handbook()?);
            return Ok((Arc::new(remote), Some(first)));
        }
        Some(ImportSource::Nothing) => return Ok((Arc::new(remote), None)),
        Some(ImportSource::From(import)) => import.as_str(),
    };
    let name = import.trim_end_matches('/').rsplit('/').next().unwrap_or_default().trim_end_matches(".git");
    let title = if name.is_empty() { "Documentation".to_owned() } else { name.to_owned() };
    let first = |source: Option<FirstImportSource>| Some(FirstImport { title, source });
    let from = |url: String, is_at_hand| Some(FirstImportSource { url, is_at_hand });
    if import.contains("://") {
        return Ok((Arc::new(remote), first(from(import.to_owned(), false))));
    }
    let wrong = |why: String| ServerError::for_flag("--import", format_args!("{import}: {why}"));
    let folder = fs::canonicalize(Path::new(import))
        .map_err(|e| wrong(format!("{e}; use a folder, or a Git URL like https://example.com/docs.git")))?;
    let url = Url::from_file_path(&folder).map_err(|()| wrong("must be the path of a folder".to_owned()))?;
    let checkout =
        FolderCheckout::open(folder, Limits::default()).await.map_err(|error| wrong(error.to_string()))?;
    if checkout.entries().is_empty() {
        tracing::warn!("--import: the folder {import} is empty; the first space has no pages");
        return Ok((Arc::new(remote), first(None)));
    }
    Ok((Arc::new(remote.with_checkout(url.as_str(), MAIN_REF, checkout)), first(from(url.into(), true))))
}

/// Returns the client for network repositories, with its cache folder: the configured one, or the default folder for an
/// SQLite store.
fn client(config: &ServerConfig) -> Result<GitClient, ServerError> {
    let outbound = match config.outbound {
        crate::OutboundPolicy::Public => Outbound::Public,
        crate::OutboundPolicy::Private => Outbound::Private,
        crate::OutboundPolicy::Files => Outbound::Files,
    };
    let client = GitClient::new(outbound).map_err(ServerError::from_error)?;
    let size = config.git_cache_size.map_or(DEFAULT_CACHE_BYTES, ByteSize::bytes);
    let wrong = |folder: &Path, error: io::Error| {
        let advice = match error.kind() {
            ErrorKind::WouldBlock => {
                "is in use by another server; use a separate folder, or `none`".to_owned()
            }
            _ => error.to_string(),
        };
        ServerError::for_flag("--git-cache", format_args!("{}: {advice}", folder.display()))
    };
    match (&config.git_cache, &config.store) {
        (Some(GitCachePlace::Folder(folder)), _) => {
            client.with_own_cache(folder, size).map_err(|error| wrong(folder, error))
        }
        (None, StoreUrl::Sqlite(file)) => {
            let folder = cache_folder_for(file);
            match client.clone().with_own_cache(&folder, size) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    tracing::warn!(
                        "{}: in use by another server; run without a cache of repositories",
                        folder.display()
                    );
                    Ok(client)
                }
                cached => cached.map_err(|error| wrong(&folder, error)),
            }
        }
        (Some(GitCachePlace::Nowhere), _) | (None, StoreUrl::Memory | StoreUrl::Postgres(_))
            if config.git_cache_size.is_some() =>
        {
            let missing = "requires a cache folder; set --git-cache";
            Err(ServerError::for_flag("--git-cache-size", missing))
        }
        (Some(GitCachePlace::Nowhere), _) | (None, StoreUrl::Memory | StoreUrl::Postgres(_)) => Ok(client),
    }
}

/// Returns the cache folder for an SQLite file: its path with the suffix `.git`.
fn cache_folder_for(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".git");
    name.into()
}
