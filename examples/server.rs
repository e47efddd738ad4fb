//! The platform as a server of its own.
//!
//! `cargo run --release --example server`, `--help` for its flags.

mod admin;
mod flags;
mod parts;

use std::{error::Error, io::IsTerminal as _, process::ExitCode, time::Duration};

use clap::Parser as _;
use docs_core::Platform;
use docs_examples::{Place, Setup, first_start, imported, publish, signalled};
use docs_http::{HttpApp, HttpConfig, RateLimit, Readiness};
use poem::{Server, listener::TcpAcceptor};
use tokio::{net::TcpListener, sync::watch};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::{
    flags::{Command, Flags, checked},
    parts::{First, platform, remote, worker},
};

fn main() -> ExitCode {
    let flags = Flags::parse();
    match flags.command {
        // Before there is a runtime, or anything that its limits would not hold for.
        Some(Command::Worker) => worker(flags.fonts).run(),
        _ => start(flags),
    }
}

#[tokio::main]
async fn start(flags: Flags) -> ExitCode {
    let colours = std::io::stderr().is_terminal();
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env_lossy();
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(colours).with_env_filter(filter).init();
    let done = match &flags.command {
        Some(Command::Admin(admin)) => admin.run(&flags.store).await,
        _ => serve(flags).await,
    };
    match done {
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
    let base = match &flags.base_url {
        Some(base) => base.clone(),
        None => format!("http://{}", listener.local_addr()?),
    };
    // Read here and not by the reader of the flags, whose messages repeat what they refuse.
    let place: Place = flags.store.parse().map_err(|why| format!("--store: {why}"))?;
    let chosen = checked("--token", flags.token.as_deref())?;
    let (git, first) = remote(flags.outbound.into(), flags.import.as_deref()).await?;
    let platform = platform(&flags, &place, &base, git).await?;
    let asked = platform.clone();
    let readiness = Readiness::new(move || {
        let platform = asked.clone();
        async move { platform.ready().await }
    });
    let rate_limit = flags.rate_limit.map(RateLimit::per_minute);
    let app = docs_http::routes(&platform, HttpConfig { readiness, rate_limit, ..HttpConfig::default() })?;
    let setup = first_start(&platform, chosen).await?;
    println!("The documentation platform is at {base}");
    if let Some(setup) = setup {
        // Before anything else can go wrong: it is stored as a hash, and nobody can read it later.
        if chosen.is_none() {
            println!("  administrator's token (shown only now)");
            println!("export DOCS_TOKEN={}", setup.token);
        }
        begin(&setup, &first, &place, &base).await?;
    }
    run(platform, app, listener).await
}

/// Fills a fresh platform: the first space, and the site that publishes it.
async fn begin(
    setup: &Setup,
    first: &First,
    place: &Place,
    base: &str,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (space, site) = publish(setup, &first.title, &first.url).await?;
    if first.local {
        setup.platform.settle().await?;
        match imported(setup, &space).await {
            // What is kept is there for another try; a server in memory would be of no use.
            Err(why) if *place != Place::Memory => tracing::error!("--import: {why}"),
            imported => imported.map_err(|why| format!("--import: {why}"))?,
        }
    }
    greet(base, setup, (space.as_str(), site.as_str()));
    Ok(())
}

/// Answers requests and does background work until a signal comes.
async fn run(
    platform: Platform,
    app: HttpApp,
    listener: TcpListener,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (stop, mut stopped) = watch::channel(false);
    let worker = tokio::spawn(async move {
        platform.work(async move { drop(stopped.wait_for(|stop| *stop).await) }).await;
    });
    let ended = async move {
        signalled().await;
        tracing::info!("stopping: requests and jobs in flight are finished first");
        // The worker may have ended already; then nobody has to hear it.
        let _ = stop.send(true);
    };
    let acceptor = TcpAcceptor::from_tokio(listener)?;
    Server::new_with_acceptor(acceptor)
        .run_with_graceful_shutdown(app, ended, Some(Duration::from_secs(30)))
        .await?;
    worker.await?;
    Ok(())
}

/// Prints the addresses that a person needs.
fn greet(base: &str, setup: &Setup, (space, site): (&str, &str)) {
    let org = &setup.org;
    println!("  explorer of the API   {base}/docs");
    println!("  first space           {base}/v1/spaces/{space}/content/pages");
    println!("  published as          {base}/v1/orgs/{org}/sites/{site}/published");
}
