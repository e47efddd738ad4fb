//! The rules of variables.

use std::collections::BTreeMap;

use docs_model::{MAX_VARIABLE_TEXT, VariableValue};

/// Why variables are none: what is wrong with the first one that breaks a rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotVariables(String);

/// Tells whether variables follow their rules: names are letters, digits and `_`, a letter first; texts have a limit.
///
/// # Errors
/// Names the first variable that does not.
pub fn check_variables(variables: &BTreeMap<String, VariableValue>) -> Result<(), NotVariables> {
    for (name, value) in variables {
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !named {
            return Err(NotVariables(format!(
                "has the name `{name}`: a letter, then letters, digits or _ are needed"
            )));
        }
        if let VariableValue::Text(text) = value
            && text.chars().count() > MAX_VARIABLE_TEXT
        {
            return Err(NotVariables(format!("has more than 256 characters in `{name}`")));
        }
    }
    Ok(())
}
