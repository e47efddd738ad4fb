//! Determination of client addresses behind trusted proxies.
//!
//! A proxy states the client address in `X-Forwarded-For` or in `Forwarded` (RFC 7239). Any client can send these
//! headers, so they are used only if the peer of the connection is a trusted proxy, and only for the entries that
//! trusted proxies wrote. The list is scanned from the right, where the nearest proxy appended its peer, to the first
//! untrusted address. Entries further left may be forged by the client.

use std::{fmt, net::IpAddr, str::FromStr};

use ipnet::IpNet;
use poem::{
    Addr, Request,
    http::{HeaderMap, HeaderName, header},
};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Maximum number of proxies between a client and the server. Entries beyond it are ignored.
const MAX_HOPS: usize = 32;

/// Networks of trusted proxies; empty by default.
///
/// Parsed from a comma-separated list of networks and addresses.
///
/// # Example
///
/// ```
/// use docs_http::TrustedProxies;
///
/// let proxies: TrustedProxies = "10.0.0.0/8, 192.0.2.7, fd00::/8".parse()?;
/// assert_eq!(proxies.to_string(), "10.0.0.0/8,192.0.2.7/32,fd00::/8");
/// assert!("10.0.0.0/33".parse::<TrustedProxies>().is_err());
/// # Ok::<(), docs_http::ProxyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TrustedProxies(Vec<IpNet>);

/// The error for a malformed list of networks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a network; use CIDR notation like 10.0.0.0/8, or an address like 192.0.2.7")]
pub struct ProxyError(String);

impl FromStr for TrustedProxies {
    type Err = ProxyError;

    fn from_str(text: &str) -> Result<Self, ProxyError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(network).collect::<Result<_, _>>().map(Self)
    }
}

/// Parses a network; an address becomes a network of one. IPv4-mapped IPv6 networks become IPv4 networks.
fn network(text: &str) -> Result<IpNet, ProxyError> {
    let wrong = || ProxyError(text.to_owned());
    let net = match text.parse::<IpNet>() {
        Ok(net) => net.trunc(),
        Err(_) => IpNet::from(text.parse::<IpAddr>().map_err(|_| wrong())?.to_canonical()),
    };
    match (net, net.addr().to_canonical()) {
        (IpNet::V6(v6), v4 @ IpAddr::V4(_)) if v6.prefix_len() >= 96 => {
            IpNet::new(v4, v6.prefix_len() - 96).map_err(|_| wrong())
        }
        _ => Ok(net),
    }
}

impl fmt::Display for TrustedProxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, net) in self.0.iter().enumerate() {
            write!(f, "{}{net}", if n == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl TrustedProxies {
    /// Returns `true` if the address belongs to a trusted proxy. An IPv4-mapped IPv6 address is compared as IPv4.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|net| net.contains(&address))
    }

    /// Returns the client address, or `None` if the transport has no addresses.
    pub(crate) fn client_address(&self, request: &Request) -> Option<IpAddr> {
        let Addr::SocketAddr(peer) = &request.remote_addr().0 else { return None };
        let peer = peer.ip().to_canonical();
        if !self.contains(peer) {
            return Some(peer);
        }
        let headers = request.headers();
        let x_forwarded_for = self.first_untrusted(peer, x_forwarded_for(headers));
        let forwarded = self.first_untrusted(peer, forwarded(headers));
        Some(match (x_forwarded_for, forwarded) {
            (Some(client), None) | (None, Some(client)) => client,
            // A proxy writes one of the two headers and may forward the other from the client. If they differ, neither
            // can be trusted.
            (Some(one), Some(other)) if one == other => one,
            _ => peer,
        })
    }

    /// Returns the network of the client, which rate limits and budgets count as one client. For IPv6 this is usually a
    /// /64 network.
    pub(crate) fn client_network(&self, request: &Request) -> Option<IpAddr> {
        self.client_address(request).map(client_network)
    }

    /// Returns the rightmost untrusted address, or the leftmost one if all are trusted. A hop without an address ends
    /// the scan at the proxy that wrote it. Returns `None` without hops.
    fn first_untrusted(&self, peer: IpAddr, hops: Vec<Option<IpAddr>>) -> Option<IpAddr> {
        if hops.is_empty() {
            return None;
        }
        let mut client = peer;
        for hop in hops.into_iter().rev().take(MAX_HOPS) {
            let Some(address) = hop else { break };
            client = address;
            if !self.contains(address) {
                break;
            }
        }
        Some(client)
    }
}

fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Parses the hops of all `X-Forwarded-For` headers. A hop that is not an address is `None`.
fn x_forwarded_for(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let mut hops = Vec::new();
    for value in headers.get_all(X_FORWARDED_FOR) {
        match value.to_str() {
            Ok(text) => hops.extend(text.split(',').map(|part| address(part.trim()))),
            Err(_) => hops.push(None),
        }
    }
    hops
}

/// Parses the hops of all `Forwarded` headers. A hop without an address is `None`.
fn forwarded(headers: &HeaderMap) -> Vec<Option<IpAddr>> {
    let mut hops = Vec::new();
    for value in headers.get_all(header::FORWARDED) {
        match value.to_str() {
            Ok(text) => hops.extend(split(text, ',').into_iter().map(forwarded_for)),
            Err(_) => hops.push(None),
        }
    }
    hops
}

/// Parses the address after `for=` in one element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut of = None;
    for pair in split(element, ';') {
        let Some((name, value)) = pair.split_once('=') else { continue };
        if name.trim().eq_ignore_ascii_case("for") {
            // A duplicate `for` is ambiguous.
            if of.replace(value.trim()).is_some() {
                return None;
            }
        }
    }
    let value = of?;
    match value.strip_prefix('"') {
        // An address contains no backslash.
        Some(quoted) => address(quoted.strip_suffix('"')?),
        None => address(value),
    }
}

/// Splits at a separator outside of quotes.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.split(|c: char| {
        let escaped = std::mem::take(&mut is_escaped);
        match c {
            '\\' if is_quoted && !escaped => is_escaped = true,
            '"' if !escaped => is_quoted = !is_quoted,
            _ => return c == separator && !is_quoted,
        }
        false
    })
    .collect()
}

/// Parses an address with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`,
/// `[2001:db8::1]:80`.
fn address(text: &str) -> Option<IpAddr> {
    let host = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            if !port.is_empty() && !port.starts_with(':') {
                return None;
            }
            host
        }
        None => match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => host,
            _ => text,
        },
    };
    host.parse::<IpAddr>().ok().map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_with_and_without_a_port() {
        for (text, read) in [
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:4711", "192.0.2.1"),
            ("192.0.2.1:_hidden", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
        ] {
            assert_eq!(address(text).map(|it| it.to_string()).as_deref(), Some(read), "{text}");
        }
        for text in ["", "unknown", "_hidden", "[2001:db8::1", "[2001:db8::1]x", "192.0.2", "fe80::1%eth0"] {
            assert_eq!(address(text), None, "{text}");
        }
    }

    #[test]
    fn quoted_separators_do_not_split() {
        assert_eq!(split(r#"for="a,b";by=c, for=d"#, ','), [r#"for="a,b";by=c"#, " for=d"]);
        assert_eq!(split(r#"for="a\",;";by=c"#, ';'), [r#"for="a\",;""#, "by=c"]);
        assert_eq!(split(r#"for="a,b"#, ','), [r#"for="a,b"#], "a quote that is not closed goes to the end");
    }

    #[test]
    fn forwarded_element_without_a_single_address_is_ignored() {
        for (element, read) in [
            ("for=192.0.2.1;proto=https", Some("192.0.2.1")),
            (r#" proto=https;For="[2001:db8::1]:80" "#, Some("2001:db8::1")),
            ("proto=https", None),
            ("for=unknown", None),
            ("for=192.0.2.1;for=192.0.2.2", None),
            (r#"for="192.0.2.1"#, None),
            ("", None),
        ] {
            let read = read.map(|text| text.parse::<IpAddr>().expect("an address"));
            assert_eq!(forwarded_for(element), read, "{element}");
        }
    }

    #[test]
    fn ipv4_mapped_network_is_normalized_to_ipv4() {
        for (text, read) in [
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:10.0.0.1", "10.0.0.1/32"),
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("::/0", "::/0"),
        ] {
            assert_eq!(network(text).map(|net| net.to_string()).as_deref(), Ok(read), "{text}");
        }
        assert!(network("proxy.example.com").is_err());
    }

    #[test]
    fn client_is_an_ipv6_network_or_an_ipv4_address() {
        let of = |text: &str| client_network(text.parse().expect("an address"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
