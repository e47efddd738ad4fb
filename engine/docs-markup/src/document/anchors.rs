//! The anchors of a document, and the alternatives that GitHub and mdBook derive from its headings.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use docs_model::{Block, BlockKind, Document};
use percent_encoding::percent_decode_str;
use unicode_normalization::char::is_combining_mark;

use super::spelling;
use crate::slug::{self, MAX_SLUG};

/// The anchors of a document in its [reading view](super::reading_view()).
///
/// Besides its own anchor, a heading has the alternatives that GitHub and mdBook derive from its text, and the one of
/// GitBook for an anchor that begins with a digit, such as `id-1-install`. An alternative never equals the anchor of
/// another block.
///
/// ```
/// use docs_markup::document::{Anchors, parse};
/// let anchors = Anchors::new(&parse("# C, C++ & F#\n"));
/// assert_eq!(anchors.resolve("c-c++-f"), Some("c-c++-f"));
/// assert_eq!(anchors.resolve("c-c--f"), Some("c-c++-f"));
/// assert_eq!(anchors.resolve("rust"), None);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    own: HashSet<String>,
    /// Maps alternatives to the anchors of their headings.
    headings: HashMap<String, String>,
    /// Maps the anchors of headings to their alternatives.
    alternatives: HashMap<String, Vec<String>>,
}

impl Anchors {
    /// Collects the anchors of a document.
    #[must_use]
    pub fn new(document: &Document) -> Self {
        let mut anchors = Self::default();
        let mut headings = Vec::new();
        for block in &document.nodes {
            block.visit(&mut |block| {
                let Some(id) = own(block) else { return };
                // Of several blocks with one anchor, links lead to the first.
                if anchors.own.insert(id.to_owned()) && is_heading(block) {
                    headings.push((id.to_owned(), spelling::text_of_nodes(&block.nodes)));
                }
            });
        }
        let mut taken: [HashMap<String, u64>; 2] = Default::default();
        for (id, text) in headings {
            let [github, mdbook] = [github(&text), mdbook(&text)];
            for (derived, taken) in [github, mdbook].into_iter().zip(&mut taken) {
                if let Some(derived) = derived {
                    anchors.add(&id, number(derived, taken));
                }
            }
            // GitBook writes links to headings that begin with a digit in this form.
            if id.starts_with(|c: char| c.is_ascii_digit()) {
                anchors.add(&id, format!("id-{id}"));
            }
        }
        anchors
    }

    fn add(&mut self, id: &str, alternative: String) {
        if !self.own.contains(&alternative) && !self.headings.contains_key(&alternative) {
            self.headings.insert(alternative.clone(), id.to_owned());
            self.alternatives.entry(id.to_owned()).or_default().push(alternative);
        }
    }

    /// Resolves an anchor or an alternative, percent-encoded or not, to an anchor of the document.
    #[must_use]
    pub fn resolve(&self, anchor: &str) -> Option<&str> {
        let find = |anchor: &str| {
            let own = self.own.get(anchor).map(String::as_str);
            own.or_else(|| self.headings.get(anchor).map(String::as_str))
        };
        find(anchor).or_else(|| find(&decode_anchor(anchor)))
    }

    /// Returns the alternatives of the heading with the given anchor.
    #[must_use]
    pub fn alternatives(&self, own: &str) -> &[String] {
        self.alternatives.get(own).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Decodes the percent-encoding of an anchor and removes invisible characters.
#[must_use]
pub fn decode_anchor(anchor: &str) -> Cow<'_, str> {
    let decoded = match percent_decode_str(anchor).decode_utf8() {
        Ok(decoded) if !decoded.contains(char::is_control) => decoded,
        _ => Cow::Borrowed(anchor),
    };
    match decoded.contains(slug::is_invisible) {
        true => Cow::Owned(decoded.chars().filter(|c| !slug::is_invisible(*c)).collect()),
        false => decoded,
    }
}

/// Returns the anchor of a block.
fn own(block: &Block) -> Option<&str> {
    let given = match &block.kind {
        BlockKind::Heading1(data) | BlockKind::Heading2(data) | BlockKind::Heading3(data) => {
            data.id.as_deref()
        }
        _ => None,
    };
    block.meta.as_ref().map(|meta| meta.id.as_str()).or(given)
}

const fn is_heading(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Heading1(_) | BlockKind::Heading2(_) | BlockKind::Heading3(_))
}

/// Returns the anchor that GitHub derives from a heading: in lower case, without punctuation, with spaces replaced by
/// hyphens.
fn github(text: &str) -> Option<String> {
    let is_kept = |c: &char| c.is_alphanumeric() || is_combining_mark(*c) || matches!(c, '_' | '-' | ' ');
    derived(text.trim().to_lowercase().chars().filter(is_kept))
}

/// Returns the anchor that mdBook derives from a heading: like that of GitHub, but without combining marks, and with
/// only ASCII letters converted to lower case.
fn mdbook(text: &str) -> Option<String> {
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-') || c.is_whitespace();
    derived(text.trim().chars().filter(is_kept).map(|c| c.to_ascii_lowercase()))
}

fn derived(chars: impl Iterator<Item = char>) -> Option<String> {
    let mut out = String::new();
    for (count, c) in chars.filter(|c| !slug::is_invisible(*c)).enumerate() {
        if count == MAX_SLUG {
            return None;
        }
        out.push(if c.is_whitespace() { '-' } else { c });
    }
    (!out.is_empty()).then_some(out)
}

/// Appends a number if the anchor is already in use.
fn number(anchor: String, taken: &mut HashMap<String, u64>) -> String {
    let Some(count) = taken.get(&anchor).copied() else {
        taken.insert(anchor.clone(), 0);
        return anchor;
    };
    let next = (count + 1..).find(|number| !taken.contains_key(&format!("{anchor}-{number}")));
    let next = next.unwrap_or(count + 1);
    let numbered = format!("{anchor}-{next}");
    taken.insert(anchor, next);
    taken.insert(numbered.clone(), 0);
    numbered
}

#[cfg(test)]
mod tests {
    use super::{
        super::{parse, reading_view},
        *,
    };

    fn anchors(source: &str) -> Anchors {
        Anchors::new(&reading_view(&parse(source)))
    }

    #[test]
    fn anchors_of_github_and_mdbook_are_alternatives() {
        for (heading, alternative, own) in [
            ("C# & C / F", "c--c--f", "c-c-f"),
            ("What’s new?", "whats-new", "whats-new"),
            ("`std::io` and *more*", "stdio-and-more", "std-io-and-more"),
            ("v1.2 (beta)", "v12-beta", "v1.2-beta"),
            ("A -- B", "a----b", "a-b"),
            ("snake_case", "snake_case", "snake_case"),
            ("Über uns", "Über-uns", "über-uns"),
            ("⚙\u{fe0f} Settings", "-settings", "settings"),
            ("快速 开始。", "快速-开始", "快速-开始"),
        ] {
            let anchors = anchors(&format!("## {heading}\n"));
            assert_eq!(anchors.resolve(alternative), Some(own), "{heading}: {anchors:?}");
        }
    }

    #[test]
    fn only_the_first_heading_with_an_anchor_has_alternatives() {
        let anchors = anchors(&"<h2 id=a>What's new?</h2>\n\n".repeat(100));
        assert_eq!(anchors.alternatives("a"), ["whats-new"]);
    }

    #[test]
    fn equal_headings_have_numbered_alternatives() {
        let anchors = anchors("# A & B\n\n# A & B\n\n# A & B\n\n# a  b 1\n");
        let own = |anchor: &str| anchors.resolve(anchor).map(str::to_owned);
        assert_eq!(own("a--b").as_deref(), Some("a-b"));
        assert_eq!((own("a--b-1"), own("a--b-2")), (own("a-b-1"), own("a-b-2")));
        assert!(own("a-b-2").is_some() && own("a--b-3").is_none());
    }

    #[test]
    fn an_alternative_is_never_the_anchor_of_another_block() {
        let anchors = anchors("# v1.2 {#first}\n\n# Second {#v12}\n\n<a id=\"second\"></a>\n\nText.\n");
        assert_eq!(anchors.resolve("v12"), Some("v12"));
        assert_eq!(anchors.alternatives("first"), [] as [&str; 0]);
        assert_eq!(anchors.resolve("second"), Some("second"));
        assert_eq!(anchors.alternatives("v12"), [] as [&str; 0]);
    }

    #[test]
    fn encoded_anchors_are_decoded_once() {
        assert_eq!(decode_anchor("%E5%BF%AB%E9%80%9F"), "快速");
        assert_eq!(decode_anchor("a%2520b"), "a%20b");
        assert_eq!(decode_anchor("100%"), "100%");
        assert_eq!(decode_anchor("%ff%00"), "%ff%00");
        assert_eq!(decode_anchor("%EF%B8%8F-settings"), "-settings");
        let anchors = anchors("## 快速开始\n");
        assert_eq!(anchors.resolve("%E5%BF%AB%E9%80%9F%E5%BC%80%E5%A7%8B"), Some("快速开始"));
    }

    #[test]
    fn equal_headings_take_linear_work() {
        let anchors = anchors(&"# A & B\n\n".repeat(2_000));
        assert!(anchors.resolve("a--b-1999").is_some());
    }

    #[test]
    fn anchors_that_begin_with_a_digit_have_the_one_of_gitbook() {
        let anchors = Anchors::new(&parse("## 2. Create it\n\n## Create it\n"));
        let own = anchors.resolve("2.-create-it").expect("its own").to_owned();
        assert_eq!(anchors.resolve("id-2.-create-it"), Some(own.as_str()));
        assert_eq!(anchors.resolve("id-create-it"), None);
    }
}
