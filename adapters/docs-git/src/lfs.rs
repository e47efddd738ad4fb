//! Objects of Git LFS, which a host stores outside the repository.
//!
//! The batch API returns the address of an object, which can be on another host. Both hosts are checked like any other
//! address. Credentials are only sent to the host of the repository.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use docs_ports::{GitError, LargeObject};
use docs_web::{Dialer, Guard};
use reqwest::{
    RequestBuilder, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue},
};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;
use url::Url;

use crate::{
    Limits,
    address::{self, host_error},
    failure::{idle_error, unreachable_error},
    meter::file_too_large,
    pace::{Pace, Phase},
    web::check_status,
};

/// Maximum size of a response of the batch API for one object, in bytes.
const MAX_BATCH_BYTES: usize = 64 << 10;

/// Time for all objects of an import, as a multiple of the time for one object.
const OBJECTS_TIME_FACTOR: u32 = 4;

/// Maximum number of headers that a host can require for a download.
const MAX_ACTION_HEADERS: usize = 20;

/// The media type of the batch API.
const MEDIA_TYPE: &str = "application/vnd.git-lfs+json";

/// The host of a repository that may store its large objects.
pub(crate) struct LfsHost {
    address: address::Web,
    guard: Guard,
    dialer: Dialer,
    limits: Limits,
    /// The end of the time for all objects.
    deadline: Instant,
}

/// A response of the batch API.
#[derive(Deserialize)]
struct Batch {
    #[serde(default)]
    objects: Vec<BatchObject>,
}

#[derive(Deserialize)]
struct BatchObject {
    oid: String,
    #[serde(default)]
    actions: BatchActions,
}

#[derive(Default, Deserialize)]
struct BatchActions {
    download: Option<Download>,
}

/// The request for an object.
#[derive(Deserialize)]
struct Download {
    href: String,
    #[serde(default)]
    header: BTreeMap<String, String>,
}

impl LfsHost {
    /// Creates the host of a repository. The time for its objects begins now.
    pub(crate) fn new(address: address::Web, guard: Guard, dialer: Dialer, limits: Limits) -> Self {
        let deadline = Instant::now() + limits.time * OBJECTS_TIME_FACTOR;
        Self { address, guard, dialer, limits, deadline }
    }

    /// Downloads an object; `None` if the host does not offer it.
    pub(crate) async fn object(&self, object: &LargeObject) -> Result<Option<Bytes>, GitError> {
        if object.size > self.limits.file_bytes {
            return Err(file_too_large(&object.oid, object.size, self.limits.file_bytes));
        }
        let work = async {
            match self.batch(object).await? {
                Some(download) => self.download(&download, object).await.map(Some),
                None => Ok(None),
            }
        };
        let end = self.deadline.min(Instant::now() + self.limits.time);
        tokio::time::timeout_at(end, work).await.unwrap_or_else(|_| {
            let factor = if end == self.deadline { OBJECTS_TIME_FACTOR } else { 1 };
            let seconds = (self.limits.time * factor).as_secs();
            Err(GitError::TooLarge(format!(
                "the download of large objects exceeded its limit of {seconds} seconds"
            )))
        })
    }

    /// Requests the address of an object.
    async fn batch(&self, object: &LargeObject) -> Result<Option<Download>, GitError> {
        let url = batch_url(&self.address.url);
        let client = self.dialer.client(&self.guard, &url).await.map_err(host_error)?;
        let body = json!({
            "operation": "download",
            "transfers": ["basic"],
            "objects": [{ "oid": object.oid, "size": object.size }],
        });
        let request = client.post(url).header(ACCEPT, MEDIA_TYPE).header(CONTENT_TYPE, MEDIA_TYPE);
        let mut response = self.send(self.sign(request.body(body.to_string()))).await?;
        // A host without the API, or one that does not provide it to this caller.
        let has_none = matches!(
            response.status(),
            StatusCode::UNAUTHORIZED
                | StatusCode::FORBIDDEN
                | StatusCode::NOT_FOUND
                | StatusCode::METHOD_NOT_ALLOWED
                | StatusCode::NOT_IMPLEMENTED
        );
        if has_none {
            return Ok(None);
        }
        check_status(response.status())?;
        let text = self.body(&mut response, MAX_BATCH_BYTES).await?;
        let broken = |_| GitError::Broken("the response of the Git LFS server is invalid".to_owned());
        let batch: Batch = serde_json::from_slice(&text).map_err(broken)?;
        let found = batch.objects.into_iter().find(|found| found.oid == object.oid);
        Ok(found.and_then(|found| found.actions.download))
    }

    async fn download(&self, download: &Download, object: &LargeObject) -> Result<Bytes, GitError> {
        let url = self.object_url(&download.href)?;
        let client = self.dialer.client(&self.guard, &url).await.map_err(host_error)?;
        let is_own_host = url.origin() == self.address.url.origin();
        let mut request = client.get(url);
        let headers = headers(&download.header)?;
        let is_authorized = headers.iter().any(|(name, _)| name == AUTHORIZATION);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if is_own_host && !is_authorized {
            request = self.sign(request);
        }
        let mut response = self.send(request).await?;
        check_status(response.status())?;
        let size = usize::try_from(object.size).unwrap_or(usize::MAX);
        let bytes = self.body(&mut response, size).await?;
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if bytes.len() == size && hash.eq_ignore_ascii_case(&object.oid) {
            return Ok(bytes);
        }
        Err(GitError::Broken("the content of the Git LFS object differs from its pointer".to_owned()))
    }

    /// Parses the address of an object.
    fn object_url(&self, href: &str) -> Result<Url, GitError> {
        let refused =
            || GitError::Refused("the Git LFS server returns an address that is not allowed".to_owned());
        let mut url = Url::parse(href).map_err(|_| refused())?;
        let is_allowed =
            url.scheme() == "https" || (url.scheme() == "http" && self.address.url.scheme() == "http");
        if !is_allowed {
            return Err(refused());
        }
        // Credentials in the address do not come from the user.
        url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| refused())?;
        Ok(url)
    }

    fn sign(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.address.credentials {
            Some(credentials) => credentials.sign(request),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, GitError> {
        let response =
            tokio::time::timeout(self.limits.idle, request.send()).await.map_err(|_| idle_error())?;
        response.map_err(|error| unreachable_error(&error))
    }

    /// Reads a body of a maximum size.
    async fn body(&self, response: &mut Response, limit: usize) -> Result<Bytes, GitError> {
        let (mut body, mut pace) = (BytesMut::new(), Pace::receiving(self.limits.idle));
        while let Some(piece) = pace.chunk(Phase::Transfer, response).await? {
            if body.len() + piece.len() > limit {
                return Err(GitError::Broken(format!("the Git LFS server sends more than {limit} bytes")));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body.freeze())
    }
}

/// Returns the address of the batch API of a repository.
fn batch_url(repository: &Url) -> Url {
    let path = repository.path().trim_end_matches('/');
    let suffix = if path.ends_with(".git") { "" } else { ".git" };
    let mut url = repository.clone();
    url.set_path(&format!("{path}{suffix}/info/lfs/objects/batch"));
    url
}

/// Returns the headers that a host requires for a download, except those that determine the form of the request.
fn headers(required: &BTreeMap<String, String>) -> Result<Vec<(HeaderName, HeaderValue)>, GitError> {
    let invalid = || GitError::Broken("the Git LFS server requires invalid headers".to_owned());
    if required.len() > MAX_ACTION_HEADERS {
        return Err(invalid());
    }
    let mut headers = Vec::with_capacity(required.len());
    for (name, value) in required {
        let name = HeaderName::try_from(name.as_str()).map_err(|_| invalid())?;
        let value = HeaderValue::try_from(value.as_str()).map_err(|_| invalid())?;
        let is_framing = matches!(
            name.as_str(),
            "host" | "content-length" | "transfer-encoding" | "connection" | "te" | "upgrade"
        );
        if !is_framing {
            headers.push((name, value));
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use std::{io, net::IpAddr, sync::Arc, time::Duration};

    use async_trait::async_trait;
    use docs_web::{Outbound, Resolve};

    use super::*;

    /// A resolver that never answers.
    struct Silent;

    #[async_trait]
    impl Resolve for Silent {
        async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            std::future::pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn objects_of_a_silent_host_have_one_deadline() {
        let address = address::Web { url: Url::parse("https://a.test/o/r").unwrap(), credentials: None };
        let guard = Guard::new(Outbound::Public, Arc::new(Silent));
        let limits = Limits { time: Duration::from_secs(300), ..Limits::default() };
        let host = LfsHost::new(address, guard, Dialer::new("test").unwrap(), limits);
        let start = Instant::now();
        let object = LargeObject { oid: "0".repeat(64), size: 1 };
        let mut messages = Vec::new();
        for _ in 0..100 {
            messages.push(host.object(&object).await.unwrap_err().to_string());
        }
        assert_eq!(start.elapsed(), Duration::from_secs(1_200));
        assert!(messages[0].ends_with("limit of 300 seconds"), "{messages:?}");
        assert!(messages[99].ends_with("limit of 1200 seconds"), "{messages:?}");
    }

    #[test]
    fn batch_api_is_below_the_repository() {
        for (repository, batch) in [
            ("https://a.test/o/r", "https://a.test/o/r.git/info/lfs/objects/batch"),
            ("https://a.test/o/r.git/", "https://a.test/o/r.git/info/lfs/objects/batch"),
        ] {
            assert_eq!(batch_url(&Url::parse(repository).unwrap()).as_str(), batch);
        }
    }

    #[test]
    fn required_headers_cannot_change_the_form_of_a_request() {
        let read = |pairs: &[(&str, &str)]| {
            headers(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
                .map(|found| found.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>())
        };
        assert_eq!(
            read(&[("Authorization", "x"), ("Host", "a"), ("Content-Length", "1"), ("X-A", "b")]),
            Ok(vec!["authorization".to_owned(), "x-a".to_owned()])
        );
        assert!(read(&[("a b", "x")]).is_err());
        assert!(read(&[("a", "x\r\ny: z")]).is_err());
        let names: Vec<String> = (0..=MAX_ACTION_HEADERS).map(|number| format!("x-{number:02}")).collect();
        let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
        assert!(read(&pairs).is_err() && read(&pairs[1..]).is_ok());
    }
}
