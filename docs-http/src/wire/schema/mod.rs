//! From the schemas that resources tell of themselves to those of the OpenAPI document.
//!
//! A resource derives serde and [`JsonSchema`], so that one definition says what is parsed, what is written and what
//! is documented. poem-openapi keeps schemas in a form of its own, for OpenAPI 3.0; this module writes the one as the
//! other:
//!
//! - a type with a name becomes a component and is referred to; all else is written where it stands;
//! - `null` becomes `nullable`, a constant an enumeration of one, text constants side by side one enumeration;
//! - the variants of a tagged enumeration become components of their own, told apart by a discriminator;
//! - a field that an answer leaves out when it is `None` is optional there, not nullable.

mod convert;
mod names;
mod unite;

use std::{any::TypeId, collections::HashMap, sync::LazyLock};

use parking_lot::RwLock;
use poem_openapi::registry::{MetaSchema, MetaSchemaRef, Registry};
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};

use convert::Converter;

/// Which way a value goes. A type may promise more than it asks for: a field with a default is optional in a request,
/// and always there in an answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// From the client, parsed.
    Request,
    /// To the client, written.
    Response,
}

/// How the schema of a type is written where the type is used.
///
/// Each time that an API is mounted, it asks for that of each of its types, and an answer takes all the schemas that
/// the type consists of: what was written once is kept, for each type of the program.
#[must_use]
pub fn reference<T: JsonSchema + 'static>(direction: Direction) -> MetaSchemaRef {
    type Known = HashMap<(TypeId, Direction), MetaSchemaRef>;
    static KNOWN: LazyLock<RwLock<Known>> = LazyLock::new(RwLock::default);
    let key = (TypeId::of::<T>(), direction);
    if let Some(known) = KNOWN.read().get(&key) {
        return known.clone();
    }
    let schema = generator(direction).subschema_for::<T>();
    KNOWN.write().entry(key).or_insert_with(|| written(&schema, direction)).clone()
}

fn written(schema: &Schema, direction: Direction) -> MetaSchemaRef {
    Converter::new(direction).reference(schema.as_value())
}

/// Adds the components that a type consists of.
///
/// A type that is used in both directions promises what holds in both. Two types of one name that differ in more
/// than that are a mistake, which [`clashes`] finds.
pub fn register<T: JsonSchema>(registry: &mut Registry, direction: Direction) {
    let mut generator = generator(direction);
    generator.subschema_for::<T>();
    register_all(registry, generator, direction);
}

fn register_all(registry: &mut Registry, mut generator: SchemaGenerator, direction: Direction) {
    for (name, definition) in generator.take_definitions(false) {
        let mut converter = Converter::new(direction);
        let schema = converter.definition(&name, &definition);
        insert(registry, names::clean(&name), schema);
        for (name, schema) in converter.into_variants() {
            insert(registry, name, schema);
        }
    }
}

/// The names that different types lay claim to.
#[must_use]
pub fn clashes(registry: &Registry) -> Vec<&str> {
    registry.schemas.keys().filter_map(|name| name.strip_suffix(CLASH)).collect()
}

/// Where components stand in an OpenAPI document.
const COMPONENTS: &str = "#/components/schemas/";

/// Marks a second schema of one name. Nothing can refer to it, as names hold no spaces, so it is never shown.
const CLASH: &str = " (clash)";

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
        None => registry.schemas.insert(name + CLASH, schema),
    };
}
