//! Serves a platform with one resource of every kind on a port, for the external test programs run by `.ci/api-check`.

#[path = "prepared/flat.rs"]
mod flat;

use std::collections::BTreeMap;

use docs_http::{HttpApp, HttpConfig, wire::payload::BodyLimit};
use docs_memstore::MemStore;
use poem::{
    Endpoint, EndpointExt as _, IntoResponse as _, Request, Response, Route, Server as PoemServer, handler,
    http::Method,
    listener::TcpListener,
    web::{Data, Json},
};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use self::flat::{endless_requests, flatten_requests};
use crate::{
    refusals::{Op, World},
    rewind::Rewind,
    server::BODY_LIMIT,
};

/// The API over a store that is reset after each request that may have changed it, so that every resource always
/// exists.
struct PutBack {
    app: HttpApp,
    store: Rewind,
    saved: MemStore,
    alone: Mutex<()>,
}

impl Endpoint for PutBack {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let _alone = self.alone.lock().await;
        let changes = request.method() != Method::GET;
        let answer = self.app.call(request).await?;
        let (head, body) = answer.into_parts();
        let body = body.into_bytes().await.expect("an answer");
        if changes {
            self.store.rewind(&self.saved);
        }
        Ok(Response::from_parts(head, body.into()))
    }
}

/// Returns the values of the parameters in a path.
fn named<'t>(template: &'t str, path: &str) -> BTreeMap<&'t str, String> {
    let path = path.split('?').next().unwrap_or_default();
    let pairs = template
        .trim_matches('/')
        .split('/')
        .zip(path.trim_start_matches("/v1").trim_matches('/').split('/'));
    let name = |part: &'t str| part.strip_prefix('{')?.strip_suffix('}');
    pairs.filter_map(|(part, value)| Some((name(part)?, value.to_owned()))).collect()
}

/// Returns the document with an existing id as the example of every path parameter, and with valid example bodies.
fn document(world: &World) -> Value {
    let mut document = world.s.document.clone();
    let ops: BTreeMap<String, Op> = world.ops().into_iter().map(|op| (op.id.clone(), op)).collect();
    let paths = document["paths"].as_object_mut().expect("paths");
    for (template, methods) in paths {
        for operation in methods.as_object_mut().expect("operations").values_mut() {
            let op = &ops[operation["operationId"].as_str().expect("an id")];
            let names = named(template, &world.path(op));
            // Indexing a missing key would insert null.
            let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
            for parameter in parameters.into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap_or_default().to_owned();
                if let (Some(value), "path") =
                    (names.get(name.as_str()), parameter["in"].as_str().unwrap_or_default())
                {
                    parameter["schema"] = json!({ "type": "string", "enum": [value] });
                }
            }
            if let (Some(body), true) = (&op.body, op.takes_json) {
                operation["requestBody"]["content"]["application/json"]["example"] = body.clone();
            }
        }
    }
    flatten_requests(&mut document);
    document
}

#[handler]
fn shown(Data(document): Data<&Value>) -> Response {
    Json(document.clone()).into_response()
}

#[tokio::test]
async fn prepared_document_has_ids_in_paths_and_finite_bodies() {
    let world = World::new().await;
    let document = document(&world);
    assert!(endless_requests(world.s.document).contains("Block"));
    assert_eq!(endless_requests(&document), std::collections::BTreeSet::new());
    for (template, methods) in document["paths"].as_object().expect("paths") {
        for operation in methods.as_object().expect("operations").values() {
            assert!(operation.get("parameters").is_none_or(Value::is_array), "{template}");
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let is_known = parameter["in"] != "path" || parameter["schema"]["enum"][0].is_string();
                assert!(is_known, "{template}: {parameter}");
            }
        }
    }
}

/// Serves at the address in `DOCS_SERVE_PREPARED`, such as `127.0.0.1:4100`, until the process is killed. Prints the
/// token.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_prepared_platform() {
    let Ok(bind) = std::env::var("DOCS_SERVE_PREPARED") else { return };
    let world = World::at(&format!("http://{bind}")).await;
    let config = HttpConfig { body_limit: BodyLimit(BODY_LIMIT), ..HttpConfig::default() };
    let app = docs_http::routes(&world.s.platform, config).expect("routes");
    let store = world.s.store.clone();
    let put_back = PutBack { app, saved: store.save(), store, alone: Mutex::new(()) };
    let document = document(&world);
    println!("{}", world.s.admin);
    let route = Route::new().at("/openapi.json", shown.data(document)).nest_no_strip("/", put_back);
    PoemServer::new(TcpListener::bind(bind)).run(route).await.expect("served");
}
