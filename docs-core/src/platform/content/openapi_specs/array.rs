//! The files of a specification in the form that front ends read: an array, in which each description has its HTML.
//!
//! Front ends insert descriptions into their pages as HTML. A description is the text of a user or of a fetched
//! document, so its HTML is written here, and HTML that the specification itself contains is dropped.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::html;
use crate::{Error, Result};

/// The name of the HTML of a description.
const DESCRIPTION_HTML: &str = "x-gitbook-description-html";
/// Members with values of the API that a specification describes. Descriptions in them are members of a value, and get
/// HTML only if they contain an element: a reference can use any place of a document as a schema.
const VALUES: [&str; 5] = ["example", "default", "enum", "const", "value"];
/// Maximum size of the Markdown that is parsed per specification, in bytes. Later descriptions are shown as text.
pub(in crate::platform) const MAX_DESCRIPTION_MARKDOWN: usize = 256 * 1024;

/// Converts the files by name to an array, in the same order.
pub(super) fn as_array(files: &RawValue) -> Result<Box<RawValue>> {
    let files: Files<'_> = serde_json::from_str(files.get()).map_err(Error::internal)?;
    let mut left = MAX_DESCRIPTION_MARKDOWN;
    let files = files.0.into_iter().map(|file| {
        let mut out = Vec::with_capacity(file.specification.get().len());
        let copy = Copier { out: &mut out, left: &mut left, role: Role::Other };
        copy.deserialize(&mut serde_json::Deserializer::from_str(file.specification.get()))
            .map_err(Error::internal)?;
        let specification = String::from_utf8(out).map_err(Error::internal)?;
        let specification = RawValue::from_string(specification).map_err(Error::internal)?;
        Ok(FileEntry { specification, ..file })
    });
    let files: Vec<FileEntry<'_>> = files.collect::<Result<_>>()?;
    serde_json::value::to_raw_value(&files).map_err(Error::internal)
}

/// A file of the specification.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileEntry<'a> {
    #[serde(borrow)]
    filename: &'a RawValue,
    #[serde(borrow)]
    dir: &'a RawValue,
    #[serde(borrow)]
    is_entrypoint: &'a RawValue,
    #[serde(borrow)]
    references: &'a RawValue,
    specification: Box<RawValue>,
}

/// The values of an object, in its order.
struct Files<'a>(Vec<FileEntry<'a>>);

impl<'de> Deserialize<'de> for Files<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Values;
        impl<'de> Visitor<'de> for Values {
            type Value = Files<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("files by name")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut members: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut files = Vec::new();
                while let Some((IgnoredAny, file)) = members.next_entry()? {
                    files.push(file);
                }
                Ok(Files(files))
            }
        }
        from.deserialize_map(Values)
    }
}

/// The role of a value in a specification.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Description,
    /// A value of the described API, or a part of one.
    Value,
    /// The member `description` of a value.
    ValueDescription,
    /// The properties of a schema, whose names have no meaning.
    Names,
    Other,
}

impl Role {
    /// Returns the role of a member of an object with this role.
    fn member(self, name: &str) -> Self {
        match (self, name) {
            (Self::Value, "description") => Self::ValueDescription,
            (Self::Value, _) => Self::Value,
            (Self::Names, _) => Self::Other,
            (_, "description") => Self::Description,
            (_, "properties") => Self::Names,
            (_, name) if VALUES.contains(&name) => Self::Value,
            _ => Self::Other,
        }
    }
}

/// Copies a JSON value to `out`. Returns the HTML of a description.
struct Copier<'o> {
    out: &'o mut Vec<u8>,
    /// The remaining bytes of Markdown to parse.
    left: &'o mut usize,
    role: Role,
}

impl Copier<'_> {
    fn write<E: serde::de::Error>(
        &mut self,
        value: &impl Serialize,
    ) -> std::result::Result<Option<String>, E> {
        serde_json::to_writer(&mut *self.out, value).map_err(E::custom)?;
        Ok(None)
    }

    fn inner(&mut self, role: Role) -> Copier<'_> {
        Copier { out: &mut *self.out, left: &mut *self.left, role }
    }
}

impl<'de> DeserializeSeed<'de> for Copier<'_> {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Copier<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(mut self) -> std::result::Result<Self::Value, E> {
        self.write(&())
    }

    fn visit_bool<E: serde::de::Error>(mut self, value: bool) -> std::result::Result<Self::Value, E> {
        self.write(&value)
    }

    fn visit_u64<E: serde::de::Error>(mut self, value: u64) -> std::result::Result<Self::Value, E> {
        self.write(&value)
    }

    fn visit_i64<E: serde::de::Error>(mut self, value: i64) -> std::result::Result<Self::Value, E> {
        self.write(&value)
    }

    fn visit_f64<E: serde::de::Error>(mut self, value: f64) -> std::result::Result<Self::Value, E> {
        self.write(&value)
    }

    fn visit_str<E: serde::de::Error>(mut self, value: &str) -> std::result::Result<Self::Value, E> {
        self.write::<E>(&value)?;
        let is_shown = match self.role {
            Role::Description => true,
            Role::ValueDescription => value.contains('<'),
            Role::Value | Role::Names | Role::Other => false,
        };
        if !is_shown {
            return Ok(None);
        }
        Ok(Some(match self.left.checked_sub(value.len()) {
            Some(rest) => {
                *self.left = rest;
                html::from_markdown(value)
            }
            None => html::from_text(value),
        }))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> std::result::Result<Self::Value, A::Error> {
        let role = if self.role == Role::Value { Role::Value } else { Role::Other };
        self.out.push(b'[');
        let start = self.out.len();
        loop {
            if self.out.len() > start {
                self.out.push(b',');
            }
            if items.next_element_seed(self.inner(role))?.is_none() {
                break;
            }
        }
        if self.out.len() > start {
            self.out.pop();
        }
        self.out.push(b']');
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> std::result::Result<Self::Value, A::Error> {
        self.out.push(b'{');
        let start = self.out.len();
        while let Some(name) = members.next_key::<String>()? {
            if name == DESCRIPTION_HTML {
                let IgnoredAny = members.next_value()?;
                continue;
            }
            if self.out.len() > start {
                self.out.push(b',');
            }
            self.write::<A::Error>(&name)?;
            self.out.push(b':');
            let role = self.role.member(&name);
            if let Some(html) = members.next_value_seed(self.inner(role))? {
                self.out.push(b',');
                self.write::<A::Error>(&DESCRIPTION_HTML)?;
                self.out.push(b':');
                self.write::<A::Error>(&html)?;
            }
        }
        self.out.push(b'}');
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Converts one file with this specification, and returns its converted specification.
    fn converted(specification: &Value) -> Value {
        let file = json!({ "filename": "a", "dir": "", "isEntrypoint": true, "references": [],
            "specification": specification });
        let files = RawValue::from_string(json!({ "a": file }).to_string()).expect("JSON");
        let mut array: Value = serde_json::from_str(as_array(&files).expect("files").get()).expect("JSON");
        let mut entry = array[0].take();
        assert_eq!((&entry["filename"], &entry["isEntrypoint"]), (&json!("a"), &json!(true)));
        entry["specification"].take()
    }

    #[test]
    fn descriptions_have_html_and_values_are_unchanged() {
        let example = json!({ "description": "*x*", "n": [1, -2, 1.5, null, true, {}, []] });
        let spec = json!({
            "info": { "description": "*The* API <img src=x onerror=alert(1)>", "x-gitbook-description-html": "<script>" },
            "parameters": [{ "description": "One", "example": example, "name": "description" }],
            "properties": { "description": { "type": "string", "description": "Text" }, "value": { "description": "V" } },
            "default": { "description": "<img src=x onerror=alert(1)>" },
        });
        let shown = converted(&spec);
        let info = shown["info"]["x-gitbook-description-html"].as_str().expect("HTML");
        assert!(info.starts_with("<p><em>The</em> API") && !info.contains("<img"), "{info}");
        assert_eq!(shown["info"]["description"], spec["info"]["description"]);
        assert_eq!(
            shown["parameters"][0],
            json!({ "description": "One", "x-gitbook-description-html": "<p>One</p>", "example": example,
                "name": "description" })
        );
        assert_eq!(shown["properties"]["description"]["x-gitbook-description-html"], "<p>Text</p>");
        assert_eq!(shown["properties"]["value"]["x-gitbook-description-html"], "<p>V</p>");
        assert!(shown["properties"].get("x-gitbook-description-html").is_none());
        let hostile = shown["default"]["x-gitbook-description-html"].as_str().expect("HTML");
        assert!(
            !hostile.contains('<') || hostile.starts_with("<p>") && !hostile.contains("<img"),
            "{hostile}"
        );
    }

    #[test]
    fn markdown_beyond_the_bound_is_text() {
        let long = format!("*a*{}", " b".repeat((MAX_DESCRIPTION_MARKDOWN - 3) / 2));
        let shown = converted(&json!([{ "description": long }, { "description": "*b*" }]));
        let html = |at: usize| shown[at]["x-gitbook-description-html"].as_str().expect("HTML").to_owned();
        assert!(html(0).starts_with("<p><em>a</em> b"));
        assert_eq!(html(1), "<p>*b*</p>");
    }
}
