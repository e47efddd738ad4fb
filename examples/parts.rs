//! The parts of a server, as its flags describe them.

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
};

use docs_blobs::ObjectBlobs;
use docs_convert::DocumentConverter;
use docs_core::{
    Platform,
    platform::stored_sealing_key,
    ports::{GitRemote, RandomIds, SealingKey, SystemClock},
};
use docs_examples::{HANDBOOK_URL, MAIN, Place, handbook, open};
use docs_git::{FolderCheckout, GitClient, Limits, LocalRemote, Outbound};
use docs_pdf::{Fonts, Typesetter};
use docs_search::TantivySearch;
use docs_web::WebClient;
use docs_worker::{Program, Worker, WorkerOptions, WorkerPool};
use url::Url;

use crate::flags::{Flags, checked};

/// What the first start imports.
pub(crate) struct First {
    pub(crate) title: String,
    pub(crate) url: String,
    /// It is at hand, so the server can wait for it.
    pub(crate) local: bool,
}

/// The platform that the flags describe.
pub(crate) async fn platform(
    flags: &Flags,
    place: &Place,
    base: &str,
    git: Arc<dyn GitRemote>,
) -> Result<Platform, Box<dyn Error + Send + Sync>> {
    let blobs: Option<ObjectBlobs> = flags.blobs.as_deref().map(str::parse).transpose()?;
    let secret = checked("--secret", flags.secret.as_deref())?;
    let web = Arc::new(WebClient::new(flags.outbound.into())?);
    let (store, objects) = open(place, blobs).await?;
    let key = match secret {
        Some(secret) => SealingKey::of_secret(secret),
        None => stored_sealing_key(&store, &SystemClock, &RandomIds).await?,
    };
    let builder = Platform::builder(store, objects).secrets(key);
    // Refused now, not when the first PDF is asked for.
    fonts(flags.fonts.as_deref())?;
    let workers = Arc::new(WorkerPool::new(program(flags.fonts.as_deref())?, WorkerOptions::default()));
    // Made anew from the store at each start, beside the requests.
    let search = Arc::new(TantivySearch::in_memory()?);
    let builder = builder.base_url(base).git(git).web(web).search(search);
    Ok(builder.pdf(Arc::clone(&workers) as _).converter(workers).build())
}

/// This program as a worker.
fn program(fonts: Option<&Path>) -> std::io::Result<Program> {
    let program = Program::current()?;
    let program = match fonts {
        Some(fonts) => program.arg("--fonts").arg(std::path::absolute(fonts)?),
        None => program,
    };
    Ok(program.arg("worker"))
}

/// The work on what others wrote, which a process of its own does.
pub(crate) fn worker(folder: Option<PathBuf>) -> Worker {
    let typesetter =
        move || Ok(Arc::new(Typesetter::new(fonts(folder.as_deref())?, docs_pdf::Limits::default())) as _);
    Worker::new().pdf(typesetter).converter(|| Ok(Arc::new(DocumentConverter)))
}

/// The fonts of PDF files.
fn fonts(folder: Option<&Path>) -> Result<Fonts, String> {
    match folder {
        None => Ok(Fonts::default()),
        Some(folder) => {
            Fonts::default().folder(folder).map_err(|why| format!("--fonts {}: {why}", folder.display()))
        }
    }
}

/// The repositories that can be imported, and the one to begin with.
pub(crate) async fn remote(
    outbound: Outbound,
    import: Option<&str>,
) -> Result<(Arc<dyn GitRemote>, First), Box<dyn Error + Send + Sync>> {
    let remote = LocalRemote::new().or(GitClient::new(outbound)?);
    let Some(import) = import else {
        let first = First { title: "Handbook".to_owned(), url: HANDBOOK_URL.to_owned(), local: true };
        return Ok((Arc::new(remote.with(HANDBOOK_URL, MAIN, handbook()?)), first));
    };
    let name = import.trim_end_matches('/').rsplit('/').next().unwrap_or_default().trim_end_matches(".git");
    let title = if name.is_empty() { "Documentation".to_owned() } else { name.to_owned() };
    if import.contains("://") {
        return Ok((Arc::new(remote), First { title, url: import.to_owned(), local: false }));
    }
    let folder = std::fs::canonicalize(Path::new(import)).map_err(|e| {
        format!("--import {import}: {e}; give a folder, or a Git URL like https://example.com/docs.git")
    })?;
    let url = Url::from_file_path(&folder).map_err(|()| format!("--import {import}: no path of a folder"))?;
    let checkout = FolderCheckout::open(folder, Limits::default())
        .await
        .map_err(|e| format!("--import {import}: {e}"))?;
    Ok((Arc::new(remote.with(url.as_str(), MAIN, checkout)), First { title, url: url.into(), local: true }))
}
