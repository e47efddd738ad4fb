//! HTML in the text of pages: every element of the allow-list with every attribute, each with malicious values.
//!
//! The output is checked by a strict parser: every tag is well-formed, has no element or attribute that runs a script,
//! applies a style or sends a request, and has no URL with another scheme.

use std::collections::BTreeSet;

use super::hostile::html;

/// The elements that the reading view interprets, and the dropped elements.
const ELEMENTS: &str = "a abbr address applet article aside audio b blockquote body br button canvas caption center cite \
    code col colgroup datalist dd del details dfn div dl dt em embed fieldset figcaption figure font footer form h1 h2 \
    h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins kbd li link main mark math menu meta nav object \
    ol p picture pre q s samp script search section select small source span strike strong style sub summary sup svg \
    table tbody td template textarea tfoot th thead title tr tt u ul unknown var video";

/// The attributes that the reading view reads, and attributes that run scripts, apply styles or send requests.
const ATTRIBUTES: &str = "align alt autofocus background cite class code colspan content data data-code data-mention \
    formaction height href id lang media name onclick onerror onload open ping poster src srcdoc srcset start style tag \
    target title type value width xlink:href";

/// A value that is allowed in URLs.
const HARMLESS: &str = "https://harmless.test/a.png";

/// Values of attributes: URLs that run scripts, styles, and values that close their attribute or tag.
const VALUES: [&str; 8] = [
    "javascript:alert(1)",
    " JaVa&#9;ScRiPt&colon;alert(1)",
    "data:text/html,&lt;script&gt;alert(1)&lt;/script&gt; 2x, vbscript:alert(1) 3x",
    "text-align:center;background:url(javascript:alert(1))",
    "x&quot; onerror=&quot;alert(1)&quot; style=&quot;top:0",
    "language-&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;",
    "(prefers-color-scheme: dark)",
    HARMLESS,
];

/// Elements that never occur in a page.
const FORBIDDEN_ELEMENTS: &str = "applet audio base body embed form frame frameset head html iframe link meta object script style template title video";
/// Attributes that never occur in a page, in addition to event handlers.
const FORBIDDEN_ATTRIBUTES: &str = "action autofocus background data formaction http-equiv nonce ping poster srcdoc style xlink:href xml:base";
/// Attributes whose value is a URL.
const URLS: [&str; 3] = ["href", "src", "srcset"];

/// An element of the output with its attributes.
struct Tag<'h> {
    name: &'h str,
    attributes: Vec<(&'h str, String)>,
}

/// Parses the tags of the output. Panics on any other use of `<`.
fn tags(html: &str) -> Vec<Tag<'_>> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':');
    let word = |text: &str| text.find(|c| !is_name(c)).unwrap_or(text.len());
    let mut out = Vec::new();
    let mut rest = html;
    while let Some((_, behind)) = rest.split_once('<') {
        let opening = behind.strip_prefix('/').unwrap_or(behind);
        let (name, mut tag) = opening.split_at(word(opening));
        assert!(!name.is_empty(), "an incomplete tag: <{behind:.80}");
        let mut attributes = Vec::new();
        while let Some(after) = tag.strip_prefix(' ') {
            let (name, after) = after.split_at(word(after));
            let (value, after) = after
                .strip_prefix("=\"")
                .map_or(("", after), |after| after.split_once('"').expect("a closed attribute"));
            attributes.push((name, decoded(value)));
            tag = after;
        }
        rest = tag.strip_prefix('>').unwrap_or_else(|| panic!("a tag with another form: <{behind:.80}"));
        out.push(Tag { name, attributes });
    }
    out
}

fn decoded(value: &str) -> String {
    value.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns `true` for a relative URL, or one with a scheme that runs no script.
fn is_harmless(url: &str) -> bool {
    let bare: String = url.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
    let scheme = bare.split(['/', '?', '#']).next().and_then(|start| start.split_once(':'));
    scheme.is_none_or(|(scheme, _)| {
        ["http", "https", "mailto", "tel"].iter().any(|own| scheme.eq_ignore_ascii_case(own))
    })
}

/// Checks the output for Markdown, and returns its elements and attributes with a harmless URL.
fn check(source: &str) -> BTreeSet<String> {
    check_html(&html(source), source)
}

fn check_html(html: &str, source: &str) -> BTreeSet<String> {
    let mut harmless = BTreeSet::new();
    for Tag { name, attributes } in tags(html) {
        let is_listed = |list: &str, name: &str| list.split_whitespace().any(|own| own == name);
        assert!(!is_listed(FORBIDDEN_ELEMENTS, name), "<{name}> from {source}");
        for (attribute, value) in attributes {
            let is_forbidden = attribute.starts_with("on") || is_listed(FORBIDDEN_ATTRIBUTES, attribute);
            assert!(!is_forbidden, "{attribute}={value:?} of <{name}> from {source}");
            let is_url = URLS.contains(&attribute);
            assert!(!is_url || is_harmless(&value), "{attribute}={value:?} of <{name}> from {source}");
            if is_url && value == HARMLESS {
                harmless.insert(format!("{name} {attribute}"));
            }
        }
    }
    harmless
}

#[test]
fn no_element_with_any_attribute_is_dangerous() {
    let mut harmless = BTreeSet::new();
    for element in ELEMENTS.split_whitespace() {
        // All values of an attribute are one page.
        for attribute in ATTRIBUTES.split_whitespace() {
            let pieces =
                VALUES.iter().map(|value| format!("<{element} {attribute}=\"{value}\">x</{element}>\n\n"));
            harmless.append(&mut check(&pieces.collect::<String>()));
        }
    }
    let expected = ["a href", "img src"].map(str::to_owned);
    assert_eq!(harmless, expected.into(), "harmless URLs are shown");
}

#[test]
fn no_combination_of_attributes_is_dangerous() {
    for element in ELEMENTS.split_whitespace() {
        for value in VALUES {
            let all: String =
                ATTRIBUTES.split_whitespace().map(|name| format!(" {name}=\"{value}\"")).collect();
            let own = format!("<{element}{all}>x</{element}>");
            check(&format!("a {own} b\n\n{own}\n\n<table><tr><td>{own}</td></tr></table>\n\n> {own}\n"));
        }
    }
}

#[test]
#[should_panic(expected = "onclick")]
fn check_finds_an_event_handler() {
    check_html("<p class=\"a\">x</p><a href=\"/\" onclick=\"y\">", "a test");
}
