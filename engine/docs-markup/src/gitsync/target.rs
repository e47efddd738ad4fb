//! Classification of link destinations.

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum DestinationKind {
    /// No destination.
    Empty,
    /// A web URL, or a URL with another scheme.
    Url,
    /// An anchor on the same page.
    Anchor,
    Local(Local),
}

/// A path in a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Local {
    /// The path with its escapes decoded.
    pub(super) path: String,
    /// The path as given in the source.
    pub(super) written: String,
    /// The anchor after `#`.
    pub(super) anchor: Option<String>,
}

/// Parses a destination.
pub(super) fn read(destination: &str) -> DestinationKind {
    let text = destination.trim();
    if text.is_empty() {
        return DestinationKind::Empty;
    }
    if text.starts_with('#') {
        return DestinationKind::Anchor;
    }
    if text.starts_with("//") || has_scheme(text) {
        return DestinationKind::Url;
    }
    let (path, anchor) = text.split_once('#').unwrap_or((text, ""));
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    if path.is_empty() {
        return DestinationKind::Anchor;
    }
    DestinationKind::Local(Local {
        path: decode(path),
        written: path.to_owned(),
        anchor: (!anchor.is_empty()).then(|| anchor.to_owned()),
    })
}

/// Returns `true` if `text` begins with a URL scheme, such as `https:`.
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// Decodes percent escapes. Returns the text unchanged if the result is not valid UTF-8.
fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escape = if *byte == b'%' { text.get(at + 1..at + 3) } else { None };
        match escape.and_then(hex) {
            Some(value) => {
                decoded.push(value);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).unwrap_or_else(|_| text.to_owned())
}

fn hex(digits: &str) -> Option<u8> {
    if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        u8::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_classified() {
        for url in
            ["https://a.b", "mailto:a@b.c", "//a.b/c", "HTTP:x", "tel:+1", "data:image/png;base64,AA=="]
        {
            assert_eq!(read(url), DestinationKind::Url, "{url}");
        }
        for (text, path, anchor) in [
            ("a.md", "a.md", None),
            (" ../a%20b.md#x ", "../a b.md", Some("x")),
            ("a.png?raw=true", "a.png", None),
            ("100%.md", "100%.md", None),
            ("%zz%+1%4", "%zz%+1%4", None),
            ("a%FF.md", "a%FF.md", None),
            ("%C3%A4.md", "ä.md", None),
            ("1:2.md", "1:2.md", None),
            ("a/b:c.md", "a/b:c.md", None),
            ("a.md#", "a.md", None),
        ] {
            let DestinationKind::Local(local) = read(text) else { panic!("{text}") };
            assert_eq!((local.path.as_str(), local.anchor.as_deref()), (path, anchor), "{text}");
        }
        assert_eq!(read("#x"), DestinationKind::Anchor);
        assert_eq!(read("?x"), DestinationKind::Anchor);
        assert_eq!(read("  "), DestinationKind::Empty);
    }
}
