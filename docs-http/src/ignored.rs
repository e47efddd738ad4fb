//! What a request says that nobody reads: parameters and fields that its operation does not know.
//!
//! They are ignored, because newer clients send them. But a misspelt `role` would be ignored as well, so the answer
//! names them: [`PARAMETERS`] those of the query, [`FIELDS`] those of the body, each with its path. What is known is
//! what the document declares. Names only are answered, never values, and of them a bounded number.

mod fields;

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock, OnceLock},
};

use parking_lot::RwLock;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use poem::{
    Request,
    http::{HeaderMap, HeaderName, HeaderValue},
};
use schemars::JsonSchema;

use self::fields::{Found, KnownFields};

/// The header of an answer that names parameters of the query that were ignored.
pub(crate) const PARAMETERS: HeaderName = HeaderName::from_static("ignored-parameters");

/// The header of an answer that names fields of the body that were ignored.
pub(crate) const FIELDS: HeaderName = HeaderName::from_static("ignored-fields");

/// Most names that an answer tells.
const MOST_NAMES: usize = 16;

/// Most characters of a name that an answer tells.
const MOST_OF_NAME: usize = 128;

/// What stands for the rest of a name, or for further names.
const MORE: &str = "...";

/// What is escaped in names: all that could be taken for a part of the path, or for another header.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// Names, in the order in which they were found, each once.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    /// There were more than are told.
    has_more: bool,
}

impl Names {
    fn add(&mut self, mut name: String) {
        if name.len() > MOST_OF_NAME {
            // It is ASCII.
            name.truncate(MOST_OF_NAME - MORE.len());
            name.push_str(MORE);
        }
        if self.names.contains(&name) {
            return;
        }
        if self.names.len() < MOST_NAMES {
            self.names.push(name);
        } else {
            self.has_more = true;
        }
    }

    fn header(mut self) -> Option<HeaderValue> {
        self.names.extend(self.has_more.then(|| MORE.to_owned()));
        let text = self.names.join(", ");
        HeaderValue::try_from(text).ok().filter(|text| !text.is_empty())
    }
}

/// A name as answers tell it.
fn escaped(name: &[u8]) -> String {
    percent_encode(name, ESCAPED).to_string()
}

/// Names the parameters of a query that an operation does not know.
pub(crate) fn parameters(query: Option<&str>, known: &[String]) -> Option<HeaderValue> {
    let mut names = Names::default();
    for pair in query?.split('&').filter(|pair| !pair.is_empty()) {
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        if known.iter().any(|known| known == name) {
            continue;
        }
        let name = name.replace('+', " ");
        let name: Vec<u8> = percent_decode_str(&name).collect();
        if !known.iter().any(|known| known.as_bytes() == name) {
            names.add(escaped(&name));
        }
    }
    names.header()
}

/// Where whoever reads the body of a request leaves the names of its fields that are ignored.
#[derive(Clone, Default)]
pub(crate) struct IgnoredFields(Arc<OnceLock<HeaderValue>>);

impl IgnoredFields {
    /// Names the fields of a body that its type does not know, where the endpoint of the operation asks for it; answers
    /// the first place of the body where a list stands for an object.
    pub(crate) fn note<T: JsonSchema + 'static>(request: &Request, body: &[u8]) -> Option<String> {
        let Found { names, list } = known::<T>().walk(body);
        if let (Some(Self(place)), Some(names)) = (request.data(), names.header()) {
            place.get_or_init(|| names);
        }
        list
    }

    /// Adds what was noted to the headers of the answer.
    pub(crate) fn tell(&self, headers: &mut HeaderMap) {
        if let Some(names) = self.0.get() {
            headers.insert(FIELDS, names.clone());
        }
    }
}

/// The fields that a type knows: found out when the first request of the type comes.
fn known<T: JsonSchema + 'static>() -> Arc<KnownFields> {
    type Types = HashMap<TypeId, Arc<KnownFields>>;
    static KNOWN: LazyLock<RwLock<Types>> = LazyLock::new(RwLock::default);
    if let Some(known) = KNOWN.read().get(&TypeId::of::<T>()) {
        return Arc::clone(known);
    }
    let known = Arc::new(KnownFields::of::<T>());
    Arc::clone(KNOWN.write().entry(TypeId::of::<T>()).or_insert(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_nobody_knows_are_named_once_and_in_ascii() {
        let known = ["role".to_owned(), "a b".to_owned()];
        let told =
            |query| parameters(Some(query), &known).map(|names| names.to_str().expect("is ASCII").to_owned());
        for fine in ["", "&&", "role=x&role=y", "ro%6Ce=1", "a+b=1", "a%20b"] {
            assert_eq!(told(fine), None, "{fine}");
        }
        assert_eq!(parameters(None, &known), None);
        assert_eq!(told("roles=edit&role=x&roles=y&z").as_deref(), Some("roles, z"));
        assert_eq!(told("%C3%A4%0d%0aX:%20y=secret").as_deref(), Some("%C3%A4%0D%0AX%3A%20y"));
        assert_eq!(told("%ff.x[]").as_deref(), Some("%FF%2Ex%5B%5D"));
        assert_eq!(told("=v").as_deref(), None, "a parameter without a name");
    }

    #[test]
    fn what_is_told_is_bounded() {
        let many: String = (0..1_000).map(|n| format!("p{n}&")).collect();
        let told = parameters(Some(&many), &[]).expect("names");
        let names: Vec<&str> = told.to_str().expect("is ASCII").split(", ").collect();
        assert_eq!((names.len(), names[0], names[MOST_NAMES]), (MOST_NAMES + 1, "p0", MORE));
        let long = parameters(Some(&"ä".repeat(10_000)), &[]).expect("a name");
        assert_eq!(long.len(), MOST_OF_NAME);
        assert!(long.to_str().expect("is ASCII").ends_with(MORE));
    }
}
