//! JSON values that keep the order of their fields.

use std::{fmt, rc::Rc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::Number;

/// A JSON value. Cloning shares the content.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(Rc<str>),
    List(Rc<[Json]>),
    /// The fields in document order.
    Map(Rc<[(Rc<str>, Json)]>),
}

impl Json {
    /// An object without fields.
    pub(super) fn empty_map() -> Self {
        Self::Map(Rc::from([]))
    }

    /// An object that refers to another value.
    pub(super) fn reference(target: &str) -> Self {
        Self::Map([("$ref".into(), Self::Text(target.into()))].into())
    }

    /// Returns a field of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.fields().iter().find(|(key, _)| **key == *name).map(|(_, value)| value)
    }

    /// Returns the fields of an object. Empty for other values.
    pub(super) fn fields(&self) -> &[(Rc<str>, Self)] {
        match self {
            Self::Map(fields) => fields,
            _ => &[],
        }
    }

    /// Returns the items of a list. Empty for other values.
    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => number.as_f64(),
            _ => None,
        }
    }

    pub(super) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    pub(super) fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// Returns the value as it is sent, and `true` if it was cut: a text unquoted, everything else as indented JSON.
    pub(super) fn to_sent_text(&self, most: usize) -> (String, bool) {
        let mut out = BoundedText { bytes: Vec::new(), most: 4 * most };
        let is_cut = match self {
            Self::Text(text) => return cut(text, most),
            value => serde_json::to_writer_pretty(&mut out, value).is_err(),
        };
        let (text, is_longer) = cut(&String::from_utf8_lossy(&out.bytes), most);
        (text, is_cut || is_longer)
    }

    /// Returns the value on one line, cut at `most` characters.
    pub(super) fn to_line(&self, most: usize) -> String {
        let mut out = BoundedText { bytes: Vec::new(), most: 4 * most };
        match self {
            Self::Text(text) => return cut(text, most).0,
            // The text is cut where the writer stopped.
            value => drop(serde_json::to_writer(&mut out, value)),
        }
        cut(&String::from_utf8_lossy(&out.bytes), most).0
    }
}

/// Returns the first `most` characters of a text, and `true` if it has more.
fn cut(text: &str, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (text.get(..end).unwrap_or_default().to_owned(), true),
        None => (text.to_owned(), false),
    }
}

/// A writer that fails when it is full, because the indentation of nested lists multiplies their size.
struct BoundedText {
    bytes: Vec<u8>,
    most: usize,
}

impl std::io::Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() > self.most {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(is) => serializer.serialize_bool(*is),
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items.iter()),
            Self::Map(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (&**name, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Json::List(all.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut all: Vec<(Rc<str>, Json)> = Vec::new();
        while let Some((name, value)) = fields.next_entry::<String, Json>()? {
            all.push((name.into(), value));
        }
        Ok(Json::Map(all.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_the_order_of_the_document() {
        let text = r#"{"zip":1,"city":[true,null,-2,0.5],"apartment":{"b":"x","a":{}}}"#;
        let value: Json = serde_json::from_str(text).expect("JSON");
        assert_eq!(value.to_line(1_000), text);
        let names: Vec<&str> = value.fields().iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["zip", "city", "apartment"]);
        assert_eq!(value.get("apartment").and_then(|of| of.get("b")).and_then(Json::as_text), Some("x"));
    }

    #[test]
    fn indented_text_of_nested_lists_is_cut() {
        let nested = format!("{}{}{}", "[".repeat(100), vec!["0"; 50_000].join(","), "]".repeat(100));
        let value: Json = serde_json::from_str(&nested).expect("JSON");
        let (text, is_cut) = value.to_sent_text(1_000);
        assert!(is_cut && text.len() == 1_000, "{}", text.len());
        assert_eq!(Json::Text("ä".repeat(3).into()).to_sent_text(2), ("ää".to_owned(), true));
        assert_eq!(Json::Text("ä".repeat(2).into()).to_sent_text(2), ("ää".to_owned(), false));
    }
}
