//! Text preparation: removes control characters, and adds break opportunities to long words.

/// An invisible line break opportunity.
const ZERO_WIDTH_SPACE: char = '\u{200b}';
/// Preferred break points of long words.
const SEPARATORS: &str = "/._-?&=:,;|\\@#%+~)]}>";

/// Zero-width joiner and non-joiner.
const ZWJ: char = '\u{200d}';
const ZWNJ: char = '\u{200c}';

/// Replaces characters that cannot be displayed.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|c| *c != '\r' && !is_emoji_variant(*c)).map(visible_char).collect()
}

/// Replaces characters that cannot be displayed, and converts text to a single line, for titles.
pub(crate) fn one_line(text: &str) -> String {
    let shown = text.chars().filter(|c| !is_emoji_variant(*c));
    let line: String = shown.map(|c| if c.is_whitespace() { ' ' } else { visible_char(c) }).collect();
    line.trim().to_owned()
}

/// Returns `true` for characters that select a variant of an emoji: text or emoji style, skin tone, or regional flag. A
/// font without these variants would draw a box.
const fn is_emoji_variant(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

fn visible_char(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        // Unclosed directional formatting characters would affect the text that follows.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{200b}',
        c if c.is_control() || is_noncharacter(c) => '\u{fffd}',
        c => c,
    }
}

fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
}

/// Adds break opportunities to words that do not fit. The text is processed in consecutive runs.
#[derive(Clone, Debug)]
pub(crate) struct Breaker {
    /// Number of characters that always fit into a line.
    fits: usize,
    /// Maximum number of characters between break opportunities in a long word.
    piece: usize,
    /// Number of characters since the last natural break opportunity.
    since_space: usize,
    /// Number of characters since the last added break opportunity.
    since_break: usize,
    /// `true` if the last character joins the next one.
    joins: bool,
}

impl Breaker {
    /// Creates a breaker for lines of `width` characters.
    pub(crate) fn new(width: usize) -> Self {
        let fits = width.clamp(2, 24);
        Self { fits, piece: (width / 2).clamp(1, 8), since_space: 0, since_break: 0, joins: false }
    }

    /// Processes the next run of text.
    pub(crate) fn run(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            if c.is_whitespace() || c == ZERO_WIDTH_SPACE {
                (self.since_space, self.since_break) = (0, 0);
                out.push(c);
                continue;
            }
            // A joiner belongs to the previous character, and joins the next one to it.
            let held = std::mem::replace(&mut self.joins, c == ZWJ);
            let combines = held || is_joined(c);
            if self.since_space >= self.fits && self.since_break >= self.piece && !combines {
                out.push(ZERO_WIDTH_SPACE);
                self.since_break = 0;
            }
            out.push(c);
            if combines {
                continue;
            }
            self.since_space += 1;
            self.since_break += 1;
            if SEPARATORS.contains(c) && self.since_space >= self.fits.min(12) && self.since_break > 1 {
                out.push(ZERO_WIDTH_SPACE);
                self.since_break = 0;
            }
        }
        out
    }
}

/// Returns `true` for characters that combine with the previous one and must not be separated from it.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{65f}' | ZWNJ | ZWJ | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(clean("a\0b\u{7}\r\nc\u{ffff}"), "a\u{fffd}b\u{fffd}\nc\u{fffd}");
        assert_eq!(one_line(" a\n b\0"), "a  b\u{fffd}");
        assert_eq!((clean("⚠\u{fe0f} a"), one_line("❤\u{fe0f} a")), ("⚠ a".to_owned(), "❤ a".to_owned()));
        assert!(!clean("abc\u{202e}def").contains('\u{202e}'));
    }

    #[test]
    fn only_long_words_get_break_opportunities() {
        let mut breaker = Breaker::new(70);
        assert_eq!(breaker.run("some usual-words here"), "some usual-words here");
        let long = Breaker::new(70).run(&"x".repeat(100));
        let longest = long.split(ZERO_WIDTH_SPACE).map(str::len).max();
        assert_eq!(longest, Some(24));
        assert_eq!(long.replace(ZERO_WIDTH_SPACE, ""), "x".repeat(100));
    }

    #[test]
    fn word_spanning_several_runs_is_one_word() {
        let mut breaker = Breaker::new(10);
        let broken: Vec<String> = (0..10).map(|_| breaker.run("abc")).collect();
        assert!(broken.concat().contains(ZERO_WIDTH_SPACE));
    }

    #[test]
    fn emoji_sequences_are_not_broken() {
        let family = "👩\u{200d}👩\u{200d}👧";
        let broken = Breaker::new(2).run(&family.repeat(9));
        assert!(broken.contains(ZERO_WIDTH_SPACE));
        assert!(broken.split(ZERO_WIDTH_SPACE).all(|part| part.replace(family, "").is_empty()), "{broken:?}");
        let flags = "🇩🇪".repeat(30);
        assert_eq!(Breaker::new(2).run(&flags), flags);
    }
}
