//! The connection table: enforces limits, and selects connections to close in favour of new ones.

use std::{cmp::Reverse, collections::HashMap, net::IpAddr, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use super::{
    ConnectionConfig,
    connection::{Connection, STALLED_BRIEFLY, Wait},
    peer::Peer,
};

/// Interval at which a full server looks for a connection that can be closed. No event signals that a
/// connection has become idle.
const ADMIT_RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of closed connections that have not ended yet. Beyond it, no more are closed in favour of new ones.
const MAX_ENDING: usize = 64;

#[derive(Debug)]
pub(super) struct ConnectionTable {
    most: usize,
    most_per_network: usize,
    state: Mutex<TableState>,
    ended: Notify,
}

#[derive(Debug, Default)]
struct TableState {
    next: u64,
    connections: HashMap<u64, Arc<Connection>>,
    /// Number of open connections per network, excluding those that are closed but have not ended.
    networks: HashMap<IpAddr, usize>,
    /// Number of connections that are closed but have not ended.
    ending: usize,
}

/// An entry in the connection table, removed on drop.
#[derive(Debug)]
pub(super) struct ConnectionGuard {
    table: Arc<ConnectionTable>,
    pub(super) connection: Arc<Connection>,
}

/// The outcome of admitting a connection.
enum Admission {
    Admitted(ConnectionGuard),
    /// All connections of the address are busy.
    Refused,
    /// All connections are busy.
    Full,
}

impl ConnectionTable {
    pub(super) fn new(config: &ConnectionConfig, room: usize) -> Arc<Self> {
        let most = config.connections(room);
        let most_per_network = config.connections_per_address(most);
        Arc::new(Self { most, most_per_network, state: Mutex::default(), ended: Notify::new() })
    }

    /// Adds a connection. At the limit, closes a connection to make room: of the address with the most connections, the
    /// one that has waited longest for its client. Waits if all connections are busy. Returns `None` if all connections
    /// of the address itself are busy.
    pub(super) async fn admit(
        self: &Arc<Self>,
        peer: Peer,
        config: &ConnectionConfig,
    ) -> Option<ConnectionGuard> {
        loop {
            let ended = self.ended.notified();
            match self.try_admit(peer, config) {
                Admission::Admitted(registered) => return Some(registered),
                Admission::Refused => return None,
                Admission::Full => {}
            }
            tokio::select! {
                () = ended => {}
                () = sleep(ADMIT_RETRY_INTERVAL) => {}
            }
        }
    }

    fn try_admit(self: &Arc<Self>, peer: Peer, config: &ConnectionConfig) -> Admission {
        let mut state = self.state.lock();
        let of_network = state.networks.get(&peer.network).copied().unwrap_or_default();
        let is_over_share = !peer.is_trusted && of_network >= self.most_per_network;
        let is_own = |connection: &Connection| connection.peer.network == peer.network;
        if is_over_share
            && !state.close_one(|connection, _| is_own(connection).then_some(ConnectionConfig::STALLED))
        {
            return Admission::Refused;
        }
        let stall = |_: &Connection, others| match others > of_network {
            true => Some(STALLED_BRIEFLY),
            false => Some(ConnectionConfig::STALLED),
        };
        if state.connections.len() - state.ending >= self.most
            && (state.ending >= MAX_ENDING || !state.close_one(stall))
        {
            return Admission::Full;
        }
        state.next += 1;
        let id = state.next;
        let connection = Arc::new(Connection::new(id, peer, config.response_pace));
        state.connections.insert(id, Arc::clone(&connection));
        *state.networks.entry(peer.network).or_default() += 1;
        Admission::Admitted(ConnectionGuard { table: Arc::clone(self), connection })
    }

    /// Closes a connection that is waiting for its client, to free its descriptor.
    pub(super) fn close_one(&self) -> bool {
        self.state.lock().close_one(|_, _| Some(STALLED_BRIEFLY))
    }

    /// Aborts at most `count` stalled responses: first those of connections with the highest usage, then those stalled
    /// longest.
    pub(super) fn end_stalled(&self, count: usize, usage: impl Fn(&Connection) -> usize) {
        let now = Instant::now();
        let mut state = self.state.lock();
        let stalled = state.connections.values().filter_map(|connection| {
            // Check this first: it is cheap, and most connections have no unread bytes.
            let wait =
                (connection.unread() > 0).then(|| connection.current_wait(now, ConnectionConfig::STALLED))?;
            let (Wait::Stalled, since) = wait? else { return None };
            Some(((usage(connection), now.saturating_duration_since(since)), connection))
        });
        let mut stalled: Vec<_> = stalled.map(|(rank, connection)| (rank, Arc::clone(connection))).collect();
        stalled.sort_unstable_by_key(|(rank, _)| Reverse(*rank));
        for (_, connection) in stalled.into_iter().take(count) {
            if !connection.reset_stalled(now) {
                state.close(&connection);
            }
        }
    }

    /// Closes connections of clients that are too slow, and idle connections during shutdown.
    pub(super) fn sweep(&self, config: &ConnectionConfig, stops: ServerPhase) {
        let now = Instant::now();
        let mut state = self.state.lock();
        let is_over = |connection: &Connection| {
            (stops == ServerPhase::Now && connection.is_idle()) || connection.is_overdue(config, now)
        };
        let over: Vec<_> = state.connections.values().filter(|it| is_over(it)).cloned().collect();
        for connection in over {
            state.close(&connection);
        }
    }

    pub(super) fn close_all(&self) {
        let mut state = self.state.lock();
        let all: Vec<_> = state.connections.values().cloned().collect();
        for connection in all {
            state.close(&connection);
        }
    }

    /// Waits until a connection has ended.
    pub(super) async fn wait_until_ended(&self) {
        self.ended.notified().await;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ServerPhase {
    /// Running: requests are accepted.
    Later,
    /// Shutting down: only requests in progress are completed.
    Now,
}

impl TableState {
    /// Closes one connection: of the network with the most connections, the one that has waited longest for its client.
    /// `stall` receives a connection and the number of connections of its network. It returns the time after which the
    /// connection counts as stalled, or `None` to keep the connection open.
    fn close_one(&mut self, stall: impl Fn(&Connection, usize) -> Option<Duration>) -> bool {
        let now = Instant::now();
        let waiting = self.connections.values().filter_map(|connection| {
            // A proxy opens many connections on behalf of many clients, so its count is ignored.
            let others = match connection.peer.is_trusted {
                true => 1,
                false => self.networks.get(&connection.peer.network).copied().unwrap_or_default(),
            };
            let stall = stall(connection, others)?;
            let (wait, since) = connection.current_wait(now, stall)?;
            if connection.has_other_streams(now, stall) {
                return None;
            }
            Some(((others, wait, now.saturating_duration_since(since)), connection))
        });
        let Some((_, longest)) = waiting.max_by_key(|(rank, _)| *rank) else { return false };
        let longest = Arc::clone(longest);
        self.close(&longest);
        true
    }

    fn close(&mut self, connection: &Connection) {
        if connection.close() {
            self.ending += 1;
            self.leave(connection.peer.network);
        }
    }

    /// Decrements the number of connections of a network.
    fn leave(&mut self, network: IpAddr) {
        if let Some(count) = self.networks.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                self.networks.remove(&network);
            }
        }
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut state = self.table.state.lock();
        state.connections.remove(&self.connection.id);
        if self.connection.close() {
            state.leave(self.connection.peer.network);
        } else {
            state.ending -= 1;
        }
        drop(state);
        self.table.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use docs_http::TrustedProxies;

    use super::*;

    fn peer(address: &str) -> Peer {
        let proxies: TrustedProxies = "10.0.0.0/8".parse().expect("a network");
        Peer::new(format!("{address}:1").parse().expect("an address"), &proxies)
    }

    fn table(most: u32, per_address: u32) -> (Arc<ConnectionTable>, ConnectionConfig) {
        let config = ConnectionConfig {
            max_connections: most.try_into().ok(),
            max_connections_per_address: per_address.try_into().ok(),
            ..ConnectionConfig::default()
        };
        (ConnectionTable::new(&config, usize::MAX), config)
    }

    fn is_open(registered: &ConnectionGuard) -> bool {
        registered.connection.current_wait(Instant::now(), ConnectionConfig::STALLED).is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_of_the_heaviest_address_is_closed() {
        let (table, config) = table(4, 4);
        let mut open = Vec::new();
        for address in ["192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.2"] {
            open.push(table.admit(peer(address), &config).await.expect("there is room"));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        let _new = table.admit(peer("192.0.2.3"), &config).await.expect("room is made");
        let is_open: Vec<_> = open.iter().map(is_open).collect();
        assert_eq!(is_open, [true, false, true, true]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_over_its_share_loses_its_own_connections() {
        let (table, config) = table(8, 2);
        let other = table.admit(peer("192.0.2.1"), &config).await.expect("there is room");
        let first = table.admit(peer("192.0.2.2"), &config).await.expect("there is room");
        tokio::time::advance(Duration::from_secs(1)).await;
        let second = table.admit(peer("192.0.2.2"), &config).await.expect("there is room");
        let third = table.admit(peer("192.0.2.2"), &config).await.expect("its oldest makes room");
        assert!(!is_open(&first) && is_open(&other));
        let _at_work =
            [&second, &third].map(|it| super::super::connection::RequestTicket::new(&it.connection));
        assert!(table.admit(peer("192.0.2.2"), &config).await.is_none(), "all of them are at work");
        let mut proxied = Vec::new();
        for _ in 0..3 {
            proxied.push(table.admit(peer("10.0.0.1"), &config).await.expect("proxies have no share"));
        }
        assert!(proxied.iter().all(is_open));
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_server_waits_for_a_connection_at_work() {
        let (table, config) = table(1, 1);
        let busy = table.admit(peer("192.0.2.1"), &config).await.expect("there is room");
        let ticket = super::super::connection::RequestTicket::new(&busy.connection);
        let mut next = std::pin::pin!(table.admit(peer("192.0.2.2"), &config));
        let early = tokio::time::timeout(Duration::from_secs(5), &mut next).await;
        assert!(early.is_err(), "the connection is at work");
        drop(ticket);
        assert!(next.await.is_some());
        assert!(!is_open(&busy));
    }
}
