//! Map nodes and their serialization.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
};

use bytes::Bytes;
use docs_store::{Hash, Key};
use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Child, Fault, MapEntry, MapItem, MapResult, MapSize};

/// The serialized form of an absent value.
const EMPTY_VALUE: &str = "null";
/// Maximum level of a node. Only a damaged map could exceed it.
const MAX_LEVEL: u8 = 64;

/// A decoded node of a map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapNode {
    level: u8,
    /// All keys, concatenated.
    keys: String,
    /// The end of each key in `keys`.
    ends: Vec<usize>,
    items: Items,
    size: MapSize,
    weight: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Items {
    Leaf(Vec<Bytes>),
    Inner(Vec<Child>),
}

impl MapNode {
    /// Parses a node.
    ///
    /// # Errors
    /// [`Fault::Corrupt`] if the bytes are not a node that a map can contain.
    pub fn decode(bytes: &Bytes) -> MapResult<Self> {
        let form: Form<'_> =
            serde_json::from_slice(bytes).map_err(|_| Fault::Corrupt("invalid JSON of a node"))?;
        let node = match (form.level, form.entries, form.children) {
            (0, Some(entries), None) => Self::leaf(bytes, &entries)?,
            (1..=MAX_LEVEL, None, Some(children)) => Self::inner(form.level, &children)?,
            _ => return Err(Fault::Corrupt("the level does not match the content")),
        };
        Ok(node.with_weight(bytes.len()))
    }

    fn leaf(bytes: &Bytes, entries: &[(KeyText<'_>, &RawValue)]) -> MapResult<Self> {
        let mut node = Self::empty(0, entries.len());
        let mut values = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            node.push_key(&key.0)?;
            let json = value.get();
            values.push(if json == EMPTY_VALUE { Bytes::new() } else { bytes.slice_ref(json.as_bytes()) });
        }
        let bytes = values.iter().map(|value| value.len() as u64).sum();
        node.size = MapSize { count: values.len() as u64, bytes };
        node.items = Items::Leaf(values);
        Ok(node)
    }

    fn inner(level: u8, children: &[ChildForm<'_>]) -> MapResult<Self> {
        if children.is_empty() {
            return Err(Fault::Corrupt("an inner node without children"));
        }
        let mut node = Self::empty(level, children.len());
        let mut refs = Vec::with_capacity(children.len());
        for ChildForm { key, child } in children {
            node.push_key(key)?;
            if child.size.count == 0 {
                return Err(Fault::Corrupt("an empty child"));
            }
            let sum = node.size.checked_add(child.size);
            node.size = sum.ok_or(Fault::Corrupt("the number of entries overflows"))?;
            refs.push(*child);
        }
        node.items = Items::Inner(refs);
        Ok(node)
    }

    fn empty(level: u8, room: usize) -> Self {
        let (keys, ends) = (String::new(), Vec::with_capacity(room));
        Self { level, keys, ends, items: Items::Leaf(Vec::new()), size: MapSize::default(), weight: 0 }
    }

    fn push_key(&mut self, key: &str) -> MapResult<()> {
        if self.ends.len().checked_sub(1).is_some_and(|last| self.key(last) >= key) {
            return Err(Fault::Corrupt("the keys are not sorted"));
        }
        self.keys.push_str(key);
        self.ends.push(self.keys.len());
        Ok(())
    }

    fn with_weight(mut self, bytes: usize) -> Self {
        self.weight = bytes + std::mem::size_of::<Self>() + self.keys.len() + self.ends.len() * 48;
        self
    }

    /// Creates a node from sorted entries, and serializes it.
    pub(crate) fn from_entries(level: u8, entries: &[MapEntry]) -> (Self, Bytes) {
        let mut node = Self::empty(level, entries.len());
        let (mut values, mut children) = (Vec::new(), Vec::new());
        let mut out = String::with_capacity(96 * entries.len() + 32);
        // Writing to a `String` cannot fail.
        let _ = match level {
            0 => out.write_str("{\"entries\":["),
            _ => write!(out, "{{\"level\":{level},\"children\":["),
        };
        for (at, (key, item)) in entries.iter().enumerate() {
            out.push_str(if at == 0 { "[" } else { ",[" });
            push_text(&mut out, key);
            node.keys.push_str(key);
            node.ends.push(node.keys.len());
            match item {
                MapItem::Value(value) => {
                    debug_assert!(level == 0, "only leaves have values");
                    out.push(',');
                    out.push_str(json_of(value));
                    node.size += MapSize { count: 1, bytes: value.len() as u64 };
                    values.push(value.clone());
                }
                MapItem::Child(child) => {
                    debug_assert!(level > 0, "only inner nodes have children");
                    let MapSize { count, bytes } = child.size;
                    let _ = write!(out, ",\"{}\",{count},{bytes}", child.hash);
                    children.push(*child);
                    node.size += child.size;
                }
            }
            out.push(']');
        }
        out.push_str("]}");
        // Nodes are cached, so release the excess capacity of their buffers.
        out.shrink_to_fit();
        node.keys.shrink_to_fit();
        node.items = if level == 0 { Items::Leaf(values) } else { Items::Inner(children) };
        (node.with_weight(out.len()), out.into())
    }

    /// Returns the level; leaves have level 0.
    #[must_use]
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// Returns the number of map entries below this node.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.size.count
    }

    /// Returns the number of map entries below this node, and the size of their values.
    pub(crate) const fn size(&self) -> MapSize {
        self.size
    }

    /// Returns the approximate memory usage in bytes.
    #[must_use]
    pub const fn weight(&self) -> usize {
        self.weight
    }

    /// Returns the hashes of the child nodes, for traversing all objects that a root references.
    pub fn children(&self) -> impl Iterator<Item = Hash> + '_ {
        self.refs().iter().map(|c| c.hash)
    }

    /// Returns the keys and values of a leaf, or nothing for an inner node.
    pub fn values(&self) -> impl Iterator<Item = (&str, &Bytes)> + '_ {
        let values: &[Bytes] = match &self.items {
            Items::Leaf(values) => values,
            Items::Inner(_) => &[],
        };
        values.iter().enumerate().map(|(i, value)| (self.key(i), value))
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn key(&self, index: usize) -> &str {
        self.span(index).map_or("", |(start, end)| &self.keys[start..end])
    }

    pub(crate) fn refs(&self) -> &[Child] {
        match &self.items {
            Items::Leaf(_) => &[],
            Items::Inner(children) => children,
        }
    }

    pub(crate) fn value(&self, index: usize) -> Option<&Bytes> {
        match &self.items {
            Items::Leaf(values) => values.get(index),
            Items::Inner(_) => None,
        }
    }

    /// Returns the position of the first key greater than or equal to `key`.
    pub(crate) fn lower_bound(&self, key: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < key { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns the position of a key in a leaf.
    pub(crate) fn find(&self, key: &str) -> Option<usize> {
        let at = self.lower_bound(key);
        (at < self.len() && self.key(at) == key).then_some(at)
    }

    /// Returns the position of the child whose key range includes the given key.
    pub(crate) fn child_for(&self, key: &str) -> usize {
        let at = self.lower_bound(key);
        if at < self.len() && self.key(at) == key { at } else { at.saturating_sub(1) }
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = MapEntry> + '_ {
        (0..self.len()).map(|i| {
            let item = match &self.items {
                Items::Leaf(values) => MapItem::Value(values[i].clone()),
                Items::Inner(children) => MapItem::Child(children[i]),
            };
            (Key::from(self.key(i)), item)
        })
    }

    fn span(&self, index: usize) -> Option<(usize, usize)> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some((start, end))
    }
}

/// The JSON form of a node.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form<'a> {
    #[serde(default)]
    level: u8,
    #[serde(borrow, default)]
    entries: Option<Vec<(KeyText<'a>, &'a RawValue)>>,
    #[serde(borrow, default)]
    children: Option<Vec<ChildForm<'a>>>,
}

/// The JSON form of an entry of an inner node: the key, the hash, the number of entries, and the size of their values.
struct ChildForm<'a> {
    key: Cow<'a, str>,
    child: Child,
}

impl<'de: 'a, 'a> Deserialize<'de> for ChildForm<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ChildVisitor)
    }
}

struct ChildVisitor;

impl<'de> Visitor<'de> for ChildVisitor {
    type Value = ChildForm<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key, a hash and two numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let missing = |at| de::Error::invalid_length(at, &self);
        let KeyText(key) = items.next_element()?.ok_or_else(|| missing(0))?;
        let hash = items.next_element()?.ok_or_else(|| missing(1))?;
        let count = items.next_element()?.ok_or_else(|| missing(2))?;
        let bytes = items.next_element()?.unwrap_or_default();
        Ok(ChildForm { key, child: Child { hash, size: MapSize { count, bytes } } })
    }
}

/// A key, borrowed unless it contains JSON escapes.
#[derive(Deserialize)]
struct KeyText<'a>(#[serde(borrow)] Cow<'a, str>);

/// Returns the JSON of a value, which is `null` if the value is empty.
fn json_of(value: &Bytes) -> &str {
    let json = std::str::from_utf8(value).unwrap_or_default();
    debug_assert!(
        value.is_empty()
            || serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok_and(|_| json != EMPTY_VALUE),
        "a value is JSON other than null"
    );
    if json.is_empty() { EMPTY_VALUE } else { json }
}

fn push_text(out: &mut String, text: &str) {
    let plain = text.bytes().all(|b| b >= b' ' && b != b'"' && b != b'\\');
    if plain {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&serde_json::Value::from(text).to_string());
    }
}
