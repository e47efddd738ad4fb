//! Parser of the variables of a space: `.gitbook/vars.yaml`.

use docs_model::{MAX_VARIABLE_TEXT, VariableValue, Variables};
use serde_json::Value;

use super::{
    FormatError, MAX_CONFIG_BYTES, RepoPath, Warning,
    report::{Warnings, check_size},
    yaml,
};
use crate::variables;

/// Parses the variables of a space: a flat map of names to strings, numbers and booleans.
///
/// A name is a letter followed by letters, digits and `_`. Invalid entries are left out with a warning.
///
/// # Errors
/// [`FormatError`] if the text is not YAML or not a map, or is larger than [`MAX_CONFIG_BYTES`]. Ignoring such a file
/// would delete all variables of the space.
///
/// # Example
/// ```
/// use docs_markup::gitsync::{RepoPath, variables};
///
/// let file = RepoPath::new(".gitbook/vars.yaml")?;
/// let (variables, warnings) = variables("version: \"2.4\"\nlimit: 50\n1st: no\n", &file)?;
/// assert_eq!(variables.len(), 2);
/// assert_eq!(warnings.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn variables(text: &str, file: &RepoPath) -> Result<(Variables, Vec<Warning>), FormatError> {
    check_size(file, text, MAX_CONFIG_BYTES)?;
    let map = match yaml::read(text).map_err(|problem| FormatError::Yaml { file: file.clone(), problem })? {
        Value::Null => return Ok((Variables::new(), Vec::new())),
        Value::Object(map) => map,
        _ => {
            let problem = "the file must be a map of names and values".to_owned();
            return Err(FormatError::Yaml { file: file.clone(), problem });
        }
    };
    let mut variables = Variables::new();
    let mut warnings = Warnings::default();
    for (name, value) in map {
        match variable(&name, value) {
            Ok(value) => {
                variables.insert(name, value);
            }
            Err(problem) => {
                let name: String = name.chars().take(MAX_SHOWN).collect();
                let message = format!("skipped variable `{}`: it {problem}", name.escape_debug());
                warnings.push(file, None, message);
            }
        }
    }
    Ok((variables, warnings.finish()))
}

/// Maximum length of a name quoted in a warning, in characters.
const MAX_SHOWN: usize = 60;

fn variable(name: &str, value: Value) -> Result<VariableValue, String> {
    if !variables::is_name(name) {
        return Err("must have a name of a letter followed by letters, digits and `_`".to_owned());
    }
    match variables::variable(value) {
        Some(VariableValue::Text(text)) if text.chars().count() > MAX_VARIABLE_TEXT => {
            let length = text.chars().count();
            Err(format!("must be at most {MAX_VARIABLE_TEXT} characters, has {length}"))
        }
        Some(VariableValue::Text(text)) if text.contains('\0') => {
            Err("must not contain the NUL character".to_owned())
        }
        Some(value) => Ok(value),
        None => Err("must be a string, a number or a boolean".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<(Variables, Vec<String>), String> {
        match variables(text, &RepoPath::new("vars.yaml").unwrap()) {
            Ok((variables, warnings)) => Ok((variables, warnings.iter().map(ToString::to_string).collect())),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn texts_numbers_and_booleans_are_values() {
        let (variables, warnings) =
            read("product: Docs\naddress: \"127.0.0.1:4000\"\ndays: 7\nrate: 1.5\nbeta: true\nold: no\n")
                .unwrap();
        assert_eq!(warnings, Vec::<String>::new());
        assert_eq!(variables["product"], VariableValue::Text("Docs".into()));
        assert_eq!(variables["address"], VariableValue::Text("127.0.0.1:4000".into()));
        assert_eq!(variables["days"], VariableValue::Number(7.into()));
        assert_eq!(variables["beta"], VariableValue::Boolean(true));
        assert_eq!(variables["old"], VariableValue::Text("no".into()));
        assert_eq!(variables.len(), 6);
    }

    #[test]
    fn invalid_entries_are_skipped_with_a_warning() {
        for (text, problem) in [
            ("1st: a", "skipped variable `1st`: it must have a name"),
            ("a-b: a", "skipped variable `a-b`: it must have a name"),
            ("_a: a", "skipped variable `_a`: it must have a name"),
            ("ä: a", "skipped variable `ä`: it must have a name"),
            ("\"\": a", "skipped variable ``: it must have a name"),
            ("a:", "skipped variable `a`: it must be a string"),
            ("a: [1]", "skipped variable `a`: it must be a string"),
            ("a: {b: 1}", "skipped variable `a`: it must be a string"),
            ("a: \"x\\0\"", "skipped variable `a`: it must not contain the NUL character"),
        ] {
            let (variables, warnings) = read(text).unwrap();
            assert!(variables.is_empty(), "{text}");
            assert!(warnings[0].starts_with(&format!("vars.yaml: {problem}")), "{text}: {warnings:?}");
        }
    }

    #[test]
    fn text_values_are_limited_to_256_characters() {
        assert_eq!(read(&format!("a: {}", "ä".repeat(256))).unwrap().0.len(), 1);
        let (variables, warnings) = read(&format!("a: {}", "ä".repeat(257))).unwrap();
        assert!(variables.is_empty());
        assert_eq!(warnings, ["vars.yaml: skipped variable `a`: it must be at most 256 characters, has 257"]);
    }

    #[test]
    fn the_size_is_limited() {
        let limit = usize::try_from(MAX_CONFIG_BYTES).unwrap();
        let text = format!("a: 1\n#{}", "x".repeat(limit - 6));
        assert_eq!(text.len(), limit);
        assert_eq!(read(&text).unwrap().0.len(), 1);
        assert_eq!(read(&format!("{text}x")).unwrap_err(), "vars.yaml: must be at most 1 MiB, has 2 MiB");
    }

    #[test]
    fn variables_file_must_be_empty_or_a_map() {
        assert_eq!(read("").unwrap().0, Variables::new());
        assert!(read("- a").unwrap_err().starts_with("vars.yaml: the file must be a map"));
        assert!(read("a: {").unwrap_err().starts_with("vars.yaml: "));
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "(\\PC|\\n|[:{}\\[\\]&*#\"'|>!-]|[a-z]+: ){0,120}") {
            if let Ok((variables, _)) = read(&text) {
                prop_assert!(variables.keys().all(|name| variables::is_name(name)));
            }
        }
    }
}
