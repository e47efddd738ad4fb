//! Sheet footers: title and sheet number.

use super::{
    inline::Inline,
    layout_area::{LayoutArea, TextAlignment},
    setter::Setter,
};
use crate::{
    appearance::{CONTENT_BOTTOM, CONTENT_HEIGHT, CONTENT_WIDTH, SOFT},
    sheet::Sheet,
    tags::TagId,
    termination::LayoutResult,
};

/// Draws the footers of all sheets except the first.
///
/// # Errors
/// The errors of [`Setter::flow`].
pub(crate) fn number_sheets(setter: &mut Setter, sheets: &mut [Sheet], title: &str) -> LayoutResult {
    let all = sheets.len();
    for (at, sheet) in sheets.iter_mut().enumerate().skip(1) {
        setter.clock.check()?;
        let foot = setter.draw_footer(title, at + 1, all)?;
        sheet.absorb(foot, CONTENT_BOTTOM + 20.0);
        sheet.pack();
    }
    Ok(())
}

impl Setter {
    fn draw_footer(&mut self, title: &str, number: usize, all: usize) -> LayoutResult<Sheet> {
        let room = LayoutArea { size: 8.5, ink: SOFT, tag: TagId::FOOTER, ..LayoutArea::sheet() };
        let said = Inline::from_text(&format!("{number} / {all}"));
        let (_, wide) = self.measure(&said, &room);
        let piece = self.piece(CONTENT_HEIGHT, |this| {
            let start = this.pages.position();
            this.one_line(title, &LayoutArea { width: CONTENT_WIDTH - wide - 12.0, ..room })?;
            this.pages.move_to(start);
            this.lines(&said, &LayoutArea { side: TextAlignment::End, ..room })
        })?;
        Ok(piece.map(|(sheet, _)| sheet).unwrap_or_default())
    }

    /// Draws the first line of some text.
    fn one_line(&mut self, said: &str, room: &LayoutArea) -> LayoutResult {
        // A line never contains more characters.
        let said: String = said.chars().take(300).collect();
        let inline = Inline::from_text(&said);
        let Some(end) = self.first_line(&inline, room) else { return Ok(()) };
        self.lines(&Inline::from_text(said.get(..end).unwrap_or_default().trim_end()), room)
    }
}
