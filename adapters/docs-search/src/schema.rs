//! The fields of an index.

use docs_ports::search::Field as PageField;
use tantivy::schema::{FAST, Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions};

/// The handles of the fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// Space and page id of a page.
    pub(crate) page: Field,
    pub(crate) space: Field,
    pub(crate) organization: Field,
    /// The id of a space whose metadata the document contains.
    pub(crate) note: Field,
    /// The words of each field of a page, in the order of [`PageField::ALL`].
    pub(crate) texts: [Field; 4],
    /// The short prefixes of all words of a page, see [`start_term`].
    pub(crate) starts: Field,
    /// Hash of the page, which orders pages of equal score.
    pub(crate) tie: Field,
    pub(crate) title_words: Field,
    /// The texts of the stored page.
    pub(crate) stored_texts: Field,
    /// The numbers of the stored page, or the metadata of a space.
    pub(crate) data: Field,
}

/// Maximum length in characters of the prefixes that are indexed. Words with a longer prefix are looked up in the
/// dictionary.
pub(crate) const MAX_START: usize = 3;
pub(crate) const SPACE: &str = "space";
pub(crate) const ORGANIZATION: &str = "organization";
pub(crate) const TIE: &str = "tie";
pub(crate) const TITLE_WORDS: &str = "title_words";

impl Fields {
    pub(crate) fn new() -> (Self, Schema) {
        let mut schema = Schema::builder();
        let indexed = |option| {
            let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_fieldnorms(false);
            TextOptions::default().set_indexing_options(indexing.set_index_option(option))
        };
        let key = || indexed(IndexRecordOption::Basic);
        let words = || indexed(IndexRecordOption::WithFreqsAndPositions);
        let fields = Self {
            page: schema.add_text_field("page", key()),
            space: schema.add_text_field(SPACE, key().set_fast("raw")),
            organization: schema.add_text_field(ORGANIZATION, key().set_fast("raw")),
            note: schema.add_text_field("note", key()),
            texts: ["title", "headings", "description", "body"]
                .map(|name| schema.add_text_field(name, words())),
            starts: schema.add_text_field("starts", key()),
            tie: schema.add_u64_field(TIE, FAST),
            title_words: schema.add_u64_field(TITLE_WORDS, FAST),
            stored_texts: schema.add_text_field("stored_texts", STORED),
            data: schema.add_bytes_field("data", STORED),
        };
        (fields, schema.build())
    }

    pub(crate) const fn text(&self, field: PageField) -> Field {
        self.texts[field as usize]
    }
}

/// Returns the term for the words of a field that begin with `start`.
pub(crate) fn start_term(field: PageField, start: &str) -> String {
    let letter = match field {
        PageField::Title => 't',
        PageField::Headings => 'h',
        PageField::Description => 'd',
        PageField::Body => 'b',
    };
    format!("{letter}{start}")
}
