//! What people may do.

use std::{fmt, str::FromStr};

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares the roles, from the least one on, with their names on the wire: everything that lists roles is made of
/// this.
macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What a member may do; each role includes the ones before it. `None` where a role is optional
        /// stands for a guest.
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
            /// All roles, each behind those that it includes.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name on the wire.
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
    /// Sees content.
    Read = "read",
    /// Takes part in discussions.
    Comment = "comment",
    /// Edits live content and change requests.
    Edit = "edit",
    /// Reviews and merges change requests.
    Review = "review",
    /// Creates content.
    Create = "create",
    /// Administrates content and organization.
    Admin = "admin",
}

impl Role {
    /// Tells whether who has this role may do all that another one allows.
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

/// No role has this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no role has this name")]
pub struct NotARole;

impl FromStr for Role {
    type Err = NotARole;
    fn from_str(name: &str) -> Result<Self, NotARole> {
        Self::ALL.iter().find(|role| role.as_str() == name).copied().ok_or(NotARole)
    }
}

/// The level that content gives those it is not granted to by name.
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
