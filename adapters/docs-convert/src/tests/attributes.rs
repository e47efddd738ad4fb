//! Oversized tags are parsed on the stack of a runtime thread.

use docs_ports::ConvertError;
use html5gum::{DefaultEmitter, Token, Tokenizer};
use proptest::prelude::*;

use super::html;
use crate::{dom::ROOT, html::parse, tokens::tokens};

/// Stack size of runtime threads.
const STACK: usize = 2 * 1024 * 1024;
/// A number of repetitions that exceeds the stack even with the minimum of 16 bytes per call.
const MUCH: usize = 1_000_000;
/// A number of attributes that exceeds the stack with one call per attribute.
const MANY: usize = 200_000;

/// Parses on a thread with the stack size of the runtime. Returns the number of elements and text nodes.
fn parsed(text: String) -> Result<usize, ConvertError> {
    let work = move || parse(&text).map(|dom| dom.descendants(ROOT, |_| false).count());
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().expect("it does not panic")
}

/// Encodes a number as a short name.
fn name(mut number: usize) -> String {
    let mut name = String::from("n");
    while number > 0 {
        name.push(char::from(b'a' + u8::try_from(number % 26).expect("a letter")));
        number /= 26;
    }
    name
}

/// Generates attributes with a literal value.
fn attributes(many: usize, named: fn(usize) -> String, value: &str) -> String {
    (0..many).map(|number| format!(" {}{value}", named(number))).collect()
}

#[test]
fn tag_with_thousands_of_attributes_is_parsed() {
    for value in ["=\"v\"", "='v'", "=v", "", "=\"\"", " = \"v\"", "=\"&amp;\"", "=\"v\"x='v'y=\"v\""] {
        for named in [name, |_| "same".to_owned()] {
            let many = attributes(7_500, named, value);
            for text in [
                format!("<p{many}>t</p>"),
                format!("<p>t</p{many}>"),
                format!("<p>t<br{many}/></p>"),
                format!("<script{many}></script{many}>t"),
                format!("<p>t<!--{many}--><!{many}><?{many}>"),
                format!("<!DOCTYPE html{many}><p>t"),
                format!("<p{many}"),
            ] {
                let start: String = text.chars().take(40).collect();
                assert!(parsed(text).is_ok(), "{start}");
            }
        }
    }
}

#[test]
fn tags_with_many_attributes_do_not_overflow_the_stack() {
    for value in ["=\"\"", "=''", "=a"] {
        let many = attributes(MANY, name, value);
        assert_eq!(parsed(format!("<p{many}>t")).expect(value), 2);
    }
    let many = attributes(MANY, name, "=\"\"");
    assert_eq!(parsed(format!("<p>t</p{many}>")).expect("a tag"), 2);
    let many = attributes(MANY, |_| "same".to_owned(), "=\"v\"");
    assert_eq!(parsed(format!("<p{many}>t")).expect("a tag"), 2);
}

#[test]
fn href_among_thousands_of_attributes_is_parsed() {
    let many = attributes(7_500, name, "=\"a > b\"");
    let page = html(&format!(
        "<h1>T</h1><p>see <a{many} href=\"https://a.test/?x=1&amp;y=2\"{many}>more</a{many}> of it"
    ));
    assert_eq!(page.markdown, "see [more](https://a.test/?x=1&y=2) of it\n");
}

/// Fragments of HTML that are repeated on their own.
const ALONE: &[&str] = &[
    "<a x=\"1\" y=\"2\">",
    "</a x=\"1\" y=\"2\">",
    "<a x='1' y='2'>",
    "<a x=1 y=2>",
    "<a =\"\"=\"\">",
    "<div>",
    "</div>",
    "<b>",
    "<p x=\"",
    "\" y=\"",
    "<!--x-->",
    "<!---",
    "<!-->",
    "<!x>",
    "<![CDATA[x]]>",
    "<!DOCTYPE a PUBLIC \"b\" \"c\">",
    "<!DOCTYPE a SYSTEM 'c' ",
    "<?x?>",
    "&amp;",
    "&#65;",
    "&#x41",
    "&nosuch;",
    "&",
    "<",
    "</",
    "\0",
    "\r\n",
    "<script><!--<script>",
    "<style>x</style>",
    "<title>&lt;</title>",
    "<textarea>",
    "<svg/><path/>",
    "<table><tr><td>",
    "<ul><li>",
    "\u{1f600}",
    "x ",
];

/// Fragments that are repeated between a start and an end.
const WITHIN: &[(&str, &str, &str)] = &[
    ("<a ", "x=\"1\" ", ">"),
    ("<a ", "x=\"1\"", ">"),
    ("<a ", "x=\"&amp;\" ", ">"),
    ("<a ", "x='1' ", ">"),
    ("<a ", "x=1 ", ">"),
    ("<a ", "x ", ">"),
    ("<a ", "= ", ">"),
    ("<a ", "/ ", ">"),
    ("<a ", "\"' ", ">"),
    ("<a x=\"", "&amp;", "\">"),
    ("<a x=\"", "\r\n", "\">"),
    ("</a ", "x=\"1\"\t", ">"),
    ("</script ", "x=\"1\"\n", ">"),
    ("<script></script ", "x=\"1\" ", ">"),
    ("<!--", "-", "-->"),
    ("<!--", "<!--", "-->"),
    ("<!--", "--!", "-->"),
    ("<!DOCTYPE ", "x ", ">"),
    ("<!DOCTYPE x PUBLIC \"", "x ", "\">"),
];

#[test]
fn megabyte_of_repeated_markup_does_not_overflow_the_stack() {
    for part in ALONE {
        let text = part.repeat(MUCH / part.len());
        let parsed = parsed(text);
        assert!(
            !matches!(parsed, Err(ConvertError::Unreadable(_) | ConvertError::Failed(_))),
            "{part}: {parsed:?}"
        );
    }
}

#[test]
fn megabyte_inside_a_construct_does_not_overflow_the_stack() {
    for (open, part, close) in WITHIN {
        let text = format!("{open}{}{close}t", part.repeat(MUCH / part.len()));
        assert!(parsed(text).is_ok(), "{open}{part}");
    }
}

/// Generates a tag with attributes of every kind, mixed with other HTML.
fn soup() -> impl Strategy<Value = String> {
    let space = prop::sample::select(vec!["", " ", "  ", "\n", "\t", "\r\n", "\r", "/", " / ", "\u{c}"]);
    let value = prop::sample::select(vec![
        "", "v", "a b", "&amp;", "&", "&#x41;", "&ampx=", "'", ">", "<p>", "\0", "\r", "\r\n", "ä😀", "=",
        "/", "--",
    ]);
    let equals = prop::sample::select(vec!["=", " =", "= ", " = \r\n", "==", ""]);
    let quote = prop::sample::select(vec!["\"", "\"", "'", "", "`"]);
    let name = "[a-cA-Z\"'<=0é]{0,3}";
    let attribute = (space, name, equals, quote, value).prop_map(|(space, name, equals, quote, value)| {
        format!("{space}{name}{equals}{quote}{value}{quote}")
    });
    let attributes = prop::collection::vec(attribute, 0..8).prop_map(|all| all.concat());
    let open = prop::sample::select(vec![
        "<a",
        "</a",
        "<P",
        "<title",
        "</title",
        "<script",
        "</script",
        "<br",
        "<!",
        "<!--",
        "<!DOCTYPE a",
        "<?",
        "<svg",
    ]);
    let close = prop::sample::select(vec![">", ">", "/>", "-->", "", "\0"]);
    let tag =
        (open, attributes, close).prop_map(|(open, attributes, close)| format!("{open}{attributes}{close}"));
    let text = prop::sample::select(vec!["t", " ", "&lt;", "&", "<", "\r\n", "]]>", "<![CDATA[", "\0", "-"]);
    let piece = prop_oneof![4 => tag, 1 => text.prop_map(str::to_owned)];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn emitter() -> DefaultEmitter {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    emitter
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pausing_the_tokenizer_does_not_change_its_tokens(text in soup()) {
        let is_no_error = |token: &Token| !matches!(token, Token::Error(_));
        let paused: Vec<Token> = tokens(&text, emitter()).filter(is_no_error).collect();
        let whole = Tokenizer::new_with_emitter(&text, emitter()).filter_map(Result::ok);
        let whole: Vec<Token> = whole.filter(is_no_error).collect();
        prop_assert_eq!(paused, whole);
    }
}
