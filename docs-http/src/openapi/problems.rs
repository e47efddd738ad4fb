//! Mistakes in an API definition.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use poem_openapi::{
    OpenApi,
    registry::{MetaApi, MetaOperation, MetaParamIn, MetaSchema, MetaSchemaRef, Registry},
};
use serde::de::IgnoredAny;

use super::{
    document::{parameters, path_shape},
    operation_layer::OperationLayer,
};
use crate::wire::schema;

/// Mistakes in an API definition that would make its document wrong. They are detected during assembly, before the API
/// serves requests.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("; "))
    }
}

impl Problems {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self(vec![problem.into()])
    }

    pub(super) fn unknown_example(id: &str) -> Self {
        Self::new(format!("an example refers to the unknown operation {id}"))
    }
}

/// Checks an API definition for mistakes, before it is decorated.
///
/// # Errors
/// [`Problems`] listing operations without an id, ids or routes shared by two operations, handlers that do not take
/// their path parameters in order, names shared by two schemas, and references to unregistered schemas.
pub fn check_api<T: OpenApi>() -> Result<(), Problems> {
    let mut registry = Registry::new();
    OperationLayer::<T>::register(&mut registry);
    let apis = T::meta();
    let mut found = find_mistakes(&apis);
    let clashes = schema::clashes(&registry).into_iter();
    found.extend(clashes.map(|name| format!("two schemas share the name {name}")));
    let mut references = ReferenceCollector::new(&registry);
    for operation in operations(&apis) {
        references.visit_operation(operation);
    }
    found.extend(references.missing.iter().map(|name| format!("the schema {name} is not registered")));
    if found.is_empty() { Ok(()) } else { Err(Problems(found)) }
}

/// Checks that examples are a JSON object keyed by operation id.
///
/// # Errors
/// [`Problems`] if they are not, or if an example refers to an unknown operation.
pub(crate) fn check_examples<T: OpenApi>(examples: &str) -> Result<(), Problems> {
    let examples: BTreeMap<String, IgnoredAny> =
        serde_json::from_str(examples).map_err(|error| Problems::new(format!("the examples: {error}")))?;
    let apis = T::meta();
    let ids: BTreeSet<&str> = operations(&apis).filter_map(|operation| operation.operation_id).collect();
    match examples.keys().find(|id| !ids.contains(id.as_str())) {
        Some(id) => Err(Problems::unknown_example(id)),
        None => Ok(()),
    }
}

fn operations(apis: &[MetaApi]) -> impl Iterator<Item = &MetaOperation> {
    apis.iter().flat_map(|api| &api.paths).flat_map(|path| &path.operations)
}

fn find_mistakes(apis: &[MetaApi]) -> Vec<String> {
    let mut found = Vec::new();
    let mut ids = BTreeSet::new();
    let mut routes = BTreeSet::new();
    for path in apis.iter().flat_map(|api| &api.paths) {
        for operation in &path.operations {
            let route = format!("{} {}", operation.method, path.path);
            match operation.operation_id {
                None => found.push(format!("{route} has no operation id")),
                Some(id) if !ids.insert(id) => found.push(format!("two operations share the id {id}")),
                Some(_) => {}
            }
            if !routes.insert((operation.method.to_string(), path_shape(&path.path))) {
                found.push(format!("two operations share the route {route}"));
            }
            // Handlers receive path parameters by position, regardless of their names.
            let taken = operation.params.iter().filter(|parameter| parameter.in_type == MetaParamIn::Path);
            if !parameters(&path.path).eq(taken.map(|parameter| parameter.name.as_str())) {
                found.push(format!("the handler of {route} does not take its parameters in order, by name"));
            }
        }
    }
    found
}

/// Traverses schemas and collects references to unregistered schemas.
struct ReferenceCollector<'r> {
    registry: &'r Registry,
    seen: BTreeSet<String>,
    missing: BTreeSet<String>,
}

impl<'r> ReferenceCollector<'r> {
    fn new(registry: &'r Registry) -> Self {
        Self { registry, seen: BTreeSet::new(), missing: BTreeSet::new() }
    }

    fn visit_operation(&mut self, operation: &MetaOperation) {
        let requests = operation.request.iter().flat_map(|request| &request.content);
        let responses = operation.responses.responses.iter().flat_map(|response| &response.content);
        for media in requests.chain(responses) {
            self.visit_reference(&media.schema);
        }
        for parameter in &operation.params {
            self.visit_reference(&parameter.schema);
        }
    }

    fn visit_reference(&mut self, reference: &MetaSchemaRef) {
        match reference {
            MetaSchemaRef::Inline(schema) => self.visit_schema(schema),
            MetaSchemaRef::Reference(name) if self.seen.insert(name.clone()) => {
                match self.registry.schemas.get(name) {
                    Some(schema) => self.visit_schema(schema),
                    None => {
                        self.missing.insert(name.clone());
                    }
                }
            }
            MetaSchemaRef::Reference(_) => {}
        }
    }

    fn visit_schema(&mut self, schema: &MetaSchema) {
        let properties = schema.properties.iter().map(|(_, reference)| reference);
        let parts = schema.any_of.iter().chain(&schema.one_of).chain(&schema.all_of);
        let boxed = schema.items.iter().chain(&schema.additional_properties).map(AsRef::as_ref);
        for reference in properties.chain(parts).chain(boxed) {
            self.visit_reference(reference);
        }
    }
}
