//! Errors of operations.

use std::{borrow::Cow, error::Error as StdError, fmt};

use serde::{Deserialize, Serialize};

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// The category of an error, on which callers can branch. Each category has one HTTP status.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request is invalid: 400. The message states the field and how to fix it.
    Invalid,
    /// The caller is not authenticated: 401.
    Unauthenticated,
    /// The caller can see the resource but lacks permission for the operation: 403.
    Forbidden,
    /// The resource does not exist or is not visible to the caller: 404.
    NotFound,
    /// The state of the resource does not permit the operation, or a unique value is already in use: 409.
    Conflict,
    /// A precondition of the request failed: 412.
    Precondition,
    /// The request exceeds a size limit: 413.
    TooLarge,
    /// The idempotency key was already used for a different request: 422.
    Unprocessable,
    /// Too many requests: 429.
    RateLimited,
    /// The store or another service is temporarily unavailable: 503. The caller can retry.
    Unavailable,
    /// An internal error: 500. Details are only logged.
    Internal,
}

impl ErrorKind {
    /// Returns the corresponding HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::Unauthenticated => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Precondition => 412,
            Self::TooLarge => 413,
            Self::Unprocessable => 422,
            Self::RateLimited => 429,
            Self::Unavailable => 503,
            Self::Internal => 500,
        }
    }
}

/// The error of an operation. A failed operation has changed nothing unless its documentation states otherwise.
///
/// Callers can branch on [`kind`](Error::kind). [`field`](Error::field) is the invalid field of the request.
/// [`message`](Error::message) is a sentence for the caller that says how to fix the problem.
/// [`source`](StdError::source) has the details for the operator.
pub struct Error(Box<ErrorFields>);

struct ErrorFields {
    kind: ErrorKind,
    /// The invalid field. The message begins with it.
    field: Option<Box<str>>,
    message: Cow<'static, str>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// Creates an error with a one-sentence message for the caller.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(ErrorFields { kind, field: None, message: message.into(), cause: None }))
    }

    /// Converts the result of a deletion: success becomes `Ok(true)`, a `NotFound` error `Ok(false)`.
    ///
    /// # Errors
    /// Any other error of `done`.
    ///
    /// ```
    /// use docs_model::error::Error;
    /// assert!(Error::ignore_not_found(Ok(()))?);
    /// assert!(!Error::ignore_not_found::<()>(Err(Error::not_found("space")))?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn ignore_not_found<T>(done: Result<T>) -> Result<bool> {
        match done {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates an error for an invalid field.
    ///
    /// ```
    /// use docs_model::error::Error;
    /// let error = Error::invalid("title", "must be at most 50 characters, has 63");
    /// assert_eq!(error.field(), Some("title"));
    /// assert_eq!(error.message(), "title: must be at most 50 characters, has 63");
    /// ```
    #[must_use]
    pub fn invalid(field: &str, what: impl fmt::Display) -> Self {
        let mut error = Self::new(ErrorKind::Invalid, format!("{field}: {what}"));
        error.0.field = Some(field.into());
        error
    }

    /// Creates an error for a resource that does not exist or is not visible to the caller.
    #[must_use]
    pub fn not_found(noun: &str) -> Self {
        Self::new(ErrorKind::NotFound, format!("no such {noun}"))
    }

    /// Creates an error for an operation that the caller may not perform on a visible resource.
    #[must_use]
    pub fn forbidden(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Forbidden, what)
    }

    /// Creates an error for a state that does not permit the operation, or for a unique value that is in use.
    #[must_use]
    pub fn conflict(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Conflict, what)
    }

    /// Creates an internal error. The source is logged, and the caller receives a generic message.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Box::new(ErrorFields {
            kind: ErrorKind::Internal,
            field: None,
            message: Cow::Borrowed("an internal error occurred; see the log of the server"),
            cause: Some(source.into()),
        }))
    }

    /// Replaces the message and clears the field.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.field = None;
        self.0.message = message.into();
        self
    }

    /// Prefixes the field with the path of its parent object. Errors other than `Invalid` are unchanged.
    ///
    /// ```
    /// use docs_model::error::Error;
    /// let error = Error::invalid("page", "no such page").prefix_field("changes[2]");
    /// assert_eq!(error.field(), Some("changes[2].page"));
    /// assert_eq!(error.message(), "changes[2].page: no such page");
    /// ```
    #[must_use]
    pub fn prefix_field(mut self, outside: &str) -> Self {
        if self.0.kind == ErrorKind::Invalid {
            self.0.field = self.0.field.map(|field| format!("{outside}.{field}").into());
            self.0.message = format!("{outside}.{}", self.0.message).into();
        }
        self
    }

    /// Sets the cause. It is logged, not returned to the caller.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.cause = Some(source.into());
        self
    }

    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the path of the invalid field or parameter, for example `changes[0].title`. Returns `None` for errors
    /// that are not `Invalid` or do not concern a single field.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// Returns the one-sentence message for the caller.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)?;
        match &self.0.cause {
            Some(error) => write!(f, " ({error})"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.as_deref().map(|error| error as &(dyn StdError + 'static))
    }
}
