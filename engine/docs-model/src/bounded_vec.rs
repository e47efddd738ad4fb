//! Lists of bounded length: [`BoundedVec`].

use std::ops::Deref;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// A list of `MIN` to `MAX` items.
///
/// The limits are part of the type: deserialization enforces them and the JSON Schema contains them.
///
/// ```
/// use docs_model::BoundedVec;
/// assert!(BoundedVec::<u8, 1, 2>::new(vec![1, 2]).is_ok());
/// assert_eq!(BoundedVec::<u8, 1, 2>::new(vec![]).unwrap_err().to_string(), "must have at least 1 item, has 0");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(transparent)]
pub struct BoundedVec<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MAX: usize> BoundedVec<T, 0, MAX> {
    /// Retains the items that `fits` accepts; `fits` may modify them.
    pub fn retain(&mut self, fits: impl FnMut(&mut T) -> bool) {
        self.0.retain_mut(fits);
    }
}

/// The error for a list with too few or too many items.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BoundedVecError {
    /// The list has fewer items than the minimum.
    #[error("must have at least {min} {}, has {has}", items(*.min))]
    TooFew {
        /// The minimum number of items.
        min: usize,
        /// The number of items in the list.
        has: usize,
    },
    /// The list has more items than the maximum.
    #[error("must have at most {max} {}, has {has}", items(*.max))]
    TooMany {
        /// The maximum number of items.
        max: usize,
        /// The number of items in the list.
        has: usize,
    },
}

const fn items(n: usize) -> &'static str {
    if n == 1 { "item" } else { "items" }
}

impl<T, const MIN: usize, const MAX: usize> BoundedVec<T, MIN, MAX> {
    /// Checks the length of a list.
    ///
    /// # Errors
    /// [`BoundedVecError`] if the list has fewer than `MIN` or more than `MAX` items.
    pub fn new(items: Vec<T>) -> Result<Self, BoundedVecError> {
        let has = items.len();
        if has < MIN {
            Err(BoundedVecError::TooFew { min: MIN, has })
        } else if has > MAX {
            Err(BoundedVecError::TooMany { max: MAX, has })
        } else {
            Ok(Self(items))
        }
    }
}

/// The empty list.
impl<T, const MAX: usize> Default for BoundedVec<T, 0, MAX> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MIN: usize, const MAX: usize> Deref for BoundedVec<T, MIN, MAX> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>, const MIN: usize, const MAX: usize> Deserialize<'de>
    for BoundedVec<T, MIN, MAX>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Vec::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl<T: JsonSchema, const MIN: usize, const MAX: usize> JsonSchema for BoundedVec<T, MIN, MAX> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}{MIN}to{MAX}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        if MIN == 0 {
            json_schema!({ "type": "array", "items": items, "maxItems": MAX })
        } else {
            json_schema!({ "type": "array", "items": items, "minItems": MIN, "maxItems": MAX })
        }
    }
}
