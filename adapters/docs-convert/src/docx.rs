//! Conversion of Word documents.

mod body;
mod fields;
mod math;
mod numbering;
mod parts;
mod runs;
mod styles;
mod symbols;
mod xml;

use docs_ports::{ConvertError, ConvertedPage, Document};

use self::{
    body::BodyReader,
    parts::{DocumentParts, TITLE, part},
};
use crate::{archive::Archive, html::normalize_title, link::PageLinks, main_content::MainContent, render};

pub(crate) fn page(document: &Document) -> Result<ConvertedPage, ConvertError> {
    let mut archive = Archive::open(&document.bytes, "a Word document (.docx)")?;
    let main = part(&mut archive, "word/document.xml")?.ok_or_else(|| {
        ConvertError::Unreadable("must be a Word document (.docx): `word/document.xml` is missing".to_owned())
    })?;
    let parts = DocumentParts::read(&mut archive)?;
    let read = BodyReader::new(&mut archive, &parts).read(&main)?;
    drop(main);
    let content = MainContent::from_tree(&read.dom);
    let mut links = PageLinks::new(None);
    let named = part(&mut archive, "docProps/core.xml")?.and_then(|core| core.text_of(TITLE));
    let title = content.title().or(named).unwrap_or_else(|| document.name.clone());
    let markdown = render::markdown(&content, &mut links);
    Ok(ConvertedPage {
        title: normalize_title(&title),
        markdown,
        links: links.found,
        images: links.images,
        files: read.files,
        warnings: read.warnings.into_messages(),
    })
}
