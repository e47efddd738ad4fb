//! Web URLs: [`Url`].

use super::formed_text::formed_text;

/// The pattern of an absolute http or https URL.
#[cfg(feature = "schema")]
const WEB_URL: &str = r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s\u0000/\\?#][^\s\u0000]*$";

/// Pattern of an absolute http or https URL or an empty string.
#[cfg(feature = "schema")]
pub(crate) const WEB_URL_OR_EMPTY: &str = r"^([Hh][Tt][Tt][Pp][Ss]?://[^\s\u0000/\\?#][^\s\u0000]*)?$";

formed_text! {
    /// An absolute http or https URL.
    Url(1, 2048, is_web_url, "an absolute http or https URL", { "format": "uri", "pattern": WEB_URL }),
}

fn is_web_url(text: &str) -> bool {
    !text.chars().any(char::is_whitespace) && super::web_url::web_url(text).is_some()
}
