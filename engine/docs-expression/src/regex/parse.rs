//! The parser for regular expressions.

use std::iter::Peekable;

use std::sync::Arc;

use super::program::{Class, RepeatPreference, is_word};
use crate::characters::{is_blank, is_name_start};

/// Maximum nesting depth of groups.
const MAX_GROUP_DEPTH: usize = 30;

/// Maximum count of a repetition.
const MAX_COUNT: usize = 1_000;

pub(super) enum RegexNode {
    Char(char),
    Any,
    Class(Arc<Class>),
    Start,
    End,
    Word(bool),
    BackReference(usize),
    /// A group, with its number if it is a capturing group.
    Group(Box<RegexNode>, Option<usize>),
    /// A positive or negative lookahead.
    Lookahead(Box<RegexNode>, bool),
    All(Vec<RegexNode>),
    Either(Vec<RegexNode>),
    Repeat {
        part: Box<RegexNode>,
        /// The numbers of the first and the last capturing group in the part.
        groups: Option<(usize, usize)>,
        least: usize,
        most: Option<usize>,
        greedy: RepeatPreference,
    },
}

impl RegexNode {
    /// Returns the numbers of the first and the last capturing group in the node.
    pub(super) fn groups(&self) -> Option<(usize, usize)> {
        let within = |parts: &[Self]| {
            let all = parts.iter().filter_map(Self::groups);
            all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        };
        match self {
            Self::Group(inner, number) => match (inner.groups(), *number) {
                (None, number) => number.map(|number| (number, number)),
                (inner, None) => inner,
                (Some((_, last)), Some(number)) => Some((number, last.max(number))),
            },
            Self::Lookahead(inner, _) => inner.groups(),
            Self::Repeat { groups, .. } => *groups,
            Self::All(parts) | Self::Either(parts) => within(parts),
            _ => None,
        }
    }
}

pub(super) struct ParsedRegex {
    pub(super) part: RegexNode,
    /// The names of the groups. Index 0 stands for the whole match.
    pub(super) groups: Vec<Option<String>>,
}

/// Parses a regular expression. In strict mode (flag `u`), meaningless escapes and unmatched brackets are errors.
pub(super) fn parse(source: &str, is_strict: bool) -> Result<ParsedRegex, String> {
    let rest = source.chars().peekable();
    let mut parser = Parser { rest, groups: vec![None], backs: Vec::new(), depth: 0, is_strict };
    let part = parser.alternatives()?;
    if parser.rest.peek().is_some() {
        return Err("is a regular expression with an unmatched `)`".to_owned());
    }
    let Parser { groups, backs, .. } = parser;
    if backs.into_iter().any(|back| back >= groups.len()) {
        return Err("is a regular expression with a reference to a missing group".to_owned());
    }
    Ok(ParsedRegex { part, groups })
}

struct Parser<'s> {
    rest: Peekable<std::str::Chars<'s>>,
    groups: Vec<Option<String>>,
    backs: Vec<usize>,
    depth: usize,
    is_strict: bool,
}

const REPEATS_NOTHING: &str = "is a regular expression with a quantifier that follows no item";

/// Characters that can be escaped in strict mode.
const ESCAPABLE_CHARS: &str = "^$\\.*+?()[]{}|/";

impl Parser<'_> {
    fn eat(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    fn alternatives(&mut self) -> Result<RegexNode, String> {
        if self.depth == MAX_GROUP_DEPTH {
            return Err(format!("is a regular expression with more than {MAX_GROUP_DEPTH} nested groups"));
        }
        self.depth += 1;
        let mut ways = vec![self.sequence()?];
        while self.eat('|') {
            ways.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if ways.len() == 1 { ways.remove(0) } else { RegexNode::Either(ways) })
    }

    fn sequence(&mut self) -> Result<RegexNode, String> {
        let mut parts = Vec::new();
        while let Some(c) = self.rest.peek()
            && !matches!(c, '|' | ')')
        {
            let part = self.part()?;
            parts.push(self.parse_repetition(part)?);
        }
        Ok(RegexNode::All(parts))
    }

    fn part(&mut self) -> Result<RegexNode, String> {
        if self.rest.peek() == Some(&'{') && self.count()?.is_some() {
            return Err(REPEATS_NOTHING.to_owned());
        }
        Ok(match self.rest.next() {
            Some('.') => RegexNode::Any,
            Some('^') => RegexNode::Start,
            Some('$') => RegexNode::End,
            Some('(') => return self.group(),
            Some('[') => RegexNode::Class(self.class()?.into()),
            Some('\\') => return self.escape(),
            Some('*' | '+' | '?') => return Err(REPEATS_NOTHING.to_owned()),
            Some(c @ ('{' | '}' | ']')) if self.is_strict => {
                return Err(format!("is a regular expression with an unescaped `{c}`"));
            }
            Some(c) => RegexNode::Char(c),
            None => RegexNode::All(Vec::new()),
        })
    }

    fn group(&mut self) -> Result<RegexNode, String> {
        let mut number = None;
        let mut look = None;
        if self.eat('?') {
            match self.rest.next() {
                Some(':') => {}
                Some('=') => look = Some(false),
                Some('!') => look = Some(true),
                Some('<') if !matches!(self.rest.peek(), Some('=' | '!')) => {
                    number = Some(self.groups.len());
                    let name = self.group_name('>')?;
                    if self.groups.iter().flatten().any(|known| *known == name) {
                        return Err("is a regular expression with a duplicate group name".to_owned());
                    }
                    self.groups.push(Some(name));
                }
                _ => return Err("is a regular expression with an unsupported group".to_owned()),
            }
        } else {
            number = Some(self.groups.len());
            self.groups.push(None);
        }
        let inner = self.alternatives()?;
        if !self.eat(')') {
            return Err("is a regular expression with an unclosed group".to_owned());
        }
        let inner = Box::new(inner);
        Ok(match look {
            None => RegexNode::Group(inner, number),
            Some(not) => RegexNode::Lookahead(inner, not),
        })
    }

    fn group_name(&mut self, end: char) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some(c) if c == end && !text.is_empty() => return Ok(text),
                Some(c) if is_name_start(c) || c.is_numeric() && !text.is_empty() => text.push(c),
                _ => return Err("is a regular expression with an invalid group name".to_owned()),
            }
        }
    }

    fn parse_repetition(&mut self, part: RegexNode) -> Result<RegexNode, String> {
        let (least, most) = match self.rest.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.count()? {
                Some(count) => count,
                None => return Ok(part),
            },
            _ => return Ok(part),
        };
        if matches!(part, RegexNode::Start | RegexNode::End | RegexNode::Word(_))
            || self.is_strict && matches!(part, RegexNode::Lookahead(..))
        {
            return Err("is a regular expression with a repeated assertion".to_owned());
        }
        self.rest.next();
        let greedy = if self.eat('?') { RepeatPreference::No } else { RepeatPreference::Yes };
        Ok(RegexNode::Repeat { groups: part.groups(), part: Box::new(part), least, most, greedy })
    }

    /// Parses `{2}`, `{2,}` or `{2,5}` except for the closing brace. Other braces are literals.
    fn count(&mut self) -> Result<Option<(usize, Option<usize>)>, String> {
        let mut ahead = self.rest.clone();
        ahead.next();
        // Ends at the first other character, so that a sequence of unclosed braces is read once.
        let text: String = ahead.clone().take_while(|c| c.is_ascii_digit() || *c == ',').collect();
        if ahead.nth(text.len()) != Some('}') {
            return Ok(None);
        }
        let (least, most) = match text.split_once(',') {
            None => (text.as_str(), Some(text.as_str())),
            Some((least, "")) => (least, None),
            Some((least, most)) => (least, Some(most)),
        };
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(least) || !most.is_none_or(digits) {
            return Ok(None);
        }
        let number = |text: &str| match text.parse() {
            Ok(count) if count <= MAX_COUNT => Ok(count),
            _ => Err(format!("is a regular expression with a repetition of more than {MAX_COUNT}")),
        };
        let (least, most) = (number(least)?, most.map(number).transpose()?);
        if most.is_some_and(|most| most < least) {
            return Err("is a regular expression with a maximum below the minimum".to_owned());
        }
        for _ in 0..=text.len() {
            self.rest.next();
        }
        Ok(Some((least, most)))
    }

    fn escape(&mut self) -> Result<RegexNode, String> {
        Ok(match self.rest.next() {
            None => return Err("is a regular expression that ends with a backslash".to_owned()),
            Some('b') => RegexNode::Word(true),
            Some('B') => RegexNode::Word(false),
            Some('k') if self.eat('<') => {
                let name = self.group_name('>')?;
                let group = self.groups.iter().position(|group| group.as_ref() == Some(&name));
                RegexNode::BackReference(
                    group.ok_or("is a regular expression with a reference to a later group name")?,
                )
            }
            Some(c @ '1'..='9') => {
                let mut number = c as usize - 48;
                while let Some(c) = self.rest.next_if(char::is_ascii_digit) {
                    number = (number * 10 + (c as usize - 48)).min(MAX_COUNT);
                }
                self.backs.push(number);
                RegexNode::BackReference(number)
            }
            Some(c) => match self.parse_escape(c)? {
                EscapeSequence::Char(c) => RegexNode::Char(c),
                EscapeSequence::Class(class) => RegexNode::Class(class.into()),
            },
        })
    }

    fn parse_escape(&mut self, c: char) -> Result<EscapeSequence, String> {
        let with =
            |with: fn(char) -> bool| EscapeSequence::Class(Class { with: vec![with], ..Class::default() });
        let without =
            |of: fn(char) -> bool| EscapeSequence::Class(Class { without: vec![of], ..Class::default() });
        Ok(match c {
            'd' => with(|c| c.is_ascii_digit()),
            'D' => without(|c| c.is_ascii_digit()),
            'w' => with(is_word),
            'W' => without(is_word),
            's' => with(is_blank),
            'S' => without(is_blank),
            'n' => EscapeSequence::Char('\n'),
            'r' => EscapeSequence::Char('\r'),
            't' => EscapeSequence::Char('\t'),
            'v' => EscapeSequence::Char('\u{b}'),
            'f' => EscapeSequence::Char('\u{c}'),
            // Only within a class. Elsewhere, these are back-references.
            '1'..='9' => {
                return Err("is a regular expression with an octal escape, which is not supported".to_owned());
            }
            '0' if self.rest.peek().is_some_and(char::is_ascii_digit) => {
                return Err("is a regular expression with an octal escape, which is not supported".to_owned());
            }
            '0' => EscapeSequence::Char('\0'),
            'x' => EscapeSequence::Char(self.hex(2)?),
            'u' => EscapeSequence::Char(self.hex(4)?),
            'p' | 'P' => return Err("is a regular expression with `\\p`, which is not supported".to_owned()),
            'c' => return Err("is a regular expression with `\\c`, which is not supported".to_owned()),
            c if self.is_strict && !ESCAPABLE_CHARS.contains(c) => {
                return Err(format!("is a regular expression with the unknown escape `\\{c}`"));
            }
            c => EscapeSequence::Char(c),
        })
    }

    fn hex(&mut self, digits: usize) -> Result<char, String> {
        let text: String = if digits == 4 && self.eat('{') {
            self.rest.by_ref().take_while(|c| *c != '}').collect()
        } else {
            (0..digits).filter_map(|_| self.rest.next_if(char::is_ascii_hexdigit)).collect()
        };
        let code = u32::from_str_radix(&text, 16).ok().and_then(char::from_u32);
        code.ok_or_else(|| "is a regular expression with an invalid escape".to_owned())
    }

    fn class(&mut self) -> Result<Class, String> {
        let mut class = Class { not: self.eat('^'), ..Class::default() };
        loop {
            let first = match self.in_class()? {
                None => return Ok(class),
                Some(first) => first,
            };
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
            if !is_range {
                class.add(first);
                continue;
            }
            self.rest.next();
            match (first, self.in_class()?) {
                (EscapeSequence::Char(from), Some(EscapeSequence::Char(to))) if from <= to => {
                    class.ranges.push((from, to));
                }
                (EscapeSequence::Char(_), Some(EscapeSequence::Char(_))) => {
                    return Err("is a regular expression with a reversed range".to_owned());
                }
                (_, Some(_)) if self.is_strict => {
                    return Err("is a regular expression with an incomplete range".to_owned());
                }
                (first, second) => {
                    class.add(first);
                    class.add(EscapeSequence::Char('-'));
                    second.into_iter().for_each(|second| class.add(second));
                }
            }
        }
    }

    fn in_class(&mut self) -> Result<Option<EscapeSequence>, String> {
        match self.rest.next() {
            None => Err("is a regular expression with an unclosed class".to_owned()),
            Some(']') => Ok(None),
            Some('\\') => match self.rest.next() {
                Some('b') => Ok(Some(EscapeSequence::Char('\u{8}'))),
                Some('-') => Ok(Some(EscapeSequence::Char('-'))),
                Some(c) => self.parse_escape(c).map(Some),
                None => Err("is a regular expression that ends with a backslash".to_owned()),
            },
            Some(c) => Ok(Some(EscapeSequence::Char(c))),
        }
    }
}

enum EscapeSequence {
    Char(char),
    Class(Class),
}

impl Class {
    fn add(&mut self, what: EscapeSequence) {
        match what {
            EscapeSequence::Char(c) => self.ranges.push((c, c)),
            EscapeSequence::Class(class) => {
                self.with.extend(class.with);
                self.without.extend(class.without);
            }
        }
    }
}
