//! HTML pages are tokenized by the standard tokenizer, HTML within Markdown by that of `docs-markup`. Both must agree
//! on well-formed tags.

use docs_markup::syntax::html::{self, TagKind};
use html5gum::{DefaultEmitter, Token};
use proptest::prelude::*;

/// A tag: its name and attributes. The name of an end tag begins with `/`.
type Tag = (String, Vec<(String, String)>);

fn by_standard(text: &str) -> Vec<Tag> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let text_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let tag = |token: Token<()>| match token {
        Token::StartTag(tag) => {
            let own = tag.attributes.iter().map(|(name, value)| (text_of(name), text_of(value)));
            Some((text_of(&tag.name), own.collect()))
        }
        Token::EndTag(tag) => Some((format!("/{}", text_of(&tag.name)), Vec::new())),
        Token::String(_) | Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => None,
    };
    crate::tokens::tokens(text, emitter).filter_map(tag).collect()
}

fn by_markup(text: &str) -> Vec<Tag> {
    let tag = |token| match token {
        html::HtmlToken::Tag(tag) if tag.kind == TagKind::Closing => {
            Some((format!("/{}", tag.name.to_ascii_lowercase()), Vec::new()))
        }
        html::HtmlToken::Tag(tag) => {
            let mut own: Vec<(String, String)> = Vec::new();
            for attribute in &tag.attributes {
                let name = attribute.name.to_ascii_lowercase();
                if own.iter().all(|(known, _)| *known != name) {
                    own.push((name, tag.value(attribute).unwrap_or_default().into_owned()));
                }
            }
            own.sort();
            Some((tag.name.to_ascii_lowercase(), own))
        }
        html::HtmlToken::Text(_) | html::HtmlToken::Comment(_) => None,
    };
    html::tokens(text, 0..text.len()).filter_map(tag).collect()
}

/// Generates pages of complete tags. The two tokenizers treat unterminated tags differently.
fn page() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        Just("a".to_owned()),
        Just("IMG".to_owned()),
        Just("o:p".to_owned()),
        Just("script".to_owned()),
        Just("Title".to_owned()),
        "[a-z][a-z0-9_.é\"-]{0,3}",
    ];
    let value = prop_oneof![
        Just(String::new()),
        "( |)=( |\n|)\"[a-z<>' &;=é/]{0,5}(&amp;|&ouml;|&copy=|&#65;|)\"",
        "( |)=( |)'[a-z<>\" &;=é/]{0,5}'",
        "( |)=( |)[a-z&;/`=é][a-z&;/\"'`=é]{0,4}",
    ];
    let attribute = ("( |\n|\t| /)[a-zA-Z:@é][a-z]{0,2}", value).prop_map(|(name, value)| name + &value);
    let tag = (name, "(|/)", proptest::collection::vec(attribute, 0..4), "( |)(/|)")
        .prop_map(|(name, close, attributes, end)| format!("<{close}{name}{}{end}>", attributes.concat()));
    let piece = prop_oneof![
        5 => tag,
        2 => "[a-z &;>é\"']{0,6}",
        1 => "<!--[a-z !'][a-z <>!']{0,4}-->",
        1 => Just("<!---->".to_owned()),
        1 => Just("<!-->".to_owned()),
        1 => "<[ 0-9=]{1,2}",
        1 => Just("</script>".to_owned()),
        1 => Just("</title >".to_owned()),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn both_html_tokenizers_agree_on_complete_tags(text in page()) {
        let sorted = |mut tags: Vec<Tag>| {
            tags.iter_mut().for_each(|(_, attributes)| attributes.sort());
            tags
        };
        prop_assert_eq!(sorted(by_markup(&text)), sorted(by_standard(&text)), "{}", text);
    }
}
