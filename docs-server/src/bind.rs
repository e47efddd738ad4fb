//! Parsing of the address that a server listens on.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    str::FromStr,
};

use tokio::net::TcpListener;

/// An address to listen on: a host and a port, such as `127.0.0.1:4000`, `[::1]:4000` or `localhost:4000`. Port 0
/// selects a free port.
///
/// # Example
/// ```
/// use docs_server::BindAddress;
///
/// let address: BindAddress = "localhost:4000".parse()?;
/// assert_eq!(address.to_string(), "localhost:4000");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BindAddress(Host);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Host {
    Number(SocketAddr),
    Name(String, u16),
}

impl Default for BindAddress {
    fn default() -> Self {
        Self(Host::Number(SocketAddr::from((Ipv4Addr::LOCALHOST, 4000))))
    }
}

impl FromStr for BindAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(Self(Host::Number(address)));
        }
        let wrong =
            || "must be a host and a port, such as 127.0.0.1:4000, [::1]:4000 or localhost:4000".to_owned();
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_name = !host.is_empty() && host.len() <= 253 && host.bytes().all(is_plain);
        // A host whose last label is numeric is a malformed IPv4 address, not a host name.
        let is_number = host.rsplit('.').next().is_some_and(|last| last.bytes().all(|b| b.is_ascii_digit()));
        if !is_name || is_number {
            return Err(wrong());
        }
        Ok(Self(Host::Name(host.to_owned(), port.parse().map_err(|_| wrong())?)))
    }
}

impl fmt::Display for BindAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Host::Number(address) => address.fmt(f),
            Host::Name(name, port) => write!(f, "{name}:{port}"),
        }
    }
}

impl BindAddress {
    /// Listens on the address. If a name resolves to several addresses, the first one that can be bound is used.
    pub(crate) async fn listen(&self) -> io::Result<TcpListener> {
        match &self.0 {
            Host::Number(address) => TcpListener::bind(address).await,
            Host::Name(name, port) => TcpListener::bind((name.as_str(), *port)).await,
        }
    }

    /// Returns `true` if this is the wildcard address, to which no client can connect.
    pub(crate) fn is_unspecified(&self) -> bool {
        matches!(&self.0, Host::Number(address) if address.ip().to_canonical().is_unspecified())
    }

    /// Returns the host and port to show to users. `port` is the port actually bound. The wildcard address is shown as
    /// `localhost`.
    pub(crate) fn display_address(&self, port: u16) -> String {
        match &self.0 {
            _ if self.is_unspecified() => format!("localhost:{port}"),
            Host::Name(name, _) => format!("{name}:{port}"),
            Host::Number(address) => SocketAddr::new(address.ip(), port).to_string(),
        }
    }

    /// Returns the host and port for connecting from this machine. `port` is the port actually bound. The wildcard
    /// address becomes the loopback address of the same family, because `localhost` may resolve to the other family
    /// first.
    pub(crate) fn connect_address(&self, port: u16) -> String {
        match &self.0 {
            Host::Name(name, _) => format!("{name}:{port}"),
            Host::Number(address) => {
                let ip = match address.ip() {
                    ip if ip.to_canonical() == Ipv4Addr::UNSPECIFIED => IpAddr::V4(Ipv4Addr::LOCALHOST),
                    IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
                    ip => ip,
                };
                SocketAddr::new(ip, port).to_string()
            }
        }
    }

    /// Returns the port; 0 selects a free port.
    pub(crate) fn port(&self) -> u16 {
        match &self.0 {
            Host::Number(address) => address.port(),
            Host::Name(_, port) => *port,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_and_connect_addresses_are_never_unspecified() {
        for (text, shown, reachable) in [
            ("127.0.0.1:0", "127.0.0.1:81", "127.0.0.1:81"),
            ("0.0.0.0:0", "localhost:81", "127.0.0.1:81"),
            ("[::]:0", "localhost:81", "[::1]:81"),
            ("[::ffff:0.0.0.0]:0", "localhost:81", "127.0.0.1:81"),
            ("[::1]:0", "[::1]:81", "[::1]:81"),
            ("192.0.2.1:0", "192.0.2.1:81", "192.0.2.1:81"),
            ("localhost:0", "localhost:81", "localhost:81"),
            ("docs_db.internal:0", "docs_db.internal:81", "docs_db.internal:81"),
        ] {
            let address: BindAddress = text.parse().expect("an address");
            assert_eq!(
                (&*address.display_address(81), &*address.connect_address(81)),
                (shown, reachable),
                "{text}"
            );
            assert_eq!(address.is_unspecified(), shown != reachable, "{text}");
        }
    }

    #[test]
    fn invalid_bind_addresses_are_rejected() {
        for text in [
            "",
            "localhost",
            ":4000",
            "localhost:",
            "localhost:65536",
            "a b:1",
            "::1:4000",
            "127.0.0:4000",
            "256.0.0.1:4000",
            "http://localhost:4000",
        ] {
            let refused = text.parse::<BindAddress>().map(|it| it.to_string());
            assert!(refused.is_err(), "{text}: {refused:?}");
        }
    }
}
