//! Public functions: their parameters, and the examples of the platform's operations.

use std::{collections::BTreeSet, fs};

use super::{
    root, rust_files,
    source::{Item, items},
    sources,
};

/// What the files of the platform show to everybody.
fn of_the_platform() -> Vec<Item> {
    let texts = rust_files(&root().join("docs-core/src/platform")).into_iter();
    texts.flat_map(|file| items(&fs::read_to_string(file).expect("a file"))).collect()
}

#[test]
fn the_platform_itself_has_fewer_than_25_methods() {
    let all = of_the_platform();
    let methods = all.iter().filter(|item| item.of == "Platform" && item.parameters.is_some());
    let names: Vec<&str> = methods.map(|item| item.name.as_str()).collect();
    assert!(names.contains(&"as_user"), "{names:?}");
    assert!(names.len() < 25, "{} methods: {names:?}", names.len());
}

/// The names of the nouns: the types that begin a call, and what `nouns.rs` declares.
fn nouns(text: &str) -> BTreeSet<String> {
    let declared = text.split_once("nouns! {").and_then(|(_, rest)| rest.split_once("\n}\n"));
    let (declared, _) = declared.expect("the nouns are declared in one place");
    let names = declared.lines().filter_map(|line| line.trim_start().split_once(" {"));
    let names = names.map(|(name, _)| name).filter(|name| name.chars().all(char::is_alphanumeric));
    ["Caller", "Platform"].into_iter().chain(names).map(str::to_owned).collect()
}

/// Tells whether a comment has an example: a block of code under its heading.
fn has_an_example(said: &str) -> bool {
    said.split_once("# Example\n").is_some_and(|(_, example)| example.matches("```\n").count() == 2)
}

#[test]
fn every_operation_has_an_example() {
    let text = fs::read_to_string(root().join("docs-core/src/platform/nouns.rs")).expect("the nouns");
    let nouns = nouns(&text);
    assert!(nouns.contains("SpaceHandle") && nouns.len() > 30, "{nouns:?}");
    let (mut methods, mut types) = (0, BTreeSet::new());
    for item in of_the_platform() {
        if item.parameters.is_some() && nouns.contains(&item.of) {
            assert!(has_an_example(&item.said), "{}::{} has no example", item.of, item.name);
            methods += 1;
        } else if item.parameters.is_none() && nouns.contains(&item.name) {
            assert!(has_an_example(&item.said), "{} has no example", item.name);
            types.insert(item.name);
        }
    }
    assert_eq!(types, nouns, "each noun says what it is");
    assert!(methods > 200, "{methods} methods");
}

#[test]
fn an_example_is_a_block_of_code_under_its_heading() {
    assert!(has_an_example("Lists.\n\n# Example\n```\nlist();\n```\n"));
    assert!(!has_an_example("Lists.\n```\nlist();\n```\n"));
    assert!(!has_an_example("Lists.\n\n# Example\nAs one thinks.\n"));
}

/// Refuses public functions with a parameter of a type.
fn no_parameter_is(of_that_kind: impl Fn(&str) -> bool) {
    let mut functions = 0;
    for file in sources() {
        for item in items(&fs::read_to_string(&file).expect("a file")) {
            let wrong = item.types().find(|of| of_that_kind(of));
            assert_eq!(wrong, None, "{} {}::{}", file.display(), item.of, item.name);
            functions += usize::from(item.parameters.is_some());
        }
    }
    assert!(functions > 900, "{functions}");
}

#[test]
fn no_public_function_takes_a_tuple_for_two_arguments() {
    no_parameter_is(|of| of.starts_with('('));
}

#[test]
fn no_public_function_takes_a_bool() {
    no_parameter_is(|of| ["bool", "&bool", "&mut bool", "Option<bool>"].contains(&of));
}

#[test]
fn every_kind_of_job_is_known_by_a_name_of_its_own() {
    let found = rust_files(&root().join("docs-core/src/platform"));
    let texts: Vec<String> = found.iter().map(|file| fs::read_to_string(file).expect("a file")).collect();
    let names: BTreeSet<&str> = texts
        .iter()
        .flat_map(|text| text.split("\nimpl Job for ").skip(1))
        .filter_map(|job| job.split_once("const KIND: &'static str = \"")?.1.split('"').next())
        .collect();
    let jobs: usize = texts.iter().map(|text| text.matches("\nimpl Job for ").count()).sum();
    let known: usize = texts.iter().map(|text| text.matches("    Kind::of::<").count()).sum();
    assert!(jobs > 5, "{jobs}");
    assert_eq!((names.len(), known), (jobs, jobs), "{names:?}");
}
