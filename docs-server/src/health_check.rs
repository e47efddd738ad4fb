//! `docs-server health`: checks the server on this machine, for containers without an HTTP client.

use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::{StatusCode, body::Bytes};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};

use crate::{BindAddress, ServerError};

/// Timeout of the request.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of response bytes to print.
const MAX_RESPONSE_BYTES: usize = 4_096;

/// The endpoint to query.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HealthQuery {
    /// Liveness.
    Health,
    /// Readiness for requests.
    Readiness,
}

impl HealthQuery {
    const fn path(self) -> &'static str {
        match self {
            Self::Health => "healthz",
            Self::Readiness => "readyz",
        }
    }
}

/// Queries the server that listens at an address, and prints the response.
pub(crate) async fn query(bind: &BindAddress, question: HealthQuery) -> Result<(), ServerError> {
    if bind.port() == 0 {
        return Err(ServerError::for_flag("--bind", "must have the port of the server"));
    }
    let url = format!("http://{}/{}", bind.connect_address(bind.port()), question.path());
    let answer = tokio::time::timeout(QUERY_TIMEOUT, get(&url)).await;
    let answer = answer.map_err(|_| {
        ServerError::from_error(format!("{url}: no response within {} s", QUERY_TIMEOUT.as_secs()))
    })?;
    let (status, body) =
        answer.map_err(|error| ServerError::from_error(format!("{url}: {}", innermost_cause(&*error))))?;
    if status != StatusCode::OK {
        return Err(ServerError::from_error(format!("{url}: {status}: {body}")));
    }
    println!("{body}");
    Ok(())
}

async fn get(url: &str) -> Result<(StatusCode, String), Box<dyn std::error::Error + Send + Sync>> {
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let answer = client.get(url.parse()?).await?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), MAX_RESPONSE_BYTES).collect().await?.to_bytes();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

/// Returns the message of the innermost cause, which is the most specific: "connection refused" instead of "client
/// error".
fn innermost_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut reason = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string()
}
