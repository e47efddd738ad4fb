//! Visitors of published sites: their identity, their access, and the content they see.

mod admit;
mod decider;
mod file_bearer;
pub(in crate::platform) mod jwt;
pub(in crate::platform) mod member;
mod moment;
pub(in crate::platform) mod pass;
mod reader;
mod uses;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use self::moment::Moment;
pub(in crate::platform) use self::{
    admit::{Admitted, Visit},
    file_bearer::{MAX_SEALED_CLAIMS, ShownFiles, VisitorBearer},
    reader::{ContentFilter, Reader, VisitorClaims},
};

use crate::{
    model::{ShareLinkId, SiteId, UserId},
    platform::Actor,
};

/// A reader of published sites as part of their audience. A visitor has no other permissions, even if they are a
/// member.
///
/// A visitor from [`resolve_url`](super::Platform::resolve_url) has a content token, which
/// [`authenticate`](super::Platform::authenticate) converts to an actor; [`anonymous`](Visitor::anonymous) is any other
/// visitor. Each read checks the access against the site, so unpublishing it, revoking a share link or replacing the
/// signing key revokes access at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Visitor {
    /// The site of the token, or `None` for any site.
    pub(in crate::platform) site: Option<SiteId>,
    pub(in crate::platform) pass: Pass,
    /// The signer of their claims.
    pub(in crate::platform) signed_by: Option<Signer>,
    /// The expiry of the signed claims, in seconds since the epoch.
    pub(in crate::platform) until: Option<i64>,
    /// Signed claims as JSON, empty if there are none.
    pub(in crate::platform) signed: Arc<str>,
    /// Unsigned claims as JSON.
    pub(in crate::platform) unsigned: Arc<str>,
    /// The visitor is a user, who sees only public content where they are not a member.
    pub(in crate::platform) is_user: bool,
}

/// The signer of a visitor's claims.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::platform) enum Signer {
    /// The site's own sign-in, with the key of this fingerprint.
    Key(Arc<str>),
    /// The platform, for a member of the site's organization who acted with an API token.
    Member(UserId),
    /// The platform, for a member who signed in through a provider of the organization.
    Session(UserId),
    /// The platform, for a member whom the embedding application authenticated.
    Host(UserId),
}

/// The credential for a site that is not public.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::platform) enum Pass {
    #[default]
    None,
    /// The secret of a share link.
    ShareKey(Arc<str>),
    /// A share link that was found by its secret.
    ShareLink(ShareLinkId),
}

impl Visitor {
    /// Returns an anonymous visitor.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// Returns the visitor of an actor with a share key, `None` for actors who may be members.
    pub(in crate::platform) fn of(actor: &Actor, share_key: Option<&str>) -> Option<Self> {
        let Actor::Visitor(visitor) = actor else { return None };
        Some(share_key.map_or_else(|| visitor.clone(), |key| visitor.clone().with_share_key(key)))
    }

    /// Returns a user who is not a member, with a share key.
    pub(in crate::platform) fn stranger(share_key: Option<&str>) -> Self {
        let user = Self { is_user: true, ..Self::default() };
        share_key.map_or_else(|| user.clone(), |key| user.clone().with_share_key(key))
    }

    /// Adds the secret of a share link. The credential in a content token takes precedence.
    #[must_use]
    pub fn with_share_key(mut self, key: &str) -> Self {
        if self.pass == Pass::None {
            self.pass = Pass::ShareKey(key.into());
        }
        self
    }
}
