//! Code fences of mdBook: hidden lines of Rust code, and the admonitions of `mdbook-admonish`.

use std::borrow::Cow;

use crate::document;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    pub(super) kind: FenceKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FenceKind {
    Code,
    /// Rust code, whose hidden lines are not shown.
    Rust,
    /// A fence around Markdown.
    Admonition,
}

impl Fence {
    /// Parses an opening fence. Returns it with its info string.
    pub(super) fn open(line: &str) -> Option<(Self, &str)> {
        let (mark, length, info) = document::fence(line)?;
        let kind = match info.split([',', ' ', '{', '\t']).next().unwrap_or_default() {
            "rust" => FenceKind::Rust,
            "admonish" => FenceKind::Admonition,
            _ => FenceKind::Code,
        };
        Some((Self { mark, length, kind }, info))
    }

    pub(super) fn is_closed_by(self, line: &str) -> bool {
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// Returns a line of Rust code as readers see it, or `None` for a hidden line: `# ` and `#` hide a line, and `##`
/// is shown as `#`. The line may be part of a quotation.
pub(super) fn visible_code(line: &str) -> Option<Cow<'_, str>> {
    let code = line.trim_start_matches([' ', '\t', '>']);
    let Some(rest) = code.strip_prefix('#') else { return Some(Cow::Borrowed(line)) };
    match rest.trim_end_matches(['\r', '\n']).chars().next() {
        None | Some(' ') => None,
        Some('#') => Some(Cow::Owned(format!("{}{rest}", &line[..line.len() - code.len()]))),
        Some(_) => Some(Cow::Borrowed(line)),
    }
}

/// Returns Rust code without its hidden lines.
pub(super) fn without_hidden_lines(code: &str) -> String {
    let lines: Vec<Cow<'_, str>> = code.split('\n').filter_map(visible_code).collect();
    lines.join("\n")
}

/// Returns the line that opens a hint in place of the fence of an admonition, with its title.
pub(super) fn hint_line(line: &str, fence: &str, info: &str) -> String {
    let start = line.find(fence).unwrap_or_default();
    let (head, end) = (&line[..start], &line[start + fence.len()..]);
    let rest = info.strip_prefix("admonish").unwrap_or_default().trim();
    let (name, rest) = rest.split_at(rest.find([' ', '\t', '"', '.']).unwrap_or(rest.len()));
    let (name, rest) = if name.contains('=') { ("", info) } else { (name, rest) };
    let (style, own_title) = style(name);
    let title = match quoted(rest) {
        Some(title) => Some(title.to_owned()).filter(|title| !title.trim().is_empty()),
        None => own_title,
    };
    let hint = format!("{head}{{% hint style=\"{style}\" %}}{end}");
    let Some(title) = title else { return hint };
    // Further lines have the indentation of the content, without the mark of a list item.
    let head: String = head.chars().map(|c| if matches!(c, '>' | '\t') { c } else { ' ' }).collect();
    format!("{hint}{head}**{title}**\n{}\n", head.trim_end())
}

/// Returns the style of a hint, and the title of an admonition whose kind the style does not express.
fn style(name: &str) -> (&'static str, Option<String>) {
    let style = match name.to_ascii_lowercase().as_str() {
        "" | "note" | "info" | "todo" => return ("info", None),
        "tip" | "hint" | "important" | "success" | "check" | "done" => return ("success", None),
        "warning" | "caution" | "attention" => return ("warning", None),
        "danger" | "error" => return ("danger", None),
        "failure" | "fail" | "missing" | "bug" => "danger",
        _ => "info",
    };
    let is_word = name.chars().all(|c| c.is_ascii_alphanumeric());
    let title = name.split_at_checked(1).filter(|_| is_word);
    (style, title.map(|(first, rest)| first.to_ascii_uppercase() + rest))
}

/// Returns the first text in double quotes, or that of the key `title`.
fn quoted(text: &str) -> Option<&str> {
    let text = text.split_once("title=").map_or(text, |(_, rest)| rest);
    let has_other_key = text.split('"').next().is_some_and(|before| before.contains('='));
    let text = text.split_once('"').filter(|_| !has_other_key)?.1;
    text.split_once('"').map(|(title, _)| title)
}
