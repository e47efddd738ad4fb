//! Sheet footers with the title and the sheet number.

use super::{
    inline::Inline,
    room::{Room, Side},
    setter::Setter,
};
use crate::{
    look::{BOTTOM, HEIGHT, SOFT, WIDTH},
    sheet::Sheet,
    stop::Done,
    tags::TagId,
};

/// Draws the footer of all sheets except the first.
///
/// # Errors
/// As [`Setter::flow`].
pub(crate) fn number_sheets(setter: &mut Setter, sheets: &mut [Sheet], title: &str) -> Done {
    let all = sheets.len();
    for (at, sheet) in sheets.iter_mut().enumerate().skip(1) {
        setter.clock.check()?;
        let foot = setter.foot(title, at + 1, all)?;
        sheet.absorb(foot, BOTTOM + 20.0);
    }
    Ok(())
}

impl Setter {
    /// Draws the footer of a sheet.
    fn foot(&mut self, title: &str, number: usize, all: usize) -> Done<Sheet> {
        let room = Room { size: 8.5, ink: SOFT, tag: TagId::FOOTER, ..Room::sheet() };
        let said = Inline::plain(&format!("{number} / {all}"));
        let (_, wide) = self.measure(&said, &room);
        let piece = self.piece(HEIGHT, |this| {
            let start = this.pages.position();
            this.one_line(title, &Room { width: WIDTH - wide - 12.0, ..room })?;
            this.pages.go(start);
            this.lines(&said, &Room { side: Side::End, ..room })
        })?;
        Ok(piece.map(|(sheet, _)| sheet).unwrap_or_default())
    }

    /// Draws the first line of a text.
    fn one_line(&mut self, said: &str, room: &Room) -> Done {
        // A line never has more characters.
        let said: String = said.chars().take(300).collect();
        let inline = Inline::plain(&said);
        let Some(end) = self.first_line(&inline, room) else { return Ok(()) };
        self.lines(&Inline::plain(said.get(..end).unwrap_or_default().trim_end()), room)
    }
}
