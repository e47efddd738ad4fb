//! Comments and replies: one implementation, mounted for spaces and for change requests.

use docs_core::{
    Platform,
    model::{
        Comment, CommentReply, CommentStatus, ContentFormat, List, ListOrder, Member, PostComment,
        PostCommentReply, UpdateComment, UpdateCommentReply,
    },
    platform::{CommentQuery, ContentOf, Thread},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::{PageQuery, Query},
        payload::Strict,
        reply::{Empty, NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Comments(pub(super) Platform);

fn of_space(space: &str) -> Answer<ContentOf> {
    Ok(ContentOf::space(id(space, "space")?))
}

fn of_request(space: &str, request: &str) -> Answer<ContentOf> {
    Ok(ContentOf::request(id(space, "space")?, request))
}

fn thread(of: Answer<ContentOf>, comment: &str) -> Answer<Thread> {
    Ok(Thread { of: of?, comment: id(comment, "comment")? })
}

#[OpenApi(tag = "Tag::Comments")]
impl Comments {
    /// List the comments of a space
    ///
    /// By the time they were posted, the newest first. Those of change requests are with the request.
    #[oai(path = "/spaces/:spaceId/comments", method = "get", operation_id = "listCommentsInSpace")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        page: PageQuery,
        /// `asc` for the oldest first.
        order: Query<ListOrder>,
        /// Only those that are open, or resolved.
        status: Query<CommentStatus>,
        /// Only those about this page.
        #[oai(name = "targetPage")]
        target_page: Query<String>,
        /// Only those of these users.
        authors: Query<Vec<String>>,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
    ) -> Answer<Reply<List<Comment>>> {
        let query = CommentQuery {
            status: status.0.unwrap_or_default(),
            order: order.0.unwrap_or_default(),
            target_page: target_page.0,
            authors: authors.0.unwrap_or_default(),
            format: format.0.unwrap_or_default(),
        };
        Ok(Reply(
            auth.caller(&self.0).content(&of_space(&space)?).comments().list(&query, &page.0).await?.into(),
        ))
    }

    /// Post a comment in a space
    ///
    /// About the content as a whole, a page, or a block of a page.
    #[oai(path = "/spaces/:spaceId/comments", method = "post", operation_id = "postCommentInSpace")]
    async fn post(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        new: Strict<PostComment>,
    ) -> Answer<Reply<Comment>> {
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .content(&of_space(&space)?)
                .comments()
                .post(new.0)
                .await?,
        ))
    }

    /// Get a comment of a space
    ///
    /// With its text in the form that is asked for. Its replies are listed beside it.
    #[oai(path = "/spaces/:spaceId/comments/:commentId", method = "get", operation_id = "getCommentInSpace")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
    ) -> Answer<Reply<Comment>> {
        let thread = thread(of_space(&space), &comment)?;
        Ok(Reply(auth.caller(&self.0).comment(&thread).get(format.0.unwrap_or_default()).await?))
    }

    /// Change, resolve, reopen or react to a comment of a space
    ///
    /// All that is asked for, or nothing.
    #[oai(
        path = "/spaces/:spaceId/comments/:commentId",
        method = "put",
        operation_id = "updateCommentInSpace"
    )]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        change: Strict<UpdateComment>,
    ) -> Answer<Reply<Comment>> {
        Ok(Reply(auth.caller(&self.0).comment(&thread(of_space(&space), &comment)?).update(change.0).await?))
    }

    /// Delete a comment of a space
    ///
    /// With its replies. A comment that is missing is no error.
    #[oai(
        path = "/spaces/:spaceId/comments/:commentId",
        method = "delete",
        operation_id = "deleteCommentInSpace"
    )]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
    ) -> Answer<NoContent> {
        if let Ok(thread) = thread(of_space(&space), &comment) {
            auth.caller(&self.0).comment(&thread).delete().await?;
        }
        Ok(Empty)
    }

    /// List the replies to a comment of a space
    ///
    /// The oldest first.
    #[oai(
        path = "/spaces/:spaceId/comments/:commentId/replies",
        method = "get",
        operation_id = "listCommentRepliesInSpace"
    )]
    async fn replies(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        page: PageQuery,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
    ) -> Answer<Reply<List<CommentReply>>> {
        let thread = thread(of_space(&space), &comment)?;
        let format = format.0.unwrap_or_default();
        Ok(Reply(auth.caller(&self.0).comment(&thread).list_replies(format, &page.0).await?.into()))
    }

    /// Reply to a comment of a space
    ///
    /// Replies have no replies of their own: they stand behind each other.
    #[oai(
        path = "/spaces/:spaceId/comments/:commentId/replies",
        method = "post",
        operation_id = "postCommentReplyInSpace"
    )]
    async fn reply(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        new: Strict<PostCommentReply>,
    ) -> Answer<Reply<CommentReply>> {
        let format = ContentFormat::default();
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .comment(&thread(of_space(&space), &comment)?)
                .post_reply(new.0, format)
                .await?,
        ))
    }

    /// Get a reply to a comment of a space
    ///
    /// With its text in the form that is asked for.
    #[oai(
        path = "/spaces/:spaceId/comments/:commentId/replies/:commentReplyId",
        method = "get",
        operation_id = "getCommentReplyInSpace"
    )]
    async fn get_reply(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        #[oai(name = "commentReplyId")] reply: Path<String>,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
    ) -> Answer<Reply<CommentReply>> {
        let (thread, reply) = (thread(of_space(&space), &comment)?, id(&reply, "reply")?);
        let format = format.0.unwrap_or_default();
        Ok(Reply(auth.caller(&self.0).comment(&thread).reply(&reply).get(format).await?))
    }

    /// Change a reply to a comment of a space, or react to it
    ///
    /// All that is asked for, or nothing.
    #[oai(
        path = "/spaces/:spaceId/comments/:commentId/replies/:commentReplyId",
        method = "put",
        operation_id = "updateCommentReplyInSpace"
    )]
    async fn update_reply(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        #[oai(name = "commentReplyId")] reply: Path<String>,
        change: Strict<UpdateCommentReply>,
    ) -> Answer<Reply<CommentReply>> {
        let (thread, reply) = (thread(of_space(&space), &comment)?, id(&reply, "reply")?);
        Ok(Reply(auth.caller(&self.0).comment(&thread).reply(&reply).update(change.0).await?))
    }

    /// Delete a reply to a comment of a space
    ///
    /// A reply that is missing is no error.
    #[oai(
        path = "/spaces/:spaceId/comments/:commentId/replies/:commentReplyId",
        method = "delete",
        operation_id = "deleteCommentReplyInSpace"
    )]
    async fn delete_reply(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        #[oai(name = "commentReplyId")] reply: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(thread), Ok(reply)) = (thread(of_space(&space), &comment), reply.parse()) {
            auth.caller(&self.0).comment(&thread).reply(&reply).delete().await?;
        }
        Ok(Empty)
    }

    /// List the members who commented in a space
    ///
    /// Or replied.
    #[oai(path = "/spaces/:spaceId/commenters", method = "get", operation_id = "listCommentersInSpace")]
    async fn commenters(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<Member>>> {
        Ok(Reply(
            auth.caller(&self.0)
                .content(&of_space(&space)?)
                .comments()
                .list_commenters(&page.0)
                .await?
                .into(),
        ))
    }

    /// List the comments of a change request
    ///
    /// By the time they were posted, the newest first.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments",
        method = "get",
        operation_id = "listCommentsInChangeRequest"
    )]
    async fn request_list(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        page: PageQuery,
        /// `asc` for the oldest first.
        order: Query<ListOrder>,
        /// Only those that are open, or resolved.
        status: Query<CommentStatus>,
        /// Only those about this page.
        #[oai(name = "targetPage")]
        target_page: Query<String>,
        /// Only those of these users.
        authors: Query<Vec<String>>,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
    ) -> Answer<Reply<List<Comment>>> {
        let query = CommentQuery {
            status: status.0.unwrap_or_default(),
            order: order.0.unwrap_or_default(),
            target_page: target_page.0,
            authors: authors.0.unwrap_or_default(),
            format: format.0.unwrap_or_default(),
        };
        Ok(Reply(
            auth.caller(&self.0)
                .content(&of_request(&space, &request)?)
                .comments()
                .list(&query, &page.0)
                .await?
                .into(),
        ))
    }

    /// Post a comment in a change request
    ///
    /// About the content as a whole, a page, or a block of a page. A request that is merged or archived takes comments,
    /// too.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments",
        method = "post",
        operation_id = "postCommentInChangeRequest"
    )]
    async fn request_post(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        new: Strict<PostComment>,
    ) -> Answer<Reply<Comment>> {
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .content(&of_request(&space, &request)?)
                .comments()
                .post(new.0)
                .await?,
        ))
    }

    /// Get a comment of a change request
    ///
    /// With its text in the form that is asked for. Its replies are listed beside it.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments/:commentId",
        method = "get",
        operation_id = "getCommentInChangeRequest"
    )]
    async fn request_get(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
    ) -> Answer<Reply<Comment>> {
        let thread = thread(of_request(&space, &request), &comment)?;
        Ok(Reply(auth.caller(&self.0).comment(&thread).get(format.0.unwrap_or_default()).await?))
    }

    /// Change, resolve, reopen or react to a comment of a change request
    ///
    /// All that is asked for, or nothing.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments/:commentId",
        method = "put",
        operation_id = "updateCommentInChangeRequest"
    )]
    async fn request_update(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        change: Strict<UpdateComment>,
    ) -> Answer<Reply<Comment>> {
        Ok(Reply(
            auth.caller(&self.0)
                .comment(&thread(of_request(&space, &request), &comment)?)
                .update(change.0)
                .await?,
        ))
    }

    /// Delete a comment of a change request
    ///
    /// With its replies. A comment that is missing is no error.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments/:commentId",
        method = "delete",
        operation_id = "deleteCommentInChangeRequest"
    )]
    async fn request_delete(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
    ) -> Answer<NoContent> {
        if let Ok(thread) = thread(of_request(&space, &request), &comment) {
            auth.caller(&self.0).comment(&thread).delete().await?;
        }
        Ok(Empty)
    }

    /// List the replies to a comment of a change request
    ///
    /// The oldest first.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments/:commentId/replies",
        method = "get",
        operation_id = "listCommentRepliesInChangeRequest"
    )]
    async fn request_replies(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        page: PageQuery,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
    ) -> Answer<Reply<List<CommentReply>>> {
        let thread = thread(of_request(&space, &request), &comment)?;
        let format = format.0.unwrap_or_default();
        Ok(Reply(auth.caller(&self.0).comment(&thread).list_replies(format, &page.0).await?.into()))
    }

    /// Reply to a comment of a change request
    ///
    /// Replies have no replies of their own: they stand behind each other.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments/:commentId/replies",
        method = "post",
        operation_id = "postCommentReplyInChangeRequest"
    )]
    async fn request_reply(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
        new: Strict<PostCommentReply>,
    ) -> Answer<Reply<CommentReply>> {
        let format = format.0.unwrap_or_default();
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .comment(&thread(of_request(&space, &request), &comment)?)
                .post_reply(new.0, format)
                .await?,
        ))
    }

    /// Get a reply to a comment of a change request
    ///
    /// With its text in the form that is asked for.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments/:commentId/replies/:commentReplyId",
        method = "get",
        operation_id = "getCommentReplyInChangeRequest"
    )]
    async fn request_get_reply(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        #[oai(name = "commentReplyId")] reply: Path<String>,
        /// The form of what is said: as Markdown, which it is when absent, or as a tree of blocks.
        format: Query<ContentFormat>,
    ) -> Answer<Reply<CommentReply>> {
        let (thread, reply) = (thread(of_request(&space, &request), &comment)?, id(&reply, "reply")?);
        let format = format.0.unwrap_or_default();
        Ok(Reply(auth.caller(&self.0).comment(&thread).reply(&reply).get(format).await?))
    }

    /// Change a reply to a comment of a change request, or react to it
    ///
    /// All that is asked for, or nothing.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments/:commentId/replies/:commentReplyId",
        method = "put",
        operation_id = "updateCommentReplyInChangeRequest"
    )]
    async fn request_update_reply(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        #[oai(name = "commentReplyId")] reply: Path<String>,
        change: Strict<UpdateCommentReply>,
    ) -> Answer<Reply<CommentReply>> {
        let (thread, reply) = (thread(of_request(&space, &request), &comment)?, id(&reply, "reply")?);
        Ok(Reply(auth.caller(&self.0).comment(&thread).reply(&reply).update(change.0).await?))
    }

    /// Delete a reply to a comment of a change request
    ///
    /// A reply that is missing is no error.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/comments/:commentId/replies/:commentReplyId",
        method = "delete",
        operation_id = "deleteCommentReplyInChangeRequest"
    )]
    async fn request_delete_reply(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        #[oai(name = "commentId")] comment: Path<String>,
        #[oai(name = "commentReplyId")] reply: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(thread), Ok(reply)) = (thread(of_request(&space, &request), &comment), reply.parse()) {
            auth.caller(&self.0).comment(&thread).reply(&reply).delete().await?;
        }
        Ok(Empty)
    }

    /// List the members who commented in a change request
    ///
    /// Or replied.
    #[oai(
        path = "/spaces/:spaceId/change-requests/:changeRequestId/commenters",
        method = "get",
        operation_id = "listCommentersInChangeRequest"
    )]
    async fn request_commenters(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "changeRequestId")] request: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<Member>>> {
        Ok(Reply(
            auth.caller(&self.0)
                .content(&of_request(&space, &request)?)
                .comments()
                .list_commenters(&page.0)
                .await?
                .into(),
        ))
    }
}
