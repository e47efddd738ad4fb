//! Files that mention flags, features and crates: the image, the systemd unit, the README, ARCHITECTURE and the
//! handbook. Flags in them are validated with the program's own parser, so that none of these files becomes outdated.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use clap::{Arg, Command, CommandFactory as _, Parser as _};
use docs_server::Cli;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the program's flags, keyed by environment variable.
fn flags() -> BTreeMap<String, Arg> {
    let of = |arg: &Arg| Some((arg.get_env()?.to_str()?.to_owned(), arg.clone()));
    Cli::command().get_arguments().filter_map(of).collect()
}

fn long(arg: &Arg) -> String {
    format!("--{}", arg.get_long().expect("every flag has a long name"))
}

/// Asserts that the program accepts these arguments.
#[track_caller]
fn parses(words: &[String]) {
    if let Err(error) = Cli::try_parse_from(words) {
        panic!("{words:?}: {error}");
    }
}

/// Asserts that the program accepts this assignment of an environment variable.
#[track_caller]
fn sets(assignment: &str) {
    let (name, value) = assignment.split_once('=').expect("NAME=VALUE");
    let flags = flags();
    let flag = flags.get(name).unwrap_or_else(|| panic!("no flag reads {name}"));
    parses(&["docs-server".to_owned(), long(flag), value.trim_matches('"').to_owned()]);
}

/// Parses a bracketed list of quoted words.
fn words(list: &str) -> Vec<String> {
    serde_json::from_str(list).unwrap_or_else(|error| panic!("{list}: {error}"))
}

#[test]
fn every_flag_has_an_environment_variable_and_help() {
    fn check(command: &Command) {
        for arg in command.get_arguments().filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"))
        {
            assert!(arg.get_help().is_some(), "{}", arg.get_id());
        }
        command.get_subcommands().for_each(check);
    }
    check(&Cli::command());
    for arg in Cli::command().get_arguments().filter(|arg| arg.get_long().is_some()) {
        let id = arg.get_id().as_str();
        assert!(matches!(id, "help" | "version") || arg.get_env().is_some(), "{id}");
    }
    Cli::command().debug_assert();
}

#[test]
fn dockerfile_uses_existing_flags_and_variables() {
    let text = read("Dockerfile");
    let after = |word: &str| -> Vec<&str> {
        text.lines().filter_map(|line| line.strip_prefix(word)).map(str::trim).collect()
    };
    let variables: Vec<_> = after("ENV ").into_iter().filter(|line| line.starts_with("DOCS_")).collect();
    assert!(variables.len() >= 2, "{variables:?}");
    variables.into_iter().for_each(sets);
    let entry = words(after("ENTRYPOINT ")[0]);
    parses(&entry);
    let health = after("HEALTHCHECK ")[0];
    let health = words(health.split_once("CMD ").expect("a command").1);
    assert_eq!((health[0].as_str(), health[1].as_str()), (entry[0].as_str(), "health"));
    parses(&health);
    let user = after("USER ")[0];
    assert!(user != "0" && user != "root", "{user}");
    // The image's Rust version can build the workspace.
    let needed = read("Cargo.toml");
    let needed = needed.lines().find_map(|line| line.strip_prefix("rust-version = ")).expect("a version");
    assert_eq!(after("ARG RUST_VERSION="), [needed.trim_matches('"')]);
    // Files needed for the build are not excluded from the image.
    for line in read(".dockerignore").lines().filter(|line| !line.starts_with(['#', '!'])) {
        for needed in ["Cargo.toml", "Cargo.lock", "docs-", "adapters", "examples", "benches"] {
            assert!(!line.starts_with(needed), "{line}");
        }
    }
}

#[test]
fn systemd_unit_uses_existing_flags_and_variables() {
    let text = read("packaging/docs-server.service");
    let after =
        |word: &str| -> Vec<&str> { text.lines().filter_map(|line| line.strip_prefix(word)).collect() };
    let start = after("ExecStart=");
    assert_eq!(start.len(), 1);
    parses(&start[0].split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    let variables = after("Environment=");
    assert!(variables.len() >= 2, "{variables:?}");
    variables.into_iter().for_each(sets);
    // Variables in the comments exist.
    for word in
        text.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).filter(|word| word.starts_with("DOCS_"))
    {
        assert!(flags().contains_key(word), "no flag reads {word}");
    }
    for hardening in ["NoNewPrivileges=yes", "ProtectSystem=strict", "DynamicUser=yes", "PrivateDevices=yes"]
    {
        assert!(text.lines().any(|line| line == hardening), "{hardening}");
    }
}

/// Parses the flags and variables in the first two columns of a table.
fn rows(text: &str) -> BTreeMap<String, String> {
    let cells = |line: &str| -> Option<(String, String)> {
        let mut cells =
            line.strip_prefix('|')?.split('|').map(|cell| cell.trim().trim_matches('`').to_owned());
        Some((cells.next()?, cells.next()?)).filter(|(_, variable)| variable.starts_with("DOCS_"))
    };
    text.lines().filter_map(cells).collect()
}

#[test]
fn the_handbook_lists_every_flag() {
    let flags: BTreeMap<String, String> = flags().iter().map(|(env, arg)| (long(arg), env.clone())).collect();
    assert_eq!(rows(&read("examples/handbook/reference/server-flags.md")), flags);
}

/// Returns all features of a manifest, and the default ones.
fn features(manifest: &str) -> (BTreeSet<String>, Vec<String>) {
    let table = manifest.split_once("[features]\n").expect("features").1;
    let lines = table.lines().take_while(|line| !line.starts_with('[')).filter(|line| !line.starts_with('#'));
    let all: BTreeMap<_, _> = lines.filter_map(|line| line.split_once(" = ")).collect();
    let default = all.get("default").map_or_else(Vec::new, |list| words(list));
    (all.into_keys().filter(|name| *name != "default").map(str::to_owned).collect(), default)
}

/// Returns the inline code in Markdown.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the manifest of a crate.
fn manifest(name: &str) -> String {
    let members = read("Cargo.toml");
    let members = members.lines().find_map(|line| line.strip_prefix("members = ")).expect("members");
    let member = words(members).into_iter().find(|member| member.rsplit('/').next() == Some(name));
    read(&format!("{}/Cargo.toml", member.unwrap_or_else(|| panic!("{name} is no crate of the workspace"))))
}

#[test]
fn the_handbook_and_the_crate_documentation_list_every_feature() {
    let guide = read("examples/handbook/embedding/inside-a-rust-service.md");
    let table = guide.split_once("| Crate | Feature | What it adds |").expect("a table").1;
    let rows = table.lines().skip(2).map_while(|line| line.strip_prefix("| "));
    let mut listed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows {
        let (crates, row) = row.split_once(" | ").expect("a second cell");
        let cell = row.split_once(" | ").expect("a third cell").0;
        let named = quoted(cell);
        for name in quoted(crates) {
            let (_, default) = features(&manifest(&name));
            let all_by_default = named.iter().all(|feature| default.contains(feature));
            assert_eq!(cell.ends_with("(all by default)"), all_by_default, "{name}: {cell}");
            listed.entry(name).or_default().extend(named.iter().cloned());
        }
    }
    assert!(listed.len() >= 6, "{listed:?}");
    for (name, listed) in listed {
        // If a crate has default features, its other features are internal parts of those.
        let (all, default) = features(&manifest(&name));
        let offered = if default.is_empty() { all } else { default.into_iter().collect() };
        assert_eq!(listed, offered, "{name}");
    }
    let library = read("docs-server/src/lib.rs");
    let rows = library.lines().filter_map(|line| line.strip_prefix("//! | `")?.split('`').next());
    assert_eq!(rows.collect::<Vec<_>>(), features(&manifest("docs-server")).1);
}

#[test]
fn the_readme_names_the_dependencies_of_its_example() {
    let readme = read("README.md");
    let library = readme.split_once("## Three ways to use it").expect("a chapter").1;
    let block = |language: &str| {
        let block = library.split_once(&format!("```{language}\n")).expect("a block").1;
        block.split_once("```").expect("its end").0
    };
    let (dependencies, code) = (block("toml"), block("rust"));
    let mut named = BTreeSet::new();
    for line in dependencies.lines().filter(|line| line.contains(" = ")) {
        let (name, rest) = line.split_once(" = ").expect("a dependency");
        if name.starts_with("docs-") {
            assert!(rest.contains(&format!("path = \"../docs/{name}\"")), "{line}");
            assert!(manifest(name).contains(&format!("name = \"{name}\"")), "{line}");
        }
        named.insert(name.replace('-', "_"));
    }
    let outside = |line: &str| {
        let path = line.strip_prefix("use ").or_else(|| line.strip_prefix("#["))?;
        path.split("::").next().filter(|name| *name != "std").map(str::to_owned)
    };
    let used: BTreeSet<String> = code.lines().filter_map(outside).collect();
    assert_eq!(named, used);
}

/// Returns the names in the first column of a table of crates.
fn listed_crates(file: &str, head: &str) -> BTreeSet<String> {
    let text = read(file);
    let table = text.split_once(head).unwrap_or_else(|| panic!("{file}: no table `{head}`")).1;
    let names = table.lines().skip(2).map_while(|line| line.strip_prefix("| `")?.split('`').next());
    names.map(str::to_owned).collect()
}

#[test]
fn architecture_lists_every_crate() {
    let manifest = read("Cargo.toml");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = ")).expect("members");
    let members: BTreeSet<String> = words(members).into_iter().collect();
    assert_eq!(listed_crates("ARCHITECTURE.md", "| crate | what it is |"), members);
}

#[test]
fn the_handbook_names_every_crate_for_embedders() {
    let manifest = read("Cargo.toml");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = ")).expect("members");
    let guide = read("examples/handbook/embedding/inside-a-rust-service.md");
    let names =
        words(members).into_iter().filter(|member| !matches!(member.as_str(), "examples" | "benches"));
    let missing: Vec<String> = names
        .filter(|member| !guide.contains(&format!("`{}`", member.rsplit('/').next().unwrap_or(member))))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Returns the first of `folders`, from the last, in which `path` exists, joined with it.
fn resolve(folders: &[PathBuf], path: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    folders.iter().rev().map(|folder| folder.join(path)).find(|path| root.join(path).exists())
}

/// A path in a row is relative to the repository, or to a folder above or at an earlier path of the row.
#[test]
fn architecture_names_only_existing_files() {
    let text = read("ARCHITECTURE.md");
    let table = text.split_once("## Where a change goes").expect("the table").1;
    let mut missing = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        let mut folders = vec![PathBuf::new()];
        let paths = quoted(row).into_iter().filter(|it| !it.contains(['<', '*', '…', ' ', ':']));
        for path in paths.filter(|it| it.ends_with(".rs") || it.find('/').is_some_and(|at| at > 0)) {
            let Some(found) = resolve(&folders, &path) else {
                missing.push(path);
                continue;
            };
            folders.extend(found.ancestors().map(Path::to_owned));
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
