//! Tests of tokens with repeated parts. Parsing must never abort the process, and its memory use must be bounded.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-core --lib tokens_that -- --nocapture` sets the number of
//! inputs.

use chrono::DateTime;
use docs_hostile::{CONSTANT_MEMORY, Parser, ParserFn};

use super::*;

#[test]
fn tokens_that_repeat_parts_use_memory_linear_in_their_size() {
    docs_hostile::run_among_others(PARSERS);
}

const KEY: &[u8] = b"a signing key of a site";

const PARSERS: &[Parser] = &[
    Parser {
        name: "signed claims",
        pieces: PIECES,
        frames: &[("", ""), ("{", "}"), ("{\"exp\":", "}"), ("{\"a\":[", "0]}"), ("{\"a\":\"", "\"}")],
        most: MAX_TOKEN,
        own: CONSTANT_MEMORY,
        read: ParserFn::Bytes { make: signed, read },
    },
    Parser {
        name: "tokens",
        pieces: &["a", ".", "=", "-", "_", "eyJhbGciOiJIUzI1NiJ9.", "e30.", "e30", "W1tb", "é", " ", "\0"],
        frames: &[("", ""), ("eyJhbGciOiJIUzI1NiJ9.", ".a")],
        most: 4 * MAX_TOKEN,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(|token| read(token.as_bytes())),
    },
];

/// Builds a correctly signed token with these claims. For one input in three, they become the header instead.
fn signed(claims: &str) -> Vec<u8> {
    let encoded = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
    let (header, claims) = match claims.len() % 3 {
        0 => (claims, "{}"),
        _ => (JWT_HEADER, claims),
    };
    let signed = format!("{}.{}", encoded(header), encoded(claims));
    let signature = BASE64URL_NOPAD.encode(&mac(KEY, &signed).finalize().into_bytes());
    format!("{signed}.{signature}").into_bytes()
}

fn read(token: &[u8]) {
    let token = std::str::from_utf8(token).expect("a text");
    drop(verify(KEY, token, MAX_TOKEN, Clock::Foreign(Timestamp::new(DateTime::UNIX_EPOCH))));
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0,",
    "1e999,",
    "-1,",
    "null,",
    "\"a\":",
    "\"a\":0,",
    "\"b\":{",
    "\"b\":[",
    "\"\",",
    "\"exp\":1e99,",
    "\"nbf\":-1,",
    "\"alg\":\"HS256\",",
    "\"crit\":[],",
    "\\u0000",
    "\\",
    "\"",
    "{},",
    "[],",
    " ",
    "é",
];
