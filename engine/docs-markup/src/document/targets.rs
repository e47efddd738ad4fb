//! Link targets of a document. A destination such as `/pages/<page>` becomes a reference if printing that reference
//! results in the same text. Any other destination becomes a URL, so every target is printed as it was written.

use docs_model::ContentRef;

use crate::reference;

/// The title of a link that makes it a mention.
pub(super) const MENTION: &str = "mention";

/// Parses a destination.
pub(crate) fn read(destination: &str) -> ContentRef {
    parse_known(destination)
        .filter(|target| write(target) == destination)
        .unwrap_or_else(|| ContentRef::Url { url: destination.to_owned() })
}

fn parse_known(destination: &str) -> Option<ContentRef> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    if let Some(anchor) = destination.strip_prefix('#') {
        return some(anchor).map(|anchor| ContentRef::Anchor { anchor, page: None, space: None });
    }
    match destination.split_once('#') {
        Some((path, anchor)) => reference::parse_path(path, Some(&some(anchor)?)),
        None => reference::parse_path(destination, None),
    }
}

/// Prints a reference as a destination.
pub(super) fn write(target: &ContentRef) -> String {
    reference::destination(target)
}

/// Returns the label that a mention without a label of its own has in Markdown.
pub(super) fn default_label(destination: &str) -> &str {
    destination.trim_end_matches('/').rsplit('/').next().unwrap_or(destination)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_destinations_are_parsed_as_urls_verbatim() {
        for text in [
            "",
            "#",
            "/pages/",
            "/pages/a b",
            "/pages/p#",
            "/spaces/s/x",
            "/files/f#a",
            "a.md",
            "https://x.y/#z",
        ] {
            assert_eq!(read(text), ContentRef::Url { url: text.to_owned() }, "{text}");
        }
    }
}
