//! Expression values.

use std::{collections::BTreeMap, fmt, mem::Discriminant, sync::Arc};

use smallvec::SmallVec;

use super::{
    ast::{Literal, NodeId, Program},
    limits::{BYTES_A_STEP, NAMES_A_STEP},
    number,
};

/// Maximum nesting depth of values. Dropping and formatting a value recurses to this depth.
pub(super) const MAX_NESTING: u16 = 100;

/// The value of an expression. It is cheap to clone.
#[non_exhaustive]
#[derive(Clone)]
pub enum Value {
    /// An unset value.
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    /// A big integer, written with the suffix `n`.
    BigInt(i128),
    Text(Arc<str>),
    Array(Arc<Array>),
    Object(Arc<ObjectValue>),
    Function(Arc<Function>),
    Regex(Arc<super::regex::Regex>),
}

/// A list of values.
pub struct Array {
    items: Vec<Value>,
    nesting: u16,
}

/// Values by name.
pub struct ObjectValue {
    members: BTreeMap<Arc<str>, Value>,
    nesting: u16,
    /// The length of the longest name in bytes.
    longest: usize,
}

/// A function defined in an expression, or a method of a value.
pub struct Function(pub(super) FunctionKind);

pub(super) enum FunctionKind {
    /// A method that was accessed on its value but not called.
    Method(Method),
    /// A function defined in an expression, with its enclosing scope.
    Written { program: Arc<Program>, node: NodeId, scope: Option<Arc<Scope>> },
}

/// Parameter values by name.
pub(super) type Bindings = SmallVec<[(Arc<str>, Value); 2]>;

/// The names in the scope of a function.
pub(super) struct Scope {
    names: Bindings,
    above: Option<Arc<Scope>>,
    nesting: u16,
}

impl Scope {
    /// Creates a scope, or returns `None` if the values would be nested too deeply.
    pub(super) fn new(names: Bindings, above: Option<Arc<Self>>) -> Option<Self> {
        let inner = names.iter().map(|(_, value)| value.nesting()).max().unwrap_or(0);
        let nesting = 1 + inner.max(above.as_ref().map_or(0, |above| above.nesting));
        (nesting <= MAX_NESTING).then_some(Self { names, above, nesting })
    }

    /// Returns the value of a name, and the cost of the lookup in steps.
    pub(super) fn get(&self, name: &str) -> (Option<&Value>, usize) {
        let (mut compared, mut bytes) = (0, 0);
        let mut scope = Some(self);
        let mut found = None;
        while let Some(at) = scope {
            compared += 1;
            // Of two parameters with the same name, the last one takes precedence.
            found = at.names.iter().rev().find_map(|(known, value)| {
                compared += 1;
                bytes += if known.len() == name.len() { name.len() } else { 0 };
                (**known == *name).then_some(value)
            });
            scope = if found.is_some() { None } else { at.above.as_deref() };
        }
        (found, compared / NAMES_A_STEP + bytes / BYTES_A_STEP)
    }
}

impl Array {
    /// Creates an array, or returns `None` if the values would be nested too deeply.
    pub(super) fn new(items: Vec<Value>) -> Option<Self> {
        let nesting = 1 + items.iter().map(Value::nesting).max().unwrap_or(0);
        (nesting <= MAX_NESTING).then_some(Self { items, nesting })
    }

    #[must_use]
    pub fn items(&self) -> &[Value] {
        &self.items
    }
}

impl ObjectValue {
    /// Creates an object, or returns `None` if the values would be nested too deeply.
    pub(super) fn new(members: BTreeMap<Arc<str>, Value>) -> Option<Self> {
        let nesting = 1 + members.values().map(Value::nesting).max().unwrap_or(0);
        let longest = members.keys().map(|name| name.len()).max().unwrap_or(0);
        (nesting <= MAX_NESTING).then_some(Self { members, nesting, longest })
    }

    /// Returns the member with the given name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.members.get(name)
    }

    /// Iterates over the members, ordered by name.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.members.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns the maximum number of bytes that a lookup of a name compares.
    pub(super) fn compared(&self, name: &str) -> usize {
        name.len().min(self.longest) * comparisons(self.members.len())
    }

    /// Iterates over the members, sharing their names.
    pub(super) fn shared(&self) -> impl Iterator<Item = (Arc<str>, Value)> {
        self.members.iter().map(|(name, value)| (name.clone(), value.clone()))
    }
}

/// Returns the number of comparisons for a lookup in a map with `names` entries, which is logarithmic.
pub(super) const fn comparisons(names: usize) -> usize {
    (usize::BITS - names.leading_zeros()) as usize
}

impl Value {
    pub(super) fn from_literal(literal: &Literal) -> Self {
        match literal {
            Literal::Undefined => Self::Undefined,
            Literal::Null => Self::Null,
            Literal::Boolean(value) => Self::Boolean(*value),
            Literal::Number(number) => Self::Number(*number),
            Literal::BigInt(number) => Self::BigInt(*number),
            Literal::Text(text) => Self::Text(Arc::clone(text)),
            Literal::Regex(regex) => Self::Regex(Arc::clone(regex)),
        }
    }

    /// Returns `true` if the value is truthy. The falsy values are `undefined`, `null`, `false`, 0, `NaN` and the empty
    /// string.
    #[must_use]
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Undefined | Self::Null => false,
            Self::Boolean(value) => *value,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::BigInt(number) => *number != 0,
            Self::Text(text) => !text.is_empty(),
            Self::Array(_) | Self::Object(_) | Self::Function(_) | Self::Regex(_) => true,
        }
    }

    /// Formats the value as inline text, which is empty unless the value is a string, a number or a boolean.
    #[must_use]
    pub fn inline(&self) -> String {
        match self {
            Self::Boolean(value) => value.to_string(),
            Self::Number(value) => number::write(*value),
            Self::BigInt(number) => number.to_string(),
            Self::Text(text) => text.to_string(),
            _ => String::new(),
        }
    }

    /// Returns the result of `typeof`.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Boolean(_) => "boolean",
            Self::Number(_) => "number",
            Self::BigInt(_) => "bigint",
            Self::Text(_) => "string",
            Self::Function(_) => "function",
            Self::Null | Self::Array(_) | Self::Object(_) | Self::Regex(_) => "object",
        }
    }

    /// Converts a UTF-16 code unit to a string. An unpaired surrogate becomes U+FFFD.
    pub(super) fn from_unit(unit: u16) -> Self {
        String::from_utf16_lossy(&[unit]).into()
    }

    pub(super) const fn is_nullish(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    pub(super) const fn is_object(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Object(_) | Self::Function(_) | Self::Regex(_))
    }

    /// Compares two values like `===`. Objects are equal only if they are identical. The caller must charge for the
    /// comparison.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Null, Self::Null) => true,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::BigInt(a), Self::BigInt(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => Arc::ptr_eq(a, b),
            (Self::Object(a), Self::Object(b)) => Arc::ptr_eq(a, b),
            (Self::Regex(a), Self::Regex(b)) => Arc::ptr_eq(a, b),
            (Self::Function(a), Self::Function(b)) => match (&a.0, &b.0) {
                (FunctionKind::Method(a), FunctionKind::Method(b)) => a == b,
                _ => Arc::ptr_eq(a, b),
            },
            _ => false,
        }
    }

    fn nesting(&self) -> u16 {
        match self {
            Self::Array(array) => array.nesting,
            Self::Object(object) => object.nesting,
            Self::Function(function) => match &function.0 {
                FunctionKind::Method(_) => 0,
                FunctionKind::Written { scope, .. } => scope.as_ref().map_or(0, |scope| scope.nesting),
            },
            _ => 0,
        }
    }

    /// Converts JSON to a value. Values beyond the nesting limit become `undefined`.
    fn from_json(json: &serde_json::Value, room: u16) -> Self {
        let Some(below) = room.checked_sub(1) else { return Self::Undefined };
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Boolean(*value),
            serde_json::Value::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            serde_json::Value::String(text) => Self::Text(text.as_str().into()),
            serde_json::Value::Array(items) => {
                let items = items.iter().map(|item| Self::from_json(item, below)).collect();
                Array::new(items).map_or(Self::Undefined, |array| Self::Array(array.into()))
            }
            serde_json::Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, value)| (name.as_str().into(), Self::from_json(value, below)))
                    .collect();
                ObjectValue::new(members).map_or(Self::Undefined, |object| Self::Object(object.into()))
            }
        }
    }
}

impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Self {
        // Contexts nest values a few levels below their names.
        Self::from_json(json, MAX_NESTING - 10)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

/// Formats the value as an expression literal, if possible.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("undefined"),
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Number(number) if *number == 0.0 && number.is_sign_negative() => f.write_str("-0"),
            Self::Number(number) => f.write_str(&number::write(*number)),
            Self::BigInt(number) => write!(f, "{number}n"),
            Self::Text(text) => f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?),
            Self::Array(array) => f.debug_list().entries(&array.items).finish(),
            Self::Object(object) => f.debug_map().entries(&object.members).finish(),
            Self::Function(function) => fmt::Debug::fmt(function, f),
            Self::Regex(regex) => fmt::Debug::fmt(regex, f),
        }
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

impl fmt::Debug for ObjectValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.members).finish()
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("function")
    }
}

/// A method, identified by its name and the type of its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) of: Discriminant<Value>,
    pub(super) name: &'static str,
}
