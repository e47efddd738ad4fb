//! The files of a crate do not use each other in cycles.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
    path::Path,
};

use super::{modules::Modules, packages};

/// Path prefixes of files that may form cycles, by crate, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("docs-core", "platform/host/", MOVED),
    ("docs-core", "platform/jobs", MOVED),
    ("docs-core", "platform/library/", MOVED),
    ("docs-core", "platform/people/", MOVED),
    ("docs-core", "records/", MOVED),
];
const MOVED: &str = "being moved into layers";

type Uses = BTreeMap<(usize, usize), BTreeSet<String>>;

/// Returns a shortest cycle through a file, as the files in order. The last one uses the first.
fn cycle_through(file: usize, uses: &Uses) -> Option<Vec<usize>> {
    let mut reached_from = BTreeMap::new();
    let mut queue = VecDeque::from([file]);
    while let Some(at) = queue.pop_front() {
        for (_, next) in uses.keys().filter(|(from, _)| *from == at) {
            if *next == file {
                let mut cycle = vec![at];
                while let Some(before) = reached_from.get(&cycle[cycle.len() - 1]) {
                    cycle.push(*before);
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !reached_from.contains_key(next) {
                reached_from.insert(*next, at);
                queue.push_back(*next);
            }
        }
    }
    None
}

/// Returns the shortest cycle through each file that is part of one, without duplicates, shortest first.
fn cycles(files: usize, uses: &Uses) -> Vec<Vec<usize>> {
    let mut found = BTreeMap::new();
    for cycle in (0..files).filter_map(|file| cycle_through(file, uses)) {
        let mut key = cycle.clone();
        key.sort_unstable();
        found.entry((key.len(), key)).or_insert(cycle);
    }
    found.into_values().collect()
}

/// Returns the cycles in a crate, one per line.
fn cycles_of(source: &Path) -> Vec<String> {
    let mut described = Vec::new();
    for main in ["lib.rs", "main.rs"].map(|name| source.join(name)).iter().filter(|path| path.is_file()) {
        let modules = Modules::read(main);
        let uses = modules.uses();
        let name =
            |file: usize| modules.files[file].strip_prefix(source).expect("a file of the crate").display();
        for cycle in cycles(modules.files.len(), &uses) {
            let next = cycle.iter().cycle().skip(1);
            let steps = cycle.iter().zip(next).map(|(from, to)| {
                let names: Vec<&str> = uses[&(*from, *to)].iter().map(String::as_str).collect();
                format!("{} uses {} ({})", name(*from), name(*to), names.join(", "))
            });
            described.push(steps.collect::<Vec<_>>().join("; "));
        }
    }
    described
}

#[test]
fn files_of_a_crate_form_no_cycle() {
    let mut found = Vec::new();
    for (name, package) in packages() {
        let cycles = cycles_of(&package.manifest.with_file_name("src"));
        let exceptions: Vec<_> = EXCEPTIONS.iter().filter(|(exception, ..)| *exception == name).collect();
        for (_, start, reason) in &exceptions {
            let is_needed = cycles.iter().any(|cycle| cycle.starts_with(start));
            assert!(is_needed, "{name} has no cycle in {start}: delete its exception ({reason})");
        }
        let is_excepted = |cycle: &String| exceptions.iter().any(|(_, start, _)| cycle.starts_with(start));
        found.extend(
            cycles.iter().filter(|cycle| !is_excepted(cycle)).map(|cycle| format!("{name}: {cycle}")),
        );
    }
    assert!(found.is_empty(), "{} cycles between files:\n{}", found.len(), found.join("\n"));
}

/// Returns the cycles in a crate with these files.
fn cycles_in(files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is created");
        fs::write(path, text).expect("a file is written");
    }
    cycles_of(folder.path())
}

#[test]
fn a_cycle_is_found_in_every_form_of_use() {
    let uses = [
        "use crate::b::B;",
        "use super::{b::{self, B as C}};",
        "use crate::b::B as _;",
        "pub use crate::b::B; fn f(_: B) {}",
        "use crate::B;",
        "use crate::b::*; fn f(_: B) {}",
        "fn f(_: crate::b::B) {}",
        "use crate::b; fn f() { b::B::new() }",
        "fn f() { use crate::b::B; }",
        "fn f() { html! { (crate::b::B) } }",
        "macro_rules! m { () => { $crate::b::B } }",
        "struct S { #[serde(with = \"crate::b\")] text: B, #[serde(default = \"crate::b::B::new\")] b: B }",
        "mod inner { use super::super::b::B; }",
    ];
    for using in uses {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::B;"),
            ("a.rs", &format!("pub struct A; {using}")),
            ("b.rs", "use super::a::A; pub struct B; impl B { pub fn new() {} }"),
        ];
        assert_eq!(cycles_in(&files).len(), 1, "{using}");
    }
}

#[test]
fn declarations_reexports_and_tests_are_no_uses() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use b::B; pub(crate) use a::*;"),
        ("a.rs", "pub struct A; use crate::B; /// [`crate::not::there`]\nfn f(_: B) { \"crate::b\"; }"),
        (
            "b.rs",
            "mod c; pub use c::C; pub struct B; #[cfg(test)] mod tests { use crate::a::A; } #[cfg(test)] use crate::a::A; #[cfg(test)] mod d;",
        ),
        ("b/c.rs", "use super::B; pub struct C; fn f() { b.a(); }"),
    ];
    assert_eq!(cycles_in(&files), Vec::<String>::new());
}

#[test]
fn a_module_and_a_function_can_share_a_name() {
    let files = [
        ("lib.rs", "mod print; mod a; mod b; pub use a::print;"),
        ("a.rs", "use crate::b::B; pub fn print() {}"),
        ("b.rs", "use super::print; pub struct B; fn f() { print::g() }"),
        ("print.rs", "pub fn g() {}"),
    ];
    assert_eq!(cycles_in(&files), Vec::<String>::new());
}

#[test]
fn a_glob_import_brings_no_private_imports() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; pub use b::*; use c::*; fn f(_: A) {}"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "use crate::a::A; use crate::c::C;"),
        ("c.rs", "use crate::b::B; pub struct C; use crate::a::A;"),
    ];
    assert_eq!(cycles_in(&files).len(), 1);
}

#[test]
fn a_child_and_its_parent_form_a_cycle() {
    let files = [
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod c; struct A; fn f() { c::g() }"),
        ("a/c.rs", "use super::A; pub fn g() {}"),
    ];
    assert_eq!(cycles_in(&files), ["a/mod.rs uses a/c.rs (c::g); a/c.rs uses a/mod.rs (super::A)"]);
}

#[test]
fn a_macro_belongs_to_the_file_that_defines_it() {
    let files = [
        ("main.rs", "mod a; fn main() { a::f() }"),
        ("a.rs", "macro_rules! m { () => {} } mod c; pub fn f() { c::g() }"),
        ("a/c.rs", "pub fn g() { m!() }"),
    ];
    assert_eq!(cycles_in(&files), ["a.rs uses a/c.rs (c::g); a/c.rs uses a.rs (m!)"]);
}

#[test]
fn a_longer_cycle_is_found_once() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "pub struct A; use crate::b::B;"),
        ("b.rs", "pub struct B; use crate::c::C;"),
        ("c.rs", "pub struct C; use crate::a::A;"),
    ];
    assert_eq!(cycles_in(&files).len(), 1);
}
