//! The remote end of a connection.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use docs_http::TrustedProxies;

/// Prefix length of IPv6 networks. A subscriber usually controls all addresses of such a network.
const NETWORK_BITS: u32 = 64;

/// The remote end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    /// The address for connection limits. For IPv6, this is the network address.
    pub(super) network: IpAddr,
    /// `true` for a trusted proxy (`--trusted-proxies`), which forwards requests of many clients.
    pub(super) is_trusted: bool,
}

impl Peer {
    pub(super) fn new(address: SocketAddr, proxies: &TrustedProxies) -> Self {
        let ip = address.ip().to_canonical();
        let network = match ip {
            IpAddr::V4(_) => ip,
            IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !(u128::MAX >> NETWORK_BITS))),
        };
        Self { address, network, is_trusted: proxies.contains(ip) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_an_ipv6_network_count_together() {
        let network = |text: &str| {
            let address = SocketAddr::new(text.parse().expect("an address"), 1);
            Peer::new(address, &TrustedProxies::default()).network
        };
        assert_eq!(network("2001:db8:0:1::7"), network("2001:db8:0:1:ffff::1"));
        assert_ne!(network("2001:db8:0:1::7"), network("2001:db8:0:2::7"));
        assert_eq!(network("::ffff:192.0.2.7"), network("192.0.2.7"));
        assert_ne!(network("192.0.2.7"), network("192.0.2.8"));
    }
}
