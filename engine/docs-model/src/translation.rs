//! Translations of spaces, and the glossary applied to them.

use std::{collections::BTreeMap, fmt};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, BoundedVec, Document, RevisionId, SpaceId, Timestamp, TranslationId, list::constants,
    patch::deserialize_non_null,
};

constants! {
    /// `translation`.
    TranslationObject = "translation",
    /// `translation-glossary`.
    GlossaryObject = "translation-glossary",
}

/// Declares the languages with their values in the wire format and their English names.
macro_rules! languages {
    ($($name:ident = $text:literal $english:literal,)*) => {
        /// A source or target language of translations.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum TranslationLanguage {
            $(
                #[doc = concat!($english, ".")]
                #[serde(rename = $text)]
                $name,
            )*
        }

        impl TranslationLanguage {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the wire format: an ISO 639 code, with a region if a language has two variants.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// Returns the English name.
            #[must_use]
            pub const fn english_name(self) -> &'static str {
                match self {
                    $(Self::$name => $english,)*
                }
            }
        }
    };
}

languages! {
    English = "en" "English",
    French = "fr" "French",
    German = "de" "German",
    Spanish = "es" "Spanish",
    Italian = "it" "Italian",
    Portuguese = "pt" "Portuguese",
    BrazilianPortuguese = "pt-br" "Brazilian Portuguese",
    Russian = "ru" "Russian",
    Japanese = "ja" "Japanese",
    Chinese = "zh" "Chinese",
    TraditionalChinese = "zh-tw" "Traditional Chinese",
    Cantonese = "yue" "Cantonese",
    Korean = "ko" "Korean",
    Arabic = "ar" "Arabic",
    Hindi = "hi" "Hindi",
    Dutch = "nl" "Dutch",
    Polish = "pl" "Polish",
    Turkish = "tr" "Turkish",
    Swedish = "sv" "Swedish",
    Norwegian = "no" "Norwegian",
    Danish = "da" "Danish",
    Finnish = "fi" "Finnish",
    Greek = "el" "Greek",
    Czech = "cs" "Czech",
    Hungarian = "hu" "Hungarian",
    Romanian = "ro" "Romanian",
    Thai = "th" "Thai",
    Vietnamese = "vi" "Vietnamese",
    Indonesian = "id" "Indonesian",
    Malay = "ms" "Malay",
    Hebrew = "he" "Hebrew",
    Ukrainian = "uk" "Ukrainian",
    Slovak = "sk" "Slovak",
    Bulgarian = "bg" "Bulgarian",
    Croatian = "hr" "Croatian",
    Lithuanian = "lt" "Lithuanian",
    Latvian = "lv" "Latvian",
    Estonian = "et" "Estonian",
    Slovenian = "sl" "Slovenian",
}

impl TranslationLanguage {
    /// Returns the code without the region, for example `pt` for `pt-br`.
    #[must_use]
    pub fn base(self) -> &'static str {
        let name = self.as_str();
        name.split_once('-').map_or(name, |(base, _)| base)
    }
}

impl fmt::Display for TranslationLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of a translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TranslationStatus {
    /// No run has completed or is in progress: the first run is pending or has failed.
    Pending,
    /// A run is in progress, or a run after the first is pending.
    Running,
    /// The result is that of the last completed run. A later run may have failed; see the jobs of the space.
    Completed,
}

/// The source space and language of a translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TranslationSource {
    /// The id of the source space.
    pub space: SpaceId,
    /// The language of the source space.
    pub language: TranslationLanguage,
}

/// The result of a translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TranslationResult {
    /// The space that contains the translated content.
    pub space: SpaceId,
    /// The revision of that space that the last run created.
    pub revision: RevisionId,
    /// The language of that space.
    pub language: TranslationLanguage,
}

/// Run statistics of a translation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TranslationStats {
    /// The number of completed runs.
    pub runs: u64,
    /// The total number of source words sent to the translator.
    pub total_words: u64,
    /// The total number of translated pages. A page counts each time it is translated.
    pub total_pages: u64,
    /// The total duration of all runs in milliseconds.
    pub total_duration: u64,
    /// The duration of the last run in milliseconds.
    pub latest_run_duration: u64,
    /// The number of pages translated in the last run.
    pub latest_pages: u64,
    /// The number of source words sent to the translator in the last run.
    pub latest_words: u64,
}

/// The caller's permissions for a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TranslationPermissions {
    /// The caller can see the translation.
    pub view: bool,
    /// The caller can run and delete the translation and change its instructions.
    pub edit: bool,
}

/// URLs of a translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TranslationUrls {
    /// The translation in this API.
    pub location: String,
}

/// A translation: a space that mirrors the content of another space in another language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Translation {
    /// Always `translation`.
    pub object: TranslationObject,
    pub id: TranslationId,
    pub status: TranslationStatus,
    pub source: TranslationSource,
    /// The target language.
    pub language: TranslationLanguage,
    /// The instructions for the translator.
    pub instructions: Document,
    /// The result; absent until the first run completes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TranslationResult>,
    pub created_at: Timestamp,
    /// Time of the last run or of the last change to the instructions.
    pub updated_at: Timestamp,
    /// Statistics of all runs.
    pub stats: TranslationStats,
    /// The caller's permissions for the translation.
    pub permissions: TranslationPermissions,
    pub urls: TranslationUrls,
}

/// A new translation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateTranslation {
    /// The source. By default, the only space of the organization.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub source: Option<NewTranslationSource>,
    /// The target language.
    pub language: TranslationLanguage,
    /// Instructions for the translator, for example the tone, the audience, or terms to leave untranslated.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub instructions: Option<Document>,
}

/// The source of a new translation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NewTranslationSource {
    /// The id of a space in the organization.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space: String,
    /// The language of the source space. By default, the language that is set for the space, otherwise English.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub language: Option<TranslationLanguage>,
}

/// An update of a translation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateTranslation {
    /// The new instructions for the translator.
    pub instructions: Document,
}

/// A term of a glossary in the source language.
pub type GlossaryTerm = BoundedText<1, 200>;

/// Pattern of a term: no surrounding whitespace, no line breaks, and none of the brackets that mark terms.
#[cfg(feature = "schema")]
const TERM: &str = r"^(?!\s)(?!.*\s$)[^\u0000\n\u27e6\u27e7]+$";

/// Replaces the additional properties of a map by a property per language.
#[cfg(feature = "schema")]
pub(crate) fn by_language(schema: &mut schemars::Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    let Some(of_each) = object.insert("additionalProperties".to_owned(), false.into()) else { return };
    let named = TranslationLanguage::ALL.iter().filter_map(|language| {
        let name = serde_json::to_value(language).ok()?;
        Some((name.as_str()?.to_owned(), of_each.clone()))
    });
    object.insert("properties".to_owned(), serde_json::Value::Object(named.collect()));
}

/// Restricts the values of a map by language to the pattern of terms.
#[cfg(feature = "schema")]
pub(crate) fn terms_by_language(schema: &mut schemars::Schema) {
    if let Some(of_each) = schema.as_object_mut().and_then(|object| object.get_mut("additionalProperties")) {
        of_each["pattern"] = TERM.into();
    }
    by_language(schema);
}

/// A glossary term and its translations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "required": ["translations"], "properties": { "translations": { "type": "object", "minProperties": 1 } } },
    { "required": ["keep"], "properties": { "keep": { "type": "boolean", "enum": [true] } } },
])))]
#[serde(rename_all = "camelCase")]
pub struct GlossaryEntry {
    /// The term in the source language. It matches whole words only.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = TERM)))]
    pub term: GlossaryTerm,
    /// The translations by language. In other languages, the translator chooses the translation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(transform = terms_by_language))]
    pub translations: BTreeMap<TranslationLanguage, GlossaryTerm>,
    /// `true` if the term is left untranslated in languages for which the entry has no translation.
    #[serde(default)]
    pub keep: bool,
    /// `true` if matching is case-sensitive.
    #[serde(default)]
    pub case_sensitive: bool,
    /// A note for the translator about the meaning of the term.
    #[serde(default, deserialize_with = "deserialize_non_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub note: Option<BoundedText<0, 500>>,
}

/// The entries of a glossary.
pub type GlossaryEntries = BoundedVec<GlossaryEntry, 0, 1_000>;

/// The glossary of an organization. It applies to all of its translations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Glossary {
    /// Always `translation-glossary`.
    pub object: GlossaryObject,
    /// The entries, in the order in which they were submitted.
    pub entries: GlossaryEntries,
    /// Time of the last change; absent if the glossary was never set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// The new glossary of an organization, replacing the previous one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SetGlossary {
    /// All entries. A term may occur only once.
    pub entries: GlossaryEntries,
}
