//! Every operation of the published clients, called by the clients themselves over a port.
//!
//! The clients are the npm packages that contain the OpenAPI documents in `DOCS_TEST_CONTRACT`. Each operation of a
//! document is one call, with a valid request to a platform with one resource of every kind. Each value of an
//! enumerated query parameter is one more call. The platform is reset before each call. A call is answered if its
//! status is a success, and valid if the client parses the response and its own document declares it.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use docs_http::{HttpConfig, wire::payload::BodyLimit};
use poem::listener::{Acceptor as _, Listener as _, TcpListener};
use serde_json::{Map, Value, json};

use crate::{
    client_operations::with_parameters,
    contract::{Contract, other_documents},
    matrix::ready,
    refusals::{Op, World},
    server::BODY_LIMIT,
};

const DRIVER: &str = "tests/http/published_clients/driver.mjs";
/// The reason of the 501 responses to operations that later versions may serve.
const UNIMPLEMENTED: &str = "it is not implemented yet";

/// A process of `node` with a published client.
struct Client {
    node: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(package: &Path, base: &str) -> Self {
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join(DRIVER);
        let mut node = Command::new("node");
        node.arg(driver).arg(package).arg(base).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut node = node.spawn().expect("node is installed where its packages are");
        let input = node.stdin.take().expect("a pipe");
        let output = BufReader::new(node.stdout.take().expect("a pipe"));
        Self { node, input, output }
    }

    /// Sends a request with the client. The server must run on another thread.
    fn call(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").expect("the driver reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the driver responds");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{request}: {error}: {line}"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.node.kill();
        let _ = self.node.wait();
    }
}

/// An operation of a client's document.
struct ClientOperation<'d> {
    id: &'d str,
    method: String,
    path: &'d str,
    declared: &'d Value,
}

/// Numbers of calls, and descriptions of the calls that failed.
#[derive(Debug, Default)]
struct Tally {
    operations: usize,
    calls: usize,
    answered: usize,
    valid: usize,
    unserved: usize,
    /// The number of operations in `unserved` that later versions may serve.
    unimplemented: usize,
    faults: Vec<String>,
}

impl Tally {
    /// Returns the row of the table for a client.
    fn row(&self, name: &str) -> String {
        let Self { operations, calls, answered, valid, unserved, unimplemented, .. } = self;
        let rejected = calls - answered - unserved;
        format!(
            "| {name} | {operations} | {calls} | {answered} | {valid} | {unserved} | {unimplemented} | {rejected} |\n"
        )
    }
}

/// Returns the query of a request target as an object.
fn query_of(path: &str) -> Value {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let decoded = |text: &str| text.replace("%3A", ":").replace("%2F", "/");
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let decoded = pairs.map(|(name, value)| (name.to_owned(), Value::from(decoded(value))));
    decoded.collect::<Map<String, Value>>().into()
}

/// Returns the values of the parameters in a path that has the shape of the template.
fn parameters_of(template: &str, path: &str) -> Value {
    let path = path.split('?').next().unwrap_or_default().trim_start_matches("/v1");
    let segments = template.split('/').zip(path.split('/'));
    let names =
        segments.filter_map(|(name, value)| Some((name.strip_prefix('{')?.strip_suffix('}')?, value)));
    let values = names.map(|(name, value)| (name.to_owned(), Value::from(value)));
    values.collect::<Map<String, Value>>().into()
}

/// Follows a reference within a document.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let place = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    place.map_or(value, |place| document.pointer(place).expect("a schema"))
}

/// Returns each value of the enumerated query parameters of an operation.
fn enumerated(document: &Value, operation: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let parameter = resolved(document, parameter);
        let mut schema = resolved(document, &parameter["schema"]);
        if schema["type"] == "array" {
            schema = resolved(document, &schema["items"]);
        }
        let values = match schema["enum"].as_array() {
            Some(values) => values.clone(),
            None if schema["type"] == "boolean" => vec![true.into(), false.into()],
            None => continue,
        };
        if parameter["in"] == "query" {
            let name = parameter["name"].as_str().expect("a name");
            all.extend(values.into_iter().map(|value| (name.to_owned(), value)));
        }
    }
    all
}

fn operations_of(document: &Value) -> Vec<ClientOperation<'_>> {
    let paths = document["paths"].as_object().expect("paths").iter();
    let all = paths.flat_map(|(path, methods)| {
        methods.as_object().expect("operations").iter().map(move |(method, declared)| ClientOperation {
            id: declared["operationId"].as_str().expect("an id"),
            method: method.to_uppercase(),
            path,
            declared,
        })
    });
    all.collect()
}

/// Returns the folder of the package that contains an OpenAPI document.
fn package_of(document: &str) -> Option<PathBuf> {
    let package = Path::new(document).parent()?.parent()?;
    package.join("dist/index.js").is_file().then(|| package.to_owned())
}

/// One client with its document, and the platform that it calls.
struct Drive<'d> {
    world: World,
    client: Client,
    document: &'d Value,
    contract: &'d Contract,
    tally: Tally,
}

impl<'d> Drive<'d> {
    async fn start(package: &Path, document: &'d Value, contract: &'d Contract) -> Self {
        let world = World::new().await;
        let config = HttpConfig { body_limit: BodyLimit(BODY_LIMIT), ..HttpConfig::default() };
        let app = docs_http::routes(&world.s.platform, config).expect("routes");
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.expect("a port");
        let address = acceptor.local_addr().remove(0);
        let address = *address.as_socket_addr().expect("an address");
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(app));
        let client = Client::start(package, &format!("http://{address}"));
        Self { world, client, document, contract, tally: Tally::default() }
    }

    /// Calls an operation, and returns the response if its path and method are those of the operation.
    fn call(&mut self, operation: &ClientOperation<'_>, request: &Value) -> Value {
        self.tally.calls += 1;
        let answer = tokio::task::block_in_place(|| self.client.call(request));
        let (method, path) = (answer["method"].as_str(), answer["path"].as_str());
        let called = method.zip(path).and_then(|(method, path)| self.contract.operation(method, path));
        assert!(called.is_some_and(|called| called.id == operation.id), "{}: {answer}", operation.id);
        answer
    }

    /// Calls an operation that the server does not serve.
    fn call_unserved(&mut self, operation: &ClientOperation<'_>) {
        let path = with_parameters(operation.path, |_| "x".to_owned());
        let request = json!({
            "operation": operation.id, "parameters": parameters_of(operation.path, &path), "query": {}, "body": {},
            "token": self.world.s.admin,
        });
        let answer = self.call(operation, &request);
        let body: Value = serde_json::from_str(answer["text"].as_str().expect("text")).expect("JSON");
        let message = body["error"]["message"].as_str().unwrap_or_default();
        if message.starts_with(&format!("`{}` is not served: ", operation.id)) {
            self.tally.unserved += 1;
            self.tally.unimplemented += usize::from(message.ends_with(UNIMPLEMENTED));
        } else {
            self.tally.faults.push(format!("{}: {answer}", operation.id));
        }
    }

    /// Calls an operation that the server serves, and again for each value of its enumerated query parameters.
    async fn call_served(&mut self, operation: &ClientOperation<'_>, ours: &Op) {
        let target = self.world.path(ours);
        let mut request = json!({
            "operation": operation.id,
            "parameters": parameters_of(operation.path, &target),
            "query": query_of(&target),
            "body": ours.body,
            "token": self.world.may(ours).trim_start_matches("Bearer "),
        });
        let query = request["query"].clone();
        let start = self.world.s.store.save();
        let variants = enumerated(self.document, operation.declared);
        for variant in [None].into_iter().chain(variants.into_iter().map(Some)) {
            let mut name = operation.id.to_owned();
            request["query"] = query.clone();
            if let Some((parameter, value)) = variant {
                name += &format!(
                    "?{parameter}={}",
                    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
                );
                request["query"][parameter] = value;
            }
            if REJECTED.contains(&name.as_str()) {
                continue;
            }
            self.world.s.store.rewind(&start);
            ready(&self.world, ours).await;
            let answer = self.call(operation, &request);
            self.judge(&name, operation, &answer);
        }
        self.world.s.store.rewind(&start);
    }

    /// Counts the response to a served operation.
    fn judge(&mut self, name: &str, operation: &ClientOperation<'_>, answer: &Value) {
        let status: u16 = answer["status"].as_u64().and_then(|it| it.try_into().ok()).expect("a status");
        if !(200..300).contains(&status) {
            self.tally.faults.push(format!("{name}: {status} {}", answer["text"]));
            return;
        }
        self.tally.answered += 1;
        let text = answer["text"].as_str().expect("text");
        let body =
            if text.is_empty() { Value::Null } else { serde_json::from_str(text).unwrap_or(json!(text)) };
        let path = format!("/v1{}", with_parameters(operation.path, |_| "x".to_owned()));
        let declared = self.contract.operation(&operation.method, &path).expect("its own operation");
        let mut differences = self.contract.differences(declared, status, &body);
        differences.extend(answer["error"].as_str().map(str::to_owned));
        if differences.is_empty() {
            self.tally.valid += 1;
        } else {
            self.tally.faults.push(format!("{name}: {status} {differences:?}"));
        }
    }

    async fn run(mut self) -> Tally {
        let ours = Contract::of(self.world.s.document);
        let ops = self.world.ops();
        for operation in operations_of(self.document) {
            self.tally.operations += 1;
            let path = format!("/v1{}", with_parameters(operation.path, |_| "x".to_owned()));
            match ours.operation(&operation.method, &path) {
                None => self.call_unserved(&operation),
                Some(served) => {
                    let op = ops.iter().find(|op| op.id == served.id).expect("an operation of the document");
                    self.call_served(&operation, op).await;
                }
            }
        }
        self.tally
    }
}

/// Calls with a query that the server rejects: an organization is created without a site, and `only` needs the
/// parameter `page`.
const REJECTED: [&str; 3] =
    ["createOrganization?withDefaultSite=true", "getChangeRequestPDF?only=true", "getSpacePDF?only=true"];

/// The versions of the clients, with the number of operations that must be answered.
const FLOORS: [(&str, usize); 2] = [("0.130.0", 237), ("0.202.0", 259)];

/// Returns the version of a package.
fn version_of(package: &Path) -> String {
    let text = std::fs::read(package.join("package.json")).expect("the description of a package");
    let description: Value = serde_json::from_slice(&text).expect("JSON");
    description["version"].as_str().expect("a version").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn published_clients_get_valid_answers_to_every_call() {
    let documents = other_documents();
    if documents.is_empty() {
        return println!("skipped: DOCS_TEST_CONTRACT names no documents");
    }
    let mut table =
        "| client | operations | calls | answered | valid | not served | not yet | rejected |\n".to_owned();
    let mut tallies = Vec::new();
    for ((name, document), contract) in documents.iter().zip(Contract::of_others()) {
        let package = package_of(name).unwrap_or_else(|| panic!("{name} is not part of a client's package"));
        let version = version_of(&package);
        let tally = Drive::start(&package, document, contract).await.run().await;
        table += &tally.row(&version);
        tallies.push((version, tally));
    }
    println!("{table}");
    for (version, tally) in tallies {
        assert!(tally.faults.is_empty(), "{table}{version}:\n{}", tally.faults.join("\n"));
        assert_eq!(tally.answered, tally.valid, "{table}");
        let answered = tally.operations - tally.unserved;
        let floor = FLOORS.iter().find(|(known, _)| *known == version).map_or(0, |(_, floor)| *floor);
        assert!(answered >= floor, "{version} answers {answered} operations of {floor}");
    }
}
