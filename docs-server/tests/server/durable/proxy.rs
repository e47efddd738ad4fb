//! A way to a database that can be cut: what a server sees while its database restarts.

use std::{net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Forwards connections until it is cut.
pub(crate) struct Proxy {
    /// Where it listens.
    pub(crate) at: SocketAddr,
    to: String,
    running: Arc<Mutex<Option<JoinSet<()>>>>,
}

impl Proxy {
    /// Forwards to `host:port` from a free port.
    pub(crate) async fn new(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let at = listener.local_addr().expect("it has an address");
        let proxy = Self { at, to: to.to_owned(), running: Arc::default() };
        proxy.forward(listener);
        proxy
    }

    /// Breaks every connection and refuses new ones.
    pub(crate) async fn cut(&self) {
        let running = self.running.lock().take();
        if let Some(mut tasks) = running {
            tasks.shutdown().await;
        }
    }

    /// Forwards again, at the same address.
    pub(crate) async fn mend(&self) {
        let listener = TcpListener::bind(self.at).await.expect("the port is still ours");
        self.forward(listener);
    }

    fn forward(&self, listener: TcpListener) {
        let to = self.to.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // Dropped with this task, and so are all connections.
            let mut connections = JoinSet::new();
            while let Ok((mut from, _)) = listener.accept().await {
                let to = to.clone();
                connections.spawn(async move {
                    if let Ok(mut onward) = TcpStream::connect(to).await {
                        // Either end may break off: that is what this proxy is for.
                        let _ = copy_bidirectional(&mut from, &mut onward).await;
                    }
                });
            }
        });
        *self.running.lock() = Some(tasks);
    }
}
