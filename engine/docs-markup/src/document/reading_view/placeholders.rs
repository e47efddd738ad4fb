//! Placeholders in Markdown for elements of the document that are not read again.

/// The characters around the index of a placeholder. They are replaced in the text of documents.
pub(super) const OPEN: char = '\u{10fffc}';
pub(super) const CLOSE: char = '\u{10fffd}';

/// Removes placeholders from a text that cannot contain elements.
pub(super) fn without_placeholders(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        out.push_str(before);
        rest = behind.split_once(CLOSE).map_or("", |(_, behind)| behind);
    }
    out + rest
}
