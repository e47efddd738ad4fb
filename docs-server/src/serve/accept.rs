//! The accept loop, which runs until shutdown.

use std::{io, sync::Arc, time::Duration};

use docs_http::TrustedProxies;
use poem::endpoint::BoxEndpoint;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{interval, sleep, timeout},
};

use super::{
    ConnectionConfig, descriptors,
    exchange::{ServiceState, serve},
    memory::Memory,
    peer::Peer,
    table::{ConnectionTable, ServerPhase},
};

/// Initial and maximum delay after a failed accept. The operating system does not signal when descriptors are free.
const MIN_ACCEPT_PAUSE: Duration = Duration::from_millis(10);
const MAX_ACCEPT_PAUSE: Duration = Duration::from_secs(1);
/// Time for connections to end once they are closed at shutdown.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Size of a connection's send buffer in the operating system, in bytes. A blocked socket becomes writable only after
/// about a third of its buffer has been sent, so with a larger buffer a slow reader would seem to stall.
#[cfg(unix)]
const SEND_BUFFER: usize = 256 * 1024;

/// An application served on a listener.
pub(crate) struct Service {
    shared: Arc<ServiceState>,
    proxies: TrustedProxies,
    listener: TcpListener,
}

impl Service {
    /// Creates the service. Raises the process's limit of open files, which determines the number of connections.
    pub(crate) fn new(
        app: BoxEndpoint<'static>,
        listener: TcpListener,
        (config, proxies): (ConnectionConfig, TrustedProxies),
    ) -> Self {
        let table = ConnectionTable::new(&config, descriptors::raise_for_connections());
        let memory = Memory::new(config.response_bytes);
        Self { shared: Arc::new(ServiceState { app, config, table, memory }), proxies, listener }
    }

    /// Serves connections until `stop` completes, then gives requests in progress up to `grace` to finish.
    pub(crate) async fn run(self, stop: impl Future<Output = ()> + Send, grace: Duration) {
        let Self { shared, proxies, listener } = self;
        let (stopping, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let sweeping = tokio::spawn(sweep(Arc::clone(&shared), stopped.clone()));
        let accepting = accept(&shared, &listener, &proxies, &mut tasks, stopped);
        tokio::select! {
            () = stop => {}
            never = accepting => match never {},
        }
        drop(listener);
        stopping.send_replace(true);
        let ended = timeout(grace, async { while tasks.join_next().await.is_some() {} }).await;
        if ended.is_err() {
            tracing::warn!("close connections of requests that exceed the shutdown time");
            shared.table.close_all();
            // A request that computes without yielding does not notice that its connection is closed.
            let closed = timeout(CLOSE_TIMEOUT, async { while tasks.join_next().await.is_some() {} }).await;
            if closed.is_err() {
                tracing::warn!(requests = tasks.len(), "abandon requests that do not end");
            }
        }
        sweeping.abort();
    }
}

/// Periodically closes connections of clients that are too slow.
async fn sweep(shared: Arc<ServiceState>, stopped: watch::Receiver<bool>) {
    let mut ticks = interval(shared.config.tick());
    loop {
        ticks.tick().await;
        let stops = if *stopped.borrow() { ServerPhase::Now } else { ServerPhase::Later };
        shared.table.sweep(&shared.config, stops);
    }
}

/// Accepts connections, and spawns a task for each.
async fn accept(
    shared: &Arc<ServiceState>,
    listener: &TcpListener,
    proxies: &TrustedProxies,
    tasks: &mut JoinSet<()>,
    stopped: watch::Receiver<bool>,
) -> std::convert::Infallible {
    let mut pause = MIN_ACCEPT_PAUSE;
    loop {
        match listener.accept().await {
            Ok(accepted) => {
                pause = MIN_ACCEPT_PAUSE;
                let (stream, peer) = accepted;
                admit(shared, stream, Peer::new(peer, proxies), tasks, &stopped).await;
            }
            Err(error) if is_of_connection(&error) => tracing::debug!(%error, "connection ended early"),
            // Without free descriptors or memory, accepting fails until a connection ends.
            Err(error) => {
                tracing::warn!(%error, "failed to accept connection");
                shared.table.close_one();
                tokio::select! {
                    () = sleep(pause) => pause = (2 * pause).min(MAX_ACCEPT_PAUSE),
                    () = shared.table.wait_until_ended() => {}
                }
            }
        }
    }
}

/// Serves a connection if the connection limits permit it.
async fn admit(
    shared: &Arc<ServiceState>,
    stream: TcpStream,
    peer: Peer,
    tasks: &mut JoinSet<()>,
    stopped: &watch::Receiver<bool>,
) {
    while tasks.try_join_next().is_some() {}
    let Some(registered) = shared.table.admit(peer, &shared.config).await else { return };
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "connection ended early");
        return;
    }
    #[cfg(unix)]
    if let Err(error) = rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER) {
        tracing::debug!(%error, "failed to set send buffer size of connection");
    }
    let (shared, stopped) = (Arc::clone(shared), stopped.clone());
    tasks.spawn(async move {
        let connection = Arc::clone(&registered.connection);
        serve(shared, stream, connection, stopped).await;
        drop(registered);
    });
}

/// Returns `true` if the error concerns a single connection rather than the server.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted, WouldBlock};

    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted | WouldBlock)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use parking_lot::Mutex;
    use poem::{EndpointExt, endpoint::make_sync};
    use tokio::{io::AsyncWriteExt, sync::oneshot};

    use super::*;

    /// Upper bound for events that always occur.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn shutdown_does_not_wait_for_a_request_that_computes() {
        let (started, starts) = mpsc::channel::<()>();
        let (release, released) = mpsc::channel::<()>();
        let (started, released) = (Mutex::new(started), Mutex::new(released));
        let app = make_sync(move |_| {
            started.lock().send(()).unwrap();
            // Ends when the sender is dropped.
            let _ = released.lock().recv();
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = Service::new(
            app.map_to_response().boxed(),
            listener,
            (ConnectionConfig::default(), TrustedProxies::default()),
        );
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(service.run(async move { drop(stopped.await) }, Duration::ZERO));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
        tokio::task::spawn_blocking(move || starts.recv_timeout(PATIENCE)).await.unwrap().unwrap();
        stop.send(()).unwrap();
        timeout(PATIENCE, running).await.expect("the service ends").unwrap();
        drop(release);
    }
}
