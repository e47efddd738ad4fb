//! Code fences and alerts of Markdown dialects.

use docs_model::{Block, BlockKind, HintStyle, Leaf, MarkKind, Node, TextNode};

use super::super::{simple_blocks::paragraph, spelling};

/// Returns the language and the title from the info string of a code fence, such as `rust,ignore`, `{.js}` or
/// `js title="a.js"`.
pub(super) fn fence(info: &str) -> (&str, Option<String>) {
    let trimmed = info.trim();
    let first = trimmed
        .trim_start_matches(['{', ' '])
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | '{' | '}' | '"'))
        .next()
        .unwrap_or_default();
    let language = first.trim_start_matches('.');
    let is_attribute = language.contains('=') || language.starts_with('#');
    let named = ["title=", "filename=", "file="].into_iter().find_map(|name| {
        let rest = trimmed.split_once(name)?.1;
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let value = match quote {
            Some(quote) => rest[1..].split(quote).next()?,
            None => rest.split(|c: char| c.is_whitespace() || matches!(c, ',' | '}')).next()?,
        };
        Some(value.to_owned()).filter(|value| !value.is_empty())
    });
    (if is_attribute { "" } else { language }, named)
}

/// Returns the style and content of a quotation that is a GitHub alert, such as `> [!NOTE]`.
pub(super) fn alert(block: &Block) -> Option<(HintStyle, Vec<Node>)> {
    let (BlockKind::Blockquote {}, Some(Node::Block(first))) = (&block.kind, block.nodes.first()) else {
        return None;
    };
    let Some(Node::Text(text)) = first.nodes.first() else { return None };
    let leaf = text.leaves.first().filter(|leaf| leaf.marks.is_empty())?;
    let (name, rest) = leaf.text.trim_start().strip_prefix("[!")?.split_once(']')?;
    let (style, title) = alert_style(name)?;
    // A sign after the name folds the alert in Obsidian.
    let is_end = |rest: &&str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    let rest = rest.strip_prefix(['-', '+']).filter(is_end).unwrap_or(rest);
    if !is_end(&rest) {
        return None;
    }
    let mut nodes = block.nodes.clone();
    let Some(Node::Block(own)) = nodes.first_mut() else { return None };
    let Some(Node::Text(text)) = own.nodes.first_mut() else { return None };
    let leaf = text.leaves.first_mut()?;
    *leaf = Leaf::new(rest.trim_start(), Vec::new());
    own.key = None;
    let is_empty = own.nodes.len() == 1 && spelling::text_of_nodes(&own.nodes).trim().is_empty();
    if is_empty {
        nodes.remove(0);
    }
    if let Some(title) = title {
        let title = Leaf::new(title, vec![MarkKind::Bold.into()]);
        nodes.insert(0, Node::Block(paragraph(vec![Node::Text(TextNode::new(vec![title]))])));
    }
    Some((style, nodes))
}

/// Returns the style and title of an alert. Only unknown alerts, such as `[!EXAMPLE]`, have a title.
fn alert_style(name: &str) -> Option<(HintStyle, Option<String>)> {
    let style = match name.to_ascii_uppercase().as_str() {
        "NOTE" | "INFO" | "IMPORTANT" => HintStyle::Info,
        "TIP" | "SUCCESS" => HintStyle::Success,
        "WARNING" => HintStyle::Warning,
        "CAUTION" | "DANGER" => HintStyle::Danger,
        _ => {
            let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
            let is_name = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(is_part);
            let title = name.replace('-', " ").to_ascii_lowercase();
            let (first, rest) = title.split_at_checked(1).filter(|_| is_name)?;
            return Some((HintStyle::Info, Some(first.to_ascii_uppercase() + rest)));
        }
    };
    Some((style, None))
}
