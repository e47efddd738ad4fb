//! Slugs: titles converted for use in paths.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Maximum number of characters in a slug.
pub const MAX_SLUG: usize = 100;

/// Returns the anchor of a heading that has no explicit one, before it is made unique. It may be empty.
#[must_use]
pub fn heading_anchor(text: &str) -> String {
    slugify(text)
}

/// Converts a title to a path segment.
///
/// Letters and digits of every script are converted to lower case. Dots, underscores and plus signs are preserved,
/// except dots at either end. Apostrophes and invisible characters, such as the variation selectors of emoji, are
/// removed. Every other sequence of characters becomes one hyphen. The result may be empty.
///
/// ```
/// use docs_markup::slugify;
/// assert_eq!(slugify("What’s new in v1.2?"), "whats-new-in-v1.2");
/// assert_eq!(slugify("Über uns"), "über-uns");
/// assert_eq!(slugify("⚙\u{fe0f} Settings"), "settings");
/// ```
#[must_use]
pub fn slugify(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    // Lower case conversion may decompose a letter, so the text is composed afterwards.
    let lower: String = title.to_lowercase();
    // Characters are removed before the composition, so that the surrounding combining marks are reordered.
    let shown = lower.chars().filter(|c| !matches!(c, '\'' | '’' | '‘') && !is_invisible(*c));
    for c in shown.map(plain_letter).nfc() {
        match c {
            '.' | '_' | '+' => slug.push(c),
            c if c.is_alphanumeric() || is_combining_mark(c) => slug.push(c),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    cut(slug.trim_matches(EDGE_CHARS), MAX_SLUG).trim_end_matches(EDGE_CHARS).to_owned()
}

/// Returns `true` for characters that have no glyph of their own within a word: variation selectors, joiners and
/// enclosing marks.
pub(crate) const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{20dd}'..='\u{20e0}'
        | '\u{20e2}'..='\u{20e4}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Converts a letter emoji to its letter. Other characters are unchanged.
const fn plain_letter(c: char) -> char {
    match c {
        '\u{2139}' => 'i',
        '\u{24c2}' | '\u{24dc}' => 'm',
        '\u{1f170}' => 'a',
        '\u{1f171}' => 'b',
        '\u{1f17e}' => 'o',
        '\u{1f17f}' => 'p',
        c => c,
    }
}

/// Appends a number to distinguish equal slugs. The result is limited to [`MAX_SLUG`].
#[must_use]
pub fn append_number(slug: &str, number: u64) -> String {
    let suffix = format!("-{number}");
    let room = MAX_SLUG.saturating_sub(suffix.len());
    format!("{}{suffix}", cut(slug, room).trim_end_matches(EDGE_CHARS))
}

const EDGE_CHARS: [char; 2] = ['-', '.'];

fn cut(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles_become_readable_segments() {
        for (title, slug) in [
            ("Quick Start", "quick-start"),
            ("  A -- B  ", "a-b"),
            ("C++ & C#", "c++-c"),
            ("你好 世界", "你好-世界"),
            ("E\u{301}tude", "\u{e9}tude"),
            ("???", ""),
            ("a/b\\c", "a-b-c"),
            ("..", ""),
            ("İstanbul", "i\u{307}stanbul"),
            ("⚙\u{fe0f} Settings", "settings"),
            ("❤\u{fe0f}", ""),
            ("1\u{fe0f}\u{20e3} First", "1-first"),
            ("ℹ\u{fe0f} Info", "i-info"),
            ("👩\u{200d}💻 For developers", "for-developers"),
            ("Donau\u{ad}dampf\u{feff}schiff", "donaudampfschiff"),
            ("snow ☃\u{fe0e} man", "snow-man"),
            ("zero\u{200b}width", "zero-width"),
            ("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} England", "england"),
        ] {
            assert_eq!(slugify(title), slug, "{title}");
        }
    }

    #[test]
    fn numbered_slugs_fit_the_length_limit() {
        assert_eq!(append_number("page", 2), "page-2");
        assert_eq!(append_number(&"ä".repeat(100), 12).chars().count(), 100);
    }

    proptest! {
        #[test]
        fn slugify_is_idempotent_and_bounded(title in "(\\PC|[\u{fe0f}\u{200b}-\u{200d}\u{20e3}\u{ad}]){0,120}") {
            let slug = slugify(&title);
            prop_assert!(slug.chars().count() <= MAX_SLUG);
            prop_assert!(!slug.contains(['/', ' ', '#', '?', '%', '\\']));
            prop_assert!(!slug.chars().any(is_invisible));
            prop_assert_eq!(slugify(&slug), slug);
        }
    }
}
