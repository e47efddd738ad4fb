//! The flags of the server.

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf};

use clap::{Parser, Subcommand, ValueEnum};
use docs_examples::{base_url, token};
use docs_git::Outbound;

use crate::admin::Admin;

/// A documentation platform.
#[derive(Parser)]
#[command(version)]
pub(crate) struct Flags {
    /// Address to listen on.
    #[arg(long, env = "DOCS_BIND", default_value = "127.0.0.1:4000")]
    pub(crate) bind: SocketAddr,
    /// Address under which others reach the server; `http://` and the bind address when absent.
    #[arg(long, env = "DOCS_BASE_URL", value_parser = base_url)]
    pub(crate) base_url: Option<String>,
    /// Where everything is kept: `memory`, `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE`.
    #[arg(long, env = "DOCS_STORE", hide_env_values = true, default_value = "memory", global = true)]
    pub(crate) store: String,
    /// Folder, or bucket as `s3://BUCKET/PREFIX`, for files over 128 KiB of a store on disk; in the database when absent.
    #[arg(long, env = "DOCS_BLOBS", hide_env_values = true)]
    pub(crate) blobs: Option<String>,
    /// Secret that file addresses and stored credentials are sealed with, the same for all servers on a store; kept in
    /// the store when absent.
    #[arg(long, env = "DOCS_SECRET", hide_env_values = true)]
    pub(crate) secret: Option<String>,
    /// Token of the first administrator, at least 16 characters; made and printed once when absent.
    #[arg(long, env = "DOCS_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// What imports and files by URL may reach.
    #[arg(long, env = "DOCS_OUTBOUND", default_value = "public")]
    pub(crate) outbound: Reach,
    /// Folder with further fonts for PDF files, such as those of Chinese, Japanese and Korean.
    #[arg(long, env = "DOCS_FONTS")]
    pub(crate) fonts: Option<PathBuf>,
    /// Folder or Git URL to import as the first space; the handbook when absent.
    #[arg(long, env = "DOCS_IMPORT")]
    pub(crate) import: Option<String>,
    /// Most requests a minute of each token, and of each address without one; no limit when absent.
    #[arg(long, env = "DOCS_RATE_LIMIT", value_name = "N")]
    pub(crate) rate_limit: Option<NonZeroU32>,
    /// Something else than serving.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Manages users, organizations and tokens in the store of a server, and ends.
    #[command(subcommand)]
    Admin(Admin),
    /// Sets one PDF file or converts one document for a server that started this process.
    #[command(hide = true)]
    Worker,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Reach {
    /// Public addresses only.
    Public,
    /// Private networks and this machine too.
    Private,
    /// Repositories on this machine's disks too.
    Files,
}

impl From<Reach> for Outbound {
    fn from(reach: Reach) -> Self {
        match reach {
            Reach::Public => Self::Public,
            Reach::Private => Self::Private,
            Reach::Files => Self::Files,
        }
    }
}

/// A secret that the operator chose; the message does not repeat one that is refused.
pub(crate) fn checked<'a>(flag: &str, text: Option<&'a str>) -> Result<Option<&'a str>, String> {
    text.map(|text| token(text).map(|_| text).map_err(|why| format!("{flag}: {why}"))).transpose()
}
