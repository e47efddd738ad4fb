//! HTTP client for JSON services.

use std::{fmt, sync::Arc, time::Duration};

use docs_ports::TranslateError;
use docs_web::{Dialer, Guard, Outbound, SystemResolver, reason};
use reqwest::{
    Response, StatusCode,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use serde_json::Value;
use url::Url;

/// The `User-Agent` header.
const USER_AGENT: &str = concat!("docs-translate/", env!("CARGO_PKG_VERSION"));
/// Maximum number of characters quoted from a service's error message.
const MAX_SAID: usize = 200;
/// Delay in seconds if a service requests a retry without stating when.
const DEFAULT_WAIT: u64 = 5;
/// Maximum `Retry-After` in seconds: one day.
const MAX_WAIT: u64 = 86_400;

/// Limits of requests to a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServiceLimits {
    /// Timeout for a response. Default: two minutes.
    pub time: Duration,
    /// Maximum size of a response in bytes. Default: 4 MiB.
    pub bytes: usize,
    /// Maximum total delay of the retries that the service requests. If it is exceeded, the request fails. Default: one
    /// minute.
    pub patience: Duration,
}

impl Default for ServiceLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(120), bytes: 4 << 20, patience: Duration::from_secs(60) }
    }
}

/// An API key. Its `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

/// The error for an invalid service configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotAService(pub(crate) String);

impl fmt::Display for NotAService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotAService {}

/// A service with a base URL.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    base: Url,
    key: Option<ApiKey>,
    guard: Guard,
    dialer: Dialer,
    pub(crate) limits: ServiceLimits,
}

/// The location of the API key in a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyLocation {
    /// In the `Authorization` header.
    Bearer,
    /// In the body, added by the caller.
    InBody,
}

impl Service {
    pub(crate) fn new(base: &str, key: Option<ApiKey>) -> Result<Self, NotAService> {
        let wrong = || NotAService("must be an http or https URL without `?` and `#`".to_owned());
        let mut url = Url::parse(base).map_err(|_| wrong())?;
        let is_plain =
            matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
        if !is_plain {
            return Err(wrong());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NotAService(
                "must not contain a user or a password; pass the key by its own flag".to_owned(),
            ));
        }
        let path = format!("{}/", url.path().trim_end_matches('/'));
        url.set_path(&path);
        let dialer = Dialer::new(USER_AGENT).map_err(|error| NotAService(error.to_string()))?;
        let guard = Guard::new(Outbound::Private, Arc::new(SystemResolver));
        Ok(Self { base: url, key, guard, dialer, limits: ServiceLimits::default() })
    }

    pub(crate) fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    pub(crate) fn key(&self) -> Option<&ApiKey> {
        self.key.as_ref()
    }

    /// Sends a request. If the service requests a retry, waits and sends it again, for a total delay of at most
    /// `patience`.
    pub(crate) async fn post(
        &self,
        path: &str,
        body: &Value,
        signed: KeyLocation,
    ) -> Result<Value, TranslateError> {
        let mut waited = Duration::ZERO;
        loop {
            let asked = tokio::time::timeout(self.limits.time, self.post_once(path, body, signed));
            let answer = asked.await.unwrap_or_else(|_| {
                Err(TranslateError::unavailable(format!(
                    "the request exceeded its limit of {:?}",
                    self.limits.time
                )))
            });
            let Err(TranslateError::Unavailable { after: Some(seconds), .. }) = &answer else {
                return answer;
            };
            let wait = Duration::from_secs((*seconds).max(1));
            if waited.saturating_add(wait) > self.limits.patience {
                return answer;
            }
            waited += wait;
            // Wait here for the time that the service stated: rescheduling the job would use up its attempts.
            tokio::time::sleep(wait).await;
        }
    }

    async fn post_once(
        &self,
        path: &str,
        body: &Value,
        signed: KeyLocation,
    ) -> Result<Value, TranslateError> {
        let url = self.base.join(path).map_err(|error| TranslateError::Refused(error.to_string()))?;
        let client = self.dialer.client(&self.guard, &url).await;
        let client = client.map_err(|error| TranslateError::unavailable(error.to_string()))?;
        let mut request = client.post(url).header(CONTENT_TYPE, "application/json").body(body.to_string());
        if let (KeyLocation::Bearer, Some(key)) = (signed, &self.key) {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
            let mut value = value.map_err(|_| {
                TranslateError::Refused("the key contains characters that a header cannot contain".to_owned())
            })?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let response = request.send().await.map_err(|error| TranslateError::unavailable(reason(&error)))?;
        self.read(response).await
    }

    async fn read(&self, mut response: Response) -> Result<Value, TranslateError> {
        let status = response.status();
        let told =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let told = told.map(|seconds: u64| seconds.min(MAX_WAIT));
        let limit = self.limits.bytes;
        let too_large = || TranslateError::Malformed(format!("the response must be at most {limit} bytes"));
        if response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        let mut bytes: Vec<u8> = Vec::new();
        while let Some(piece) =
            response.chunk().await.map_err(|error| TranslateError::unavailable(reason(&error)))?
        {
            if bytes.len() + piece.len() > limit {
                return Err(too_large());
            }
            bytes.extend_from_slice(&piece);
        }
        let value: Option<Value> = serde_json::from_slice(&bytes).ok();
        if status.is_success() {
            return value.ok_or_else(|| TranslateError::Malformed("the response is not JSON".to_owned()));
        }
        let said = self.error_message(value.as_ref());
        let reason = format!("the service responded with {}{said}", status.as_u16());
        Err(match status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                TranslateError::Unavailable { reason, after: Some(told.unwrap_or(DEFAULT_WAIT)) }
            }
            StatusCode::REQUEST_TIMEOUT => TranslateError::unavailable(reason),
            status if status.is_server_error() => TranslateError::unavailable(reason),
            // The request is too large for the service, but fewer segments may fit.
            StatusCode::PAYLOAD_TOO_LARGE => TranslateError::Malformed(reason),
            _ => TranslateError::Refused(reason),
        })
    }

    /// Returns the service's error message with the key redacted.
    fn error_message(&self, body: Option<&Value>) -> String {
        let error = body.and_then(|body| body.get("error"));
        let said = error.and_then(|error| error.as_str().or_else(|| error.get("message")?.as_str()));
        let Some(said) = said else { return String::new() };
        let said = match &self.key {
            Some(key) if !key.expose().is_empty() => said.replace(key.expose(), "…"),
            _ => said.to_owned(),
        };
        let said: String = said.chars().filter(|c| !c.is_control()).take(MAX_SAID).collect();
        format!(": {said}")
    }
}
