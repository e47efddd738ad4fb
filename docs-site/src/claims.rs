//! Unsigned visitor claims from cookies and URL parameters. They are not authenticated, so they affect only
//! conditions on unsigned claims.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::{cookies::PUBLIC_COOKIE, request::SiteRequest};

/// The prefix of URL parameters that set a claim.
const PARAMETER: &str = "visitor.";
/// The maximum size in bytes of the claims of one visitor, as JSON.
const MAX_CLAIMS: usize = 3 * 1024;
/// The maximum number of segments in the path of a claim.
const MAX_PATH: usize = 8;
/// Characters that are percent-encoded in a cookie value.
const WRITTEN_OUT: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b',').add(b';').add(b'\\').add(b'%');

/// Returns `true` if a URL parameter sets a claim.
pub(crate) fn is_claim(parameter: &str) -> bool {
    parameter.starts_with(PARAMETER)
}

/// Returns the claims in a request. URL parameters take precedence over cookies, and later cookies over earlier ones.
/// Malformed claims are ignored. If the claims exceed [`MAX_CLAIMS`], all of them are discarded.
pub(crate) fn claims(asked: &SiteRequest<'_>) -> Map<String, Value> {
    let mut all = Map::new();
    for (_, value) in asked.cookies().filter(|(name, _)| name.starts_with(PUBLIC_COOKIE)) {
        let text = percent_decode_str(value).decode_utf8_lossy();
        if let Ok(Value::Object(claims)) = serde_json::from_str(&text) {
            all.extend(claims);
        }
    }
    for (name, text) in asked.parameters() {
        if let Some(path) = name.strip_prefix(PARAMETER)
            && let Some(value) = parse_value(&text)
        {
            insert_claim(&mut all, path, value);
        }
    }
    if claims_json(&all).len() > MAX_CLAIMS { Map::new() } else { all }
}

/// Encodes claims as a cookie value.
pub(crate) fn encode_claims(claims: &Map<String, Value>) -> String {
    utf8_percent_encode(&claims_json(claims), WRITTEN_OUT).to_string()
}

fn claims_json(claims: &Map<String, Value>) -> String {
    serde_json::to_string(claims).unwrap_or_default()
}

/// Parses the value of a parameter. Returns `None` for `undefined`.
fn parse_value(text: &str) -> Option<Value> {
    match serde_json::from_str(text) {
        _ if text == "undefined" => None,
        // A quoted value is a string that includes the quotation marks.
        Ok(Value::String(_)) | Err(_) => Some(Value::String(text.to_owned())),
        Ok(value) => Some(value),
    }
}

/// Inserts a value at a dotted path.
fn insert_claim(claims: &mut Map<String, Value>, path: &str, value: Value) {
    let mut names: Vec<&str> = path.split('.').collect();
    let is_path = names.len() <= MAX_PATH && names.iter().all(|name| !name.is_empty());
    let Some(last) = names.pop().filter(|_| is_path) else { return };
    let mut at = claims;
    for name in names {
        let inner = at.entry(name).or_insert_with(|| Value::Object(Map::new()));
        if !inner.is_object() {
            *inner = Value::Object(Map::new());
        }
        let Value::Object(inner) = inner else { return };
        at = inner;
    }
    at.insert(last.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use poem::Request;
    use serde_json::json;
    use url::Url;

    use super::*;
    use crate::request::Base;

    #[test]
    fn url_claims_override_cookies_and_malformed_ones_are_ignored() {
        let base = Base::new(
            Url::parse("http://localhost").expect("a base"),
            &docs_core::platform::Urls::new("http://localhost"),
        );
        let read = |query: &str, cookie: &str| {
            let uri = format!("/a?{query}").parse().expect("a target");
            let request = Request::builder().uri(uri).header("host", "localhost").header("cookie", cookie);
            Value::Object(claims(&SiteRequest::new(&request.finish(), &base)))
        };
        let cookies = "x=1; gitbook-visitor-public={\"a\":1,\"b\":1}; gitbook-visitor-public-flags=%7B%22b%22%3A2%7D; \
                       gitbook-visitor-public-bad=no; gitbook-visitor-token={\"c\":1}";
        assert_eq!(read("q=1", cookies), json!({ "a": 1, "b": 2 }));
        assert_eq!(
            read(
                "visitor.a=true&visitor.c.d=x%20y&visitor.c.e=[1]&visitor.f=undefined&visitor.=1&visitor.g..h=1",
                cookies
            ),
            json!({ "a": true, "b": 2, "c": { "d": "x y", "e": [1] } })
        );
        assert_eq!(read("visitor.a.b=1", cookies), json!({ "a": { "b": 1 }, "b": 2 }));
        assert_eq!(read(&format!("visitor.a={}", "x".repeat(MAX_CLAIMS)), cookies), json!({}));
        assert_eq!(read("visitor.1.2.3.4.5.6.7.8.9=1", ""), json!({}));
        let Value::Object(some) = json!({ "a": "ü;, \"%" }) else { return };
        assert_eq!(read("", &format!("{PUBLIC_COOKIE}={}", encode_claims(&some))), json!({ "a": "ü;, \"%" }));
    }
}
