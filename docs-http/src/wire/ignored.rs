//! Parameters and fields of a request that its operation does not declare.
//!
//! They are ignored, because newer clients may send them. So that a misspelt `role` does not go unnoticed, the response
//! lists them: query parameters in [`PARAMETERS_HEADER`], and the paths of body fields in [`FIELDS_HEADER`]. The
//! declared names come from the OpenAPI document. The headers contain a limited number of names, and never values.

mod fields;
mod names;

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock, OnceLock},
};

use parking_lot::RwLock;
use percent_encoding::percent_decode_str;
use poem::{
    Request,
    http::{HeaderMap, HeaderName, HeaderValue},
};
use schemars::JsonSchema;

use self::{
    fields::{BodyFindings, KnownFields},
    names::{IgnoredNames, escape_name},
};

/// The response header that lists ignored query parameters.
pub(crate) const PARAMETERS_HEADER: HeaderName = HeaderName::from_static("ignored-parameters");

/// The response header that lists ignored body fields.
pub(crate) const FIELDS_HEADER: HeaderName = HeaderName::from_static("ignored-fields");

/// Lists the query parameters that an operation does not declare.
pub(crate) fn parameters(query: Option<&str>, known: &[String]) -> Option<HeaderValue> {
    let mut names = IgnoredNames::default();
    for pair in query?.split('&').filter(|pair| !pair.is_empty()) {
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        if known.iter().any(|known| known == name) {
            continue;
        }
        let name = name.replace('+', " ");
        let name: Vec<u8> = percent_decode_str(&name).collect();
        if !known.iter().any(|known| known.as_bytes() == name) {
            names.add(escape_name(&name));
        }
    }
    names.header()
}

/// A slot for the names of ignored fields, filled by the body parser.
#[derive(Clone, Default)]
pub(crate) struct IgnoredFields(Arc<OnceLock<HeaderValue>>);

impl IgnoredFields {
    /// Records the fields of a body that its type does not declare, if the endpoint has a slot for them. Returns the
    /// path of the first list that is used in place of an object.
    pub(crate) fn note<T: JsonSchema + 'static>(request: &Request, body: &[u8]) -> Option<String> {
        let BodyFindings { names, list } = known_fields::<T>().walk(body);
        if let (Some(Self(place)), Some(names)) = (request.data(), names.header()) {
            place.get_or_init(|| names);
        }
        list
    }

    /// Adds the recorded names to the headers of the response.
    pub(crate) fn add_header(&self, headers: &mut HeaderMap) {
        if let Some(names) = self.0.get() {
            headers.insert(FIELDS_HEADER, names.clone());
        }
    }
}

/// Returns the fields that a type declares. They are computed when the type is first parsed.
fn known_fields<T: JsonSchema + 'static>() -> Arc<KnownFields> {
    type FieldsByType = HashMap<TypeId, Arc<KnownFields>>;
    static KNOWN_FIELDS: LazyLock<RwLock<FieldsByType>> = LazyLock::new(RwLock::default);
    if let Some(known) = KNOWN_FIELDS.read().get(&TypeId::of::<T>()) {
        return Arc::clone(known);
    }
    let known = Arc::new(KnownFields::for_type::<T>());
    Arc::clone(KNOWN_FIELDS.write().entry(TypeId::of::<T>()).or_insert(known))
}

#[cfg(test)]
mod tests {
    use super::{
        names::{ELLIPSIS, MAX_NAME_CHARS, MAX_NAMES},
        *,
    };

    #[test]
    fn unknown_parameters_are_reported_once_and_in_ascii() {
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
    fn report_of_unknown_parameters_is_bounded() {
        let many: String = (0..1_000).map(|n| format!("p{n}&")).collect();
        let told = parameters(Some(&many), &[]).expect("names");
        let names: Vec<&str> = told.to_str().expect("is ASCII").split(", ").collect();
        assert_eq!((names.len(), names[0], names[MAX_NAMES]), (MAX_NAMES + 1, "p0", ELLIPSIS));
        let long = parameters(Some(&"ä".repeat(10_000)), &[]).expect("a name");
        assert_eq!(long.len(), MAX_NAME_CHARS);
        assert!(long.to_str().expect("is ASCII").ends_with(ELLIPSIS));
    }
}
