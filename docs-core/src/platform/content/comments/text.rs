//! Comment body formats and emoji normalization.

use crate::{
    Error, Result,
    content::{document, run_blocking, run_in_place},
    model::{CommentBody, CommentInput, CommentText, ContentFormat, Document, Emoji, UpdateComment},
    platform::kernel::emoji::normalize_emoji,
};

/// Parses a comment body. `field` is its name in the request.
pub(in crate::platform) fn parse_text(input: &CommentInput, field: &str) -> Result<CommentText> {
    let (text, form) = match (&input.markdown, &input.document) {
        (Some(text), None) => (text.clone(), format!("{field}.markdown")),
        (None, Some(document)) => {
            let form = format!("{field}.document");
            let text = CommentText::new(print_markdown(document, &form)?);
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

/// Renders comment bodies in the requested format. Documents are parsed on a blocking thread.
pub(super) async fn render_bodies(
    texts: Vec<CommentText>,
    format: ContentFormat,
) -> Result<Vec<CommentBody>> {
    match format {
        _ if texts.is_empty() => Ok(Vec::new()),
        ContentFormat::Markdown => {
            Ok(texts.iter().map(|text| CommentBody::Markdown(text.to_string())).collect())
        }
        ContentFormat::Document => {
            let parse =
                move || texts.iter().map(|text| CommentBody::Document(document::parse(text))).collect();
            run_blocking(parse).await.ok_or_else(|| Error::internal("the comments were not parsed"))
        }
    }
}

/// Normalizes the emoji in a request to their stored form.
pub(super) fn normalize_emojis(given: &[Emoji], field: &str) -> Result<Vec<Emoji>> {
    let (has, most) = (given.len(), UpdateComment::MAX_REACTIONS);
    if has > most {
        return Err(Error::invalid(field, format_args!("must be at most {most} emoji, has {has}")));
    }
    let each = given.iter().enumerate().map(|(at, emoji)| normalize_emoji(emoji, &format!("{field}[{at}]")));
    each.collect()
}

/// Serializes a document tree as Markdown.
fn print_markdown(tree: &Document, field: &str) -> Result<String> {
    let wrong = |error: document::Invalid| Error::invalid(&format!("{field}.{}", error.place), error.message);
    run_in_place(|| {
        document::check(tree)?;
        document::print(tree)
    })
    .map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_requires_one_format_and_non_blank_text() {
        let input = |markdown: Option<&str>, document| CommentInput {
            markdown: markdown.map(|text| text.parse().expect("a text")),
            document,
        };
        assert_eq!(parse_text(&input(Some(" a\n"), None), "body").expect("a text").as_str(), " a\n");
        for (wrong, told) in [
            (input(None, None), "body: must have"),
            (input(Some(""), None), "body.markdown: must not be empty"),
            (input(Some(" \n\t"), None), "body.markdown: must not be empty"),
            (input(Some("a"), Some(Document::default())), "body: must have"),
        ] {
            let error = parse_text(&wrong, "body").expect_err("refused");
            assert!(error.message().starts_with(told), "{error}");
        }
    }
}
