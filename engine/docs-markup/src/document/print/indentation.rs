//! Prefixes of lines.

/// Indents lines, with a different prefix for the first one.
pub(super) fn indented(text: &str, indent: &str, first: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if index == 0 {
            out.push_str(first);
        } else if !line.is_empty() {
            out.push_str(indent);
        }
        out.push_str(line);
    }
    out
}
