//! Expressions that repeat what is read of them: nothing ends the process, and memory is bounded.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-expression --test repeated -- --nocapture` reads as many, and
//! asks for time, too.

use docs_expression::{Context, Expression, MAX_LENGTH};
use docs_hostile::{OWN, Parser, Read};

#[test]
fn repeated_constructs_take_memory_that_follows_their_bytes() {
    docs_hostile::run_among_others(PARSERS);
}

/// Bytes of memory that any expression may take: its values have at most so many items and so long texts.
const VALUES: usize = 8 * OWN;

const PARSERS: &[Parser] = &[Parser {
    name: "expressions",
    pieces: PIECES,
    frames: &[("", ""), ("\"", "\""), ("[", "]"), ("(", ")"), ("[1,2].map(a => ", ")")],
    most: MAX_LENGTH,
    own: VALUES,
    read: Read::Text(read),
}];

fn read(text: &str) {
    if let Ok(expression) = Expression::parse(text) {
        drop(expression.evaluate(&Context::default()));
        drop(expression.reads());
    }
}

const PIECES: &[&str] = &[
    "a",
    "1",
    "1,",
    "\"a\"",
    "'a'",
    "`${",
    "}`",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "a:",
    ",",
    ".",
    "?.",
    "?",
    ":",
    "+",
    "-",
    "!",
    "&&",
    "||",
    "??",
    "==",
    "===",
    "<",
    ">",
    "*",
    "/",
    "%",
    " ",
    "\n",
    "\\",
    "\"",
    "'",
    ".length",
    ".map(a => a)",
    ".concat([1])",
    ".repeat(9999)",
    ".padEnd(99999)",
    ".split('')",
    ".join()",
    ".flat()",
    ".includes(1)",
    "=> ",
    "...",
    "typeof ",
    "null",
    "undefined",
    "0x1",
    "1e9",
    ".5",
    "é",
    "🚀",
    "\0",
];
