//! HTML of descriptions, for front ends that insert it into their pages.
//!
//! The HTML has no elements and attributes except those written here, regardless of the Markdown and of the HTML in it.

use crate::{
    content::document::{into_reading_view, parse, plain_text},
    model::{Block, BlockKind, ContentRef, Document, Inline, InlineKind, Leaf, Mark, MarkKind, Node},
};

/// Schemes of links. Other links are text.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// Returns the HTML of a description in Markdown.
pub(super) fn from_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    into_reading_view(parse(text)).nodes.iter().for_each(|block| add_block(block, &mut out));
    out
}

/// Returns the HTML of a text without markup.
pub(super) fn from_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    element("p", &mut out, |out| escape(text, out));
    out
}

fn element(name: &str, out: &mut String, content: impl FnOnce(&mut String)) {
    out.extend(["<", name, ">"]);
    content(out);
    out.extend(["</", name, ">"]);
}

fn escape(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

fn add_nodes(nodes: &[Node], out: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) => text.leaves.iter().for_each(|leaf| add_leaf(leaf, &leaf.marks, out)),
            Node::Inline(inline) => add_inline(inline, out),
            Node::Block(block) => add_block(block, out),
        }
    }
}

fn add_leaf(leaf: &Leaf, marks: &[Mark], out: &mut String) {
    let Some((mark, rest)) = marks.split_first() else { return escape(&leaf.text, out) };
    let name = match mark.kind {
        MarkKind::Bold => "strong",
        MarkKind::Italic => "em",
        MarkKind::Strikethrough => "del",
        MarkKind::Code | MarkKind::Keyboard => "code",
        MarkKind::Superscript => "sup",
        MarkKind::Subscript => "sub",
        MarkKind::Color { .. } => return add_leaf(leaf, rest, out),
    };
    element(name, out, |out| add_leaf(leaf, rest, out));
}

fn add_inline(inline: &Inline, out: &mut String) {
    match &inline.kind {
        InlineKind::Link { target: ContentRef::Url { url }, .. } if is_link(url) => {
            out.push_str("<a href=\"");
            escape(url, out);
            out.push_str("\" rel=\"nofollow noopener\">");
            add_nodes(&inline.nodes, out);
            out.push_str("</a>");
        }
        InlineKind::InlineMath { formula, .. } => element("code", out, |out| escape(formula, out)),
        _ => add_nodes(&inline.nodes, out),
    }
}

/// Returns `true` for an address with a permitted scheme. Browsers ignore case and control characters in schemes, so
/// the address must begin exactly with it.
fn is_link(url: &str) -> bool {
    SCHEMES.iter().any(|scheme| url.starts_with(scheme)) && !url.chars().any(char::is_control)
}

fn add_block(block: &Block, out: &mut String) {
    let inside = |out: &mut String| add_nodes(&block.nodes, out);
    match &block.kind {
        BlockKind::Paragraph { .. } => element("p", out, inside),
        BlockKind::Heading1(_) => element("h3", out, inside),
        BlockKind::Heading2(_) => element("h4", out, inside),
        BlockKind::Heading3(_) => element("h5", out, inside),
        BlockKind::ListUnordered {} | BlockKind::ListTasks {} => element("ul", out, inside),
        BlockKind::ListOrdered { start: Some(start) } => {
            out.push_str(&format!("<ol start=\"{start}\">"));
            inside(out);
            out.push_str("</ol>");
        }
        BlockKind::ListOrdered { start: None } => element("ol", out, inside),
        BlockKind::ListItem { .. } => element("li", out, inside),
        BlockKind::Blockquote {} | BlockKind::Hint { .. } => element("blockquote", out, inside),
        BlockKind::Divider {} => out.push_str("<hr>"),
        BlockKind::Code { .. } => element("pre", out, |out| element("code", out, inside)),
        BlockKind::CodeLine { .. } => {
            inside(out);
            out.push('\n');
        }
        _ => {
            let text = plain_text(&Document::new(vec![block.clone()]));
            element("p", out, |out| escape(&text, out));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_html() {
        for (text, html) in [
            ("Lists **all** `pets`.", "<p>Lists <strong>all</strong> <code>pets</code>.</p>"),
            (
                "* one\n* [two](https://x.test/?a=1&b=2)",
                "<ul><li><p>one</p></li><li><p><a href=\"https://x.test/?a=1&amp;b=2\" rel=\"nofollow noopener\">two</a>\
                 </p></li></ul>",
            ),
            ("3. three\n4. four", "<ol start=\"3\"><li><p>three</p></li><li><p>four</p></li></ol>"),
            ("## Title\n\n> quoted", "<h3>Title</h3><blockquote><p>quoted</p></blockquote>"),
            ("```js\na < b\n```", "<pre><code>a &lt; b\n</code></pre>"),
        ] {
            assert_eq!(from_markdown(text), html, "{text}");
        }
    }

    #[test]
    fn hostile_descriptions_have_no_elements_of_their_own() {
        for text in [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "[x](javascript:alert(1))",
            "[x](\u{1}javascript:alert(1))",
            "[x](https://x.test/\"onmouseover=alert(1))",
            "`<b onclick=alert(1)>`",
            "<a href=\"javascript:alert(1)\">x</a>",
            "| a |\n| --- |\n| <svg onload=alert(1)> |",
        ] {
            for html in [from_markdown(text), from_text(text)] {
                let tags = html.split('<').skip(1);
                for tag in tags {
                    let name: String =
                        tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
                    assert!(["p", "a", "code", "strong", "em"].contains(&&*name), "{text}: {html}");
                    let head = tag.split('>').next().unwrap_or_default();
                    assert!(!head.contains("javascript") && !head.contains(" on"), "{text}: {html}");
                }
            }
        }
    }
}
