//! Comments and replies: the same operations for a space and for a change request.
//!
//! What is posted on a space's own content and what is posted in a change request are lists apart: comments of a
//! request stay with it, whatever becomes of the request. A request that is merged or archived still takes comments
//! and replies: they change no content, and what is said of a decision belongs where it was made.

mod lookup;
mod text;
mod view;
mod write;

use std::{slice, sync::Arc};

use self::{
    lookup::{comment_of, count, is_of},
    view::ReplyLookup,
};
use super::{
    Actor, ContentOf, Platform, Right, access,
    nouns::{CommentHandle, Comments, ReplyHandle},
};
use crate::{
    BoxFuture, Error, Result,
    model::{
        Comment, CommentId, CommentReply, CommentReplyId, CommentStatus, ContentFormat, ListOrder, Member,
        NodeKey, PageId, PostComment, PostCommentReply, UpdateComment, UpdateCommentReply, UserId,
    },
    platform::list_identities::{self, tag},
    policy::{OrgAction, SpaceAction},
    store::{
        Key, ListSpec, Lister, Operation, Page, PageRequest, Value, ids_of,
        records::{CommentRecord, MemberRecord, PageTarget, Posted, ReplyRecord},
    },
};

pub(super) use self::{
    lookup::CommentedContent,
    text::text_of,
    view::{CommentReader, PagesNow},
    write::{PurgeReplies, drop_some},
};

/// Which comments to list, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentQuery {
    /// Only those in this state.
    pub status: CommentStatus,
    /// The order, by the time they were posted.
    pub order: ListOrder,
    /// Only those about this page.
    pub target_page: Option<String>,
    /// Only those of these users; of all when empty.
    pub authors: Vec<String>,
    /// The form of what they say.
    pub format: ContentFormat,
}

/// A comment, and where it is: what replies belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Where the comment is.
    pub of: ContentOf,
    /// The comment.
    pub comment: CommentId,
}

impl<'p> Comments<'p> {
    /// Lists the comments of a space, or of a change request.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{CommentStatus, SpaceId};
    /// # use docs_core::platform::{Caller, CommentQuery};
    /// # use docs_core::store::PageRequest;
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let comments = me.space(space).content().comments();
    /// let open = CommentQuery { status: CommentStatus::Open, ..Default::default() };
    /// let page = comments.list(&open, &PageRequest::default()).await?;
    /// println!("{} of {:?} open comments", page.items.len(), page.count);
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(
        self,
        query: &'p CommentQuery,
        page: &'p PageRequest,
    ) -> BoxFuture<'p, Result<Page<Comment>>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let of = &self.of.to_content_of();
            let tx = platform.read().await?;
            let commented = CommentedContent::find(&tx, actor, of).await?;
            let scope = commented.scope();
            let target = query.target_page.as_ref().map(|page| page.parse::<PageId>());
            // No page has an id that cannot be one.
            let nothing = matches!(target, Some(Err(_)));
            let target = target.and_then(std::result::Result::ok);
            let prefix = CommentRecord::on(scope.owner(), target.as_ref(), query.status);
            let identity = list_identities::comments(query);
            let spec = ListSpec { prefix, rev: query.order == ListOrder::Desc, identity };
            let mut list = Lister::new(spec, page)?;
            while let Some(rows) = if nothing { None } else { list.rows(&tx).await? } {
                let fitting = rows.iter().map(|(row, author)| -> Result<Option<CommentId>> {
                    let fits = query.authors.is_empty() || is_of(author, &query.authors)?;
                    if fits { comment_of(row).map(Some) } else { Ok(None) }
                });
                list.offer_all(&rows, fitting.collect::<Result<Vec<_>>>()?);
            }
            let count = match (&query.target_page, query.authors.is_empty()) {
                (None, true) => count(&tx, &scope, query.status).await?,
                _ => None,
            };
            let page = list.finish(&tx, count).await?;
            let keys: Vec<Key> = page.items.iter().map(CommentRecord::at).collect();
            let records: Vec<Arc<CommentRecord>> = tx.get_many(&keys).await?.into_iter().flatten().collect();
            let reader = CommentReader { content: &commented, actor, format: query.format };
            let items = platform.comment_views(tx, reader, &records).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Posts a comment.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `comment`; `Invalid` for an empty body, a page that the content does
    /// not have, and a block without its page.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the comment posted or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{CommentInput, PostComment, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<(), Box<dyn std::error::Error>> {
    /// let body = CommentInput { markdown: Some("Is this **still** so?".parse()?), document: None };
    /// let new = PostComment { body, page: None, node: None };
    /// let comment = me.space(space).change_request("3").content().comments().post(new).await?;
    /// println!("posted {}", comment.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn post(self, new: PostComment) -> BoxFuture<'p, Result<Comment>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let of = &self.of.to_content_of();
            let done =
                platform.once(actor, Right::Space(of.space.clone(), SpaceAction::Comment), async move {
                    let by = actor.require_user()?;
                    let text = text_of(&new.body, "body")?;
                    if new.node.is_some() && new.page.is_none() {
                        return Err(Error::invalid("page", "is needed, as `node` is a block of a page"));
                    }
                    let commented = {
                        let tx = platform.read().await?;
                        CommentedContent::find(&tx, actor, of).await?
                    };
                    commented.access.require(SpaceAction::Comment)?;
                    let target = match &new.page {
                        Some(page) => Some(platform.target(&commented, page, new.node).await?),
                        None => None,
                    };
                    let record = CommentRecord {
                        id: platform.id(),
                        scope: commented.scope(),
                        posted: platform.posted(by, text),
                        resolved: None,
                        revision: commented.head().0.clone(),
                        target,
                        review: None,
                    };
                    let thread = Thread { of: of.clone(), comment: record.id.clone() };
                    let record = Arc::new(record);
                    let pages = platform.pages_now(&commented, slice::from_ref(&record)).await?;
                    let post = write::CommentCreation { actor: actor.clone(), of: of.clone(), record };
                    platform.write_comment(actor, &post, &thread, &pages).await
                });
            done.await
        })
    }

    /// Lists the members who commented or replied, in a space or a change request, in the order of their ids. Those
    /// who left the organization are not among them.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let commenters = me.space(space).content().comments().list_commenters(&PageRequest::default()).await?;
    /// for member in commenters.items {
    ///     println!("{}", member.user.display_name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_commenters(self, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<Member>>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let of = &self.of.to_content_of();
            let tx = platform.read().await?;
            let commented = CommentedContent::find(&tx, actor, of).await?;
            let org = &commented.access.space().organization;
            access::org(&tx, actor, org).await?.require(OrgAction::ListPeople)?;
            let prefix = commented.scope().commenters();
            let mut list = Lister::new(ListSpec::new(tag::COMMENTERS, prefix), page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let ids = ids_of::<UserId>(&rows)?;
                let keys: Vec<Key> = ids.iter().map(|user| MemberRecord::at(org, user)).collect();
                let members = tx.get_many::<MemberRecord>(&keys).await?;
                let is_one = |posted: &Value| matches!(posted, Value::Int(n) if *n > 0);
                let commenters =
                    rows.iter().zip(members).map(|((_, posted), member)| member.filter(|_| is_one(posted)));
                list.offer_all(&rows, commenters);
            }
            let page = list.finish(&tx, None).await?;
            let items = platform.member_views(&tx, &page.items).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }
}

impl<'p> CommentHandle<'p> {
    /// Reads a comment.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{CommentBody, CommentId, ContentFormat, SpaceId};
    /// # use docs_core::platform::Caller;
    /// # async fn example(me: Caller<'_>, space: &SpaceId, comment: &CommentId) -> Result<()> {
    /// let comment = me.space(space).content().comment(comment).get(ContentFormat::Markdown).await?;
    /// if let CommentBody::Markdown(text) = comment.body {
    ///     println!("{}: {text}", comment.posted_by.display_name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(self, format: ContentFormat) -> BoxFuture<'p, Result<Comment>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let thread = &Thread { of: self.of.to_content_of(), comment: self.comment.clone() };
            let tx = platform.read().await?;
            let commented = CommentedContent::find(&tx, actor, &thread.of).await?;
            let record = commented.comment(&tx, &thread.comment).await?;
            let shown = platform
                .comment_views(tx, CommentReader { content: &commented, actor, format }, &[record])
                .await?;
            shown.into_iter().next().ok_or_else(|| Error::not_found("comment"))
        })
    }

    /// Changes, resolves, reopens or reacts to a comment: all that the request asks for, or
    /// nothing. Reactions are a set: adding twice is adding once, and what is both added and removed is removed.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `comment`, and where the text is of somebody else; `Invalid` for an
    /// empty body and for what is no emoji; `Conflict` when the comment has all the reactions it takes.
    ///
    /// # Cancel safety
    /// Dropping the future leaves all of it done or nothing.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CommentId, SpaceId, UpdateComment}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, comment: &CommentId) -> Result<()> {
    /// let change = UpdateComment { resolved: Some(true), ..Default::default() };
    /// let comment = me.space(space).content().comment(comment).update(change).await?;
    /// println!("{} is resolved", comment.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(self, change: UpdateComment) -> BoxFuture<'p, Result<Comment>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let thread = &Thread { of: self.of.to_content_of(), comment: self.comment.clone() };
            let edit = write::Edit::new(change.body, &change.added_reactions, &change.removed_reactions)?;
            let operation = write::CommentUpdate {
                actor: actor.clone(),
                by: actor.require_user()?.clone(),
                thread: thread.clone(),
                resolved: change.resolved,
                edit,
                now: platform.now(),
            };
            let (commented, record) = {
                let tx = platform.read().await?;
                let commented = CommentedContent::find(&tx, actor, &thread.of).await?;
                let record = commented.comment(&tx, &thread.comment).await?;
                (commented, record)
            };
            let pages = platform.pages_now(&commented, slice::from_ref(&record)).await?;
            platform.write_comment(actor, &operation, thread, &pages).await
        })
    }

    /// Deletes a comment and its replies. Answers whether there was one: a comment that is missing, or that the actor
    /// may not see, is none.
    ///
    /// The comment and its replies are gone at once. Where there are many, a job removes the rows of the
    /// others.
    ///
    /// # Errors
    /// `Forbidden` unless the actor posted it or has the role `create`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the comment deleted or as it was.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CommentId, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, comment: &CommentId) -> Result<()> {
    /// if me.space(space).content().comment(comment).delete().await? {
    ///     println!("deleted");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(self) -> BoxFuture<'p, Result<bool>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let thread = &Thread { of: self.of.to_content_of(), comment: self.comment.clone() };
            let operation = write::CommentDeletion {
                actor: actor.clone(),
                thread: thread.clone(),
                now: platform.now(),
                job: platform.id(),
            };
            Error::existed(platform.write(actor, &operation).await)
        })
    }

    /// Lists the replies to a comment, the oldest first.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{CommentId, ContentFormat, SpaceId};
    /// # use docs_core::platform::Caller;
    /// # use docs_core::store::PageRequest;
    /// # async fn example(me: Caller<'_>, space: &SpaceId, comment: &CommentId) -> Result<()> {
    /// let comment = me.space(space).content().comment(comment);
    /// for reply in comment.list_replies(ContentFormat::Markdown, &PageRequest::default()).await?.items {
    ///     println!("{} at {}", reply.posted_by.display_name, reply.posted_at);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_replies(
        self,
        format: ContentFormat,
        page: &'p PageRequest,
    ) -> BoxFuture<'p, Result<Page<CommentReply>>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let thread = &Thread { of: self.of.to_content_of(), comment: self.comment.clone() };
            let tx = platform.read().await?;
            let commented = CommentedContent::find(&tx, actor, &thread.of).await?;
            let comment = commented.comment(&tx, &thread.comment).await?;
            let prefix = ReplyRecord::to(&comment.id);
            let mut list = Lister::new(ListSpec::new(tag::COMMENT_REPLIES, prefix), page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let ids = ids_of::<CommentReplyId>(&rows)?;
                list.offer_all(&rows, ids.iter().map(|id| Some(ReplyRecord::at(&comment.id, id))));
            }
            let count = tx.number(&CommentRecord::count_of_replies(&comment.id)).await?;
            let page = list.finish(&tx, u64::try_from(count).ok()).await?;
            let records: Vec<Arc<ReplyRecord>> =
                tx.get_many(&page.items).await?.into_iter().flatten().collect();
            let items = platform
                .reply_views(&tx, CommentReader { content: &commented, actor, format }, &records)
                .await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Posts a reply.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `comment`; `Invalid` for an empty body.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the reply posted or not.
    ///
    /// # Example
    /// ```
    /// # use docs_core::model::{CommentId, CommentInput, ContentFormat, PostCommentReply, SpaceId};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, space: &SpaceId, comment: &CommentId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let body = CommentInput { markdown: Some("It is.".parse()?), document: None };
    /// let comment = me.space(space).content().comment(comment);
    /// let reply = comment.post_reply(PostCommentReply { body }, ContentFormat::Markdown).await?;
    /// println!("posted {}", reply.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn post_reply(
        self,
        new: PostCommentReply,
        format: ContentFormat,
    ) -> BoxFuture<'p, Result<CommentReply>> {
        Box::pin(async move {
            let (platform, actor) = (self.caller.platform, &self.caller.actor());
            let thread = &Thread { of: self.of.to_content_of(), comment: self.comment.clone() };
            let done = platform.once(
                actor,
                Right::Space(thread.of.space.clone(), SpaceAction::Comment),
                async move {
                    let text = text_of(&new.body, "body")?;
                    let operation = write::ReplyCreation {
                        actor: actor.clone(),
                        thread: thread.clone(),
                        id: platform.id(),
                        posted: platform.posted(actor.require_user()?, text),
                    };
                    let of = ReplyLookup { thread, id: &operation.id, format };
                    platform
                        .write_and_show(actor, &operation, |done| {
                            Box::pin(platform.reply_seen(done.tx, actor, of))
                        })
                        .await
                },
            );
            done.await
        })
    }
}

impl<'p> ReplyHandle<'p> {
    /// Reads a reply.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{CommentId, CommentReplyId, ContentFormat, SpaceId};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, space: &SpaceId, comment: &CommentId, reply: &CommentReplyId,
    /// # ) -> Result<()> {
    /// let comment = me.space(space).content().comment(comment);
    /// let reply = comment.reply(reply).get(ContentFormat::Markdown).await?;
    /// println!("{}", reply.posted_by.display_name);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(self, format: ContentFormat) -> BoxFuture<'p, Result<CommentReply>> {
        Box::pin(async move {
            let Self { caller, reply: id, .. } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let thread = &Thread { of: self.of.to_content_of(), comment: self.comment.clone() };
            let tx = platform.read().await?;
            platform.reply_seen(&tx, actor, ReplyLookup { thread, id, format }).await
        })
    }

    /// Changes a reply, or reacts to it, as [`CommentHandle::update`](crate::platform::CommentHandle::update) does.
    ///
    /// # Errors
    /// As [`CommentHandle::update`](crate::platform::CommentHandle::update).
    ///
    /// # Cancel safety
    /// Dropping the future leaves all of it done or nothing.
    ///
    /// # Example
    /// ```
    /// # use docs_core::model::{CommentId, CommentReplyId, Emoji, SpaceId, UpdateCommentReply};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, space: &SpaceId, comment: &CommentId, reply: &CommentReplyId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let change = UpdateCommentReply { added_reactions: vec![Emoji::new("👍")?], ..Default::default() };
    /// let reply = me.space(space).content().comment(comment).reply(reply).update(change).await?;
    /// println!("{} kinds of reactions", reply.reactions.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(self, change: UpdateCommentReply) -> BoxFuture<'p, Result<CommentReply>> {
        Box::pin(async move {
            let Self { caller, reply: id, .. } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let thread = &Thread { of: self.of.to_content_of(), comment: self.comment.clone() };
            let edit = write::Edit::new(change.body, &change.added_reactions, &change.removed_reactions)?;
            let operation = write::ReplyUpdate {
                actor: actor.clone(),
                by: actor.require_user()?.clone(),
                thread: thread.clone(),
                id: id.clone(),
                edit,
                now: platform.now(),
            };
            let of = ReplyLookup { thread, id, format: ContentFormat::default() };
            platform
                .change_and_show(actor, &operation, |done| Box::pin(platform.reply_seen(done.tx, actor, of)))
                .await
        })
    }

    /// Deletes a reply. Answers whether there was one: a reply that is missing, or that the actor may not see, is none.
    ///
    /// # Errors
    /// `Forbidden` unless the actor posted it or has the role `create`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the reply deleted or as it was.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CommentId, CommentReplyId, SpaceId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, space: &SpaceId, comment: &CommentId, reply: &CommentReplyId,
    /// # ) -> Result<()> {
    /// if me.space(space).content().comment(comment).reply(reply).delete().await? {
    ///     println!("deleted");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(self) -> BoxFuture<'p, Result<bool>> {
        Box::pin(async move {
            let Self { caller, reply: id, .. } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let thread = &Thread { of: self.of.to_content_of(), comment: self.comment.clone() };
            let operation =
                write::ReplyDeletion { actor: actor.clone(), thread: thread.clone(), id: id.clone() };
            Error::existed(platform.write(actor, &operation).await)
        })
    }
}

impl Platform {
    /// Runs a write, and answers with a comment as the write leaves it. The page that the comment is about was read
    /// before: no object is read within a transaction, as it may come through the same connections, nor after it.
    async fn write_comment<O: Operation>(
        &self,
        actor: &Actor,
        operation: &O,
        thread: &Thread,
        pages: &PagesNow,
    ) -> Result<Comment> {
        let show = self.change_and_show(actor, operation, |done| {
            Box::pin(self.comment_seen(done.tx, actor, thread, pages))
        });
        show.await
    }

    /// What somebody posts now.
    pub(super) fn posted(&self, by: &UserId, text: crate::model::CommentText) -> Posted {
        Posted { by: by.clone(), at: self.now(), edited_at: None, text, reactions: Vec::new() }
    }

    /// The page, and the block of it, that a new comment is about.
    async fn target(
        &self,
        commented: &CommentedContent,
        page: &str,
        node: Option<NodeKey>,
    ) -> Result<PageTarget> {
        let missing = || Error::invalid("page", "the content has no such page");
        let id: PageId = page.parse().map_err(|_| missing())?;
        let now = self.page_now(commented, &id, node.as_deref()).await?.ok_or_else(missing)?;
        let node = match node {
            None => None,
            Some(node) => {
                let missing = || Error::invalid("node", "the page has no such block");
                let block = now.block(&node).ok_or_else(missing)?;
                Some((node, Some(block)))
            }
        };
        Ok(PageTarget { page: now.base, path: now.path, node })
    }
}
