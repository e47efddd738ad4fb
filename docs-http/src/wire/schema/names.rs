//! Component names, and interned strings.

use std::{collections::HashSet, sync::LazyLock};

use parking_lot::Mutex;
use percent_encoding::percent_decode_str;

/// Prefix of component references in an OpenAPI document.
pub(super) const COMPONENTS: &str = "#/components/schemas/";

/// Replaces all characters except letters and digits by `_`, so that client generators can use the name unchanged.
pub(super) fn sanitize(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Returns the component name of a `$ref`.
pub(super) fn component_name(reference: &str) -> String {
    let name = reference.strip_prefix(COMPONENTS).unwrap_or(reference);
    let decoded = percent_decode_str(name).decode_utf8_lossy();
    sanitize(&decoded.replace("~1", "/").replace("~0", "~"))
}

/// Converts to Pascal case: `insert_files` and `share-link` become `InsertFiles` and `ShareLink`.
pub(super) fn pascal(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .flat_map(|word| {
            let mut chars = word.chars();
            chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars)
        })
        .collect()
}

/// Interns a string for the lifetime of the program, as poem-openapi's registry requires.
///
/// Each distinct string is leaked once. These are names and descriptions from the source code, so their number does not
/// depend on requests.
pub(super) fn intern(text: &str) -> &'static str {
    static INTERNED: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut kept = INTERNED.lock();
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
    fn schema_names_are_sanitized() {
        assert_eq!(sanitize("Themed<String>"), "Themed_String_");
        assert_eq!(component_name("#/components/schemas/Themed%3CString%3E"), "Themed_String_");
        assert_eq!(pascal("insert_files"), "InsertFiles");
        assert_eq!(pascal("share-link"), "ShareLink");
    }

    #[test]
    fn interned_text_is_stored_once() {
        let first = intern(&String::from("some text"));
        assert!(std::ptr::eq(first, intern("some text")));
    }
}
