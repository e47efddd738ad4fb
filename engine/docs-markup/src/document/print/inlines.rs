//! Printing of inline nodes as Markdown, or as HTML in cells and captions.

use std::{collections::HashSet, sync::Arc};

use docs_model::{Block, Inline, InlineKind, Leaf, Mark, MarkColor, MarkKind, Node};

use super::super::{
    atoms,
    builder::NOTE_ANCHOR,
    emoji_names,
    escape::{self, EscapeContext, InlineContext},
    html,
    inlines::{self, LinkDefinitions, Rules},
    normalize,
    notes::{LabelLog, Notes},
    opening::Opening,
    rich, spelling, targets,
};

/// The notation of printed text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum Notation {
    /// The spelling of the nodes.
    Spelled,
    Canonical,
    /// The canonical notation, with the original labels of footnotes.
    Labelled,
    /// Marks as HTML, and special characters as character references.
    Guarded,
}

/// The footnote labels and link definitions during the printing of a document.
#[derive(Default, Clone)]
pub(in super::super) struct Labels {
    /// The assigned footnotes in order.
    pub(in super::super) notes: LabelLog,
    /// The labels of all footnotes of the document.
    pub(in super::super) known: Arc<HashSet<String>>,
    /// The link definitions that are preserved in the document.
    pub(in super::super) definitions: Arc<LinkDefinitions>,
}

impl Labels {
    /// Creates the labels for a document with these definitions and footnotes.
    pub(in super::super) fn from_document(definitions: LinkDefinitions, known: HashSet<String>) -> Self {
        Self { definitions: Arc::new(definitions), known: Arc::new(known), ..Self::default() }
    }

    /// Returns a copy where the labels in `taken` are already consumed.
    pub(in super::super) fn with_notes(&self, taken: &LabelLog) -> Self {
        Self { notes: taken.clone(), ..self.clone() }
    }

    /// Assigns labels to all annotations of a block, in text order.
    pub(in super::super) fn number(&mut self, block: &Block) {
        spelling::each_inline(block, &mut |inline| {
            if inline.kind == (InlineKind::Annotation {}) {
                let (_, wanted) = split_outer_marks(inline.spelling.as_deref());
                self.next(Some(wanted).filter(|label| !label.is_empty()), &[]);
            }
        });
    }

    /// Returns the assigned labels.
    pub(in super::super) fn into_assigned(self) -> HashSet<String> {
        self.notes.names()
    }

    /// Assigns the next label: the requested one if it is valid and unused, otherwise a number.
    fn next(&mut self, wanted: Option<&str>, body: &[Block]) -> String {
        let fits = |label: &&str| {
            !label.is_empty()
                && !label.contains(|c: char| {
                    c.is_whitespace() || matches!(c, '[' | ']' | '\\' | '`' | '|' | '<' | '&' | '^')
                })
        };
        let wanted = wanted.filter(fits).filter(|label| !self.notes.has(label)).map(str::to_owned);
        let label = wanted.unwrap_or_else(|| {
            let from = self.notes.len() + 1;
            (from..).map(|number| number.to_string()).find(|label| !self.notes.has(label)).unwrap_or_default()
        });
        self.notes.push(&label, body.into());
        label
    }
}

/// Serializes inline nodes so that parsing returns the same nodes, or returns `None` if no such text exists.
pub(in super::super) fn print(nodes: &[Node], context: InlineContext, labels: &mut Labels) -> Option<String> {
    let wanted = normalize::inlines(nodes);
    for mode in [Notation::Spelled, Notation::Canonical, Notation::Guarded] {
        let mut attempt = labels.clone();
        let Some(written) = write(nodes, mode, context, &mut attempt) else { continue };
        if reads_as(&written, context, &wanted, labels) {
            *labels = attempt;
            return Some(written);
        }
    }
    None
}

fn reads_as(written: &str, context: InlineContext, wanted: &[Node], labels: &Labels) -> bool {
    let mut notes = Notes::from_labels(&labels.known, &labels.notes);
    let mut rules = Rules { definitions: &labels.definitions, notes: &mut notes };
    let read = match context {
        InlineContext::Html => html::tree(written).and_then(|nodes| rich::inlines(&nodes, &mut rules)),
        InlineContext::Lines | InlineContext::Line => inlines::read(written, &mut rules),
    };
    read.is_some_and(|nodes| normalize::inlines(&nodes) == wanted)
}

/// Serializes inline nodes without checking that parsing returns the same nodes.
pub(in super::super) fn write(
    nodes: &[Node],
    mode: Notation,
    context: InlineContext,
    labels: &mut Labels,
) -> Option<String> {
    let mut writer = InlineWriter {
        out: String::new(),
        mode,
        context,
        open: Vec::new(),
        labels,
        in_label: false,
        skip: 0,
    };
    writer.nodes(nodes)?;
    Some(writer.out)
}

struct InlineWriter<'l> {
    out: String,
    mode: Notation,
    context: InlineContext,
    /// The open marks, each with its closing delimiter.
    open: Vec<(Mark, &'static str)>,
    labels: &'l mut Labels,
    in_label: bool,
    /// The number of marks outside the current link.
    skip: usize,
}

/// Maximum number of items that are inspected to find the end of a mark.
const MAX_AHEAD: usize = 64;

/// A leaf or an inline element, in text order.
enum InlineItem<'n> {
    Leaf(&'n Leaf),
    Inline(&'n Inline, &'n [Mark]),
}

impl InlineItem<'_> {
    fn marks(&self, skip: usize) -> Vec<Mark> {
        match self {
            Self::Leaf(leaf) => leaf.marks.iter().skip(skip).filter(|mark| !is_sign(mark)).copied().collect(),
            Self::Inline(_, marks) => marks.iter().skip(skip).copied().collect(),
        }
    }

    fn first(&self, mode: Notation) -> Option<char> {
        match self {
            Self::Leaf(leaf) if leaf.marks.iter().any(is_sign) => Some('`'),
            Self::Leaf(leaf) => leaf
                .spelling
                .as_ref()
                .filter(|_| mode == Notation::Spelled)
                .unwrap_or(&leaf.text)
                .chars()
                .next(),
            Self::Inline(..) => None,
        }
    }
}

/// Returns `true` for code, whose delimiters are inside those of all other marks.
fn is_sign(mark: &Mark) -> bool {
    mark.kind == MarkKind::Code && mark.spelling.is_none()
}

/// Splits a spelling into the number of marks around an element and the rest.
pub(in super::super) fn split_outer_marks(spelling: Option<&str>) -> (usize, &str) {
    let Some(rest) = spelling.and_then(|spelling| spelling.strip_prefix('^')) else {
        return (0, spelling.unwrap_or_default());
    };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (rest[..end].parse().unwrap_or_default(), &rest[end..])
}

impl InlineWriter<'_> {
    fn nodes(&mut self, nodes: &[Node]) -> Option<()> {
        let items = self.items(nodes)?;
        for (index, item) in items.iter().enumerate() {
            let wanted = item.marks(self.skip);
            let shared = self.open.iter().zip(&wanted).take_while(|((own, _), mark)| own == *mark).count();
            self.close(shared);
            for (depth, mark) in wanted.iter().enumerate().skip(shared) {
                let end = |item: &&InlineItem<'_>| item.marks(self.skip).get(depth) != Some(mark);
                let is_looked_at = mark.kind == MarkKind::Italic;
                let behind = items[index..].iter().filter(|_| is_looked_at).take(MAX_AHEAD).find(end);
                // An item that opens another mark begins with the delimiter of the mark, not with its text.
                let behind = behind.filter(|item| item.marks(self.skip).len() <= depth);
                self.open_mark(*mark, behind.and_then(|item| item.first(self.mode)));
            }
            let next = items.get(index + 1).and_then(|item| item.first(self.mode));
            match item {
                InlineItem::Leaf(leaf) => self.leaf(leaf, index == 0, index + 1 == items.len(), next)?,
                InlineItem::Inline(inline, _) => self.inline(inline)?,
            }
        }
        self.close(0);
        Some(())
    }

    fn items<'n>(&self, nodes: &'n [Node]) -> Option<Vec<InlineItem<'n>>> {
        let mut items: Vec<InlineItem<'n>> = Vec::new();
        for node in nodes {
            match node {
                Node::Block(_) => return None,
                Node::Text(text) => items.extend(text.leaves.iter().map(InlineItem::Leaf)),
                Node::Inline(inline) => {
                    let (count, _) = split_outer_marks(inline.spelling.as_deref());
                    let own = match (self.mode, inline.nodes.first()) {
                        (Notation::Spelled, Some(Node::Text(text))) => {
                            text.leaves.first().map_or(&[][..], |leaf| leaf.marks.as_slice())
                        }
                        (Notation::Spelled, _) => match items.last() {
                            Some(InlineItem::Leaf(leaf)) => leaf.marks.as_slice(),
                            Some(InlineItem::Inline(_, marks)) => marks,
                            None => &[],
                        },
                        _ => &[],
                    };
                    items.push(InlineItem::Inline(inline, &own[..count.min(own.len())]));
                }
            }
        }
        Some(items)
    }

    fn close(&mut self, keep: usize) {
        while self.open.len() > keep {
            if let Some((_, closing)) = self.open.pop() {
                self.out.push_str(closing);
            }
        }
    }

    fn open_mark(&mut self, mark: Mark, behind: Option<char>) {
        let html = self.mode == Notation::Guarded || self.context == InlineContext::Html;
        let spelling = mark.spelling.filter(|_| self.mode == Notation::Spelled);
        let is_within =
            self.out.ends_with(char::is_alphanumeric) || behind.is_some_and(char::is_alphanumeric);
        let (opening, closing) = match (mark.kind, spelling) {
            (MarkKind::Bold, Some('b')) => ("<b>", "</b>"),
            (MarkKind::Italic, Some('i')) => ("<i>", "</i>"),
            (MarkKind::Strikethrough, Some('s')) => ("<s>", "</s>"),
            (MarkKind::Bold, spelling) if html || spelling == Some('<') => ("<strong>", "</strong>"),
            (MarkKind::Italic, spelling) if html || spelling == Some('<') => ("<em>", "</em>"),
            (MarkKind::Strikethrough, spelling) if html || spelling == Some('<') => ("<del>", "</del>"),
            (MarkKind::Bold, Some('_')) => ("__", "__"),
            (MarkKind::Bold, _) => ("**", "**"),
            (MarkKind::Italic, Some('*')) => ("*", "*"),
            (MarkKind::Italic, _) if is_within => ("*", "*"),
            (MarkKind::Italic, _) => ("_", "_"),
            (MarkKind::Strikethrough, Some('~')) => ("~", "~"),
            (MarkKind::Strikethrough, _) => ("~~", "~~"),
            (MarkKind::Code, _) => ("<code>", "</code>"),
            (MarkKind::Keyboard, _) => ("<kbd>", "</kbd>"),
            (MarkKind::Superscript, _) => ("<sup>", "</sup>"),
            (MarkKind::Subscript, _) => ("<sub>", "</sub>"),
            (MarkKind::Color { text, background }, _) => {
                self.out.push_str(&color_tag(text, background));
                ("", "</mark>")
            }
        };
        self.out.push_str(opening);
        self.open.push((mark, closing));
    }

    fn leaf(&mut self, leaf: &Leaf, is_first: bool, is_last: bool, next: Option<char>) -> Option<()> {
        let code = leaf.marks.iter().skip(self.skip).any(is_sign);
        if let (Notation::Spelled, Some(spelling)) = (self.mode, &leaf.spelling) {
            let is_wrapped = code && self.context == InlineContext::Html;
            self.out.push_str(&if is_wrapped {
                format!("<code>{spelling}</code>")
            } else {
                spelling.clone()
            });
            return Some(());
        }
        if self.context == InlineContext::Html || self.mode == Notation::Guarded {
            self.out.push_str(if code { "<code>" } else { "" });
            match self.context {
                InlineContext::Html => escape::html_text(&mut self.out, &leaf.text),
                InlineContext::Lines | InlineContext::Line => escape::guarded(&mut self.out, &leaf.text),
            }
            self.out.push_str(if code { "</code>" } else { "" });
            return Some(());
        }
        if code {
            self.out.push_str(&code_span(&leaf.text));
            return Some(());
        }
        let is_inside = self.in_label || !self.open.is_empty();
        let around = EscapeContext {
            context: self.context,
            is_first: is_first && !is_inside,
            is_last: is_last && !self.in_label,
            in_label: self.in_label,
            next,
        };
        escape::text(&mut self.out, &leaf.text, around);
        Some(())
    }

    fn inline(&mut self, inline: &Inline) -> Option<()> {
        let (count, spelling) = split_outer_marks(
            inline
                .spelling
                .as_deref()
                .filter(|_| self.mode == Notation::Spelled || is_label(self.mode, inline)),
        );
        match &inline.kind {
            InlineKind::Link { target, title } => {
                self.link(inline, &targets::write(target), title.as_deref(), count, spelling)?;
            }
            InlineKind::Annotation {} => self.annotation(inline, count, spelling)?,
            _ if !spelling.is_empty() => self.out.push_str(spelling),
            InlineKind::Mention { target } => self.mention(&targets::write(target)),
            InlineKind::InlineMath { formula } => self.out.push_str(&format!("$${formula}$$")),
            InlineKind::Emoji { code } => match emoji_names::name(code) {
                Some(name) if self.context != InlineContext::Html => self.out.push_str(&format!(":{name}:")),
                _ => self.out.push_str(&atoms::write(&inline.kind)?),
            },
            kind => self.out.push_str(&atoms::write(kind)?),
        }
        Some(())
    }

    /// Prints the content of a link or an annotation.
    fn label(&mut self, inline: &Inline, count: usize) -> Option<String> {
        let mut writer = InlineWriter {
            out: String::new(),
            mode: self.mode,
            context: self.context,
            open: Vec::new(),
            labels: &mut *self.labels,
            in_label: true,
            skip: self.skip + count,
        };
        writer.nodes(&inline.nodes)?;
        Some(writer.out)
    }

    fn link(
        &mut self,
        inline: &Inline,
        url: &str,
        title: Option<&str>,
        count: usize,
        spelling: &str,
    ) -> Option<()> {
        let plain = match inline.nodes.as_slice() {
            [Node::Text(text)] if text.leaves.len() == 1 => Some(text.leaves[0].text.as_str()),
            _ => None,
        };
        let is_html = self.context == InlineContext::Html
            || self.mode == Notation::Guarded
            || spelling == "a"
            || spelling.starts_with("<a ");
        if is_html {
            let opening = Opening::html("a").value("href", url).optional("title", title).end();
            let is_tag = |own: &&str| {
                own.starts_with("<a ") && html::tag_at(own).is_some_and(|(_, length)| length == own.len())
            };
            let own = Some(spelling).filter(is_tag);
            let label = self.label(inline, count)?;
            self.out.push_str(&format!("{}{label}</a>", own.unwrap_or(&opening)));
            return Some(());
        }
        let is_bare = plain.is_some_and(|text| is_address(url, text))
            && title.is_none()
            && plain_marks(inline, self.skip + count);
        match (spelling, plain) {
            ("<>" | "", Some(text)) if is_bare && (spelling == "<>" || text == url) => {
                self.out.push_str(&format!("<{text}>"));
                return Some(());
            }
            _ => {}
        }
        let label = self.label(inline, count)?;
        let behind = match spelling {
            "!" => String::new(),
            written if written.starts_with(['[', '(']) => written.to_owned(),
            _ => {
                let mut written = match url {
                    "" if title.is_none() => "(".to_owned(),
                    url => format!("({}", escape::destination(url)),
                };
                if let Some(title) = title {
                    written.push_str(&format!(" {}", escape::title(title)));
                }
                written + ")"
            }
        };
        self.out.push_str(&format!("[{label}]{behind}"));
        Some(())
    }

    fn mention(&mut self, url: &str) {
        let name = targets::default_label(url);
        if self.context == InlineContext::Html || self.mode == Notation::Guarded {
            let opening = Opening::html("a").bare("data-mention").value("href", url).end();
            self.out.push_str(&format!("{opening}{}</a>", html::text(name)));
            return;
        }
        let mut label = String::new();
        let around = EscapeContext { in_label: true, ..EscapeContext::before(']', InlineContext::Line) };
        escape::text(&mut label, name, around);
        self.out.push_str(&format!("[{label}]({} \"mention\")", escape::destination(url)));
    }

    fn annotation(&mut self, inline: &Inline, count: usize, spelling: &str) -> Option<()> {
        let body = inline.fragments().iter().flat_map(|fragment| fragment.nodes.clone()).collect::<Vec<_>>();
        let before = self.out.ends_with(|c: char| !c.is_whitespace());
        let name = self.labels.next(Some(spelling).filter(|s| !s.is_empty()), &body);
        let label = self.label(inline, count)?;
        if self.context == InlineContext::Html {
            self.out.push_str(&format!(
                "<a data-footnote-ref href=\"#{NOTE_ANCHOR}{}\">{label}</a>",
                html::text(&name)
            ));
            return Some(());
        }
        let is_word = match inline.nodes.as_slice() {
            [] => !before,
            [Node::Text(text)] => {
                let is_word = |leaf: &Leaf| {
                    leaf.marks.len() <= self.skip + count
                        && !leaf.text.is_empty()
                        && !leaf.text.contains(char::is_whitespace)
                };
                text.leaves.len() == 1 && text.leaves.iter().all(is_word) && !before
            }
            _ => false,
        };
        if is_word && self.mode != Notation::Guarded {
            self.out.push_str(&format!("{label}[^{name}]"));
        } else {
            self.out.push_str(&format!("[{label}](#{NOTE_ANCHOR}{name})[^{name}]"));
        }
        Some(())
    }
}

/// Returns `true` if the spelling of an element is the label of its footnote. The label is preserved.
fn is_label(mode: Notation, inline: &Inline) -> bool {
    mode == Notation::Labelled && inline.kind == (InlineKind::Annotation {})
}

fn plain_marks(inline: &Inline, skip: usize) -> bool {
    inline.nodes.iter().all(|node| match node {
        Node::Text(text) => text.leaves.iter().all(|leaf| leaf.marks.len() <= skip),
        _ => false,
    })
}

/// Returns `true` if text in angle brackets is an autolink.
fn is_address(url: &str, text: &str) -> bool {
    let is_written = !text.is_empty()
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>'));
    let has_scheme = text.split_once(':').is_some_and(|(scheme, _)| {
        (2..=32).contains(&scheme.len())
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
    });
    is_written && ((has_scheme && text == url) || url.strip_prefix("mailto:") == Some(text))
}

/// Prints a code span with a delimiter length that does not occur in the text.
fn code_span(text: &str) -> String {
    let mut longest = HashSet::new();
    for run in text.split(|c| c != '`').filter(|run| !run.is_empty()) {
        longest.insert(run.len());
    }
    let length = (1..).find(|length| !longest.contains(length)).unwrap_or(1);
    let marks = "`".repeat(length);
    let has_space = text.starts_with(' ') && text.ends_with(' ') && !text.trim().is_empty();
    let pad = if text.starts_with('`') || text.ends_with('`') || has_space { " " } else { "" };
    format!("{marks}{pad}{text}{pad}{marks}")
}

fn color_tag(text: MarkColor, background: MarkColor) -> String {
    let mut style = String::new();
    for (name, color) in [("color", text), ("background-color", background)] {
        if color != MarkColor::Default
            && let Ok(serde_json::Value::String(value)) = serde_json::to_value(color)
        {
            style.push_str(&format!("{name}:{value};"));
        }
    }
    format!("<mark style=\"{style}\">")
}

/// Prints text between HTML tags. The footnotes in `taken` are already consumed.
pub(in super::super) fn rich(nodes: &[Node], taken: &LabelLog) -> Option<String> {
    let mut labels = Labels::default().with_notes(taken);
    write(nodes, Notation::Canonical, InlineContext::Html, &mut labels)
}

/// Prints the title of a column, which is text without marks.
pub(in super::super) fn title(text: &str, context: InlineContext) -> Option<String> {
    let nodes = [Node::plain(text)];
    write(&nodes, Notation::Canonical, context, &mut Labels::default())
}
