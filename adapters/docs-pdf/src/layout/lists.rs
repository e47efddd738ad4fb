//! Layout of lists, tasks and steps.

use super::{
    inline::Inline,
    layout_area::{LayoutArea, TextAlignment},
    setter::Setter,
};
use crate::{
    appearance::{ACCENT, WHITE},
    layout_tree::{ShownPart, ShownParts},
    pages::SheetPosition,
    sheet::{Area, Mark, Paint},
    tags::{Role, TagId},
    termination::LayoutResult,
};

/// Bullets by list nesting.
const SIGNS: [&str; 3] = ["•", "–", "◦"];
/// Space before and after a bullet, relative to the font size.
const SPACE_BEFORE_BULLET: f32 = 0.4;
const SPACE_AFTER_BULLET: f32 = 0.6;
/// Minimum width of an item's content, in points.
const MIN_CONTENT_WIDTH: f32 = 90.0;

impl Setter {
    pub(super) fn list(
        &mut self,
        items: &[ShownParts],
        start: Option<u64>,
        room: &LayoutArea,
    ) -> LayoutResult {
        let tag = self.tags.add(room.tag, Role::List(start.is_some()));
        let last = start.map(|start| start.saturating_add(items.len() as u64));
        #[expect(clippy::cast_precision_loss, reason = "a few digits")]
        let wide = last.map_or(0.5, |last| (last.to_string().len() + 1) as f32 * 0.5) * room.size;
        let before = SPACE_BEFORE_BULLET * room.size;
        let left =
            (before + wide + SPACE_AFTER_BULLET * room.size).min((room.width - MIN_CONTENT_WIDTH).max(wide));
        let inner =
            LayoutArea { tag, lists: room.lists + 1, gap: room.gap.min(3.2), ..room.inset(left, 0.0) };
        for (at, item) in items.iter().enumerate() {
            let sign = match start {
                Some(start) => format!("{}.", start.saturating_add(at as u64)),
                None => SIGNS[room.lists % SIGNS.len()].to_owned(),
            };
            let mark = LayoutArea {
                x: room.x + left - wide - SPACE_AFTER_BULLET * room.size,
                width: wide + 1.0,
                side: TextAlignment::End,
                ..*room
            };
            self.item(&sign, item, &mark, &inner)?;
        }
        self.pages.space(room.gap);
        Ok(())
    }

    /// Lays out an item: its bullet in the area `mark`, its content in the area `room`.
    fn item(
        &mut self,
        sign: &str,
        parts: &[ShownPart],
        mark: &LayoutArea,
        room: &LayoutArea,
    ) -> LayoutResult {
        self.clock.check()?;
        let item = self.tags.add(room.tag, Role::Item);
        let label = self.tags.add(item, Role::ItemLabel);
        let body = self.tags.add(item, Role::ItemBody);
        // The bullet must be on the same sheet as the first line.
        self.pages.space(2.4);
        let line = room.size * room.leading;
        self.pages.ensure(line * 1.1)?;
        self.pages.take(0.0)?;
        let start = self.pages.position();
        let inline = Inline::from_text(sign);
        self.lines(&inline, &LayoutArea { tag: label, ..*mark })?;
        let end = self.pages.position();
        self.pages.move_to(start);
        self.flow(parts, &room.with_tag(body))?;
        self.go_farther(end);
        Ok(())
    }

    /// Moves to the end of the longer of two adjacent columns, keeping the pending space of the current one.
    fn go_farther(&mut self, other: SheetPosition) {
        let here = self.pages.position();
        let gap = self.pages.take_gap();
        self.pages.move_to_end(if here > other { here } else { other });
        self.pages.space(gap);
    }

    pub(super) fn tasks(&mut self, items: &[(bool, ShownParts)], room: &LayoutArea) -> LayoutResult {
        let tag = self.tags.add(room.tag, Role::List(false));
        let left = room.size * 1.35;
        for (on, parts) in items {
            self.clock.check()?;
            let item = self.tags.add(tag, Role::Item);
            let label = self.tags.add(item, Role::ItemLabel);
            let body = self.tags.add(item, Role::ItemBody);
            self.pages.space(4.0);
            self.pages.ensure(room.size * room.leading * 1.1)?;
            let y = self.pages.take(0.0)?;
            let start = self.pages.position();
            let side = room.size * 0.75;
            let area = Area { x: room.x + 1.0, y: y + room.size * 0.3, w: side, h: side };
            self.put_box(area, if *on { TagId::DECOR } else { label });
            if *on {
                self.put_tick(area, label)?;
            }
            let line = SheetPosition { y: y + room.size * room.leading, ..start };
            let inner = LayoutArea { tag: body, gap: room.gap.min(3.2), ..room.inset(left, 0.0) };
            self.pages.move_to(start);
            self.flow(parts, &inner)?;
            self.go_farther(line);
        }
        self.pages.space(room.gap);
        Ok(())
    }

    pub(super) fn steps(&mut self, items: &[ShownParts], room: &LayoutArea) -> LayoutResult {
        const RADIUS: f32 = 8.0;
        let tag = self.tags.add(room.tag, Role::List(true));
        for (at, parts) in items.iter().enumerate() {
            self.clock.check()?;
            let item = self.tags.add(tag, Role::Item);
            let label = self.tags.add(item, Role::ItemLabel);
            let body = self.tags.add(item, Role::ItemBody);
            self.pages.space(9.0);
            self.pages.ensure(48.0)?;
            let y = self.pages.take(0.0)?;
            let start = self.pages.position();
            let area = Area { x: room.x, y: y + 1.0, w: RADIUS * 2.0, h: RADIUS * 2.0 };
            let paint = Paint { fill: Some(ACCENT), radius: RADIUS, ..Paint::default() };
            self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
            let number = LayoutArea { size: 8.5, bold: true, ink: WHITE, tag: label, ..LayoutArea::sheet() };
            self.word(&(at + 1).to_string(), &number, room.x + RADIUS, y + RADIUS + 3.9)?;
            let sign = SheetPosition { y: y + RADIUS * 2.0 + 2.0, ..start };
            self.pages.move_to(start);
            self.flow(parts, &LayoutArea { tag: body, ..room.inset(RADIUS * 2.0 + 9.0, 0.0) })?;
            self.go_farther(sign);
        }
        self.pages.space(room.gap + 4.0);
        Ok(())
    }
}
