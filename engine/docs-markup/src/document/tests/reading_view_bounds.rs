//! Bounds and general properties of the reading view.

use docs_model::{Block, BlockKind, MarkKind, Node};
use proptest::prelude::*;

use super::{
    linear::{SHAPES, of_shape},
    reading_view::blocks,
    *,
};
use crate::document::work_budget::steps_of;

/// Maximum number of processed bytes per input byte. Each byte is parsed at most twice as Markdown and once as HTML,
/// both in the text and in its definitions.
const STEPS: u64 = 12;
/// Length of each text, in bytes.
const BYTES: usize = 20_000;

/// Additional hostile texts.
const HOSTILE: &[(&str, &str, &str)] = &[
    ("<div>\n\n", "a\n\n", "</div>\n\n"),
    ("<ul><li>", "a", ""),
    ("<table><tr><td>", "a", ""),
    ("<td>", "a", "</tr>"),
    ("<b><i><a href=x>", "a", ""),
    ("</x></y>", "", ""),
    ("<!--", "", ""),
    ("<script>", "", ""),
    ("[^1]", "\n\n[^1]: note\n", ""),
    ("[^1]: [^1]\n", "", ""),
    ("[a]", "\n\n- [a]: /0123456789012345678901234567890123456789\n", ""),
    ("> [!NOTE]\n> a\n\n", "", ""),
    ("<a id=x></a>", "", ""),
    ("<u>a</u>\n\n", "", ""),
    ("http://a.b))))", "", ""),
    ("https://a(", "<u>b</u>", ""),
    ("\\", "<u>b</u>", ""),
    ("\\[^", "<u>b</u>", ""),
    (":a:", "", ""),
    ("a@", "b.c", ""),
    ("<td colspan=100>", "", ""),
    ("<details>\n\n", "", ""),
    ("{% x title=\"a\" %}\n", "", ""),
    ("{% x ", "", ""),
];

/// Texts in which a long part is repeated by short ones.
fn repetitive() -> Vec<(&'static str, String)> {
    let long = "u".repeat(BYTES / 2);
    let times = |text: &str| text.repeat(BYTES / 2 / text.len());
    let runs = times("*a*_b_ ");
    let spans = format!("<td rowspan=100 colspan=100>a{}", "<tr>".repeat(99));
    let forged = times("&#x10fffc;0&#x10fffd;");
    vec![
        ("spans of cells", format!("<table>{}", spans.repeat(BYTES / spans.len()))),
        ("a link around paragraphs", format!("<div><a href=\"{long}\">{}", times("<p>a"))),
        ("a title of a link around paragraphs", format!("<div><a href=x title=\"{long}\">{}", times("<p>a"))),
        ("a link around footnote references", format!("[{}]({long})\n\n[^1]: n\n", times("a[^1] "))),
        ("forged placeholders", format!("<i>x</i> [{long}](/y) {forged}")),
        ("references to a footnote of runs", format!("{}\n\n[^1]: <u>{runs}</u>\n", times("a[^1] "))),
        ("references to a footnote with a link", format!("{}\n\n[^1]: [a]({long})\n", times("a[^1] "))),
        ("images in a link", format!("<div><a href=\"{long}\">{}", times("<p><img src=a>"))),
    ]
}

/// Repetition is bounded by a constant, besides the memory that follows the length of the text.
#[test]
fn a_view_does_not_multiply_long_parts() {
    for (name, text) in repetitive() {
        let view = reading_view(&parse(&text)).into_owned();
        let taken = memory(&view);
        assert!(taken <= 6 * 1024 * 1024 + 60 * BYTES, "{name}: {taken} bytes of memory");
    }
}

#[test]
fn a_view_takes_work_that_follows_the_bytes() {
    for shape in SHAPES.iter().chain(HOSTILE) {
        let text = of_shape(*shape, BYTES);
        let document = parse(&text);
        let mut view = None;
        let steps = steps_of(|| view = Some(reading_view(&document).into_owned())) / text.len() as u64;
        assert!(steps <= STEPS, "{shape:?}: {steps} steps a byte");
        let taken = memory(&view.expect("a view"));
        assert!(taken <= 16 * 1024 * 1024 + 60 * BYTES, "{shape:?}: {taken} bytes of memory");
    }
}

#[test]
fn tables_beyond_the_memory_budget_keep_their_text() {
    let markdown = |cell: &str, count: usize| format!("|{}\n", format!("{cell}|").repeat(20)).repeat(count);
    let rows = 5_000;
    let spans = format!("<tr><td rowspan=100 colspan=100>b{}</tr>", "<tr></tr>".repeat(99));
    for (text, cells) in [
        (markdown("a", 1) + &markdown("-", 1) + &markdown("b", rows), rows * 20),
        (
            format!("<table>{}</table>", format!("<tr>{}</tr>", "<td>b</td>".repeat(20)).repeat(rows)),
            rows * 20,
        ),
        (format!("<table>{}</table>", spans.repeat(200)), 200),
    ] {
        let view = reading_view(&parse(&text)).into_owned();
        assert!(matches!(view.nodes[0].kind, BlockKind::Table(_)), "{:?}", view.nodes[0].kind);
        assert_eq!(plain_text(&view).matches('b').count(), cells);
        assert!(view.nodes.len() <= 4, "{} blocks", view.nodes.len());
        // The budget is 4 MiB and 20 bytes per byte of text. The estimate of a cell is one eighth of its memory.
        let (taken, budget) = (memory(&view), 4 * 1024 * 1024 + 20 * text.len());
        assert!(taken <= 8 * budget, "{taken} bytes of memory for {}", text.len());
    }
}

/// Calls a function with the text of each leaf outside of code.
fn each_text(all: &[Block], act: &mut impl FnMut(&str)) {
    fn nodes(all: &[Node], act: &mut impl FnMut(&str)) {
        for node in all {
            match node {
                Node::Text(text) => {
                    let own =
                        |leaf: &&docs_model::Leaf| leaf.marks.iter().all(|mark| mark.kind != MarkKind::Code);
                    text.leaves.iter().filter(own).for_each(|leaf| act(&leaf.text));
                }
                Node::Inline(inline) => {
                    nodes(&inline.nodes, act);
                    inline.fragments().iter().for_each(|fragment| each_text(&fragment.nodes, act));
                }
                Node::Block(block) => each_text(std::slice::from_ref(block), act),
            }
        }
    }
    for block in all.iter().filter(|block| !matches!(block.kind, docs_model::BlockKind::Code { .. })) {
        nodes(&block.nodes, act);
        block.fragments().iter().for_each(|fragment| each_text(&fragment.nodes, act));
    }
}

/// A block of Markdown that contains markup of several dialects.
pub(super) fn piece() -> impl Strategy<Value = String> {
    let inline = "(word|<u>in</u>|<a href=x target=y>l</a>|<!-- c -->|\\[x\\]|\\[\\^n\\]|<br/>|\\*b\\*|`c`|<img src=i width=9>){1,4}";
    (0..12_u8, inline).prop_map(|(kind, text)| match kind {
        0 => format!("## a{text} {{#id}}\n\n"),
        1 => format!("- {text}\n\n  [x]: /y\n\n"),
        2 => format!("> {text}\n>\n> [^n]: Note.\n\n"),
        3 => format!("<div class=a>\n\n{text}\n\n</div>\n\n"),
        4 => format!("<table><tr><td>{text}</td></table>\n\n"),
        5 => format!("| a |\n| - |\n| {text} | b |\n\n"),
        6 => format!("> [!NOTE]\n> {text}\n\n"),
        7 => format!("<details x><summary>s</summary>\n\n{text}\n\n</details>\n\n"),
        8 => format!("{{% prompt %}}\n{text}\n{{% endprompt %}}\n\n"),
        9 => "<script>\nx\n</script>\n\n".to_owned(),
        10 => "[x]: /z\n\n[^n]: Other.\n\n".to_owned(),
        _ => format!("{text}\n\n"),
    })
}

proptest! {
    #[test]
    fn a_view_shows_no_markup(pieces in proptest::collection::vec(piece(), 1..8)) {
        let text = pieces.concat() + "[x]: /z\n\n[^n]: Last.\n";
        let document = parse(&text);
        let view = reading_view(&document);
        let mut markup = Vec::new();
        each_text(&view.nodes, &mut |text| {
            let signs = ["<u", "<a", "<d", "<t", "<s", "<!--", "</", "]: /", "[^n]", "{#id}", "[!NOTE]", "{%"];
            if signs.iter().any(|sign| text.contains(sign)) {
                markup.push(text.to_owned());
            }
        });
        prop_assert!(markup.is_empty(), "{text:?} shows {markup:?}");
        let again = reading_view(&view);
        prop_assert_eq!(blocks(&again.nodes), blocks(&view.nodes), "{:?}", text);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "(<|>|/|!|--|\\[|\\]|\\^|:|#|`|\\*|\\||-|\\n|\\n\\n| |a|b|div|td|tr|table|li|ul|p|summary|details|pre|code|\\{%|%\\}|\u{10fffc}|0|\u{10fffd}|\\PC){0,60}") {
        let document = parse(&text);
        let view = reading_view(&document);
        let _ = plain_text(&view);
        let _ = reading_view(&view);
    }
}

/// A page of one repeated construct takes memory that follows its length. Constructs beyond the budget are text.
#[test]
fn a_view_of_a_large_page_takes_bounded_memory() {
    const PAGE: usize = 950_000;
    let notes = "\n\n[^1]: note\n";
    for (unit, end) in [
        ("# a\n\n", ""),
        ("# a\n", ""),
        ("a\n===\n", ""),
        ("<h2>a</h2>\n", ""),
        ("a\n\n", ""),
        ("**a**\n\n", ""),
        ("`a`\n\n", ""),
        ("- a\n", ""),
        (":a: ", ""),
        ("![](a)\n\n", ""),
        ("$$a$$\n\n", ""),
        ("[a](b) ", ""),
        ("a[^1] ", notes),
        ("`a` ", ""),
        ("https://a.b ", ""),
        ("a@b.cd ", ""),
        ("<details>a</details>\n", ""),
    ] {
        let text = unit.repeat(PAGE / unit.len()) + end;
        let view = reading_view(&parse(&text)).into_owned();
        let taken = memory(&view);
        assert!(taken <= 46 * PAGE, "{unit:?}: {taken} bytes of memory");
        let mut headings = 0;
        for block in &view.nodes {
            block.visit(&mut |block| headings += usize::from(matches!(block.kind, BlockKind::Heading1(_))));
        }
        assert!(headings <= 13_000, "{unit:?}: {headings} headings");
    }
}
