//! A small HTTP client that distinguishes error responses from missing responses.

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, body::Bytes};
use hyper_util::{
    client::legacy::{Client as Hyper, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;

/// Maximum number of retries of a write that fails with 503.
const MOST_RETRIES: u32 = 10;

/// A client of one server.
#[derive(Clone)]
pub(crate) struct Client {
    http: Hyper<HttpConnector, Full<Bytes>>,
    pub(crate) base: String,
    token: String,
}

/// A response: its status, and its JSON body or `null`.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    /// `true` if the response has a `Retry-After` header.
    pub(crate) retry_after: bool,
}

/// No response was received, so the outcome of the request is unknown.
#[derive(Debug)]
pub(crate) struct NoAnswer;

impl Client {
    pub(crate) fn new(base: &str, token: &str) -> Self {
        let http = Hyper::builder(TokioExecutor::new()).build_http();
        Self { http, base: base.to_owned(), token: token.to_owned() }
    }

    /// Returns a client for another server, with the same user.
    pub(crate) fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// Sends a request to a path of the API, relative to `/v1`.
    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> Result<Answer, NoAnswer> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}/v1{path}", self.base))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json");
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let request = request.body(Full::new(body)).expect("the request of a test is well formed");
        let answer = self.http.request(request).await.map_err(|_| NoAnswer)?;
        let status = answer.status().as_u16();
        let retry_after = answer.headers().contains_key("retry-after");
        let bytes = answer.into_body().collect().await.map_err(|_| NoAnswer)?.to_bytes();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(Answer { status, body, retry_after })
    }

    /// Reads a resource, which must exist.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let answer = self.call("GET", path, Value::Null).await.expect("the server runs");
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.body);
        answer.body
    }

    /// Sends a write, which must succeed. Retries while the server returns 503 with `Retry-After`.
    pub(crate) async fn post(&self, path: &str, body: Value) -> Value {
        let mut answer = self.call("POST", path, body.clone()).await.expect("the server runs");
        for _ in 0..MOST_RETRIES {
            if answer.status != 503 || !answer.retry_after {
                break;
            }
            answer = self.call("POST", path, body.clone()).await.expect("the server runs");
        }
        assert!(answer.status < 300, "POST {path}: {} {}", answer.status, answer.body);
        answer.body
    }

    /// Returns all items of a paginated list.
    pub(crate) async fn all(&self, path: &str) -> Vec<Value> {
        let (mut items, mut next) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("{path}?limit=100{next}")).await;
            items.extend(page["items"].as_array().expect("a list").iter().cloned());
            match page["next"]["page"].as_str() {
                Some(cursor) => next = format!("&page={cursor}"),
                None => return items,
            }
        }
    }
}

pub(crate) fn id(resource: &Value) -> String {
    resource["id"].as_str().unwrap_or_else(|| panic!("an id in {resource}")).to_owned()
}
