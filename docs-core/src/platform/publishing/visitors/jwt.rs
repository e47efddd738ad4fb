//! JSON Web Tokens (RFC 7519) in compact form, with HS256 as the only algorithm.
//!
//! A token whose header does not specify HS256 is rejected regardless of its signature. Duplicate member names in an
//! object are rejected as well, so that no two implementations can interpret a token differently.

use std::fmt;

use chrono::TimeDelta;
use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use sha2::Sha256;

use crate::model::Timestamp;

/// The current time, and the clock that set the timestamps of a token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// The platform signed the token, so its timestamps are exact.
    Own(Timestamp),
    /// A site's sign-in backend signed the token, so its timestamps are accepted within [`CLOCK_LEEWAY`].
    Foreign(Timestamp),
}

impl Clock {
    fn now_and_leeway(self) -> (f64, f64) {
        match self {
            Self::Own(now) => (seconds(now), 0.0),
            Self::Foreign(now) => (seconds(now), CLOCK_LEEWAY.as_seconds_f64()),
        }
    }
}

/// Maximum size of a token, in bytes. It fits into the header limits of most servers.
pub(crate) const MAX_TOKEN: usize = 8 * 1024;
/// Maximum accepted clock skew between a site's sign-in backend and the server. A token is valid this long before its
/// `nbf` and after its `exp`.
pub(in crate::platform) const CLOCK_LEEWAY: TimeDelta = TimeDelta::minutes(1);
/// The header of tokens signed by the platform.
const JWT_HEADER: &str = r#"{"alg":"HS256"}"#;

/// The reason for rejecting a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum JwtError {
    #[error("it is too long")]
    TooLong,
    #[error("it is not a signed token")]
    Malformed,
    #[error("it is not signed with HS256")]
    Algorithm,
    #[error("its signature does not match the key of the site")]
    Signature,
    #[error("it has expired")]
    Expired,
    #[error("it is not valid yet")]
    TooEarly,
}

pub(crate) fn sign(key: &[u8], claims: &Map<String, Value>) -> String {
    let claims = Value::Object(claims.clone()).to_string();
    let signed = format!(
        "{}.{}",
        BASE64URL_NOPAD.encode(JWT_HEADER.as_bytes()),
        BASE64URL_NOPAD.encode(claims.as_bytes())
    );
    let signature = BASE64URL_NOPAD.encode(&mac(key, &signed).finalize().into_bytes());
    format!("{signed}.{signature}")
}

/// Verifies a token of at most `most` bytes. Returns its claims if it is currently valid.
///
/// A token without `exp` does not expire. The caller decides which lifetimes it accepts.
///
/// # Errors
///
/// [`JwtError`]. The claims are not parsed before the signature is verified.
pub(crate) fn verify(
    key: &[u8],
    token: &str,
    most: usize,
    clock: Clock,
) -> Result<Map<String, Value>, JwtError> {
    if token.len() > most {
        return Err(JwtError::TooLong);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(JwtError::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(JwtError::Malformed)?;
    let header = decode_object(header)?;
    // Critical extensions are not supported (RFC 7515 4.1.11).
    if header.contains_key("crit") {
        return Err(JwtError::Malformed);
    }
    if header.get("alg").and_then(Value::as_str) != Some("HS256") {
        return Err(JwtError::Algorithm);
    }
    let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).map_err(|_| JwtError::Malformed)?;
    mac(key, signed).verify_slice(&signature).map_err(|_| JwtError::Signature)?;
    let claims = decode_object(claims)?;
    let (now, leeway) = clock.now_and_leeway();
    if time_claim(&claims, "exp")?.is_some_and(|end| now >= end + leeway) {
        return Err(JwtError::Expired);
    }
    if time_claim(&claims, "nbf")?.is_some_and(|start| now + leeway < start) {
        return Err(JwtError::TooEarly);
    }
    Ok(claims)
}

/// Returns the expiry of claims in seconds since the epoch, including leeway, or `None` without `exp`.
pub(crate) fn expiry(claims: &Map<String, Value>, clock: Clock) -> Option<i64> {
    let (_, leeway) = clock.now_and_leeway();
    claims.get("exp").and_then(Value::as_f64).map(|end| (end + leeway) as i64)
}

/// Converts to seconds since the epoch.
#[expect(clippy::cast_precision_loss, reason = "milliseconds fit 53 bits for the next 285,000 years")]
fn seconds(at: Timestamp) -> f64 {
    at.time().timestamp_millis() as f64 / 1_000.0
}

/// Reads a time claim in seconds since the epoch, possibly fractional (RFC 7519, section 2, NumericDate).
fn time_claim(claims: &Map<String, Value>, name: &str) -> Result<Option<f64>, JwtError> {
    match claims.get(name) {
        None => Ok(None),
        Some(Value::Number(at)) => at.as_f64().map(Some).ok_or(JwtError::Malformed),
        Some(_) => Err(JwtError::Malformed),
    }
}

fn mac(key: &[u8], signed: &str) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)
        .unwrap_or_else(|_| unreachable!("HMAC accepts keys of any length"));
    mac.update(signed.as_bytes());
    mac
}

fn decode_object(part: &str) -> Result<Map<String, Value>, JwtError> {
    let bytes = BASE64URL_NOPAD.decode(part.as_bytes()).map_err(|_| JwtError::Malformed)?;
    match serde_json::from_slice(&bytes) {
        Ok(UniqueKeyJson(Value::Object(object))) => Ok(object),
        _ => Err(JwtError::Malformed),
    }
}

/// A JSON value whose objects have no duplicate member names.
struct UniqueKeyJson(Value);

impl<'de> Deserialize<'de> for UniqueKeyJson {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueKeyVisitor).map(Self)
    }
}

struct UniqueKeyVisitor;

impl<'de> Visitor<'de> for UniqueKeyVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without duplicate names")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(UniqueKeyJson(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, UniqueKeyJson(value))) = members.next_entry::<String, UniqueKeyJson>()? {
            if object.insert(name, value).is_some() {
                return Err(A::Error::custom("duplicate name in an object"));
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};
    use serde_json::json;

    use super::*;

    fn verify(key: &[u8], token: &str, now: Timestamp) -> Result<Map<String, Value>, JwtError> {
        super::verify(key, token, MAX_TOKEN, Clock::Own(now))
    }

    fn verify_foreign(token: &str, now: Timestamp) -> Result<(), JwtError> {
        super::verify(KEY, token, MAX_TOKEN, Clock::Foreign(now)).map(drop)
    }

    const KEY: &[u8] = b"a signing key of a site";

    fn timestamp(seconds: i64) -> Timestamp {
        Timestamp::new(DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds))
    }

    fn claims(json: Value) -> Map<String, Value> {
        json.as_object().expect("an object").clone()
    }

    /// Builds a correctly signed token with arbitrary parts.
    fn token(header: &str, claims: &str) -> String {
        let encoded = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
        let signed = format!("{}.{}", encoded(header), encoded(claims));
        let signature = BASE64URL_NOPAD.encode(&mac(KEY, &signed).finalize().into_bytes());
        format!("{signed}.{signature}")
    }

    #[test]
    fn token_verifies_only_with_its_signing_key() {
        let claims = claims(json!({ "plan": "pro", "exp": 100.5, "nested": { "a": [1, null, true] } }));
        let token = sign(KEY, &claims);
        assert_eq!(verify(KEY, &token, timestamp(100)), Ok(claims));
        assert_eq!(verify(b"the key of another site", &token, timestamp(100)), Err(JwtError::Signature));
        assert_eq!(verify(b"", &token, timestamp(100)), Err(JwtError::Signature));
    }

    #[test]
    fn rfc_7515_example_token_is_verified() {
        // The example in RFC 7515 A.1, which states its key as base64url.
        let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        let key = BASE64URL_NOPAD.decode(key.as_bytes()).expect("base64url");
        let token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let expected =
            claims(json!({ "iss": "joe", "exp": 1_300_819_380, "http://example.com/is_root": true }));
        assert_eq!(verify(&key, token, timestamp(1_300_819_379)), Ok(expected));
        assert_eq!(verify(&key, token, timestamp(1_300_819_380)), Err(JwtError::Expired));
    }

    #[test]
    fn invalid_tokens_and_other_algorithms_are_refused() {
        let right = r#"{"alg":"HS256"}"#;
        let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(500), "]".repeat(500));
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(MAX_TOKEN));
        for (header, claims, why) in [
            (r#"{"alg":"none"}"#, "{}", JwtError::Algorithm),
            (r#"{"alg":"None"}"#, "{}", JwtError::Algorithm),
            (r#"{"alg":"hs256"}"#, "{}", JwtError::Algorithm),
            (r#"{"alg":"HS384"}"#, "{}", JwtError::Algorithm),
            (r#"{"alg":"RS256"}"#, "{}", JwtError::Algorithm),
            (r#"{"alg":["HS256"]}"#, "{}", JwtError::Algorithm),
            (r#"{"typ":"JWT"}"#, "{}", JwtError::Algorithm),
            (r#"{"alg":"HS256","alg":"HS256"}"#, "{}", JwtError::Malformed),
            (r#"{"alg":"HS256","crit":["exp"]}"#, "{}", JwtError::Malformed),
            (r#"["HS256"]"#, "{}", JwtError::Malformed),
            (right, r#"{"a":1,"a":1}"#, JwtError::Malformed),
            (right, r#"{"a":{"b":[{"c":1,"c":2}]}}"#, JwtError::Malformed),
            (right, r#"{"exp":"tomorrow"}"#, JwtError::Malformed),
            (right, r#"{"exp":null}"#, JwtError::Malformed),
            (right, r#"{"nbf":{}}"#, JwtError::Malformed),
            (right, "[]", JwtError::Malformed),
            (right, "{", JwtError::Malformed),
            (right, "", JwtError::Malformed),
            (right, &deep, JwtError::Malformed),
            (right, &long, JwtError::TooLong),
            (right, r#"{"exp":1000}"#, JwtError::Expired),
            (right, r#"{"exp":999.9}"#, JwtError::Expired),
            (right, r#"{"exp":-1e300}"#, JwtError::Expired),
            (right, r#"{"nbf":1001}"#, JwtError::TooEarly),
            (right, r#"{"nbf":1e300}"#, JwtError::TooEarly),
        ] {
            assert_eq!(
                verify(KEY, &token(header, claims), timestamp(1_000)),
                Err(why),
                "{header} {claims:.40}"
            );
        }
        let right = token(right, r#"{"exp":1001,"nbf":1000,"iat":5000}"#);
        assert!(verify(KEY, &right, timestamp(1_000)).is_ok());
        let parts: Vec<&str> = right.split('.').collect();
        for wrong in [
            String::new(),
            "..".to_owned(),
            parts[..2].join("."),
            format!("{}.{}.", parts[0], parts[1]),
            format!("{right}="),
            format!("{right}.{}", parts[2]),
            format!("{} ", right),
            right.replace('.', ". "),
        ] {
            assert!(verify(KEY, &wrong, timestamp(1_000)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn clock_of_a_sign_in_may_differ_by_the_leeway() {
        let header = r#"{"alg":"HS256"}"#;
        let token = token(header, r#"{"nbf":1000,"exp":2000}"#);
        for (now, expected) in [
            (939, Err(JwtError::TooEarly)),
            (940, Ok(())),
            (2_059, Ok(())),
            (2_060, Err(JwtError::Expired)),
            (2_061, Err(JwtError::Expired)),
        ] {
            assert_eq!(verify_foreign(&token, timestamp(now)), expected, "{now}");
        }
        let claims = claims(json!({ "exp": 2_000.5 }));
        let ends = |clock: fn(Timestamp) -> Clock| expiry(&claims, clock(timestamp(0)));
        assert_eq!((ends(Clock::Own), ends(Clock::Foreign)), (Some(2_000), Some(2_060)));
    }

    #[test]
    fn changing_any_byte_invalidates_the_token() {
        let right = sign(KEY, &claims(json!({ "plan": "pro" })));
        for at_byte in 0..right.len() {
            for with in *b"A_9." {
                let mut bytes = right.clone().into_bytes();
                if bytes[at_byte] == with {
                    continue;
                }
                bytes[at_byte] = with;
                let wrong = String::from_utf8(bytes).expect("ASCII");
                assert!(verify(KEY, &wrong, timestamp(0)).is_err(), "{wrong}");
            }
        }
    }
}
