//! Whitespace normalization, and runs of characters.

/// Maximum size of a Markdown document in bytes: the limit of a page, plus front matter, plus a margin for encodings
/// that need more bytes than UTF-8.
pub const MAX_MARKDOWN_BYTES: usize = 2_500_000;
/// Maximum size of the Markdown of a converted page in bytes. Longer Markdown is cut. It still exceeds the limit of a
/// page, so that no page is stored with a part of its text.
pub const MAX_CONVERTED_BYTES: usize = MAX_MARKDOWN_BYTES;
/// Returns `true` if a text exceeds [`MAX_CONVERTED_BYTES`]. The rendering then ends, because the page is cut.
pub(crate) const fn is_full(text: &str) -> bool {
    text.len() > MAX_CONVERTED_BYTES
}

/// Replaces each run of whitespace by one space, and trims both ends.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Returns the length of the longest run of a character.
pub(crate) fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
