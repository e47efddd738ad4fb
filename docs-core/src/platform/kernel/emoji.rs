//! Normalization of emoji.

use crate::{Error, Result, content::markdown::leading_emoji, model::Emoji};

/// Variation selector 16, which requests emoji presentation.
const PICTURE_SELECTOR: char = '\u{fe0f}';

/// Normalizes an emoji to its stored form: characters instead of code points in hexadecimal.
///
/// # Errors
/// `Invalid` with `field` if the text is not exactly one emoji.
pub(in crate::platform) fn normalize_emoji(given: &Emoji, field: &str) -> Result<Emoji> {
    let one = parse_emoji(given.as_str()).and_then(|text| Emoji::new(text).ok());
    one.ok_or_else(|| Error::invalid(field, "must be one emoji, as characters or code points like `1f44d`"))
}

/// Returns an emoji as in responses of the API: its code points in hexadecimal, separated by `-`. Readers of
/// published sites draw no other form. An emoji whose code is too long for the field is returned as characters.
pub(in crate::platform) fn emoji_code(emoji: &str) -> Option<Emoji> {
    let points: Vec<String> = emoji.chars().map(|point| format!("{:x}", u32::from(point))).collect();
    Emoji::new(points.join("-")).or_else(|_| Emoji::new(emoji)).ok()
}

/// Parses and normalizes an emoji. The variation selector is kept only if the character would otherwise be displayed as
/// text.
fn parse_emoji(text: &str) -> Option<String> {
    let text = code_points(text).unwrap_or_else(|| text.to_owned());
    let plain = text.strip_suffix(PICTURE_SELECTOR).unwrap_or(&text);
    [plain.to_owned(), format!("{plain}{PICTURE_SELECTOR}")].into_iter().find(|text| is_emoji(text))
}

fn is_emoji(text: &str) -> bool {
    leading_emoji(text).is_some_and(|(_, rest)| rest.is_empty())
}

/// Parses hexadecimal code points separated by `-`.
fn code_points(text: &str) -> Option<String> {
    let each = text.split('-').map(|point| {
        let fits = (2..=6).contains(&point.len());
        u32::from_str_radix(point, 16).ok().filter(|_| fits).and_then(char::from_u32)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_code_parses_to_the_same_emoji() {
        for (emoji, code) in
            [("👍", "1f44d"), ("❤\u{fe0f}", "2764-fe0f"), ("👩\u{200d}💻", "1f469-200d-1f4bb")]
        {
            assert_eq!(emoji_code(emoji).as_ref().map(Emoji::as_str), Some(code));
            assert_eq!(parse_emoji(code).as_deref(), Some(emoji));
        }
    }

    #[test]
    fn emoji_notations_normalize_to_one_form() {
        for (written, kept) in [
            ("👍", Some("👍")),
            ("1f44d", Some("👍")),
            ("1F44D", Some("👍")),
            ("👍\u{fe0f}", Some("👍")),
            ("❤", Some("❤\u{fe0f}")),
            ("❤\u{fe0f}", Some("❤\u{fe0f}")),
            ("2764", Some("❤\u{fe0f}")),
            ("2764-fe0f", Some("❤\u{fe0f}")),
            ("👩\u{200d}💻", Some("👩\u{200d}💻")),
            ("1f469-200d-1f4bb", Some("👩\u{200d}💻")),
            ("🇩🇪", Some("🇩🇪")),
            ("1\u{fe0f}\u{20e3}", Some("1\u{fe0f}\u{20e3}")),
            ("👍👍", None),
            ("👍 ", None),
            ("a", None),
            ("1", None),
            (":+1:", None),
            ("0061", None),
            ("-", None),
            ("110000", None),
        ] {
            assert_eq!(parse_emoji(written).as_deref(), kept, "{written}");
        }
    }
}
