//! Git Sync settings of spaces as installations.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GitInstallationStatus, GitProvider, SpaceId, Timestamp, UserId, list::constants};

constants! {
    /// `git-sync-installation`.
    GitInstallationObject = "git-sync-installation",
    /// `space`.
    GitInstallationTargetType = "space",
}

/// The Git Sync setting of a space as an installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitInstallation {
    /// Always `git-sync-installation`.
    pub object: GitInstallationObject,
    /// The id of the installation, which is the id of the space.
    pub id: SpaceId,
    pub target: GitInstallationTarget,
    pub status: GitInstallationStatus,
    pub provider: GitProvider,
    pub provider_configuration: GitInstallationConfiguration,
    /// The directory in the repository that contains the documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_directory: Option<String>,
    /// The message of commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_message_template: Option<String>,
    /// Time at which Git Sync of the space was set up.
    pub created_at: Timestamp,
    /// The user who last changed the setting.
    pub created_by: UserId,
    pub updated_at: Timestamp,
    pub urls: GitInstallationUrls,
}

/// The space of an installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitInstallationTarget {
    /// Always `space`.
    #[serde(rename = "type")]
    pub kind: GitInstallationTargetType,
    pub space_id: SpaceId,
}

/// The configuration of an installation at its Git host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GitInstallationConfiguration {
    /// The full name of the branch; absent for another ref.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// URLs of an installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GitInstallationUrls {
    /// URL in the API.
    pub location: String,
}
