//! Texts of an outline, cut at their limits.

use crate::node::JsonNode;

/// Maximum number of characters of a title or a summary.
const MAX_LINE: usize = 300;

/// Returns multi-line text, truncated to `most` bytes.
pub(crate) fn text_within(of: &JsonNode, name: &str, most: usize) -> Option<String> {
    let text = of.get(name)?.text().filter(|text| !text.trim().is_empty())?;
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(text[..end].to_owned())
}

/// Joins text into one line, truncated to [`MAX_LINE`].
pub(crate) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_LINE) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}
