//! Writing sheets to a PDF file.

use std::collections::HashMap;

use krilla::{
    Document,
    action::{Action, LinkAction},
    annotation::{Annotation, LinkAnnotation, Target as Way},
    color::rgb,
    destination::XyzDestination,
    geom::{Path, PathBuilder, Point, Rect, Size, Transform},
    graphic::Graphic,
    metadata::Metadata,
    num::NormalizedF32,
    outline::{Outline, OutlineNode},
    page::PageSettings,
    paint::{Fill, FillRule, Stroke, StrokeDash},
    surface::Surface,
    tagging::{Artifact, ArtifactType, ContentTag, Identifier},
    text::{GlyphId, KrillaGlyph},
};
use krilla_svg::{SurfaceExt as _, SvgSettings};
use ratex_types::path_command::PathCommand;

use crate::{
    appearance::{LINE, RgbColor, SHEET_HEIGHT, SHEET_WIDTH},
    fonts::BookFonts,
    layout::LinkDestination,
    pictures::PictureContent,
    sheet::{Area, Glyph, LinkArea, Mark, Op, Paint, Sheet, SheetRange},
    tags::{TagId, Tags},
    termination::{Clock, LayoutResult, LayoutStop},
};

/// Distance above a heading to which a link to it scrolls, in points.
const LINK_MARGIN: f32 = 6.0;
/// Maximum length of an outline title in characters.
const MAX_OUTLINE_TITLE: usize = 500;

/// Metadata of a PDF file.
pub(crate) struct PdfMetadata {
    pub(crate) title: String,
    pub(crate) language: String,
}

/// Resources referenced by sheets.
pub(crate) struct SheetResources<'a> {
    pub(crate) faces: &'a BookFonts,
    pub(crate) targets: &'a [LinkDestination],
    pub(crate) shapes: Vec<PictureContent>,
}

/// Writes sheets.
///
/// # Errors
/// [`LayoutStop::Late`], and [`LayoutStop::Failed`] if the PDF library fails.
pub(crate) fn write(
    sheets: Vec<Sheet>,
    about: &PdfMetadata,
    sources: SheetResources<'_>,
    mut tags: Tags,
    clock: &Clock,
) -> LayoutResult<Vec<u8>> {
    let mut document = Document::new();
    let places = LabelPositions::from_sheets(&sheets);
    let outline = outline(&sheets);
    let mut pictures = Pictures { shapes: sources.shapes, drawn: HashMap::new() };
    for mut sheet in sheets {
        clock.check()?;
        sheet.unpack();
        let settings = PageSettings::from_wh(SHEET_WIDTH, SHEET_HEIGHT);
        let settings = settings.ok_or_else(|| LayoutStop::Failed("the sheet size is valid".to_owned()))?;
        let mut page = document.start_page_with(settings);
        let mut surface = page.surface();
        let mut rest = sheet.ops.as_slice();
        while let Some(first) = rest.first() {
            let end = rest.iter().position(|op| op.tag != first.tag).unwrap_or(rest.len());
            let (same, after) = rest.split_at(end);
            if same.iter().any(|op| !matches!(op.mark, Mark::Reserved)) {
                let id = surface.start_tagged(content(first.tag));
                same.iter().for_each(|op| draw(op, &sheet, sources.faces, &mut pictures, &mut surface));
                surface.end_tagged();
                place_tag(&mut tags, first.tag, id);
            }
            rest = after;
        }
        surface.finish();
        for link in &sheet.links {
            if let Some(annotation) = annotation(link, sources.targets, &places) {
                let id = page.add_tagged_annotation(annotation);
                place_tag(&mut tags, link.tag, id);
            }
        }
        page.finish();
    }
    clock.check()?;
    document.set_outline(outline);
    document.set_tag_tree(tags.tree(&about.language));
    document.set_metadata(Metadata::new().title(about.title.clone()).language(about.language.clone()));
    document.finish().map_err(|why| LayoutStop::Failed(format!("{why:?}").chars().take(200).collect()))
}

fn content(tag: TagId) -> ContentTag<'static> {
    match tag {
        TagId::FOOTER => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Footer)),
        TagId::DECOR => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)),
        _ => ContentTag::Other,
    }
}

fn place_tag(tags: &mut Tags, tag: TagId, id: Identifier) {
    if !tag.is_artifact() {
        tags.add_content(tag, id);
    }
}

struct LabelPositions(HashMap<std::rc::Rc<str>, (usize, f32)>);

impl LabelPositions {
    fn from_sheets(sheets: &[Sheet]) -> Self {
        let all = sheets.iter().enumerate().flat_map(|(at, sheet)| sheet.labels.iter().map(move |l| (at, l)));
        let mut known = HashMap::new();
        for (sheet, label) in all {
            known.entry(std::rc::Rc::clone(&label.name)).or_insert((sheet, label.y));
        }
        Self(known)
    }

    fn get(&self, name: Option<&String>) -> Option<(usize, f32)> {
        self.0.get(name?.as_str()).copied()
    }
}

fn annotation(link: &LinkArea, targets: &[LinkDestination], places: &LabelPositions) -> Option<Annotation> {
    let Area { x, y, w, h } = link.area;
    let area = Rect::from_xywh(x, y, w.max(0.1), h.max(0.1))?;
    let jump = |(sheet, y): (usize, f32)| {
        let point = Point::from_xy(crate::appearance::SIDE_MARGIN, (y - LINK_MARGIN).max(0.0));
        Way::Destination(XyzDestination::new(sheet, point).into())
    };
    let way = match targets.get(link.target as usize)? {
        LinkDestination::Position { sheet, y } => jump((*sheet, *y)),
        LinkDestination::Named { to, page, url } => {
            let place = places.get(to.as_ref()).or_else(|| places.get(page.as_ref()));
            match (place, url) {
                (Some(place), _) => jump(place),
                (None, Some(url)) => Way::Action(Action::Link(LinkAction::new(url.clone()))),
                (None, None) => return None,
            }
        }
    };
    let said = match targets.get(link.target as usize)? {
        LinkDestination::Named { url: Some(url), .. } => Some(url.clone()),
        _ => None,
    };
    Some(Annotation::new_link(LinkAnnotation::new(area, way), said))
}

/// Builds the outline: each heading is a child of the previous heading of a higher level.
fn outline(sheets: &[Sheet]) -> Outline {
    let mut outline = Outline::new();
    let mut open: Vec<(usize, OutlineNode)> = Vec::new();
    let close = |open: &mut Vec<(usize, OutlineNode)>, outline: &mut Outline| {
        let Some((_, node)) = open.pop() else { return };
        match open.last_mut() {
            Some((_, above)) => above.push_child(node),
            None => outline.push_child(node),
        }
    };
    for (at, sheet) in sheets.iter().enumerate() {
        for mark in &sheet.bookmarks {
            while open.last().is_some_and(|(level, _)| *level >= mark.level) {
                close(&mut open, &mut outline);
            }
            let point = Point::from_xy(crate::appearance::SIDE_MARGIN, (mark.y - LINK_MARGIN).max(0.0));
            let title: String = mark.title.chars().take(MAX_OUTLINE_TITLE).collect();
            open.push((mark.level, OutlineNode::new(title, XyzDestination::new(at, point))));
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut outline);
    }
    outline
}

/// Images of the file. Each is written only once.
struct Pictures {
    shapes: Vec<PictureContent>,
    drawn: HashMap<u32, Graphic>,
}

fn draw(op: &Op, sheet: &Sheet, faces: &BookFonts, pictures: &mut Pictures, surface: &mut Surface<'_>) {
    match &op.mark {
        Mark::Reserved => {}
        Mark::Box { area, paint } => draw_box(*area, *paint, surface),
        Mark::Dots { x, y, w } => draw_dots(*x, *y, *w, surface),
        Mark::Run { x, y, size, ink, font, glyphs, text } => {
            let Some(font) = faces.get(*font) else { return };
            let said = sheet.text.get(text.from as usize..text.to as usize).unwrap_or_default();
            let glyphs = glyphs_of(sheet, *glyphs, said);
            fill(surface, *ink);
            surface.draw_glyphs(Point::from_xy(*x, *y), &glyphs, font.clone(), said, *size, false);
        }
        Mark::Picture { area, picture } => draw_picture(*area, *picture, pictures, surface),
        Mark::Path { x, y, em, ink, filled, path } => {
            let Some(path) = path_of(path) else { return };
            surface.push_transform(&Transform::from_row(*em, 0.0, 0.0, *em, *x, *y));
            if *filled {
                fill(surface, *ink);
            } else {
                stroke(surface, *ink, 0.04);
            }
            surface.draw_path(&path);
            surface.pop();
        }
    }
}

/// Returns the glyphs of a run, with text ranges relative to the text of the run.
fn glyphs_of(sheet: &Sheet, part: SheetRange, said: &str) -> Vec<KrillaGlyph> {
    let glyphs = sheet.glyphs.get(part.from as usize..part.to as usize).unwrap_or_default();
    let mut out = Vec::with_capacity(glyphs.len());
    let mut text = 0..0;
    for glyph in glyphs {
        if glyph.text != Glyph::SAME_TEXT {
            text = text.end..text.end + usize::from(glyph.text);
        }
        let range = if said.get(text.clone()).is_some() { text.clone() } else { 0..0 };
        let Glyph { advance, x, y, id, .. } = *glyph;
        out.push(KrillaGlyph::new(GlyphId::new(id.into()), advance, x, y, 0.0, range, None));
    }
    out
}

fn fill(surface: &mut Surface<'_>, ink: RgbColor) {
    let paint = rgb::Color::new(ink.0, ink.1, ink.2).into();
    surface.set_stroke(None);
    surface.set_fill(Some(Fill { paint, opacity: NormalizedF32::ONE, rule: FillRule::NonZero }));
}

fn stroke(surface: &mut Surface<'_>, ink: RgbColor, width: f32) {
    let paint = rgb::Color::new(ink.0, ink.1, ink.2).into();
    surface.set_fill(None);
    surface.set_stroke(Some(Stroke { paint, width, ..Stroke::default() }));
}

fn draw_box(area: Area, paint: Paint, surface: &mut Surface<'_>) {
    let Area { x, y, w, h } = area;
    if w <= 0.0 || h <= 0.0 {
        return;
    }
    if let Some(path) = rounded_rectangle(area, paint.radius) {
        if let Some(ink) = paint.fill {
            fill(surface, ink);
            surface.draw_path(&path);
        }
        if let Some((ink, width)) = paint.line {
            stroke(surface, ink, width);
            surface.draw_path(&path);
        }
    }
    if let Some((ink, width)) = paint.left
        && let Some(bar) = rounded_rectangle(Area { x, y, w: width, h }, 0.0)
    {
        fill(surface, ink);
        surface.draw_path(&bar);
    }
}

/// Returns the path of a rectangle with rounded corners.
fn rounded_rectangle(Area { x, y, w, h }: Area, radius: f32) -> Option<Path> {
    /// Distance of the Bézier handles of a quarter circle from the corner, as a fraction of the radius.
    const HANDLE: f32 = 0.447_715;
    let r = radius.min(w / 2.0).min(h / 2.0);
    let mut path = PathBuilder::new();
    if r < 0.1 {
        path.push_rect(Rect::from_xywh(x, y, w, h)?);
        return path.finish();
    }
    let (right, bottom, k) = (x + w, y + h, r * HANDLE);
    path.move_to(x + r, y);
    path.line_to(right - r, y);
    path.cubic_to(right - k, y, right, y + k, right, y + r);
    path.line_to(right, bottom - r);
    path.cubic_to(right, bottom - k, right - k, bottom, right - r, bottom);
    path.line_to(x + r, bottom);
    path.cubic_to(x + k, bottom, x, bottom - k, x, bottom - r);
    path.line_to(x, y + r);
    path.cubic_to(x, y + k, x + k, y, x + r, y);
    path.close();
    path.finish()
}

fn draw_dots(x: f32, y: f32, w: f32, surface: &mut Surface<'_>) {
    let mut path = PathBuilder::new();
    path.move_to(x, y);
    path.line_to(x + w, y);
    let Some(path) = path.finish() else { return };
    let RgbColor(r, g, b) = LINE;
    let dash = Some(StrokeDash { array: vec![1.0, 3.0], offset: 0.0 });
    surface.set_fill(None);
    let paint = rgb::Color::new(r, g, b).into();
    surface.set_stroke(Some(Stroke { paint, width: 1.0, dash, ..Stroke::default() }));
    surface.draw_path(&path);
}

fn draw_picture(area: Area, picture: u32, pictures: &mut Pictures, surface: &mut Surface<'_>) {
    let Area { x, y, w, h } = area;
    let Some(shape) = pictures.shapes.get(picture as usize) else { return };
    match shape {
        PictureContent::Raster(image) => {
            let Some(size) = Size::from_wh(w, h) else { return };
            surface.push_transform(&Transform::from_translate(x, y));
            surface.draw_image(image.clone(), size);
            surface.pop();
        }
        PictureContent::Drawing(drawing) => {
            let tree = drawing.tree();
            let (wide, high) = (tree.size().width(), tree.size().height());
            let Some(size) = Size::from_wh(wide, high) else { return };
            let graphic = pictures.drawn.entry(picture).or_insert_with(|| {
                let mut stream = surface.stream_builder();
                let mut inner = stream.surface();
                // Unsupported parts of a drawing are skipped without an error.
                let _ = inner.draw_svg(tree, size, SvgSettings::default());
                inner.finish();
                Graphic::new(stream.finish(), false)
            });
            surface.push_transform(&Transform::from_row(w / wide, 0.0, 0.0, h / high, x, y));
            surface.draw_graphic(graphic.clone());
            surface.pop();
        }
    }
}

fn path_of(commands: &[PathCommand]) -> Option<Path> {
    #[expect(clippy::cast_possible_truncation, reason = "the length was checked")]
    let p = |length: f64| length as f32;
    let mut path = PathBuilder::new();
    for command in commands {
        match *command {
            PathCommand::MoveTo { x, y } => path.move_to(p(x), p(y)),
            PathCommand::LineTo { x, y } => path.line_to(p(x), p(y)),
            PathCommand::QuadTo { x1, y1, x, y } => path.quad_to(p(x1), p(y1), p(x), p(y)),
            PathCommand::CubicTo { x1, y1, x2, y2, x, y } => {
                path.cubic_to(p(x1), p(y1), p(x2), p(y2), p(x), p(y));
            }
            PathCommand::Close => path.close(),
        }
    }
    path.finish()
}
