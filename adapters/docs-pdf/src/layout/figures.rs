//! Layout of images and formulas that are blocks.

use super::{
    layout_area::{LayoutArea, TextAlignment},
    panels::column_positions,
    setter::Setter,
};
use crate::{
    appearance::{LINE, LINE_WIDTH, SOFT},
    formula::{Formula, FormulaLayout, FormulaPosition},
    layout_tree::{ShownPart, ShownTag},
    sheet::{Area, Mark, Paint},
    tags::{Role, TagId},
    termination::LayoutResult,
};

/// Space between an image and its frame, in points.
const FRAME_PADDING: f32 = 4.0;
/// Minimum scale of a wide formula. If it still does not fit, it is broken into lines.
const MIN_FORMULA_SCALE: f32 = 0.6;
/// Maximum number of images in a row.
const MAX_ROW_IMAGES: usize = 3;

impl Setter {
    pub(super) fn image(&mut self, tag: &ShownTag, room: &LayoutArea) -> LayoutResult {
        let ShownTag::Image { file, alt, caption, frame, align, .. } = tag else { return Ok(()) };
        let (w, h) = self.scaled_size(tag, room);
        let around = if *frame { FRAME_PADDING } else { 0.0 };
        let side = TextAlignment::from_name(align);
        let figure = self.tags.add(room.tag, Role::Figure(alt.clone()));
        self.pages.space(8.0);
        // The beginning of the caption must be on the same sheet as its image.
        let below = if caption.is_empty() { 0.0 } else { 24.0 };
        let height = h + around * 2.0;
        self.pages.ensure((height + below).min(self.pages.height()))?;
        let y = self.pages.take(height)?;
        let x = aligned_left(room, w + around * 2.0, side);
        if *frame {
            let area = Area { x, y, w: w + around * 2.0, h: height };
            let paint = Paint { line: Some((LINE, LINE_WIDTH)), radius: 3.0, ..Paint::default() };
            self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
        }
        let area = Area { x: x + around, y: y + around, w, h };
        self.pages.sheet().put(figure, Mark::Picture { area, picture: *file });
        if !caption.is_empty() {
            let tag = self.tags.add(figure, Role::Caption);
            self.pages.space(3.0);
            self.flow(caption, &LayoutArea { size: 9.0, ink: SOFT, gap: 2.0, side, tag, ..*room })?;
        }
        self.pages.space(8.0);
        Ok(())
    }

    /// Returns the size of an image, scaled to fit the available area.
    fn scaled_size(&self, tag: &ShownTag, room: &LayoutArea) -> (f32, f32) {
        let ShownTag::Image { w, h, frame, caption, .. } = tag else { return (0.0, 0.0) };
        #[expect(clippy::cast_possible_truncation, reason = "a size")]
        let (w, h) = (w.max(1.0) as f32, h.max(1.0) as f32);
        let around = if *frame { FRAME_PADDING * 2.0 } else { 0.0 };
        let below = if caption.is_empty() { 0.0 } else { 24.0 };
        let high = (self.pages.height().min(crate::appearance::CONTENT_HEIGHT) - around - below).max(20.0);
        let part = ((room.width - around) / w).min(high / h).clamp(0.001, 1.0);
        (w * part, h * part)
    }

    pub(super) fn images(&mut self, items: &[ShownPart], align: &str, room: &LayoutArea) -> LayoutResult {
        const BETWEEN: f32 = 8.0;
        let across = items.len().clamp(1, MAX_ROW_IMAGES);
        let places = column_positions(&vec![1.0; across], room, BETWEEN);
        for row in items.chunks(across) {
            self.clock.check()?;
            self.pages.space(8.0);
            let highest = row.iter().zip(&places).map(|(item, place)| {
                self.picture_height(item, &LayoutArea { x: place.0, width: place.1, ..*room })
            });
            let highest = highest.fold(0.0, f32::max);
            self.pages.ensure((highest + 24.0).min(self.pages.height()))?;
            self.pages.take(0.0)?;
            self.lay_side_by_side(row.iter().zip(&places), |this, (item, (x, width))| {
                let inner =
                    LayoutArea { x: *x, width: *width, side: TextAlignment::from_name(align), ..*room };
                let down = (highest - this.picture_height(item, &inner)) / 2.0;
                if down > 0.5 && this.pages.fits(highest, 0.0) {
                    this.pages.take(down)?;
                }
                this.flow(std::slice::from_ref(item), &inner)
            })?;
        }
        self.pages.space(8.0);
        Ok(())
    }

    fn picture_height(&self, item: &ShownPart, room: &LayoutArea) -> f32 {
        match item {
            ShownPart::Tag(tag) if matches!(**tag, ShownTag::Image { .. }) => self.scaled_size(tag, room).1,
            _ => 0.0,
        }
    }

    /// Lays out a block formula. A slightly too wide formula is scaled down, a wider one is broken into lines. Nothing
    /// is cut off.
    pub(super) fn formula(&mut self, formula: &Formula, source: &str, room: &LayoutArea) -> LayoutResult {
        let tag = self.tags.add(room.tag, Role::Formula(source.to_owned()));
        self.pages.space(7.0);
        let em = room.size * 1.05;
        let whole = formula.layout_one_line();
        let fits = |drawn: &FormulaLayout| (room.width / (drawn.width * em).max(0.01)).min(1.0);
        match whole {
            Some(drawn) if fits(&drawn) >= MIN_FORMULA_SCALE => {
                let em = em * fits(&drawn);
                self.formula_line(&[drawn], em, &room.with_tag(tag))?;
            }
            _ => {
                for line in lines(formula.parts(), room.width / em) {
                    self.clock.check()?;
                    self.formula_line(&line, em, &room.with_tag(tag))?;
                    self.pages.space(3.0);
                }
            }
        }
        self.pages.space(7.0);
        Ok(())
    }

    fn formula_line(&mut self, parts: &[FormulaLayout], em: f32, room: &LayoutArea) -> LayoutResult {
        let width: f32 = parts.iter().map(|part| part.width).sum::<f32>();
        let em = em.min(room.width / width.max(0.01));
        let above = parts.iter().map(|part| part.height).fold(0.0, f32::max);
        let below = parts.iter().map(|part| part.depth).fold(0.0, f32::max);
        // A formula that is higher than a sheet is scaled down as well.
        let em = em.min(self.pages.height() * 0.95 / (above + below).max(0.01));
        let y = self.pages.take((above + below) * em)?;
        let mut x = aligned_left(room, width * em, TextAlignment::Center);
        for part in parts {
            let spot = FormulaPosition { x, y: y + above * em, em, ink: room.ink, tag: room.tag };
            self.formulas.draw(part, spot, &mut self.faces, self.pages.sheet())?;
            x += part.width * em;
        }
        Ok(())
    }
}

/// Distributes the parts of a formula over lines of limited width.
fn lines(parts: Vec<FormulaLayout>, width: f32) -> Vec<Vec<FormulaLayout>> {
    let mut out: Vec<Vec<FormulaLayout>> = Vec::new();
    let mut taken = 0.0;
    for part in parts {
        let wide = part.width;
        match out.last_mut() {
            Some(line) if taken + wide <= width => line.push(part),
            _ => {
                out.push(vec![part]);
                taken = 0.0;
            }
        }
        taken += wide;
    }
    out
}

/// Returns the left edge of an item, given its width and alignment.
fn aligned_left(room: &LayoutArea, width: f32, side: TextAlignment) -> f32 {
    let left = (room.width - width).max(0.0);
    room.x
        + match side {
            TextAlignment::Start => 0.0,
            TextAlignment::Center => left / 2.0,
            TextAlignment::End => left,
        }
}
