//! HTTP clients that connect only to checked addresses.

use std::{error::Error as StdError, fmt, future, net::SocketAddr, sync::Arc, time::Duration};

use reqwest::{
    Client,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect, retry,
};
use rustls::{ClientConfig, RootCertStore};
use url::Url;

use crate::{Guard, HostError};

/// The error reason if a host sends no data for the maximum time.
pub const NO_RESPONSE: &str = "the server does not respond";
/// Timeout for establishing a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The error for a failed TLS setup.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("failed to set up TLS: {0}")]
pub struct TlsError(String);

/// Creates HTTP clients that connect only to checked addresses.
///
/// The clients ignore proxy settings in the environment, do not follow redirects, and never retry a request. They
/// neither request nor decompress compressed bodies.
#[derive(Clone)]
pub struct Dialer {
    tls: Arc<ClientConfig>,
    user_agent: &'static str,
}

impl Dialer {
    /// Creates a dialer whose clients send this user agent.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn new(user_agent: &'static str) -> Result<Self, TlsError> {
        Ok(Self { tls: Arc::new(tls_config()?), user_agent })
    }

    /// Creates a client for the host of a URL. The client limits the time for connecting; the caller has to limit the
    /// time of requests.
    ///
    /// The client can only be used for this host: it connects to the checked addresses, whatever host a request names.
    /// Create a new client for another host, including the target of a redirect.
    ///
    /// # Errors
    /// If the guard refuses the host.
    pub async fn client(&self, guard: &Guard, url: &Url) -> Result<Client, HostError> {
        let host = url.host().ok_or(HostError::None)?.to_owned();
        let port = url.port_or_known_default().ok_or(HostError::None)?;
        let addresses = guard.addresses(&host, port).await?;
        Client::builder()
            .user_agent(self.user_agent)
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .retry(retry::never())
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .connect_timeout(CONNECT_TIMEOUT)
            .tls_backend_preconfigured((*self.tls).clone())
            // An IP address in a URL bypasses this resolver, but the guard has already checked it.
            .dns_resolver(PinnedResolver(addresses))
            .build()
            .map_err(|error| HostError::Client(reason(&error)))
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("user_agent", &self.user_agent).finish_non_exhaustive()
    }
}

/// A resolver that returns the checked addresses for any name.
struct PinnedResolver(Vec<SocketAddr>);

impl Resolve for PinnedResolver {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(future::ready(Ok(addresses)))
    }
}

/// Returns a TLS configuration with TLS 1.2 and 1.3 implemented by ring, and Mozilla's root certificates, for adapters
/// whose library creates its own client. The process-wide default provider is not set.
///
/// # Errors
/// If TLS cannot be set up.
pub fn tls_config() -> Result<ClientConfig, TlsError> {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

/// Returns the reason that a request failed, without its URL. It is taken from the innermost error, because outer
/// errors repeat the URL.
#[must_use]
pub fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return NO_RESPONSE.to_owned();
    }
    let Some(mut reason) = error.source() else { return "the connection failed".to_owned() };
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string()
}
