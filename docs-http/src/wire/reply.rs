//! Handler responses, with their status and their description in the OpenAPI document.

use poem::{
    IntoResponse, Response,
    http::{HeaderValue, StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    registry::{MetaHeader, MetaMediaType, MetaResponse, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
};
use schemars::JsonSchema;
use serde::Serialize;

pub use super::media_type::JSON;
use super::{
    error::{ApiError, ErrorBody},
    schema::{self, Direction},
};

/// The description of the 412 response in the OpenAPI document.
pub(crate) const UNMET_CONDITION: &str = "A condition failed; the message names the header";

/// 200 with a JSON body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<T>(pub T);

/// 200 with a JSON body, for an operation that can also respond with 412 if a condition fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditional<T>(pub T);

/// 201 with a JSON body and the URL of the new resource.
///
/// ```
/// use docs_http::wire::reply::Created;
/// let answer = Created::new("a space").with_location("https://docs.example/v1/spaces/abc");
/// # let _ = answer;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created<T> {
    body: T,
    location: Option<String>,
}

impl<T> Created<T> {
    /// Creates a response with the new resource.
    #[must_use]
    pub fn new(body: T) -> Self {
        Self { body, location: None }
    }

    /// Sets the `Location` header to the URL of the new resource.
    #[must_use]
    pub fn with_location(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }
}

/// A status without a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Empty<const STATUS: u16>;

/// 200 without a body.
pub type EmptyOk = Empty<200>;
/// 201 without a body.
pub type EmptyCreated = Empty<201>;
/// 204 without a body.
pub type NoContent = Empty<204>;

/// 204 for a started job. A `Link` header with the relation `status` contains the URL of the job.
///
/// ```
/// use docs_http::wire::reply::StartedJob;
/// let answer = StartedJob::new("https://docs.example/v1/spaces/abc/jobs/def");
/// # let _ = answer;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedJob {
    job: String,
}

impl StartedJob {
    /// Creates the response for the job at this URL.
    #[must_use]
    pub fn new(job: impl Into<String>) -> Self {
        Self { job: job.into() }
    }
}

/// The response to a deletion, which states whether the resource existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The resource existed and was deleted: 205.
    Deleted,
    /// The resource did not exist: 204.
    Absent,
}

impl<T: Serialize + Send> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        json_response(StatusCode::OK, &self.0).unwrap_or_else(IntoResponse::into_response)
    }
}

impl<T: JsonSchema + Serialize + Send + 'static> ApiResponse for Reply<T> {
    fn meta() -> MetaResponses {
        single_response(MetaResponse { content: json_content::<T>(), ..empty_meta(200, "Done") })
    }

    fn register(registry: &mut Registry) {
        schema::register::<T>(registry, Direction::Response);
    }
}

impl<T: Serialize + Send> IntoResponse for Conditional<T> {
    fn into_response(self) -> Response {
        Reply(self.0).into_response()
    }
}

impl<T: JsonSchema + Serialize + Send + 'static> ApiResponse for Conditional<T> {
    fn meta() -> MetaResponses {
        let mut responses = Reply::<T>::meta();
        let unmet = empty_meta(412, UNMET_CONDITION);
        responses.responses.push(MetaResponse { content: json_content::<ErrorBody>(), ..unmet });
        responses
    }

    fn register(registry: &mut Registry) {
        Reply::<T>::register(registry);
    }
}

impl<T: Serialize + Send> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let located = json_response(StatusCode::CREATED, &self.body).and_then(|mut response| {
            if let Some(location) = &self.location {
                let location = HeaderValue::from_str(location).map_err(ApiError::internal)?;
                response.headers_mut().insert(header::LOCATION, location);
            }
            Ok(response)
        });
        located.unwrap_or_else(IntoResponse::into_response)
    }
}

impl<T: JsonSchema + Serialize + Send + 'static> ApiResponse for Created<T> {
    fn meta() -> MetaResponses {
        let location = text_header("Location", "Address of the new resource");
        single_response(MetaResponse {
            content: json_content::<T>(),
            headers: vec![location],
            ..empty_meta(201, "Created")
        })
    }

    fn register(registry: &mut Registry) {
        schema::register::<T>(registry, Direction::Response);
    }
}

impl<const STATUS: u16> IntoResponse for Empty<STATUS> {
    fn into_response(self) -> Response {
        match StatusCode::from_u16(STATUS) {
            Ok(status) => status.into(),
            Err(error) => ApiError::internal(error).into_response(),
        }
    }
}

impl<const STATUS: u16> ApiResponse for Empty<STATUS> {
    fn meta() -> MetaResponses {
        single_response(empty_meta(STATUS, "Done; the response has no body"))
    }

    fn register(_: &mut Registry) {}
}

impl IntoResponse for StartedJob {
    fn into_response(self) -> Response {
        match HeaderValue::from_str(&format!("<{}>; rel=\"status\"", self.job)) {
            Ok(link) => {
                Response::builder().status(StatusCode::NO_CONTENT).header(header::LINK, link).finish()
            }
            Err(error) => ApiError::internal(error).into_response(),
        }
    }
}

impl ApiResponse for StartedJob {
    fn meta() -> MetaResponses {
        let link = text_header("Link", "Address of the started job, as `<address>; rel=\"status\"`");
        single_response(MetaResponse {
            headers: vec![link],
            ..empty_meta(204, "Started; the response has no body")
        })
    }

    fn register(_: &mut Registry) {}
}

impl IntoResponse for Deletion {
    fn into_response(self) -> Response {
        match self {
            Self::Deleted => StatusCode::RESET_CONTENT.into(),
            Self::Absent => StatusCode::NO_CONTENT.into(),
        }
    }
}

impl ApiResponse for Deletion {
    fn meta() -> MetaResponses {
        MetaResponses {
            responses: vec![empty_meta(204, "The resource did not exist"), empty_meta(205, "Deleted")],
        }
    }

    fn register(_: &mut Registry) {}
}

/// The OpenAPI description of a status without body and headers.
pub(crate) fn empty_meta(status: u16, description: &'static str) -> MetaResponse {
    MetaResponse { description, status: Some(status), status_range: None, content: vec![], headers: vec![] }
}

/// The OpenAPI description of a JSON body.
pub(crate) fn json_content<T: JsonSchema + 'static>() -> Vec<MetaMediaType> {
    vec![MetaMediaType { content_type: JSON, schema: schema::reference::<T>(Direction::Response) }]
}

/// The OpenAPI description of a text header.
pub(crate) fn text_header(name: &str, description: &str) -> MetaHeader {
    MetaHeader {
        name: name.to_owned(),
        description: Some(description.to_owned()),
        required: false,
        deprecated: false,
        schema: MetaSchemaRef::Inline(Box::new(MetaSchema::new("string"))),
    }
}

fn single_response(response: MetaResponse) -> MetaResponses {
    MetaResponses { responses: vec![response] }
}

fn json_response(status: StatusCode, body: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(body).map_err(ApiError::internal)?;
    Ok(Response::builder().status(status).content_type(JSON).body(body))
}
