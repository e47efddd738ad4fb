//! Template directives in pages of mdBook (`{{#include file.rs:2:10}}`) and HonKit (`{% include "file.md" %}`).
//!
//! The text of a page keeps its directives. An import resolves them with the files of the repository
//! ([`resolve`]) and stores the results with the page as [`Expansions`]. Readers see the text with the results in
//! place of the directives ([`Expansions::expand`]). After an edit of the page, the results still apply to the
//! directives that it keeps. In pages of mdBook, hidden lines of Rust code are not shown, and admonitions are hints.

mod conditions;
mod fences;
mod honkit;
mod resolve;
mod scan;
mod select;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use docs_model::MAX_PAGE_BYTES;
use serde::{Deserialize, Serialize};

pub use self::resolve::{
    IncludeBudget, IncludedFile, MAX_INCLUDE_DEPTH, MAX_INCLUDES, ResolvedDirectives, resolve,
};
use self::{
    fences::without_hidden_lines,
    scan::{Directive, Place, Token},
};
use crate::gitsync::BookFormat;

/// Maximum size in bytes of a text with the results of its directives.
pub const MAX_EXPANDED_BYTES: usize = 1_000_000;
const _: () = assert!(MAX_EXPANDED_BYTES == MAX_PAGE_BYTES, "all parsers of pages have this limit");

/// The results of the directives of a page.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Expansions {
    format: BookFormat,
    /// The results within text, by directive.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    text: BTreeMap<String, String>,
    /// The results within code blocks, by directive.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    code: BTreeMap<String, String>,
}

impl Expansions {
    /// Returns the text with the results in place of the directives, of at most [`MAX_EXPANDED_BYTES`] unless the text
    /// itself is longer. A directive without a result, or with one that does not fit, is removed. If the hints do not
    /// fit, the text is returned unchanged.
    #[must_use]
    pub fn expand<'t>(&self, source: &'t str) -> Cow<'t, str> {
        if !may_have_directives(source, self.format) {
            return Cow::Borrowed(source);
        }
        let mut out = String::with_capacity(source.len());
        let mut left = MAX_EXPANDED_BYTES.saturating_sub(source.len());
        let mut line_breaks = HashMap::new();
        let book = |name: &str| self.text.get(&format!("book {name}")).map(String::as_str);
        scan_text(source, self.format, Place::Text, &book, &mut |token| match token {
            Token::Text(text) => out.push_str(text),
            Token::Literal(text) => out.push_str(&text),
            Token::Hidden => {}
            Token::Value(value) => {
                if let Some(rest) = left.checked_sub(value.len()) {
                    left = rest;
                    out.push_str(value);
                }
            }
            Token::Directive(directive) => {
                let Some((key, value)) = self.values(directive.place).get_key_value(&directive.key()) else {
                    return;
                };
                // A page can have tens of thousands of directives with the same long result.
                let breaks =
                    *line_breaks.entry((directive.place, key)).or_insert_with(|| count_line_breaks(value));
                if let Some(rest) = left.checked_sub(prefixed_length(value, breaks, directive.prefix)) {
                    left = rest;
                    match directive.hides_lines {
                        true => push_prefixed(&mut out, &without_hidden_lines(value), directive.prefix),
                        false => push_prefixed(&mut out, value, directive.prefix),
                    }
                }
            }
        });
        match out.len() <= MAX_EXPANDED_BYTES.max(source.len()) {
            true => Cow::Owned(out),
            false => Cow::Borrowed(source),
        }
    }

    /// Rewrites the results within text, such as their links.
    pub fn rewrite(&mut self, mut rewrite: impl FnMut(&str) -> String) {
        self.text.values_mut().for_each(|value| *value = rewrite(value));
    }

    /// Returns the results within text, which can contain links.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.text.values().map(String::as_str)
    }

    const fn values(&self, place: Place) -> &BTreeMap<String, String> {
        match place {
            Place::Text => &self.text,
            Place::Code => &self.code,
        }
    }

    fn insert(&mut self, directive: &Directive<'_>, value: String) {
        let values = match directive.place {
            Place::Text => &mut self.text,
            Place::Code => &mut self.code,
        };
        values.insert(directive.key(), value);
    }
}

/// Calls `visit` with all shown parts of a text at a place of a book, in order. `book` returns the values of the book.
fn scan_text<'t>(
    text: &'t str,
    format: BookFormat,
    place: Place,
    book: &dyn Fn(&str) -> Option<&'t str>,
    visit: &mut dyn FnMut(Token<'t>),
) {
    match (format, place) {
        (BookFormat::MdBook, _) => scan::scan(text, place, visit),
        (BookFormat::HonKit, Place::Text) => honkit::scan(text, book, visit),
        (BookFormat::HonKit, Place::Code) | (BookFormat::Native, _) => visit(Token::Text(text)),
    }
}

/// Returns `true` if a text may contain directives or fences that readers see in another form.
fn may_have_directives(text: &str, format: BookFormat) -> bool {
    match format {
        BookFormat::Native => false,
        // Fences can have hidden lines.
        BookFormat::MdBook => ["{{", "{%", "```", "~~~"].iter().any(|sign| text.contains(sign)),
        BookFormat::HonKit => ["{{", "{%", "{###"].iter().any(|sign| text.contains(sign)),
    }
}

/// Returns the title that `{{#title …}}` in the first line of a text sets, and the length of that line.
pub(crate) fn title_line(text: &str) -> Option<(&str, usize)> {
    let line = text.split_inclusive('\n').next()?;
    let title = line.trim().strip_prefix("{{#title")?.strip_suffix("}}")?;
    let title = title.strip_prefix([' ', '\t'])?.trim();
    (!title.is_empty() && !title.contains('}')).then_some((title, line.len()))
}

fn count_line_breaks(value: &str) -> usize {
    value.bytes().filter(|byte| *byte == b'\n').count()
}

/// Returns the maximum length of a text with this number of line breaks, if all lines but the first get a prefix.
const fn prefixed_length(value: &str, breaks: usize, prefix: &str) -> usize {
    value.len().saturating_add(breaks.saturating_mul(prefix.len()))
}

/// Appends lines, all but the first with a prefix. A blank line within a quotation continues it.
fn push_prefixed(out: &mut String, value: &str, prefix: &str) {
    for (number, line) in value.split_inclusive('\n').enumerate() {
        if number > 0 {
            let is_blank = line.trim().is_empty();
            out.push_str(if is_blank { prefix.trim_end_matches([' ', '\t']) } else { prefix });
        }
        out.push_str(line);
    }
}
