//! Parsed expressions, conditions and inline values.

use std::{collections::BTreeSet, fmt, str::FromStr, sync::Arc};

use super::{
    ast::Program,
    characters,
    context::Context,
    context_path::ReadPath,
    error::{EvalError, ExpressionError},
    limits::MAX_STEPS,
    machine::Machine,
    parser,
    read_paths::{self, Claims},
    value::Value,
};

/// A parsed expression. It is cheap to clone and to evaluate repeatedly.
///
/// ```
/// use docs_expression::{Context, Expression};
/// use serde_json::json;
///
/// let context = Context::default().with_visitor(&json!({ "plan": "pro" }), &json!({ "beta": true }));
/// let expression = Expression::parse("visitor.claims.plan === 'pro' && visitor.claims.unsigned.beta")?;
/// assert!(expression.evaluate(&context)?.is_truthy());
/// assert_eq!(Expression::parse("1 +").unwrap_err().to_string(), "character 4 is the unexpected end");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Expression(Arc<Program>);

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// [`ExpressionError`] if the source is empty, longer than [`MAX_LENGTH`](crate::MAX_LENGTH) (1,024) characters,
    /// nested deeper than [`MAX_EXPRESSION_DEPTH`](crate::MAX_EXPRESSION_DEPTH), or not exactly one expression.
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        parser::parse(text).map(|program| Self(Arc::new(program)))
    }

    /// Parses an expression within a step budget, which can be shared by several expressions. Its length and its
    /// regular expressions are charged, also if it is invalid. Returns `None` if it is invalid, or if its length
    /// exceeds the budget.
    #[must_use]
    pub fn parse_within(text: &str, budget: &mut Budget) -> Option<Self> {
        parser::parse_within(text, &mut budget.0)?.ok().map(|program| Self(Arc::new(program)))
    }

    /// Returns the source.
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

    /// Evaluates the expression within a step budget, which can be shared by several expressions.
    ///
    /// # Errors
    /// The errors of [`evaluate`](Self::evaluate), and [`EvalError::Steps`] if the budget is exhausted.
    pub fn evaluate_within(&self, context: &Context, budget: &mut Budget) -> Result<Value, EvalError> {
        let given = budget.0.min(MAX_STEPS);
        let mut machine = Machine { program: &self.0, context, left: given, depth: 0 };
        let value = machine.eval(self.0.root, None);
        budget.0 -= given - machine.left;
        value
    }

    /// Returns the context paths that the expression reads.
    ///
    /// A path stands for its whole subtree: `visitor.claims[x]` reads `visitor.claims`. Roots such as `visitor` and
    /// `visitor.claims` always exist, so merely testing their presence, as in `visitor && visitor.claims.x`, is not a
    /// read.
    #[must_use]
    pub fn reads(&self) -> &BTreeSet<ReadPath> {
        self.0.reads.get_or_init(|| read_paths::collect_paths(&self.0))
    }

    /// Returns `true` if all values that the expression reads may control visibility: variables, and claims whose
    /// values the schema enumerates.
    #[must_use]
    pub fn is_deterministic(&self, claims: &Claims) -> bool {
        self.reads().iter().all(|path| claims.can_control_visibility(path))
    }

    /// Returns `true` if the expression reads a property of the page that contains it.
    #[must_use]
    pub fn reads_page(&self) -> bool {
        self.reads().iter().any(|path| path.names().next() == Some("page"))
    }
}

/// A step budget that several evaluations can share.
#[derive(Debug)]
pub struct Budget(
    /// The remaining steps.
    pub u32,
);

impl Budget {
    /// Charges for an expression that was parsed outside of the budget, as if it was parsed within it. Returns `false`
    /// if its length exceeds the budget.
    pub fn charge_parsed(&mut self, expression: &Expression) -> bool {
        let is_within = u32::try_from(expression.source().len()).is_ok_and(|length| length <= self.0);
        let cost = u32::try_from(expression.0.parse_cost).unwrap_or(u32::MAX);
        self.0 = if is_within { self.0.saturating_sub(cost) } else { 0 };
        is_within
    }
}

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

/// Evaluates a condition. A blank condition is `true`; a condition that cannot be evaluated is `false`.
#[must_use]
pub fn condition(text: &str, context: &Context) -> bool {
    condition_within(text, context, &mut Budget(MAX_STEPS))
}

/// Evaluates a condition like [`condition`], within a shared step budget.
pub fn condition_within(text: &str, context: &Context, budget: &mut Budget) -> bool {
    is_blank(text)
        || Expression::parse_within(text, budget)
            .is_some_and(|expression| holds_within(&expression, context, budget))
}

fn holds_within(condition: &Expression, context: &Context, budget: &mut Budget) -> bool {
    condition.evaluate_within(context, budget).is_ok_and(|value| value.is_truthy())
}

/// Returns `true` if a parsed condition makes its item visible to a visitor: it evaluates to `true`, and all values
/// that it reads may control visibility.
pub fn is_visible_within(
    condition: &Expression,
    context: &Context,
    claims: &Claims,
    budget: &mut Budget,
) -> bool {
    condition.is_deterministic(claims) && holds_within(condition, context, budget)
}

/// Returns the value of an expression as inline text, or the expression in double braces if it has no value.
#[must_use]
pub fn inline(text: &str, context: &Context) -> String {
    inline_within(text, context, &mut Budget(MAX_STEPS))
}

/// The budget that the inline values of several expressions share.
#[derive(Debug)]
pub struct Allowance {
    /// The remaining steps, which are also used by conditions.
    pub steps: Budget,
    /// The remaining size of the values in bytes.
    pub bytes: usize,
}

impl Allowance {
    /// Returns the value of an expression like [`inline_within`] and deducts its size. Returns `None` if the size
    /// exceeds the remaining bytes.
    pub fn inline(&mut self, text: &str, context: &Context) -> Option<String> {
        let value = inline_within(text, context, &mut self.steps);
        self.bytes = self.bytes.checked_sub(value.len())?;
        Some(value)
    }
}

/// Returns the value of an expression as inline text like [`inline`], within a shared step budget.
pub fn inline_within(text: &str, context: &Context, budget: &mut Budget) -> String {
    let value = Expression::parse_within(text, budget)
        .and_then(|expression| expression.evaluate_within(context, budget).ok())
        .map(|value| value.inline());
    value.unwrap_or_else(|| inline_source(text))
}

/// Returns the inline text of an expression that has no value: the expression in double braces.
#[must_use]
pub fn inline_source(text: &str) -> String {
    format!("{{{{{text}}}}}")
}

/// Returns `true` if a condition consists only of whitespace.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(characters::is_blank)
}
