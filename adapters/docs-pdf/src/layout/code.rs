//! Layout of code blocks, line by line in a panel.

use super::{
    inline::Inline,
    room::{Room, Side},
    setter::Setter,
};
use crate::{
    look::{HIGHLIGHTED, LINE, LINE_WIDTH, PANEL, SOFT},
    pages::Inset,
    sheet::{Area, Mark, Paint, Sheet},
    shown::{Line, Shown, flattened},
    stop::Done,
    tags::{Role, TagId},
};

use super::panels::{AROUND, framed};

/// Font size in points.
const SIZE: f32 = 8.2;
/// Space to the left and right of lines, in points.
const BESIDE: f32 = 8.0;

pub(super) struct Listing<'a> {
    pub(super) title: Option<&'a str>,
    pub(super) numbers: bool,
    /// `true` if the listing must not be split between sheets.
    pub(super) whole: bool,
    pub(super) lines: &'a [Line],
}

/// The areas of the parts of a line.
#[derive(Clone, Copy)]
struct Places<'a> {
    frame: &'a Room,
    body: &'a Room,
    number: Option<&'a Room>,
}

impl Setter {
    pub(super) fn code(&mut self, listing: &Listing<'_>, room: &Room) -> Done {
        let tag = self.tags.add(room.tag, Role::Code);
        let text = Room {
            size: SIZE,
            leading: 1.27,
            gap: 0.0,
            code: true,
            bold: false,
            side: Side::Start,
            tag,
            ..room.within(BESIDE, BESIDE)
        };
        self.pages.space(AROUND);
        let title: f32 = if listing.title.is_some() { 20.0 } else { 0.0 };
        self.pages.ensure((title + 36.0).min(self.pages.height()))?;
        let most = if listing.whole { 0.6 } else { 0.1 };
        self.together(most, |this| this.listing(listing, room, &text))?;
        self.pages.space(AROUND);
        Ok(())
    }

    fn listing(&mut self, listing: &Listing<'_>, room: &Room, text: &Room) -> Done {
        self.pages.open(room.x, room.width, Inset { top: 5.0, bottom: 5.0 }, framed(Some(PANEL)))?;
        // The title is repeated on each further sheet.
        let mut repeats = false;
        if let Some(title) = listing.title {
            let most = self.pages.height() * 0.3;
            if let Some((piece, height)) = self.piece(most, |this| this.title(title, room, text))? {
                let mut again: Sheet = piece.clone();
                again.ops.iter_mut().for_each(|op| op.tag = TagId::DECOR);
                self.pages.put(piece, height)?;
                self.pages.open_head(again, height);
                repeats = true;
            }
        }
        let digits = listing.lines.len().to_string().len();
        #[expect(clippy::cast_precision_loss, reason = "a few digits")]
        let wide = if listing.numbers { digits as f32 * SIZE * 0.602 + BESIDE * 1.5 } else { 0.0 };
        let hanging = if listing.numbers { 0.0 } else { SIZE * 1.2 };
        let body = Room { hanging, ..text.within(wide, 0.0) };
        let number =
            Room { width: wide - BESIDE * 1.5, side: Side::End, ink: SOFT, tag: TagId::DECOR, ..*text };
        for (at, line) in listing.lines.iter().enumerate() {
            self.clock.check()?;
            let number = listing.numbers.then_some(&number);
            self.code_line(line, at + 1, &Places { frame: room, body: &body, number })?;
        }
        if repeats {
            self.pages.close_head();
        }
        self.pages.close();
        Ok(())
    }

    fn code_line(&mut self, line: &Line, at: usize, places: &Places<'_>) -> Done {
        let Places { frame, body, number } = *places;
        let blank = [Shown::Text("\u{a0}".to_owned())];
        let empty = line.c.iter().all(|part| matches!(part, Shown::Text(text) if text.is_empty()));
        let parts = flattened(if empty { &blank } else { &line.c });
        let inline = self.inline(&parts, body);
        self.pages.ensure(SIZE * 1.3)?;
        if line.on {
            let paint = Paint { fill: Some(HIGHLIGHTED), ..Paint::default() };
            self.pages.open(frame.x + LINE_WIDTH / 2.0, frame.width - LINE_WIDTH, Inset::default(), paint)?;
        }
        if let Some(beside) = number {
            let start = self.pages.position();
            self.lines(&Inline::plain(&at.to_string()), beside)?;
            self.pages.go(start);
        }
        self.lines(&inline, body)?;
        if line.on {
            self.pages.close();
        }
        Ok(())
    }

    fn title(&mut self, title: &str, room: &Room, text: &Room) -> Done {
        self.lines(&Inline::plain(title), &Room { ink: SOFT, ..*text })?;
        let y = self.pages.take(8.0)? + 4.0;
        let area = Area { x: room.x, y, w: room.width, h: LINE_WIDTH };
        let paint = Paint { fill: Some(LINE), ..Paint::default() };
        self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
        Ok(())
    }
}
