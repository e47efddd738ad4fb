//! Tests that repetitive random expressions never crash the process and use bounded memory.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-expression --test repeated -- --nocapture` runs the given
//! number of inputs and also checks the time limit.

use docs_expression::{Context, Expression, MAX_LENGTH};
use docs_hostile::{CONSTANT_MEMORY, Parser, ParserFn};

#[test]
fn repeated_constructs_take_linear_memory() {
    docs_hostile::run_among_others(PARSERS);
}

/// Maximum memory in bytes for the values of an expression, as implied by the limits on items and string sizes.
const VALUES: usize = 8 * CONSTANT_MEMORY;

const PARSERS: &[Parser] = &[Parser {
    name: "expressions",
    pieces: PIECES,
    frames: &[("", ""), ("\"", "\""), ("[", "]"), ("(", ")"), ("[1,2].map(a => ", ")")],
    most: MAX_LENGTH,
    own: VALUES,
    read: ParserFn::Text(read),
}];

fn read(text: &str) {
    if let Ok(expression) = Expression::parse(text) {
        drop(expression.evaluate(&Context::default()));
        let _ = expression.reads();
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
