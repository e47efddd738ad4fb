//! What an operation answers when it cannot be done.

use std::{borrow::Cow, error::Error as StdError, fmt};

use serde::{Deserialize, Serialize};

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of failure it is: what a caller branches on. Each has one HTTP status.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request is wrong: 400. The message names the field and what to do.
    Invalid,
    /// Nobody is signed in: 401.
    Unauthenticated,
    /// The object is visible, but the actor may not do this to it: 403.
    Forbidden,
    /// The object does not exist, or the actor may not know that it does: 404.
    NotFound,
    /// The state of the object does not allow it, or a unique value is taken: 409.
    Conflict,
    /// A condition for the operation is not met: 412.
    Precondition,
    /// The request is larger than a limit: 413.
    TooLarge,
    /// The request is not the one that its idempotency key was given to: 422.
    Unprocessable,
    /// Too many requests: 429.
    RateLimited,
    /// The store or another service cannot be used now; trying later is right: 503.
    Unavailable,
    /// A fault of the platform: 500. Details are for the log only.
    Internal,
}

impl ErrorKind {
    /// The HTTP status that says the same.
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

/// Why an operation was not done. Nothing was changed, unless the documentation of the operation says otherwise.
///
/// [`kind`](Error::kind) is what to branch on, [`field`](Error::field) where a request is wrong,
/// [`message`](Error::message) one sentence for the caller that names what to do, [`source`](StdError::source) what the
/// operator needs.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    /// The field that an invalid request is wrong at: what the message begins with.
    field: Option<Box<str>>,
    message: Cow<'static, str>,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of a kind, with one sentence for the caller.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner { kind, field: None, message: message.into(), cause: None }))
    }

    /// Tells whether there was what something was done to: `NotFound` is `false`, as a deletion answers it.
    ///
    /// # Errors
    /// Every other error of `done`.
    ///
    /// ```
    /// use docs_model::error::Error;
    /// assert!(Error::existed(Ok(()))?);
    /// assert!(!Error::existed::<()>(Err(Error::not_found("space")))?);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn existed<T>(done: Result<T>) -> Result<bool> {
        match done {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The request is wrong at a field.
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

    /// No such object, or none that the actor may see.
    #[must_use]
    pub fn not_found(noun: &str) -> Self {
        Self::new(ErrorKind::NotFound, format!("no such {noun}"))
    }

    /// The actor may see the object, but not do this.
    #[must_use]
    pub fn forbidden(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Forbidden, what)
    }

    /// The state does not allow it, or a unique value is taken.
    #[must_use]
    pub fn conflict(what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Conflict, what)
    }

    /// A fault of the platform; the message goes to the log, the caller learns only that it happened.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Box::new(Inner {
            kind: ErrorKind::Internal,
            field: None,
            message: Cow::Borrowed("the platform failed to do this; it has been logged"),
            cause: Some(source.into()),
        }))
    }

    /// The same error with another sentence for the caller, which names no field.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.field = None;
        self.0.message = message.into();
        self
    }

    /// The same error, told of a larger thing that the field is a part of; errors of other kinds stay what they are.
    ///
    /// ```
    /// use docs_model::error::Error;
    /// let error = Error::invalid("page", "no such page").within("changes[2]");
    /// assert_eq!(error.field(), Some("changes[2].page"));
    /// assert_eq!(error.message(), "changes[2].page: no such page");
    /// ```
    #[must_use]
    pub fn within(mut self, outside: &str) -> Self {
        if self.0.kind == ErrorKind::Invalid {
            self.0.field = self.0.field.map(|field| format!("{outside}.{field}").into());
            self.0.message = format!("{outside}.{}", self.0.message).into();
        }
        self
    }

    /// The same error with what caused it, for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.cause = Some(source.into());
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The field or parameter that an invalid request is wrong at, as a path: `changes[0].title`. `None` where no
    /// single one is, and for errors of other kinds.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }

    /// One sentence for the caller.
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
