//! Colours in hexadecimal notation: [`Color`].

use super::{BoundedText, formed_text::formed_text};

formed_text! {
    /// A colour: `#` and three or six hexadecimal digits.
    Color(4, 7, is_color, "a colour like #1a2B3c: `#` and three or six hexadecimal digits",
        { "pattern": "^#(?:[0-9a-fA-F]{3}){1,2}$" }),
}

impl Color {
    /// Creates a colour from its red, green and blue components.
    #[must_use]
    pub fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self(BoundedText(format!("#{red:02X}{green:02X}{blue:02X}").into()))
    }
}

fn is_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}
