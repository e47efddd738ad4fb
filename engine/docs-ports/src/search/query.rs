//! Search queries and word matching.

use super::{Language, PART_MARK, TokenKind, WordToken, stems::Stems, tokens};

/// Maximum number of query terms; further ones are ignored.
const MAX_NEEDS: usize = 64;
/// Maximum number of index words that a query visits for each kind of inexact match: typos, prefixes and inflections.
/// The budget is divided equally among the words of the query.
const MAX_VISITED_WORDS: usize = 40_000;
/// Minimum word length for one typo.
const ONE_TYPO: usize = 4;
/// Minimum word length for two typos.
const TWO_TYPOS: usize = 8;

/// A query: the terms that a page must match.
///
/// Every text is a valid query. There are no operators: words are literal. Text between two quotation marks is a
/// phrase, and so is a name in code, such as `snake_case` or `a::b`. The last word also matches as a prefix. Words
/// outside phrases also match their inflections in the languages of the query. Alphabetic words may have typos: one
/// from four letters on, two from eight if the first letter is right.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    needs: Vec<QueryTerm>,
}

/// A term that a page must match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QueryTerm {
    /// A single word.
    Word(Word),
    /// Consecutive words.
    Phrase(Phrase),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    text: String,
    is_beginning: bool,
    typos: u8,
    visits: usize,
    stems: Option<Stems>,
}

/// A sequence of consecutive words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phrase {
    parts: Vec<PhraseWord>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhraseWord {
    /// The word. It is matched exactly or as a prefix, without typos.
    pub word: Word,
    /// The position relative to the first word.
    pub offset: u32,
}

/// The type of match between an indexed word and a query word, best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Match {
    /// Equal words.
    Exact,
    /// Two inflections of the same word.
    Inflection,
    /// The query word or an inflection of it is a part of a word in camel case.
    Part,
    /// The query word is a prefix of the word.
    Beginning,
    /// Equal with one typo.
    OneTypo,
    /// Equal with two typos.
    TwoTypos,
}

impl Query {
    /// Parses a query in English.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self::parse_in(text, &[Language::English])
    }

    /// Parses a query. Its words match their inflections in the given languages.
    #[must_use]
    pub fn parse_in(text: &str, languages: &[Language]) -> Self {
        let mut needs = Vec::new();
        let pieces: Vec<&str> = text.split(['"', '“', '”', '„', '«', '»']).collect();
        let last = pieces.len() - 1;
        for (at, piece) in pieces.iter().enumerate() {
            // An unclosed quotation mark is ignored.
            if at % 2 == 1 && at < last {
                needs.extend(phrase_term(piece));
            } else {
                needs.extend(plain_terms(
                    piece,
                    if at == last { LastWordMode::Open } else { LastWordMode::Closed },
                    languages,
                ));
            }
        }
        let mut query = Self::default();
        for need in needs {
            if query.needs.len() < MAX_NEEDS && !query.needs.contains(&need) {
                query.needs.push(need);
            }
        }
        query.share_visits();
        query
    }

    /// Creates a query with a single term.
    pub(super) fn from_term(term: QueryTerm) -> Self {
        Self { needs: vec![term] }
    }

    /// Divides [`MAX_VISITED_WORDS`] among the words with inexact matches.
    fn share_visits(&mut self) {
        let share = MAX_VISITED_WORDS / self.words().filter(|word| word.is_inexact()).count().max(1);
        for need in &mut self.needs {
            match need {
                QueryTerm::Word(word) => word.visits = share,
                QueryTerm::Phrase(phrase) => {
                    phrase.parts.iter_mut().for_each(|part| part.word.visits = share);
                }
            }
        }
    }

    /// Returns the query terms, which are empty if the query has no words.
    #[must_use]
    pub fn needs(&self) -> &[QueryTerm] {
        &self.needs
    }

    /// Returns all words, including those of phrases.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.needs.iter().flat_map(QueryTerm::words)
    }

    /// Returns `true` if the query has no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }
}

impl QueryTerm {
    fn words(&self) -> impl Iterator<Item = &Word> {
        let (word, parts) = match self {
            Self::Word(word) => (Some(word), &[][..]),
            Self::Phrase(phrase) => (None, phrase.parts()),
        };
        word.into_iter().chain(parts.iter().map(|part| &part.word))
    }
}

impl Word {
    /// Returns the folded word.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns `true` if the word also matches as a prefix.
    #[must_use]
    pub const fn is_beginning(&self) -> bool {
        self.is_beginning
    }

    /// Returns the maximum number of typos.
    #[must_use]
    pub const fn typos(&self) -> u8 {
        self.typos
    }

    /// Returns the common prefix of its inflections, or `None` if it has none.
    #[must_use]
    pub fn inflection_beginning(&self) -> Option<&str> {
        self.stems.as_ref().map(Stems::beginning)
    }

    /// Returns the maximum number of index words to visit for each kind of inexact match. Further words are omitted, so
    /// that the cost of a query does not depend on the size of the index.
    #[must_use]
    pub const fn visits(&self) -> usize {
        self.visits
    }

    /// Returns `true` if the word also matches other words than itself.
    pub(super) const fn is_inexact(&self) -> bool {
        self.is_beginning || self.typos > 0 || self.stems.is_some()
    }

    /// Compares the query word with a folded word from an indexed text.
    #[must_use]
    pub fn matches(&self, term: &str) -> Option<Match> {
        self.matches_without_typos(term).or_else(|| self.matches_with_typos(term))
    }

    pub(super) fn matches_without_typos(&self, term: &str) -> Option<Match> {
        if let Some(part) = term.strip_prefix(PART_MARK) {
            return self.matches_part(part).then_some(Match::Part);
        }
        if term == self.text {
            return Some(Match::Exact);
        }
        if self.has_inflection(term) {
            return Some(Match::Inflection);
        }
        (self.is_beginning && term.starts_with(&self.text)).then_some(Match::Beginning)
    }

    /// Returns `true` if the query word or an inflection of it is `part`, a part of a word in camel case.
    pub(super) fn matches_part(&self, part: &str) -> bool {
        part == self.text || self.has_inflection(part)
    }

    fn has_inflection(&self, term: &str) -> bool {
        self.stems.as_ref().is_some_and(|stems| stems.include(term))
    }

    pub(super) fn matches_with_typos(&self, term: &str) -> Option<Match> {
        if term.starts_with(PART_MARK) {
            return None;
        }
        match distance(&self.text, term, usize::from(self.typos)) {
            Some(1) => Some(Match::OneTypo),
            Some(2) if self.text.chars().next() == term.chars().next() => Some(Match::TwoTypos),
            _ => None,
        }
    }
}

impl Phrase {
    /// Returns the words in order.
    #[must_use]
    pub fn parts(&self) -> &[PhraseWord] {
        &self.parts
    }
}

/// The matching mode of the last word: `Open` permits a prefix match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastWordMode {
    Open,
    Closed,
}

fn plain_terms(text: &str, ending: LastWordMode, languages: &[Language]) -> Vec<QueryTerm> {
    let mut needs = Vec::new();
    let mut run: Vec<WordToken> = Vec::new();
    let mut found = tokens(text).filter(|token| token.kind != TokenKind::Part).peekable();
    while let Some(token) = found.next() {
        let is_joined = found.peek().is_some_and(|next| is_joined(text, &token, next));
        let mode = if found.peek().is_none() { ending } else { LastWordMode::Closed };
        match token.kind {
            TokenKind::Word if is_joined || !run.is_empty() => {
                run.push(token);
                if !is_joined {
                    needs.extend(phrase(std::mem::take(&mut run), mode));
                }
            }
            TokenKind::Word => {
                let is_beginning = mode == LastWordMode::Open;
                let (typos, stems) = (typos(&token.text), Stems::new(&token.text, languages));
                needs.push(QueryTerm::Word(Word { text: token.text, is_beginning, typos, visits: 0, stems }));
            }
            // A run of characters in a script without spaces is searched as a phrase.
            TokenKind::Pair => run.push(token),
            TokenKind::Tail => {
                run.push(token);
                needs.extend(phrase(std::mem::take(&mut run), LastWordMode::Closed));
            }
            TokenKind::Part => {}
        }
    }
    needs
}

/// Returns `true` if two words belong to one name in code: `snake_case`, `a::b`, `file.txt` or `v1.2`.
fn is_joined(text: &str, token: &WordToken, next: &WordToken) -> bool {
    token.kind == TokenKind::Word
        && next.kind == TokenKind::Word
        && matches!(text.get(token.to..next.from), Some("_" | "." | "::"))
}

fn phrase_term(text: &str) -> Option<QueryTerm> {
    phrase(tokens(text).filter(|token| token.kind != TokenKind::Part).collect(), LastWordMode::Closed)
}

fn phrase(tokens: Vec<WordToken>, ending: LastWordMode) -> Option<QueryTerm> {
    let mut parts: Vec<PhraseWord> = Vec::with_capacity(tokens.len());
    let start = tokens.first()?.position;
    let mut before: Option<TokenKind> = None;
    for token in tokens {
        let kind = before.replace(token.kind);
        // The tail of a run is contained in the preceding pair. Alone, it can be the beginning of any pair.
        if token.kind == TokenKind::Tail && kind == Some(TokenKind::Pair) {
            continue;
        }
        let is_beginning = token.kind == TokenKind::Tail;
        let word = Word { text: token.text, is_beginning, typos: 0, visits: 0, stems: None };
        parts.push(PhraseWord { word, offset: token.position - start });
    }
    if let Some(last) = parts.last_mut().filter(|_| ending == LastWordMode::Open) {
        last.word.is_beginning = true;
    }
    if parts.len() == 1 {
        return parts.pop().map(|part| QueryTerm::Word(part.word));
    }
    Some(QueryTerm::Phrase(Phrase { parts }))
}

/// Returns the maximum number of typos in a word. It is zero for words with digits, which distinguish versions and
/// names.
fn typos(word: &str) -> u8 {
    match word.chars().count() {
        _ if !word.chars().all(char::is_alphabetic) => 0,
        letters if letters >= TWO_TYPOS => 2,
        letters if letters >= ONE_TYPO => 1,
        _ => 0,
    }
}

/// Returns the edit distance with insertions, deletions, substitutions and transpositions of neighbors, or `None` if it
/// exceeds `most`.
fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    if most == 0 {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        if row.iter().all(|n| *n > most) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|n| *n <= most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(text: &str) -> Word {
        match Query::parse(text).needs() {
            [QueryTerm::Word(word)] => word.clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn typo_tolerance_depends_on_word_length() {
        for (query, term, expected) in [
            ("cat", "cat", Some(Match::Exact)),
            ("cat", "bat", None),
            ("cat", "category", Some(Match::Beginning)),
            ("word", "wrod", Some(Match::OneTypo)),
            ("word", "wird", Some(Match::OneTypo)),
            ("word", "ward s", None),
            ("installd", "installed", Some(Match::OneTypo)),
            ("install", "installs", Some(Match::Inflection)),
            ("requests", "\u{1}request", Some(Match::Part)),
            ("requ", "\u{1}request", None),
            ("reqeust", "\u{1}request", None),
            ("installs", "installation", Some(Match::Inflection)),
            ("queries", "query", Some(Match::Inflection)),
            ("instalaltion", "installation", Some(Match::OneTypo)),
            ("confguraton", "configuration", Some(Match::TwoTypos)),
            ("onfiguraton", "configuration", None),
            ("onfiguration", "configuration", Some(Match::OneTypo)),
            ("seven77", "seven78", None),
            ("v2", "v3", None),
        ] {
            assert_eq!(word(query).matches(term), expected, "{query} {term}");
        }
    }

    #[test]
    fn only_the_last_unquoted_word_matches_as_a_prefix() {
        let query = Query::parse("git sync");
        let [QueryTerm::Word(git), QueryTerm::Word(sync)] = query.needs() else { panic!("{query:?}") };
        assert_eq!((git.is_beginning(), sync.is_beginning()), (false, true));
        assert!(!word("\"sync\"").is_beginning(), "what is quoted is whole");
        assert_eq!(word("\"sync\"").typos(), 0);
    }

    #[test]
    fn quotes_form_phrases_and_unclosed_quotes_are_ignored() {
        let query = Query::parse("\"change request\" merge");
        let [QueryTerm::Phrase(phrase), QueryTerm::Word(_)] = query.needs() else { panic!("{query:?}") };
        let parts: Vec<_> = phrase.parts().iter().map(|p| (p.word.text(), p.offset)).collect();
        assert_eq!(parts, [("change", 0), ("request", 1)]);
        assert_eq!(Query::parse("\"change request").needs().len(), 2);
        let query = Query::parse("max_pred_locks std::fs v1.2");
        let phrases = query.needs().iter().filter(|need| matches!(need, QueryTerm::Phrase(_))).count();
        assert_eq!((phrases, query.needs().len()), (3, 3), "{query:?}");
        assert_eq!(Query::parse("“change request”").needs().len(), 1);
    }

    #[test]
    fn text_without_words_is_an_empty_query() {
        let stars = "*".repeat(512);
        for text in ["", " ", "***", "\"\"", "\"", "()[]{}", stars.as_str(), "\0"] {
            assert!(Query::parse(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn the_words_of_a_query_share_its_visits() {
        let words = (0..64_u8).map(|n| {
            format!("word{} ", char::from(b'A' + n % 26).to_string().repeat(1 + usize::from(n) / 26))
        });
        for text in ["install", "instal the servr", &words.collect::<String>(), &"あ \"い b\" ".repeat(60)]
        {
            let query = Query::parse(text);
            let visits = |is_counted: fn(&Word) -> bool| {
                query.words().filter(|word| is_counted(word)).map(Word::visits).sum::<usize>()
            };
            let totals = [visits(|word| word.typos > 0), visits(|word| word.is_beginning)];
            assert!(totals.iter().all(|total| *total <= MAX_VISITED_WORDS), "{text}: {totals:?}");
            assert!(totals.iter().any(|total| *total > 0), "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_parses_within_the_term_limit(text in "\\PC{0,200}") {
            let query = Query::parse(&text);
            prop_assert!(query.needs().len() <= MAX_NEEDS);
            for need in query.needs() {
                if let QueryTerm::Phrase(phrase) = need {
                    prop_assert!(phrase.parts().len() > 1);
                }
            }
        }

        #[test]
        fn edit_distance_is_symmetric(a in "[a-d]{0,7}", b in "[a-d]{0,7}") {
            prop_assert_eq!(distance(&a, &b, 2), distance(&b, &a, 2));
        }
    }
}
