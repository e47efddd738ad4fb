//! A persistent HTTP/1.1 connection.

use std::net::SocketAddr;

use bytes::Bytes;
use docs_benches::Outcome;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Method, Request, StatusCode,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A connection to the server, and the token to send.
pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    authorization: String,
}

impl Client {
    /// Opens a connection.
    pub(crate) async fn connect(address: SocketAddr, token: &str) -> Outcome<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // A connection failure is reported by the request in progress.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, address, authorization: format!("Bearer {token}") })
    }

    /// Sends a request with a JSON body (`Value::Null` for none) and reads the complete response.
    pub(crate) async fn send(
        &mut self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Outcome<(StatusCode, Bytes)> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.address.to_string())
            .header(header::AUTHORIZATION, &self.authorization);
        let bytes = match body {
            Value::Null => Bytes::new(),
            body => {
                request = request.header(header::CONTENT_TYPE, "application/json");
                serde_json::to_vec(body)?.into()
            }
        };
        self.sender.ready().await?;
        let answer = self.sender.send_request(request.body(Full::new(bytes))?).await?;
        let status = answer.status();
        Ok((status, answer.into_body().collect().await?.to_bytes()))
    }

    /// Sends a request, which must succeed, and returns its JSON response.
    pub(crate) async fn json(&mut self, method: Method, path: &str, body: &Value) -> Outcome<Value> {
        let (status, bytes) = self.send(method.clone(), path, body).await?;
        if !status.is_success() {
            return Err(format!("{method} {path}: {status}: {}", String::from_utf8_lossy(&bytes)).into());
        }
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}
