//! Texts with variants for languages: [`LocalizedText`].

use std::{collections::BTreeMap, ops::Deref};

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, de::IntoDeserializer as _};

use super::{BoundedText, TranslationLanguage};

/// The variants of a text by language, each of at most `MAX` characters. Readers in other languages see the text
/// itself.
///
/// ```
/// # use docs_model::{LocalizedText, TranslationLanguage};
/// let variants: LocalizedText<10> = serde_json::from_str(r#"{ "de": "Anleitung" }"#)?;
/// assert_eq!(variants.choose(TranslationLanguage::German, "Guide"), "Anleitung");
/// assert_eq!(variants.choose(TranslationLanguage::French, "Guide"), "Guide");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct LocalizedText<const MAX: usize>(BTreeMap<TranslationLanguage, BoundedText<0, MAX>>);

impl<const MAX: usize> LocalizedText<MAX> {
    /// Returns the variant for a language, or the text itself if there is none or an empty one.
    #[must_use]
    pub fn choose<'t>(&'t self, language: TranslationLanguage, text: &'t str) -> &'t str {
        self.0
            .get(&language)
            .map(|variant| variant.as_str())
            .filter(|variant| !variant.is_empty())
            .unwrap_or(text)
    }

    /// Returns `true` if there are no variants.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<const MAX: usize> Deref for LocalizedText<MAX> {
    type Target = BTreeMap<TranslationLanguage, BoundedText<0, MAX>>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A language as the key of a map. It is parsed from text, because the paths in errors contain only keys that are text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key(TranslationLanguage);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        TranslationLanguage::deserialize(name.into_deserializer()).map(Self)
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for LocalizedText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let variants = BTreeMap::<Key, BoundedText<0, MAX>>::deserialize(deserializer)?;
        Ok(Self(variants.into_iter().map(|(Key(language), variant)| (language, variant)).collect()))
    }
}

#[cfg(feature = "schema")]
impl<const MAX: usize> JsonSchema for LocalizedText<MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("LocalizedText{MAX}").into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let variant = generator.subschema_for::<BoundedText<0, MAX>>();
        let mut schema = schemars::json_schema!({ "type": "object", "additionalProperties": variant });
        crate::translation::by_language(&mut schema);
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_or_missing_variant_falls_back_to_the_text() {
        let variants: LocalizedText<10> =
            serde_json::from_str(r#"{ "de": "Anleitung", "fr": "" }"#).expect("texts");
        for (language, expected) in [
            (TranslationLanguage::German, "Anleitung"),
            (TranslationLanguage::French, "Guide"),
            (TranslationLanguage::English, "Guide"),
        ] {
            assert_eq!(variants.choose(language, "Guide"), expected);
        }
        for wrong in [r#"{ "xx": "a" }"#, r#"{ "de": "12345678901" }"#, r#"{ "de": null }"#] {
            assert!(serde_json::from_str::<LocalizedText<10>>(wrong).is_err(), "{wrong}");
        }
    }
}
