//! The documentation platform as a server.
//!
//! The program `docs-server` is a thin wrapper over this crate: [`run`] parses the flags and serves until it receives a
//! signal. An embedding application creates a [`ServerConfig`] and starts a [`Server`]:
//!
//! ```
//! use docs_server::{Server, ServerConfig};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let config = ServerConfig { bind: "127.0.0.1:0".parse()?, ..ServerConfig::default() };
//! let server = Server::start(config).await?;
//! if let Some(first) = server.first_start() {
//!     println!("{} with the token {}", server.base_url(), first.token);
//! }
//! // Answers requests and does background work until the future ends.
//! server.serve(async { /* the host's own signal */ }).await?;
//! # Ok(())
//! # }
//! ```
//!
//! | feature | adds | without it |
//! |---|---|---|
//! | `blobs` | `--blobs`: large files in a folder or a bucket | stored in the database |
//! | `convert` | import of HTML, Word, Markdown and archives | rejected |
//! | `git` | import from Git, and the handbook of the first start | rejected; the first space is empty |
//! | `openapi` | OpenAPI specifications, parsed in contained processes | rejected |
//! | `pdf` | PDF files, `--fonts` | rejected |
//! | `postgres` | `--store postgres://…`, with TLS | |
//! | `saml` | sign-in through SAML providers: `--saml` | not available |
//! | `search` | a persistent search index in a folder: `--search-index` | in memory, rebuilt at each start |
//! | `sqlite` | `--store sqlite:PATH` | |
//! | `translate` | translations by a service: `--translator` | only the pseudo-translator |
//! | `web` | files and websites by their URL | rejected |
//!
//! All features are enabled by default. A flag that requires a disabled feature is rejected with the name of the
//! feature.

mod adapters;
mod admin;
mod bind;
mod byte_size;
mod cli;
mod config;
mod error;
mod export;
mod health_check;
mod heap;
mod home;
mod import;
mod search_index;
mod search_place;
mod serve;
mod server;
mod setup;
mod store_url;

#[cfg(feature = "git")]
pub use adapters::handbook;
pub use bind::BindAddress;
pub use byte_size::ByteSize;
pub use cli::{Cli, run};
pub use config::{
    GitCachePlace, ImportSource, OutboundPolicy, SamlMode, Secret, ServerConfig, TranslatorKey,
    TranslatorKind, WorkerProgram,
};
pub use error::ServerError;
pub use search_place::SearchPlace;
pub use serve::{ConnectionConfig, Pace};
pub use server::Server;
pub use setup::{
    FirstAdmin, FirstStart, HANDBOOK_URL, MAIN_REF, check_import, create_site, first_start, import,
};
pub use store_url::StoreUrl;

/// The README example, as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
