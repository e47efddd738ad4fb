//! HTML in pages: its tags with their attributes, its comments, and the text between them.
//!
//! What is a tag follows the HTML standard, with two limits: a tag has no `<` outside of quotes, and at most
//! [`MAX_TAG`] bytes. What begins like a tag and does not end like one is text. Markdown takes fewer tags for HTML than
//! browsers do; [`Tag::is_strict`] tells those that it does.

use std::{borrow::Cow, ops::Range};

use super::entity;

/// Longest tag that is read, in bytes. What is longer holds embedded data.
pub const MAX_TAG: usize = 8 * 1024;

/// Elements that have no content.
const VOID: [&str; 13] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

/// Elements whose content is text, whatever it looks like.
const RAW: [&str; 4] = ["script", "style", "textarea", "title"];

/// What a tag does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TagKind {
    /// It begins an element.
    Opening,
    /// It ends an element.
    Closing,
}

/// A tag, and where it stands in the text that it was read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tag<'a> {
    text: &'a str,
    /// The bytes of the whole tag.
    pub range: Range<usize>,
    /// What it does.
    pub kind: TagKind,
    /// Its name, as it is written.
    pub name: &'a str,
    /// Its attributes, in their order.
    pub attributes: Vec<Attribute<'a>>,
    /// Whether it ends with `/>`.
    pub is_self_closing: bool,
    /// Whether it is written as Markdown demands of a tag: space before each attribute, names of the usual characters,
    /// no quotes within values that have none.
    pub is_strict: bool,
}

/// An attribute of a tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute<'a> {
    /// Its name, as it is written.
    pub name: &'a str,
    /// The bytes of its value, without quotes; none when there is only a name.
    pub value: Option<Range<usize>>,
    /// The quote around the value, if there is one.
    pub quote: Option<char>,
}

/// A piece of HTML. Together the pieces of a text are the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    /// What stands between tags, and in elements that hold nothing but text.
    Text(Range<usize>),
    /// A comment, a declaration, or an instruction.
    Comment(Range<usize>),
    /// A tag.
    Tag(Tag<'a>),
}

impl<'a> Tag<'a> {
    /// Tells whether it is of an element; case is passed over.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Tells whether it is all there is of its element.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.is_self_closing || VOID.iter().any(|name| self.is(name))
    }

    /// The attribute of a name. Of several the first counts.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        self.attributes.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name))
    }

    /// The value of an attribute of this tag, character references resolved; none when it has only a name.
    #[must_use]
    pub fn value(&self, attribute: &Attribute<'a>) -> Option<Cow<'a, str>> {
        let written = self.text.get(attribute.value.clone()?)?;
        Some(entity::decode_attribute(written))
    }

    /// The tag as it is written.
    #[must_use]
    pub fn source(&self) -> &'a str {
        &self.text[self.range.clone()]
    }
}

/// The tag that begins at a place of a text; `None` when none does.
///
/// ```
/// use docs_markup::syntax::html::tag_at;
/// let tag = tag_at("see <IMG src='a&amp;b.png'>", 4).unwrap();
/// let source = tag.attribute("src").unwrap();
/// assert_eq!(tag.value(source).as_deref(), Some("a&b.png"));
/// assert_eq!(source.value, Some(14..25));
/// ```
#[must_use]
pub fn tag_at(text: &str, start: usize) -> Option<Tag<'_>> {
    read(text, start, Reading::Lenient).ok()
}

/// The tag that begins at a place of a text, if Markdown takes it for one. Reading ends at the first byte that does not
/// fit, so that asking at every place of a text costs no more than the text is long.
#[must_use]
pub fn strict_tag_at(text: &str, start: usize) -> Option<Tag<'_>> {
    read(text, start, Reading::Strict).ok().filter(|tag| tag.is_strict)
}

/// What is taken for a tag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// What a browser takes for one.
    Lenient,
    /// What Markdown takes for one.
    Strict,
}

/// The tag at a place, or how many bytes were read to see that there is none.
fn read(text: &str, start: usize, reading: Reading) -> Result<Tag<'_>, usize> {
    let (kind, name) = name_at(text, start).ok_or(1_usize)?;
    let at = start + if kind == TagKind::Opening { 1 } else { 2 } + name.len();
    let is_strict = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let inside = text.get(..text.floor_char_boundary(start + MAX_TAG)).filter(|inside| inside.len() >= at);
    let mut reader = Reader { text: inside.ok_or(at - start)?, at, is_strict, reading };
    let Some((attributes, is_self_closing)) = reader.attributes() else { return Err(reader.at - start) };
    let is_plain_end = kind == TagKind::Opening || (attributes.is_empty() && !is_self_closing);
    let (is_strict, range) = (reader.is_strict && is_plain_end, start..reader.at);
    Ok(Tag { text, range, kind, name, attributes, is_self_closing, is_strict })
}

/// What begins like a tag at a place of a text, and the name it begins with. Whether it ends is not asked.
#[must_use]
pub fn name_at(text: &str, start: usize) -> Option<(TagKind, &str)> {
    let rest = text.get(start..)?.strip_prefix('<')?;
    let (kind, rest) = match rest.strip_prefix('/') {
        Some(rest) => (TagKind::Closing, rest),
        None => (TagKind::Opening, rest),
    };
    let is_name = rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let end =
        rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>' | '<')).unwrap_or(rest.len());
    is_name.then(|| (kind, &rest[..end]))
}

/// Reads the inside of a tag.
struct Reader<'a> {
    /// The text as far as the tag may go.
    text: &'a str,
    at: usize,
    is_strict: bool,
    reading: Reading,
}

impl<'a> Reader<'a> {
    /// The attributes up to the end of the tag, and whether it closes itself. `None` when it does not end.
    fn attributes(&mut self) -> Option<(Vec<Attribute<'a>>, bool)> {
        let mut attributes = Vec::new();
        loop {
            if !self.is_strict && self.reading == Reading::Strict {
                return None;
            }
            let has_space = self.skip_space();
            match self.byte()? {
                b'>' => {
                    self.at += 1;
                    return Some((attributes, false));
                }
                b'/' if self.text.as_bytes().get(self.at + 1) == Some(&b'>') => {
                    self.at += 2;
                    return Some((attributes, true));
                }
                b'/' => {
                    self.at += 1;
                    self.is_strict = false;
                }
                b'<' => return None,
                _ => {
                    self.is_strict &= has_space;
                    attributes.push(self.attribute()?);
                }
            }
        }
    }

    fn attribute(&mut self) -> Option<Attribute<'a>> {
        let start = self.at;
        // Where a name should begin, the sign is part of it.
        self.at += usize::from(self.byte()? == b'=');
        self.skip(|b| !b.is_ascii_whitespace() && !matches!(b, b'=' | b'>' | b'/' | b'<'));
        let name = &self.text[start..self.at];
        self.is_strict &= is_attribute_name(name);
        let behind = self.at;
        self.skip_space();
        if self.byte()? != b'=' {
            self.at = behind;
            return Some(Attribute { name, value: None, quote: None });
        }
        self.at += 1;
        self.skip_space();
        let first = self.byte()?;
        if matches!(first, b'"' | b'\'') {
            let start = self.at + 1;
            let length = self.text.as_bytes()[start..].iter().position(|b| *b == first);
            self.at = length.map_or(self.text.len(), |length| start + length + 1);
            let length = length?;
            return Some(Attribute {
                name,
                value: Some(start..start + length),
                quote: Some(char::from(first)),
            });
        }
        let start = self.at;
        let is_strict = |b| !matches!(b, b'"' | b'\'' | b'=' | b'<' | b'`');
        let reading = self.reading;
        self.skip(|b| !b.is_ascii_whitespace() && b != b'>' && (reading == Reading::Lenient || is_strict(b)));
        let value = &self.text[start..self.at];
        self.is_strict &= !value.is_empty() && value.bytes().all(is_strict) && is_strict(self.byte()?);
        Some(Attribute { name, value: Some(start..self.at), quote: None })
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes over space; tells whether there was any.
    fn skip_space(&mut self) -> bool {
        let start = self.at;
        self.skip(|b| b.is_ascii_whitespace());
        self.at > start
    }

    fn skip(&mut self, belongs: impl Fn(u8) -> bool) {
        self.at += self.text.as_bytes()[self.at..].iter().take_while(|b| belongs(**b)).count();
    }
}

fn is_attribute_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':'))
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.' | b'-'))
}

/// The pieces of a part of a text, in their order.
///
/// ```
/// use docs_markup::syntax::html::{Token, tokens};
/// let text = "a <!-- <b> --> <i>c</i>";
/// let names: Vec<&str> = tokens(text, 0..text.len())
///     .filter_map(|token| match token {
///         Token::Tag(tag) => Some(tag.name),
///         Token::Text(_) | Token::Comment(_) => None,
///     })
///     .collect();
/// assert_eq!(names, ["i", "i"]);
/// ```
#[must_use]
pub fn tokens(text: &str, range: Range<usize>) -> Tokens<'_> {
    let end = text.floor_char_boundary(range.end);
    let start = text.floor_char_boundary(range.start).min(end);
    Tokens { text: &text[..end], at: start, next: None, raw: None, left: 32 * (end - start) + 8 * MAX_TAG }
}

/// The pieces of a text, one at a time.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// The piece behind a text that was found before it.
    next: Option<Token<'a>>,
    /// The element that holds nothing but text and has begun.
    raw: Option<&'static str>,
    /// How many bytes may still be read in vain: what looks like a tag again and again and is none is not read to its
    /// end each time.
    left: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        if let Some(token) = self.next.take() {
            return Some(self.passed(token));
        }
        let start = self.at;
        if let Some(name) = self.raw.take() {
            self.at = closing(self.text, start, name);
            if self.at > start {
                return Some(Token::Text(start..self.at));
            }
        }
        while let Some(open) = self.text[self.at..].find('<').map(|found| self.at + found) {
            let Some((token, end)) = self.piece(open) else {
                self.at = open + 1;
                continue;
            };
            self.at = end;
            if open == start {
                return Some(self.passed(token));
            }
            self.next = Some(token);
            return Some(Token::Text(start..open));
        }
        self.at = self.text.len();
        (start < self.at).then_some(Token::Text(start..self.at))
    }
}

impl<'a> Tokens<'a> {
    /// The tag or comment that begins at a place, and where it ends.
    fn piece(&mut self, open: usize) -> Option<(Token<'a>, usize)> {
        if let Some(length) = comment(&self.text[open..]) {
            // One that does not end takes all that follows.
            let end = length.map_or(self.text.len(), |length| open + length);
            return Some((Token::Comment(open..end), end));
        }
        if self.left == 0 {
            return None;
        }
        match read(self.text, open, Reading::Lenient) {
            Ok(tag) => {
                let end = tag.range.end;
                Some((Token::Tag(tag), end))
            }
            Err(length) => {
                self.left = self.left.saturating_sub(length);
                None
            }
        }
    }

    /// A piece that is handed out.
    fn passed(&mut self, token: Token<'a>) -> Token<'a> {
        if let Token::Tag(tag) = &token
            && tag.kind == TagKind::Opening
        {
            self.raw = RAW.into_iter().find(|name| tag.is(name));
        }
        token
    }
}

/// The length of the comment, declaration or instruction that a text begins with; `None` when it does not end, too.
///
/// ```
/// use docs_markup::syntax::html::whole_comment;
/// assert_eq!(whole_comment("<!-- a --> b"), Some(10));
/// assert_eq!(whole_comment("<!-- a"), None);
/// ```
#[must_use]
pub fn whole_comment(text: &str) -> Option<usize> {
    comment(text)?
}

/// The length of the comment that a text begins with; within, `None` when it does not end.
#[expect(clippy::option_option, reason = "no comment, and one that goes on, are two things")]
fn comment(text: &str) -> Option<Option<usize>> {
    let inside = text.strip_prefix("<!").or_else(|| text.strip_prefix("<?"))?;
    // These are whole comments.
    if let Some(whole) = ["<!-->", "<!--->"].iter().find(|whole| text.starts_with(**whole)) {
        return Some(Some(whole.len()));
    }
    let (start, end) = if inside.starts_with("--") {
        (4, "-->")
    } else if inside.starts_with("[CDATA[") {
        (9, "]]>")
    } else if text.starts_with("<?") {
        (2, "?>")
    } else if inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
        (2, ">")
    } else {
        return None;
    };
    Some(text[start..].find(end).map(|at| start + at + end.len()))
}

/// Where the closing tag of an element begins; the end of the text when it never closes.
fn closing(text: &str, from: usize, name: &str) -> usize {
    let is_own = |at: &usize| {
        name_at(text, *at)
            .is_some_and(|(kind, own)| kind == TagKind::Closing && own.eq_ignore_ascii_case(name))
    };
    let mut places = text[from..].match_indices("</").map(|(at, _)| from + at);
    places.find(is_own).unwrap_or(text.len())
}

/// The addresses in the value of a `srcset`, as bytes of it: `a.png 1x, b.png 2x`.
///
/// ```
/// use docs_markup::syntax::html::candidates;
/// let set = "a.png 1x,b,c.png, d.png";
/// let found: Vec<&str> = candidates(set).into_iter().map(|range| &set[range]).collect();
/// assert_eq!(found, ["a.png", "b,c.png", "d.png"]);
/// ```
#[must_use]
pub fn candidates(set: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let rest = set[at..].trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let start = set.len() - rest.len();
        let url = rest.split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
        if url.is_empty() {
            return found;
        }
        // A comma at the end is none of the address: it says that nothing is said of it.
        let bare = url.trim_end_matches(',');
        found.push(start..start + bare.len());
        at = start + url.len();
        if bare.len() == url.len() {
            at += set[at..].find(',').unwrap_or(set.len() - at);
        }
    }
}

#[cfg(test)]
mod tests;
