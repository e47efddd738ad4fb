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
    /// Timeout of a request head, from its first byte, and of the first head of a connection, from the accept.
    #[arg(skip = Self::HEAD_TIMEOUT)]
    pub head_timeout: Duration,
    /// Timeout of a connection without a request.
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
    /// Maximum number of unread response bytes of all clients together. Beyond it, further requests wait.
    #[arg(skip = Self::RESPONSE_BYTES)]
    pub response_bytes: usize,
}

impl ConnectionConfig {
    /// Default number of connections. A lower limit of open files reduces it.
    pub const MAX_CONNECTIONS: u32 = 1_024;
    /// Divisor for the default share of an address: each gets one in this number of all connections.
    pub const ADDRESS_SHARE: u32 = 4;
    /// Maximum number of bytes of a request head.
    pub const MAX_HEAD_BYTES: u32 = 32 * 1024;
    /// The default of [`head_timeout`](Self::head_timeout).
    pub const HEAD_TIMEOUT: Duration = Duration::from_secs(15);
    /// The default of [`idle_timeout`](Self::idle_timeout): longer than nginx, Caddy, Traefik and HAProxy keep idle
    /// connections by default. Idle connections are the first that make room for others.
    pub const IDLE_TIMEOUT: Duration = Duration::from_secs(150);
    /// The default of [`request_pace`](Self::request_pace).
    pub const REQUEST_PACE: Pace = Pace { stall: Duration::from_secs(20), bytes_per_second: 1_024 };
    /// The default of [`response_pace`](Self::response_pace).
    pub const RESPONSE_PACE: Pace = Pace { stall: Duration::from_secs(30), bytes_per_second: 1_024 };
    /// Time without progress after which a request counts as stalled, so that it can be ended to make room for others.
    /// A client that reads 30 kB a second pauses for less.
    pub const STALLED: Duration = Duration::from_secs(3);
    /// The default of [`max_streams`](Self::max_streams).
    pub const MAX_STREAMS: u32 = 64;
    /// The default of [`response_bytes`](Self::response_bytes).
    pub const RESPONSE_BYTES: usize = 96 << 20;

    /// Returns the number of connections: the configured one, but at most `room`, which the limit of open files
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

    /// Returns the number of connections per address.
    pub(super) fn connections_per_address(&self, all: usize) -> usize {
        match self.max_connections_per_address {
            Some(most) => most.get() as usize,
            None => (all / Self::ADDRESS_SHARE as usize).max(1),
        }
    }

    /// Returns the interval between checks of all connections.
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

/// The minimum progress of a transfer. Only the time during which the server waits for the client counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Maximum wait for the next bytes, and maximum delay of a transfer compared to
    /// [`bytes_per_second`](Self::bytes_per_second). Bytes above this rate allow a further delay, of at most the same
    /// time.
    pub stall: Duration,
    /// Minimum average rate.
    pub bytes_per_second: u32,
}
