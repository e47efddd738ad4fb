//! Conversion of JSON Schema to the schema type of poem-openapi.

use docs_core::model::schema::not_null;
use poem_openapi::registry::{MetaDiscriminatorObject, MetaSchema, MetaSchemaRef};
use schemars::Schema;
use serde_json::{Map, Value, json};

use super::{
    direction::Direction,
    names::{COMPONENTS, component_name, intern, pascal, sanitize},
};

type JsonObject = Map<String, Value>;

/// Pattern of request strings that have no pattern of their own. It excludes NUL, because stores cannot store it.
pub(super) const WITHOUT_NUL: &str = r"^[^\u0000]*$";

/// Converts schemas, and collects union variants that become components.
pub(super) struct Converter {
    direction: Direction,
    variants: Vec<(String, MetaSchema)>,
}

impl Converter {
    pub(super) fn new(direction: Direction) -> Self {
        Self { direction, variants: Vec::new() }
    }

    /// Returns the components collected during the conversion.
    pub(super) fn into_variants(self) -> Vec<(String, MetaSchema)> {
        self.variants
    }

    /// Converts a named schema.
    pub(super) fn definition(&mut self, name: &str, schema: &Value) -> MetaSchema {
        match schema.as_object().and_then(branch_tag) {
            Some((tag, branches)) => self.tagged_union(name, schema, tag, branches),
            None => self.schema(schema),
        }
    }

    /// Converts a schema where it is used: to a reference, or inline.
    pub(super) fn reference(&mut self, schema: &Value) -> MetaSchemaRef {
        match schema.as_object() {
            Some(object) if object.len() == 1 && object.contains_key("$ref") => {
                MetaSchemaRef::Reference(component_name(text(object, "$ref").unwrap_or_default()))
            }
            _ => MetaSchemaRef::Inline(Box::new(self.schema(schema))),
        }
    }

    fn schema(&mut self, schema: &Value) -> MetaSchema {
        // `true` or a schema without restrictions permits any value.
        let Some(object) = schema.as_object() else {
            return MetaSchema::ANY;
        };
        let mut out = self.annotations(object);
        self.kinds(object, &mut out);
        limits(object, &mut out);
        self.members(object, &mut out);
        self.items(object, &mut out);
        self.combinations(object, &mut out);
        let is_text = out.ty == "string" && out.enum_items.is_empty();
        if is_text && self.direction == Direction::Request && out.format != Some("date-time") {
            out.pattern.get_or_insert_with(|| WITHOUT_NUL.to_owned());
        }
        out
    }

    fn annotations(&self, object: &JsonObject) -> MetaSchema {
        let default = object.get("default").filter(|value| !value.is_null()).cloned();
        let example = object.get("example").or_else(|| object.get("examples")?.as_array()?.first());
        let flag = |key| object.get(key).and_then(Value::as_bool).unwrap_or_default();
        MetaSchema {
            description: text(object, "description").map(intern),
            format: text(object, "format").map(intern),
            pattern: text(object, "pattern").map(str::to_owned),
            // A response always contains the field, so its default is irrelevant.
            default: default.filter(|_| self.direction == Direction::Request),
            example: example.cloned(),
            deprecated: flag("deprecated"),
            read_only: flag("readOnly"),
            write_only: flag("writeOnly"),
            ..MetaSchema::ANY
        }
    }

    /// Converts the type, nullability and permitted values.
    fn kinds(&mut self, object: &JsonObject, out: &mut MetaSchema) {
        let kinds: Vec<&str> = match object.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => vec![],
        };
        out.nullable = kinds.contains(&"null");
        if kinds == ["null"] {
            out.ty = "string";
            out.enum_items = vec![Value::Null];
            return;
        }
        match kinds.iter().filter(|kind| **kind != "null").collect::<Vec<_>>().as_slice() {
            [] => {}
            [kind] => out.ty = intern(kind),
            several => {
                out.any_of = several.iter().map(|kind| self.reference(&json!({ "type": kind }))).collect();
            }
        }
        out.enum_items = list(object, "enum").to_vec();
        out.enum_items.extend(object.get("const").cloned());
    }

    fn members(&mut self, object: &JsonObject, out: &mut MetaSchema) {
        let required: Vec<&str> = list(object, "required").iter().filter_map(Value::as_str).collect();
        out.required = required.iter().map(|name| intern(name)).collect();
        let properties = object.get("properties").and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let optional_answer = self.direction == Direction::Response && !required.contains(&name.as_str());
            let schema = match Schema::try_from(schema.clone()) {
                // The field is omitted instead of being null.
                Ok(mut schema) if optional_answer => {
                    not_null(&mut schema);
                    self.reference(schema.as_value())
                }
                _ => self.reference(schema),
            };
            out.properties.push((intern(name), schema));
        }
        // OpenAPI 3.0 does not support patterns for member names.
        let of_a_form = object.get("patternProperties").and_then(Value::as_object);
        let named = of_a_form.and_then(|forms| forms.values().next());
        out.additional_properties = match named.or_else(|| object.get("additionalProperties")) {
            None => None,
            Some(Value::Bool(false)) => Some(Box::new(MetaSchemaRef::Inline(Box::new(never_schema())))),
            Some(schema) => Some(Box::new(self.reference(schema))),
        };
    }

    fn items(&mut self, object: &JsonObject, out: &mut MetaSchema) {
        let items = object.get("items").filter(|items| items.is_object());
        out.items = match items {
            Some(items) => Some(Box::new(self.reference(items))),
            // OpenAPI 3.0 requires `items` for every array.
            None if out.ty == "array" => Some(Box::new(MetaSchemaRef::Inline(Box::new(MetaSchema::ANY)))),
            None => None,
        };
    }

    fn combinations(&mut self, object: &JsonObject, out: &mut MetaSchema) {
        out.all_of = list(object, "allOf").iter().map(|part| self.reference(part)).collect();
        if let Some(reference) = text(object, "$ref") {
            out.all_of.push(MetaSchemaRef::Reference(component_name(reference)));
        }
        let one_of = list(object, "oneOf");
        if !one_of.is_empty() && one_of.iter().all(is_text_constant) {
            text_constants(one_of, out);
        } else {
            out.one_of = one_of.iter().map(|part| self.reference(part)).collect();
        }
        let (nulls, parts): (Vec<_>, Vec<_>) = list(object, "anyOf").iter().partition(|part| is_null(part));
        out.nullable |= !nulls.is_empty();
        match parts.as_slice() {
            // A union of a type and null becomes the nullable type.
            [only] => match self.reference(only) {
                MetaSchemaRef::Inline(inner) => merge_part(out, *inner),
                reference @ MetaSchemaRef::Reference(_) => out.all_of.push(reference),
            },
            parts => out.any_of.extend(parts.iter().map(|part| self.reference(part))),
        }
    }

    fn tagged_union(&mut self, name: &str, schema: &Value, tag: &str, branches: &[Value]) -> MetaSchema {
        let mut out = schema.as_object().map_or(MetaSchema::ANY, |object| self.annotations(object));
        let mut mapping = Vec::with_capacity(branches.len());
        for branch in branches {
            let value = tag_value(branch, tag).unwrap_or_default();
            let variant = sanitize(name) + &pascal(value);
            let converted = self.schema(branch);
            self.variants.push((variant.clone(), converted));
            mapping.push((value.to_owned(), format!("{COMPONENTS}{variant}")));
            out.one_of.push(MetaSchemaRef::Reference(variant));
        }
        out.discriminator = Some(MetaDiscriminatorObject { property_name: intern(tag), mapping });
        out
    }
}

/// Returns the tag and the branches of a tagged union.
fn branch_tag(object: &JsonObject) -> Option<(&str, &[Value])> {
    let branches = object.get("oneOf")?.as_array()?;
    // An object with its own properties contains a flattened union, whose branches are incomplete.
    if object.contains_key("properties") {
        return None;
    }
    let first = branches.first()?.get("properties")?.as_object()?;
    let tag = first.keys().find(|tag| branches.iter().all(|branch| tag_value(branch, tag).is_some()))?;
    Some((tag.as_str(), branches))
}

/// Returns the constant value of a required member.
fn tag_value<'s>(branch: &'s Value, tag: &str) -> Option<&'s str> {
    let required = branch.get("required")?.as_array()?;
    let is_required = required.iter().any(|name| name == tag);
    branch.get("properties")?.get(tag)?.get("const")?.as_str().filter(|_| is_required)
}

fn limits(object: &JsonObject, out: &mut MetaSchema) {
    let number = |key: &str| object.get(key).and_then(Value::as_f64);
    let count = |key: &str| object.get(key)?.as_u64()?.try_into().ok();
    out.multiple_of = number("multipleOf");
    out.minimum = number("minimum").or_else(|| number("exclusiveMinimum"));
    out.exclusive_minimum = number("exclusiveMinimum").map(|_| true);
    out.maximum = number("maximum").or_else(|| number("exclusiveMaximum"));
    out.exclusive_maximum = number("exclusiveMaximum").map(|_| true);
    // A number without a narrower bound is limited by its integer type.
    let widest = match out.format {
        Some("uint8") => Some(u8::MAX.into()),
        Some("uint16") => Some(u16::MAX.into()),
        Some("uint32") => Some(u32::MAX.into()),
        Some("int32") => Some(i32::MAX.into()),
        _ => None,
    };
    out.maximum = out.maximum.or(widest);
    out.min_length = count("minLength");
    out.max_length = count("maxLength");
    out.min_items = count("minItems");
    out.max_items = count("maxItems");
    out.min_properties = count("minProperties");
    out.max_properties = count("maxProperties");
    out.unique_items = object.get("uniqueItems").and_then(Value::as_bool);
}

/// Merges the only part of a combination into the enclosing schema, whose annotations take precedence.
fn merge_part(out: &mut MetaSchema, part: MetaSchema) {
    let whole = std::mem::replace(out, part);
    out.nullable |= whole.nullable;
    out.deprecated |= whole.deprecated;
    out.description = whole.description.or(out.description);
    out.default = whole.default.or(out.default.take());
    out.example = whole.example.or(out.example.take());
    out.all_of.extend(whole.all_of);
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

fn is_text_constant(schema: &Value) -> bool {
    let is_text = schema.get("type").is_some_and(|kind| kind == "string");
    is_text && (schema.get("const").is_some() || schema.get("enum").is_some())
}

/// Converts constant alternatives to one enumeration. Its description lists their meanings.
fn text_constants(branches: &[Value], out: &mut MetaSchema) {
    out.ty = "string";
    let mut meanings = String::new();
    for branch in branches.iter().filter_map(Value::as_object) {
        let values = branch.get("const").into_iter().chain(list(branch, "enum"));
        for value in values {
            if let (Some(value), Some(meaning)) = (value.as_str(), text(branch, "description")) {
                meanings += &format!("\n- `{value}`: {meaning}");
            }
            out.enum_items.push(value.clone());
        }
    }
    if branches.len() > 1 && !meanings.is_empty() {
        let whole = out.description.map_or(String::new(), |whole| format!("{whole}\n"));
        out.description = Some(intern((whole + &meanings).trim_start()));
    }
}

fn text<'o>(object: &'o JsonObject, key: &str) -> Option<&'o str> {
    object.get(key).and_then(Value::as_str)
}

fn list<'o>(object: &'o JsonObject, key: &str) -> &'o [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A placeholder for `false`, which poem-openapi cannot express. Post-processing replaces it in the document.
fn never_schema() -> MetaSchema {
    MetaSchema { min_properties: Some(1), max_properties: Some(0), ..MetaSchema::new("object") }
}
