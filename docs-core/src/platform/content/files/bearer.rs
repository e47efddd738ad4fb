//! The recipient of a file URL, checked at each use.

use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind, Result,
    model::{OrgId, SpaceId, UserId},
    platform::{
        access,
        kernel::{
            actor::{Actor, Visitor},
            platform::Platform,
            token_user::TokenUser,
        },
        publishing::visitors::VisitorBearer,
    },
    store::Tx,
};

/// Audience of a file URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileReach {
    /// Any visitor, while a public site shows the file. Shared caches may store it but must revalidate at each use,
    /// because the site may stop showing it.
    Public,
    /// The recipient of the URL, while they may read the content.
    Bearer,
}

/// The recipient of a URL. Part of the sealed payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::platform) enum Bearer {
    /// The embedding application.
    Platform,
    /// A member authenticated by the embedding application.
    User(UserId),
    /// A member with one of their tokens. An organization may require another sign-in method.
    Token(UserId),
    /// A member with a single sign-on session, which is valid in that organization only.
    Session(UserId, OrgId),
    /// A holder of a preview, with the rights of its member until the preview expires, in seconds since the epoch.
    Preview(Box<Bearer>, i64),
    Visitor(VisitorBearer),
}

impl Bearer {
    /// Returns the bearer for an actor who reads content as a member.
    pub(in crate::platform) fn for_member(actor: &Actor) -> Result<Self> {
        match actor {
            Actor::User(user) => Ok(Self::User(user.clone())),
            Actor::Token(token) => Ok(match token.session_org() {
                Some(org) => Self::Session(token.user().clone(), org.clone()),
                None => Self::Token(token.user().clone()),
            }),
            Actor::Platform => Ok(Self::Platform),
            Actor::Visitor(_) => Err(Error::not_found("space")),
        }
    }

    /// Returns the bearer for a holder of a preview, who reads content as its member.
    pub(in crate::platform) fn for_preview(visitor: &Visitor, member: &Actor) -> Result<Self> {
        Ok(Self::Preview(Box::new(Self::for_member(member)?), visitor.until.unwrap_or_default()))
    }

    /// Returns the approximate size in bytes of the URL of a file, as a string and in JSON.
    pub(in crate::platform) fn url_bytes(&self) -> Result<usize> {
        let bearer = serde_json::to_string(self).map_err(Error::internal)?;
        Ok(2 * (bearer.len() + bearer.len() / 3))
    }

    /// Returns the user that received a URL, or `None` for other callers.
    pub(in crate::platform) fn user(&self) -> Option<&UserId> {
        match self {
            Self::User(user) | Self::Token(user) | Self::Session(user, _) => Some(user),
            Self::Preview(member, _) => member.user(),
            Self::Platform | Self::Visitor(_) => None,
        }
    }
}

impl Platform {
    /// Returns `true` if the member that received a URL may still read a space, and `false` for visitors.
    pub(in crate::platform) async fn reaches(
        &self,
        tx: &Tx,
        bearer: &Bearer,
        space: &SpaceId,
    ) -> Result<bool> {
        let Some(actor) = self.member_actor(bearer) else { return Ok(false) };
        match access::space(tx, &actor, space).await {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the actor for a member's URL, or `None` for the URL of a visitor or of an expired preview.
    pub(in crate::platform) fn member_actor(&self, bearer: &Bearer) -> Option<Actor> {
        let token = |user: &UserId, org| Actor::Token(TokenUser::new(user.clone(), org, self.urls()));
        match bearer {
            Bearer::Platform => Some(Actor::Platform),
            Bearer::User(user) => Some(Actor::User(user.clone())),
            Bearer::Token(user) => Some(token(user, None)),
            Bearer::Session(user, org) => Some(token(user, Some(org.clone()))),
            Bearer::Preview(member, until) => {
                self.member_actor(member).filter(|_| self.now().time().timestamp() < *until)
            }
            Bearer::Visitor(_) => None,
        }
    }
}
