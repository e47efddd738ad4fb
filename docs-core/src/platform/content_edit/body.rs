//! The content of a page as a client sends it: Markdown, or a document tree.

use std::borrow::Cow;

use crate::{
    Error, Result,
    content::{
        document::{self, Invalid},
        markdown::{PageSource, parse_page, split_front},
    },
    model::{DocumentInput, check_page_size},
};

/// The content as Markdown. A tree is written in place of the page's old text, so that blocks which say what they said
/// keep their bytes.
pub(super) fn text<'a>(input: &'a DocumentInput, old: &str) -> Result<Cow<'a, str>> {
    let wrong = |error: Invalid| Error::invalid(&format!("document.document.{}", error.place), error.message);
    match input {
        DocumentInput::Empty => Ok(Cow::Borrowed("")),
        DocumentInput::Markdown(markdown) => {
            // Before its links are looked for. Front matter is no part of the text.
            check_page_size(split_front(markdown).1)
                .map_err(|error| Error::invalid("document.markdown", error))?;
            Ok(Cow::Borrowed(markdown))
        }
        DocumentInput::Document(tree) => {
            document::check(tree).map_err(wrong)?;
            document::update(old, tree).map(Cow::Owned).map_err(wrong)
        }
    }
}

/// The content taken apart. A tree has neither front matter nor a title of the page.
pub(super) fn source<'a>(input: &DocumentInput, text: &'a str) -> PageSource<'a> {
    match input {
        DocumentInput::Empty | DocumentInput::Markdown(_) => parse_page(text),
        DocumentInput::Document(_) => PageSource { body: text, ..parse_page("") },
    }
}
