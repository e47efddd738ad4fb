//! The adaptive schema of a site: a JSON Schema for visitor claims.

mod check;
mod complete;
mod rules;
#[cfg(feature = "schema")]
mod shape;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

pub use self::rules::{
    MAX_CLAIM_DESCRIPTION, MAX_CLAIM_LEVELS, MAX_CLAIM_NAME, MAX_CLAIM_SCHEMA, MAX_CLAIM_VALUE,
    MAX_CLAIM_VALUES, MAX_CLAIMS, SchemaFault, UNSIGNED,
};
use super::{Timestamp, list::constants};

constants! {
    /// `site-adaptive-schema`.
    AdaptiveSchemaObject = "site-adaptive-schema",
}

/// A JSON Schema for visitor claims.
///
/// A claim is a boolean, a number, a string, a string with `enum`, a list of these, or an object of claims. Every claim
/// has a description, empty by default. An object permits only the claims that it defines. The exception is `unsigned`,
/// which may set `"additionalProperties": { "type": "boolean" }` to permit boolean claims of any name.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(transparent)]
pub struct AdaptiveJsonSchema(Json);

impl AdaptiveJsonSchema {
    /// Validates a schema after filling in missing descriptions.
    ///
    /// # Errors
    /// [`SchemaFault`] for the first violation.
    pub fn new(mut schema: Json) -> Result<Self, SchemaFault> {
        complete::complete(&mut schema);
        check::schema(&schema).map(|()| Self(schema))
    }

    #[must_use]
    pub const fn as_json(&self) -> &Json {
        &self.0
    }

    /// Returns ready-made conditions on single claims: one per boolean claim, and one per `enum` value of a string
    /// claim.
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
        shape::adaptive_schema(generator)
    }
}

/// The adaptive schema of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteAdaptiveSchema {
    /// Always `site-adaptive-schema`.
    pub object: AdaptiveSchemaObject,
    /// The JSON Schema of the visitor claims.
    pub json_schema: AdaptiveJsonSchema,
    /// Time of the last update.
    pub updated_at: Timestamp,
}

/// The new adaptive schema of a site.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateAdaptiveSchema {
    /// The JSON Schema of the visitor claims.
    pub json_schema: AdaptiveJsonSchema,
}

/// A ready-made condition for site content and navigation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TemplateCondition {
    /// A description of the visitors that meet the condition.
    pub description: String,
    /// The condition expression.
    pub condition: String,
}

/// Conditions derived from the adaptive schema of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TemplateConditions {
    /// The conditions, ordered by claim name.
    pub items: Vec<TemplateCondition>,
}

/// Appends the conditions for the claims in `object`. `path` is the expression that evaluates to the object.
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

/// Returns the expression for a property: `path.name`, or `path["name"]` if the name is not an identifier.
fn member(path: &str, name: &str) -> String {
    let mut chars = name.chars();
    let begins_well = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if begins_well && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$') {
        format!("{path}.{name}")
    } else {
        format!("{path}[{}]", Json::from(name))
    }
}
