//! Validation of the parts that pages rely on.

use std::collections::{HashMap, HashSet};

use crate::{
    findings::Findings,
    node::JsonNode,
    parsed_file::ParsedFile,
    references::{SpecFileMap, escape_pointer},
};

/// The HTTP methods of a path item.
pub(crate) const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
/// Maximum number of path items, of webhooks and of operations in a specification.
const MAX_PATHS: usize = 20_000;
/// Maximum number of characters of a path.
const MAX_PATH: usize = 2_000;
/// Maximum number of tags of a specification, and of one operation.
pub(crate) const MAX_TAGS: usize = 2_000;
const MAX_OPERATION_TAGS: usize = 100;

/// The OpenAPI version of a specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OpenApiVersion {
    V2,
    V3_0,
    V3_1,
}

/// State collected over all operations.
#[derive(Default)]
struct OperationSummary<'a> {
    operations: usize,
    /// Pointers by operation id.
    ids: HashMap<&'a str, String>,
    /// Tags used by operations.
    tags: HashSet<&'a str>,
}

/// Validates a specification. Returns `None` if its version is missing or unknown.
pub(crate) fn check<'a>(
    entry: &'a ParsedFile<'a>,
    files: &SpecFileMap<'a>,
    findings: &mut Findings<'_>,
) -> Option<OpenApiVersion> {
    findings.written_in(entry.format);
    let root = &*entry.root;
    if !root.is_map() {
        findings.report_at(entry.file, "", format_args!("must be an object, is {}", root.kind()));
        return None;
    }
    let version = version_of(entry, findings)?;
    info(entry, findings);
    tags(entry, findings);
    let mut met = OperationSummary::default();
    let is_known = |field: &str| field != "webhooks" || version == OpenApiVersion::V3_1;
    let webhooks = || webhook_fields(root).filter(|(field, _)| is_known(field));
    match root.get("paths") {
        Some(paths) => items(entry, (paths, "/paths"), files, &mut met, findings),
        None if webhooks().next().is_some() && version != OpenApiVersion::V2 => {}
        None if version != OpenApiVersion::V3_1 => findings.report_at(entry.file, "", "must have `paths`"),
        None if root.get("components").is_none() => {
            findings.report_at(entry.file, "", "must have `paths`, `webhooks` or `components`");
        }
        None => {}
    }
    for (field, webhooks) in webhooks() {
        items(entry, (webhooks, &format!("/{field}")), files, &mut met, findings);
    }
    for (count, most, what) in
        [(met.operations, MAX_PATHS, "operations"), (met.tags.len(), MAX_TAGS, "tags of operations")]
    {
        if count > most {
            findings.report_at(
                entry.file,
                "/paths",
                format_args!("must have at most {most} {what}, has {count}"),
            );
        }
    }
    for (pointer, schemas) in [
        ("/definitions", root.get("definitions").filter(|_| version == OpenApiVersion::V2)),
        ("/components/schemas", root.get("components").and_then(|components| components.get("schemas"))),
    ] {
        if let Some(schemas) = schemas.filter(|schemas| !schemas.is_map()) {
            findings.report_at(entry.file, pointer, format_args!("must be an object, is {}", schemas.kind()));
        }
    }
    Some(version)
}

fn version_of(entry: &ParsedFile<'_>, findings: &mut Findings<'_>) -> Option<OpenApiVersion> {
    let told = |name: &str| entry.root.get(name).and_then(JsonNode::text_or_number);
    let (name, version) = match (told("openapi"), told("swagger")) {
        (Some(version), _) => ("/openapi", version),
        (None, Some(version)) => ("/swagger", version),
        (None, None) => {
            let why =
                "must be an OpenAPI specification with `openapi`, such as `3.1.0`, or `swagger: \"2.0\"`";
            findings.report_at(entry.file, "", why);
            return None;
        }
    };
    let is = |wanted: &str| {
        version == wanted || version.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
    };
    match name {
        "/swagger" if version == "2.0" || version == "2" => Some(OpenApiVersion::V2),
        "/openapi" if is("3.0") => Some(OpenApiVersion::V3_0),
        "/openapi" if is("3.1") => Some(OpenApiVersion::V3_1),
        _ => {
            let why = format!("must be a supported version (2.0, 3.0 or 3.1), is `{version}`");
            findings.report_at(entry.file, name, why);
            None
        }
    }
}

fn info(entry: &ParsedFile<'_>, findings: &mut Findings<'_>) {
    let Some(info) = entry.root.get("info") else {
        return findings.report_at(entry.file, "", "must have `info`");
    };
    if !info.is_map() {
        return findings.report_at(
            entry.file,
            "/info",
            format_args!("must be an object, is {}", info.kind()),
        );
    }
    for name in ["title", "version"] {
        match info.get(name) {
            None => findings.report_at(entry.file, "/info", format_args!("must have `{name}`")),
            Some(value) if value.text_or_number().is_none() => {
                let pointer = format!("/info/{name}");
                findings.report_at(
                    entry.file,
                    &pointer,
                    format_args!("must be a string, is {}", value.kind()),
                );
            }
            Some(_) => {}
        }
    }
}

fn tags(entry: &ParsedFile<'_>, findings: &mut Findings<'_>) {
    let Some(tags) = entry.root.get("tags") else { return };
    if !matches!(tags, JsonNode::List(_)) {
        return findings.report_at(entry.file, "/tags", format_args!("must be a list, is {}", tags.kind()));
    }
    if tags.items().len() > MAX_TAGS {
        let why = format_args!("must have at most {MAX_TAGS} tags, has {}", tags.items().len());
        return findings.report_at(entry.file, "/tags", why);
    }
    let mut seen = HashMap::new();
    for (at, tag) in tags.items().iter().enumerate() {
        match tag.get("name").and_then(JsonNode::text) {
            None => findings.report_at(entry.file, &format!("/tags/{at}"), "must have `name`, a string"),
            Some(name) => {
                if let Some(first) = seen.insert(name, at) {
                    let why = format_args!("the tag `{name}` is a duplicate of /tags/{first}");
                    findings.report_at(entry.file, &format!("/tags/{at}"), why);
                }
            }
        }
    }
}

/// Validates path items or webhooks.
fn items<'a>(
    entry: &'a ParsedFile<'a>,
    (of, pointer): (&'a JsonNode, &str),
    files: &SpecFileMap<'a>,
    met: &mut OperationSummary<'a>,
    findings: &mut Findings<'_>,
) {
    if !of.is_map() {
        return findings.report_at(entry.file, pointer, format_args!("must be an object, is {}", of.kind()));
    }
    if of.fields().len() > MAX_PATHS {
        let why = format_args!("must have at most {MAX_PATHS} paths, has {}", of.fields().len());
        return findings.report_at(entry.file, pointer, why);
    }
    for (path, item) in of.fields().iter().filter(|(path, _)| !path.starts_with("x-")) {
        let at = format!("{pointer}/{}", escape_pointer(path));
        if path.chars().nth(MAX_PATH).is_some() {
            findings.report_at(entry.file, &at, format_args!("must be at most {MAX_PATH} characters"));
            continue;
        }
        if pointer == "/paths" && !path.starts_with('/') {
            findings.report_at(entry.file, &at, format_args!("the path `{path}` must begin with `/`"));
        }
        if !item.is_map() {
            findings.report_at(entry.file, &at, format_args!("must be an object, is {}", item.kind()));
            continue;
        }
        parameters(entry, item, &at, findings);
        for (method, operation) in operations(entry, item, files) {
            operation_shape(entry, operation, &format!("{at}/{method}"), met, findings);
        }
    }
}

fn operation_shape<'a>(
    entry: &ParsedFile<'_>,
    operation: &'a JsonNode,
    at: &str,
    met: &mut OperationSummary<'a>,
    findings: &mut Findings<'_>,
) {
    met.operations += 1;
    if !operation.is_map() {
        return findings.report_at(
            entry.file,
            at,
            format_args!("must be an object, is {}", operation.kind()),
        );
    }
    if let Some(tags) = operation.get("tags") {
        let is_list = matches!(tags, JsonNode::List(items) if items.iter().all(|item| item.text().is_some()));
        if !is_list {
            findings.report_at(entry.file, &format!("{at}/tags"), "must be a list of strings");
        } else if tags.items().len() > MAX_OPERATION_TAGS {
            let why = format_args!("must have at most {MAX_OPERATION_TAGS} tags, has {}", tags.items().len());
            findings.report_at(entry.file, &format!("{at}/tags"), why);
        }
        met.tags.extend(tags.items().iter().filter_map(JsonNode::text));
    }
    if let Some(responses) = operation.get("responses").filter(|responses| !responses.is_map()) {
        let at = format!("{at}/responses");
        findings.report_at(entry.file, &at, format_args!("must be an object, is {}", responses.kind()));
    }
    parameters(entry, operation, at, findings);
    if let Some(id) = operation.get("operationId").and_then(JsonNode::text)
        && let Some(other) = met.ids.insert(id, at.to_owned())
    {
        let at = format!("{at}/operationId");
        findings.report_at(entry.file, &at, format_args!("`{id}` is already the operationId of {other}"));
    }
}

/// The permitted locations of a parameter.
const PARAMETER_LOCATIONS: [&str; 6] = ["query", "header", "path", "cookie", "body", "formData"];

fn parameters(entry: &ParsedFile<'_>, of: &JsonNode, at: &str, findings: &mut Findings<'_>) {
    let Some(parameters) = of.get("parameters") else { return };
    if !matches!(parameters, JsonNode::List(_)) {
        let at = format!("{at}/parameters");
        return findings.report_at(entry.file, &at, format_args!("must be a list, is {}", parameters.kind()));
    }
    for (number, parameter) in parameters.items().iter().enumerate() {
        let tell = |findings: &mut Findings<'_>, why: &str| {
            findings.report_at(entry.file, &format!("{at}/parameters/{number}"), why);
        };
        if !parameter.is_map() {
            tell(findings, "must be an object");
        } else if parameter.get("$ref").is_none() {
            if parameter.get("name").and_then(JsonNode::text).is_none() {
                tell(findings, "must have `name`, a string");
            }
            if !parameter
                .get("in")
                .and_then(JsonNode::text)
                .is_some_and(|place| PARAMETER_LOCATIONS.contains(&place))
            {
                tell(
                    findings,
                    "must have `in`: `query`, `header`, `path` or `cookie`; in 2.0 also `body` or `formData`",
                );
            }
        }
    }
}

/// Returns the fields with webhooks: that of OpenAPI 3.1, and the extension of 3.0 if its shape is the same.
pub(crate) fn webhook_fields(root: &JsonNode) -> impl Iterator<Item = (&'static str, &JsonNode)> {
    let extension = root.get("x-webhooks").filter(|of| of.is_map_of_maps());
    root.get("webhooks").map(|of| ("webhooks", of)).into_iter().chain(extension.map(|of| ("x-webhooks", of)))
}

/// Returns the operations of a path item in document order. Operations and the item itself may be in other files.
pub(crate) fn operations<'a>(
    entry: &'a ParsedFile<'a>,
    item: &'a JsonNode,
    files: &SpecFileMap<'a>,
) -> impl Iterator<Item = (&'a str, &'a JsonNode)> {
    let led = |from: &'a ParsedFile<'a>, node: &'a JsonNode| {
        let reference = node.get("$ref").and_then(JsonNode::text);
        reference.and_then(|reference| files.follow(from, reference)).unwrap_or((from, node))
    };
    let (file, item) = led(entry, item);
    let operations = item.fields().iter().filter(|(name, _)| METHODS.contains(&&**name));
    operations.map(move |(name, operation)| (&**name, led(file, operation).1))
}
