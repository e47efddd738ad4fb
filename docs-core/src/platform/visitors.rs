//! Visitors of published sites: who they are, what lets them in, and what they see.

mod address;
mod admit;
mod decider;
mod file_bearer;
pub(super) mod jwt;
pub(super) mod member;
mod moment;
mod open_site;
pub(super) mod pass;
mod reader;
pub(super) mod resolve;
mod uses;

use std::sync::Arc;

pub(super) use admit::{Admitted, Visit};
pub(super) use file_bearer::{MAX_SEALED_CLAIMS, ShownFiles, VisitorBearer};
pub use moment::Moment;
pub use open_site::OpenSite;
pub(super) use reader::{ContentFilter, Reader, VisitorClaims};

use serde::{Deserialize, Serialize};

use super::Actor;
use crate::model::{ShareLinkId, SiteId, UserId};

/// Somebody who reads published sites, as their audience, and nothing but a reader: also where they are a member.
///
/// A visitor who came through [`resolve_url`](super::Platform::resolve_url) holds a content token, which
/// [`authenticate`](super::Platform::authenticate) turns into an actor again; [`anonymous`](Visitor::anonymous) is
/// anybody else. What a token lets in is asked of the site at every read: unpublishing it, revoking a share link or
/// replacing the signing key ends it at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Visitor {
    /// The site that a token is for; any site when there is none.
    site: Option<SiteId>,
    pass: Pass,
    /// Who signed their claims.
    signed_by: Option<Signer>,
    /// When what was signed ends, in seconds since the epoch.
    until: Option<i64>,
    /// Claims that were signed, as JSON; blank when there are none.
    signed: Arc<str>,
    /// Claims that anybody can make, as JSON.
    unsigned: Arc<str>,
    /// Whether it is a user, who sees as little as anybody where they are no member.
    is_user: bool,
}

/// Who signed what is known of a visitor.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Signer {
    /// The site's own sign-in, with the key of this fingerprint.
    Key(Arc<str>),
    /// The platform, for a member of the site's organization who acted with an API token.
    Member(UserId),
    /// The platform, for a member who signed in through a provider of the organization.
    Session(UserId),
    /// The platform, for a member whom the embedding program authenticated.
    Host(UserId),
}

/// What lets a visitor in where not everybody may.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Pass {
    #[default]
    None,
    /// The secret of a share link.
    ShareKey(Arc<str>),
    /// A share link that was found by its secret.
    ShareLink(ShareLinkId),
}

impl Visitor {
    /// Somebody of whom nothing is known.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// The visitor that an actor is, and what they come in by; `None` for who may be a member.
    pub(in crate::platform) fn of(actor: &Actor, share_key: Option<&str>) -> Option<Self> {
        let Actor::Visitor(visitor) = actor else { return None };
        Some(share_key.map_or_else(|| visitor.clone(), |key| visitor.clone().with_share_key(key)))
    }

    /// A user who is no member, and what they come in by.
    pub(in crate::platform) fn stranger(share_key: Option<&str>) -> Self {
        let user = Self { is_user: true, ..Self::default() };
        share_key.map_or_else(|| user.clone(), |key| user.clone().with_share_key(key))
    }

    /// The same visitor with the secret of a share link; a token that says how they came in goes before it.
    #[must_use]
    pub fn with_share_key(mut self, key: &str) -> Self {
        if self.pass == Pass::None {
            self.pass = Pass::ShareKey(key.into());
        }
        self
    }
}
