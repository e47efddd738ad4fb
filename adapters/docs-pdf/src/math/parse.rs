//! The reader of formulas.

use super::symbols;
use crate::shown::{Parts, Shown, Tag};

/// How deep groups may stand within one another. A formula is drawn by functions that call themselves.
const DEPTH: usize = 12;

/// Reads one formula.
pub(super) struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

/// What stands at some place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    Char(char),
    /// A command, without its backslash.
    Command(&'a str),
}

/// Where a row ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    End,
    Brace,
    Bracket,
    Right,
    Environment,
}

impl<'a> Parser<'a> {
    pub(super) const fn new(rest: &'a str) -> Self {
        Self { rest, depth: 0 }
    }

    /// The whole formula. Rows of it stand below one another.
    pub(super) fn all(mut self) -> Option<Parts> {
        let mut rows = self.rows(Until::End)?;
        if !self.rest.is_empty() {
            return None;
        }
        match rows.as_mut_slice() {
            [cells] if cells.len() == 1 => cells.pop(),
            _ => Some(vec![matrix(rows, ("", ""), "aligned")]),
        }
    }

    /// The next token; spaces before it do not count.
    fn peek(&mut self) -> Option<Token<'a>> {
        self.rest = self.rest.trim_start();
        let mut chars = self.rest.chars();
        let first = chars.next()?;
        if first != '\\' {
            return Some(Token::Char(first));
        }
        let name = chars.as_str();
        let letters = name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len());
        let end = if letters > 0 { letters } else { name.chars().next()?.len_utf8() };
        Some(Token::Command(&name[..end]))
    }

    fn take(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        let length = match token {
            Token::Char(c) => c.len_utf8(),
            Token::Command(name) => 1 + name.len(),
        };
        self.rest = &self.rest[length..];
        Some(token)
    }

    fn takes(&mut self, token: Token<'_>) -> bool {
        let is = self.peek() == Some(token);
        if is {
            self.take();
        }
        is
    }

    /// Rows of cells, as `\\` and `&` part them.
    fn rows(&mut self, until: Until) -> Option<Vec<Vec<Parts>>> {
        let mut rows = vec![Vec::new()];
        loop {
            let cell = self.row(until)?;
            rows.last_mut()?.push(cell);
            if self.takes(Token::Char('&')) {
                continue;
            }
            if self.takes(Token::Command("\\")) {
                // A distance to the next row says nothing here.
                if self.rest.starts_with('[') {
                    self.rest = self.rest.split_once(']')?.1;
                }
                rows.push(Vec::new());
                continue;
            }
            // A last row that is empty is only the end of the one before.
            if rows.len() > 1 && rows.last().is_some_and(|row| row.iter().all(Vec::is_empty)) {
                rows.pop();
            }
            return Some(rows);
        }
    }

    /// Atoms with their scripts, up to an end or the next cell.
    fn row(&mut self, until: Until) -> Option<Parts> {
        let mut out = Parts::new();
        loop {
            match self.peek() {
                None => return (until == Until::End).then_some(out),
                Some(Token::Char('}')) => return (until == Until::Brace).then_some(out),
                Some(Token::Char(']')) if until == Until::Bracket => return Some(out),
                Some(Token::Command("right")) => return (until == Until::Right).then_some(out),
                Some(Token::Command("end")) => return (until == Until::Environment).then_some(out),
                Some(Token::Char('&') | Token::Command("\\")) => {
                    return matches!(until, Until::End | Until::Environment).then_some(out);
                }
                Some(Token::Char('^' | '_' | '\'')) => {
                    let atom = self.scripted(Vec::new(), false)?;
                    out.push(atom);
                }
                Some(_) => {
                    let (atom, lim) = self.atom()?;
                    if !atom.is_empty() {
                        let shown = self.scripted(atom, lim)?;
                        out.push(shown);
                    }
                }
            }
        }
    }

    /// An atom with what is raised and lowered beside it.
    fn scripted(&mut self, c: Parts, mut lim: bool) -> Option<Shown> {
        let (mut up, mut down) = (Parts::new(), Parts::new());
        loop {
            match self.peek() {
                Some(Token::Char('^')) => {
                    self.take();
                    // A prime may stand before, another script may not.
                    if up.iter().any(|part| !is_prime(part)) {
                        return None;
                    }
                    up.extend(self.argument()?);
                }
                Some(Token::Char('_')) => {
                    self.take();
                    if !down.is_empty() {
                        return None;
                    }
                    down = self.argument()?;
                }
                Some(Token::Char('\'')) => {
                    self.take();
                    up.push(sym('′'));
                }
                Some(Token::Command("limits")) => {
                    self.take();
                    lim = true;
                }
                Some(Token::Command("nolimits")) => {
                    self.take();
                    lim = false;
                }
                _ if up.is_empty() && down.is_empty() => return Some(one(c)),
                _ => return Some(Tag::Attach { c, up, down, lim }.into()),
            }
        }
    }

    /// What a command works on: a group, or the next atom.
    fn argument(&mut self) -> Option<Parts> {
        match self.peek()? {
            Token::Char('{') => self.group(),
            Token::Char('}' | '^' | '_' | '&') => None,
            Token::Char(c) if c.is_ascii_digit() => {
                self.take();
                Some(vec![Tag::Upright { v: c.to_string() }.into()])
            }
            _ => Some(self.atom()?.0),
        }
    }

    fn group(&mut self) -> Option<Parts> {
        if !self.takes(Token::Char('{')) {
            return None;
        }
        self.nested(|this| {
            let row = this.row(Until::Brace)?;
            this.takes(Token::Char('}')).then_some(row)
        })
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let out = read(self);
        self.depth -= 1;
        out
    }

    /// The text of a group, as it is written.
    fn raw(&mut self) -> Option<&'a str> {
        self.rest = self.rest.trim_start();
        let inner = self.rest.strip_prefix('{')?;
        let end = inner.find(['{', '}'])?;
        let text = &inner[..end];
        self.rest = inner[end..].strip_prefix('}')?;
        Some(text)
    }

    /// One thing, and whether what is below it stands under it.
    fn atom(&mut self) -> Option<(Parts, bool)> {
        match self.peek()? {
            Token::Char('{') => Some((self.group()?, false)),
            Token::Char(c) if c.is_ascii_digit() => {
                let end =
                    self.rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(self.rest.len());
                // A dot at the end of a number is the end of the sentence.
                let number = self.rest[..end].trim_end_matches('.');
                self.rest = &self.rest[number.len()..];
                Some((vec![Tag::Upright { v: number.to_owned() }.into()], false))
            }
            Token::Char(c) => {
                self.take();
                Some((character(c)?, false))
            }
            Token::Command(name) => {
                self.take();
                self.nested(|this| this.command(name))
            }
        }
    }

    fn command(&mut self, name: &'a str) -> Option<(Parts, bool)> {
        if let Some((c, lim)) = symbols::symbol(name) {
            return Some((vec![sym(c)], lim));
        }
        if let Some(lim) = symbols::function(name) {
            return Some((vec![Tag::Op { v: symbols::words(name).to_owned(), lim }.into()], lim));
        }
        if let Some(v) = symbols::space(name) {
            return Some((vec![Tag::Space { v }.into()], false));
        }
        if let Some(v) = symbols::accent(name) {
            return Some((vec![Tag::Accent { c: self.argument()?, v }.into()], false));
        }
        if let Some(kind) = symbols::face(name) {
            return Some((vec![Tag::Face { c: self.argument()?, kind }.into()], false));
        }
        if let Some(kind) = symbols::over(name) {
            return Some((vec![Tag::Over { c: self.argument()?, kind }.into()], kind.ends_with("brace")));
        }
        if symbols::IGNORED.contains(&name) {
            return Some((Vec::new(), false));
        }
        Some((self.structure(name)?, false))
    }

    fn structure(&mut self, name: &str) -> Option<Parts> {
        Some(vec![match name {
            "frac" | "dfrac" | "tfrac" | "cfrac" => {
                Tag::Frac { a: self.argument()?, b: self.argument()? }.into()
            }
            "binom" | "dbinom" | "tbinom" => Tag::Binom { a: self.argument()?, b: self.argument()? }.into(),
            "sqrt" => {
                let n = if self.takes(Token::Char('[')) {
                    let n = self.nested(|this| this.row(Until::Bracket))?;
                    self.takes(Token::Char(']'));
                    n
                } else {
                    Vec::new()
                };
                Tag::Root { c: self.argument()?, n }.into()
            }
            "text" | "textrm" | "textit" | "textbf" | "textsf" | "texttt" | "mbox" | "hbox" => {
                Tag::Upright { v: printable(self.raw()?)?.to_owned() }.into()
            }
            "operatorname" => {
                let lim = self.rest.starts_with('*');
                self.rest = self.rest.strip_prefix('*').unwrap_or(self.rest);
                Tag::Op { v: printable(self.raw()?)?.to_owned(), lim }.into()
            }
            "left" => return self.fence(),
            "begin" => return self.environment(),
            "not" => {
                let Token::Char(c) = (match self.take()? {
                    Token::Command(name) => Token::Char(symbols::symbol(name)?.0),
                    token => token,
                }) else {
                    return None;
                };
                Tag::Sym { v: format!("{c}\u{338}") }.into()
            }
            "tag" => Tag::Upright { v: format!("  ({})", printable(self.raw()?)?) }.into(),
            "label" => {
                self.raw()?;
                return Some(Vec::new());
            }
            // Colours are left out.
            "color" | "textcolor" => {
                self.raw()?;
                return if name == "color" { Some(Vec::new()) } else { self.argument() };
            }
            "phantom" | "hphantom" | "vphantom" => {
                self.argument()?;
                Tag::Space { v: 1.0 }.into()
            }
            _ => self.stacked(name)?,
        }])
    }

    /// Things above or below others.
    fn stacked(&mut self, name: &str) -> Option<Shown> {
        Some(match name {
            "stackrel" | "overset" => {
                let (up, c) = (self.argument()?, self.argument()?);
                Tag::Attach { c, up, down: Vec::new(), lim: true }.into()
            }
            "underset" => {
                let (down, c) = (self.argument()?, self.argument()?);
                Tag::Attach { c, up: Vec::new(), down, lim: true }.into()
            }
            "xrightarrow" | "xleftarrow" => {
                let arrow = if name == "xrightarrow" { '⟶' } else { '⟵' };
                Tag::Attach { c: vec![sym(arrow)], up: self.argument()?, down: Vec::new(), lim: true }.into()
            }
            "pmod" => {
                let word = Tag::Op { v: "mod".to_owned(), lim: false }.into();
                let c = std::iter::once(word).chain(self.argument()?).collect();
                Tag::Fence { c, l: "(".to_owned(), r: ")".to_owned() }.into()
            }
            _ => return None,
        })
    }

    fn bracket(&mut self) -> Option<String> {
        Some(match self.take()? {
            Token::Char('.') => String::new(),
            Token::Char('<') => "⟨".to_owned(),
            Token::Char('>') => "⟩".to_owned(),
            Token::Char(c) if "()[]|/".contains(c) => c.to_string(),
            Token::Command(name) => symbols::bracket(name)?.to_string(),
            Token::Char(_) => return None,
        })
    }

    fn fence(&mut self) -> Option<Parts> {
        let l = self.bracket()?;
        let c = self.row(Until::Right)?;
        if !self.takes(Token::Command("right")) {
            return None;
        }
        Some(vec![Tag::Fence { c, l, r: self.bracket()? }.into()])
    }

    fn environment(&mut self) -> Option<Parts> {
        let name = self.raw()?;
        let plain = name.trim_end_matches('*');
        if matches!(plain, "array" | "alignedat" | "alignat") {
            self.raw()?;
        }
        let rows = self.rows(Until::Environment)?;
        if !self.takes(Token::Command("end")) || self.raw()? != name {
            return None;
        }
        let (fence, align) = match plain {
            "matrix" | "array" | "smallmatrix" => (("", ""), "center"),
            "pmatrix" => (("(", ")"), "center"),
            "bmatrix" => (("[", "]"), "center"),
            "Bmatrix" => (("{", "}"), "center"),
            "vmatrix" => (("|", "|"), "center"),
            "Vmatrix" => (("‖", "‖"), "center"),
            "cases" => (("{", ""), "start"),
            "rcases" => (("", "}"), "start"),
            "aligned" | "align" | "alignedat" | "alignat" | "split" | "eqnarray" => (("", ""), "aligned"),
            "gather" | "gathered" | "multline" | "equation" => (("", ""), "center"),
            _ => return None,
        };
        Some(vec![matrix(rows, fence, align)])
    }
}

fn matrix(mut rows: Vec<Vec<Parts>>, (l, r): (&str, &str), align: &'static str) -> Shown {
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    rows.iter_mut().for_each(|row| row.resize(widest, Parts::new()));
    Tag::Matrix { rows, l: l.to_owned(), r: r.to_owned(), align }.into()
}

fn one(mut parts: Parts) -> Shown {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => Shown::Parts(parts.into_iter().chain(last).collect()),
    }
}

fn sym(c: char) -> Shown {
    Tag::Sym { v: c.to_string() }.into()
}

fn is_prime(part: &Shown) -> bool {
    matches!(part, Shown::Tag(tag) if matches!(&**tag, Tag::Sym { v } if v == "′"))
}

/// A character that stands for itself; none where it has a meaning in TeX.
fn character(c: char) -> Option<Parts> {
    Some(match c {
        '~' => vec![Tag::Space { v: 0.33 }.into()],
        '-' => vec![sym('−')],
        '*' => vec![sym('∗')],
        '\\' | '#' | '$' | '%' | '"' | '{' | '}' => return None,
        c if c.is_control() || c.is_whitespace() || !is_of_formulas(c) => return None,
        c => vec![sym(c)],
    })
}

/// Text that can be shown as it is.
fn printable(text: &str) -> Option<&str> {
    (!text.chars().any(|c| c.is_control() || c == '\\')).then_some(text)
}

/// Letters of Latin, Greek and Cyrillic scripts and the signs of mathematics. Other scripts stand in `\text`.
const fn is_of_formulas(c: char) -> bool {
    matches!(c, '\0'..='\u{52f}' | '\u{2000}'..='\u{2bff}' | '\u{1d400}'..='\u{1d7ff}')
}
