//! Unknown tags in Markdown, such as `{% video %}`, replaced by their content.

use std::{borrow::Cow, collections::HashSet};

use docs_model::{Block, BlockKind, ContentRef, Node};

use super::{super::targets, code_ranges::literal_ranges};
use crate::syntax::tag;

/// Attributes whose values are visible to readers if the tag has content.
const SHOWN: [&str; 7] = ["title", "label", "date", "status", "summary", "name", "description"];
/// The tag whose content is hidden from readers.
const COMMENT: &str = "comment";

/// Adds the names of the tags that `text` closes, such as `prompt` for `{% endprompt %}`.
pub(super) fn closing_names(text: &str, names: &mut HashSet<String>) {
    for (at, sign) in text.match_indices("{%") {
        let rest = text[at + sign.len()..].trim_start_matches(['-', ' ', '\t', '\n']);
        let Some(rest) = rest.strip_prefix("end") else { continue };
        let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_')).unwrap_or(rest.len());
        if !names.contains(&rest[..end]) {
            names.insert(rest[..end].to_owned());
        }
    }
}

/// Removes the tags from Markdown. The title of a tag with content becomes bold text. The URL of a tag without content
/// becomes a link. `is_hidden` is `true` within a comment that a previous block opened, and is updated.
pub(super) fn removed<'s>(source: &'s str, paired: &HashSet<String>, is_hidden: &mut bool) -> Cow<'s, str> {
    if !source.contains("{%") {
        return Cow::Borrowed(if *is_hidden { "" } else { source });
    }
    let code = literal_ranges(source);
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    for tag in tag::tags(source, &code) {
        let Some(mut start) = source[at..tag.end].rfind("{%").map(|start| at + start) else { continue };
        let mut end = tag.end;
        // Hugo doubles the braces: `{{% notice %}}`.
        if start > at && source[..start].ends_with('{') && source[end..].starts_with('}') {
            (start, end) = (start - 1, end + 1);
        }
        if !*is_hidden {
            out.push_str(&source[at..start]);
            out.push_str(&shown(&tag, source, paired));
        }
        *is_hidden = match tag.name.strip_prefix("end") {
            Some(name) => *is_hidden && name != COMMENT,
            None => *is_hidden || (tag.name == COMMENT && paired.contains(COMMENT)),
        };
        at = end;
    }
    if *is_hidden {
        return Cow::Owned(out);
    }
    out.push_str(&source[at..]);
    Cow::Owned(out)
}

/// Returns `true` if a block contains the closing tag of a comment outside of code.
pub(super) fn ends_comment(block: &Block) -> bool {
    let mut ends = false;
    block.visit(&mut |block| {
        let is_code = matches!(block.kind, BlockKind::CodeLine { .. });
        let texts =
            block.nodes.iter().filter_map(|node| if let Node::Text(text) = node { Some(text) } else { None });
        ends |= !is_code && texts.flat_map(|text| &text.leaves).any(|leaf| leaf.text.contains("endcomment"));
    });
    ends
}

fn shown(tag: &tag::Tag<'_>, source: &str, paired: &HashSet<String>) -> String {
    let values = tag.values().unwrap_or_default();
    let value = |name: &str| {
        let found = values.iter().find(|value| value.name == name)?;
        Some(found.text(source).into_owned()).filter(|text| !text.trim().is_empty())
    };
    if paired.contains(tag.name) {
        let own = SHOWN.iter().find_map(|name| value(name));
        let title = [operation(value), own].into_iter().flatten().collect::<Vec<_>>().join(": ");
        let title = title.replace(['*', '<', '\n', '`', '['], " ");
        return if title.trim().is_empty() { String::new() } else { format!("**{}**\n", title.trim()) };
    }
    match value("url").or_else(|| value("src")) {
        Some(url) if url.contains(['<', '>', '\n']) => String::new(),
        Some(url) if url.contains("://") && !url.contains(char::is_whitespace) => format!("<{url}>"),
        Some(url) => match targets::read(&url) {
            ContentRef::Url { .. } => format!("[{}](<{url}>)", escaped(&url)),
            // A mention shows the name of its target.
            _ => format!("[x](<{url}> \"{}\")", targets::MENTION),
        },
        None => String::new(),
    }
}

/// Returns the operation that the values of a tag describe, such as `GET https://api.example.com/pets`.
fn operation(value: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (method, path) = (value("method")?, value("path")?);
    let host = value("baseUrl").or_else(|| value("host")).unwrap_or_default();
    Some(format!("{} {host}{path}", method.to_uppercase()))
}

/// Escapes all punctuation of a text for Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
