//! Expressions: who sees what, and values within text.
//!
//! The language is that of ECMAScript expressions: exactly one expression, which may have comments around it and a
//! semicolon after it. It reads what its [`Context`] names and changes nothing.
//!
//! What differs from JavaScript:
//!
//! * a name that is not known is `undefined`, and so are a member and a call of what is `undefined` or `null`; `?.` is
//!   the same as `.`;
//! * there are no classes and no globals: `new X()`, `this`, `Math`, `Date`, `NaN` are `undefined`, and the members
//!   `constructor`, `prototype` and `__proto__` are too;
//! * nothing is stored: an assignment is refused, `x++` answers and leaves `x`, `sort` answers a new array;
//! * `in` looks for items of an array, for parts of a text, and for members of an object;
//! * `text =~ /pattern/` tells whether a text matches;
//! * a function answers an expression, or has one `return`; it knows no `arguments`;
//! * text is Unicode: a half of a pair of UTF-16 that is cut off becomes U+FFFD, nothing separates the halves of a
//!   pair, patterns are read over characters, and what orders texts knows no locale;
//! * what is left out between two commas is `undefined`, objects have no conversions of their own, and a method can be
//!   called only of values that it belongs to.
//!
//! Evaluation always ends: it may take [`MAX_STEPS`] steps, make arrays of [`MAX_ITEMS`] items and texts of
//! [`MAX_TEXT`] bytes, and nest [`MAX_DEPTH`] levels.

mod ast;
mod context;
mod convert;
mod eval;
mod lexer;
mod methods;
mod number;
mod parser;
mod reads;
mod regex;
#[cfg(test)]
mod tests;
mod value;

use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

use self::{ast::Program, eval::Machine};
pub use self::{
    context::Context,
    reads::{Claims, ReadPath},
    regex::Regex,
    value::{Array, Function, Object, Value},
};

/// Most characters of an expression.
pub const MAX_LENGTH: usize = 1_024;

/// Most levels of an expression: parentheses, arguments, operators before an operand.
pub const MAX_DEPTH: usize = 50;

/// Most steps that the evaluation of an expression takes.
pub const MAX_STEPS: u32 = 100_000;

/// Most items of an array that an expression makes.
pub const MAX_ITEMS: usize = 10_000;

/// Most bytes of a text that an expression makes.
pub const MAX_TEXT: usize = 100_000;

/// An expression that was read: cheap to clone, and to evaluate again.
///
/// ```
/// use docs_expression::{Context, Expression};
/// use serde_json::json;
///
/// let context = Context::default().with_visitor(&json!({ "plan": "pro" }), &json!({ "beta": true }));
/// let expression = Expression::parse("visitor.claims.plan === 'pro' && visitor.claims.unsigned.beta")?;
/// assert!(expression.evaluate(&context)?.is_truthy());
/// assert_eq!(Expression::parse("1 +").unwrap_err().to_string(), "character 4 is the end, where more is expected");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Expression(Arc<Program>);

/// Why text is no expression.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("character {position} {message}")]
pub struct ExpressionError {
    position: usize,
    message: Cow<'static, str>,
}

impl ExpressionError {
    fn new(source: &str, at: usize, message: impl Into<Cow<'static, str>>) -> Self {
        let position = source.get(..at).unwrap_or(source).chars().count() + 1;
        Self { position, message: message.into() }
    }

    /// The character at fault, counted from 1.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }
}

/// Why an expression has no value.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvalError {
    /// Too many steps.
    #[error("the evaluation takes more than {MAX_STEPS} steps")]
    Steps,
    /// Values or calls are nested too deep.
    #[error("values or calls are nested too deep")]
    TooDeep,
    /// A text is too long.
    #[error("a text has more than {MAX_TEXT} bytes")]
    TextTooLong,
    /// An array is too long.
    #[error("an array has more than {MAX_ITEMS} items")]
    TooManyItems,
    /// A big integer is too big.
    #[error("a big integer has more than 127 bits")]
    NumberTooBig,
    /// An operator or a method does not take this value.
    #[error("{0}")]
    Wrong(Cow<'static, str>),
}

impl EvalError {
    fn wrong(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Wrong(message.into())
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] when it is empty, longer than [`MAX_LENGTH`] characters, nested deeper than [`MAX_DEPTH`],
    /// or not exactly one expression.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        parser::parse(text).map(|program| Self(Arc::new(program)))
    }

    /// The text it was read from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The value.
    ///
    /// # Errors
    /// [`EvalError`] when an operator or method does not take what it is given, or a limit is reached.
    pub fn evaluate(&self, context: &Context) -> Result<Value, EvalError> {
        self.evaluate_within(context, &mut Budget(MAX_STEPS))
    }

    /// The value, with steps taken from a budget that several expressions share.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate); [`EvalError::Steps`] also when the budget is used up.
    pub fn evaluate_within(&self, context: &Context, budget: &mut Budget) -> Result<Value, EvalError> {
        let given = budget.0.min(MAX_STEPS);
        let mut machine = Machine { program: &self.0, context, left: given, depth: 0 };
        let value = machine.eval(self.0.root, None);
        budget.0 -= given - machine.left;
        value
    }

    /// The paths of the context that it reads.
    ///
    /// A path stands for all below it: `visitor.claims[x]` reads `visitor.claims`. That a root such as `visitor` or
    /// `visitor.claims` exists is known, so asking for it alone, as in `visitor && visitor.claims.x`, reads nothing.
    #[must_use]
    pub fn reads(&self) -> std::collections::BTreeSet<ReadPath> {
        reads::of(&self.0)
    }

    /// Tells whether what it reads may decide who sees what: variables, and the claims of which the schema knows all
    /// values.
    #[must_use]
    pub fn is_deterministic(&self, claims: &Claims) -> bool {
        self.reads().iter().all(|path| claims.decide(path))
    }

    /// Tells whether it reads anything of the page it stands at.
    #[must_use]
    pub fn reads_page(&self) -> bool {
        self.reads().iter().any(|path| path.names().next() == Some("page"))
    }
}

/// Steps that several evaluations share.
#[derive(Debug)]
pub struct Budget(
    /// How many are left.
    pub u32,
);

impl FromStr for Expression {
    type Err = ExpressionError;
    fn from_str(text: &str) -> Result<Self, ExpressionError> {
        Self::parse(text)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source())
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.source()).finish()
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source() == other.source()
    }
}

impl Eq for Expression {}

/// Tells whether a condition holds: a blank one does, one that cannot be evaluated does not.
#[must_use]
pub fn condition(text: &str, context: &Context) -> bool {
    condition_within(text, context, &mut Budget(MAX_STEPS))
}

/// Tells whether a condition holds, as [`condition`] does, with steps taken from a budget.
pub fn condition_within(text: &str, context: &Context, budget: &mut Budget) -> bool {
    is_blank(text)
        || Expression::parse(text).is_ok_and(|expression| holds_within(&expression, context, budget))
}

fn holds_within(condition: &Expression, context: &Context, budget: &mut Budget) -> bool {
    condition.evaluate_within(context, budget).is_ok_and(|value| value.is_truthy())
}

/// Tells whether a condition that was read shows to a visitor what it stands at: it holds, and all that it reads may
/// decide that.
pub fn shows_within(condition: &Expression, context: &Context, claims: &Claims, budget: &mut Budget) -> bool {
    condition.is_deterministic(claims) && holds_within(condition, context, budget)
}

/// The value of an expression as it stands in text; the expression itself in double braces when it has none.
#[must_use]
pub fn inline(text: &str, context: &Context) -> String {
    inline_within(text, context, &mut Budget(MAX_STEPS))
}

/// The value of an expression as it stands in text, as [`inline`] gives it, with steps taken from a budget.
pub fn inline_within(text: &str, context: &Context, budget: &mut Budget) -> String {
    let value = Expression::parse(text)
        .ok()
        .and_then(|expression| expression.evaluate_within(context, budget).ok())
        .map(|value| value.inline());
    value.unwrap_or_else(|| format!("{{{{{text}}}}}"))
}

/// Tells whether a condition says nothing.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(lexer::is_blank)
}
