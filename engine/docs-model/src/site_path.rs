//! Paths of sections and spaces on a site: [`SitePath`].

use unicode_normalization::char::is_combining_mark;

use super::formed_text::formed_text;

formed_text! {
    /// The path of a section or a space on a site: a single URL path segment.
    SitePath(1, 100, is_segment,
        "one path segment of letters, digits, `-`, `_`, `.` or `+`, with at least one letter or digit",
        // Letters of all scripts are permitted, so the pattern accepts all non-ASCII characters.
        { "pattern": r"^[-_.+]*[^\u0000-/:-@\[-`{-\u007f][^\u0000-*,/:-@\[-^`{-\u007f]*$" }),
}

fn is_segment(text: &str) -> bool {
    // Must accept every result of `slugify`, in every script.
    let plain = |c: char| c.is_alphanumeric() || is_combining_mark(c) || "-_.+".contains(c);
    text.chars().all(plain) && text.chars().any(char::is_alphanumeric)
}
