//! Excerpts: the sections of a page that match a query, with the text around the match.

use super::{PageDocument, Query, scanner::TermScanner};

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
    met.sort_by_key(|(index, score, _)| (std::cmp::Reverse(*score), *index));
    met.truncate(limit);
    let excerpt = |(index, _, at): (usize, u32, Option<usize>)| {
        let section = &page.sections[index];
        Excerpt {
            index,
            anchor: section.anchor.clone(),
            heading: section.heading.clone(),
            body: snippet_at(&section.text, at.unwrap_or(0)),
        }
    };
    met.into_iter().map(excerpt).collect()
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
        fn an_excerpt_is_short_and_on_one_line(text in "\\PC{0,400}", word in "\\PC{1,5}") {
            let text = format!("{text}\n\t{word}");
            for excerpt in excerpts(&Query::parse(&word), &page(&[(Some(&word), &text)]), 3) {
                prop_assert!(excerpt.body.chars().count() <= MAX_EXCERPT + 2);
                prop_assert!(!excerpt.body.contains(['\n', '\t']));
            }
        }
    }
}
