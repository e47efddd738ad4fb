//! Conditions of HonKit (`{% if book.edition == "web" %}`): the part of Nunjucks that books use.
//!
//! A condition is evaluated when a page is shown, from the values of the book and those that the page sets. Names
//! without a value are false, as in Nunjucks.

use std::collections::HashSet;

/// The open conditions of a text.
pub(super) struct Conditions {
    /// The offsets of the `if` tags that have an end, or `None` while they are collected.
    matched: Option<HashSet<usize>>,
    /// The offset of each open `if` tag, and its state.
    open: Vec<(usize, Branch)>,
    collected: HashSet<usize>,
}

/// The state of an open condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Branch {
    /// The current branch is shown.
    Shown,
    /// No branch was shown so far.
    Waiting,
    /// A previous branch was shown, or the whole condition is hidden.
    Done,
}

impl Conditions {
    /// Returns the state that collects the `if` tags with an end. Other tags hide nothing.
    pub(super) fn collecting() -> Self {
        Self { matched: None, open: Vec::new(), collected: HashSet::new() }
    }

    pub(super) fn new(matched: HashSet<usize>) -> Self {
        Self { matched: Some(matched), open: Vec::new(), collected: HashSet::new() }
    }

    pub(super) fn into_matched(self) -> HashSet<usize> {
        self.collected
    }

    /// Returns `true` if the current text is not shown.
    pub(super) fn is_hidden(&self) -> bool {
        self.matched.is_some() && self.open.last().is_some_and(|(_, branch)| *branch != Branch::Shown)
    }

    /// Returns `true` if a tag at an offset of the text begins, continues or ends a condition.
    pub(super) fn accepts(&mut self, name: &str, at: usize) -> bool {
        match (&self.matched, name) {
            (Some(matched), "if") => matched.contains(&at),
            (Some(_), "elif" | "elseif" | "else" | "endif") => !self.open.is_empty(),
            (None, "if") => {
                self.open.push((at, Branch::Shown));
                false
            }
            (None, "endif") => {
                self.collected.extend(self.open.pop().map(|(at, _)| at));
                false
            }
            _ => false,
        }
    }

    /// Applies an accepted tag.
    pub(super) fn apply(&mut self, name: &str, at: usize, is_true: bool) {
        if name == "if" {
            let branch = match self.is_hidden() {
                true => Branch::Done,
                false if is_true => Branch::Shown,
                false => Branch::Waiting,
            };
            self.open.push((at, branch));
        } else if name == "endif" {
            self.open.pop();
        } else if let Some((_, branch)) = self.open.last_mut() {
            *branch = match *branch {
                Branch::Shown | Branch::Done => Branch::Done,
                Branch::Waiting if name == "else" || is_true => Branch::Shown,
                Branch::Waiting => Branch::Waiting,
            };
        }
    }
}

/// Evaluates a condition. One that is not understood, such as a call, is true, so that its first branch is shown.
pub(super) fn is_true<'v>(condition: &'v str, value: &dyn Fn(&str) -> Option<&'v str>) -> bool {
    let mut parser = ConditionParser { rest: condition, value };
    match parser.any() {
        Some(result) if parser.rest.trim_start().is_empty() => is_truthy(result),
        _ => true,
    }
}

/// A value of an expression. Undefined names have none.
type Operand<'v> = Option<&'v str>;

fn is_truthy(value: Operand<'_>) -> bool {
    value.is_some_and(|text| !matches!(text, "" | "false" | "0"))
}

const fn truth(is_true: bool) -> Operand<'static> {
    Some(if is_true { "true" } else { "false" })
}

/// A recursive descent parser. Its depth is bounded by the maximum length of a directive.
struct ConditionParser<'p, 'v> {
    rest: &'v str,
    value: &'p dyn Fn(&str) -> Option<&'v str>,
}

impl<'v> ConditionParser<'_, 'v> {
    /// Parses operands joined by `or`.
    fn any(&mut self) -> Option<Operand<'v>> {
        let mut left = self.all()?;
        while self.take_word("or") {
            let right = self.all()?;
            left = if is_truthy(left) { left } else { right };
        }
        Some(left)
    }

    /// Parses operands joined by `and`.
    fn all(&mut self) -> Option<Operand<'v>> {
        let mut left = self.negated()?;
        while self.take_word("and") {
            let right = self.negated()?;
            left = if is_truthy(left) { right } else { left };
        }
        Some(left)
    }

    fn negated(&mut self) -> Option<Operand<'v>> {
        let mut negations = 0;
        while self.take_word("not") {
            negations += 1;
        }
        let result = self.comparison()?;
        Some(if negations == 0 { result } else { truth(is_truthy(result) == (negations % 2 == 0)) })
    }

    fn comparison(&mut self) -> Option<Operand<'v>> {
        let left = self.operand()?;
        const OPERATORS: [&str; 8] = ["===", "!==", "==", "!=", "<=", ">=", "<", ">"];
        let Some(operator) = OPERATORS.into_iter().find(|operator| self.take(operator)) else {
            return Some(left);
        };
        let right = self.operand()?;
        let numbers = || {
            let number = |operand: Operand<'_>| operand?.parse::<f64>().ok();
            Some((number(left)?, number(right)?))
        };
        Some(truth(match operator {
            "===" | "==" => left == right,
            "!==" | "!=" => left != right,
            "<" => numbers().is_some_and(|(left, right)| left < right),
            ">" => numbers().is_some_and(|(left, right)| left > right),
            "<=" => numbers().is_some_and(|(left, right)| left <= right),
            _ => numbers().is_some_and(|(left, right)| left >= right),
        }))
    }

    /// Parses a literal, a name, or a condition in parentheses.
    fn operand(&mut self) -> Option<Operand<'v>> {
        self.rest = self.rest.trim_start();
        if self.take("(") {
            let inner = self.any()?;
            return self.take(")").then_some(inner);
        }
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let (text, rest) = self.rest[1..].split_once(quote)?;
            self.rest = rest;
            return Some(Some(text));
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        if word.is_empty() || rest.starts_with(['(', '[']) {
            return None;
        }
        self.rest = rest;
        Some(match word {
            "none" | "null" | "undefined" => None,
            "true" | "false" => truth(word == "true"),
            _ if word.parse::<f64>().is_ok() => Some(word),
            _ => (self.value)(word),
        })
    }

    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Consumes a keyword that is not the beginning of a name.
    fn take_word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        let rest = rest
            .filter(|rest| rest.starts_with(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '\'')));
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_follow_nunjucks() {
        let value = |name: &str| match name {
            "book.edition" => Some("web"),
            "count" => Some("3"),
            "off" => Some("false"),
            "output.name" => Some("website"),
            _ => None,
        };
        for (condition, expected) in [
            ("book.edition", true),
            ("book.edition == 'web'", true),
            ("book.edition === \"print\"", false),
            ("book.edition != 'print' and count > 2", true),
            ("count >= 4 or off", false),
            ("not off", true),
            ("not not off", false),
            ("not (off or count)", false),
            ("nothing", false),
            ("nothing == none", true),
            ("output.name == 'website'", true),
            ("output.name == 'ebook'", false),
            ("count < 3", false),
            ("count <= 3", true),
            ("book.edition < 3", false),
            ("true", true),
            ("0", false),
            ("''", false),
            // Not understood: the first branch is shown.
            ("items(2)", true),
            ("count | length > 2", true),
            ("(off", true),
            ("", true),
        ] {
            assert_eq!(is_true(condition, &value), expected, "{condition}");
        }
    }
}
