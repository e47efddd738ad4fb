//! Generators for string, template and pattern literals.

use super::{
    generate::{Binds, Both, Generator, Made},
    kinds::Kind,
    pools,
};

/// Building blocks of patterns that have the same meaning with and without the flag `u`.
const ATOMS: [&str; 40] = [
    "a", "b", "ab", "x", "X", "1", "é", "-", ",", " ", "o", "😀", ".", "\\d", "\\w", "\\s", "\\D", "\\W",
    "\\S", "[abc]", "[a-c]", "[^ab]", "[\\d_]", "[\\w-]", "[^\\s]", "[a-c1-3]", "[\\]]", "[.*]", "[^]", "[]",
    "[\\b]", "\\.", "\\/", "\\(", "\\n", "\\x61", "\\u0062", "\\t", "[😀a]", "[\\0]",
];

impl Generator<'_> {
    pub(super) fn text(&mut self) -> Made {
        let text = self.random.pick(&pools::TEXTS);
        let quote = self.random.pick(&['\'', '"', '`']);
        let mut literal = quote.to_string();
        for c in text.chars() {
            literal.push_str(&self.character(c, quote));
        }
        literal.push(quote);
        Made(Both::same(literal), Binds::Operand)
    }

    /// Generates a character of a quoted string.
    fn character(&mut self, c: char, quote: char) -> String {
        let code = c as u32;
        match c {
            '\\' => "\\\\".to_owned(),
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '$' => "\\$".to_owned(),
            c if c == quote => format!("\\{c}"),
            c => match self.random.below(40) {
                0 if code < 0x100 => format!("\\x{code:02x}"),
                1 if code < 0x1_0000 => format!("\\u{code:04X}"),
                1 => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
                2 => format!("\\u{{{code:06x}}}"),
                3 => format!("\\\n{c}"),
                4 if quote != '`' && code < 0x80 => format!("\\{code:03o}"),
                5 if matches!(c, 'a' | 'A' | 'e' | 'y' | '.' | '(' | '😀') => format!("\\{c}"),
                _ => c.to_string(),
            },
        }
    }

    pub(super) fn template(&mut self) -> Made {
        let mut text = "`".to_owned();
        let mut parts = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let piece = self.random.pick(&["", "a", "-", "$", " { ", "'", "\\`", "\\n", "\n"]);
            text.push_str(piece);
            text.push_str("${§}");
            parts.push(self.operand(Kind::Any, Binds::Sequence));
        }
        text.push('`');
        Made(Both::of(&text, &text, &parts.iter().collect::<Vec<_>>()), Binds::Operand)
    }

    pub(super) fn pattern(&mut self) -> Made {
        let mut groups = 0;
        let depth = self.random.below(3);
        let body = self.either(depth, &mut groups);
        let flags = self.random.pick(&["", "", "g", "g", "i", "gi", "m", "s", "y", "u", "gy"]);
        let ours = format!("/{body}/{flags}");
        let unicode = if flags.contains('u') { "" } else { "u" };
        let theirs =
            format!("$function(/{body}/{flags}{unicode}, {})", serde_json::to_string(&ours).unwrap());
        Made(Both { ours, theirs }, Binds::Operand)
    }

    fn either(&mut self, depth: usize, groups: &mut usize) -> String {
        let ways: Vec<String> =
            (0..if self.random.one_in(5) { 2 } else { 1 }).map(|_| self.line(depth, groups)).collect();
        ways.join("|")
    }

    fn line(&mut self, depth: usize, groups: &mut usize) -> String {
        let mut line = String::new();
        for at in 0..1 + self.random.below(3) {
            let (part, is_repeatable) = match self.random.below(14) {
                0..3 if depth > 0 => self.group(depth, groups),
                3 if at == 0 => ("^".to_owned(), false),
                4 => (self.random.pick(&["$", "\\b"]).to_owned(), false),
                5 if *groups > 0 => (format!("(?:\\{})", 1 + self.random.below(*groups)), true),
                _ => (self.random.pick(&ATOMS).to_owned(), true),
            };
            line.push_str(&part);
            if is_repeatable && self.random.one_in(3) {
                line.push_str(self.random.pick(&["*", "+", "?", "{2}", "{1,}", "{0,2}", "{1,3}"]));
                line.push_str(self.random.pick(&["", "", "?"]));
            }
        }
        if line.is_empty() { "(?:)".to_owned() } else { line }
    }

    fn group(&mut self, depth: usize, groups: &mut usize) -> (String, bool) {
        let kind = self.random.below(6);
        if kind < 3 {
            *groups += 1;
        }
        let own = *groups;
        let inner = self.either(depth - 1, groups);
        match kind {
            0 | 1 => (format!("({inner})"), true),
            2 => (format!("(?<{}>{inner})", if own == 1 { "n".to_owned() } else { format!("n{own}") }), true),
            3 => (format!("(?:{inner})"), true),
            4 => (format!("(?={inner})"), false),
            _ => (format!("(?!{inner})"), false),
        }
    }
}
