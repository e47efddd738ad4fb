//! Expressions with something wrong in them.

use super::{Random, generate::Generator};
use crate::ExpressionError;

/// What is put between the tokens of an expression.
const TOKENS: [&str; 66] = [
    "+", "-", "*", "/", "%", "**", "++", "--", "=", "==", "===", "=>", "<", ">", "<=", ">>", ">>>", "!",
    "!=", "~", "&", "&&", "|", "||", "^", "?", "??", "?.", ":", ",", ";", ".", "...", "(", ")", "[", "]",
    "{", "}", "`", "'", "\"", "${", "\\", "/a/g", "//", "/*", "*/", "\n", "in", "typeof", "void", "new",
    "function", "return", "null", "x", "let", "0", "1.5", "1_0", "0x", "5n", "1e", "#", "é",
];

/// An expression of which tokens are left out, doubled, exchanged or put in.
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

/// Words, numbers and single signs.
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

/// What is JavaScript, and left out here: the message says so.
pub(super) fn is_left_out(source: &str, error: &ExpressionError) -> bool {
    const REASONS: [&str; 16] = [
        "not supported",
        "not allowed",
        "nested more than",
        "a function may only `return`",
        "where nothing may follow",
        "takes a parameter apart",
        "begins a block",
        "begins a declaration",
        "127 bits are kept",
        // What follows `=` may begin with `~` there.
        "an unexpected `=~`",
        "too many repetitions",
        "repeats more than",
        "groups in one another",
        // There, that is an error of evaluation where it is a call.
        "is at `++` or `--` of what",
        // Without the flag `u`, these would be other characters.
        "refers to a group it does not have",
        "an escape that is no character",
    ];
    // Names have no escapes.
    let at = source.chars().nth(error.position() - 1);
    at == Some('\\') || REASONS.iter().any(|reason| error.message.contains(reason))
}

/// What is no JavaScript, and added here: an operator, and a name with which a statement may not begin.
pub(super) fn is_added(source: &str) -> bool {
    source.contains("=~") || source.contains("let")
}
