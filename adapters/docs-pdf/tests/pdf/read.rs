//! Reading of PDF files.

use std::collections::BTreeSet;

use lopdf::{Document, Object};

/// The content of a PDF file.
pub(crate) struct Read {
    pub(crate) pdf: Document,
    /// The text of each sheet, without whitespace and break opportunities.
    pub(crate) sheets: Vec<String>,
}

impl Read {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let pdf = Document::load_mem(bytes).expect("a PDF");
        let numbers: Vec<u32> = pdf.get_pages().keys().copied().collect();
        let sheets = numbers.iter().map(|n| bare(&pdf.extract_text(&[*n]).expect("text"))).collect();
        Self { pdf, sheets }
    }

    /// Returns `true` if the file contains this text, regardless of line breaks.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.sheets.concat().contains(&bare(text))
    }

    /// Returns the number of the last sheet that contains this text, counting from 1.
    pub(crate) fn sheet(&self, text: &str) -> Option<usize> {
        self.sheets.iter().rposition(|sheet| sheet.contains(&bare(text))).map(|at| at + 1)
    }

    /// Returns the titles of the outline in order, each with its level.
    pub(crate) fn outline(&self) -> Vec<(usize, String)> {
        let catalog = self.pdf.catalog().expect("a catalog");
        let Ok(outlines) = catalog.get(b"Outlines") else { return Vec::new() };
        let mut out = Vec::new();
        self.walk(outlines, 0, &mut out);
        out
    }

    fn walk(&self, at: &Object, level: usize, out: &mut Vec<(usize, String)>) {
        let at = self.dict(at);
        if let Ok(title) = at.get(b"Title") {
            out.push((level, lopdf::decode_text_string(title).expect("text")));
        }
        if let Ok(first) = at.get(b"First") {
            self.walk(first, level + 1, out);
        }
        if let Ok(next) = at.get(b"Next") {
            self.walk(next, level, out);
        }
    }

    fn dict<'a>(&'a self, object: &'a Object) -> &'a lopdf::Dictionary {
        let (_, object) = self.pdf.dereference(object).expect("an object");
        object.as_dict().expect("a dictionary")
    }

    /// Returns the URLs of all links.
    pub(crate) fn addresses(&self) -> BTreeSet<String> {
        self.links().0
    }

    /// Returns the number of links within the file.
    pub(crate) fn jumps(&self) -> usize {
        self.links().1
    }

    fn links(&self) -> (BTreeSet<String>, usize) {
        let (mut addresses, mut jumps) = (BTreeSet::new(), 0);
        for page in self.pdf.get_pages().into_values() {
            for link in self.pdf.get_page_annotations(page).expect("annotations") {
                match link.get(b"A").map(|action| self.dict(action)) {
                    Ok(action) if action.has(b"URI") => {
                        let uri = action.get(b"URI").and_then(Object::as_str).expect("an address");
                        addresses.insert(String::from_utf8_lossy(uri).into_owned());
                    }
                    Ok(_) => jumps += 1,
                    Err(_) if link.has(b"Dest") => jumps += 1,
                    Err(_) => {}
                }
            }
        }
        (addresses, jumps)
    }

    /// Returns the number of images.
    pub(crate) fn pictures(&self) -> usize {
        let is = |object: &&Object| {
            let stream = object.as_stream();
            stream.is_ok_and(|s| {
                s.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == b"Image")
            })
        };
        self.pdf.objects.values().filter(is).count()
    }
}

fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != '\u{200b}' && *c != '\u{ad}').collect()
}
