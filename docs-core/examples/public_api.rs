//! Lists the public items of crates from rustdoc's JSON output: one line per item, sorted by path.
//!
//! `.ci/public-api` runs it: `public_api docs_core.json …` prints the list. Blanket and automatic implementations, and
//! the modules in [`UNLISTED`], are omitted.

use std::{collections::BTreeSet, error::Error, fmt::Write as _, fs, io, process::ExitCode};

use serde_json::{Map, Value as Json};

/// The supported format version of rustdoc's JSON. Review the format changes before increasing it.
const FORMAT: u64 = 57;
/// Exit code for an unsupported format version.
const UNKNOWN_FORMAT: u8 = 3;
/// Modules that are public only for other crates of this repository, not for embedding applications.
const UNLISTED: &[&str] = &[
    "docs_core::records",
    "docs_core::store::records",
    "docs_ports::search::conformance",
    "docs_store::conformance",
];
/// Traits that the compiler adds to every derive.
const UNSAID: &[&str] = &["StructuralPartialEq"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut lines = BTreeSet::new();
    for file in std::env::args_os().skip(1) {
        let krate: Json = serde_json::from_slice(&fs::read(&file)?)?;
        let format = krate["format_version"].as_u64().unwrap_or_default();
        if format != FORMAT {
            eprintln!("this rustdoc writes format {format}, known is {FORMAT}");
            return Ok(ExitCode::from(UNKNOWN_FORMAT));
        }
        let index = krate["index"].as_object().ok_or("the file has no index")?;
        let mut listing = Listing { index, lines: &mut lines };
        let root = &index[&id(&krate["root"])];
        listing.item(root, text(&root["name"]));
    }
    let all: String = lines.into_iter().map(|(_, line)| line + "\n").collect();
    io::Write::write_all(&mut io::stdout(), all.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

struct Listing<'a> {
    index: &'a Map<String, Json>,
    /// Lines to print, sorted by path and text.
    lines: &'a mut BTreeSet<(String, String)>,
}

impl<'a> Listing<'a> {
    fn at(&self, item: &Json) -> Option<&'a Json> {
        self.index.get(&id(item))
    }

    fn all(&self, ids: &Json) -> Vec<&'a Json> {
        list(ids).filter_map(|id| self.at(id)).collect()
    }

    /// Adds an item and its members under its path.
    fn item(&mut self, item: &'a Json, path: &str) {
        if UNLISTED.contains(&path) {
            return;
        }
        let Some((kind, inner)) = only(&item["inner"]) else { return };
        let mark = if marked(item, "NonExhaustive") || marked(item, "non_exhaustive") {
            "#[non_exhaustive] "
        } else {
            ""
        };
        match kind {
            "module" => self.members(&inner["items"], path),
            "use" => self.reexport(inner, path),
            "struct" | "union" => {
                self.line(format!("{mark}{kind} {path}{}", generics(&inner["generics"])));
                self.fields(&inner["kind"], path);
                self.impls(inner, path);
            }
            "enum" => {
                self.line(format!("{mark}enum {path}{}", generics(&inner["generics"])));
                self.members(&inner["variants"], path);
                self.impls(inner, path);
            }
            "variant" => {
                self.line(format!("{mark}variant {path}"));
                self.fields(&inner["kind"], path);
            }
            "struct_field" => self.line(format!("field {path}: {}", ty(inner))),
            "trait" => {
                let bounds = bounds(&inner["bounds"]);
                self.line(format!("{mark}trait {path}{}{bounds}", generics(&inner["generics"])));
                self.members(&inner["items"], path);
            }
            "function" => self.line(function(inner, path)),
            "constant" => self.line(format!("const {path}: {}", ty(&inner["type"]))),
            "assoc_const" => self.line(format!("const {path}: {}", ty(&inner["type"]))),
            "static" => self.line(format!("static {path}: {}", ty(&inner["type"]))),
            "type_alias" => {
                self.line(format!("type {path}{} = {}", generics(&inner["generics"]), ty(&inner["type"])));
            }
            "assoc_type" => self.line(format!("type {path}{}", bounds(&inner["bounds"]))),
            "macro" | "proc_macro" => self.line(format!("macro {path}!")),
            other => self.line(format!("{other} {path}")),
        }
    }

    fn line(&mut self, line: String) {
        let path = line.split(' ').find(|word| word.contains("::")).unwrap_or_default();
        let path = path.trim_end_matches(|last: char| !last.is_alphanumeric() && last != '_');
        let end = path.find(['<', '(']).unwrap_or(path.len());
        self.lines.insert((path[..end].to_owned(), line));
    }

    /// Adds the members in a list of ids. Members of traits and enumerations have no visibility of their own.
    fn members(&mut self, ids: &Json, path: &str) {
        for member in self.all(ids) {
            let is_open = matches!(member["visibility"].as_str(), Some("public" | "default"));
            if is_open {
                let name = member["name"].as_str();
                self.item(member, &name.map_or_else(|| path.to_owned(), |name| format!("{path}::{name}")));
            }
        }
    }

    fn fields(&mut self, kind: &Json, path: &str) {
        if let Some((form, inner)) = only(kind) {
            match form {
                "plain" | "struct" => self.members(&inner["fields"], path),
                // Private fields of a tuple are `null`.
                "tuple" => self.members(inner, path),
                _ => {}
            }
        }
    }

    /// Adds a re-export. Items of the same crate are listed under their public path, items of other crates only by
    /// name.
    fn reexport(&mut self, inner: &'a Json, path: &str) {
        let (source, name) = (text(&inner["source"]), text(&inner["name"]));
        let is_glob = inner["is_glob"] == true;
        match self.at(&inner["id"]) {
            Some(module) if is_glob => {
                let items = only(&module["inner"]).map(|(_, inner)| &inner["items"]);
                self.members(items.unwrap_or(&Json::Null), path);
            }
            Some(item) => self.item(item, &format!("{path}::{name}")),
            None if is_glob => self.line(format!("use {path}::* = {source}::*")),
            None => self.line(format!("use {path}::{name} = {source}")),
        }
    }

    /// Adds the members of a type, and one line with the traits that it implements.
    fn impls(&mut self, inner: &Json, path: &str) {
        let mut traits = BTreeSet::new();
        for found in self.all(&inner["impls"]) {
            let found = &found["inner"]["impl"];
            if found["is_synthetic"] == true || !found["blanket_impl"].is_null() {
                continue;
            }
            if found["trait"].is_null() {
                self.members(&found["items"], path);
            } else {
                traits.insert(trait_of(&found["trait"]));
            }
        }
        traits.retain(|name| !UNSAID.contains(&name.as_str()));
        if !traits.is_empty() {
            self.line(format!("{path} implements {}", traits.into_iter().collect::<Vec<_>>().join(", ")));
        }
    }
}

fn function(inner: &Json, path: &str) -> String {
    let (head, sig) = (&inner["header"], &inner["sig"]);
    let mut line = String::new();
    for (is, word) in [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")] {
        if head[is] == true {
            line += word;
        }
    }
    let inputs: Vec<String> =
        list(&sig["inputs"]).map(|input| format!("{}: {}", text(&input[0]), ty(&input[1]))).collect();
    let _ = write!(line, "fn {path}{}({})", generics(&inner["generics"]), inputs.join(", "));
    if !sig["output"].is_null() {
        let _ = write!(line, " -> {}", ty(&sig["output"]));
    }
    line
}

/// Formats generic parameters with their bounds, and the `where` clause.
fn generics(generics: &Json) -> String {
    let params: Vec<String> = list(&generics["params"])
        .filter_map(|param| {
            let (name, (kind, inner)) = (text(&param["name"]), only(&param["kind"])?);
            match kind {
                "const" => Some(format!("const {name}: {}", ty(&inner["type"]))),
                "type" if inner["is_synthetic"] == true => None,
                "type" => Some(format!("{name}{}", bounds(&inner["bounds"]))),
                _ => Some(name.to_owned()),
            }
        })
        .collect();
    let wheres: Vec<String> = list(&generics["where_predicates"])
        .filter_map(|predicate| match only(predicate)? {
            ("bound_predicate", of) => Some(format!("{}{}", ty(&of["type"]), bounds(&of["bounds"]))),
            (_, of) => Some(shortened(of)),
        })
        .collect();
    let params = if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) };
    if wheres.is_empty() { params } else { format!("{params} where {}", wheres.join(", ")) }
}

fn bounds(bounds: &Json) -> String {
    let all: Vec<String> = list(bounds)
        .map(|bound| match only(bound) {
            Some(("trait_bound", of)) => {
                let relaxed = if of["modifier"] == "maybe" { "?" } else { "" };
                format!("{relaxed}{}", trait_of(&of["trait"]))
            }
            Some(("outlives", name)) => text(name).to_owned(),
            _ => shortened(bound),
        })
        .collect();
    if all.is_empty() { String::new() } else { format!(": {}", all.join(" + ")) }
}

fn trait_of(path: &Json) -> String {
    format!("{}{}", last(text(&path["path"])), args(&path["args"]))
}

fn args(args: &Json) -> String {
    match only(args) {
        Some(("angle_bracketed", of)) => {
            let each = list(&of["args"]).map(|arg| match only(arg) {
                Some(("lifetime", name)) => text(name).to_owned(),
                Some(("type", of)) => ty(of),
                Some(("const", of)) => text(&of["expr"]).to_owned(),
                _ => shortened(arg),
            });
            let bound = list(&of["constraints"]).map(|constraint| {
                let to = &constraint["binding"];
                let to = match only(to) {
                    Some(("equality", term)) => format!(" = {}", ty(&term["type"])),
                    Some(("constraint", of)) => bounds(of),
                    _ => shortened(to),
                };
                format!("{}{to}", text(&constraint["name"]))
            });
            let all: Vec<String> = each.chain(bound).collect();
            if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
        }
        Some(("parenthesized", of)) => {
            let inputs: Vec<String> = list(&of["inputs"]).map(ty).collect();
            let output =
                if of["output"].is_null() { String::new() } else { format!(" -> {}", ty(&of["output"])) };
            format!("({}){output}", inputs.join(", "))
        }
        _ => String::new(),
    }
}

/// Formats a type without module paths.
fn ty(json: &Json) -> String {
    let Some((kind, of)) = only(json) else { return json.as_str().unwrap_or_default().to_owned() };
    match kind {
        "resolved_path" => trait_of(of),
        "primitive" | "generic" => text(of).to_owned(),
        "borrowed_ref" => {
            let lifetime = of["lifetime"].as_str().map(|name| format!("{name} ")).unwrap_or_default();
            let mutable = if of["is_mutable"] == true { "mut " } else { "" };
            format!("&{lifetime}{mutable}{}", ty(&of["type"]))
        }
        "tuple" => format!("({})", list(of).map(ty).collect::<Vec<_>>().join(", ")),
        "slice" => format!("[{}]", ty(of)),
        "array" => format!("[{}; {}]", ty(&of["type"]), text(&of["len"])),
        "impl_trait" => format!("impl{}", bounds(of).trim_start_matches(':')),
        "dyn_trait" => {
            let mut all: Vec<String> = list(&of["traits"]).map(|bound| trait_of(&bound["trait"])).collect();
            all.extend(of["lifetime"].as_str().map(str::to_owned));
            format!("dyn {}", all.join(" + "))
        }
        "qualified_path" => {
            let own = ty(&of["self_type"]);
            match of["trait"].is_null() || of["trait"]["path"] == "" {
                true => format!("{own}::{}", text(&of["name"])),
                false => format!("<{own} as {}>::{}", trait_of(&of["trait"]), text(&of["name"])),
            }
        }
        "function_pointer" => function(of, "").replace("fn ", "fn"),
        _ => format!("{kind} {}", shortened(of)),
    }
}

/// Formats any other value without item ids, which change with every build.
fn shortened(json: &Json) -> String {
    match json {
        Json::Object(fields) => {
            let kept = fields.iter().filter(|(name, value)| *name != "id" && !value.is_null());
            kept.map(|(name, value)| format!("{name}={}", shortened(value))).collect::<Vec<_>>().join(" ")
        }
        Json::Array(items) => items.iter().map(shortened).collect::<Vec<_>>().join(", "),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the name and content of an enum variant.
fn only(json: &Json) -> Option<(&str, &Json)> {
    json.as_object()?.iter().next().map(|(kind, inner)| (kind.as_str(), inner))
}

fn list(json: &Json) -> impl Iterator<Item = &Json> {
    json.as_array().into_iter().flatten()
}

fn marked(item: &Json, name: &str) -> bool {
    list(&item["attrs"]).any(|attribute| attribute.to_string().to_lowercase().contains(&name.to_lowercase()))
}

fn id(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}
