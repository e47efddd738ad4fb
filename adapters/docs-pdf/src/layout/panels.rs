//! Layout of panels: quotes, hints, cards, tabs, and columns.

use super::{room::Room, setter::Setter};
use crate::{
    look::{self, LINE, LINE_WIDTH, PANEL, QUOTED, SOFT, WHITE, colour},
    pages::Inset,
    sheet::{Area, Mark, Paint},
    shown::{CardShown, Parts, Shown, Tag, flattened},
    stop::Done,
    tags::{Role, TagId},
};

/// Space above and below a panel, in points.
pub(super) const AROUND: f32 = 9.0;
/// Panels up to this fraction of the sheet height are not split.
const WHOLE: f32 = 0.22;

impl Setter {
    pub(super) fn rule(&mut self, room: &Room) -> Done {
        self.pages.space(14.0);
        let y = self.pages.take(LINE_WIDTH)?;
        let area = Area { x: room.x, y, w: room.width, h: LINE_WIDTH };
        let paint = Paint { fill: Some(LINE), ..Paint::default() };
        self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
        self.pages.space(14.0);
        Ok(())
    }

    /// Lays out content in a box. Small boxes are not split between sheets.
    fn boxed(
        &mut self,
        room: &Room,
        inset: Inset,
        paint: Paint,
        mut lay: impl FnMut(&mut Self) -> Done,
    ) -> Done {
        self.pages.space(AROUND);
        // The first line stays with the frame.
        self.pages.ensure(inset.top + inset.bottom + room.size * room.leading * 1.2)?;
        self.together(WHOLE, |this| {
            this.pages.open(room.x, room.width, inset, paint)?;
            lay(this)?;
            this.pages.close();
            Ok(())
        })?;
        self.pages.space(AROUND);
        Ok(())
    }

    pub(super) fn quote(&mut self, parts: &[Shown], room: &Room) -> Done {
        let tag = self.tags.add(room.tag, Role::Quote);
        let paint = Paint { left: Some((LINE, 2.0)), ..Paint::default() };
        let inner = Room { ink: QUOTED, tag, ..room.within(12.0, 0.0) };
        self.boxed(room, Inset { top: 2.0, bottom: 2.0 }, paint, |this| this.flow(parts, &inner))
    }

    pub(super) fn hint(&mut self, parts: &[Shown], style: &str, room: &Room) -> Done {
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
        let inner = Room { tag, ..room.within(10.0 + RADIUS * 2.0 + 8.0, 10.0) };
        self.boxed(room, Inset { top: 8.0, bottom: 8.0 }, paint, |this| {
            let y = this.pages.y();
            let area = Area { x: room.x + 10.0, y: y + 1.5, w: RADIUS * 2.0, h: RADIUS * 2.0 };
            let filled = Paint { fill: Some(dark), radius: RADIUS, ..Paint::default() };
            this.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint: filled });
            let sign_room =
                Room { size: 7.5, bold: true, code: true, ink: WHITE, tag: TagId::DECOR, ..Room::sheet() };
            this.word(sign, &sign_room, area.x + RADIUS, area.y + RADIUS + 2.7)?;
            this.flow(parts, &inner)
        })
    }

    pub(super) fn card(&mut self, parts: &[Shown], note: Option<&str>, room: &Room) -> Done {
        let tag = self.tags.add(room.tag, Role::Division);
        let inner = Room { tag, ..room.within(9.0, 9.0) };
        self.boxed(room, Inset { top: 7.5, bottom: 7.5 }, framed(None), |this| {
            this.flow(parts, &inner)?;
            if let Some(note) = note {
                let said = Shown::Text(note.to_owned());
                let tag = this.tags.add(inner.tag, Role::Paragraph);
                this.pages.space(4.0);
                this.paragraph(&[&said], &Room { size: 8.0, code: true, ink: SOFT, tag, ..inner })?;
            }
            Ok(())
        })
    }

    pub(super) fn titled(&mut self, title: &[Shown], parts: &[Shown], kind: &str, room: &Room) -> Done {
        let tag = self.tags.add(room.tag, Role::Division);
        let fill = (kind != "tab").then_some(PANEL.lighter(40));
        let inner = Room { tag, ..room.within(9.0, 9.0) };
        self.boxed(room, Inset { top: 8.0, bottom: 8.0 }, framed(fill), |this| {
            let tag = this.tags.add(inner.tag, Role::Paragraph);
            let flat = flattened(title);
            if !flat.is_empty() {
                this.pages.ensure(36.0)?;
                this.paragraph(&flat, &Room { bold: true, tag, ..inner })?;
                this.pages.space(5.0);
            }
            this.flow(parts, &inner)
        })
    }

    /// Lays out items side by side, starting at the same position, and continues below the longest one.
    pub(super) fn beside<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut lay: impl FnMut(&mut Self, T) -> Done,
    ) -> Done {
        let start = self.pages.position();
        let mut farthest = start;
        for item in items {
            self.pages.go(start);
            lay(self, item)?;
            let end = self.pages.position();
            farthest = if end > farthest { end } else { farthest };
        }
        self.pages.go_on(farthest);
        Ok(())
    }

    pub(super) fn columns(&mut self, widths: &[f64], items: &[Parts], room: &Room) -> Done {
        const BETWEEN: f32 = 14.0;
        self.pages.space(6.0);
        self.pages.take(0.0)?;
        let places = shares(widths, room, BETWEEN);
        self.beside(items.iter().zip(places), |this, (parts, (x, width))| {
            let tag = this.tags.add(room.tag, Role::Division);
            this.flow(parts, &Room { x, width, tag, ..*room })
        })?;
        self.pages.space(8.0);
        Ok(())
    }

    pub(super) fn cards(&mut self, across: usize, items: &[CardShown], room: &Room) -> Done {
        const BETWEEN: f32 = 8.0;
        let across = across.clamp(1, 4);
        let places = shares(&vec![1.0; across], room, BETWEEN);
        self.pages.space(AROUND);
        for row in items.chunks(across) {
            self.clock.check()?;
            self.together(0.6, |this| {
                this.pages.take(0.0)?;
                this.beside(row.iter().zip(&places), |this, (card, (x, width))| {
                    let tag = this.tags.add(room.tag, Role::Division);
                    this.one_card(card, &Room { x: *x, width: *width, size: 9.5, tag, ..*room })
                })
            })?;
            self.pages.space(BETWEEN);
        }
        self.pages.space(AROUND);
        Ok(())
    }

    fn one_card(&mut self, card: &CardShown, room: &Room) -> Done {
        const COVER: f32 = 70.0;
        self.pages.open(room.x, room.width, Inset { top: 8.0, bottom: 8.0 }, framed(None))?;
        let inner = room.within(8.0, 8.0);
        if let Some(Shown::Tag(tag)) = &card.cover
            && let Tag::Glyph { file, w, h, alt, .. } = &**tag
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

/// Returns the position and width of columns with relative widths.
pub(super) fn shares(widths: &[f64], room: &Room, between: f32) -> Vec<(f32, f32)> {
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
pub(super) fn framed(fill: Option<look::Ink>) -> Paint {
    Paint { fill, line: Some((LINE, LINE_WIDTH)), radius: 3.0, ..Paint::default() }
}
