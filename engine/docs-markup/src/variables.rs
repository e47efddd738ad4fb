//! Validation of variables.

use std::collections::BTreeMap;

use docs_model::{MAX_VARIABLE_TEXT, VariableValue};
use serde_json::Value;

/// The first violation of the rules for variables.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotVariables(String);

/// Checks the rules for variables: names consist of letters, digits and `_`, starting with a letter, and strings are
/// limited to [`MAX_VARIABLE_TEXT`] (256) characters.
///
/// # Errors
/// [`NotVariables`] with the first invalid variable.
pub fn check_variables(variables: &BTreeMap<String, VariableValue>) -> Result<(), NotVariables> {
    for (name, value) in variables {
        if !is_name(name) {
            return Err(NotVariables(format!(
                "must have names of a letter followed by letters, digits and `_`, has `{name}`"
            )));
        }
        if let VariableValue::Text(text) = value
            && text.chars().count() > MAX_VARIABLE_TEXT
        {
            return Err(NotVariables(format!(
                "must have values of at most {MAX_VARIABLE_TEXT} characters, `{name}` has more"
            )));
        }
    }
    Ok(())
}

/// Returns `true` if `text` is a valid variable name.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Converts a YAML value. Returns `None` for null, lists and maps.
pub(crate) fn variable(value: Value) -> Option<VariableValue> {
    match value {
        Value::String(text) => Some(VariableValue::Text(text)),
        Value::Bool(value) => Some(VariableValue::Boolean(value)),
        Value::Number(number) => Some(VariableValue::Number(number)),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
