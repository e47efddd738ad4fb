//! Operations on comments and replies, defined once and mounted for spaces and change requests.

use docs_core::{
    Platform,
    model::{
        Comment, CommentId, CommentReply, CommentReplyId, CommentStatus, ContentFormat, List, ListOrder,
        Member, PostComment, PostCommentReply, SpaceId, UpdateComment, UpdateCommentReply,
    },
    platform::{CommentQuery, ContentVersion, Thread},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Deleted, Empty, Idempotency, NoContent, PageQuery,
    Path, Query, Reply, Strict,
};

pub(super) type Comments = (SpaceComments, RequestComments);

/// Creates the operations on comments and replies.
pub(super) fn comments(platform: &Platform) -> Comments {
    (SpaceComments(platform.clone()), RequestComments(platform.clone()))
}

/// Declares the comment operations under a path prefix.
///
/// An invocation specifies the prefix, its path parameters, the content that they identify, and the id and summary of
/// each operation. The operation that posts a reply has a `format` parameter only if the invocation names one.
macro_rules! mount {
    (
        $(#[$doc:meta])*
        $Mount:ident at $prefix:tt with ($($name:tt as $parameter:ident: $Id:ty),+) on $content:expr;
        $list:tt $list_title:tt $list_about:tt;
        $post:tt $post_title:tt $post_about:tt;
        $get:tt $get_title:tt;
        $update:tt $update_title:tt;
        $delete:tt $delete_title:tt;
        $replies:tt $replies_title:tt;
        $reply:tt $reply_title:tt $(in $format:ident)?;
        $get_reply:tt $get_reply_title:tt;
        $update_reply:tt $update_reply_title:tt;
        $delete_reply:tt $delete_reply_title:tt;
        $commenters:tt $commenters_title:tt;
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Mount(Platform);

        #[OpenApi(prefix_path = $prefix, tag = "ApiTag::Comments")]
        impl $Mount {
            #[doc = $list_title]
            ///
            #[doc = $list_about]
            #[oai(path = "/comments", method = "get", operation_id = $list)]
            async fn list(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                page: PageQuery,
                /// `asc` lists the oldest comments first, `desc` the newest. The default is `desc`.
                order: Query<ListOrder>,
                /// Restricts the list to open or resolved comments.
                status: Query<CommentStatus>,
                /// Restricts the list to comments on this page.
                #[oai(name = "targetPage")]
                target_page: Query<String>,
                /// Restricts the list to comments by these users.
                authors: Query<Vec<String>>,
                /// Format of the text: Markdown (the default) or a document tree.
                format: Query<ContentFormat>,
            ) -> ApiResult<Reply<List<Comment>>> {
                let query = CommentQuery {
                    status: status.0.unwrap_or_default(),
                    order: order.0.unwrap_or_default(),
                    target_page: target_page.0,
                    authors: authors.0.unwrap_or_default(),
                    format: format.0.unwrap_or_default(),
                };
                let list = auth.caller(&self.0).content(&$content).comments().list(&query, &page.0).await?;
                Ok(Reply(list.into()))
            }

            #[doc = $post_title]
            ///
            #[doc = $post_about]
            #[oai(path = "/comments", method = "post", operation_id = $post)]
            async fn post(
                &self,
                auth: Auth,
                #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                new: Strict<PostComment>,
            ) -> ApiResult<Reply<Comment>> {
                let platform = idempotency.platform(&self.0);
                Ok(Reply(auth.caller(&platform).content(&$content).comments().post(new.0).await?))
            }

            #[doc = $get_title]
            ///
            /// Returns the text in the requested format. Replies are listed separately.
            #[oai(path = "/comments/:commentId", method = "get", operation_id = $get)]
            async fn get(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "commentId")] comment: Path<CommentId>,
                /// Format of the text: Markdown (the default) or a document tree.
                format: Query<ContentFormat>,
            ) -> ApiResult<Reply<Comment>> {
                let thread = Thread { of: $content, comment: comment.0 };
                Ok(Reply(auth.caller(&self.0).comment(&thread).get(format.0.unwrap_or_default()).await?))
            }

            #[doc = $update_title]
            ///
            /// The changes are applied atomically.
            #[oai(path = "/comments/:commentId", method = "put", operation_id = $update)]
            async fn update(
                &self,
                auth: Auth,
                #[oai(name = "If-Match")] condition: Condition,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "commentId")] comment: Path<CommentId>,
                change: Strict<UpdateComment>,
            ) -> ApiResult<Reply<Comment>> {
                let thread = Thread { of: $content, comment: comment.0 };
                Ok(Reply(auth.caller(&condition.platform(&self.0)).comment(&thread).update(change.0).await?))
            }

            #[doc = $delete_title]
            ///
            /// Deletes the comment with its replies. Succeeds if the comment does not exist.
            #[oai(path = "/comments/:commentId", method = "delete", operation_id = $delete)]
            async fn delete(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $parameter: Path<$Id, Deleted>,)+
                #[oai(name = "commentId")] comment: Path<CommentId, Deleted>,
            ) -> ApiResult<NoContent> {
                let thread = Thread { of: $content, comment: comment.0 };
                auth.caller(&self.0).comment(&thread).delete().await?;
                Ok(Empty)
            }

            #[doc = $replies_title]
            ///
            /// Oldest first.
            #[oai(path = "/comments/:commentId/replies", method = "get", operation_id = $replies)]
            async fn replies(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "commentId")] comment: Path<CommentId>,
                page: PageQuery,
                /// Format of the text: Markdown (the default) or a document tree.
                format: Query<ContentFormat>,
            ) -> ApiResult<Reply<List<CommentReply>>> {
                let thread = Thread { of: $content, comment: comment.0 };
                let format = format.0.unwrap_or_default();
                Ok(Reply(auth.caller(&self.0).comment(&thread).list_replies(format, &page.0).await?.into()))
            }

            #[doc = $reply_title]
            ///
            /// Replies are a flat list; a reply cannot be replied to.
            #[oai(path = "/comments/:commentId/replies", method = "post", operation_id = $reply)]
            async fn reply(
                &self,
                auth: Auth,
                #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "commentId")] comment: Path<CommentId>,
                $(
                    /// Format of the text: Markdown (the default) or a document tree.
                    $format: Query<ContentFormat>,
                )?
                new: Strict<PostCommentReply>,
            ) -> ApiResult<Reply<CommentReply>> {
                let platform = idempotency.platform(&self.0);
                let thread = Thread { of: $content, comment: comment.0 };
                let format = Option::<ContentFormat>::None$(.or($format.0))?.unwrap_or_default();
                Ok(Reply(auth.caller(&platform).comment(&thread).post_reply(new.0, format).await?))
            }

            #[doc = $get_reply_title]
            ///
            /// Returns the text in the requested format.
            #[oai(path = "/comments/:commentId/replies/:commentReplyId", method = "get", operation_id = $get_reply)]
            async fn get_reply(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "commentId")] comment: Path<CommentId>,
                #[oai(name = "commentReplyId")] reply: Path<CommentReplyId>,
                /// Format of the text: Markdown (the default) or a document tree.
                format: Query<ContentFormat>,
            ) -> ApiResult<Reply<CommentReply>> {
                let thread = Thread { of: $content, comment: comment.0 };
                let format = format.0.unwrap_or_default();
                Ok(Reply(auth.caller(&self.0).comment(&thread).reply(&reply).get(format).await?))
            }

            #[doc = $update_reply_title]
            ///
            /// The changes are applied atomically.
            #[oai(path = "/comments/:commentId/replies/:commentReplyId", method = "put", operation_id = $update_reply)]
            async fn update_reply(
                &self,
                auth: Auth,
                #[oai(name = "If-Match")] condition: Condition,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                #[oai(name = "commentId")] comment: Path<CommentId>,
                #[oai(name = "commentReplyId")] reply: Path<CommentReplyId>,
                change: Strict<UpdateCommentReply>,
            ) -> ApiResult<Reply<CommentReply>> {
                let thread = Thread { of: $content, comment: comment.0 };
                Ok(Reply(auth.caller(&condition.platform(&self.0)).comment(&thread).reply(&reply).update(change.0).await?))
            }

            #[doc = $delete_reply_title]
            ///
            /// Succeeds if the reply does not exist.
            #[oai(path = "/comments/:commentId/replies/:commentReplyId", method = "delete", operation_id = $delete_reply)]
            async fn delete_reply(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $parameter: Path<$Id, Deleted>,)+
                #[oai(name = "commentId")] comment: Path<CommentId, Deleted>,
                #[oai(name = "commentReplyId")] reply: Path<CommentReplyId, Deleted>,
            ) -> ApiResult<NoContent> {
                let thread = Thread { of: $content, comment: comment.0 };
                auth.caller(&self.0).comment(&thread).reply(&reply).delete().await?;
                Ok(Empty)
            }

            #[doc = $commenters_title]
            ///
            /// Includes members who only replied.
            #[oai(path = "/commenters", method = "get", operation_id = $commenters)]
            async fn commenters(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $parameter: Path<$Id>,)+
                page: PageQuery,
            ) -> ApiResult<Reply<List<Member>>> {
                let list = auth.caller(&self.0).content(&$content).comments().list_commenters(&page.0).await?;
                Ok(Reply(list.into()))
            }
        }
    };
}

mount! {
    /// Comments on the content of a space.
    SpaceComments at "/spaces/:spaceId" with ("spaceId" as space: SpaceId)
        on ContentVersion::space(space.0);
    "listCommentsInSpace" "List the comments of a space"
        "Ordered by time of posting, newest first by default. Comments on change requests are not included.";
    "postCommentInSpace" "Post a comment in a space"
        "The comment refers to the content as a whole, a page, or a block of a page.";
    "getCommentInSpace" "Get a comment of a space";
    "updateCommentInSpace" "Change, resolve, reopen or react to a comment of a space";
    "deleteCommentInSpace" "Delete a comment of a space";
    "listCommentRepliesInSpace" "List the replies to a comment of a space";
    "postCommentReplyInSpace" "Reply to a comment of a space";
    "getCommentReplyInSpace" "Get a reply to a comment of a space";
    "updateCommentReplyInSpace" "Change a reply to a comment of a space, or react to it";
    "deleteCommentReplyInSpace" "Delete a reply to a comment of a space";
    "listCommentersInSpace" "List the members who commented in a space";
}

mount! {
    /// Comments on the content of a change request.
    RequestComments at "/spaces/:spaceId/change-requests/:changeRequestId"
        with ("spaceId" as space: SpaceId, "changeRequestId" as request: String)
        on ContentVersion::request(space.0, &request);
    "listCommentsInChangeRequest" "List the comments of a change request"
        "Ordered by time of posting, newest first by default.";
    "postCommentInChangeRequest" "Post a comment in a change request"
        "The comment refers to the content as a whole, a page, or a block of a page. Merged and archived requests accept comments.";
    "getCommentInChangeRequest" "Get a comment of a change request";
    "updateCommentInChangeRequest" "Change, resolve, reopen or react to a comment of a change request";
    "deleteCommentInChangeRequest" "Delete a comment of a change request";
    "listCommentRepliesInChangeRequest" "List the replies to a comment of a change request";
    "postCommentReplyInChangeRequest" "Reply to a comment of a change request" in format;
    "getCommentReplyInChangeRequest" "Get a reply to a comment of a change request";
    "updateCommentReplyInChangeRequest" "Change a reply to a comment of a change request, or react to it";
    "deleteCommentReplyInChangeRequest" "Delete a reply to a comment of a change request";
    "listCommentersInChangeRequest" "List the members who commented in a change request";
}
