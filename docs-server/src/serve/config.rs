//! Limits on connections and on their requests and responses.

use std::{num::NonZeroU32, time::Duration};

use clap::Args;

/// Limits on connections and on their requests and responses. The fields without a flag are for embedding applications.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use docs_server::{ConnectionConfig, ServerConfig};
///
/// let connections = ConnectionConfig { idle_timeout: Duration::from_secs(5), ..ConnectionConfig::default() };
/// let config = ServerConfig { connections, ..ServerConfig::default() };
/// # let _ = config;
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Args)]
pub struct ConnectionConfig {
    /// Maximum number of connections; 1024, or fewer if the limit of open files is low, when absent.
    #[arg(long, env = "DOCS_MAX_CONNECTIONS", value_name = "N")]
    pub max_connections: Option<NonZeroU32>,
    /// Maximum number of connections per address, except for `--trusted-proxies`; a quarter of all when absent.
    #[arg(long, env = "DOCS_MAX_CONNECTIONS_PER_ADDRESS", value_name = "N")]
    pub max_connections_per_address: Option<NonZeroU32>,
    /// Timeout for receiving a request head, measured from its first byte; for the first request of a connection, from
    /// the accept.
    #[arg(skip = Self::HEAD_TIMEOUT)]
    pub head_timeout: Duration,
    #[arg(skip = Self::IDLE_TIMEOUT)]
    pub idle_timeout: Duration,
    /// Minimum pace of clients that send request bodies while the server waits for them.
    #[arg(skip = Self::REQUEST_PACE)]
    pub request_pace: Pace,
    /// Minimum pace of clients that read responses.
    #[arg(skip = Self::RESPONSE_PACE)]
    pub response_pace: Pace,
    /// Maximum number of concurrent requests per HTTP/2 connection.
    #[arg(skip = Self::MAX_STREAMS)]
    pub max_streams: u32,
    /// Maximum number of unread response bytes of all clients. Beyond it, further requests wait.
    #[arg(skip = Self::RESPONSE_BYTES)]
    pub response_bytes: usize,
}

impl ConnectionConfig {
    /// Default maximum number of connections. A low limit of open files reduces it.
    pub const MAX_CONNECTIONS: u32 = 1_024;
    /// Ratio of the connection limit to the default limit per address.
    pub const ADDRESS_SHARE: u32 = 4;
    /// Maximum size of a request head in bytes.
    pub const MAX_HEAD_BYTES: u32 = 32 * 1024;
    /// Default [`head_timeout`](Self::head_timeout).
    pub const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
    /// Default [`idle_timeout`](Self::idle_timeout). It is longer than the default idle timeouts of nginx, Caddy,
    /// Traefik and HAProxy. Idle connections are the first to be closed when others need room.
    pub const IDLE_TIMEOUT: Duration = Duration::from_secs(150);
    /// Default [`request_pace`](Self::request_pace).
    pub const REQUEST_PACE: Pace = Pace { stall: Duration::from_secs(20), bytes_per_second: 1_024 };
    /// Default [`response_pace`](Self::response_pace).
    pub const RESPONSE_PACE: Pace = Pace { stall: Duration::from_secs(30), bytes_per_second: 1_024 };
    /// Time without progress after which a transfer counts as stalled and may be aborted to make room for others. The
    /// pauses of a client that reads 30 kB per second are shorter.
    pub const STALLED: Duration = Duration::from_secs(3);
    /// Default [`max_streams`](Self::max_streams).
    pub const MAX_STREAMS: u32 = 64;
    /// Default [`response_bytes`](Self::response_bytes).
    pub const RESPONSE_BYTES: usize = 96 << 20;

    /// Returns the maximum number of connections: the configured one, but at most `room`, which the limit of open files
    /// permits.
    pub(super) fn connections(&self, room: usize) -> usize {
        let wanted = self.max_connections.map_or(Self::MAX_CONNECTIONS, NonZeroU32::get) as usize;
        if self.max_connections.is_some() && wanted > room {
            tracing::warn!(
                room,
                "--max-connections: must be within the limit of open files; raise `ulimit -n`"
            );
        }
        wanted.min(room).max(1)
    }

    /// Returns the maximum number of connections per address.
    pub(super) fn connections_per_address(&self, all: usize) -> usize {
        match self.max_connections_per_address {
            Some(most) => most.get() as usize,
            None => (all / Self::ADDRESS_SHARE as usize).max(1),
        }
    }

    /// Returns the interval between scans of all connections.
    pub(super) fn tick(&self) -> Duration {
        let shortest = [self.head_timeout, self.idle_timeout, self.response_pace.stall].into_iter().min();
        (shortest.unwrap_or_default() / 4).clamp(Duration::from_millis(10), Duration::from_secs(1))
    }
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        Self {
            max_connections: None,
            max_connections_per_address: None,
            head_timeout: Self::HEAD_TIMEOUT,
            idle_timeout: Self::IDLE_TIMEOUT,
            request_pace: Self::REQUEST_PACE,
            response_pace: Self::RESPONSE_PACE,
            max_streams: Self::MAX_STREAMS,
            response_bytes: Self::RESPONSE_BYTES,
        }
    }
}

/// Minimum progress of a transfer. Only time during which the server waits for the client counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Maximum wait for the next bytes, and maximum delay of a transfer compared to
    /// [`bytes_per_second`](Self::bytes_per_second). Bytes sent faster than this rate earn additional delay, up to the
    /// same maximum.
    pub stall: Duration,
    /// Minimum average rate.
    pub bytes_per_second: u32,
}
