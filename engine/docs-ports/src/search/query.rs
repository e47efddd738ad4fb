//! What a query asks for, and which words meet it.

use super::{Token, TokenKind, tokens};

/// Most needs of a query; what follows is not looked at.
const MAX_NEEDS: usize = 64;
/// Letters from which a word may have one typo.
const ONE_TYPO: usize = 4;
/// Letters from which a word may have two.
const TWO_TYPOS: usize = 8;

/// A query: what a page needs to be found.
///
/// Any text is a query, and none is wrong. Words stand for themselves, there are no operators. What stands between two
/// quotation marks is a phrase. The last word may be the beginning of one. Words of letters may have typos: one from
/// four letters on, two from eight.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    needs: Vec<Need>,
}

/// Something that has to be on a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Need {
    /// A word.
    Word(Word),
    /// Words one after the other.
    Phrase(Phrase),
}

/// A word that is looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    text: String,
    is_beginning: bool,
    typos: u8,
}

/// Words that are looked for one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phrase {
    parts: Vec<Part>,
}

/// A word of a phrase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The word: it, or its beginning, has to be there without typos.
    pub word: Word,
    /// Its place, counted from that of the first word.
    pub offset: u32,
}

/// How a word meets the one that is looked for; the better one is the lesser.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Match {
    /// It is the word.
    Exact,
    /// It begins with it.
    Beginning,
    /// It is the word with one typo.
    OneTypo,
    /// It is the word with two typos.
    TwoTypos,
}

impl Query {
    /// Reads a query.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut needs = Vec::new();
        let pieces: Vec<&str> = text.split(['"', '“', '”', '„', '«', '»']).collect();
        let last = pieces.len() - 1;
        for (at, piece) in pieces.iter().enumerate() {
            // A quotation mark that is never closed means nothing.
            if at % 2 == 1 && at < last {
                needs.extend(quoted(piece));
            } else {
                needs.extend(plain(piece, if at == last { Ending::Open } else { Ending::Closed }));
            }
        }
        let mut query = Self::default();
        for need in needs {
            if query.needs.len() < MAX_NEEDS && !query.needs.contains(&need) {
                query.needs.push(need);
            }
        }
        query
    }

    /// What a page needs; nothing where the query has no words.
    #[must_use]
    pub fn needs(&self) -> &[Need] {
        &self.needs
    }

    /// Tells whether the query has no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needs.is_empty()
    }
}

impl Word {
    /// The word, folded.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a word that begins with it will do.
    #[must_use]
    pub const fn is_beginning(&self) -> bool {
        self.is_beginning
    }

    /// How many typos it may have.
    #[must_use]
    pub const fn typos(&self) -> u8 {
        self.typos
    }

    /// How a folded word of a text meets this one.
    #[must_use]
    pub fn matches(&self, term: &str) -> Option<Match> {
        if term == self.text {
            return Some(Match::Exact);
        }
        if self.is_beginning && term.starts_with(&self.text) {
            return Some(Match::Beginning);
        }
        match distance(&self.text, term, usize::from(self.typos)) {
            Some(1) => Some(Match::OneTypo),
            Some(2) => Some(Match::TwoTypos),
            _ => None,
        }
    }
}

impl Phrase {
    /// The words in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

/// Whether the last word may go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Open,
    Closed,
}

fn plain(text: &str, ending: Ending) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut run: Vec<Token> = Vec::new();
    let mut found = tokens(text).peekable();
    while let Some(token) = found.next() {
        match token.kind {
            TokenKind::Word => {
                let is_beginning = ending == Ending::Open && found.peek().is_none();
                let typos = typos(&token.text);
                needs.push(Need::Word(Word { text: token.text, is_beginning, typos }));
            }
            // A run of characters without spaces is looked for as it stands.
            TokenKind::Pair => run.push(token),
            TokenKind::Tail => {
                run.push(token);
                needs.extend(phrase(std::mem::take(&mut run)));
            }
        }
    }
    needs
}

fn quoted(text: &str) -> Option<Need> {
    phrase(tokens(text).collect())
}

fn phrase(tokens: Vec<Token>) -> Option<Need> {
    let mut parts: Vec<Part> = Vec::with_capacity(tokens.len());
    let start = tokens.first()?.position;
    let mut before: Option<TokenKind> = None;
    for token in tokens {
        let kind = before.replace(token.kind);
        // The tail of a run is in the pair before it; alone, it may begin any pair.
        if token.kind == TokenKind::Tail && kind == Some(TokenKind::Pair) {
            continue;
        }
        let is_beginning = token.kind == TokenKind::Tail;
        let word = Word { text: token.text, is_beginning, typos: 0 };
        parts.push(Part { word, offset: token.position - start });
    }
    if parts.len() == 1 {
        return parts.pop().map(|part| Need::Word(part.word));
    }
    Some(Need::Phrase(Phrase { parts }))
}

/// How many typos a word may have. Digits tell versions and names apart, so there are none in such words.
fn typos(word: &str) -> u8 {
    match word.chars().count() {
        _ if !word.chars().all(char::is_alphabetic) => 0,
        letters if letters >= TWO_TYPOS => 2,
        letters if letters >= ONE_TYPO => 1,
        _ => 0,
    }
}

/// How many letters have to be put in, left out, replaced or swapped with their neighbour; `None` when more than
/// `most`.
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
            [Need::Word(word)] => word.clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn typos_are_forgiven_by_the_length_of_the_word() {
        for (query, term, expected) in [
            ("cat", "cat", Some(Match::Exact)),
            ("cat", "bat", None),
            ("cat", "category", Some(Match::Beginning)),
            ("word", "wrod", Some(Match::OneTypo)),
            ("word", "wird", Some(Match::OneTypo)),
            ("word", "ward s", None),
            ("installd", "installed", Some(Match::OneTypo)),
            ("instalaltion", "installation", Some(Match::OneTypo)),
            ("confguraton", "configuration", Some(Match::TwoTypos)),
            ("seven77", "seven78", None),
            ("v2", "v3", None),
        ] {
            assert_eq!(word(query).matches(term), expected, "{query} {term}");
        }
    }

    #[test]
    fn only_the_last_word_may_go_on() {
        let query = Query::parse("git sync");
        let [Need::Word(git), Need::Word(sync)] = query.needs() else { panic!("{query:?}") };
        assert_eq!((git.is_beginning(), sync.is_beginning()), (false, true));
        assert!(!word("\"sync\"").is_beginning(), "what is quoted is whole");
        assert_eq!(word("\"sync\"").typos(), 0);
    }

    #[test]
    fn quotation_marks_make_phrases_and_an_open_one_means_nothing() {
        let query = Query::parse("\"change request\" merge");
        let [Need::Phrase(phrase), Need::Word(_)] = query.needs() else { panic!("{query:?}") };
        let parts: Vec<_> = phrase.parts().iter().map(|p| (p.word.text(), p.offset)).collect();
        assert_eq!(parts, [("change", 0), ("request", 1)]);
        assert_eq!(Query::parse("\"change request").needs().len(), 2);
        assert_eq!(Query::parse("“change request”").needs().len(), 1);
    }

    #[test]
    fn text_without_words_asks_for_nothing() {
        let stars = "*".repeat(512);
        for text in ["", " ", "***", "\"\"", "\"", "()[]{}", stars.as_str(), "\0"] {
            assert!(Query::parse(text).is_empty(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in "\\PC{0,200}") {
            let query = Query::parse(&text);
            prop_assert!(query.needs().len() <= MAX_NEEDS);
            for need in query.needs() {
                if let Need::Phrase(phrase) = need {
                    prop_assert!(phrase.parts().len() > 1);
                }
            }
        }

        #[test]
        fn typos_count_the_same_from_both_sides(a in "[a-d]{0,7}", b in "[a-d]{0,7}") {
            prop_assert_eq!(distance(&a, &b, 2), distance(&b, &a, 2));
        }
    }
}
