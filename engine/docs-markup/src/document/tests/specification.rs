//! The examples of the GitHub Flavored Markdown specification. Readers see exactly the text of the expected HTML.

use docs_model::{Block, BlockKind, Inline, InlineKind, Node};
use html5gum::{Token, Tokenizer};

use super::{super::emoji_names, *};

/// The examples with their attribution.
const EXAMPLES: &str = include_str!("specification.txt");

/// Examples whose visible text differs, with the reason.
const EXCEPTIONS: &[(&str, &[usize])] = &[
    ("preformatted text continues after an empty line", &[118]),
    ("the text after a style without an end is shown", &[142]),
    ("an HTML block ends at the end of its processing instruction", &[149]),
    ("brackets around a link or before a reference are part of its label", &[524, 525, 544, 577]),
    ("the title of an image is its caption", &[578, 579, 582, 583, 590, 591, 592, 594, 595, 597]),
    ("comments and declarations end as in HTML, which the specification adopted later", &[643, 644, 647]),
    ("disallowed elements are dropped instead of escaped", &[651]),
];

struct Example {
    number: usize,
    title: &'static str,
    markdown: String,
    html: String,
}

fn examples() -> Vec<Example> {
    let fence = "`".repeat(32);
    let mut out = Vec::new();
    for part in EXAMPLES.split(&format!("{fence} example gfm ")).skip(1) {
        let (title, rest) = part.split_once('\n').expect("a title");
        let (number, title) = title.split_once(": ").expect("a number");
        let body = rest.split(&fence).next().expect("a body").replace('→', "\t");
        let (markdown, html) = match body.strip_prefix(".\n") {
            Some(html) => (String::new(), html.to_owned()),
            None => {
                let (markdown, html) = body.split_once("\n.\n").expect("Markdown and HTML");
                (format!("{markdown}\n"), html.to_owned())
            }
        };
        out.push(Example { number: number.parse().expect("a number"), title, markdown, html });
    }
    out
}

/// Returns the text that a browser displays for HTML, without whitespace.
fn text_of_html(html: &str) -> String {
    let mut out = Vec::new();
    let mut hidden = None;
    for token in Tokenizer::new(html).flatten() {
        match token {
            Token::StartTag(tag) if matches!(tag.name.as_slice(), b"script" | b"style") => {
                hidden = Some(tag.name);
            }
            Token::EndTag(tag) if hidden.as_ref() == Some(&tag.name) => hidden = None,
            Token::String(text) if hidden.is_none() => out.extend_from_slice(&text),
            _ => {}
        }
    }
    without_space(&String::from_utf8_lossy(&out))
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns the text of blocks, without alternative texts of images.
fn text_of_blocks(blocks: &[Block], out: &mut String) {
    for block in blocks {
        if let BlockKind::Table(data) = &block.kind {
            data.definition.values().for_each(|column| out.push_str(&column.title));
        }
        text_of_nodes(&block.nodes, out);
        for fragment in block.fragments() {
            text_of_blocks(&fragment.nodes, out);
        }
    }
}

fn text_of_nodes(nodes: &[Node], out: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) => text.leaves.iter().for_each(|leaf| out.push_str(&leaf.text)),
            Node::Inline(inline) => text_of_inline(inline, out),
            Node::Block(block) => text_of_blocks(std::slice::from_ref(block), out),
        }
    }
}

fn text_of_inline(inline: &Inline, out: &mut String) {
    match &inline.kind {
        InlineKind::Emoji { code } => out.push_str(&emoji_names::text(code).unwrap_or_default()),
        InlineKind::InlineMath { formula } => out.push_str(formula),
        _ => text_of_nodes(&inline.nodes, out),
    }
}

#[test]
fn every_example_of_the_specification_is_readable() {
    let examples = examples();
    assert!(examples.len() > 650, "{}", examples.len());
    let mut wrong = String::new();
    let mut count = 0;
    for Example { number, title, markdown, html } in &examples {
        let document = parse(markdown);
        assert_eq!(update(markdown, &document).unwrap(), *markdown, "the source of {number} is unchanged");
        let mut found = String::new();
        text_of_blocks(&reading_view(&document).nodes, &mut found);
        let (found, expected) = (without_space(&found), text_of_html(html));
        let is_exception = EXCEPTIONS.iter().any(|(_, numbers)| numbers.contains(number));
        if (found == expected) == is_exception {
            count += 1;
            wrong.push_str(&format!(
                "\n{number} {title}\n{markdown}  expected: {expected}\n  found:    {found}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "{count} examples:{wrong}");
}
