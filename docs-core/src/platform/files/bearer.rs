//! For whom the address of a file was made: asked at each use of it.

use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind, Result,
    model::{OrgId, SiteVisibility, SpaceId, UserId},
    platform::{Actor, Platform, TokenUser, access, visitors::VisitorBearer},
    store::Tx,
};

/// Who may use the address of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileReach {
    /// Anybody, as a site is open to all that shows the content: shared caches may keep the file for a while.
    Anybody,
    /// Whom the address was made for, for as long as they may read the content.
    Bearer,
}

/// For whom an address was made; part of what is sealed in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::platform) enum Bearer {
    /// The program that embeds the platform.
    Platform,
    /// Somebody who reads the content as a member, and whom the host has let in.
    User(UserId),
    /// The same, by a token that they were given: an organization may insist on another way in.
    Token(UserId),
    /// The same, by single sign-on: good in that organization alone.
    Session(UserId, OrgId),
    /// A visitor of a site.
    Visitor(VisitorBearer),
}

impl Bearer {
    /// An actor who reads content as a member.
    pub(in crate::platform) fn member(actor: &Actor) -> Result<Self> {
        match actor {
            Actor::User(user) => Ok(Self::User(user.clone())),
            Actor::Token(token) => Ok(match token.session_of() {
                Some(org) => Self::Session(token.user().clone(), org.clone()),
                None => Self::Token(token.user().clone()),
            }),
            Actor::Platform => Ok(Self::Platform),
            Actor::Visitor(_) => Err(Error::not_found("space")),
        }
    }

    /// The user whom an address was made for; `None` for others.
    pub(in crate::platform) const fn user(&self) -> Option<&UserId> {
        match self {
            Self::User(user) | Self::Token(user) | Self::Session(user, _) => Some(user),
            Self::Platform | Self::Visitor(_) => None,
        }
    }
}

impl Platform {
    /// Tells who may use an address now; `None` where whom it was made for may not read the content any more.
    pub(in crate::platform) async fn reach(
        &self,
        tx: &Tx,
        bearer: &Bearer,
        space: &SpaceId,
    ) -> Result<Option<FileReach>> {
        if let Bearer::Visitor(visitor) = bearer {
            return Ok(match self.audience_of(tx, visitor, space).await? {
                None => None,
                Some(SiteVisibility::Public | SiteVisibility::Unlisted) => Some(FileReach::Anybody),
                Some(_) => Some(FileReach::Bearer),
            });
        }
        let Some(actor) = self.member_of(bearer) else { return Ok(None) };
        match access::space(tx, &actor, space).await {
            Ok(_) => Ok(Some(FileReach::Bearer)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Who it is that uses an address that was made for a member; `None` for those of visitors.
    pub(in crate::platform) fn member_of(&self, bearer: &Bearer) -> Option<Actor> {
        let token = |user: &UserId, org| Actor::Token(TokenUser::new(user.clone(), org, self.urls()));
        match bearer {
            Bearer::Platform => Some(Actor::Platform),
            Bearer::User(user) => Some(Actor::User(user.clone())),
            Bearer::Token(user) => Some(token(user, None)),
            Bearer::Session(user, org) => Some(token(user, Some(org.clone()))),
            Bearer::Visitor(_) => None,
        }
    }
}
