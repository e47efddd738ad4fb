//! The documents of an index.

use docs_model::{ListOrder, OrgId, PageId, SpaceId, hash::Hash};
use serde::{Deserialize, Serialize};

use super::{
    score::Field,
    words::{TokenKind, WordToken, for_each_token, tokens},
};

/// Position gap between the last word of a section and the first word of the next section, which prevents phrases from
/// matching across sections.
const GAP: u32 = 100;

/// A page in indexable form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageDocument {
    /// The organization of its space.
    pub organization: OrgId,
    pub space: SpaceId,
    /// The page id, which is unique only within the space.
    pub page: PageId,
    pub title: String,
    /// The description of the page, in one sentence.
    pub description: Option<String>,
    /// A hash of the text in `sections`. An excerpt is only returned while the page has this text.
    pub text: Hash,
    /// The text, split at its headings.
    pub sections: Vec<Section>,
}

/// A heading and the text up to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The anchor of the heading on its page, without `#`, or `None` at the start of the page.
    pub anchor: Option<String>,
    /// The heading, or `None` at the start of the page.
    pub heading: Option<String>,
    /// The text without markup.
    pub text: String,
}

impl PageDocument {
    /// Returns the words of a field lazily, in order. Separate texts of a field are separated by a position gap.
    pub fn tokens(&self, field: Field) -> impl Iterator<Item = WordToken> {
        join_texts(self.texts(field))
    }

    /// Calls `each` with the text and the position of each of the [`tokens`](Self::tokens) of a field. It allocates no
    /// memory for words, which makes it several times as fast.
    pub fn for_each_token(&self, field: Field, mut each: impl FnMut(&str, u32)) {
        let mut cursor = Cursor::default();
        for text in self.texts(field) {
            let start = cursor.start();
            for_each_token(text, |word, position| {
                cursor.visit(start + position);
                each(word, start + position);
            });
        }
    }

    fn texts(&self, field: Field) -> impl Iterator<Item = &str> {
        let (text, sections) = match field {
            Field::Title => (Some(self.title.as_str()), &[][..]),
            Field::Description => (self.description.as_deref(), &[][..]),
            Field::Headings | Field::Body => (None, self.sections.as_slice()),
        };
        let texts = sections.iter().filter_map(move |section| match field {
            Field::Headings => section.heading.as_deref(),
            _ => Some(section.text.as_str()),
        });
        text.into_iter().chain(texts)
    }

    /// Returns the approximate memory in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let section =
            |it: &Section| size_of::<Section>() + it.text.len() + text(&it.heading) + text(&it.anchor);
        self.title.len() + text(&self.description) + self.sections.iter().map(section).sum::<usize>()
    }

    /// Returns the tie-breaker for pages of equal score. It only depends on the page.
    #[must_use]
    pub fn tie_breaker(&self) -> u64 {
        hash_name(&[self.space.as_str(), self.page.as_str()])
    }
}

/// The position of the last word in a field.
#[derive(Default)]
pub(super) struct Cursor(Option<u32>);

impl Cursor {
    /// Returns the position of the first word of the next text.
    pub(super) fn start(&self) -> u32 {
        self.0.map_or(0, |last| last + GAP)
    }

    pub(super) const fn visit(&mut self, position: u32) {
        self.0 = Some(position);
    }
}

/// Tokenizes several texts, with a position gap between them.
fn join_texts<'t>(texts: impl Iterator<Item = &'t str>) -> impl Iterator<Item = WordToken> {
    let mut start = 0;
    let mut last = None;
    texts.flat_map(tokens).map(move |token| {
        if token.position == 0 && token.kind != TokenKind::Part {
            start = last.map_or(0, |last| last + GAP);
        }
        let position = start + token.position;
        last = Some(position);
        WordToken { position, ..token }
    })
}

/// Hashes names to a number. Collisions are negligible.
#[must_use]
pub fn hash_name(parts: &[&str]) -> u64 {
    u64::from_be_bytes(docs_model::hash::fingerprint(parts, ListOrder::Asc))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visited_tokens_equal_the_tokens_of_all_fields() {
        let section = |heading: &str, text: &str| Section {
            anchor: None,
            heading: Some(heading.to_owned()),
            text: text.to_owned(),
        };
        let page = PageDocument {
            organization: "a".parse().expect("an id"),
            space: "a".parse().expect("an id"),
            page: "a".parse().expect("an id"),
            title: "Crème, v2".to_owned(),
            description: Some("全文検索 of words".to_owned()),
            text: Hash::compute(b""),
            sections: vec![section("oneTwo", "aB b"), section("", "..."), section("Two", "c 都")],
        };
        for field in Field::ALL {
            let mut visited = Vec::new();
            page.for_each_token(field, |word, position| visited.push((word.to_owned(), position)));
            let expected: Vec<_> = page.tokens(field).map(|token| (token.text, token.position)).collect();
            assert_eq!(visited, expected);
        }
    }
}
