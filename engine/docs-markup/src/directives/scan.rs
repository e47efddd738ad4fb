//! Scanner for directives. Its time is linear in the length of the text.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use super::{
    conditions::{Conditions, is_true},
    fences::{Fence, FenceKind, hint_line, visible_code},
};
use crate::gitsync::BookFormat;

/// A part of a text.
pub(super) enum Token<'t> {
    Text(&'t str),
    /// Text in which directives are not evaluated, without its escapes, or other text in place of a line.
    Literal(Cow<'t, str>),
    /// Source that readers do not see: a line of code, or the definition of a value.
    Hidden,
    /// A value that the text defines.
    Value(&'t str),
    Directive(Directive<'t>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Directive<'t> {
    /// The name, such as `include`, or `book` for a value of the book.
    pub(super) name: &'t str,
    /// The rest of the directive, trimmed.
    pub(super) arguments: &'t str,
    pub(super) place: Place,
    /// The indentation and quotation marks of its line, if nothing else precedes it.
    pub(super) prefix: &'t str,
    /// `true` within Rust code, whose hidden lines are not shown.
    pub(super) hides_lines: bool,
    /// The text that readers see if there is no result: the directive itself, if it may belong to a code example.
    pub(super) fallback: &'t str,
}

/// The surroundings of a directive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    Text,
    /// In a fenced code block.
    Code,
}

impl<'t> Directive<'t> {
    /// Returns the directive that shows a value of the book.
    pub(super) const fn of_book(name: &'t str) -> Self {
        Self {
            name: "book",
            arguments: name,
            place: Place::Text,
            prefix: "",
            hides_lines: false,
            fallback: "",
        }
    }

    /// Returns the identity of the directive in the expansions of a page.
    pub(super) fn key(&self) -> String {
        format!("{} {}", self.name, self.arguments)
    }
}

/// The directives of mdBook that an import resolves.
const MDBOOK: [&str; 5] = ["include", "rustdoc_include", "playground", "playpen", "title"];

/// Maximum length of a directive in bytes. A longer one is text. It bounds the time for lines with many beginnings.
const MAX_DIRECTIVE_BYTES: usize = 500;

/// Calls `visit` with all shown parts of a text, in order. `place` is the place of the text itself, and `book` returns
/// the values of the book for conditions.
pub(super) fn scan<'t>(
    text: &'t str,
    format: BookFormat,
    place: Place,
    book: &dyn Fn(&str) -> Option<String>,
    visit: &mut dyn FnMut(Token<'t>),
) {
    let mut conditions = Conditions::new(HashSet::new());
    if format == BookFormat::HonKit && text.contains("endif") {
        let ignore = &mut |_: Token<'t>| {};
        let scanner = Scanner::new(format, place, Conditions::collecting(), book, ignore);
        conditions = Conditions::new(scanner.read(text).conditions.into_matched());
    }
    let scanner = Scanner::new(format, place, conditions, book, visit).read(text);
    for _ in scanner.fences.iter().filter(|fence| fence.kind == FenceKind::Admonition) {
        (scanner.visit)(Token::Literal(Cow::Borrowed("\n{% endhint %}\n")));
    }
}

struct Scanner<'v, 't> {
    format: BookFormat,
    /// The offset of the current line.
    offset: usize,
    conditions: Conditions,
    book: &'v dyn Fn(&str) -> Option<String>,
    /// The place of the text outside of its own code blocks.
    place: Place,
    /// The open fences. Only an admonition contains others.
    fences: Vec<Fence>,
    /// `true` between `{% raw %}` and `{% endraw %}`.
    is_raw: bool,
    /// `true` after an odd number of backticks in a line of HonKit.
    is_in_span: bool,
    /// The values that the text has defined so far, by name.
    values: HashMap<&'t str, &'t str>,
    visit: &'v mut dyn FnMut(Token<'t>),
}

/// Splits a line after its indentation and quotation marks.
fn split_prefix(line: &str) -> (&str, &str) {
    line.split_at(line.len() - line.trim_start_matches([' ', '\t', '>']).len())
}

/// Returns the rest of a line after the marks of list items, such as `- ` and `1. `.
fn after_list_marks(line: &str) -> &str {
    let mut rest = line.trim_start_matches(' ');
    loop {
        let digits = rest.bytes().take(10).take_while(u8::is_ascii_digit).count();
        let after = match digits {
            0 => rest.strip_prefix(['-', '*', '+']),
            1..=9 => rest[digits..].strip_prefix(['.', ')']),
            _ => None,
        };
        match after.filter(|after| after.starts_with([' ', '\t'])) {
            Some(after) => rest = after.trim_start_matches([' ', '\t']),
            None => return rest,
        }
    }
}

impl<'v, 't> Scanner<'v, 't> {
    fn new(
        format: BookFormat,
        place: Place,
        conditions: Conditions,
        book: &'v dyn Fn(&str) -> Option<String>,
        visit: &'v mut dyn FnMut(Token<'t>),
    ) -> Self {
        Self {
            format,
            offset: 0,
            conditions,
            book,
            place,
            fences: Vec::new(),
            is_raw: false,
            is_in_span: false,
            values: HashMap::new(),
            visit,
        }
    }

    fn read(mut self, text: &'t str) -> Self {
        for line in text.split_inclusive('\n') {
            self.line(line);
            self.offset += line.len();
        }
        self
    }

    /// Visits a part, unless a condition hides it.
    fn emit(&mut self, token: Token<'t>) {
        if !self.conditions.is_hidden() {
            (self.visit)(token);
        }
    }

    fn line(&mut self, line: &'t str) {
        if self.place == Place::Text && self.fence(line) {
            return;
        }
        match self.format {
            BookFormat::MdBook if self.hides_lines() => match visible_code(line) {
                Some(Cow::Borrowed(_)) => self.mdbook(line),
                Some(shown) => self.emit(Token::Literal(shown)),
                None => self.emit(Token::Hidden),
            },
            BookFormat::MdBook => self.mdbook(line),
            BookFormat::HonKit => self.honkit(line),
            BookFormat::Native => self.emit(Token::Text(line)),
        }
    }

    /// Opens or closes a fence. Returns `true` if other text was visited in place of the line.
    fn fence(&mut self, line: &'t str) -> bool {
        let content = split_prefix(line).1.trim_end();
        if let Some(last) = self.fences.last()
            && last.is_closed_by(content)
        {
            let kind = self.fences.pop().map(|fence| fence.kind);
            if kind == Some(FenceKind::Admonition) {
                self.emit(Token::Literal(Cow::Owned(line.replacen(content, "{% endhint %}", 1))));
                return true;
            }
            return false;
        }
        if self.fences.last().is_some_and(|last| last.kind != FenceKind::Admonition) {
            return false;
        }
        let content = after_list_marks(content);
        let Some((fence, info)) = Fence::open(content, self.format) else { return false };
        let is_admonition = fence.kind == FenceKind::Admonition;
        self.fences.push(fence);
        if is_admonition {
            let hint = hint_line(line, content, info);
            self.emit(Token::Literal(Cow::Owned(hint)));
        }
        is_admonition
    }

    fn hides_lines(&self) -> bool {
        self.fences.last().is_some_and(|fence| fence.kind == FenceKind::Rust)
    }

    fn current_place(&self) -> Place {
        let is_code = self.fences.last().is_some_and(|fence| fence.kind != FenceKind::Admonition);
        if is_code { Place::Code } else { self.place }
    }

    /// Visits a directive. `prefix` is that of its line.
    fn directive(
        &mut self,
        prefix: &'t str,
        (start, source): (usize, &'t str),
        (name, arguments): (&'t str, &'t str),
    ) {
        let prefix = if prefix.len() == start { prefix } else { "" };
        let (place, hides_lines) = (self.current_place(), self.hides_lines());
        // Other template languages have tags of the same form.
        let is_example = self.format == BookFormat::HonKit && name == "include" && place == Place::Code;
        let fallback = if is_example { source } else { "" };
        self.emit(Token::Directive(Directive { name, arguments, place, prefix, hides_lines, fallback }));
    }

    fn text(&mut self, text: &'t str) {
        if !text.is_empty() {
            self.emit(Token::Text(text));
        }
    }

    fn mdbook(&mut self, line: &'t str) {
        let (prefix, mut done, mut at) = (split_prefix(line).0, 0, 0);
        // A line without further ends has no further directives.
        let last = line.rfind("}}").map_or(0, |last| last + 2);
        let mut ends = Ends::new(line, "}");
        while let Some(start) = line[at..last.max(at)].find("{{").map(|start| at + start) {
            if start > done
                && line.as_bytes().get(start - 1) == Some(&b'\\')
                && line[start..].starts_with("{{#")
            {
                self.text(&line[done..start - 1]);
                self.emit(Token::Literal(Cow::Borrowed(&line[start..last])));
                (done, at) = (last, last);
                continue;
            }
            at = start + 2;
            let Some(end) = ends.next_from(at) else { continue };
            let Some(found) =
                line[end..].starts_with("}}").then(|| mdbook_directive(&line[at..end])).flatten()
            else {
                continue;
            };
            let is_known = MDBOOK.contains(&found.0) && !line[at..end].trim_start().starts_with('%');
            // Preprocessors define further directives. Templates in code use the same signs.
            let is_other = || {
                prefix.len() == start
                    && line[end + 2..].trim().is_empty()
                    && self.current_place() == Place::Text
            };
            if !(is_known || is_other()) {
                continue;
            }
            self.text(&line[done..start]);
            self.directive(prefix, (start, &line[start..end + 2]), found);
            (done, at) = (end + 2, end + 2);
        }
        self.text(&line[done..]);
    }

    fn honkit(&mut self, line: &'t str) {
        let (prefix, mut done, mut at) = (split_prefix(line).0, 0, 0);
        self.is_in_span = false;
        // The backticks before the current position.
        let (mut counted, mut is_in_code) = (0, false);
        let (mut tag_ends, mut value_ends) = (Ends::new(line, "%}"), Ends::new(line, "}}"));
        while let Some(start) = line[at..].find('{').map(|start| at + start) {
            at = start + 1;
            let (is_tag, ends) = match line.as_bytes().get(at) {
                Some(b'%') => (true, &mut tag_ends),
                Some(b'{') if !self.is_raw => (false, &mut value_ends),
                _ => continue,
            };
            let Some(end) = ends.next_from(at + 1) else { continue };
            let inside = line[at + 1..end].trim_matches('-').trim();
            is_in_code ^= !line[counted..start].matches('`').count().is_multiple_of(2);
            counted = start;
            if is_tag && !is_in_code && !self.is_raw && self.current_place() == Place::Text {
                let (name, condition) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
                let offset = self.offset + start;
                if self.conditions.accepts(name, offset) {
                    self.honkit_text(&line[done..start]);
                    self.emit(Token::Hidden);
                    let is_true = self.is_true(condition);
                    self.conditions.apply(name, offset, is_true);
                    (done, at) = (end + 2, end + 2);
                    continue;
                }
            }
            match self.honkit_action(inside, is_tag) {
                HonkitAction::Keep => continue,
                HonkitAction::Raw(is_raw) => {
                    self.honkit_text(&line[done..start]);
                    self.is_raw = is_raw;
                }
                HonkitAction::Show(value) => {
                    self.honkit_text(&line[done..start]);
                    self.emit(value.map_or(Token::Hidden, Token::Value));
                }
                HonkitAction::Directive(found) => {
                    self.honkit_text(&line[done..start]);
                    self.directive(prefix, (start, &line[start..end + 2]), found);
                }
            }
            (done, at) = (end + 2, end + 2);
        }
        self.honkit_text(&line[done..]);
    }

    /// Evaluates a condition with the values of the book and of the text.
    fn is_true(&self, condition: &str) -> bool {
        is_true(condition, &|name: &str| match name.strip_prefix("book.") {
            Some(name) => (self.book)(name).map(Cow::Owned),
            None => self.values.get(name).map(|value| Cow::Borrowed(*value)),
        })
    }

    fn honkit_action(&mut self, inside: &'t str, is_tag: bool) -> HonkitAction<'t> {
        match inside {
            "raw" if is_tag && !self.is_raw => HonkitAction::Raw(true),
            "endraw" if is_tag => HonkitAction::Raw(false),
            _ if self.is_raw => HonkitAction::Keep,
            _ if is_tag => match inside.strip_prefix("include").map(str::trim).and_then(quoted) {
                Some(path) => HonkitAction::Directive(("include", path)),
                None => self.define(inside),
            },
            _ => match inside.strip_prefix("book.") {
                Some(name) if name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')) => {
                    HonkitAction::Directive(("book", name))
                }
                _ => self
                    .values
                    .get(inside)
                    .map_or(HonkitAction::Keep, |value| HonkitAction::Show(Some(value))),
            },
        }
    }

    /// Defines a value by `set name = value`. Another expression than a literal or a defined value has no value.
    fn define(&mut self, inside: &'t str) -> HonkitAction<'t> {
        if self.conditions.is_hidden() {
            return HonkitAction::Keep;
        }
        let definition = inside.strip_prefix("set").filter(|rest| rest.starts_with([' ', '\t']));
        let Some((name, written)) = definition.and_then(|rest| rest.split_once('=')) else {
            return HonkitAction::Keep;
        };
        let (name, written) = (name.trim(), written.trim());
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_number = written.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let is_literal = matches!(written, "true" | "false") || (is_number && written.parse::<f64>().is_ok());
        let value = quoted(written)
            .filter(|text| !text.contains('\\'))
            .or_else(|| is_literal.then_some(written))
            .or_else(|| self.values.get(written).copied());
        match value.filter(|_| is_name) {
            Some(value) => {
                self.values.insert(name, value);
                HonkitAction::Show(None)
            }
            None => {
                self.values.remove(name);
                HonkitAction::Keep
            }
        }
    }

    /// Visits a part of a line, which is literal within `{% raw %}`.
    fn honkit_text(&mut self, text: &'t str) {
        let is_tagged = self.is_raw && self.current_place() == Place::Text && text.contains("{%");
        // Within a code span, a backslash is visible.
        let was_in_span = self.is_in_span;
        self.is_in_span ^= !text.matches('`').count().is_multiple_of(2);
        if is_tagged && !was_in_span && !text.contains('`') {
            self.emit(Token::Literal(Cow::Owned(text.replace("{%", "\\{%"))));
        } else {
            self.text(text);
        }
    }
}

/// The positions of a sign in a line. Each byte is searched once, however many directives have no end.
struct Ends<'t> {
    line: &'t str,
    sign: &'static str,
    /// The position found last, or the end of the line if there is none.
    next: Option<usize>,
}

impl<'t> Ends<'t> {
    const fn new(line: &'t str, sign: &'static str) -> Self {
        Self { line, sign, next: None }
    }

    /// Returns the first position from `at` on, if it is within the maximum length of a directive. `at` must not
    /// decrease between calls.
    fn next_from(&mut self, at: usize) -> Option<usize> {
        let next = match self.next {
            Some(next) if next >= at => next,
            _ => self.line[at..].find(self.sign).map_or(self.line.len(), |end| at + end),
        };
        self.next = Some(next);
        (next + self.sign.len() <= self.line.len().min(at + MAX_DIRECTIVE_BYTES)).then_some(next)
    }
}

enum HonkitAction<'t> {
    Keep,
    /// Begins or ends raw text.
    Raw(bool),
    /// Shows a value, or nothing in place of a definition.
    Show(Option<&'t str>),
    Directive((&'t str, &'t str)),
}

/// Returns the name and the arguments of `#name arguments`.
fn mdbook_directive(inside: &str) -> Option<(&str, &str)> {
    // `%` begins the directives of some preprocessors.
    let inside = inside.trim();
    let inside = inside.strip_prefix('#').or_else(|| inside.strip_prefix('%'))?;
    let end = inside.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inside.len());
    let (name, arguments) = inside.split_at(end);
    let is_separate = arguments.is_empty() || arguments.starts_with([' ', '\t']);
    (!name.is_empty() && is_separate).then(|| (name, arguments.trim()))
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].strip_suffix(quote).filter(|path| !path.contains(quote))
}
