//! The content of a page as a client sends it: Markdown, or a document tree.

use std::borrow::Cow;

use crate::{
    Error, Result,
    content::{
        document::{self, Invalid},
        markdown::{PageSource, parse_page},
    },
    model::DocumentInput,
};

/// The content as Markdown. A tree is written in place of the page's old text, so that blocks which say what they said
/// keep their bytes.
pub(super) fn text<'a>(input: &'a DocumentInput, old: &str) -> Result<Cow<'a, str>> {
    let wrong = |error: Invalid| Error::invalid(&format!("document.document.{}", error.place), error.message);
    match input {
        DocumentInput::Empty => Ok(Cow::Borrowed("")),
        DocumentInput::Markdown(markdown) => Ok(Cow::Borrowed(markdown)),
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
