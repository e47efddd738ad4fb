//! Constructors of callers, and of the nouns at the start of a call.

use super::{
    Caller, CollectionHandle, CommentHandle, ContentAddress, ContentHandle, GrantTarget, OrgHandle, Orgs,
    Permissions, RequestRef, SpaceHandle, UserHandle, Users, addresses::Thread, caller::ActorRef,
};
use crate::{
    model::{CollectionId, ContentTarget, OrgId, SpaceId, UserId},
    platform::kernel::{
        actor::{Actor, Visitor},
        content_version::{ContentVersion, Version},
        platform::Platform,
    },
};

impl Platform {
    /// Returns the platform as used by a user.
    #[must_use]
    pub const fn as_user<'p>(&'p self, user: &'p UserId) -> Caller<'p> {
        Caller { platform: self, who: ActorRef::User(user) }
    }

    /// Returns the platform as used by the embedding application, which has full access.
    #[must_use]
    pub const fn as_platform(&self) -> Caller<'_> {
        Caller { platform: self, who: ActorRef::Platform }
    }

    /// Returns the platform as used by a visitor, who may read only published sites they have access to.
    #[must_use]
    pub const fn as_visitor<'p>(&'p self, visitor: &'p Visitor) -> Caller<'p> {
        Caller { platform: self, who: ActorRef::Visitor(visitor) }
    }

    /// Returns the platform as used by an actor, for example one returned by [`authenticate`](Platform::authenticate).
    #[must_use]
    pub const fn as_actor<'p>(&'p self, actor: &'p Actor) -> Caller<'p> {
        match actor {
            Actor::User(user) => self.as_user(user),
            Actor::Token(token) => Caller { platform: self, who: ActorRef::Token(token) },
            Actor::Platform => self.as_platform(),
            Actor::Visitor(visitor) => self.as_visitor(visitor),
        }
    }
}

impl<'p> Caller<'p> {
    /// The actor on whose behalf operations run.
    #[must_use]
    pub fn actor(self) -> Actor {
        match self.who {
            ActorRef::User(user) => Actor::User(user.clone()),
            ActorRef::Token(token) => Actor::Token(token.clone()),
            ActorRef::Platform => Actor::Platform,
            ActorRef::Visitor(visitor) => Actor::Visitor(visitor.clone()),
        }
    }

    #[must_use]
    pub const fn users(self) -> Users<'p> {
        Users { caller: self }
    }

    #[must_use]
    pub const fn user(self, user: &'p UserId) -> UserHandle<'p> {
        UserHandle { caller: self, user }
    }

    #[must_use]
    pub const fn orgs(self) -> Orgs<'p> {
        Orgs { caller: self }
    }

    #[must_use]
    pub const fn org(self, org: &'p OrgId) -> OrgHandle<'p> {
        OrgHandle { caller: self, org }
    }

    #[must_use]
    pub const fn collection(self, collection: &'p CollectionId) -> CollectionHandle<'p> {
        CollectionHandle { caller: self, collection }
    }

    #[must_use]
    pub const fn space(self, space: &'p SpaceId) -> SpaceHandle<'p> {
        SpaceHandle { caller: self, space }
    }

    /// Returns the content identified by an owned [`ContentVersion`].
    #[must_use]
    pub fn content(self, of: &'p ContentVersion) -> ContentHandle<'p> {
        let space = &of.space;
        let of = match &of.version {
            Version::Live => ContentAddress::Live(space),
            Version::Request(request) => ContentAddress::Request(RequestRef { space, request }),
            Version::Revision(revision) => ContentAddress::Revision(space, revision),
        };
        ContentHandle { caller: self, of }
    }

    /// Returns the comment identified by an owned [`Thread`].
    #[must_use]
    pub fn comment(self, thread: &'p Thread) -> CommentHandle<'p> {
        self.content(&thread.of).comment(&thread.comment)
    }

    /// Returns the explicit roles of users and teams on a space or a collection.
    #[must_use]
    pub const fn permissions(self, content: &'p ContentTarget) -> Permissions<'p> {
        let target = match content {
            ContentTarget::Collection(id) => GrantTarget::Collection(id),
            ContentTarget::Space(id) => GrantTarget::Space(id),
        };
        Permissions { caller: self, target }
    }
}
