//! Page content in requests: [`DocumentInput`].

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use super::{Document, typed_value::part};

/// Page content in a request: Markdown, a document tree, or `{}` for an empty page.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DocumentInput {
    /// No content.
    #[default]
    Empty,
    /// Markdown with optional front matter. Without the front matter it may have at most
    /// [`MAX_PAGE_BYTES`](crate::MAX_PAGE_BYTES).
    Markdown(String),
    /// A document tree. Blocks that already exist on the page keep their Markdown notation.
    Document(Document),
}

impl<'de> Deserialize<'de> for DocumentInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Forms {
            markdown: Option<String>,
            document: Option<Document>,
        }
        let value = Value::deserialize(deserializer)?;
        // Only an empty object clears a page. A misspelled field name must not.
        if value.as_object().is_some_and(serde_json::Map::is_empty) {
            return Ok(Self::Empty);
        }
        let forms: Forms = part(value)?;
        match (forms.markdown, forms.document) {
            (Some(markdown), None) => Ok(Self::Markdown(markdown)),
            (None, Some(document)) => Ok(Self::Document(document)),
            (Some(_), Some(_)) => Err(D::Error::custom("must have `markdown` or `document`, not both")),
            (None, None) => Err(D::Error::custom(
                "must have `markdown`, a string, or `document`, a document tree; `{}` clears the page",
            )),
        }
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for DocumentInput {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DocumentInput".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let document = generator.subschema_for::<Document>();
        json_schema!({
            "description": "The content of a page: Markdown, a document tree, or `{}` for an empty page.",
            "oneOf": [
                {
                    "type": "object",
                    "properties": {
                        "markdown": { "type": "string", "description": "Markdown, optionally with front \
                                                                        matter." },
                    },
                    "required": ["markdown"],
                },
                { "type": "object", "properties": { "document": document }, "required": ["document"] },
                { "type": "object", "maxProperties": 0 },
            ],
        })
    }
}
