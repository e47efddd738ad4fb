//! The line of a place in a document.

use std::fmt;

use docs_ports::SpecFormat;
use serde::de::{
    DeserializeSeed, Deserializer, Error, Expected, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};

use crate::text::read_with;

/// The line that a JSON pointer leads to; of the deepest place on its way that there is.
///
/// The document is read once more, up to there: a reader says at which line it is when it is stopped.
pub(crate) fn line_of(text: &str, format: SpecFormat, pointer: &str) -> Option<u64> {
    let parts: Vec<String> =
        pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
    if parts.is_empty() {
        return None;
    }
    match read_with(text, format, Stop(&parts)) {
        Err(stopped) => stopped.line,
        Ok(()) => None,
    }
}

/// Reads up to a place, and stops there.
#[derive(Clone, Copy)]
struct Stop<'a>(&'a [String]);

impl<'de> DeserializeSeed<'de> for Stop<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Stop<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the way to a place")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((name, rest)) = self.0.split_first() else { return Err(here(&self)) };
        while let Some(found) = map.next_key::<Box<str>>()? {
            if *found != **name {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            // The line of the name, where the value is on a later one.
            if rest.is_empty() {
                return Err(here(&self));
            }
            return map.next_value_seed(Stop(rest)).and_then(|()| Err(here(&self)));
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
        seq.next_element_seed(Stop(rest))?;
        Err(here(&self))
    }
}

/// Stops a reader, which then says where it is: of all errors this is the one for which every reader does.
fn here<E: Error>(expected: &dyn Expected) -> E {
    E::invalid_type(Unexpected::Other("the place"), expected)
}
