//! Roles and default access levels.

use std::{fmt, str::FromStr};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares the roles in ascending order with their values in the wire format.
macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The role of a member. Each role includes the permissions of all lower roles. Where a role is optional, an
        /// absent role means guest.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum Role {
            $(
                $(#[$doc])*
                #[serde(rename = $text)]
                $name,
            )*
        }

        impl Role {
            /// All roles in ascending order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the value used on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

roles! {
    /// Views content.
    Read = "read",
    /// Participates in discussions.
    Comment = "comment",
    /// Edits live content and change requests.
    Edit = "edit",
    /// Reviews and merges change requests.
    Review = "review",
    /// Creates content.
    Create = "create",
    /// Administers content and organization.
    Admin = "admin",
}

impl Role {
    /// Returns `true` if this role includes all permissions of `other`.
    ///
    /// ```
    /// use docs_model::Role;
    /// assert!(Role::Edit.includes(Role::Comment));
    /// assert!(!Role::Edit.includes(Role::Review));
    /// ```
    #[must_use]
    pub fn includes(self, other: Self) -> bool {
        self >= other
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for an unknown role name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be the name of a role")]
pub struct NotARole;

impl FromStr for Role {
    type Err = NotARole;
    fn from_str(name: &str) -> Result<Self, NotARole> {
        Self::ALL.iter().find(|role| role.as_str() == name).copied().ok_or(NotARole)
    }
}

/// The access level of members without an explicit role on content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DefaultLevel {
    /// The level of the parent collection, or the organization role at the top level.
    #[default]
    Inherit,
    /// No access except for administrators and the creator.
    Nobody,
    /// This role for all members of the organization except administrators.
    #[serde(untagged)]
    Role(Role),
}
