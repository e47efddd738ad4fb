//! Configuration of a server, from flags, environment variables or an embedding application.

use std::{ffi::OsStr, fmt, num::NonZeroU32, path::PathBuf, str::FromStr};

use clap::{
    Arg, Args, Command, ValueEnum,
    builder::{TypedValueParser, ValueParserFactory},
    error::ErrorKind,
};
use docs_core::{platform::SiteHostRule, store::jobs::MAX_LEASE};
use docs_http::{CorsOrigin, TrustedProxies};
use url::{Host, Url};

use crate::{BindAddress, ByteSize, ConnectionConfig, SearchPlace, ServerError, StoreUrl};

/// Configuration of a server. Each field is a flag of the program and an environment variable.
///
/// # Example
/// ```
/// use docs_server::{Secret, ServerConfig};
///
/// let config = ServerConfig {
///     store: "sqlite:docs.db".parse()?,
///     token: Some(Secret::parse("a-token-of-the-host")?),
///     ..ServerConfig::default()
/// };
/// # let _ = config;
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, Args)]
pub struct ServerConfig {
    /// Address to listen on, as HOST:PORT.
    #[arg(long, env = "DOCS_BIND", value_name = "HOST:PORT", default_value_t, global = true)]
    pub bind: BindAddress,
    /// URL at which clients reach the server, with an optional path; `http://` and the bind address when absent, or
    /// `http://localhost` and the port if that is the wildcard address.
    #[arg(long, env = "DOCS_BASE_URL", value_name = "URL", value_parser = base_url)]
    pub base_url: Option<String>,
    /// Origin of uploaded files, PDF files and specifications, such as `https://files.example.net`: a host that serves
    /// nothing else. The origin of `--base-url` when absent.
    #[arg(long, env = "DOCS_FILES_ORIGIN", value_name = "ORIGIN", value_parser = files_origin)]
    pub files_origin: Option<String>,
    /// Store for all data: `memory`, `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE`, which accepts
    /// `sslmode` and `sslrootcert`.
    #[arg(
        long,
        env = "DOCS_STORE",
        hide_env_values = true,
        default_value = "memory",
        value_parser = SecretParser::<StoreUrl>(StoreUrl::from_str),
        global = true
    )]
    pub store: StoreUrl,
    /// Folder, or bucket as `s3://BUCKET/PREFIX`, for files over 128 KiB of an SQLite or PostgreSQL store; the database
    /// when absent.
    #[arg(long, env = "DOCS_BLOBS", hide_env_values = true, global = true)]
    pub blobs: Option<String>,
    /// Secret that encrypts file URLs and stored credentials, the same on all servers of a store; a key in the store
    /// when absent.
    #[arg(long, env = "DOCS_SECRET", hide_env_values = true)]
    pub secret: Option<Secret>,
    /// Token of the first administrator, at least 16 characters; generated and printed once when absent.
    #[arg(long, env = "DOCS_TOKEN", hide_env_values = true)]
    pub token: Option<Secret>,
    /// Name of the first administrator; `Administrator` when absent.
    #[arg(long, env = "DOCS_ADMIN_NAME", value_name = "NAME")]
    pub admin_name: Option<String>,
    /// E-mail address of the first administrator; `admin@docs.example` when absent.
    #[arg(long, env = "DOCS_ADMIN_EMAIL", value_name = "EMAIL")]
    pub admin_email: Option<String>,
    /// Addresses that imports and files by URL may fetch from.
    #[arg(long, env = "DOCS_OUTBOUND", default_value = "public")]
    pub outbound: OutboundPolicy,
    /// Folder for the persistent search index, or `memory`; PATH.search for a store `sqlite:PATH`, else memory when
    /// absent.
    #[arg(long, env = "DOCS_SEARCH_INDEX", value_name = "FOLDER")]
    pub search_index: Option<SearchPlace>,
    /// Folder that caches Git repositories between fetches, or `none`; PATH.git for a store `sqlite:PATH`, else none
    /// when absent.
    #[arg(long, env = "DOCS_GIT_CACHE", value_name = "FOLDER")]
    pub git_cache: Option<GitCachePlace>,
    /// Maximum size of the Git cache, such as `500MB` or `10GiB`; evicts the least recently used first; 2 GB when
    /// absent.
    #[arg(long, env = "DOCS_GIT_CACHE_SIZE", value_name = "SIZE")]
    pub git_cache_size: Option<ByteSize>,
    /// Folder with additional fonts for PDF files, such as for Chinese, Japanese and Korean.
    #[arg(long, env = "DOCS_FONTS")]
    pub fonts: Option<PathBuf>,
    /// Program for contained processes that render PDF files, convert documents and parse OpenAPI specifications: a
    /// path, `self` for this program, or `none` to use the process of the server.
    #[arg(long, env = "DOCS_WORKER", value_name = "PROGRAM", default_value = "self")]
    pub worker: WorkerProgram,
    /// Translator of spaces: `openai` for a service with the chat completions API of OpenAI, `libretranslate`, or
    /// `pseudo`, which only marks the translatable text.
    #[arg(long, env = "DOCS_TRANSLATOR", default_value = "pseudo")]
    pub translator: TranslatorKind,
    /// URL of the translator, such as `https://api.openai.com/v1` or `http://127.0.0.1:5000`.
    #[arg(long, env = "DOCS_TRANSLATOR_URL", value_name = "URL")]
    pub translator_url: Option<String>,
    /// API key of the translator.
    #[arg(long, env = "DOCS_TRANSLATOR_KEY", value_name = "KEY", hide_env_values = true, value_parser = SecretParser(TranslatorKey::parse))]
    pub translator_key: Option<TranslatorKey>,
    /// Model of an `openai` translator.
    #[arg(long, env = "DOCS_TRANSLATOR_MODEL", value_name = "NAME")]
    pub translator_model: Option<String>,
    /// Sign-in through the SAML providers of organizations, at `/saml`.
    #[arg(long, env = "DOCS_SAML", default_value = "on")]
    pub saml: SamlMode,
    /// Folder or Git URL to import as the first space, or `none` for a first start without a space and a site; the
    /// handbook when absent.
    #[arg(long, env = "DOCS_IMPORT", value_name = "SOURCE")]
    pub import: Option<ImportSource>,
    /// Seconds without a heartbeat after which the jobs of a server continue on another server of the store, or on
    /// itself after a restart, from 1 to 86400; 30 when absent.
    #[arg(long, env = "DOCS_JOB_LEASE", value_name = "SECONDS", value_parser = job_lease)]
    pub job_lease: Option<NonZeroU32>,
    /// Maximum requests per minute for each token, and for each address without a token; no limit when absent.
    #[arg(long, env = "DOCS_RATE_LIMIT", value_name = "N")]
    pub rate_limit: Option<NonZeroU32>,
    /// Number of organizations that each user can create; 10 when absent. With 0, only the operator creates
    /// organizations.
    #[arg(long, env = "DOCS_ORGANIZATIONS_PER_USER", value_name = "N")]
    pub organizations_per_user: Option<u32>,
    /// Networks of trusted proxies: the rate limit takes client addresses from their `X-Forwarded-For` or `Forwarded`
    /// header, and they may use HTTP/2 without TLS.
    #[arg(long, env = "DOCS_TRUSTED_PROXIES", value_name = "CIDR,…")]
    pub trusted_proxies: Option<TrustedProxies>,
    /// Limits on connections.
    #[command(flatten)]
    pub connections: ConnectionConfig,
    /// Origin of web pages that may call the API, such as `https://docs.example.com`, or `*` for any; can be repeated.
    #[arg(long = "cors-origin", env = "DOCS_CORS_ORIGINS", value_name = "ORIGIN", value_delimiter = ',')]
    pub cors_origins: Vec<CorsOrigin>,
    /// Host that organizations may mount sites on, such as `docs.example.com`, `*.example.com` for all its subdomains,
    /// or `*` for any; `HOST=ORGANIZATION` restricts it to one organization. None when absent; can be repeated.
    #[arg(long = "site-hosts", env = "DOCS_SITE_HOSTS", value_name = "HOST", value_delimiter = ',')]
    pub site_hosts: Vec<SiteHostRule>,
}

/// The process that renders PDF files, converts documents and parses specifications.
///
/// Untrusted documents may exhaust resources or crash the process. A worker process has memory and time limits, and its
/// crash fails only the affected request instead of the server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum WorkerProgram {
    /// The server process, limited only by the adapters. The default of [`ServerConfig`], because an embedding
    /// application has no `worker` subcommand.
    #[default]
    InProcess,
    /// Processes of the current executable, started with the subcommand `worker`. The executable must call
    /// [`run`](crate::run). The default on the command line.
    Current,
    /// Processes of the executable at this path, such as `docs-server`, started with the subcommand `worker`.
    At(PathBuf),
}

impl FromStr for WorkerProgram {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "self" => Self::Current,
            "none" => Self::InProcess,
            path => Self::At(path.into()),
        })
    }
}

/// The location of the Git repository cache. A folder must not be shared between processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GitCachePlace {
    /// No cache: each fetch downloads the whole repository.
    Nowhere,
    Folder(PathBuf),
}

impl FromStr for GitCachePlace {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text == "none" { Self::Nowhere } else { Self::Folder(text.into()) })
    }
}

/// The content that the first start creates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ImportSource {
    /// None: the organization has no space and no site.
    Nothing,
    /// A folder, or the URL of a Git repository.
    From(String),
}

impl FromStr for ImportSource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text == "none" { Self::Nothing } else { Self::From(text.to_owned()) })
    }
}

/// The addresses that imports and files by URL may fetch from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum OutboundPolicy {
    /// Public addresses only.
    #[default]
    Public,
    /// Also private networks and this machine.
    Private,
    /// Also repositories on the disks of this machine.
    Files,
}

/// The availability of sign-in through SAML providers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum SamlMode {
    /// For organizations that have configured a provider.
    #[default]
    On,
    /// Off: the server has no SAML routes.
    Off,
}

/// The translator of spaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum TranslatorKind {
    /// No service: letters get accents, which marks the translatable text.
    #[default]
    Pseudo,
    /// A service with the chat completions API of OpenAI.
    Openai,
    /// A LibreTranslate server.
    Libretranslate,
}

/// API key of a translator. It never appears in messages or logs.
#[derive(Clone, PartialEq, Eq)]
pub struct TranslatorKey(String);

impl TranslatorKey {
    /// Parses a key.
    ///
    /// # Errors
    /// Returns an error if the key is empty or contains anything but visible ASCII characters. The message does not
    /// contain the key.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("must consist of visible ASCII characters".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TranslatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TranslatorKey")
    }
}

/// A secret of at least 16 characters that fits into an HTTP header. It never appears in messages or logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Minimum length of a chosen token in characters.
const MIN_TOKEN_CHARS: usize = 16;

impl Secret {
    /// Parses a secret chosen by the operator.
    ///
    /// # Errors
    /// Returns an error if the secret is too short, or contains characters other than letters, digits and `-._~+/=`
    /// (RFC 6750). The message does not contain the secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if text.len() < MIN_TOKEN_CHARS || !text.chars().all(fits) {
            return Err(format!(
                "must be at least {MIN_TOKEN_CHARS} characters, each a letter, a digit or one of -._~+/="
            ));
        }
        Ok(Self(text.to_owned()))
    }

    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl ValueParserFactory for Secret {
    type Parser = SecretParser<Self>;

    fn value_parser() -> SecretParser<Self> {
        SecretParser(Self::parse)
    }
}

/// A parser for values that may contain a password. Unlike clap's parsers, it does not repeat the value in error
/// messages.
#[derive(Clone)]
pub struct SecretParser<T>(fn(&str) -> Result<T, String>);

impl<T> fmt::Debug for SecretParser<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Concealed")
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for SecretParser<T> {
    type Value = T;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_str().ok_or_else(|| "must be UTF-8 text".to_owned());
        text.and_then(self.0).map_err(|why| {
            let flag = arg.and_then(Arg::get_long).map_or_else(String::new, |long| format!("--{long}: "));
            clap::Error::raw(ErrorKind::ValueValidation, format!("{flag}{why}\n")).with_cmd(cmd)
        })
    }
}

/// Parses the duration of a job lease in seconds.
fn job_lease(text: &str) -> Result<NonZeroU32, String> {
    let most = MAX_LEASE.num_seconds();
    let read = text.parse().ok().filter(|seconds: &NonZeroU32| i64::from(seconds.get()) <= most);
    read.ok_or_else(|| format!("must be a number of seconds from 1 to {most}"))
}

impl ServerConfig {
    /// Returns the normalized base URL, if one is given.
    pub(crate) fn given_base_url(&self) -> Result<Option<String>, ServerError> {
        let given = self.base_url.as_deref().map(base_url).transpose();
        given.map_err(|why| ServerError::for_flag("--base-url", why))
    }
}

/// Parses an absolute base URL, and removes its trailing slash. Its path must consist of plain characters, so that all
/// proxies handle it the same way and the application can be mounted there.
fn base_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|e| format!("{e}; use a form like https://docs.example.com"))?;
    if !matches!(url.scheme(), "http" | "https") || url.query().is_some() || url.fragment().is_some() {
        return Err("must be an http or https URL without `?` and `#`".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not contain a user or a password".to_owned());
    }
    let stands_for_all = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_unspecified(),
        Some(Host::Domain(_)) | None => false,
    };
    if stands_for_all {
        return Err("must be an address that clients can connect to, like http://localhost:4000".to_owned());
    }
    let path = url.path().trim_end_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    if path.contains("//") || !path.bytes().all(is_plain) {
        return Err(
            "must have a path of letters, digits and -_.~ only, like https://example.com/docs-api".to_owned()
        );
    }
    Ok(format!("{}{path}", url.origin().ascii_serialization()))
}

pub(crate) fn files_origin(text: &str) -> Result<String, String> {
    let address = base_url(text)?;
    match address.splitn(4, '/').nth(3) {
        None => Ok(address),
        Some(_) => Err("must be an origin without a path, like https://files.example.net".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::base_url;

    #[test]
    fn base_url_is_normalized() {
        for (text, read) in [
            ("https://docs.example.com", "https://docs.example.com"),
            ("https://docs.example.com/", "https://docs.example.com"),
            ("HTTPS://Docs.Example.com:443//", "https://docs.example.com"),
            ("https://example.com/docs-api", "https://example.com/docs-api"),
            ("https://example.com/a/b.c/", "https://example.com/a/b.c"),
            ("https://example.com/x/../docs-api", "https://example.com/docs-api"),
            ("http://localhost:4000", "http://localhost:4000"),
            ("http://[::1]:4000/a", "http://[::1]:4000/a"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(base_url(text).as_deref(), Ok(read), "{text}");
        }
    }

    #[test]
    fn invalid_base_urls_are_rejected_without_leaking_passwords() {
        for (text, said) in [
            ("", "use a form like"),
            ("docs.example.com", "use a form like"),
            ("localhost:4000", "http or https"),
            ("ftp://docs.example.com", "http or https"),
            ("https://docs.example.com?a", "`?`"),
            ("https://docs.example.com#a", "`#`"),
            ("https://ada:secret@docs.example.com", "a password"),
            ("https://ada@docs.example.com", "a user"),
            ("http://0.0.0.0:4000", "connect to"),
            ("http://0:4000", "connect to"),
            ("http://[::]:4000", "connect to"),
            ("http://[::ffff:0.0.0.0]", "connect to"),
            ("https://docs.example.com/a//b", "a path of"),
            ("https://docs.example.com/a b", "a path of"),
            ("https://docs.example.com/:a", "a path of"),
        ] {
            let refused = base_url(text).expect_err(text);
            assert!(refused.contains(said) && !refused.contains("secret"), "{text}: {refused}");
        }
    }
}
