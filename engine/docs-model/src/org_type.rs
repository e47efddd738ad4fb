//! Organization types and plans.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The type of an organization.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OrganizationType {
    /// A business.
    #[default]
    Business,
    /// A community.
    Community,
}

/// The purpose for which an organization uses the platform.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OrganizationUseCase {
    InternalDocs,
    DocsSite,
    AudienceControlledSite,
    ProductDocs,
    TeamKnowledgeBase,
    DesignSystem,
    OpenSourceDocs,
    Notes,
    Other,
}

/// The type of a community.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OrganizationCommunityType {
    NonProfit,
    OpenSource,
    Education,
}

/// The plan of an organization. New organizations have the largest plan, because the platform charges nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub enum Plan {
    #[serde(rename = "free_2024")]
    Free2024,
    #[serde(rename = "plus_2024")]
    Plus2024,
    #[serde(rename = "pro_2024")]
    Pro2024,
    #[default]
    #[serde(rename = "enterprise_2024")]
    Enterprise2024,
    #[serde(rename = "community_2024")]
    Community2024,
    #[serde(rename = "free")]
    Free,
    #[serde(rename = "plus")]
    Plus,
    #[serde(rename = "pro")]
    Pro,
}
