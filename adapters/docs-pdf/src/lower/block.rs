//! Lowering of blocks.

use docs_markup::document::card_label;
use docs_model::{
    Block, BlockKind, ContentRef, HeadingData, HintStyle, ImageAlign, ImageData, IntegrationData, Length,
    Node, TextAlign,
};
use docs_ports::MAX_EMBED_DEPTH;

use super::{
    BookLowering, LowerContext,
    image_size::{POINTS_PER_PIXEL, TEXT_WIDTH, image_size},
    inline::plain,
    text,
};
use crate::{
    layout_tree::{ShownLine, ShownPart, ShownParts, ShownTag},
    termination::LayoutResult,
    text::Breaker,
};

/// Maximum number of lines in a code block that is not split between sheets.
const MAX_UNSPLIT_LINES: usize = 14;
/// Parts that a heading counts as in addition to its block, because it is also a bookmark and an entry of the outline.
const HEADING_PARTS: usize = 3;
/// Parts that a card counts as in addition to its block: its frame, and its link with a name.
const CARD_PARTS: usize = 5;
/// Tab width in code, in columns.
const TAB: usize = 4;

impl BookLowering<'_> {
    /// Lowers a sequence of blocks.
    pub(super) fn blocks(&mut self, blocks: &[Block], at: LowerContext) -> LayoutResult<ShownParts> {
        let mut out = Vec::with_capacity(blocks.len());
        for block in blocks {
            self.count(1)?;
            self.block(block, at, &mut out)?;
        }
        Ok(out)
    }

    /// Lowers the children of a block. Text directly within the block becomes a paragraph.
    fn held(&mut self, nodes: &[Node], at: LowerContext) -> LayoutResult<ShownParts> {
        let mut out = Vec::new();
        let mut rest = nodes;
        while let Some(first) = rest.first() {
            if let Node::Block(block) = first {
                self.count(1)?;
                self.block(block, at, &mut out)?;
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|node| matches!(node, Node::Block(_))).unwrap_or(rest.len());
            let c = self.inlines(&rest[..end], at)?;
            if !c.is_empty() {
                out.push(ShownTag::Par { c, align: "start" }.into());
            }
            rest = &rest[end..];
        }
        Ok(out)
    }

    #[expect(clippy::too_many_lines, reason = "a flat table from block kinds to parts of the layout")]
    fn block(&mut self, block: &Block, at: LowerContext, out: &mut ShownParts) -> LayoutResult {
        if at.is_deep() && self.flatten_block(block, at, out)? {
            return Ok(());
        }
        let shown = match &block.kind {
            BlockKind::Paragraph { align } => return self.paragraph(block, *align, at, out),
            BlockKind::Heading1(data) => self.heading(block, data, at, 1)?,
            BlockKind::Heading2(data) => self.heading(block, data, at, 2)?,
            BlockKind::Heading3(data) => self.heading(block, data, at, 3)?,
            BlockKind::ListUnordered {} => {
                ShownTag::List { items: self.items(block, at)?, start: None }.into()
            }
            BlockKind::ListOrdered { start } => {
                ShownTag::List { items: self.items(block, at)?, start: Some(start.unwrap_or(1)) }.into()
            }
            BlockKind::ListTasks {} => self.tasks(block, at)?,
            BlockKind::Divider {} => ShownTag::Rule.into(),
            BlockKind::Blockquote {} => ShownTag::Quote { c: self.held(&block.nodes, at.inner(4))? }.into(),
            BlockKind::Hint { style, .. } => {
                ShownTag::Hint { c: self.held(&block.nodes, at.inner(6))?, style: hint(*style) }.into()
            }
            BlockKind::Code { title, line_numbers, .. } => {
                self.code(block, title.as_deref(), *line_numbers == Some(true), at)?
            }
            BlockKind::Math { formula } => self.formula(formula, true)?,
            BlockKind::Images { align, with_frame, .. } => {
                self.images(block, *align, *with_frame == Some(true), at)?
            }
            BlockKind::Image(data) => self.image(block, data, None, false, 1, at)?,
            BlockKind::Drawing { target } => return self.drawing(target.as_ref(), out),
            BlockKind::Table(table) => self.table(block, table, at)?,
            BlockKind::Expandable { .. } => self.lower_expandable(block, at)?,
            BlockKind::TabsItem { title, .. } => self.tab(block, title.as_deref(), at)?,
            BlockKind::Stepper {} => ShownTag::Steps { items: self.items(block, at)? }.into(),
            BlockKind::Columns { .. } => self.columns(block, at)?,
            BlockKind::Prompt { description, .. } => self.tab(block, Some(description), at)?,
            BlockKind::Update { date, .. } => {
                let day = date.time().format("%Y-%m-%d").to_string();
                self.tab(block, Some(&day), at)?
            }
            BlockKind::Tabs { .. }
            | BlockKind::Updates { .. }
            | BlockKind::If { .. }
            | BlockKind::StepperStep { .. }
            | BlockKind::Column { .. }
            | BlockKind::ListItem { .. } => {
                out.extend(self.held(&block.nodes, at)?);
                return Ok(());
            }
            BlockKind::CodeLine { .. } => {
                ShownTag::Par { c: self.inlines(&block.nodes, at)?, align: "start" }.into()
            }
            BlockKind::ReusableContent { target } => return self.lower_reusable(target, at, out),
            BlockKind::File { target } => return self.lower_card(block, target, at, out),
            BlockKind::Embed { url, .. } => {
                return self.lower_card(block, &ContentRef::Url { url: url.clone() }, at, out);
            }
            BlockKind::ContentRef { target } => self.reference_card(block, target)?,
            BlockKind::Integration(data) => self.integration(data)?,
            BlockKind::Swagger { path: name, method, target, .. }
            | BlockKind::OpenapiOperation { path: name, method, target }
            | BlockKind::OpenapiWebhook { name, method, target } => self.operation(method, name, target)?,
            BlockKind::OpenapiSchemas { schemas, target, .. } => self.schemas(schemas, target)?,
        };
        out.push(shown);
        Ok(())
    }

    /// Lowers a paragraph. Empty paragraphs are dropped.
    fn paragraph(
        &mut self,
        block: &Block,
        align: Option<TextAlign>,
        at: LowerContext,
        out: &mut ShownParts,
    ) -> LayoutResult {
        let c = self.inlines(&block.nodes, at)?;
        if !c.is_empty() {
            out.push(ShownTag::Par { c, align: alignment_name(align) }.into());
        }
        Ok(())
    }

    /// Creates the card of an API operation.
    fn operation(&mut self, method: &str, name: &str, target: &ContentRef) -> LayoutResult<ShownPart> {
        self.card(target, Some(format!("{} {name}", method.to_uppercase())))
    }

    /// Creates the card of API schemas.
    fn schemas(&mut self, schemas: &[String], target: &ContentRef) -> LayoutResult<ShownPart> {
        self.card(target, Some(schemas.join(", ")))
    }

    fn tasks(&mut self, block: &Block, at: LowerContext) -> LayoutResult<ShownPart> {
        let is_checked = |node: &Node| {
            matches!(node, Node::Block(Block { kind: BlockKind::ListItem { checked: Some(true) }, .. }))
        };
        let on: Vec<bool> = block.nodes.iter().map(is_checked).collect();
        Ok(ShownTag::Tasks { items: on.into_iter().zip(self.items(block, at)?).collect() }.into())
    }

    fn tab(&mut self, block: &Block, title: Option<&str>, at: LowerContext) -> LayoutResult<ShownPart> {
        let title = vec![text(self.one_line(title.unwrap_or_default())?)];
        Ok(ShownTag::Titled { title, c: self.held(&block.nodes, at.inner(4))?, kind: "tab" }.into())
    }

    /// Creates a card with a caption.
    fn lower_card(
        &mut self,
        block: &Block,
        target: &ContentRef,
        at: LowerContext,
        out: &mut ShownParts,
    ) -> LayoutResult {
        let caption = self.caption(block, at)?;
        out.push(self.card(target, None)?);
        out.extend(caption);
        Ok(())
    }

    /// Renders the name of an integration block, whose content is not available here.
    fn integration(&mut self, data: &IntegrationData) -> LayoutResult<ShownPart> {
        let name = format!("{} / {}", self.one_line(&data.integration)?, self.one_line(&data.block)?);
        let target = data.url.as_ref().map(|url| ContentRef::Url { url: url.clone() });
        let c = vec![text(Breaker::new(40).run(&name))];
        let c = match target {
            Some(target) => self.link(&target, c)?,
            None => ShownPart::Parts(c),
        };
        Ok(ShownTag::Card { c: vec![c], note: None }.into())
    }

    /// Flattens a block that is nested too deeply: its text remains, its frame is dropped. Returns `true` if the block
    /// was flattened.
    fn flatten_block(&mut self, block: &Block, at: LowerContext, out: &mut ShownParts) -> LayoutResult<bool> {
        let has_fragments = matches!(
            block.kind,
            BlockKind::Table(_) | BlockKind::Expandable { .. } | BlockKind::Images { .. }
        );
        let is_flat = matches!(block.kind, BlockKind::Paragraph { .. } | BlockKind::Code { .. });
        if is_flat || (block.kind.form().is_void() && !has_fragments) {
            // These blocks do not increase the nesting.
            return Ok(false);
        }
        if has_fragments {
            for fragment in block.fragments() {
                self.flatten(fragment.nodes.iter(), at, out)?;
            }
        }
        // Text next to child blocks.
        if block.nodes.iter().any(|node| node.as_block().is_none()) {
            let c = self.inlines(&block.nodes, at)?;
            out.push(ShownTag::Par { c, align: "start" }.into());
            return Ok(true);
        }
        self.flatten(block.nodes.iter().filter_map(Node::as_block), at, out)?;
        Ok(true)
    }

    /// Flattens the descendants of a block that is nested too deeply. Uses an explicit stack, because the remaining
    /// depth is unlimited.
    fn flatten<'b>(
        &mut self,
        blocks: impl Iterator<Item = &'b Block> + Clone,
        at: LowerContext,
        out: &mut ShownParts,
    ) -> LayoutResult {
        let mut stack: Vec<&Block> = blocks.collect();
        stack.reverse();
        while let Some(block) = stack.pop() {
            self.count(1)?;
            let holds: Vec<&Block> = block.children().collect();
            let framed = !matches!(block.kind, BlockKind::Code { .. } | BlockKind::Image(_));
            if framed && !holds.is_empty() {
                stack.extend(holds.into_iter().rev());
            } else if matches!(block.kind, BlockKind::Paragraph { .. }) || block.is_void || !framed {
                self.block(block, LowerContext { nesting: super::MAX_BLOCK_NESTING, ..at }, out)?;
            } else {
                let c = self.inlines(&block.nodes, at)?;
                out.push(ShownTag::Par { c, align: "start" }.into());
            }
        }
        Ok(())
    }

    fn heading(
        &mut self,
        block: &Block,
        data: &HeadingData,
        at: LowerContext,
        level: usize,
    ) -> LayoutResult<ShownPart> {
        self.count(HEADING_PARTS)?;
        // Headings have a larger font.
        let c = self.inlines(&block.nodes, LowerContext { width: at.width * 2 / 3, ..at })?;
        let anchor = block.meta.as_ref().map(|meta| meta.id.as_str()).or(data.id.as_deref());
        let label = self.label(anchor, &plain(&block.nodes));
        // Headings within tables, cards and footnotes are not part of the outline.
        let align = alignment_name(data.align);
        Ok(ShownTag::Heading { c, level: at.level + level, label, align }.into())
    }

    fn items(&mut self, block: &Block, at: LowerContext) -> LayoutResult<Vec<ShownParts>> {
        block
            .nodes
            .iter()
            .map(|node| match node {
                Node::Block(item) => {
                    self.count(1)?;
                    match item.kind {
                        BlockKind::ListItem { .. } | BlockKind::StepperStep { .. } => {
                            self.held(&item.nodes, at.inner(4))
                        }
                        _ => self.held(std::slice::from_ref(node), at.inner(4)),
                    }
                }
                node => self.held(std::slice::from_ref(node), at.inner(4)),
            })
            .collect()
    }

    fn code(
        &mut self,
        block: &Block,
        title: Option<&str>,
        numbers: bool,
        at: LowerContext,
    ) -> LayoutResult<ShownPart> {
        let mut lines = Vec::new();
        // Characters of code are wider than those of text.
        let width = (at.width * 3 / 4).max(4);
        let mut height = 0;
        for node in &block.nodes {
            let (nodes, on) = match node {
                Node::Block(Block { kind: BlockKind::CodeLine { highlighted }, nodes, .. }) => {
                    (nodes.as_slice(), *highlighted == Some(true))
                }
                node => (std::slice::from_ref(node), false),
            };
            let code = plain(nodes);
            for line in code.split('\n') {
                self.count(2 + line.len() / 64)?;
                let line = expand_tabs(&self.clean(line)?);
                height += 1 + line.chars().count() / width;
                lines.push(ShownLine { c: vec![text(Breaker::new(width).run(&line))], on });
            }
        }
        let whole = height <= MAX_UNSPLIT_LINES;
        Ok(ShownTag::Code { title: self.optional_line(title)?, numbers, whole, lines }.into())
    }

    fn images(
        &mut self,
        block: &Block,
        align: Option<ImageAlign>,
        frame: bool,
        at: LowerContext,
    ) -> LayoutResult<ShownPart> {
        let images: Vec<&Block> = block.nodes.iter().filter_map(Node::as_block).collect();
        let mut items = Vec::new();
        for image in &images {
            if let BlockKind::Image(data) = &image.kind {
                self.count(1)?;
                items.push(self.image(image, data, align, frame, images.len(), at)?);
            }
        }
        if items.len() == 1
            && let Some(only) = items.pop()
        {
            return Ok(only);
        }
        Ok(ShownTag::Images { items, align: image_alignment_name(align) }.into())
    }

    fn image(
        &mut self,
        block: &Block,
        data: &ImageData,
        align: Option<ImageAlign>,
        frame: bool,
        beside: usize,
        at: LowerContext,
    ) -> LayoutResult<ShownPart> {
        let mut caption = Vec::new();
        for fragment in block.fragments() {
            caption.extend(self.blocks(&fragment.nodes, at.inner(0))?);
        }
        let alt = self.one_line(data.alt.as_deref().unwrap_or_default())?;
        let Some(picture) = self.pictures.get(&data.target) else {
            let name = if alt.is_empty() { self.name(&data.target)? } else { alt };
            let c = self.link(&data.target, vec![text(Breaker::new(40).run(&name))])?;
            let card = ShownTag::Card { c: vec![c], note: None }.into();
            return Ok(ShownPart::Parts(std::iter::once(card).chain(caption).collect()));
        };
        let (w, h) =
            image_size(picture.width, picture.height, data.width.as_ref(), data.height.as_ref(), beside);
        let (file, align) = (picture.file, image_alignment_name(align));
        Ok(ShownTag::Image { file, w, h, alt, caption, frame, align }.into())
    }

    fn drawing(&mut self, target: Option<&ContentRef>, out: &mut ShownParts) -> LayoutResult {
        let Some(target) = target else { return Ok(()) };
        match self.pictures.get(target) {
            None => out.push(self.card(target, None)?),
            Some(picture) => {
                let (w, h) = image_size(picture.width, picture.height, None, None, 1);
                let file = picture.file;
                let (caption, align) = (Vec::new(), "center");
                out.push(
                    ShownTag::Image { file, w, h, alt: String::new(), caption, frame: false, align }.into(),
                );
            }
        }
        Ok(())
    }

    fn caption(&mut self, block: &Block, at: LowerContext) -> LayoutResult<ShownParts> {
        let mut out = Vec::new();
        for fragment in block.fragments() {
            out.extend(self.blocks(&fragment.nodes, at)?);
        }
        Ok(out)
    }

    fn lower_expandable(&mut self, block: &Block, at: LowerContext) -> LayoutResult<ShownPart> {
        let (mut title, mut c) = (Vec::new(), Vec::new());
        for fragment in block.fragments() {
            if fragment.fragment.as_deref() == Some("expandable-title") {
                for block in &fragment.nodes {
                    title.extend(self.inlines(&block.nodes, at)?);
                }
            } else {
                c.extend(self.blocks(&fragment.nodes, at.inner(4))?);
            }
        }
        Ok(ShownTag::Titled { title, c, kind: "expandable" }.into())
    }

    fn columns(&mut self, block: &Block, at: LowerContext) -> LayoutResult<ShownPart> {
        let count = block.nodes.len().max(1);
        // More than four columns, or columns with only a few characters per line, are unreadable on paper.
        if count > 4 || at.width / count < 12 {
            return Ok(ShownPart::Parts(self.held(&block.nodes, at)?));
        }
        #[expect(clippy::cast_precision_loss, reason = "the level is at most 4")]
        let even = 1.0 / count as f64;
        let widths: Vec<f64> = block
            .nodes
            .iter()
            .map(|node| match node {
                Node::Block(Block { kind: BlockKind::Column { width: Some(width), .. }, .. }) => {
                    share(width, even)
                }
                _ => even,
            })
            .collect();
        let all: f64 = widths.iter().sum();
        let mut items = Vec::new();
        for (node, width) in block.nodes.iter().zip(&widths) {
            self.count(1)?;
            items.push(self.held(std::slice::from_ref(node), at.part(width / all))?);
        }
        Ok(ShownTag::Columns { widths, items }.into())
    }

    fn lower_reusable(
        &mut self,
        target: &ContentRef,
        at: LowerContext,
        out: &mut ShownParts,
    ) -> LayoutResult {
        let known = self.reusable(target).and_then(|id| self.book.reusables.get_key_value(id));
        match known {
            Some((id, document))
                if !self.reusables.contains(&id) && self.reusables.len() < MAX_EMBED_DEPTH =>
            {
                self.reusables.push(id);
                let shown = self.blocks(&document.nodes, at);
                self.reusables.pop();
                out.extend(shown?);
            }
            Some(_) => {}
            None => out.push(self.card(target, None)?),
        }
        Ok(())
    }

    /// Creates a framed line with the name of a link target.
    fn card(&mut self, target: &ContentRef, note: Option<String>) -> LayoutResult<ShownPart> {
        let name = self.name(target)?;
        self.named_card(target, &name, note)
    }

    /// Lowers the card of a reference. The card of a URL shows the label in the source of the block.
    fn reference_card(&mut self, block: &Block, target: &ContentRef) -> LayoutResult<ShownPart> {
        let name = match card_label(block) {
            Some(label) => self.one_line(&label)?,
            None => self.name(target)?,
        };
        self.named_card(target, &name, None)
    }

    fn named_card(
        &mut self,
        target: &ContentRef,
        name: &str,
        note: Option<String>,
    ) -> LayoutResult<ShownPart> {
        self.count(CARD_PARTS)?;
        let name = Breaker::new(60).run(name);
        let c = vec![self.link(target, vec![text(name)])?];
        let note = self.optional_line(note.as_deref())?.map(|note| Breaker::new(60).run(&note));
        Ok(ShownTag::Card { c, note }.into())
    }
}

/// Expands tabs in code to spaces.
fn expand_tabs(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut column = 0;
    for c in line.chars() {
        let spaces = if c == '\t' { TAB - column % TAB } else { 0 };
        if spaces > 0 {
            out.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        } else {
            out.push(c);
            column += 1;
        }
    }
    out
}

/// Returns the fraction of the total width that a column requests.
fn share(width: &Length, even: f64) -> f64 {
    let share = match width {
        Length::Pixels(px) => px * POINTS_PER_PIXEL / TEXT_WIDTH,
        Length::Unit { unit, value } if unit == "%" => value / 100.0,
        Length::Unit { .. } => even,
    };
    if share.is_finite() { share.clamp(0.1, 1.0) } else { even }
}

const fn alignment_name(align: Option<TextAlign>) -> &'static str {
    match align {
        None | Some(TextAlign::Start) => "start",
        Some(TextAlign::Center) => "center",
        Some(TextAlign::End) => "end",
    }
}

const fn image_alignment_name(align: Option<ImageAlign>) -> &'static str {
    match align {
        Some(ImageAlign::Left) => "start",
        None | Some(ImageAlign::Center) => "center",
        Some(ImageAlign::Right) => "end",
    }
}

const fn hint(style: HintStyle) -> &'static str {
    match style {
        HintStyle::Info => "info",
        HintStyle::Warning => "warning",
        HintStyle::Danger => "danger",
        HintStyle::Success => "success",
    }
}
