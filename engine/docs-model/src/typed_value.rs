//! Deserialization of values whose type depends on their content.

use serde::de::{DeserializeOwned, Error as SerdeError};
use serde_json::Value;

/// Deserializes a value whose type depends on its content, with the path of the invalid field in the error message.
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
