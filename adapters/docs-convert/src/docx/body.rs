//! Conversion of the document body to a tree of HTML-like elements.

use std::collections::{HashMap, HashSet};

use docs_ports::{ConvertError, EmbeddedFile};

use super::{
    parts::{DocumentParts, Role},
    xml::{Element, Xml},
};
use crate::{
    archive::Archive,
    dom::{Dom, Id, MAX_NODES, ROOT},
    link::escape_destination,
};

/// Maximum number of images in a document.
const MAX_FILES: usize = 500;
/// File name extensions of images that browsers can display.
const IMAGE_EXTENSIONS: [&str; 7] = ["png", "jpg", "jpeg", "gif", "svg", "webp", "bmp"];
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

/// The tree and the embedded files.
pub(super) struct DocxContent {
    pub(super) dom: Dom,
    pub(super) files: Vec<EmbeddedFile>,
}

/// State of the conversion of one document.
pub(super) struct BodyReader<'a, 'z> {
    archive: &'a mut Archive<'z>,
    parts: &'a DocumentParts,
    dom: Dom,
    files: Vec<EmbeddedFile>,
    /// Destinations of the images read so far. `None` for files that are not displayable images.
    pictures: HashMap<String, Option<String>>,
    /// Bookmarks that links in the document reference.
    anchors: HashSet<String>,
    /// Referenced notes in order, each with its part and id.
    notes: Vec<(Notes, String)>,
    /// Numbers of these notes, counting from 1.
    numbers: HashMap<(Notes, String), usize>,
    /// Open fields, outermost first.
    fields: Vec<Field>,
}

/// The part that contains a note.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Notes {
    Foot,
    End,
}

/// A field: its instruction, and the link around its result.
#[derive(Default)]
struct Field {
    instruction: String,
    link: Option<Id>,
}

/// Open blocks that consecutive paragraphs extend.
#[derive(Default)]
struct Flow {
    /// Open lists, outermost first: their levels and elements.
    lists: Vec<(usize, Id)>,
    quote: Option<Id>,
    code: Option<Id>,
}

/// Inline formatting of text.
#[derive(Default)]
struct Marks {
    names: Vec<&'static str>,
}

impl<'a, 'z> BodyReader<'a, 'z> {
    pub(super) fn new(archive: &'a mut Archive<'z>, parts: &'a DocumentParts) -> Self {
        Self {
            archive,
            parts,
            dom: Dom::new(),
            files: Vec::new(),
            pictures: HashMap::new(),
            anchors: HashSet::new(),
            notes: Vec::new(),
            numbers: HashMap::new(),
            fields: Vec::new(),
        }
    }

    pub(super) fn read(mut self, document: &Xml) -> Result<DocxContent, ConvertError> {
        let links = document.root().descendants().filter(|element| element.name() == "hyperlink");
        self.anchors.extend(links.filter_map(|link| link.attribute("anchor")).map(str::to_owned));
        let body = document.root().descendants().find(|element| element.name() == "body");
        if let Some(body) = body {
            self.blocks(body, ROOT, &mut Flow::default())?;
        }
        // A note may reference another note.
        let parts = self.parts;
        let mut notes = HashMap::new();
        for (kind, part, name) in
            [(Notes::Foot, &parts.footnotes, "footnote"), (Notes::End, &parts.endnotes, "endnote")]
        {
            let all =
                part.iter().flat_map(|part| part.root().descendants()).filter(|note| note.name() == name);
            notes.extend(all.filter_map(|note| Some(((kind, note.attribute("id")?), note))));
        }
        let mut at = 0;
        while let Some((kind, id)) = self.notes.get(at).cloned() {
            at += 1;
            let Some(note) = notes.get(&(kind, id.as_str())) else { continue };
            let place = self.element(ROOT, "note", &[("name", &at.to_string())])?;
            self.blocks(*note, place, &mut Flow::default())?;
        }
        self.dom.finish();
        Ok(DocxContent { dom: self.dom, files: self.files })
    }

    fn blocks(&mut self, parent: Element<'_>, place: Id, flow: &mut Flow) -> Result<(), ConvertError> {
        for child in parent.children() {
            match child.name() {
                "p" => self.paragraph(child, place, flow)?,
                "tbl" => {
                    *flow = Flow::default();
                    self.table(child, place)?;
                }
                // `Fallback` is ignored, because it is an alternative to `Choice`.
                "AlternateContent" => {
                    if let Some(choice) = child.child("Choice") {
                        self.blocks(choice, place, flow)?;
                    }
                }
                "sdt" | "sdtContent" | "ins" | "moveTo" | "customXml" | "smartTag" => {
                    self.blocks(child, place, flow)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn paragraph(&mut self, paragraph: Element<'_>, place: Id, flow: &mut Flow) -> Result<(), ConvertError> {
        let properties = paragraph.child("pPr");
        let style =
            properties.and_then(|it| it.child("pStyle")).and_then(|it| it.value()).unwrap_or_default();
        let outline = properties.and_then(|it| it.child("outlineLvl")).and_then(|it| it.value());
        let role = match (self.parts.role(style), outline.and_then(|level| level.parse::<u8>().ok())) {
            (Role::Text, Some(level)) if level < 9 => Role::Heading(level + 1),
            (role, _) => role,
        };
        self.fields.clear();
        match role {
            Role::Contents => Ok(()),
            Role::Title => self.push_paragraph(paragraph, (place, "h1"), flow),
            Role::Heading(level) => {
                let name = ["h1", "h2", "h3", "h4", "h5", "h6"][usize::from(level.clamp(1, 6)) - 1];
                self.push_paragraph(paragraph, (place, name), flow)
            }
            Role::Code => self.code(paragraph, place, flow),
            Role::Quote => {
                let quote = match flow.quote {
                    Some(quote) => quote,
                    None => self.element(place, "blockquote", &[])?,
                };
                *flow = Flow { quote: Some(quote), ..Flow::default() };
                let line = self.element(quote, "p", &[])?;
                self.runs(paragraph, line)
            }
            Role::Text => match self.list(properties, style) {
                Some((list, level)) => self.item(paragraph, &list, level, place, flow),
                None => self.push_paragraph(paragraph, (place, "p"), flow),
            },
        }
    }

    /// Adds a paragraph as a separate element.
    fn push_paragraph(
        &mut self,
        paragraph: Element<'_>,
        (place, name): (Id, &str),
        flow: &mut Flow,
    ) -> Result<(), ConvertError> {
        *flow = Flow::default();
        let line = self.element(place, name, &[])?;
        self.runs(paragraph, line)
    }

    /// Adds a line of code. Consecutive lines form one block.
    fn code(&mut self, paragraph: Element<'_>, place: Id, flow: &mut Flow) -> Result<(), ConvertError> {
        let block = match flow.code {
            Some(block) => {
                self.dom.text(block, "\n");
                block
            }
            None => self.element(place, "pre", &[])?,
        };
        *flow = Flow { code: Some(block), ..Flow::default() };
        self.runs(paragraph, block)
    }

    /// Returns the list and level of a paragraph that is a list item.
    fn list(&self, properties: Option<Element<'_>>, style: &str) -> Option<(String, usize)> {
        let own = properties.and_then(|it| it.child("numPr"));
        let id = own.and_then(|own| own.child("numId")).and_then(|id| id.value());
        let level =
            own.and_then(|own| own.child("ilvl")).and_then(|it| it.value()).and_then(|it| it.parse().ok());
        let (list, level) = match (id, self.parts.style_list(style)) {
            // List `0` removes a paragraph from the list of its style.
            (Some("0"), _) => return None,
            (Some(id), _) => (id, level.unwrap_or_default()),
            (None, Some((id, of_style))) => (id, level.unwrap_or(of_style)),
            (None, None) => return None,
        };
        Some((list.to_owned(), level.min(8)))
    }

    fn item(
        &mut self,
        paragraph: Element<'_>,
        list: &str,
        level: usize,
        place: Id,
        flow: &mut Flow,
    ) -> Result<(), ConvertError> {
        let name = if self.parts.is_numbered(list, level).unwrap_or_default() { "ol" } else { "ul" };
        let mut lists = std::mem::take(&mut flow.lists);
        while lists.last().is_some_and(|(open, _)| *open > level) {
            lists.pop();
        }
        // A different kind of list on the same level starts a new list.
        if lists.last().is_some_and(|(open, id)| *open == level && self.dom.name(*id) != name) {
            lists.pop();
        }
        if lists.last().is_none_or(|(open, _)| *open < level) {
            let around = lists.last().and_then(|(_, id)| self.dom.last(*id));
            let id = self.element(around.unwrap_or(place), name, &[])?;
            lists.push((level, id));
        }
        let within = lists.last().map_or(place, |(_, id)| *id);
        *flow = Flow { lists, ..Flow::default() };
        let item = self.element(within, "li", &[])?;
        self.runs(paragraph, item)
    }

    fn table(&mut self, table: Element<'_>, place: Id) -> Result<(), ConvertError> {
        let id = self.element(place, "table", &[])?;
        let rows: Vec<Element<'_>> = table.children().filter(|child| child.name() == "tr").collect();
        let cells_of = |row: Element<'_>| row.children().filter(|child| child.name() == "tc").count();
        let has_head = rows.len() > 1 && rows.first().is_some_and(|row| cells_of(*row) > 1);
        for (at, row) in rows.into_iter().enumerate() {
            let line = self.element(id, "tr", &[])?;
            for cell in row.children().filter(|child| child.name() == "tc") {
                let properties = cell.child("tcPr");
                let span =
                    properties.and_then(|it| it.child("gridSpan")).and_then(|it| it.value()).unwrap_or("1");
                let name = if at == 0 && has_head { "th" } else { "td" };
                let place = self.element(line, name, &[("colspan", span)])?;
                let merged = properties.and_then(|it| it.child("vMerge"));
                // A vertically merged cell that continues a cell above is empty.
                if merged.is_none_or(|merged| merged.value() == Some("restart")) {
                    self.blocks(cell, place, &mut Flow::default())?;
                }
            }
        }
        Ok(())
    }

    /// Converts the inline content of a paragraph.
    fn runs(&mut self, parent: Element<'_>, place: Id) -> Result<(), ConvertError> {
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
                "AlternateContent" => {
                    if let Some(choice) = child.child("Choice") {
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

    fn link_target(&self, link: Element<'_>) -> Option<String> {
        let related = link.attribute("id").and_then(|id| self.parts.relation(id));
        match (related.filter(|related| related.is_external), link.attribute("anchor")) {
            (Some(related), Some(anchor)) => Some(format!("{}#{anchor}", related.target)),
            (Some(related), None) => Some(related.target.clone()),
            (None, Some(anchor)) => Some(format!("#{anchor}")),
            (None, None) => None,
        }
    }

    fn run(&mut self, run: Element<'_>, place: Id) -> Result<(), ConvertError> {
        let properties = run.child("rPr");
        if properties.is_some_and(|it| it.is_toggled_on("vanish")) {
            return Ok(());
        }
        let marks = Marks::read(properties, self.parts);
        let mut inner: Option<Id> = None;
        for child in run.children() {
            if self.field(child, place)? {
                inner = None;
                continue;
            }
            let outer = self.fields.iter().rev().find_map(|field| field.link).unwrap_or(place);
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
            self.content(child, at, outer)?;
            // Images and note references are placed next to formatted text, not inside it.
            if !matches!(child.name(), "t" | "tab") {
                inner = None;
            }
        }
        Ok(())
    }

    /// Converts the content of a run: text inside its formatting, everything else next to it.
    fn content(&mut self, child: Element<'_>, marked: Id, beside: Id) -> Result<(), ConvertError> {
        match child.name() {
            "t" => self.text(marked, &child.text()),
            "tab" | "ptab" => self.text(marked, "\t"),
            "noBreakHyphen" => self.text(marked, "-"),
            "br" | "cr" if !matches!(child.attribute("type"), Some("page" | "column")) => {
                self.element(beside, "br", &[]).map(|_| ())
            }
            "drawing" | "pict" | "object" => self.picture(child, beside),
            "footnoteReference" => self.note_mark(Notes::Foot, child, beside),
            "endnoteReference" => self.note_mark(Notes::End, child, beside),
            "AlternateContent" => match child.child("Choice").and_then(|choice| choice.children().next()) {
                Some(choice) => self.content(choice, marked, beside),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Tracks the parts of a field. Returns `true` if the element belongs to a field.
    fn field(&mut self, child: Element<'_>, place: Id) -> Result<bool, ConvertError> {
        match (child.name(), child.attribute("fldCharType")) {
            ("fldChar", Some("begin")) => self.fields.push(Field::default()),
            ("fldChar", Some("separate")) => {
                let to = self.fields.last().and_then(|field| hyperlink(&field.instruction));
                if let Some(to) = to {
                    let link = self.element(place, "a", &[("href", &to)])?;
                    if let Some(field) = self.fields.last_mut() {
                        field.link = Some(link);
                    }
                }
            }
            ("fldChar", _) => drop(self.fields.pop()),
            ("instrText", _) => {
                if let Some(field) = self.fields.last_mut() {
                    field.instruction.push_str(&child.text());
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn picture(&mut self, drawing: Element<'_>, place: Id) -> Result<(), ConvertError> {
        let mut alt = "";
        for element in drawing.descendants() {
            match element.name() {
                "docPr" => alt = element.attribute("descr").unwrap_or_default(),
                "blip" | "imagedata" => {
                    let id = element.attribute("embed").or_else(|| element.attribute("id"));
                    let Some(source) = id.map(|id| self.file(id)).transpose()?.flatten() else { continue };
                    self.element(place, "img", &[("src", &source), ("alt", alt)])?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the destination of an image. The file is read on first use.
    fn file(&mut self, relation: &str) -> Result<Option<String>, ConvertError> {
        let Some(related) = self.parts.relation(relation) else { return Ok(None) };
        if related.is_external {
            return Ok(Some(related.target.clone()));
        }
        let target = related.target.trim_start_matches('/');
        if let Some(known) = self.pictures.get(target) {
            return Ok(known.clone());
        }
        let (_, name) = target.rsplit_once('/').unwrap_or(("", target));
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        let path = if target.starts_with("word/") { target.to_owned() } else { format!("word/{target}") };
        let mut found = None;
        let is_shown = IMAGE_EXTENSIONS.contains(&ending.as_str()) && self.files.len() < MAX_FILES;
        if is_shown && let Some(bytes) = self.archive.read_file(&path)? {
            let destination = escape_destination(target);
            let (name, bytes) = (name.to_owned(), bytes.into());
            self.files.push(EmbeddedFile { destination: destination.clone(), name, bytes });
            found = Some(destination);
        }
        self.pictures.insert(target.to_owned(), found.clone());
        Ok(found)
    }

    fn note_mark(&mut self, kind: Notes, mark: Element<'_>, place: Id) -> Result<(), ConvertError> {
        let id = mark.attribute("id").unwrap_or_default();
        let next = self.notes.len() + 1;
        let number = *self.numbers.entry((kind, id.to_owned())).or_insert(next);
        if number == next {
            self.notes.push((kind, id.to_owned()));
        }
        self.element(place, "note-mark", &[("name", &number.to_string())]).map(|_| ())
    }

    fn text(&mut self, place: Id, text: &str) -> Result<(), ConvertError> {
        self.check()?;
        self.dom.text(place, text);
        Ok(())
    }

    fn element(&mut self, parent: Id, name: &str, attributes: &[(&str, &str)]) -> Result<Id, ConvertError> {
        self.check()?;
        let id = self.dom.element(parent, name);
        for (name, value) in attributes {
            self.dom.set(name, value);
        }
        Ok(id)
    }

    fn check(&self) -> Result<(), ConvertError> {
        if self.dom.is_full() {
            let what = format!("a Word document must have at most {MAX_NODES} text nodes");
            return Err(ConvertError::TooLarge(what));
        }
        Ok(())
    }
}

impl Marks {
    fn read(properties: Option<Element<'_>>, parts: &DocumentParts) -> Self {
        let Some(properties) = properties else { return Self::default() };
        let value = |name: &str| properties.child(name).and_then(|it| it.value());
        let font = properties.child("rFonts").and_then(|it| it.attribute("ascii")).unwrap_or_default();
        let font = font.to_lowercase();
        let is_code = value("rStyle").is_some_and(|style| parts.is_code(style))
            || CODE_FONTS.iter().any(|name| font.starts_with(name));
        let marks = [
            (properties.is_toggled_on("b"), "strong"),
            (properties.is_toggled_on("i"), "em"),
            (properties.is_toggled_on("strike") || properties.is_toggled_on("dstrike"), "del"),
            (value("vertAlign") == Some("superscript"), "sup"),
            (value("vertAlign") == Some("subscript"), "sub"),
        ];
        // Code is shown verbatim, so formatting marks in it would become visible.
        if is_code {
            return Self { names: vec!["code"] };
        }
        Self { names: marks.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name).collect() }
    }
}

/// Returns the target of a hyperlink field: `HYPERLINK "address"` or `HYPERLINK \l "bookmark"`.
fn hyperlink(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start().strip_prefix("HYPERLINK")?;
    let quoted = rest.split('"').nth(1)?;
    let is_place = rest.split('"').next().is_some_and(|switches| switches.contains("\\l"));
    Some(if is_place { format!("#{quoted}") } else { quoted.to_owned() })
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
