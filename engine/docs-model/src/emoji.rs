//! Emoji: [`Emoji`].

use super::formed_text::formed_text;

formed_text! {
    /// An emoji, given as characters or as code points.
    Emoji(1, 50, |t| !t.chars().any(char::is_control), "an emoji, without control characters",
        { "format": "emoji", "pattern": r"^[^\u0000-\u001f\u007f-\u009f]+$" }),
}
