//! Excerpts: the sections of a page that match a query, with the text around the match.

use super::{
    PageDocument, Query, QueryTerm, Section, scanner::TermScanner, tokens, words::for_each_token_at,
};

/// Maximum length of an excerpt in characters, without ellipses.
pub const MAX_EXCERPT: usize = 200;
/// Maximum number of excerpts per page.
pub const MAX_EXCERPTS: usize = 5;
/// Maximum number of bytes of a page's text that are searched for excerpts.
const MAX_SEARCHED_TEXT: usize = 128 * 1024;
/// Number of characters in an excerpt before the match.
const LEAD_CHARS: usize = 60;
/// The ellipsis for omitted text.
const ELLIPSIS: char = '…';

/// A section that matches part of a query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// The index of the section on its page.
    pub index: usize,
    /// The anchor of the heading, without `#`.
    pub anchor: Option<String>,
    pub heading: Option<String>,
    /// The text around the match, or the beginning of the text.
    pub body: String,
}

/// Returns the best matching sections of a page, best first and at most `limit`.
#[must_use]
pub fn excerpts(query: &Query, page: &PageDocument, limit: usize) -> Vec<Excerpt> {
    let mut met: Vec<(usize, u32, Option<usize>)> = Vec::new();
    let mut left = MAX_SEARCHED_TEXT;
    let mut scanner = TermScanner::new(query);
    for (index, section) in page.sections.iter().enumerate() {
        let heading = take_within(section.heading.as_deref().unwrap_or_default(), &mut left);
        let text = take_within(&section.text, &mut left);
        if let (score @ 1.., at) = weigh(&mut scanner, heading, text) {
            met.push((index, score, at));
        }
        if left == 0 || scanner.is_exhausted() {
            break;
        }
    }
    best_sections(met, limit, |index| {
        let section = &page.sections[index];
        (section.anchor.as_deref(), section.heading.as_deref(), section.text.as_str())
    })
}

/// A section that matches a query: its index, its score, and the offset of the first match in its text.
type SectionMatch = (usize, u32, Option<usize>);

/// Creates the excerpts of the best sections.
fn best_sections<'t>(
    mut met: Vec<SectionMatch>,
    limit: usize,
    section: impl Fn(usize) -> (Option<&'t str>, Option<&'t str>, &'t str),
) -> Vec<Excerpt> {
    met.sort_by_key(|(index, score, _)| (std::cmp::Reverse(*score), *index));
    met.truncate(limit);
    let excerpt = |(index, _, at): SectionMatch| {
        let (anchor, heading, text) = section(index);
        Excerpt {
            index,
            anchor: anchor.map(str::to_owned),
            heading: heading.map(str::to_owned),
            body: snippet_at(text, at.unwrap_or(0)),
        }
    };
    met.into_iter().map(excerpt).collect()
}

/// Number of words between the offsets that a [`SectionLayout`] contains.
pub const LAYOUT_STEP: u32 = 16;

/// A section with the positions of its words. Excerpts are cut there without reading the other words.
#[derive(Clone, Copy, Debug)]
pub struct SectionLayout<'t> {
    pub anchor: Option<&'t str>,
    pub heading: Option<&'t str>,
    pub text: &'t str,
    /// The position of the first word of the heading in [`Field::Headings`](super::Field::Headings).
    pub heading_start: u32,
    /// The position of the first word of the text in [`Field::Body`](super::Field::Body).
    pub text_start: u32,
    /// The offset in bytes of every 16th word of the text ([`LAYOUT_STEP`]), as little-endian numbers of four bytes.
    pub offsets: &'t [u8],
}

/// The positions of a term of a query on a page, as an index knows them.
#[derive(Clone, Debug)]
pub enum TermPlaces<'q> {
    /// The sorted positions in the headings and in the text.
    Known { headings: Vec<u32>, body: Vec<u32> },
    /// The index has no positions: the text is searched.
    Unknown(&'q QueryTerm),
}

/// The layout of a section, computed when it is indexed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SectionPlaces {
    pub heading_start: u32,
    pub text_start: u32,
    /// See [`SectionLayout::offsets`].
    pub offsets: Vec<u8>,
}

impl PageDocument {
    /// Computes the positions for the [`SectionLayout`] of each section.
    #[must_use]
    pub fn section_places(&self) -> Vec<SectionPlaces> {
        let (mut headings, mut body) =
            (super::document::Cursor::default(), super::document::Cursor::default());
        let place = |section: &Section| {
            let heading_start = headings.start();
            for_each_token_at(section.heading.as_deref().unwrap_or_default(), |position, _| {
                headings.visit(heading_start + position);
            });
            let text_start = body.start();
            let mut offsets = Vec::new();
            for_each_token_at(&section.text, |position, from| {
                if position % LAYOUT_STEP == 0 && position / LAYOUT_STEP * 4 == offsets.len() as u32 {
                    offsets.extend(u32::try_from(from).unwrap_or(u32::MAX).to_le_bytes());
                }
                body.visit(text_start + position);
            });
            SectionPlaces { heading_start, text_start, offsets }
        };
        self.sections.iter().map(place).collect()
    }
}

/// Returns the same excerpts as [`excerpts`] for positions that an index knows, up to the limits on work of that.
#[must_use]
pub fn excerpts_at(sections: &[SectionLayout<'_>], terms: &[TermPlaces<'_>], limit: usize) -> Vec<Excerpt> {
    let mut scores: Vec<(u32, Option<usize>)> = vec![(0, None); sections.len()];
    for term in terms {
        match term {
            TermPlaces::Known { headings, body } => {
                add_known(sections, headings, |section| section.heading_start, |at, _| scores[at].0 += 2);
                add_known(
                    sections,
                    body,
                    |section| section.text_start,
                    |at, place| {
                        let offset = sections[at].offset_of(place);
                        let first = scores[at].1.map_or(offset, |first| first.min(offset));
                        scores[at] = (scores[at].0 + 1, Some(first));
                    },
                );
            }
            TermPlaces::Unknown(term) => {
                let query = Query::from_term((*term).clone());
                let mut scanner = TermScanner::new(&query);
                for (section, (score, first)) in sections.iter().zip(&mut scores) {
                    let (found, at) = weigh(&mut scanner, section.heading.unwrap_or_default(), section.text);
                    *score += found;
                    *first = first.iter().copied().chain(at).min();
                }
            }
        }
    }
    let met = scores.into_iter().enumerate().filter(|(_, (score, _))| *score > 0);
    let met = met.map(|(index, (score, at))| (index, score, at)).collect();
    best_sections(met, limit, |index| {
        let section = &sections[index];
        (section.anchor, section.heading, section.text)
    })
}

/// Calls `each` with the index of every section that contains a position, and its first position.
fn add_known(
    sections: &[SectionLayout<'_>],
    places: &[u32],
    start: impl Fn(&SectionLayout<'_>) -> u32,
    mut each: impl FnMut(usize, u32),
) {
    let mut rest = places;
    while let Some(place) = rest.first() {
        // Sections without words have the start of the next one.
        let at = sections.partition_point(|section| start(section) <= *place);
        let Some(index) = at.checked_sub(1) else { return };
        each(index, *place);
        let Some(next) = sections.get(at) else { return };
        rest = &rest[rest.partition_point(|place| *place < start(next))..];
    }
}

impl SectionLayout<'_> {
    /// Returns the offset in bytes of a word in the text.
    fn offset_of(&self, place: u32) -> usize {
        let position = place.saturating_sub(self.text_start);
        let step = (position / LAYOUT_STEP) as usize * 4;
        let offset = self.offsets.get(step..step + 4).and_then(|bytes| bytes.try_into().ok());
        let start = offset.map_or(0, |bytes| u32::from_le_bytes(bytes) as usize);
        let rest = self.text.get(start..).unwrap_or_default();
        let word = tokens(rest).find(|token| token.position == position % LAYOUT_STEP);
        start + word.map_or(0, |word| word.from)
    }
}

/// Returns the prefix of `text` that fits the remaining byte budget, and reduces the budget by its length.
fn take_within<'t>(text: &'t str, left: &mut usize) -> &'t str {
    let start = &text[..text.floor_char_boundary(*left)];
    *left = if start.len() < text.len() { 0 } else { *left - start.len() };
    start
}

/// Scores a section by the query terms that it matches, and returns the byte offset of the first match in its text.
fn weigh(scanner: &mut TermScanner<'_>, heading: &str, text: &str) -> (u32, Option<usize>) {
    let heading = scanner.first_matches(heading).into_iter().flatten().count();
    let body: Vec<usize> = scanner.first_matches(text).into_iter().flatten().collect();
    let score = u32::try_from(2 * heading + body.len()).unwrap_or(u32::MAX);
    (score, body.into_iter().min())
}

/// Returns the text around an offset as a single line.
fn snippet_at(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let lead = before.char_indices().rev().take(LEAD_CHARS).last().map_or(0, |(start, _)| start);
    // Skips a truncated word, unless the text has no spaces here.
    let start = match text[lead..at].find(char::is_whitespace) {
        _ if lead == 0 => 0,
        Some(space) => lead + space,
        None => lead,
    };
    let words = text[start..].split_whitespace();
    let mut body = String::with_capacity(MAX_EXCERPT * 2);
    if start > 0 {
        body.push(ELLIPSIS);
    }
    let mut left = MAX_EXCERPT;
    for (n, word) in words.enumerate() {
        let space = usize::from(n > 0);
        let long = word.chars().count();
        if long + space > left {
            // A long word, or a script without spaces, fills the excerpt.
            let room = left.saturating_sub(space);
            if room > MAX_EXCERPT / 4 {
                body.extend(std::iter::repeat_n(' ', space));
                body.extend(word.chars().take(room));
            }
            body.push(ELLIPSIS);
            return body;
        }
        body.extend(std::iter::repeat_n(' ', space));
        body.push_str(word);
        left -= long + space;
    }
    body
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::{PageHit, Rank, Section};

    fn page(sections: &[(Option<&str>, &str)]) -> PageDocument {
        PageDocument {
            organization: "org".parse().expect("an id"),
            space: "space".parse().expect("an id"),
            page: "page".parse().expect("an id"),
            title: "Title".to_owned(),
            description: None,
            text: docs_model::hash::Hash::compute(b"text"),
            sections: sections
                .iter()
                .map(|(heading, text)| Section {
                    anchor: heading.map(str::to_lowercase),
                    heading: heading.map(str::to_owned),
                    text: (*text).to_owned(),
                })
                .collect(),
        }
    }

    #[test]
    fn section_matching_most_query_terms_comes_first() {
        let page = page(&[
            (None, "An introduction that speaks of webhooks."),
            (Some("Webhooks"), "Send events and secrets."),
            (Some("Other"), "Nothing of it."),
        ]);
        let found = excerpts(&Query::parse("secret webhooks"), &page, 5);
        assert_eq!(found.iter().map(|e| e.index).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(found[0].anchor.as_deref(), Some("webhooks"));
        assert_eq!(excerpts(&Query::parse("webhooks"), &page, 1).len(), 1);
    }

    #[test]
    fn excerpt_shows_the_match_between_ellipses() {
        let text = format!("{}the needle lies here. {}", "some hay ".repeat(50), "more hay ".repeat(50));
        let found = excerpts(&Query::parse("needle"), &page(&[(None, &text)]), 5);
        let body = &found[0].body;
        assert!(body.contains("the needle lies") && body.starts_with('…') && body.ends_with('…'), "{body}");
        assert!(body.chars().count() <= MAX_EXCERPT + 2, "{body}");
        let cjk = "文".repeat(300) + "検索" + &"字".repeat(300);
        let found = excerpts(&Query::parse("検索"), &page(&[(None, &cjk)]), 5);
        assert!(found[0].body.contains("検索"), "{}", found[0].body);
    }

    #[test]
    fn a_hit_has_at_most_the_best_excerpts() {
        let hit = |sections: usize| {
            let page = page(&vec![(None::<&str>, "a needle"); sections]);
            PageHit::new(Rank { score: 1, tie: 0 }, &Query::parse("needle"), &page).excerpts.len()
        };
        assert_eq!([MAX_EXCERPTS, MAX_EXCERPTS + 1].map(hit), [MAX_EXCERPTS; 2]);
    }

    #[test]
    fn excerpts_are_from_the_first_bytes_of_a_page() {
        let filler = "hay ".repeat(MAX_SEARCHED_TEXT / 8);
        let sections = [
            (None, filler.as_str()),
            (Some("One"), "needle"),
            (None, filler.as_str()),
            (Some("Two"), "needle"),
        ];
        let found = excerpts(&Query::parse("needle"), &page(&sections), 5);
        assert_eq!(found.iter().map(|excerpt| excerpt.index).collect::<Vec<_>>(), [1]);
        let accents = page(&[(None, &"ä".repeat(MAX_SEARCHED_TEXT))]);
        assert!(excerpts(&Query::parse("needle"), &accents, 5).is_empty());
    }

    /// Doubling the text must not quadruple the work. Previously, each occurrence of the first word of a phrase was
    /// compared with each occurrence of the next word.
    #[test]
    fn excerpts_of_a_repeated_phrase_take_linear_work() {
        let repeated = page(&[(None, &"a b ".repeat(MAX_SEARCHED_TEXT / 4))]);
        let query = Query::parse(&format!("\"{}a b\"", "a b ".repeat(100)));
        let found = excerpts(&query, &repeated, 5);
        assert_eq!(found.len(), 1);
    }

    proptest! {
        #[test]
        fn excerpts_from_positions_equal_those_of_a_search(
            texts in prop::collection::vec("([a-c]{1,3}|aB|日本|日|ä|\\.)( ([a-c]{1,3}|aB|日本|ä)){0,60}", 1..5),
            word in "[a-c]{1,3} ",
        ) {
            let sections: Vec<_> = texts.iter().map(|text| (text.split(' ').next(), text.as_str())).collect();
            let page = page(&sections);
            let query = Query::parse(&word);
            let matching = |field| {
                let found = page.tokens(field).filter(|token| {
                    query.words().all(|word| word.matches(&token.text).is_some())
                });
                let mut places: Vec<u32> = found.map(|token| token.position).collect();
                places.dedup();
                places
            };
            let known = TermPlaces::Known {
                headings: matching(crate::search::Field::Headings),
                body: matching(crate::search::Field::Body),
            };
            let places = page.section_places();
            let layouts: Vec<_> = page.sections.iter().zip(&places).map(|(section, places)| SectionLayout {
                anchor: section.anchor.as_deref(),
                heading: section.heading.as_deref(),
                text: &section.text,
                heading_start: places.heading_start,
                text_start: places.text_start,
                offsets: &places.offsets,
            }).collect();
            prop_assert_eq!(excerpts_at(&layouts, &[known], 5), excerpts(&query, &page, 5));
            let unknown: Vec<_> = query.needs().iter().map(TermPlaces::Unknown).collect();
            prop_assert_eq!(excerpts_at(&layouts, &unknown, 5), excerpts(&query, &page, 5));
        }

        #[test]
        fn an_excerpt_is_short_and_on_one_line(text in "\\PC{0,400}", word in "\\PC{1,5}") {
            let text = format!("{text}\n\t{word}");
            for excerpt in excerpts(&Query::parse(&word), &page(&[(Some(&word), &text)]), 3) {
                prop_assert!(excerpt.body.chars().count() <= MAX_EXCERPT + 2);
                prop_assert!(!excerpt.body.contains(['\n', '\t']));
            }
        }
    }
}
