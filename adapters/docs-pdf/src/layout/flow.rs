//! Layout of parts one below the other.

use super::{
    code,
    room::{Room, Side},
    setter::Setter,
    table,
};
use crate::{
    shown::{Shown, Tag, flattened},
    stop::Done,
    tags::Role,
};

impl Setter {
    /// Lays out parts one below the other.
    ///
    /// # Errors
    /// Every kind of [`Stop`], as all layout functions: the time limit may be exceeded, and a trial layout may not fit.
    pub(crate) fn flow(&mut self, parts: &[Shown], room: &Room) -> Done {
        let flat = flattened(parts);
        let mut rest = flat.as_slice();
        while let Some(first) = rest.first() {
            if is_inline(first) {
                let end = rest.iter().position(|part| !is_inline(part)).unwrap_or(rest.len());
                let (text, after) = rest.split_at(end);
                let tag = self.tags.add(room.tag, Role::Paragraph);
                self.paragraph(text, &room.tagged(tag))?;
                rest = after;
            } else {
                self.block(first, &rest[1..], room)?;
                rest = &rest[1..];
            }
        }
        Ok(())
    }

    fn block(&mut self, part: &Shown, after: &[&Shown], room: &Room) -> Done {
        self.clock.check()?;
        let Shown::Tag(tag) = part else { return Ok(()) };
        match &**tag {
            Tag::Par { c, align } => {
                let tag = self.tags.add(room.tag, Role::Paragraph);
                let side = if *align == "start" { room.side } else { Side::of(align) };
                let parts = flattened(c);
                self.paragraph(&parts, &Room { side, tag, ..*room })
            }
            Tag::Heading { .. } => self.heading(tag, after, room),
            Tag::List { items, start } => self.list(items, *start, room),
            Tag::Tasks { items } => self.tasks(items, room),
            Tag::Steps { items } => self.steps(items, room),
            Tag::Rule => self.rule(room),
            Tag::Quote { c } => self.quote(c, room),
            Tag::Hint { c, style } => self.hint(c, style, room),
            Tag::Card { c, note } => self.card(c, note.as_deref(), room),
            Tag::Titled { title, c, kind } => self.titled(title, c, kind, room),
            Tag::Code { title, numbers, whole, lines } => self.code(
                &code::Listing { title: title.as_deref(), numbers: *numbers, whole: *whole, lines },
                room,
            ),
            Tag::Image { .. } => self.image(tag, room),
            Tag::Images { items, align } => self.images(items, align, room),
            Tag::Math { formula, source, .. } => self.formula(formula, source, room),
            Tag::Columns { widths, items } => self.columns(widths, items, room),
            Tag::Table { widths, aligns, head, rows, size } => {
                self.table(&table::Grid { widths, aligns, head, rows, size: *size }, room)
            }
            Tag::Cards { across, items } => self.cards(*across, items, room),
            // All other tags are inline.
            _ => Ok(()),
        }
    }
}

/// Returns `true` if a part is inline content.
fn is_inline(part: &Shown) -> bool {
    match part {
        Shown::Text(_) => true,
        Shown::Parts(_) => false,
        Shown::Tag(tag) => matches!(
            &**tag,
            Tag::Styled(_)
                | Tag::Link { .. }
                | Tag::Glyph { .. }
                | Tag::Math { block: false, .. }
                | Tag::Note { .. }
                | Tag::Button { .. }
                | Tag::Check { .. }
        ),
    }
}
