//! Request bodies: [`Strict`], and [`Optional`] for operations that accept requests without a body.

use poem::{
    Body, Request, RequestBody,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaMediaType, MetaRequest, Registry},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::{
    budget::{AnonymousBodyLimit, BodyAccount, collect},
    chunks::announced_length,
    error::ApiError,
    fault,
    ignored::IgnoredFields,
    reply::JSON,
    schema::{self, Direction},
};

/// Maximum size of a request body in bytes, attached as request data. Defaults to [`BodyLimit::DEFAULT`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BodyLimit(pub usize);

impl BodyLimit {
    /// The default limit.
    pub const DEFAULT: Self = Self(10 * 1024 * 1024);

    /// Returns the limit of a request: at most the [`AnonymousBodyLimit`] unless the request has a user token.
    #[must_use]
    pub fn for_request(request: &Request) -> Self {
        let Self(limit) = request.data().copied().unwrap_or(Self::DEFAULT);
        if request.data::<BodyAccount>().is_none_or(BodyAccount::is_personal) {
            return Self(limit);
        }
        let AnonymousBodyLimit(least) = request.data().copied().unwrap_or(AnonymousBodyLimit::DEFAULT);
        Self(limit.min(least))
    }
}

/// A required JSON body, parsed by serde.
///
/// Unknown fields are ignored and listed in the response header `Ignored-Fields`. A body is rejected as follows:
///
/// | body | status | message |
/// |---|---|---|
/// | missing | 400 | a JSON object is needed |
/// | another media type | 415 | the actual and the accepted media type |
/// | longer than [`BodyLimit`] | 413 | the limit |
/// | malformed JSON | 400 | line and column |
/// | a wrong, missing or repeated field | 400 | the path first: `changes[0].title: is required` |
/// | a list in place of an object | 400 | the path first: `position: must be an object, is a list` |
/// | the NUL character | 400 | line and column; stores cannot store it |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strict<T>(pub T);

/// An optional JSON body. A missing body is the default value of its type. Otherwise the same as [`Strict`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Optional<T>(pub T);

impl<'a, T: DeserializeOwned + JsonSchema + Send + 'static> ApiExtractor<'a> for Strict<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        schema::register::<T>(registry, Direction::Request);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(describe_body::<T>(BodyPresence::Required))
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        match read(request, body).await? {
            Some(value) => Ok(Self(value)),
            None => Err(ApiError::invalid("the body: is required; send a JSON object").into()),
        }
    }
}

impl<'a, T: DeserializeOwned + Default + JsonSchema + Send + 'static> ApiExtractor<'a> for Optional<T> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn register(registry: &mut Registry) {
        schema::register::<T>(registry, Direction::Request);
    }

    fn request_meta() -> Option<MetaRequest> {
        Some(describe_body::<T>(BodyPresence::Optional))
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        _: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self(read(request, body).await?.unwrap_or_default()))
    }
}

/// Reads a body of at most [`BodyLimit`] bytes, for handlers whose body is not JSON.
///
/// # Errors
///
/// 413 for a longer body, 400 if the connection ends before the body does, 503 if the
/// [`BodyBudget`](super::budget::BodyBudget) attached to the request is exhausted.
pub async fn bytes(request: &Request, body: Body) -> Result<Vec<u8>, ApiError> {
    let BodyLimit(limit) = BodyLimit::for_request(request);
    if announced_length(request).is_some_and(|length| length > limit as u64) {
        return Err(ApiError::too_large(limit));
    }
    collect(request, body, limit).await
}

enum BodyPresence {
    Required,
    Optional,
}

fn describe_body<T: JsonSchema + 'static>(need: BodyPresence) -> MetaRequest {
    MetaRequest {
        description: None,
        content: vec![MetaMediaType {
            content_type: JSON,
            schema: schema::reference::<T>(Direction::Request),
        }],
        required: matches!(need, BodyPresence::Required),
    }
}

/// Reads and parses a body, or returns `None` if it is missing.
async fn read<T: DeserializeOwned + JsonSchema + 'static>(
    request: &Request,
    body: &mut RequestBody,
) -> Result<Option<T>, ApiError> {
    let Some(bytes) = json(request, body).await? else { return Ok(None) };
    // serde would read the list items as the fields of an object, in order.
    if let Some(place) = IgnoredFields::note::<T>(request, &bytes) {
        return Err(ApiError::invalid(match place.as_str() {
            "" => "the body: must be a JSON object, is a list".to_owned(),
            place => format!("{}: must be an object, is a list", fault::plain_message(place)),
        }));
    }
    parse(&bytes).map(Some)
}

/// Reads a JSON body, or returns `None` if it is missing.
async fn json(request: &Request, body: &mut RequestBody) -> Result<Option<Vec<u8>>, ApiError> {
    let body = body.take().map_err(ApiError::internal)?;
    // Some clients send a media type even without a body, so check first if the body is empty.
    if body.is_empty() {
        return Ok(None);
    }
    let media_type =
        request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    if let Some(media_type) = media_type.filter(|media_type| !is_json(media_type)) {
        // The length of a chunked body is unknown. Reading with a limit of zero bytes shows if it is empty.
        let is_empty = body.into_bytes_limit(0).await.is_ok();
        return if is_empty { Ok(None) } else { Err(unsupported_error(media_type)) };
    }
    let bytes = bytes(request, body).await?;
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    if media_type.is_none() {
        return Err(unsupported_error("none"));
    }
    if let Some(position) = escaped_nul(&bytes) {
        let (line, column) = line_and_column(&bytes, position);
        return Err(ApiError::invalid(format!(
            "the body: must not contain the NUL character (`\\u0000`), which is at line {line} column \
             {column}"
        )));
    }
    Ok(Some(bytes))
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = parse_with_path(&mut deserializer).map_err(|error| {
        let again =
            |other: &[u8]| parse_with_path::<T>(&mut serde_json::Deserializer::from_slice(other)).err();
        ApiError::invalid(fault::rejection_message(&error, bytes, &again))
    })?;
    deserializer.end().map_err(|error| ApiError::invalid(format!("the body is not valid JSON: {error}")))?;
    Ok(value)
}

/// Parses a value, and reports errors with their path. All request types are parsed here, so that each parser is
/// compiled only once.
#[inline(never)]
fn parse_with_path<T: DeserializeOwned>(
    json: &mut serde_json::Deserializer<serde_json::de::SliceRead<'_>>,
) -> Result<T, fault::JsonPathError> {
    serde_path_to_error::deserialize(json)
}

/// Returns `true` if a media type is JSON in UTF-8, the only encoding that JSON permits.
fn is_json(media_type: &str) -> bool {
    let mut parts = media_type.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(JSON));
    is_json
        && parts.all(|parameter| match parameter.split_once('=') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
                value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            _ => true,
        })
}

fn unsupported_error(media_type: &str) -> ApiError {
    ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        format!("Content-Type: must be `{JSON}`, is `{}`", fault::plain_message(media_type)),
    )
}

/// Returns the offset of an escaped NUL character in a JSON string.
///
/// In JSON, a backslash occurs only in strings and always begins an escape sequence. Therefore `\\u0000` is an escaped
/// backslash followed by plain text.
fn escaped_nul(json: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = json[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        if json[at..].starts_with(b"\\u0000") {
            return Some(at);
        }
        at = (at + 2).min(json.len());
    }
    None
}

fn line_and_column(text: &[u8], position: usize) -> (usize, usize) {
    let before = &text[..position];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_nul_is_distinguished_from_an_escaped_backslash() {
        assert_eq!(escaped_nul(br#"{"a":"x\u0000"}"#), Some(7));
        assert_eq!(escaped_nul(br#"{"a":"\\\u0000"}"#), Some(8));
        for fine in [&br#"{"a":"\\u0000"}"#[..], br#"{"a":"\u0001 u0000"}"#, br#"{"a":"\"#, b""] {
            assert_eq!(escaped_nul(fine), None, "{}", String::from_utf8_lossy(fine));
        }
        assert_eq!(line_and_column(b"{\n \"a\"", 4), (2, 3));
    }

    #[test]
    fn only_application_json_in_utf8_is_json() {
        for right in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
        {
            assert!(is_json(right), "{right}");
        }
        for wrong in ["text/json", "application/json; charset=latin1", "application/jsonp", "", "text/plain"]
        {
            assert!(!is_json(wrong), "{wrong}");
        }
    }

    #[test]
    fn parser_error_starts_with_the_field_path() {
        #[derive(Debug, serde::Deserialize)]
        #[expect(dead_code, reason = "only parsed")]
        struct TestBody {
            title: docs_core::model::SpaceTitle,
            list: Vec<TestBody>,
            mode: Option<docs_core::model::EditMode>,
        }
        let told = |json: &str| parse::<TestBody>(json.as_bytes()).expect_err(json).message().to_owned();
        assert_eq!(told("{}"), "title: is required");
        assert_eq!(told(r#"{"title":5}"#), "title: invalid type: integer `5`, expected a string");
        assert_eq!(told(r#"{"title":"a","list":[{"title":"a"}]}"#), "list[0].list: is required");
        assert_eq!(told(r#"{"title":"a","title":"b"}"#), "title: is a duplicate");
        assert_eq!(
            told(&format!(r#"{{"title":"{}"}}"#, "x".repeat(51))),
            "title: must be at most 50 characters, has 51"
        );
        assert!(told("{").starts_with("the body is not valid JSON: EOF"), "{}", told("{"));
        let name = r#"{"mode":5,"title":"a","list":[]}"#;
        assert_eq!(told(name), "mode: must be `live` or `locked`, as a string");
        let half = told(r#"{"title":"\ud83d","list":[]}"#);
        assert!(half.starts_with("the body is not valid JSON: "), "{half}");
        assert!(told(r#"{"title":"a","list":[]} x"#).contains("line 1 column"), "trailing text");
    }
}
