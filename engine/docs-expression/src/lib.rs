//! Expressions for conditions and inline values.
//!
//! The language consists of single ECMAScript expressions, optionally with comments and a trailing semicolon. An
//! expression reads the names of its [`Context`] and has no side effects.
//!
//! Differences from JavaScript:
//!
//! * unknown names are `undefined`, as are members and calls of `undefined` or `null`; `?.` is equivalent to `.`;
//! * there are no classes and no globals: `new X()`, `this`, `Math`, `Date`, `NaN` and the members `constructor`,
//!   `prototype` and `__proto__` are `undefined`;
//! * nothing is modified: assignments are rejected, `x++` returns a value without changing `x`, and `sort` returns a
//!   new array;
//! * `in` finds items of an array, substrings of a string and members of an object;
//! * `text =~ /pattern/` is `true` if the pattern matches;
//! * a function body is an expression or a single `return`, and `arguments` is not available;
//! * strings are Unicode: unpaired surrogates become U+FFFD, splitting never separates a surrogate pair, patterns match
//!   characters, and string comparison ignores the locale;
//! * omitted array elements are `undefined`, objects cannot define conversions, and a method can be called only on the
//!   value to which it belongs.
//!
//! Evaluation always terminates. It takes at most [`MAX_STEPS`] (100,000) steps, creates arrays of at most
//! [`MAX_ITEMS`] (10,000) items and strings of at most [`MAX_TEXT`] (100,000) bytes, and nests at most
//! [`MAX_EXPRESSION_DEPTH`] levels deep.

mod ast;
mod characters;
mod context;
mod context_path;
mod convert;
mod error;
mod eval;
mod expression;
mod lexer;
mod limits;
mod machine;
mod methods;
mod number;
mod parser;
mod read_paths;
mod regex;
#[cfg(test)]
mod tests;
mod token;
mod value;

pub use self::{
    context::Context,
    context_path::ReadPath,
    error::{EvalError, ExpressionError},
    expression::{
        Allowance, Budget, Expression, condition, condition_within, inline, inline_source, inline_within,
        is_blank, is_visible_within,
    },
    limits::{MAX_EXPRESSION_DEPTH, MAX_ITEMS, MAX_LENGTH, MAX_STEPS, MAX_TEXT},
    read_paths::Claims,
    regex::Regex,
    value::{Array, Function, ObjectValue, Value},
};
