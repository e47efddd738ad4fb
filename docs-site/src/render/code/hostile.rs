//! Hostile formulas and code: no input aborts the process, and memory use is linear in the input size.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-site --lib formulas_and -- --nocapture` runs this many
//! inputs.

use docs_hostile::{CONSTANT_MEMORY, Parser, ParserFn, TEX};

use super::{super::math, lexer::tokenize};

#[test]
fn formulas_and_code_use_memory_linear_in_their_size() {
    docs_hostile::run_among_others(PARSERS);
}

/// The memory allowance in bytes for any formula, where the number of elements is limited.
const ELEMENTS: usize = 16 << 20;

const PARSERS: &[Parser] = &[
    Parser {
        name: "formulas of pages",
        pieces: TEX,
        frames: &[("", ""), ("\\begin{matrix}", "\\end{matrix}"), ("\\def\\a{", "}\\a\\a"), ("{", "}")],
        most: docs_formula::MAX_FORMULA_BYTES,
        own: ELEMENTS,
        read: ParserFn::Text(formula),
    },
    Parser {
        name: "code of pages",
        pieces: CODE,
        frames: &[("", ""), ("/* ", " */"), ("\"", "\""), ("<a>", "</a>")],
        most: 1 << 20,
        own: CONSTANT_MEMORY,
        read: ParserFn::Text(highlight),
    },
];

fn formula(text: &str) {
    drop(math::block(text, &math::Budget::default()));
    drop(math::inline(text, &math::Budget::default()));
}

/// Highlights `text` in a language selected by the length of the text.
fn highlight(text: &str) {
    const LANGUAGES: [&str; 12] =
        ["js", "rust", "python", "bash", "json", "yaml", "css", "html", "diff", "sql", "c", "powershell"];
    drop(tokenize(text, LANGUAGES[text.len() % LANGUAGES.len()]));
}

const CODE: &[&str] = &[
    "a",
    " ",
    "\n",
    "\t",
    "\"",
    "'",
    "`",
    "\"a\"",
    "\\",
    "\\\"",
    "// a\n",
    "# a\n",
    "-- a\n",
    "/*",
    "*/",
    "<!--",
    "-->",
    "\"\"\"",
    "r#\"",
    "<a b=\"c\">",
    "</a>",
    "<",
    ">",
    "{",
    "}",
    "${",
    "$(",
    "$a",
    "(",
    ")",
    "[",
    "]",
    "fn ",
    "a(",
    "0x1f",
    "1e9",
    "'a",
    "@a",
    "#[a]",
    "a: b\n",
    "- a\n",
    "+a\n",
    "-a\n",
    "@@ -1 +1 @@\n",
    "if then fi\n",
    "<<EOF\n",
    "EOF\n",
    "é",
    "🚀",
    "\r\n",
];
