//! Failures: every one is the JSON object `{"error":{"code":404,"message":"no such space"}}`.

use std::{borrow::Cow, error::Error as StdError, fmt};

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

/// What an operation answers over HTTP: its value, or a failure.
pub type Answer<T> = Result<T, ApiError>;

/// The challenge of whoever takes bearer tokens.
pub(crate) const BEARER: HeaderValue = HeaderValue::from_static("Bearer");

/// In the data of a 401 whose challenge is the usual one: whoever signs people in otherwise says how.
#[derive(Clone, Copy)]
pub(crate) struct UsualChallenge;

/// The body of every failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ErrorDetail {
    /// The HTTP status.
    #[schemars(range(min = 400, max = 599))]
    pub code: u16,
    /// One sentence that says what is wrong, where, and what would be right.
    pub message: String,
}

/// Why a request was not answered: a status, and one sentence for the caller.
///
/// Handlers get one from a [`docs_core::Error`] through `?`. Whatever else fails on the way to a handler is turned
/// into one at the edge, so a client sees a single form of failure.
///
/// ```
/// use docs_http::wire::error::ApiError;
/// use poem::http::StatusCode;
///
/// let error = ApiError::from(docs_core::Error::not_found("space"));
/// assert_eq!(error.status(), StatusCode::NOT_FOUND);
/// assert_eq!(error.message(), "no such space");
/// ```
pub struct ApiError(Box<Inner>);

struct Inner {
    status: StatusCode,
    message: Cow<'static, str>,
    /// The methods that would be right, where the method is what is wrong.
    allow: Option<HeaderValue>,
    /// How to sign in, where that is not by a bearer token.
    challenge: Option<HeaderValue>,
    /// For the log only.
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

/// What a caller is told of a fault of ours.
const INTERNAL: &str = "the platform failed to do this; it has been logged";

impl ApiError {
    /// A failure of a status, with one sentence for the caller.
    #[must_use]
    pub fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner { status, message: message.into(), allow: None, challenge: None, cause: None }))
    }

    /// The request is wrong: 400. The sentence begins with the name of the field or parameter.
    #[must_use]
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// Nobody is signed in: 401.
    #[must_use]
    pub fn unauthenticated(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
    }

    /// A fault of ours: 500. What caused it goes to the log, the caller learns only that it happened.
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL).caused_by(cause)
    }

    /// The same with what caused it, for the log.
    pub(crate) fn caused_by(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.cause = Some(cause.into());
        self
    }

    /// The same with another way to sign in than by a bearer token.
    pub(crate) fn challenged(mut self, challenge: HeaderValue) -> Self {
        self.0.challenge = Some(challenge);
        self
    }

    /// The path is known, the method is not: 405.
    pub(crate) fn method_not_allowed(allow: HeaderValue) -> Self {
        let known = allow.to_str().unwrap_or_default();
        let message = format!("this path takes {known}, not this method");
        let mut error = Self::new(StatusCode::METHOD_NOT_ALLOWED, message);
        error.0.allow = Some(allow);
        error
    }

    /// Nothing is at this path: 404.
    pub(crate) fn no_such_path() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no such path")
    }

    /// The path cannot be text: 400.
    pub(crate) fn unreadable_path() -> Self {
        Self::invalid("the path must be UTF-8 text without NUL, percent-encoded")
    }

    /// The body is larger than the server takes: 413.
    pub(crate) fn too_large(limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is too large: at most {limit} bytes are accepted"),
        )
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// One sentence for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Writes what the operator needs and the caller must not see.
    fn log(&self) {
        let status = self.0.status.as_u16();
        match &self.0.cause {
            Some(cause) if self.0.status == StatusCode::INTERNAL_SERVER_ERROR => {
                tracing::error!(http.status = status, cause = ?cause, "a request failed");
            }
            Some(cause) if self.0.status.is_server_error() => {
                tracing::warn!(http.status = status, cause = ?cause, "a request could not be served");
            }
            Some(cause) => tracing::debug!(http.status = status, cause = ?cause, "a request was refused"),
            None => {}
        }
    }
}

impl From<docs_core::Error> for ApiError {
    fn from(error: docs_core::Error) -> Self {
        let status = StatusCode::from_u16(error.kind().status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let message = match error.kind() {
            // The text of an internal error may name what only the operator should know.
            ErrorKind::Internal => Cow::Borrowed(INTERNAL),
            _ => Cow::Owned(error.message().to_owned()),
        };
        Self::new(status, message).caused_by(error)
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
            return Self::unauthenticated("a valid token is needed");
        }
        if error.is::<ContentTypeError>() {
            return Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error.to_string());
        }
        if error.is::<poem::error::NotFoundError>() {
            return Self::no_such_path();
        }
        let status = error.status();
        if matches!(error.downcast_ref(), Some(ReadBodyError::Io(_))) {
            return Self::invalid("the body could not be read to its end");
        }
        if status.is_server_error() {
            return Self::internal(error);
        }
        let message = if error.has_source() {
            Cow::Owned(error.to_string())
        } else {
            Cow::Borrowed(status.canonical_reason().unwrap_or("the request was refused"))
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
            Response::builder().status(status).content_type(super::reply::JSON).body(body.to_string());
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

/// A failure documents nothing by itself: the decorator adds the same failures to every operation.
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

/// Turns what an endpoint returned into the answer that the client sees.
///
/// A redirect that was raised as an error stays a redirect; all else that is an error becomes the JSON body.
pub(crate) fn answer(outcome: poem::Result<Response>) -> Response {
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
    fn the_text_of_an_internal_error_stays_inside() {
        let (response, body) = body(docs_core::Error::new(ErrorKind::Internal, "password is x").into());
        assert_eq!(response.status(), 500);
        assert_eq!(body["error"]["message"], INTERNAL);
        assert_eq!(body["error"]["code"], 500);
    }

    #[test]
    fn a_client_is_told_how_to_sign_in_and_when_to_come_back() {
        let (response, _) = body(ApiError::unauthenticated("who are you?"));
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
        let (response, body) = body(docs_core::Error::new(ErrorKind::Unavailable, "later").into());
        assert_eq!(response.header("retry-after"), Some("1"));
        assert_eq!(body["error"]["message"], "later");
    }

    #[test]
    fn a_fault_of_the_framework_is_not_shown() {
        let error = poem::Error::from_string("table x is missing", StatusCode::BAD_GATEWAY);
        let (response, body) = body(error.into());
        assert_eq!(response.status(), 500);
        assert_eq!(body["error"]["message"], INTERNAL);
    }
}
