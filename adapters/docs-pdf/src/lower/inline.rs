//! Lowering of inline content.

use docs_markup::document::mention_label;
use docs_model::{
    BlockKind, ButtonKind, ContentRef, Inline, InlineImageSize, InlineKind, Length, MarkColor, MarkKind,
    Node, TextNode,
};
use ratex_types::math_style::MathStyle;

use super::{
    BookLowering, LowerContext,
    image_size::{POINTS_PER_PIXEL, image_size},
    text,
};
use crate::{
    formula::Formula,
    layout_tree::{ShownPart, ShownParts, ShownTag, Style},
    termination::LayoutResult,
    text::Breaker,
};

/// Maximum nesting of blocks and inline elements. Deeper content is reduced to its text.
const MAX_INLINE_NESTING: usize = super::MAX_BLOCK_NESTING + 5;

impl BookLowering<'_> {
    /// Lowers the text of a paragraph, heading or cell.
    pub(super) fn inlines(&mut self, nodes: &[Node], at: LowerContext) -> LayoutResult<ShownParts> {
        let mut breaker = Breaker::new(at.width);
        let mut out = Vec::new();
        self.put_inlines(nodes, at, &mut breaker, &mut out)?;
        Ok(out)
    }

    fn put_inlines(
        &mut self,
        nodes: &[Node],
        at: LowerContext,
        breaker: &mut Breaker,
        out: &mut ShownParts,
    ) -> LayoutResult {
        if at.nesting > MAX_INLINE_NESTING {
            let all = breaker.run(&self.clean(&plain(nodes))?);
            self.count(1 + all.len() / 64)?;
            out.push(text(all));
            return Ok(());
        }
        for node in nodes {
            self.count(1)?;
            match node {
                Node::Text(node) => self.put_text(node, breaker, out)?,
                Node::Inline(inline) => self.put_inline(inline, at, &mut *breaker, out)?,
                // Blocks within text are invalid, and are reduced to their text.
                Node::Block(block) => self.put_inlines(&block.nodes, at.inner(0), &mut *breaker, out)?,
            }
        }
        Ok(())
    }

    fn put_text(&mut self, node: &TextNode, breaker: &mut Breaker, out: &mut ShownParts) -> LayoutResult {
        for leaf in &node.leaves {
            if leaf.text.is_empty() {
                continue;
            }
            self.count(1 + leaf.text.len() / 64)?;
            let v = breaker.run(&self.clean(&leaf.text)?);
            if leaf.marks.is_empty() {
                out.push(text(v));
                continue;
            }
            let mut style = Style { v, ..Style::default() };
            leaf.marks.iter().for_each(|mark| apply_mark(&mut style, mark.kind));
            out.push(ShownTag::Styled(style).into());
        }
        Ok(())
    }

    fn put_inline(
        &mut self,
        inline: &Inline,
        at: LowerContext,
        breaker: &mut Breaker,
        out: &mut ShownParts,
    ) -> LayoutResult {
        match &inline.kind {
            InlineKind::Link { target, .. } => {
                let mut c = Vec::new();
                self.put_inlines(&inline.nodes, at.inner(0), &mut *breaker, &mut c)?;
                if c.is_empty() {
                    c.push(text(breaker.run(&self.name(target)?)));
                }
                out.push(self.link(target, c)?);
            }
            InlineKind::Mention { target } => {
                let name = match mention_label(inline) {
                    Some(label) => self.one_line(&label)?,
                    None => self.name(target)?,
                };
                let name = breaker.run(&name);
                out.push(self.link(target, vec![text(name)])?);
            }
            InlineKind::Emoji { code } => out.push(text(self.clean(&emoji(code))?)),
            InlineKind::Icon { .. } => {}
            InlineKind::InlineImage { target, alt, caption, size, width, height, .. } => {
                let alt = self.one_line(alt.as_deref().or(caption.as_deref()).unwrap_or_default())?;
                let line = *size == Some(InlineImageSize::Line);
                out.push(match self.glyph(target, width.as_deref(), height.as_deref()) {
                    Some((file, w, h)) => ShownTag::Glyph { file, w, h, alt, line }.into(),
                    None => text(breaker.run(&alt)),
                });
            }
            InlineKind::InlineMath { formula } => out.push(self.formula(formula, false)?),
            InlineKind::Expression { expression } => {
                let v = breaker.run(&self.one_line(&format!("{{{{ {expression} }}}}"))?);
                out.push(ShownTag::Styled(Style { v, code: true, ..Style::default() }).into());
            }
            InlineKind::Annotation {} => {
                self.put_inlines(&inline.nodes, at.inner(0), &mut *breaker, out)?;
                if at.notes && !at.is_deep() {
                    let inner = LowerContext { notes: false, ..at.inner(0) };
                    let mut c = Vec::new();
                    for block in inline.fragments().iter().flat_map(|fragment| &fragment.nodes) {
                        // The first paragraph of a footnote begins on the line with its number.
                        if c.is_empty() && matches!(block.kind, BlockKind::Paragraph { .. }) {
                            c.extend(self.inlines(&block.nodes, inner)?);
                        } else {
                            c.extend(self.blocks(std::slice::from_ref(block), inner)?);
                        }
                    }
                    out.push(ShownTag::Note { c }.into());
                }
            }
            InlineKind::Button { label, kind, target, .. } => {
                let c = vec![text(breaker.run(&self.one_line(label)?))];
                let button = ShownTag::Button { c, primary: *kind == ButtonKind::Primary }.into();
                out.push(match target {
                    Some(target) => self.link(target, vec![button])?,
                    None => button,
                });
            }
        }
        Ok(())
    }

    /// Returns the file of an inline image, and its width and height in points.
    fn glyph(
        &self,
        target: &ContentRef,
        wide: Option<&Length>,
        high: Option<&Length>,
    ) -> Option<(u32, f64, f64)> {
        let picture = self.pictures.get(target)?;
        let (w, h) = match (wide, high) {
            (None, None) => (picture.width * POINTS_PER_PIXEL, picture.height * POINTS_PER_PIXEL),
            _ => image_size(picture.width, picture.height, wide, high, 1),
        };
        Some((picture.file, w, h))
    }

    /// Lowers a formula. An unsupported formula is replaced by its source.
    pub(super) fn formula(&mut self, formula: &str, block: bool) -> LayoutResult<ShownPart> {
        self.count(1 + formula.len() / 4)?;
        let source = self.clean(formula)?;
        let style = if block { MathStyle::Display } else { MathStyle::Text };
        Ok(match Formula::read(formula, style) {
            Some(read) => ShownTag::Math { formula: read, source, block }.into(),
            None => {
                let v = Breaker::new(super::LINE_CHARS).run(&source);
                ShownTag::Styled(Style { v, code: true, ..Style::default() }).into()
            }
        })
    }
}

fn apply_mark(style: &mut Style, mark: MarkKind) {
    match mark {
        MarkKind::Bold => style.bold = true,
        MarkKind::Italic => style.italic = true,
        MarkKind::Strikethrough => style.strike = true,
        MarkKind::Code => style.code = true,
        MarkKind::Keyboard => style.key = true,
        MarkKind::Superscript => style.up = true,
        MarkKind::Subscript => style.down = true,
        MarkKind::Color { text, background } => {
            (style.fg, style.bg) = (colour(text), colour(background));
        }
    }
}

fn colour(colour: MarkColor) -> Option<&'static str> {
    Some(match colour {
        MarkColor::Default => return None,
        MarkColor::Green | MarkColor::Success => "green",
        MarkColor::Blue | MarkColor::Primary | MarkColor::Tint => "blue",
        MarkColor::Red | MarkColor::Danger => "red",
        MarkColor::Orange | MarkColor::Warning => "orange",
        MarkColor::Yellow => "yellow",
        MarkColor::Purple | MarkColor::Violet => "purple",
        MarkColor::Pink => "pink",
        MarkColor::Cyan => "cyan",
        MarkColor::Info => "grey",
    })
}

/// Returns the characters denoted by an emoji code; empty for an invalid code.
fn emoji(code: &str) -> String {
    code.split('-').filter_map(|hex| char::from_u32(u32::from_str_radix(hex, 16).ok()?)).collect()
}

/// Returns the text of nodes without formatting.
pub(super) fn plain(nodes: &[Node]) -> String {
    let mut out = String::new();
    let mut stack: Vec<&Node> = nodes.iter().rev().collect();
    while let Some(node) = stack.pop() {
        match node {
            Node::Text(node) => node.leaves.iter().for_each(|leaf| out.push_str(&leaf.text)),
            Node::Inline(inline) => stack.extend(inline.nodes.iter().rev()),
            Node::Block(block) => stack.extend(block.nodes.iter().rev()),
        }
    }
    out
}
