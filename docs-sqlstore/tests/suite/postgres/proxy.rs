//! A proxy between a store and its server that simulates network failures.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, tcp},
    sync::watch,
};
use tokio_postgres::{Config, config::Host};

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Mood {
    Open,
    /// Requests are not delivered.
    Deaf,
    /// Replies are not delivered.
    Mute,
    /// Connections are broken, and new ones refused.
    Down,
}

pub(super) struct Proxy {
    server: Config,
    address: SocketAddr,
    mood: watch::Sender<Mood>,
}

impl Proxy {
    pub(super) async fn new(server: &str) -> Self {
        let server: Config = server.parse().expect("the address of the server is one");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
        let address = listener.local_addr().expect("the port is known");
        let mood = watch::Sender::new(Mood::Open);
        let host = match &server.get_hosts()[0] {
            Host::Tcp(host) => host.clone(),
            Host::Unix(_) => panic!("the tests need a server on TCP"),
        };
        let target = (host, server.get_ports().first().copied().unwrap_or(5432));
        tokio::spawn({
            let mood = mood.subscribe();
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    if *mood.borrow() != Mood::Down {
                        tokio::spawn(pass(client, target.clone(), mood.clone()));
                    }
                }
            }
        });
        Self { server, address, mood }
    }

    pub(super) fn set(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    /// Returns the URL of the server through the proxy.
    pub(super) fn url(&self, schema: &str) -> String {
        let user = self.server.get_user().unwrap_or("postgres");
        let password = String::from_utf8_lossy(self.server.get_password().unwrap_or_default());
        let database = self.server.get_dbname().unwrap_or(user);
        format!(
            "postgres://{user}:{password}@{}/{database}?application_name={schema}&options=-csearch_path%3D{schema}",
            self.address
        )
    }
}

async fn pass(client: TcpStream, target: (String, u16), mood: watch::Receiver<Mood>) {
    let server = TcpStream::connect(target).await.expect("the server is there");
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // When one direction ends, close the other.
    tokio::select! {
        () = copy(from_client, to_server, mood.clone(), Mood::Deaf) => {}
        () = copy(from_server, to_client, mood, Mood::Mute) => {}
    }
}

async fn copy(
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
    mood: watch::Receiver<Mood>,
    swallowing: Mood,
) {
    let mut buffer = vec![0; 1 << 16];
    let mut ending = mood.clone();
    loop {
        tokio::select! {
            biased;
            () = async { drop(ending.wait_for(|mood| *mood == Mood::Down).await) } => return,
            read = from.read(&mut buffer) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) if *mood.borrow() == swallowing => {}
                Ok(n) => {
                    if to.write_all(&buffer[..n]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}
