//! Converts HTML elements to document elements. Unsupported elements are replaced by their content or dropped.

use std::borrow::Cow;

use docs_model::{
    Block, BlockKind, CellAlign, ContentRef, HeadingData, ImageAlign, ImageData, Length, MarkColor, MarkKind,
    TextAlign,
};

use super::{
    super::{targets, work_budget},
    assemble::{Image, Item},
    frames::{Builder, FrameKind, Opener, Skipped, TextKind, is_id},
    placeholders::without_placeholders,
    rows::{Cell, Row},
};
use crate::syntax::{
    entity,
    html::{self, HtmlTag, HtmlToken, TagKind, candidates},
};

/// Elements that are dropped with their content.
const DROPPED: [&str; 9] =
    ["script", "style", "template", "head", "title", "svg", "applet", "canvas", "datalist"];
/// A comment, as the name of an element.
const COMMENT: &str = "!--";
/// Dropped elements whose content may contain empty lines, at which Markdown ends an HTML block.
pub(super) const SPANNING: [&str; 3] = ["script", "style", COMMENT];
/// Elements that are replaced by an embed or a link.
const MEDIA: [&str; 3] = ["video", "audio", "iframe"];
/// Dropped elements that can contain elements of the same name.
const NESTED: [&str; 2] = ["template", "svg"];
/// Elements whose only effect is to begin a new line.
const SECTIONS: [&str; 19] = [
    "div", "section", "article", "main", "header", "footer", "nav", "aside", "center", "address", "figure",
    "fieldset", "form", "hgroup", "body", "html", "dl", "search", "option",
];
/// Maximum number of rows and of columns that a cell spans.
const MAX_SPAN: usize = 100;
/// URL schemes that execute code.
const UNSAFE: [&str; 3] = ["javascript:", "vbscript:", "data:text"];

/// The source that is searched for the closing tag of an element.
#[derive(Clone, Copy)]
pub(super) enum Surroundings<'s> {
    /// The element is in an HTML block.
    Block,
    /// The element is in text. The source is the rest of the text after its tag.
    Text(&'s str),
}

/// Parses HTML, either a whole block or a single tag, and adds it to a builder.
pub(super) fn read(builder: &mut Builder<'_>, source: &str, around: Surroundings<'_>) {
    work_budget::step(source.len());
    for token in html::tokens(source, 0..source.len()) {
        match token {
            HtmlToken::Text(range) => {
                let shown = without_incomplete_tags(&source[range]);
                let text = entity::decode(&shown);
                let is_code_start = builder.code.as_ref().is_some_and(|code| code.text.is_empty());
                let text = if is_code_start { text.trim_start_matches('\n') } else { &text };
                if builder.skipped.is_none() && !(text.trim().is_empty() && builder.is_between()) {
                    builder.push_collapsed(text);
                }
            }
            HtmlToken::Comment(range) => {
                let comment = &source[range];
                let is_open =
                    comment.starts_with("<!--") && !comment.ends_with(closing_tag(COMMENT).as_str());
                if is_open
                    && matches!(around, Surroundings::Block)
                    && builder.view.ends_later.contains(&COMMENT)
                {
                    builder.view.open_element = Some(COMMENT);
                }
            }
            HtmlToken::Tag(tag) => {
                let (rest, is_in_block) = match around {
                    Surroundings::Block => (&source[tag.range.end..], true),
                    Surroundings::Text(rest) => (rest, false),
                };
                let element = Element { name: tag.name.to_ascii_lowercase(), tag, rest, is_in_block };
                self::element(builder, &element);
            }
        }
    }
}

/// Returns the beginning of the closing tag of a dropped element, or the end of a comment.
pub(super) fn closing_tag(name: &str) -> String {
    if name == COMMENT { "-->".to_owned() } else { format!("</{name}") }
}

/// Removes incomplete and overlong tags, which the tokenizer returns as text.
fn without_incomplete_tags(text: &str) -> Cow<'_, str> {
    let is_tag =
        |at: usize| text[at + 1..].trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic());
    if !text.match_indices('<').any(|(at, _)| is_tag(at)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for (at, _) in text.match_indices('<') {
        if at < end || !is_tag(at) {
            continue;
        }
        out.push_str(&text[end..at]);
        end = text[at..].find('>').map_or(text.len(), |length| at + length + 1);
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

/// Returns the link target for a URL, or `None` if the URL would execute code.
pub(super) fn target(url: &str) -> Option<ContentRef> {
    let url = url.trim();
    let bare: String =
        url.chars().filter(|c| !c.is_whitespace() && !c.is_control()).take(16).collect::<String>();
    let bare = bare.to_ascii_lowercase();
    let is_safe = !UNSAFE.iter().any(|scheme| bare.starts_with(scheme));
    (is_safe && !url.is_empty()).then(|| targets::read(url))
}

struct Element<'a> {
    name: String,
    tag: HtmlTag<'a>,
    /// The source after the tag, up to the end of the block.
    rest: &'a str,
    /// `true` if the element is in an HTML block.
    is_in_block: bool,
}

impl Element<'_> {
    fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        let attribute = self.tag.attribute(name)?;
        let value = self.tag.value(attribute).unwrap_or_default();
        Some(Cow::Owned(without_placeholders(&value)))
    }

    fn number(&self, name: &str) -> usize {
        self.get(name).and_then(|value| value.trim().parse().ok()).unwrap_or(1).min(MAX_SPAN)
    }

    /// Returns the alignment, from the attribute or the style.
    fn align(&self) -> Option<TextAlign> {
        if self.name == "center" {
            return Some(TextAlign::Center);
        }
        let style = self.get("style").unwrap_or_default();
        let from_style = || {
            let value = style.split(';').find_map(|part| part.trim().strip_prefix("text-align:"))?;
            Some(value.trim().to_owned())
        };
        match self.get("align").map(Cow::into_owned).or_else(from_style)?.to_ascii_lowercase().as_str() {
            "center" => Some(TextAlign::Center),
            "right" | "end" => Some(TextAlign::End),
            _ => None,
        }
    }
}

fn element(builder: &mut Builder<'_>, element: &Element<'_>) {
    if builder.skipped.is_some() {
        return skip(builder, element);
    }
    let name = element.name.as_str();
    if element.tag.kind == TagKind::Closing {
        return close(builder, name);
    }
    if builder.code.is_some() {
        return in_code(builder, element);
    }
    if DROPPED.contains(&name) || MEDIA.contains(&name) {
        let source = element.get("src").map(Cow::into_owned);
        let skipped = Skipped { name: name.to_owned(), depth: 0, source };
        return match element.tag.is_self_closing
            || !(is_closed(builder, element) || ends_later(builder, element))
        {
            true => media(builder, skipped),
            false => builder.skipped = Some(skipped),
        };
    }
    // The anchors of headings are their own.
    if !matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6") {
        let id = element.get("id").or_else(|| element.get("name").filter(|_| name == "a"));
        if let Some(id) = id {
            builder.anchor(&id);
        }
    }
    if !block(builder, element) {
        inline(builder, element);
    }
}

/// Returns `true` if a dropped element ends within its block. The text after a mere mention of its tag is shown.
fn is_closed(builder: &mut Builder<'_>, element: &Element<'_>) -> bool {
    let name = element.name.as_str();
    // Once a search fails, it fails for the rest of the block.
    if builder.unclosed.iter().any(|own| own == name) {
        return false;
    }
    let own = |at: usize| element.rest.get(at + 2..at + 2 + name.len());
    let mut ends = element.rest.match_indices("</").map(|(at, _)| at);
    let end = ends.find(|at| own(*at).is_some_and(|own| own.eq_ignore_ascii_case(name)));
    work_budget::step(end.unwrap_or(element.rest.len()));
    if end.is_none() {
        builder.unclosed.push(name.to_owned());
    }
    end.is_some()
}

/// Returns `true` if a dropped element of an HTML block ends in a later block, whose content is then dropped as well.
fn ends_later(builder: &mut Builder<'_>, element: &Element<'_>) -> bool {
    let found = SPANNING.into_iter().find(|name| *name == element.name && element.is_in_block);
    let Some(name) = found.filter(|name| builder.view.ends_later.contains(name)) else { return false };
    builder.view.open_element = Some(name);
    true
}

/// Handles a tag in skipped content.
fn skip(builder: &mut Builder<'_>, element: &Element<'_>) {
    let Some(skipped) = &mut builder.skipped else { return };
    let is_own = skipped.name == element.name;
    match element.tag.kind {
        TagKind::Opening if element.name == "source" => {
            skipped.source = skipped.source.take().or_else(|| element.get("src").map(Cow::into_owned));
        }
        TagKind::Opening if is_own && !element.tag.is_self_closing && NESTED.contains(&&*skipped.name) => {
            skipped.depth += 1;
        }
        TagKind::Closing if is_own && skipped.depth > 0 => skipped.depth -= 1,
        TagKind::Closing if is_own => {
            if let Some(skipped) = builder.skipped.take() {
                media(builder, skipped);
            }
        }
        _ => {}
    }
}

/// Adds a skipped media element as an embed, or as a file.
fn media(builder: &mut Builder<'_>, skipped: Skipped) {
    let Some(source) = skipped.source.filter(|_| MEDIA.contains(&skipped.name.as_str())) else { return };
    let url = if source.starts_with("//") { format!("https:{source}") } else { source };
    let is_web = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
    let kind = match target(&url) {
        Some(_) if is_web => BlockKind::Embed { url, full_width: None },
        Some(target) if skipped.name != "iframe" => BlockKind::File { target },
        _ => return,
    };
    builder.add_new(Block::new(kind, Vec::new()));
}

fn in_code(builder: &mut Builder<'_>, element: &Element<'_>) {
    let Some(code) = &mut builder.code else { return };
    match element.name.as_str() {
        "br" => code.text.push('\n'),
        "code" if code.info.is_empty() => code.info = language(element),
        _ => {}
    }
}

/// Returns the language given in the class of a code element.
fn language(element: &Element<'_>) -> String {
    let class = element.get("class").or_else(|| element.get("lang")).unwrap_or_default();
    let known = class
        .split_whitespace()
        .find_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")));
    known.unwrap_or_default().to_owned()
}

/// Opens a block. Returns `false` for an inline element.
fn block(builder: &mut Builder<'_>, element: &Element<'_>) -> bool {
    let name = element.name.as_str();
    let opener = Opener::Html(name.to_owned());
    let kind = match name {
        "p" => {
            builder.open_text(TextKind::Paragraph, element.align(), opener);
            return true;
        }
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
            let level = name.as_bytes()[1] - b'0';
            let id = element.get("id").map(Cow::into_owned).filter(|id| is_id(id));
            let data = HeadingData { id, ..HeadingData::default() };
            builder.open_text(TextKind::Heading(level, data), element.align(), opener);
            return true;
        }
        "hr" => {
            builder.add_new(Block::new(BlockKind::Divider {}, Vec::new()));
            return true;
        }
        "pre" => {
            builder.open_code(language(element));
            return true;
        }
        "blockquote" => FrameKind::Block(BlockKind::Blockquote {}),
        "details" => {
            let is_open = element.tag.attribute("open").map(|_| true);
            FrameKind::Details { is_open, title: Vec::new() }
        }
        "summary" => FrameKind::Summary,
        "figcaption" => FrameKind::Caption,
        "dt" => {
            builder.open_text(TextKind::Paragraph, None, opener);
            builder.open_mark(MarkKind::Bold);
            return true;
        }
        _ if SECTIONS.contains(&name) => FrameKind::Plain(element.align()),
        _ => return list(builder, element) || table(builder, element),
    };
    builder.open(kind, opener);
    true
}

fn list(builder: &mut Builder<'_>, element: &Element<'_>) -> bool {
    let name = element.name.as_str();
    let opener = Opener::Html(name.to_owned());
    match name {
        "ul" | "menu" => builder.open(FrameKind::Block(BlockKind::ListUnordered {}), opener),
        "ol" => {
            let start = element.get("start").and_then(|start| start.trim().parse().ok());
            let kind = BlockKind::ListOrdered { start: start.filter(|start| *start != 1) };
            builder.open(FrameKind::Block(kind), opener);
        }
        "li" | "dd" => {
            builder.close_part(&["li", "dd"]);
            if name == "dd" {
                // End the preceding term.
                builder.close_text();
                builder.close_mark(MarkKind::Bold);
            }
            if !builder.is_in_list() {
                let list = FrameKind::Block(BlockKind::ListUnordered {});
                builder.open(list, Opener::Html(format!("{name}-list")));
            }
            builder.open(FrameKind::Block(BlockKind::ListItem { checked: None }), opener);
        }
        _ => return false,
    }
    true
}

fn table(builder: &mut Builder<'_>, element: &Element<'_>) -> bool {
    let name = element.name.as_str();
    let opener = Opener::Html(name.to_owned());
    match name {
        "table" => builder.open(FrameKind::Table(Vec::new()), opener),
        "thead" | "tbody" | "tfoot" | "colgroup" => {
            builder.close_part(&["tr"]);
            builder.is_head = name == "thead";
        }
        "caption" => builder.open(FrameKind::Plain(None), opener),
        "tr" => {
            builder.close_part(&["tr"]);
            let row = Row { is_head: builder.is_head, ..Row::default() };
            if builder.is_in_table() {
                builder.open(FrameKind::Row(row), opener);
            }
        }
        "td" | "th" => {
            builder.close_part(&["td", "th"]);
            if builder.is_in_table() {
                builder.open(FrameKind::Row(Row::default()), Opener::Html("tr".to_owned()));
            }
            if builder.is_in_row() {
                builder.open(FrameKind::Cell(cell(element)), opener);
            } else {
                // The row is beyond the memory budget, or there is no table.
                builder.close_text();
            }
        }
        _ => return false,
    }
    true
}

fn cell(element: &Element<'_>) -> Cell {
    let align = match element.align() {
        Some(TextAlign::Center) => CellAlign::Center,
        Some(TextAlign::End) => CellAlign::Right,
        _ => CellAlign::Left,
    };
    Cell {
        blocks: Vec::new(),
        is_title: element.name == "th",
        align,
        columns: element.number("colspan"),
        rows: element.number("rowspan"),
    }
}

/// Handles the opening tag of an inline element.
fn inline(builder: &mut Builder<'_>, element: &Element<'_>) {
    let name = element.name.as_str();
    if let Some(mark) = mark(name) {
        return builder.open_mark(mark);
    }
    match name {
        "br" => builder.push_break(),
        "q" => builder.push("“"),
        "a" => {
            if let Some(target) = element.get("href").and_then(|url| target(&url)) {
                let title = element.get("title").map(Cow::into_owned);
                builder.open_link(target, title.filter(|title| !title.is_empty()));
            }
        }
        "img" | "image" => {
            if let Some(image) = image(builder, element) {
                builder.push_item(|link| Item::Image { image, link });
            }
        }
        "source" => {
            let is_dark = element.get("media").is_some_and(|media| media.contains("dark"));
            let set = element.get("srcset").unwrap_or_default().into_owned();
            let first = candidates(&set).into_iter().next();
            if let Some(range) = first.filter(|_| is_dark) {
                builder.dark = target(&set[range]);
            }
        }
        "input" if element.get("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox")) => {
            builder.push(if element.tag.attribute("checked").is_some() { "☑ " } else { "☐ " });
        }
        _ => {}
    }
}

/// Parses a width or height as HTML does: text after the number is ignored, unless it is a percent sign.
fn dimension(text: &str) -> Option<Length> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    Some(match text[end..].starts_with('%') {
        true => Length::Unit { unit: "%".to_owned(), value },
        false => Length::Pixels(value),
    })
}

fn image(builder: &mut Builder<'_>, element: &Element<'_>) -> Option<Image> {
    let set = element.get("srcset").unwrap_or_default().into_owned();
    let first = || candidates(&set).into_iter().next().map(|range| set[range].to_owned());
    let source = element.get("src").map(Cow::into_owned).filter(|source| !source.trim().is_empty());
    let size = |name: &str| dimension(&element.get(name)?);
    let some = |name: &str| element.get(name).map(Cow::into_owned).filter(|text| !text.is_empty());
    let data = ImageData {
        target: target(&source.or_else(first)?)?,
        dark: builder.dark.take(),
        width: size("width"),
        height: size("height"),
        alt: some("alt"),
    };
    let align = match element.align() {
        Some(TextAlign::Center) => Some(ImageAlign::Center),
        Some(TextAlign::End) => Some(ImageAlign::Right),
        _ => None,
    };
    Some(Image { data, title: some("title"), align })
}

/// Returns the mark of an element.
fn mark(name: &str) -> Option<MarkKind> {
    Some(match name {
        "b" | "strong" => MarkKind::Bold,
        "i" | "em" | "cite" | "dfn" | "var" => MarkKind::Italic,
        "s" | "del" | "strike" => MarkKind::Strikethrough,
        "code" | "tt" | "samp" => MarkKind::Code,
        "kbd" => MarkKind::Keyboard,
        "sup" => MarkKind::Superscript,
        "sub" => MarkKind::Subscript,
        "mark" => MarkKind::Color { text: MarkColor::Default, background: MarkColor::Yellow },
        _ => return None,
    })
}

fn close(builder: &mut Builder<'_>, name: &str) {
    if let Some(mark) = mark(name).filter(|_| builder.code.is_none()) {
        return builder.close_mark(mark);
    }
    match name {
        "a" => builder.close_link(),
        "q" => builder.push("”"),
        "pre" => builder.close_code(),
        "picture" => builder.dark = None,
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => builder.close_text(),
        "dt" => {
            builder.close_text();
            builder.close_mark(MarkKind::Bold);
        }
        "dd" => {
            builder.close_element("dd");
            builder.close_element("dd-list");
        }
        "thead" => {
            builder.close_part(&["tr"]);
            builder.is_head = false;
        }
        _ => {
            builder.close_element(name);
        }
    }
}
