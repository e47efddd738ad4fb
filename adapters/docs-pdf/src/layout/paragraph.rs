//! Layout of lines of text. A library shapes the text; this module places the lines on sheets.

use std::{borrow::Cow, ops::Range};

use parley::{
    Alignment, AlignmentOptions, FontFamily, FontStyle, FontWeight, IndentOptions, InlineBox, InlineBoxKind,
    Layout, Line, LineHeight, OverflowWrap, PositionedInlineBox, PositionedLayoutItem, Run, TextStyle,
};

use super::{
    inline::{Inline, InlineObject, InlineStyle, VerticalShift, background},
    layout_area::{LayoutArea, TextAlignment},
    notes::NoteCall,
    setter::Setter,
    shaper::{Brush, Families},
};
use crate::{
    appearance::{ACCENT, RgbColor, SOFT},
    formula::FormulaPosition,
    layout_tree::ShownPart,
    sheet::{Area, Glyph, LinkArea, Mark, Paint, Sheet, SheetRange, count},
    tags::{Role, TagId},
    termination::LayoutResult,
};

/// Maximum size, in bytes, of text that is shaped at once. Longer text is shaped in chunks that meet at line ends.
const MAX_CHUNK_BYTES: usize = 16 << 10;
/// Maximum number of styles, and of objects, that are shaped at once.
const MAX_SHAPED_STYLES: usize = 1_000;

/// A chunk of text, broken into lines.
pub(super) struct Chunk {
    layout: Layout<Brush>,
    range: Range<usize>,
    looks: Vec<InlineStyle>,
}

/// Inline content, and one of its chunks.
#[derive(Clone, Copy)]
struct InlineChunk<'a> {
    inline: &'a Inline,
    chunk: &'a Chunk,
}

impl InlineChunk<'_> {
    /// Returns the text of a range that is relative to the start of the chunk.
    fn text(&self, range: &Range<usize>) -> &str {
        let start = self.chunk.range.start;
        self.inline.text.get(start + range.start..start + range.end).unwrap_or_default()
    }
}

/// A part of a line that is drawn at once.
struct PaintedRun {
    x: f32,
    size: f32,
    font: u16,
    look: InlineStyle,
    glyphs: SheetRange,
    text: SheetRange,
    width: f32,
}

impl Setter {
    /// Lays out a paragraph.
    ///
    /// # Errors
    /// The errors of [`Setter::flow`].
    pub(super) fn paragraph(&mut self, parts: &[&ShownPart], room: &LayoutArea) -> LayoutResult {
        let inline = self.inline(parts, room);
        self.lines(&inline, room)?;
        self.pages.space(room.gap);
        Ok(())
    }

    /// Lays out inline content line by line.
    ///
    /// # Errors
    /// The errors of [`Setter::flow`].
    pub(super) fn lines(&mut self, inline: &Inline, room: &LayoutArea) -> LayoutResult {
        if inline.is_empty() {
            return Ok(());
        }
        let mut from = 0;
        loop {
            let to = chunk_end(inline, from);
            let chunk = self.shape(inline, from..to, room);
            let is_last = to == inline.text.len();
            let lines = chunk.layout.len();
            // The last line of a chunk is shaped again as part of the next chunk.
            let used = if is_last || lines < 2 { lines } else { lines - 1 };
            for at in 0..used {
                self.clock.check()?;
                self.line(InlineChunk { inline, chunk: &chunk }, at, used, room)?;
            }
            if is_last {
                return Ok(());
            }
            let end = used
                .checked_sub(1)
                .and_then(|at| chunk.layout.get(at))
                .map_or(0, |line| line.text_range().end);
            from = if end == 0 { to } else { from + end };
        }
    }

    /// Returns the height of text, and the width of its widest line.
    pub(super) fn measure(&mut self, inline: &Inline, room: &LayoutArea) -> (f32, f32) {
        let chunk = self.shape(inline, 0..chunk_end(inline, 0), room);
        (chunk.layout.lines().map(|line| line_height(&line, inline, room)).sum(), chunk.layout.width())
    }

    /// Returns the end of the first line.
    pub(super) fn first_line(&mut self, inline: &Inline, room: &LayoutArea) -> Option<usize> {
        let chunk = self.shape(inline, 0..chunk_end(inline, 0), room);
        chunk.layout.get(0).map(|line| line.text_range().end)
    }

    /// Shapes a chunk of text and breaks it into lines.
    fn shape(&mut self, inline: &Inline, range: Range<usize>, room: &LayoutArea) -> Chunk {
        let text = inline.text.get(range.clone()).unwrap_or_default();
        let Self { fonts, writer, families, .. } = self;
        let mut builder = writer.context.style_run_builder(fonts, text, 1.0, false);
        let mut looks = Vec::new();
        let mut begin = range.start;
        for (end, look) in styles_in_range(inline, &range) {
            let at = builder.push_style(style(look, count(looks.len()), room, families));
            builder.push_style_run(at, begin - range.start..end - range.start);
            looks.push(look);
            begin = end;
        }
        if looks.is_empty() {
            builder.push_style(style(InlineStyle::default(), 0, room, families));
            looks.push(InlineStyle::default());
        }
        for (id, (at, object)) in inline.objects.iter().enumerate() {
            if in_range(*at, &range, inline) {
                let ObjectSize { width, above, .. } = extent(object, room);
                builder.push_inline_box(InlineBox {
                    id: id as u64,
                    kind: InlineBoxKind::InFlow,
                    index: at - range.start,
                    width: width.min(room.width),
                    height: above,
                });
            }
        }
        let mut layout = builder.build(text);
        if room.hanging > 0.0 {
            layout.set_text_indent(room.hanging, IndentOptions { each_line: false, hanging: true });
        }
        layout.break_all_lines(Some(room.width));
        let alignment = match room.side {
            TextAlignment::Start => Alignment::Start,
            TextAlignment::Center => Alignment::Center,
            TextAlignment::End => Alignment::End,
        };
        layout.align(alignment, AlignmentOptions::default());
        Chunk { layout, range, looks }
    }

    /// Places a line. Avoids orphans and widows: a single line of a paragraph before or after a sheet break.
    fn line(&mut self, text: InlineChunk<'_>, at: usize, lines: usize, room: &LayoutArea) -> LayoutResult {
        let chunk = text.chunk;
        let Some(line) = chunk.layout.get(at) else { return Ok(()) };
        let high = |line: &Line<'_, Brush>| line_height(line, text.inline, room);
        let height = high(&line);
        let next = || chunk.layout.get(at + 1).map_or(0.0, |line| high(&line));
        let stays = at == 0 && lines > 1 || lines > 3 && at + 2 == lines;
        let keeps = if stays { (height + next()).min(self.pages.height()) } else { height };
        self.pages.ensure(keeps)?;
        let notes = self.notes_of(text, &line, height, room)?;
        let y = self.pages.take(height)?;
        let top = y - line.metrics().block_min_coord;
        self.put_line(text, &line, top, room)?;
        for (note, high) in notes {
            self.pages.put_note(note, high);
        }
        Ok(())
    }

    /// Lays out the footnotes referenced in a line, if they fit at the bottom of its sheet.
    fn notes_of(
        &mut self,
        InlineChunk { inline, chunk }: InlineChunk<'_>,
        line: &Line<'_, Brush>,
        height: f32,
        room: &LayoutArea,
    ) -> LayoutResult<Vec<(crate::sheet::Sheet, f32)>> {
        let mut out = Vec::new();
        for item in line.items() {
            let PositionedLayoutItem::InlineBox(object) = item else { continue };
            if let Some((at, InlineObject::Note(parts, number))) = object_of(inline, &object)
                && in_range(*at, &chunk.range, inline)
            {
                let call = NoteCall { parts, number: *number, above: room.tag };
                out.extend(self.note(&call, height, &out)?);
            }
        }
        Ok(out)
    }

    /// Draws a line of a chunk, with its top edge at `top`.
    fn put_line(
        &mut self,
        text: InlineChunk<'_>,
        line: &Line<'_, Brush>,
        top: f32,
        room: &LayoutArea,
    ) -> LayoutResult {
        let inline = text.inline;
        let baseline = top + line.metrics().baseline;
        let mut pieces = Vec::new();
        // Objects, each with the number of runs before it, in reading order.
        let mut objects = Vec::new();
        let mut last = None;
        for item in line.items() {
            match item {
                PositionedLayoutItem::InlineBox(object) => objects.push((pieces.len(), object)),
                PositionedLayoutItem::GlyphRun(part) => {
                    let run = part.run();
                    // A run with several styles is reported in several parts.
                    if last.replace(run.index()) != Some(run.index()) {
                        self.put_run(text, run, part.offset(), &mut pieces)?;
                    }
                }
            }
        }
        self.put_backings(&pieces, baseline, room);
        let mut links = LinkTags::new(room.tag);
        let mut objects = objects.into_iter().peekable();
        for at in 0..=pieces.len() {
            while let Some((_, object)) = objects.next_if(|(before, _)| *before == at) {
                if let Some((_, what)) = object_of(inline, &object) {
                    let area =
                        Area { x: room.x + object.x, y: top + object.y, w: object.width, h: object.height };
                    self.put_object(what, area, room)?;
                }
            }
            if let Some(piece) = pieces.get(at) {
                self.put_linked(piece, baseline, &mut links, room);
            }
        }
        Ok(())
    }

    /// Draws a part of a line, with its link if it has one.
    fn put_linked(&mut self, piece: &PaintedRun, baseline: f32, links: &mut LinkTags, room: &LayoutArea) {
        let Some(target) = piece.look.link else { return self.put_piece(piece, baseline, room) };
        let tag = links.tag(target, self);
        self.put_piece(piece, baseline, &room.with_tag(tag));
        let (y, h) = (baseline - room.size * 0.8, room.size * 1.05);
        let area = Area { x: room.x + piece.x, y, w: piece.width, h };
        self.pages.sheet().add_link(LinkArea { area, target, tag });
    }

    /// Adds the glyphs of a run to the sheet, and one painted run per style.
    fn put_run(
        &mut self,
        source: InlineChunk<'_>,
        run: &Run<'_, Brush>,
        start: f32,
        pieces: &mut Vec<PaintedRun>,
    ) -> LayoutResult {
        let font = self.faces.number(run.font())?;
        let size = run.font_size();
        let sheet = self.pages.sheet();
        let (mut x, mut piece): (f32, Option<(u32, PaintedRun)>) = (start, None);
        let mut waiting: Option<Range<usize>> = None;
        for cluster in run.visual_clusters() {
            let range = cluster.text_range();
            if cluster.is_ligature_continuation() {
                // The ligature is the previous glyph, or the next one in right-to-left text.
                if cluster.is_rtl() {
                    waiting = Some(union_range(waiting, range));
                } else if let Some((_, piece)) = &mut piece {
                    lengthen(sheet, piece, source.text(&range));
                }
                continue;
            }
            let range = union_range(waiting.take(), range);
            let said = source.text(&range);
            let chunk = source.chunk;
            let brush = cluster.first_style().brush.0;
            if piece.as_ref().is_some_and(|(before, _)| *before != brush) {
                pieces.extend(piece.take().map(|(_, piece)| piece));
            }
            let look = chunk.looks.get(brush as usize).copied().unwrap_or_default();
            let (_, piece) = piece.get_or_insert_with(|| {
                let glyphs = SheetRange { from: count(sheet.glyphs.len()), to: count(sheet.glyphs.len()) };
                let text = SheetRange { from: count(sheet.text.len()), to: count(sheet.text.len()) };
                (brush, PaintedRun { x, size, font, look, glyphs, text, width: 0.0 })
            });
            if is_silent(said) {
                continue;
            }
            let mut text = text_length(said);
            for glyph in cluster.glyphs() {
                if text != Glyph::SAME_TEXT {
                    sheet.text.push_str(said);
                    piece.text.to = count(sheet.text.len());
                }
                let id = u16::try_from(glyph.id).unwrap_or_default();
                let (right, up) = (glyph.x / size, glyph.y / size);
                sheet.glyphs.push(Glyph { advance: glyph.advance / size, x: right, y: up, id, text });
                text = Glyph::SAME_TEXT;
                x += glyph.advance;
                piece.width += glyph.advance;
            }
            piece.glyphs.to = count(sheet.glyphs.len());
        }
        pieces.extend(piece.map(|(_, piece)| piece));
        Ok(())
    }

    /// Paints text backgrounds, using one box for adjacent runs with the same style.
    fn put_backings(&mut self, pieces: &[PaintedRun], baseline: f32, room: &LayoutArea) {
        let mut rest = pieces;
        while let Some(first) = rest.first() {
            let same = |piece: &&PaintedRun| piece.look == first.look;
            let end = rest.iter().position(|piece| !same(&piece)).unwrap_or(rest.len());
            let width: f32 = rest[..end].iter().map(|piece| piece.width).sum();
            if let Some((paint, beyond, higher)) = background(first.look)
                && width > 0.0
            {
                let area = Area {
                    x: room.x + first.x - beyond,
                    y: baseline - room.size * 0.8 - higher,
                    w: width + 2.0 * beyond,
                    h: room.size * 1.04 + 2.0 * higher,
                };
                self.pages.sheet().put(TagId::DECOR, Mark::Box { area, paint });
            }
            rest = &rest[end..];
        }
    }

    fn put_piece(&mut self, piece: &PaintedRun, baseline: f32, room: &LayoutArea) {
        if piece.glyphs.from == piece.glyphs.to {
            return;
        }
        let up = match piece.look.raise {
            VerticalShift::Baseline => 0.0,
            VerticalShift::Superscript => room.size * 0.34,
            VerticalShift::Subscript => -room.size * 0.16,
        };
        let ink = piece.look.ink.unwrap_or(room.ink);
        let PaintedRun { size, font, glyphs, text, .. } = *piece;
        let (x, y) = (room.x + piece.x, baseline - up);
        let sheet = self.pages.sheet();
        sheet.put(room.tag, Mark::Run { x, y, size, ink, font, glyphs, text });
        if piece.look.strike {
            let area = Area { x, y: y - size * 0.26, w: piece.width, h: (size * 0.06).max(0.5) };
            sheet.put(TagId::DECOR, Mark::Box { area, paint: fill_paint(ink) });
        }
    }

    fn put_object(
        &mut self,
        object: &InlineObject,
        Area { x, y, w: width, .. }: Area,
        room: &LayoutArea,
    ) -> LayoutResult {
        match object {
            InlineObject::Space(_) | InlineObject::Note(..) => {}
            InlineObject::Check(on) => {
                let side = room.size * 0.75;
                let area = Area { x, y, w: side, h: side };
                self.put_box(area, if *on { TagId::DECOR } else { room.tag });
                if *on {
                    self.put_tick(area, room.tag)?;
                }
            }
            InlineObject::Picture { file, w, h, alt, .. } => {
                let h = if *w > width { h * width / w } else { *h };
                let tag = self.tags.add(room.tag, Role::Figure(alt.clone()));
                let area = Area { x, y, w: w.min(width), h };
                self.pages.sheet().put(tag, Mark::Picture { area, picture: *file });
            }
            InlineObject::Formula { drawn, source } => {
                let tag = self.tags.add(room.tag, Role::Formula(source.clone()));
                let fits = (width / (drawn.width * room.size).max(0.01)).min(1.0);
                let spot = FormulaPosition {
                    x,
                    y: y + drawn.height * room.size,
                    em: room.size * fits,
                    ink: room.ink,
                    tag,
                };
                self.formulas.draw(drawn, spot, &mut self.faces, self.pages.sheet())?;
            }
        }
        Ok(())
    }

    /// Draws a checkbox.
    pub(super) fn put_box(&mut self, area: Area, tag: TagId) {
        let paint = Paint { line: Some((SOFT, 0.6)), radius: 1.5, ..Paint::default() };
        self.pages.sheet().put(tag, Mark::Box { area, paint });
    }

    /// Draws the check mark of a checkbox.
    pub(super) fn put_tick(&mut self, Area { x, y, w, .. }: Area, tag: TagId) -> LayoutResult {
        let room =
            LayoutArea { size: w * 0.87, ink: ACCENT, code: true, bold: true, tag, ..LayoutArea::sheet() };
        self.word("✓", &room, x + w / 2.0, y + w * 0.85)
    }

    /// Draws one word, horizontally centred at a position.
    pub(super) fn word(&mut self, said: &str, room: &LayoutArea, x: f32, y: f32) -> LayoutResult {
        let inline = Inline::from_text(said);
        let chunk = self.shape(
            &inline,
            0..said.len(),
            &LayoutArea { width: 400.0, side: TextAlignment::Start, ..*room },
        );
        let Some(line) = chunk.layout.get(0) else { return Ok(()) };
        let left = x - chunk.layout.width() / 2.0;
        let top = y - line.metrics().baseline;
        self.put_line(
            InlineChunk { inline: &inline, chunk: &chunk },
            &line,
            top,
            &LayoutArea { x: left, ..*room },
        )
    }
}

/// Tags of the links in a line, one per link.
struct LinkTags {
    above: TagId,
    known: Vec<(u32, TagId)>,
}

impl LinkTags {
    const fn new(above: TagId) -> Self {
        Self { above, known: Vec::new() }
    }

    fn tag(&mut self, link: u32, setter: &mut Setter) -> TagId {
        if let Some((_, tag)) = self.known.last().filter(|(known, _)| *known == link) {
            return *tag;
        }
        let tag = setter.tags.add(self.above, Role::Link);
        self.known.push((link, tag));
        tag
    }
}

/// Returns the end of the next chunk of text.
fn chunk_end(inline: &Inline, from: usize) -> usize {
    let most = (from + MAX_CHUNK_BYTES).min(inline.text.len());
    let first = inline.looks.partition_point(|(end, _)| *end <= from);
    let looks = inline.looks.get(first + MAX_SHAPED_STYLES).map_or(most, |(end, _)| *end);
    let first = inline.objects.partition_point(|(at, _)| *at <= from);
    let objects = inline.objects.get(first + MAX_SHAPED_STYLES).map_or(most, |(at, _)| *at);
    let mut end = most.min(looks).min(objects);
    while !inline.text.is_char_boundary(end) {
        end -= 1;
    }
    if end <= from { inline.text.len() } else { end }
}

/// Returns the styles in a range of text, each with the end of its own range.
fn styles_in_range<'a>(
    inline: &'a Inline,
    range: &Range<usize>,
) -> impl Iterator<Item = (usize, InlineStyle)> + 'a {
    let first = inline.looks.partition_point(|(end, _)| *end <= range.start);
    let (start, last) = (range.start, range.end);
    let begins =
        move |at: usize| at.checked_sub(1).and_then(|at| inline.looks.get(at)).map_or(0, |(end, _)| *end);
    inline
        .looks
        .iter()
        .enumerate()
        .skip(first)
        .take_while(move |(at, _)| begins(*at).max(start) < last)
        .map(move |(_, (end, look))| ((*end).min(last), *look))
}

/// Returns `true` if a position is in a range of text. The end of the range is included only at the end of the text.
fn in_range(at: usize, range: &Range<usize>, inline: &Inline) -> bool {
    range.contains(&at) || at == range.end && range.end == inline.text.len()
}

fn style<'a>(
    look: InlineStyle,
    brush: u32,
    room: &LayoutArea,
    families: &'a Families,
) -> TextStyle<'a, 'static, Brush> {
    let is_code = look.code || room.code;
    let part = match (look.code, look.frame, look.raise) {
        (true, Some(super::inline::TextFrame::Key), _) => 0.8,
        (true, ..) => 0.84,
        (false, Some(_), _) => 0.92,
        (false, None, VerticalShift::Baseline) => 1.0,
        (false, None, _) => 0.62,
    };
    let size = room.size * part;
    let list = if is_code { &families.code } else { &families.text };
    // Smaller text must not increase the line height.
    let height = if part < 1.0 { size * 1.05 } else { room.size * room.leading };
    TextStyle {
        font_family: FontFamily::List(Cow::Borrowed(list.as_slice())),
        font_size: size,
        font_weight: if look.bold || room.bold { FontWeight::BOLD } else { FontWeight::NORMAL },
        font_style: if look.italic { FontStyle::Italic } else { FontStyle::Normal },
        brush: Brush(brush),
        line_height: LineHeight::Absolute(height),
        overflow_wrap: OverflowWrap::Anywhere,
        ..TextStyle::default()
    }
}

/// Size of an inline object: width, height above the baseline, and depth below it.
struct ObjectSize {
    width: f32,
    above: f32,
    below: f32,
}

fn extent(object: &InlineObject, room: &LayoutArea) -> ObjectSize {
    let (width, above, below) = match object {
        InlineObject::Check(_) => (room.size * 0.85, room.size * 0.67, room.size * 0.08),
        InlineObject::Picture { w, h, sinks, .. } => (*w, h - sinks, *sinks),
        InlineObject::Formula { drawn, .. } => {
            (drawn.width * room.size, drawn.height * room.size, drawn.depth * room.size)
        }
        InlineObject::Space(width) => (*width, 0.1, 0.0),
        InlineObject::Note(..) => (0.0, 0.1, 0.0),
    };
    ObjectSize { width, above: above.max(0.0), below: below.max(0.0) }
}

/// Returns the height of a line. The shaper ignores how far objects extend below the baseline.
fn line_height(line: &Line<'_, Brush>, inline: &Inline, room: &LayoutArea) -> f32 {
    let metrics = line.metrics();
    let boxes = (!inline.objects.is_empty()).then(|| line.items()).into_iter().flatten();
    let below = boxes.filter_map(|item| match item {
        PositionedLayoutItem::InlineBox(object) => object_of(inline, &object),
        PositionedLayoutItem::GlyphRun(_) => None,
    });
    let letters = metrics.block_max_coord - metrics.baseline;
    let below = below.map(|(_, object)| extent(object, room).below).fold(letters, f32::max);
    (metrics.baseline - metrics.block_min_coord + below).max(0.0)
}

/// Returns the object of an inline box, and its position in the text.
fn object_of<'a>(inline: &'a Inline, object: &PositionedInlineBox) -> Option<&'a (usize, InlineObject)> {
    inline.objects.get(usize::try_from(object.id).ok()?)
}

fn union_range(first: Option<Range<usize>>, second: Range<usize>) -> Range<usize> {
    match first {
        Some(first) => first.start.min(second.start)..first.end.max(second.end),
        None => second,
    }
}

/// Adds the text of a character that has no glyph of its own to the previous glyph.
fn lengthen(sheet: &mut Sheet, piece: &mut PaintedRun, said: &str) {
    if piece.glyphs.to != count(sheet.glyphs.len()) || is_silent(said) {
        return;
    }
    let glyphs = sheet.glyphs.get_mut(piece.glyphs.from as usize..).unwrap_or_default();
    // The first glyph of a cluster has its text.
    let Some(first) = glyphs.iter_mut().rev().find(|glyph| glyph.text != Glyph::SAME_TEXT) else { return };
    first.text = first.text.saturating_add(text_length(said)).min(Glyph::SAME_TEXT - 1);
    sheet.text.push_str(said);
    piece.text.to = count(sheet.text.len());
}

/// Returns the length of the text of a glyph. It is at most [`MAX_CHUNK_BYTES`].
fn text_length(said: &str) -> u16 {
    u16::try_from(said.len()).unwrap_or(u16::MAX).min(Glyph::SAME_TEXT - 1)
}

/// Returns `true` if text consists only of line break opportunities.
fn is_silent(said: &str) -> bool {
    said.chars().all(|c| matches!(c, '\n' | '\u{200b}'))
}

const fn fill_paint(ink: RgbColor) -> Paint {
    Paint { fill: Some(ink), line: None, left: None, radius: 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_shaped_in_bounded_chunks() {
        let looks = (1..=5_000).map(|at| (at * 10, InlineStyle::default())).collect();
        let inline = Inline { text: "é".repeat(25_000), looks, objects: Vec::new() };
        let mut from = 0;
        let mut parts = 0;
        while from < inline.text.len() {
            let to = chunk_end(&inline, from);
            assert!(to > from && to - from <= MAX_CHUNK_BYTES && inline.text.is_char_boundary(to));
            let all: Vec<usize> = styles_in_range(&inline, &(from..to)).map(|(end, _)| end).collect();
            assert!(all.len() <= MAX_SHAPED_STYLES + 2 && all.last() == Some(&to) && all.is_sorted());
            from = to;
            parts += 1;
        }
        assert!(parts > 3);
    }
}
