//! Content of a sheet: a compact list of drawing operations, which is written when all sheets are known.

use std::rc::Rc;

use ratex_types::path_command::PathCommand;

use crate::{appearance::RgbColor, tags::TagId};

/// A glyph of a run. It is compact (12 bytes), because a book has millions of glyphs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glyph {
    /// Advance width, relative to the font size.
    pub(crate) advance: f32,
    /// Offset of its text, relative to the text of the run.
    pub(crate) start: u32,
    /// Length of its text.
    pub(crate) length: u16,
    pub(crate) id: u16,
}

/// Displacement of a glyph from the pen position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offset {
    /// Index of the glyph on the sheet.
    pub(crate) glyph: u32,
    pub(crate) x: f32,
    pub(crate) y: f32,
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
    pub(crate) glyphs: Vec<Glyph>,
    pub(crate) offsets: Vec<Offset>,
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

    /// Appends the content of another sheet, except its footnotes, moved down by `down`.
    pub(crate) fn absorb(&mut self, other: Self, down: f32) {
        let (glyphs, text) = (count(self.glyphs.len()), count(self.text.len()));
        let shift = |part: SheetRange, by: u32| SheetRange { from: part.from + by, to: part.to + by };
        self.text.push_str(&other.text);
        self.glyphs.extend(other.glyphs);
        let offsets = other.offsets.into_iter();
        self.offsets.extend(offsets.map(|offset| Offset { glyph: offset.glyph + glyphs, ..offset }));
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
