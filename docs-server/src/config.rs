//! What a server is told: by its flags, or by the program that it is a part of.

use std::{ffi::OsStr, fmt, num::NonZeroU32, path::PathBuf, str::FromStr};

use clap::{
    Arg, Args, Command, ValueEnum,
    builder::{TypedValueParser, ValueParserFactory},
    error::ErrorKind,
};
use docs_core::{platform::SiteHostRule, store::jobs::MAX_LEASE};
use docs_http::{CorsOrigin, TrustedProxies};
use url::{Host, Url};

use crate::{BindAddress, ByteSize, ConnectionConfig, SearchPlace, StoreUrl};

/// What a server is told. Each field is a flag of the program and an environment variable.
///
/// # Example
/// ```
/// use docs_server::{Secret, ServerConfig};
///
/// let config = ServerConfig {
///     store: "sqlite:docs.db".parse()?,
///     token: Some(Secret::token("a-token-of-the-host")?),
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
    /// Address under which others reach the server, with or without a path; `http://` and the bind address when absent,
    /// or `localhost` where that stands for all addresses.
    #[arg(long, env = "DOCS_BASE_URL", value_name = "URL", value_parser = base_url)]
    pub base_url: Option<String>,
    /// Origin of uploaded files, PDF files and specifications, like `https://files.example.net`: a host that answers
    /// nothing else. That of `--base-url` when absent.
    #[arg(long, env = "DOCS_FILES_ORIGIN", value_name = "ORIGIN", value_parser = files_origin)]
    pub files_origin: Option<String>,
    /// Where everything is kept: `memory`, `sqlite:PATH`, or `postgres://USER:PASSWORD@HOST/DATABASE`, which takes
    /// `sslmode` and `sslrootcert`.
    #[arg(
        long,
        env = "DOCS_STORE",
        hide_env_values = true,
        default_value = "memory",
        value_parser = Concealed::<StoreUrl>(StoreUrl::from_str),
        global = true
    )]
    pub store: StoreUrl,
    /// Folder, or bucket as `s3://BUCKET/PREFIX`, for files over 128 KiB of a store on disk; in the database when
    /// absent.
    #[arg(long, env = "DOCS_BLOBS", hide_env_values = true, global = true)]
    pub blobs: Option<String>,
    /// Secret that file addresses and stored credentials are sealed with, the same for all servers on a store; kept in
    /// the store when absent.
    #[arg(long, env = "DOCS_SECRET", hide_env_values = true)]
    pub secret: Option<Secret>,
    /// Token of the first administrator, at least 16 characters; made and printed once when absent.
    #[arg(long, env = "DOCS_TOKEN", hide_env_values = true)]
    pub token: Option<Secret>,
    /// What imports and files by URL may reach.
    #[arg(long, env = "DOCS_OUTBOUND", default_value = "public")]
    pub outbound: Outbound,
    /// Folder of the search index, kept for the next start, or `memory`; beside the file of `sqlite:PATH` as
    /// PATH.search, else in memory when absent.
    #[arg(long, env = "DOCS_SEARCH_INDEX", value_name = "FOLDER")]
    pub search_index: Option<SearchPlace>,
    /// Folder that keeps Git repositories from one fetch to the next, or `none`; beside the file of `sqlite:PATH` as
    /// PATH.git when absent, else none.
    #[arg(long, env = "DOCS_GIT_CACHE", value_name = "FOLDER")]
    pub git_cache: Option<GitCachePlace>,
    /// Most bytes of that folder, like `500MB` or `10GiB`: what was not used for longest goes; 2 GB when absent.
    #[arg(long, env = "DOCS_GIT_CACHE_SIZE", value_name = "SIZE")]
    pub git_cache_size: Option<ByteSize>,
    /// Folder with further fonts for PDF files, such as those of Chinese, Japanese and Korean.
    #[arg(long, env = "DOCS_FONTS")]
    pub fonts: Option<PathBuf>,
    /// Program that sets PDF files, converts documents and reads OpenAPI specifications, in contained processes: a
    /// path, `self` for this program, or `none` to do it in the process of the server.
    #[arg(long, env = "DOCS_WORKER", value_name = "PROGRAM", default_value = "self")]
    pub worker: WorkerProgram,
    /// What translates spaces: `openai` for a service with the chat completions of OpenAI, `libretranslate`, or
    /// `pseudo`, which knows no language and only marks what would be translated.
    #[arg(long, env = "DOCS_TRANSLATOR", default_value = "pseudo")]
    pub translator: TranslatorKind,
    /// Address of the translator, like `https://api.openai.com/v1` or `http://127.0.0.1:5000`.
    #[arg(long, env = "DOCS_TRANSLATOR_URL", value_name = "URL")]
    pub translator_url: Option<String>,
    /// Key of the translator.
    #[arg(long, env = "DOCS_TRANSLATOR_KEY", value_name = "KEY", hide_env_values = true, value_parser = Concealed(TranslatorKey::read))]
    pub translator_key: Option<TranslatorKey>,
    /// Model of an `openai` translator.
    #[arg(long, env = "DOCS_TRANSLATOR_MODEL", value_name = "NAME")]
    pub translator_model: Option<String>,
    /// Whether people sign in through the SAML providers of their organizations, below `/saml`.
    #[arg(long, env = "DOCS_SAML", default_value = "on")]
    pub saml: SamlMode,
    /// Folder or Git URL to import as the first space; the handbook when absent.
    #[arg(long, env = "DOCS_IMPORT")]
    pub import: Option<String>,
    /// After how many seconds without a sign of life of a server others on its store go on with its jobs, or itself
    /// when it is there again, from 1 to 86400; 30 when absent.
    #[arg(long, env = "DOCS_JOB_LEASE", value_name = "SECONDS", value_parser = job_lease)]
    pub job_lease: Option<NonZeroU32>,
    /// Most requests a minute of each token, and of each address without one; no limit when absent.
    #[arg(long, env = "DOCS_RATE_LIMIT", value_name = "N")]
    pub rate_limit: Option<NonZeroU32>,
    /// Networks of the proxies whose `X-Forwarded-For` or `Forwarded` the rate limit takes the address of a client
    /// from, and which may speak HTTP/2 without TLS.
    #[arg(long, env = "DOCS_TRUSTED_PROXIES", value_name = "CIDR,…")]
    pub trusted_proxies: Option<TrustedProxies>,
    /// Limits on connections.
    #[command(flatten)]
    pub connections: ConnectionConfig,
    /// Origin whose web pages may call the API, like `https://docs.example.com`, or `*` for any; can be given often.
    #[arg(long = "cors-origin", env = "DOCS_CORS_ORIGINS", value_name = "ORIGIN", value_delimiter = ',')]
    pub cors_origins: Vec<CorsOrigin>,
    /// Host that organizations may mount sites on, like `docs.example.com`, `*.example.com` for all hosts below a name,
    /// or `*` for any; `HOST=ORGANIZATION` for one organization only. None when absent; can be given often.
    #[arg(long = "site-hosts", env = "DOCS_SITE_HOSTS", value_name = "HOST", value_delimiter = ',')]
    pub site_hosts: Vec<SiteHostRule>,
}

/// Where PDF files are set and documents converted: work on what others wrote, that may take much or end its process.
///
/// In a process of its own it has limits of memory and time, and its end costs the request that asked for it, not the
/// server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum WorkerProgram {
    /// In the process of the server: nothing but the limits of the adapters holds it. The default of a
    /// [`ServerConfig`], as a host's own program knows no command for it.
    #[default]
    InProcess,
    /// In processes of the program that runs, started with the command `worker`: of a program that calls
    /// [`run`](crate::run). The default of the command line.
    Current,
    /// In processes of a program at a path, such as `docs-server`, started with the command `worker`.
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

/// Where a server keeps Git repositories from one fetch to the next. A folder belongs to one process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GitCachePlace {
    /// Nowhere: each fetch is of all files.
    Nowhere,
    /// In a folder.
    Folder(PathBuf),
}

impl FromStr for GitCachePlace {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text == "none" { Self::Nowhere } else { Self::Folder(text.into()) })
    }
}

/// What imports and files by URL may reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum Outbound {
    /// Public addresses only.
    #[default]
    Public,
    /// Private networks and this machine too.
    Private,
    /// Repositories on this machine's disks too.
    Files,
}

/// Whether people sign in through SAML providers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum SamlMode {
    /// Where an organization has set one up.
    #[default]
    On,
    /// Nowhere: there are no such addresses.
    Off,
}

/// What translates spaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum TranslatorKind {
    /// Nothing: letters get accents, so that one sees what would be translated.
    #[default]
    Pseudo,
    /// A service with the chat completions of OpenAI.
    Openai,
    /// A server of LibreTranslate.
    Libretranslate,
}

/// The key of a translator. No message and no log shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct TranslatorKey(String);

impl TranslatorKey {
    /// A key as an operator gives it.
    ///
    /// # Errors
    /// When it is empty, or has characters that no HTTP header carries. The sentence does not repeat it.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("must be a key of visible ASCII characters".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    /// The key itself.
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

/// A text that no message and no log shows: at least 16 characters that an HTTP header can carry.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret that the operator chose.
    ///
    /// # Errors
    /// When it is too short, or has other characters than letters, digits and `-._~+/=` (RFC 6750). The sentence does
    /// not repeat it.
    pub fn token(text: &str) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c);
        if text.len() < 16 || !text.chars().all(fits) {
            return Err("must be at least 16 letters, digits or characters of -._~+/=".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    /// The secret itself.
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
    type Parser = Concealed<Self>;

    fn value_parser() -> Concealed<Self> {
        Concealed(Self::token)
    }
}

/// Reads a value that may hold a password: the message does not repeat it, as those of clap do.
#[derive(Clone)]
pub struct Concealed<T>(fn(&str) -> Result<T, String>);

impl<T> fmt::Debug for Concealed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Concealed")
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Concealed<T> {
    type Value = T;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, clap::Error> {
        let text = value.to_str().ok_or_else(|| "must be UTF-8 text".to_owned());
        text.and_then(self.0).map_err(|why| {
            let flag = arg.and_then(Arg::get_long).map_or_else(String::new, |long| format!("--{long}: "));
            clap::Error::raw(ErrorKind::ValueValidation, format!("{flag}{why}\n")).with_cmd(cmd)
        })
    }
}

/// Reads how long a lease of jobs is.
fn job_lease(text: &str) -> Result<NonZeroU32, String> {
    let most = MAX_LEASE.num_seconds();
    let read = text.parse().ok().filter(|seconds: &NonZeroU32| i64::from(seconds.get()) <= most);
    read.ok_or_else(|| format!("must be a number of seconds from 1 to {most}"))
}

/// Reads an address under which others reach the server: absolute, and without a slash at its end. Its path has plain
/// characters only, so that it means the same to every proxy and can be mounted.
pub(crate) fn base_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|e| format!("{e}; write it like https://docs.example.com"))?;
    if !matches!(url.scheme(), "http" | "https") || url.query().is_some() || url.fragment().is_some() {
        return Err("must be an http or https address without `?` and `#`".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must have no user and no password: it is handed out".to_owned());
    }
    let stands_for_all = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_unspecified(),
        Some(Host::Domain(_)) | None => false,
    };
    if stands_for_all {
        return Err("must be an address that others can connect to, which that of all addresses is not; \
                    write it like http://localhost:4000"
            .to_owned());
    }
    let path = url.path().trim_end_matches('/');
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    if path.contains("//") || !path.bytes().all(is_plain) {
        return Err(
            "must have a path of letters, digits and -_.~, like https://example.com/docs-api".to_owned()
        );
    }
    Ok(format!("{}{path}", url.origin().ascii_serialization()))
}

/// Parses the origin of files.
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
    fn a_base_url_is_handed_out_in_one_form() {
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
    fn what_cannot_be_handed_out_is_no_base_url() {
        for (text, said) in [
            ("", "write it like"),
            ("docs.example.com", "write it like"),
            ("localhost:4000", "http or https"),
            ("ftp://docs.example.com", "http or https"),
            ("https://docs.example.com?a", "`?`"),
            ("https://docs.example.com#a", "`#`"),
            ("https://ada:secret@docs.example.com", "no password"),
            ("https://ada@docs.example.com", "no user"),
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
