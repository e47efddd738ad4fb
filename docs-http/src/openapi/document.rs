//! Assembly of the OpenAPI document: merges the paths of all API objects, adds the common failure responses and detects
//! mistakes.

use std::collections::HashMap;

use poem_openapi::registry::{
    MetaApi, MetaOperation, MetaOperationParam, MetaParamIn, MetaPath, MetaSchemaRef,
};

use crate::{
    conditions, idempotency, preference,
    wire::{
        error::ErrorBody,
        ignored,
        params::PageQuery,
        reply::{UNMET_CONDITION, empty_meta, json_content, text_header},
    },
};

/// Merges the paths of all API objects, so that each path occurs once, and adds the common failure responses to every
/// operation.
///
/// Each API object describes its own paths, but document consumers keep only one of several entries for the same path.
/// If two objects name a parameter differently, the first name is used.
pub(super) fn complete(apis: Vec<MetaApi>) -> Vec<MetaApi> {
    let mut paths: Vec<MetaPath> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for mut path in apis.into_iter().flat_map(|api| api.paths) {
        path.path = template(&path.path);
        path.operations.iter_mut().for_each(|operation| PageQuery::document(&mut operation.params));
        path.operations.iter_mut().for_each(describe_headers);
        path.operations.iter_mut().for_each(describe_path);
        path.operations.iter_mut().for_each(add_failures);
        match places.get(&path_shape(&path.path)).and_then(|place| paths.get_mut(*place)) {
            Some(known) => {
                rename_parameters(&mut path, &known.path);
                known.operations.append(&mut path.operations);
            }
            None => {
                places.insert(path_shape(&path.path), paths.len());
                paths.push(path);
            }
        }
    }
    vec![MetaApi { paths }]
}

/// Returns a path with anonymous parameters for comparison: `/spaces/{id}` and `/spaces/:param0` become `/spaces/{}`.
pub(super) fn path_shape(path: &str) -> String {
    rewrite_parameters(path, |_, _| "{}".to_owned())
}

/// Returns a route path with parameters named by position, as poem-openapi handlers expect.
///
/// poem-openapi renames the parameters in the path of an operation, but not in the prefix of an API object.
pub(super) fn positional_path(path: &str) -> String {
    rewrite_parameters(path, |position, _| format!(":param{position}"))
}

/// Turns the page path parameter into a catch-all parameter, the only kind that may contain slashes. Clients can send
/// the slashes unescaped or as `%2F`.
pub(super) fn open_ended(path: &str) -> String {
    match path.rsplit_once("/path/:") {
        Some((before, name)) if !name.contains('/') => format!("{before}/path/*{name}"),
        _ => path.to_owned(),
    }
}

/// Converts a path to the syntax of the OpenAPI document. poem-openapi leaves prefixes in the router's syntax.
fn template(path: &str) -> String {
    rewrite_parameters(path, |_, name| format!("{{{name}}}"))
}

/// Replaces each parameter of a path with the result of `write` for its position and name.
fn rewrite_parameters(path: &str, write: impl Fn(usize, &str) -> String) -> String {
    let mut position = 0;
    let segments = path.split('/').map(|segment| match parameter(segment) {
        Some(name) => {
            position += 1;
            write(position - 1, name)
        }
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns the name of a parameter segment, `:name` or `{name}`.
fn parameter(segment: &str) -> Option<&str> {
    let braced = || segment.strip_prefix('{')?.strip_suffix('}');
    segment.strip_prefix(':').or_else(braced)
}

pub(super) fn parameters(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(parameter)
}

fn rename_parameters(path: &mut MetaPath, to: &str) {
    let renamed: HashMap<String, &str> =
        parameters(&path.path).map(str::to_owned).zip(parameters(to)).collect();
    let parameters = path.operations.iter_mut().flat_map(|operation| &mut operation.params);
    for parameter in parameters.filter(|parameter| parameter.in_type == MetaParamIn::Path) {
        if let Some(name) = renamed.get(&parameter.name) {
            parameter.name = (*name).to_owned();
        }
    }
}

/// Sets the descriptions of `Idempotency-Key`, `If-Match` and `Prefer`, which are the same for all operations.
fn describe_headers(operation: &mut MetaOperation) {
    for parameter in &mut operation.params {
        if is_key(parameter) {
            parameter.description = Some(idempotency::description());
        } else if is_condition(parameter) {
            parameter.description = Some(conditions::DESCRIPTION.to_owned());
        } else if is_header(parameter, preference::PREFER) {
            parameter.description = Some(preference::DESCRIPTION.to_owned());
        }
    }
}

/// Returns `true` if the parameter is the `If-Match` header.
pub(super) fn is_condition(parameter: &MetaOperationParam) -> bool {
    is_header(parameter, conditions::IF_MATCH)
}

fn is_header(parameter: &MetaOperationParam, name: &str) -> bool {
    parameter.in_type == MetaParamIn::Header && parameter.name.eq_ignore_ascii_case(name)
}

fn is_key(parameter: &MetaOperationParam) -> bool {
    is_header(parameter, idempotency::KEY_HEADER)
}

/// Adds the pattern of path parameters: text without NUL. Other values return 404.
fn describe_path(operation: &mut MetaOperation) {
    for parameter in operation.params.iter_mut().filter(|parameter| parameter.in_type == MetaParamIn::Path) {
        if let MetaSchemaRef::Inline(schema) = &mut parameter.schema
            && schema.ty == "string"
        {
            schema.pattern.get_or_insert_with(|| r"^[^\u0000]+$".to_owned());
        }
    }
}

/// Adds the failure responses common to all operations of a kind.
fn add_failures(operation: &mut MetaOperation) {
    let signed_in = !operation.security.is_empty();
    let has_place = operation.params.iter().any(|parameter| parameter.in_type == MetaParamIn::Path);
    // Operations with optional authentication identify their object in the query or the body.
    let is_open = operation.security.iter().any(|schemes| schemes.is_empty());
    let is_by_url = operation
        .params
        .iter()
        .any(|parameter| parameter.in_type == MetaParamIn::Query && parameter.name == "url");
    let writes = !operation.method.is_safe();
    let has_body = operation.request.is_some();
    let has_key = operation.params.iter().any(is_key);
    let has_condition = operation.params.iter().any(is_condition);
    if !writes {
        name_states(operation);
    }
    for (applies, status, description) in [
        (true, 400, "The request is invalid; the message names the field"),
        (signed_in, 401, "The token is missing or invalid"),
        (signed_in, 403, "The caller lacks the required permission"),
        (has_place || is_open || is_by_url, 404, "The object does not exist or is not visible to the caller"),
        (writes, 409, "The state of the object prevents the operation, or a unique value is already used"),
        (has_condition || !writes, 412, UNMET_CONDITION),
        (has_body, 413, "The body exceeds a size limit"),
        (has_body, 415, "The body is not JSON"),
        (has_key, 422, "The `Idempotency-Key` was used for a different request"),
        (true, 429, "Too many requests"),
        (true, 500, "An internal error of the platform"),
        (true, 503, "The platform is temporarily unavailable; try again later"),
    ] {
        let known = operation.responses.responses.iter().any(|response| response.status == Some(status));
        if !applies || known {
            continue;
        }
        let mut response = empty_meta(status, description);
        response.content = json_content::<ErrorBody>();
        response.headers = match status {
            400 => vec![
                text_header(
                    ignored::PARAMETERS_HEADER.as_str(),
                    "Ignored parameters; part of every response",
                ),
                text_header(ignored::FIELDS_HEADER.as_str(), "Ignored fields; part of every response"),
            ],
            401 => vec![text_header("WWW-Authenticate", "The required authentication")],
            429 => vec![
                text_header("Retry-After", "Seconds to wait before the next attempt"),
                text_header("X-RateLimit-Limit", "Permitted requests per minute"),
                text_header(
                    "X-RateLimit-Remaining",
                    "Remaining requests of the current minute; part of \
                                                      every response",
                ),
                text_header("X-RateLimit-Reset", "Time of the next reset, in seconds since 1970"),
            ],
            503 => vec![text_header("Retry-After", "Seconds to wait before the next attempt")],
            _ => vec![],
        };
        operation.responses.responses.push(response);
    }
}

/// Documents the `ETag` header and the 304 response of read operations.
fn name_states(operation: &mut MetaOperation) {
    let tag = || text_header("ETag", "Entity tag of the returned state, for `If-None-Match` and `If-Match`");
    for response in operation.responses.responses.iter_mut().filter(|response| response.status == Some(200)) {
        response.headers.push(tag());
    }
    let mut known = empty_meta(304, "The state matches `If-None-Match`; the response has no body");
    known.headers.push(tag());
    operation.responses.responses.push(known);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_without_the_names_of_their_parameters() {
        assert_eq!(path_shape("/spaces/{spaceId}/x"), path_shape("/spaces/:param0/x"));
        assert_ne!(path_shape("/spaces/{id}"), path_shape("/spaces/trash"));
        assert_eq!(positional_path("/spaces/:spaceId/x/:param0"), "/spaces/:param0/x/:param1");
        assert_eq!(template("/spaces/:spaceId/x/{id}"), "/spaces/{spaceId}/x/{id}");
    }
}
