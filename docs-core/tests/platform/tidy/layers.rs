//! Permitted dependencies between crates, and between the layers of docs-core.

use std::{collections::BTreeSet, fs};

use super::{packages, root, rust_files};

/// The permitted dependencies of each crate, without dev-dependencies, in topological order.
pub(super) const LAYERS: &[(&str, &[&str])] = &[
    ("docs-hostile", &[]),
    ("docs-disk", &[]),
    ("docs-expression", &[]),
    ("docs-formula", &[]),
    ("docs-model", &["docs-expression"]),
    ("docs-markup", &["docs-model"]),
    ("docs-ports", &["docs-model"]),
    ("docs-store", &["docs-model"]),
    ("docs-content", &["docs-expression", "docs-markup", "docs-model", "docs-store"]),
    (
        "docs-core",
        &["docs-content", "docs-expression", "docs-markup", "docs-model", "docs-ports", "docs-store"],
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

/// The first path segment after each `crate::` of a text, without its comments.
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
fn names_of_the_crate_are_found_in_every_form_of_use() {
    let text = "use crate::{\n    Error,\n    model::{A, b::{C, D}},\n    store::E, // crate::not_this\n};\nuse crate::platform::F;\nfn f() -> crate::Result<()> {}\n";
    let names = names_of_the_crate(text);
    assert_eq!(
        names.iter().map(String::as_str).collect::<Vec<_>>(),
        ["Error", "Result", "model", "platform", "store"]
    );
}

#[test]
fn the_core_names_no_transport_and_no_engine() {
    let packages = packages();
    let (core, of_it) = LAYERS.iter().find(|(name, _)| *name == "docs-core").expect("the core");
    for ours in of_it.iter().chain([core]) {
        for name in NOT_IN_CORE {
            assert!(!packages[*ours].dependencies.contains(*name), "{ours} must not depend on {name}");
        }
    }
}

#[test]
fn versions_stand_in_the_workspace_only() {
    for (name, package) in packages() {
        let text = fs::read_to_string(package.manifest).expect("a manifest");
        let own: Vec<&str> = text.lines().filter(|line| line.contains("version = \"")).collect();
        assert!(own.is_empty(), "{name}: {own:?}");
    }
}
