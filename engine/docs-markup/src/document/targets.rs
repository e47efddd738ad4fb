//! Where a link of a document leads: a reference where a destination is written exactly as one, and an address with
//! the text as it is everywhere else. So what is read is written as it was.

use docs_model::ContentRef;

use crate::reference;

/// The reference that a destination is.
pub(crate) fn read(destination: &str) -> ContentRef {
    known(destination)
        .filter(|target| write(target) == destination)
        .unwrap_or_else(|| ContentRef::Url { url: destination.to_owned() })
}

fn known(destination: &str) -> Option<ContentRef> {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    if let Some(anchor) = destination.strip_prefix('#') {
        return some(anchor).map(|anchor| ContentRef::Anchor { anchor, page: None, space: None });
    }
    match destination.split_once('#') {
        Some((path, anchor)) => reference::named(path, Some(&some(anchor)?)),
        None => reference::named(destination, None),
    }
}

/// The destination that a reference is written as.
pub(super) fn write(target: &ContentRef) -> String {
    reference::destination(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_reference_is_an_address_as_it_is() {
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
