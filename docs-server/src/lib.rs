//! The documentation platform as a server.
//!
//! The program `docs-server` is a few lines over this crate: [`run`] reads the flags and serves until a signal comes. A
//! program of its own makes a [`ServerConfig`] and starts a [`Server`]:
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
//! | feature | what it brings | without it |
//! |---|---|---|
//! | `blobs` | `--blobs`: large files in a folder or a bucket | they lie in the database |
//! | `convert` | import of HTML, Word, Markdown and archives | such imports are refused |
//! | `git` | import from Git, and the handbook of the first start | such imports are refused; the first space is
//! empty |
//! | `openapi` | OpenAPI specifications, read in contained processes | they are refused |
//! | `pdf` | PDF files, `--fonts` | they are refused |
//! | `postgres` | `--store postgres://…`, with TLS | |
//! | `saml` | signing in through SAML providers: `--saml` | nobody does |
//! | `search` | a search index that is kept in a folder: `--search-index` | one in memory, made anew at each start |
//! | `sqlite` | `--store sqlite:PATH` | |
//! | `translate` | translations by a service: `--translator` | the pseudo-translator only |
//! | `web` | files and websites by their URL | they are refused |
//!
//! All are on by default. A flag that needs a feature which is off is refused with the name of the feature.

mod adapters;
mod admin;
mod bind;
mod byte_size;
mod cli;
mod config;
mod error;
mod export;
mod health_check;
mod home;
mod search_index;
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
    GitCachePlace, Outbound, SamlMode, Secret, ServerConfig, TranslatorKey, TranslatorKind, WorkerProgram,
};
pub use error::ServerError;
pub use search_index::SearchPlace;
pub use serve::{ConnectionConfig, Pace};
pub use server::Server;
pub use setup::{FirstStart, HANDBOOK_URL, MAIN, create_site, first_start, import, imported};
pub use store_url::StoreUrl;

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
