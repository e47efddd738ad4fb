//! What is kept of a page, and where.

use std::{fs, path::Path};

use docs_model::feed::FeedPos;
use docs_ports::search::{Field as Part, IndexedSpace, PageDocument, tie};
use serde::{Deserialize, Serialize};
use tantivy::{
    Index, IndexReader, ReloadPolicy, TantivyDocument, TantivyError, Term,
    directory::{Directory as _, INDEX_WRITER_LOCK, MmapDirectory, error::LockError},
    schema::{FAST, Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions},
    tokenizer::{PreTokenizedString, Token},
};

use crate::OpenError;

/// Which form the index has: the fields below, and how words are told apart. Another one is made anew.
const FORM: u32 = 2;

/// The fields of a document, which is a page or the note about a space.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// The page within its space, of a page.
    pub(crate) page: Field,
    /// The space, of both.
    pub(crate) space: Field,
    /// The space, of a note only.
    pub(crate) noted: Field,
    /// What is searched, in the order of [`Part::ALL`].
    pub(crate) parts: [Field; 4],
    /// The page or the note as JSON.
    pub(crate) json: Field,
}

/// Numbers that stand for the page, its space and its organization, in columns.
pub(crate) const PAGE_TIE: &str = "page_tie";
pub(crate) const SPACE_TIE: &str = "space_tie";
pub(crate) const ORG_TIE: &str = "org_tie";

/// What is written beside each commit.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Note {
    form: u32,
    position: Option<String>,
}

impl Note {
    pub(crate) fn at(position: Option<&FeedPos>) -> Self {
        Self { form: FORM, position: position.map(|position| position.0.to_string()) }
    }

    pub(crate) fn position(&self) -> Option<FeedPos> {
        self.position.as_deref().map(|position| FeedPos(position.into()))
    }
}

/// An index that was opened, and the note of its last commit.
pub(crate) struct Opened {
    pub(crate) index: Index,
    pub(crate) fields: Fields,
    pub(crate) note: Note,
    /// Where it lies, for messages.
    pub(crate) place: String,
}

pub(crate) fn in_memory() -> Result<Opened, OpenError> {
    let (schema, fields) = schema();
    Ok(Opened {
        index: Index::create_in_ram(schema),
        fields,
        note: Note::default(),
        place: "memory".to_owned(),
    })
}

pub(crate) fn in_folder(folder: &Path) -> Result<Opened, OpenError> {
    // A folder of our own, so that what is removed is never somebody else's.
    let folder = folder.join("tantivy");
    let place = folder.display().to_string();
    let unusable =
        |why: &dyn std::fmt::Display| OpenError::Folder { place: place.clone(), why: why.to_string() };
    for is_last in [false, true] {
        fs::create_dir_all(&folder).map_err(|error| unusable(&error))?;
        let error = match open(&folder) {
            Ok((index, fields, note)) => return Ok(Opened { index, fields, note, place }),
            Err(error) if is_last => return Err(unusable(&error)),
            // What another process writes to is not taken from it, such as by a newer program.
            Err(_) if is_in_use(&folder) => return Err(OpenError::InUse { place }),
            Err(error) => error,
        };
        tracing::warn!(%place, %error, "the search index cannot be used and is made anew");
        fs::remove_dir_all(&folder).map_err(|error| unusable(&error))?;
    }
    Err(unusable(&"it cannot be made anew"))
}

/// Tells whether a process writes to the index in a folder.
fn is_in_use(folder: &Path) -> bool {
    let directory = MmapDirectory::open(folder);
    directory
        .is_ok_and(|directory| matches!(directory.acquire_lock(&INDEX_WRITER_LOCK), Err(LockError::LockBusy)))
}

fn open(folder: &Path) -> Result<(Index, Fields, Note), TantivyError> {
    let (schema, fields) = schema();
    let directory = MmapDirectory::open(folder)?;
    let is_new = !Index::exists(&directory)?;
    let index = Index::open_or_create(directory, schema)?;
    if is_new {
        return Ok((index, fields, Note::default()));
    }
    // Every segment is opened, so that one that is missing or cut off shows here.
    let _reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    let payload = index.load_metas()?.payload;
    let note: Option<Note> = payload.and_then(|payload| serde_json::from_str(&payload).ok());
    match note {
        Some(note) if note.form == FORM => Ok((index, fields, note)),
        // Nothing was ever committed to it.
        None if index.searchable_segment_ids()?.is_empty() => Ok((index, fields, Note::default())),
        _ => Err(TantivyError::SchemaError("it has another form".to_owned())),
    }
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let words = || {
        let indexing =
            TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqsAndPositions);
        TextOptions::default().set_indexing_options(indexing)
    };
    let fields = Fields {
        page: builder.add_text_field("page", STRING),
        space: builder.add_text_field("space", STRING),
        noted: builder.add_text_field("noted", STRING),
        parts: ["title", "headings", "description", "body"].map(|name| builder.add_text_field(name, words())),
        json: builder.add_bytes_field("json", STORED),
    };
    for column in [PAGE_TIE, SPACE_TIE, ORG_TIE] {
        builder.add_u64_field(column, FAST);
    }
    (builder.build(), fields)
}

impl Fields {
    /// What names a page.
    pub(crate) fn page_term(&self, space: &str, page: &str) -> Term {
        // No id holds an exclamation mark.
        Term::from_field_text(self.page, &format!("{space}!{page}"))
    }

    /// What all documents of a space have.
    pub(crate) fn space_term(&self, space: &str) -> Term {
        Term::from_field_text(self.space, space)
    }

    /// What names the note about a space.
    pub(crate) fn noted_term(&self, space: &str) -> Term {
        Term::from_field_text(self.noted, space)
    }

    /// A page as a document.
    pub(crate) fn page_document(
        &self,
        schema: &Schema,
        page: &PageDocument,
    ) -> tantivy::Result<TantivyDocument> {
        let mut document = TantivyDocument::default();
        document.add_text(self.page, format!("{}!{}", page.space, page.page));
        document.add_text(self.space, &page.space);
        for (part, field) in Part::ALL.into_iter().zip(self.parts) {
            let tokens = page.tokens(part).into_iter().map(|token| Token {
                offset_from: token.from,
                offset_to: token.to,
                position: token.position as usize,
                text: token.text,
                position_length: 1,
            });
            let words = PreTokenizedString { text: String::new(), tokens: tokens.collect() };
            document.add_pre_tokenized_text(field, words);
        }
        document.add_bytes(self.json, &json(page)?);
        document.add_u64(schema.get_field(PAGE_TIE)?, page.tie());
        document.add_u64(schema.get_field(SPACE_TIE)?, tie(&[page.space.as_str()]));
        document.add_u64(schema.get_field(ORG_TIE)?, tie(&[page.organization.as_str()]));
        Ok(document)
    }

    /// The note about a space as a document.
    pub(crate) fn note_document(&self, space: &IndexedSpace) -> tantivy::Result<TantivyDocument> {
        let mut document = TantivyDocument::default();
        document.add_text(self.noted, &space.space);
        document.add_text(self.space, &space.space);
        document.add_bytes(self.json, &json(space)?);
        Ok(document)
    }
}

fn json<T: Serialize>(value: &T) -> tantivy::Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| TantivyError::InvalidArgument(error.to_string()))
}
