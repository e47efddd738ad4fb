//! Character classes.

use unicode_normalization::char::is_combining_mark;

pub(super) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Returns `true` for characters that JavaScript treats as whitespace and that `trim` removes.
pub(super) fn is_blank(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

pub(super) fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '$' || c == '_'
}

pub(super) fn is_name_part(c: char) -> bool {
    is_name_start(c) || c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '\u{200c}' | '\u{200d}')
}
