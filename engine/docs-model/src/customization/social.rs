//! Accounts of a site on social platforms.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::{BoundedText, BoundedVec};

/// The accounts of a site.
pub type SocialAccounts = BoundedVec<SocialAccount, 0, 10>;

/// A handle on a platform, without a prefix such as `@`.
pub type SocialHandle = BoundedText<1, 128>;

/// An account on a social platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SocialAccount {
    pub platform: SocialPlatform,
    pub handle: SocialHandle,
    pub display: SocialDisplay,
}

/// The parts of a page that link to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SocialDisplay {
    pub footer: bool,
    pub header: bool,
}

/// A social platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SocialPlatform {
    Twitter,
    Instagram,
    Facebook,
    LinkedIn,
    GitHub,
    Discord,
    Slack,
    YouTube,
    TikTok,
    Reddit,
    Bluesky,
    Mastodon,
    Threads,
    Medium,
}
