//! Process-wide caches of validated APIs and generated documents.

use std::{
    any::TypeId,
    sync::{Arc, Mutex, PoisonError},
};

use poem_openapi::OpenApi;

use super::{ApiInfo, Problems, check_api};

/// Maximum number of cached documents. An application typically has one or a few.
const MAX_DOCUMENTS: usize = 8;

/// Cache key of a document: the API type, its description and its base URL.
#[derive(PartialEq, Eq)]
pub(crate) struct DocumentKey {
    api: TypeId,
    about: ApiInfo,
    server: String,
}

impl DocumentKey {
    /// Creates the key. The type is sufficient to identify the API, because the describing methods of `OpenApi` do not
    /// take `self`.
    pub(crate) fn new<T: 'static>(about: &ApiInfo, server: &str) -> Self {
        Self { api: TypeId::of::<T>(), about: about.clone(), server: server.to_owned() }
    }
}

/// Validates an API once per process.
///
/// # Errors
/// The mistakes of the API. Failures are not cached, so later calls return them again.
pub(crate) fn validate_once<T: OpenApi + 'static>() -> Result<(), Problems> {
    static VALID_APIS: Mutex<Vec<TypeId>> = Mutex::new(Vec::new());
    let mut right = VALID_APIS.lock().unwrap_or_else(PoisonError::into_inner);
    if !right.contains(&TypeId::of::<T>()) {
        check_api::<T>()?;
        right.push(TypeId::of::<T>());
    }
    Ok(())
}

/// Returns the document for a key, generating it on first use.
///
/// Generating a document takes as long as hundreds of requests. The cache helps processes that mount the same API for
/// many platforms.
///
/// # Errors
/// The errors of `make`, which are not cached.
pub(crate) fn cached_document(
    origin: DocumentKey,
    make: impl FnOnce() -> Result<String, Problems>,
) -> Result<Arc<str>, Problems> {
    static DOCUMENTS: Mutex<Vec<(DocumentKey, Arc<str>)>> = Mutex::new(Vec::new());
    // Held while the document is generated, so that concurrent callers wait for it.
    let mut made = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, document)) = made.iter().find(|(known, _)| *known == origin) {
        return Ok(Arc::clone(document));
    }
    let document: Arc<str> = make()?.into();
    if made.len() == MAX_DOCUMENTS {
        made.remove(0);
    }
    made.push((origin, Arc::clone(&document)));
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Mine;

    fn origin(title: &str, server: &str) -> DocumentKey {
        DocumentKey::new::<Mine>(&ApiInfo::new(title, "1"), server)
    }

    #[test]
    fn document_is_built_once_per_api_description_and_address() {
        struct Other;
        let make = |text: &str| Ok(text.to_owned());
        assert_eq!(cached_document(origin("once", "/v1"), || make("a")).as_deref(), Ok("a"));
        assert_eq!(cached_document(origin("once", "/v1"), || make("b")).as_deref(), Ok("a"));
        assert_eq!(cached_document(origin("once", "/v2"), || make("c")).as_deref(), Ok("c"));
        assert_eq!(cached_document(origin("twice", "/v1"), || make("d")).as_deref(), Ok("d"));
        let other = DocumentKey::new::<Other>(&ApiInfo::new("once", "1"), "/v1");
        assert_eq!(cached_document(other, || make("e")).as_deref(), Ok("e"));
    }

    #[test]
    fn invalid_api_is_rejected_on_every_call() {
        let wrong = || Err(Problems::new("wrong"));
        assert!(cached_document(origin("refused", "/v1"), wrong).is_err());
        assert!(cached_document(origin("refused", "/v1"), wrong).is_err());
    }
}
