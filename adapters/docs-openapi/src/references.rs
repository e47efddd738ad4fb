//! References within a file and to other files.

use std::collections::{BTreeSet, HashMap, HashSet};

use docs_ports::SpecFile;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::{findings::Findings, node::JsonNode, parsed_file::ParsedFile};

/// Fields whose values are data. References are not resolved in them.
const DATA_FIELDS: [&str; 4] = ["example", "default", "enum", "const"];
/// Fields whose values are maps with user-defined keys.
const MAP_FIELDS: [&str; 20] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
    "schemas",
    "parameters",
    "responses",
    "headers",
    "links",
    "callbacks",
    "requestBodies",
    "securitySchemes",
    "securityDefinitions",
    "pathItems",
    "paths",
    "webhooks",
    "x-webhooks",
    "content",
    "variables",
];

/// The files of a specification, by location.
pub(crate) struct SpecFileMap<'a> {
    files: HashMap<&'a str, &'a ParsedFile<'a>>,
}

impl<'a> SpecFileMap<'a> {
    pub(crate) fn new(parsed: &'a [ParsedFile<'a>]) -> Self {
        Self { files: parsed.iter().map(|file| (file.file.location.as_str(), file)).collect() }
    }

    pub(crate) fn has(&self, location: &str) -> bool {
        self.files.contains_key(location)
    }

    /// Resolves a reference in a file. Returns `None` if the target is not available.
    pub(crate) fn follow(
        &self,
        from: &'a ParsedFile<'a>,
        reference: &str,
    ) -> Option<(&'a ParsedFile<'a>, &'a JsonNode)> {
        let (file, fragment) = match reference.split_once('#') {
            None => (reference, ""),
            Some(split) => split,
        };
        let target = match file {
            "" => from,
            file => self.files.get(locate(from.file, file).ok()?.as_str()).copied()?,
        };
        Some((target, target.root.resolve(&decode_fragment(fragment))?))
    }
}

fn decode_fragment(fragment: &str) -> String {
    percent_decode_str(fragment).decode_utf8_lossy().into_owned()
}

/// Returns the absolute URL of a referenced file.
fn locate(from: &SpecFile, file: &str) -> Result<String, String> {
    let url = match Url::parse(file) {
        Ok(url) => url,
        Err(_) if from.location.is_empty() => {
            return Err(format!(
                "refers to the file `{file}`, which cannot be resolved from `text`; send the specification \
                 as `url`, or in one file"
            ));
        }
        Err(_) => Url::parse(from.base.as_ref().unwrap_or(&from.location))
            .and_then(|base| base.join(file))
            .map_err(|_| format!("refers to `{file}`, which is not a valid URL"))?,
    };
    match url.scheme() {
        "http" | "https" => Ok(url.into()),
        scheme => Err(format!("refers to `{file}`; the scheme must be http or https, is {scheme}")),
    }
}

/// Returns the referenced files as absolute URLs. Reports unresolved references within the file, and references that
/// can never be resolved.
pub(crate) fn referred_files(parsed: &ParsedFile<'_>, findings: &mut Findings<'_>) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for_each_reference(&parsed.root, &mut |pointer, reference| {
        if !seen.insert(reference) {
            return;
        }
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if !file.is_empty() {
            match locate(parsed.file, file) {
                Ok(url) if url == parsed.file.location => {}
                Ok(url) => {
                    found.insert(url);
                }
                Err(why) => findings.report_at(parsed.file, &pointer(), why),
            }
            return;
        }
        // A fragment that is not a pointer is a JSON Schema anchor.
        let is_pointer = fragment.is_empty() || fragment.starts_with('/');
        if is_pointer && parsed.root.resolve(&decode_fragment(fragment)).is_none() {
            findings.report_at(
                parsed.file,
                &pointer(),
                format_args!("refers to `{reference}`, which does not exist"),
            );
        }
    });
    found.into_iter().collect()
}

/// One step of a path to a node.
enum PathStep<'a> {
    Field(&'a str),
    Item(usize),
}

/// Calls a function for each `$ref`. The JSON pointer is computed on demand.
fn for_each_reference<'a>(root: &'a JsonNode, found: &mut dyn FnMut(&dyn Fn() -> String, &'a str)) {
    let mut way = Vec::new();
    visit_node(root, (true, &mut way), found);
}

/// Recurses into a node. The depth is bounded by [`MAX_DOCUMENT_DEPTH`](crate::text::MAX_DOCUMENT_DEPTH).
fn visit_node<'a>(
    node: &'a JsonNode,
    (is_object, way): (bool, &mut Vec<PathStep<'a>>),
    found: &mut dyn FnMut(&dyn Fn() -> String, &'a str),
) {
    match node {
        JsonNode::Map(_) => {
            for (name, value) in node.fields() {
                let is_extension =
                    name.starts_with("x-") && !(&**name == "x-webhooks" && value.is_map_of_maps());
                let is_data = DATA_FIELDS.contains(&&**name) || is_extension;
                if is_object && is_data {
                    continue;
                }
                way.push(PathStep::Field(name));
                match value.text() {
                    Some(reference) if &**name == "$ref" => found(&|| pointer_of(way), reference),
                    // Named examples are objects or references to them. Everything below them is data.
                    _ if is_object && &**name == "examples" => examples(value, way, found),
                    _ => visit_node(value, (!(is_object && MAP_FIELDS.contains(&&**name)), way), found),
                }
                way.pop();
            }
        }
        JsonNode::List(items) => {
            for (at, item) in items.iter().enumerate() {
                way.push(PathStep::Item(at));
                visit_node(item, (true, way), found);
                way.pop();
            }
        }
        _ => {}
    }
}

fn examples<'a>(
    node: &'a JsonNode,
    way: &mut Vec<PathStep<'a>>,
    found: &mut dyn FnMut(&dyn Fn() -> String, &'a str),
) {
    for (name, example) in node.fields() {
        if let [(only, JsonNode::Text(reference))] = example.fields()
            && &**only == "$ref"
        {
            way.push(PathStep::Field(name));
            found(&|| pointer_of(way), reference);
            way.pop();
        }
    }
}

fn pointer_of(way: &[PathStep<'_>]) -> String {
    way.iter().fold(String::new(), |mut pointer, step| {
        pointer.push('/');
        match step {
            PathStep::Field(name) => pointer.push_str(&escape_pointer(name)),
            PathStep::Item(at) => pointer.push_str(&at.to_string()),
        }
        pointer
    })
}

/// Escapes a name for a JSON pointer.
pub(crate) fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
