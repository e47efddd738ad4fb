//! Tests of request parsing and its errors.

use data_encoding::BASE64;
use docs_model::{
    BoundedText, Certificate, MAX_SPEC_TEXT, OpenApiSpecSlug, OrEmpty, Patch, SamlEntityId, SpecSource,
    TextError, Timestamp,
    error::{Error, ErrorKind},
};
use serde::Deserialize;
use serde_json::json;

#[test]
fn bounded_text_enforces_length_limits_in_characters() {
    assert!(BoundedText::<2, 5>::new("äöüßx").is_ok(), "characters count, not bytes");
    assert_eq!(BoundedText::<2, 5>::new("abcdef"), Err(TextError::TooLong { max: 5, has: 6 }));
    assert_eq!(BoundedText::<2, 5>::new("a"), Err(TextError::TooShort { min: 2, has: 1 }));
    assert_eq!(BoundedText::<0, 5>::new("a\0"), Err(TextError::Nul));
}

#[test]
fn patch_distinguishes_absent_null_and_value() {
    #[derive(Deserialize)]
    struct Change {
        #[serde(default)]
        field: Patch<String>,
    }
    let parse = |json| serde_json::from_str::<Change>(json).expect("parses").field;
    assert_eq!(parse("{}"), Patch::Keep);
    assert_eq!(parse(r#"{"field":null}"#), Patch::Clear);
    assert_eq!(parse(r#"{"field":"x"}"#), Patch::Set("x".to_owned()));
}

#[test]
fn later_than_returns_a_strictly_later_timestamp() {
    let at = |text: &str| serde_json::from_str::<Timestamp>(&format!("\"{text}\"")).expect("parses");
    let (one, two) = (at("2026-01-31T12:00:00.000Z"), at("2026-01-31T12:00:00.001Z"));
    assert_eq!(two.later_than(one), two);
    assert_eq!(one.later_than(one), two);
    assert_eq!(one.later_than(two), at("2026-01-31T12:00:00.002Z"));
}

#[test]
fn a_timestamp_is_utc_with_milliseconds() {
    let at: Timestamp = serde_json::from_str(r#""2026-01-31T13:00:00.1239+01:00""#).expect("parses");
    assert_eq!(at.to_string(), "2026-01-31T12:00:00.123Z");
    assert!(serde_json::from_str::<Timestamp>(r#""yesterday""#).is_err());
}

#[test]
fn a_slug_is_words_with_one_dash_between_them() {
    for right in ["a", "pets", "pet-store-2", "0", "PetStore-A", &"a".repeat(100)] {
        assert!(OpenApiSpecSlug::new(right).is_ok(), "{right}");
    }
    for wrong in ["", "-", "a-", "-a", "a--b", "ä", "a_b", "a b", &"a".repeat(101)] {
        assert!(OpenApiSpecSlug::new(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn spec_source_is_either_a_url_or_a_text() {
    let read = |value| serde_json::from_value::<SpecSource>(value).map_err(|error| error.to_string());
    assert_eq!(read(json!({ "text": "a" })), Ok(SpecSource::Text("a".to_owned())));
    assert!(matches!(read(json!({ "url": "https://a.example/x.json" })), Ok(SpecSource::Url(_))));
    for (wrong, why) in [
        (json!({}), "must have `url`"),
        (json!({ "text": "" }), "`text` must not be empty"),
        (json!({ "text": "a", "url": "https://a.example" }), "not both"),
        (json!({ "url": "ftp://a.example" }), "url"),
        (json!({ "text": null }), "must have `url`"),
        (json!({ "text": "a".repeat(MAX_SPEC_TEXT + 1) }), "must be at most"),
    ] {
        let told = read(wrong).expect_err("refused");
        assert!(told.contains(why), "{told}");
    }
}

/// Returns a DER sequence with the given content.
fn sequence(inside: &[u8]) -> Vec<u8> {
    let length = u16::try_from(inside.len()).expect("short");
    let mut der = vec![0x30, 0x82];
    der.extend(length.to_be_bytes());
    der.extend(inside);
    der
}

#[test]
fn a_certificate_is_pem_or_base64_of_der() {
    let der = sequence(&[sequence(&[2, 1, 1]), sequence(&[6, 1, 1])].concat());
    let plain = BASE64.encode(&der);
    let (start, end) = plain.split_at(4);
    let framed = |body: &str| format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n");
    for right in
        [plain.clone(), format!("{start}\r\n{end}\n"), framed(&plain), framed(&format!("{start}\n{end}"))]
    {
        assert!(Certificate::new(right.clone()).is_ok(), "{right}");
    }
    let key = framed(&plain).replace("CERTIFICATE", "PRIVATE KEY");
    let longer = BASE64.encode(&[der.clone(), vec![0]].concat());
    let shorter = BASE64.encode(&der[..der.len() - 1]);
    let flat = BASE64.encode(&sequence(&[2, 1, 1]));
    let open = format!("-----BEGIN CERTIFICATE-----\n{plain}");
    let two = framed(&plain).repeat(2);
    for wrong in ["", "x", "ä", "MIIB", &plain[1..], &key, &longer, &shorter, &flat, &open, &two, &framed("")]
    {
        assert!(Certificate::new(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn empty_string_deserializes_to_none() {
    let parse = |json| serde_json::from_str::<OrEmpty<SamlEntityId>>(json);
    assert_eq!(parse(r#""""#).expect("parses"), OrEmpty(None));
    assert_eq!(parse(r#""x""#).expect("parses"), OrEmpty(SamlEntityId::new("x").ok()));
    assert!(parse(r#"" ""#).is_err() && parse(r#"" x""#).is_err() && parse(r#""a\u0000b""#).is_err());
    assert!(parse("5").is_err() && parse(&format!("\"{}\"", "x".repeat(1025))).is_err());
}

#[test]
fn only_invalid_request_errors_have_a_field() {
    assert_eq!(Error::invalid("limit", "must be at most 1000").field(), Some("limit"));
    assert_eq!(Error::new(ErrorKind::Invalid, "the repository is empty").field(), None);
    let missing = Error::not_found("space").prefix_field("changes[0]");
    assert_eq!((missing.field(), missing.message()), (None, "no such space"));
    let other = Error::invalid("limit", "is odd").with_message("try again");
    assert_eq!((other.field(), other.message()), (None, "try again"));
}
