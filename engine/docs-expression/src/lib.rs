//! Expressions for conditions and inline values.
//!
//! The language consists of single ECMAScript expressions, optionally with comments and a trailing semicolon. An
//! expression reads the names of its [`Context`] and has no side effects.
//!
//! Differences from JavaScript:
//!
//! * unknown names are `undefined`, and so are members and calls of `undefined` or `null`; `?.` equals `.`;
//! * there are no classes and no globals: `new X()`, `this`, `Math`, `Date`, `NaN` and the members `constructor`,
//!   `prototype` and `__proto__` are `undefined`;
//! * nothing is stored: assignments are rejected, `x++` returns a value without changing `x`, `sort` returns a new
//!   array;
//! * `in` finds items of an array, substrings of a text, and members of an object;
//! * `text =~ /pattern/` returns `true` if the text matches;
//! * a function body is an expression or a single `return`; `arguments` is not available;
//! * text is Unicode: unpaired UTF-16 surrogates become U+FFFD, splitting never separates a surrogate pair, patterns
//!   match characters, and text order ignores the locale;
//! * omitted array elements are `undefined`, objects have no conversions of their own, and a method can be called only
//!   on the value it belongs to.
//!
//! Evaluation always terminates: it takes at most [`MAX_STEPS`] (100,000) steps, creates arrays of at most
//! [`MAX_ITEMS`] (10,000) items and texts of at most [`MAX_TEXT`] (100,000) bytes, and nests at most
//! [`MAX_EXPRESSION_DEPTH`] levels.

mod ast;
mod characters;
mod context;
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
    error::{EvalError, ExpressionError},
    expression::{
        Allowance, Budget, Expression, condition, condition_within, inline, inline_source, inline_within,
        is_blank, is_visible_within,
    },
    limits::{MAX_EXPRESSION_DEPTH, MAX_ITEMS, MAX_LENGTH, MAX_STEPS, MAX_TEXT},
    read_paths::{Claims, ReadPath},
    regex::Regex,
    value::{Array, Function, ObjectValue, Value},
};
