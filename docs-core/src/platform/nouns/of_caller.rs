//! The callers that a platform leads to, and the nouns that a caller leads to.

use super::{
    super::{Actor, ContentOf, Platform, Thread, Version, Visitor},
    Caller, CollectionHandle, CommentHandle, ContentAddress, ContentHandle, GrantTarget, OrgHandle, Orgs,
    Permissions, RequestRef, SpaceHandle, UserHandle, Users, Who,
};
use crate::model::{CollectionId, ContentTarget, OrgId, SpaceId, UserId};

impl Platform {
    /// The platform as a user may use it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::UserId};
    /// # async fn example(platform: &Platform, ada: &UserId) -> Result<()> {
    /// let me = platform.as_user(ada);
    /// println!("{}", me.current_user().await?.display_name);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn as_user<'p>(&'p self, user: &'p UserId) -> Caller<'p> {
        Caller { platform: self, who: Who::User(user) }
    }

    /// The platform as the program that embeds it may use it: everything is allowed.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// let grace = platform.as_platform().users().by_email("grace@example.com").await?;
    /// println!("{}", grace.id);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn as_platform(&self) -> Caller<'_> {
        Caller { platform: self, who: Who::Platform }
    }

    /// The platform as a visitor of published sites may use it, who reads what their audience sees.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::{OrgId, SiteId}, platform::Visitor};
    /// # async fn example(platform: &Platform, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let visitor = Visitor::anonymous();
    /// let site = platform.as_visitor(&visitor).org(org).site(site);
    /// println!("{}", site.published().await?.site.title);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn as_visitor<'p>(&'p self, visitor: &'p Visitor) -> Caller<'p> {
        Caller { platform: self, who: Who::Visitor(visitor) }
    }

    /// The platform as an actor may use it, such as [`authenticate`](Platform::authenticate) answers.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform, bearer: &str) -> Result<()> {
    /// let actor = platform.authenticate(bearer).await?;
    /// let me = platform.as_actor(&actor);
    /// println!("{}", me.current_user().await?.display_name);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn as_actor<'p>(&'p self, actor: &'p Actor) -> Caller<'p> {
        match actor {
            Actor::User(user) => self.as_user(user),
            Actor::Token(token) => Caller { platform: self, who: Who::Token(token) },
            Actor::Platform => self.as_platform(),
            Actor::Visitor(visitor) => self.as_visitor(visitor),
        }
    }
}

impl<'p> Caller<'p> {
    /// The actor in whose name operations run.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Actor, Platform, model::UserId};
    /// # fn example(platform: &Platform, ada: &UserId) {
    /// let me = platform.as_user(ada);
    /// assert_eq!(me.actor(), Actor::User(ada.clone()));
    /// # }
    /// ```
    #[must_use]
    pub fn actor(self) -> Actor {
        match self.who {
            Who::User(user) => Actor::User(user.clone()),
            Who::Token(token) => Actor::Token(token.clone()),
            Who::Platform => Actor::Platform,
            Who::Visitor(visitor) => Actor::Visitor(visitor.clone()),
        }
    }

    /// The users of the platform.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// let grace = platform.as_platform().users().by_email("grace@example.com").await?;
    /// println!("{}", grace.display_name);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn users(self) -> Users<'p> {
        Users { caller: self }
    }

    /// A user.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::UserId, platform::Caller};
    /// # async fn example(me: Caller<'_>, grace: &UserId) -> Result<()> {
    /// println!("{}", me.user(grace).get().await?.display_name);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn user(self, user: &'p UserId) -> UserHandle<'p> {
        UserHandle { caller: self, user }
    }

    /// The organizations.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>) -> Result<()> {
    /// let orgs = me.orgs().list(&PageRequest::default()).await?;
    /// println!("a member of {} organizations", orgs.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn orgs(self) -> Orgs<'p> {
        Orgs { caller: self }
    }

    /// An organization.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// println!("{}", me.org(org).get().await?.title);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn org(self, org: &'p OrgId) -> OrgHandle<'p> {
        OrgHandle { caller: self, org }
    }

    /// A collection.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::CollectionId, platform::Caller};
    /// # async fn example(me: Caller<'_>, collection: &CollectionId) -> Result<()> {
    /// println!("{}", me.collection(collection).get().await?.title);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn collection(self, collection: &'p CollectionId) -> CollectionHandle<'p> {
        CollectionHandle { caller: self, collection }
    }

    /// A space.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// println!("{}", me.space(space).get().await?.title);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn space(self, space: &'p SpaceId) -> SpaceHandle<'p> {
        SpaceHandle { caller: self, space }
    }

    /// The content at an owned address.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::{Caller, ContentOf, Shown}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let of = ContentOf::request(space.clone(), "3");
    /// let pages = me.content(&of).list_pages(Shown::default()).await?;
    /// println!("{} pages at the top level", pages.pages.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn content(self, of: &'p ContentOf) -> ContentHandle<'p> {
        let space = &of.space;
        let of = match &of.version {
            Version::Live => ContentAddress::Live(space),
            Version::Request(request) => ContentAddress::Request(RequestRef { space, request }),
            Version::Revision(revision) => ContentAddress::Revision(space, revision),
        };
        ContentHandle { caller: self, of }
    }

    /// The comment at an owned address.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{CommentId, ContentFormat, SpaceId};
    /// # use docs_core::platform::{Caller, ContentOf, Thread};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, comment: CommentId) -> Result<()> {
    /// let thread = Thread { of: ContentOf::space(space.clone()), comment };
    /// let comment = me.comment(&thread).get(ContentFormat::Markdown).await?;
    /// println!("{}", comment.posted_by.display_name);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn comment(self, thread: &'p Thread) -> CommentHandle<'p> {
        self.content(&thread.of).comment(&thread.comment)
    }

    /// The roles that users and teams have in a space or a collection.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::ContentTarget, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, content: &ContentTarget) -> Result<()> {
    /// let given = me.permissions(content).list_teams(&PageRequest::default()).await?;
    /// println!("{} teams have a role", given.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn permissions(self, content: &'p ContentTarget) -> Permissions<'p> {
        let content = match content {
            ContentTarget::Collection(id) => GrantTarget::Collection(id),
            ContentTarget::Space(id) => GrantTarget::Space(id),
        };
        Permissions { caller: self, content }
    }
}
