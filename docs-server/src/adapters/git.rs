//! The repositories that can be imported: those of the network, a folder, and the handbook.

use std::{fs, path::Path, sync::Arc};

use docs_core::ports::GitRemote;
use docs_git::{EmbeddedCheckout, FolderCheckout, GitClient, Limits, LocalRemote, Outbound};
use include_dir::{Dir, DirEntry, include_dir};
use url::Url;

use super::{FirstImport, Source};
use crate::{HANDBOOK_URL, MAIN, ServerConfig, ServerError};

/// The handbook, compiled in.
static HANDBOOK: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../examples/handbook");

/// The compiled-in handbook as a commit.
///
/// # Errors
/// Never, unless the handbook was compiled in wrongly.
pub fn handbook() -> Result<EmbeddedCheckout, ServerError> {
    let mut files = Vec::new();
    let mut folders = vec![&HANDBOOK];
    while let Some(folder) = folders.pop() {
        for entry in folder.entries() {
            match entry {
                DirEntry::Dir(folder) => folders.push(folder),
                DirEntry::File(file) => {
                    let path =
                        file.path().to_str().ok_or_else(|| ServerError::other("a path that is not text"))?;
                    files.push((path, file.contents()));
                }
            }
        }
    }
    // The list lives as long as the program, like the files it points to.
    let files: &'static [(&'static str, &'static [u8])] = Vec::leak(files);
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
    Ok(client.with_cache(folder))
}

/// Tries whether files can be made in a folder.
fn try_writing(folder: &Path) -> std::io::Result<()> {
    let file = folder.join(format!(".docs-server-{}", std::process::id()));
    fs::write(&file, [])?;
    fs::remove_file(&file)
}
