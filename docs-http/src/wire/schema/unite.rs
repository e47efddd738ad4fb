//! Common schema of a type used in requests and responses.

use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use serde_json::Value;

/// Returns a schema that is valid for both, or `None` if they are incompatible.
///
/// They may differ in required fields, defaults and nullability. A pattern that only one of them has applies to both,
/// since values in responses originate from requests.
pub(super) fn unite(one: &MetaSchema, other: &MetaSchema) -> Option<MetaSchema> {
    if one == other {
        return Some(one.clone());
    }
    let mut united = one.clone();
    united.required.retain(|name| other.required.contains(name));
    united.nullable |= other.nullable;
    united.pattern = pattern(one, other)?;
    united.default = one.default.clone().or_else(|| other.default.clone());
    united.properties = properties(one, other)?;
    united.items = part(one.items.as_deref(), other.items.as_deref())?;
    united.additional_properties =
        part(one.additional_properties.as_deref(), other.additional_properties.as_deref())?;
    united.all_of = parts(&one.all_of, &other.all_of)?;
    united.any_of = parts(&one.any_of, &other.any_of)?;
    united.one_of = parts(&one.one_of, &other.one_of)?;
    if other.enum_items.contains(&Value::Null) && !united.enum_items.contains(&Value::Null) {
        united.enum_items.push(Value::Null);
    }
    let same_values = values(one).eq(values(other));
    let rest = MetaSchema {
        required: united.required.clone(),
        nullable: united.nullable,
        pattern: united.pattern.clone(),
        default: united.default.clone(),
        properties: united.properties.clone(),
        items: united.items.clone(),
        additional_properties: united.additional_properties.clone(),
        all_of: united.all_of.clone(),
        any_of: united.any_of.clone(),
        one_of: united.one_of.clone(),
        enum_items: united.enum_items.clone(),
        ..other.clone()
    };
    (same_values && rest == united).then_some(united)
}

/// Returns the common pattern. The outer `None` means that the patterns differ.
#[expect(clippy::option_option, reason = "an absent pattern and conflicting patterns are different results")]
fn pattern(one: &MetaSchema, other: &MetaSchema) -> Option<Option<String>> {
    match (&one.pattern, &other.pattern) {
        (Some(one), Some(other)) => (one == other).then(|| Some(one.clone())),
        (one, other) => Some(one.clone().or_else(|| other.clone())),
    }
}

fn values(schema: &MetaSchema) -> impl Iterator<Item = &Value> {
    schema.enum_items.iter().filter(|value| !value.is_null())
}

fn properties(one: &MetaSchema, other: &MetaSchema) -> Option<Vec<(&'static str, MetaSchemaRef)>> {
    if one.properties.len() != other.properties.len() {
        return None;
    }
    let pairs = one.properties.iter().zip(&other.properties);
    pairs.map(|(one, other)| (one.0 == other.0).then_some((one.0, property(&one.1, &other.1)?))).collect()
}

/// Returns the common schema of an optional part. The outer `None` means that the parts are incompatible.
#[expect(clippy::option_option, reason = "an absent value and conflicting values are different results")]
fn part(one: Option<&MetaSchemaRef>, other: Option<&MetaSchemaRef>) -> Option<Option<Box<MetaSchemaRef>>> {
    match (one, other) {
        (None, None) => Some(None),
        (Some(one), Some(other)) => property(one, other).map(|united| Some(Box::new(united))),
        _ => None,
    }
}

fn parts(one: &[MetaSchemaRef], other: &[MetaSchemaRef]) -> Option<Vec<MetaSchemaRef>> {
    let pairs = || one.iter().zip(other).map(|(one, other)| property(one, other)).collect();
    (one.len() == other.len()).then(pairs).flatten()
}

fn property(one: &MetaSchemaRef, other: &MetaSchemaRef) -> Option<MetaSchemaRef> {
    match (one, other) {
        (MetaSchemaRef::Reference(a), MetaSchemaRef::Reference(b)) => (a == b).then(|| one.clone()),
        (MetaSchemaRef::Inline(a), MetaSchemaRef::Inline(b)) => {
            unite(a, b).map(|united| MetaSchemaRef::Inline(Box::new(united)))
        }
        // A reference that is nullable in only one direction is wrapped in that direction.
        (MetaSchemaRef::Reference(_), MetaSchemaRef::Inline(wide)) => {
            wide.all_of.contains(one).then(|| other.clone())
        }
        (MetaSchemaRef::Inline(wide), MetaSchemaRef::Reference(_)) => {
            wide.all_of.contains(other).then(|| one.clone())
        }
    }
}
