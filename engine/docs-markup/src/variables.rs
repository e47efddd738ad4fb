//! Validation of variables.

use std::collections::BTreeMap;

use docs_model::{MAX_VARIABLE_TEXT, VariableValue};

/// The first violation of a rule for variables.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotVariables(String);

/// Checks the rules for variables: names consist of letters, digits and `_`, starting with a letter, and texts are
/// limited to [`MAX_VARIABLE_TEXT`] (256) characters.
///
/// # Errors
/// The first invalid variable.
pub fn check_variables(variables: &BTreeMap<String, VariableValue>) -> Result<(), NotVariables> {
    for (name, value) in variables {
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !named {
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
