//! Character references: `&amp;`, `&#228;`, `&#xE4;`, with the names of the HTML standard.

use std::borrow::Cow;

use html5gum::{DefaultEmitter, State, Token, Tokenizer};

use super::emitter::WithoutErrors;

/// Maximum length of the name in a character reference.
const MAX_NAME: usize = 32;

/// Characters that an HTML tokenizer changes in addition to references. They are preserved by tokenizing only the text
/// between them.
const PRESERVED_CHARS: [char; 2] = ['\r', '\0'];

/// Resolves the character references of text between tags.
///
/// ```
/// use docs_markup::syntax::entity::decode;
/// assert_eq!(decode("a &lt; b &ouml; &#x1F680; &none;"), "a < b ö 🚀 &none;");
/// ```
#[must_use]
pub fn decode(text: &str) -> Cow<'_, str> {
    resolve(text, |piece, resolved| {
        let mut tokens = Tokenizer::new_with_emitter(piece, emitter());
        tokens.set_state(State::RcData);
        for token in tokens.flatten() {
            if let Token::String(text) = token {
                resolved.push_str(&String::from_utf8_lossy(&text));
            }
        }
    })
}

/// Resolves the character references of an attribute value, where `&copy=` is not a reference.
#[must_use]
pub fn decode_attribute(value: &str) -> Cow<'_, str> {
    resolve(value, |piece, resolved| {
        let tag = format!("<a b=\"{}\">", piece.replace('"', "&quot;"));
        for token in Tokenizer::new_with_emitter(tag.as_str(), emitter()).flatten() {
            if let Token::StartTag(tag) = token {
                let values = tag.attributes.values();
                values.for_each(|value| resolved.push_str(&String::from_utf8_lossy(value)));
            }
        }
    })
}

fn emitter() -> WithoutErrors<DefaultEmitter> {
    WithoutErrors(DefaultEmitter::default())
}

/// Resolves the segments of `text` that may contain references.
fn resolve(text: &str, read: impl Fn(&str, &mut String)) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut resolved = String::with_capacity(text.len());
    for line in text.split_inclusive(PRESERVED_CHARS) {
        let piece = line.trim_end_matches(PRESERVED_CHARS);
        match piece.contains('&') {
            true => read(piece, &mut resolved),
            false => resolved.push_str(piece),
        }
        resolved.push_str(&line[piece.len()..]);
    }
    Cow::Owned(resolved)
}

/// Returns the length of the reference at the beginning of `text`, including its semicolon. Accepts the references that
/// Markdown recognizes.
///
/// ```
/// use docs_markup::syntax::entity::reference;
/// assert_eq!(reference("&auml;x"), Some(6));
/// assert_eq!(reference("&nothing;"), None);
/// assert_eq!(reference("&copy=1"), None);
/// ```
#[must_use]
pub fn reference(text: &str) -> Option<usize> {
    let name = text.strip_prefix('&')?;
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'#';
    let length = name.bytes().take(MAX_NAME).take_while(is_part).count();
    let end = 1 + length + 1;
    let written = text.get(..end).filter(|written| written.ends_with(';'))?;
    // Some names are valid without a semicolon. They may be followed by more text, which remains in the result.
    let decoded = decode(written);
    (*decoded != *written && decoded.chars().count() <= 2).then_some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser};

    use super::*;

    /// Returns the text that Markdown produces for a single line.
    fn in_markdown(text: &str) -> String {
        let text_of = |event| match event {
            Event::Text(text) => text.into_string(),
            _ => String::new(),
        };
        Parser::new(text).map(text_of).collect()
    }

    #[test]
    fn character_references_require_a_semicolon() {
        for text in
            ["&amp;", "&semi;", "&CounterClockwiseContourIntegral;", "&NotEqualTilde;", "&#35;", "&#XcaB;"]
        {
            assert_eq!(reference(text), Some(text.len()), "{text}");
            assert_eq!(in_markdown(text), decode(text), "{text}");
        }
        for text in
            ["", "&", "&;", "&#;", "&#x;", "&amp", "&ampx;", "&ltx;", "&am p;", "x&amp;", "&no;", "&a#b;"]
        {
            assert_eq!(reference(text), None, "{text}");
        }
    }

    #[test]
    fn text_without_character_references_is_unchanged() {
        for text in
            ["", "&", "a\r\nb & c\0", "<title></title>&none;", "\"'&\u{feff}", "&#", "& amp;", "\u{feff}&"]
        {
            assert_eq!(decode(text), text);
            assert_eq!(decode_attribute(text), text);
        }
    }

    #[test]
    fn character_references_decode_as_in_the_html_standard() {
        // The input, the result between tags, and the result in an attribute.
        let table = [
            ("&lt;a&gt;\r\n&amp;", "<a>\r\n&", "<a>\r\n&"),
            ("&copy 1", "© 1", "© 1"),
            ("?a=1&copy=2", "?a=1©=2", "?a=1&copy=2"),
            ("&ampx", "&x", "&ampx"),
            ("&notit;", "¬it;", "&notit;"),
            ("&#0;&#x110000;&#xD800;", "\u{fffd}\u{fffd}\u{fffd}", "\u{fffd}\u{fffd}\u{fffd}"),
            ("&#x80;", "€", "€"),
            ("\"&quot;'", "\"\"'", "\"\"'"),
            ("&amp;amp;", "&amp;", "&amp;"),
        ];
        for (text, between, inside) in table {
            assert_eq!(decode(text), between, "{text}");
            assert_eq!(decode_attribute(text), inside, "{text}");
        }
    }

    #[test]
    fn references_longer_than_the_bound_are_text() {
        let of_name = |length: usize| reference(&format!("&#{:0>digits$};", 65, digits = length - 1));
        assert_eq!([MAX_NAME, MAX_NAME + 1].map(of_name), [Some(MAX_NAME + 2), None]);
    }

    proptest! {
        #[test]
        fn markdown_and_html_decode_the_same_entity_names(
            name in "(amp|lt|copy|not|nbsp|euro|AMP|Auml|nsubset|fjlig|hellip|[a-zA-Z]{1,8}|[a-z]{2,4}[0-9]{1,2})",
        ) {
            let text = format!("&{name};");
            let is_known = reference(&text).is_some();
            prop_assert_eq!(is_known, in_markdown(&text) != text);
            if is_known {
                let decoded = decode(&text);
                prop_assert_eq!(in_markdown(&text), decoded);
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in "(&|;|#|x|[a-z0-9]{0,3}|ä|\\PC){0,20}") {
            let length = reference(&text);
            prop_assert!(length.is_none_or(|length| text.get(..length).is_some()));
        }
    }
}
