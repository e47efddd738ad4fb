//! [`OperationLayer`]: the behaviour common to all operations of the API.

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
    client_operations::ClientOperation,
    document::{complete, is_condition, open_ended, path_shape, positional_path},
    operation::{Conditions, Operation, OperationInfo, known_methods},
};
use crate::{
    endpoints::method_response,
    metrics::Metrics,
    wire::{
        error::{ApiError, ErrorBody},
        params::PageQuery,
        schema::{self, Direction},
    },
};

/// A decorator for a tuple of API objects.
///
/// In the document, each path occurs once, and every operation has the failure responses common to its kind. The routes
/// behave as follows:
///
/// - every failure of an operation, including a panic, is returned as a JSON body;
/// - unsupported methods of a path return 405 with `Allow`, and `OPTIONS` returns 204 with `Allow`;
/// - unknown paths return 404 with a JSON body;
/// - an operation of the platform's published clients that the platform's API does not serve returns 501 with its name,
///   or 404 if front ends depend on it;
/// - each operation is counted and timed under its id;
/// - parameters and fields that the operation does not declare are ignored and listed in the response headers
///   `Ignored-Parameters` and `Ignored-Fields`;
/// - each write runs in a separate task, because an embedding application may drop the future of a request at any time,
///   for example when the client disconnects or after a timeout. The platform tolerates this, since an operation
///   commits entirely or not at all. Without the task, however, a disconnecting client would decide the outcome, and
///   work after the commit, such as notifying listeners, could be lost.
pub struct OperationLayer<T> {
    api: T,
    metrics: Arc<Metrics>,
    /// Operations that return an error with their name unless the API serves them.
    client_operations: &'static [ClientOperation],
}

impl<T> OperationLayer<T> {
    /// Decorates an API. Metrics of its operations are recorded in `metrics`.
    pub fn new(api: T, metrics: Arc<Metrics>) -> Self {
        Self { api, metrics, client_operations: &[] }
    }

    /// Answers operations that clients know and the API does not serve.
    pub(crate) const fn with_client_operations(mut self, operations: &'static [ClientOperation]) -> Self {
        self.client_operations = operations;
        self
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
        // One path can occur in two forms: poem-openapi names parameters by position, but not in a prefix.
        let mut paths: HashMap<String, Methods> = HashMap::new();
        for (path, methods) in inner {
            paths.entry(positional_path(&path)).or_default().extend(methods);
        }
        let mut unserved = unserved_operations(self.client_operations, &paths);
        let mut root = None;
        for (path, methods) in paths {
            let shape = path_shape(&path);
            let methods = methods.into_iter().map(|(method, endpoint)| {
                let known = known.remove(&(shape.clone(), method.clone())).unwrap_or(OperationInfo {
                    id: "unnamed",
                    parameters: Vec::new(),
                    conditions: Conditions::Refused,
                });
                let operation = Operation::new(endpoint, known, &method, &self.metrics);
                (method, operation.boxed())
            });
            let mut methods = refuse_other_methods(methods.collect());
            methods.extend(unserved.remove(&shape).unwrap_or_default().1);
            if path == "/" {
                root = Some(methods);
            } else {
                table.insert(open_ended(&path), methods);
            }
        }
        for (path, mut methods) in unserved.into_values() {
            for method in known_methods() {
                let no_such_path = || make_sync(|_| ApiError::no_such_path().into_response()).boxed();
                methods.entry(method).or_insert_with(no_such_path);
            }
            table.insert(open_ended(&path), methods);
        }
        table.insert("/*rest".to_owned(), fallback(root));
    }
}

/// Returns the responses of the operations that no path serves, keyed by path shape, each with the path.
fn unserved_operations(
    operations: &[ClientOperation],
    paths: &HashMap<String, Methods>,
) -> HashMap<String, (String, Methods)> {
    let served: HashMap<String, &Methods> =
        paths.iter().map(|(path, methods)| (path_shape(path), methods)).collect();
    let mut unserved: HashMap<String, (String, Methods)> = HashMap::new();
    for operation in operations.iter().copied() {
        let Some(method) = operation.verb() else { continue };
        let shape = path_shape(operation.path);
        if served.get(&shape).is_some_and(|methods| methods.contains_key(&method)) {
            continue;
        }
        let endpoint = make_sync(move |_| operation.unserved().into_response()).boxed();
        let new = || (positional_path(operation.path), Methods::new());
        unserved.entry(shape).or_insert_with(new).1.insert(method, endpoint);
    }
    unserved
}

/// Returns the properties of all operations, keyed by path shape and method.
fn known_operations<T: OpenApi>() -> HashMap<(String, Method), OperationInfo> {
    let paths = T::meta().into_iter().flat_map(|api| api.paths);
    paths
        .flat_map(|path| {
            let shape = path_shape(&path.path);
            path.operations.into_iter().filter_map(move |mut operation| {
                let takes = operation.params.iter().any(is_condition);
                let conditions = if takes { Conditions::Taken } else { Conditions::Refused };
                PageQuery::document(&mut operation.params);
                let queries = operation.params.into_iter().filter(|it| it.in_type == MetaParamIn::Query);
                let parameters = queries.map(|parameter| parameter.name).collect();
                let known = |id| OperationInfo { id, parameters, conditions };
                operation.operation_id.map(|id| ((shape.clone(), operation.method), known(id)))
            })
        })
        .collect()
}

/// Adds `OPTIONS`, and the responses for unsupported methods. poem derives `HEAD` from `GET`.
fn refuse_other_methods(mut methods: Methods) -> Methods {
    let allow = allow_header(methods.keys());
    for method in known_methods() {
        let is_head_of_get = method == Method::HEAD && methods.contains_key(&Method::GET);
        if is_head_of_get || methods.contains_key(&method) {
            continue;
        }
        let allow = allow.clone();
        let other = method.clone();
        let endpoint = make_sync(move |_| method_response(&other, allow.clone())).boxed();
        methods.insert(method, endpoint);
    }
    methods
}

/// Returns the `Allow` value for a path with these methods.
fn allow_header<'m>(methods: impl Iterator<Item = &'m Method>) -> HeaderValue {
    let mut names: BTreeSet<&str> = methods.map(Method::as_str).collect();
    if names.contains("GET") {
        names.insert("HEAD");
    }
    names.insert("OPTIONS");
    let names: Vec<&str> = names.into_iter().collect();
    HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static("OPTIONS"))
}

/// Returns the fallback endpoints for unknown paths. poem prefers them to an operation at `/`, so they also handle `/`.
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
