//! HTML in pages: tags with attributes, comments, and the text between them.
//!
//! Tags follow the HTML standard with two restrictions: a tag contains no `<` outside of quotation marks, and at most
//! [`MAX_TAG`] bytes. An incomplete tag is text. Markdown recognizes fewer tags than browsers do, see
//! [`HtmlTag::is_strict`].

use std::{borrow::Cow, ops::Range};

use super::entity;

/// Maximum length of a tag, in bytes. Longer tags contain embedded data.
pub const MAX_TAG: usize = 8 * 1024;

/// Elements without content.
const VOID_ELEMENTS: [&str; 13] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

/// Elements whose content is always text.
const RAW_TEXT_ELEMENTS: [&str; 4] = ["script", "style", "textarea", "title"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TagKind {
    /// Begins an element.
    Opening,
    /// Ends an element.
    Closing,
}

/// A tag with its position in the parsed text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HtmlTag<'a> {
    text: &'a str,
    /// The byte range of the whole tag.
    pub range: Range<usize>,
    pub kind: TagKind,
    /// The name in its original case.
    pub name: &'a str,
    /// The attributes in order.
    pub attributes: Vec<Attribute<'a>>,
    /// `true` if it ends with `/>`.
    pub is_self_closing: bool,
    /// `true` if Markdown recognizes the tag: whitespace before each attribute, names of permitted characters, and no
    /// quotation marks within unquoted values.
    pub is_strict: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute<'a> {
    /// The name in its original case.
    pub name: &'a str,
    /// The byte range of the value without quotation marks, or `None` for a name without a value.
    pub value: Option<Range<usize>>,
    /// The quotation mark around the value, if any.
    pub quote: Option<char>,
}

/// An HTML token. The tokens cover all bytes of the parsed text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HtmlToken<'a> {
    /// Text between tags, or the content of an element that contains only text.
    Text(Range<usize>),
    /// A comment, a declaration, or a processing instruction.
    Comment(Range<usize>),
    Tag(HtmlTag<'a>),
}

impl<'a> HtmlTag<'a> {
    /// Returns `true` if the tag has this name, ignoring case.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Returns `true` if the element only consists of this tag.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.is_self_closing || VOID_ELEMENTS.iter().any(|name| self.is_named(name))
    }

    /// Returns the attribute with a name. The first of several attributes with the same name takes precedence.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Attribute<'a>> {
        self.attributes.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name))
    }

    /// Returns the value of an attribute of this tag with character references resolved, or `None` for a name without a
    /// value.
    #[must_use]
    pub fn value(&self, attribute: &Attribute<'a>) -> Option<Cow<'a, str>> {
        let written = self.text.get(attribute.value.clone()?)?;
        Some(entity::decode_attribute(written))
    }

    /// Returns the source text of the tag.
    #[must_use]
    pub fn source(&self) -> &'a str {
        &self.text[self.range.clone()]
    }
}

/// Parses the tag at a position in `text`. Returns `None` if no complete tag begins there.
///
/// ```
/// use docs_markup::syntax::html::tag_at;
/// let tag = tag_at("see <IMG src='a&amp;b.png'>", 4).unwrap();
/// let source = tag.attribute("src").unwrap();
/// assert_eq!(tag.value(source).as_deref(), Some("a&b.png"));
/// assert_eq!(source.value, Some(14..25));
/// ```
#[must_use]
pub fn tag_at(text: &str, start: usize) -> Option<HtmlTag<'_>> {
    read(text, start, TagSyntax::Lenient).ok()
}

/// Parses the tag at a position in `text` if Markdown recognizes it. Parsing stops at the first invalid byte, so that
/// calls for every position take linear time in total.
#[must_use]
pub fn strict_tag_at(text: &str, start: usize) -> Option<HtmlTag<'_>> {
    read(text, start, TagSyntax::Strict).ok().filter(|tag| tag.is_strict)
}

/// The set of accepted tags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TagSyntax {
    /// The tags that browsers recognize.
    Lenient,
    /// The tags that Markdown recognizes.
    Strict,
}

/// Parses the tag at a position. The error is the number of bytes that were read.
fn read(text: &str, start: usize, reading: TagSyntax) -> Result<HtmlTag<'_>, usize> {
    let (kind, name) = name_at(text, start).ok_or(1_usize)?;
    let at = start + if kind == TagKind::Opening { 1 } else { 2 } + name.len();
    let is_strict = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let inside = text.get(..text.floor_char_boundary(start + MAX_TAG)).filter(|inside| inside.len() >= at);
    let mut reader = TagReader { text: inside.ok_or(at - start)?, at, is_strict, reading };
    let Some((attributes, is_self_closing)) = reader.attributes() else { return Err(reader.at - start) };
    let is_plain_end = kind == TagKind::Opening || (attributes.is_empty() && !is_self_closing);
    let (is_strict, range) = (reader.is_strict && is_plain_end, start..reader.at);
    Ok(HtmlTag { text, range, kind, name, attributes, is_self_closing, is_strict })
}

/// Returns the kind and name of the tag that begins at a position in `text`, without checking that it ends.
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

/// Iterates over the offsets and kinds of the tags of an element, without checking that they end.
pub fn tags_of<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (usize, TagKind)> + 't {
    text.match_indices('<').filter_map(move |(at, _)| {
        let (kind, own) = name_at(text, at)?;
        own.eq_ignore_ascii_case(name).then_some((at, kind))
    })
}

/// A parser for the inside of a tag.
struct TagReader<'a> {
    /// The text, cut off at the maximum end of the tag.
    text: &'a str,
    at: usize,
    is_strict: bool,
    reading: TagSyntax,
}

impl<'a> TagReader<'a> {
    /// Parses the attributes up to the end of the tag, and returns `true` for a self-closing tag. Returns `None` for an
    /// unterminated tag.
    fn attributes(&mut self) -> Option<(Vec<Attribute<'a>>, bool)> {
        let mut attributes = Vec::new();
        loop {
            if !self.is_strict && self.reading == TagSyntax::Strict {
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
        // At the beginning of a name, the equals sign is part of the name.
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
        self.skip(|b| {
            !b.is_ascii_whitespace() && b != b'>' && (reading == TagSyntax::Lenient || is_strict(b))
        });
        let value = &self.text[start..self.at];
        self.is_strict &= !value.is_empty() && value.bytes().all(is_strict) && is_strict(self.byte()?);
        Some(Attribute { name, value: Some(start..self.at), quote: None })
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips whitespace. Returns `true` if there was any.
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

/// Iterates over the tokens in a range of `text`, in order.
///
/// ```
/// use docs_markup::syntax::html::{HtmlToken, tokens};
/// let text = "a <!-- <b> --> <i>c</i>";
/// let names: Vec<&str> = tokens(text, 0..text.len())
///     .filter_map(|token| match token {
///         HtmlToken::Tag(tag) => Some(tag.name),
///         HtmlToken::Text(_) | HtmlToken::Comment(_) => None,
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

/// An iterator over HTML tokens.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// The token that follows a text token. It was found while searching for the end of the text.
    next: Option<HtmlToken<'a>>,
    /// The name of the open element whose content is text.
    raw: Option<&'static str>,
    /// Number of bytes that may still be scanned without finding a tag. The limit ensures that repeated text that
    /// resembles tags is not scanned to its end each time.
    left: usize,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = HtmlToken<'a>;

    fn next(&mut self) -> Option<HtmlToken<'a>> {
        if let Some(token) = self.next.take() {
            return Some(self.advance_past(token));
        }
        let start = self.at;
        if let Some(name) = self.raw.take() {
            self.at = closing(self.text, start, name);
            if self.at > start {
                return Some(HtmlToken::Text(start..self.at));
            }
        }
        while let Some(open) = self.text[self.at..].find('<').map(|found| self.at + found) {
            let Some((token, end)) = self.piece(open) else {
                self.at = open + 1;
                continue;
            };
            self.at = end;
            if open == start {
                return Some(self.advance_past(token));
            }
            self.next = Some(token);
            return Some(HtmlToken::Text(start..open));
        }
        self.at = self.text.len();
        (start < self.at).then_some(HtmlToken::Text(start..self.at))
    }
}

impl<'a> Tokens<'a> {
    /// Returns the tag or comment that begins at a position, and its end.
    fn piece(&mut self, open: usize) -> Option<(HtmlToken<'a>, usize)> {
        if let Some(length) = comment(&self.text[open..]) {
            // An unterminated comment extends to the end of the text.
            let end = length.map_or(self.text.len(), |length| open + length);
            return Some((HtmlToken::Comment(open..end), end));
        }
        if self.left == 0 {
            return None;
        }
        match read(self.text, open, TagSyntax::Lenient) {
            Ok(tag) => {
                let end = tag.range.end;
                Some((HtmlToken::Tag(tag), end))
            }
            Err(length) => {
                self.left = self.left.saturating_sub(length);
                None
            }
        }
    }

    /// Updates the state for a token that is returned.
    fn advance_past(&mut self, token: HtmlToken<'a>) -> HtmlToken<'a> {
        if let HtmlToken::Tag(tag) = &token
            && tag.kind == TagKind::Opening
        {
            self.raw = RAW_TEXT_ELEMENTS.into_iter().find(|name| tag.is_named(name));
        }
        token
    }
}

/// Returns the length of the comment, declaration or processing instruction at the beginning of `text`. Returns `None`
/// if it is unterminated.
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

/// Returns the length of the comment at the beginning of `text`. The inner `None` means that it is unterminated.
#[expect(clippy::option_option, reason = "the absence of a comment and an unterminated comment differ")]
fn comment(text: &str) -> Option<Option<usize>> {
    let inside = text.strip_prefix("<!").or_else(|| text.strip_prefix("<?"))?;
    // These are complete comments.
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

/// Returns the start of the closing tag of an element, or the end of the text if there is none.
fn closing(text: &str, from: usize, name: &str) -> usize {
    let is_own = |at: &usize| {
        name_at(text, *at)
            .is_some_and(|(kind, own)| kind == TagKind::Closing && own.eq_ignore_ascii_case(name))
    };
    let mut places = text[from..].match_indices("</").map(|(at, _)| from + at);
    places.find(is_own).unwrap_or(text.len())
}

/// Returns the byte ranges of the URLs in the value of a `srcset`, such as `a.png 1x, b.png 2x`.
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
        // A trailing comma is not part of the URL. It means that there is no descriptor.
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
