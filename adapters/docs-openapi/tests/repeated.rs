//! Specifications that repeat what is read of them, in breadth and in depth: nothing ends the process, and memory
//! follows the bytes.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-openapi --test repeated -- --nocapture` reads as many of each
//! format, and asks for time, too.

#[path = "../../../engine/docs-markup/tests/hostile/harness.rs"]
mod harness;

use bytes::Bytes;
use docs_openapi::read;
use docs_ports::{MAX_SPEC_BYTES, SpecFile, SpecFiles};
use harness::{MEMORY, OWN, Parser};

#[test]
fn repeated_constructs_take_memory_that_follows_their_bytes() {
    harness::run(PARSERS);
}

const PARSERS: &[Parser] = &[
    Parser {
        name: "JSON",
        pieces: JSON,
        frames: IN_JSON,
        most: MAX_SPEC_BYTES,
        memory: MEMORY,
        own: OWN,
        read: read_spec,
    },
    Parser {
        name: "YAML",
        pieces: YAML,
        frames: IN_YAML,
        most: MAX_SPEC_BYTES,
        memory: MEMORY,
        own: OWN,
        read: read_spec,
    },
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
