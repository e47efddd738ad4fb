//! Layout of the title sheet and the table of contents.

use super::{
    room::{Room, Side},
    setter::{Setter, Target},
};
use crate::{
    look::{HEIGHT, SIDE, SOFT, WIDTH},
    sheet::{Bookmark, LinkArea, Mark, Sheet},
    shown::Shown,
    stop::Done,
    tags::{Role, TagId},
};

use super::inline::Inline;

/// Width reserved for the sheet number in an entry, in points.
const NUMBER: f32 = 44.0;

/// The front matter before the first page.
pub(crate) struct Front<'a> {
    pub(crate) title: &'a str,
    pub(crate) subtitle: Option<&'a str>,
}

impl Front<'_> {
    /// Lays out the sheets before the first page: the title, and the table of contents of the sheets in `body`.
    ///
    /// # Errors
    /// As [`Setter::flow`].
    pub(crate) fn lay(&self, setter: &mut Setter, body: &[Sheet]) -> Done<Vec<Sheet>> {
        setter.title_sheet(self)?;
        let mut sheets = setter.take_sheets();
        let listed =
            || body.iter().enumerate().flat_map(|(at, sheet)| sheet.bookmarks.iter().map(move |m| (at, m)));
        let listed: Vec<(usize, &Bookmark)> = listed().filter(|(_, mark)| mark.listed).collect();
        if listed.is_empty() {
            return Ok(sheets);
        }
        // The number of sheets of the table does not depend on the sheet numbers in it, so a first layout determines
        // it.
        let (tags, targets) = (setter.tags.len(), setter.targets.len());
        setter.contents(&listed, 0)?;
        let taken = setter.take_sheets().len();
        setter.tags.forget(tags);
        setter.targets.truncate(targets);
        setter.contents(&listed, sheets.len() + taken)?;
        sheets.extend(setter.take_sheets());
        Ok(sheets)
    }
}

impl Setter {
    fn title_sheet(&mut self, front: &Front<'_>) -> Done {
        self.pages.take(HEIGHT * 0.34)?;
        let tag = self.tags.add(TagId::BOOK, Role::Division);
        let line = self.tags.add(tag, Role::Paragraph);
        let room = Room { size: 30.0, bold: true, leading: 1.15, tag: line, ..Room::sheet() };
        self.paragraph(&[&Shown::Text(front.title.to_owned())], &room)?;
        if let Some(subtitle) = front.subtitle {
            self.pages.space(10.0);
            let line = self.tags.add(tag, Role::Paragraph);
            let room = Room { size: 14.0, ink: SOFT, tag: line, ..Room::sheet() };
            self.paragraph(&[&Shown::Text(subtitle.to_owned())], &room)?;
        }
        Ok(())
    }

    /// Lays out the table of contents, with `before` sheets before the first page.
    fn contents(&mut self, listed: &[(usize, &Bookmark)], before: usize) -> Done {
        let tag = self.tags.add(TagId::BOOK, Role::Contents);
        for (at, mark) in listed {
            self.clock.check()?;
            let item = self.tags.add(tag, Role::ContentsItem);
            let link = self.tags.add(item, Role::Link);
            self.entry(*at, mark, before, link)?;
        }
        Ok(())
    }

    fn entry(&mut self, sheet: usize, mark: &Bookmark, before: usize, tag: TagId) -> Done {
        let first = mark.level <= 1;
        #[expect(clippy::cast_precision_loss, reason = "a few levels")]
        let left = 12.0 * (mark.level.min(12) - mark.level.min(1)) as f32;
        let room = Room { size: 10.0, bold: first, tag, ..Room::sheet() };
        let room = Room { width: room.width - left - NUMBER, x: room.x + left, ..room };
        self.pages.space(if first { 7.0 } else { 0.6 });
        let title = Inline::plain(if mark.title.is_empty() { "–" } else { &mark.title });
        let from = self.pages.position();
        self.lines(&title, &room)?;
        let end = self.pages.y();
        let line = room.size * room.leading;
        // The sheet number is placed on the last line of the entry.
        let number = Inline::plain(&(before + sheet + 1).to_string());
        let here = self.pages.position();
        let (_, wide) = self.measure(&number, &Room { width: NUMBER, ..room });
        let last = self.last_line_end();
        let right = SIDE + WIDTH - wide;
        let baseline = end - line * 0.33;
        let dots = last + 5.0;
        if right - 5.0 > dots {
            let dotted = Mark::Dots { x: dots, y: baseline, w: right - 5.0 - dots };
            self.pages.sheet().put(TagId::DECOR, dotted);
        }
        self.pages.go(crate::pages::SheetPosition { y: end - line, ..here });
        self.lines(&number, &Room { x: SIDE + WIDTH - NUMBER, width: NUMBER, side: Side::End, ..room })?;
        self.pages.go_on(here);
        let top = if from.sheet == here.sheet { from.y.max(end - line * 6.0) } else { end - line };
        let area = crate::sheet::Area { x: room.x, y: top, w: SIDE + WIDTH - room.x, h: end - top };
        let target = crate::sheet::count(self.targets.len());
        self.targets.push(Target::Position { sheet: before + sheet, y: mark.y });
        self.pages.sheet().links.push(LinkArea { area, target, tag });
        Ok(())
    }

    /// Returns the right end of the last drawn run.
    fn last_line_end(&mut self) -> f32 {
        let sheet = self.pages.sheet();
        let Some(Mark::Run { x, size, glyphs, .. }) = sheet.ops.last().map(|op| &op.mark) else {
            return SIDE;
        };
        let part = sheet.glyphs.get(glyphs.from as usize..glyphs.to as usize).unwrap_or_default();
        x + part.iter().map(|glyph| glyph.advance * size).sum::<f32>()
    }
}
