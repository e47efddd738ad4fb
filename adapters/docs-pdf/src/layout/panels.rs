//! Layout of panels: quotes, hints, cards, tabs, and columns.

use super::{layout_area::LayoutArea, setter::Setter};
use crate::{
    appearance::{self, LINE, LINE_WIDTH, PANEL, QUOTED, SOFT, WHITE, colour},
    layout_tree::{ShownCard, ShownPart, ShownParts, ShownTag, flatten_parts},
    pages::Inset,
    sheet::{Area, Mark, Paint},
    tags::{Role, TagId},
    termination::LayoutResult,
};

/// Space above and below a panel, in points.
pub(super) const PANEL_MARGIN: f32 = 9.0;
/// Maximum height of panels that are not split, as a fraction of the sheet height.
const MAX_UNSPLIT_SHARE: f32 = 0.22;

impl Setter {
    pub(super) fn rule(&mut self, room: &LayoutArea) -> LayoutResult {
        self.pages.space(14.0);
        let y = self.pages.take(LINE_WIDTH)?;
        let area = Area { x: room.x, y, w: room.width, h: LINE_WIDTH };
        let paint = Paint { fill: Some(LINE), ..Paint::default() };
        self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
        self.pages.space(14.0);
        Ok(())
    }

    /// Lays out content in a box. Small boxes are not split between sheets.
    fn lay_in_box(
        &mut self,
        room: &LayoutArea,
        inset: Inset,
        paint: Paint,
        mut lay: impl FnMut(&mut Self) -> LayoutResult,
    ) -> LayoutResult {
        self.pages.space(PANEL_MARGIN);
        // The first line must be on the same sheet as the top of the frame.
        self.pages.ensure(inset.top + inset.bottom + room.size * room.leading * 1.2)?;
        self.keep_together(MAX_UNSPLIT_SHARE, |this| {
            this.pages.open(room.x, room.width, inset, paint)?;
            lay(this)?;
            this.pages.close();
            Ok(())
        })?;
        self.pages.space(PANEL_MARGIN);
        Ok(())
    }

    pub(super) fn quote(&mut self, parts: &[ShownPart], room: &LayoutArea) -> LayoutResult {
        let tag = self.tags.add(room.tag, Role::Quote);
        let paint = Paint { left: Some((LINE, 2.0)), ..Paint::default() };
        let inner = LayoutArea { ink: QUOTED, tag, ..room.inset(12.0, 0.0) };
        self.lay_in_box(room, Inset { top: 2.0, bottom: 2.0 }, paint, |this| this.flow(parts, &inner))
    }

    pub(super) fn hint(&mut self, parts: &[ShownPart], style: &str, room: &LayoutArea) -> LayoutResult {
        const RADIUS: f32 = 5.5;
        let (name, sign) = match style {
            "warning" => ("orange", "!"),
            "danger" => ("red", "!"),
            "success" => ("green", "✓"),
            _ => ("blue", "i"),
        };
        let (dark, light) = colour(name);
        let tag = self.tags.add(room.tag, Role::Division);
        let paint = Paint { fill: Some(light.lighter(45)), left: Some((dark, 2.5)), ..Paint::default() };
        let inner = LayoutArea { tag, ..room.inset(10.0 + RADIUS * 2.0 + 8.0, 10.0) };
        self.lay_in_box(room, Inset { top: 8.0, bottom: 8.0 }, paint, |this| {
            let y = this.pages.y();
            let area = Area { x: room.x + 10.0, y: y + 1.5, w: RADIUS * 2.0, h: RADIUS * 2.0 };
            let filled = Paint { fill: Some(dark), radius: RADIUS, ..Paint::default() };
            this.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint: filled });
            let sign_room = LayoutArea {
                size: 7.5,
                bold: true,
                code: true,
                ink: WHITE,
                tag: TagId::DECOR,
                ..LayoutArea::sheet()
            };
            this.word(sign, &sign_room, area.x + RADIUS, area.y + RADIUS + 2.7)?;
            this.flow(parts, &inner)
        })
    }

    pub(super) fn card(
        &mut self,
        parts: &[ShownPart],
        note: Option<&str>,
        room: &LayoutArea,
    ) -> LayoutResult {
        let tag = self.tags.add(room.tag, Role::Division);
        let inner = LayoutArea { tag, ..room.inset(9.0, 9.0) };
        self.lay_in_box(room, Inset { top: 7.5, bottom: 7.5 }, frame_paint(None), |this| {
            this.flow(parts, &inner)?;
            if let Some(note) = note {
                let said = ShownPart::Text(note.to_owned());
                let tag = this.tags.add(inner.tag, Role::Paragraph);
                this.pages.space(4.0);
                this.paragraph(&[&said], &LayoutArea { size: 8.0, code: true, ink: SOFT, tag, ..inner })?;
            }
            Ok(())
        })
    }

    pub(super) fn lay_titled(
        &mut self,
        title: &[ShownPart],
        parts: &[ShownPart],
        kind: &str,
        room: &LayoutArea,
    ) -> LayoutResult {
        let tag = self.tags.add(room.tag, Role::Division);
        let fill = (kind != "tab").then_some(PANEL.lighter(40));
        let inner = LayoutArea { tag, ..room.inset(9.0, 9.0) };
        self.lay_in_box(room, Inset { top: 8.0, bottom: 8.0 }, frame_paint(fill), |this| {
            let tag = this.tags.add(inner.tag, Role::Paragraph);
            let flat = flatten_parts(title);
            if !flat.is_empty() {
                this.pages.ensure(36.0)?;
                this.paragraph(&flat, &LayoutArea { bold: true, tag, ..inner })?;
                this.pages.space(5.0);
            }
            this.flow(parts, &inner)
        })
    }

    /// Lays out items side by side from the same position, and continues below the longest one.
    pub(super) fn lay_side_by_side<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut lay: impl FnMut(&mut Self, T) -> LayoutResult,
    ) -> LayoutResult {
        let start = self.pages.position();
        let mut farthest = start;
        for item in items {
            self.pages.move_to(start);
            lay(self, item)?;
            let end = self.pages.position();
            farthest = if end > farthest { end } else { farthest };
        }
        self.pages.move_to_end(farthest);
        Ok(())
    }

    pub(super) fn columns(
        &mut self,
        widths: &[f64],
        items: &[ShownParts],
        room: &LayoutArea,
    ) -> LayoutResult {
        const BETWEEN: f32 = 14.0;
        self.pages.space(6.0);
        self.pages.take(0.0)?;
        let places = column_positions(widths, room, BETWEEN);
        self.lay_side_by_side(items.iter().zip(places), |this, (parts, (x, width))| {
            let tag = this.tags.add(room.tag, Role::Division);
            this.flow(parts, &LayoutArea { x, width, tag, ..*room })
        })?;
        self.pages.space(8.0);
        Ok(())
    }

    pub(super) fn cards(&mut self, across: usize, items: &[ShownCard], room: &LayoutArea) -> LayoutResult {
        const BETWEEN: f32 = 8.0;
        let across = across.clamp(1, 4);
        let places = column_positions(&vec![1.0; across], room, BETWEEN);
        self.pages.space(PANEL_MARGIN);
        for row in items.chunks(across) {
            self.clock.check()?;
            self.keep_together(0.6, |this| {
                this.pages.take(0.0)?;
                this.lay_side_by_side(row.iter().zip(&places), |this, (card, (x, width))| {
                    let tag = this.tags.add(room.tag, Role::Division);
                    this.one_card(card, &LayoutArea { x: *x, width: *width, size: 9.5, tag, ..*room })
                })
            })?;
            self.pages.space(BETWEEN);
        }
        self.pages.space(PANEL_MARGIN);
        Ok(())
    }

    fn one_card(&mut self, card: &ShownCard, room: &LayoutArea) -> LayoutResult {
        const COVER: f32 = 70.0;
        self.pages.open(room.x, room.width, Inset { top: 8.0, bottom: 8.0 }, frame_paint(None))?;
        let inner = room.inset(8.0, 8.0);
        if let Some(ShownPart::Tag(tag)) = &card.cover
            && let ShownTag::Glyph { file, w, h, alt, .. } = &**tag
        {
            #[expect(clippy::cast_possible_truncation, reason = "a size")]
            let (w, h) = (w.max(0.1) as f32, h.max(0.1) as f32);
            let part = (inner.width / w).min(COVER / h);
            let y = self.pages.take(COVER)?;
            let (w, h) = (w * part, h * part);
            let area = Area { x: inner.x + (inner.width - w) / 2.0, y: y + (COVER - h) / 2.0, w, h };
            let tag = self.tags.add(room.tag, Role::Figure(alt.clone()));
            self.pages.sheet().put(tag, Mark::Picture { area, picture: *file });
            self.pages.space(6.0);
        }
        self.flow(&card.c, &inner)?;
        self.pages.close();
        Ok(())
    }
}

/// Returns position and width of each column, given the relative widths.
pub(super) fn column_positions(widths: &[f64], room: &LayoutArea, between: f32) -> Vec<(f32, f32)> {
    let all: f64 = widths.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    #[expect(clippy::cast_precision_loss, reason = "a few")]
    let gaps = between * widths.len().saturating_sub(1) as f32;
    let width = (room.width - gaps).max(1.0);
    let mut x = room.x;
    let mut out = Vec::with_capacity(widths.len());
    for part in widths {
        #[expect(clippy::cast_possible_truncation, reason = "a part")]
        let wide = width * (part / all) as f32;
        out.push((x, wide));
        x += wide + between;
    }
    out
}

/// Returns the style of a frame.
pub(super) fn frame_paint(fill: Option<appearance::RgbColor>) -> Paint {
    Paint { fill, line: Some((LINE, LINE_WIDTH)), radius: 3.0, ..Paint::default() }
}
