//! Layout of headings.

use super::{
    layout_area::{LayoutArea, TextAlignment},
    setter::Setter,
};
use crate::{
    appearance::heading_size,
    layout_tree::{ShownPage, ShownPart, ShownTag, flatten_parts},
    sheet::Bookmark,
    tags::Role,
    termination::LayoutResult,
};

/// Minimum height of the content that is kept together with a heading, in points: two lines.
const MIN_HEIGHT_AFTER: f32 = 38.0;
/// Maximum level of headings within pages that the table of contents lists.
const MAX_LISTED_LEVEL: usize = 4;

struct Title<'a> {
    level: usize,
    label: Option<&'a str>,
    listed: bool,
}

impl Setter {
    /// Lays out a page.
    ///
    /// # Errors
    /// The errors of [`Setter::flow`].
    pub(crate) fn page(&mut self, page: &ShownPage) -> LayoutResult {
        self.clock.check()?;
        if page.fresh && (self.pages.len() > 1 || !self.pages.is_at_top()) {
            self.pages.next()?;
        }
        let title = ShownPart::Text(page.title.clone());
        let first = page.body.iter().collect::<Vec<_>>();
        let lead = height_after(&flattened_first(&first));
        let heading = Title { level: page.level, label: Some(&page.label), listed: true };
        self.put_heading(&[&title], heading, lead, &LayoutArea::sheet())?;
        if let Some(said) = &page.description {
            let room = LayoutArea { size: 11.5, ink: crate::appearance::SOFT, ..LayoutArea::sheet() };
            let tag = self.tags.add(room.tag, Role::Paragraph);
            self.paragraph(&[&ShownPart::Text(said.clone())], &room.with_tag(tag))?;
            self.pages.space(12.0);
        }
        self.flow(&page.body, &LayoutArea::sheet())?;
        self.put_late_notes()
    }

    pub(super) fn heading(
        &mut self,
        tag: &ShownTag,
        after: &[&ShownPart],
        room: &LayoutArea,
    ) -> LayoutResult {
        let ShownTag::Heading { c, level, label, align } = tag else { return Ok(()) };
        let listed = self.lists_headings && *level < MAX_LISTED_LEVEL;
        let side = if *align == "start" { room.side } else { TextAlignment::from_name(align) };
        let parts = flatten_parts(c);
        let title = Title { level: *level, label: label.as_deref(), listed };
        self.put_heading(&parts, title, height_after(after), &LayoutArea { side, ..*room })
    }

    fn put_heading(
        &mut self,
        parts: &[&ShownPart],
        title: Title<'_>,
        lead: f32,
        room: &LayoutArea,
    ) -> LayoutResult {
        let size = heading_size(title.level);
        let inline = self.inline(parts, room);
        let said: String = inline.text.chars().filter(|c| *c != '\u{200b}').collect();
        let tag = self.tags.add(room.tag, Role::Heading(title.level, said.clone()));
        let room = LayoutArea { size, bold: true, leading: 1.18, tag, ..*room };
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

/// Flattens nested lists at the beginning of the parts.
fn flattened_first<'a>(parts: &[&'a ShownPart]) -> Vec<&'a ShownPart> {
    let mut out: Vec<&ShownPart> = parts.to_vec();
    while let Some(ShownPart::Parts(inner)) = out.first() {
        out = inner.iter().collect();
    }
    out
}

/// Returns the height of the content after a heading that must be on the same sheet.
fn height_after(after: &[&ShownPart]) -> f32 {
    let mut sum = 0.0;
    for part in after.iter().take(4) {
        let ShownPart::Tag(tag) = part else { return sum + MIN_HEIGHT_AFTER };
        match &**tag {
            ShownTag::Heading { level, .. } => sum += heading_size(*level) * 2.8,
            #[expect(clippy::cast_possible_truncation, reason = "a height")]
            ShownTag::Image { h, .. } => return sum + (*h as f32).min(300.0) + 24.0,
            #[expect(clippy::cast_precision_loss, reason = "a few lines")]
            ShownTag::Code { whole: true, lines, .. } => return sum + 24.0 + 11.0 * lines.len() as f32,
            ShownTag::Hint { .. }
            | ShownTag::Table { .. }
            | ShownTag::Code { .. }
            | ShownTag::Card { .. } => {
                return sum + MIN_HEIGHT_AFTER + 20.0;
            }
            _ => return sum + MIN_HEIGHT_AFTER,
        }
    }
    sum
}
