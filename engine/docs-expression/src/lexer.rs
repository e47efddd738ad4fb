//! The lexer.

use super::{
    ExpressionError,
    characters::{is_blank, is_line_end, is_name_part, is_name_start},
    number,
    token::{Token, TokenKind},
};

/// All operators and brackets. Longer operators precede their own prefixes.
const PUNCTUATORS: [&str; 58] = [
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=",
    ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>",
    "**", "=~", "{", "}", "(", ")", "[", "]", ".", ";", ",", "<", ">", "+", "-", "*", "/", "%", "&", "|",
    "^", "!", "~", "?", ":", "=",
];

/// Keywords that are followed by an operand. A `/` after them therefore starts a regular expression.
const BEFORE_OPERAND: [&str; 9] =
    ["typeof", "void", "delete", "in", "instanceof", "new", "return", "case", "throw"];

/// Returns all tokens. The last one is [`TokenKind::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut lexer = Lexer { source, at: 0, tokens: Vec::new(), open: Vec::new() };
    while lexer.next()? {}
    if let Some(OpenBracket { token, .. }) = lexer.open.last() {
        let token = &lexer.tokens[*token];
        return Err(lexer.error(token.at, "is not closed"));
    }
    Ok(lexer.tokens)
}

struct OpenBracket {
    token: usize,
    closed_by: &'static str,
    /// `true` for `${` in a template.
    template: bool,
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    tokens: Vec<Token>,
    open: Vec<OpenBracket>,
}

impl Lexer<'_> {
    fn error(&self, at: usize, message: &'static str) -> ExpressionError {
        ExpressionError::new(self.source, at, message)
    }

    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Reads a token. Returns `false` after the last token.
    fn next(&mut self) -> Result<bool, ExpressionError> {
        let newline = self.blanks()?;
        let at = self.at;
        let kind = match self.peek() {
            None => TokenKind::End,
            Some('"' | '\'') => self.text()?,
            Some('`') => {
                self.at += 1;
                self.template(true)?
            }
            Some('0'..='9') => self.number()?,
            Some('.') if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
            Some(c) if is_name_start(c) => self.name(),
            Some('/') if self.operand_expected() => self.regex()?,
            Some('}') if self.open.last().is_some_and(|open| open.template) => {
                self.at += 1;
                self.open.pop();
                self.template(false)?
            }
            Some(_) => {
                let sign =
                    self.sign().ok_or_else(|| self.error(at, "is not part of the expression language"))?;
                self.at += sign.len();
                TokenKind::Sign(sign)
            }
        };
        let done = kind == TokenKind::End;
        let token = self.tokens.len();
        self.bracket(&kind, at, token)?;
        self.tokens.push(Token { kind, at, end: self.at, newline, closes: token });
        Ok(!done)
    }

    fn sign(&self) -> Option<&'static str> {
        let rest = self.rest();
        let sign = PUNCTUATORS.into_iter().find(|sign| rest.starts_with(sign));
        // `a?.5:b` is a conditional.
        let condition = sign == Some("?.") && rest[2..].starts_with(|c: char| c.is_ascii_digit());
        if condition { Some("?") } else { sign }
    }

    /// Links matching pairs of brackets.
    fn bracket(&mut self, kind: &TokenKind, at: usize, token: usize) -> Result<(), ExpressionError> {
        let (closed_by, template) = match kind {
            TokenKind::Sign("(") => (")", false),
            TokenKind::Sign("[") => ("]", false),
            TokenKind::Sign("{") => ("}", false),
            TokenKind::Template { more: true, .. } => ("}", true),
            TokenKind::Sign(sign @ (")" | "]" | "}")) => {
                return match self.open.pop() {
                    Some(open) if open.closed_by == *sign => {
                        self.tokens[open.token].closes = token;
                        Ok(())
                    }
                    _ => Err(self.error(at, "has no opening counterpart")),
                };
            }
            _ => return Ok(()),
        };
        self.open.push(OpenBracket { token, closed_by, template });
        Ok(())
    }

    /// Skips whitespace and comments. Returns `true` if they contain a line break.
    fn blanks(&mut self) -> Result<bool, ExpressionError> {
        let mut newline = false;
        loop {
            if self.eat("//") || self.eat("<!--") {
                while self.peek().is_some_and(|c| !is_line_end(c)) {
                    self.bump();
                }
            } else if self.rest().starts_with("/*") {
                let at = self.at;
                let end = self.rest()[2..]
                    .find("*/")
                    .ok_or_else(|| self.error(at, "begins an unterminated comment"))?;
                newline |= self.rest()[..end + 2].contains(is_line_end);
                self.at += end + 4;
            } else if let Some(c) = self.peek().filter(|c| is_blank(*c)) {
                newline |= is_line_end(c);
                self.bump();
            } else {
                return Ok(newline);
            }
        }
    }

    fn operand_expected(&self) -> bool {
        // `++` and `--` can precede or follow an operand, so the preceding token decides.
        let is_step = |token: &Token| matches!(token.kind, TokenKind::Sign("++" | "--"));
        let before = self.tokens.len() - self.tokens.iter().rev().take_while(|it| is_step(it)).count();
        match self.tokens[..before].last().map(|token| &token.kind) {
            None => true,
            Some(TokenKind::Name(name)) => BEFORE_OPERAND.contains(&&**name) && !self.after_dot(before),
            Some(TokenKind::Sign(sign)) => !matches!(*sign, ")" | "]" | "}"),
            Some(TokenKind::Template { more, .. }) => *more,
            Some(_) => false,
        }
    }

    /// Returns `true` if the last of the first `count` tokens follows a dot, so that it is a member name.
    fn after_dot(&self, count: usize) -> bool {
        let before = count.checked_sub(2).map(|at| &self.tokens[at].kind);
        matches!(before, Some(TokenKind::Sign("." | "?.")))
    }

    fn name(&mut self) -> TokenKind {
        let start = self.at;
        while self.peek().is_some_and(is_name_part) {
            self.bump();
        }
        TokenKind::Name(self.source[start..self.at].into())
    }

    fn regex(&mut self) -> Result<TokenKind, ExpressionError> {
        let start = self.at;
        self.at += 1;
        let mut in_class = false;
        loop {
            match self.bump() {
                None => return Err(self.error(start, "begins an unterminated regular expression")),
                Some(c) if is_line_end(c) => {
                    return Err(self.error(start, "begins an unterminated regular expression"));
                }
                // A backslash does not escape a line break.
                Some('\\') if self.peek().is_some_and(|c| !is_line_end(c)) => {
                    self.bump();
                }
                Some('[') => in_class = true,
                Some(']') => in_class = false,
                Some('/') if !in_class => break,
                Some(_) => {}
            }
        }
        let body = self.source[start + 1..self.at - 1].into();
        let flags = self.at;
        while self.peek().is_some_and(is_name_part) {
            self.bump();
        }
        Ok(TokenKind::Regex { body, flags: self.source[flags..self.at].into() })
    }

    fn text(&mut self) -> Result<TokenKind, ExpressionError> {
        let start = self.at;
        let quote = self.bump();
        let mut units = Vec::new();
        loop {
            match self.bump() {
                None | Some('\n' | '\r') => return Err(self.error(start, "begins an unterminated string")),
                c if c == quote => return Ok(TokenKind::Text(String::from_utf16_lossy(&units).into())),
                Some('\\') => self.escape(&mut units)?,
                Some(c) => push(&mut units, c),
            }
        }
    }

    fn template(&mut self, opens: bool) -> Result<TokenKind, ExpressionError> {
        let start = self.at;
        let mut units = Vec::new();
        loop {
            if self.eat("${") {
                let text = String::from_utf16_lossy(&units).into();
                return Ok(TokenKind::Template { text, opens, more: true });
            }
            match self.bump() {
                None => {
                    return Err(self.error(start.saturating_sub(1), "begins an unterminated template"));
                }
                Some('`') => {
                    let text = String::from_utf16_lossy(&units).into();
                    return Ok(TokenKind::Template { text, opens, more: false });
                }
                Some('\\') if self.peek().is_some_and(|c| c.is_ascii_digit()) && !self.lone_zero() => {
                    return Err(self.error(self.at - 1, "is an octal escape, which templates do not support"));
                }
                Some('\\') => self.escape(&mut units)?,
                Some('\r') => {
                    self.eat("\n");
                    push(&mut units, '\n');
                }
                Some(c) => push(&mut units, c),
            }
        }
    }

    fn lone_zero(&self) -> bool {
        self.rest().starts_with('0') && !self.rest()[1..].starts_with(|c: char| c.is_ascii_digit())
    }

    /// Reads the rest of an escape sequence. Unpaired surrogates become U+FFFD.
    fn escape(&mut self, units: &mut Vec<u16>) -> Result<(), ExpressionError> {
        let at = self.at - 1;
        let wrong = |lexer: &Self| {
            lexer.error(
                at,
                "is an invalid escape; `\\x` requires two and `\\u` four \
                                                    hexadecimal digits",
            )
        };
        match self.bump() {
            None => return Err(self.error(at, "is a line break within a string")),
            Some('n') => units.push(0x0a),
            Some('r') => units.push(0x0d),
            Some('t') => units.push(0x09),
            Some('b') => units.push(0x08),
            Some('f') => units.push(0x0c),
            Some('v') => units.push(0x0b),
            Some('\r') => {
                self.eat("\n");
            }
            Some('\n' | '\u{2028}' | '\u{2029}') => {}
            Some('x') => units.push(self.hex(2).ok_or_else(|| wrong(self))? as u16),
            Some('u') if self.eat("{") => {
                let end = self.rest().find('}').ok_or_else(|| wrong(self))?;
                let code = u32::from_str_radix(&self.rest()[..end], 16).map_err(|_| wrong(self))?;
                if code > 0x10_ffff || self.rest().starts_with('+') {
                    return Err(wrong(self));
                }
                self.at += end + 1;
                match char::from_u32(code) {
                    Some(c) => push(units, c),
                    None => units.push(code as u16),
                }
            }
            Some('u') => units.push(self.hex(4).ok_or_else(|| wrong(self))? as u16),
            Some(c @ '0'..='7') => {
                let mut code = c as u16 - 48;
                while let Some(c @ '0'..='7') = self.peek()
                    && code * 8 + (c as u16 - 48) <= 0o377
                {
                    code = code * 8 + (c as u16 - 48);
                    self.at += 1;
                }
                units.push(code);
            }
            Some(c) => push(units, c),
        }
        Ok(())
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let text = self.rest().get(..digits)?;
        let code = text
            .bytes()
            .all(|b| b.is_ascii_hexdigit())
            .then(|| u32::from_str_radix(text, 16).ok())
            .flatten()?;
        self.at += digits;
        Some(code)
    }

    fn number(&mut self) -> Result<TokenKind, ExpressionError> {
        let start = self.at;
        let (kind, length) = number::literal(self.rest()).map_err(|message| self.error(start, message))?;
        self.at += length;
        if self.peek().is_some_and(is_name_part) {
            return Err(self.error(self.at, "directly follows a number"));
        }
        Ok(kind)
    }
}

fn push(units: &mut Vec<u16>, c: char) {
    units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
}
