//! Limits as types: text of a bounded length, and three-state fields of a change.

use std::{borrow::Cow, fmt, ops::Deref, str::FromStr};

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_normalization::char::is_combining_mark;

/// Text of `MIN` to `MAX` characters without NUL.
///
/// Declared once: enforced where it is parsed, shown in the schema.
///
/// ```
/// use docs_model::Text;
/// assert!(Text::<1, 3>::new("abc").is_ok());
/// assert_eq!(Text::<1, 3>::new("abcd").unwrap_err().to_string(), "must be at most 3 characters, has 4");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<const MIN: usize, const MAX: usize>(Box<str>);

/// Why text does not fit its type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextError {
    /// Fewer characters than the least.
    #[error("must be at least {min} characters, has {has}")]
    TooShort {
        /// The least number of characters.
        min: usize,
        /// How many there are.
        has: usize,
    },
    /// More characters than the most.
    #[error("must be at most {max} characters, has {has}")]
    TooLong {
        /// The most characters.
        max: usize,
        /// How many there are.
        has: usize,
    },
    /// The NUL character, which stores cannot keep.
    #[error("must not contain the NUL character")]
    Nul,
    /// Not of the form asked for.
    #[error("must be {0}")]
    Form(&'static str),
}

impl<const MIN: usize, const MAX: usize> Text<MIN, MAX> {
    /// Checks text.
    ///
    /// # Errors
    /// [`TextError`] when it is shorter than `MIN` or longer than `MAX` characters, or contains NUL.
    pub fn new(text: impl Into<Box<str>>) -> Result<Self, TextError> {
        let text = text.into();
        let has = text.chars().count();
        if has < MIN {
            Err(TextError::TooShort { min: MIN, has })
        } else if has > MAX {
            Err(TextError::TooLong { max: MAX, has })
        } else if text.contains('\0') {
            Err(TextError::Nul)
        } else {
            Ok(Self(text))
        }
    }

    /// The longest beginning of the text that fits; `None` when even that is too short.
    #[must_use]
    pub fn cut(text: &str) -> Option<Self> {
        let cut: String = text.chars().filter(|c| *c != '\0').take(MAX).collect();
        Self::new(cut).ok()
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> FromStr for Text<MIN, MAX> {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::new(text)
    }
}

impl<const MIN: usize, const MAX: usize> Deref for Text<MIN, MAX> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> fmt::Display for Text<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const MIN: usize, const MAX: usize> fmt::Debug for Text<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<const MIN: usize, const MAX: usize> Serialize for Text<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Text<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<const MIN: usize, const MAX: usize> JsonSchema for Text<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Text{MIN}to{MAX}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        if MIN == 0 {
            json_schema!({ "type": "string", "maxLength": MAX })
        } else {
            json_schema!({ "type": "string", "minLength": MIN, "maxLength": MAX })
        }
    }
}

/// A field of a change: kept when the request leaves it out, cleared by `null`, set by a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Patch<T> {
    /// The request does not mention the field.
    #[default]
    Keep,
    /// The request says `null`.
    Clear,
    /// The request gives a value.
    Set(T),
}

impl<T> Patch<T> {
    /// Tells whether the request leaves the field out.
    #[must_use]
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// The new value of an optional field.
    pub fn apply(self, old: Option<T>) -> Option<T> {
        match self {
            Self::Keep => old,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Patch{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(generator)
    }
}

/// Text with each NUL replaced by U+FFFD, as CommonMark does: stores cannot keep the character, and text that comes from
/// elsewhere is not refused for it.
#[must_use]
pub fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}

/// Reads a field that a change may leave out, and that cannot be removed: `null` is refused.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A point in time: UTC, to the millisecond, written as RFC 3339.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// The time, cut to milliseconds.
    #[must_use]
    pub fn new(at: DateTime<Utc>) -> Self {
        Self(at.trunc_subsecs(3))
    }

    /// The time.
    #[must_use]
    pub const fn time(self) -> DateTime<Utc> {
        self.0
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(at: DateTime<Utc>) -> Self {
        Self::new(at)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        DateTime::parse_from_rfc3339(&text).map(|at| Self::new(at.to_utc())).map_err(|_| {
            serde::de::Error::custom("must be a date and time like 2026-01-31T12:00:00Z (RFC 3339)")
        })
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Adds what is known of a form to a schema.
fn with(mut schema: Schema, form: serde_json::Value) -> Schema {
    if let (Some(schema), serde_json::Value::Object(form)) = (schema.as_object_mut(), form) {
        schema.extend(form);
    }
    schema
}

/// Declares text types that have a form besides a length.
macro_rules! formed_text {
    ($($(#[$doc:meta])* $name:ident($min:literal, $max:literal, $check:expr, $form:literal $(, $schema:tt)?)),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        #[serde(transparent)]
        pub struct $name(Text<$min, $max>);

        impl $name {
            /// Checks text.
            ///
            /// # Errors
            /// [`TextError`] when the length or the form is wrong.
            pub fn new(text: impl Into<Box<str>>) -> Result<Self, TextError> {
                let text = Text::new(text)?;
                let check: fn(&str) -> bool = $check;
                if check(&text) { Ok(Self(text)) } else { Err(TextError::Form($form)) }
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let plain = Text::<$min, $max>::json_schema(generator);
                $(let plain = with(plain, serde_json::json!($schema));)?
                plain
            }
        }
    )*};
}

formed_text! {
    /// An emoji: a character or its code points, at most 50 characters (SPEC 2.5).
    Emoji(1, 50, |t| !t.chars().any(char::is_control), "an emoji, without control characters", { "format": "emoji" }),
    /// The name of an icon, at most 50 characters (SPEC 8).
    Icon(1, 50, |t| t.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:.".contains(&b)),
        "the name of an icon: letters, digits, `-`, `_`, `.` or `:`", { "format": "icon" }),
    /// An absolute http or https URL, at most 2048 characters.
    Url(1, 2048, is_web_url, "an absolute http or https URL", { "format": "uri" }),
    /// A colour: `#` and three or six hexadecimal digits.
    Color(4, 7, is_color, "a colour like #1a2B3c: `#` and three or six hexadecimal digits",
        { "pattern": "^#(?:[0-9a-fA-F]{3}){1,2}$" }),
    /// Where a redirect of a site begins: a path without a slash at its end, at most 512 characters.
    RedirectSource(2, 512, super::redirect::is_source,
        "a path like /old/page: segments of letters, digits, `-`, `.`, `_`, `~` and %-escapes, without a slash at the end",
        { "pattern": r"^\/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+(?:\/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)*$" }),
    /// A certificate of a SAML provider, at most 10,000 characters: PEM, or DER in base64.
    Certificate(1, 10_000, super::saml::is_certificate, "an X.509 certificate: PEM, or DER in base64"),
    /// A host name for public content, 3 to 32 characters (SPEC 2.10).
    Hostname(3, 32, is_label, "letters, digits and `-`, neither first nor last"),
    /// An e-mail domain.
    EmailDomain(3, 253, is_domain, "a domain name like example.com"),
    /// The base name of a site in its published address, 1 to 100 characters.
    Basename(1, 100, is_label, "lower-case letters, digits and `-`, neither first nor last"),
    /// The path of a section or a space on its site: one segment of an address, 1 to 100 characters (SPEC 2.7).
    SitePath(1, 100, is_segment,
        "one segment of a path: letters, digits, `-`, `_`, `.` or `+`, with a letter or a digit among them"),
    /// Where a site is mounted on another host: `host/path`, at most 512 characters (SPEC 4.11).
    ProxyOrigin(1, 512, is_proxy_origin, "a host with a path, like example.com/docs",
        { "pattern": r"^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(\/[\w-]+)+$" }),
}

impl Color {
    /// A colour by its parts.
    #[must_use]
    pub fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self(Text(format!("#{red:02X}{green:02X}{blue:02X}").into()))
    }
}

impl EmailDomain {
    /// The same domain in lower case, as domains are compared.
    #[must_use]
    pub fn to_lowercase(&self) -> Self {
        Self(Text(self.0.to_ascii_lowercase().into()))
    }
}

fn is_web_url(text: &str) -> bool {
    !text.chars().any(char::is_whitespace) && super::web_url::web_url(text).is_some()
}

fn is_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_label(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.chars().all(plain) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_segment(text: &str) -> bool {
    // What `slugify` makes of a title fits, in every script.
    let plain = |c: char| c.is_alphanumeric() || is_combining_mark(c) || "-_.+".contains(c);
    text.chars().all(plain) && text.chars().any(char::is_alphanumeric)
}

fn is_domain(text: &str) -> bool {
    let label = |l: &str| {
        !l.is_empty()
            && l.len() <= 63
            && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !l.starts_with('-')
            && !l.ends_with('-')
    };
    text.contains('.') && text.split('.').all(label)
}

fn is_proxy_origin(text: &str) -> bool {
    let word =
        |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let mut parts = text.split('/');
    let host = parts.next().unwrap_or_default();
    let top = host.rsplit('.').next().unwrap_or_default();
    let has_path = text.contains('/');
    host.contains('.')
        && host.split('.').all(word)
        && top.len() >= 2
        && top.bytes().all(|b| b.is_ascii_alphabetic())
        && has_path
        && parts.all(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_at_its_limit_is_accepted_and_one_beyond_refused() {
        assert!(Text::<2, 5>::new("äöüßx").is_ok(), "characters count, not bytes");
        assert_eq!(Text::<2, 5>::new("abcdef"), Err(TextError::TooLong { max: 5, has: 6 }));
        assert_eq!(Text::<2, 5>::new("a"), Err(TextError::TooShort { min: 2, has: 1 }));
        assert_eq!(Text::<0, 5>::new("a\0"), Err(TextError::Nul));
    }

    #[test]
    fn a_patch_tells_left_out_null_and_value_apart() {
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
    fn a_timestamp_is_utc_with_milliseconds() {
        let at: Timestamp = serde_json::from_str(r#""2026-01-31T13:00:00.1239+01:00""#).expect("parses");
        assert_eq!(at.to_string(), "2026-01-31T12:00:00.123Z");
        assert!(serde_json::from_str::<Timestamp>(r#""yesterday""#).is_err());
    }

    #[test]
    fn a_url_is_one_that_leads_to_a_host_on_the_web() {
        for right in [
            "https://example.com",
            "HTTP://Example.com/a?b#c",
            "https://bücher.example/ä",
            "http://[::1]:8080/",
            "http://localhost:4000",
        ] {
            assert!(Url::new(right).is_ok(), "{right}");
        }
        for wrong in [
            "example.com",
            "//example.com",
            "ftp://example.com",
            "https://",
            "https://?x",
            "https:///example.com",
            "https://a b",
            "https://example.com/a b",
            "https://[::1",
            "https://example.com:port/",
            "https://user:pa/ss@example.com/",
        ] {
            assert!(Url::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_proxy_origin_is_a_host_with_a_path() {
        for right in ["example.com/docs", "a.b-c.example.org/x/y_z"] {
            assert!(ProxyOrigin::new(right).is_ok(), "{right}");
        }
        for wrong in
            ["example.com", "example.com/", "https://example.com/docs", "example.c/docs", "localhost/docs"]
        {
            assert!(ProxyOrigin::new(wrong).is_err(), "{wrong}");
        }
    }
}
