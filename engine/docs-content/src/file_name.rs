//! Validation, sanitization and numbering of file names.

use std::borrow::Cow;

/// Maximum length of a numbered name, in characters.
const MAX_NAME: usize = 256;
/// Maximum length of a file extension with its dot, in characters.
const MAX_EXTENSION: usize = 32;

/// Validates a file name. Names are displayed to users and may be used in their file systems.
///
/// # Errors
/// The violated requirement, which completes a sentence that begins with the field.
pub fn check_file_name(name: &str) -> Result<(), &'static str> {
    if name.chars().any(|c| matches!(c, '/' | '\\')) {
        return Err("must be a name without `/` and `\\`");
    }
    if name.chars().any(misleads) {
        return Err("must not contain control characters or bidirectional formatting characters");
    }
    if is_no_name(name) {
        return Err("must not consist of dots and spaces only");
    }
    Ok(())
}

/// Converts an external name to one that [`check_file_name`] accepts.
#[must_use]
pub fn clean_file_name(name: &str) -> Cow<'_, str> {
    if check_file_name(name).is_ok() {
        return name.into();
    }
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !misleads(*c)).collect();
    if is_no_name(&name) { "file".into() } else { name.into() }
}

/// Returns `true` for control characters, line terminators and characters that override the text direction.
const fn misleads(c: char) -> bool {
    matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_no_name(name: &str) -> bool {
    name.chars().all(|c| c == '.' || c.is_whitespace())
}

/// Returns `true` if `name` equals `of` with or without an appended number.
///
/// ```
/// use docs_content::is_numbered;
/// assert!(is_numbered("logo (2).png", "logo.png"));
/// assert!(!is_numbered("logo (big).png", "logo.png"));
/// ```
#[must_use]
pub fn is_numbered(name: &str, of: &str) -> bool {
    let (stem, _) = split(name);
    let number = || stem.strip_suffix(')')?.rsplit_once(" (")?.1.parse::<u64>().ok();
    name == of || number().is_some_and(|number| name == append_number(of, number))
}

/// Inserts a number before the extension of a name.
pub(crate) fn append_number(name: &str, number: u64) -> String {
    let (stem, extension) = split(name);
    let suffix = format!(" ({number})");
    let room = MAX_NAME.saturating_sub(suffix.len() + extension.chars().count());
    let stem = stem.char_indices().nth(room).map_or(stem, |(at, _)| &stem[..at]);
    format!("{}{suffix}{extension}", stem.trim_end())
}

/// Splits a name into its stem and its extension, including the dot.
fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(at) if at > 0 && name[at..].chars().count() <= MAX_EXTENSION => name.split_at(at),
        _ => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use docs_markup::UniqueNames;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn number_is_inserted_before_the_extension() {
        for (name, expected) in [
            ("logo.png", "logo (1).png"),
            ("archive.tar.gz", "archive.tar (1).gz"),
            ("README", "README (1)"),
            (".env", ".env (1)"),
            ("a (1).png", "a (1) (1).png"),
            ("v1.2 of the whole and very long document", "v1.2 of the whole and very long document (1)"),
            ("dot.", "dot (1)."),
        ] {
            assert_eq!(append_number(name, 1), expected);
            assert!(is_numbered(expected, name) && is_numbered(name, name));
        }
        let long = format!("{}.png", "ä".repeat(252));
        assert_eq!(append_number(&long, 12).chars().count(), MAX_NAME);
        assert!(!is_numbered("b (1).png", "a.png") && !is_numbered("a (1).gif", "a.png"));
    }

    #[test]
    fn misleading_file_names_are_rejected_and_sanitized() {
        for (wrong, clean) in [
            ("../../x.png", "x.png"),
            ("C:\\x.png", "x.png"),
            ("a\nb.png", "ab.png"),
            ("a\u{1}.png", "a.png"),
            ("invoice\u{202e}gpj.exe", "invoicegpj.exe"),
            ("..", "file"),
            ("a/", "file"),
            (" ", "file"),
        ] {
            assert!(check_file_name(wrong).is_err(), "{wrong:?}");
            assert_eq!(clean_file_name(wrong), clean);
            assert_eq!(check_file_name(clean), Ok(()));
        }
        for right in ["logo (2).png", ".gitignore", "شعار.png", "a b.png"] {
            assert_eq!(clean_file_name(right), right);
        }
    }

    proptest! {
        #[test]
        fn names_never_clash(names in proptest::collection::vec("[ab]{1,2}( \\([12]\\))?(\\.x)?", 1..30)) {
            let mut taken: HashSet<String> = HashSet::new();
            let mut unique = UniqueNames::default();
            for name in &names {
                let given = unique.take(name.clone(), 1, append_number);
                prop_assert!(is_numbered(&given, name));
                prop_assert!(taken.insert(given));
            }
        }
    }
}
