//! Clients for HTTP that connect to checked addresses only.

use std::{error::Error as StdError, fmt, future, net::SocketAddr, sync::Arc, time::Duration};

use reqwest::{
    Client,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect, retry,
};
use rustls::{ClientConfig, RootCertStore};
use url::Url;

use crate::{Guard, HostError};

/// How long a connection may take to be made.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// TLS cannot be set up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("TLS cannot be set up: {0}")]
pub struct TlsError(String);

/// Makes clients for HTTP that connect to checked addresses only.
///
/// Proxies of the environment are not used, redirects are not followed, nothing is sent twice, and compressed bodies
/// are neither asked for nor unpacked.
#[derive(Clone)]
pub struct Dialer {
    tls: Arc<ClientConfig>,
    user_agent: &'static str,
}

impl Dialer {
    /// A dialer whose clients call themselves by a name.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(user_agent: &'static str) -> Result<Self, TlsError> {
        Ok(Self { tls: Arc::new(tls_config()?), user_agent })
    }

    /// A client for the host of a URL, which may say nothing for as long as `idle`.
    ///
    /// The client belongs to that host: it connects to the same addresses whatever it is asked for by name. Another
    /// host needs another client, after a redirect as well.
    ///
    /// # Errors
    /// When the guard does not allow the host.
    pub async fn client(&self, guard: &Guard, url: &Url, idle: Duration) -> Result<Client, HostError> {
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
            .read_timeout(idle)
            .tls_backend_preconfigured((*self.tls).clone())
            // An address is connected to as it stands in the URL, which the guard has checked; a name is not.
            .dns_resolver(Pinned(addresses))
            .build()
            .map_err(|error| HostError::Client(reason(&error)))
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("user_agent", &self.user_agent).finish_non_exhaustive()
    }
}

/// Knows the checked addresses, and no names.
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _name: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(future::ready(Ok(addresses)))
    }
}

/// TLS 1.2 and 1.3 by ring, the root certificates of Mozilla: for an adapter whose library makes its own client.
/// Nothing is set for the process.
///
/// # Errors
/// When TLS cannot be set up.
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

/// Why a request failed, without its URL: the innermost reason. The outer ones repeat the URL.
#[must_use]
pub fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the server does not answer".to_owned();
    }
    let Some(mut reason) = error.source() else { return "the connection failed".to_owned() };
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string()
}
