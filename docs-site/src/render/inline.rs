//! Rendering of text and inline elements.

use docs_core::{
    content::document::{self, mention_label},
    model::{
        Block, BlockKind, ButtonKind, ContentRef, Document, ImageData, Inline, InlineImageSize, InlineKind,
        Leaf, MarkColor, MarkKind, Node,
    },
};
use maud::{Markup, html};

use super::{
    NodePosition, Renderer,
    figure::{Dimensions, width_class},
    math,
    plain::plain_text,
};
use crate::{emoji::emoji, html::Html};

impl Renderer<'_> {
    /// Renders the text of a paragraph, heading or cell.
    pub(super) fn inlines(&self, nodes: &[Node], at: NodePosition) -> Markup {
        Html::build_markup(|html| self.write_inlines(html, nodes, at))
    }

    /// Writes the text of a paragraph, heading or cell.
    pub(super) fn write_inlines(&self, html: &mut Html, nodes: &[Node], at: NodePosition) {
        if at.is_too_deep() {
            html.text(&plain_text(nodes));
            return;
        }
        for node in nodes {
            match node {
                Node::Text(text) => text.leaves.iter().for_each(|leaf| write_leaf(html, leaf)),
                Node::Inline(inline) => self.write_inline(html, inline, at.child()),
                // Blocks do not normally occur within text. If one does, its text is shown.
                Node::Block(block) => self.write_inlines(html, &block.nodes, at.child()),
            }
        }
    }

    pub(super) fn write_inline(&self, html: &mut Html, inline: &Inline, at: NodePosition) {
        if self.gaps.is_some_and(|gaps| gaps.leave_inline(html, inline, at)) {
            return;
        }
        match &inline.kind {
            InlineKind::Link { target, title } => {
                self.write_link(html, target, title.as_deref(), &inline.nodes, at);
            }
            _ => html.markup(&self.inline(inline, at)),
        }
    }

    fn write_link(
        &self,
        html: &mut Html,
        target: &ContentRef,
        title: Option<&str>,
        nodes: &[Node],
        at: NodePosition,
    ) {
        let to = self.target(target);
        let title = title.filter(|title| !title.is_empty());
        if title.is_some() {
            html.tags("<span").attribute_if(" title=\"", title).tags(">");
        }
        self.write_link_around(html, &to, None, |html| match nodes.is_empty() {
            true => {
                html.text(to.name.as_deref().unwrap_or_default());
            }
            false => self.write_inlines(html, nodes, at),
        });
        if title.is_some() {
            html.tags("</span>");
        }
    }

    /// Renders an inline element.
    fn inline(&self, inline: &Inline, at: NodePosition) -> Markup {
        match &inline.kind {
            InlineKind::Link { target, title } => Html::build_markup(|html| {
                self.write_link(html, target, title.as_deref(), &inline.nodes, at);
            }),
            InlineKind::Mention { target } => {
                let to = self.target(target);
                let name = mention_label(inline).or_else(|| to.name.clone());
                let name = name.unwrap_or_else(|| mention(target).to_owned());
                self.link(&to, Some("mention"), html! { (name) })
            }
            InlineKind::Emoji { code } => html! { span.emoji { (emoji(code)) } },
            // Icons require a font that pages do not load.
            InlineKind::Icon { .. } => Markup::default(),
            InlineKind::InlineImage { target, dark, alt, caption, size, width, height } => {
                let alt = alt.as_deref().or(caption.as_deref()).unwrap_or_default();
                let (width, height) = (width.as_deref(), height.as_deref());
                let class = match (size, width.map(width_class)) {
                    (Some(InlineImageSize::Line), _) => "in-line".to_owned(),
                    (_, Some(width)) if !width.is_empty() => format!("in-text {width}"),
                    _ => "in-text".to_owned(),
                };
                self.pictures(target, dark.as_deref(), alt, &class, Dimensions { width, height })
            }
            InlineKind::InlineMath { formula } => math::inline(formula, &self.counter.formulas),
            InlineKind::Expression { expression } => html! { code.expression { "{{ " (expression) " }}" } },
            InlineKind::Annotation {} => self.annotation(inline, at),
            InlineKind::Button { label, kind, target, .. } => {
                let class = match kind {
                    ButtonKind::Primary => "button primary",
                    ButtonKind::Secondary => "button",
                };
                match target {
                    Some(target) => self.link(&self.target(target), Some(class), html! { (label) }),
                    None => html! { span class=(class) aria-disabled="true" { (label) } },
                }
            }
        }
    }

    /// Renders annotated text. The annotation opens next to it.
    fn annotation(&self, inline: &Inline, at: NodePosition) -> Markup {
        let id = format!("note-{}", self.counter.next_group());
        html! {
            span.annotation {
                a href={ "#" (id) } aria-describedby=(id) { (self.inlines(&inline.nodes, at)) }
                span.note id=(id) role="note" {
                    @for block in inline.fragments().iter().flat_map(|fragment| &fragment.nodes) {
                        (self.note_part(block, at.child()))
                    }
                }
            }
        }
    }

    /// Renders a block of an annotation. HTML only permits phrasing content there, so blocks are rendered as spans.
    fn note_part(&self, block: &Block, at: NodePosition) -> Markup {
        let children = || block.nodes.iter().filter_map(Node::as_block);
        match &block.kind {
            BlockKind::Code { .. } => html! {
                span.part { code { @for (number, line) in children().enumerate() {
                    @if number > 0 { br; }
                    (plain_text(&line.nodes))
                } } }
            },
            BlockKind::Images { .. } => html! {
                @for image in children() { @if let BlockKind::Image(data) = &image.kind {
                    span.part { (self.note_image(data)) }
                } }
            },
            BlockKind::Math { formula } => {
                html! { span.part { (math::inline(formula, &self.counter.formulas)) } }
            }
            _ if at.is_too_deep() || block.nodes.is_empty() => html! {
                // The text of a table has a line for each row.
                @for line in document::plain_text(&Document::new(vec![block.clone()])).lines() {
                    span.part { (line) }
                }
            },
            _ if children().next().is_some() => html! {
                @for child in children() { (self.note_part(child, at.child())) }
            },
            _ => html! { span.part { (self.inlines(&block.nodes, at)) } },
        }
    }

    fn note_image(&self, image: &ImageData) -> Markup {
        let alt = image.alt.as_deref().unwrap_or_default();
        let size = Dimensions { width: image.width.as_ref(), height: image.height.as_ref() };
        self.pictures(&image.target, image.dark.as_ref(), alt, "in-text", size)
    }
}

/// Returns the placeholder for a target without a visible name.
const fn mention(target: &ContentRef) -> &'static str {
    match target {
        ContentRef::User { .. } => "@…",
        _ => "…",
    }
}

/// Writes a text leaf with its marks.
fn write_leaf(html: &mut Html, leaf: &Leaf) {
    write_marked(html, leaf, |html| {
        html.lines(&leaf.text);
    });
}

/// Writes content within the marks of a text leaf. The first mark is the outermost.
pub(super) fn write_marked(html: &mut Html, leaf: &Leaf, inner: impl FnOnce(&mut Html)) {
    for mark in &leaf.marks {
        match mark.kind {
            MarkKind::Color { text, background } => html
                .tags("<mark class=\"fg-")
                .tags(color(text))
                .tags(" bg-")
                .tags(color(background))
                .tags("\">"),
            kind => html.tags(tags(kind).0),
        };
    }
    inner(html);
    for mark in leaf.marks.iter().rev() {
        html.tags(tags(mark.kind).1);
    }
}

/// Returns the tags of a mark.
const fn tags(kind: MarkKind) -> (&'static str, &'static str) {
    match kind {
        MarkKind::Bold => ("<strong>", "</strong>"),
        MarkKind::Italic => ("<em>", "</em>"),
        MarkKind::Strikethrough => ("<s>", "</s>"),
        MarkKind::Code => ("<code>", "</code>"),
        MarkKind::Keyboard => ("<kbd>", "</kbd>"),
        MarkKind::Superscript => ("<sup>", "</sup>"),
        MarkKind::Subscript => ("<sub>", "</sub>"),
        MarkKind::Color { .. } => ("<mark>", "</mark>"),
    }
}

/// Returns the suffix of a color class.
const fn color(color: MarkColor) -> &'static str {
    match color {
        MarkColor::Default => "default",
        MarkColor::Green => "green",
        MarkColor::Blue => "blue",
        MarkColor::Red => "red",
        MarkColor::Orange => "orange",
        MarkColor::Yellow => "yellow",
        MarkColor::Purple => "purple",
        MarkColor::Pink => "pink",
        MarkColor::Violet => "violet",
        MarkColor::Cyan => "cyan",
        MarkColor::Primary => "primary",
        MarkColor::Tint => "tint",
        MarkColor::Info => "info",
        MarkColor::Success => "success",
        MarkColor::Warning => "warning",
        MarkColor::Danger => "danger",
    }
}
