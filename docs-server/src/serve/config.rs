//! Limits on connections and on the requests and responses that they carry.

use std::{num::NonZeroU32, time::Duration};

use clap::Args;

/// Limits on connections and on the requests and responses that they carry. The fields without a flag are for embedding
/// applications.
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
    /// Most connections at a time; 1024, or fewer where the limit of open files is low, when absent.
    #[arg(long, env = "DOCS_MAX_CONNECTIONS", value_name = "N")]
    pub max_connections: Option<NonZeroU32>,
    /// Most connections at a time of each address, except those of `--trusted-proxies`; a quarter of all when absent.
    #[arg(long, env = "DOCS_MAX_CONNECTIONS_PER_ADDRESS", value_name = "N")]
    pub max_connections_per_address: Option<NonZeroU32>,
    /// The longest time from the first byte of a request head to its end, and from the start of a connection to the end
    /// of the first head.
    #[arg(skip = Self::HEAD_TIMEOUT)]
    pub head_timeout: Duration,
    /// The longest time that a connection stays open without a request.
    #[arg(skip = Self::IDLE_TIMEOUT)]
    pub idle_timeout: Duration,
    /// The pace at which clients have to send request bodies that the server waits for.
    #[arg(skip = Self::REQUEST_PACE)]
    pub request_pace: Pace,
    /// The pace at which clients have to read responses.
    #[arg(skip = Self::RESPONSE_PACE)]
    pub response_pace: Pace,
    /// Most requests at a time of an HTTP/2 connection.
    #[arg(skip = Self::MAX_STREAMS)]
    pub max_streams: u32,
    /// Bytes of responses that all clients together may leave unread before further requests wait.
    #[arg(skip = Self::RESPONSE_BYTES)]
    pub response_bytes: usize,
}

impl ConnectionConfig {
    /// Connections at a time, where neither the operator nor the limit of open files sets another number.
    pub const MAX_CONNECTIONS: u32 = 1_024;
    /// The part of all connections that each address may have: one in this number.
    pub const ADDRESS_SHARE: u32 = 4;
    /// Most bytes of a request head.
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
    /// The default of [`max_streams`](Self::max_streams).
    pub const MAX_STREAMS: u32 = 64;
    /// The default of [`response_bytes`](Self::response_bytes).
    pub const RESPONSE_BYTES: usize = 96 << 20;

    /// Connections at a time: as configured, and at most `room`, which is what the limit of open files allows.
    pub(super) fn connections(&self, room: usize) -> usize {
        let wanted = self.max_connections.map_or(Self::MAX_CONNECTIONS, NonZeroU32::get) as usize;
        if self.max_connections.is_some() && wanted > room {
            tracing::warn!(
                room,
                "--max-connections: is more than the limit of open files allows; raise `ulimit -n`"
            );
        }
        wanted.min(room).max(1)
    }

    /// Connections at a time of each address.
    pub(super) fn connections_per_address(&self, all: usize) -> usize {
        match self.max_connections_per_address {
            Some(most) => most.get() as usize,
            None => (all / Self::ADDRESS_SHARE as usize).max(1),
        }
    }

    /// The time between checks of all connections.
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

/// The least progress of a transfer. Time counts only while the server waits for the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// The longest wait for the next bytes, and the time that a transfer may fall behind
    /// [`bytes_per_second`](Self::bytes_per_second).
    pub stall: Duration,
    /// The least average rate.
    pub bytes_per_second: u32,
}
