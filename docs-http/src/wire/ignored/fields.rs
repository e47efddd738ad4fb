//! Detection of body fields that the request type does not declare.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
};

use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::names::{IgnoredNames, MAX_NAME_CHARS, escape_name};
use crate::wire::schema::{self, Direction};

/// The fields that a request type declares, at every level.
///
/// If the schema permits alternatives, a field is declared if any of them declares it.
pub(super) struct KnownFields {
    places: Vec<SchemaNode>,
    root: SchemaNodeId,
}

/// Index of a schema node. [`ANY_NODE`] accepts everything.
type SchemaNodeId = usize;

/// The node that accepts any value.
const ANY_NODE: SchemaNodeId = 0;

/// The values declared for one location in a body.
#[derive(Default)]
struct SchemaNode {
    fields: HashMap<&'static str, SchemaNodeId>,
    /// The node for fields with any other name, if such fields are permitted.
    others: Option<SchemaNodeId>,
    items: Option<SchemaNodeId>,
    /// Objects are permitted here, but lists are not.
    takes_no_list: bool,
}

#[derive(Default)]
pub(super) struct BodyFindings {
    pub(super) names: IgnoredNames,
    /// Path of the first list in place of an object; empty if it is the body itself. serde would read the list items as
    /// the fields of the object, in order.
    pub(super) list: Option<String>,
}

impl KnownFields {
    pub(super) fn for_type<T: JsonSchema + 'static>() -> Self {
        let mut registry = Registry::new();
        schema::register::<T>(&mut registry, Direction::Request);
        let mut makes = SchemaNodeBuilder {
            schemas: &registry.schemas,
            places: vec![SchemaNode::default()],
            made: BTreeMap::new(),
        };
        let root = makes.node([&schema::reference::<T>(Direction::Request)]);
        Self { places: makes.places, root }
    }

    /// Walks a body and returns the findings. For malformed JSON, they cover the part before the first error.
    pub(super) fn walk(&self, json: &[u8]) -> BodyFindings {
        let mut found = BodyFindings::default();
        let mut json = serde_json::Deserializer::from_slice(json);
        let walk = FieldWalker { known: self, at: self.root, path: &Path::Root, found: &mut found };
        // Other errors are reported by the parser of the body.
        let _: Result<(), serde_json::Error> = walk.deserialize(&mut json);
        found
    }
}

/// Builds nodes from schemas.
struct SchemaNodeBuilder<'s> {
    schemas: &'s BTreeMap<String, MetaSchema>,
    places: Vec<SchemaNode>,
    /// The nodes built so far, keyed by the set of schemas that they combine.
    made: BTreeMap<BTreeSet<*const MetaSchema>, SchemaNodeId>,
}

impl<'s> SchemaNodeBuilder<'s> {
    /// Returns the node described by these schemas. For field names, it does not matter if one or all schemas have to
    /// match.
    fn node<'r>(&mut self, schemas: impl IntoIterator<Item = &'r MetaSchemaRef>) -> SchemaNodeId
    where
        's: 'r,
    {
        let mut parts: Vec<&MetaSchema> = Vec::new();
        schemas.into_iter().for_each(|schema| self.collect(schema, &mut parts));
        if parts.iter().any(|part| accepts_anything(part)) {
            return ANY_NODE;
        }
        let key: BTreeSet<*const MetaSchema> = parts.iter().map(|part| std::ptr::from_ref(*part)).collect();
        if let Some(known) = self.made.get(&key) {
            return *known;
        }
        // Register the node before building its fields, because schemas may be recursive.
        let id = self.places.len();
        self.places.push(SchemaNode::default());
        self.made.insert(key, id);
        let mut fields: BTreeMap<&'static str, Vec<&MetaSchemaRef>> = BTreeMap::new();
        for (name, schema) in parts.iter().flat_map(|part| &part.properties) {
            fields.entry(name).or_default().push(schema);
        }
        let fields = fields.into_iter().map(|(name, schemas)| (name, self.node(schemas))).collect();
        let others: Vec<_> = parts.iter().filter_map(|part| part.additional_properties.as_deref()).collect();
        let items: Vec<_> = parts.iter().filter_map(|part| part.items.as_deref()).collect();
        let others = (!others.is_empty()).then(|| self.node(others));
        let items = (!items.is_empty()).then(|| self.node(items));
        let any_is = |kind: &str| parts.iter().any(|part| part.ty == kind);
        let takes_no_list = any_is("object") && !any_is("array");
        self.places[id] = SchemaNode { fields, others, items, takes_no_list };
        id
    }

    /// Collects a schema and all schemas that it is composed of.
    fn collect<'r>(&self, schema: &'r MetaSchemaRef, parts: &mut Vec<&'r MetaSchema>)
    where
        's: 'r,
    {
        let schema: &'r MetaSchema = match schema {
            MetaSchemaRef::Inline(schema) => schema,
            MetaSchemaRef::Reference(name) => match self.schemas.get(name) {
                Some(schema) => schema,
                None => return,
            },
        };
        // Stop at recursive schemas.
        if parts.iter().any(|part| std::ptr::eq(*part, schema)) {
            return;
        }
        parts.push(schema);
        for part in schema.all_of.iter().chain(&schema.any_of).chain(&schema.one_of) {
            self.collect(part, parts);
        }
    }
}

/// Returns `true` if the schema permits any value.
fn accepts_anything(schema: &MetaSchema) -> bool {
    let bare = MetaSchema {
        description: None,
        default: None,
        example: None,
        deprecated: false,
        nullable: false,
        ..schema.clone()
    };
    bare == MetaSchema::ANY
}

/// The path of a value in the body.
enum Path<'p> {
    Root,
    Field(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl Path<'_> {
    /// Formats this path.
    fn text(&self) -> String {
        let mut path = String::new();
        self.write(&mut path);
        path
    }

    /// Formats the path of a field of this value.
    fn field(&self, name: &str) -> String {
        let mut path = self.text();
        push_field(&mut path, name);
        path
    }

    fn write(&self, path: &mut String) {
        match self {
            Self::Root => {}
            Self::Field(outside, name) => {
                outside.write(path);
                push_field(path, name);
            }
            Self::Item(outside, at) => {
                outside.write(path);
                path.push_str(&format!("[{at}]"));
            }
        }
    }
}

fn push_field(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(&escape_name(name.as_bytes()));
}

/// Walks a value, and records unknown fields and lists in place of objects.
struct FieldWalker<'w> {
    known: &'w KnownFields,
    at: SchemaNodeId,
    path: &'w Path<'w>,
    found: &'w mut BodyFindings,
}

impl<'de> DeserializeSeed<'de> for FieldWalker<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        if self.at == ANY_NODE {
            return IgnoredAny::deserialize(value).map(|_| ());
        }
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldWalker<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let place = &self.known.places[self.at];
        while let Some(FieldName(name)) = map.next_key::<FieldName>()? {
            match place.fields.get(name.as_str()).copied().or(place.others) {
                Some(at) => {
                    let path = Path::Field(self.path, &name);
                    map.next_value_seed(FieldWalker {
                        known: self.known,
                        at,
                        path: &path,
                        found: &mut *self.found,
                    })?;
                }
                None => {
                    self.found.names.add(self.path.field(&name));
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let place = &self.known.places[self.at];
        if place.takes_no_list {
            self.found.list.get_or_insert_with(|| self.path.text());
        }
        let at = place.items.unwrap_or(ANY_NODE);
        let mut index = 0;
        let mut path = Path::Item(self.path, index);
        while items
            .next_element_seed(FieldWalker { known: self.known, at, path: &path, found: &mut *self.found })?
            .is_some()
        {
            index += 1;
            path = Path::Item(self.path, index);
        }
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}

/// A field name, truncated to the reported length.
struct FieldName(String);

impl<'de> Deserialize<'de> for FieldName {
    fn deserialize<D: Deserializer<'de>>(name: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = FieldName;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<FieldName, E> {
                Ok(FieldName(name.chars().take(MAX_NAME_CHARS).collect()))
            }
        }
        name.deserialize_str(NameVisitor)
    }
}

#[cfg(test)]
mod tests {
    use docs_core::model::{CreateSpace, MoveContent, UpdateAdaptiveSchema, UpdateContent};
    use serde_json::{Value, json};

    use super::*;

    fn ignored<T: JsonSchema + 'static>(body: &Value) -> Option<String> {
        let names = KnownFields::for_type::<T>().walk(body.to_string().as_bytes()).names.header()?;
        Some(names.to_str().expect("is ASCII").to_owned())
    }

    #[test]
    fn unknown_field_is_reported_with_its_path() {
        assert_eq!(ignored::<CreateSpace>(&json!({ "title": "x", "emoji": null })), None);
        let body = json!({ "titel": { "title": "secret" }, "title": "x", "a.b": 1, "ä\n": [] });
        assert_eq!(ignored::<CreateSpace>(&body).as_deref(), Some("a%2Eb, titel, %C3%A4%0A"));
        let body =
            json!({ "position": { "after": { "type": "space", "space": "x", "spaces": 1 }, "by": 1 } });
        assert_eq!(ignored::<MoveContent>(&body).as_deref(), Some("position.after.spaces, position.by"));
    }

    #[test]
    fn fields_of_items_and_recursive_forms_are_checked() {
        let list = json!({ "object": "block", "type": "list-unordered", "nodes": [
            { "object": "block", "type": "paragraph", "nodes": [{ "object": "text", "leafs": [], "leaves": [] }] },
        ] });
        let document = json!({ "object": "document", "data": {}, "nodes": [list] });
        let body = json!({ "changes": [
            { "operation": "delete_page", "page": "x" },
            { "operation": "insert_page", "document": { "document": document }, "hiden": true },
        ] });
        let place = "changes[1].document.document.nodes[0].nodes[0].nodes[0].leafs, changes[1].hiden";
        assert_eq!(ignored::<UpdateContent>(&body).as_deref(), Some(place));
    }

    #[test]
    fn client_defined_names_are_not_reported_as_unknown() {
        let change = json!({ "operation": "update_variables", "variables": { "anything": "x" } });
        assert_eq!(ignored::<UpdateContent>(&json!({ "changes": [change] })), None);
        let free = json!({ "jsonSchema": { "type": "object", "properties": { "mine": { "type": "string", "enum": ["x"] } } } });
        assert_eq!(ignored::<UpdateAdaptiveSchema>(&free), None);
    }

    #[test]
    fn list_in_place_of_an_object_is_detected() {
        let list = |json: &str| KnownFields::for_type::<UpdateContent>().walk(json.as_bytes()).list;
        let within = |change: &str| format!(r#"{{"changes":[{{"operation":"delete_page"}},{change}]}}"#);
        for (wrong, place) in [
            ("[1]".to_owned(), ""),
            ("{\"changes\":[[]]}".to_owned(), "changes[0]"),
            (within(r#"{"operation":"insert_page","document":["A"]}"#), "changes[1].document"),
            (within(r#"{"operation":"insert_page","target":["url","x"]}"#), "changes[1].target"),
            (within(r#"{"operation":"insert_files","files":[["a"]]}"#), "changes[1].files[0]"),
        ] {
            assert_eq!(list(&wrong).as_deref(), Some(place), "{wrong}");
        }
        for right in ["{", "5", r#"{"changes":[],"more":[]}"#] {
            assert_eq!(list(right), None, "{right}");
        }
        assert_eq!(list(&within(r#"{"operation":"insert_files","files":[{}]}"#)), None);
    }

    #[test]
    fn invalid_json_is_left_to_the_parser() {
        let known = KnownFields::for_type::<CreateSpace>();
        for (body, told) in
            [("", None), ("{", None), ("5", None), ("[{\"x\":1}]", None), ("{\"x\":1,}", Some("x"))]
        {
            let names = known.walk(body.as_bytes()).names.header();
            assert_eq!(names.as_ref().and_then(|names| names.to_str().ok()), told, "{body}");
        }
        let deep = "{\"parent\":".repeat(100_000);
        let names = known.walk(deep.as_bytes()).names.header();
        assert_eq!(names.as_ref().and_then(|names| names.to_str().ok()), Some("parent.parent"));
    }
}
