//! Error responses. Each has a JSON body such as `{"error":{"code":404,"message":"no such space"}}`.

use std::{borrow::Cow, error::Error as StdError, fmt, io};

use docs_core::ErrorKind;
use poem::{
    IntoResponse, Response,
    error::{ReadBodyError, ResponseError},
    http::{HeaderValue, StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    error::{AuthorizationError, ContentTypeError, ParseParamError, ParsePathError},
    registry::{MetaResponses, Registry},
};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of an operation over HTTP.
pub type ApiResult<T> = Result<T, ApiError>;

/// The challenge for bearer tokens.
pub(crate) const BEARER: HeaderValue = HeaderValue::from_static("Bearer");

/// Marks a 401 response with the default challenge, which the [`Authenticator`](crate::auth::Authenticator) may
/// replace.
#[derive(Clone, Copy)]
pub(crate) struct UsualChallenge;

/// The body of every error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetail,
}

/// The details of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ErrorDetail {
    /// The HTTP status code.
    #[schemars(range(min = 400, max = 599))]
    pub code: u16,
    /// One sentence that states the problem, the field or parameter, and the correction.
    pub message: String,
}

/// An error response: a status and one sentence for the caller.
///
/// Handlers convert a [`docs_core::Error`] with `?`. Errors that occur before a handler runs are converted as well, so
/// clients see a single format.
///
/// ```
/// use docs_http::wire::error::ApiError;
/// use poem::http::StatusCode;
///
/// let error = ApiError::from(docs_core::Error::not_found("space"));
/// assert_eq!(error.status(), StatusCode::NOT_FOUND);
/// assert_eq!(error.message(), "no such space");
/// ```
pub struct ApiError(Box<ApiErrorFields>);

struct ApiErrorFields {
    status: StatusCode,
    message: Cow<'static, str>,
    /// The allowed methods, for a 405.
    allow: Option<HeaderValue>,
    /// The challenge, if it differs from the default.
    challenge: Option<HeaderValue>,
    /// The cause, which is only logged.
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

/// The message of an internal error.
const INTERNAL: &str = "an internal error occurred; see the log of the server";

impl ApiError {
    /// Creates an error from a status and one sentence for the caller.
    #[must_use]
    pub fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(ApiErrorFields {
            status,
            message: message.into(),
            allow: None,
            challenge: None,
            cause: None,
        }))
    }

    /// Creates a 400 for an invalid request. The message begins with the name of the field or parameter.
    #[must_use]
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Creates a 401 for missing or invalid credentials.
    #[must_use]
    pub fn unauthenticated(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
    }

    /// Creates a 500 for an internal error. The cause is only logged.
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL).with_cause(cause)
    }

    /// Adds the cause for the log.
    pub(crate) fn with_cause(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// Replaces the default challenge.
    pub(crate) fn with_challenge(mut self, challenge: HeaderValue) -> Self {
        self.0.challenge = Some(challenge);
        self
    }

    /// Creates a 405 for a path that does not support the method.
    pub(crate) fn method_not_allowed(allow: HeaderValue) -> Self {
        let known = allow.to_str().unwrap_or_default();
        let message = format!("this path supports {known} only");
        let mut error = Self::new(StatusCode::METHOD_NOT_ALLOWED, message);
        error.0.allow = Some(allow);
        error
    }

    /// Creates a 404 for an unknown path.
    pub(crate) fn no_such_path() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no such path")
    }

    /// Creates a 400 for a path that is not valid text.
    pub(crate) fn unreadable_path() -> Self {
        Self::invalid("the path must be percent-encoded UTF-8 text without NUL")
    }

    /// Converts an error while reading a body. An error from a body wrapper is returned as is; any other means that the
    /// body ended early.
    pub(crate) fn from_body_error(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(|_| Self::invalid("the body ended early"))
    }

    /// Creates a 413 for a body over the limit.
    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body: must be at most {limit} bytes"))
    }

    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The sentence for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Logs the error and its cause, which is not shown to the caller.
    fn log(&self) {
        let status = self.0.status.as_u16();
        match &self.0.cause {
            Some(cause) if self.0.status == StatusCode::INTERNAL_SERVER_ERROR => {
                tracing::error!(http.status = status, cause = ?cause, "request failed");
            }
            Some(cause) if self.0.status.is_server_error() => {
                tracing::warn!(http.status = status, cause = ?cause, "failed to serve request");
            }
            Some(cause) => tracing::debug!(http.status = status, cause = ?cause, "reject request"),
            None => {}
        }
    }
}

impl From<docs_core::Error> for ApiError {
    fn from(error: docs_core::Error) -> Self {
        let status = StatusCode::from_u16(error.kind().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let message = match error.kind() {
            // The message of an internal error may contain confidential details.
            ErrorKind::Internal => Cow::Borrowed(INTERNAL),
            _ => Cow::Owned(error.message().to_owned()),
        };
        Self::new(status, message).with_cause(error)
    }
}

impl From<poem::Error> for ApiError {
    fn from(error: poem::Error) -> Self {
        let error = match error.downcast::<Self>() {
            Ok(own) => return own,
            Err(other) => other,
        };
        if let Some(parameter) = error.downcast_ref::<ParseParamError>() {
            return Self::invalid(format!("{}: {}", parameter.name, parameter.reason));
        }
        if error.is::<ParsePathError>() || error.is::<poem::error::ParsePathError>() {
            return Self::unreadable_path();
        }
        if error.is::<AuthorizationError>() {
            return Self::unauthenticated("a valid token is required");
        }
        if error.is::<ContentTypeError>() {
            return Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error.to_string());
        }
        if error.is::<poem::error::NotFoundError>() {
            return Self::no_such_path();
        }
        let status = error.status();
        if matches!(error.downcast_ref(), Some(ReadBodyError::Io(_))) {
            return Self::invalid("the body ended early");
        }
        if status.is_server_error() {
            return Self::internal(error);
        }
        let message = if error.has_source() {
            Cow::Owned(error.to_string())
        } else {
            Cow::Borrowed(status.canonical_reason().unwrap_or("the request was rejected"))
        };
        Self::new(status, message)
    }
}

impl ResponseError for ApiError {
    fn status(&self) -> StatusCode {
        self.0.status
    }

    fn as_response(&self) -> Response {
        self.log();
        let status = self.0.status;
        let body = serde_json::json!({ "error": { "code": status.as_u16(), "message": self.0.message } });
        let mut response =
            Response::builder().status(status).content_type(super::media_type::JSON).body(body.to_string());
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            let challenge = self.0.challenge.clone();
            headers.insert(header::WWW_AUTHENTICATE, challenge.unwrap_or(BEARER));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Some(allow) = &self.0.allow {
            headers.insert(header::ALLOW, allow.clone());
        }
        if self.0.challenge.is_none() {
            response.set_data(UsualChallenge);
        }
        response
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.as_response()
    }
}

/// Declares no responses: the decorator adds the common failure responses to every operation.
impl ApiResponse for ApiError {
    fn meta() -> MetaResponses {
        MetaResponses { responses: Vec::new() }
    }

    fn register(_: &mut Registry) {}
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.status, self.0.message)?;
        self.0.cause.as_ref().map_or(Ok(()), |cause| write!(f, " ({cause:?})"))
    }
}

impl StdError for ApiError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_ref().map(|cause| cause.as_ref() as &(dyn StdError + 'static))
    }
}

/// Converts the result of an endpoint to a response.
///
/// A redirect returned as an error is passed on; every other error becomes a JSON body.
pub(crate) fn outcome_response(outcome: poem::Result<Response>) -> Response {
    match outcome {
        Ok(response) => response,
        Err(error) if error.is_from_response() && error.status().as_u16() < 400 => error.into_response(),
        Err(error) => ApiError::from(error).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(error: ApiError) -> (Response, serde_json::Value) {
        let mut response = error.into_response();
        let body = futures_util::FutureExt::now_or_never(response.take_body().into_vec());
        let body = body.expect("a body in memory is ready").expect("reads");
        (response, serde_json::from_slice(&body).expect("is JSON"))
    }

    #[test]
    fn message_of_an_internal_error_is_hidden() {
        let (response, body) = body(docs_core::Error::new(ErrorKind::Internal, "password is x").into());
        assert_eq!(response.status(), 500);
        assert_eq!(body["error"]["message"], INTERNAL);
        assert_eq!(body["error"]["code"], 500);
    }

    #[test]
    fn errors_set_www_authenticate_and_retry_after() {
        let (response, _) = body(ApiError::unauthenticated("who are you?"));
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        let (response, body) = body(docs_core::Error::new(ErrorKind::Unavailable, "later").into());
        assert_eq!(response.header("retry-after"), Some("1"));
        assert_eq!(body["error"]["message"], "later");
    }

    #[test]
    fn message_of_a_framework_error_is_hidden() {
        let error = poem::Error::from_string("table x is missing", StatusCode::BAD_GATEWAY);
        let (response, body) = body(error.into());
        assert_eq!(response.status(), 500);
        assert_eq!(body["error"]["message"], INTERNAL);
    }
}
