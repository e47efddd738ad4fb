//! Hostile deliveries that repeat the parsed fields: the process survives, and memory is proportional to the bytes.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-core --lib deliveries_take_memory -- --nocapture` runs this
//! many inputs.

use docs_hostile::{CONSTANT_MEMORY, Parser, ParserFn};

use super::*;

#[test]
fn deliveries_take_memory_proportional_to_their_bytes() {
    docs_hostile::run_among_others(PARSERS);
}

const PARSERS: &[Parser] = &[Parser {
    name: "deliveries",
    pieces: PIECES,
    frames: &[("", ""), ("{", "\"z\":0}"), ("{\"ref\":\"", "\"}"), ("{\"commits\":[", "{}]}")],
    most: 1 << 20,
    own: CONSTANT_MEMORY,
    read: ParserFn::Text(|body| {
        let mut reader = PushReader::new();
        reader.read(body.as_bytes());
        drop(reader.end());
    }),
}];

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    "0,",
    "\"a\":0,",
    "\"a\":{",
    "\"a\":[",
    "\"ref\":\"refs/heads/a\",",
    "\"ref\":",
    "\"commits\":[",
    "\"commits\":{",
    "{\"added\":[\"a\"],\"modified\":[],\"removed\":[]},",
    "\"added\":[",
    "\"a/b.md\",",
    "\"head_commit\":{\"id\":\"a\"},",
    "\"after\":\"0000\",",
    "\\u0000",
    "\\",
    "\"",
    " ",
    "é",
];
