//! Integrations, which published clients list. The platform has none.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IntegrationName, list::constants};

constants! {
    /// `integration`.
    IntegrationObject = "integration",
}

/// An integration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Integration {
    /// Always `integration`.
    pub object: IntegrationObject,
    /// The unique name.
    pub name: IntegrationName,
    pub title: String,
}

/// An integration that is installed in an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InstalledIntegration {
    pub integration: Integration,
}

/// The kinds of blocks that an integration adds to the content of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct IntegrationBlocks {
    /// The name of the integration.
    pub name: IntegrationName,
    /// The kinds of blocks.
    pub blocks: Vec<String>,
}
