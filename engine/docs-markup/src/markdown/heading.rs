//! The heading with the title of a page, and the comments, link definitions and other invisible text before it.

use std::{borrow::Cow, ops::Range};

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{leading_emoji, title_text::TitleText};
use crate::{
    directives::title_line,
    document::may_have_attributes,
    syntax::{html, tag},
};

/// The heading that contains the title of its page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Heading {
    /// The text without marks, anchors, attributes such as `{#id}`, and the leading emoji.
    pub title: String,
    /// The leading emoji.
    pub emoji: Option<String>,
}

/// The position of the title heading in a text.
pub(super) struct TitlePosition {
    pub(super) heading: Heading,
    /// The invisible text before the heading, and unreadable front matter.
    pub(super) prelude: Range<usize>,
    /// The heading, including its line break.
    pub(super) range: Range<usize>,
}

/// Maximum length of a title heading in bytes. A longer heading is part of the text. Link definitions are parsed in
/// chunks of this length.
pub(super) const MAX_HEADING_BYTES: usize = 4 << 10;

/// Finds the level 1 heading of a text if only invisible text, such as comments, link definitions and blank lines,
/// precedes it. The prelude also includes the text up to `from`.
pub(super) fn find_title(text: &str, from: usize) -> Option<TitlePosition> {
    let start = if from > 0 { 0 } else { text.len() - without_blank_lines(text).len() };
    let end = prelude_end(text, start.max(from));
    let rest = &text[end..];
    let mut title = TitleText::default();
    let block = first_block(rest);
    let mut options = Options::empty();
    options.set(Options::ENABLE_HEADING_ATTRIBUTES, may_have_attributes(block));
    for (event, range) in Parser::new_ext(block, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => {}
            Event::Text(part) => title.text(&part, &block[..range.start]),
            Event::Code(part) => title.code(&part),
            Event::SoftBreak | Event::HardBreak => title.text(" ", ""),
            Event::End(TagEnd::Heading(_)) => {
                let heading = heading_of(title.finish().trim())?;
                let range = end + range.start..end + range.end;
                return Some(TitlePosition { heading, prelude: start..end, range });
            }
            // Marks and links are replaced by their content, anchors are ignored.
            Event::Start(
                Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. },
            )
            | Event::End(
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image,
            )
            | Event::InlineHtml(_) => {}
            _ => return None,
        }
    }
    None
}

/// Returns the text before a heading in its stored form, which ends with a blank line to separate it from the body.
pub(crate) fn stored_prelude(prelude: &str) -> Cow<'_, str> {
    let ends_blank = prelude.split_inclusive('\n').next_back().is_none_or(|line| line.trim().is_empty());
    if ends_blank { Cow::Borrowed(prelude) } else { Cow::Owned(format!("{prelude}\n")) }
}

pub(crate) fn without_blank_lines(text: &str) -> &str {
    let mut rest = text;
    while let Some(line) = rest.split_inclusive('\n').next().filter(|line| line.trim().is_empty()) {
        rest = &rest[line.len()..];
    }
    rest
}

/// Returns the lines up to the first blank line. Both a title and a link definition end there at the latest.
fn first_block(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() || end + line.len() > MAX_HEADING_BYTES {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

/// Returns the end of the invisible text that begins at `start`.
fn prelude_end(text: &str, start: usize) -> usize {
    let mut at = start;
    loop {
        at = text.len() - without_blank_lines(&text[at..]).len();
        let rest = &text[at..];
        let length = comments_length(rest).or_else(|| title_line(rest).map(|(_, length)| length));
        let length = length.or_else(|| invisible_tag_length(rest));
        match length.or_else(|| definitions_length(rest)) {
            Some(length) if length > 0 => at += length,
            _ => return at,
        }
    }
}

/// Returns the length of the leading comments, or `None` if their lines contain other text.
fn comments_length(text: &str) -> Option<usize> {
    if !starts_block(text, "<!--") {
        return None;
    }
    let mut at = text.find("<!--")?;
    loop {
        // `<!-->` is a comment.
        let open = at + "<!".len();
        at = open + text[open..].find("-->")? + "-->".len();
        let line = text[at..].split_inclusive('\n').next().unwrap_or_default();
        match line.trim_start() {
            "" => return Some(at + line.len()),
            next if next.starts_with("<!--") => at += line.len() - next.len(),
            _ => return None,
        }
    }
}

/// Returns the length of the leading lines of a tag without visible content: a `meta` or `link` element before a blank
/// line, or `{% set … %}` of HonKit.
fn invisible_tag_length(text: &str) -> Option<usize> {
    let start = text.len() - text.trim_start_matches(' ').len();
    let (end, ends_block) = if starts_block(text, "{%") {
        (tag::Tag::parse_at(text, start).filter(|tag| tag.name == "set")?.end, true)
    } else if starts_block(text, "<") {
        let tag =
            html::strict_tag_at(text, start).filter(|tag| tag.is_named("meta") || tag.is_named("link"))?;
        (start + tag.source().len(), false)
    } else {
        return None;
    };
    let mut lines = text[end..].split_inclusive('\n');
    let rest = lines.next().unwrap_or_default();
    let is_blank = |line: &str| line.trim().is_empty();
    // An HTML block ends at a blank line.
    let is_alone = is_blank(rest) && (ends_block || lines.next().is_none_or(is_blank));
    is_alone.then_some(end + rest.len())
}

/// Returns the length of the leading link definitions.
fn definitions_length(text: &str) -> Option<usize> {
    if !starts_block(text, "[") {
        return None;
    }
    let block = first_block(text);
    // A footnote definition is visible text.
    let mut events = Parser::new_ext(block, Options::ENABLE_FOOTNOTES).into_offset_iter();
    Some(events.next().map_or(block.len(), |(_, range)| range.start))
}

/// Returns `true` if `text` begins with `mark`, indented less than a code block.
fn starts_block(text: &str, mark: &str) -> bool {
    let unindented = text.trim_start_matches(' ');
    text.len() - unindented.len() < 4 && unindented.starts_with(mark)
}

fn heading_of(text: &str) -> Option<Heading> {
    let (emoji, rest) = match leading_emoji(text) {
        Some((emoji, rest)) if !rest.trim().is_empty() => (Some(emoji.to_owned()), rest.trim()),
        _ => (None, text),
    };
    (!rest.is_empty()).then(|| Heading { title: rest.to_owned(), emoji })
}
