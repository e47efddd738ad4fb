//! Where things are in the Markdown of a page.

use std::ops::Range;

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// What a page is made of, as far as references go. All places are bytes of the text of the page.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Outline {
    /// The YAML between the marks at the beginning.
    pub(super) front_matter: Option<Range<usize>>,
    /// Links, images and link definitions.
    pub(super) links: Vec<Destination>,
    /// HTML blocks and inline tags.
    pub(super) html: Vec<Range<usize>>,
    /// Code blocks and code spans, ordered.
    pub(super) code: Vec<Range<usize>>,
}

/// The destination of a link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Destination {
    /// Where it stands.
    pub(super) range: Range<usize>,
    /// What it is, without Markdown's escapes.
    pub(super) text: String,
    /// Tells whether it is an image.
    pub(super) is_image: bool,
}

/// Finds the links, the HTML and the code of a page.
pub(super) fn outline(text: &str) -> Outline {
    let (front_matter, body) = split_front_matter(text);
    let outline = Outline { front_matter, ..Outline::default() };
    let mut reader = Reader { text, outline, open: Vec::new(), is_in_block: false };
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let mut events = Parser::new_ext(&text[body..], options).into_offset_iter();
    for (event, range) in events.by_ref() {
        reader.event(event, range.start + body..range.end + body);
    }
    for (_, definition) in events.reference_definitions().iter() {
        let range = definition.span.start + body..definition.span.end + body;
        reader.definition(range, &definition.dest);
    }
    reader.outline
}

/// The YAML at the beginning of a page, and where the rest begins.
fn split_front_matter(text: &str) -> (Option<Range<usize>>, usize) {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = text[start..].split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return (None, start) };
    let yaml = start + first.len();
    let mut at = yaml;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            return (Some(yaml..at), at + line.len());
        }
        at += line.len();
    }
    (None, start)
}

struct Reader<'a> {
    text: &'a str,
    outline: Outline,
    open: Vec<Open>,
    /// Tells whether an HTML block is being read.
    is_in_block: bool,
}

/// A link that has begun.
struct Open {
    range: Range<usize>,
    /// Where its text ends, as far as it is known.
    text_end: usize,
    destination: Option<String>,
    is_image: bool,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        if let Some(open) = self.open.last_mut().filter(|open| range != open.range) {
            open.text_end = open.text_end.max(range.end).min(open.range.end);
        }
        match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => self.begin(range, link_type, dest_url, 1),
            Event::Start(Tag::Image { link_type, dest_url, .. }) => self.begin(range, link_type, dest_url, 2),
            Event::End(TagEnd::Link | TagEnd::Image) => self.end(),
            Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => self.outline.code.push(range),
            Event::Start(Tag::HtmlBlock) => {
                self.is_in_block = true;
                self.outline.html.push(range);
            }
            Event::End(TagEnd::HtmlBlock) => self.is_in_block = false,
            Event::InlineHtml(_) => self.outline.html.push(range),
            Event::Html(_) if !self.is_in_block => self.outline.html.push(range),
            _ => {}
        }
    }

    /// A link or an image, whose text begins after so many characters.
    fn begin(&mut self, range: Range<usize>, kind: LinkType, destination: CowStr<'_>, marks: usize) {
        let text_end = (range.start + marks).min(range.end);
        let destination = (kind == LinkType::Inline).then(|| destination.into_string());
        self.open.push(Open { range, text_end, destination, is_image: marks == 2 });
    }

    fn end(&mut self) {
        let Some(Open { range, text_end, destination, is_image }) = self.open.pop() else { return };
        if let Some(parent) = self.open.last_mut() {
            parent.text_end = parent.text_end.max(range.end);
        }
        let Some(text) = destination else { return };
        let rest = self.text.get(text_end..range.end).unwrap_or_default();
        let place = rest.find("](").and_then(|at| destination_at(self.text, text_end + at + 2..range.end));
        self.outline.links.push(Destination { range: place.unwrap_or(range), text, is_image });
    }

    /// `[label]: destination`.
    fn definition(&mut self, range: Range<usize>, destination: &str) {
        let rest = self.text.get(range.clone()).unwrap_or_default();
        let place = rest.find("]:").and_then(|at| destination_at(self.text, range.start + at + 2..range.end));
        let text = destination.to_owned();
        self.outline.links.push(Destination { range: place.unwrap_or(range), text, is_image: false });
    }
}

/// Where the destination is that begins after white space in a range.
fn destination_at(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let inside = text.get(range.clone())?;
    let trimmed = inside.trim_start();
    let start = range.start + inside.len() - trimmed.len();
    if let Some(pointed) = trimmed.strip_prefix('<') {
        let length = unescaped(pointed, |c, _| c == '>')?;
        return Some(start + 1..start + 1 + length);
    }
    let length =
        unescaped(trimmed, |c, depth| c.is_whitespace() || (c == ')' && depth == 0)).unwrap_or(trimmed.len());
    Some(start..start + length)
}

/// Where the first character is that ends a destination. It is asked with the number of parentheses that are open.
fn unescaped(text: &str, ends: impl Fn(char, usize) -> bool) -> Option<usize> {
    let mut is_escaped = false;
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        if ends(c, depth) {
            return Some(at);
        }
        match c {
            '\\' => is_escaped = true,
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<(&str, String)> {
        outline(text).links.into_iter().map(|link| (&text[link.range], link.text)).collect()
    }

    #[test]
    fn the_place_of_a_destination_is_exact() {
        for (text, written, destination) in [
            ("[a](b.md)", "b.md", "b.md"),
            ("ä [a *b* `](x` c](b.md \"t](u\")", "b.md", "b.md"),
            ("[a](<b c.md> 't')", "b c.md", "b c.md"),
            ("[a](  b\\(1\\).md  )", "b\\(1\\).md", "b(1).md"),
            ("[a]((b).md)", "(b).md", "(b).md"),
            ("![](b.png)", "b.png", "b.png"),
            ("[a\\]](b.md)", "b.md", "b.md"),
            ("> - [a\n>   b](b.md)", "b.md", "b.md"),
            ("[a](\nb.md)", "b.md", "b.md"),
            ("[a][r]\n\n[r]: <b c.md> \"t\"\n", "b c.md", "b c.md"),
            ("[r]\n\n  [r]:\n  b.md", "b.md", "b.md"),
            ("| a |\n| --- |\n| [x](b.md) |\n", "b.md", "b.md"),
            ("word[^1]\n\n[^1]: [x](b.md)\n", "b.md", "b.md"),
        ] {
            assert_eq!(links(text), [(written, destination.to_owned())], "{text}");
        }
    }

    #[test]
    fn links_in_links_are_all_found() {
        assert_eq!(
            links("[![a](b.png)](c.md)"),
            [("b.png", "b.png".to_owned()), ("c.md", "c.md".to_owned())]
        );
    }

    #[test]
    fn code_has_no_links() {
        for text in ["`[a](b)`", "    [a](b)", "```\n[a](b)\n```", "<!-- [a](b) -->"] {
            assert_eq!(links(text), [], "{text}");
        }
    }

    #[test]
    fn front_matter_is_split_off() {
        let text = "\u{feff}---\r\ncover: a.png\r\n---\r\n[a](b)";
        let outline = outline(text);
        assert_eq!(&text[outline.front_matter.unwrap()], "cover: a.png\r\n");
        assert_eq!(outline.links.len(), 1);
        assert_eq!(split_front_matter("---\na: b\n"), (None, 0));
        assert_eq!(split_front_matter("---"), (None, 0));
        assert_eq!(split_front_matter("---\n---\n"), (Some(4..4), 8));
    }
}
