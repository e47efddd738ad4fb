//! Conditions that restrict items to certain visitors.

use std::{fmt, str::FromStr};

use docs_expression::{Expression, ExpressionError};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BoundedText, Patch};

/// An expression that controls which visitors see an item. It is parsed once.
///
/// For visitors, a condition can be `true` only if all values that it reads are enumerable
/// ([`Expression::is_deterministic`]): variables, and claims whose values the site's adaptive schema enumerates
/// (booleans and strings with `enum`). A condition that reads a free-form string, a number or a claim missing in the
/// schema hides its item regardless of its result. Members see all items.
///
/// ```
/// use docs_model::Condition;
/// assert!("visitor.claims.plan == 'pro'".parse::<Condition>().is_ok());
/// let error = "visitor.".parse::<Condition>().unwrap_err();
/// assert!(error.to_string().starts_with("character 9 "), "{error}");
/// ```
#[derive(Clone)]
pub struct Condition(Expression);

impl Condition {
    /// Returns the source text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.source()
    }

    /// Returns the parsed expression.
    #[must_use]
    pub const fn expression(&self) -> &Expression {
        &self.0
    }
}

impl FromStr for Condition {
    type Err = ExpressionError;
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Expression::parse(text).map(Self)
    }
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Condition {}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = BoundedText::<1, 1024>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The text of a condition that may be empty.
pub(crate) type ConditionText = BoundedText<0, 1024>;

/// Deserializes a condition, or `None` for `null` and the empty string.
pub(crate) fn deserialize_non_empty<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Condition>, D::Error> {
    match Option::<ConditionText>::deserialize(from)? {
        Some(text) if !text.is_empty() => text.parse().map(Some).map_err(serde::de::Error::custom),
        _ => Ok(None),
    }
}

/// Deserializes a change of a condition. `null` and the empty string remove the condition.
pub(crate) fn deserialize_patch<'de, D: Deserializer<'de>>(from: D) -> Result<Patch<Condition>, D::Error> {
    Ok(deserialize_non_empty(from)?.map_or(Patch::Clear, Patch::Set))
}

#[cfg(feature = "schema")]
impl JsonSchema for Condition {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Condition".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BoundedText::<1, 1024>::json_schema(generator)
    }
}
