//! Pages and metadata of spaces as documents of the index.

use std::collections::HashSet;

use docs_model::SpaceId;
use docs_ports::search::{Field, IndexedSpace, PageDocument, TokenKind};
use tantivy::{
    TantivyDocument,
    schema::Value as _,
    tokenizer::{PreTokenizedString, Token},
};

use crate::{
    failure::{Failure, IndexResult},
    schema::{Fields, MAX_START, start_term},
    stored_page::StoredPage,
};

/// Creates the document of a page.
pub(crate) fn page_document(fields: &Fields, page: &PageDocument) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_text(fields.page, page_key(&page.space, page.page.as_str()));
    document.add_text(fields.space, page.space.as_str());
    document.add_text(fields.organization, page.organization.as_str());
    document.add_u64(fields.tie, page.tie_breaker());
    let mut starts = HashSet::new();
    let mut title_words: u64 = 0;
    for field in Field::ALL {
        let mut tokens = Vec::new();
        for token in page.tokens(field) {
            if token.kind != TokenKind::Part {
                title_words += u64::from(field == Field::Title);
                let ends = token.text.char_indices().map(|(at, _)| at).chain([token.text.len()]);
                starts.extend(ends.skip(1).take(MAX_START).map(|end| start_term(field, &token.text[..end])));
            }
            tokens.push(word_token(token.text, token.position));
        }
        add_tokens(&mut document, fields.text(field), tokens);
    }
    let starts = starts.into_iter().map(|start| word_token(start, 0)).collect();
    add_tokens(&mut document, fields.starts, starts);
    document.add_u64(fields.title_words, title_words);
    let stored = StoredPage::encode(page);
    document.add_text(fields.stored_texts, stored.texts);
    document.add_bytes(fields.data, &stored.numbers);
    document
}

fn word_token(text: String, position: u32) -> Token {
    Token { offset_from: 0, offset_to: 0, position: position as usize, position_length: 1, text }
}

fn add_tokens(document: &mut TantivyDocument, field: tantivy::schema::Field, tokens: Vec<Token>) {
    if !tokens.is_empty() {
        document.add_pre_tokenized_text(field, PreTokenizedString { text: String::new(), tokens });
    }
}

/// Creates the document of the metadata of a space.
pub(crate) fn note_document(fields: &Fields, note: &IndexedSpace) -> IndexResult<TantivyDocument> {
    let mut document = TantivyDocument::new();
    document.add_text(fields.note, note.space.as_str());
    document.add_bytes(fields.data, &serde_json::to_vec(note).map_err(Failure::invalid_content)?);
    Ok(document)
}

/// Returns the key of a page. Ids contain no slash.
pub(crate) fn page_key(space: &SpaceId, page: &str) -> String {
    format!("{space}/{page}")
}

/// Returns the stored value of a document.
pub(crate) fn stored_bytes<'d>(fields: &Fields, document: &'d TantivyDocument) -> IndexResult<&'d [u8]> {
    let data = document.get_first(fields.data).and_then(|value| value.as_bytes());
    data.ok_or_else(|| Failure::invalid_content("a document is empty"))
}

/// Returns the stored page of a document.
pub(crate) fn stored_page<'d>(fields: &Fields, document: &'d TantivyDocument) -> IndexResult<StoredPage<'d>> {
    let texts = document.get_first(fields.stored_texts).and_then(|value| value.as_str());
    let texts = texts.ok_or_else(|| Failure::invalid_content("a stored page has no text"))?;
    StoredPage::parse(texts, stored_bytes(fields, document)?)
}
