//! The stored form of a page. A hit is made of it without parsing the whole page.

use docs_model::hash::Hash;
use docs_ports::search::{PageDocument, Section, SectionLayout};

use crate::failure::{Failure, IndexResult};

/// A page in its stored form.
pub(crate) struct StoredPage<'d> {
    pub(crate) organization: &'d str,
    pub(crate) space: &'d str,
    pub(crate) page: &'d str,
    pub(crate) title: &'d str,
    pub(crate) description: Option<&'d str>,
    pub(crate) text: Hash,
    pub(crate) sections: Vec<SectionLayout<'d>>,
}

impl<'d> StoredPage<'d> {
    /// Encodes a page as its texts and as numbers, which are the lengths of the texts, those of optional texts plus
    /// one, and the positions. The engine reads one long text faster than bytes.
    pub(crate) fn encode(page: &PageDocument) -> EncodedPage {
        let mut out = EncodedPage::default();
        for text in [page.organization.as_str(), page.space.as_str(), page.page.as_str(), &page.title] {
            out.put_text(text);
        }
        out.put_optional(page.description.as_deref());
        out.numbers.extend(page.text.as_bytes());
        out.put_number(page.sections.len());
        for (section, places) in page.sections.iter().zip(page.section_places()) {
            out.put_optional(section.anchor.as_deref());
            out.put_optional(section.heading.as_deref());
            out.put_text(&section.text);
            out.put_number(places.heading_start as usize);
            out.put_number(places.text_start as usize);
            out.put_number(places.offsets.len());
            out.numbers.extend(&places.offsets);
        }
        out
    }

    pub(crate) fn parse(texts: &'d str, numbers: &'d [u8]) -> IndexResult<Self> {
        let mut read = PageReader { texts, rest: numbers };
        let page = (|| {
            let (organization, space, page) = (read.text()?, read.text()?, read.text()?);
            let (title, description) = (read.text()?, read.optional()?);
            let text = Hash::from_bytes(read.take(32)?.try_into().ok()?);
            let sections = (0..read.number()?).map(|_| read.section()).collect::<Option<_>>()?;
            Some(Self { organization, space, page, title, description, text, sections })
        })();
        page.ok_or_else(|| Failure::invalid_content("a stored page is invalid"))
    }

    /// Returns the page as it was indexed.
    pub(crate) fn to_document(&self) -> IndexResult<PageDocument> {
        let section = |section: &SectionLayout<'_>| Section {
            anchor: section.anchor.map(str::to_owned),
            heading: section.heading.map(str::to_owned),
            text: section.text.to_owned(),
        };
        Ok(PageDocument {
            organization: self.organization.parse().map_err(Failure::invalid_content)?,
            space: self.space.parse().map_err(Failure::invalid_content)?,
            page: self.page.parse().map_err(Failure::invalid_content)?,
            title: self.title.to_owned(),
            description: self.description.map(str::to_owned),
            text: self.text,
            sections: self.sections.iter().map(section).collect(),
        })
    }
}

/// The parts of an encoded page.
#[derive(Default)]
pub(crate) struct EncodedPage {
    pub(crate) texts: String,
    pub(crate) numbers: Vec<u8>,
}

impl EncodedPage {
    fn put_number(&mut self, number: usize) {
        self.numbers.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn put_text(&mut self, text: &str) {
        self.put_number(text.len());
        self.texts.push_str(text);
    }

    fn put_optional(&mut self, text: Option<&str>) {
        self.put_number(text.map_or(0, |text| text.len() + 1));
        self.texts.push_str(text.unwrap_or_default());
    }
}

/// Reads the parts of a stored page. Returns `None` at an invalid part.
struct PageReader<'d> {
    texts: &'d str,
    rest: &'d [u8],
}

impl<'d> PageReader<'d> {
    fn take(&mut self, length: usize) -> Option<&'d [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn text_of(&mut self, length: usize) -> Option<&'d str> {
        let (text, rest) = self.texts.split_at_checked(length)?;
        self.texts = rest;
        Some(text)
    }

    fn text(&mut self) -> Option<&'d str> {
        let length = self.number()?;
        self.text_of(length as usize)
    }

    fn optional(&mut self) -> Option<Option<&'d str>> {
        match (self.number()? as usize).checked_sub(1) {
            None => Some(None),
            Some(length) => self.text_of(length).map(Some),
        }
    }

    fn offsets(&mut self) -> Option<&'d [u8]> {
        let length = self.number()?;
        self.take(length as usize)
    }

    fn section(&mut self) -> Option<SectionLayout<'d>> {
        Some(SectionLayout {
            anchor: self.optional()?,
            heading: self.optional()?,
            text: self.text()?,
            heading_start: self.number()?,
            text_start: self.number()?,
            offsets: self.offsets()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_page_is_read_as_it_was_written() {
        let section = |heading: Option<&str>, text: &str| Section {
            anchor: heading.map(str::to_lowercase),
            heading: heading.map(str::to_owned),
            text: text.to_owned(),
        };
        let page = PageDocument {
            organization: "org".parse().expect("an id"),
            space: "space".parse().expect("an id"),
            page: "page".parse().expect("an id"),
            title: "Crème".to_owned(),
            description: Some(String::new()),
            text: Hash::compute(b"text"),
            sections: vec![
                section(None, ""),
                section(Some("One"), &"a b ".repeat(50)),
                section(Some(""), ""),
            ],
        };
        let EncodedPage { texts, numbers } = StoredPage::encode(&page);
        let read = StoredPage::parse(&texts, &numbers).and_then(|stored| stored.to_document());
        assert_eq!(read.expect("a page"), page);
        for end in 0..numbers.len() {
            assert!(StoredPage::parse(&texts, &numbers[..end]).is_err(), "{end}");
        }
        for (end, _) in texts.char_indices() {
            assert!(StoredPage::parse(&texts[..end], &numbers).is_err(), "{end}");
        }
    }
}
