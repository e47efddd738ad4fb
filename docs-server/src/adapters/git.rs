//! The repositories that can be imported: those of the network, a folder, and the handbook.

use std::{borrow::Cow, fs, path::Path, sync::Arc};

use bytes::Bytes;
use docs_core::ports::GitRemote;
use docs_git::{EmbeddedCheckout, FolderCheckout, GitClient, Limits, LocalRemote, Outbound};
use rust_embed::RustEmbed;
use url::Url;

use super::{FirstImport, Source};
use crate::{ByteSize, HANDBOOK_URL, MAIN, ServerConfig, ServerError};

/// The handbook, compiled in.
#[derive(RustEmbed)]
#[folder = "../examples/handbook"]
struct Handbook;

/// The compiled-in handbook as a commit.
///
/// # Errors
/// Never, unless the handbook was compiled in wrongly.
pub fn handbook() -> Result<EmbeddedCheckout, ServerError> {
    let file = |path: Cow<'static, str>| {
        let bytes = match Handbook::get(&path)?.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => bytes.into(),
        };
        Some((path, bytes))
    };
    let files = Handbook::iter().filter_map(file);
    EmbeddedCheckout::new("The handbook", Default::default(), files).map_err(ServerError::other)
}

/// The repositories that can be imported, and the one to begin with.
pub(super) async fn remote(config: &ServerConfig) -> Result<(Arc<dyn GitRemote>, FirstImport), ServerError> {
    let remote = LocalRemote::new().or(client(config)?);
    let Some(import) = config.import.as_deref() else {
        let source = Source { url: HANDBOOK_URL.to_owned(), is_at_hand: true };
        let first = FirstImport { title: "Handbook".to_owned(), source: Some(source) };
        return Ok((Arc::new(remote.with(HANDBOOK_URL, MAIN, handbook()?)), first));
    };
    let name = import.trim_end_matches('/').rsplit('/').next().unwrap_or_default().trim_end_matches(".git");
    let title = if name.is_empty() { "Documentation".to_owned() } else { name.to_owned() };
    let first = |url: String, is_at_hand| FirstImport { title, source: Some(Source { url, is_at_hand }) };
    if import.contains("://") {
        return Ok((Arc::new(remote), first(import.to_owned(), false)));
    }
    let wrong = |why: String| ServerError::flag("--import", format_args!("{import}: {why}"));
    let folder = fs::canonicalize(Path::new(import))
        .map_err(|e| wrong(format!("{e}; give a folder, or a Git URL like https://example.com/docs.git")))?;
    let url = Url::from_file_path(&folder).map_err(|()| wrong("no path of a folder".to_owned()))?;
    let checkout =
        FolderCheckout::open(folder, Limits::default()).await.map_err(|error| wrong(error.to_string()))?;
    Ok((Arc::new(remote.with(url.as_str(), MAIN, checkout)), first(url.into(), true)))
}

/// The client for repositories of the network, which keeps them in a folder where one is named.
fn client(config: &ServerConfig) -> Result<GitClient, ServerError> {
    let outbound = match config.outbound {
        crate::Outbound::Public => Outbound::Public,
        crate::Outbound::Private => Outbound::Private,
        crate::Outbound::Files => Outbound::Files,
    };
    let client = GitClient::new(outbound).map_err(ServerError::other)?;
    let Some(folder) = &config.git_cache else { return Ok(client) };
    // Now, and not at the first import.
    let wrong = |error| ServerError::flag("--git-cache", format_args!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(wrong)?;
    try_writing(folder).map_err(wrong)?;
    let size = config.git_cache_size.map_or(GitClient::CACHE_BYTES, ByteSize::bytes);
    Ok(client.with_cache_of(folder, size))
}

/// Tries whether files can be made in a folder.
fn try_writing(folder: &Path) -> std::io::Result<()> {
    let file = folder.join(format!(".docs-server-{}", std::process::id()));
    fs::write(&file, [])?;
    fs::remove_file(&file)
}
