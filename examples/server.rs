//! The platform as a server of its own.
//!
//! `cargo run --release --example server`, `--help` for its flags.

use std::{
    error::Error,
    io::IsTerminal as _,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use clap::{Parser, ValueEnum};
use docs_blobs::ObjectBlobs;
use docs_convert::DocumentConverter;
use docs_core::{
    Platform,
    platform::stored_sealing_key,
    ports::{GitRemote, RandomIds, SealingKey, SystemClock},
};
use docs_examples::{
    HANDBOOK_URL, MAIN, Place, Setup, base_url, first_start, handbook, imported, open, publish, signalled,
    token,
};
use docs_git::{FolderCheckout, GitClient, Limits, LocalRemote, Outbound};
use docs_http::{HttpConfig, Readiness};
use docs_pdf::{Fonts, Typesetter};
use docs_search::TantivySearch;
use docs_web::WebClient;
use poem::{Server, listener::TcpAcceptor};
use tokio::{net::TcpListener, sync::watch};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};
use url::Url;

/// A documentation platform.
#[derive(Parser)]
#[command(version)]
struct Flags {
    /// Address to listen on.
    #[arg(long, env = "DOCS_BIND", default_value = "127.0.0.1:4000")]
    bind: SocketAddr,
    /// Address under which others reach the server; `http://` and the bind address when absent.
    #[arg(long, env = "DOCS_BASE_URL", value_parser = base_url)]
    base_url: Option<String>,
    /// Where everything is kept: `memory`, `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE`.
    #[arg(long, env = "DOCS_STORE", hide_env_values = true, default_value = "memory")]
    store: String,
    /// Folder, or bucket as `s3://BUCKET/PREFIX`, for files over 128 KiB of a store on disk; in the database when absent.
    #[arg(long, env = "DOCS_BLOBS", hide_env_values = true)]
    blobs: Option<String>,
    /// Secret that file addresses and stored credentials are sealed with, the same for all servers on a store; kept in
    /// the store when absent.
    #[arg(long, env = "DOCS_SECRET", hide_env_values = true)]
    secret: Option<String>,
    /// Token of the first administrator, at least 16 characters; made and printed once when absent.
    #[arg(long, env = "DOCS_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// What imports and files by URL may reach.
    #[arg(long, env = "DOCS_OUTBOUND", default_value = "public")]
    outbound: Reach,
    /// Folder with further fonts for PDF files, such as those of Chinese, Japanese and Korean.
    #[arg(long, env = "DOCS_FONTS")]
    fonts: Option<PathBuf>,
    /// Folder or Git URL to import as the first space; the handbook when absent.
    #[arg(long, env = "DOCS_IMPORT")]
    import: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Reach {
    /// Public addresses only.
    Public,
    /// Private networks and this machine too.
    Private,
    /// Repositories on this machine's disks too.
    Files,
}

/// What the first start imports.
struct First {
    title: String,
    url: String,
    /// It is at hand, so the server can wait for it.
    local: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    let flags = Flags::parse();
    let colours = std::io::stderr().is_terminal();
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env_lossy();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(colours).with_env_filter(filter).init();
    match serve(flags).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut source = error.source();
            while let Some(why) = source {
                eprintln!("  because {why}");
                source = why.source();
            }
            ExitCode::FAILURE
        }
    }
}

async fn serve(flags: Flags) -> Result<(), Box<dyn Error + Send + Sync>> {
    let listener =
        TcpListener::bind(flags.bind).await.map_err(|e| format!("cannot listen on {}: {e}", flags.bind))?;
    let bound = listener.local_addr()?;
    let base = flags.base_url.clone().unwrap_or_else(|| format!("http://{bound}"));

    let outbound = match flags.outbound {
        Reach::Public => Outbound::Public,
        Reach::Private => Outbound::Private,
        Reach::Files => Outbound::Files,
    };
    // Read here and not by the reader of the flags, whose messages repeat what they refuse.
    let place: Place = flags.store.parse().map_err(|why| format!("--store: {why}"))?;
    let blobs: Option<ObjectBlobs> = flags.blobs.as_deref().map(str::parse).transpose()?;
    let check = |flag, text: &Option<String>| match text {
        Some(text) => token(text).map(Some).map_err(|why| format!("{flag}: {why}")),
        None => Ok(None),
    };
    let (token, secret) = (check("--token", &flags.token)?, check("--secret", &flags.secret)?);
    let (git, first) = remote(outbound, flags.import.as_deref()).await?;
    let web = Arc::new(WebClient::new(outbound)?);
    let (store, objects) = open(&place, blobs).await?;
    let key = match &secret {
        Some(secret) => SealingKey::of_secret(secret),
        None => stored_sealing_key(&store, &SystemClock, &RandomIds).await?,
    };
    let builder = Platform::builder(store, objects).secrets(key);
    let pdf = Arc::new(Typesetter::new(fonts(flags.fonts.as_deref())?, docs_pdf::Limits::default()));
    // Made anew from the store at each start, beside the requests.
    let search = Arc::new(TantivySearch::in_memory()?);
    let builder = builder.base_url(&base).git(git).web(web).search(search).pdf(pdf);
    let platform = builder.converter(Arc::new(DocumentConverter)).build();
    let asked = platform.clone();
    let readiness = Readiness::new(move || {
        let platform = asked.clone();
        async move { platform.ready().await }
    });
    let app = docs_http::routes(&platform, HttpConfig { readiness, ..HttpConfig::default() })?;
    let setup = first_start(&platform, token.as_deref()).await?;
    println!("The documentation platform is at {base}");
    if let Some(setup) = setup {
        // Before anything else can go wrong: it is stored as a hash, and nobody can read it later.
        if token.is_none() {
            println!("  administrator's token (shown only now)");
            println!("export DOCS_TOKEN={}", setup.token);
        }
        let (space, site) = publish(&setup, &first.title, &first.url).await?;
        if first.local {
            platform.settle().await?;
            match imported(&setup, &space).await {
                // What is kept is there for another try; a server in memory would be of no use.
                Err(why) if place != Place::Memory => tracing::error!("--import: {why}"),
                imported => imported.map_err(|why| format!("--import: {why}"))?,
            }
        }
        greet(&base, &setup, (space.as_str(), site.as_str()));
    }

    let (stop, stopped) = watch::channel(false);
    let worker = tokio::spawn({
        let (platform, mut stopped) = (platform.clone(), stopped.clone());
        async move { platform.work(async move { drop(stopped.wait_for(|stop| *stop).await) }).await }
    });
    let ended = async move {
        signalled().await;
        tracing::info!("stopping: requests and jobs in flight are finished first");
        // Both receivers live as long as this future, so somebody hears it.
        let _ = stop.send(true);
    };
    let acceptor = TcpAcceptor::from_tokio(listener)?;
    Server::new_with_acceptor(acceptor)
        .run_with_graceful_shutdown(app, ended, Some(Duration::from_secs(30)))
        .await?;
    worker.await?;
    Ok(())
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
async fn remote(
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

/// Prints the addresses that a person needs.
fn greet(base: &str, setup: &Setup, (space, site): (&str, &str)) {
    let org = &setup.org;
    println!("  explorer of the API   {base}/docs");
    println!("  first space           {base}/v1/spaces/{space}/content/pages");
    println!("  published as          {base}/v1/orgs/{org}/sites/{site}/published");
}
