//! Layout of code blocks as panels with one line after another.

use super::{
    inline::Inline,
    layout_area::{LayoutArea, TextAlignment},
    setter::Setter,
};
use crate::{
    appearance::{HIGHLIGHTED, LINE, LINE_WIDTH, PANEL, SOFT},
    layout_tree::{ShownLine, ShownPart, flatten_parts},
    pages::Inset,
    sheet::{Area, Mark, Paint, Sheet},
    tags::{Role, TagId},
    termination::LayoutResult,
};

use super::panels::{PANEL_MARGIN, frame_paint};

/// Font size in points.
const CODE_FONT_SIZE: f32 = 8.2;
/// Horizontal padding of lines, in points.
const LINE_PADDING: f32 = 8.0;

pub(super) struct Listing<'a> {
    pub(super) title: Option<&'a str>,
    pub(super) numbers: bool,
    /// `true` if the listing must not be split between sheets.
    pub(super) whole: bool,
    pub(super) lines: &'a [ShownLine],
}

/// Areas for the parts of a line.
#[derive(Clone, Copy)]
struct LineAreas<'a> {
    frame: &'a LayoutArea,
    body: &'a LayoutArea,
    number: Option<&'a LayoutArea>,
}

impl Setter {
    pub(super) fn code(&mut self, listing: &Listing<'_>, room: &LayoutArea) -> LayoutResult {
        let tag = self.tags.add(room.tag, Role::Code);
        let text = LayoutArea {
            size: CODE_FONT_SIZE,
            leading: 1.27,
            gap: 0.0,
            code: true,
            bold: false,
            side: TextAlignment::Start,
            tag,
            ..room.inset(LINE_PADDING, LINE_PADDING)
        };
        self.pages.space(PANEL_MARGIN);
        let title: f32 = if listing.title.is_some() { 20.0 } else { 0.0 };
        self.pages.ensure((title + 36.0).min(self.pages.height()))?;
        let most = if listing.whole { 0.6 } else { 0.1 };
        self.keep_together(most, |this| this.lay_listing(listing, room, &text))?;
        self.pages.space(PANEL_MARGIN);
        Ok(())
    }

    fn lay_listing(&mut self, listing: &Listing<'_>, room: &LayoutArea, text: &LayoutArea) -> LayoutResult {
        self.pages.open(room.x, room.width, Inset { top: 5.0, bottom: 5.0 }, frame_paint(Some(PANEL)))?;
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
        let wide =
            if listing.numbers { digits as f32 * CODE_FONT_SIZE * 0.602 + LINE_PADDING * 1.5 } else { 0.0 };
        let hanging = if listing.numbers { 0.0 } else { CODE_FONT_SIZE * 1.2 };
        let body = LayoutArea { hanging, ..text.inset(wide, 0.0) };
        let number = LayoutArea {
            width: wide - LINE_PADDING * 1.5,
            side: TextAlignment::End,
            ink: SOFT,
            tag: TagId::DECOR,
            ..*text
        };
        for (at, line) in listing.lines.iter().enumerate() {
            self.clock.check()?;
            let number = listing.numbers.then_some(&number);
            self.code_line(line, at + 1, &LineAreas { frame: room, body: &body, number })?;
        }
        if repeats {
            self.pages.close_head();
        }
        self.pages.close();
        Ok(())
    }

    fn code_line(&mut self, line: &ShownLine, at: usize, places: &LineAreas<'_>) -> LayoutResult {
        let LineAreas { frame, body, number } = *places;
        let blank = [ShownPart::Text("\u{a0}".to_owned())];
        let empty = line.c.iter().all(|part| matches!(part, ShownPart::Text(text) if text.is_empty()));
        let parts = flatten_parts(if empty { &blank } else { &line.c });
        let inline = self.inline(&parts, body);
        self.pages.ensure(CODE_FONT_SIZE * 1.3)?;
        if line.on {
            let paint = Paint { fill: Some(HIGHLIGHTED), ..Paint::default() };
            self.pages.open(frame.x + LINE_WIDTH / 2.0, frame.width - LINE_WIDTH, Inset::default(), paint)?;
        }
        if let Some(beside) = number {
            let start = self.pages.position();
            self.lines(&Inline::from_text(&at.to_string()), beside)?;
            self.pages.move_to(start);
        }
        self.lines(&inline, body)?;
        if line.on {
            self.pages.close();
        }
        Ok(())
    }

    fn title(&mut self, title: &str, room: &LayoutArea, text: &LayoutArea) -> LayoutResult {
        self.lines(&Inline::from_text(title), &LayoutArea { ink: SOFT, ..*text })?;
        let y = self.pages.take(8.0)? + 4.0;
        let area = Area { x: room.x, y, w: room.width, h: LINE_WIDTH };
        let paint = Paint { fill: Some(LINE), ..Paint::default() };
        self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
        Ok(())
    }
}
