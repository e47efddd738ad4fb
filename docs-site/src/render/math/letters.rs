//! Mathematical alphabets, which MathML represents by separate Unicode characters.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// The MathML default: a single letter is italic.
    #[default]
    Usual,
    Upright,
    Bold,
    BoldItalic,
    Script,
    Fraktur,
    DoubleStruck,
    SansSerif,
    Monospace,
}

impl Alphabet {
    /// Returns the alphabet selected by a TeX command.
    pub(super) fn from_command(font: &str) -> Self {
        match font.trim_start_matches('\\') {
            "mathrm" | "textrm" | "rm" | "mathup" | "textup" | "textnormal" | "textmd" => Self::Upright,
            "mathbf" | "textbf" | "bf" | "bold" => Self::Bold,
            "boldsymbol" | "bm" => Self::BoldItalic,
            "mathcal" | "cal" | "mathscr" | "scr" => Self::Script,
            "mathfrak" | "frak" => Self::Fraktur,
            "mathbb" | "Bbb" => Self::DoubleStruck,
            "mathsf" | "textsf" | "sf" => Self::SansSerif,
            "mathtt" | "texttt" | "tt" => Self::Monospace,
            _ => Self::Usual,
        }
    }

    /// Maps a letter or digit to the alphabet.
    pub(super) fn letter(self, c: char) -> char {
        if let Some(old) = self.legacy_letter(c) {
            return old;
        }
        // The first code points of capital letters, small letters and digits.
        let (capital, small, digit) = match self {
            Self::Usual | Self::Upright => return c,
            Self::Bold => (0x1d400, 0x1d41a, Some(0x1d7ce)),
            Self::BoldItalic => (0x1d468, 0x1d482, Some(0x1d7ce)),
            Self::Script => (0x1d49c, 0x1d4b6, None),
            Self::Fraktur => (0x1d504, 0x1d51e, None),
            Self::DoubleStruck => (0x1d538, 0x1d552, Some(0x1d7d8)),
            Self::SansSerif => (0x1d5a0, 0x1d5ba, Some(0x1d7e2)),
            Self::Monospace => (0x1d670, 0x1d68a, Some(0x1d7f6)),
        };
        let shifted = |first: u32, from: char| char::from_u32(first + (u32::from(c) - u32::from(from)));
        let found = match (c, digit) {
            ('A'..='Z', _) => shifted(capital, 'A'),
            ('a'..='z', _) => shifted(small, 'a'),
            ('0'..='9', Some(digit)) => shifted(digit, '0'),
            _ => None,
        };
        found.unwrap_or(c)
    }

    /// Maps letters that Unicode encoded before it added the alphabets.
    fn legacy_letter(self, c: char) -> Option<char> {
        let pairs: &[(char, char)] = match self {
            Self::Script => &[
                ('B', 'ℬ'),
                ('E', 'ℰ'),
                ('F', 'ℱ'),
                ('H', 'ℋ'),
                ('I', 'ℐ'),
                ('L', 'ℒ'),
                ('M', 'ℳ'),
                ('R', 'ℛ'),
                ('e', 'ℯ'),
                ('g', 'ℊ'),
                ('o', 'ℴ'),
            ],
            Self::Fraktur => &[('C', 'ℭ'), ('H', 'ℌ'), ('I', 'ℑ'), ('R', 'ℜ'), ('Z', 'ℨ')],
            Self::DoubleStruck => {
                &[('C', 'ℂ'), ('H', 'ℍ'), ('N', 'ℕ'), ('P', 'ℙ'), ('Q', 'ℚ'), ('R', 'ℝ'), ('Z', 'ℤ')]
            }
            _ => &[],
        };
        pairs.iter().find(|(from, _)| *from == c).map(|(_, to)| *to)
    }
}
