//! Content of a sheet: a compact list of drawing operations, which is written when all sheets are known.

use std::rc::Rc;

use ratex_types::path_command::PathCommand;

use crate::{appearance::RgbColor, tags::TagId};

/// A glyph of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Glyph {
    /// Advance width, relative to the font size.
    pub(crate) advance: f32,
    /// Displacement from the pen position, relative to the font size.
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) id: u16,
    /// Length of its text, which begins at the end of the text of the previous glyph, or [`Glyph::SAME_TEXT`].
    pub(crate) text: u16,
}

impl Glyph {
    /// Marks a glyph that has the same text as the previous one.
    pub(crate) const SAME_TEXT: u16 = u16::MAX;

    /// Returns the content of the glyph for comparisons.
    const fn bits(self) -> [u32; 4] {
        let ids = (self.id as u32) << 16 | self.text as u32;
        [self.advance.to_bits(), self.x.to_bits(), self.y.to_bits(), ids]
    }
}

/// Maximum number of glyphs with the same id that [`PackedGlyphs`] compares with a glyph. A glyph that equals an older
/// one is stored again.
const MAX_COMPARED: usize = 16;

/// The glyphs of a finished sheet: the distinct ones, and the index of each. This takes about 3 bytes per glyph instead
/// of 16, and a book has millions of glyphs.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedGlyphs {
    distinct: Vec<Glyph>,
    order: Vec<u16>,
}

impl PackedGlyphs {
    /// Packs glyphs. Returns `None` if there are too many distinct ones.
    fn pack(glyphs: &[Glyph]) -> Option<Self> {
        let mut packed = Self { distinct: Vec::new(), order: Vec::with_capacity(glyphs.len()) };
        // The glyph that was stored last for each id, and the one before each glyph. A hash map takes several times as
        // long.
        let mut last = vec![u16::MAX; usize::from(u16::MAX) + 1];
        let mut before: Vec<u16> = Vec::new();
        for glyph in glyphs {
            let first = last.get_mut(usize::from(glyph.id))?;
            let mut at = *first;
            let mut compared = 0;
            while let Some(known) = packed.distinct.get(usize::from(at))
                && known.bits() != glyph.bits()
            {
                compared += 1;
                at = if compared < MAX_COMPARED { before.get(usize::from(at)).copied()? } else { u16::MAX };
            }
            if at == u16::MAX {
                at = u16::try_from(packed.distinct.len()).ok().filter(|at| *at < u16::MAX)?;
                packed.distinct.push(*glyph);
                before.push(std::mem::replace(first, at));
            }
            packed.order.push(at);
        }
        packed.distinct.shrink_to_fit();
        Some(packed)
    }

    fn unpack(&self) -> Vec<Glyph> {
        let glyph = |at: &u16| self.distinct.get(usize::from(*at)).copied().unwrap_or_default();
        self.order.iter().map(glyph).collect()
    }
}

/// A range in one of the lists of a sheet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SheetRange {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Area {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) w: f32,
    pub(crate) h: f32,
}

/// Fill and border of a rectangle.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Paint {
    pub(crate) fill: Option<RgbColor>,
    /// Colour and width of the border.
    pub(crate) line: Option<(RgbColor, f32)>,
    /// Colour and width of the line on the left.
    pub(crate) left: Option<(RgbColor, f32)>,
    pub(crate) radius: f32,
}

/// A drawing operation.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// A placeholder for a background of later operations.
    Reserved,
    Box {
        area: Area,
        paint: Paint,
    },
    /// A dotted horizontal line.
    Dots {
        x: f32,
        y: f32,
        w: f32,
    },
    Run {
        x: f32,
        y: f32,
        size: f32,
        ink: RgbColor,
        font: u16,
        glyphs: SheetRange,
        text: SheetRange,
    },
    Picture {
        area: Area,
        picture: u32,
    },
    /// A path of a formula, with the font size.
    Path {
        x: f32,
        y: f32,
        em: f32,
        ink: RgbColor,
        filled: bool,
        path: Rc<[PathCommand]>,
    },
}

/// A drawing operation with its tag.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) tag: TagId,
    pub(crate) mark: Mark,
}

/// A link area on a sheet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkArea {
    pub(crate) area: Area,
    /// Index into the link targets of the book.
    pub(crate) target: u32,
    pub(crate) tag: TagId,
}

/// A heading on a sheet.
#[derive(Clone, Debug)]
pub(crate) struct Bookmark {
    pub(crate) level: usize,
    pub(crate) title: String,
    pub(crate) y: f32,
    /// `true` if the table of contents lists it.
    pub(crate) listed: bool,
}

/// A link target on a sheet.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) name: Rc<str>,
    pub(crate) y: f32,
}

/// A sheet, or the result of a trial layout.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) ops: Vec<Op>,
    pub(crate) text: String,
    /// The glyphs, unless they are packed.
    pub(crate) glyphs: Vec<Glyph>,
    pub(crate) packed: PackedGlyphs,
    pub(crate) links: Vec<LinkArea>,
    pub(crate) bookmarks: Vec<Bookmark>,
    pub(crate) labels: Vec<Label>,
    /// Footnotes, each with its height.
    pub(crate) notes: Vec<(Self, f32)>,
    /// Total height of the footnotes.
    pub(crate) notes_height: f32,
    /// Bottom of the occupied area.
    pub(crate) filled: f32,
    /// Pending space after the result of a trial layout.
    pub(crate) gap_after: f32,
}

impl Sheet {
    /// Adds a drawing operation.
    pub(crate) fn put(&mut self, tag: TagId, mark: Mark) {
        self.ops.push(Op { tag, mark });
    }

    /// Adds a placeholder for a background of later operations.
    pub(crate) fn keep(&mut self) -> usize {
        self.ops.push(Op { tag: TagId::DECOR, mark: Mark::Reserved });
        self.ops.len() - 1
    }

    /// Replaces a placeholder.
    pub(crate) fn fill(&mut self, place: usize, area: Area, paint: Paint) {
        if let Some(op) = self.ops.get_mut(place) {
            op.mark = Mark::Box { area, paint };
        }
    }

    /// Adds a link area. Adjacent areas of the same link on one line are merged.
    pub(crate) fn add_link(&mut self, link: LinkArea) {
        if let Some(last) = self.links.last_mut()
            && (last.target, last.tag) == (link.target, link.tag)
            && (last.area.y - link.area.y).abs() < 0.01
        {
            let left = last.area.x.min(link.area.x);
            let right = (last.area.x + last.area.w).max(link.area.x + link.area.w);
            (last.area.x, last.area.w) = (left, right - left);
            return;
        }
        self.links.push(link);
    }

    /// Reduces the memory of a finished sheet. [`Sheet::unpack`] must be called before it is changed or drawn.
    pub(crate) fn pack(&mut self) {
        self.ops.shrink_to_fit();
        self.text.shrink_to_fit();
        self.links.shrink_to_fit();
        if self.glyphs.is_empty() {
            return;
        }
        match PackedGlyphs::pack(&self.glyphs) {
            Some(packed) => (self.packed, self.glyphs) = (packed, Vec::new()),
            None => self.glyphs.shrink_to_fit(),
        }
    }

    /// Restores the glyphs of a packed sheet.
    pub(crate) fn unpack(&mut self) {
        if self.glyphs.is_empty() {
            self.glyphs = std::mem::take(&mut self.packed).unpack();
        }
    }

    /// Appends the content of another sheet, except its footnotes, moved down by `down`.
    pub(crate) fn absorb(&mut self, other: Self, down: f32) {
        self.unpack();
        let (glyphs, text) = (count(self.glyphs.len()), count(self.text.len()));
        let shift = |part: SheetRange, by: u32| SheetRange { from: part.from + by, to: part.to + by };
        self.text.push_str(&other.text);
        self.glyphs.extend(other.glyphs);
        self.ops.extend(other.ops.into_iter().map(|mut op| {
            match &mut op.mark {
                Mark::Reserved => {}
                Mark::Box { area, .. } | Mark::Picture { area, .. } => area.y += down,
                Mark::Dots { y, .. } | Mark::Path { y, .. } => *y += down,
                Mark::Run { y, glyphs: part, text: said, .. } => {
                    *y += down;
                    *part = shift(*part, glyphs);
                    *said = shift(*said, text);
                }
            }
            op
        }));
        let below = |area: Area| Area { y: area.y + down, ..area };
        self.links.extend(other.links.into_iter().map(|link| LinkArea { area: below(link.area), ..link }));
        let marks = other.bookmarks.into_iter();
        self.bookmarks.extend(marks.map(|mark| Bookmark { y: mark.y + down, ..mark }));
        self.labels.extend(other.labels.into_iter().map(|label| Label { y: label.y + down, ..label }));
        self.filled = self.filled.max(other.filled + down);
    }
}

/// Converts a length. The lists of a sheet never exceed the range of `u32`.
pub(crate) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glyphs(count: u32) -> Vec<Glyph> {
        (0..count).map(|at| Glyph { advance: f32::from_bits(at), text: 1, ..Glyph::default() }).collect()
    }

    fn bits(sheet: &Sheet) -> Vec<[u32; 4]> {
        sheet.glyphs.iter().map(|glyph| glyph.bits()).collect()
    }

    #[test]
    fn glyphs_are_equal_after_packing() {
        for count in [0, 1, 1_000, 65_535, 65_536] {
            // Glyphs that differ in their advance have the same id.
            let few = |glyph: Glyph| Glyph { id: (glyph.bits()[0] / 16) as u16, ..glyph };
            let glyphs: Vec<Glyph> = glyphs(count).into_iter().map(few).collect();
            let mut sheet = Sheet { glyphs: [glyphs.clone(), glyphs].concat(), ..Sheet::default() };
            let before = bits(&sheet);
            sheet.pack();
            assert_eq!(sheet.glyphs.is_empty(), count < 65_536, "{count}");
            assert!(sheet.packed.distinct.len() <= count as usize, "each is stored once");
            sheet.pack();
            sheet.unpack();
            assert_eq!(bits(&sheet), before, "{count}");
        }
    }

    #[test]
    fn glyphs_that_differ_everywhere_are_packed_in_linear_time() {
        let mut sheet = Sheet { glyphs: [glyphs(30_000), glyphs(30_000)].concat(), ..Sheet::default() };
        let before = bits(&sheet);
        sheet.pack();
        assert_eq!(sheet.packed.distinct.len(), 60_000);
        sheet.unpack();
        assert_eq!(bits(&sheet), before);
    }

    #[test]
    fn packed_sheet_absorbs_others_after_its_glyphs() {
        let mut sheet = Sheet { glyphs: glyphs(3), ..Sheet::default() };
        sheet.pack();
        sheet.absorb(Sheet { glyphs: glyphs(2), ..Sheet::default() }, 0.0);
        let expected = Sheet { glyphs: [glyphs(3), glyphs(2)].concat(), ..Sheet::default() };
        assert_eq!(bits(&sheet), bits(&expected));
    }
}
