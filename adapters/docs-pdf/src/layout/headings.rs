//! Layout of headings.

use super::{
    room::{Room, Side},
    setter::Setter,
};
use crate::{
    look::heading_size,
    sheet::Bookmark,
    shown::{Shown, ShownPage, Tag, flattened},
    stop::Done,
    tags::Role,
};

/// Minimum height of content kept together with a heading, in points: two lines.
const LEAD: f32 = 38.0;
/// Headings within pages below this level are listed in the table of contents.
const LISTED: usize = 4;

/// The properties of a heading.
struct Title<'a> {
    level: usize,
    label: Option<&'a str>,
    listed: bool,
}

impl Setter {
    /// Lays out a page.
    ///
    /// # Errors
    /// As [`Setter::flow`].
    pub(crate) fn page(&mut self, page: &ShownPage) -> Done {
        self.clock.check()?;
        if page.fresh && (self.pages.len() > 1 || !self.pages.is_at_top()) {
            self.pages.next()?;
        }
        let title = Shown::Text(page.title.clone());
        let first = page.body.iter().collect::<Vec<_>>();
        let lead = lead(&flattened_first(&first));
        let heading = Title { level: page.level, label: Some(&page.label), listed: true };
        self.put_heading(&[&title], heading, lead, &Room::sheet())?;
        if let Some(said) = &page.description {
            let room = Room { size: 11.5, ink: crate::look::SOFT, ..Room::sheet() };
            let tag = self.tags.add(room.tag, Role::Paragraph);
            self.paragraph(&[&Shown::Text(said.clone())], &room.tagged(tag))?;
            self.pages.space(12.0);
        }
        self.flow(&page.body, &Room::sheet())?;
        self.put_late_notes()
    }

    pub(super) fn heading(&mut self, tag: &Tag, after: &[&Shown], room: &Room) -> Done {
        let Tag::Heading { c, level, label, align } = tag else { return Ok(()) };
        let listed = self.lists_headings && *level < LISTED;
        let side = if *align == "start" { room.side } else { Side::of(align) };
        let parts = flattened(c);
        let title = Title { level: *level, label: label.as_deref(), listed };
        self.put_heading(&parts, title, lead(after), &Room { side, ..*room })
    }

    fn put_heading(&mut self, parts: &[&Shown], title: Title<'_>, lead: f32, room: &Room) -> Done {
        let size = heading_size(title.level);
        let inline = self.inline(parts, room);
        let said: String = inline.text.chars().filter(|c| *c != '\u{200b}').collect();
        let tag = self.tags.add(room.tag, Role::Heading(title.level, said.clone()));
        let room = Room { size, bold: true, leading: 1.18, tag, ..*room };
        self.pages.space(size * 1.2);
        let (height, _) = self.measure(&inline, &room);
        let most = self.pages.height() * 0.8;
        self.pages.ensure((height + lead).min(most))?;
        let y = self.pages.take(0.0)?;
        if let Some(label) = title.label {
            self.label(label, y);
        }
        let Title { level, listed, .. } = title;
        self.pages.sheet().bookmarks.push(Bookmark { level, title: said, y, listed });
        self.lines(&inline, &room)?;
        self.pages.space(size * 0.4);
        Ok(())
    }
}

/// Flattens the beginning of the parts, if it consists of nested lists.
fn flattened_first<'a>(parts: &[&'a Shown]) -> Vec<&'a Shown> {
    let mut out: Vec<&Shown> = parts.to_vec();
    while let Some(Shown::Parts(inner)) = out.first() {
        out = inner.iter().collect();
    }
    out
}

/// Returns the height of the content after a heading that stays on the same sheet.
fn lead(after: &[&Shown]) -> f32 {
    let mut sum = 0.0;
    for part in after.iter().take(4) {
        let Shown::Tag(tag) = part else { return sum + LEAD };
        match &**tag {
            Tag::Heading { level, .. } => sum += heading_size(*level) * 2.8,
            #[expect(clippy::cast_possible_truncation, reason = "a height")]
            Tag::Image { h, .. } => return sum + (*h as f32).min(300.0) + 24.0,
            #[expect(clippy::cast_precision_loss, reason = "a few lines")]
            Tag::Code { whole: true, lines, .. } => return sum + 24.0 + 11.0 * lines.len() as f32,
            Tag::Hint { .. } | Tag::Table { .. } | Tag::Code { .. } | Tag::Card { .. } => {
                return sum + LEAD + 20.0;
            }
            _ => return sum + LEAD,
        }
    }
    sum
}
