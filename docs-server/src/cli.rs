//! The command line.

use std::{error::Error, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};
use url::Url;

use crate::{
    Server, ServerConfig, ServerError, admin::Admin, export::export, health_check, health_check::Question,
    home::first_site, setup::Published,
};

/// A documentation platform.
#[derive(Parser, Debug)]
#[command(name = "docs-server", version)]
pub struct Cli {
    /// What the server is told.
    #[command(flatten)]
    pub config: ServerConfig,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Something else than serving.
#[derive(Subcommand, Debug)]
enum Command {
    /// Manages users, organizations, members, tokens and the audit log of a server, and its store, and ends.
    #[command(subcommand)]
    Admin(Admin),
    /// Writes a public site as files that any web server can host, names broken links, and ends.
    Export {
        /// The id of the site, or its name in its address.
        site: String,
        /// Folder to write to, empty or new.
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
        /// Address under which the files will be served, for canonical addresses, `sitemap.xml` and `rss.xml`.
        #[arg(long, value_name = "URL")]
        url: Option<Url>,
    },
    /// Asks the server at `--bind` whether it is alive and can read its store, and ends: with 0 if so.
    Health {
        /// Asks whether requests should be sent to it: searches find all that is stored, too.
        #[arg(long)]
        ready: bool,
    },
    /// Sets one PDF file or converts one document for a server that started this process.
    #[cfg(feature = "worker")]
    #[command(hide = true)]
    Worker,
}

/// The program: reads the flags and the environment, writes its log to standard error, and serves until SIGINT or
/// SIGTERM.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    // Before there is a runtime, or anything that its limits would not hold for.
    #[cfg(feature = "worker")]
    if matches!(cli.command, Some(Command::Worker)) {
        return crate::adapters::worker::worker(&cli.config).run();
    }
    write_log();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let done = match runtime {
        Ok(runtime) => runtime.block_on(cli.run()),
        Err(error) => Err(ServerError::other(error)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut source = error.source().filter(|_| !error.says_all());
            while let Some(why) = source {
                eprintln!("  because {why}");
                source = why.source();
            }
            ExitCode::FAILURE
        }
    }
}

/// Writes what happens to standard error: what is at least `info`, and what `RUST_LOG` says of single parts, as
/// `debug` or `docs_core=trace,docs_git=warn`.
fn write_log() {
    let asked = std::env::var("RUST_LOG").ok().filter(|asked| !asked.is_empty());
    let (filter, error) = match asked.map(|asked| asked.parse::<Targets>()).transpose() {
        Ok(filter) => (filter.unwrap_or_default(), None),
        Err(error) => (Targets::new(), Some(error)),
    };
    let default = filter.default_level().unwrap_or(LevelFilter::INFO);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines).with(filter.with_default(default)).init();
    if let Some(error) = error {
        tracing::warn!(%error, "RUST_LOG is not taken: it lists levels, as `debug` or `docs_core=trace,docs_git=warn`");
    }
}

impl Cli {
    async fn run(self) -> Result<(), ServerError> {
        match &self.command {
            Some(Command::Admin(admin)) => admin.run(&self.config).await,
            Some(Command::Export { site, to, url }) => export(&self.config, site, (to, url.clone())).await,
            Some(Command::Health { ready }) => {
                let question = if *ready { Question::Readiness } else { Question::Health };
                health_check::ask(&self.config.bind, question).await
            }
            _ => serve(self.config).await,
        }
    }
}

async fn serve(config: ServerConfig) -> Result<(), ServerError> {
    let (is_chosen, is_own) = (config.token.is_some(), config.import.is_some());
    let server = Server::start(config).await?;
    // The root leads there: what a person who has just started it wants first.
    let what = match server.first_start() {
        Some(_) if cfg!(feature = "git") && !is_own => Some("handbook"),
        Some(_) => Some("documentation"),
        None => first_site(server.platform()).await?.map(|_| "documentation"),
    };
    if let Some(what) = what {
        println!("Read the {what}: {}/", server.base_url());
    }
    println!("The documentation platform is at {}", server.base_url());
    if let Some(first) = server.first_start() {
        // Before anything else can go wrong: it is stored as a hash, and nobody can read it later.
        if !is_chosen {
            println!("  administrator's token (shown only now)");
            println!("export DOCS_TOKEN={}", first.token);
        }
        let published = server.publish_first().await?;
        greet(server.base_url(), &published);
    }
    server.serve(signalled()).await
}

/// Prints the addresses that a person needs.
fn greet(base: &str, Published { space, url, .. }: &Published) {
    println!("  its first site        {url}");
    println!("  explorer of the API   {base}/docs");
    println!("  first space           {base}/v1/spaces/{space}/content/pages");
}

/// Waits for SIGINT or SIGTERM.
async fn signalled() {
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
