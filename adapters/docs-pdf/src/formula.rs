//! Layout of TeX formulas.
//!
//! `docs-formula` parses a formula, and limits its length and the size of its macro expansion. A library computes the
//! positions of glyphs and lines. This module limits the number of laid out boxes and drawn items. An unsupported or
//! oversized formula is rendered as source.

mod weight;

use std::{collections::HashMap, rc::Rc};

use ratex_font::{FontId, katex_ttf_glyph_char};
use ratex_layout::{LayoutOptions, layout, to_display_list, validate_layout};
use ratex_parser::{Mode, ParseNode, parse_node::AtomFamily};
use ratex_types::{display_item::DisplayItem, math_style::MathStyle, path_command::PathCommand};
use skrifa::MetadataProvider as _;

use crate::{
    appearance::RgbColor,
    fonts::BookFonts,
    sheet::{Area, Glyph, Mark, Paint, Sheet, SheetRange, count},
    tags::TagId,
    termination::LayoutResult,
};

/// Maximum number of boxes that are laid out for a formula.
const MAX_BOXES: usize = 16_000;
/// Maximum number of glyphs and lines in a formula.
const MAX_ITEMS: usize = 8_000;
/// Maximum distance of an item from the formula's origin, in em.
const MAX_ITEM_DISTANCE: f64 = 2_000.0;

#[derive(Clone, Debug)]
pub(crate) struct Formula {
    nodes: Vec<ParseNode>,
    style: MathStyle,
}

/// The layout of a formula, or of a part of one, on a single line. Lengths are in em.
#[derive(Clone, Debug)]
pub(crate) struct FormulaLayout {
    items: Vec<DisplayItem>,
    pub(crate) width: f32,
    /// Height above the baseline.
    pub(crate) height: f32,
    /// Depth below the baseline.
    pub(crate) depth: f32,
}

/// Position and appearance of a formula on a sheet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormulaPosition {
    pub(crate) x: f32,
    /// The baseline.
    pub(crate) y: f32,
    pub(crate) em: f32,
    pub(crate) ink: RgbColor,
    pub(crate) tag: TagId,
}

impl Formula {
    /// Parses a formula. Returns `None` if it is unsupported or too large.
    pub(crate) fn read(tex: &str, style: MathStyle) -> Option<Self> {
        let nodes = match style {
            MathStyle::Display => docs_formula::parse_display(tex),
            _ => docs_formula::within_text(tex),
        };
        let formula = Self { nodes: nodes.filter(|nodes| weight::is_within(nodes, MAX_BOXES))?, style };
        formula.layout_one_line().map(|_| formula)
    }

    /// Lays out the formula on one line. Returns `None` if it is too large.
    pub(crate) fn layout_one_line(&self) -> Option<FormulaLayout> {
        self.draw(&self.nodes)
    }

    /// Lays out the formula in parts, split at possible line breaks, which are after relations and binary operators.
    pub(crate) fn parts(&self) -> Vec<FormulaLayout> {
        let mut out = Vec::new();
        let mut rest = self.nodes.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().skip(1).position(may_break).map_or(rest.len(), |at| at + 2);
            let (part, after) = rest.split_at(end.min(rest.len()));
            // An operator is spaced only if an item follows, so append an empty group.
            let nothing =
                ParseNode::OrdGroup { mode: Mode::Math, body: Vec::new(), semisimple: None, loc: None };
            out.extend(self.draw(&[part, &[nothing]].concat()));
            rest = after;
        }
        out
    }

    fn draw(&self, nodes: &[ParseNode]) -> Option<FormulaLayout> {
        let boxes = layout(nodes, &LayoutOptions::default().with_style(self.style));
        validate_layout(&boxes).ok()?;
        let list = to_display_list(&boxes);
        let sane = |length: f64| length.is_finite() && length.abs() <= MAX_ITEM_DISTANCE;
        let all = [list.width, list.height, list.depth];
        if list.items.len() > MAX_ITEMS || !all.into_iter().all(sane) || !list.items.iter().all(is_sane) {
            return None;
        }
        let (width, height, depth) = (point(list.width), point(list.height), point(list.depth));
        Some(FormulaLayout { items: list.items, width: width.max(0.0), height, depth })
    }
}

/// Returns `true` if a line break is possible after a node.
fn may_break(node: &ParseNode) -> bool {
    matches!(node, ParseNode::Atom { family: AtomFamily::Rel | AtomFamily::Bin, .. })
}

fn is_sane(item: &DisplayItem) -> bool {
    let near = |length: f64| length.is_finite() && length.abs() <= MAX_ITEM_DISTANCE;
    match item {
        DisplayItem::GlyphPath { x, y, scale, .. } => near(*x) && near(*y) && near(*scale),
        DisplayItem::Line { x, y, width, thickness, .. } => {
            near(*x) && near(*y) && near(*width) && near(*thickness)
        }
        DisplayItem::Rect { x, y, width, height, .. } => {
            near(*x) && near(*y) && near(*width) && near(*height)
        }
        DisplayItem::Path { x, y, commands, .. } => {
            near(*x) && near(*y) && commands.len() <= MAX_ITEMS && commands.iter().all(is_near)
        }
    }
}

fn is_near(command: &PathCommand) -> bool {
    let near = |length: f64| length.is_finite() && length.abs() <= MAX_ITEM_DISTANCE;
    match *command {
        PathCommand::MoveTo { x, y } | PathCommand::LineTo { x, y } => near(x) && near(y),
        PathCommand::QuadTo { x1, y1, x, y } => near(x1) && near(y1) && near(x) && near(y),
        PathCommand::CubicTo { x1, y1, x2, y2, x, y } => {
            near(x1) && near(y1) && near(x2) && near(y2) && near(x) && near(y)
        }
        PathCommand::Close => true,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the length was checked")]
const fn point(length: f64) -> f32 {
    length as f32
}

/// Formula fonts used in a book.
#[derive(Default)]
pub(crate) struct FormulaFonts {
    known: HashMap<String, Option<FormulaFont>>,
}

#[derive(Clone)]
struct FormulaFont {
    number: u16,
    id: FontId,
    data: Rc<[u8]>,
}

impl FormulaFonts {
    fn get(&mut self, name: &str, faces: &mut BookFonts) -> LayoutResult<Option<FormulaFont>> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        let file = ratex_katex_fonts::ttf_bytes(&format!("KaTeX_{name}.ttf"));
        let known = match (file, FontId::parse(name)) {
            (Some(file), Some(id)) => {
                let number = faces.push(file.to_vec().into(), 0)?;
                Some(FormulaFont { number, id, data: file.as_ref().into() })
            }
            _ => None,
        };
        self.known.insert(name.to_owned(), known.clone());
        Ok(known)
    }

    /// Draws a formula. Characters that its fonts lack are skipped.
    ///
    /// # Errors
    /// [`crate::termination::LayoutStop::Failed`] if a font cannot be embedded.
    pub(crate) fn draw(
        &mut self,
        drawn: &FormulaLayout,
        spot: FormulaPosition,
        faces: &mut BookFonts,
        sheet: &mut Sheet,
    ) -> LayoutResult {
        let top = spot.y - drawn.height * spot.em;
        let place = |x: f64, y: f64| (spot.x + point(x) * spot.em, top + point(y) * spot.em);
        for item in &drawn.items {
            match item {
                DisplayItem::GlyphPath { x, y, scale, font, char_code, .. } => {
                    let Some(known) = self.get(font, faces)? else { continue };
                    let size = point(*scale) * spot.em;
                    let (x, y) = place(*x, *y);
                    put_glyph(&known, *char_code, FormulaPosition { x, y, em: size, ..spot }, sheet);
                }
                DisplayItem::Line { x, y, width, thickness, .. } => {
                    let (x, y) = place(*x, *y);
                    let high = (point(*thickness) * spot.em).max(0.35);
                    let area = Area { x, y: y - high / 2.0, w: point(*width) * spot.em, h: high };
                    sheet.put(spot.tag, Mark::Box { area, paint: fill_paint(spot.ink) });
                }
                DisplayItem::Rect { x, y, width, height, color } => {
                    let (x, y) = place(*x, *y);
                    let area = Area { x, y, w: point(*width) * spot.em, h: point(*height) * spot.em };
                    let ink = if is_black(*color) { spot.ink } else { colour(*color) };
                    sheet.put(spot.tag, Mark::Box { area, paint: fill_paint(ink) });
                }
                DisplayItem::Path { x, y, commands, fill, .. } => {
                    let (x, y) = place(*x, *y);
                    let path = commands.as_slice().into();
                    let FormulaPosition { em, ink, tag, .. } = spot;
                    sheet.put(tag, Mark::Path { x, y, em, ink, filled: *fill, path });
                }
            }
        }
        Ok(())
    }
}

fn is_black(colour: ratex_types::color::Color) -> bool {
    colour.r + colour.g + colour.b < f32::EPSILON
}

fn colour(colour: ratex_types::color::Color) -> RgbColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is from 0 to 255")]
    let channel = |part: f32| (part.clamp(0.0, 1.0) * 255.0).round() as u8;
    RgbColor(channel(colour.r), channel(colour.g), channel(colour.b))
}

fn fill_paint(ink: RgbColor) -> Paint {
    Paint { fill: Some(ink), ..Paint::default() }
}

fn put_glyph(known: &FormulaFont, code: u32, spot: FormulaPosition, sheet: &mut Sheet) {
    let Ok(font) = skrifa::FontRef::new(&known.data) else { return };
    let Some(id) = font.charmap().map(katex_ttf_glyph_char(known.id, code)) else { return };
    let (Ok(id), Some(said)) = (u16::try_from(id.to_u32()), char::from_u32(code)) else { return };
    let (from, text) = (count(sheet.glyphs.len()), count(sheet.text.len()));
    sheet.text.push(said);
    let length = u16::try_from(said.len_utf8()).unwrap_or(4);
    sheet.glyphs.push(Glyph { id, text: length, ..Glyph::default() });
    let glyphs = SheetRange { from, to: from + 1 };
    let text = SheetRange { from: text, to: count(sheet.text.len()) };
    let FormulaPosition { x, y, em: size, ink, tag } = spot;
    sheet.put(tag, Mark::Run { x, y, size, ink, font: known.number, glyphs, text });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_formulas_are_parsed() {
        for tex in [
            r"E = mc^2",
            r"\frac{-b \pm \sqrt{b^2 - 4ac}}{2a}",
            r"\sum_{i=0}^{n} x_i' + \int_0^\infty e^{-x}\,dx",
            r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
            r"f(x) = \begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
            r"\left( \frac{1}{2} \right]^{\mathbb{R}} \cdot \vec{v} \ne \hat y",
            r"a &= b \\ c &= d",
            r"\lim_{x \to 0} \operatorname{sinc} x = 1 \quad \forall x \in \mathcal{X}",
            r"\sqrt[3]{x} \le \overline{AB} + \underbrace{a+b}_{2}",
            r"50\% \{a\} \alpha\beta\Gamma",
        ] {
            assert!(Formula::read(tex, MathStyle::Display).is_some(), "{tex}");
        }
    }

    #[test]
    fn invalid_formulas_are_rejected() {
        for tex in [
            "",
            "   ",
            r"\nosuchcommand",
            r"\frac{1}",
            "{",
            "}",
            "x^",
            "x^1^2",
            r"\left(",
            r"\begin{pmatrix} a",
            r"\begin{table} a \end{table}",
            r"\input{/etc/passwd}",
            "#eval(1)\0",
        ] {
            assert!(Formula::read(tex, MathStyle::Text).is_none(), "{tex}");
        }
    }

    #[test]
    fn overlong_nested_or_expanding_formulas_are_rejected() {
        let long = ["{".repeat(3_999), "x".repeat(4_001), r"\frac".repeat(700)];
        for tex in long.iter().chain(&[format!("{}x{}", "{".repeat(1_900), "}".repeat(1_900))]) {
            assert!(Formula::read(tex, MathStyle::Display).is_none());
        }
        for tex in [
            r"\def\a{\a\a}\a",
            r"\def\a{xx}\def\b{\a\a\a\a\a\a\a\a}\def\c{\b\b\b\b\b\b\b\b}\def\d{\c\c\c\c\c\c\c\c}\def\e{\d\d\d\d\d\d\d\d}\def\f{\e\e\e\e\e\e\e\e}\f\f\f\f",
            r"\rule{99999999em}{1em}",
            r"\kern 9999999em x",
        ] {
            assert!(Formula::read(tex, MathStyle::Display).is_none(), "{tex}");
        }
    }

    #[test]
    fn long_formula_is_split_into_breakable_parts() {
        let formula =
            Formula::read(&format!("{}y", "x + ".repeat(80)), MathStyle::Display).expect("a formula");
        assert_eq!(formula.parts().len(), 81);
    }
}
