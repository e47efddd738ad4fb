//! Conversion of the document body to a tree of HTML-like elements.

use std::collections::{HashMap, HashSet};

use docs_ports::{ConvertError, EmbeddedFile};

use super::{
    fields::{MAX_VALUE, OpenFields},
    math,
    numbering::ItemNumbers,
    parts::{DocumentParts, PartKind},
    styles::Role,
    xml::{Element, MAX_TEXT_BYTES, Xml},
};
use crate::{
    archive::Archive,
    dom::{Dom, Id, MAX_NODES, ROOT},
    warnings::Warnings,
};

/// The warning about a value longer than [`MAX_VALUE`].
pub(super) const CUT_VALUE: &str = "the end of a long address or alternative text";

/// The tree and the embedded files.
pub(super) struct DocxContent {
    pub(super) dom: Dom,
    pub(super) files: Vec<EmbeddedFile>,
    pub(super) warnings: Warnings,
}

/// State of the conversion of one document.
pub(super) struct BodyReader<'a, 'z> {
    pub(super) archive: &'a mut Archive<'z>,
    pub(super) parts: &'a DocumentParts,
    pub(super) dom: Dom,
    pub(super) files: Vec<EmbeddedFile>,
    pub(super) warnings: Warnings,
    /// The part being read, whose relations apply.
    pub(super) part: PartKind,
    /// Destinations of the images read so far. `None` for files that are not displayable images.
    pub(super) pictures: HashMap<String, Option<String>>,
    /// Bookmarks that links in the document reference.
    pub(super) anchors: HashSet<String>,
    /// Referenced notes in order, each with its part and id.
    pub(super) notes: Vec<(PartKind, String)>,
    /// Numbers of these notes, counting from 1.
    pub(super) note_numbers: HashMap<(PartKind, String), usize>,
    pub(super) fields: OpenFields,
    /// Text boxes of the paragraph being read. They follow the paragraph.
    pub(super) text_boxes: Vec<Element<'a>>,
    numbers: ItemNumbers,
}

/// Open blocks that consecutive paragraphs extend.
#[derive(Default)]
struct Flow {
    /// Open lists, outermost first.
    lists: Vec<OpenList>,
    quote: Option<Id>,
    code: Option<Id>,
}

struct OpenList {
    level: usize,
    id: Id,
    /// The number of the next item. `None` for bullets.
    next: Option<u32>,
}

/// Place, list and level of a list item.
struct ItemPlace<'l> {
    list: &'l str,
    level: usize,
    place: Id,
}

impl<'a, 'z> BodyReader<'a, 'z> {
    pub(super) fn new(archive: &'a mut Archive<'z>, parts: &'a DocumentParts) -> Self {
        Self {
            archive,
            parts,
            dom: Dom::new(),
            files: Vec::new(),
            warnings: Warnings::default(),
            part: PartKind::Body,
            pictures: HashMap::new(),
            anchors: HashSet::new(),
            notes: Vec::new(),
            note_numbers: HashMap::new(),
            fields: OpenFields::default(),
            text_boxes: Vec::new(),
            numbers: ItemNumbers::default(),
        }
    }

    pub(super) fn read(mut self, document: &'a Xml) -> Result<DocxContent, ConvertError> {
        let parts = self.parts;
        let all = [Some(document), parts.footnotes.as_ref(), parts.endnotes.as_ref()];
        let links = all.into_iter().flatten().flat_map(|part| part.root().descendants());
        let links = links.filter(|element| element.name() == "hyperlink");
        self.anchors.extend(links.filter_map(|link| link.attribute("anchor")).map(str::to_owned));
        let body = document.root().descendants().find(|element| element.name() == "body");
        if let Some(body) = body {
            self.blocks(body, ROOT, &mut Flow::default())?;
        }
        // A note may reference another note.
        let mut notes = HashMap::new();
        for (kind, part, name) in [
            (PartKind::Footnotes, &parts.footnotes, "footnote"),
            (PartKind::Endnotes, &parts.endnotes, "endnote"),
        ] {
            let all =
                part.iter().flat_map(|part| part.root().descendants()).filter(|note| note.name() == name);
            notes.extend(all.filter_map(|note| Some(((kind, note.attribute("id")?), note))));
        }
        let mut at = 0;
        while let Some((kind, id)) = self.notes.get(at).cloned() {
            at += 1;
            let Some(note) = notes.get(&(kind, id.as_str())) else { continue };
            let place = self.element(ROOT, "note", &[("name", &at.to_string())])?;
            self.part = kind;
            self.blocks(*note, place, &mut Flow::default())?;
        }
        self.dom.finish();
        Ok(DocxContent { dom: self.dom, files: self.files, warnings: self.warnings })
    }

    fn blocks(&mut self, parent: Element<'a>, place: Id, flow: &mut Flow) -> Result<(), ConvertError> {
        // Paragraphs whose mark was deleted with tracked changes continue in the next paragraph.
        let mut joined: Vec<Element<'a>> = Vec::new();
        for child in parent.children() {
            if child.name() == "p" {
                joined.push(child);
                if !is_mark_deleted(child) {
                    self.paragraph(&joined, place, flow)?;
                    joined.clear();
                }
                continue;
            }
            if matches!(child.name(), "tbl" | "AlternateContent" | "sdt") && !joined.is_empty() {
                self.paragraph(&joined, place, flow)?;
                joined.clear();
            }
            match child.name() {
                "tbl" => {
                    *flow = Flow::default();
                    self.table(child, place)?;
                }
                // `Fallback` is ignored, because it is an alternative to `Choice`.
                "AlternateContent" => {
                    if let Some(choice) = child.child("Choice").or_else(|| child.child("Fallback")) {
                        self.blocks(choice, place, flow)?;
                    }
                }
                "sdt" | "sdtContent" | "ins" | "moveTo" | "customXml" | "smartTag" => {
                    self.blocks(child, place, flow)?;
                }
                "oMathPara" | "oMath" => {
                    *flow = Flow::default();
                    self.equation(child, place)?;
                }
                "altChunk" => self.warnings.left_out("an embedded document"),
                "sectPr" => self.section(child),
                _ => {}
            }
        }
        if joined.is_empty() { Ok(()) } else { self.paragraph(&joined, place, flow) }
    }

    /// Reports the headers and footers of a section, which pages do not have.
    fn section(&mut self, section: Element<'a>) {
        for child in section.children() {
            match child.name() {
                "headerReference" => self.warnings.left_out("a page header"),
                "footerReference" => self.warnings.left_out("a page footer"),
                _ => {}
            }
        }
    }

    /// Adds a paragraph, which may consist of several joined ones. The last one has the properties.
    fn paragraph(&mut self, joined: &[Element<'a>], place: Id, flow: &mut Flow) -> Result<(), ConvertError> {
        let properties = joined.last().and_then(|last| last.child("pPr"));
        let style =
            properties.and_then(|it| it.child("pStyle")).and_then(|it| it.value()).unwrap_or_default();
        let outline = properties.and_then(|it| it.child("outlineLvl")).and_then(|it| it.value());
        let role = match (self.parts.styles.role(style), outline.and_then(|level| level.parse::<u8>().ok())) {
            (Role::Text, Some(level)) if level < 9 => Role::Heading(level + 1),
            (role, _) => role,
        };
        self.fields.clear();
        if let Some(section) = properties.and_then(|properties| properties.child("sectPr")) {
            self.section(section);
        }
        let end = match role {
            Role::Contents => {
                self.warnings.left_out("a line of the table of contents");
                return Ok(());
            }
            Role::Title => self.push_paragraph(joined, (place, "h1"), None, flow)?,
            Role::Heading(level) => {
                let name = ["h1", "h2", "h3", "h4", "h5", "h6"][usize::from(level.clamp(1, 6)) - 1];
                let number = self.list(properties, style).and_then(|(list, level)| {
                    self.numbers.next(&self.parts.lists, &list, level)?;
                    self.numbers.label(&self.parts.lists, &list, level)
                });
                let is_number = |label: &String| label.chars().any(char::is_alphanumeric);
                self.push_paragraph(joined, (place, name), number.filter(is_number), flow)?
            }
            Role::Code => return self.code(joined, place, flow),
            Role::Quote => {
                let quote = match flow.quote {
                    Some(quote) => quote,
                    None => self.element(place, "blockquote", &[])?,
                };
                *flow = Flow { quote: Some(quote), ..Flow::default() };
                let line = self.element(quote, "p", &[])?;
                self.joined_runs(joined, line)?;
                quote
            }
            Role::Text => match self.list(properties, style) {
                Some((list, level)) => self.item(joined, &ItemPlace { list: &list, level, place }, flow)?,
                None => self.push_paragraph(joined, (place, "p"), None, flow)?,
            },
        };
        self.text_boxes(end)
    }

    /// Adds the text boxes of a paragraph.
    fn text_boxes(&mut self, place: Id) -> Result<(), ConvertError> {
        for text_box in std::mem::take(&mut self.text_boxes) {
            self.blocks(text_box, place, &mut Flow::default())?;
        }
        Ok(())
    }

    /// Adds a paragraph as a new element that begins with its list number. Returns the parent of the following blocks.
    fn push_paragraph(
        &mut self,
        joined: &[Element<'a>],
        (place, name): (Id, &str),
        number: Option<String>,
        flow: &mut Flow,
    ) -> Result<Id, ConvertError> {
        *flow = Flow::default();
        let line = self.element(place, name, &[])?;
        if let Some(number) = number {
            self.text(line, &format!("{number} "))?;
        }
        self.joined_runs(joined, line)?;
        Ok(place)
    }

    fn joined_runs(&mut self, joined: &[Element<'a>], place: Id) -> Result<(), ConvertError> {
        joined.iter().try_for_each(|paragraph| self.runs(*paragraph, place))
    }

    /// Adds a line of code. Consecutive lines form one block.
    fn code(&mut self, joined: &[Element<'a>], place: Id, flow: &mut Flow) -> Result<(), ConvertError> {
        let block = match flow.code {
            Some(block) => {
                self.text(block, "\n")?;
                block
            }
            None => self.element(place, "pre", &[])?,
        };
        *flow = Flow { code: Some(block), ..Flow::default() };
        self.joined_runs(joined, block)?;
        if !self.text_boxes.is_empty() {
            *flow = Flow::default();
        }
        self.text_boxes(place)
    }

    /// Returns the list and level of a paragraph that is a list item.
    fn list(&self, properties: Option<Element<'_>>, style: &str) -> Option<(String, usize)> {
        let own = properties.and_then(|it| it.child("numPr"));
        let id = own.and_then(|own| own.child("numId")).and_then(|id| id.id("val"));
        let level =
            own.and_then(|own| own.child("ilvl")).and_then(|it| it.value()).and_then(|it| it.parse().ok());
        let (list, level) = match (id, self.parts.styles.list(style)) {
            // List `0` removes a paragraph from the list of its style.
            (Some("0"), _) => return None,
            (Some(id), _) => (id, level.unwrap_or_default()),
            (None, Some((id, of_style))) => (id, level.unwrap_or(of_style)),
            (None, None) => return None,
        };
        Some((list.to_owned(), level.min(8)))
    }

    /// Adds a list item, and returns it.
    fn item(
        &mut self,
        joined: &[Element<'a>],
        ItemPlace { list, level, place }: &ItemPlace<'_>,
        flow: &mut Flow,
    ) -> Result<Id, ConvertError> {
        let (list, level, place) = (*list, *level, *place);
        let format = self.parts.lists.format(list, level).unwrap_or_default();
        let number = self.numbers.next(&self.parts.lists, list, level).filter(|_| format.is_numbered());
        let mut lists = std::mem::take(&mut flow.lists);
        while lists.last().is_some_and(|open| open.level > level) {
            lists.pop();
        }
        // A different kind of list on the same level starts a new list, and so does a number that does not follow.
        if lists.last().is_some_and(|open| open.level == level && open.next != number) {
            lists.pop();
        }
        if lists.last().is_none_or(|open| open.level < level) {
            let around = lists.last().and_then(|open| self.dom.last(open.id)).unwrap_or(place);
            let id = match number {
                Some(1) => self.element(around, "ol", &[])?,
                Some(start) => self.element(around, "ol", &[("start", &start.to_string())])?,
                None => self.element(around, "ul", &[])?,
            };
            lists.push(OpenList { level, id, next: number });
        }
        let within = match lists.last_mut() {
            Some(open) => {
                open.next = number.map(|number| number.saturating_add(1));
                open.id
            }
            None => place,
        };
        *flow = Flow { lists, ..Flow::default() };
        let item = self.element(within, "li", &[])?;
        self.joined_runs(joined, item)?;
        Ok(item)
    }

    fn table(&mut self, table: Element<'a>, place: Id) -> Result<(), ConvertError> {
        let rows: Vec<Element<'a>> = rows(table).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let id = self.element(place, "table", &[])?;
        let has_head = rows.len() > 1 && rows.first().is_some_and(|row| cells(*row).count() > 1);
        for (at, row) in rows.into_iter().enumerate() {
            let line = self.element(id, "tr", &[])?;
            let name = if at == 0 && has_head { "th" } else { "td" };
            let skipped = row.child("trPr").and_then(|it| it.child("gridBefore")).and_then(|it| it.value());
            if let Some(skipped) = skipped.filter(|skipped| *skipped != "0") {
                self.element(line, name, &[("colspan", skipped)])?;
            }
            for cell in cells(row) {
                self.cell(cell, (line, name))?;
            }
        }
        Ok(())
    }

    fn cell(&mut self, cell: Element<'a>, (row, name): (Id, &str)) -> Result<(), ConvertError> {
        let properties = cell.child("tcPr");
        let property = |name: &str| properties.and_then(|it| it.child(name));
        let span = property("gridSpan").and_then(|it| it.value()).unwrap_or("1");
        let place = self.element(row, name, &[("colspan", span)])?;
        // A merged cell that continues the cell above it or before it is empty.
        let continues = |merge: &str| property(merge).is_some_and(|it| it.value() != Some("restart"));
        if continues("vMerge") || continues("hMerge") {
            return Ok(());
        }
        self.blocks(cell, place, &mut Flow::default())
    }

    /// Adds an equation, or several equations on lines of their own.
    pub(super) fn equation(&mut self, math: Element<'a>, place: Id) -> Result<(), ConvertError> {
        if math.name() == "oMath" {
            return self.formula(math, "formula", place);
        }
        for equation in math.children().filter(|child| child.name() == "oMath") {
            self.formula(equation, "formula-block", place)?;
        }
        Ok(())
    }

    fn formula(&mut self, math: Element<'a>, name: &str, place: Id) -> Result<(), ConvertError> {
        let tex = math::equation(math);
        if tex.is_empty() {
            return Ok(());
        }
        let formula = self.element(place, name, &[])?;
        self.text(formula, &tex)
    }

    pub(super) fn text(&mut self, place: Id, text: &str) -> Result<(), ConvertError> {
        self.check(text.len())?;
        self.dom.text(place, text);
        Ok(())
    }

    pub(super) fn element(
        &mut self,
        parent: Id,
        name: &str,
        attributes: &[(&str, &str)],
    ) -> Result<Id, ConvertError> {
        self.check(0)?;
        let id = self.dom.element(parent, name);
        for (name, value) in attributes {
            let value = self.cut(value);
            self.check(value.len())?;
            self.dom.set(name, value);
        }
        Ok(id)
    }

    /// Cuts a value at [`MAX_VALUE`], and reports it.
    pub(super) fn cut<'v>(&mut self, value: &'v str) -> &'v str {
        if value.len() > MAX_VALUE {
            self.warnings.left_out(CUT_VALUE);
        }
        &value[..value.floor_char_boundary(MAX_VALUE)]
    }

    /// Rejects a tree that is full, or that would contain too much text with further bytes.
    fn check(&self, bytes: usize) -> Result<(), ConvertError> {
        if self.dom.is_full() {
            let what = format!("a Word document must have at most {MAX_NODES} text nodes");
            return Err(ConvertError::TooLarge(what));
        }
        if self.dom.bytes() + bytes > MAX_TEXT_BYTES {
            let what = format!(
                "a Word document must have at most {MAX_TEXT_BYTES} bytes of text, with the addresses of its \
                 links and images"
            );
            return Err(ConvertError::TooLarge(what));
        }
        Ok(())
    }
}

/// Returns `true` if the mark at the end of a paragraph was deleted or moved away with tracked changes.
fn is_mark_deleted(paragraph: Element<'_>) -> bool {
    let mark = paragraph.child("pPr").and_then(|properties| properties.child("rPr"));
    mark.is_some_and(|mark| mark.child("del").or_else(|| mark.child("moveFrom")).is_some())
}

/// Returns the rows of a table, without those that were deleted with tracked changes.
fn rows(table: Element<'_>) -> impl Iterator<Item = Element<'_>> {
    let is_deleted = |row: &Element<'_>| row.child("trPr").is_some_and(|it| it.child("del").is_some());
    nested(table, "tr").filter(move |row| !is_deleted(row))
}

/// Returns the cells of a row, without those that were deleted with tracked changes.
fn cells(row: Element<'_>) -> impl Iterator<Item = Element<'_>> {
    let is_deleted = |cell: &Element<'_>| cell.child("tcPr").is_some_and(|it| it.child("cellDel").is_some());
    nested(row, "tc").filter(move |cell| !is_deleted(cell))
}

/// Returns the children with a name, including those in content controls.
fn nested<'a>(parent: Element<'a>, name: &'static str) -> impl Iterator<Item = Element<'a>> {
    let is_wrapper = |element: Element<'_>| matches!(element.name(), "sdt" | "sdtContent" | "customXml");
    let mut open: Vec<Element<'a>> = vec![parent];
    std::iter::from_fn(move || {
        loop {
            let next = open.pop()?;
            if next.name() == name {
                return Some(next);
            }
            let children: Vec<Element<'a>> =
                next.children().filter(|child| child.name() == name || is_wrapper(*child)).collect();
            open.extend(children.into_iter().rev());
        }
    })
}
