//! HTTP on a connection: passes requests to the application and sends its responses.

use std::{
    convert::Infallible,
    io,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use docs_http::{ResponseMemory, tower::poem_request, wire::error::ApiError};
use http_body::Body as _;
use http_body_util::combinators::BoxBody;
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{CONNECTION, HeaderValue, X_CONTENT_TYPE_OPTIONS},
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use poem::{Endpoint as _, IntoResponse as _, endpoint::BoxEndpoint};
use tokio::{net::TcpStream, sync::watch, task::yield_now};

use super::{
    ConnectionConfig, authority,
    connection::{Connection, RequestTicket, ResponseTransfer},
    io::WatchedSocket,
    memory::{Memory, RequestMemory},
    request::PacedRequestBody,
    response::PacedResponseBody,
    streams::{self, StreamExecutor},
    table::ConnectionTable,
};

/// Buffer size of a connection in each direction, in bytes.
const BUFFER_BYTES: usize = 32 * 1024;
/// Flow control window of an HTTP/2 stream: request body bytes that the client may send before the application reads
/// them.
const STREAM_WINDOW: u32 = 256 * 1024;
/// Flow control window of an HTTP/2 connection, for all its streams together.
const CONNECTION_WINDOW: u32 = 1 << 20;
/// Interval of HTTP/2 pings, and timeout for their acknowledgements.
const PING_INTERVAL: Duration = Duration::from_secs(20);
/// Maximum number of streams that a client may reset before the server accepts them. Beyond it, the connection is
/// closed.
const MAX_RESETS: usize = 20;

/// State shared by all connections of a server.
pub(super) struct ServiceState {
    pub(super) app: BoxEndpoint<'static>,
    pub(super) config: ConnectionConfig,
    pub(super) table: Arc<ConnectionTable>,
    pub(super) memory: Arc<Memory>,
}

/// Serves a connection until it ends. During shutdown, only requests that have already begun are answered.
pub(super) async fn serve(
    shared: Arc<ServiceState>,
    stream: TcpStream,
    connection: Arc<Connection>,
    mut stopping: watch::Receiver<bool>,
) {
    let exchange = pin!(exchange(shared, stream, Arc::clone(&connection), stopping.clone()));
    let stop = async {
        if stopping.wait_for(|stops| *stops).await.is_ok() {
            connection.is_last.store(true, Ordering::Relaxed);
        }
        std::future::pending::<()>().await;
    };
    let ended = tokio::select! {
        ended = exchange => ended,
        () = connection.wait_until_closed() => Ok(()),
        () = stop => Ok(()),
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %connection.peer.address, error, "connection ended early");
    }
}

async fn exchange(
    shared: Arc<ServiceState>,
    stream: TcpStream,
    connection: Arc<Connection>,
    mut stopping: watch::Receiver<bool>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut io = WatchedSocket::new(stream, Arc::clone(&connection));
    // Without TLS, only trusted proxies may use HTTP/2.
    let is_http2 = connection.peer.is_trusted && io.is_http2().await?;
    let config = shared.config.clone();
    let (app, of) = (shared, Arc::clone(&connection));
    let service = service_fn(move |request| respond(Arc::clone(&app), Arc::clone(&of), request));
    let stop = async move {
        if stopping.wait_for(|stops| *stops).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    if is_http2 {
        connection.set_http2();
        let mut serving = pin!(http2_builder(&config).serve_connection(TokioIo::new(io), service));
        tokio::select! {
            ended = serving.as_mut() => return Ok(ended?),
            () = stop => serving.as_mut().graceful_shutdown(),
        }
        return Ok(serving.await?);
    }
    let mut serving = pin!(http1_builder().serve_connection(TokioIo::new(io), service));
    tokio::select! {
        ended = serving.as_mut() => return Ok(ended?),
        () = stop => serving.as_mut().graceful_shutdown(),
    }
    Ok(serving.await?)
}

fn http1_builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new());
    // `Connection` enforces the timeouts of heads and of idle connections.
    builder
        .header_read_timeout(None)
        .max_header_size(ConnectionConfig::MAX_HEAD_BYTES as usize)
        .max_buf_size(BUFFER_BYTES);
    builder
}

fn http2_builder(config: &ConnectionConfig) -> http2::Builder<StreamExecutor> {
    let mut builder = http2::Builder::new(StreamExecutor);
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(config.max_streams)
        .max_header_list_size(ConnectionConfig::MAX_HEAD_BYTES)
        .max_send_buf_size(BUFFER_BYTES)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_pending_accept_reset_streams(MAX_RESETS)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_INTERVAL);
    builder
}

/// Answers a request once the client has read enough of the previous responses.
async fn respond(
    shared: Arc<ServiceState>,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<PacedResponseBody>, Infallible> {
    let ticket = RequestTicket::new(&connection);
    // Pipelined requests yield to those of other clients.
    if !connection.has_read() {
        yield_now().await;
    }
    connection.wait_until_writable().await;
    let charge = shared.memory.admit(&shared.table, &connection).await;
    let is_admitted = charge.is_some();
    let charge = charge.unwrap_or_else(|| shared.memory.overdraw(&connection));
    let of = (Arc::clone(&connection), Arc::clone(&charge));
    let pace = shared.config.request_pace;
    let (parts, body) = request.into_parts();
    let checked = authority::check(&parts);
    let received = PacedRequestBody::new(body, pace, of);
    let timed_out = received.timeout_flag();
    let mut request = poem_request(Request::from_parts(parts, received), Some(connection.peer.address));
    let memory = RequestMemory { charge: Arc::clone(&charge), table: Arc::clone(&shared.table) };
    request.extensions_mut().insert(ResponseMemory::new(memory));
    let mut response = match checked {
        Err(error) => error.into_response(),
        Ok(()) if is_admitted => charge.with_reservation(shared.app.get_response(request)).await,
        Ok(()) => busy_error().into_response(),
    };
    if timed_out.is_set() {
        response = too_slow_error().into_response();
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let mut response: Response<BoxBody<Bytes, io::Error>> = response.into();
    let mut size = known_size(&response);
    if let Some(bytes) = size
        && !charge.admit_response(&shared.table, bytes).await
    {
        response = busy_error().into_response().into();
        size = known_size(&response);
        charge.add(size.unwrap_or_default());
    }
    // Browsers must not guess the media type of any response.
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let sending = Arc::new(ResponseTransfer::new(shared.config.response_pace));
    streams::set_response(&sending);
    Ok(response.map(|body| PacedResponseBody::new(body, ticket, (charge, sending), size.is_some())))
}

/// Returns the size of a response that is in memory as a whole.
fn known_size(response: &Response<BoxBody<Bytes, io::Error>>) -> Option<usize> {
    response.body().size_hint().exact().and_then(|size| usize::try_from(size).ok())
}

fn busy_error() -> ApiError {
    let message = "the server has too many unread responses; try again later";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

fn too_slow_error() -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "the body: was sent too slowly; send the request again")
}
