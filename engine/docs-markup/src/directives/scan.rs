//! Scanner for the directives of mdBook. Its time is linear in the length of the text.

use std::{borrow::Cow, ops::Range};

use super::fences::{Fence, FenceKind, hint_line, visible_code};
use crate::document::{code_ranges, is_within};

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
        Self { name: "book", arguments: name, place: Place::Text, prefix: "", hides_lines: false }
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

/// Calls `visit` with all parts of a text, in order. `place` is the place of the text itself.
pub(super) fn scan<'t>(text: &'t str, place: Place, visit: &mut dyn FnMut(Token<'t>)) {
    // In Markdown of mdBook, the signs of tags are text.
    let has_tags = place == Place::Text && text.contains("{%");
    let code = if has_tags { code_ranges(text) } else { Vec::new() };
    let mut scanner = Scanner { place, fences: Vec::new(), offset: 0, code: has_tags.then_some(code), visit };
    for line in text.split_inclusive('\n') {
        scanner.line(line);
        scanner.offset += line.len();
    }
    for _ in scanner.fences.iter().filter(|fence| fence.kind == FenceKind::Admonition) {
        (scanner.visit)(Token::Literal(Cow::Borrowed("\n{% endhint %}\n")));
    }
}

struct Scanner<'v, 't> {
    /// The place of the text outside of its own code blocks.
    place: Place,
    /// The open fences. Only an admonition contains others.
    fences: Vec<Fence>,
    /// The offset of the current line.
    offset: usize,
    /// The ranges of code, if the text contains signs of tags.
    code: Option<Vec<Range<usize>>>,
    visit: &'v mut dyn FnMut(Token<'t>),
}

/// Splits a line after its indentation and quotation marks.
pub(super) fn split_prefix(line: &str) -> (&str, &str) {
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

impl<'t> Scanner<'_, 't> {
    fn line(&mut self, line: &'t str) {
        if self.place == Place::Text && self.fence(line) {
            return;
        }
        if !self.hides_lines() {
            return self.directives(line);
        }
        match visible_code(line) {
            Some(Cow::Borrowed(_)) => self.directives(line),
            Some(shown) => (self.visit)(Token::Literal(shown)),
            None => (self.visit)(Token::Hidden),
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
                (self.visit)(Token::Literal(Cow::Owned(line.replacen(content, "{% endhint %}", 1))));
                return true;
            }
            return false;
        }
        if self.fences.last().is_some_and(|last| last.kind != FenceKind::Admonition) {
            return false;
        }
        let content = after_list_marks(content);
        let Some((fence, info)) = Fence::open(content) else { return false };
        let is_admonition = fence.kind == FenceKind::Admonition;
        self.fences.push(fence);
        if is_admonition {
            let hint = hint_line(line, content, info);
            (self.visit)(Token::Literal(Cow::Owned(hint)));
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

    /// Visits a range of a line. Outside of code, the signs of tags are escaped.
    fn text(&mut self, line: &'t str, range: Range<usize>) {
        let text = &line[range.clone()];
        if text.is_empty() {
            return;
        }
        let Some(code) = self.code.as_ref().filter(|_| text.contains("{%")) else {
            return (self.visit)(Token::Text(text));
        };
        let mut out = String::with_capacity(text.len() + 8);
        let mut done = 0;
        for (at, _) in text.match_indices("{%") {
            let is_code = is_within(code, self.offset + range.start + at);
            out.push_str(&text[done..at]);
            out.push_str(if is_code { "{%" } else { "\\{%" });
            done = at + 2;
        }
        out.push_str(&text[done..]);
        (self.visit)(Token::Literal(Cow::Owned(out)));
    }

    fn directives(&mut self, line: &'t str) {
        let (prefix, mut done, mut at) = (split_prefix(line).0, 0, 0);
        // A line without further ends has no further directives.
        let last = line.rfind("}}").map_or(0, |last| last + 2);
        let mut ends = Ends::new(line, "}", MAX_DIRECTIVE_BYTES);
        while let Some(start) = line[at..last.max(at)].find("{{").map(|start| at + start) {
            if start > done
                && line.as_bytes().get(start - 1) == Some(&b'\\')
                && line[start..].starts_with("{{#")
            {
                self.text(line, done..start - 1);
                (self.visit)(Token::Literal(Cow::Borrowed(&line[start..last])));
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
            let (name, arguments) = found;
            let is_named = MDBOOK.contains(&name) && !line[at..end].trim_start().starts_with('%');
            // Without an argument, mdBook shows the text.
            if is_named && arguments.is_empty() {
                continue;
            }
            // Preprocessors define further directives. Templates in code use the same signs.
            let is_other = || {
                prefix.len() == start
                    && line[end + 2..].trim().is_empty()
                    && self.current_place() == Place::Text
            };
            if !(is_named || is_other()) {
                continue;
            }
            self.text(line, done..start);
            let prefix = if prefix.len() == start { prefix } else { "" };
            let (place, hides_lines) = (self.current_place(), self.hides_lines());
            (self.visit)(Token::Directive(Directive { name, arguments, place, prefix, hides_lines }));
            (done, at) = (end + 2, end + 2);
        }
        self.text(line, done..line.len());
    }
}

/// The positions of a sign in a line. Each byte is searched once, however many directives have no end.
pub(super) struct Ends<'t> {
    line: &'t str,
    sign: &'static str,
    /// The maximum length up to the sign, in bytes.
    most: usize,
    /// The position found last, or the end of the line if there is none.
    next: Option<usize>,
}

impl<'t> Ends<'t> {
    pub(super) const fn new(line: &'t str, sign: &'static str, most: usize) -> Self {
        Self { line, sign, most, next: None }
    }

    /// Returns the first position from `at` on, if it is within the maximum length of a directive. `at` must not
    /// decrease between calls.
    pub(super) fn next_from(&mut self, at: usize) -> Option<usize> {
        let next = match self.next {
            Some(next) if next >= at => next,
            _ => self.line[at..].find(self.sign).map_or(self.line.len(), |end| at + end),
        };
        self.next = Some(next);
        (next + self.sign.len() <= self.line.len().min(at + self.most)).then_some(next)
    }
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
