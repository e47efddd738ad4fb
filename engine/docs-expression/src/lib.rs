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
//! Evaluation always terminates: it takes at most [`MAX_STEPS`] steps, creates arrays of at most [`MAX_ITEMS`] items
//! and texts of at most [`MAX_TEXT`] bytes, and nests at most [`MAX_DEPTH`] levels.

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

/// Maximum length of an expression in characters.
pub const MAX_LENGTH: usize = 1_024;

/// Maximum nesting depth of an expression: parentheses, arguments and prefix operators.
pub const MAX_DEPTH: usize = 50;

/// Maximum number of steps of an evaluation.
pub const MAX_STEPS: u32 = 100_000;

/// Maximum number of items of an array that an expression creates.
pub const MAX_ITEMS: usize = 10_000;

/// Maximum size in bytes of a text that an expression creates.
pub const MAX_TEXT: usize = 100_000;

/// A parsed expression. Cheap to clone and to evaluate repeatedly.
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

/// The error of parsing an expression.
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

    /// Returns the position of the error in characters, from 1.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }
}

/// The error of evaluating an expression.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EvalError {
    /// The step budget is exhausted.
    #[error("the evaluation takes more than {MAX_STEPS} steps")]
    Steps,
    /// Values or calls are nested too deeply.
    #[error("values or calls are nested too deep")]
    TooDeep,
    /// A text exceeds [`MAX_TEXT`].
    #[error("a text has more than {MAX_TEXT} bytes")]
    TextTooLong,
    /// An array exceeds [`MAX_ITEMS`].
    #[error("an array has more than {MAX_ITEMS} items")]
    TooManyItems,
    /// A big integer overflows.
    #[error("a big integer has more than 127 bits")]
    NumberTooBig,
    /// An operator or method does not support the value.
    #[error("{0}")]
    Wrong(Cow<'static, str>),
}

impl EvalError {
    fn wrong(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Wrong(message.into())
    }
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] if the text is empty, longer than [`MAX_LENGTH`] characters, nested deeper than
    /// [`MAX_DEPTH`], or not exactly one expression.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        parser::parse(text).map(|program| Self(Arc::new(program)))
    }

    /// Returns the source text.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// [`EvalError`] if an operator or method does not support its operands, or if a limit is reached.
    pub fn evaluate(&self, context: &Context) -> Result<Value, EvalError> {
        self.evaluate_within(context, &mut Budget(MAX_STEPS))
    }

    /// Evaluates the expression with a step budget shared by several expressions.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate); also [`EvalError::Steps`] if the budget is exhausted.
    pub fn evaluate_within(&self, context: &Context, budget: &mut Budget) -> Result<Value, EvalError> {
        let given = budget.0.min(MAX_STEPS);
        let mut machine = Machine { program: &self.0, context, left: given, depth: 0 };
        let value = machine.eval(self.0.root, None);
        budget.0 -= given - machine.left;
        value
    }

    /// Returns the context paths that the expression reads.
    ///
    /// A path includes everything below it: `visitor.claims[x]` reads `visitor.claims`. Roots such as `visitor` and
    /// `visitor.claims` always exist, so testing only their presence, as in `visitor && visitor.claims.x`, is not a
    /// read.
    #[must_use]
    pub fn reads(&self) -> std::collections::BTreeSet<ReadPath> {
        reads::of(&self.0)
    }

    /// Returns `true` if all values that the expression reads may control visibility: variables, and claims with values
    /// enumerated by the schema.
    #[must_use]
    pub fn is_deterministic(&self, claims: &Claims) -> bool {
        self.reads().iter().all(|path| claims.decide(path))
    }

    /// Returns `true` if the expression reads anything of the page that contains it.
    #[must_use]
    pub fn reads_page(&self) -> bool {
        self.reads().iter().any(|path| path.names().next() == Some("page"))
    }
}

/// A step budget shared by several evaluations.
#[derive(Debug)]
pub struct Budget(
    /// The remaining steps.
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

/// Evaluates a condition. A blank condition is `true`, a condition that cannot be evaluated is `false`.
#[must_use]
pub fn condition(text: &str, context: &Context) -> bool {
    condition_within(text, context, &mut Budget(MAX_STEPS))
}

/// Evaluates a condition like [`condition`], with steps from a shared budget.
pub fn condition_within(text: &str, context: &Context, budget: &mut Budget) -> bool {
    is_blank(text)
        || Expression::parse(text).is_ok_and(|expression| holds_within(&expression, context, budget))
}

fn holds_within(condition: &Expression, context: &Context, budget: &mut Budget) -> bool {
    condition.evaluate_within(context, budget).is_ok_and(|value| value.is_truthy())
}

/// Returns `true` if a parsed condition shows its item to a visitor: it evaluates to `true`, and all values it reads
/// may control visibility.
pub fn shows_within(condition: &Expression, context: &Context, claims: &Claims, budget: &mut Budget) -> bool {
    condition.is_deterministic(claims) && holds_within(condition, context, budget)
}

/// Returns the value of an expression as inline text, or the expression in double braces if it has no value.
#[must_use]
pub fn inline(text: &str, context: &Context) -> String {
    inline_within(text, context, &mut Budget(MAX_STEPS))
}

/// Returns the value of an expression as inline text like [`inline`], with steps from a shared budget.
pub fn inline_within(text: &str, context: &Context, budget: &mut Budget) -> String {
    let value = Expression::parse(text)
        .ok()
        .and_then(|expression| expression.evaluate_within(context, budget).ok())
        .map(|value| value.inline());
    value.unwrap_or_else(|| format!("{{{{{text}}}}}"))
}

/// Returns `true` if a condition contains only white space.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(lexer::is_blank)
}
