//! The labels that authors write for references to URLs. Other references show the current name of their target.

use docs_model::{Block, BlockKind, ContentRef, Inline, InlineKind};

use super::{
    html::{self, Html},
    parse, plain_text, reading_view,
    targets::default_label,
    texts::mention_source,
};

/// Returns the label of a mention of a URL, without marks, or `None` if it has none.
///
/// # Example
/// ```
/// use docs_markup::document::{mention_label, parse};
/// use docs_model::Node;
///
/// let document = parse("[The *API*](https://example.com \"mention\")\n");
/// let Node::Inline(mention) = &document.nodes[0].nodes[0] else { panic!("a mention") };
/// assert_eq!(mention_label(mention).as_deref(), Some("The API"));
/// ```
#[must_use]
pub fn mention_label(mention: &Inline) -> Option<String> {
    let InlineKind::Mention { target: ContentRef::Url { url } } = &mention.kind else { return None };
    match mention.spelling.as_deref().filter(|source| source.ends_with([')', '>'])) {
        None => Some(default_label(url).to_owned()).filter(|label| !label.is_empty()),
        Some(source) => match mention_source(source) {
            Some(label) => visible(label),
            None => html_label(source),
        },
    }
}

/// Returns the label of a card for a URL, without marks, or `None` if it has none.
#[must_use]
pub fn card_label(card: &Block) -> Option<String> {
    let BlockKind::ContentRef { target: ContentRef::Url { .. } } = &card.kind else { return None };
    let (label, _) = card.spelling.as_deref()?.split_once("%}")?.1.rsplit_once("{%")?;
    visible(label)
}

fn html_label(source: &str) -> Option<String> {
    let tree = html::tree(&source[source.find('<')?..])?;
    let [Html::Element(element)] = tree.as_slice() else { return None };
    Some(element.text().trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns the text that readers see for a label in Markdown.
fn visible(label: &str) -> Option<String> {
    let text = plain_text(&reading_view(&parse(label.trim())));
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use docs_model::DocumentPart;

    use super::*;

    /// Returns the labels of all references in a text, in order.
    fn labels(markdown: &str) -> Vec<Option<String>> {
        let source = parse(markdown);
        let document = reading_view(&source);
        let mut out = Vec::new();
        for part in document.parts() {
            match part {
                DocumentPart::Inline(inline) if matches!(inline.kind, InlineKind::Mention { .. }) => {
                    out.push(mention_label(inline));
                }
                DocumentPart::Block(block) if matches!(block.kind, BlockKind::ContentRef { .. }) => {
                    out.push(card_label(block));
                }
                DocumentPart::Inline(_) | DocumentPart::Block(_) => {}
            }
        }
        out
    }

    #[test]
    fn labels_of_references_to_urls_are_read() {
        let card = "{% content-ref url=\"https://a.test\" %}\n[A *b* \\[c\\]](https://a.test)\n\
                    {% endcontent-ref %}\n";
        for (markdown, label) in [
            ("[Beam](https://a.test/b \"mention\")\n", Some("Beam")),
            ("[A *b* \\[c\\] `d`](https://a.test \"mention\")\n", Some("A b [c] d")),
            ("**x [Beam](https://a.test \"mention\")**\n", Some("Beam")),
            ("[a.md](x/a.md \"mention\")\n", Some("a.md")),
            ("**[a.md](x/a.md \"mention\")**\n", Some("a.md")),
            ("[](https://a.test \"mention\")\n", None),
            ("[a](/pages/a \"mention\")\n", None),
            ("<a href=\"https://a.test\" data-mention>A &amp; b</a>\n", Some("A & b")),
            ("| a |\n| --- |\n| [Beam](https://a.test \"mention\") |\n", Some("Beam")),
            (card, Some("A b [c]")),
            ("{% content-ref url=\"/pages/a\" %}\n[A](/pages/a)\n{% endcontent-ref %}\n", None),
        ] {
            assert_eq!(labels(markdown), [label.map(str::to_owned)], "{markdown}");
        }
    }
}
