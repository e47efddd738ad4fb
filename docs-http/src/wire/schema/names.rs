//! Names of components, and text that lives as long as the program.

use std::{collections::HashSet, sync::LazyLock};

use parking_lot::Mutex;
use percent_encoding::percent_decode_str;

use super::COMPONENTS;

/// The name with `_` for all that is neither letter nor digit: what generators of clients can use as it is.
pub(super) fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// The component that a `$ref` refers to.
pub(super) fn referred(reference: &str) -> String {
    let name = reference.strip_prefix(COMPONENTS).unwrap_or(reference);
    let decoded = percent_decode_str(name).decode_utf8_lossy();
    clean(&decoded.replace("~1", "/").replace("~0", "~"))
}

/// `insert_files` and `share-link` as `InsertFiles` and `ShareLink`.
pub(super) fn pascal(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .flat_map(|word| {
            let mut chars = word.chars();
            chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars)
        })
        .collect()
}

/// The same text, kept for good, as the registry of poem-openapi asks for.
///
/// Each distinct text is kept once for the whole program. These are names and descriptions from the source code, so
/// their number is bounded by it and not by what clients send.
pub(super) fn keep(text: &str) -> &'static str {
    static KEPT: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut kept = KEPT.lock();
    if let Some(known) = kept.get(text) {
        return known;
    }
    let text: &'static str = Box::leak(Box::from(text));
    kept.insert(text);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_digits_and_underscores() {
        assert_eq!(clean("Themed<String>"), "Themed_String_");
        assert_eq!(referred("#/components/schemas/Themed%3CString%3E"), "Themed_String_");
        assert_eq!(pascal("insert_files"), "InsertFiles");
        assert_eq!(pascal("share-link"), "ShareLink");
    }

    #[test]
    fn text_is_kept_once() {
        let first = keep(&String::from("some text"));
        assert!(std::ptr::eq(first, keep("some text")));
    }
}
