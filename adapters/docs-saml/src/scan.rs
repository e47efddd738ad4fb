//! Document limits, checked before parsing.
//!
//! Messages need only elements and text. Therefore everything that begins with `<!` or `<?` is rejected: document types
//! with entities, comments (which would split text), processing instructions and CDATA sections. Every remaining `<`
//! starts a tag, so tags can be counted reliably by scanning bytes.

use docs_ports::SamlRefused;

use crate::refusal::refuse;

/// Maximum number of elements.
const MAX_ELEMENTS: usize = 4_000;
/// Maximum nesting depth.
const MAX_ELEMENT_DEPTH: usize = 32;
/// Maximum number of attributes per element, including namespace declarations.
const MAX_ATTRIBUTES: usize = 32;
/// Maximum number of equals signs anywhere in the document. The XML library allocates an attribute for each of them,
/// even within text.
const MAX_EQUALS: usize = 4 * MAX_ELEMENTS;
/// Maximum number of namespace declarations in a document.
const MAX_NAMESPACES: usize = 256;
/// Maximum number of namespace declarations in scope of an element, own and inherited. Canonicalization visits all of
/// them for each element.
const MAX_IN_SCOPE: usize = 32;
/// Maximum length of a namespace declaration in bytes: prefix plus URI.
const MAX_DECLARATION: usize = 256;

/// Rejects a document that exceeds the limits or contains anything but elements and text.
pub(crate) fn check(text: &str) -> Result<(), SamlRefused> {
    if text.bytes().filter(|byte| *byte == b'=').count() > MAX_EQUALS {
        return Err(refuse(format!("it must have at most {MAX_EQUALS} equals signs")));
    }
    let mut rest = skip_declaration(text)?.as_bytes();
    let (mut elements, mut namespaces) = (0, 0);
    // For each open element, the number of namespace declarations in scope.
    let mut open: Vec<usize> = Vec::new();
    while let Some(at) = rest.iter().position(|byte| *byte == b'<') {
        let tag = XmlTag::read(&rest[at + 1..])?;
        rest = &rest[at + 1 + tag.length..];
        namespaces += tag.namespaces;
        let in_scope = open.last().unwrap_or(&0) + tag.namespaces;
        match tag.kind {
            TagForm::End => drop(open.pop()),
            TagForm::Start => {
                elements += 1;
                open.push(in_scope);
            }
            TagForm::Empty => elements += 1,
        }
        if in_scope > MAX_IN_SCOPE {
            return Err(refuse(format!("an element must have at most {MAX_IN_SCOPE} namespaces in scope")));
        }
        if elements > MAX_ELEMENTS || open.len() > MAX_ELEMENT_DEPTH || namespaces > MAX_NAMESPACES {
            return Err(refuse(format!(
                "it must have at most {MAX_ELEMENTS} elements, {MAX_ELEMENT_DEPTH} levels and {MAX_NAMESPACES} \
                 namespaces"
            )));
        }
    }
    Ok(())
}

/// Returns the text after the XML declaration, if there is one.
fn skip_declaration(text: &str) -> Result<&str, SamlRefused> {
    let text = text.trim_start();
    let Some(declaration) = text.strip_prefix("<?xml ") else { return Ok(text) };
    let open = || refuse("it is not XML: its declaration is not closed");
    let (declaration, rest) = declaration.split_once("?>").ok_or_else(open)?;
    let declaration = declaration.to_ascii_lowercase();
    match declaration.split_once("encoding") {
        Some((_, encoding)) if !encoding.contains("utf-8") => Err(refuse("its encoding must be UTF-8")),
        _ => Ok(rest),
    }
}

enum TagForm {
    Start,
    Empty,
    End,
}

/// A tag, starting after its `<`.
struct XmlTag {
    kind: TagForm,
    length: usize,
    namespaces: usize,
}

impl XmlTag {
    fn read(text: &[u8]) -> Result<Self, SamlRefused> {
        let first = match text.first() {
            Some(b'!') if text.starts_with(b"!DOCTYPE") => {
                return Err(refuse("it must not have a document type"));
            }
            Some(b'!' | b'?') => {
                return Err(refuse("it must not have comments, CDATA sections or processing instructions"));
            }
            first => first,
        };
        let (mut quote, mut attributes, mut namespaces) = (None, 0, 0);
        let mut declaration = None;
        for (at, byte) in text.iter().enumerate() {
            match (quote, byte) {
                (Some(open), byte) if open == *byte => {
                    quote = None;
                    if declaration.take().is_some_and(|start| at - start > MAX_DECLARATION) {
                        return Err(refuse(format!(
                            "a namespace declaration must be at most {MAX_DECLARATION} bytes"
                        )));
                    }
                }
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(*byte),
                (None, b'=') => attributes += 1,
                (None, b'x') if text[at..].starts_with(b"xmlns") => {
                    namespaces += 1;
                    declaration = declaration.or(Some(at));
                }
                (None, b'<') => break,
                (None, b'>') => {
                    let kind = match (first, text[..at].last()) {
                        (Some(b'/'), _) => TagForm::End,
                        (_, Some(b'/')) => TagForm::Empty,
                        _ => TagForm::Start,
                    };
                    return Ok(Self { kind, length: at + 1, namespaces });
                }
                (None, _) => {}
            }
            if attributes > MAX_ATTRIBUTES {
                return Err(refuse(format!("an element must have at most {MAX_ATTRIBUTES} attributes")));
            }
        }
        Err(refuse("it is not XML: a tag is not closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_is_accepted_up_to_the_structural_limits() {
        let nested = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        let attributes = |n: usize| {
            let all: String = (0..n).map(|n| format!(" a{n}='<>\"'")).collect();
            // `<` within quotes is not well-formed and is rejected by the parser. `>` is well-formed.
            format!("<a{}/>", all.replace('<', ""))
        };
        let namespaces = |n: usize| {
            let all: String = (0..n / 2).map(|n| format!(" xmlns:a{n}='b'")).collect();
            let more: String = (n / 2..n).map(|n| format!(" xmlns:a{n}='b'")).collect();
            format!("<a{all}><a{more}/></a>")
        };
        let declared = |bytes: usize| format!("<a xmlns='{}'/>", "b".repeat(bytes - "xmlns='".len()));
        for right in [
            "<a/>",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a b='1>2'>x</a>",
            &nested(MAX_ELEMENT_DEPTH),
            &format!("<a>{}</a>", "<b/>".repeat(MAX_ELEMENTS - 1)),
            &attributes(MAX_ATTRIBUTES),
            &namespaces(MAX_IN_SCOPE),
            &format!("<a>{}</a>", namespaces(MAX_IN_SCOPE).repeat(MAX_NAMESPACES / MAX_IN_SCOPE)),
            &declared(MAX_DECLARATION),
            &format!("<a>{}</a>", "=".repeat(MAX_EQUALS)),
        ] {
            assert_eq!(check(right), Ok(()), "{}", &right[..right.len().min(60)]);
        }
        for (wrong, said) in [
            (nested(MAX_ELEMENT_DEPTH + 1), "levels"),
            (format!("<a>{}</a>", "<b/>".repeat(MAX_ELEMENTS)), "elements"),
            (attributes(MAX_ATTRIBUTES + 1), "attributes"),
            (format!("<a>{}</a>", "<b xmlns='c'/>".repeat(MAX_NAMESPACES + 1)), "256 namespaces"),
            (namespaces(MAX_IN_SCOPE + 1), "at most 32 namespaces in scope"),
            (format!("<a xmlns:b='c'>{}</a>", namespaces(MAX_IN_SCOPE)), "at most 32 namespaces in scope"),
            (declared(MAX_DECLARATION + 1), "a namespace declaration must be at most 256 bytes"),
            (format!("<a>{}</a>", "=".repeat(MAX_EQUALS + 1)), "at most 16000 equals signs"),
        ] {
            let refused = check(&wrong).expect_err(said).to_string();
            assert!(refused.contains(said), "{refused}");
        }
    }

    #[test]
    fn doctypes_comments_and_malformed_xml_are_refused() {
        for (wrong, said) in [
            ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "document type"),
            ("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "document type"),
            ("<a><!-- b --></a>", "comments"),
            ("<a><![CDATA[b]]></a>", "comments"),
            ("<a><?b?></a>", "comments"),
            ("<?b?><a/>", "comments"),
            ("<?xml version='1.0' encoding='UTF-16'?><a/>", "UTF-8"),
            ("<?xml version='1.0'", "declaration"),
            ("<a b='>", "not closed"),
            ("<a <b>", "not closed"),
            ("<", "not closed"),
        ] {
            let refused = check(wrong).expect_err(wrong).to_string();
            assert!(refused.contains(said), "{wrong}: {refused}");
        }
    }
}
