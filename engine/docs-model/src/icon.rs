//! Icon names: [`Icon`].

use super::formed_text::formed_text;

formed_text! {
    /// An icon name.
    Icon(1, 50, |t| t.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_:.".contains(&b)),
        "the name of an icon: letters, digits, `-`, `_`, `.` or `:`", { "format": "icon", "pattern": "^[A-Za-z0-9_:.-]+$" }),
}
