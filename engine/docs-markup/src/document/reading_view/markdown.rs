//! Tolerant parser for CommonMark and GitHub Flavored Markdown with HTML.

use std::{borrow::Cow, cell::Cell as Counter, ops::Range, rc::Rc};

use docs_model::{
    Block, BlockKind, CellAlign, ContentRef, HeadingData, HintStyle, ImageData, Inline, InlineKind, MarkKind,
};
use pulldown_cmark::{
    Alignment, BlockQuoteKind, BrokenLink, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag,
    TagEnd,
};

use super::{
    super::{inlines::label, marks, targets::MENTION, work_budget},
    addresses,
    assemble::{Image, Item},
    elements::{self, Surroundings, target},
    empty_lines,
    frames::{Builder, FrameKind, Opener, TextKind, is_id},
    labels::Labels,
    options::OPTIONS,
    placeholders::{EMPTY, NO_CHARACTER, without_placeholders},
    rows::{Cell, Row},
    tags,
};

/// Number of bytes that are searched for the end of a footnote label.
const NOTE_LABEL_WINDOW: usize = 1_000;

/// Parses Markdown and adds it to a builder.
pub(super) fn read(builder: &mut Builder<'_>, source: &str) {
    work_budget::step(source.len());
    let (labels, left) = (Rc::clone(&builder.view.labels), Rc::clone(&builder.view.destination_bytes_left));
    let text = tags::removed(source, &labels.paired_tags, &mut builder.view.is_hidden);
    let text = empty_lines::removed(text);
    let text = match text.contains(NO_CHARACTER) {
        true => Cow::Owned(text.replace(NO_CHARACTER, EMPTY)),
        false => text,
    };
    let mut options = OPTIONS;
    options.set(Options::ENABLE_HEADING_ATTRIBUTES, marks::may_have_attributes(&text));
    options.set(Options::ENABLE_DEFINITION_LIST, may_have_definitions(&text));
    let text = separate_notes(addresses::literal(&text), options, &labels, &left);
    let mut resolve = |broken: BrokenLink<'_>| resolve(&broken, &labels, &left);
    let mut reader = Reader {
        builder,
        html: None,
        alignments: Vec::new(),
        column: 0,
        is_mention: false,
        image: None,
        is_head: false,
        end: 0,
    };
    let events = Parser::new_with_broken_link_callback(&text, options, Some(&mut resolve));
    for (event, range) in events.into_offset_iter() {
        reader.event(event, &text, range);
    }
    reader.builder.end_html();
}

/// Returns `true` if a text may have definitions, such as `: A word.`, and no line that the parser would misread as
/// one, such as `:::note` or `:smile:`.
fn may_have_definitions(text: &str) -> bool {
    let mut may_have = false;
    for line in text.lines() {
        let Some(rest) = line.trim_start_matches([' ', '\t', '>']).strip_prefix(':') else { continue };
        if !rest.starts_with([' ', '\t']) {
            return false;
        }
        may_have = true;
    }
    may_have
}

/// Inserts placeholders after footnote references that Markdown reads as the label of a link or an image, as in
/// `[^note][x]` and `[^note](/url)`.
fn separate_notes<'t>(
    text: Cow<'t, str>,
    options: Options,
    labels: &Labels,
    left: &Counter<usize>,
) -> Cow<'t, str> {
    if labels.notes.is_empty() || !text.contains("[^") || !(text.contains("][") || text.contains("](")) {
        return text;
    }
    work_budget::step(text.len());
    let left = Counter::new(left.get());
    let mut resolve = |broken: BrokenLink<'_>| resolve(&broken, labels, &left);
    let events = Parser::new_with_broken_link_callback(&text, options, Some(&mut resolve)).into_offset_iter();
    let ends: Vec<usize> = events
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::Link { .. }) => note_end(&text, range.start, labels),
            Event::Start(Tag::Image { .. }) => note_end(&text, range.start + 1, labels),
            _ => None,
        })
        .collect();
    let mut out = String::with_capacity(text.len() + EMPTY.len() * ends.len());
    let mut at = 0;
    for end in ends {
        out.push_str(&text[at..end]);
        out.push_str(EMPTY);
        at = end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// Returns the end of a reference to an existing footnote, if one starts at this offset.
fn note_end(text: &str, start: usize, labels: &Labels) -> Option<usize> {
    let name = text[start..].strip_prefix("[^")?;
    let name = &name[..name.bytes().take(NOTE_LABEL_WINDOW).position(|byte| byte == b']')?];
    labels.notes.contains(&label(name)).then_some(start + name.len() + "[^]".len())
}

/// Resolves a link reference whose definition is outside the parsed text.
fn resolve(
    broken: &BrokenLink<'_>,
    labels: &Labels,
    left: &Counter<usize>,
) -> Option<(CowStr<'static>, CowStr<'static>)> {
    let (url, title) = labels.links.get(&label(&broken.reference))?;
    left.set(left.get().checked_sub(url.len() + title.len())?);
    Some((CowStr::from(url.clone()), CowStr::from(title.clone())))
}

struct Reader<'b, 'v> {
    builder: &'b mut Builder<'v>,
    /// The source of the open HTML block.
    html: Option<String>,
    alignments: Vec<Alignment>,
    column: usize,
    is_head: bool,
    /// `true` within the label of a mention, which shows the name of its target.
    is_mention: bool,
    /// The open image, its alternative text, and the number of images in it.
    image: Option<(Image, String, usize)>,
    /// The end of the innermost block whose start was read last.
    end: usize,
}

impl Reader<'_, '_> {
    /// Handles an event with its range in the source.
    fn event(&mut self, event: Event<'_>, source: &str, range: Range<usize>) {
        if self.image.is_some() {
            return self.in_image(&event);
        }
        if self.is_mention {
            self.is_mention = !matches!(event, Event::End(TagEnd::Link));
            return;
        }
        let builder = &mut *self.builder;
        match event {
            Event::Start(tag) => {
                if !is_inline(&tag) {
                    self.end = range.end;
                }
                self.start(tag);
            }
            Event::End(tag) => self.end(tag),
            Event::Text(text) if &*text == EMPTY => {}
            Event::Text(text) => {
                let is_escaped = || {
                    let before = source[..range.start].bytes().rev();
                    let backslashes = before.take_while(|byte| *byte == b'\\').count();
                    work_budget::step(backslashes);
                    !backslashes.is_multiple_of(2)
                };
                match text.strip_prefix("[^").filter(|_| is_escaped()) {
                    // The empty placeholder prevents a footnote reference.
                    Some(rest) => builder.push(&format!("[{EMPTY}^{rest}")),
                    None => builder.push(&text),
                }
            }
            Event::Code(text) => builder.push_code(&text),
            Event::InlineMath(formula) => builder.push(&format!("${formula}$")),
            Event::DisplayMath(formula) => {
                let formula = without_placeholders(&formula);
                let kind = InlineKind::InlineMath { formula };
                builder.push_item(|link| Item::Inline { inline: Inline::new(kind, Vec::new()), link });
            }
            Event::Html(html) => match &mut self.html {
                Some(source) => source.push_str(&html),
                None => elements::read(builder, &html, Surroundings::Block),
            },
            Event::InlineHtml(html) => {
                let rest = source.get(range.end..self.end).unwrap_or_default();
                elements::read(builder, &html, Surroundings::Text(rest));
            }
            Event::FootnoteReference(name) => {
                let inline = Inline::new(InlineKind::Annotation {}, Vec::new());
                let inline = Inline { spelling: Some(label(&name)), ..inline };
                builder.push_item(|link| Item::Inline { inline, link });
            }
            Event::SoftBreak if builder.code.is_some() => {
                let line = source[range.start..].split_once('\n').map_or("", |(_, line)| line);
                let indentation = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
                builder.push(&format!("\n{indentation}"));
            }
            Event::SoftBreak => builder.push(" "),
            Event::HardBreak => builder.push("\n"),
            Event::Rule => builder.add_new(Block::new(BlockKind::Divider {}, Vec::new())),
            Event::TaskListMarker(is_done) => builder.check(Some(is_done)),
        }
    }

    fn in_image(&mut self, event: &Event<'_>) {
        let Some((_, alt, depth)) = &mut self.image else { return };
        match event {
            Event::Start(Tag::Image { .. }) => *depth += 1,
            Event::End(TagEnd::Image) if *depth > 0 => *depth -= 1,
            Event::End(TagEnd::Image) => {
                let Some((mut image, alt, _)) = self.image.take() else { return };
                image.data.alt = Some(without_placeholders(&alt)).filter(|alt| !alt.is_empty());
                self.builder.push_item(|link| Item::Image { image, link });
            }
            Event::Text(text) | Event::Code(text) => alt.push_str(text),
            Event::SoftBreak | Event::HardBreak => alt.push(' '),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let builder = &mut *self.builder;
        let mut open = |kind| builder.open(FrameKind::Block(kind), Opener::Markdown);
        match tag {
            Tag::BlockQuote(kind) => open(quotation(kind)),
            Tag::List(None) => open(BlockKind::ListUnordered {}),
            Tag::List(Some(start)) => {
                open(BlockKind::ListOrdered { start: Some(start).filter(|start| *start != 1) });
            }
            Tag::Item => open(BlockKind::ListItem { checked: None }),
            Tag::DefinitionListDefinition => {
                open(BlockKind::ListUnordered {});
                open(BlockKind::ListItem { checked: None });
            }
            Tag::DefinitionList => builder.open(FrameKind::Plain(None), Opener::Markdown),
            Tag::FootnoteDefinition(name) => builder.open(FrameKind::Note(label(&name)), Opener::Markdown),
            Tag::Table(alignments) => {
                self.alignments = alignments;
                builder.open(FrameKind::Table(Vec::new()), Opener::Markdown);
            }
            Tag::TableHead | Tag::TableRow => {
                self.is_head = matches!(tag, Tag::TableHead);
                self.column = 0;
                let row = Row { is_head: self.is_head, ..Row::default() };
                builder.open(FrameKind::Row(row), Opener::Markdown);
            }
            Tag::TableCell => {
                let align = cell_align(self.alignments.get(self.column).copied());
                self.column += 1;
                let cell = Cell { align, is_title: self.is_head, ..Cell::default() };
                builder.open(FrameKind::Cell(cell), Opener::Markdown);
            }
            Tag::CodeBlock(kind) => builder.open_code(match kind {
                CodeBlockKind::Fenced(info) => info.to_string(),
                CodeBlockKind::Indented => String::new(),
            }),
            Tag::HtmlBlock => self.html = Some(String::new()),
            tag => self.start_text(tag),
        }
    }

    /// Handles the start of a text block or an inline element.
    fn start_text(&mut self, tag: Tag<'_>) {
        let builder = &mut *self.builder;
        match tag {
            Tag::Paragraph => builder.open_text(TextKind::Paragraph, None, Opener::Markdown),
            Tag::DefinitionListTitle => {
                builder.open_text(TextKind::Paragraph, None, Opener::Markdown);
                builder.open_mark(MarkKind::Bold);
            }
            Tag::Heading { level, id, .. } => {
                let id = id.map(|id| without_placeholders(&id)).filter(|id| is_id(id));
                let data = HeadingData { id, ..HeadingData::default() };
                builder.open_text(TextKind::Heading(level as u8, data), None, Opener::Markdown);
            }
            Tag::Emphasis => builder.open_mark(MarkKind::Italic),
            Tag::Strong => builder.open_mark(MarkKind::Bold),
            Tag::Strikethrough => builder.open_mark(MarkKind::Strikethrough),
            Tag::Link { link_type, dest_url, title, .. } => {
                let scheme = if link_type == LinkType::Email { "mailto:" } else { "" };
                let url = format!("{scheme}{}", without_placeholders(&dest_url));
                if let Some(target) = target(&url) {
                    let title = without_placeholders(&title);
                    if title == MENTION && !matches!(target, ContentRef::Url { .. }) {
                        self.is_mention = true;
                        let inline = Inline::new(InlineKind::Mention { target }, Vec::new());
                        return builder.push_item(|link| Item::Inline { inline, link });
                    }
                    builder.open_link(target, Some(title).filter(|title| !title.is_empty()));
                }
            }
            Tag::Image { dest_url, title, .. } => {
                if let Some(target) = target(&without_placeholders(&dest_url)) {
                    let data = ImageData { target, dark: None, width: None, height: None, alt: None };
                    let title = Some(without_placeholders(&title)).filter(|title| !title.is_empty());
                    self.image = Some((Image { data, title, align: None }, String::new(), 0));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        let builder = &mut *self.builder;
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::DefinitionListTitle => {
                builder.close_text();
                builder.reset_marks();
            }
            TagEnd::BlockQuote(_)
            | TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::DefinitionList
            | TagEnd::FootnoteDefinition
            | TagEnd::Table
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell => {
                builder.close_markdown();
                builder.reset_marks();
            }
            TagEnd::DefinitionListDefinition => {
                builder.close_markdown();
                builder.close_markdown();
            }
            TagEnd::CodeBlock => builder.close_code(),
            TagEnd::HtmlBlock => {
                let html = self.html.take().unwrap_or_default();
                elements::read(builder, &html, Surroundings::Block);
                builder.end_html();
            }
            TagEnd::Emphasis => builder.close_mark(MarkKind::Italic),
            TagEnd::Strong => builder.close_mark(MarkKind::Bold),
            TagEnd::Strikethrough => builder.close_mark(MarkKind::Strikethrough),
            TagEnd::Link => builder.close_link(),
            _ => {}
        }
    }
}

const fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. })
}

/// Returns the block kind of a quotation, which may be an alert.
const fn quotation(kind: Option<BlockQuoteKind>) -> BlockKind {
    let style = match kind {
        None => return BlockKind::Blockquote {},
        Some(BlockQuoteKind::Note | BlockQuoteKind::Important) => HintStyle::Info,
        Some(BlockQuoteKind::Tip) => HintStyle::Success,
        Some(BlockQuoteKind::Warning) => HintStyle::Warning,
        Some(BlockQuoteKind::Caution) => HintStyle::Danger,
    };
    BlockKind::Hint { style, icon: None }
}

const fn cell_align(alignment: Option<Alignment>) -> CellAlign {
    match alignment {
        Some(Alignment::Center) => CellAlign::Center,
        Some(Alignment::Right) => CellAlign::Right,
        _ => CellAlign::Left,
    }
}
