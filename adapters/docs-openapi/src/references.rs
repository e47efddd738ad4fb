//! References within a file and to other files.

use std::collections::{BTreeSet, HashMap, HashSet};

use docs_ports::SpecFile;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::{findings::Findings, node::Node, parsed::Parsed};

/// Fields whose values are data. References are not resolved in them.
const DATA: [&str; 4] = ["example", "default", "enum", "const"];
/// Fields whose values are maps with user-defined keys.
const NAMED: [&str; 19] = [
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
    "content",
    "variables",
];

/// The files of a specification, by location.
pub(crate) struct Files<'a> {
    files: HashMap<&'a str, &'a Parsed<'a>>,
}

impl<'a> Files<'a> {
    pub(crate) fn new(parsed: &'a [Parsed<'a>]) -> Self {
        Self { files: parsed.iter().map(|file| (file.file.location.as_str(), file)).collect() }
    }

    pub(crate) fn has(&self, location: &str) -> bool {
        self.files.contains_key(location)
    }

    /// Resolves a reference in a file. Returns `None` if the target is not available.
    pub(crate) fn follow(&self, from: &'a Parsed<'a>, reference: &str) -> Option<(&'a Parsed<'a>, &'a Node)> {
        let (file, fragment) = match reference.split_once('#') {
            None => (reference, ""),
            Some(split) => split,
        };
        let target = match file {
            "" => from,
            file => self.files.get(locate(from.file, file).ok()?.as_str()).copied()?,
        };
        Some((target, target.root.at(&decoded(fragment))?))
    }
}

fn decoded(fragment: &str) -> String {
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
pub(crate) fn referred_files(parsed: &Parsed<'_>, findings: &mut Findings<'_>) -> Vec<String> {
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
                Err(why) => findings.at(parsed.file, &pointer(), why),
            }
            return;
        }
        // A fragment that is not a pointer is a JSON Schema anchor.
        let is_pointer = fragment.is_empty() || fragment.starts_with('/');
        if is_pointer && parsed.root.at(&decoded(fragment)).is_none() {
            findings.at(
                parsed.file,
                &pointer(),
                format_args!("refers to `{reference}`, which does not exist"),
            );
        }
    });
    found.into_iter().collect()
}

/// One step of a path to a node.
enum Step<'a> {
    Field(&'a str),
    Item(usize),
}

/// Calls a function for each `$ref`. The JSON pointer is computed on demand.
fn for_each_reference<'a>(root: &'a Node, found: &mut dyn FnMut(&dyn Fn() -> String, &'a str)) {
    let mut way = Vec::new();
    walk(root, (true, &mut way), found);
}

/// Recurses into a node. The depth is bounded by [`MAX_DEPTH`](crate::text::MAX_DEPTH).
fn walk<'a>(
    node: &'a Node,
    (is_object, way): (bool, &mut Vec<Step<'a>>),
    found: &mut dyn FnMut(&dyn Fn() -> String, &'a str),
) {
    match node {
        Node::Map(_) => {
            for (name, value) in node.fields() {
                let is_data = DATA.contains(&&**name) || name.starts_with("x-");
                if is_object && is_data {
                    continue;
                }
                way.push(Step::Field(name));
                match value.text() {
                    Some(reference) if &**name == "$ref" => found(&|| pointer_of(way), reference),
                    // Named examples are objects or references to them. Everything below them is data.
                    _ if is_object && &**name == "examples" => examples(value, way, found),
                    _ => walk(value, (!(is_object && NAMED.contains(&&**name)), way), found),
                }
                way.pop();
            }
        }
        Node::List(items) => {
            for (at, item) in items.iter().enumerate() {
                way.push(Step::Item(at));
                walk(item, (true, way), found);
                way.pop();
            }
        }
        _ => {}
    }
}

fn examples<'a>(
    node: &'a Node,
    way: &mut Vec<Step<'a>>,
    found: &mut dyn FnMut(&dyn Fn() -> String, &'a str),
) {
    for (name, example) in node.fields() {
        if let [(only, Node::Text(reference))] = example.fields()
            && &**only == "$ref"
        {
            way.push(Step::Field(name));
            found(&|| pointer_of(way), reference);
            way.pop();
        }
    }
}

fn pointer_of(way: &[Step<'_>]) -> String {
    way.iter().fold(String::new(), |mut pointer, step| {
        pointer.push('/');
        match step {
            Step::Field(name) => pointer.push_str(&escaped(name)),
            Step::Item(at) => pointer.push_str(&at.to_string()),
        }
        pointer
    })
}

/// Escapes a name for a JSON pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
