//! Rendering of blocks.

use docs_core::model::{
    Block, BlockKind, CodeOverflow, ContentRef, HeadingData, HintStyle, IntegrationData, Node, SpaceId,
    TextAlign, VerticalAlign,
};
use maud::{Markup, html};

use super::{
    NodePosition, Renderer,
    code::CodeOptions,
    figure::{Dimensions, Gallery, width_class},
    math,
    plain::plain_text,
};
use crate::html::Html;

impl Renderer<'_> {
    /// Renders a sequence of blocks.
    pub(super) fn blocks(&self, blocks: &[Block], at: NodePosition) -> Markup {
        Html::build_markup(|html| self.write_blocks(html, blocks, at))
    }

    /// Writes a sequence of blocks.
    pub(super) fn write_blocks(&self, html: &mut Html, blocks: &[Block], at: NodePosition) {
        blocks.iter().for_each(|block| self.write_block(html, block, at));
    }

    /// Renders the children of a block.
    fn children(&self, nodes: &[Node], at: NodePosition) -> Markup {
        Html::build_markup(|html| self.write_children(html, nodes, at))
    }

    /// Writes the children of a block. Consecutive inline nodes become a paragraph.
    fn write_children(&self, html: &mut Html, nodes: &[Node], at: NodePosition) {
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
    fn write_wrapped(
        &self,
        html: &mut Html,
        start: &'static str,
        end: &'static str,
        held: (&[Node], NodePosition),
    ) {
        html.tags(start);
        self.write_children(html, held.0, held.1);
        html.tags(end);
    }

    /// Renders the text fragments of a block's data, such as a caption. Returns `None` if they are empty.
    pub(super) fn fragments(&self, block: &Block, at: NodePosition) -> Option<Markup> {
        let blocks = || block.fragments().iter().flat_map(|fragment| &fragment.nodes);
        let has_text = blocks().any(|block| !plain_text(&block.nodes).trim().is_empty() || block.is_void);
        has_text
            .then(|| Html::build_markup(|html| blocks().for_each(|block| self.write_block(html, block, at))))
    }

    /// Writes a block. The match is exhaustive, so that new kinds must be added here.
    #[expect(clippy::too_many_lines, reason = "a flat table from block kinds to HTML")]
    pub(super) fn write_block(&self, html: &mut Html, block: &Block, at: NodePosition) {
        if at.is_too_deep() {
            html.tags("<p>").text(&plain_text(&block.nodes)).tags("</p>");
            return;
        }
        if self.gaps.is_some_and(|gaps| gaps.leave_block(html, block, at)) {
            return;
        }
        let at = at.child();
        let held = (block.nodes.as_slice(), at);
        let drawn = match &block.kind {
            BlockKind::Paragraph { align } => {
                let anchor = block.meta.as_ref().map(|meta| meta.id.as_str());
                if block.nodes.is_empty() && anchor.is_some() {
                    html.tags("<span").attribute_if(" id=\"", anchor).tags("></span>");
                    return;
                }
                html.tags("<p").attribute_if(" id=\"", anchor);
                html.attribute_if(" class=\"", alignment_class(*align)).tags(">");
                self.write_inlines(html, &block.nodes, at);
                html.tags("</p>");
                return;
            }
            BlockKind::Heading1(data) => return self.write_heading(html, block, data, "h2", at),
            BlockKind::Heading2(data) => return self.write_heading(html, block, data, "h3", at),
            BlockKind::Heading3(data) => return self.write_heading(html, block, data, "h4", at),
            BlockKind::ListUnordered {} => return self.write_wrapped(html, "<ul>", "</ul>", held),
            BlockKind::ListOrdered { start: None } => {
                return self.write_wrapped(html, "<ol>", "</ol>", held);
            }
            BlockKind::ListOrdered { start } => {
                html! { ol start=[*start] { (self.children(&block.nodes, at)) } }
            }
            BlockKind::ListTasks {} => {
                return self.write_wrapped(html, "<ul class=\"tasks\">", "</ul>", held);
            }
            BlockKind::ListItem { checked } => return self.write_item(html, block, *checked, at),
            BlockKind::Divider {} => html! { hr; },
            BlockKind::Blockquote {} => {
                return self.write_wrapped(html, "<blockquote>", "</blockquote>", held);
            }
            BlockKind::Hint { style, .. } => return self.write_hint(html, block, *style, at),
            BlockKind::Code { syntax, title, overflow, line_numbers, full_width, .. } => {
                let look = CodeOptions {
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
                Some(target) => {
                    html! { figure.image { (self.pictures(target, None, "", "alone", Dimensions::default())) } }
                }
                None => Markup::default(),
            },
            BlockKind::Embed { url, full_width } => {
                let target = ContentRef::Url { url: url.clone() };
                wrap_full_width(*full_width, self.card(&target, None, self.fragments(block, at)))
            }
            BlockKind::ContentRef { target } => self.reference_card(block, target),
            BlockKind::Expandable { default_expanded } => self.expandable(block, *default_expanded, at),
            BlockKind::Tabs { full_width } => self.tabs(block, *full_width, at),
            // A tab outside of a tab group is shown as its content.
            BlockKind::TabsItem { title, .. } => html! {
                section {
                    @if let Some(title) = title { p { strong { (title) } } }
                    (self.children(&block.nodes, at))
                }
            },
            BlockKind::Prompt { description, .. } => html! {
                section { p { strong { (description) } } (self.children(&block.nodes, at)) }
            },
            BlockKind::Updates { .. } => self.children(&block.nodes, at),
            BlockKind::Update { date, .. } => {
                let day = date.time().format("%Y-%m-%d").to_string();
                html! {
                    section { p { strong { time datetime=(day) { (day) } } } (self.children(&block.nodes, at)) }
                }
            }
            BlockKind::Stepper {} => {
                return self.write_wrapped(html, "<ol class=\"steps\">", "</ol>", held);
            }
            BlockKind::StepperStep { .. } => {
                return self.write_wrapped(html, "<li class=\"step\">", "</li>", held);
            }
            BlockKind::Columns { full_width } => html! {
                div class=(if *full_width == Some(true) { "columns full" } else { "columns" }) {
                    (self.children(&block.nodes, at))
                }
            },
            BlockKind::Column { width, vertical_alignment } => {
                let width = width.as_ref().map_or("", width_class);
                html! {
                    div class={ "column " (width) " " (vertical_class(*vertical_alignment)) } {
                        (self.children(&block.nodes, at))
                    }
                }
            }
            BlockKind::Table(data) => return self.write_table(html, block, data, at),
            // Conditions are evaluated before rendering. The condition of a remaining block is false.
            BlockKind::If { .. } => return,
            BlockKind::ReusableContent { target } => self.reusable(target, at),
            BlockKind::Integration(data) => wrap_full_width(data.full_width, self.integration(data)),
            BlockKind::Swagger { path, method, target, full_width, .. } => {
                wrap_full_width(*full_width, self.operation(method, path, target))
            }
            BlockKind::OpenapiOperation { path: name, method, target }
            | BlockKind::OpenapiWebhook { name, method, target } => {
                self.spec_block(&block.kind, at).unwrap_or_else(|| self.operation(method, name, target))
            }
            BlockKind::OpenapiSchemas { schemas, target, .. } => self
                .spec_block(&block.kind, at)
                .unwrap_or_else(|| self.card(target, Some(&schemas.join(", ")), None)),
        };
        html.markup(&drawn);
    }

    fn write_heading(
        &self,
        html: &mut Html,
        block: &Block,
        data: &HeadingData,
        tag: &'static str,
        at: NodePosition,
    ) {
        let anchor = block.meta.as_ref().map(|meta| meta.id.as_str()).or(data.id.as_deref());
        html.tags("<").tags(tag).attribute_if(" id=\"", anchor);
        html.attribute_if(" class=\"", alignment_class(data.align)).tags(">");
        let alternatives = self.anchors.zip(anchor).map(|(anchors, own)| anchors.alternatives(own));
        for alternative in alternatives.unwrap_or_default() {
            html.tags("<span").attribute(" id=\"", alternative).tags("></span>");
        }
        self.write_inlines(html, &block.nodes, at);
        if let Some(anchor) = anchor {
            html.tags(" <a class=\"anchor\"").attribute(" href=\"#", anchor);
            html.attribute(" aria-label=\"", self.words.link_here).tags(">#</a>");
        }
        html.tags("</").tags(tag).tags(">");
    }

    fn write_item(&self, html: &mut Html, block: &Block, checked: Option<bool>, at: NodePosition) {
        let write_inner = |html: &mut Html| match block.nodes.as_slice() {
            // A single paragraph becomes the text of its item.
            [Node::Block(only)]
                if matches!(only.kind, BlockKind::Paragraph { align: None }) && only.meta.is_none() =>
            {
                self.write_inlines(html, &only.nodes, at);
            }
            nodes => self.write_children(html, nodes, at),
        };
        let Some(checked) = checked else {
            html.tags("<li>");
            write_inner(html);
            html.tags("</li>");
            return;
        };
        let inner = Html::build_markup(write_inner);
        let name = format!("task-{}", self.counter.next_group());
        html.markup(&html! {
            li.task {
                input type="checkbox" disabled checked[checked] aria-labelledby=(name);
                div id=(name) { (inner) }
            }
        });
    }

    fn write_hint(&self, html: &mut Html, block: &Block, style: HintStyle, at: NodePosition) {
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
        self.write_children(html, &block.nodes, at);
        html.tags("</div></div>");
    }

    fn expandable(&self, block: &Block, is_open: Option<bool>, at: NodePosition) -> Markup {
        let part = |name: &str| block.fragment(name).map(|fragment| fragment.nodes.as_slice());
        let title = part("expandable-title").unwrap_or_default();
        let body = part("expandable-body").unwrap_or_default();
        let anchor = block.meta.as_ref().map(|meta| meta.id.as_str());
        html! {
            details.expandable id=[anchor] open[is_open == Some(true)] {
                summary { @for block in title { (self.inlines(&block.nodes, at)) } }
                div { (self.blocks(body, at)) (self.children(&block.nodes, at)) }
            }
        }
    }

    /// Renders tabs that work without scripts: a radio button, a label and a panel for each tab.
    fn tabs(&self, block: &Block, full_width: Option<bool>, at: NodePosition) -> Markup {
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
                    div.panel id=[anchor] data-title=(title) { (self.children(&tab.nodes, at)) }
                }
            }
        }
    }

    /// Tabs with the same structure for content that is not a block.
    pub(super) fn tab_group(&self, tabs: Vec<(String, Markup)>) -> Markup {
        let group = self.counter.next_group();
        html! {
            div.tabs {
                @for (index, (title, drawn)) in tabs.into_iter().enumerate() {
                    @let id = format!("tab-{group}-{index}");
                    input.tab-choice type="radio" name={ "tabs-" (group) } id=(id) checked[index == 0];
                    label for=(id) { (title) }
                    div.panel data-title=(title) { (drawn) }
                }
            }
        }
    }

    /// Renders a reusable content block, whose references are resolved in its own space.
    fn reusable(&self, target: &ContentRef, at: NodePosition) -> Markup {
        let ContentRef::ReusableContent { reusable_content, space } = target else {
            return Markup::default();
        };
        self.gaps.inspect(|gaps| gaps.record_missing_data());
        let space: &SpaceId = space.as_ref().unwrap_or(&self.addresses.space);
        let found = self.reused.get(&(space.clone(), reusable_content.clone()));
        let Some(document) =
            found.filter(|_| at.reuses < super::position::MAX_REUSE_DEPTH && self.counter.try_count_reuse())
        else {
            return Markup::default();
        };
        let at = NodePosition { reuses: at.reuses + 1, ..at };
        if *space == self.addresses.space {
            let inner = Renderer { anchors: None, ..*self };
            return self.counter.add_reused(inner.blocks(&document.nodes, at));
        }
        let addresses = self.addresses.for_space(space);
        let other = Renderer { addresses: &addresses, anchors: None, ..*self };
        self.counter.add_reused(other.blocks(&document.nodes, at))
    }

    /// Renders the name of an integration block, because only the integration can render its content. A diagram is
    /// shown as source.
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

    /// Renders the name of an API operation, with a link to its specification.
    pub(super) fn operation(&self, method: &str, path: &str, target: &ContentRef) -> Markup {
        let to = self.target(target);
        let inner = html! {
            span.name { code { (method.to_uppercase()) " " (path) } }
            @if let Some(name) = &to.name { span.about { (name) } }
        };
        html! { figure.card-link.operation { (self.link(&to, Some("card"), inner)) } }
    }
}

/// Wraps a full-width block whose own element has no class for it.
fn wrap_full_width(full_width: Option<bool>, inner: Markup) -> Markup {
    match full_width {
        Some(true) => html! { div.full { (inner) } },
        _ => inner,
    }
}

const fn alignment_class(align: Option<TextAlign>) -> Option<&'static str> {
    match align {
        None | Some(TextAlign::Start) => None,
        Some(TextAlign::Center) => Some("centered"),
        Some(TextAlign::End) => Some("at-end"),
    }
}

const fn vertical_class(align: Option<VerticalAlign>) -> &'static str {
    match align {
        None | Some(VerticalAlign::Top) => "at-top",
        Some(VerticalAlign::Middle) => "at-middle",
        Some(VerticalAlign::Bottom) => "at-bottom",
    }
}
