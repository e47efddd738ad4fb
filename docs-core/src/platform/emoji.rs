//! The one form of an emoji, however a request writes it.

use crate::{Error, Result, content::markdown::leading_emoji, model::Emoji};

/// Asks for a character's form as a picture.
const PICTURE: char = '\u{fe0f}';

/// An emoji in the form in which it is kept: characters rather than code points.
///
/// # Errors
/// `Invalid`, with `field`, for a text that is not one emoji.
pub(super) fn kept_emoji(given: &Emoji, field: &str) -> Result<Emoji> {
    let one = one_emoji(given.as_str()).and_then(|text| Emoji::new(text).ok());
    one.ok_or_else(|| {
        Error::invalid(field, "must be one emoji: its characters, or its code points, like `1f44d`")
    })
}

/// The emoji that a text is, written in one way: characters rather than code points, and asking for the form as a
/// picture only where it would be text without.
fn one_emoji(text: &str) -> Option<String> {
    let text = code_points(text).unwrap_or_else(|| text.to_owned());
    let plain = text.strip_suffix(PICTURE).unwrap_or(&text);
    [plain.to_owned(), format!("{plain}{PICTURE}")].into_iter().find(|text| is_emoji(text))
}

fn is_emoji(text: &str) -> bool {
    leading_emoji(text).is_some_and(|(_, rest)| rest.is_empty())
}

/// Characters that are written as hexadecimal code points with `-` between.
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
    fn an_emoji_has_one_form_however_it_is_written() {
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
            assert_eq!(one_emoji(written).as_deref(), kept, "{written}");
        }
    }
}
