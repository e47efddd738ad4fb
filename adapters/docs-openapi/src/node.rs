//! A document as a tree that preserves field order.

use std::{cell::Cell, fmt};

use bytes::Bytes;
use docs_ports::MAX_SPEC_BYTES;
use serde::{
    Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap as _, SerializeSeq as _},
};
use serde_json::Number;

/// Maximum number of values in a document, with aliases expanded.
pub(crate) const MAX_NODES: usize = 1_000_000;
/// Number of values permitted in any document, and bytes of input required for each further value. A value takes about
/// 20 bytes of memory. Handwritten documents have about 10 bytes per value.
const FREE_NODES: usize = 20_000;
const BYTES_A_NODE: usize = 5;
/// Maximum total size of the names and strings in a document, with aliases expanded, in bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 2 * MAX_SPEC_BYTES;
/// Objects with at most this many fields are searched linearly.
const MAX_LINEAR_FIELDS: usize = 16;

/// A JSON or YAML value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum JsonNode {
    Null,
    Bool(bool),
    Number(Number),
    Text(Box<str>),
    List(Vec<JsonNode>),
    /// An empty object, without an allocation. A document may contain thousands of them.
    NoFields,
    Map(Box<Fields>),
}

/// The fields of an object, in document order.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Fields {
    fields: Box<[(Box<str>, JsonNode)]>,
    /// Field indices sorted by name. Empty for small objects.
    by_name: Box<[u32]>,
}

impl Fields {
    /// # Errors
    /// A duplicate field name.
    fn new(fields: Vec<(Box<str>, JsonNode)>) -> Result<Self, Box<str>> {
        let fields = fields.into_boxed_slice();
        if fields.len() <= MAX_LINEAR_FIELDS {
            let is_again = |(at, (name, _)): &(usize, &(Box<str>, JsonNode))| {
                fields.iter().take(*at).any(|(other, _)| other == name)
            };
            return match fields.iter().enumerate().find(is_again) {
                Some((_, (name, _))) => Err(name.clone()),
                None => Ok(Self { fields, by_name: Box::default() }),
            };
        }
        let name = |at: &u32| fields.get(*at as usize).map(|(name, _)| &**name);
        let mut by_name: Box<[u32]> = (0_u32..).take(fields.len()).collect();
        by_name.sort_unstable_by(|one, other| name(one).cmp(&name(other)));
        match by_name.array_windows().find(|[one, other]| name(one) == name(other)) {
            Some([one, _]) => Err(name(one).unwrap_or_default().into()),
            None => Ok(Self { fields, by_name }),
        }
    }

    fn get(&self, name: &str) -> Option<&JsonNode> {
        if self.by_name.is_empty() {
            return self.fields.iter().find(|(key, _)| **key == *name).map(|(_, value)| value);
        }
        let of = |at: &u32| self.fields.get(*at as usize);
        let found =
            self.by_name.binary_search_by(|at| of(at).map(|(key, _)| &**key).cmp(&Some(name))).ok()?;
        of(self.by_name.get(found)?).map(|(_, value)| value)
    }
}

impl JsonNode {
    /// Returns a field of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Map(fields) => fields.get(name),
            _ => None,
        }
    }

    /// Returns the fields of an object. Empty for other values.
    pub(crate) fn fields(&self) -> &[(Box<str>, Self)] {
        match self {
            Self::Map(fields) => &fields.fields,
            _ => &[],
        }
    }

    /// Returns the items of a list. Empty for other values.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) const fn is_map(&self) -> bool {
        matches!(self, Self::Map(_) | Self::NoFields)
    }

    /// Returns `true` for a map in which every value is a map.
    pub(crate) fn is_map_of_maps(&self) -> bool {
        self.is_map() && self.fields().iter().all(|(_, value)| value.is_map())
    }

    /// Returns a string, or the source of a number, because `version: 1.0` in YAML is meant as a string.
    pub(crate) fn text_or_number(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.to_string()),
            Self::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Names the kind of value, for messages.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::NoFields | Self::Map(_) => "an object",
        }
    }

    /// Resolves a JSON pointer without its `#`.
    pub(crate) fn resolve(&self, pointer: &str) -> Option<&Self> {
        let mut node = self;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            node = match node {
                Self::Map(_) => node.get(&part)?,
                Self::List(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }

    pub(crate) fn to_json(&self) -> serde_json::Result<Bytes> {
        serde_json::to_vec(self).map(Bytes::from)
    }
}

impl Serialize for JsonNode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::NoFields | Self::Map(_) => {
                let fields = self.fields();
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                for (name, value) in fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

/// The remaining size budget of a document.
pub(crate) struct NodeBudget {
    nodes: Cell<usize>,
    bytes: Cell<usize>,
    /// Maximum number of values.
    most: usize,
}

impl NodeBudget {
    /// Returns the budget of a document of `bytes` bytes.
    pub(crate) fn for_document(bytes: usize) -> Self {
        let most = MAX_NODES.min(FREE_NODES + bytes / BYTES_A_NODE);
        Self { nodes: Cell::new(most), bytes: Cell::new(MAX_TEXT_BYTES), most }
    }
}

/// Appends to a list, growing its capacity by half instead of doubling it.
fn add<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 2 + 1);
    }
    list.push(item);
}

/// Deserializes a node within the budget of its document.
#[derive(Clone, Copy)]
pub(crate) struct ReadNode<'a>(pub(crate) &'a NodeBudget);

impl ReadNode<'_> {
    fn take<E: serde::de::Error>(left: &Cell<usize>, size: usize, most: usize, what: &str) -> Result<(), E> {
        match left.get().checked_sub(size) {
            Some(rest) => {
                left.set(rest);
                Ok(())
            }
            None => Err(E::custom(format_args!("must have at most {most} {what}"))),
        }
    }

    /// Deducts a string from the budget before it is stored.
    fn text<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        Self::take(&self.0.bytes, text.len(), MAX_TEXT_BYTES, "bytes of text")
    }
}

impl<'de> DeserializeSeed<'de> for ReadNode<'_> {
    type Value = JsonNode;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonNode, D::Error> {
        Self::take::<D::Error>(&self.0.nodes, 1, self.0.most, "values")?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ReadNode<'_> {
    type Value = JsonNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<JsonNode, E> {
        Ok(JsonNode::Null)
    }

    fn visit_none<E>(self) -> Result<JsonNode, E> {
        Ok(JsonNode::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<JsonNode, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsonNode, E> {
        Ok(JsonNode::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<JsonNode, E> {
        Ok(JsonNode::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<JsonNode, E> {
        Ok(JsonNode::Number(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<JsonNode, E> {
        Ok(Number::from_i128(value)
            .map_or_else(|| JsonNode::Text(value.to_string().into()), JsonNode::Number))
    }

    fn visit_u128<E>(self, value: u128) -> Result<JsonNode, E> {
        Ok(Number::from_u128(value)
            .map_or_else(|| JsonNode::Text(value.to_string().into()), JsonNode::Number))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsonNode, E> {
        // Infinity is valid in YAML but not in JSON, so it is stored as a string.
        Ok(Number::from_f64(value).map_or_else(|| JsonNode::Text(value.to_string().into()), JsonNode::Number))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<JsonNode, E> {
        self.text(value)?;
        Ok(JsonNode::Text(value.into()))
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<JsonNode, E> {
        self.text(&value)?;
        Ok(JsonNode::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonNode, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            add(&mut items, item);
        }
        items.shrink_to_fit();
        Ok(JsonNode::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonNode, A::Error> {
        let mut fields: Vec<(Box<str>, JsonNode)> = Vec::new();
        while let Some(name) = map.next_key::<Box<str>>()? {
            self.text::<A::Error>(&name)?;
            add(&mut fields, (name, map.next_value_seed(self)?));
        }
        if fields.is_empty() {
            return Ok(JsonNode::NoFields);
        }
        match Fields::new(fields) {
            Ok(fields) => Ok(JsonNode::Map(Box::new(fields))),
            Err(name) => Err(A::Error::custom(format_args!("the field `{name}` is a duplicate"))),
        }
    }
}
