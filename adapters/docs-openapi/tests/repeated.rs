//! Specifications with repeated constructs, in breadth and in depth: the process does not crash, and memory is
//! proportional to the input.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-openapi --test repeated -- --nocapture` reads this many
//! inputs of each format, and also limits the time.

use bytes::Bytes;
use docs_hostile::{CONSTANT_MEMORY, MAX_MEMORY_PER_BYTE, Parser, ParserFn};
use docs_openapi::read;
use docs_ports::{MAX_SPEC_BYTES, SpecFile, SpecFiles};

#[test]
fn memory_is_proportional_to_repeated_constructs() {
    docs_hostile::run(PARSERS);
}

#[test]
fn nested_anchors_and_empty_objects_take_bounded_memory() {
    let _alone = docs_hostile::lock_process();
    let nested = |piece: &str| format!("openapi: 3.1.0\npaths: {{}}\nx: [{}", piece.repeat(120));
    let long = |piece: &str, count: usize| {
        format!("{{\"openapi\":\"3.0.0\",\"paths\":{{}},\"x\":[{}0]}}", piece.repeat(count))
    };
    for text in [
        nested("&a {a: "),
        nested("&a {a: ,&a {a: ,"),
        nested("&a [0,"),
        long("{},", 33_000),
        long("[0],", 30_000),
    ] {
        let ((), peak) = docs_hostile::peak_of(|| read_spec(&text));
        let start: String = text.chars().take(80).collect();
        assert!(
            peak < CONSTANT_MEMORY + ANCHORED + MAX_MEMORY_PER_BYTE * text.len(),
            "{start:?}: {peak} bytes for {}",
            text.len()
        );
    }
}

/// Memory permitted for YAML anchors in any document.
const ANCHORED: usize = 8 << 20;

const PARSERS: &[Parser] = &[
    Parser {
        name: "JSON",
        pieces: JSON,
        frames: IN_JSON,
        most: MAX_SPEC_BYTES,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(read_spec),
    },
    Parser {
        name: "YAML",
        pieces: YAML,
        frames: IN_YAML,
        most: MAX_SPEC_BYTES,
        own: CONSTANT_MEMORY + ANCHORED,
        read: ParserFn::Text(read_spec),
    },
    Parser {
        name: "specifications of files",
        pieces: REFERENCES,
        frames: IN_REFERENCES,
        most: MAX_SPEC_BYTES / 3,
        own: CONSTANT_MEMORY + ANCHORED,
        read: ParserFn::Bytes { make: |text| text.repeat(3).into_bytes(), read: read_files },
    },
];

/// Reads a specification of three files that reference each other.
fn read_files(bytes: &[u8]) {
    let text = Bytes::copy_from_slice(&bytes[..bytes.len() / 3]);
    let file = |location: &str| SpecFile { location: location.to_owned(), base: None, bytes: text.clone() };
    let others = vec![file("https://a.test/b.json"), file("https://a.test/c/d.yaml")];
    drop(read(&SpecFiles { entry: file("https://a.test/a.json"), others }));
}

const REFERENCES: &[&str] = &[
    "{\"$ref\":\"#/components/schemas/A\"},",
    "{\"$ref\":\"b.json#/components/schemas/A\"},",
    "{\"$ref\":\"c/d.yaml\"},",
    "{\"$ref\":\"",
    "\"},",
    "\"A\":{\"$ref\":\"#/components/schemas/B\"},",
    "\"/a\":{\"$ref\":\"b.json#/paths/~1a\"},",
    "\"/a\":{\"get\":{\"responses\":{\"200\":{\"$ref\":\"#/components/responses/A\"}}}},",
    "#/",
    "#/components/schemas/",
    "b.json",
    "https://a.test/c/d.yaml#/",
    "../",
    "./",
    "//b/",
    "?a=b",
    "~0",
    "~1",
    "~",
    "%2F",
    "%",
    "/0",
    "/99999999999",
    "\\u0000",
    "[",
    "]",
    "{\"a\":",
    "}",
    "0,",
    "a",
    "é",
];

const IN_REFERENCES: &[(&str, &str)] = &[
    ("", ""),
    ("{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"A\",\"version\":\"1\"},\"paths\":{},\"x\":[", "0]}"),
    ("{\"openapi\":\"3.1.0\",\"paths\":{\"/a\":{\"$ref\":\"", "\"}}}"),
    ("{\"openapi\":\"3.1.0\",\"paths\":{},\"components\":{\"schemas\":{", "\"z\":{}}}}"),
    ("{\"openapi\":\"3.0.0\",\"paths\":{", "\"/z\":{}}}"),
];

fn read_spec(text: &str) {
    let entry = SpecFile { bytes: Bytes::copy_from_slice(text.as_bytes()), ..SpecFile::default() };
    drop(read(&SpecFiles { entry, others: Vec::new() }));
}

const JSON: &[&str] = &[
    "0,",
    "null,",
    "[",
    "]",
    "{",
    "}",
    "[],",
    "{},",
    "[0],",
    "{\"a\":0},",
    "\"\",",
    "\"a\",",
    "\"a\":",
    "\"a\":{",
    "\"a\":1,",
    " ",
    "\n",
    "\\u0000",
    "\\\"",
    "\"",
    "1",
    "-1e9,",
    "true,",
    "{\"$ref\":\"#/components/schemas/A\"},",
    "{\"$ref\":\"b.json\"},",
    "{\"name\":\"a\"},",
    "{\"name\":\"a\",\"in\":\"query\"},",
    "{\"get\":{\"tags\":[\"a\"]}},",
    "\"/a\":{\"get\":{\"responses\":{}}},",
    "\"/a\":{\"get\":",
    "\"200\":{\"description\":\"a\"},",
    "\"properties\":{\"a\":{\"type\":\"string\"}},",
    "\"tags\":[\"a\",\"b\"],",
    ":",
    ",",
    "é",
];

const IN_JSON: &[(&str, &str)] = &[
    ("", ""),
    ("{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"A\",\"version\":\"1\"},\"paths\":{},\"x\":[", "0]}"),
    ("{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"A\",\"version\":\"1\"},\"paths\":{", "\"/z\":{}}}"),
    ("{\"openapi\":\"3.1.0\",\"paths\":{},\"components\":{\"schemas\":{", "\"z\":{}}}}"),
    ("{\"openapi\":\"3.0.0\",\"paths\":{},\"tags\":[", "{\"name\":\"z\"}]}"),
    ("{\"swagger\":\"2.0\",\"paths\":{\"/a\":{\"get\":{\"parameters\":[", "{}]}}}}"),
    ("{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"", "\"}}"),
];

const YAML: &[&str] = &[
    "a: b\n",
    "- ",
    "- a\n",
    "- 0\n",
    "  ",
    "[",
    "]",
    "{",
    "}",
    "[a,",
    "{a: ",
    ",",
    "0,",
    "\"",
    "'",
    "- |\n a\n",
    "- >\n a\n",
    "- &a 1\n",
    "- *a\n",
    "&a ",
    "*a,",
    "- {<<: *a}\n",
    "- !!str a\n",
    "!a ",
    "# a\n",
    "? a\n: b\n",
    "? ",
    "---\n",
    "...\n",
    ": ",
    "\t",
    "~,",
    "1",
    "/a: {get: {responses: {}}}\n",
    "  /a:\n    get: {tags: [a]}\n",
    "- {$ref: '#/components/schemas/A'}\n",
    "- {name: a, in: query}\n",
    "\\",
    "é",
    "\r\n",
];

const IN_YAML: &[(&str, &str)] = &[
    ("", ""),
    ("openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths: {}\nx:\n", ""),
    ("openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n", ""),
    ("openapi: 3.1.0\npaths: {}\nx: [", "0]\n"),
    ("openapi: 3.1.0\npaths: {}\nx: &a {b: 1}\ny:\n", ""),
    ("openapi: 3.1.0\npaths: {}\ntags: [", "]\n"),
    ("openapi: 3.1.0\npaths: {}\nx: \"", "\"\n"),
];
