//! The base name of a site: [`Basename`].

use super::formed_text::formed_text;

formed_text! {
    /// The base name of a site in its published URL.
    Basename(1, 100, is_label, "lower-case letters, digits and inner `-`",
        { "pattern": "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$" }),
}

/// Returns `true` if the string is a lower-case hostname label.
pub(super) fn is_label(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.chars().all(plain) && !text.starts_with('-') && !text.ends_with('-')
}
