//! Limits of documents: a construct at the limit is preserved; one beyond it is cut, flattened or rejected.

use docs_ports::DocumentFormat;

use super::{document, html, refused};
use crate::{MAX_MARKDOWN_BYTES, convert};

#[test]
fn a_markdown_document_larger_than_its_bound_is_refused() {
    let text = |bytes: usize| convert(&document(DocumentFormat::Markdown, "a".repeat(bytes)));
    assert!(text(MAX_MARKDOWN_BYTES).is_ok());
    let message = refused(text(MAX_MARKDOWN_BYTES + 1));
    assert!(message.contains("at most 2500000 bytes, has 2500001"), "{message}");
}

#[test]
fn an_attribute_longer_than_its_bound_is_cut() {
    let address = |bytes: usize| format!("https://e.example/{}", "a".repeat(bytes - 18));
    let linked = |bytes: usize| html(&format!("<p><a href=\"{}\">x</a></p>", address(bytes))).markdown;
    assert!(linked(8_192).contains(&address(8_192)));
    let cut = linked(8_193);
    assert!(cut.contains(&address(8_192)) && !cut.contains(&address(8_193)));
}

#[test]
fn a_table_wider_than_its_bound_is_text() {
    let table = |columns: usize| {
        let row = |cell: &str| format!("<tr>{}</tr>", format!("<{cell}>a</{cell}>").repeat(columns));
        html(&format!("<table><thead>{}</thead><tbody>{}</tbody></table>", row("th"), row("td"))).markdown
    };
    assert!(table(40).contains("| a |"));
    assert!(!table(41).contains('|'));
}

#[test]
fn more_tabs_than_the_bound_follow_each_other() {
    let tabs = |count: usize| {
        let titles = "<button role=tab>t</button>".repeat(count);
        let panels = "<div role=tabpanel>p</div>".repeat(count);
        html(&format!("<div><div role=tablist>{titles}</div>{panels}</div>")).markdown
    };
    assert_eq!(tabs(50).matches("{% tab ").count(), 50);
    assert!(!tabs(51).contains("{% tab"));
}

#[test]
fn a_formula_longer_than_its_bound_is_text() {
    let inline =
        |bytes: usize| html(&format!("<p>a <math alttext=\"{}\"></math></p>", "x".repeat(bytes))).markdown;
    assert!(inline(4_000).starts_with("a $$x"));
    assert!(inline(4_001).starts_with("a `x"));
    let delimited = |bytes: usize| {
        let text = format!("\\[{}\\]", "x".repeat(bytes - 4));
        html(&format!("<div class=math>{text}</div>")).markdown
    };
    assert!(delimited(16_384).contains("$$"));
    assert!(!delimited(16_385).contains("$$"));
}
