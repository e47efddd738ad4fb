//! Vertical layout of parts.

use super::{
    code,
    layout_area::{LayoutArea, TextAlignment},
    setter::Setter,
    table,
};
use crate::{
    layout_tree::{ShownPart, ShownTag, flatten_parts},
    tags::Role,
    termination::LayoutResult,
};

impl Setter {
    /// Lays out parts below each other.
    ///
    /// Any [`LayoutStop`], as for all layout functions: for example, the time limit may be exceeded, or a trial layout
    /// may not fit.
    pub(crate) fn flow(&mut self, parts: &[ShownPart], room: &LayoutArea) -> LayoutResult {
        let flat = flatten_parts(parts);
        let mut rest = flat.as_slice();
        while let Some(first) = rest.first() {
            if is_inline(first) {
                let end = rest.iter().position(|part| !is_inline(part)).unwrap_or(rest.len());
                let (text, after) = rest.split_at(end);
                let tag = self.tags.add(room.tag, Role::Paragraph);
                self.paragraph(text, &room.with_tag(tag))?;
                rest = after;
            } else {
                self.block(first, &rest[1..], room)?;
                rest = &rest[1..];
            }
        }
        Ok(())
    }

    fn block(&mut self, part: &ShownPart, after: &[&ShownPart], room: &LayoutArea) -> LayoutResult {
        self.clock.check()?;
        let ShownPart::Tag(tag) = part else { return Ok(()) };
        match &**tag {
            ShownTag::Par { c, align } => {
                let tag = self.tags.add(room.tag, Role::Paragraph);
                let side = if *align == "start" { room.side } else { TextAlignment::from_name(align) };
                let parts = flatten_parts(c);
                self.paragraph(&parts, &LayoutArea { side, tag, ..*room })
            }
            ShownTag::Heading { .. } => self.heading(tag, after, room),
            ShownTag::List { items, start } => self.list(items, *start, room),
            ShownTag::Tasks { items } => self.tasks(items, room),
            ShownTag::Steps { items } => self.steps(items, room),
            ShownTag::Rule => self.rule(room),
            ShownTag::Quote { c } => self.quote(c, room),
            ShownTag::Hint { c, style } => self.hint(c, style, room),
            ShownTag::Card { c, note } => self.card(c, note.as_deref(), room),
            ShownTag::Titled { title, c, kind } => self.lay_titled(title, c, kind, room),
            ShownTag::Code { title, numbers, whole, lines } => self.code(
                &code::Listing { title: title.as_deref(), numbers: *numbers, whole: *whole, lines },
                room,
            ),
            ShownTag::Image { .. } => self.image(tag, room),
            ShownTag::Images { items, align } => self.images(items, align, room),
            ShownTag::Math { formula, source, .. } => self.formula(formula, source, room),
            ShownTag::Columns { widths, items } => self.columns(widths, items, room),
            ShownTag::Table { widths, aligns, head, rows, size } => {
                self.table(&table::Grid { widths, aligns, head, rows, size: *size }, room)
            }
            ShownTag::Cards { across, items } => self.cards(*across, items, room),
            // All other tags are inline.
            _ => Ok(()),
        }
    }
}

/// Returns `true` if a part is inline content.
fn is_inline(part: &ShownPart) -> bool {
    match part {
        ShownPart::Text(_) => true,
        ShownPart::Parts(_) => false,
        ShownPart::Tag(tag) => matches!(
            &**tag,
            ShownTag::Styled(_)
                | ShownTag::Link { .. }
                | ShownTag::Glyph { .. }
                | ShownTag::Math { block: false, .. }
                | ShownTag::Note { .. }
                | ShownTag::Button { .. }
                | ShownTag::Check { .. }
        ),
    }
}
