//! The state of an evaluation, including its step budget.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ast::Program,
    context::Context,
    error::EvalError,
    limits::{BYTES_A_STEP, MAX_ITEMS, MAX_TEXT},
    value::{Array, ObjectValue, Value},
};

pub(super) type Eval<T> = Result<T, EvalError>;

pub(super) struct Machine<'m> {
    pub(super) program: &'m Arc<Program>,
    pub(super) context: &'m Context,
    /// The remaining steps.
    pub(super) left: u32,
    pub(super) depth: u32,
}

impl Machine<'_> {
    /// Deducts steps from the budget.
    pub(super) fn charge(&mut self, steps: usize) -> Eval<()> {
        let left = u32::try_from(steps).ok().and_then(|steps| self.left.checked_sub(steps));
        // A failed charge empties the budget, so that smaller charges fail afterwards too.
        self.left = left.unwrap_or(0);
        left.map(|_| ()).ok_or(EvalError::Steps)
    }

    /// Charges for a string of `bytes` bytes. Rejects strings longer than [`MAX_TEXT`].
    pub(super) fn charge_text(&mut self, bytes: usize) -> Eval<()> {
        if bytes > MAX_TEXT {
            return Err(EvalError::TextTooLong);
        }
        self.charge(bytes / BYTES_A_STEP)
    }

    pub(super) fn text_value(&mut self, text: impl AsRef<str>) -> Eval<Value> {
        self.charge_text(text.as_ref().len())?;
        Ok(Value::Text(text.as_ref().into()))
    }

    pub(super) fn array(&mut self, items: Vec<Value>) -> Eval<Value> {
        if items.len() > MAX_ITEMS {
            return Err(EvalError::TooManyItems);
        }
        self.charge(items.len())?;
        Array::new(items).map(|array| Value::Array(array.into())).ok_or(EvalError::TooDeep)
    }

    pub(super) fn object(&mut self, members: BTreeMap<Arc<str>, Value>) -> Eval<Value> {
        self.charge(members.len())?;
        ObjectValue::new(members).map(|object| Value::Object(object.into())).ok_or(EvalError::TooDeep)
    }
}
