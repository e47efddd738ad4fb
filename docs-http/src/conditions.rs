//! Conditional requests: `If-Match` and `If-None-Match` as defined by RFC 9110 (8.8.3, 13.1).
//!
//! A handler that changes or deletes one resource takes a [`Condition`] after the actor, and calls the operation on the
//! platform returned by [`Condition::platform`]. The condition is evaluated in the same transaction as the change.
//! Conditions of reads are evaluated in [`representation`](crate::representation).

use docs_core::{
    Platform,
    platform::{EntityTag, Precondition, Tags},
};
use poem::{
    FromRequest, Request, RequestBody,
    http::{HeaderMap, HeaderName, header},
};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    registry::{MetaParamIn, MetaSchema, MetaSchemaRef},
};

use crate::{encoding, wire::error::ApiError};

/// The header that an operation declares in the OpenAPI document to accept a condition.
pub(crate) const IF_MATCH: &str = "If-Match";

/// The description of the header in the OpenAPI document.
pub(crate) const DESCRIPTION: &str = "One or more values of `ETag` from earlier reads, separated by commas, \
                                      or `*`. If the resource has changed since, it stays unchanged and the \
                                      response is 412. `If-None-Match` is the opposite condition.";

/// Pattern of a list of tags, equivalent to the syntax accepted by [`read_tags`].
const PATTERN: &str = r#"^([\t ]*\*[\t ]*|[\t ,]*((W/)?"[^\u0000-\u0020"\u007f]*"[\t ]*(,[\t ,]*|$))*)$"#;

/// The tags in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TagList {
    /// `*`.
    Any,
    Tags(Vec<HeaderTag>),
}

/// A tag in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeaderTag {
    text: String,
    is_weak: bool,
}

impl TagList {
    /// Parses all occurrences of a header.
    ///
    /// # Errors
    ///
    /// 400 with the name of the header if it is not a list of tags.
    pub(crate) fn read(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, ApiError> {
        let mut listed = Vec::new();
        let mut lines = headers.get_all(name).iter().peekable();
        if lines.peek().is_none() {
            return Ok(None);
        }
        for line in lines {
            let line = line.as_bytes();
            if line.trim_ascii() == b"*" && headers.get_all(name).iter().count() == 1 {
                return Ok(Some(Self::Any));
            }
            if !read_tags(line, &mut listed) {
                let name = if *name == header::IF_MATCH { IF_MATCH } else { "If-None-Match" };
                return Err(ApiError::invalid(format!(
                    "{name}: must be `*`, or a comma-separated list of quoted entity tags"
                )));
            }
        }
        Ok(Some(Self::Tags(listed)))
    }

    /// Returns the first listed tag that identifies the state `tag`: the tag itself, or that of the compressed response
    /// if the client accepts compression. Weak tags match.
    pub(crate) fn find(&self, tag: &EntityTag, encoded: encoding::AcceptedEncoding) -> Option<EntityTag> {
        let Self::Tags(tags) = self else { return Some(tag.clone()) };
        let is_listed = |wanted: &EntityTag| tags.iter().any(|listed| listed.text == wanted.as_str());
        let forms = [Some(tag.clone()), encoded.is_gzip().then(|| encoding::encoded_tag(tag))];
        forms.into_iter().flatten().find(is_listed)
    }

    /// Returns the listed states for strong comparison, which ignores weak tags.
    pub(crate) fn strong(&self) -> Tags {
        self.states(|tag| !tag.is_weak)
    }

    /// Returns the listed states for weak comparison.
    fn weak(&self) -> Tags {
        self.states(|_| true)
    }

    fn states(&self, counts: impl Fn(&HeaderTag) -> bool) -> Tags {
        match self {
            Self::Any => Tags::Any,
            Self::Tags(tags) => {
                let counted = tags.iter().filter(|tag| counts(tag));
                Tags::OneOf(counted.map(|tag| encoding::plain_tag(&tag.text)).collect())
            }
        }
    }
}

/// Parses one line of a list of tags. Returns `false` if it is malformed.
fn read_tags(line: &[u8], tags: &mut Vec<HeaderTag>) -> bool {
    let mut rest = line;
    loop {
        // Empty list elements are ignored.
        while let Some((b' ' | b'\t' | b',', after)) = rest.split_first() {
            rest = after;
        }
        if rest.is_empty() {
            return true;
        }
        let (is_weak, quoted) = match rest.strip_prefix(b"W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let Some(text) = quoted.strip_prefix(b"\"") else { return false };
        let Some(end) = text.iter().position(|byte| *byte == b'"') else { return false };
        let (text, after) = text.split_at(end);
        if text.iter().any(|byte| *byte <= b' ' || *byte == 0x7f) {
            return false;
        }
        tags.push(HeaderTag { text: String::from_utf8_lossy(text).into_owned(), is_weak });
        rest = after[1..].trim_ascii_start();
        if !(rest.is_empty() || rest.starts_with(b",")) {
            return false;
        }
    }
}

/// The condition of a write request.
///
/// Declare it as a parameter after the actor and before the body.
///
/// # Errors
///
/// 400 with the name of the header if it is not a list of tags.
pub(crate) struct Condition(Option<Precondition>);

impl Condition {
    /// Returns the platform with this condition applied to its writes.
    pub(crate) fn platform(&self, platform: &Platform) -> Platform {
        match &self.0 {
            Some(condition) => platform.with_precondition(condition.clone()),
            None => platform.clone(),
        }
    }
}

/// Returns an error if the request contains a condition that the operation does not support.
pub(crate) fn unsupported_error(headers: &HeaderMap) -> Option<ApiError> {
    let of = |name: &HeaderName, shown: &str| {
        headers.contains_key(name).then(|| {
            ApiError::invalid(format!("{shown}: is not supported by this operation; omit the header"))
        })
    };
    of(&header::IF_MATCH, IF_MATCH).or_else(|| of(&header::IF_NONE_MATCH, "If-None-Match"))
}

impl<'a> ApiExtractor<'a> for Condition {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = false;
    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        let schema = MetaSchema { pattern: Some(PATTERN.to_owned()), ..MetaSchema::new("string") };
        Some(MetaSchemaRef::Inline(Box::new(schema)))
    }

    fn param_raw_type(&self) -> Option<&String> {
        None
    }

    async fn from_request(
        request: &'a Request,
        _: &mut RequestBody,
        _: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        let if_match = TagList::read(request.headers(), &header::IF_MATCH)?;
        let if_none_match = TagList::read(request.headers(), &header::IF_NONE_MATCH)?;
        let has_condition = if_match.is_some() || if_none_match.is_some();
        Ok(Self(has_condition.then(|| Precondition {
            if_match: if_match.map(|listed| listed.strong()),
            if_none_match: if_none_match.map(|listed| listed.weak()),
        })))
    }
}

/// The state that the client has cached.
pub(crate) struct ClientCache {
    listed: Option<TagList>,
    encoded: encoding::AcceptedEncoding,
}

impl ClientCache {
    /// Returns `true` if the client has cached the state with this tag.
    pub(crate) fn has(&self, tag: &EntityTag) -> bool {
        self.listed.as_ref().is_some_and(|listed| listed.find(tag, self.encoded).is_some())
    }
}

impl<'a> FromRequest<'a> for ClientCache {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> poem::Result<Self> {
        // A malformed header matches nothing.
        let listed = TagList::read(request.headers(), &header::IF_NONE_MATCH).ok().flatten();
        Ok(Self { listed, encoded: encoding::AcceptedEncoding::from_headers(request.headers()) })
    }
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    fn read(lines: &[&str]) -> Result<Option<TagList>, String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::IF_MATCH, HeaderValue::from_bytes(line.as_bytes()).expect("a header"));
        }
        TagList::read(&headers, &header::IF_MATCH).map_err(|error| error.message().to_owned())
    }

    fn tags(tags: &[(&str, bool)]) -> Result<Option<TagList>, String> {
        let tag = |(text, is_weak): &(&str, bool)| HeaderTag { text: (*text).to_owned(), is_weak: *is_weak };
        Ok(Some(TagList::Tags(tags.iter().map(tag).collect())))
    }

    #[test]
    fn etag_list_parses_as_in_rfc_9110() {
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["*"]), Ok(Some(TagList::Any)));
        assert_eq!(read(&[" * "]), Ok(Some(TagList::Any)));
        for (lines, expected) in [
            (&[r#""a""#][..], &[("a", false)][..]),
            (&[r#"W/"a""#], &[("a", true)]),
            (&[r#""a", W/"b" ,"c""#], &[("a", false), ("b", true), ("c", false)]),
            (&[r#", ,"a",,"#], &[("a", false)]),
            (&[r#""a""#, r#""b""#], &[("a", false), ("b", false)]),
            (&[r#""a,b""#], &[("a,b", false)]),
            (&[r#""""#], &[("", false)]),
            (&[r#""ü""#], &[("ü", false)]),
            (&[""], &[]),
        ] {
            assert_eq!(read(lines), tags(expected), "{lines:?}");
        }
        for wrong in [
            "a",
            "\"a",
            "a\"",
            "w/\"a\"",
            "W/a",
            "W/ \"a\"",
            "\"a\" \"b\"",
            "\"a b\"",
            "\"a\"b",
            "*, \"a\"",
            "**",
        ] {
            let message = read(&[wrong]).expect_err(wrong);
            assert!(message.starts_with("If-Match: must be `*`, or a comma-separated list"), "{message}");
        }
        assert!(read(&["*", "*"]).is_err(), "any is said once");
    }

    #[test]
    fn strong_tags_exclude_weak_ones_and_drop_the_encoding() {
        let listed = read(&[r#"W/"a", "b", "c-gzip""#]).expect("tags").expect("some");
        let tags = |texts: &[&str]| Tags::OneOf(texts.iter().copied().map(EntityTag::new).collect());
        assert_eq!(listed.strong(), tags(&["b", "c"]));
        assert_eq!(listed.weak(), tags(&["a", "b", "c"]));
        assert_eq!(TagList::Any.strong(), Tags::Any);
    }

    #[test]
    fn etag_matches_only_in_an_accepted_encoding() {
        let listed = read(&[r#"W/"a", "b-gzip""#]).expect("tags").expect("some");
        let (plain, gzip) = (encoding::AcceptedEncoding::Plain, encoding::AcceptedEncoding::Gzip);
        let (a, b) = (EntityTag::new("a"), EntityTag::new("b"));
        assert_eq!(listed.find(&a, plain), Some(a.clone()));
        assert_eq!(listed.find(&b, plain), None, "it does not take the form that it has");
        assert_eq!(listed.find(&b, gzip), Some(EntityTag::new("b-gzip")));
        assert_eq!(listed.find(&EntityTag::new("c"), gzip), None);
        assert_eq!(TagList::Any.find(&b, plain), Some(b));
    }
}
