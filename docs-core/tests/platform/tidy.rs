//! Rules of the repository that a program can check.

use std::{fs, path::Path};

/// Who may depend on whom, outside of tests.
const LAYERS: &[(&str, &[&str])] = &[
    ("docs-core", &[]),
    ("docs-memstore", &["docs-core"]),
    ("docs-sqlstore", &["docs-core"]),
    ("docs-http", &["docs-core"]),
    ("adapters/docs-blobs", &["docs-core", "docs-web"]),
    ("adapters/docs-convert", &["docs-core"]),
    ("adapters/docs-git", &["docs-core", "docs-web"]),
    ("adapters/docs-search", &["docs-core"]),
    ("adapters/docs-pdf", &["docs-core"]),
    ("adapters/docs-web", &["docs-core"]),
    ("adapters/docs-worker", &["docs-core"]),
    (
        "docs-server",
        &[
            "docs-blobs",
            "docs-convert",
            "docs-core",
            "docs-git",
            "docs-http",
            "docs-memstore",
            "docs-search",
            "docs-pdf",
            "docs-sqlstore",
            "docs-web",
            "docs-worker",
        ],
    ),
    ("examples", &["docs-server"]),
    ("benches", &["docs-core", "docs-memstore"]),
];

/// What the core never names: its runtime's sockets, HTTP, databases, Git libraries.
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
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// The names under `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(manifest).join("Cargo.toml")).expect("a manifest");
    let section = text.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let names = section.lines().skip(1).filter(|line| !line.starts_with('#'));
    names
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|n| !n.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn dependencies_point_one_way() {
    for (package, allowed) in LAYERS {
        let named = dependencies(package);
        for ours in named.iter().filter(|name| name.starts_with("docs-")) {
            assert!(allowed.contains(&ours.as_str()), "{package} must not depend on {ours}");
        }
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let members = workspace.lines().find(|line| line.starts_with("members")).expect("members");
    assert_eq!(
        members.matches('"').count() / 2,
        LAYERS.len(),
        "a new package needs its place in this table: {members}"
    );
}

#[test]
fn the_core_names_no_transport_and_no_engine() {
    let named = dependencies("docs-core");
    for name in NOT_IN_CORE {
        assert!(!named.iter().any(|dependency| dependency == name), "docs-core must not depend on {name}");
    }
}

#[test]
fn versions_stand_in_the_workspace_only() {
    for (package, _) in LAYERS {
        let text = fs::read_to_string(root().join(package).join("Cargo.toml")).expect("a manifest");
        let own: Vec<&str> = text.lines().filter(|line| line.contains("version = \"")).collect();
        assert!(own.is_empty(), "{package}: {own:?}");
    }
}
