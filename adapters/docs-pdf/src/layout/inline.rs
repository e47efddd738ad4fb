//! Inline content as a single string with styles and objects: [`Inline`].

use crate::{
    appearance::{ACCENT, MARKED, RgbColor, colour},
    formula::{Formula, FormulaLayout},
    layout_tree::{ShownPart, ShownParts, ShownTag, Style},
};

use super::{
    layout_area::LayoutArea,
    setter::{LinkDestination, Setter},
};

/// Maximum length of a framed key label in characters. Longer labels are only highlighted.
const MAX_KEY_CHARS: usize = 30;

/// Inline style of text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct InlineStyle {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) strike: bool,
    pub(crate) code: bool,
    pub(crate) frame: Option<TextFrame>,
    pub(crate) raise: VerticalShift,
    pub(crate) ink: Option<RgbColor>,
    pub(crate) back: Option<RgbColor>,
    /// Index into the link targets of the book.
    pub(crate) link: Option<u32>,
}

/// Frame around text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum TextFrame {
    Code,
    Key,
    Button,
    MainButton,
}

/// Vertical position of text: baseline, superscript or subscript.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum VerticalShift {
    #[default]
    Baseline,
    Superscript,
    Subscript,
}

/// An object within text.
#[derive(Clone, Debug)]
pub(crate) enum InlineObject {
    Check(bool),
    Picture {
        file: u32,
        w: f32,
        h: f32,
        alt: String,
        sinks: f32,
    },
    Formula {
        drawn: Box<FormulaLayout>,
        source: String,
    },
    Space(f32),
    /// A footnote: its content and its number.
    Note(ShownParts, usize),
}

/// Text with styles and objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    pub(crate) text: String,
    /// Styles, each with the end of the range that it applies to.
    pub(crate) looks: Vec<(usize, InlineStyle)>,
    /// Objects with their positions, in order.
    pub(crate) objects: Vec<(usize, InlineObject)>,
}

impl Inline {
    /// Creates unstyled text.
    pub(crate) fn from_text(text: &str) -> Self {
        let looks = vec![(text.len(), InlineStyle::default())];
        Self { text: text.to_owned(), looks, objects: Vec::new() }
    }

    fn push(&mut self, text: &str, look: InlineStyle) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        let end = self.text.len();
        match self.looks.last_mut() {
            Some((last, same)) if *same == look => *last = end,
            _ => self.looks.push((end, look)),
        }
    }

    fn object(&mut self, object: InlineObject) {
        self.objects.push((self.text.len(), object));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.objects.is_empty()
    }
}

impl Setter {
    /// Converts parts to inline content.
    pub(super) fn inline(&mut self, parts: &[&ShownPart], room: &LayoutArea) -> Inline {
        let mut out = Inline::default();
        for part in parts {
            self.put_inline(part, InlineStyle::default(), room, &mut out);
        }
        out
    }

    /// Adds a part. Lowering has limited the recursion depth.
    fn put_inline(&mut self, part: &ShownPart, look: InlineStyle, room: &LayoutArea, out: &mut Inline) {
        let tag = match part {
            ShownPart::Text(text) => return out.push(text, look),
            ShownPart::Parts(parts) => return self.put_all(parts, look, room, out),
            ShownPart::Tag(tag) => tag,
        };
        match &**tag {
            ShownTag::Styled(style) => push_styled(style, look, out),
            ShownTag::Link { c, to, page, url } => {
                let link = crate::sheet::count(self.targets.len());
                let (to, page, url) = (to.clone(), page.clone(), url.clone());
                self.targets.push(LinkDestination::Named { to, page, url });
                self.put_all(c, InlineStyle { link: Some(link), ink: Some(ACCENT), ..look }, room, out);
            }
            ShownTag::Glyph { .. } => {
                if let Some(object) = picture(tag, room) {
                    out.object(object);
                }
            }
            ShownTag::Math { formula, source, .. } => put_formula(formula, source, room, out),
            ShownTag::Note { c } => {
                self.notes += 1;
                out.object(InlineObject::Note(c.clone(), self.notes));
                out.push(&self.notes.to_string(), InlineStyle { raise: VerticalShift::Superscript, ..look });
            }
            ShownTag::Button { c, primary } => {
                let (frame, ink) = if *primary {
                    (TextFrame::MainButton, crate::appearance::WHITE)
                } else {
                    (TextFrame::Button, crate::appearance::INK)
                };
                out.object(InlineObject::Space(7.0));
                self.put_all(c, InlineStyle { frame: Some(frame), ink: Some(ink), ..look }, room, out);
                out.object(InlineObject::Space(7.0));
            }
            ShownTag::Check { on } => out.object(InlineObject::Check(*on)),
            // Other tags are blocks, which never occur within text.
            ShownTag::Par { c, .. } => self.put_all(c, look, room, out),
            _ => {}
        }
    }

    fn put_all(&mut self, parts: &[ShownPart], look: InlineStyle, room: &LayoutArea, out: &mut Inline) {
        for part in parts {
            self.put_inline(part, look, room, out);
        }
    }
}

fn push_styled(style: &Style, look: InlineStyle, out: &mut Inline) {
    let frame = if style.key && style.v.chars().count() <= MAX_KEY_CHARS {
        Some(TextFrame::Key)
    } else if style.code || style.key {
        Some(TextFrame::Code)
    } else {
        look.frame
    };
    let raise = match (style.up, style.down) {
        (true, _) => VerticalShift::Superscript,
        (_, true) => VerticalShift::Subscript,
        _ => look.raise,
    };
    let ink = style.fg.map(|name| colour(name).0).or(look.ink);
    let back = style.bg.map(|name| colour(name).1).or(look.back);
    let look = InlineStyle {
        bold: look.bold || style.bold,
        italic: look.italic || style.italic,
        strike: look.strike || style.strike,
        code: look.code || style.code || style.key,
        frame,
        raise,
        ink,
        back,
        link: look.link,
    };
    let around = frame == Some(TextFrame::Key);
    if around {
        out.object(InlineObject::Space(4.0));
    }
    out.push(&style.v, look);
    if around {
        out.object(InlineObject::Space(4.0));
    }
}

fn picture(tag: &ShownTag, room: &LayoutArea) -> Option<InlineObject> {
    let ShownTag::Glyph { file, w, h, alt, line } = tag else { return None };
    let (file, line) = (*file, *line);
    #[expect(clippy::cast_possible_truncation, reason = "a length")]
    let (w, h) = (w.max(0.1) as f32, h.max(0.1) as f32);
    let most = if line { room.size } else { crate::appearance::CONTENT_HEIGHT * 0.6 };
    let part = if line { room.size / h } else { (room.width / w).min(most / h).min(1.0) };
    let part = part.min(room.width / w);
    let sinks = if line { room.size * 0.15 } else { 0.0 };
    Some(InlineObject::Picture { file, w: w * part, h: h * part, alt: alt.clone(), sinks })
}

/// Adds a formula, which is split into parts if it is wider than the line.
fn put_formula(formula: &Formula, source: &str, room: &LayoutArea, out: &mut Inline) {
    let whole = formula.layout_one_line();
    let fits = |drawn: &FormulaLayout| drawn.width * room.size <= room.width;
    match whole {
        Some(drawn) if fits(&drawn) => {
            out.object(InlineObject::Formula { drawn: Box::new(drawn), source: source.to_owned() });
        }
        _ => {
            for (at, part) in formula.parts().into_iter().enumerate() {
                let source = if at == 0 { source.to_owned() } else { String::new() };
                out.object(InlineObject::Formula { drawn: Box::new(part), source });
            }
        }
    }
}

/// Returns the background for a style, with its horizontal and vertical padding.
pub(super) fn background(look: InlineStyle) -> Option<(crate::sheet::Paint, f32, f32)> {
    use crate::{appearance, sheet::Paint};
    let filled = |ink, radius| Paint { fill: Some(ink), radius, ..Paint::default() };
    match look.frame {
        Some(TextFrame::Code) => Some((filled(MARKED, 2.0), 0.8, 0.0)),
        Some(TextFrame::Key) => Some((
            Paint { line: Some((appearance::SOFT, appearance::LINE_WIDTH)), radius: 2.0, ..Paint::default() },
            3.0,
            0.5,
        )),
        Some(TextFrame::Button) => {
            let line = Some((appearance::LINE, appearance::LINE_WIDTH));
            Some((Paint { line, ..filled(appearance::PANEL, 3.0) }, 6.0, 1.5))
        }
        Some(TextFrame::MainButton) => Some((filled(ACCENT, 3.0), 6.0, 1.5)),
        None => look.back.map(|ink| (filled(ink, 0.0), 1.0, 0.0)),
    }
}
