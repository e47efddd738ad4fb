//! The `Prefer` header (RFC 7240).
//!
//! A handler whose response repeats a resource that the client may not need takes a [`ReturnPreference`] after the
//! actor, and returns [`ReturnPreference::apply`] of its response.

use poem::{
    IntoResponse, Request, RequestBody, Response,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ApiResponse, ExtractParamOptions,
    registry::{MetaHeader, MetaParamIn, MetaResponse, MetaResponses, MetaSchemaRef, Registry},
};

use crate::wire::{
    reply::{empty_meta, text_header},
    schema::{self, Direction},
};

/// The request header.
pub(crate) const PREFER: &str = "Prefer";

/// The description of the header in the OpenAPI document.
pub(crate) const DESCRIPTION: &str = "`return=minimal` omits the resource from the response, which is then 204. Other \
                                      preferences have no effect.";

/// The response header with the preferences that the server followed.
pub(crate) const APPLIED_HEADER: HeaderName = HeaderName::from_static("preference-applied");

/// The value of a preference for a response without a body.
const MINIMAL: &str = "return=minimal";

/// Returns the names, in lower case, and the values of all preferences of a request, in order.
pub(crate) fn preferences(headers: &HeaderMap) -> impl Iterator<Item = (String, &str)> {
    let lines = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|preference| {
        let preference = preference.split(';').next().unwrap_or_default().trim();
        let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
        (name.trim().to_ascii_lowercase(), value.trim().trim_matches('"'))
    })
}

/// The preference of a request for a response with or without the resource.
///
/// Declare it as a parameter after the actor and before the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReturnPreference {
    is_minimal: bool,
}

impl ReturnPreference {
    fn from_headers(headers: &HeaderMap) -> Self {
        // The first of several contradictory preferences counts.
        let wanted = preferences(headers).find(|(name, _)| name == "return");
        Self { is_minimal: wanted.is_some_and(|(_, value)| value.eq_ignore_ascii_case("minimal")) }
    }

    /// Returns a response in the preferred form.
    pub(crate) const fn apply<R>(self, response: R) -> Preferred<R> {
        Preferred { response, is_minimal: self.is_minimal }
    }
}

impl<'a> ApiExtractor<'a> for ReturnPreference {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = false;
    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(schema::reference::<String>(Direction::Request))
    }

    fn param_raw_type(&self) -> Option<&String> {
        None
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        Ok(Self::from_headers(request.headers()))
    }
}

/// A response that is sent without its body if the client prefers this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Preferred<R> {
    response: R,
    is_minimal: bool,
}

impl<R: IntoResponse> IntoResponse for Preferred<R> {
    fn into_response(self) -> Response {
        let mut response = self.response.into_response();
        if self.is_minimal && response.status().is_success() {
            response.set_status(StatusCode::NO_CONTENT);
            response.set_body(());
            response.headers_mut().remove(header::CONTENT_TYPE);
            response.headers_mut().insert(APPLIED_HEADER, HeaderValue::from_static(MINIMAL));
        }
        response
    }
}

impl<R: ApiResponse> ApiResponse for Preferred<R> {
    fn meta() -> MetaResponses {
        let mut meta = R::meta();
        let applied = text_header("Preference-Applied", "`return=minimal`");
        let repeated = meta.responses.first().into_iter().flat_map(|full| &full.headers);
        let headers = repeated.map(copy_header).chain([applied]).collect();
        let minimal = empty_meta(204, "Done; the response has no body, as the client preferred");
        meta.responses.push(MetaResponse { headers, ..minimal });
        meta
    }

    fn register(registry: &mut Registry) {
        R::register(registry);
    }
}

/// Returns a copy of the description of a text header.
fn copy_header(header: &MetaHeader) -> MetaHeader {
    text_header(&header.name, header.description.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_return_preference_of_a_request_counts() {
        for (values, is_minimal) in [
            (&[][..], false),
            (&["return=minimal"], true),
            (&["Return = \"Minimal\"; x=y"], true),
            (&["respond-async, return=minimal"], true),
            (&["return=representation", "return=minimal"], false),
            (&["return", "minimal"], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("prefer", HeaderValue::from_static(value));
            }
            assert_eq!(
                ReturnPreference::from_headers(&headers),
                ReturnPreference { is_minimal },
                "{values:?}"
            );
        }
    }
}
