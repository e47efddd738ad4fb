//! Malicious and large specifications: time and memory are bounded.

use std::{fmt::Write as _, time::Duration};

use bytes::Bytes;
use cpu_time::ProcessTime;
use docs_openapi::read;
use docs_ports::{MAX_SPEC_BYTES, MAX_SPEC_PROBLEMS, ReadSpec, SpecError, SpecFile, SpecFiles};
use proptest::prelude::*;

fn try_read(text: String) -> Result<ReadSpec, SpecError> {
    let entry = SpecFile { bytes: Bytes::from(text), ..SpecFile::default() };
    read(&SpecFiles { entry, others: Vec::new() })
}

/// Reads a specification, and returns its first problem and the CPU time, including the reader thread.
fn told(text: String) -> (String, Duration) {
    let began = ProcessTime::now();
    let spec = try_read(text).expect("read");
    (spec.problems.first().map(|it| it.message.clone()).unwrap_or_default(), began.elapsed())
}

const START: &str = "openapi: 3.1.0\ninfo: {title: A, version: '1'}\n";

/// Maximum time of a test in an unoptimised build.
const LONG: Duration = Duration::from_secs(20);

#[test]
fn alias_bombs_and_deep_nesting_are_refused_in_time() {
    let mut bomb = format!("{START}paths: {{}}\nx-a: &a [x,x,x,x,x,x,x,x,x]\n");
    for level in b'b'..b'm' {
        let (this, before) = (char::from(level), char::from(level - 1));
        writeln!(bomb, "x-{this}: &{this} [{}]", vec![format!("*{before}"); 9].join(",")).expect("written");
    }
    for text in [
        bomb,
        "[".repeat(1_000_000),
        "{\"a\":".repeat(1_000_000),
        format!("{START}paths: {{}}\nx: {}{}\n", "[".repeat(10_000), "]".repeat(10_000)),
        format!("{{\"openapi\":\"3.0.0\",\"x\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("{START}paths: {{}}\n{}", "? ".repeat(100_000)),
        format!("{START}paths: {{}}\n{}", "- ".repeat(100_000)),
        format!("x: &x\n  y: *x\n{START}paths: {{}}\n"),
        "!".repeat(1_000_000),
    ] {
        let start: String = text.chars().take(60).collect();
        let (message, took) = told(text);
        assert!(message.contains("must be valid"), "{start}: {message}");
        assert!(took < LONG, "{start}: {took:?}");
    }
}

#[test]
fn exceeded_limits_are_rejected_with_the_number() {
    let nodes = format!("{{\"openapi\":\"3.0.0\",\"x\":[{}0]}}", "0,".repeat(4_000_000));
    let (message, took) = told(nodes);
    assert!(message.contains("must have at most 1000000 values"), "{message}");
    assert!(took < LONG, "{took:?}");
    let large = try_read("x".repeat(MAX_SPEC_BYTES + 1)).expect_err("too large");
    assert!(matches!(&large, SpecError::TooLarge(why) if why.contains("20000000")), "{large}");
    let paths: String = (0..100_000).fold(String::new(), |mut text, n| {
        writeln!(text, "  /{n}: {{get: {{responses: {{}}}}}}").expect("written");
        text
    });
    let (message, took) = told(format!("{START}paths:\n{paths}"));
    assert_eq!(message, "must have at most 20000 paths, has 100000");
    assert!(took < LONG, "{took:?}");
    let tags: String = (0..2_001).map(|n| format!("  - {{name: t{n}}}\n")).collect();
    assert_eq!(told(format!("{START}paths: {{}}\ntags:\n{tags}")).0, "must have at most 2000 tags, has 2001");
    let operations: String = (0..2_600).fold(String::new(), |mut text, n| {
        let all = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
        let all = all.map(|method| format!("{method}: {{tags: [t{n}]}}")).join(", ");
        writeln!(text, "  /{n}: {{{all}}}").expect("written");
        text
    });
    let spec = try_read(format!("{START}paths:\n{operations}")).expect("read");
    let told_of: Vec<&str> = spec.problems.iter().map(|it| it.message.as_str()).collect();
    let expected = [
        "must have at most 20000 operations, has 20800",
        "must have at most 2000 tags of operations, has 2600",
    ];
    assert_eq!(told_of, expected);
    let many = vec!["t"; 101].join(", ");
    let (message, _) = told(format!("{START}paths:\n  /a: {{get: {{tags: [{many}]}}}}\n"));
    assert_eq!(message, "must have at most 100 tags, has 101");
    let (message, _) = told(format!("{START}paths:\n  ? /{}\n  : {{get: {{}}}}\n", "a".repeat(2_000)));
    assert_eq!(message, "must be at most 2000 characters");
}

/// Returns 8 MB of text: `start`, a repeated fragment, and `end`.
fn full_of(piece: &str, start: &str, end: &str) -> String {
    format!("{start}{}{end}", piece.repeat((8_000_000 - start.len() - end.len()) / piece.len()))
}

fn ends_soon(name: &str, text: String) {
    let (_, took) = told(text);
    println!("{name}: {took:?}");
    assert!(took < LONG, "{name}: {took:?}");
}

#[test]
fn yaml_filled_with_one_text_construct_is_handled_quickly() {
    fill_yaml(&[
        ("spaces", "x: ", " ", ""),
        ("lines", "", "\n", ""),
        ("comments", "", "# a\n", ""),
        ("block texts", "x:\n", "- |\n a\n", ""),
        ("a folded text", "x: >\n", " a\n", ""),
        ("quotes", "x: '", "''", "'\n"),
        ("escapes", "x: \"", "\\u0041", "\"\n"),
        ("colons", "x: ", ":", "\n"),
        ("words", "x: ", "a ", "\n"),
    ]);
}

#[test]
fn yaml_filled_with_one_node_construct_is_handled_quickly() {
    let long = format!("x: &a {}\ny:\n", "a".repeat(1_000_000));
    fill_yaml(&[
        ("documents", "", "---\n", ""),
        ("anchors", "x:\n", "- &a 1\n", ""),
        ("aliases", "x: &a 1\ny:\n", "- *a\n", ""),
        ("aliases of a long text", &long, "- *a\n", ""),
        ("merges", "x: &a {b: 1}\ny:\n", "- {<<: *a}\n", ""),
        ("tags", "x:\n", "- !!str a\n", ""),
        ("explicit keys", "", "? a\n: b\n", ""),
        ("braces", "x: ", "{", ""),
        ("dashes", "x:\n", "- - - - - - - -\n", ""),
    ]);
}

/// Reads YAML documents of the maximum size, each with a repeated fragment.
fn fill_yaml(constructs: &[(&str, &str, &str, &str)]) {
    for (name, start, piece, end) in constructs {
        ends_soon(name, full_of(piece, &format!("{START}paths: {{}}\n{start}"), end));
    }
}

#[test]
fn json_filled_with_one_construct_is_handled_quickly() {
    let refs: String = (0..150_000).fold(String::new(), |mut text, n| {
        write!(text, ",\"s{n}\":{{\"$ref\":\"#/components/schemas/s{}\"}}", n + 1).expect("written");
        text
    });
    let schemas = format!("\"components\":{{\"schemas\":{{\"a\":{{}}{refs}}}}},\"x\":\"");
    for (name, start, piece, end) in [
        ("spaces", "\"x\":", " ", "1}"),
        ("numbers", "\"x\":[", "1,", "1]}"),
        ("digits", "\"x\":", "1", "}"),
        ("escapes", "\"x\":\"", "\\u0000", "\"}"),
        ("names", "", "\"a\":1,", "\"b\":1}"),
        ("objects", "\"x\":[", "{},", "{}]}"),
        ("references", &schemas, "x", "\"}"),
    ] {
        let info = "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"A\",\"version\":\"1\"},\"paths\":{},";
        ends_soon(name, full_of(piece, &format!("{info}{start}"), end));
    }
}

#[test]
fn circular_and_long_reference_chains_terminate() {
    let mut schemas = String::new();
    for n in 0..20_000 {
        let next = (n + 1) % 20_000;
        writeln!(schemas, "    S{n}: {{$ref: '#/components/schemas/S{next}'}}").expect("written");
    }
    let own = "    A: {properties: {a: {$ref: '#/components/schemas/A'}}}\n    B: {$ref: '#/components/schemas/B'}\n";
    let text =
        format!("{START}paths:\n  /a: {{$ref: '#/paths/~1a'}}\ncomponents:\n  schemas:\n{own}{schemas}");
    let (message, took) = told(text);
    assert_eq!(message, "");
    assert!(took < LONG, "{took:?}");
}

#[test]
fn problem_list_is_truncated_with_a_count_of_the_rest() {
    let paths: String = (0..500).map(|n| format!("  p{n}: {{}}\n")).collect();
    let spec = try_read(format!("{START}paths:\n{paths}")).expect("read");
    assert_eq!(spec.problems.len(), MAX_SPEC_PROBLEMS + 1);
    assert_eq!(spec.problems.last().map(|it| it.message.as_str()), Some("and 450 more"));
    assert_eq!(spec.problems[49].line, Some(53));
}

/// Random documents with fragments of a specification.
const ANYTHING: &str = "(openapi|swagger|info|paths|\\$ref|tags|[:,{}\\[\\]\"'#/ \n&*!|>-]|[a-z0-9.~]){0,80}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_read_without_failure(text in ANYTHING) {
        try_read(text.clone()).expect("answered");
        try_read(format!("{START}paths: {{}}\n{text}")).expect("answered");
        try_read(format!("{{\"openapi\":\"3.0.0\",{text}}}")).expect("answered");
    }
}

#[test]
fn an_outline_keeps_servers_and_texts_up_to_their_bounds() {
    let (servers, text, line) = (50, 100_000, 300);
    for beyond in [0, 1] {
        let all: String =
            (0..servers + beyond).map(|at| format!("  - {{url: 'https://s{at}.example'}}\n")).collect();
        let description = "d".repeat(text + beyond);
        let title = "t".repeat(line + beyond);
        let document = format!(
            "openapi: 3.1.0\ninfo: {{title: {title}, version: '1', description: {description}}}\npaths: {{}}\nservers:\n{all}"
        );
        let outline = try_read(document).expect("read").outline;
        assert_eq!(outline.servers.len(), servers);
        assert_eq!(outline.description.map(|text| text.len()), Some(text));
        assert_eq!(outline.title, format!("{}{}", "t".repeat(line), "…".repeat(beyond)));
    }
}

#[test]
fn outline_keeps_schemes_and_groups_up_to_their_bounds() {
    let (schemes, scopes, groups, text, address) = (20, 100, 100, 5_000, 2_000);
    for beyond in [0, 1] {
        let of_scheme = |at: usize| {
            let scopes: String = (0..scopes + beyond).map(|at| format!("s{at}: One, ")).collect();
            let description = "d".repeat(text + beyond);
            format!(
                "    k{at}: {{type: oauth2, description: {description}, flows: {{implicit: {{scopes: {{{scopes}}}}}}}}}\n"
            )
        };
        let all_schemes: String = (0..schemes + beyond).map(of_scheme).collect();
        let all_groups: String =
            (0..groups + beyond).map(|at| format!("  - {{name: g{at}, tags: [a]}}\n")).collect();
        let url = "u".repeat(address + beyond);
        let document = format!(
            "openapi: 3.1.0\ninfo: {{title: a, version: '1'}}\npaths: {{}}\nexternalDocs: {{url: {url}}}\n\
             x-tagGroups:\n{all_groups}components:\n  securitySchemes:\n{all_schemes}"
        );
        let outline = try_read(document).expect("read").outline;
        assert_eq!((outline.schemes.len(), outline.groups.len()), (schemes, groups));
        assert_eq!(outline.schemes[0].description.as_ref().map(String::len), Some(text));
        assert_eq!((outline.schemes[0].scopes.len(), outline.links.len()), (scopes, 1 - beyond));
    }
}
