//! Process-wide caches of validated APIs and generated documents.

use std::{
    any::TypeId,
    collections::HashMap,
    marker::PhantomData,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use poem::{Endpoint, Request, Response, endpoint::BoxEndpoint, error::InternalServerError, http::Method};
use poem_openapi::{
    OpenApi, OpenApiService,
    registry::{MetaApi, Registry},
};

use super::{
    ApiInfo, OperationLayer, Problems, check_api, finish::finish_document, problems::check_examples,
};
use crate::{endpoints::StaticEndpoint, wire::reply::JSON};

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

/// Checks the examples of an API once per process.
///
/// # Errors
/// The mistakes in the examples. Failures are not cached, so later calls return them again.
fn validate_examples_once<T: OpenApi + 'static>(examples: Option<&'static str>) -> Result<(), Problems> {
    static VALID_EXAMPLES: Mutex<Vec<(TypeId, &str)>> = Mutex::new(Vec::new());
    let Some(examples) = examples else { return Ok(()) };
    let mut right = VALID_EXAMPLES.lock().unwrap_or_else(PoisonError::into_inner);
    if !right.contains(&(TypeId::of::<T>(), examples)) {
        check_examples::<T>(examples)?;
        right.push((TypeId::of::<T>(), examples));
    }
    Ok(())
}

/// Returns the document for a key, generating it on first use.
///
/// Generating a document takes as long as hundreds of requests. The cache helps processes that mount the same API for
/// many platforms.
fn cached_document(origin: DocumentKey, make: impl FnOnce() -> String) -> Arc<str> {
    static DOCUMENTS: Mutex<Vec<(DocumentKey, Arc<str>)>> = Mutex::new(Vec::new());
    // Held while the document is generated, so that concurrent callers wait for it.
    let mut made = DOCUMENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, document)) = made.iter().find(|(known, _)| *known == origin) {
        return Arc::clone(document);
    }
    let document: Arc<str> = make().into();
    if made.len() == MAX_DOCUMENTS {
        made.remove(0);
    }
    made.push((origin, Arc::clone(&document)));
    document
}

/// The OpenAPI document of an application. It is generated when it is first requested, because many processes, such as
/// tests, never request it.
pub(crate) struct LazyDocument {
    make: Box<dyn Fn() -> Arc<str> + Send + Sync>,
    made: OnceLock<ServedDocument>,
}

struct ServedDocument {
    text: Arc<str>,
    endpoint: StaticEndpoint,
}

impl LazyDocument {
    /// Creates the document of an API that is served below a base URL.
    ///
    /// # Errors
    /// [`Problems`] if the examples are not a JSON object, or refer to an unknown operation.
    pub(crate) fn new<T: OpenApi + 'static>(about: ApiInfo, server: String) -> Result<Self, Problems> {
        validate_examples_once::<T>(about.examples)?;
        let make = move || {
            cached_document(DocumentKey::new::<T>(&about, &server), || {
                let examples = about.examples;
                let service =
                    build_service(DescribedApi::<T>(PhantomData), about.clone()).server(server.clone());
                finish_document(&service.spec(), examples).expect("the examples are checked")
            })
        };
        Ok(Self { make: Box::new(make), made: OnceLock::new() })
    }

    /// Returns the document as JSON. The first call takes as long as hundreds of requests.
    pub(crate) fn text(&self) -> &str {
        &self.made().text
    }

    fn made(&self) -> &ServedDocument {
        self.made.get_or_init(|| {
            let text = (self.make)();
            ServedDocument { endpoint: StaticEndpoint::new(text.as_bytes().to_vec(), JSON), text }
        })
    }
}

/// Serves the OpenAPI document.
pub(crate) struct DocumentEndpoint(pub(crate) Arc<LazyDocument>);

impl Endpoint for DocumentEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        if self.0.made.get().is_none() {
            let document = Arc::clone(&self.0);
            let made = tokio::task::spawn_blocking(move || {
                document.made();
            });
            made.await.map_err(InternalServerError)?;
        }
        self.0.made().endpoint.call(request).await
    }
}

/// Returns the service of a validated API.
pub(crate) fn build_service<T: OpenApi>(api: T, about: ApiInfo) -> OpenApiService<T, ()> {
    let service = OpenApiService::new(api, about.title, about.version);
    match about.description {
        Some(description) => service.description(description),
        None => service,
    }
}

/// An API that is described and not served.
struct DescribedApi<T>(PhantomData<fn() -> T>);

impl<T: OpenApi> OpenApi for DescribedApi<T> {
    fn meta() -> Vec<MetaApi> {
        OperationLayer::<T>::meta()
    }

    fn register(registry: &mut Registry) {
        OperationLayer::<T>::register(registry);
    }

    fn add_routes(self, _: &mut HashMap<String, HashMap<Method, BoxEndpoint<'static>>>) {}
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
        let make = |text: &str| text.to_owned();
        assert_eq!(&*cached_document(origin("once", "/v1"), || make("a")), "a");
        assert_eq!(&*cached_document(origin("once", "/v1"), || make("b")), "a");
        assert_eq!(&*cached_document(origin("once", "/v2"), || make("c")), "c");
        assert_eq!(&*cached_document(origin("twice", "/v1"), || make("d")), "d");
        let other = DocumentKey::new::<Other>(&ApiInfo::new("once", "1"), "/v1");
        assert_eq!(&*cached_document(other, || make("e")), "e");
    }

    #[test]
    fn wrong_examples_are_rejected_before_the_document_is_needed() {
        for (examples, expected) in [
            ("{}", None),
            ("[]", Some("the examples: invalid type: sequence, expected a map at line 1 column 0")),
            (r#"{"x":{}}"#, Some("an example refers to the unknown operation x")),
        ] {
            let about = ApiInfo { examples: Some(examples), ..ApiInfo::new("examples", "1") };
            let result = LazyDocument::new::<()>(about, "/v1".into()).map(drop);
            assert_eq!(
                result.map_err(|problems| problems.to_string()).err().as_deref(),
                expected,
                "{examples}"
            );
        }
    }
}
