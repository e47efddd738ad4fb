//! Actors: the callers of operations.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    model::{OrgId, ShareLinkId, SiteId, UserId},
    platform::kernel::token_user::TokenUser,
};

/// The caller of an operation.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Actor {
    /// A user authenticated by the embedding application, with their own rights.
    User(UserId),
    /// A user authenticated by a token of the platform, with their own rights within the scope of the token.
    Token(TokenUser),
    /// The platform itself or the embedding application, with full access.
    Platform,
    /// A site visitor, who may read only published sites they have access to.
    Visitor(Visitor),
}

impl Actor {
    /// Returns the user, or `None` for the platform itself and for visitors.
    #[must_use]
    pub const fn user(&self) -> Option<&UserId> {
        match self {
            Self::User(user) => Some(user),
            Self::Token(token) => Some(token.user()),
            Self::Platform | Self::Visitor(_) => None,
        }
    }

    /// Returns the user, for operations that require one.
    ///
    /// # Errors
    /// `Forbidden` for the platform itself and for visitors.
    pub fn require_user(&self) -> Result<&UserId> {
        self.user().ok_or_else(|| Error::forbidden("only a user can do this"))
    }

    /// Returns `true` if the actor's credentials are valid for an organization.
    pub(in crate::platform) fn reaches(&self, organization: &OrgId) -> bool {
        match self {
            Self::Token(token) => token.reaches(organization),
            Self::User(_) | Self::Platform | Self::Visitor(_) => true,
        }
    }

    /// Rejects every actor except the platform itself.
    ///
    /// # Errors
    /// `Forbidden` for users and visitors.
    pub fn require_platform(&self) -> Result<()> {
        match self {
            Self::Platform => Ok(()),
            Self::User(_) | Self::Token(_) | Self::Visitor(_) => {
                Err(Error::forbidden("only the operator of the platform can do this"))
            }
        }
    }
}

/// A reader of published sites. A visitor has no permissions beyond those of the site's audience, even if they are a
/// member.
///
/// A visitor from [`resolve_url`](crate::platform::Platform::resolve_url) has a content token, which
/// [`authenticate`](crate::platform::Platform::authenticate) converts to an actor. All other visitors are
/// [`anonymous`](Visitor::anonymous). Each read checks access against the site, so unpublishing it, revoking a share
/// link or replacing the signing key revokes access at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Visitor {
    /// The site for which the token was issued, or `None` for any site.
    pub(in crate::platform) site: Option<SiteId>,
    pub(in crate::platform) pass: Pass,
    /// The signer of the claims.
    pub(in crate::platform) signed_by: Option<Signer>,
    /// The expiry of the signed claims, in seconds since the epoch.
    pub(in crate::platform) until: Option<i64>,
    /// Signed claims as JSON. Empty if there are none.
    pub(in crate::platform) signed: Arc<str>,
    /// Unsigned claims as JSON.
    pub(in crate::platform) unsigned: Arc<str>,
    /// `true` if the visitor is a user, who sees only public content where they are not a member.
    pub(in crate::platform) is_user: bool,
    /// The preview of the site, if the visitor is a member who opened one.
    pub(in crate::platform) preview: Option<SitePreview>,
}

/// A preview: a site as one of its members would publish it, whether it is published or not. It shows the spaces that
/// the member may read, and their change requests and former revisions.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct SitePreview {
    /// The member and how they signed in. Their access is checked at each read.
    pub(in crate::platform) member: Signer,
    /// `true` if drafts of sections and spaces are shown.
    pub(in crate::platform) drafts: bool,
}

impl Visitor {
    /// Returns an anonymous visitor.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// Returns the visitor of an actor with a share key, or `None` for actors who may be members.
    pub(in crate::platform) fn from_actor(actor: &Actor, share_key: Option<&str>) -> Option<Self> {
        let Actor::Visitor(visitor) = actor else { return None };
        Some(share_key.map_or_else(|| visitor.clone(), |key| visitor.clone().with_share_key(key)))
    }

    /// Creates the visitor for a user who is not a member, with a share key.
    pub(in crate::platform) fn non_member(share_key: Option<&str>) -> Self {
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

/// The signer of a visitor's claims.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::platform) enum Signer {
    /// The site's own sign-in, using the key with this fingerprint.
    Key(Arc<str>),
    /// The platform, for a member of the site's organization authenticated by an API token.
    Member(UserId),
    /// The platform, for a member who signed in through a provider of the organization.
    Session(UserId),
    /// The platform, for a member authenticated by the embedding application.
    Host(UserId),
}

/// The credential for access to a non-public site.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::platform) enum Pass {
    #[default]
    None,
    /// The secret of a share link.
    ShareKey(Arc<str>),
    /// A share link already resolved from its secret.
    ShareLink(ShareLinkId),
}
