//! The command line interface.

use std::{error::Error, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Parser, Subcommand};
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};
use url::Url;

use crate::{
    ImportSource, Server, ServerConfig, ServerError, admin::AdminCommand, export::export, health_check,
    health_check::HealthQuery, heap, home::first_site, import::ImportArgs, setup::CreatedSite,
};

/// Minimum number of threads that handle requests. With fewer, a request that computes for long delays all others.
const MIN_THREADS: usize = 4;
/// Maximum duration of blocking work, such as a Git transfer of an interrupted job, after everything else has ended.
const BLOCKING_STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// A documentation platform.
#[derive(Parser, Debug)]
#[command(name = "docs-server", version)]
pub struct Cli {
    /// The configuration of the server.
    #[command(flatten)]
    pub config: ServerConfig,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The subcommands. Without one, the program serves.
#[derive(Subcommand, Debug)]
enum Command {
    /// Manages users, organizations, members, tokens, the audit log and the store of a server, and exits.
    #[command(subcommand)]
    Admin(AdminCommand),
    /// Exports a public site as static files for any web server, reports broken links, and exits.
    Export {
        /// Id of the site, or its name in its URL.
        site: String,
        /// Folder to write to; must be empty or new.
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
        /// URL where the files will be served, for canonical URLs, `sitemap.xml` and `rss.xml`.
        #[arg(long, value_name = "URL")]
        url: Option<Url>,
    },
    /// Imports a local document, archive or folder into a space, reports what was left out, and exits.
    Import(ImportArgs),
    /// Checks that the server at `--bind` is alive and can read its store. Exits with 0 on success.
    Health {
        /// Checks that the server is ready for requests: its search index also covers all stored content.
        #[arg(long)]
        ready: bool,
    },
    /// Renders one PDF file or converts one document for the server that started this process.
    #[cfg(feature = "worker")]
    #[command(hide = true)]
    Worker,
}

/// Runs the program: reads flags and environment variables, logs to standard error, and serves until SIGINT or SIGTERM.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    // A worker runs before the async runtime is started, so that its limits apply to the whole process.
    #[cfg(feature = "worker")]
    if matches!(cli.command, Some(Command::Worker)) {
        return crate::adapters::worker::worker(&cli.config).run();
    }
    heap::configure();
    write_log();
    let threads =
        std::thread::available_parallelism().map_or(MIN_THREADS, |cores| cores.get().max(MIN_THREADS));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let done = match runtime {
        Ok(runtime) => {
            let done = runtime.block_on(cli.run());
            runtime.shutdown_timeout(BLOCKING_STOP_TIMEOUT);
            done
        }
        Err(error) => Err(ServerError::from_error(error)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut source = error.source().filter(|_| !error.is_complete());
            while let Some(why) = source {
                eprintln!("  because {why}");
                source = why.source();
            }
            ExitCode::FAILURE
        }
    }
}

/// Logs to standard error. The default level is `info`; `RUST_LOG` overrides it, for example with `debug` or
/// `docs_core=trace,docs_git=warn`.
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
        tracing::warn!(%error, "ignore invalid RUST_LOG; use a list of levels like `debug` or \
                                `docs_core=trace,docs_git=warn`");
    }
}

impl Cli {
    async fn run(self) -> Result<(), ServerError> {
        match &self.command {
            Some(Command::Admin(admin)) => admin.run(&self.config).await,
            Some(Command::Export { site, to, url }) => export(&self.config, site, to, url.clone()).await,
            Some(Command::Import(args)) => args.run(&self.config).await,
            Some(Command::Health { ready }) => {
                let question = if *ready { HealthQuery::Readiness } else { HealthQuery::Health };
                health_check::query(&self.config.bind, question).await
            }
            _ => serve(self.config).await,
        }
    }
}

async fn serve(config: ServerConfig) -> Result<(), ServerError> {
    let (is_chosen, import) = (config.token.is_some(), config.import.clone());
    let server = Server::start(config).await?;
    // The root redirects to the first site, so that a new user sees it first.
    let what = match server.first_start() {
        Some(_) if import == Some(ImportSource::Nothing) => None,
        Some(_) if cfg!(feature = "git") && import.is_none() => Some("handbook"),
        Some(_) => Some("documentation"),
        None => first_site(server.platform()).await?.map(|_| "documentation"),
    };
    if let Some(what) = what {
        println!("Read the {what}: {}/", server.base_url());
    }
    println!("The documentation platform is at {}", server.base_url());
    if let Some(first) = server.first_start() {
        // Print the token before any step that can fail: only its hash is stored, so it cannot be shown later.
        if !is_chosen {
            println!("  administrator's token (not shown again)");
            println!("export DOCS_TOKEN={}", first.token);
        }
        match server.publish_first().await? {
            Some(published) => print_addresses(server.base_url(), &published),
            None => println!("  API explorer          {}/docs", server.base_url()),
        }
    }
    server.serve(wait_for_signal()).await
}

/// Prints the URLs of the first site, the API explorer and the first space.
fn print_addresses(base: &str, CreatedSite { space, url, .. }: &CreatedSite) {
    println!("  first site            {url}");
    println!("  API explorer          {base}/docs");
    println!("  first space           {base}/v1/spaces/{space}/content/pages");
}

/// Waits for SIGINT or SIGTERM.
async fn wait_for_signal() {
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
    // If the signal handler cannot be installed, run until the process is killed.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
