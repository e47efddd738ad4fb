//! One node: its content and its bytes.

use bytes::{Buf as _, Bytes};

use super::{Child, Entry, Fault, Item, Pass};
use crate::store::{Hash, Key};

const FORMAT: u8 = 1;
/// No map that fits into memory is higher; a damaged one is refused.
const MAX_LEVEL: u8 = 64;

/// A decoded node of a map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    level: u8,
    /// All keys, one after the other.
    keys: String,
    /// Where each key ends in `keys`.
    ends: Vec<usize>,
    items: Items,
    count: u64,
    weight: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Items {
    Leaf(Vec<Bytes>),
    Inner(Vec<Child>),
}

impl Node {
    /// Reads a node.
    ///
    /// # Errors
    /// [`Fault::Corrupt`] when the bytes are no node, or one that no map contains.
    pub fn decode(bytes: &Bytes) -> Pass<Self> {
        let mut reader = Reader(bytes.clone());
        if reader.byte()? != FORMAT {
            return Err(Fault::Corrupt("unknown format"));
        }
        let level = reader.byte()?;
        if level > MAX_LEVEL {
            return Err(Fault::Corrupt("too many levels"));
        }
        let entries = reader.length()?;
        // An entry takes at least three bytes, so a wrong number cannot make this reserve much.
        let room = entries.min(reader.0.len() / 3);
        let mut node = Self {
            level,
            keys: String::new(),
            ends: Vec::with_capacity(room),
            items: if level == 0 {
                Items::Leaf(Vec::with_capacity(room))
            } else {
                Items::Inner(Vec::with_capacity(room))
            },
            count: 0,
            weight: bytes.len() + std::mem::size_of::<Self>(),
        };
        for _ in 0..entries {
            node.read_entry(&mut reader)?;
        }
        if !reader.0.is_empty() {
            return Err(Fault::Corrupt("bytes behind the last entry"));
        }
        if level > 0 && entries == 0 {
            return Err(Fault::Corrupt("an inner node without children"));
        }
        node.weight += node.keys.len() + node.ends.len() * 48;
        Ok(node)
    }

    fn read_entry(&mut self, reader: &mut Reader) -> Pass<()> {
        let shared = reader.length()?;
        let rest = reader.take_length()?;
        let (start, end) = self.span(self.ends.len().wrapping_sub(1)).unwrap_or((0, 0));
        let first = self.ends.is_empty();
        if shared > end - start || !self.keys.is_char_boundary(start + shared) {
            return Err(Fault::Corrupt("a key shares more than there is"));
        }
        let from = self.keys.len();
        let rest = std::str::from_utf8(&rest).map_err(|_| Fault::Corrupt("a key is not text"))?;
        self.keys.extend_from_within(start..start + shared);
        self.keys.push_str(rest);
        if !first && self.keys[start..end] >= self.keys[from..] {
            return Err(Fault::Corrupt("keys out of order"));
        }
        self.ends.push(self.keys.len());
        let held = match &mut self.items {
            Items::Leaf(values) => {
                values.push(reader.take_length()?);
                1
            }
            Items::Inner(children) => {
                let child = Child { hash: reader.hash()?, count: reader.varint()? };
                children.push(child);
                child.count
            }
        };
        if held == 0 {
            return Err(Fault::Corrupt("an empty child"));
        }
        self.count =
            self.count.checked_add(held).ok_or(Fault::Corrupt("more entries than can be counted"))?;
        Ok(())
    }

    /// Makes a node of entries in key order, and its bytes.
    pub(crate) fn of(level: u8, entries: &[Entry]) -> (Self, Bytes) {
        let mut node = Self {
            level,
            keys: String::new(),
            ends: Vec::with_capacity(entries.len()),
            items: if level == 0 { Items::Leaf(Vec::new()) } else { Items::Inner(Vec::new()) },
            count: 0,
            weight: 0,
        };
        let mut out = vec![FORMAT, level];
        put_varint(&mut out, entries.len() as u64);
        let mut previous: &str = "";
        for (key, item) in entries {
            let shared = common_prefix(previous, key);
            put_varint(&mut out, shared as u64);
            put_varint(&mut out, (key.len() - shared) as u64);
            out.extend_from_slice(&key.as_bytes()[shared..]);
            previous = key;
            node.keys.push_str(key);
            node.ends.push(node.keys.len());
            match (item, &mut node.items) {
                (Item::Value(value), Items::Leaf(values)) => {
                    put_varint(&mut out, value.len() as u64);
                    out.extend_from_slice(value);
                    values.push(value.clone());
                    node.count += 1;
                }
                (Item::Child(child), Items::Inner(children)) => {
                    out.extend_from_slice(child.hash.as_bytes());
                    put_varint(&mut out, child.count);
                    children.push(*child);
                    node.count += child.count;
                }
                (Item::Value(_), Items::Inner(_)) | (Item::Child(_), Items::Leaf(_)) => {
                    debug_assert!(false, "values are in leaves and children above them");
                }
            }
        }
        node.weight = out.len() + std::mem::size_of::<Self>() + node.keys.len() + node.ends.len() * 48;
        (node, out.into())
    }

    /// The level: 0 for a leaf.
    #[must_use]
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// How many entries of the map are below this node.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Roughly the bytes the node takes in memory.
    #[must_use]
    pub const fn weight(&self) -> usize {
        self.weight
    }

    /// The names of the nodes directly below, for a walk over everything a root refers to.
    pub fn children(&self) -> impl Iterator<Item = Hash> + '_ {
        self.refs().iter().map(|c| c.hash)
    }

    /// The keys and values of a leaf; nothing for an inner node.
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

    /// The position of the first key that is not below this one.
    pub(crate) fn lower_bound(&self, key: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < key { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The position of a key of a leaf.
    pub(crate) fn find(&self, key: &str) -> Option<usize> {
        let at = self.lower_bound(key);
        (at < self.len() && self.key(at) == key).then_some(at)
    }

    /// The position of the child that holds a key, or would.
    pub(crate) fn child_for(&self, key: &str) -> usize {
        let at = self.lower_bound(key);
        if at < self.len() && self.key(at) == key { at } else { at.saturating_sub(1) }
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.len()).map(|i| {
            let item = match &self.items {
                Items::Leaf(values) => Item::Value(values[i].clone()),
                Items::Inner(children) => Item::Child(children[i]),
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

struct Reader(Bytes);

impl Reader {
    fn byte(&mut self) -> Pass<u8> {
        if self.0.is_empty() {
            return Err(Fault::Corrupt("ends too early"));
        }
        Ok(self.0.get_u8())
    }

    fn varint(&mut self) -> Pass<u64> {
        let mut number: u64 = 0;
        for group in 0..10 {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            number |= bits.checked_shl(group * 7).unwrap_or(0);
            if byte & 0x80 == 0 {
                let fits = group < 9 || bits <= 1;
                return if fits { Ok(number) } else { Err(Fault::Corrupt("a number is too large")) };
            }
        }
        Err(Fault::Corrupt("a number is too long"))
    }

    fn length(&mut self) -> Pass<usize> {
        usize::try_from(self.varint()?).map_err(|_| Fault::Corrupt("a length is too large"))
    }

    fn take(&mut self, length: usize) -> Pass<Bytes> {
        if length > self.0.len() {
            return Err(Fault::Corrupt("ends too early"));
        }
        Ok(self.0.split_to(length))
    }

    fn take_length(&mut self) -> Pass<Bytes> {
        let length = self.length()?;
        self.take(length)
    }

    fn hash(&mut self) -> Pass<Hash> {
        let bytes = self.take(32)?;
        let array: [u8; 32] = bytes.as_ref().try_into().map_err(|_| Fault::Corrupt("ends too early"))?;
        Ok(Hash::from_bytes(array))
    }
}

fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number as u8 & 0x7f) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The length of the longest common start of two keys that does not split a character.
fn common_prefix(a: &str, b: &str) -> usize {
    let mut shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    while !b.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}
