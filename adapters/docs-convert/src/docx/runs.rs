//! Conversion of the inline content of paragraphs.

use docs_ports::{ConvertError, EmbeddedFile};

use super::{
    body::{BodyReader, CUT_VALUE},
    fields::hyperlink,
    parts::{DocumentParts, PartKind},
    styles::{SUBSCRIPT, SUPERSCRIPT},
    symbols,
    xml::{Element, MAX_ID},
};
use crate::{archive::MAX_PATH, dom::Id, link::escape_destination};

/// Maximum number of images in a document.
const MAX_FILES: usize = 500;
/// File name extensions of images that browsers can display.
const IMAGE_EXTENSIONS: [&str; 7] = ["png", "jpg", "jpeg", "gif", "svg", "webp", "bmp"];
/// The warning about an image without a file.
const MISSING_IMAGE: &str = "an image that the document does not contain";
/// Monospaced fonts. Text in them is code.
const CODE_FONTS: [&str; 8] = [
    "courier",
    "consolas",
    "menlo",
    "monaco",
    "source code",
    "cascadia",
    "lucida console",
    "dejavu sans mono",
];

/// Inline formatting of text.
#[derive(Default)]
struct Marks {
    names: Vec<&'static str>,
    /// The font of the text.
    font: String,
}

impl<'a> BodyReader<'a, '_> {
    /// Converts the inline content of a paragraph.
    pub(super) fn runs(&mut self, parent: Element<'a>, place: Id) -> Result<(), ConvertError> {
        for child in parent.children() {
            match child.name() {
                "r" => self.run(child, place)?,
                "hyperlink" => {
                    let to = self.link_target(child);
                    let place = match to {
                        Some(to) => self.element(place, "a", &[("href", &to)])?,
                        None => place,
                    };
                    self.runs(child, place)?;
                }
                "fldSimple" => {
                    let to = child.attribute("instr").and_then(hyperlink);
                    let place = match to {
                        Some(to) => self.element(place, "a", &[("href", &to)])?,
                        None => place,
                    };
                    self.runs(child, place)?;
                }
                "bookmarkStart" => {
                    let name = child.attribute("name").unwrap_or_default();
                    if self.anchors.contains(name) {
                        self.element(place, "span", &[("id", name)])?;
                    }
                }
                "oMath" | "oMathPara" => self.equation(child, place)?,
                "AlternateContent" => {
                    if let Some(choice) = child.child("Choice").or_else(|| child.child("Fallback")) {
                        self.runs(choice, place)?;
                    }
                }
                "ins" | "moveTo" | "smartTag" | "sdt" | "sdtContent" | "customXml" | "dir" | "bdo" => {
                    self.runs(child, place)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn link_target(&mut self, link: Element<'_>) -> Option<String> {
        let parts = self.parts;
        let related = link.attribute("id").and_then(|id| parts.relation(self.part, id));
        match (related.filter(|related| related.is_external), link.attribute("anchor")) {
            (Some(related), Some(anchor)) => Some(format!("{}#{anchor}", self.cut(&related.target))),
            (Some(related), None) => Some(self.cut(&related.target).to_owned()),
            (None, Some(anchor)) => Some(format!("#{anchor}")),
            (None, None) => None,
        }
    }

    fn run(&mut self, run: Element<'a>, place: Id) -> Result<(), ConvertError> {
        let properties = run.child("rPr");
        if properties.is_some_and(|it| it.is_toggled_on("vanish")) {
            self.warnings.left_out("hidden text");
            return Ok(());
        }
        let marks = Marks::read(properties, self.parts);
        let mut inner: Option<Id> = None;
        for child in run.children() {
            if self.field(child, place)? {
                inner = None;
                continue;
            }
            let outer = self.fields.link().unwrap_or(place);
            let at = match inner {
                Some(at) => at,
                None => {
                    let mut at = outer;
                    // Code and headings contain plain text only.
                    let is_plain =
                        matches!(self.dom.name(place), "pre" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
                    for name in marks.names.iter().filter(|_| !is_plain) {
                        at = self.element(at, name, &[])?;
                    }
                    *inner.insert(at)
                }
            };
            match child.name() {
                "t" => match symbols::text_in_font(&marks.font, &child.text()) {
                    Some(text) => self.text(at, &text)?,
                    None => self.text(at, &child.text())?,
                },
                _ => self.content(child, at, outer)?,
            }
            // Images and note references are placed next to formatted text, not inside it.
            if !matches!(child.name(), "t" | "tab" | "sym" | "noBreakHyphen") {
                inner = None;
            }
        }
        Ok(())
    }

    /// Converts the content of a run: text inside its formatting, everything else next to it.
    fn content(&mut self, child: Element<'a>, marked: Id, beside: Id) -> Result<(), ConvertError> {
        match child.name() {
            "tab" | "ptab" => self.text(marked, "\t"),
            "noBreakHyphen" => self.text(marked, "-"),
            "sym" => match symbols::symbol(child) {
                Some(symbol) => self.text(marked, symbol.encode_utf8(&mut [0; 4])),
                None => {
                    self.warnings.left_out("a character of a symbol font");
                    Ok(())
                }
            },
            // A page has no page breaks. Text after one begins a new line.
            "br" | "cr" => self.element(beside, "br", &[]).map(|_| ()),
            "drawing" | "pict" | "object" => self.picture(child, beside),
            "footnoteReference" => self.note_mark(PartKind::Footnotes, child, beside),
            "endnoteReference" => self.note_mark(PartKind::Endnotes, child, beside),
            "commentReference" => {
                self.warnings.left_out("a comment");
                Ok(())
            }
            "ruby" => self.ruby(child, marked),
            "AlternateContent" => {
                let choice = child.child("Choice").or_else(|| child.child("Fallback"));
                for child in choice.into_iter().flat_map(Element::children) {
                    self.content(child, marked, beside)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Converts text with its pronunciation, which follows it in parentheses.
    fn ruby(&mut self, ruby: Element<'a>, place: Id) -> Result<(), ConvertError> {
        if let Some(base) = ruby.child("rubyBase") {
            self.runs(base, place)?;
        }
        if let Some(pronunciation) = ruby.child("rt") {
            self.text(place, " (")?;
            self.runs(pronunciation, place)?;
            self.text(place, ")")?;
        }
        Ok(())
    }

    /// Tracks the parts of a field. Returns `true` if the element belongs to a field.
    fn field(&mut self, child: Element<'_>, place: Id) -> Result<bool, ConvertError> {
        match (child.name(), child.attribute("fldCharType")) {
            ("fldChar", Some("begin")) => self.fields.begin(),
            ("fldChar", Some("separate")) => {
                if let Some(to) = self.fields.separate() {
                    let link = self.element(place, "a", &[("href", &to)])?;
                    self.fields.set_link(link);
                }
            }
            ("fldChar", _) => self.fields.end(),
            ("instrText", _) => {
                if !self.fields.add_instruction(&child.text()) {
                    self.warnings.left_out(CUT_VALUE);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Converts a drawing: its images and text boxes. Reports everything else.
    fn picture(&mut self, drawing: Element<'a>, place: Id) -> Result<(), ConvertError> {
        let mut alt = "";
        let mut is_shown = false;
        let mut missing = None;
        for element in drawing.descendants_outside(&["txbxContent", "Fallback"]) {
            match element.name() {
                "docPr" => alt = element.attribute("descr").unwrap_or_default(),
                "shape" => {
                    alt = element.attribute("alt").unwrap_or(alt);
                    missing = missing.or(Some("a shape"));
                }
                "blip" | "imagedata" => {
                    let id = element.attribute("embed").or_else(|| element.attribute("id"));
                    let id = id.or_else(|| element.attribute("link"));
                    let Some(source) = id.map(|id| self.file(id)).transpose()?.flatten() else { continue };
                    self.element(place, "img", &[("src", &source), ("alt", alt)])?;
                    is_shown = true;
                }
                "txbx" | "textbox" => {
                    self.text_boxes.extend(element.child("txbxContent"));
                    is_shown = true;
                }
                "textpath" => {
                    self.text(place, element.attribute("string").unwrap_or_default())?;
                    is_shown = true;
                }
                "rect" if matches!(element.attribute("hr"), Some("t" | "true" | "1")) => {
                    self.element(place, "hr", &[])?;
                    is_shown = true;
                }
                "chart" => missing = Some("a chart"),
                "relIds" => missing = Some("a diagram"),
                "OLEObject" => missing = Some("an embedded object"),
                "wsp" | "rect" | "oval" | "line" => missing = missing.or(Some("a shape")),
                _ => {}
            }
        }
        if let Some(missing) = missing.filter(|_| !is_shown) {
            self.warnings.left_out(missing);
        }
        Ok(())
    }

    /// Returns the destination of an image. The file is read on first use.
    fn file(&mut self, relation: &str) -> Result<Option<String>, ConvertError> {
        let parts = self.parts;
        let Some(related) = parts.relation(self.part, relation) else { return Ok(None) };
        if related.is_external {
            return Ok(Some(self.cut(&related.target).to_owned()));
        }
        if related.target.len() > MAX_PATH {
            self.warnings.left_out(MISSING_IMAGE);
            return Ok(None);
        }
        let target = related.target.trim_start_matches('/');
        if let Some(known) = self.pictures.get(target) {
            return Ok(known.clone());
        }
        let (_, name) = target.rsplit_once('/').unwrap_or(("", target));
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        let path = if target.starts_with("word/") { target.to_owned() } else { format!("word/{target}") };
        let mut found = None;
        if !IMAGE_EXTENSIONS.contains(&ending.as_str()) {
            let ending: String = ending.chars().filter(char::is_ascii_alphanumeric).take(10).collect();
            self.warnings.left_out(&format!("an image in the format `{ending}`"));
        } else if self.files.len() >= MAX_FILES {
            self.warnings.left_out(&format!("an image beyond the limit of {MAX_FILES}"));
        } else if let Some(bytes) = self.archive.read_file(&path)? {
            let destination = escape_destination(target);
            let (name, bytes) = (name.to_owned(), bytes.into());
            self.files.push(EmbeddedFile { destination: destination.clone(), name, bytes });
            found = Some(destination);
        } else {
            self.warnings.left_out(MISSING_IMAGE);
        }
        self.pictures.insert(target.to_owned(), found.clone());
        Ok(found)
    }

    fn note_mark(&mut self, kind: PartKind, mark: Element<'_>, place: Id) -> Result<(), ConvertError> {
        let id = mark.attribute("id").unwrap_or_default();
        let next = self.notes.len() + 1;
        let number = *self.note_numbers.entry((kind, id.to_owned())).or_insert(next);
        if number == next {
            self.notes.push((kind, id.to_owned()));
        }
        self.element(place, "note-mark", &[("name", &number.to_string())]).map(|_| ())
    }
}

impl Marks {
    fn read(properties: Option<Element<'_>>, parts: &DocumentParts) -> Self {
        let Some(properties) = properties else { return Self::default() };
        let value = |name: &str| properties.child(name).and_then(|it| it.value());
        let font = properties.child("rFonts").and_then(|it| it.attribute("ascii"));
        // The name is compared for each text of the run.
        let font = font.filter(|font| font.len() <= MAX_ID).unwrap_or_default();
        let font = font.to_lowercase();
        let is_code = value("rStyle").is_some_and(|style| parts.styles.is_code(style))
            || CODE_FONTS.iter().any(|name| font.starts_with(name));
        let of_style = |mark: &str| value("rStyle").is_some_and(|style| parts.styles.has_mark(style, mark));
        let is_on = |name: &str| match properties.child(name) {
            Some(_) => properties.is_toggled_on(name),
            None => of_style(name),
        };
        let is_aligned = |name: &str| value("vertAlign").map_or_else(|| of_style(name), |own| own == name);
        let marks = [
            (is_on("b"), "strong"),
            (is_on("i"), "em"),
            (is_on("strike") || is_on("dstrike"), "del"),
            (is_aligned(SUPERSCRIPT), "sup"),
            (is_aligned(SUBSCRIPT), "sub"),
        ];
        // Code is shown verbatim, so formatting marks in it would become visible.
        if is_code {
            return Self { names: vec!["code"], font };
        }
        let names = marks.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name);
        Self { names: names.collect(), font }
    }
}

#[cfg(test)]
mod tests {
    use docs_ports::DocumentFormat;

    use super::*;
    use crate::{
        convert,
        tests::{document, zip},
    };

    #[test]
    fn pictures_beyond_the_bound_are_left_out() {
        let all = 0..=MAX_FILES;
        let relation = |at| format!("<Relationship Id=\"r{at}\" Target=\"media/{at}.png\"/>");
        let picture =
            |at| format!("<w:p><w:r><w:drawing><a:blip r:embed=\"r{at}\"/></w:drawing></w:r></w:p>");
        let pictures: String = all.clone().map(picture).collect();
        let main = format!("<w:document><w:body>{pictures}</w:body></w:document>");
        let relations: String = all.clone().map(relation).collect();
        let relations = format!("<Relationships>{relations}</Relationships>");
        let paths: Vec<String> = all.map(|at| format!("word/media/{at}.png")).collect();
        let mut files: Vec<(&str, &[u8])> = vec![
            ("word/document.xml", main.as_bytes()),
            ("word/_rels/document.xml.rels", relations.as_bytes()),
        ];
        files.extend(paths.iter().map(|path| (path.as_str(), &b"png"[..])));
        let page = convert(&document(DocumentFormat::Docx, zip(&files))).expect("a document");
        assert_eq!(page.files.len(), MAX_FILES);
        assert!(page.markdown.contains(&format!("media/{}.png", MAX_FILES - 1)));
        assert!(!page.markdown.contains(&format!("media/{MAX_FILES}.png")));
    }
}
