//! The words of a text: folded, so that the spellings of a word are one.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Longest word in characters; what follows is cut off.
pub const MAX_WORD: usize = 64;

/// A word of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// The word in lower case, without diacritics.
    pub text: String,
    /// Its place among the words.
    pub position: u32,
    /// Where it begins in the text, in bytes.
    pub from: usize,
    /// Where it ends in the text, in bytes.
    pub to: usize,
    /// What kind of word it is.
    pub kind: TokenKind,
}

/// How words are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// A word between spaces or punctuation.
    Word,
    /// Two neighbouring characters of a script that puts no spaces between words.
    Pair,
    /// The last character of a run of such characters.
    Tail,
}

/// The words of a text, in order.
///
/// A word is a run of letters and digits. Scripts that put no spaces between words give every pair of neighbouring
/// characters, and the last character of a run alone, so that each character begins some word.
///
/// ```
/// use docs_ports::search::tokens;
/// let texts = |text| tokens(text).into_iter().map(|token| token.text).collect::<Vec<_>>();
/// assert_eq!(texts("Crème Brûlée, v2"), ["creme", "brulee", "v2"]);
/// assert_eq!(texts("全文検索"), ["全文", "文検", "検索", "索"]);
/// ```
#[must_use]
pub fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut position = 0;
    let mut run: Option<(usize, Script)> = None;
    for (at, c) in text.char_indices() {
        // Marks belong to what they stand on.
        let script = match (script(c), run) {
            (None, Some((_, script))) if is_combining_mark(c) => Some(script),
            (script, _) => script,
        };
        if let Some((from, current)) = run
            && script != Some(current)
        {
            push_run(&mut out, &mut position, text, (from, at), current);
            run = None;
        }
        if run.is_none() {
            run = script.map(|script| (at, script));
        }
    }
    if let Some((from, script)) = run {
        push_run(&mut out, &mut position, text, (from, text.len()), script);
    }
    out
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

fn push_run(
    out: &mut Vec<Token>,
    position: &mut u32,
    text: &str,
    (from, to): (usize, usize),
    script: Script,
) {
    let run = &text[from..to];
    if script == Script::Spaced {
        let folded = fold(run);
        if !folded.is_empty() {
            out.push(Token { text: folded, position: *position, from, to, kind: TokenKind::Word });
            *position += 1;
        }
        return;
    }
    let characters: Vec<(usize, usize, String)> = clusters(run)
        .into_iter()
        .map(|(start, end)| (from + start, from + end, fold(&run[start..end])))
        .filter(|(_, _, folded)| !folded.is_empty())
        .collect();
    for (at, (start, end, first)) in characters.iter().enumerate() {
        let token = match characters.get(at + 1) {
            Some((_, end, second)) => Token {
                text: format!("{first}{second}"),
                position: *position,
                from: *start,
                to: *end,
                kind: TokenKind::Pair,
            },
            None => Token {
                text: first.clone(),
                position: *position,
                from: *start,
                to: *end,
                kind: TokenKind::Tail,
            },
        };
        out.push(token);
        *position += 1;
    }
}

/// The characters of a run with the marks that stand on them, by their places.
fn clusters(run: &str) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (at, c) in run.char_indices() {
        let end = at + c.len_utf8();
        match out.last_mut() {
            // The narrow voicing marks of Japanese are letters by their class.
            Some(last) if is_combining_mark(c) || matches!(c, '\u{ff9e}' | '\u{ff9f}') => last.1 = end,
            _ => out.push((at, end)),
        }
    }
    out
}

/// One form for all spellings of a word: lower case, no diacritics, compatible characters made equal.
fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.chars().take(MAX_WORD).map(|c| c.to_ascii_lowercase()).collect();
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
    out.nfc().take(MAX_WORD).collect()
}

/// Marks that writers leave out: accents, Hebrew points, Arabic vowels. In other scripts marks are vowels or voicing.
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
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn spellings_of_a_word_are_one() {
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
    fn words_end_at_what_is_no_letter_or_digit() {
        assert_eq!(
            texts("max_pred-locks=1024 (v1.2), don't"),
            ["max", "pred", "locks", "1024", "v1", "2", "don", "t"]
        );
        assert!(texts("--- \u{301} ***").is_empty());
        assert_eq!(texts(&"x".repeat(100))[0].len(), MAX_WORD);
    }

    #[test]
    fn scripts_without_spaces_give_pairs_and_a_tail() {
        assert_eq!(texts("東京abc都"), ["東京", "京", "abc", "都"]);
        assert_eq!(texts("ｶﾞｲﾄﾞ"), texts("ガイド"), "narrow and wide kana are equal");
        assert_eq!(texts("한국어"), ["한국", "국어", "어"]);
        assert_eq!(tokens("検索 API").iter().map(|t| t.position).collect::<Vec<_>>(), [0, 1, 2]);
    }

    proptest! {
        #[test]
        fn every_word_lies_in_its_text_and_folding_again_changes_nothing(text in "\\PC{0,60}") {
            let found = tokens(&text);
            for (at, token) in found.iter().enumerate() {
                prop_assert_eq!(token.position as usize, at);
                prop_assert!(token.from < token.to && text.get(token.from..token.to).is_some());
                if token.kind == TokenKind::Word {
                    prop_assert_eq!(fold(&token.text), token.text.clone());
                }
            }
        }
    }
}
