//! Strings of bounded length: [`BoundedText`].

use std::{borrow::Cow, fmt, ops::Deref, str::FromStr};

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A string of `MIN` to `MAX` characters without NUL.
///
/// The limits are part of the type: deserialization enforces them and the JSON Schema contains them.
///
/// ```
/// use docs_model::BoundedText;
/// assert!(BoundedText::<1, 3>::new("abc").is_ok());
/// assert_eq!(BoundedText::<1, 3>::new("abcd").unwrap_err().to_string(), "must be at most 3 characters, has 4");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BoundedText<const MIN: usize, const MAX: usize>(pub(super) Box<str>);

/// The reason a string is not a valid value of its type.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextError {
    /// The string is shorter than the minimum.
    #[error("must be at least {min} characters, has {has}")]
    TooShort {
        /// The minimum length in characters.
        min: usize,
        /// The length of the string in characters.
        has: usize,
    },
    /// The string is longer than the maximum.
    #[error("must be at most {max} characters, has {has}")]
    TooLong {
        /// The maximum length in characters.
        max: usize,
        /// The length of the string in characters.
        has: usize,
    },
    /// The string contains NUL, which stores reject.
    #[error("must not contain the NUL character")]
    Nul,
    /// The string has an invalid format. Contains a description of the valid format.
    #[error("must be {0}")]
    Form(&'static str),
}

impl<const MIN: usize, const MAX: usize> BoundedText<MIN, MAX> {
    /// Checks the length and characters of a string.
    ///
    /// # Errors
    /// [`TextError`] if the string is shorter than `MIN` or longer than `MAX` characters, or contains NUL.
    pub fn new(text: impl Into<Box<str>>) -> Result<Self, TextError> {
        let text = text.into();
        let has = text.chars().count();
        if has < MIN {
            Err(TextError::TooShort { min: MIN, has })
        } else if has > MAX {
            Err(TextError::TooLong { max: MAX, has })
        } else if text.contains('\0') {
            Err(TextError::Nul)
        } else {
            Ok(Self(text))
        }
    }

    /// Removes NUL and truncates to `MAX` characters. Returns `None` if the result is shorter than `MIN`.
    #[must_use]
    pub fn from_truncated(text: &str) -> Option<Self> {
        let cut: String = text.chars().filter(|c| *c != '\0').take(MAX).collect();
        Self::new(cut).ok()
    }

    /// Returns the first `TO` characters. `TO` must be at least `LEAST`, which must be at most `MIN`.
    #[must_use]
    pub fn truncated<const LEAST: usize, const TO: usize>(&self) -> BoundedText<LEAST, TO> {
        const { assert!(LEAST <= MIN && LEAST <= TO) };
        BoundedText(self.0.chars().take(TO).collect())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The empty string.
impl<const MAX: usize> Default for BoundedText<0, MAX> {
    fn default() -> Self {
        Self(Box::default())
    }
}

impl<const MIN: usize, const MAX: usize> FromStr for BoundedText<MIN, MAX> {
    type Err = TextError;
    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::new(text)
    }
}

impl<const MIN: usize, const MAX: usize> Deref for BoundedText<MIN, MAX> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> fmt::Display for BoundedText<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<const MIN: usize, const MAX: usize> fmt::Debug for BoundedText<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl<const MIN: usize, const MAX: usize> Serialize for BoundedText<MIN, MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for BoundedText<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl<const MIN: usize, const MAX: usize> JsonSchema for BoundedText<MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("BoundedText{MIN}to{MAX}").into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        if MIN == 0 {
            json_schema!({ "type": "string", "maxLength": MAX })
        } else {
            json_schema!({ "type": "string", "minLength": MIN, "maxLength": MAX })
        }
    }
}

/// Replaces each NUL by U+FFFD, as CommonMark does. Text from external sources would otherwise be rejected, because
/// stores cannot hold NUL.
#[must_use]
pub fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { text.replace('\0', "\u{fffd}").into() } else { text.into() }
}
