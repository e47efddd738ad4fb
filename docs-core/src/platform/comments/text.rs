//! What is said: the forms of a body, and emoji.

use serde_json::Value;

use crate::{
    Error, Result,
    content::markdown::leading_emoji,
    model::{BodyFormat, CommentBody, CommentInput, CommentText, Emoji},
};

/// Most emoji that one request adds or removes.
const MAX_EMOJI: usize = 50;
/// Asks for a character's form as a picture.
const PICTURE: char = '\u{fe0f}';

/// Refuses a form that bodies cannot be answered in.
pub(in crate::platform) fn check_format(format: BodyFormat) -> Result<()> {
    match format {
        BodyFormat::Markdown => Ok(()),
        BodyFormat::Document => document_of("").map(drop),
    }
}

/// The text of a body; `field` is what the request calls it.
pub(in crate::platform) fn text_of(input: &CommentInput, field: &str) -> Result<CommentText> {
    let (text, form) = match (&input.markdown, &input.document) {
        (Some(text), None) => (text.clone(), format!("{field}.markdown")),
        (None, Some(document)) => {
            let form = format!("{field}.document");
            let text = CommentText::new(markdown_of(document, &form)?);
            (text.map_err(|error| Error::invalid(&form, error))?, form)
        }
        (None, None) => return Err(Error::invalid(field, "must have `markdown` or `document`")),
        (Some(_), Some(_)) => {
            return Err(Error::invalid(field, "must have `markdown` or `document`, not both"));
        }
    };
    if text.trim().is_empty() {
        return Err(Error::invalid(&form, "must not be empty"));
    }
    Ok(text)
}

/// A text in the form that was asked for.
pub(super) fn body_of(text: &CommentText, format: BodyFormat) -> Result<CommentBody> {
    match format {
        BodyFormat::Markdown => Ok(CommentBody::Markdown(text.to_string())),
        BodyFormat::Document => document_of(text).map(CommentBody::Document),
    }
}

/// The emoji of a request, each in the one form in which it is kept.
pub(super) fn emoji_of(given: &[Emoji], field: &str) -> Result<Vec<Emoji>> {
    if given.len() > MAX_EMOJI {
        return Err(Error::invalid(
            field,
            format_args!("must be at most {MAX_EMOJI} emoji, has {}", given.len()),
        ));
    }
    let wrong = |at: usize| {
        Error::invalid(
            &format!("{field}[{at}]"),
            "must be one emoji: its characters, or `1f44d` as code points",
        )
    };
    let each = given.iter().enumerate().map(|(at, emoji)| {
        let one = one_emoji(emoji.as_str()).ok_or_else(|| wrong(at))?;
        Emoji::new(one).map_err(|_| wrong(at))
    });
    each.collect()
}

/// The Markdown of a document tree.
fn markdown_of(_document: &Value, field: &str) -> Result<String> {
    Err(Error::invalid(field, "this server takes `markdown` only"))
}

/// Markdown as a document tree.
fn document_of(_markdown: &str) -> Result<Value> {
    Err(Error::invalid("format", "this server answers `markdown` only"))
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

    #[test]
    fn a_body_has_one_form_and_is_not_empty() {
        let input = |markdown: Option<&str>, document| CommentInput {
            markdown: markdown.map(|text| text.parse().expect("a text")),
            document,
        };
        assert_eq!(text_of(&input(Some(" a\n"), None), "body").expect("a text").as_str(), " a\n");
        for (wrong, told) in [
            (input(None, None), "body: must have"),
            (input(Some(""), None), "body.markdown: must not be empty"),
            (input(Some(" \n\t"), None), "body.markdown: must not be empty"),
            (input(Some("a"), Some(Value::Null)), "body: must have"),
        ] {
            let error = text_of(&wrong, "body").expect_err("refused");
            assert!(error.message().starts_with(told), "{error}");
        }
    }
}
