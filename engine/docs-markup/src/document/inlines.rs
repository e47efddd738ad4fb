//! Parsing of inline Markdown into nodes with marks.

use std::{collections::HashMap, ops::Range};

use docs_model::{Inline, InlineKind, Mark, MarkColor, MarkKind, Node};
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::{
    atoms::{self, Atom, AtomKind},
    builder::InlineBuilder,
    html::{self, OpeningTag, TagToken},
    notes::Notes,
    targets, work_budget,
};

/// Destinations and titles of link definitions, by normalized [`label`].
pub(super) type LinkDefinitions = HashMap<String, (String, String)>;

/// The targets that text may reference.
pub(super) struct Rules<'r> {
    pub(super) definitions: &'r LinkDefinitions,
    pub(super) notes: &'r mut Notes,
}

/// Normalizes a label for comparison: without differences of case, and with single spaces.
pub(super) fn label(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    // Some letters are equal to several others in upper case only, such as `ß` and `ss`.
    if text.is_ascii() { text } else { text.to_uppercase().to_lowercase() }
}

/// Parses inline text. Returns `None` if Markdown would parse it as more than inline text.
pub(super) fn read(text: &str, rules: &mut Rules<'_>) -> Option<Vec<Node>> {
    work_budget::step(text.len());
    let atoms = atoms::find(text, |label| rules.notes.has(label));
    if let Some(nodes) = attempt(text, &atoms, rules) {
        return nodes;
    }
    // An address may be part of other syntax, such as the attribute of a tag.
    if atoms.iter().any(|atom| atom.kind == AtomKind::Address) {
        let others: Vec<_> = atoms.iter().filter(|atom| atom.kind != AtomKind::Address).cloned().collect();
        if let Some(nodes) = attempt(text, &others, rules) {
            return nodes;
        }
    }
    // Discards atoms inside other syntax, such as URLs.
    let stands = |atom: &&Atom| {
        matches!(
            &atom.kind,
            AtomKind::Inline(
                InlineKind::Expression { .. } | InlineKind::Icon { .. } | InlineKind::Button { .. }
            )
        )
    };
    let fewer: Vec<_> = atoms.iter().filter(stands).cloned().collect();
    attempt(text, &fewer, rules).or_else(|| attempt(text, &[], rules)).flatten()
}

/// Parses text with the given atoms. The outer `None` means that an atom is invalid at its position.
fn attempt(text: &str, atoms: &[Atom], rules: &mut Rules<'_>) -> Option<Option<Vec<Node>>> {
    let hidden = hide(text, atoms);
    let source = InlineSource::new(&hidden, text);
    let Some(events) = events(&source, rules.definitions) else { return Some(None) };
    let pairs = pairs(&events);
    let notes_before = rules.notes.mark();
    let mut reader = InlineReader {
        source: &source,
        atoms,
        next: 0,
        pairs,
        builder: InlineBuilder::default(),
        rules,
        image: None,
        skip: None,
    };
    for (index, (event, range)) in events.iter().enumerate() {
        reader.event(index, event, range);
    }
    if reader.next < atoms.len() {
        reader.rules.notes.rewind(notes_before);
        return None;
    }
    let InlineReader { builder, rules, .. } = reader;
    let nodes = builder.finish();
    if nodes.is_none() {
        rules.notes.rewind(notes_before);
    }
    Some(nodes)
}

/// Masks the atoms of `text`.
fn hide(text: &str, atoms: &[Atom]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for atom in atoms {
        out.push_str(&text[at..atom.range.start]);
        // A footnote reference begins and ends with punctuation, which matters to emphasis next to it.
        let mask = if matches!(atom.kind, AtomKind::Note(_)) { '.' } else { 'x' };
        out.extend(std::iter::repeat_n(mask, atom.range.len()));
        at = atom.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The Markdown input, and the offset of the text in it.
struct InlineSource<'t> {
    /// The Markdown input. A single line is passed as a heading, so that it cannot be another kind of block.
    markdown: String,
    /// The offset of the text in the input.
    offset: usize,
    text: &'t str,
}

impl<'t> InlineSource<'t> {
    fn new(hidden: &str, text: &'t str) -> Self {
        if hidden.contains('\n') {
            return Self { markdown: hidden.to_owned(), offset: 0, text };
        }
        Self { markdown: format!("# {hidden} #"), offset: 2, text }
    }
}

type Events<'e> = Vec<(Event<'e>, Range<usize>)>;

/// Returns the events within the only block.
fn events<'e>(source: &'e InlineSource<'_>, definitions: &LinkDefinitions) -> Option<Events<'e>> {
    let mut resolve = |link: pulldown_cmark::BrokenLink<'_>| {
        let (destination, title) = definitions.get(&label(&link.reference))?;
        Some((CowStr::from(destination.clone()), CowStr::from(title.clone())))
    };
    let mut events = Parser::new_with_broken_link_callback(
        &source.markdown,
        Options::ENABLE_STRIKETHROUGH,
        Some(&mut resolve),
    )
    .into_offset_iter();
    let Some((first, range)) = events.next() else {
        return source.text.trim().is_empty().then(Vec::new);
    };
    let trimmed = source.markdown.trim_end_matches([' ', '\t', '\n']);
    let is_whole = range.start <= source.markdown.len() - source.markdown.trim_start().len()
        && range.end >= trimmed.len();
    if !is_whole || !matches!(first, Event::Start(Tag::Paragraph | Tag::Heading { .. })) {
        return None;
    }
    // The underline of a heading cannot be a line of text.
    if source.offset == 0 && matches!(first, Event::Start(Tag::Heading { .. })) {
        return None;
    }
    let mut out = Vec::new();
    for (event, range) in events {
        match event {
            Event::End(TagEnd::Paragraph | TagEnd::Heading(_)) => {}
            Event::Start(
                Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. },
            )
            | Event::End(
                TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image,
            )
            | Event::Text(_)
            | Event::Code(_)
            | Event::InlineHtml(_)
            | Event::SoftBreak
            | Event::HardBreak => out.push((
                event,
                range.start - source.offset..range.end.saturating_sub(source.offset).min(source.text.len()),
            )),
            _ => return None,
        }
    }
    Some(out)
}

/// Returns the pairs of HTML tags: the index of each opening tag mapped to that of its closing tag, and vice versa.
fn pairs(events: &Events<'_>) -> HashMap<usize, usize> {
    let mut pairs = HashMap::new();
    let mut open: Vec<(usize, String, usize)> = Vec::new();
    let mut depth = 0;
    for (index, (event, _)) in events.iter().enumerate() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => {
                depth -= 1;
                while open.pop_if(|(_, _, own)| *own > depth).is_some() {}
            }
            Event::InlineHtml(tag) => match html::tag_at(tag) {
                Some((TagToken::Open(tag), _)) if is_paired(&tag) => open.push((index, tag.name, depth)),
                Some((TagToken::Close(name), _)) => {
                    if let Some((start, _, _)) =
                        open.pop_if(|(_, own, own_depth)| *own == name && *own_depth == depth)
                    {
                        pairs.insert(start, index);
                        pairs.insert(index, start);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
    pairs
}

fn is_paired(open: &OpeningTag<'_>) -> bool {
    !open.is_void && (mark(open).is_some() || is_link(open))
}

/// Returns `true` if a tag is a link without other attributes.
pub(super) fn is_link(open: &OpeningTag<'_>) -> bool {
    open.name == "a" && open.has("href") && open.has_only(&["href", "title"])
}

/// Returns the mark of an HTML tag.
pub(super) fn mark(open: &OpeningTag<'_>) -> Option<Mark> {
    if open.name == "mark" {
        let colors = open.get("style").filter(|_| open.has_only(&["style"]))?;
        return colors_of(colors).map(Mark::from);
    }
    if !open.has_only(&[]) {
        return None;
    }
    let (kind, spelling) = match open.name.as_str() {
        "kbd" => return Some(MarkKind::Keyboard.into()),
        "sup" => return Some(MarkKind::Superscript.into()),
        "sub" => return Some(MarkKind::Subscript.into()),
        "strong" => (MarkKind::Bold, '<'),
        "b" => (MarkKind::Bold, 'b'),
        "em" => (MarkKind::Italic, '<'),
        "i" => (MarkKind::Italic, 'i'),
        "del" => (MarkKind::Strikethrough, '<'),
        "s" => (MarkKind::Strikethrough, 's'),
        "code" => (MarkKind::Code, '<'),
        _ => return None,
    };
    Some(Mark { spelling: Some(spelling), ..kind.into() })
}

fn colors_of(style: &str) -> Option<MarkKind> {
    let (mut text, mut background) = (MarkColor::Default, MarkColor::Default);
    for part in style.split(';').filter(|part| !part.trim().is_empty()) {
        let (name, value) = part.split_once(':')?;
        let color = color(value.trim())?;
        match name.trim() {
            "color" => text = color,
            "background-color" => background = color,
            _ => return None,
        }
    }
    Some(MarkKind::Color { text, background })
}

fn color(name: &str) -> Option<MarkColor> {
    serde_json::from_value(name.into()).ok()
}

struct InlineReader<'r, 't, 'n> {
    source: &'r InlineSource<'t>,
    atoms: &'r [Atom],
    /// The index of the next atom.
    next: usize,
    pairs: HashMap<usize, usize>,
    builder: InlineBuilder,
    rules: &'r mut Rules<'n>,
    /// The alternative text of the open image, and the nesting depth of images in it.
    image: Option<(String, usize)>,
    /// The index of the closing tag that ends the skipped events.
    skip: Option<usize>,
}

impl InlineReader<'_, '_, '_> {
    fn event(&mut self, index: usize, event: &Event<'_>, range: &Range<usize>) {
        if let Some((alt, depth)) = &mut self.image {
            match event {
                Event::Start(Tag::Image { .. }) => *depth += 1,
                Event::End(TagEnd::Image) if *depth > 0 => *depth -= 1,
                Event::End(TagEnd::Image) => self.end_image(range),
                Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => alt.push_str(text),
                Event::SoftBreak | Event::HardBreak => alt.push(' '),
                _ => {}
            }
            return;
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(*tag, range),
            Event::Text(text) => self.text(text, range),
            Event::Code(text) => self.code(text, range),
            Event::InlineHtml(tag) => self.html(index, tag, range),
            Event::SoftBreak => self.builder.text(" ", self.source.text, range),
            Event::HardBreak => self.builder.text("\n", self.source.text, range),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: &Range<usize>) {
        let first = self.source.text[range.start..].chars().next();
        let (kind, usual, length) = match tag {
            Tag::Emphasis => (MarkKind::Italic, '_', 1),
            Tag::Strong => (MarkKind::Bold, '*', 2),
            Tag::Strikethrough => {
                let is_long = self.source.text[range.start..].starts_with("~~");
                let mark = Mark { spelling: (!is_long).then_some('~'), ..MarkKind::Strikethrough.into() };
                return self.builder.open_mark(mark, range.start + if is_long { 2 } else { 1 });
            }
            Tag::Link { link_type, dest_url, title, id } => {
                return self.start_link(*link_type, dest_url, title, id, range);
            }
            Tag::Image { .. } => {
                self.image = Some((String::new(), 0));
                return self.builder.begin_image(tag, range);
            }
            _ => return,
        };
        let spelling = first.filter(|first| *first != usual);
        self.builder.open_mark(Mark { spelling, ..kind.into() }, range.start + length);
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.builder.close_mark(range.end),
            TagEnd::Link => {
                let text = self.source.text;
                self.builder.close_link(text, range);
            }
            _ => {}
        }
    }

    fn start_link(&mut self, kind: LinkType, destination: &str, title: &str, id: &str, range: &Range<usize>) {
        let url =
            if kind == LinkType::Email { format!("mailto:{destination}") } else { destination.to_owned() };
        let spelling = match kind {
            LinkType::Autolink | LinkType::Email => "<>".to_owned(),
            LinkType::ReferenceUnknown | LinkType::Reference => format!("[{id}]"),
            LinkType::CollapsedUnknown | LinkType::Collapsed => "[]".to_owned(),
            LinkType::ShortcutUnknown | LinkType::Shortcut => "!".to_owned(),
            _ => String::new(),
        };
        let link = InlineKind::Link {
            target: targets::read(&url),
            title: Some(title.to_owned()).filter(|title| !title.is_empty()),
        };
        self.builder.open_link(link, spelling, range.start + 1);
    }

    fn end_image(&mut self, range: &Range<usize>) {
        let Some((alt, _)) = self.image.take() else { return };
        self.builder.end_image(alt, self.source.text, range);
    }

    /// Adds text, with the atoms masked in it.
    fn text(&mut self, text: &str, range: &Range<usize>) {
        let is_plain =
            self.source.markdown.get(range.start + self.source.offset..range.end + self.source.offset)
                == Some(text);
        if !is_plain {
            return self.builder.text(text, self.source.text, range);
        }
        let mut at = range.start;
        while let Some(atom) =
            self.atoms.get(self.next).filter(|atom| atom.range.start >= at && atom.range.end <= range.end)
        {
            self.next += 1;
            let before = at..atom.range.start;
            self.builder.text(&self.source.text[before.clone()], self.source.text, &before);
            match &atom.kind {
                AtomKind::Text | AtomKind::Address => {
                    self.builder.text(&self.source.text[atom.range.clone()], self.source.text, &atom.range);
                }
                AtomKind::Inline(kind) => self.atom(kind, &atom.range),
                AtomKind::Note(label) => self.note(label, &atom.range),
            }
            at = atom.range.end;
        }
        let rest = at..range.end;
        self.builder.text(&self.source.text[rest.clone()], self.source.text, &rest);
    }

    fn atom(&mut self, kind: &InlineKind, range: &Range<usize>) {
        let inline = Inline::new(kind.clone(), Vec::new());
        self.builder.void(inline, self.source.text, range);
    }

    fn note(&mut self, label: &str, range: &Range<usize>) {
        let count = self.rules.notes.count();
        match self.rules.notes.take(label) {
            Some(body) => {
                let number = (count + 1).to_string();
                let spelling = (number != label).then(|| label.to_owned());
                self.builder.annotation(body, spelling, range.end);
            }
            None => self.builder.text(&self.source.text[range.clone()], self.source.text, range),
        }
    }

    fn code(&mut self, text: &str, range: &Range<usize>) {
        let source = &self.source.text[range.clone()];
        self.builder.code(text, source, range.end);
    }

    fn html(&mut self, index: usize, tag: &str, range: &Range<usize>) {
        if self.skip.take_if(|until| *until == index).is_some() {
            return;
        }
        let known = html::tag_at(tag).filter(|(_, length)| *length == tag.len());
        match (known, self.pairs.get(&index)) {
            (Some((TagToken::Open(open), _)), _) if open.name == "br" && open.has_only(&[]) => {
                self.builder.text("\n", self.source.text, range);
            }
            (Some((TagToken::Open(open), _)), Some(_)) => match mark(&open) {
                Some(mark) => self.builder.open_mark(mark, range.end),
                None => {
                    let link = InlineKind::Link {
                        target: targets::read(open.get("href").unwrap_or_default()),
                        title: open.get("title").map(str::to_owned),
                    };
                    self.builder.open_link(link, "a".to_owned(), range.end);
                }
            },
            (Some((TagToken::Close(name), _)), Some(_)) => {
                if name == "a" {
                    self.builder.close_html_link(range.end);
                } else {
                    self.builder.close_mark(range.end);
                }
            }
            _ => self.builder.text(tag, self.source.text, range),
        }
    }
}
