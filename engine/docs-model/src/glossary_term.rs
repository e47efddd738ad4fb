//! Glossary entries with a text per language.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, BoundedVec, GlossaryTermId, Timestamp, TranslationLanguage, list::constants,
    patch::deserialize_non_null,
};

constants! {
    /// `glossary-entry`.
    MultilingualTermObject = "glossary-entry",
}

/// The texts of a term by language.
pub type TermTexts = BTreeMap<TranslationLanguage, BoundedText<1, 255>>;

/// A term of the glossary of an organization in several languages.
///
/// In a translation between two of its languages, the text in the source language is translated by the other one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MultilingualTerm {
    /// Always `glossary-entry`.
    pub object: MultilingualTermObject,
    pub id: GlossaryTermId,
    /// The texts by language.
    #[cfg_attr(feature = "schema", schemars(transform = crate::translation::terms_by_language))]
    pub translations: TermTexts,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub urls: MultilingualTermUrls,
}

/// URLs of a term.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MultilingualTermUrls {
    /// URL in the API.
    pub location: String,
}

/// Changes of the terms of a glossary. They apply in order, and all or none of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateGlossaryTerms {
    pub operations: BoundedVec<GlossaryOperation, 0, 1_000>,
}

/// A change of the terms of a glossary.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = [
    { "required": ["translations"], "properties": { "type": { "type": "string", "enum": ["insert"] } } },
    { "required": ["id", "translations"], "properties": { "type": { "type": "string", "enum": ["update"] } } },
    { "required": ["id"], "properties": { "type": { "type": "string", "enum": ["delete"] } } },
])))]
pub struct GlossaryOperation {
    #[serde(rename = "type")]
    pub kind: GlossaryOperationType,
    /// The term to update or to delete.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub id: Option<GlossaryTermId>,
    /// The texts by language of the term to insert or to update. An update replaces all texts.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = texts_by_language))]
    pub translations: Option<TermTexts>,
}

/// The type of a change of the terms of a glossary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GlossaryOperationType {
    /// Adds a term. Without effect if an equal one exists.
    Insert,
    /// Replaces the texts of a term.
    Update,
    /// Deletes a term. Without effect if it does not exist.
    Delete,
}

/// Restricts an optional map of texts by language.
#[cfg(feature = "schema")]
fn texts_by_language(schema: &mut schemars::Schema) {
    crate::schema::not_null(schema);
    crate::translation::terms_by_language(schema);
}
