//! Text as it can be set: without control characters, and with places where what is too long may break.

/// Where a line may break, although nothing is seen.
const BREAK: char = '\u{200b}';
/// After these a long word breaks best.
const SEPARATORS: &str = "/._-?&=:,;|\\@#%+~)]}>";

/// Joins two characters, or keeps them apart.
const ZWJ: char = '\u{200d}';
const ZWNJ: char = '\u{200c}';

/// Text without what cannot be shown: a sign stands in its place.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|c| *c != '\r').map(seen).collect()
}

/// The same on one line, for titles.
pub(crate) fn one_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_whitespace() { ' ' } else { seen(c) }).collect();
    line.trim().to_owned()
}

fn seen(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        // Marks of direction that are never closed would turn what follows around.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{200b}',
        c if c.is_control() || is_noncharacter(c) => '\u{fffd}',
        c => c,
    }
}

fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
}

/// Puts places to break into words that do not fit: one run of text after the other.
#[derive(Clone, Debug)]
pub(crate) struct Breaker {
    /// Characters that surely fit.
    fits: usize,
    /// At most so many stay together in a word that does not fit.
    piece: usize,
    /// Characters since the last place where a line breaks by itself.
    since_space: usize,
    /// Characters since the last place of ours.
    since_break: usize,
    /// Whether the last character holds on to the next.
    joins: bool,
}

impl Breaker {
    /// For lines of so many characters.
    pub(crate) fn new(width: usize) -> Self {
        let fits = width.clamp(2, 24);
        Self { fits, piece: (width / 2).clamp(1, 8), since_space: 0, since_break: 0, joins: false }
    }

    /// The next run of a text.
    pub(crate) fn run(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            if c.is_whitespace() || c == BREAK {
                (self.since_space, self.since_break) = (0, 0);
                out.push(c);
                continue;
            }
            // A joiner is joined itself, and then holds the next one.
            let held = std::mem::replace(&mut self.joins, c == ZWJ);
            let combines = held || is_joined(c);
            if self.since_space >= self.fits && self.since_break >= self.piece && !combines {
                out.push(BREAK);
                self.since_break = 0;
            }
            out.push(c);
            if combines {
                continue;
            }
            self.since_space += 1;
            self.since_break += 1;
            if SEPARATORS.contains(c) && self.since_space >= self.fits.min(12) && self.since_break > 1 {
                out.push(BREAK);
                self.since_break = 0;
            }
        }
        out
    }
}

/// Characters that belong to the one before: a break would tear them apart.
fn is_joined(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{64b}'..='\u{65f}' | ZWNJ | ZWJ | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_seen_as_such() {
        assert_eq!(clean("a\0b\u{7}\r\nc\u{ffff}"), "a\u{fffd}b\u{fffd}\nc\u{fffd}");
        assert_eq!(one_line(" a\n b\0"), "a  b\u{fffd}");
        assert!(!clean("abc\u{202e}def").contains('\u{202e}'));
    }

    #[test]
    fn a_long_word_may_break_and_a_short_one_may_not() {
        let mut breaker = Breaker::new(70);
        assert_eq!(breaker.run("some usual-words here"), "some usual-words here");
        let long = Breaker::new(70).run(&"x".repeat(100));
        let longest = long.split(BREAK).map(str::len).max();
        assert_eq!(longest, Some(24));
        assert_eq!(long.replace(BREAK, ""), "x".repeat(100));
    }

    #[test]
    fn a_word_that_goes_on_in_the_next_run_is_one_word() {
        let mut breaker = Breaker::new(10);
        let broken: Vec<String> = (0..10).map(|_| breaker.run("abc")).collect();
        assert!(broken.concat().contains(BREAK));
    }

    #[test]
    fn an_emoji_of_several_characters_stays_whole() {
        let family = "👩\u{200d}👩\u{200d}👧";
        let broken = Breaker::new(2).run(&family.repeat(9));
        assert!(broken.contains(BREAK));
        assert!(broken.split(BREAK).all(|part| part.replace(family, "").is_empty()), "{broken:?}");
        let flags = "🇩🇪".repeat(30);
        assert_eq!(Breaker::new(2).run(&flags), flags);
    }
}
