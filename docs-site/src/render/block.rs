//! Rendering of blocks.

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
use crate::html::Html;

impl Renderer<'_> {
    /// Renders a sequence of blocks.
    pub(super) fn blocks(&self, blocks: &[Block], at: At) -> Markup {
        Html::markup_of(|html| self.write_blocks(html, blocks, at))
    }

    /// Writes a sequence of blocks.
    pub(super) fn write_blocks(&self, html: &mut Html, blocks: &[Block], at: At) {
        blocks.iter().for_each(|block| self.write_block(html, block, at));
    }

    /// Renders the children of a block.
    fn held(&self, nodes: &[Node], at: At) -> Markup {
        Html::markup_of(|html| self.write_held(html, nodes, at))
    }

    /// Writes the children of a block. Consecutive inline nodes become a paragraph.
    fn write_held(&self, html: &mut Html, nodes: &[Node], at: At) {
        let mut rest = nodes;
        while let Some(first) = rest.first() {
            if let Node::Block(block) = first {
                self.write_block(html, block, at);
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|node| matches!(node, Node::Block(_))).unwrap_or(rest.len());
            html.tags("<p>");
            self.write_inlines(html, &rest[..end], at);
            html.tags("</p>");
            rest = &rest[end..];
        }
    }

    /// Writes the children of a block between two tags.
    fn write_around(&self, html: &mut Html, start: &'static str, end: &'static str, held: (&[Node], At)) {
        html.tags(start);
        self.write_held(html, held.0, held.1);
        html.tags(end);
    }

    /// Renders the text fragments of a block's data, such as a caption. Returns `None` if they are empty.
    pub(super) fn fragments(&self, block: &Block, at: At) -> Option<Markup> {
        let blocks = || block.fragments().iter().flat_map(|fragment| &fragment.nodes);
        let has_text = blocks().any(|block| !plain(&block.nodes).trim().is_empty() || block.is_void);
        has_text.then(|| Html::markup_of(|html| blocks().for_each(|block| self.write_block(html, block, at))))
    }

    /// Writes a block. The match is exhaustive, so a new kind must be added here.
    #[expect(clippy::too_many_lines, reason = "a flat table from block kinds to HTML")]
    pub(super) fn write_block(&self, html: &mut Html, block: &Block, at: At) {
        if at.is_deep() {
            html.tags("<p>").text(&plain(&block.nodes)).tags("</p>");
            return;
        }
        if self.gaps.is_some_and(|gaps| gaps.leave_block(html, block, at)) {
            return;
        }
        let at = at.inner();
        let held = (block.nodes.as_slice(), at);
        let drawn = match &block.kind {
            BlockKind::Paragraph { align } => {
                html.tags("<p").attribute_if(" class=\"", aligned(*align)).tags(">");
                self.write_inlines(html, &block.nodes, at);
                html.tags("</p>");
                return;
            }
            BlockKind::Heading1(data) => return self.write_heading(html, block, data, "h2", at),
            BlockKind::Heading2(data) => return self.write_heading(html, block, data, "h3", at),
            BlockKind::Heading3(data) => return self.write_heading(html, block, data, "h4", at),
            BlockKind::ListUnordered {} => return self.write_around(html, "<ul>", "</ul>", held),
            BlockKind::ListOrdered { start: None } => {
                return self.write_around(html, "<ol>", "</ol>", held);
            }
            BlockKind::ListOrdered { start } => html! { ol start=[*start] { (self.held(&block.nodes, at)) } },
            BlockKind::ListTasks {} => {
                return self.write_around(html, "<ul class=\"tasks\">", "</ul>", held);
            }
            BlockKind::ListItem { checked } => return self.write_item(html, block, *checked, at),
            BlockKind::Divider {} => html! { hr; },
            BlockKind::Blockquote {} => {
                return self.write_around(html, "<blockquote>", "</blockquote>", held);
            }
            BlockKind::Hint { style, .. } => return self.write_hint(html, block, *style, at),
            BlockKind::Code { syntax, title, overflow, line_numbers, full_width } => {
                let look = CodeLook {
                    syntax: syntax.as_deref(),
                    title: title.as_deref().filter(|title| !title.is_empty()),
                    wraps: *overflow == Some(CodeOverflow::Wrap),
                    is_numbered: *line_numbers == Some(true),
                    is_full: *full_width == Some(true),
                };
                return self.write_code(html, block, look, at);
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
                Some(target) => html! { figure.image { (self.pictures(target, None, "", "alone")) } },
                None => Markup::default(),
            },
            BlockKind::Embed { url, full_width } => {
                let target = ContentRef::Url { url: url.clone() };
                wide(*full_width, self.card(&target, None, self.fragments(block, at)))
            }
            BlockKind::ContentRef { target } => self.card(target, None, None),
            BlockKind::Expandable { default_expanded } => self.expandable(block, *default_expanded, at),
            BlockKind::Tabs { full_width } => self.tabs(block, *full_width, at),
            // A tab outside of a tab group is shown as its content.
            BlockKind::TabsItem { title, .. } => html! {
                section {
                    @if let Some(title) = title { p { strong { (title) } } }
                    (self.held(&block.nodes, at))
                }
            },
            BlockKind::Stepper {} => {
                return self.write_around(html, "<ol class=\"steps\">", "</ol>", held);
            }
            BlockKind::StepperStep { .. } => {
                return self.write_around(html, "<li class=\"step\">", "</li>", held);
            }
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
            BlockKind::Table(data) => return self.write_table(html, block, data, at),
            // Conditions are evaluated before rendering, so a remaining one does not hold.
            BlockKind::If { .. } => return,
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
        };
        html.markup(&drawn);
    }

    fn write_heading(&self, html: &mut Html, block: &Block, data: &HeadingData, tag: &'static str, at: At) {
        let anchor = block.meta.as_ref().map(|meta| meta.id.as_str()).or(data.id.as_deref());
        html.tags("<").tags(tag).attribute_if(" id=\"", anchor);
        html.attribute_if(" class=\"", aligned(data.align)).tags(">");
        self.write_inlines(html, &block.nodes, at);
        if let Some(anchor) = anchor {
            html.tags(" <a class=\"anchor\"").attribute(" href=\"#", anchor);
            html.attribute(" aria-label=\"", self.words.link_here).tags(">#</a>");
        }
        html.tags("</").tags(tag).tags(">");
    }

    fn write_item(&self, html: &mut Html, block: &Block, checked: Option<bool>, at: At) {
        let write_inner = |html: &mut Html| match block.nodes.as_slice() {
            // A single paragraph becomes the text of its item.
            [Node::Block(only)] if matches!(only.kind, BlockKind::Paragraph { align: None }) => {
                self.write_inlines(html, &only.nodes, at);
            }
            nodes => self.write_held(html, nodes, at),
        };
        let Some(checked) = checked else {
            html.tags("<li>");
            write_inner(html);
            html.tags("</li>");
            return;
        };
        let inner = Html::markup_of(write_inner);
        let name = format!("task-{}", self.counter.next_group());
        html.markup(&html! {
            li.task {
                input type="checkbox" disabled checked[checked] aria-labelledby=(name);
                div id=(name) { (inner) }
            }
        });
    }

    fn write_hint(&self, html: &mut Html, block: &Block, style: HintStyle, at: At) {
        let (class, sign, name) = match style {
            HintStyle::Info => ("info", "i", self.words.info),
            HintStyle::Warning => ("warning", "!", self.words.warning),
            HintStyle::Danger => ("danger", "✕", self.words.danger),
            HintStyle::Success => ("success", "✓", self.words.success),
        };
        html.tags("<div class=\"hint ").tags(class).tags("\" role=\"note\"");
        html.attribute(" aria-label=\"", name)
            .tags("><span class=\"sign\" dir=\"ltr\" aria-hidden=\"true\">");
        html.tags(sign).tags("</span><div>");
        self.write_held(html, &block.nodes, at);
        html.tags("</div></div>");
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

    /// Tabs that work without scripts: a radio button, a label and a panel for each.
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

    /// Renders reusable content, with the references of its own space.
    fn reusable(&self, target: &ContentRef, at: At) -> Markup {
        let ContentRef::ReusableContent { reusable_content, space } = target else {
            return Markup::default();
        };
        self.gaps.inspect(|gaps| gaps.miss());
        let space: &SpaceId = space.as_ref().unwrap_or(&self.addresses.space);
        let found = self.reused.get(&(space.clone(), reusable_content.clone()));
        let Some(document) =
            found.filter(|_| at.reuses < super::position::MAX_REUSE_DEPTH && self.counter.counts_reuse())
        else {
            return Markup::default();
        };
        let at = At { reuses: at.reuses + 1, ..at };
        if *space == self.addresses.space {
            return self.counter.add_reused(self.blocks(&document.nodes, at));
        }
        let addresses = self.addresses.within(space);
        let other = Renderer { addresses: &addresses, ..*self };
        self.counter.add_reused(other.blocks(&document.nodes, at))
    }

    /// The name of an integration block, because only its integration can render it. A diagram is shown as
    /// its source.
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

    /// The name of an API operation, with a link to its specification.
    fn operation(&self, method: &str, path: &str, target: &ContentRef) -> Markup {
        let to = self.target(target);
        let inner = html! {
            span.name { code { (method.to_uppercase()) " " (path) } }
            @if let Some(name) = &to.name { span.about { (name) } }
        };
        html! { figure.card-link.operation { (self.linked(&to, Some("card"), inner)) } }
    }
}

/// Wraps a block without a class for full width if it is to be shown across the full width.
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
