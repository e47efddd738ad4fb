//! Placeholders in Markdown for document elements that are not parsed again.

/// Delimiters of the index in a placeholder. Occurrences in the text of documents are replaced.
pub(super) const OPEN: char = '\u{10fffc}';
pub(super) const CLOSE: char = '\u{10fffd}';

/// A placeholder for nothing. Text after it does not begin an HTML block.
pub(super) const EMPTY: &str = "\u{10fffc}\u{10fffd}";

/// A reference without a character, which exports of GitBook contain at the beginning of lines.
pub(super) const NO_CHARACTER: &str = "&#xNAN;";

/// Removes placeholders from text that cannot contain elements.
pub(super) fn without_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        out.push_str(before);
        rest = behind.split_once(CLOSE).map_or("", |(_, behind)| behind);
    }
    out + rest
}
