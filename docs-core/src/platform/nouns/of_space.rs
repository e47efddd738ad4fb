//! The nouns that a space leads to: its content, change requests and comments.

use super::{
    ChangeRequestHandle, ChangeRequests, CommentHandle, Comments, ContentAddress, ContentHandle, GrantTarget,
    Permissions, ReplyHandle, RequestRef, Revisions, SpaceHandle,
};
use crate::model::{CommentId, CommentReplyId, RevisionId};

impl<'p> SpaceHandle<'p> {
    /// The roles that users and teams have in it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let all = me.space(space).permissions().list(None, &PageRequest::default()).await?;
    /// println!("{} people see the space", all.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn permissions(self) -> Permissions<'p> {
        Permissions { caller: self.caller, content: GrantTarget::Space(self.space) }
    }

    /// Its current content.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::{Caller, Shown}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let pages = me.space(space).content().list_pages(Shown::default()).await?;
    /// println!("{} pages at the top level", pages.pages.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn content(self) -> ContentHandle<'p> {
        ContentHandle { caller: self.caller, of: ContentAddress::Live(self.space) }
    }

    /// The content of a revision, which never changes.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{RevisionId, SpaceId}, platform::{Caller, Shown}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, revision: &RevisionId) -> Result<()> {
    /// let before = me.space(space).revision(revision).list_pages(Shown::default()).await?;
    /// println!("{} pages at the top level", before.pages.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn revision(self, revision: &'p RevisionId) -> ContentHandle<'p> {
        ContentHandle { caller: self.caller, of: ContentAddress::Revision(self.space, revision) }
    }

    /// The history: the revisions that were its live content.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let page = me.space(space).revisions().list(&PageRequest::default()).await?;
    /// println!("{:?} revisions", page.count);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn revisions(self) -> Revisions<'p> {
        Revisions { caller: self.caller, space: self.space }
    }

    /// The change requests.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::{Caller, RequestFilter}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let requests = me.space(space).change_requests();
    /// let page = requests.list(&RequestFilter::default(), &PageRequest::default()).await?;
    /// println!("{} change requests", page.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn change_requests(self) -> ChangeRequests<'p> {
        ChangeRequests { caller: self.caller, space: self.space }
    }

    /// A change request, by id or number.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// println!("{}", me.space(space).change_request("3").get().await?.subject);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn change_request(self, request: &'p str) -> ChangeRequestHandle<'p> {
        ChangeRequestHandle { caller: self.caller, at: RequestRef { space: self.space, request } }
    }
}

impl<'p> ChangeRequestHandle<'p> {
    /// Its content.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::{Caller, Shown}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let request = me.space(space).change_request("3");
    /// let pages = request.content().list_pages(Shown::default()).await?;
    /// println!("{} pages at the top level", pages.pages.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn content(self) -> ContentHandle<'p> {
        ContentHandle { caller: self.caller, of: ContentAddress::Request(self.at) }
    }
}

impl<'p> ContentHandle<'p> {
    /// The comments. Revisions have none.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::{Caller, CommentQuery}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let comments = me.space(space).content().comments();
    /// let page = comments.list(&CommentQuery::default(), &PageRequest::default()).await?;
    /// println!("{} comments", page.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn comments(self) -> Comments<'p> {
        Comments { caller: self.caller, of: self.of }
    }

    /// A comment.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CommentId, ContentFormat, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, comment: &CommentId) -> Result<()> {
    /// let comment = me.space(space).content().comment(comment);
    /// println!("{}", comment.get(ContentFormat::Markdown).await?.posted_at);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn comment(self, comment: &'p CommentId) -> CommentHandle<'p> {
        CommentHandle { caller: self.caller, of: self.of, comment }
    }
}

impl<'p> CommentHandle<'p> {
    /// A reply to it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{CommentId, CommentReplyId, ContentFormat, SpaceId};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, space: &SpaceId, comment: &CommentId, reply: &CommentReplyId,
    /// # ) -> Result<()> {
    /// let reply = me.space(space).content().comment(comment).reply(reply);
    /// println!("{}", reply.get(ContentFormat::Markdown).await?.posted_at);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn reply(self, reply: &'p CommentReplyId) -> ReplyHandle<'p> {
        ReplyHandle { caller: self.caller, of: self.of, comment: self.comment, reply }
    }
}
