//! Outlines of specifications.

use std::collections::HashSet;

use docs_ports::{SpecOperation, SpecOutline, SpecTag};

use crate::{
    node::JsonNode,
    overview,
    parsed_file::ParsedFile,
    references::SpecFileMap,
    short_text::{one_line, text_within},
    validation::{MAX_TAGS, OpenApiVersion, operations, webhook_fields},
};

/// Maximum length of a description in bytes. The text of a page has the same limit.
const MAX_TEXT: usize = 100_000;
/// Maximum number of servers.
const MAX_SERVERS: usize = 50;

/// Returns the outline of a validated specification.
pub(crate) fn outline<'a>(
    entry: &'a ParsedFile<'a>,
    files: &SpecFileMap<'a>,
    version: OpenApiVersion,
) -> SpecOutline {
    let root = &*entry.root;
    let info = root.get("info");
    let of_info = |name: &str| info.and_then(|info| info.get(name)).and_then(JsonNode::text_or_number);
    let of_root = |name: &str| root.get(name).and_then(JsonNode::text_or_number);
    let schemas = match version {
        OpenApiVersion::V2 => root.get("definitions"),
        OpenApiVersion::V3_0 | OpenApiVersion::V3_1 => {
            root.get("components").and_then(|it| it.get("schemas"))
        }
    };
    let mut outline = SpecOutline {
        openapi: of_root("openapi").or_else(|| of_root("swagger")).unwrap_or_default(),
        title: one_line(&of_info("title").unwrap_or_default()),
        version: one_line(&of_info("version").unwrap_or_default()),
        description: info.and_then(|info| text(info, "description")),
        servers: servers(root, version),
        // More tags than the limit are already reported as a problem, so they are dropped here.
        tags: root
            .get("tags")
            .map(JsonNode::items)
            .unwrap_or_default()
            .iter()
            .take(MAX_TAGS)
            .filter_map(tag)
            .collect(),
        operations: collect_operations(entry, "paths", files),
        webhooks: webhooks(entry, files),
        schemas: schemas
            .map(JsonNode::fields)
            .unwrap_or_default()
            .iter()
            .map(|(name, _)| name.to_string())
            .collect(),
        links: overview::links(root),
        schemes: overview::schemes(root),
        groups: overview::groups(root),
    };
    let mut known: HashSet<String> = outline.tags.iter().map(|tag| tag.name.clone()).collect();
    let used = outline.operations.iter().chain(&outline.webhooks).flat_map(|operation| &operation.tags);
    let mut unlisted = Vec::new();
    for name in used {
        if known.insert(name.clone()) {
            unlisted.push(SpecTag { name: name.clone(), ..SpecTag::default() });
        }
    }
    outline.tags.extend(unlisted);
    outline
}

fn servers(root: &JsonNode, version: OpenApiVersion) -> Vec<String> {
    if version == OpenApiVersion::V2 {
        let Some(host) = root.get("host").and_then(JsonNode::text) else { return Vec::new() };
        let base = root.get("basePath").and_then(JsonNode::text).unwrap_or_default();
        let schemes =
            root.get("schemes").map(JsonNode::items).unwrap_or_default().iter().filter_map(JsonNode::text);
        return schemes
            .take(MAX_SERVERS)
            .map(|scheme| one_line(&format!("{scheme}://{host}{base}")))
            .collect();
    }
    let servers = root.get("servers").map(JsonNode::items).unwrap_or_default();
    servers.iter().filter_map(|server| server.get("url")?.text()).take(MAX_SERVERS).map(one_line).collect()
}

fn tag(tag: &JsonNode) -> Option<SpecTag> {
    let line =
        |name: &str| tag.get(name).and_then(JsonNode::text).filter(|it| !it.trim().is_empty()).map(one_line);
    Some(SpecTag {
        name: tag.get("name")?.text()?.to_owned(),
        title: line("x-page-title").or_else(|| line("x-displayName")),
        icon: line("x-page-icon"),
        summary: line("x-page-description"),
        description: text(tag, "description"),
        parent: tag.get("x-parent").or_else(|| tag.get("parent")).and_then(JsonNode::text).map(str::to_owned),
        docs: overview::docs_link(tag),
    })
}

/// Returns the webhooks, followed by those of the extension of OpenAPI 3.0 with other names or methods.
fn webhooks<'a>(entry: &'a ParsedFile<'a>, files: &SpecFileMap<'a>) -> Vec<SpecOperation> {
    let mut all = Vec::new();
    let mut known = HashSet::new();
    for (field, _) in webhook_fields(&entry.root) {
        let own = collect_operations(entry, field, files).into_iter();
        all.extend(own.filter(|webhook| known.insert((webhook.method.clone(), webhook.path.clone()))));
    }
    all
}

fn collect_operations<'a>(
    entry: &'a ParsedFile<'a>,
    field: &str,
    files: &SpecFileMap<'a>,
) -> Vec<SpecOperation> {
    let items = entry.root.get(field).map(JsonNode::fields).unwrap_or_default();
    let items = items.iter().filter(|(path, _)| !path.starts_with("x-"));
    let of_item = |(path, item): &'a (Box<str>, JsonNode)| {
        operations(entry, item, files).map(move |(method, operation)| SpecOperation {
            method: method.to_owned(),
            path: path.to_string(),
            operation_id: operation.get("operationId").and_then(JsonNode::text).map(str::to_owned),
            summary: operation.get("summary").and_then(JsonNode::text).map(one_line),
            tags: tags(operation),
            deprecated: matches!(operation.get("deprecated"), Some(JsonNode::Bool(true))),
        })
    };
    items.flat_map(of_item).collect()
}

/// Returns the tags of an operation without duplicates.
fn tags(operation: &JsonNode) -> Vec<String> {
    let mut seen = HashSet::new();
    let named =
        operation.get("tags").map(JsonNode::items).unwrap_or_default().iter().filter_map(JsonNode::text);
    named.filter(|name| seen.insert(*name)).map(str::to_owned).collect()
}

/// Returns multi-line text, truncated to [`MAX_TEXT`].
fn text(of: &JsonNode, name: &str) -> Option<String> {
    text_within(of, name, MAX_TEXT)
}
