//! YAML output for files that users may also edit.

use serde_json::Value;

use crate::syntax::yaml;

/// Formats a map entry. Each line ends with `eol`.
pub(super) fn entry(key: &str, value: &Value, eol: &str) -> String {
    let mut out = String::new();
    line(&mut out, key, value, 0);
    if eol == "\n" { out } else { out.replace('\n', eol) }
}

/// Formats the lines of a map, each indented by `indent` columns.
pub(super) fn block(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| line(&mut out, key, value, indent)),
        other => {
            pad(&mut out, indent);
            out.push_str(&flow(other));
            out.push('\n');
        }
    }
    out
}

fn line(out: &mut String, key: &str, value: &Value, indent: usize) {
    pad(out, indent);
    out.push_str(&text(key));
    out.push(':');
    write_value(out, value, indent + 2);
}

/// Formats the value after a colon or a hyphen: on the same line, or on separate lines.
fn write_value(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            map.iter().for_each(|(key, value)| line(out, key, value, indent));
        }
        Value::Array(items) if !items.is_empty() && items.iter().all(is_plain) => {
            out.push('\n');
            for item in items {
                pad(out, indent);
                out.push_str("- ");
                out.push_str(&flow(item));
                out.push('\n');
            }
        }
        other => {
            out.push(' ');
            out.push_str(&flow(other));
            out.push('\n');
        }
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::Object(_) | Value::Array(_))
}

/// Formats a value on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::String(string) => text(string),
        // JSON is valid YAML, except for quoted strings.
        other => yaml::escape_json(&other.to_string()),
    }
}

/// Formats a string: without quotes if it cannot be parsed as another type.
fn text(string: &str) -> String {
    if is_bare(string) { string.to_owned() } else { yaml::quoted(string) }
}

/// Words that YAML parses as a type other than a string.
const RESERVED_YAML_WORDS: [&str; 12] =
    ["true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf", "infinity"];

fn is_bare(string: &str) -> bool {
    let starts = string.starts_with(|c: char| c.is_alphabetic());
    let inner = |c: char| {
        c.is_alphanumeric()
            || matches!(c, ' ' | '-' | '_' | '.' | ',' | '/' | '(' | ')' | '\'' | '+' | '!' | '?')
    };
    starts
        && string.chars().all(inner)
        && !string.ends_with(' ')
        && !RESERVED_YAML_WORDS.contains(&string.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_values_are_emitted_in_idiomatic_style() {
        assert_eq!(entry("description", &json!("How to start."), "\n"), "description: How to start.\n");
        assert_eq!(entry("hidden", &json!(true), "\r\n"), "hidden: true\r\n");
        assert_eq!(
            entry("layout", &json!({ "width": "wide", "title": { "visible": false } }), "\n"),
            "layout:\n  title:\n    visible: false\n  width: wide\n"
        );
        assert_eq!(entry("tags", &json!(["a", "yes", 1]), "\n"), "tags:\n  - a\n  - \"yes\"\n  - 1\n");
        assert_eq!(entry("a: b", &json!("c: d"), "\n"), "\"a: b\": \"c: d\"\n");
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "(\\PC|[ :#'\"\\\\\\[\\]{}&*!|>%@`\u{85}\u{2028}\u{7f}-]|yes|true|0x1|1e3|~){0,8}"
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-z:# \"']{1,5}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn emitted_yaml_round_trips(key in "[a-zA-Z]{1,8}|[: #-]{1,3}", value in value()) {
            let text = entry(&key, &value, "\n");
            prop_assert_eq!(yaml::read(&text), Ok(json!({ (key): value })), "{}", text);
        }
    }
}
