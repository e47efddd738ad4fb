//! The macro `formed_text!`, which declares string types with a length range and a format.

#[cfg(feature = "schema")]
use schemars::Schema;

/// Adds the keywords of a format to a schema.
#[cfg(feature = "schema")]
pub(super) fn add_form(mut schema: Schema, form: serde_json::Value) -> Schema {
    if let (Some(schema), serde_json::Value::Object(form)) = (schema.as_object_mut(), form) {
        schema.extend(form);
    }
    schema
}

/// Declares string types with a length range and a format.
macro_rules! formed_text {
    ($($(#[$doc:meta])* $name:ident($min:literal, $max:literal, $check:expr, $form:literal $(, $schema:tt)?)),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name($crate::BoundedText<$min, $max>);

        impl $name {
            /// Validates the length and format of a string.
            ///
            /// # Errors
            /// [`TextError`](crate::TextError) if the length or the format is invalid.
            pub fn new(text: impl Into<Box<str>>) -> Result<Self, $crate::TextError> {
                let text = $crate::BoundedText::new(text)?;
                let check: fn(&str) -> bool = $check;
                if check(&text) { Ok(Self(text)) } else { Err($crate::TextError::Form($form)) }
            }

            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(<String as serde::Deserialize>::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let plain = <$crate::BoundedText<$min, $max> as schemars::JsonSchema>::json_schema(generator);
                $(let plain = $crate::formed_text::add_form(plain, serde_json::json!($schema));)?
                plain
            }
        }
    )*};
}

pub(crate) use formed_text;
