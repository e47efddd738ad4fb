//! Inline content as one string with styles and objects: [`Inline`].

use crate::{
    formula::{Drawn, Formula},
    look::{ACCENT, Ink, MARKED, colour},
    shown::{Parts, Shown, Style, Tag},
};

use super::{
    room::Room,
    setter::{Setter, Target},
};

/// Maximum number of characters of a key label in a frame. Longer labels are only highlighted.
const KEY: usize = 30;

/// The inline style of text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Look {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) strike: bool,
    pub(crate) code: bool,
    pub(crate) frame: Option<Frame>,
    pub(crate) raise: Raise,
    pub(crate) ink: Option<Ink>,
    pub(crate) back: Option<Ink>,
    /// Index of the link target among those of the book.
    pub(crate) link: Option<u32>,
}

/// The frame around text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Frame {
    Code,
    Key,
    Button,
    MainButton,
}

/// The vertical position of text: superscript or subscript.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) enum Raise {
    #[default]
    No,
    Up,
    Down,
}

/// An inline object other than text.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    Check(bool),
    Picture {
        file: u32,
        w: f32,
        h: f32,
        alt: String,
        sinks: f32,
    },
    Formula {
        drawn: Box<Drawn>,
        source: String,
    },
    Space(f32),
    /// A footnote with its content and number.
    Note(Parts, usize),
}

/// Text with styles and objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    pub(crate) text: String,
    /// Styles, each with the end of its range.
    pub(crate) looks: Vec<(usize, Look)>,
    /// Objects by position, in order.
    pub(crate) objects: Vec<(usize, Object)>,
}

impl Inline {
    /// Creates unstyled text.
    pub(crate) fn plain(text: &str) -> Self {
        let looks = vec![(text.len(), Look::default())];
        Self { text: text.to_owned(), looks, objects: Vec::new() }
    }

    fn push(&mut self, text: &str, look: Look) {
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

    fn object(&mut self, object: Object) {
        self.objects.push((self.text.len(), object));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.objects.is_empty()
    }
}

impl Setter {
    /// Converts parts to inline content.
    pub(super) fn inline(&mut self, parts: &[&Shown], room: &Room) -> Inline {
        let mut out = Inline::default();
        for part in parts {
            self.put_inline(part, Look::default(), room, &mut out);
        }
        out
    }

    /// The recursion depth is limited by lowering.
    fn put_inline(&mut self, part: &Shown, look: Look, room: &Room, out: &mut Inline) {
        let tag = match part {
            Shown::Text(text) => return out.push(text, look),
            Shown::Parts(parts) => return self.put_all(parts, look, room, out),
            Shown::Tag(tag) => tag,
        };
        match &**tag {
            Tag::Styled(style) => styled(style, look, out),
            Tag::Link { c, to, page, url } => {
                let link = crate::sheet::count(self.targets.len());
                let (to, page, url) = (to.clone(), page.clone(), url.clone());
                self.targets.push(Target::Named { to, page, url });
                self.put_all(c, Look { link: Some(link), ink: Some(ACCENT), ..look }, room, out);
            }
            Tag::Glyph { .. } => {
                if let Some(object) = picture(tag, room) {
                    out.object(object);
                }
            }
            Tag::Math { formula, source, .. } => put_formula(formula, source, room, out),
            Tag::Note { c } => {
                self.notes += 1;
                out.object(Object::Note(c.clone(), self.notes));
                out.push(&self.notes.to_string(), Look { raise: Raise::Up, ..look });
            }
            Tag::Button { c, primary } => {
                let (frame, ink) = if *primary {
                    (Frame::MainButton, crate::look::WHITE)
                } else {
                    (Frame::Button, crate::look::INK)
                };
                out.object(Object::Space(7.0));
                self.put_all(c, Look { frame: Some(frame), ink: Some(ink), ..look }, room, out);
                out.object(Object::Space(7.0));
            }
            Tag::Check { on } => out.object(Object::Check(*on)),
            // Other tags are blocks, which never occur within text.
            Tag::Par { c, .. } => self.put_all(c, look, room, out),
            _ => {}
        }
    }

    fn put_all(&mut self, parts: &[Shown], look: Look, room: &Room, out: &mut Inline) {
        for part in parts {
            self.put_inline(part, look, room, out);
        }
    }
}

fn styled(style: &Style, look: Look, out: &mut Inline) {
    let frame = if style.key && style.v.chars().count() <= KEY {
        Some(Frame::Key)
    } else if style.code || style.key {
        Some(Frame::Code)
    } else {
        look.frame
    };
    let raise = match (style.up, style.down) {
        (true, _) => Raise::Up,
        (_, true) => Raise::Down,
        _ => look.raise,
    };
    let ink = style.fg.map(|name| colour(name).0).or(look.ink);
    let back = style.bg.map(|name| colour(name).1).or(look.back);
    let look = Look {
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
    let around = frame == Some(Frame::Key);
    if around {
        out.object(Object::Space(4.0));
    }
    out.push(&style.v, look);
    if around {
        out.object(Object::Space(4.0));
    }
}

fn picture(tag: &Tag, room: &Room) -> Option<Object> {
    let Tag::Glyph { file, w, h, alt, line } = tag else { return None };
    let (file, line) = (*file, *line);
    #[expect(clippy::cast_possible_truncation, reason = "a length")]
    let (w, h) = (w.max(0.1) as f32, h.max(0.1) as f32);
    let most = if line { room.size } else { crate::look::HEIGHT * 0.6 };
    let part = if line { room.size / h } else { (room.width / w).min(most / h).min(1.0) };
    let part = part.min(room.width / w);
    let sinks = if line { room.size * 0.15 } else { 0.0 };
    Some(Object::Picture { file, w: w * part, h: h * part, alt: alt.clone(), sinks })
}

/// Adds a formula. A formula wider than the line is split into parts.
fn put_formula(formula: &Formula, source: &str, room: &Room, out: &mut Inline) {
    let whole = formula.whole();
    let fits = |drawn: &Drawn| drawn.width * room.size <= room.width;
    match whole {
        Some(drawn) if fits(&drawn) => {
            out.object(Object::Formula { drawn: Box::new(drawn), source: source.to_owned() });
        }
        _ => {
            for (at, part) in formula.parts().into_iter().enumerate() {
                let source = if at == 0 { source.to_owned() } else { String::new() };
                out.object(Object::Formula { drawn: Box::new(part), source });
            }
        }
    }
}

/// Returns the background of a style, with its horizontal and vertical padding.
pub(super) fn backing(look: Look) -> Option<(crate::sheet::Paint, f32, f32)> {
    use crate::{look, sheet::Paint};
    let filled = |ink, radius| Paint { fill: Some(ink), radius, ..Paint::default() };
    match look.frame {
        Some(Frame::Code) => Some((filled(MARKED, 2.0), 0.8, 0.0)),
        Some(Frame::Key) => Some((
            Paint { line: Some((look::SOFT, look::LINE_WIDTH)), radius: 2.0, ..Paint::default() },
            3.0,
            0.5,
        )),
        Some(Frame::Button) => {
            let line = Some((look::LINE, look::LINE_WIDTH));
            Some((Paint { line, ..filled(look::PANEL, 3.0) }, 6.0, 1.5))
        }
        Some(Frame::MainButton) => Some((filled(ACCENT, 3.0), 6.0, 1.5)),
        None => look.back.map(|ink| (filled(ink, 0.0), 1.0, 0.0)),
    }
}
