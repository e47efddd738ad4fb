//! Messages for invalid requests: one sentence that begins with the location, such as `changes[0].title: is required`.

use serde_json::{Value, error::Category};
use serde_path_to_error::{Path, Segment};

/// Maximum length, in characters, of a message that may contain client input.
const MAX_REPEATED_CHARS: usize = 200;

/// The parser's error for a rejected body.
pub(super) type JsonPathError = serde_path_to_error::Error<serde_json::Error>;

/// Returns the message for a rejected JSON body. `again` runs the same parser on another body.
///
/// A syntax error is located by line and column, every other error by the path of the field.
pub(super) fn rejection_message(
    error: &JsonPathError,
    json: &[u8],
    again: &dyn Fn(&[u8]) -> Option<JsonPathError>,
) -> String {
    let inner = error.inner();
    let text = inner.to_string();
    let path = match error.path().to_string() {
        root if root == "." => String::new(),
        path => path,
    };
    match inner.classify() {
        Category::Data => {
            let position = format!(" at line {} column {}", inner.line(), inner.column());
            prefix_path(&path, text.strip_suffix(&position).unwrap_or(&text))
        }
        // The parser also reports a syntax error if an enumeration value is a number or a list.
        Category::Syntax => match serde_json::from_slice(json) {
            Ok(value) => prefix_path(&path, &enum_message(value, error.path(), again)),
            Err(_) => format!("the body is not valid JSON: {text}"),
        },
        Category::Eof | Category::Io => format!("the body is not valid JSON: {text}"),
    }
}

/// Returns the message for an invalid enumeration value of the wrong type. The permitted values are taken from the
/// parser's error for an unknown name.
fn enum_message(mut body: Value, path: &Path, again: &dyn Fn(&[u8]) -> Option<JsonPathError>) -> String {
    let mut names = || {
        *find(&mut body, path)? = Value::String(String::new());
        let error = again(&serde_json::to_vec(&body).ok()?)?;
        let text = error.inner().to_string();
        let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
        let (_, names) = text.strip_prefix("unknown variant ")?.rsplit_once(", expected ")?;
        (error.path().to_string() == path.to_string()).then(|| format!("must be {names}, as a string"))
    };
    names().unwrap_or_else(|| "must be one of the permitted values, as a string".to_owned())
}

fn find<'v>(body: &'v mut Value, path: &Path) -> Option<&'v mut Value> {
    let mut place = body;
    for segment in path {
        place = match segment {
            Segment::Seq { index } => place.get_mut(*index)?,
            Segment::Map { key } => place.get_mut(key)?,
            Segment::Enum { .. } | Segment::Unknown => return None,
        };
    }
    Some(place)
}

/// Prefixes a message with its location.
///
/// The message may already begin with a nested path, because untagged types parse their parts themselves.
pub(super) fn prefix_path(path: &str, message: &str) -> String {
    if let Some(field) = quoted_name(message, "missing field ") {
        return format!("{}: is required", join(path, field));
    }
    if let Some(field) = quoted_name(message, "duplicate field ") {
        return format!("{}: is a duplicate", join(path, field));
    }
    if let Some((inside, rest)) = leading_path(message) {
        return prefix_path(&join(path, inside), rest);
    }
    let place = if path.is_empty() { "the body" } else { path };
    format!("{place}: {}", plain_message(message))
}

/// Returns the message without Rust type names and without long quotations of the input.
pub(super) fn plain_message(message: &str) -> String {
    if message.starts_with("data did not match any variant of untagged enum") {
        return "has none of the permitted forms".to_owned();
    }
    match message.rsplit_once(", expected ") {
        Some((found, expected)) => format!("{}, expected {}", shorten(found), expectation(expected)),
        None => shorten(message),
    }
}

/// Translates the expected Rust type to a JSON type.
fn expectation(expected: &str) -> &str {
    let word = expected.split(' ').next().unwrap_or_default();
    match word {
        "struct" | "internally" | "adjacently" => "an object",
        "tuple" => "a list",
        "enum" | "variant" => "one of the permitted values",
        "unit" => "no value",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        _ => match expected {
            "a map" => "an object",
            "a sequence" => "a list",
            "a borrowed string" | "string or map" => "a string",
            other => other,
        },
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_REPEATED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the backquoted name after a prefix, if it ends the message.
fn quoted_name<'a>(message: &'a str, beginning: &str) -> Option<&'a str> {
    message.strip_prefix(beginning)?.strip_prefix('`')?.strip_suffix('`')
}

/// Splits `changes[0].title: must be …` after the path. Returns `None` for a message without a path.
fn leading_path(message: &str) -> Option<(&str, &str)> {
    let (path, rest) = message.split_once(": ")?;
    let begins_well = path.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '[');
    let fits = path.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.[]".contains(&b));
    (begins_well && fits).then_some((path, rest))
}

fn join(outside: &str, inside: &str) -> String {
    match (outside, inside) {
        ("", inside) => inside.to_owned(),
        (outside, "") => outside.to_owned(),
        (outside, inside) if inside.starts_with('[') => format!("{outside}{inside}"),
        (outside, inside) => format!("{outside}.{inside}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_begins_with_the_whole_path() {
        let cases = [
            ("", "missing field `title`", "title: is required"),
            ("changes[0]", "missing field `page`", "changes[0].page: is required"),
            (
                "changes[0]",
                "document.markdown: invalid type: integer `5`, expected a string",
                "changes[0].document.markdown: invalid type: integer `5`, expected a string",
            ),
            ("a", "[2].b: missing field `c`", "a[2].b.c: is required"),
            ("a", "duplicate field `b`", "a.b: is a duplicate"),
            (
                "title",
                "must be at most 50 characters, has 51",
                "title: must be at most 50 characters, has 51",
            ),
            (
                "",
                "invalid type: sequence, expected struct CreateSpace",
                "the body: invalid type: sequence, expected an object",
            ),
            (
                "x",
                "invalid type: map, expected unit variant MarkKind::Bold",
                "x: invalid type: map, expected no value",
            ),
            (
                "x",
                "data did not match any variant of untagged enum VariableValue",
                "x: has none of the permitted forms",
            ),
        ];
        for (path, message, expected) in cases {
            assert_eq!(prefix_path(path, message), expected);
        }
    }

    #[test]
    fn long_input_is_truncated_in_messages() {
        let message = format!("invalid type: string \"{}\", expected u64", "x".repeat(1000));
        let told = prefix_path("n", &message);
        assert!(told.chars().count() < 300, "{told}");
        assert!(told.ends_with("…, expected a whole number of at least 0"), "{told}");
    }
}
