//! Parsing and formatting of attribute values.

use docs_model::{Length, Timestamp};

/// Parses the value of an enumeration.
pub(super) fn read_word<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// Returns the attribute value for a variant of an enumeration.
pub(super) fn word<T: serde::Serialize>(value: T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Parses an attribute that may be absent. Returns `None` for an invalid value.
#[expect(clippy::option_option, reason = "an absent and an invalid value differ")]
pub(super) fn optional<T>(value: Option<&str>, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    value.map_or(Some(None), |value| read(value).map(Some))
}

/// Parses a number without a sign and leading zeros.
pub(super) fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count: &u32| count.to_string() == text)
}

/// The time of a date without a time.
const MIDNIGHT: &str = "T00:00:00.000Z";

/// Parses a date, with or without a time.
pub(super) fn date(text: &str) -> Option<Timestamp> {
    read_word(text).or_else(|| read_word(&format!("{text}{MIDNIGHT}")))
}

/// Formats a date, without the time at midnight.
pub(super) fn date_text(date: Timestamp) -> String {
    let text = date.to_string();
    text.strip_suffix(MIDNIGHT).map(str::to_owned).unwrap_or(text)
}

/// Parses a length, such as `375` or `50%`.
pub(super) fn length(text: &str) -> Option<Length> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    let unit = &text[end..];
    let is_unit = unit.len() <= 4 && unit.chars().all(|c| c.is_ascii_alphabetic() || c == '%');
    match unit {
        "" => Some(Length::Pixels(value)),
        _ if is_unit => Some(Length::Unit { unit: unit.to_owned(), value }),
        _ => None,
    }
}

/// Formats a length.
pub(super) fn length_text(length: &Length) -> String {
    match length {
        Length::Pixels(value) => value.to_string(),
        Length::Unit { unit, value } => format!("{value}{unit}"),
    }
}
