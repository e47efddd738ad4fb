//! For whom the address of a file was made: asked at each use of it.

use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind, Result,
    model::{SiteVisibility, SpaceId, UserId},
    platform::{Actor, Platform, access, visitors::VisitorBearer},
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
    /// Somebody who reads the content as a member.
    User(UserId),
    /// A visitor of a site.
    Visitor(VisitorBearer),
}

impl Bearer {
    /// An actor who reads content as a member.
    pub(in crate::platform) fn member(actor: &Actor) -> Result<Self> {
        match actor {
            Actor::User(user) => Ok(Self::User(user.clone())),
            Actor::Token(token) => Ok(Self::User(token.user().clone())),
            Actor::Platform => Ok(Self::Platform),
            Actor::Visitor(_) => Err(Error::not_found("space")),
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
        let actor = match bearer {
            Bearer::Platform => Actor::Platform,
            Bearer::User(user) => Actor::User(user.clone()),
            Bearer::Visitor(visitor) => {
                return Ok(match self.audience_of(tx, visitor, space).await? {
                    None => None,
                    Some(SiteVisibility::Public | SiteVisibility::Unlisted) => Some(FileReach::Anybody),
                    Some(_) => Some(FileReach::Bearer),
                });
            }
        };
        match access::space(tx, &actor, space).await {
            Ok(_) => Ok(Some(FileReach::Bearer)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
