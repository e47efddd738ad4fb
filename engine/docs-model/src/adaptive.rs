//! What is known of the visitors of a site: the adaptive schema.

mod check;
mod complete;
#[cfg(feature = "schema")]
mod shape;

use std::fmt;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use super::{Timestamp, list::constants};

constants! {
    /// `site-adaptive-schema`.
    AdaptiveSchemaObject = "site-adaptive-schema",
}

/// What the schema says of the claims that nobody signs.
pub const UNSIGNED: &str = "Unsigned claims of the site visitor.";
/// The name of the claim below which those stand that nobody signs.
const UNSIGNED_CLAIMS: &str = "unsigned";
/// Most levels of claims within claims.
pub const MAX_CLAIM_LEVELS: usize = 5;
/// Most claims of a schema.
pub const MAX_CLAIMS: usize = 200;
/// Most characters of the name of a claim.
pub const MAX_CLAIM_NAME: usize = 64;
/// Most characters of the description of a claim.
pub const MAX_CLAIM_DESCRIPTION: usize = 512;
/// Most values of an `enum`.
pub const MAX_CLAIM_VALUES: usize = 100;
/// Most characters of a value of an `enum`.
pub const MAX_CLAIM_VALUE: usize = 128;
/// Most bytes of a schema, as JSON.
pub const MAX_CLAIM_SCHEMA: usize = 64 * 1024;

/// A JSON Schema of the claims of visitors.
///
/// Claims are booleans, texts, texts of an `enum`, numbers, lists of those, and objects of claims. Each has a
/// description, which is empty where none was given, and no object has claims that are not named. Only `unsigned` may
/// have others: `"additionalProperties": { "type": "boolean" }` lets booleans of any name count.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(transparent)]
pub struct AdaptiveJsonSchema(Json);

/// Why JSON is no schema of claims: the place, and what would be right there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaFault {
    path: String,
    message: String,
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for SchemaFault {}

impl AdaptiveJsonSchema {
    /// Checks a schema, and adds the descriptions that it leaves out.
    ///
    /// # Errors
    /// [`SchemaFault`] at the first place that is not as it has to be.
    pub fn new(mut schema: Json) -> Result<Self, SchemaFault> {
        complete::complete(&mut schema);
        check::schema(&schema).map(|()| Self(schema))
    }

    /// The schema as JSON.
    #[must_use]
    pub const fn as_json(&self) -> &Json {
        &self.0
    }

    /// Conditions that hold for visitors with one claim: one for each boolean that is true, one for each value of an
    /// `enum`.
    #[must_use]
    pub fn template_conditions(&self) -> Vec<TemplateCondition> {
        let mut conditions = Vec::new();
        collect(&self.0, "visitor.claims", &mut conditions);
        conditions
    }
}

impl<'de> Deserialize<'de> for AdaptiveJsonSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Json::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for AdaptiveJsonSchema {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AdaptiveJsonSchema".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        shape::whole(generator)
    }
}

/// What is known of the visitors of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteAdaptiveSchema {
    /// Always `site-adaptive-schema`.
    pub object: AdaptiveSchemaObject,
    /// The schema of their claims.
    pub json_schema: AdaptiveJsonSchema,
    /// When it was set.
    pub updated_at: Timestamp,
}

/// The schema that is to hold from now on.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateAdaptiveSchema {
    /// The schema of the claims of visitors.
    pub json_schema: AdaptiveJsonSchema,
}

/// A condition that is ready to use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TemplateCondition {
    /// For whom it holds.
    pub description: String,
    /// The expression.
    pub condition: String,
}

/// Conditions that follow from the adaptive schema of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TemplateConditions {
    /// The conditions, by the names of the claims.
    pub items: Vec<TemplateCondition>,
}

/// Collects the conditions of the claims below a path of an expression.
fn collect(object: &Json, path: &str, conditions: &mut Vec<TemplateCondition>) {
    let properties = object.get("properties").and_then(Json::as_object);
    for (name, claim) in properties.into_iter().flatten() {
        let path = member(path, name);
        let description = claim.get("description").and_then(Json::as_str).unwrap_or_default();
        let values = claim.get("enum").and_then(Json::as_array);
        match (claim.get("type").and_then(Json::as_str), values) {
            (Some("boolean"), _) => conditions.push(TemplateCondition {
                description: if description.is_empty() { name.clone() } else { description.to_owned() },
                condition: format!("{path} == true"),
            }),
            (Some("string"), Some(values)) => {
                let subject = if description.is_empty() { name } else { description };
                conditions.extend(values.iter().map(|value| TemplateCondition {
                    description: format!("{subject}: {}", value.as_str().unwrap_or_default()),
                    condition: format!("{path} == {value}"),
                }));
            }
            (Some("object"), _) => collect(claim, &path, conditions),
            _ => {}
        }
    }
}

/// The member of a value in an expression.
fn member(path: &str, name: &str) -> String {
    let mut chars = name.chars();
    let begins_well = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if begins_well && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
        format!("{path}.{name}")
    } else {
        format!("{path}[{}]", Json::from(name))
    }
}
