//! Text and what stands within it.

use docs_core::model::{
    BlockKind, ButtonKind, ContentRef, Inline, InlineImageSize, InlineKind, Leaf, MarkColor, MarkKind, Node,
};
use maud::{Markup, html};

use super::{
    At, Renderer, math,
    plain::{emoji, plain},
};

impl Renderer<'_> {
    /// The text of a paragraph, heading or cell.
    pub(super) fn inlines(&self, nodes: &[Node], at: At) -> Markup {
        if at.is_deep() {
            return html! { (plain(nodes)) };
        }
        html! {
            @for node in nodes {
                @match node {
                    Node::Text(text) => @for leaf in &text.leaves { (leaf_markup(leaf)) },
                    Node::Inline(inline) => (self.inline(inline, at.inner())),
                    // Blocks do not stand within text; should one, its text does.
                    Node::Block(block) => (self.inlines(&block.nodes, at.inner())),
                }
            }
        }
    }

    fn inline(&self, inline: &Inline, at: At) -> Markup {
        match &inline.kind {
            InlineKind::Link { target, title } => {
                let to = self.addresses.target(target);
                let label = if inline.nodes.is_empty() {
                    html! { (to.name.as_deref().unwrap_or_default()) }
                } else {
                    self.inlines(&inline.nodes, at)
                };
                match title.as_deref().filter(|title| !title.is_empty()) {
                    Some(title) => html! { span title=(title) { (self.linked(&to, None, label)) } },
                    None => self.linked(&to, None, label),
                }
            }
            InlineKind::Mention { target } => {
                let to = self.addresses.target(target);
                let name = to.name.clone().unwrap_or_else(|| mention(target).to_owned());
                self.linked(&to, Some("mention"), html! { (name) })
            }
            InlineKind::Emoji { code } => html! { span.emoji { (emoji(code)) } },
            // Icons are names of a font that pages do not load.
            InlineKind::Icon { .. } => Markup::default(),
            InlineKind::InlineImage { target, dark, alt, caption, size } => {
                let alt = alt.as_deref().or(caption.as_deref()).unwrap_or_default();
                let class = if *size == Some(InlineImageSize::Line) { "in-line" } else { "in-text" };
                self.pictures((target, dark.as_deref()), alt, class)
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
                    Some(target) => {
                        self.linked(&self.addresses.target(target), Some(class), html! { (label) })
                    }
                    None => html! { span class=(class) aria-disabled="true" { (label) } },
                }
            }
        }
    }

    /// A word with a note, which opens beside it.
    fn annotation(&self, inline: &Inline, at: At) -> Markup {
        let id = format!("note-{}", self.counter.next_group());
        html! {
            span.annotation {
                a href={ "#" (id) } aria-describedby=(id) { (self.inlines(&inline.nodes, at)) }
                span.note id=(id) role="note" {
                    // Within text only text may stand, so blocks of the note are drawn as such.
                    @for block in inline.fragments().iter().flat_map(|fragment| &fragment.nodes) {
                        @match &block.kind {
                            BlockKind::Paragraph { .. } => span.part { (self.inlines(&block.nodes, at.inner())) },
                            _ => span.part { (plain(&block.nodes)) },
                        }
                    }
                }
            }
        }
    }
}

/// What stands for something that has no name here.
const fn mention(target: &ContentRef) -> &'static str {
    match target {
        ContentRef::User { .. } => "@…",
        _ => "…",
    }
}

/// A run of text within its marks.
fn leaf_markup(leaf: &Leaf) -> Markup {
    let text = html! {
        @for (at, line) in leaf.text.split('\n').enumerate() {
            @if at > 0 { br; }
            (line)
        }
    };
    marked(text, leaf)
}

/// Something within the marks of a run of text.
pub(super) fn marked(mut out: Markup, leaf: &Leaf) -> Markup {
    for mark in leaf.marks.iter().rev() {
        out = match mark.kind {
            MarkKind::Bold => html! { strong { (out) } },
            MarkKind::Italic => html! { em { (out) } },
            MarkKind::Strikethrough => html! { s { (out) } },
            MarkKind::Code => html! { code { (out) } },
            MarkKind::Keyboard => html! { kbd { (out) } },
            MarkKind::Superscript => html! { sup { (out) } },
            MarkKind::Subscript => html! { sub { (out) } },
            MarkKind::Color { text, background } => {
                let class = format!("fg-{} bg-{}", color(text), color(background));
                html! { mark class=(class) { (out) } }
            }
        };
    }
    out
}

/// The end of a class that has a colour.
const fn color(color: MarkColor) -> &'static str {
    match color {
        MarkColor::Default => "default",
        MarkColor::Green => "green",
        MarkColor::Blue => "blue",
        MarkColor::Red => "red",
        MarkColor::Orange => "orange",
        MarkColor::Yellow => "yellow",
        MarkColor::Purple => "purple",
        MarkColor::Primary => "primary",
        MarkColor::Info => "info",
        MarkColor::Success => "success",
        MarkColor::Warning => "warning",
        MarkColor::Danger => "danger",
    }
}
