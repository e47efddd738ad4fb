//! A proxy to the database that can be cut off, to simulate a database restart.

use std::{net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// A proxy that forwards connections until it is cut.
pub(crate) struct Proxy {
    /// Address that the proxy listens on.
    pub(crate) at: SocketAddr,
    to: String,
    running: Arc<Mutex<Option<JoinSet<()>>>>,
}

impl Proxy {
    /// Creates a proxy to `host:port` on a free port.
    pub(crate) async fn new(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let at = listener.local_addr().expect("it has an address");
        let proxy = Self { at, to: to.to_owned(), running: Arc::default() };
        proxy.forward(listener);
        proxy
    }

    /// Closes every connection and refuses new ones.
    pub(crate) async fn cut(&self) {
        let running = self.running.lock().take();
        if let Some(mut tasks) = running {
            tasks.shutdown().await;
        }
    }

    /// Resumes forwarding at the same address.
    pub(crate) async fn mend(&self) {
        let listener = TcpListener::bind(self.at).await.expect("the port is still ours");
        self.forward(listener);
    }

    fn forward(&self, listener: TcpListener) {
        let to = self.to.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            // Dropping this task closes all connections.
            let mut connections = JoinSet::new();
            while let Ok((mut from, _)) = listener.accept().await {
                let to = to.clone();
                connections.spawn(async move {
                    if let Ok(mut onward) = TcpStream::connect(to).await {
                        // Errors are expected when the proxy is cut.
                        let _ = copy_bidirectional(&mut from, &mut onward).await;
                    }
                });
            }
        });
        *self.running.lock() = Some(tasks);
    }
}
