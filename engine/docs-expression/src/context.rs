//! What expressions can name.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value as Json, json};

use super::value::{Object, Value};

/// The names that an expression knows, with their values.
///
/// Without more, that is a visitor without claims, and a space and a page without variables. A context is made once for
/// a visitor and a page, and serves all expressions of it.
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
    /// A context that names nothing: for expressions that are not about visitors, such as rules of merging.
    #[must_use]
    pub const fn empty() -> Self {
        Self { names: BTreeMap::new() }
    }

    /// With a name of any value.
    #[must_use]
    pub fn with(self, name: &str, value: &Json) -> Self {
        self.named(name, Value::from(value))
    }

    /// With a visitor: `visitor.claims` are the claims that were signed, `visitor.claims.unsigned` the others. What is
    /// no object has no claims.
    #[must_use]
    pub fn with_visitor(self, signed: &Json, unsigned: &Json) -> Self {
        let members = |json: &Json| match Value::from(json) {
            Value::Object(object) => object.shared().collect(),
            _ => BTreeMap::new(),
        };
        let mut claims: BTreeMap<Arc<str>, Value> = members(signed);
        claims.insert("unsigned".into(), object(members(unsigned)));
        let visitor = [("claims".into(), object(claims))].into();
        self.named("visitor", object(visitor))
    }

    /// With the variables of a space, as `space.vars`: by their names, with values of any kind that is one here.
    #[must_use]
    pub fn with_space<V>(self, variables: &BTreeMap<String, V>) -> Self
    where
        for<'v> Value: From<&'v V>,
    {
        self.named("space", holder(variables))
    }

    /// With the variables of a page, as `page.vars`; see [`with_space`](Self::with_space).
    #[must_use]
    pub fn with_page<V>(self, variables: &BTreeMap<String, V>) -> Self
    where
        for<'v> Value: From<&'v V>,
    {
        self.named("page", holder(variables))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.names.get(name)
    }

    fn named(mut self, name: &str, value: Value) -> Self {
        self.names.insert(name.into(), value);
        self
    }
}

fn holder<V>(variables: &BTreeMap<String, V>) -> Value
where
    for<'v> Value: From<&'v V>,
{
    let values = variables.iter().map(|(name, value)| (name.as_str().into(), Value::from(value)));
    object([("vars".into(), object(values.collect()))].into())
}

fn object(members: BTreeMap<Arc<str>, Value>) -> Value {
    Object::new(members).map_or(Value::Undefined, |object| Value::Object(object.into()))
}
