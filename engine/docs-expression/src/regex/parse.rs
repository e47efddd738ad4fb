//! The parser of regular expressions.

use std::iter::Peekable;

use std::sync::Arc;

use super::program::{Class, Greedy, is_word};
use crate::characters::{is_blank, is_name_start};

/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 30;

/// Maximum count of a repetition.
const MAX_COUNT: usize = 1_000;

pub(super) enum Part {
    Char(char),
    Any,
    Class(Arc<Class>),
    Start,
    End,
    Word(bool),
    Back(usize),
    /// A group, with its number if it captures.
    Group(Box<Part>, Option<usize>),
    /// A positive or negative lookahead.
    Look(Box<Part>, bool),
    All(Vec<Part>),
    Either(Vec<Part>),
    Repeat {
        part: Box<Part>,
        least: usize,
        most: Option<usize>,
        greedy: Greedy,
    },
}

impl Part {
    /// Returns the numbers of the first and the last group within the part.
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
            Self::Look(inner, _) | Self::Repeat { part: inner, .. } => inner.groups(),
            Self::All(parts) | Self::Either(parts) => within(parts),
            _ => None,
        }
    }
}

pub(super) struct Parsed {
    pub(super) part: Part,
    /// The names of the groups; index 0 is the whole match.
    pub(super) groups: Vec<Option<String>>,
}

/// Parses an expression. In strict mode (flag `u`), meaningless escapes and lone brackets are errors.
pub(super) fn parse(source: &str, is_strict: bool) -> Result<Parsed, String> {
    let rest = source.chars().peekable();
    let mut parser = Parser { rest, groups: vec![None], backs: Vec::new(), depth: 0, is_strict };
    let part = parser.either()?;
    if parser.rest.peek().is_some() {
        return Err("is a regular expression with an unmatched `)`".to_owned());
    }
    let Parser { groups, backs, .. } = parser;
    if backs.into_iter().any(|back| back >= groups.len()) {
        return Err("is a regular expression with a reference to a missing group".to_owned());
    }
    Ok(Parsed { part, groups })
}

struct Parser<'s> {
    rest: Peekable<std::str::Chars<'s>>,
    groups: Vec<Option<String>>,
    backs: Vec<usize>,
    depth: usize,
    is_strict: bool,
}

const REPEATS_NOTHING: &str = "is a regular expression with a quantifier that follows no item";

/// Characters that a backslash can escape in strict mode.
const SIGNS: &str = "^$\\.*+?()[]{}|/";

impl Parser<'_> {
    fn eat(&mut self, c: char) -> bool {
        self.rest.next_if_eq(&c).is_some()
    }

    fn either(&mut self) -> Result<Part, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("is a regular expression with more than {MAX_DEPTH} nested groups"));
        }
        self.depth += 1;
        let mut ways = vec![self.all()?];
        while self.eat('|') {
            ways.push(self.all()?);
        }
        self.depth -= 1;
        Ok(if ways.len() == 1 { ways.remove(0) } else { Part::Either(ways) })
    }

    fn all(&mut self) -> Result<Part, String> {
        let mut parts = Vec::new();
        while let Some(c) = self.rest.peek()
            && !matches!(c, '|' | ')')
        {
            let part = self.part()?;
            parts.push(self.repeated(part)?);
        }
        Ok(Part::All(parts))
    }

    fn part(&mut self) -> Result<Part, String> {
        if self.rest.peek() == Some(&'{') && self.count()?.is_some() {
            return Err(REPEATS_NOTHING.to_owned());
        }
        Ok(match self.rest.next() {
            Some('.') => Part::Any,
            Some('^') => Part::Start,
            Some('$') => Part::End,
            Some('(') => return self.group(),
            Some('[') => Part::Class(self.class()?.into()),
            Some('\\') => return self.escape(),
            Some('*' | '+' | '?') => return Err(REPEATS_NOTHING.to_owned()),
            Some(c @ ('{' | '}' | ']')) if self.is_strict => {
                return Err(format!("is a regular expression with an unescaped `{c}`"));
            }
            Some(c) => Part::Char(c),
            None => Part::All(Vec::new()),
        })
    }

    fn group(&mut self) -> Result<Part, String> {
        let mut number = None;
        let mut look = None;
        if self.eat('?') {
            match self.rest.next() {
                Some(':') => {}
                Some('=') => look = Some(false),
                Some('!') => look = Some(true),
                Some('<') if !matches!(self.rest.peek(), Some('=' | '!')) => {
                    number = Some(self.groups.len());
                    let name = self.until('>')?;
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
        let inner = self.either()?;
        if !self.eat(')') {
            return Err("is a regular expression with an unclosed group".to_owned());
        }
        let inner = Box::new(inner);
        Ok(match look {
            None => Part::Group(inner, number),
            Some(not) => Part::Look(inner, not),
        })
    }

    fn until(&mut self, end: char) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some(c) if c == end && !text.is_empty() => return Ok(text),
                Some(c) if is_name_start(c) || c.is_numeric() && !text.is_empty() => text.push(c),
                _ => return Err("is a regular expression with an invalid group name".to_owned()),
            }
        }
    }

    fn repeated(&mut self, part: Part) -> Result<Part, String> {
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
        if matches!(part, Part::Start | Part::End | Part::Word(_))
            || self.is_strict && matches!(part, Part::Look(..))
        {
            return Err("is a regular expression with a repeated assertion".to_owned());
        }
        self.rest.next();
        let greedy = if self.eat('?') { Greedy::No } else { Greedy::Yes };
        Ok(Part::Repeat { part: Box::new(part), least, most, greedy })
    }

    /// Parses `{2}`, `{2,}` or `{2,5}` except for the closing brace. Other braces are literal.
    fn count(&mut self) -> Result<Option<(usize, Option<usize>)>, String> {
        let mut ahead = self.rest.clone();
        ahead.next();
        let text: String = ahead.clone().take_while(|c| *c != '}').collect();
        if ahead.nth(text.chars().count()).is_none() {
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
        for _ in 0..=text.chars().count() {
            self.rest.next();
        }
        Ok(Some((least, most)))
    }

    fn escape(&mut self) -> Result<Part, String> {
        Ok(match self.rest.next() {
            None => return Err("is a regular expression that ends with a backslash".to_owned()),
            Some('b') => Part::Word(true),
            Some('B') => Part::Word(false),
            Some('k') if self.eat('<') => {
                let name = self.until('>')?;
                let group = self.groups.iter().position(|group| group.as_ref() == Some(&name));
                Part::Back(group.ok_or("is a regular expression with a reference to a later group name")?)
            }
            Some(c @ '1'..='9') => {
                let mut number = c as usize - 48;
                while let Some(c) = self.rest.next_if(char::is_ascii_digit) {
                    number = (number * 10 + (c as usize - 48)).min(MAX_COUNT);
                }
                self.backs.push(number);
                Part::Back(number)
            }
            Some(c) => match self.escaped(c)? {
                Escaped::Char(c) => Part::Char(c),
                Escaped::Class(class) => Part::Class(class.into()),
            },
        })
    }

    fn escaped(&mut self, c: char) -> Result<Escaped, String> {
        let with = |with: fn(char) -> bool| Escaped::Class(Class { with: vec![with], ..Class::default() });
        let without = |of: fn(char) -> bool| Escaped::Class(Class { without: vec![of], ..Class::default() });
        Ok(match c {
            'd' => with(|c| c.is_ascii_digit()),
            'D' => without(|c| c.is_ascii_digit()),
            'w' => with(is_word),
            'W' => without(is_word),
            's' => with(is_blank),
            'S' => without(is_blank),
            'n' => Escaped::Char('\n'),
            'r' => Escaped::Char('\r'),
            't' => Escaped::Char('\t'),
            'v' => Escaped::Char('\u{b}'),
            'f' => Escaped::Char('\u{c}'),
            // Within a class; elsewhere these are back-references.
            '1'..='9' => {
                return Err("is a regular expression with an octal escape, which is not supported".to_owned());
            }
            '0' if self.rest.peek().is_some_and(char::is_ascii_digit) => {
                return Err("is a regular expression with an octal escape, which is not supported".to_owned());
            }
            '0' => Escaped::Char('\0'),
            'x' => Escaped::Char(self.hex(2)?),
            'u' => Escaped::Char(self.hex(4)?),
            'p' | 'P' => return Err("is a regular expression with `\\p`, which is not supported".to_owned()),
            'c' => return Err("is a regular expression with `\\c`, which is not supported".to_owned()),
            c if self.is_strict && !SIGNS.contains(c) => {
                return Err(format!("is a regular expression with the unknown escape `\\{c}`"));
            }
            c => Escaped::Char(c),
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
                (Escaped::Char(from), Some(Escaped::Char(to))) if from <= to => class.ranges.push((from, to)),
                (Escaped::Char(_), Some(Escaped::Char(_))) => {
                    return Err("is a regular expression with a reversed range".to_owned());
                }
                (_, Some(_)) if self.is_strict => {
                    return Err("is a regular expression with an incomplete range".to_owned());
                }
                (first, second) => {
                    class.add(first);
                    class.add(Escaped::Char('-'));
                    second.into_iter().for_each(|second| class.add(second));
                }
            }
        }
    }

    fn in_class(&mut self) -> Result<Option<Escaped>, String> {
        match self.rest.next() {
            None => Err("is a regular expression with an unclosed class".to_owned()),
            Some(']') => Ok(None),
            Some('\\') => match self.rest.next() {
                Some('b') => Ok(Some(Escaped::Char('\u{8}'))),
                Some('-') => Ok(Some(Escaped::Char('-'))),
                Some(c) => self.escaped(c).map(Some),
                None => Err("is a regular expression that ends with a backslash".to_owned()),
            },
            Some(c) => Ok(Some(Escaped::Char(c))),
        }
    }
}

enum Escaped {
    Char(char),
    Class(Class),
}

impl Class {
    fn add(&mut self, what: Escaped) {
        match what {
            Escaped::Char(c) => self.ranges.push((c, c)),
            Escaped::Class(class) => {
                self.with.extend(class.with);
                self.without.extend(class.without);
            }
        }
    }
}
