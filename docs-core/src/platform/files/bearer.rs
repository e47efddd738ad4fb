//! For whom the address of a file was made: asked at each use of it.

use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind, Result,
    model::{OrgId, SpaceId, UserId},
    platform::{Actor, Platform, TokenUser, access, visitors::VisitorBearer},
    store::Tx,
};

/// Who may use the address of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileReach {
    /// Any visitor, while a public site shows the file: shared caches may store it, and have to revalidate it at each
    /// use, because the site may stop showing it.
    Anybody,
    /// The caller whom the address was made for, while they may read the content.
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
    /// Returns `true` if the member whom an address was made for may read a space now; `false` for visitors.
    pub(in crate::platform) async fn reaches(
        &self,
        tx: &Tx,
        bearer: &Bearer,
        space: &SpaceId,
    ) -> Result<bool> {
        let Some(actor) = self.member_of(bearer) else { return Ok(false) };
        match access::space(tx, &actor, space).await {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Ok(false),
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
