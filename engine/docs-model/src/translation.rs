//! Translations of spaces, and the glossary that they keep to.

use std::{collections::BTreeMap, fmt};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, BoundedVec, Document, RevisionId, SpaceId, Timestamp, TranslationId, list::constants,
    patch::given,
};

constants! {
    /// `translation`.
    TranslationObject = "translation",
    /// `translation-glossary`.
    GlossaryObject = "translation-glossary",
}

/// Declares the languages with their names on the wire and in English.
macro_rules! languages {
    ($($name:ident = $text:literal $english:literal,)*) => {
        /// A language that content is translated from or to.
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
            /// All languages.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name on the wire: an ISO 639 code, with a region where there are two variants.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// The name in English.
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
    /// The name without its region: `pt` for `pt-br`.
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

/// How far a translation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TranslationStatus {
    /// It was never run to its end, and is not running: it waits for its first run, or that has failed.
    Pending,
    /// It is running, or about to be run again.
    Running,
    /// Its last run that came to an end is the result. A later one may have failed: the jobs of the space tell.
    Completed,
}

/// What is translated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TranslationSource {
    /// The space.
    pub space: SpaceId,
    /// The language that it is written in.
    pub language: TranslationLanguage,
}

/// What came of a translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TranslationResult {
    /// The space that holds the translated content.
    pub space: SpaceId,
    /// The revision of that space that the last run made.
    pub revision: RevisionId,
}

/// What the runs of a translation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TranslationStats {
    /// How many runs came to an end.
    pub runs: u64,
    /// Words of the source that were sent to the translator, in all runs.
    pub total_words: u64,
    /// Pages that were translated, in all runs; one that was translated twice counts twice.
    pub total_pages: u64,
    /// How long all runs took, in milliseconds.
    pub total_duration: u64,
    /// How long the last run took, in milliseconds.
    pub latest_run_duration: u64,
    /// Pages that the last run translated.
    pub latest_pages: u64,
    /// Words of the source that the last run sent to the translator.
    pub latest_words: u64,
}

/// What the reader may do with a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TranslationPermissions {
    /// See it.
    pub view: bool,
    /// Change its instructions, run and delete it.
    pub edit: bool,
}

/// Addresses of a translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TranslationUrls {
    /// The translation in this API.
    pub location: String,
}

/// A translation: a space whose content follows another space in another language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Translation {
    /// Always `translation`.
    pub object: TranslationObject,
    /// The id.
    pub id: TranslationId,
    /// How far it is.
    pub status: TranslationStatus,
    /// What is translated.
    pub source: TranslationSource,
    /// The language that it is translated to.
    pub language: TranslationLanguage,
    /// What the translator is told.
    pub instructions: Document,
    /// What came of it; absent before the first run has come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<TranslationResult>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed: its instructions, or by a run.
    pub updated_at: Timestamp,
    /// What its runs did.
    pub stats: TranslationStats,
    /// What the reader may do with it.
    pub permissions: TranslationPermissions,
    /// Addresses of the translation.
    pub urls: TranslationUrls,
}

/// What a new translation is made of.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CreateTranslation {
    /// What to translate.
    pub source: NewTranslationSource,
    /// The language to translate to.
    pub language: TranslationLanguage,
    /// What to tell the translator: the tone, who the readers are, what to leave as it is.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub instructions: Option<Document>,
}

/// What a new translation translates.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NewTranslationSource {
    /// A space of the organization.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub space: String,
    /// The language that it is written in.
    pub language: TranslationLanguage,
}

/// A change of a translation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateTranslation {
    /// What to tell the translator from now on.
    pub instructions: Document,
}

/// A term of a glossary, as the source has it.
pub type GlossaryTerm = BoundedText<1, 200>;

/// The pattern of a term: no white space at its ends, no line breaks, none of the signs that stand around terms.
#[cfg(feature = "schema")]
const TERM: &str = r"^(?!\s)(?!.*\s$)[^\u0000\n\u27e6\u27e7]+$";

/// Names the members of a map by language, which are the languages.
#[cfg(feature = "schema")]
fn by_language(schema: &mut schemars::Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    let Some(mut of_each) = object.insert("additionalProperties".to_owned(), false.into()) else { return };
    of_each["pattern"] = TERM.into();
    let named = TranslationLanguage::ALL.iter().filter_map(|language| {
        let name = serde_json::to_value(language).ok()?;
        Some((name.as_str()?.to_owned(), of_each.clone()))
    });
    object.insert("properties".to_owned(), serde_json::Value::Object(named.collect()));
}

/// How a term is translated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "required": ["translations"], "properties": { "translations": { "type": "object", "minProperties": 1 } } },
    { "required": ["keep"], "properties": { "keep": { "type": "boolean", "enum": [true] } } },
])))]
#[serde(rename_all = "camelCase")]
pub struct GlossaryEntry {
    /// The term, as the source has it: whole words.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = TERM)))]
    pub term: GlossaryTerm,
    /// How it is translated, by language; of languages that are not here, the translator decides.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(transform = by_language))]
    pub translations: BTreeMap<TranslationLanguage, GlossaryTerm>,
    /// Whether the term stays as it is, in every language that has no translation of it here.
    #[serde(default)]
    pub keep: bool,
    /// Whether `API` is another term than `api`.
    #[serde(default)]
    pub case_sensitive: bool,
    /// What the term means, for the translator.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub note: Option<BoundedText<0, 500>>,
}

/// The entries of a glossary.
pub type GlossaryEntries = BoundedVec<GlossaryEntry, 0, 1_000>;

/// The glossary of an organization: how its terms are translated, in all its translations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Glossary {
    /// Always `translation-glossary`.
    pub object: GlossaryObject,
    /// The entries, in the order that they were given in.
    pub entries: GlossaryEntries,
    /// When it last changed; absent while nothing was ever put into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// A new glossary in place of the old one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SetGlossary {
    /// All its entries; a term is there once.
    pub entries: GlossaryEntries,
}
