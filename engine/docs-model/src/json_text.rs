//! Values stored as their JSON text.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeOwned},
};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::VariableValue;

/// A value stored as its canonical JSON text.
///
/// Parsed JSON takes up to a hundred times the memory of its text. Records of content are held in memory by the
/// thousands, so fields of any structure are parsed only where they are used. The default value is stored without text.
pub struct JsonText<T> {
    text: Option<Box<RawValue>>,
    value: PhantomData<fn() -> T>,
}

impl<T> JsonText<T> {
    /// Returns `true` if this is the default value.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        self.text.is_none()
    }

    /// Returns the size of the text in bytes, or 0 for the default value.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.as_ref().map_or(0, |text| text.get().len())
    }

    fn text(&self) -> Option<&str> {
        self.text.as_deref().map(RawValue::get)
    }
}

impl<T: CanonicalJson + DeserializeOwned + Default + PartialEq> JsonText<T> {
    /// Serializes a value.
    ///
    /// # Panics
    /// If the value has no JSON form, such as a map with keys that are not strings.
    #[must_use]
    pub fn new(value: &T) -> Self {
        let text = (*value != T::default())
            .then(|| to_raw_value(&Canonical(value)).expect("the value has a JSON form"));
        Self { text, value: PhantomData }
    }

    /// Parses the value.
    ///
    /// # Panics
    /// Never: the text is the serialized form of a value.
    #[must_use]
    pub fn value(&self) -> T {
        self.text()
            .map(|text| serde_json::from_str(text).expect("the text is that of a value"))
            .unwrap_or_default()
    }

    /// Changes the value.
    pub fn change(&mut self, change: impl FnOnce(&mut T)) {
        let mut value = self.value();
        change(&mut value);
        *self = Self::new(&value);
    }
}

impl JsonText<BTreeMap<String, Value>> {
    /// Deserializes an object that this type has serialized, without parsing it. Only for JSON that was stored in this
    /// form: [`value`](Self::value) panics if a number of the object is out of range.
    ///
    /// # Errors
    /// If the value is not an object.
    pub fn deserialize_stored<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(from)?;
        match text.get() {
            "{}" => Ok(Self::default()),
            json if json.starts_with('{') => Ok(Self { text: Some(text), value: PhantomData }),
            _ => Err(de::Error::custom("the value is not an object")),
        }
    }
}

impl<T> Clone for JsonText<T> {
    fn clone(&self) -> Self {
        Self { text: self.text.clone(), value: PhantomData }
    }
}

impl<T> PartialEq for JsonText<T> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl<T> Eq for JsonText<T> {}

impl<T> Default for JsonText<T> {
    fn default() -> Self {
        Self { text: None, value: PhantomData }
    }
}

impl<T> fmt::Debug for JsonText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().unwrap_or("default"))
    }
}

impl<T: CanonicalJson + DeserializeOwned + Default + PartialEq> From<T> for JsonText<T> {
    fn from(value: T) -> Self {
        Self::new(&value)
    }
}

impl<T: CanonicalJson + Default> Serialize for JsonText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => text.serialize(serializer),
            None => T::default().serialize_canonical(serializer),
        }
    }
}

impl<'de, T: CanonicalJson + DeserializeOwned + Default + PartialEq> Deserialize<'de> for JsonText<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(|value| Self::new(&value))
    }
}

/// Serialization in which equal values have the same text, independent of the order of the map type.
pub trait CanonicalJson {
    /// Serializes the value with sorted object keys.
    ///
    /// # Errors
    /// Errors of the serializer.
    fn serialize_canonical<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;
}

impl CanonicalJson for Value {
    fn serialize_canonical<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(map) => {
                let ordered: BTreeMap<&String, Canonical<'_, Self>> =
                    map.iter().map(|(k, v)| (k, Canonical(v))).collect();
                serializer.collect_map(ordered)
            }
            Self::Array(items) => serializer.collect_seq(items.iter().map(Canonical)),
            other => other.serialize(serializer),
        }
    }
}

impl CanonicalJson for VariableValue {
    fn serialize_canonical<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.serialize(serializer)
    }
}

impl<V: CanonicalJson> CanonicalJson for BTreeMap<String, V> {
    fn serialize_canonical<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(k, v)| (k, Canonical(v))))
    }
}

struct Canonical<'a, T>(&'a T);

impl<T: CanonicalJson> Serialize for Canonical<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize_canonical(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    type Fields = BTreeMap<String, Value>;

    #[test]
    fn text_has_sorted_keys_and_the_same_value() {
        let fields: Fields = [("b".to_owned(), json!({ "z": 1.5, "a": [{ "d": null, "c": "x" }] }))].into();
        let text = JsonText::new(&fields);
        let stored = r#"{"b":{"a":[{"c":"x","d":null}],"z":1.5}}"#;
        assert_eq!((serde_json::to_string(&text).unwrap().as_str(), text.bytes()), (stored, stored.len()));
        assert_eq!(text.value(), fields);
        assert_eq!(serde_json::from_str::<JsonText<Fields>>(stored).unwrap(), text);
        let value: Value = serde_json::from_str(&format!(" {stored} ")).unwrap();
        assert_eq!(serde_json::from_value::<JsonText<Fields>>(value).unwrap(), text);
    }

    #[test]
    fn default_value_has_no_text() {
        let empty = JsonText::<Fields>::default();
        assert!(empty.is_default() && empty.bytes() == 0);
        assert_eq!((JsonText::new(&Fields::new()), empty.value()), (empty.clone(), Fields::new()));
        assert_eq!(serde_json::to_string(&empty).unwrap(), "{}");
        assert_eq!(serde_json::from_str::<JsonText<Fields>>("{}").unwrap(), empty);
        let mut text = JsonText::new(&Fields::from([("a".to_owned(), json!(1))]));
        text.change(|fields| fields.clear());
        assert_eq!(text, empty);
    }

    #[test]
    fn stored_objects_keep_their_text() {
        #[derive(Deserialize)]
        struct Record {
            #[serde(deserialize_with = "JsonText::deserialize_stored")]
            fields: JsonText<Fields>,
        }
        let fields = |json: &str| {
            serde_json::from_str::<Record>(&format!(r#"{{"fields":{json}}}"#)).map(|record| record.fields)
        };
        let stored = r#"{"b":{"a":[1,null]}}"#;
        let text = fields(stored).unwrap();
        assert_eq!(text, serde_json::from_str(stored).unwrap());
        assert!(fields("{}").unwrap().is_default());
        assert!(fields("[]").is_err() && fields("1").is_err() && fields("{").is_err());
    }

    #[test]
    fn text_of_another_type_is_rejected() {
        for wrong in ["[]", "1", "null", "{", r#"{"a":1e999}"#] {
            assert!(serde_json::from_str::<JsonText<Fields>>(wrong).is_err(), "{wrong}");
        }
    }
}
