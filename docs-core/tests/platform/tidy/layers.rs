//! Permitted dependencies between crates, and between the layers of docs-core.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::{packages, root, rust_files};

/// The permitted dependencies of each crate, without dev-dependencies, in topological order.
pub(super) const LAYERS: &[(&str, &[&str])] = &[
    ("docs-hostile", &[]),
    ("docs-disk", &[]),
    ("docs-macros", &[]),
    ("docs-expression", &[]),
    ("docs-formula", &[]),
    ("docs-model", &["docs-expression"]),
    ("docs-markup", &["docs-model"]),
    ("docs-ports", &["docs-model"]),
    ("docs-store", &["docs-model"]),
    ("docs-content", &["docs-expression", "docs-markup", "docs-model", "docs-store"]),
    (
        "docs-core",
        &[
            "docs-content",
            "docs-expression",
            "docs-macros",
            "docs-markup",
            "docs-model",
            "docs-ports",
            "docs-store",
        ],
    ),
    ("docs-memstore", &["docs-model", "docs-ports", "docs-store"]),
    ("docs-sqlstore", &["docs-disk", "docs-ports", "docs-store"]),
    ("docs-web", &["docs-ports"]),
    ("docs-blobs", &["docs-disk", "docs-store", "docs-web"]),
    ("docs-convert", &["docs-markup", "docs-ports"]),
    ("docs-git", &["docs-disk", "docs-ports", "docs-web"]),
    ("docs-openapi", &["docs-ports"]),
    ("docs-pdf", &["docs-formula", "docs-markup", "docs-model", "docs-ports"]),
    ("docs-saml", &["docs-model", "docs-ports"]),
    ("docs-search", &["docs-disk", "docs-model", "docs-ports"]),
    ("docs-translate", &["docs-model", "docs-ports", "docs-web"]),
    ("docs-worker", &["docs-model", "docs-ports"]),
    ("docs-http", &["docs-core"]),
    ("docs-site", &["docs-core", "docs-formula"]),
    (
        "docs-server",
        &[
            "docs-blobs",
            "docs-convert",
            "docs-core",
            "docs-git",
            "docs-http",
            "docs-memstore",
            "docs-openapi",
            "docs-pdf",
            "docs-saml",
            "docs-search",
            "docs-site",
            "docs-sqlstore",
            "docs-translate",
            "docs-web",
            "docs-worker",
        ],
    ),
    ("docs-examples", &["docs-server"]),
    ("docs-benches", &["docs-core", "docs-memstore"]),
];

/// The permitted dependencies of the layers within docs-core.
const MODULES: &[(&str, &[&str])] =
    &[("records", &["model", "store"]), ("policy", &["Error", "Result", "model", "store"])];

/// The folders of the platform in topological order, each with the folders that it may use.
const FOLDERS: &[(&str, &[&str])] = &[
    ("kernel", &[]),
    ("nouns", &["kernel"]),
    ("access", &["kernel", "nouns"]),
    ("jobs", &["kernel"]),
    ("people", &["kernel", "nouns", "access", "jobs"]),
    ("publishing", &["kernel", "nouns", "access", "people"]),
    ("library", &["kernel", "nouns", "access", "jobs", "people", "publishing"]),
    ("content", &["kernel", "nouns", "access", "jobs", "people", "publishing", "library"]),
    ("sites", &["kernel", "nouns", "access", "jobs", "publishing", "library"]),
    ("exchange", &["kernel", "nouns", "access", "jobs", "people", "library", "content"]),
    ("search", &["kernel", "nouns", "access", "jobs", "publishing", "content", "sites"]),
    (
        "host",
        &[
            "kernel",
            "nouns",
            "access",
            "jobs",
            "people",
            "publishing",
            "library",
            "content",
            "sites",
            "exchange",
            "search",
        ],
    ),
];

/// The components of each folder in topological order. A component is a file with its folder of the same name, and only
/// uses components before it. A folder that is not listed is a single component.
const ROOMS: &[(&str, &[&str])] = &[
    (
        "kernel",
        &[
            "content_version",
            "own_paths",
            "urls",
            "token_user",
            "actor",
            "audit_log",
            "memory",
            "ports",
            "request",
            "answer_memory",
            "json_answer",
            "site_hosts",
            "tenant",
            "tenant_queue",
            "compression",
            "metrics",
            "platform",
            "tenant_owners",
            "worker_turns",
            "import_memory",
            "emoji",
            "write",
            "write_window",
            "write_rate",
            "secret",
            "idempotency",
            "precondition",
        ],
    ),
    ("people", &["users", "members", "saml", "joining", "names", "teams", "email_invites", "orgs"]),
    (
        "publishing",
        &[
            "keys",
            "outline",
            "placement",
            "share_links",
            "page_search",
            "visitors",
            "address",
            "mentions",
            "resolve",
            "previews",
        ],
    ),
    (
        "library",
        &["follow", "head", "tree", "views", "spaces", "collections", "permissions", "invite_links", "jobs"],
    ),
    (
        "content",
        &[
            "short_documents",
            "change_requests",
            "org_requests",
            "files",
            "revisions",
            "openapi_specs",
            "computed",
            "read",
            "comments",
            "edit",
            "links",
            "reviews",
            "merging",
            "by_url",
        ],
    ),
    ("sites", &["view", "settings", "manage", "structure", "reader", "site", "events", "agent_feedback"]),
    ("exchange", &["import", "git", "pdf", "templates", "translations"]),
    (
        "host",
        &[
            "audit",
            "audit_events",
            "authenticate",
            "collect",
            "git_installations",
            "health",
            "integrations",
            "kinds",
            "layout",
            "rights",
            "cache_budget",
            "builder",
            "tidy",
            "site_findings",
            "limits",
            "measure",
            "purge",
            "setup",
            "site_templates",
            "turns",
            "worker",
        ],
    ),
];

/// Crates that the core and its dependencies must not use: sockets, HTTP, databases, Git libraries.
const NOT_IN_CORE: &[&str] = &[
    "poem",
    "poem-openapi",
    "hyper",
    "reqwest",
    "git2",
    "rusqlite",
    "tokio-postgres",
    "object_store",
    "axum",
    "krilla",
    "parley",
    "roxmltree",
    "xml-sec",
];

/// Returns the first path segment after each `crate::` in `text`, without its comments.
fn names_of_the_crate(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    let first = |path: &str| -> String {
        path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut names = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        let Some(list) = path.strip_prefix('{') else {
            names.insert(first(path));
            continue;
        };
        let (mut depth, mut part) = (0, String::new());
        for c in list.chars() {
            match c {
                '}' if depth == 0 => break,
                ',' if depth == 0 => {
                    names.insert(first(&part));
                    part.clear();
                    continue;
                }
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            part.push(c);
        }
        names.insert(first(&part));
    }
    names.retain(|name| !name.is_empty());
    names
}

#[test]
fn dependencies_point_one_way() {
    let packages = packages();
    for (name, package) in &packages {
        let layer = LAYERS.iter().find(|(layer, _)| layer == name);
        let (_, allowed) = layer.unwrap_or_else(|| panic!("{name} needs its place in this table"));
        for ours in package.dependencies.iter().filter(|dependency| packages.contains_key(*dependency)) {
            assert!(allowed.contains(&ours.as_str()), "{name} must not depend on {ours}");
        }
    }
    for (name, allowed) in LAYERS {
        assert!(packages.contains_key(*name), "{name} is in this table only");
        let before = LAYERS.iter().take_while(|(layer, _)| layer != name);
        let before: BTreeSet<&str> = before.map(|(layer, _)| *layer).collect();
        let above = allowed.iter().find(|ours| !before.contains(*ours));
        assert_eq!(above, None, "{name} would stand on what comes after it");
    }
}

#[test]
fn layers_within_the_core_point_one_way() {
    for (layer, allowed) in MODULES {
        let found = rust_files(&root().join("docs-core/src").join(layer));
        assert!(!found.is_empty(), "{layer}");
        for file in found {
            let text = fs::read_to_string(&file).expect("a file");
            for name in names_of_the_crate(&text) {
                assert!(allowed.contains(&name.as_str()), "{} must not use `{name}`", file.display());
            }
        }
    }
}

#[test]
fn crate_paths_are_found_in_every_form_of_use() {
    let text = "use crate::{\n    Error,\n    model::{A, b::{C, D}},\n    store::E, // crate::not_this\n};\nuse crate::platform::F;\nfn f() -> crate::Result<()> {}\n";
    let names = names_of_the_crate(text);
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        ["Error", "Result", "model", "platform", "store"]
    );
}

#[test]
fn core_depends_on_no_transport_and_no_engine() {
    let packages = packages();
    let (core, of_it) = LAYERS.iter().find(|(name, _)| *name == "docs-core").expect("the core");
    for ours in of_it.iter().chain([core]) {
        for name in NOT_IN_CORE {
            assert!(!packages[*ours].dependencies.contains(*name), "{ours} must not depend on {name}");
        }
    }
}

#[test]
fn versions_are_declared_only_in_the_workspace() {
    for (name, package) in packages() {
        let text = fs::read_to_string(package.manifest).expect("a manifest");
        let own: Vec<&str> = text.lines().filter(|line| line.contains("version = \"")).collect();
        assert!(own.is_empty(), "{name}: {own:?}");
    }
}

/// Removes the comments from `text`.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Splits the elements of a list in braces. `rest` begins after the opening brace.
fn elements(rest: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(&rest[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&rest[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// Adds the paths at the beginning of `text`, with their lists expanded.
fn unfold(before: &[String], text: &str, found: &mut Vec<Vec<String>>) {
    let text = text.trim_start();
    if let Some(list) = text.strip_prefix('{') {
        return elements(list).into_iter().for_each(|element| unfold(before, element, found));
    }
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() {
        return;
    }
    let after = &text[name.len()..];
    let path = [before, &[name]].concat();
    match after.strip_prefix("::") {
        Some(rest) if rest.starts_with(|c: char| c == '{' || c == '_' || c.is_alphabetic()) => {
            unfold(&path, rest, found);
        }
        _ => found.push(path),
    }
}

/// Returns the paths after each `crate::platform` in `text`, with lists expanded.
fn platform_paths(text: &str) -> Vec<Vec<String>> {
    let (code, mut found) = (code(text), Vec::new());
    for path in code.split("crate::").skip(1) {
        unfold(&[], path, &mut found);
    }
    // A visibility, `pub(in crate::platform)`, is not a use.
    found.retain(|path| path.len() > 1 && path[0] == "platform");
    found.into_iter().map(|path| path[1..].to_vec()).collect()
}

/// Returns the files in a folder of the platform, as module paths with their text.
fn modules(folder: &str) -> Vec<(Vec<String>, String)> {
    let base = root().join("docs-core/src/platform");
    let mut files = rust_files(&base.join(folder));
    files.push(base.join(format!("{folder}.rs")));
    let module = |file: PathBuf| {
        let path = file.strip_prefix(&base).expect("a file of the platform").with_extension("");
        let path = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        (path, fs::read_to_string(&file).expect("a file"))
    };
    files.into_iter().map(module).collect()
}

/// Returns the violation if a platform module must not use a path.
fn forbidden(module: &[String], path: &[String]) -> Option<String> {
    let used = path.first().map_or("", String::as_str);
    let name = |what: &str| Some(format!("{} uses {}: {what}", module.join("/"), path.join("::")));
    let (_, allowed) = FOLDERS.iter().find(|(folder, _)| *folder == module[0]).expect("a folder");
    if used != module[0] {
        return if allowed.contains(&used) { None } else { name("not a lower folder") };
    }
    let (_, rooms) = ROOMS.iter().find(|(folder, _)| *folder == module[0])?;
    let at = |path: &[String]| rooms.iter().position(|room| Some(*room) == path.get(1).map(String::as_str));
    match (at(module), at(path)) {
        (None, _) if module.len() == 1 => None,
        (Some(own), Some(other)) if other <= own => None,
        _ => name("not a room before it"),
    }
}

/// Returns the methods of the platform that a module defines, and those that it calls.
fn methods(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut defined, mut called, mut inside) = (BTreeSet::new(), BTreeSet::new(), false);
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    for line in code(text).lines() {
        match line {
            "impl Platform {" => inside = true,
            "}" => inside = false,
            _ => {}
        }
        if inside && line.starts_with("    ") && !line.starts_with("     ") {
            defined.extend(line.split_once("fn ").map(|(_, rest)| name(rest)));
        }
        let receivers: &[&str] = if inside { &["platform.", "self."] } else { &["platform."] };
        for receiver in receivers {
            for rest in line.split(receiver).skip(1) {
                let method = name(rest);
                if rest[method.len()..].starts_with(['(', ':']) {
                    called.insert(method);
                }
            }
        }
    }
    (defined, called)
}

#[test]
fn folders_of_the_platform_use_lower_folders_only() {
    let mut violations = Vec::new();
    for (at, (folder, allowed)) in FOLDERS.iter().enumerate() {
        let before: BTreeSet<&str> = FOLDERS[..at].iter().map(|(folder, _)| *folder).collect();
        assert!(
            allowed.iter().all(|other| before.contains(other)),
            "{folder} is above a folder that it uses"
        );
        for (module, text) in modules(folder) {
            let paths = platform_paths(&text);
            violations.extend(paths.iter().filter_map(|path| forbidden(&module, path)));
        }
    }
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn tables_of_folders_and_rooms_are_complete() {
    let names = |folder: &Path| -> BTreeSet<String> {
        let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
        files.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect()
    };
    let base = root().join("docs-core/src/platform");
    let folders = FOLDERS.iter().map(|(folder, _)| (*folder).to_owned()).chain(["mod".to_owned()]);
    assert_eq!(names(&base), folders.collect());
    for (folder, rooms) in ROOMS {
        let rooms: BTreeSet<String> = rooms.iter().map(|room| (*room).to_owned()).collect();
        assert_eq!(names(&base.join(folder)), rooms, "{folder}");
    }
}

#[test]
fn super_stays_within_a_room() {
    for (folder, _) in FOLDERS {
        let outer = if ROOMS.iter().any(|(name, _)| name == folder) { 2 } else { 1 };
        for (module, text) in modules(folder) {
            let code = code(&text);
            let (own, tests) = code.split_once("mod tests {").unwrap_or((&code, ""));
            let within = module.len().saturating_sub(outer);
            for (part, most) in [(own, within), (tests, within + 1)] {
                let chain = "super::".repeat(most + 1);
                assert!(!part.contains(&chain), "{}: `{chain}` leaves the room", module.join("/"));
            }
        }
    }
}

#[test]
fn methods_of_the_platform_are_called_from_above() {
    let files: Vec<_> = FOLDERS.iter().flat_map(|(folder, _)| modules(folder)).collect();
    let files: Vec<_> = files.into_iter().map(|(module, text)| (module, methods(&text))).collect();
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (module, (defined, _)) in &files {
        for method in defined {
            places.entry(method).or_default().insert(&module[0]);
        }
    }
    let mut violations = Vec::new();
    for (module, (_, called)) in &files {
        let (folder, allowed) = FOLDERS.iter().find(|(folder, _)| *folder == module[0]).expect("a folder");
        for method in called {
            let Some(places) = places.get(method.as_str()) else { continue };
            if !places.iter().any(|place| place == folder || allowed.contains(place)) {
                violations.push(format!("{} calls {method} of {places:?}", module.join("/")));
            }
        }
    }
    assert!(places.len() > 100, "{}", places.len());
    assert!(violations.is_empty(), "{violations:#?}");
}

#[test]
fn paths_of_the_platform_are_unfolded() {
    let text = "use crate::{\n    Error,\n    platform::{Actor, a::{self, B}, c::D}, // crate::platform::no\n};\nfn f() { crate::platform::e::f(1) }\n";
    let found = platform_paths(text).iter().map(|path| path.join("::")).collect::<Vec<_>>();
    assert_eq!(found, ["Actor", "a::self", "a::B", "c::D", "e::f"]);
    let of = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(forbidden(&of("library::head"), &of("people::users::find")), None);
    assert_eq!(forbidden(&of("library::spaces"), &of("library::head::create_in")), None);
    for (module, path) in [
        ("kernel::urls", "content::read::Located"),
        ("library::head", "library::spaces::Spaces"),
        ("people::users", "Platform"),
    ] {
        assert!(forbidden(&of(module), &of(path)).is_some(), "{module} {path}");
    }
}

#[test]
fn methods_are_found_in_impls_of_the_platform() {
    let text = "impl Platform {\n    pub async fn a(&self) {\n        self.b().await;\n    }\n}\nimpl C {\n    fn d(&self, platform: &Platform) {\n        self.e();\n        platform.f();\n    }\n}\n";
    let (defined, called) = methods(text);
    assert_eq!((defined, called), (["a"].map(str::to_owned).into(), ["b", "f"].map(str::to_owned).into()));
}
