//! Line numbers of JSON pointers.

use std::fmt;

use docs_ports::SpecFormat;
use serde::de::{
    DeserializeSeed, Deserializer, Error, Expected, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};

use crate::text::read_with;

/// Returns the line of a JSON pointer, or of its deepest existing ancestor.
///
/// Parses the document again and aborts at that position, because parsers report line numbers only in errors.
pub(crate) fn line_of(text: &str, format: SpecFormat, pointer: &str) -> Option<u64> {
    let parts: Vec<String> =
        pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    if parts.is_empty() {
        return None;
    }
    match read_with(text, format, PointerSeed(&parts)) {
        Err(stopped) => stopped.line,
        Ok(()) => None,
    }
}

/// A deserializer seed that stops at a JSON pointer.
#[derive(Clone, Copy)]
struct PointerSeed<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for PointerSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PointerSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the path to a node")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((name, rest)) = self.0.split_first() else { return Err(here(&self)) };
        while let Some(found) = map.next_key::<Box<str>>()? {
            if *found != **name {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            // The line of the field name, because the value may begin on a later line.
            if rest.is_empty() {
                return Err(here(&self));
            }
            return map.next_value_seed(PointerSeed(rest)).and_then(|()| Err(here(&self)));
        }
        Err(here(&self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Some((at, rest)) = self.0.split_first() else { return Err(here(&self)) };
        let at: usize = at.parse().map_err(|_| here::<A::Error>(&self))?;
        for _ in 0..at {
            if seq.next_element::<IgnoredAny>()?.is_none() {
                return Err(here(&self));
            }
        }
        seq.next_element_seed(PointerSeed(rest))?;
        Err(here(&self))
    }
}

/// Returns the error that stops the parser. For this kind of error, every parser reports its line.
fn here<E: Error>(expected: &dyn Expected) -> E {
    E::invalid_type(Unexpected::Other("the place"), expected)
}
