//! Deserialization of untagged types, whose variant is selected by content.

use serde::de::{DeserializeOwned, Error as SerdeError};
use serde_json::Value;

/// Deserializes a value of a type that was selected by content. Errors contain the path of the invalid field.
pub(crate) fn part<T: DeserializeOwned, E: SerdeError>(value: Value) -> Result<T, E> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        if path == "." {
            E::custom(error.inner())
        } else {
            E::custom(format_args!("{path}: {}", error.inner()))
        }
    })
}
