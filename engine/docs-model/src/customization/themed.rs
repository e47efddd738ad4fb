//! Values that depend on the theme.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Color;

/// A pair of values for the light and the dark theme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Themed{T}"))]
pub struct Themed<T> {
    /// The value for the light theme.
    pub light: T,
    /// The value for the dark theme.
    pub dark: T,
}

impl Themed<Color> {
    pub(super) fn same_for_both(color: Color) -> Self {
        Self { light: color.clone(), dark: color }
    }
}
