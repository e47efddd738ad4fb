//! Scanner for the templates of HonKit. Its time is linear in the length of the text.
//!
//! Like HonKit, it leaves code unchanged. Outside of code, a tag of a condition without its counterpart and an
//! expression without a value are not shown.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::{
    conditions::{Conditions, is_true},
    scan::{Directive, Ends, Place, Token, split_prefix},
};
use crate::document::code_ranges;

/// Maximum length of a tag, an expression or a comment, in bytes. A longer one is text.
const MAX_TEMPLATE_BYTES: usize = 2_000;

/// Calls `visit` with all shown parts of a text, in order. `book` returns the values of the book.
pub(super) fn scan<'t>(
    text: &'t str,
    book: &dyn Fn(&str) -> Option<&'t str>,
    visit: &mut dyn FnMut(Token<'t>),
) {
    let code = code_ranges(text);
    let mut conditions = Conditions::new(HashSet::new());
    if text.contains("endif") {
        let ignore = &mut |_: Token<'t>| {};
        let scanner = TemplateScanner::new(text, &code, Conditions::collecting(), book, ignore);
        conditions = Conditions::new(scanner.read().into_matched());
    }
    TemplateScanner::new(text, &code, conditions, book, visit).read();
}

struct TemplateScanner<'v, 't> {
    text: &'t str,
    /// The ranges of code, in order.
    code: &'v [Range<usize>],
    conditions: Conditions,
    book: &'v dyn Fn(&str) -> Option<&'t str>,
    /// `true` between `{% raw %}` and `{% endraw %}`.
    is_raw: bool,
    /// The values that the text has defined so far, by name.
    values: HashMap<&'t str, &'t str>,
    visit: &'v mut dyn FnMut(Token<'t>),
}

/// The syntax at a brace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Template {
    Tag,
    Expression,
    Comment,
}

impl Template {
    fn at(text: &str) -> Option<Self> {
        match text.as_bytes() {
            [b'{', b'%', ..] => Some(Self::Tag),
            [b'{', b'{', ..] => Some(Self::Expression),
            [b'{', b'#', b'#', b'#', ..] => Some(Self::Comment),
            _ => None,
        }
    }
}

impl<'v, 't> TemplateScanner<'v, 't> {
    fn new(
        text: &'t str,
        code: &'v [Range<usize>],
        conditions: Conditions,
        book: &'v dyn Fn(&str) -> Option<&'t str>,
        visit: &'v mut dyn FnMut(Token<'t>),
    ) -> Self {
        Self { text, code, conditions, book, is_raw: false, values: HashMap::new(), visit }
    }

    fn read(mut self) -> Conditions {
        let text = self.text;
        let (mut done, mut at, mut code) = (0, 0, self.code.iter().peekable());
        // The start of the current line, and the end of the text in which it was searched.
        let (mut line, mut searched) = (0, 0);
        let ends = |sign| Ends::new(text, sign, MAX_TEMPLATE_BYTES);
        let (mut tags, mut expressions, mut comments) = (ends("%}"), ends("}}"), ends("###}"));
        while let Some(start) = text[at..].find('{').map(|start| at + start) {
            while code.next_if(|range| range.end <= start).is_some() {}
            if let Some(range) = code.peek().filter(|range| range.start <= start) {
                at = range.end;
                continue;
            }
            at = start + 1;
            let Some(template) = Template::at(&text[start..]) else { continue };
            let (ends, sign) = match template {
                Template::Tag => (&mut tags, "%}"),
                Template::Expression => (&mut expressions, "}}"),
                Template::Comment => (&mut comments, "###}"),
            };
            let from = start + if template == Template::Comment { sign.len() } else { 2 };
            let Some(end) = ends.next_from(from) else { continue };
            line = text[searched..start].rfind('\n').map_or(line, |at| searched + at + 1);
            searched = start;
            let prefix = split_prefix(&text[line..start]).0;
            let prefix = if prefix.len() == start - line { prefix } else { "" };
            let inside = text[from..end].trim_matches('-').trim();
            let end = end + sign.len();
            let is_known = match template {
                Template::Tag => self.tag(inside, done..start, prefix),
                _ if self.is_raw => false,
                Template::Expression => self.expression(inside, done..start),
                Template::Comment => {
                    self.show(done..start);
                    self.emit(Token::Hidden);
                    true
                }
            };
            if is_known {
                (done, at) = (end, end);
            }
        }
        self.show(done..text.len());
        self.conditions
    }

    /// Handles a tag after a range of text. Returns `false` if the tag is not evaluated.
    fn tag(&mut self, inside: &'t str, before: Range<usize>, prefix: &'t str) -> bool {
        let at = before.end;
        match inside {
            "endraw" => {
                self.show(before);
                self.is_raw = false;
                self.emit(Token::Hidden);
                return true;
            }
            _ if self.is_raw => return false,
            "raw" => {
                self.show(before);
                self.is_raw = true;
                self.emit(Token::Hidden);
                return true;
            }
            _ => {}
        }
        let (name, rest) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
        match name {
            "if" | "elif" | "elseif" | "else" | "endif" => {
                self.show(before);
                self.emit(Token::Hidden);
                if self.conditions.accepts(name, at) {
                    let is_true = is_true(rest, &|name| self.named(name));
                    self.conditions.apply(name, at, is_true);
                }
            }
            "include" => {
                let Some(path) = quoted(rest.trim()) else { return false };
                self.show(before);
                let directive =
                    Directive { name, arguments: path, place: Place::Text, prefix, hides_lines: false };
                self.emit(Token::Directive(directive));
            }
            "set" => {
                let Some((name, value)) = rest.split_once('=') else { return false };
                self.show(before);
                self.emit(Token::Hidden);
                if !self.conditions.is_hidden() {
                    self.define(name.trim(), value);
                }
            }
            _ => return false,
        }
        true
    }

    fn define(&mut self, name: &'t str, value: &'t str) {
        match self.value(value) {
            Some(value) => self.values.insert(name, value),
            None => self.values.remove(name),
        };
    }

    /// Handles an expression after a range of text. Returns `false` for the syntax of other programs.
    fn expression(&mut self, inside: &'t str, before: Range<usize>) -> bool {
        if !inside.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'')) {
            return false;
        }
        self.show(before);
        match book_value(unfiltered(inside)) {
            Some(name) => {
                let directive = Directive::of_book(name);
                self.emit(Token::Directive(directive));
            }
            None => {
                let value = self.value(inside);
                self.emit(value.map_or(Token::Hidden, Token::Value));
            }
        }
        true
    }

    /// Returns the value of an expression: a literal, or a name of the text or of the book. Filters are ignored.
    fn value(&self, written: &'t str) -> Option<&'t str> {
        let written = unfiltered(written);
        let is_number = written.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let is_literal = matches!(written, "true" | "false") || (is_number && written.parse::<f64>().is_ok());
        quoted(written)
            .filter(|text| !text.contains('\\'))
            .or_else(|| is_literal.then_some(written))
            .or_else(|| self.named(written))
    }

    /// Returns the value of a name of the book, of the output or of the text.
    fn named(&self, name: &str) -> Option<&'t str> {
        match book_value(name) {
            Some(name) => (self.book)(name),
            None if name == "output.name" => Some("website"),
            None => self.values.get(name).copied(),
        }
    }

    /// Visits a part, unless a condition hides it.
    fn emit(&mut self, token: Token<'t>) {
        if !self.conditions.is_hidden() {
            (self.visit)(token);
        }
    }

    /// Visits a range of text. Within `{% raw %}`, the signs of tags outside of code are escaped.
    fn show(&mut self, range: Range<usize>) {
        let text = self.text;
        if range.is_empty() {
            return;
        }
        if !self.is_raw || !text[range.clone()].contains("{%") {
            return self.emit(Token::Text(&text[range]));
        }
        let first = self.code.partition_point(|code| code.end <= range.start);
        let mut at = range.start;
        for code in &self.code[first..] {
            if code.start >= range.end {
                break;
            }
            self.emit(Token::Literal(Cow::Owned(text[at..code.start.max(at)].replace("{%", "\\{%"))));
            at = code.end.min(range.end);
            self.emit(Token::Text(&text[code.start.max(range.start)..at]));
        }
        self.emit(Token::Literal(Cow::Owned(text[at..range.end].replace("{%", "\\{%"))));
    }
}

/// Returns an expression without its filters.
fn unfiltered(expression: &str) -> &str {
    expression.split('|').next().unwrap_or_default().trim()
}

/// Returns the name in `book.name` or `book["name"]`.
fn book_value(expression: &str) -> Option<&str> {
    let rest = expression.strip_prefix("book")?;
    let name = match rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(name) => quoted(name.trim())?,
        None => rest.strip_prefix('.')?,
    };
    name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')).then_some(name)
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].strip_suffix(quote).filter(|path| !path.contains(quote))
}
