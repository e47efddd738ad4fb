//! Media types of files.

use std::{fmt, str::FromStr};

/// The media type of a file: `type/subtype` in lower case, with an optional known charset.
///
/// Other parameters are accepted and dropped. Header values with quotes or with several types are rejected because
/// browsers parse them differently. The formatted type is therefore unambiguous.
///
/// # Example
/// ```
/// use docs_model::MediaType;
///
/// let notes: MediaType = "Text/Plain; charset=UTF-8; format=flowed".parse()?;
/// assert_eq!(notes.to_string(), "text/plain; charset=utf-8");
/// assert!("application/pdf; x=\"\",text/html".parse::<MediaType>().is_err());
/// # Ok::<(), docs_model::NotAMediaType>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct MediaType {
    essence: String,
    charset: Option<&'static str>,
}

/// The error for a string that is not an accepted media type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "must be a media type, like image/png: `type/subtype`, with parameters as `; name=value` without quotes"
)]
pub struct NotAMediaType;

impl MediaType {
    /// Maximum length of a media type, in characters.
    pub const MAX: usize = 255;

    /// A regular expression that matches the accepted strings.
    #[cfg(feature = "schema")]
    pub const PATTERN: &str = concat!(
        r"^[0-9A-Za-z][0-9A-Za-z!#$&^_.+-]*/[0-9A-Za-z][0-9A-Za-z!#$&^_.+-]*",
        r"(; *([0-9A-Za-z!#$%&*+.^_|~-]+=[0-9A-Za-z!#$%&*+.^_|~-]+)?)*$",
    );

    /// Returns `application/octet-stream`, the type for unknown formats.
    #[must_use]
    pub fn octet_stream() -> Self {
        Self { essence: "application/octet-stream".to_owned(), charset: None }
    }

    /// Returns the type without parameters, for example `image/png`.
    #[must_use]
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// Returns the charset label, if any.
    #[must_use]
    pub const fn charset(&self) -> Option<&'static str> {
        self.charset
    }
}

impl FromStr for MediaType {
    type Err = NotAMediaType;

    fn from_str(text: &str) -> Result<Self, NotAMediaType> {
        let mut parts = text.split(';');
        let essence = parts.next().unwrap_or_default();
        let (kind, subtype) = essence.split_once('/').ok_or(NotAMediaType)?;
        if text.len() > Self::MAX || !is_name(kind) || !is_name(subtype) {
            return Err(NotAMediaType);
        }
        let mut charset = None;
        for parameter in parts.map(|part| part.trim_start_matches(' ')).filter(|part| !part.is_empty()) {
            let (name, value) = parameter.split_once('=').ok_or(NotAMediaType)?;
            if !is_token(name) || !is_token(value) {
                return Err(NotAMediaType);
            }
            if name.eq_ignore_ascii_case("charset") {
                charset = charset.or_else(|| known_charset(value));
            }
        }
        Ok(Self { essence: essence.to_ascii_lowercase(), charset })
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.charset {
            Some(charset) => write!(f, "{}; charset={charset}", self.essence),
            None => f.write_str(&self.essence),
        }
    }
}

/// Returns `true` for a name as defined in RFC 6838, section 4.2, without its length limit.
fn is_name(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte);
    text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric()) && text.bytes().all(is_inner)
}

/// Returns `true` for a token as defined in RFC 9110, section 5.6.2, except that single quotes and backquotes are
/// rejected.
fn is_token(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&*+.^_|~-".contains(&byte);
    !text.is_empty() && text.bytes().all(is_inner)
}

/// The charsets that are retained. All of them encode ASCII characters as ASCII bytes. In UTF-7, HZ and ISO-2022, by
/// contrast, other bytes can encode markup.
const CHARSETS: &[&str] = &[
    "utf-8",
    "utf8",
    "us-ascii",
    "ascii",
    "latin1",
    "iso-8859-1",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-9",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "windows-1250",
    "windows-1251",
    "windows-1252",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "koi8-r",
    "koi8-u",
    "euc-jp",
    "euc-kr",
    "shift_jis",
    "big5",
    "gbk",
    "gb18030",
];

fn known_charset(label: &str) -> Option<&'static str> {
    CHARSETS.iter().copied().find(|known| known.eq_ignore_ascii_case(label))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<String> {
        text.parse::<MediaType>().ok().map(|it| it.to_string())
    }

    #[test]
    fn parsing_rebuilds_the_type_and_a_known_charset() {
        for (text, expected) in [
            ("image/png", "image/png"),
            ("IMAGE/SVG+XML", "image/svg+xml"),
            ("application/vnd.ms-excel", "application/vnd.ms-excel"),
            ("text/plain;charset=Latin1", "text/plain; charset=latin1"),
            ("text/plain; x=y; CHARSET=utf-8;", "text/plain; charset=utf-8"),
            ("text/plain; charset=utf-7", "text/plain"),
            ("text/plain; charset=iso-2022-jp", "text/plain"),
            ("text/plain; charset=x; charset=utf-8", "text/plain; charset=utf-8"),
            ("video/mp4; codecs=avc1.42E01E", "video/mp4"),
        ] {
            assert_eq!(read(text).as_deref(), Some(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn written_types_parse_to_themselves(text in "[a-zA-Z0-9!/;= \",+*\\t\\r\\n-]{0,40}") {
            if let Some(written) = read(&text) {
                prop_assert!(written.bytes().all(|b| b.is_ascii_graphic() || b == b' '), "{}", written);
                prop_assert!(!written.contains([',', '"', '*']), "{}", written);
                prop_assert_eq!(read(&written), Some(written));
            }
        }
    }
}
