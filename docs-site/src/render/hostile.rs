//! Hostile pages: the size of the HTML is linear in the size of the Markdown.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-site --lib html_of_pages -- --nocapture` renders this many
//! pages.

use docs_core::{
    content::document::{parse, reading_view},
    model::{ExternalLinksTarget, Locale, MAX_PAGE_BYTES, SpaceId},
};
use docs_hostile::{MARKDOWN, MARKDOWN_FRAMES, Parser, ParserFn};

use super::{Counter, PrerenderedPage, RenderOptions, Renderer};
use crate::{
    address::{Addresses, ImageSchemes},
    html::Html,
    references::{ReusableContents, Specs},
    words::Words,
};

/// Maximum bytes of HTML per byte of Markdown, which an empty list item with a check box has.
const MAX_HTML_PER_BYTE: usize = 150;
/// Allowance in bytes of HTML for any page, for repeated definitions and footnotes.
const MAX_HTML: usize = 4 << 20;

#[test]
fn html_of_pages_is_linear_in_their_size() {
    docs_hostile::run_among_others(PARSERS);
}

#[test]
fn html_of_repeated_anchors_is_linear() {
    for heading in ["<h2 id=a>b</h2>\n\n", "## b {#a}\n\n", "## b <a href=\"#a\" id=\"a\"></a>\n\n"] {
        render(&heading.repeat(4_000));
    }
}

const PARSERS: &[Parser] = &[Parser {
    name: "pages as HTML",
    pieces: MARKDOWN,
    frames: MARKDOWN_FRAMES,
    most: MAX_PAGE_BYTES,
    own: 64 << 20,
    read: ParserFn::Text(render),
}];

fn render(text: &str) {
    let length = html(text).len();
    assert!(length <= MAX_HTML + MAX_HTML_PER_BYTE * text.len(), "{length} bytes for {}", text.len());
}

/// Returns the HTML of a page with this Markdown.
pub(super) fn html(text: &str) -> String {
    let document = reading_view(&parse(text)).into_owned();
    let words = Words::for_locale(Locale::En);
    let space = "space".parse::<SpaceId>().expect("an id");
    let options = RenderOptions { words, outside: ExternalLinksTarget::Own, loads: ImageSchemes::Encrypted };
    let Some(page) = PrerenderedPage::prerender(&document, &space, options) else { return String::new() };
    let (addresses, reused) = (Addresses::new(&[], "", &space), ReusableContents::new());
    let (specs, counter) = (Specs::default(), Counter::default());
    let renderer = Renderer {
        addresses: &addresses,
        reused: &reused,
        specs: &specs,
        words,
        outside: ExternalLinksTarget::Own,
        counter: &counter,
        gaps: None,
        anchors: None,
    };
    let mut html = Html::default();
    page.write(&mut html, &renderer);
    html.into_string()
}
