//! Checks of addresses before a client connects to them.

use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use async_trait::async_trait;
use docs_ports::WebError;
use url::Host;

/// The addresses that a client may connect to. Each variant includes the previous ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Outbound {
    /// Only public addresses. The right choice for a server on the internet.
    #[default]
    Public,
    /// Also private networks and this machine.
    Private,
    /// Also local files through `file` URLs, for adapters that support them. For HTTP, the same as
    /// [`Private`](Self::Private).
    Files,
}

/// A DNS resolver, which tests can replace.
#[async_trait]
pub trait Resolve: Send + Sync + 'static {
    /// Returns all addresses of a name.
    ///
    /// # Errors
    /// If the name cannot be resolved.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// The error for a refused or unreachable host. Its messages are shown to users.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    #[error("the URL must have a host")]
    None,
    /// The host has an address that this server must not connect to.
    #[error("{0}")]
    Refused(String),
    /// The host has no address. This may be temporary.
    #[error("{0}")]
    NotFound(String),
    /// The client could not be created.
    #[error("failed to create an HTTP client: {0}")]
    Client(String),
}

impl From<HostError> for WebError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::None | HostError::Refused(_) => Self::Refused(error.to_string()),
            HostError::NotFound(_) | HostError::Client(_) => Self::Unreachable(error.to_string()),
        }
    }
}

/// Resolves hosts to addresses that are safe to connect to.
///
/// Resolving and checking are a single step, and callers must connect to one of the returned addresses. A name that
/// resolves differently a moment later (DNS rebinding) therefore has no effect.
#[derive(Clone)]
pub struct Guard {
    outbound: Outbound,
    resolver: Arc<dyn Resolve>,
    /// Address of a test server to treat as public.
    #[cfg(test)]
    pub(crate) exempt: Option<SocketAddr>,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("outbound", &self.outbound).finish_non_exhaustive()
    }
}

impl Guard {
    /// Creates a guard that uses this resolver.
    #[must_use]
    pub fn new(outbound: Outbound, resolver: Arc<dyn Resolve>) -> Self {
        Self {
            outbound,
            resolver,
            #[cfg(test)]
            exempt: None,
        }
    }

    /// Returns the addresses of a host if all of them are permitted. A single forbidden address causes the host to be
    /// refused.
    ///
    /// # Errors
    /// If the host is refused or has no address.
    pub async fn addresses(&self, host: &Host<String>, port: u16) -> Result<Vec<SocketAddr>, HostError> {
        let addresses = match host {
            Host::Ipv4(address) => vec![IpAddr::V4(*address)],
            Host::Ipv6(address) => vec![IpAddr::V6(*address)],
            Host::Domain(name) => self.resolve(name).await?,
        };
        if addresses.is_empty() {
            return Err(HostError::NotFound(format!("the host `{host}` has no address")));
        }
        let addresses: Vec<_> = addresses.into_iter().map(|address| SocketAddr::new(address, port)).collect();
        if !addresses.iter().all(|address| self.allows(*address)) {
            return Err(self.host_refused_error(host));
        }
        Ok(addresses)
    }

    /// Refuses a host that is a forbidden IP address. Names pass, because their addresses are checked once resolved.
    ///
    /// # Errors
    /// If the host is refused.
    pub fn check(&self, host: &Host<String>, port: u16) -> Result<(), HostError> {
        let address = match host {
            Host::Ipv4(address) => IpAddr::V4(*address),
            Host::Ipv6(address) => IpAddr::V6(*address),
            Host::Domain(_) => return Ok(()),
        };
        if self.allows(SocketAddr::new(address, port)) { Ok(()) } else { Err(self.host_refused_error(host)) }
    }

    fn host_refused_error(&self, host: &Host<String>) -> HostError {
        HostError::Refused(match self.outbound {
            Outbound::Public => {
                format!("`{host}` is not a public address; this server connects to public addresses only")
            }
            Outbound::Private | Outbound::Files => {
                format!("`{host}` is an address that this server never connects to")
            }
        })
    }

    fn allows(&self, address: SocketAddr) -> bool {
        #[cfg(test)]
        if self.exempt == Some(address) {
            return true;
        }
        match AddressClass::classify(address.ip()) {
            AddressClass::Public => true,
            AddressClass::Private => self.outbound >= Outbound::Private,
            AddressClass::Blocked => false,
        }
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, HostError> {
        // The error is the same for every unknown name, and its other details are not useful to users.
        self.resolver.resolve(name).await.map_err(|error| {
            tracing::debug!(%error, "failed to resolve host name");
            HostError::NotFound(format!("the host `{name}` does not exist"))
        })
    }
}

/// Reachability class of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AddressClass {
    Public,
    /// In a private network, or on this machine.
    Private,
    /// Never contacted: cloud metadata, multicast, unspecified, documentation and reserved addresses.
    Blocked,
}

/// Addresses of services that cloud providers offer within their machines.
const METADATA_ADDRESSES: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254)),
];

/// Networks that are never contacted. The link-local range contains the metadata services of most clouds.
const BLOCKED_NETWORKS: [(Ipv4Addr, u32); 11] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    (Ipv4Addr::new(255, 255, 255, 255), 32),
];

/// Local networks: loopback, private networks, and the shared address space of carriers.
const PRIVATE_NETWORKS: [(Ipv4Addr, u32); 5] = [
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
];

/// Non-public parts of the global IPv6 range: obsolete protocols and tunnels, and documentation addresses.
const NEVER_6: [(Ipv6Addr, u32); 3] = [
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

impl AddressClass {
    fn classify(address: IpAddr) -> Self {
        if METADATA_ADDRESSES.contains(&address) {
            return Self::Blocked;
        }
        match address {
            IpAddr::V4(address) => Self::classify_v4(address),
            IpAddr::V6(address) => match embedded_ipv4(address) {
                Some(inside) => Self::classify(IpAddr::V4(inside)),
                None => Self::classify_v6(address),
            },
        }
    }

    fn classify_v4(address: Ipv4Addr) -> Self {
        let within = |(network, length): &(Ipv4Addr, u32)| {
            address.to_bits() >> (32 - length) == network.to_bits() >> (32 - length)
        };
        if BLOCKED_NETWORKS.iter().any(within) {
            Self::Blocked
        } else if PRIVATE_NETWORKS.iter().any(within) {
            Self::Private
        } else {
            Self::Public
        }
    }

    fn classify_v6(address: Ipv6Addr) -> Self {
        let within = |network: Ipv6Addr, length: u32| {
            address.to_bits() >> (128 - length) == network.to_bits() >> (128 - length)
        };
        if address.is_loopback() || within(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7) {
            Self::Private
        } else if within(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)
            && !NEVER_6.iter().any(|(network, length)| within(*network, *length))
        {
            Self::Public
        } else {
            Self::Blocked
        }
    }
}

/// Returns the IPv4 address embedded in an IPv6 address: mapped, translated (NAT64) or tunneled (6to4).
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(of(g, h)),
        [0x2002, ..] => Some(of(b, c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A resolver with two test names.
    struct Fake;

    #[async_trait]
    impl Resolve for Fake {
        async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            let addresses: &[&str] = match host {
                "public.test" => &["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
                "inside.test" => &["10.0.0.8"],
                "both.test" => &["93.184.215.14", "127.0.0.1"],
                "empty.test" => &[],
                _ => return Err(io::Error::other("no such name")),
            };
            Ok(addresses.iter().map(|address| address.parse().unwrap()).collect())
        }
    }

    async fn ask(outbound: Outbound, host: &str) -> Result<Vec<SocketAddr>, HostError> {
        Guard::new(outbound, Arc::new(Fake)).addresses(&Host::parse(host).unwrap(), 443).await
    }

    #[test]
    fn address_ranges_are_classified() {
        for (addresses, reach) in [
            (
                "1.1.1.1 8.8.8.8 93.184.215.14 100.63.255.255 100.128.0.0 172.15.0.1 172.32.0.1 192.0.1.1 198.20.0.1 \
                 223.255.255.255 2606:4700::1111 2a00:1450::1 2001:4860:4860::8888 ::ffff:8.8.8.8 64:ff9b::808:808 \
                 2002:808:808::1",
                AddressClass::Public,
            ),
            (
                "10.0.0.1 10.255.255.255 127.0.0.1 127.255.255.254 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 \
                 100.127.255.255 ::1 fc00::1 fdff::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 2002:7f00:1::",
                AddressClass::Private,
            ),
            (
                "0.0.0.0 0.1.2.3 169.254.169.254 169.254.0.1 192.0.0.192 192.0.2.1 198.18.0.1 198.19.255.255 \
                 198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 \
                 168.63.129.16 100.100.100.200 :: ::2 ::7f00:1 fe80::1 febf::1 fec0::1 ff02::1 fd00:ec2::254 2001:db8::1 \
                 2001::1 2001:20::1 3fff::1 100::1 5f00::1 64:ff9b:1::1 ::ffff:169.254.169.254 ::ffff:0.0.0.0 \
                 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1 4000::1",
                AddressClass::Blocked,
            ),
        ] {
            for address in addresses.split_whitespace() {
                assert_eq!(AddressClass::classify(address.parse().unwrap()), reach, "{address}");
            }
        }
    }

    #[tokio::test]
    async fn public_hosts_are_allowed_and_keep_their_port() {
        let addresses = ask(Outbound::Public, "public.test").await.unwrap();
        assert_eq!(addresses.len(), 2);
        assert!(addresses.iter().all(|address| address.port() == 443));
        assert!(ask(Outbound::Public, "8.8.8.8").await.is_ok());
    }

    #[tokio::test]
    async fn non_public_hosts_are_refused_in_every_notation() {
        for host in [
            "127.0.0.1",
            "2130706433",
            "0177.0.0.1",
            "0x7f.1",
            "127.1",
            "0x7f000001",
            "0",
            "１２７.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::a00:1]",
            "[2002:a00:1::]",
            "10.0.0.1",
            "169.254.169.254",
            "inside.test",
            "INSIDE.test",
            "both.test",
        ] {
            let error = ask(Outbound::Public, host).await.unwrap_err();
            assert!(matches!(error, HostError::Refused(_)), "{host}: {error:?}");
        }
    }

    #[tokio::test]
    async fn private_mode_allows_private_but_not_blocked_hosts() {
        for outbound in [Outbound::Private, Outbound::Files] {
            for host in ["127.0.0.1", "[::1]", "10.0.0.1", "inside.test", "both.test", "public.test"] {
                assert!(ask(outbound, host).await.is_ok(), "{host}");
            }
            for host in
                ["169.254.169.254", "0.0.0.0", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "224.0.0.1"]
            {
                assert!(matches!(ask(outbound, host).await, Err(HostError::Refused(_))), "{host}");
            }
        }
    }

    #[tokio::test]
    async fn host_without_an_address_is_not_found() {
        for host in ["empty.test", "unknown.test"] {
            let error = ask(Outbound::Public, host).await.unwrap_err();
            assert!(matches!(error, HostError::NotFound(_)), "{host}: {error:?}");
        }
    }
}
