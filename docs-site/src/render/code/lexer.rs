//! The lexer for code highlighting. It makes a single pass, so time and memory are linear in the input size,
//! for any input.

use super::languages::{Language, LexerMode};

/// The maximum size of highlighted code, in bytes.
const MAX_CODE: usize = 256 * 1024;
/// The maximum length of a word that is looked up, in bytes.
const MAX_WORD: usize = 40;
/// The maximum distance of lookahead and lookbehind, which prevents repeated scans of long lines.
const LOOKAHEAD_BYTES: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeTokenKind {
    Comment,
    Text,
    /// A number or a predefined constant.
    Value,
    Keyword,
    /// The name of a type.
    Type,
    /// The name of a function in a call or definition.
    Function,
    /// The name of a property, attribute or variable.
    Name,
    Added,
    Removed,
    /// Metadata: an attribute, or a location in a diff.
    Note,
}

/// A token. Bytes outside tokens are not highlighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeToken {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: CodeTokenKind,
}

/// Returns the tokens of code, in order. Empty for an unknown language, and for code of more than [`MAX_CODE`] bytes.
pub(super) fn tokenize(code: &str, language: &str) -> Vec<CodeToken> {
    let Some(language) = Language::find(language).filter(|_| code.len() <= MAX_CODE) else {
        return Vec::new();
    };
    let mut lexer = Lexer { code, language, at: 0, runs: Vec::new() };
    match language.way {
        LexerMode::Code | LexerMode::Shell => lexer.words(),
        LexerMode::Data => lexer.data(),
        LexerMode::Style => lexer.style(),
        LexerMode::Markup => lexer.markup(),
        LexerMode::Difference => lexer.difference(),
    }
    lexer.runs
}

struct Lexer<'c> {
    code: &'c str,
    language: &'static Language,
    at: usize,
    runs: Vec<CodeToken>,
}

impl<'c> Lexer<'c> {
    fn rest(&self) -> &'c str {
        self.code.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the previous character.
    fn previous_char(&self) -> Option<char> {
        self.code.get(..self.at)?.chars().next_back()
    }

    /// Emits a token of `bytes` and advances past it.
    fn emit(&mut self, bytes: usize, kind: CodeTokenKind) {
        let end = (self.at + bytes).min(self.code.len());
        if end > self.at {
            self.runs.push(CodeToken { start: self.at, end, kind });
        }
        self.at = end;
    }

    fn skip(&mut self) {
        self.at += self.peek().map_or(1, char::len_utf8);
    }

    /// Returns the number of bytes to the end of the line.
    fn line_bytes(&self) -> usize {
        self.rest().find('\n').unwrap_or(self.rest().len())
    }

    /// Returns the rest of the line, limited to [`LOOKAHEAD_BYTES`] bytes.
    fn lookahead(&self) -> &'c str {
        let rest = self.rest();
        let near = &rest[..rest.floor_char_boundary(LOOKAHEAD_BYTES)];
        &near[..near.find('\n').unwrap_or(near.len())]
    }

    /// Returns `true` if all characters before the current position in the line match, limited to [`LOOKAHEAD_BYTES`]
    /// characters.
    fn is_preceded_by(&self, fits: fn(char) -> bool) -> bool {
        let before = self.code.get(..self.at).unwrap_or_default();
        before.chars().rev().take_while(|c| *c != '\n').take(LOOKAHEAD_BYTES).all(fits)
    }

    /// Returns `true` if only whitespace precedes the current position in the line.
    fn is_first(&self) -> bool {
        self.is_preceded_by(char::is_whitespace)
    }

    /// Consumes a comment at the current position. Returns `true` if there is one.
    fn comment(&mut self) -> bool {
        let rest = self.rest();
        for (start, end) in self.language.block {
            if let Some(inner) = rest.strip_prefix(start) {
                let bytes = inner.find(end).map_or(rest.len(), |at| start.len() + at + end.len());
                self.emit(bytes, CodeTokenKind::Comment);
                return true;
            }
        }
        let begins = |start: &&&str| {
            // A hash within a word or URL does not begin a comment.
            let is_alone = self.previous_char().is_none_or(char::is_whitespace);
            rest.starts_with(**start) && (is_alone || !matches!(**start, "#" | ";"))
        };
        // `://` is part of a URL.
        let is_address = self.previous_char() == Some(':');
        if self.language.line.iter().any(|start| begins(&start)) && !(is_address && rest.starts_with("//")) {
            self.emit(self.line_bytes(), CodeTokenKind::Comment);
            return true;
        }
        false
    }

    /// Returns the size in bytes of the string literal at the current position.
    fn text(&self) -> Option<usize> {
        let rest = self.rest();
        let quote = self.language.quotes.iter().find(|quote| rest.starts_with(**quote))?;
        if *quote == "'" && self.language.has_lifetimes() {
            return letter(rest);
        }
        // An apostrophe within a word.
        if *quote == "'" && self.previous_char().is_some_and(char::is_alphanumeric) {
            return None;
        }
        let is_shell = self.language.way == LexerMode::Shell;
        let has_lines = quote.len() > 1 || *quote == "`" || is_shell || self.language.has_lifetimes();
        let mut is_escaped = false;
        for (at, c) in rest.char_indices().skip(quote.len()) {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '\n' if !has_lines => return Some(at),
                _ if rest[at..].starts_with(*quote) => return Some(at + quote.len()),
                _ => {}
            }
        }
        Some(rest.len())
    }

    /// Returns the size in bytes of the word at the current position.
    fn word(&self) -> usize {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len())
    }

    /// Returns the size in bytes of the number at the current position.
    fn number(&self) -> usize {
        let rest = self.rest().as_bytes();
        let mut end = 0;
        while let Some(byte) = rest.get(end) {
            let is_sign =
                matches!(byte, b'+' | b'-') && matches!(rest.get(end.wrapping_sub(1)), Some(b'e' | b'E'));
            let is_point = *byte == b'.' && rest.get(end + 1).is_some_and(u8::is_ascii_digit);
            let is_hex = rest.starts_with(b"0x");
            if !(byte.is_ascii_alphanumeric() || *byte == b'_' || is_point || (is_sign && !is_hex)) {
                break;
            }
            end += 1;
        }
        end
    }

    fn words(&mut self) {
        let is_shell = self.language.way == LexerMode::Shell;
        while let Some(c) = self.peek() {
            if self.comment() {
                continue;
            }
            if let Some(bytes) = self.text() {
                self.emit(bytes, CodeTokenKind::Text);
            } else if is_shell && c == '$' {
                self.variable();
            } else if is_shell && c == '-' && self.previous_char().is_some_and(char::is_whitespace) {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                let bytes = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
                self.emit(bytes.max(1), CodeTokenKind::Name);
            } else if c.is_ascii_digit() {
                self.emit(self.number(), CodeTokenKind::Value);
            } else if c.is_alphabetic() || c == '_' || c == '$' {
                self.classify_word();
            } else if matches!(c, '@' | '#') && !is_shell {
                self.note(c);
            } else {
                self.skip();
            }
        }
    }

    /// Consumes a word and classifies it as a keyword, constant, type, function or plain text.
    fn classify_word(&mut self) {
        let bytes = self.word();
        let (word, behind) = self.rest().split_at(bytes);
        let kind = if word.len() > MAX_WORD {
            None
        } else if self.language.is_keyword(word) {
            // A member access with the name of a keyword is not a keyword.
            (self.previous_char() != Some('.')).then_some(CodeTokenKind::Keyword)
        } else if self.language.is_constant(word) {
            Some(CodeTokenKind::Value)
        } else if self.language.way == LexerMode::Shell {
            None
        } else if behind.starts_with('(') || behind.starts_with("!(") {
            Some(CodeTokenKind::Function)
        } else if word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase) {
            Some(CodeTokenKind::Type)
        } else {
            None
        };
        match kind {
            Some(kind) => self.emit(bytes, kind),
            None => self.at += bytes,
        }
    }

    /// Consumes `$name`, `${…}` or `$1`. A single dollar is a prompt.
    fn variable(&mut self) {
        let rest = self.rest();
        let bytes = match rest[1..].chars().next() {
            Some('{') => self.lookahead().find('}').map_or(1, |at| at + 1),
            Some(c) if c.is_alphanumeric() || c == '_' => {
                let is_part = |c: char| c.is_alphanumeric() || c == '_';
                1 + rest[1..].find(|c| !is_part(c)).unwrap_or(rest.len() - 1)
            }
            _ => 1,
        };
        self.emit(bytes, if bytes == 1 { CodeTokenKind::Note } else { CodeTokenKind::Name });
    }

    /// Consumes an attribute or a preprocessor directive.
    fn note(&mut self, sign: char) {
        if sign == '#' && self.is_first() {
            let bytes = match self.rest().starts_with("#[") || self.rest().starts_with("#![") {
                true => self.lookahead().find(']').map_or(1, |at| at + 1),
                false => 1 + self.rest()[1..].find(|c: char| !c.is_alphanumeric()).unwrap_or(0),
            };
            self.emit(bytes, CodeTokenKind::Note);
        } else if sign == '@' && self.previous_char().is_none_or(|c| !c.is_alphanumeric()) {
            self.at += 1;
            let bytes = self.word();
            self.at -= 1;
            self.emit(bytes + 1, CodeTokenKind::Note);
        } else {
            self.skip();
        }
    }

    fn data(&mut self) {
        while let Some(c) = self.peek() {
            if self.comment() {
                continue;
            }
            if self.is_first() && !matches!(c, '"' | '\'' | '{' | '}' | '\n') && !c.is_whitespace() {
                if c == '-' {
                    self.skip();
                    continue;
                }
                if c == '[' {
                    let bytes = self.lookahead().rfind(']').map_or(1, |at| at + 1);
                    let is_title = self.language.line.contains(&";");
                    if is_title {
                        self.emit(bytes, CodeTokenKind::Keyword);
                    } else {
                        self.skip();
                    }
                    continue;
                }
            }
            if !c.is_whitespace()
                && self.starts_entry()
                && let Some(bytes) = self.key()
            {
                self.emit(bytes, CodeTokenKind::Name);
            } else if let Some(bytes) = self.text() {
                let is_key = self.rest()[bytes..].trim_start_matches([' ', '\t']).starts_with(':');
                self.emit(bytes, if is_key { CodeTokenKind::Name } else { CodeTokenKind::Text });
            } else if c.is_ascii_digit() && self.previous_char().is_none_or(|c| !c.is_alphanumeric()) {
                self.emit(self.number(), CodeTokenKind::Value);
            } else if c.is_alphabetic() {
                let bytes = self.word();
                let is_value = self.language.is_constant(&self.rest()[..bytes]);
                if is_value { self.emit(bytes, CodeTokenKind::Value) } else { self.at += bytes }
            } else {
                self.skip();
            }
        }
    }

    /// Returns `true` if a key may begin here: only whitespace and dashes precede it.
    fn starts_entry(&self) -> bool {
        self.is_preceded_by(|c| c.is_whitespace() || c == '-')
    }

    /// Returns the size in bytes of the key at the current position, which ends before a colon or an equals sign.
    fn key(&self) -> Option<usize> {
        let line = self.lookahead();
        let is_part = |c: char| c.is_alphanumeric() || "_-./$ ".contains(c);
        let end = line.find(|c| !is_part(c))?;
        let is_key = match line[end..].chars().next()? {
            ':' => line[end + 1..].chars().next().is_none_or(char::is_whitespace),
            '=' => true,
            _ => false,
        };
        let name = line[..end].trim_end();
        (is_key && !name.is_empty()).then_some(name.len())
    }

    fn style(&mut self) {
        while let Some(c) = self.peek() {
            if self.comment() {
                continue;
            }
            if let Some(bytes) = self.text() {
                self.emit(bytes, CodeTokenKind::Text);
            } else if c == '@' || c == '$' || (c == '-' && self.rest().starts_with("--")) {
                self.at += 1;
                let bytes = self.dashed_word();
                self.at -= 1;
                self.emit(bytes + 1, if c == '@' { CodeTokenKind::Keyword } else { CodeTokenKind::Name });
            } else if c == '#' || c.is_ascii_digit() {
                let is_hex = self.rest()[1..].chars().take_while(char::is_ascii_hexdigit).count();
                let bytes = if c == '#' { if is_hex >= 3 { 1 + is_hex } else { 0 } } else { self.number() };
                if bytes > 0 { self.emit(bytes, CodeTokenKind::Value) } else { self.skip() }
            } else if c.is_alphabetic() {
                let bytes = self.dashed_word();
                let behind = self.rest()[bytes..].trim_start_matches(' ');
                let is_name = behind.starts_with(':') && !behind.starts_with("::") && self.is_first();
                if is_name { self.emit(bytes, CodeTokenKind::Name) } else { self.at += bytes }
            } else {
                self.skip();
            }
        }
    }

    /// Returns the size in bytes of the word at the current position, including dashes.
    fn dashed_word(&self) -> usize {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len())
    }

    fn markup(&mut self) {
        let mut is_inside = false;
        while let Some(c) = self.peek() {
            if !is_inside && self.comment() {
                continue;
            }
            if !is_inside && c == '<' {
                let rest = &self.rest()[1..];
                let is_part = |c: char| c.is_alphanumeric() || "-_:.!?/".contains(c);
                let name = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                is_inside = name > 0;
                self.emit(1 + name, if is_inside { CodeTokenKind::Keyword } else { CodeTokenKind::Note });
            } else if is_inside && c == '>' {
                is_inside = false;
                self.emit(1, CodeTokenKind::Keyword);
            } else if is_inside && matches!(c, '"' | '\'') {
                let rest = &self.rest()[1..];
                self.emit(rest.find(c).map_or(rest.len() + 1, |at| at + 2), CodeTokenKind::Text);
            } else if is_inside && (c.is_alphabetic() || matches!(c, '@' | ':' | '_')) {
                let is_end = |c: char| c.is_whitespace() || "=>\"'/".contains(c);
                let bytes = self.rest().find(is_end).unwrap_or(self.rest().len());
                self.emit(bytes.max(1), CodeTokenKind::Name);
            } else if c == '&' {
                let name = &self.lookahead()[1..];
                let end = name.find(|c: char| !c.is_alphanumeric() && c != '#');
                match end.filter(|end| name[*end..].starts_with(';')).map(|end| end + 1) {
                    Some(end) => self.emit(end + 1, CodeTokenKind::Value),
                    None => self.skip(),
                }
            } else {
                self.skip();
            }
        }
    }

    fn difference(&mut self) {
        while self.at < self.code.len() {
            let bytes = self.line_bytes();
            let line = &self.rest()[..bytes];
            let kind = match line.as_bytes() {
                [b'@', b'@', ..] | [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => {
                    Some(CodeTokenKind::Note)
                }
                [b'+', ..] => Some(CodeTokenKind::Added),
                [b'-', ..] => Some(CodeTokenKind::Removed),
                _ if line.starts_with("diff ") || line.starts_with("index ") => Some(CodeTokenKind::Note),
                _ => None,
            };
            match kind {
                Some(kind) => self.emit(bytes, kind),
                None => self.at += bytes,
            }
            self.at += 1;
        }
    }
}

/// Returns the size in bytes of a character literal, or `None` for a lifetime.
fn letter(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first != '\\' {
        let (at, second) = chars.next()?;
        return (second == '\'').then_some(at + 1);
    }
    // `'\u{10ffff}'` is the longest character literal.
    let end = rest.char_indices().skip(3).take(12).find(|(_, c)| *c == '\'' || *c == '\n')?;
    (end.1 == '\'').then_some(end.0 + 1)
}
