//! Lowering of blocks.

use docs_model::{
    Block, BlockKind, ContentRef, HeadingData, HintStyle, ImageAlign, ImageData, IntegrationData, Length,
    Node, TextAlign,
};

use super::{
    At, Lower,
    inline::{PIXEL, plain},
    text,
};
use crate::{
    shown::{Line, Parts, Shown, Tag},
    stop::Done,
    text::{Breaker, clean, one_line},
};

/// Width of text in points.
const WIDTH: f64 = 470.0;
/// Maximum height of an image in points, which leaves space for a caption on the sheet.
const HEIGHT: f64 = 560.0;
/// Maximum number of code lines that are kept on one sheet.
const WHOLE: usize = 14;
/// Tab width in code, in columns.
const TAB: usize = 4;

impl Lower<'_> {
    /// Lowers a sequence of blocks.
    pub(super) fn blocks(&mut self, blocks: &[Block], at: At) -> Done<Parts> {
        let mut out = Vec::with_capacity(blocks.len());
        for block in blocks {
            self.count(1)?;
            self.block(block, at, &mut out)?;
        }
        Ok(out)
    }

    /// Lowers the children of a block. Text directly in a block becomes a paragraph.
    fn held(&mut self, nodes: &[Node], at: At) -> Done<Parts> {
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
                out.push(Tag::Par { c, align: "start" }.into());
            }
            rest = &rest[end..];
        }
        Ok(out)
    }

    fn block(&mut self, block: &Block, at: At, out: &mut Parts) -> Done {
        if at.is_deep() && self.flat(block, at, out)? {
            return Ok(());
        }
        let shown = match &block.kind {
            BlockKind::Paragraph { align } => return self.paragraph(block, *align, at, out),
            BlockKind::Heading1(data) => self.heading(block, data, at, 1)?,
            BlockKind::Heading2(data) => self.heading(block, data, at, 2)?,
            BlockKind::Heading3(data) => self.heading(block, data, at, 3)?,
            BlockKind::ListUnordered {} => Tag::List { items: self.items(block, at)?, start: None }.into(),
            BlockKind::ListOrdered { start } => {
                Tag::List { items: self.items(block, at)?, start: Some(start.unwrap_or(1)) }.into()
            }
            BlockKind::ListTasks {} => self.tasks(block, at)?,
            BlockKind::Divider {} => Tag::Rule.into(),
            BlockKind::Blockquote {} => Tag::Quote { c: self.held(&block.nodes, at.inner(4))? }.into(),
            BlockKind::Hint { style, .. } => {
                Tag::Hint { c: self.held(&block.nodes, at.inner(6))?, style: hint(*style) }.into()
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
            BlockKind::Expandable { .. } => self.expandable(block, at)?,
            BlockKind::TabsItem { title, .. } => self.tab(block, title.as_deref(), at)?,
            BlockKind::Stepper {} => Tag::Steps { items: self.items(block, at)? }.into(),
            BlockKind::Columns { .. } => self.columns(block, at)?,
            BlockKind::Tabs { .. }
            | BlockKind::If { .. }
            | BlockKind::StepperStep { .. }
            | BlockKind::Column { .. }
            | BlockKind::ListItem { .. } => {
                out.extend(self.held(&block.nodes, at)?);
                return Ok(());
            }
            BlockKind::CodeLine { .. } => {
                Tag::Par { c: self.inlines(&block.nodes, at)?, align: "start" }.into()
            }
            BlockKind::ReusableContent { target } => return self.reused(target, at, out),
            BlockKind::File { target } => return self.captioned(block, target, at, out),
            BlockKind::Embed { url, .. } => {
                return self.captioned(block, &ContentRef::Url { url: url.clone() }, at, out);
            }
            BlockKind::ContentRef { target } => self.card(target, None),
            BlockKind::Integration(data) => self.integration(data),
            BlockKind::Swagger { path: name, method, target, .. }
            | BlockKind::OpenapiOperation { path: name, method, target }
            | BlockKind::OpenapiWebhook { name, method, target } => self.operation(method, name, target),
            BlockKind::OpenapiSchemas { schemas, target, .. } => self.card(target, Some(schemas.join(", "))),
        };
        out.push(shown);
        Ok(())
    }

    /// Lowers a paragraph. Empty paragraphs are dropped.
    fn paragraph(&mut self, block: &Block, align: Option<TextAlign>, at: At, out: &mut Parts) -> Done {
        let c = self.inlines(&block.nodes, at)?;
        if !c.is_empty() {
            out.push(Tag::Par { c, align: aligned(align) }.into());
        }
        Ok(())
    }

    /// Creates the card of an API operation.
    fn operation(&self, method: &str, name: &str, target: &ContentRef) -> Shown {
        self.card(target, Some(format!("{} {name}", method.to_uppercase())))
    }

    fn tasks(&mut self, block: &Block, at: At) -> Done<Shown> {
        let is_checked = |node: &Node| {
            matches!(node, Node::Block(Block { kind: BlockKind::ListItem { checked: Some(true) }, .. }))
        };
        let on: Vec<bool> = block.nodes.iter().map(is_checked).collect();
        Ok(Tag::Tasks { items: on.into_iter().zip(self.items(block, at)?).collect() }.into())
    }

    fn tab(&mut self, block: &Block, title: Option<&str>, at: At) -> Done<Shown> {
        let title = vec![text(one_line(title.unwrap_or_default()))];
        Ok(Tag::Titled { title, c: self.held(&block.nodes, at.inner(4))?, kind: "tab" }.into())
    }

    /// Creates a card with a caption.
    fn captioned(&mut self, block: &Block, target: &ContentRef, at: At, out: &mut Parts) -> Done {
        let caption = self.caption(block, at)?;
        out.push(self.card(target, None));
        out.extend(caption);
        Ok(())
    }

    /// Returns the name of an integration block, which cannot be rendered here.
    fn integration(&self, data: &IntegrationData) -> Shown {
        let name = format!("{} / {}", one_line(&data.integration), one_line(&data.block));
        let target = data.url.as_ref().map(|url| ContentRef::Url { url: url.clone() });
        let c = vec![text(Breaker::new(40).run(&name))];
        let c = target.map_or(Shown::Parts(c.clone()), |target| self.way(&target).around(c));
        Tag::Card { c: vec![c], note: None }.into()
    }

    /// Flattens a block that is nested too deeply: its text is kept, its frame is dropped. Returns `true` if the block
    /// was flattened.
    fn flat(&mut self, block: &Block, at: At, out: &mut Parts) -> Done<bool> {
        let has_fragments = matches!(
            block.kind,
            BlockKind::Table(_) | BlockKind::Expandable { .. } | BlockKind::Images { .. }
        );
        let is_flat = matches!(block.kind, BlockKind::Paragraph { .. } | BlockKind::Code { .. });
        if is_flat || (block.kind.form().is_void() && !has_fragments) {
            // These blocks add no depth.
            return Ok(false);
        }
        if has_fragments {
            for fragment in block.fragments() {
                self.flatten(fragment.nodes.iter(), at, out)?;
            }
        }
        // Text next to blocks.
        if block.nodes.iter().any(|node| node.as_block().is_none()) {
            let c = self.inlines(&block.nodes, at)?;
            out.push(Tag::Par { c, align: "start" }.into());
            return Ok(true);
        }
        self.flatten(block.nodes.iter().filter_map(Node::as_block), at, out)?;
        Ok(true)
    }

    /// Flattens the descendants of a block that is nested too deeply. Uses a stack, because the remaining depth is not
    /// limited.
    fn flatten<'b>(
        &mut self,
        blocks: impl Iterator<Item = &'b Block> + Clone,
        at: At,
        out: &mut Parts,
    ) -> Done {
        let mut stack: Vec<&Block> = blocks.collect();
        stack.reverse();
        while let Some(block) = stack.pop() {
            self.count(1)?;
            let holds: Vec<&Block> = block.children().collect();
            let framed = !matches!(block.kind, BlockKind::Code { .. } | BlockKind::Image(_));
            if framed && !holds.is_empty() {
                stack.extend(holds.into_iter().rev());
            } else if matches!(block.kind, BlockKind::Paragraph { .. }) || block.is_void || !framed {
                self.block(block, At { nesting: super::NESTING, ..at }, out)?;
            } else {
                let c = self.inlines(&block.nodes, at)?;
                out.push(Tag::Par { c, align: "start" }.into());
            }
        }
        Ok(())
    }

    fn heading(&mut self, block: &Block, data: &HeadingData, at: At, level: usize) -> Done<Shown> {
        // Headings have a larger font.
        let c = self.inlines(&block.nodes, At { width: at.width * 2 / 3, ..at })?;
        let anchor = block.meta.as_ref().map(|meta| meta.id.as_str()).or(data.id.as_deref());
        let label = self.label(anchor, &plain(&block.nodes));
        // Headings in tables, cards and notes are not part of the outline.
        let align = aligned(data.align);
        Ok(Tag::Heading { c, level: at.level + level, label, align }.into())
    }

    fn items(&mut self, block: &Block, at: At) -> Done<Vec<Parts>> {
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

    fn code(&mut self, block: &Block, title: Option<&str>, numbers: bool, at: At) -> Done<Shown> {
        let mut lines = Vec::new();
        // Code characters are wider than those of text.
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
                let line = tabbed(&clean(line));
                height += 1 + line.chars().count() / width;
                lines.push(Line { c: vec![text(Breaker::new(width).run(&line))], on });
            }
        }
        let whole = height <= WHOLE;
        Ok(Tag::Code { title: title.map(one_line), numbers, whole, lines }.into())
    }

    fn images(&mut self, block: &Block, align: Option<ImageAlign>, frame: bool, at: At) -> Done<Shown> {
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
        Ok(Tag::Images { items, align: placed(align) }.into())
    }

    fn image(
        &mut self,
        block: &Block,
        data: &ImageData,
        align: Option<ImageAlign>,
        frame: bool,
        beside: usize,
        at: At,
    ) -> Done<Shown> {
        let mut caption = Vec::new();
        for fragment in block.fragments() {
            caption.extend(self.blocks(&fragment.nodes, at.inner(0))?);
        }
        let alt = one_line(data.alt.as_deref().unwrap_or_default());
        let Some(picture) = self.pictures.get(&data.target) else {
            let name = if alt.is_empty() { self.name(&data.target) } else { alt };
            let c = self.way(&data.target).around(vec![text(Breaker::new(40).run(&name))]);
            let card = Tag::Card { c: vec![c], note: None }.into();
            return Ok(Shown::Parts(std::iter::once(card).chain(caption).collect()));
        };
        let (w, h) = fitted(picture.width, picture.height, data.width.as_ref(), data.height.as_ref(), beside);
        let (file, align) = (picture.file, placed(align));
        Ok(Tag::Image { file, w, h, alt, caption, frame, align }.into())
    }

    fn drawing(&mut self, target: Option<&ContentRef>, out: &mut Parts) -> Done {
        let Some(target) = target else { return Ok(()) };
        match self.pictures.get(target) {
            None => out.push(self.card(target, None)),
            Some(picture) => {
                let (w, h) = fitted(picture.width, picture.height, None, None, 1);
                let file = picture.file;
                let (caption, align) = (Vec::new(), "center");
                out.push(Tag::Image { file, w, h, alt: String::new(), caption, frame: false, align }.into());
            }
        }
        Ok(())
    }

    fn caption(&mut self, block: &Block, at: At) -> Done<Parts> {
        let mut out = Vec::new();
        for fragment in block.fragments() {
            out.extend(self.blocks(&fragment.nodes, at)?);
        }
        Ok(out)
    }

    fn expandable(&mut self, block: &Block, at: At) -> Done<Shown> {
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
        Ok(Tag::Titled { title, c, kind: "expandable" }.into())
    }

    fn columns(&mut self, block: &Block, at: At) -> Done<Shown> {
        let count = block.nodes.len().max(1);
        // More than four columns, or columns of only a few characters, are unreadable on paper.
        if count > 4 || at.width / count < 12 {
            return Ok(Shown::Parts(self.held(&block.nodes, at)?));
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
        Ok(Tag::Columns { widths, items }.into())
    }

    fn reused(&mut self, target: &ContentRef, at: At, out: &mut Parts) -> Done {
        let known = self.reusable(target).and_then(|id| self.book.reusables.get_key_value(id));
        match known {
            Some((id, document)) if !self.reusables.contains(&id) && self.reusables.len() < 8 => {
                self.reusables.push(id);
                let shown = self.blocks(&document.nodes, at);
                self.reusables.pop();
                out.extend(shown?);
            }
            Some(_) => {}
            None => out.push(self.card(target, None)),
        }
        Ok(())
    }

    /// Creates a framed line with the name of a link target.
    fn card(&self, target: &ContentRef, note: Option<String>) -> Shown {
        let name = Breaker::new(60).run(&self.name(target));
        let c = vec![self.way(target).around(vec![text(name)])];
        Tag::Card { c, note: note.map(|note| Breaker::new(60).run(&one_line(&note))) }.into()
    }
}

/// Expands tabs in code to spaces.
fn tabbed(line: &str) -> String {
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

/// Returns the size of an image in points, from its size in pixels and the requested size, limited to the page.
fn fitted(
    width: f64,
    height: f64,
    wide: Option<&Length>,
    high: Option<&Length>,
    beside: usize,
) -> (f64, f64) {
    #[expect(clippy::cast_precision_loss, reason = "the number of images fits")]
    let room = WIDTH / beside.clamp(1, 3) as f64;
    let w = match (wide, high) {
        (Some(Length::Pixels(px)), _) => px * PIXEL,
        (Some(Length::Unit { unit, value }), _) if unit == "%" => WIDTH * value / 100.0,
        (Some(Length::Unit { value, .. }), _) => value * PIXEL,
        (None, Some(Length::Pixels(px))) => px * PIXEL * width / height,
        (None, _) => width * PIXEL,
    };
    let w = if w.is_finite() && w >= 4.0 { w } else { width * PIXEL };
    let w = w.min(room).min(HEIGHT * width / height).max(1.0);
    (w, (w * height / width).max(1.0))
}

/// Returns the fraction of the width that a column requests.
fn share(width: &Length, even: f64) -> f64 {
    let share = match width {
        Length::Pixels(px) => px * PIXEL / WIDTH,
        Length::Unit { unit, value } if unit == "%" => value / 100.0,
        Length::Unit { .. } => even,
    };
    if share.is_finite() { share.clamp(0.1, 1.0) } else { even }
}

const fn aligned(align: Option<TextAlign>) -> &'static str {
    match align {
        None | Some(TextAlign::Start) => "start",
        Some(TextAlign::Center) => "center",
        Some(TextAlign::End) => "end",
    }
}

const fn placed(align: Option<ImageAlign>) -> &'static str {
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
