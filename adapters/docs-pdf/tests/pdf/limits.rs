//! Exceeding a limit is reported as an error.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use docs_model::{Block, BlockKind, ContentRef, Document};
use docs_pdf::{Fonts, Limits, Typesetter};
use docs_ports::{Book, Pdf as _, PdfError};
use serde_json::{Value, json};

use crate::{book, id, page, paragraph};

fn with(limits: Limits) -> Typesetter {
    Typesetter::new(Fonts::default(), limits)
}

#[tokio::test]
async fn page_limit_error_contains_limit_and_actual_count() {
    let pages = (0..21).map(|at| page(&format!("p{at}"), "A page", Vec::new())).collect();
    let done = with(Limits { pages: 20, ..Limits::default() }).render(Arc::new(book("Many", pages))).await;
    let Err(PdfError::TooLarge(why)) = done else { panic!("{done:?}") };
    assert!(why.contains("20") && why.contains("21"), "{why}");
}

#[tokio::test]
async fn twenty_thousand_pages_exceed_the_default_limit() {
    let pages = (0..20_000).map(|at| page(&format!("p{at}"), "A page", vec![paragraph("x")])).collect();
    let done = Typesetter::default().render(Arc::new(book("Many", pages))).await;
    assert!(matches!(done, Err(PdfError::TooLarge(_))), "{done:?}");
}

#[tokio::test]
async fn more_parts_than_the_limit_are_refused() {
    let blocks = (0..100).map(|_| paragraph("x")).collect();
    let typesetter = with(Limits { parts: 90, ..Limits::default() });
    let done = typesetter.render(Arc::new(book("Much", vec![page("p1", "A page", blocks)]))).await;
    assert!(matches!(done, Err(PdfError::TooLarge(_))), "{done:?}");
}

#[tokio::test]
async fn a_file_larger_than_the_limit_is_refused() {
    let typesetter = with(Limits { bytes: 1_000, ..Limits::default() });
    let done = typesetter.render(Arc::new(book("A book", vec![page("p1", "A page", Vec::new())]))).await;
    assert!(matches!(done, Err(PdfError::TooLarge(_))), "{done:?}");
}

#[tokio::test]
async fn render_timeout_does_not_panic_the_typesetter() {
    let (before, panicked) = (std::panic::take_hook(), Arc::new(AtomicBool::new(false)));
    let seen = Arc::clone(&panicked);
    std::panic::set_hook(Box::new(move |info| {
        let is_typesetter = std::thread::current().name() == Some("typesetter");
        seen.fetch_or(is_typesetter, Ordering::SeqCst);
        before(info);
    }));
    let text = |at: usize| (0..1_000).map(|n| paragraph(&format!("some words {at} {n}"))).collect();
    let pages = (0..400).map(|at| page(&format!("p{at}"), "A page", text(at))).collect();
    let slow = Arc::new(book("Slow", pages));
    for milliseconds in [1, 50, 200] {
        let time = Duration::from_millis(milliseconds);
        let begun = Instant::now();
        let done = with(Limits { time, ..Limits::default() }).render(Arc::clone(&slow)).await;
        assert!(matches!(done, Err(PdfError::TooSlow(_))), "{milliseconds}: {done:?}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{milliseconds}: {:?}", begun.elapsed());
    }
    assert!(!panicked.load(Ordering::SeqCst), "time that is over is no fault");
}

#[tokio::test]
async fn concurrent_renders_above_the_limit_all_complete() {
    let typesetter = with(Limits { at_once: 1, ..Limits::default() });
    let one = Arc::new(book("A book", vec![page("p1", "A page", vec![paragraph("x")])]));
    let (a, b, c) = tokio::join!(
        typesetter.render(Arc::clone(&one)),
        typesetter.render(Arc::clone(&one)),
        typesetter.render(one)
    );
    let a = a.expect("a file");
    // The output is deterministic.
    assert_eq!((Ok(a.clone()), Ok(a)), (b, c));
}

/// Returns a block that embeds reusable content.
fn embed(name: &str) -> Block {
    let target = ContentRef::ReusableContent { reusable_content: id(name), space: None };
    Block::new(BlockKind::ReusableContent { target }, Vec::new())
}

/// Returns a page that embeds the same 64 KiB of reusable content 900 times.
fn embedded_everywhere() -> Book {
    let mut book = book("Embeds", vec![page("p1", "A page", (0..900).map(|_| embed("r1")).collect())]);
    let text = paragraph(&"words of a text ".repeat(4_096));
    book.reusables.insert(id("r1"), Arc::new(Document::new(vec![text])));
    book
}

/// Returns a block or paragraph for each field that can contain text, with the placeholder TEXT.
fn all_texts() -> Vec<Value> {
    let block = |kind: &str, data: Value| json!({ "object": "block", "type": kind, "data": data });
    let text = json!({ "object": "text", "leaves": [{ "object": "leaf", "text": "TEXT", "marks": [] }] });
    let with = |kind: &str, data: Value, nodes: Value| json!({ "object": "block", "type": kind, "data": data, "nodes": nodes });
    let inline = |kind: &str, data: Value| {
        let inline = json!({ "object": "inline", "type": kind, "data": data, "nodes": [] });
        json!({ "object": "block", "type": "paragraph", "data": {}, "nodes": [inline] })
    };
    let url = json!({ "kind": "url", "url": "https://example.com/TEXT" });
    let spec = json!({ "kind": "openapi", "spec": "TEXT" });
    let gone = json!({ "kind": "file", "file": "none" });
    let paragraph = with("paragraph", json!({}), json!([text]));
    let table = json!({
        "view": { "type": "grid", "columns": ["a"], "hideHeader": false },
        "records": { "r": { "orderIndex": "0", "values": {} } },
        "definition": { "a": { "id": "a", "title": "TEXT", "type": "number" } },
    });
    vec![
        paragraph.clone(),
        with("heading-1", json!({}), json!([text])),
        with("blockquote", json!({}), json!([paragraph])),
        with("code", json!({}), json!([with("code-line", json!({}), json!([text]))])),
        with("code", json!({ "title": "TEXT" }), json!([])),
        block("math", json!({ "formula": "\\nonsense{TEXT}" })),
        with("tabs", json!({}), json!([with("tabs-item", json!({ "title": "TEXT" }), json!([]))])),
        with("images", json!({}), json!([block("image", json!({ "ref": gone, "alt": "TEXT" }))])),
        block("embed", json!({ "url": "https://example.com/TEXT" })),
        block("content-ref", json!({ "ref": url })),
        block("integration", json!({ "integration": "TEXT", "block": "b", "props": {} })),
        block("openapi-operation", json!({ "path": "/TEXT", "method": "post", "ref": url })),
        block("openapi-schemas", json!({ "schemas": ["Pet"], "ref": spec })),
        block("table", table),
        inline("link", json!({ "ref": url })),
        inline("mention", json!({ "ref": spec })),
        inline("inline-image", json!({ "ref": gone, "alt": "TEXT" })),
        inline("inline-math", json!({ "formula": "\\nonsense{TEXT}" })),
        inline("expression", json!({ "expression": "TEXT" })),
        inline("button", json!({ "label": "TEXT", "kind": "primary" })),
        inline("button", json!({ "label": "a", "kind": "primary", "ref": url })),
    ]
}

#[test]
fn texts_of_all_kinds_count_towards_the_limit() {
    let long = "words ".repeat(500).replace(' ', "-");
    for template in all_texts() {
        let block: Block =
            serde_json::from_str(&template.to_string().replace("TEXT", &long)).expect("a block");
        let one = book("Text", vec![page("p1", "A page", vec![block])]);
        let set = |text| with(Limits { text, ..Limits::default() }).set(&one);
        assert!(set(4 * long.len()).is_ok(), "{template}");
        assert!(matches!(set(long.len() - 1), Err(PdfError::TooLarge(_))), "{template}");
    }
    let titled = book("Text", vec![page("p1", &long, Vec::new())]);
    let done = with(Limits { text: long.len() - 1, ..Limits::default() }).set(&titled);
    assert!(matches!(done, Err(PdfError::TooLarge(_))), "{done:?}");
}

#[test]
fn reusable_contents_count_at_each_place() {
    let embeds = embedded_everywhere();
    let (done, bytes) = docs_hostile::own_peak_of(|| Typesetter::default().set(&embeds));
    assert!(matches!(done, Err(PdfError::TooLarge(_))), "{} bytes", done.map_or(0, |file| file.len()));
    // The text of one page is lowered before it is laid out.
    assert!(bytes < 64 << 20, "{bytes}");
}
