//! A generator of invalid expressions.

use super::{Random, generate::Generator};
use crate::ExpressionError;

/// Tokens to insert into an expression.
const TOKENS: [&str; 66] = [
    "+", "-", "*", "/", "%", "**", "++", "--", "=", "==", "===", "=>", "<", ">", "<=", ">>", ">>>", "!",
    "!=", "~", "&", "&&", "|", "||", "^", "?", "??", "?.", ":", ",", ";", ".", "...", "(", ")", "[", "]",
    "{", "}", "`", "'", "\"", "${", "\\", "/a/g", "//", "/*", "*/", "\n", "in", "typeof", "void", "new",
    "function", "return", "null", "x", "let", "0", "1.5", "1_0", "0x", "5n", "1e", "#", "é",
];

/// Generates an expression where tokens are omitted, duplicated, exchanged or inserted.
pub(super) fn broken(random: &mut Random) -> String {
    let whole = loop {
        let made = Generator::expression(random).ours;
        if made.chars().count() < 400 && !is_added(&made) {
            break made;
        }
    };
    let mut tokens = tokens(&whole);
    for _ in 0..random.below(4) {
        let at = random.below(tokens.len());
        match random.below(5) {
            0 if tokens.len() > 1 => drop(tokens.remove(at)),
            1 => tokens.insert(at, tokens[at].clone()),
            2 => {
                let other = random.below(tokens.len());
                tokens.swap(at, other);
            }
            3 => tokens[at] = random.pick(&TOKENS).to_owned(),
            _ => tokens.insert(at, random.pick(&TOKENS).to_owned()),
        }
    }
    tokens.concat()
}

/// Splits source into words, numbers and single punctuation characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if is_word(c) && last.ends_with(is_word) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}

/// Returns `true` if the error message indicates valid JavaScript that our language does not support.
pub(super) fn is_left_out(source: &str, error: &ExpressionError) -> bool {
    const REASONS: [&str; 16] = [
        "not supported",
        "unsupported group",
        "exceeds the limit of",
        "a function body can only be `return`",
        "follows the `return`",
        "is a destructured parameter",
        "begins a block",
        "begins a declaration",
        "exceeds the range of big integers",
        // In JavaScript, `=` can be followed by `~`.
        "an unexpected `=~`",
        "too many repetitions",
        "a repetition of more than",
        "nested groups",
        // In JavaScript, this is a runtime error if the operand is a call.
        "is `++` or `--` on a value",
        // Without the flag `u`, these have a different meaning.
        "a reference to a missing group",
        "an invalid escape",
    ];
    // Escapes in names are not supported.
    let at = source.chars().nth(error.position() - 1);
    at == Some('\\') || REASONS.iter().any(|reason| error.message.contains(reason))
}

/// Returns `true` for additions in our language: an operator, and a name that cannot begin a statement in JavaScript.
pub(super) fn is_added(source: &str) -> bool {
    source.contains("=~") || source.contains("let")
}
