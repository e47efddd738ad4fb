//! Repository rules that are checked automatically.

mod caches;
mod citations;
mod cycles;
mod language;
mod layers;
mod modules;
mod numbers;
mod sizes;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value as Json;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

struct Package {
    manifest: PathBuf,
    /// The dependencies of the package, without dev-dependencies.
    dependencies: BTreeSet<String>,
}

/// Returns the packages of the workspace by name, from `cargo metadata`.
fn packages() -> BTreeMap<String, Package> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let answer = Command::new(cargo).args(asked).current_dir(root()).output().expect("cargo runs");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let workspace: Json = serde_json::from_slice(&answer.stdout).expect("JSON");
    let text = |json: &Json| json.as_str().expect("a text").to_owned();
    let package = |json: &Json| {
        let dependencies = json["dependencies"].as_array().expect("a list").iter();
        let built_of = dependencies.filter(|dependency| dependency["kind"] != "dev");
        let dependencies = built_of.map(|dependency| text(&dependency["name"])).collect();
        (text(&json["name"]), Package { manifest: text(&json["manifest_path"]).into(), dependencies })
    };
    workspace["packages"].as_array().expect("a list").iter().map(package).collect()
}

/// Returns the files with an extension in a folder, recursively. An empty extension matches all. Build output and
/// hidden folders are skipped, except those of CI and `.gitbook`.
pub(crate) fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            let is_hidden = name.starts_with('.') && ![".ci", ".gitbook"].contains(&name.as_str());
            if !is_hidden && name != "target" {
                found.extend(files(&path, extension));
            }
        } else if extension.is_empty() || path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, "rs")
}

/// Returns the source files of all packages, without tests.
fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for package in packages().values() {
        let source = package.manifest.with_file_name("src");
        if source.is_dir() {
            found.extend(rust_files(&source));
        }
    }
    let in_tests = |file: &PathBuf| file.iter().any(|part| part == "tests" || part == "tests.rs");
    found.retain(|file| !in_tests(file));
    assert!(found.len() > 300, "{}", found.len());
    found
}
