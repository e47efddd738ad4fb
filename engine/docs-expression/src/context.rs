//! The names available to expressions.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value as Json, json};

use super::value::{ObjectValue, Value};

/// The names available to an expression, and their values.
///
/// The default context has a visitor without claims, and a space and a page without variables. A context should be
/// built once per visitor and page, and used for all expressions of the page.
#[derive(Clone, Debug)]
pub struct Context {
    names: BTreeMap<Arc<str>, Value>,
}

impl Default for Context {
    fn default() -> Self {
        let nothing: BTreeMap<String, Json> = BTreeMap::new();
        Self::empty().with_visitor(&json!({}), &json!({})).with_space(&nothing).with_page(&nothing)
    }
}

impl Context {
    /// Creates a context without names, for expressions unrelated to visitors, for example merge rules.
    #[must_use]
    pub const fn empty() -> Self {
        Self { names: BTreeMap::new() }
    }

    /// Adds a name with any value.
    #[must_use]
    pub fn with_value(self, name: &str, value: &Json) -> Self {
        self.insert_value(name, Value::from(value))
    }

    /// Adds a visitor. `visitor.claims` contains the signed claims, and `visitor.claims.unsigned` the unsigned claims.
    /// If a value is not an object, there are no claims.
    #[must_use]
    pub fn with_visitor(self, signed: &Json, unsigned: &Json) -> Self {
        let members = |json: &Json| match Value::from(json) {
            Value::Object(object) => object.shared().collect(),
            _ => BTreeMap::new(),
        };
        let mut claims: BTreeMap<Arc<str>, Value> = members(signed);
        claims.insert("unsigned".into(), object(members(unsigned)));
        let visitor = [("claims".into(), object(claims))].into();
        self.insert_value("visitor", object(visitor))
    }

    /// Adds the variables of a space as `space.vars`, keyed by name.
    #[must_use]
    pub fn with_space<V>(self, variables: &BTreeMap<String, V>) -> Self
    where
        for<'v> Value: From<&'v V>,
    {
        self.insert_value("space", variables_object(variables))
    }

    /// Adds the variables of a page as `page.vars`, keyed by name.
    #[must_use]
    pub fn with_page<V>(self, variables: &BTreeMap<String, V>) -> Self
    where
        for<'v> Value: From<&'v V>,
    {
        self.insert_value("page", variables_object(variables))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.names.get(name)
    }

    fn insert_value(mut self, name: &str, value: Value) -> Self {
        self.names.insert(name.into(), value);
        self
    }
}

fn variables_object<V>(variables: &BTreeMap<String, V>) -> Value
where
    for<'v> Value: From<&'v V>,
{
    let values = variables.iter().map(|(name, value)| (name.as_str().into(), Value::from(value)));
    object([("vars".into(), object(values.collect()))].into())
}

fn object(members: BTreeMap<Arc<str>, Value>) -> Value {
    ObjectValue::new(members).map_or(Value::Undefined, |object| Value::Object(object.into()))
}
