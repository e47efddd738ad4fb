//! [`OperationLayer`]: what every operation of the API has in common.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use poem::{
    Endpoint, EndpointExt, IntoResponse, Request, RouteMethod,
    endpoint::{BoxEndpoint, make, make_sync},
    http::{HeaderValue, Method},
};
use poem_openapi::{
    OpenApi,
    registry::{MetaApi, MetaParamIn, Registry},
};

use super::{
    document::{complete, is_condition, open_ended, positional, shape},
    operation::{Conditions, KnownOperation, Operation, known_methods},
};
use crate::{
    endpoints::other_method,
    metrics::Metrics,
    wire::{
        error::{ApiError, ErrorBody},
        params::PageQuery,
        schema::{self, Direction},
    },
};

/// A decorator around a tuple of API objects.
///
/// To the document it adds what the operations have in common: each path once, and the failures that any operation
/// of its kind can have. To the routes it adds:
///
/// - every failure of an operation is the JSON body, a panic included;
/// - a method that a path does not know is answered with 405 and `Allow`, `OPTIONS` with 204 and `Allow`;
/// - a path that nobody knows is answered with a JSON 404;
/// - each operation is counted and timed under its id;
/// - parameters and fields that an operation does not know are ignored, and named in the headers `Ignored-Parameters`
///   and `Ignored-Fields` of its answer;
/// - an operation that writes runs as a task of its own. A host may drop the future of a request at any time, when
///   the client goes away or a timeout strikes. The platform survives that, as an operation commits once or not at
///   all; but a client that goes away should not decide which of the two it was, and what follows a commit, such as
///   telling listeners of it, should not be left undone.
pub struct OperationLayer<T> {
    api: T,
    metrics: Arc<Metrics>,
}

impl<T> OperationLayer<T> {
    /// Decorates an API, counting its operations in a registry.
    pub fn new(api: T, metrics: Arc<Metrics>) -> Self {
        Self { api, metrics }
    }
}

impl<T> std::fmt::Debug for OperationLayer<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OperationLayer").finish_non_exhaustive()
    }
}

type Methods = HashMap<Method, BoxEndpoint<'static>>;

impl<T: OpenApi> OpenApi for OperationLayer<T> {
    fn meta() -> Vec<MetaApi> {
        complete(T::meta())
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
        schema::register::<ErrorBody>(registry, Direction::Response);
    }

    fn add_routes(self, table: &mut HashMap<String, Methods>) {
        let mut known = known_operations::<T>();
        let mut inner: HashMap<String, Methods> = HashMap::new();
        self.api.add_routes(&mut inner);
        // One path may be written in two ways: poem-openapi names a parameter by its position, but not in a prefix.
        let mut paths: HashMap<String, Methods> = HashMap::new();
        for (path, methods) in inner {
            paths.entry(positional(&path)).or_default().extend(methods);
        }
        let mut root = None;
        for (path, methods) in paths {
            let shape = shape(&path);
            let methods = methods.into_iter().map(|(method, endpoint)| {
                let known = known.remove(&(shape.clone(), method.clone())).unwrap_or(KnownOperation {
                    id: "unnamed",
                    parameters: Vec::new(),
                    conditions: Conditions::Refused,
                });
                let operation = Operation::new(endpoint, known, &method, &self.metrics);
                (method, operation.boxed())
            });
            let methods = refuse_others(methods.collect());
            if path == "/" {
                root = Some(methods);
            } else {
                table.insert(open_ended(&path), methods);
            }
        }
        table.insert("/*rest".to_owned(), fallback(root));
    }
}

/// What is known of each operation, by shape of the path and method.
fn known_operations<T: OpenApi>() -> HashMap<(String, Method), KnownOperation> {
    let paths = T::meta().into_iter().flat_map(|api| api.paths);
    paths
        .flat_map(|path| {
            let shape = shape(&path.path);
            path.operations.into_iter().filter_map(move |mut operation| {
                let takes = operation.params.iter().any(is_condition);
                let conditions = if takes { Conditions::Taken } else { Conditions::Refused };
                PageQuery::document(&mut operation.params);
                let queries = operation.params.into_iter().filter(|it| it.in_type == MetaParamIn::Query);
                let parameters = queries.map(|parameter| parameter.name).collect();
                let known = |id| KnownOperation { id, parameters, conditions };
                operation.operation_id.map(|id| ((shape.clone(), operation.method), known(id)))
            })
        })
        .collect()
}

/// Adds the methods that a path does not know, and `OPTIONS`. `HEAD` is answered by poem from `GET`.
fn refuse_others(mut methods: Methods) -> Methods {
    let allow = allowed(methods.keys());
    for method in known_methods() {
        let is_head_of_get = method == Method::HEAD && methods.contains_key(&Method::GET);
        if is_head_of_get || methods.contains_key(&method) {
            continue;
        }
        let allow = allow.clone();
        let other = method.clone();
        let endpoint = make_sync(move |_| other_method(&other, allow.clone())).boxed();
        methods.insert(method, endpoint);
    }
    methods
}

/// The value of `Allow` for a path that knows these methods.
fn allowed<'m>(methods: impl Iterator<Item = &'m Method>) -> HeaderValue {
    let mut names: BTreeSet<&str> = methods.map(Method::as_str).collect();
    if names.contains("GET") {
        names.insert("HEAD");
    }
    names.insert("OPTIONS");
    let names: Vec<&str> = names.into_iter().collect();
    HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static("OPTIONS"))
}

/// What answers where no other path does. poem would prefer it to an operation at `/`, so it answers there as well.
fn fallback(root: Option<Methods>) -> Methods {
    let root = root.map(|methods| {
        let at_root =
            methods.into_iter().fold(RouteMethod::new(), |all, (method, one)| all.method(method, one));
        Arc::new(at_root)
    });
    let endpoint = |method: Method| {
        let root = root.clone();
        let endpoint = make(move |request: Request| {
            let root = root.clone();
            async move {
                match root {
                    Some(root) if request.uri().path() == "/" => root.get_response(request).await,
                    _ => ApiError::no_such_path().into_response(),
                }
            }
        });
        (method, endpoint.boxed())
    };
    known_methods().into_iter().map(endpoint).collect()
}
