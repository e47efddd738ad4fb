//! Layout of the title sheet and the table of contents.

use super::{
    layout_area::{LayoutArea, TextAlignment},
    setter::{LinkDestination, Setter},
};
use crate::{
    appearance::{CONTENT_HEIGHT, CONTENT_WIDTH, SIDE_MARGIN, SOFT},
    layout_tree::ShownPart,
    sheet::{Bookmark, LinkArea, Mark, Sheet},
    tags::{Role, TagId},
    termination::LayoutResult,
};

use super::inline::Inline;

/// Width reserved for the sheet number of an entry, in points.
const NUMBER_WIDTH: f32 = 44.0;

/// The sheets before the first page.
pub(crate) struct Front<'a> {
    pub(crate) title: &'a str,
    pub(crate) subtitle: Option<&'a str>,
}

impl Front<'_> {
    /// Lays out the sheets before the first page: the title, and the table of contents for the sheets in `body`.
    ///
    /// # Errors
    /// The errors of [`Setter::flow`].
    pub(crate) fn lay(&self, setter: &mut Setter, body: &[Sheet]) -> LayoutResult<Vec<Sheet>> {
        setter.title_sheet(self)?;
        let mut sheets = setter.take_sheets();
        let listed =
            || body.iter().enumerate().flat_map(|(at, sheet)| sheet.bookmarks.iter().map(move |m| (at, m)));
        let listed: Vec<(usize, &Bookmark)> = listed().filter(|(_, mark)| mark.listed).collect();
        if listed.is_empty() {
            return Ok(sheets);
        }
        // The length of the table does not depend on its sheet numbers, so a first layout determines it.
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
    fn title_sheet(&mut self, front: &Front<'_>) -> LayoutResult {
        self.pages.take(CONTENT_HEIGHT * 0.34)?;
        let tag = self.tags.add(TagId::BOOK, Role::Division);
        let line = self.tags.add(tag, Role::Paragraph);
        let room = LayoutArea { size: 30.0, bold: true, leading: 1.15, tag: line, ..LayoutArea::sheet() };
        self.paragraph(&[&ShownPart::Text(front.title.to_owned())], &room)?;
        if let Some(subtitle) = front.subtitle {
            self.pages.space(10.0);
            let line = self.tags.add(tag, Role::Paragraph);
            let room = LayoutArea { size: 14.0, ink: SOFT, tag: line, ..LayoutArea::sheet() };
            self.paragraph(&[&ShownPart::Text(subtitle.to_owned())], &room)?;
        }
        Ok(())
    }

    /// Lays out the table of contents, given the number of sheets before the first page.
    fn contents(&mut self, listed: &[(usize, &Bookmark)], before: usize) -> LayoutResult {
        let tag = self.tags.add(TagId::BOOK, Role::Contents);
        for (at, mark) in listed {
            self.clock.check()?;
            let item = self.tags.add(tag, Role::ContentsItem);
            let link = self.tags.add(item, Role::Link);
            self.entry(*at, mark, before, link)?;
        }
        Ok(())
    }

    fn entry(&mut self, sheet: usize, mark: &Bookmark, before: usize, tag: TagId) -> LayoutResult {
        let first = mark.level <= 1;
        #[expect(clippy::cast_precision_loss, reason = "a few levels")]
        let left = 12.0 * (mark.level.min(12) - mark.level.min(1)) as f32;
        let room = LayoutArea { size: 10.0, bold: first, tag, ..LayoutArea::sheet() };
        let room = LayoutArea { width: room.width - left - NUMBER_WIDTH, x: room.x + left, ..room };
        self.pages.space(if first { 7.0 } else { 0.6 });
        let title = Inline::from_text(if mark.title.is_empty() { "–" } else { &mark.title });
        let from = self.pages.position();
        self.lines(&title, &room)?;
        let end = self.pages.y();
        let line = room.size * room.leading;
        // The sheet number is on the last line of the entry.
        let number = Inline::from_text(&(before + sheet + 1).to_string());
        let here = self.pages.position();
        let (_, wide) = self.measure(&number, &LayoutArea { width: NUMBER_WIDTH, ..room });
        let last = self.last_line_end();
        let right = SIDE_MARGIN + CONTENT_WIDTH - wide;
        let baseline = end - line * 0.33;
        let dots = last + 5.0;
        if right - 5.0 > dots {
            let dotted = Mark::Dots { x: dots, y: baseline, w: right - 5.0 - dots };
            self.pages.sheet().put(TagId::DECOR, dotted);
        }
        self.pages.move_to(crate::pages::SheetPosition { y: end - line, ..here });
        self.lines(
            &number,
            &LayoutArea {
                x: SIDE_MARGIN + CONTENT_WIDTH - NUMBER_WIDTH,
                width: NUMBER_WIDTH,
                side: TextAlignment::End,
                ..room
            },
        )?;
        self.pages.move_to_end(here);
        let top = if from.sheet == here.sheet { from.y.max(end - line * 6.0) } else { end - line };
        let area =
            crate::sheet::Area { x: room.x, y: top, w: SIDE_MARGIN + CONTENT_WIDTH - room.x, h: end - top };
        let target = crate::sheet::count(self.targets.len());
        self.targets.push(LinkDestination::Position { sheet: before + sheet, y: mark.y });
        self.pages.sheet().links.push(LinkArea { area, target, tag });
        Ok(())
    }

    /// Returns the right end of the last drawn run.
    fn last_line_end(&mut self) -> f32 {
        let sheet = self.pages.sheet();
        let Some(Mark::Run { x, size, glyphs, .. }) = sheet.ops.last().map(|op| &op.mark) else {
            return SIDE_MARGIN;
        };
        let part = sheet.glyphs.get(glyphs.from as usize..glyphs.to as usize).unwrap_or_default();
        x + part.iter().map(|glyph| glyph.advance * size).sum::<f32>()
    }
}
