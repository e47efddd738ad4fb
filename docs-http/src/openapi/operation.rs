//! Execution of an operation: metrics, conversion of failures to responses, and protection of writes from cancellation.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use poem::{
    Endpoint, Request, Response,
    endpoint::BoxEndpoint,
    http::{Method, StatusCode},
};
use poem_openapi::OperationId;
use tokio::runtime::Handle;
use tracing::Instrument;

use crate::{
    conditions,
    idempotency::{IdempotencySlot, KEY_HEADER, REPLAYED_HEADER},
    metrics::{Metrics, Series},
    representation::{RequestConditions, TagPolicy},
    wire::{
        budget::BodyAccount,
        error::{ApiError, outcome_response},
        ignored::{self, IgnoredFields},
    },
};

/// Returns all HTTP methods that the server recognises.
pub(crate) fn known_methods() -> [Method; 9] {
    [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        Method::TRACE,
        Method::CONNECT,
    ]
}

/// An endpoint with the behaviour common to all operations.
pub(super) struct Operation {
    inner: Arc<BoxEndpoint<'static>>,
    id: &'static str,
    /// Names of the operation's query parameters.
    parameters: Vec<String>,
    task: Task,
    conditions: Conditions,
    tagging: TagPolicy,
    series: Arc<Series>,
}

/// The handling of conditional request headers by a write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Conditions {
    /// The operation evaluates them.
    Taken,
    /// The operation would ignore them, so requests with them are rejected.
    Refused,
}

/// The task that runs an operation.
#[derive(Clone, Copy)]
enum Task {
    /// The connection's task: the operation is cancelled if the client disconnects.
    OfConnection,
    /// A separate task: the operation runs to completion.
    Own,
}

/// Properties of an operation from the OpenAPI document.
pub(super) struct OperationInfo {
    pub(super) id: &'static str,
    /// Names of the query parameters.
    pub(super) parameters: Vec<String>,
    pub(super) conditions: Conditions,
}

impl Operation {
    pub(super) fn new(
        inner: BoxEndpoint<'static>,
        OperationInfo { id, parameters, conditions }: OperationInfo,
        method: &Method,
        metrics: &Metrics,
    ) -> Self {
        let task = if method.is_safe() { Task::OfConnection } else { Task::Own };
        // A patch that accepts a condition on the state of a resource returns the new state.
        let is_patch = *method == Method::PATCH && conditions == Conditions::Taken;
        let tagging = if method.is_safe() || is_patch { TagPolicy::All } else { TagPolicy::Existing };
        Self { inner: Arc::new(inner), id, parameters, task, conditions, tagging, series: metrics.series(id) }
    }

    async fn run(&self, mut request: Request) -> poem::Result<Response> {
        // No resource name contains NUL, and stores cannot hold it.
        if request.uri().path().contains("%00") {
            return Err(ApiError::unreadable_path().into());
        }
        if matches!(self.task, Task::Own)
            && self.conditions == Conditions::Refused
            && let Some(refused) = conditions::unsupported_error(request.headers())
        {
            return Err(refused.into());
        }
        let served = request.headers().contains_key(KEY_HEADER).then(IdempotencySlot::default);
        if let Some(served) = &served {
            request.set_data(served.clone());
        }
        let inner = Arc::clone(&self.inner);
        let id = self.id;
        let work = async move {
            let outcome = AssertUnwindSafe(inner.call(request)).catch_unwind().await;
            let mut outcome = outcome.unwrap_or_else(|panic| Err(panic_error(id, panic.as_ref()).into()));
            let replayed = served.and_then(|served| served.replay_header());
            if let (Ok(response), Some(replayed)) = (&mut outcome, replayed) {
                response.headers_mut().insert(REPLAYED_HEADER, replayed);
            }
            outcome
        };
        match (self.task, Handle::try_current()) {
            (Task::Own, Ok(runtime)) => match runtime.spawn(work.in_current_span()).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping; try again")
                        .into())
                }
            },
            _ => work.await,
        }
    }
}

impl Endpoint for Operation {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let running = self.series.begin();
        request.set_data(BodyAccount::default());
        let asked = RequestConditions::from_request(&request);
        let parameters = ignored::parameters(request.uri().query(), &self.parameters);
        let fields = matches!(self.task, Task::Own).then(IgnoredFields::default);
        if let Some(fields) = &fields {
            request.set_data(fields.clone());
        }
        let response = outcome_response(self.run(request).await);
        let mut response = asked.represent(response, self.tagging).await;
        running.end(response.status().as_u16());
        let headers = response.headers_mut();
        if let Some(parameters) = parameters {
            headers.insert(ignored::PARAMETERS_HEADER, parameters);
        }
        if let Some(fields) = fields {
            fields.add_header(headers);
        }
        response.set_data(OperationId(self.id));
        Ok(response)
    }
}

/// Converts a panic to an internal error. The panic message is logged and not returned to the caller.
pub(crate) fn panic_error(operation: &str, panic: &(dyn Any + Send)) -> ApiError {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without text");
    ApiError::internal(format!("{operation} panicked: {text}"))
}
