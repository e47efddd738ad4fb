//! Blocks.

use docs_core::model::{
    Block, BlockKind, CodeOverflow, ContentRef, HeadingData, HintStyle, IntegrationData, Node, SpaceId,
    TextAlign, VerticalAlign,
};
use maud::{Markup, html};

use super::{
    At, Renderer,
    code::CodeLook,
    figure::{Gallery, width_class},
    math,
    plain::plain,
};

impl Renderer<'_> {
    /// Blocks, one after the other.
    pub(super) fn blocks(&self, blocks: &[Block], at: At) -> Markup {
        html! { @for block in blocks { (self.block(block, at)) } }
    }

    /// What a block holds. Text that stands directly in it is a paragraph.
    fn held(&self, nodes: &[Node], at: At) -> Markup {
        let mut parts = Vec::new();
        let mut rest = nodes;
        while let Some(first) = rest.first() {
            if let Node::Block(block) = first {
                parts.push(self.block(block, at));
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|node| matches!(node, Node::Block(_))).unwrap_or(rest.len());
            parts.push(html! { p { (self.inlines(&rest[..end], at)) } });
            rest = &rest[end..];
        }
        html! { @for part in parts { (part) } }
    }

    /// The texts that are part of a block's data, such as a caption; `None` where there are none.
    pub(super) fn fragments(&self, block: &Block, at: At) -> Option<Markup> {
        let blocks = || block.fragments().iter().flat_map(|fragment| &fragment.nodes);
        let has_text = blocks().any(|block| !plain(&block.nodes).trim().is_empty() || block.is_void);
        has_text.then(|| html! { @for block in blocks() { (self.block(block, at)) } })
    }

    /// A block. A new kind has to be drawn here before this compiles.
    #[expect(clippy::too_many_lines, reason = "a table: a kind of block, and how it is drawn")]
    fn block(&self, block: &Block, at: At) -> Markup {
        if at.is_deep() {
            return html! { p { (plain(&block.nodes)) } };
        }
        let at = at.inner();
        match &block.kind {
            BlockKind::Paragraph { align } => html! {
                p class=[aligned(*align)] { (self.inlines(&block.nodes, at)) }
            },
            BlockKind::Heading1(data) => self.heading(block, data, 2, at),
            BlockKind::Heading2(data) => self.heading(block, data, 3, at),
            BlockKind::Heading3(data) => self.heading(block, data, 4, at),
            BlockKind::ListUnordered {} => html! { ul { (self.held(&block.nodes, at)) } },
            BlockKind::ListOrdered { start } => html! { ol start=[*start] { (self.held(&block.nodes, at)) } },
            BlockKind::ListTasks {} => html! { ul.tasks { (self.held(&block.nodes, at)) } },
            BlockKind::ListItem { checked } => self.item(block, *checked, at),
            BlockKind::Divider {} => html! { hr; },
            BlockKind::Blockquote {} => html! { blockquote { (self.held(&block.nodes, at)) } },
            BlockKind::Hint { style, .. } => self.hint(block, *style, at),
            BlockKind::Code { syntax, title, overflow, line_numbers, full_width } => {
                let look = CodeLook {
                    syntax: syntax.as_deref(),
                    title: title.as_deref().filter(|title| !title.is_empty()),
                    wraps: *overflow == Some(CodeOverflow::Wrap),
                    is_numbered: *line_numbers == Some(true),
                    is_full: *full_width == Some(true),
                };
                self.code(block, look, at)
            }
            BlockKind::CodeLine { .. } => html! { pre { code { (self.inlines(&block.nodes, at)) } } },
            BlockKind::Math { formula } => math::block(formula, &self.counter.formulas),
            BlockKind::Images { align, full_width, with_frame } => {
                let look = Gallery { align: *align, is_framed: *with_frame, is_full: *full_width };
                self.gallery(block, look, at)
            }
            BlockKind::Image(data) => self.image(block, data, at),
            BlockKind::File { target } => self.file(block, target, at),
            BlockKind::Drawing { target } => match target {
                Some(target) => html! { figure.image { (self.pictures((target, None), "", "alone")) } },
                None => Markup::default(),
            },
            BlockKind::Embed { url, full_width } => {
                let target = ContentRef::Url { url: url.clone() };
                wide(*full_width, self.card(&target, None, self.fragments(block, at)))
            }
            BlockKind::ContentRef { target } => self.card(target, None, None),
            BlockKind::Expandable { default_expanded } => self.expandable(block, *default_expanded, at),
            BlockKind::Tabs { full_width } => self.tabs(block, *full_width, at),
            // A tab outside of tabs is what it holds.
            BlockKind::TabsItem { title, .. } => html! {
                section {
                    @if let Some(title) = title { p { strong { (title) } } }
                    (self.held(&block.nodes, at))
                }
            },
            BlockKind::Stepper {} => html! { ol.steps { (self.held(&block.nodes, at)) } },
            BlockKind::StepperStep { .. } => html! { li.step { (self.held(&block.nodes, at)) } },
            BlockKind::Columns { full_width } => html! {
                div class=(if *full_width == Some(true) { "columns full" } else { "columns" }) {
                    (self.held(&block.nodes, at))
                }
            },
            BlockKind::Column { width, vertical_alignment } => {
                let width = width.as_ref().map_or("", width_class);
                html! {
                    div class={ "column " (width) " " (vertical(*vertical_alignment)) } {
                        (self.held(&block.nodes, at))
                    }
                }
            }
            BlockKind::Table(data) => self.table(block, data, at),
            // Conditions are decided before a document is drawn: what is left of one holds for nobody.
            BlockKind::If { .. } => Markup::default(),
            BlockKind::ReusableContent { target } => self.reusable(target, at),
            BlockKind::Integration(data) => wide(data.full_width, self.integration(data)),
            BlockKind::Swagger { path, method, target, full_width, .. } => {
                wide(*full_width, self.operation(method, path, target))
            }
            BlockKind::OpenapiOperation { path: name, method, target }
            | BlockKind::OpenapiWebhook { name, method, target } => {
                self.described(&block.kind, at).unwrap_or_else(|| self.operation(method, name, target))
            }
            BlockKind::OpenapiSchemas { schemas, target, .. } => self
                .described(&block.kind, at)
                .unwrap_or_else(|| self.card(target, Some(&schemas.join(", ")), None)),
        }
    }

    fn heading(&self, block: &Block, data: &HeadingData, level: u8, at: At) -> Markup {
        let anchor = block.meta.as_ref().map(|meta| meta.id.as_str()).or(data.id.as_deref());
        let text = html! {
            (self.inlines(&block.nodes, at))
            @if let Some(anchor) = anchor {
                " " a.anchor href={ "#" (anchor) } aria-label=(self.words.link_here) { "#" }
            }
        };
        let class = aligned(data.align);
        match level {
            2 => html! { h2 id=[anchor] class=[class] { (text) } },
            3 => html! { h3 id=[anchor] class=[class] { (text) } },
            _ => html! { h4 id=[anchor] class=[class] { (text) } },
        }
    }

    fn item(&self, block: &Block, checked: Option<bool>, at: At) -> Markup {
        // A single paragraph is the text of its item.
        let inner = match block.nodes.as_slice() {
            [Node::Block(only)] if matches!(only.kind, BlockKind::Paragraph { align: None }) => {
                self.inlines(&only.nodes, at)
            }
            nodes => self.held(nodes, at),
        };
        match checked {
            None => html! { li { (inner) } },
            Some(checked) => {
                let name = format!("task-{}", self.counter.next_group());
                html! {
                    li.task {
                        input type="checkbox" disabled checked[checked] aria-labelledby=(name);
                        div id=(name) { (inner) }
                    }
                }
            }
        }
    }

    fn hint(&self, block: &Block, style: HintStyle, at: At) -> Markup {
        let (class, sign, name) = match style {
            HintStyle::Info => ("info", "i", self.words.info),
            HintStyle::Warning => ("warning", "!", self.words.warning),
            HintStyle::Danger => ("danger", "✕", self.words.danger),
            HintStyle::Success => ("success", "✓", self.words.success),
        };
        html! {
            div class={ "hint " (class) } role="note" aria-label=(name) {
                span.sign dir="ltr" aria-hidden="true" { (sign) }
                div { (self.held(&block.nodes, at)) }
            }
        }
    }

    fn expandable(&self, block: &Block, is_open: Option<bool>, at: At) -> Markup {
        let part = |name: &str| block.fragment(name).map(|fragment| fragment.nodes.as_slice());
        let title = part("expandable-title").unwrap_or_default();
        let body = part("expandable-body").unwrap_or_default();
        let anchor = block.meta.as_ref().map(|meta| meta.id.as_str());
        html! {
            details.expandable id=[anchor] open[is_open == Some(true)] {
                summary { @for block in title { (self.inlines(&block.nodes, at)) } }
                div { (self.blocks(body, at)) (self.held(&block.nodes, at)) }
            }
        }
    }

    /// Tabs that work without scripts: a radio button, its label and its panel for each.
    fn tabs(&self, block: &Block, full_width: Option<bool>, at: At) -> Markup {
        let group = self.counter.next_group();
        let tabs = block.nodes.iter().filter_map(|node| match node {
            Node::Block(tab) => Some(tab),
            Node::Inline(_) | Node::Text(_) => None,
        });
        html! {
            div class=(if full_width == Some(true) { "tabs full" } else { "tabs" }) {
                @for (index, tab) in tabs.enumerate() {
                    @let id = format!("tab-{group}-{index}");
                    @let title = match &tab.kind {
                        BlockKind::TabsItem { title, .. } => title.clone().unwrap_or_default(),
                        _ => String::new(),
                    };
                    @let anchor = tab.meta.as_ref().map(|meta| meta.id.as_str());
                    input.tab-choice type="radio" name={ "tabs-" (group) } id=(id) checked[index == 0];
                    label for=(id) { (title) }
                    div.panel id=[anchor] data-title=(title) { (self.held(&tab.nodes, at)) }
                }
            }
        }
    }

    /// A reusable content, as the space that it is of has it.
    fn reusable(&self, target: &ContentRef, at: At) -> Markup {
        let ContentRef::ReusableContent { reusable_content, space } = target else {
            return Markup::default();
        };
        let space: &SpaceId = space.as_ref().unwrap_or(&self.addresses.space);
        let found = self.reused.get(&(space.clone(), reusable_content.clone()));
        let Some(document) =
            found.filter(|_| at.reuses < super::MAX_REUSE_DEPTH && self.counter.counts_reuse())
        else {
            return Markup::default();
        };
        let at = At { reuses: at.reuses + 1, ..at };
        if *space == self.addresses.space {
            return self.blocks(&document.nodes, at);
        }
        let addresses = self.addresses.within(space);
        Renderer { addresses: &addresses, ..*self }.blocks(&document.nodes, at)
    }

    /// The name of a block that only its integration can draw; a diagram as the text that it is drawn from.
    fn integration(&self, data: &IntegrationData) -> Markup {
        let source = data.props.get("content").and_then(|content| content.as_str());
        if let Some(source) = source.filter(|_| data.integration == "mermaid") {
            return self.code_text(source, "mermaid", None);
        }
        let name = format!("{} / {}", data.integration, data.block);
        match &data.url {
            Some(url) => self.card(&ContentRef::Url { url: url.clone() }, Some(&name), None),
            None => html! { figure.card-link { span.card { span.name { (name) } } } },
        }
    }

    /// The name of an operation of an API, and the way to its specification.
    fn operation(&self, method: &str, path: &str, target: &ContentRef) -> Markup {
        let to = self.addresses.target(target);
        let inner = html! {
            span.name { code { (method.to_uppercase()) " " (path) } }
            @if let Some(name) = &to.name { span.about { (name) } }
        };
        html! { figure.card-link.operation { (self.linked(&to, Some("card"), inner)) } }
    }
}

/// A block that has no class of its own for it across the whole width, where it is to be.
fn wide(full_width: Option<bool>, inner: Markup) -> Markup {
    match full_width {
        Some(true) => html! { div.full { (inner) } },
        _ => inner,
    }
}

const fn aligned(align: Option<TextAlign>) -> Option<&'static str> {
    match align {
        None | Some(TextAlign::Start) => None,
        Some(TextAlign::Center) => Some("centered"),
        Some(TextAlign::End) => Some("at-end"),
    }
}

const fn vertical(align: Option<VerticalAlign>) -> &'static str {
    match align {
        None | Some(VerticalAlign::Top) => "at-top",
        Some(VerticalAlign::Middle) => "at-middle",
        Some(VerticalAlign::Bottom) => "at-bottom",
    }
}
