//! Conversion of type schemas to schemas of the OpenAPI document.
//!
//! Each type derives serde traits and [`JsonSchema`], so one definition determines parsing, serialization and
//! documentation. poem-openapi has its own schema type for OpenAPI 3.0, to which this module converts:
//!
//! - a named type becomes a referenced component; other types are inlined;
//! - `null` becomes `nullable`, a constant becomes an enumeration with one value, and alternative string constants
//!   become one enumeration;
//! - the variants of a tagged enumeration become components with a discriminator;
//! - a field that a response omits when it is `None` is optional there, not nullable.

mod convert;
mod direction;
mod names;
mod unite;

use std::{any::TypeId, collections::HashMap, sync::LazyLock};

use parking_lot::RwLock;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};

use self::convert::Converter;
pub use self::direction::Direction;

/// Returns the schema to use where the type is referenced.
///
/// Every mount of an API requests this for each of its types, and the computation expands all nested types. The results
/// are therefore cached per type for the lifetime of the process.
#[must_use]
pub fn reference<T: JsonSchema + 'static>(direction: Direction) -> MetaSchemaRef {
    type SchemaCache = HashMap<(TypeId, Direction), MetaSchemaRef>;
    static SCHEMAS: LazyLock<RwLock<SchemaCache>> = LazyLock::new(RwLock::default);
    let key = (TypeId::of::<T>(), direction);
    if let Some(known) = SCHEMAS.read().get(&key) {
        return known.clone();
    }
    let schema = generator(direction).subschema_for::<T>();
    SCHEMAS.write().entry(key).or_insert_with(|| convert_schema(&schema, direction)).clone()
}

fn convert_schema(schema: &Schema, direction: Direction) -> MetaSchemaRef {
    Converter::new(direction).reference(schema.as_value())
}

/// Registers the components of a type.
///
/// A type used in both directions gets a common schema. Two incompatible types with the same name are an error, which
/// [`clashes`] detects.
pub fn register<T: JsonSchema>(registry: &mut Registry, direction: Direction) {
    let mut generator = generator(direction);
    generator.subschema_for::<T>();
    register_all(registry, generator, direction);
}

fn register_all(registry: &mut Registry, mut generator: SchemaGenerator, direction: Direction) {
    for (name, definition) in generator.take_definitions(false) {
        let mut converter = Converter::new(direction);
        let schema = converter.definition(&name, &definition);
        insert(registry, names::sanitize(&name), schema);
        for (name, schema) in converter.into_variants() {
            insert(registry, name, schema);
        }
    }
}

/// Returns the names used by several incompatible types.
#[must_use]
pub fn clashes(registry: &Registry) -> Vec<&str> {
    registry.schemas.keys().filter_map(|name| name.strip_suffix(CLASH_SUFFIX)).collect()
}

/// Suffix of a second schema with the same name. It contains a space, which names cannot, so nothing references such a
/// schema and it is never shown.
const CLASH_SUFFIX: &str = " (clash)";

fn generator(direction: Direction) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    match direction {
        Direction::Request => settings.for_deserialize(),
        Direction::Response => settings.for_serialize(),
    }
    .into_generator()
}

fn insert(registry: &mut Registry, name: String, schema: MetaSchema) {
    let united = match registry.schemas.get(&name) {
        None => Some(schema.clone()),
        Some(known) => unite::unite(known, &schema),
    };
    match united {
        Some(united) => registry.schemas.insert(name, united),
        None => registry.schemas.insert(name + CLASH_SUFFIX, schema),
    };
}
