//! Limits of documents: a construct at the limit is preserved; one beyond it is cut, flattened or rejected.

use docs_ports::{Document, DocumentFormat};

use super::{document, html, refused};
use crate::{MAX_CONVERTED_BYTES, MAX_MARKDOWN_BYTES, convert};

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

/// Lists, tables and links that repeat a text for each of their lines, cells or destinations.
#[test]
fn markdown_longer_than_the_bound_of_a_page_is_cut() {
    let lists = "<ol start=999999999><li>".repeat(8);
    let base = format!("<base href=\"https://e.example/{}/\">", "a".repeat(8_000));
    for text in [
        format!("{lists}{}", "x<br>".repeat(40_000)),
        format!("{lists}<pre>{}", "x\n".repeat(100_000)),
        format!("{lists}{}", "<li>x".repeat(40_000)),
        format!("{}{}", "<blockquote>".repeat(8), "x<br>".repeat(140_000)),
        format!("<table><tr>{}{}", "<td>a".repeat(40), "<tr><td>a".repeat(20_000)),
        format!("{base}<p>{}", "<a href=x>a</a> ".repeat(2_000)),
        format!("{base}<p>{}", "<img src=x> ".repeat(2_000)),
        format!("{base}{}", "<figure><img src=x><figcaption>a</figcaption></figure>".repeat(2_000)),
        format!("{base}{}", "<iframe src=x></iframe>".repeat(2_000)),
        format!("{lists}{base}{}", "<h2><a href=x>a</a></h2>".repeat(2_000)),
    ] {
        const MAX_FILE: usize = docs_markup::markdown::MAX_PAGE_FILE_BYTES as usize;
        let start: String = text.chars().filter(|c| *c != 'a').take(60).collect();
        let source = Document {
            url: Some("https://e.example/".to_owned()),
            ..document(DocumentFormat::Html, text.into_bytes())
        };
        let page = convert(&source).expect("a page");
        let reported: usize = page.links.iter().map(String::len).sum();
        assert!(page.markdown.len() <= MAX_CONVERTED_BYTES, "{start}: {} bytes", page.markdown.len());
        assert!(page.markdown.capacity() <= 2 * MAX_CONVERTED_BYTES, "{start}");
        assert!(page.markdown.len() > MAX_FILE, "{start}: a part of it would be a page");
        assert!(reported <= MAX_CONVERTED_BYTES, "{start}: {reported} bytes of links");
    }
}

/// The cut does not depend on the format.
#[test]
fn markdown_whose_addresses_grow_is_cut() {
    let url = Some(format!("https://e.example/{}/", "a".repeat(8_000)));
    let text = "[a](b)\n\n".repeat(2_000);
    let page = convert(&Document { url, ..document(DocumentFormat::Markdown, text) }).expect("a page");
    assert!(page.markdown.len() <= MAX_CONVERTED_BYTES, "{} bytes", page.markdown.len());
}

#[test]
fn a_title_longer_than_its_bound_is_cut() {
    let titled = |characters: usize| {
        html(&format!("<title>{}</title>x", "ä".repeat(characters))).title.chars().count()
    };
    assert_eq!([999, 1_000, 1_001].map(titled), [999, 1_000, 1_000]);
}
