//! Emoji codes: code points in hexadecimal, separated by `-`.

/// Returns the characters of an emoji, or an empty string for an invalid code.
pub(crate) fn emoji(code: &str) -> String {
    code.split('-').filter_map(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?)).collect()
}

/// Returns the characters of an emoji that is written as a code or, if it has too many code points, as characters.
pub(crate) fn emoji_or_characters(written: &str) -> String {
    let characters = emoji(written);
    if characters.is_empty() { written.to_owned() } else { characters }
}
