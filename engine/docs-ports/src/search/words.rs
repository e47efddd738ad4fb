//! Tokenization: splitting text into words and folding their spellings.

use std::{convert::Infallible, iter, ops::ControlFlow};

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Maximum length of a word in characters; longer ones are truncated.
pub const MAX_WORD: usize = 64;

/// The first character of the [`text`](WordToken::text) of a part of a word. It is in no folded word.
pub const PART_MARK: char = '\u{1}';

/// A word in a text, with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordToken {
    /// The word in lowercase, without diacritics.
    pub text: String,
    /// The index of the word in the text. A part has the position of its word.
    pub position: u32,
    /// The start offset in the text, in bytes.
    pub from: usize,
    /// The end offset in the text, in bytes.
    pub to: usize,
    pub kind: TokenKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A word between spaces or punctuation.
    Word,
    /// Two adjacent characters of a script without spaces between words.
    Pair,
    /// The last character of a run of such characters.
    Tail,
    /// A part of a word in camel case. Its text begins with [`PART_MARK`].
    Part,
}

/// Tokenizes `text` lazily, in order, with constant memory.
///
/// A word is a run of letters and digits. Scripts without spaces between words yield every pair of adjacent characters,
/// and the last character of a run separately, so that each character begins a token. A word in camel case is followed
/// by its parts.
///
/// ```
/// use docs_ports::search::tokens;
/// let texts = |text| tokens(text).map(|token| token.text).collect::<Vec<_>>();
/// assert_eq!(texts("Crème Brûlée, v2"), ["creme", "brulee", "v2"]);
/// assert_eq!(texts("全文検索"), ["全文", "文検", "検索", "索"]);
/// assert_eq!(texts("useState"), ["usestate", "\u{1}use", "\u{1}state"]);
/// ```
pub fn tokens(text: &str) -> impl Iterator<Item = WordToken> {
    let words = runs(text).flat_map(move |run| {
        let (parts, word, pairs) = match run.script {
            Script::Spaced => {
                (CamelCase::new(&text[run.from..run.to], run.from), Some(word(text, &run)), None)
            }
            Script::Unspaced => (CamelCase::new("", 0), None, Some(pairs(text, run))),
        };
        word.into_iter().chain(pairs.into_iter().flatten()).chain(parts.map(move |run| part(text, &run)))
    });
    let words = words.filter(|token| !token.text.is_empty());
    let mut next = 0;
    words.map(move |token| {
        next += u32::from(token.kind != TokenKind::Part);
        WordToken { position: next - 1, ..token }
    })
}

/// Calls `each` with the text, the position and the start offset of each of the [`tokens`] of `text`, until it breaks.
/// Words share one buffer, so that the many words of a page need no allocation each.
pub(super) fn try_for_each_token<B>(
    text: &str,
    mut each: impl FnMut(&str, u32, usize) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut position = 0;
    let mut add = |token: &str, from: usize, is_part: bool| {
        if token.is_empty() {
            return ControlFlow::Continue(());
        }
        position += u32::from(!is_part);
        each(token, position - 1, from)
    };
    let mut folded = String::new();
    for run in runs(text) {
        match run.script {
            Script::Spaced => {
                folded.clear();
                fold_into(&text[run.from..run.to], &mut folded);
                add(&folded, run.from, false)?;
                for part in CamelCase::new(&text[run.from..run.to], run.from) {
                    folded.clear();
                    folded.push(PART_MARK);
                    fold_into(&text[part.from..part.to], &mut folded);
                    add(&folded, part.from, true)?;
                }
            }
            Script::Unspaced => {
                pairs(text, run).try_for_each(|token| add(&token.text, token.from, false))?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Calls `each` with the text and the position of each of the [`tokens`] of `text`.
pub(super) fn for_each_token(text: &str, mut each: impl FnMut(&str, u32)) {
    let visit = |token: &str, position, _| -> ControlFlow<Infallible> {
        each(token, position);
        ControlFlow::Continue(())
    };
    _ = try_for_each_token(text, visit);
}

/// Calls `each` with the position and the start offset of each of the [`tokens`] of `text`.
pub(super) fn for_each_token_at(text: &str, mut each: impl FnMut(u32, usize)) {
    let visit = |_: &str, position, from| -> ControlFlow<Infallible> {
        each(position, from);
        ControlFlow::Continue(())
    };
    _ = try_for_each_token(text, visit);
}

/// A run of letters and digits of the same script class.
struct ScriptRun {
    from: usize,
    to: usize,
    script: Script,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Script {
    Spaced,
    Unspaced,
}

fn script(c: char) -> Option<Script> {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric().then_some(Script::Spaced);
    }
    match c {
        _ if !c.is_alphanumeric() => None,
        // Thai, Lao; Myanmar; Hangul letters; Khmer.
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        // Radicals; signs, kana, Bopomofo and Hangul letters; Han.
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}'
        // Hangul syllables; Han; narrow kana and Hangul; Han beyond the basic plane.
        | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}'
        | '\u{20000}'..='\u{3ffff}' => Some(Script::Unspaced),
        _ => Some(Script::Spaced),
    }
}

/// Splits `text` into runs, in order.
fn runs(text: &str) -> impl Iterator<Item = ScriptRun> {
    let mut at = 0;
    iter::from_fn(move || {
        let mut rest = text[at..].char_indices();
        let (from, script) = rest.find_map(|(offset, c)| Some((at + offset, script(c)?)))?;
        // Only runs of spaced scripts contain ASCII characters.
        let word = from + text.as_bytes()[from..].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        // Combining marks belong to their base character.
        let belongs = |c| self::script(c).map_or_else(|| is_combining_mark(c), |other| other == script);
        let end = text[word..].char_indices().find(|(_, c)| !belongs(*c));
        let to = end.map_or(text.len(), |(offset, _)| word + offset);
        at = to;
        Some(ScriptRun { from, to, script })
    })
}

/// Converts a run to a word token.
fn word(text: &str, run: &ScriptRun) -> WordToken {
    let folded = fold(&text[run.from..run.to]);
    WordToken { text: folded, position: 0, from: run.from, to: run.to, kind: TokenKind::Word }
}

/// Converts a part of a word to a token.
fn part(text: &str, run: &ScriptRun) -> WordToken {
    let mut folded = String::from(PART_MARK);
    fold_into(&text[run.from..run.to], &mut folded);
    WordToken { text: folded, position: 0, from: run.from, to: run.to, kind: TokenKind::Part }
}

/// The parts of a word in camel case, of at least two characters each.
struct CamelCase<'t> {
    word: &'t str,
    /// The offset of the word in its text.
    start: usize,
    /// The start of the next part in the word.
    at: usize,
}

impl<'t> CamelCase<'t> {
    /// Finds the parts of a word. A word with a single part has none.
    fn new(word: &'t str, start: usize) -> Self {
        let mut parts = Self { word, start, at: 0 };
        // Most words have no capital letter after the first character.
        let is_plain = !word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii());
        if is_plain || parts.end() == word.len() {
            parts.at = word.len();
        }
        parts
    }

    /// Returns the end of the part at the current offset.
    fn end(&self) -> usize {
        let mut letters = self.word[self.at..].char_indices().peekable();
        let mut before: Option<char> = None;
        while let Some((offset, letter)) = letters.next() {
            let is_lower = |letter: char| letter.is_lowercase();
            let begins = before.is_some_and(|before| {
                let after = letters.peek().is_some_and(|(_, after)| is_lower(*after));
                letter.is_uppercase() && (!before.is_uppercase() || after)
            });
            if begins {
                return self.at + offset;
            }
            before = Some(letter);
        }
        self.word.len()
    }
}

impl Iterator for CamelCase<'_> {
    type Item = ScriptRun;

    fn next(&mut self) -> Option<ScriptRun> {
        while self.at < self.word.len() {
            let (from, to) = (self.at, self.end());
            self.at = to;
            if self.word[from..to].chars().nth(1).is_some() {
                return Some(ScriptRun {
                    from: self.start + from,
                    to: self.start + to,
                    script: Script::Spaced,
                });
            }
        }
        None
    }
}

/// Returns the pairs of adjacent characters in a run, followed by its last character.
fn pairs(text: &str, run: ScriptRun) -> impl Iterator<Item = WordToken> {
    let folded = characters(text, run).map(|(from, to)| (from, to, fold(&text[from..to])));
    let mut folded = folded.filter(|(_, _, folded)| !folded.is_empty()).peekable();
    iter::from_fn(move || {
        let (from, end, first) = folded.next()?;
        let (to, text, kind) = match folded.peek() {
            Some((_, end, second)) => (*end, first + second, TokenKind::Pair),
            None => (end, first, TokenKind::Tail),
        };
        Some(WordToken { text, position: 0, from, to, kind })
    })
}

/// Returns the byte ranges of the characters in a run, each with its combining marks.
fn characters(text: &str, run: ScriptRun) -> impl Iterator<Item = (usize, usize)> {
    let mut left = text[run.from..run.to].char_indices().peekable();
    iter::from_fn(move || {
        let (at, _) = left.next()?;
        // The halfwidth Japanese voicing marks are in the letter category.
        let stands_on = |c| is_combining_mark(c) || matches!(c, '\u{ff9e}' | '\u{ff9f}');
        while left.next_if(|(_, c)| stands_on(*c)).is_some() {}
        let end = left.peek().map_or(run.to, |(next, _)| run.from + next);
        Some((run.from + at, end))
    })
}

/// Folds spelling variants of a word: converts to lowercase, removes diacritics, and unifies compatibility equivalents.
fn fold(word: &str) -> String {
    let mut folded = String::new();
    fold_into(word, &mut folded);
    folded
}

/// Like [`fold`], but appends the folded word to `folded`.
fn fold_into(word: &str, folded: &mut String) {
    if word.is_ascii() {
        let start = folded.len();
        folded.push_str(&word[..word.len().min(MAX_WORD)]);
        return folded[start..].make_ascii_lowercase();
    }
    let mut out = String::with_capacity(word.len());
    for c in word.nfkd().flat_map(char::to_lowercase) {
        match c {
            _ if is_diacritic(c) => {}
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'þ' => out.push_str("th"),
            'ø' => out.push('o'),
            'đ' | 'ð' => out.push('d'),
            'ł' => out.push('l'),
            'ħ' => out.push('h'),
            'ı' => out.push('i'),
            'ς' => out.push('σ'),
            _ if c.is_alphanumeric() || is_combining_mark(c) => out.push(c),
            _ => {}
        }
    }
    folded.extend(out.nfc().take(MAX_WORD));
}

/// Returns `true` for marks that writers commonly omit: accents, Hebrew points, Arabic vowels. In other scripts, marks
/// are vowels or voicing.
fn is_diacritic(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{0591}'..='\u{05c7}' | '\u{0610}'..='\u{061a}' | '\u{064b}'..='\u{065f}'
        | '\u{0670}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(text).map(|token| token.text).collect()
    }

    #[test]
    fn case_width_and_diacritics_are_folded() {
        for (spellings, folded) in [
            (&["Straße", "STRASSE", "strasse"][..], "strasse"),
            (&["café", "cafe\u{301}", "CAFÉ"], "cafe"),
            (&["İstanbul", "istanbul", "ıstanbul"], "istanbul"),
            (&["ΟΔΟΣ", "οδός", "οδος"], "οδοσ"),
            (&["ｆｕｌｌ", "full"], "full"),
            (&["Łódź", "lodz"], "lodz"),
            (&["Čeština", "cestina"], "cestina"),
            (&["кафе́", "кафе"], "кафе"),
        ] {
            for spelling in spellings {
                assert_eq!(texts(spelling), [folded], "{spelling}");
            }
        }
    }

    #[test]
    fn words_end_at_non_alphanumeric_characters() {
        assert_eq!(
            texts("max_pred-locks=1024 (v1.2), don't"),
            ["max", "pred", "locks", "1024", "v1", "2", "don", "t"]
        );
        assert!(texts("--- \u{301} ***").is_empty());
        assert_eq!(texts(&"x".repeat(100))[0].len(), MAX_WORD);
    }

    #[test]
    fn a_word_in_camel_case_is_followed_by_its_parts() {
        for (text, expected) in [
            ("pullRequest", &["pullrequest", "\u{1}pull", "\u{1}request"][..]),
            ("HTTPServer2", &["httpserver2", "\u{1}http", "\u{1}server2"]),
            ("OAuth", &["oauth", "\u{1}auth"]),
            ("v2Beta API Word", &["v2beta", "\u{1}v2", "\u{1}beta", "api", "word"]),
            ("ÉtatÉlevé", &["etateleve", "\u{1}etat", "\u{1}eleve"]),
        ] {
            assert_eq!(texts(text), expected, "{text}");
        }
        assert_eq!(tokens("useState hook").map(|token| token.position).collect::<Vec<_>>(), [0, 0, 0, 1]);
    }

    #[test]
    fn cjk_text_yields_bigrams_and_a_final_character() {
        assert_eq!(texts("東京abc都"), ["東京", "京", "abc", "都"]);
        assert_eq!(texts("ｶﾞｲﾄﾞ"), texts("ガイド"), "narrow and wide kana are equal");
        assert_eq!(texts("한국어"), ["한국", "국어", "어"]);
        assert_eq!(tokens("検索 API").map(|t| t.position).collect::<Vec<_>>(), [0, 1, 2]);
    }

    proptest! {
        #[test]
        fn words_are_substrings_and_folding_is_idempotent(text in "\\PC{0,60}") {
            let found: Vec<_> = tokens(&text).collect();
            let mut visited = Vec::new();
            _ = try_for_each_token(&text, |word, position, from| -> ControlFlow<()> {
                visited.push((word.to_owned(), position, from));
                ControlFlow::Continue(())
            });
            let expected = found.iter().map(|token| (token.text.clone(), token.position, token.from));
            prop_assert_eq!(visited, expected.collect::<Vec<_>>());
            let words = found.iter().filter(|token| token.kind != TokenKind::Part);
            prop_assert!(words.enumerate().all(|(at, token)| token.position as usize == at));
            for token in &found {
                prop_assert!(token.from < token.to && text.get(token.from..token.to).is_some());
                if token.kind == TokenKind::Word {
                    prop_assert_eq!(fold(&token.text), token.text.clone());
                }
            }
        }
    }
}
