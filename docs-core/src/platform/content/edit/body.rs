//! Page content as sent by a client, as Markdown or as a document tree.

use std::borrow::Cow;

use crate::{
    Error, Result,
    content::{
        document::{self, Invalid},
        markdown::{PageSource, parse_page, split_front},
        run_in_place,
    },
    model::{DocumentInput, check_page_size},
};

/// Returns the content as Markdown. A tree is merged into the previous text of the page, so that unchanged blocks stay
/// byte-identical.
pub(super) fn text<'a>(input: &'a DocumentInput, old: &str) -> Result<Cow<'a, str>> {
    let wrong = |error: Invalid| Error::invalid(&format!("document.document.{}", error.place), error.message);
    match input {
        DocumentInput::Empty => Ok(Cow::Borrowed("")),
        DocumentInput::Markdown(markdown) => {
            // Checked before links are resolved. Front matter does not count toward the limit.
            check_page_size(split_front(markdown).1)
                .map_err(|error| Error::invalid("document.markdown", error))?;
            Ok(Cow::Borrowed(markdown))
        }
        DocumentInput::Document(tree) => {
            document::check(tree).map_err(wrong)?;
            run_in_place(|| document::update(old, tree)).map(Cow::Owned).map_err(wrong)
        }
    }
}

/// Splits the content into front matter, title and body. A tree has only a body.
pub(super) fn source<'a>(input: &DocumentInput, text: &'a str) -> PageSource<'a> {
    match input {
        DocumentInput::Empty | DocumentInput::Markdown(_) => parse_page(text),
        DocumentInput::Document(_) => PageSource { body: Cow::Borrowed(text), ..parse_page("") },
    }
}
