//! Glossary entries with a text per language.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, BoundedVec, GlossaryTermId, Timestamp, TranslationLanguage, list::constants};

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
#[serde(tag = "type", rename_all = "lowercase")]
pub enum GlossaryOperation {
    /// Adds a term. Without effect if an equal one exists.
    Insert {
        /// The texts by language.
        #[cfg_attr(feature = "schema", schemars(transform = crate::translation::terms_by_language))]
        translations: TermTexts,
    },
    /// Replaces the texts of a term.
    Update {
        /// The term.
        id: GlossaryTermId,
        /// The new texts by language.
        #[cfg_attr(feature = "schema", schemars(transform = crate::translation::terms_by_language))]
        translations: TermTexts,
    },
    /// Deletes a term. Without effect if it does not exist.
    Delete {
        /// The term.
        id: GlossaryTermId,
    },
}
