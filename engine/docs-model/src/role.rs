//! What people may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a member may do; each role includes the ones before it (SPEC 2.1). `None` where a role is optional stands
/// for a guest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sees content.
    Read,
    /// Takes part in discussions.
    Comment,
    /// Edits live content and change requests.
    Edit,
    /// Reviews and merges change requests.
    Review,
    /// Creates content.
    Create,
    /// Administrates content and organization.
    Admin,
}

/// The level that content gives those it is not granted to by name (SPEC 2.4, 2.5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultLevel {
    /// What the parent gives: the collection, else the organization role.
    #[default]
    Inherit,
    /// Nobody but administrators and the creator.
    Nobody,
    /// This role, for everybody in the organization but administrators.
    #[serde(untagged)]
    Role(Role),
}
