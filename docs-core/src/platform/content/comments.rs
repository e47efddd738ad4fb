//! Comments and replies on the content of a space or of a change request.
//!
//! A space and each of its change requests have separate comment lists. Comments on a request stay with it in every
//! status. A merged or archived request still accepts comments and replies: they change no content, and the discussion
//! of a decision belongs next to it.

mod bounded;
mod lookup;
mod previews;
mod text;
mod view;
mod write;

use std::{slice, sync::Arc};

use docs_macros::boxed;

pub(in crate::platform) use self::{
    bounded::read_bounded,
    lookup::CommentedContent,
    text::parse_text,
    view::{CommentReader, CurrentPages},
    write::{PurgeReplies, delete_batch},
};
use self::{
    lookup::{comment_id, count, has_author},
    view::ReplyLookup,
};
use crate::{
    Error, Result,
    model::{
        Comment, CommentReply, CommentReplyId, ContentFormat, ListOrder, Member, NodeKey, PageId,
        PostComment, PostCommentReply, UpdateComment, UpdateCommentReply, UserId,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{
            CommentHandle, Comments, ReplyHandle,
            addresses::Thread,
            filters::CommentQuery,
            list_identities::{self, tag},
        },
    },
    policy::{OrgAction, SpaceAction},
    store::{
        Key, ListSpec, Lister, Operation, Page, PageRequest, Value, ids_of,
        records::{CommentRecord, MemberRecord, PageTarget, Post, ReplyRecord},
    },
};

impl<'p> Comments<'p> {
    /// Lists the comments on a space or on a change request.
    #[boxed]
    pub async fn list(self, query: &'p CommentQuery, page: &'p PageRequest) -> Result<Page<Comment>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let tx = platform.read().await?;
        let commented = CommentedContent::find(&tx, actor, of).await?;
        let scope = commented.scope();
        let target = query.target_page.as_ref().map(|page| page.parse::<PageId>());
        // A string that is not a valid id matches no page.
        let nothing = matches!(target, Some(Err(_)));
        let target = target.and_then(std::result::Result::ok);
        let prefix = CommentRecord::by_scope(scope.owner(), target.as_ref(), query.status);
        let identity = list_identities::comments(query);
        let spec = ListSpec { prefix, rev: query.order == ListOrder::Desc, identity };
        let mut list = Lister::new(spec, page)?;
        while let Some(rows) = if nothing { None } else { list.rows(&tx).await? } {
            let fitting = rows.iter().map(|(row, author)| -> Result<Option<(Key, Key)>> {
                let fits = query.authors.is_empty() || has_author(author, &query.authors)?;
                if !fits {
                    return Ok(None);
                }
                Ok(Some((row.clone(), CommentRecord::key_for(&comment_id(row)?))))
            });
            list.offer_all(&rows, fitting.collect::<Result<Vec<_>>>()?);
        }
        let count = match (&query.target_page, query.authors.is_empty()) {
            (None, true) => count(&tx, &scope, query.status).await?,
            _ => None,
        };
        let cursors = list.cursors();
        let page = list.finish(&tx, count).await?;
        let (rows, keys): (Vec<Key>, Vec<Key>) = page.items.into_iter().unzip();
        let records = read_bounded(&tx, keys.into_iter().map(Some), |of: &CommentRecord| &of.posted).await?;
        let records: Vec<Arc<CommentRecord>> = records.into_iter().flatten().collect();
        let reader = CommentReader { content: &commented, actor, format: query.format };
        let items = platform.comment_views(tx, reader, &records).await?;
        let next = cursors.next(&rows, items.len(), page.next);
        Ok(Page { items, next, count: page.count })
    }

    /// Posts a comment.
    ///
    /// # Errors
    /// `Forbidden` without the `comment` role; `Invalid` for an empty body, an unknown page, or a block that the page
    /// does not have.
    #[boxed]
    pub async fn post(self, new: PostComment) -> Result<Comment> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let done =
            platform.idempotent(actor, Right::Space(of.space.clone(), SpaceAction::Comment), async move {
                let by = actor.require_user()?;
                let text = parse_text(&new.body, "body")?;
                let commented = {
                    let tx = platform.read().await?;
                    CommentedContent::find(&tx, actor, of).await?
                };
                commented.access.require(SpaceAction::Comment)?;
                let (target, node) = match &new.page {
                    Some(page) => (Some(platform.target(&commented, page, new.node).await?), None),
                    None => (None, new.node),
                };
                let record = CommentRecord {
                    id: platform.id(),
                    scope: commented.scope(),
                    posted: platform.new_post(by, text),
                    resolved: None,
                    revision: commented.head().0.clone(),
                    target,
                    node,
                    review: None,
                };
                let thread = Thread { of: of.clone(), comment: record.id.clone() };
                let record = Arc::new(record);
                let (pages, _) = platform.current_pages(&commented, slice::from_ref(&record)).await?;
                let post = write::comment_creation(actor, of, &record);
                platform.write_comment(actor, &post, &thread, &pages).await
            });
        done.await
    }

    /// Lists the members who commented or replied on a space or change request, in id order. Former members are
    /// omitted.
    ///
    /// # Errors
    /// `Forbidden` for guests.
    #[boxed]
    pub async fn list_commenters(self, page: &'p PageRequest) -> Result<Page<Member>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let of = &self.of.to_content_version();
        let tx = platform.read().await?;
        let commented = CommentedContent::find(&tx, actor, of).await?;
        let org = &commented.access.space().organization;
        access::org(&tx, actor, org).await?.require(OrgAction::ListPeople)?;
        let prefix = commented.scope().commenters();
        let mut list = Lister::new(ListSpec::new(tag::COMMENTERS, prefix), page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let ids = ids_of::<UserId>(&rows)?;
            let keys: Vec<Key> = ids.iter().map(|user| MemberRecord::key_for(org, user)).collect();
            let members = tx.get_many::<MemberRecord>(&keys).await?;
            let is_one = |posted: &Value| matches!(posted, Value::Int(n) if *n > 0);
            let commenters =
                rows.iter().zip(members).map(|((_, posted), member)| member.filter(|_| is_one(posted)));
            list.offer_all(&rows, commenters);
        }
        let page = list.finish(&tx, None).await?;
        let items = platform.member_views(&tx, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }
}

impl<'p> CommentHandle<'p> {
    /// Reads a comment.
    #[boxed]
    pub async fn get(self, format: ContentFormat) -> Result<Comment> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let thread = &Thread { of: self.of.to_content_version(), comment: self.comment.clone() };
        let tx = platform.read().await?;
        let commented = CommentedContent::find(&tx, actor, &thread.of).await?;
        let record = commented.comment(&tx, &thread.comment).await?;
        let shown = platform
            .comment_views(tx, CommentReader { content: &commented, actor, format }, &[record])
            .await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("comment"))
    }

    /// Changes, resolves, reopens or reacts to a comment, atomically.
    ///
    /// Reactions are a set: adding one twice has no further effect. A reaction that is both added and removed is
    /// removed.
    ///
    /// # Errors
    /// `Forbidden` without the `comment` role, and for another user's text; `Invalid` for an empty body or a reaction
    /// that is not an emoji; `Conflict` if the comment has the maximum number of reactions.
    #[boxed]
    pub async fn update(self, change: UpdateComment) -> Result<Comment> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let thread = &Thread { of: self.of.to_content_version(), comment: self.comment.clone() };
        let edit = write::PostEdit::new(change.body, &change.added_reactions, &change.removed_reactions)?;
        let operation = write::comment_update(
            actor,
            actor.require_user()?,
            thread,
            change.resolved,
            &edit,
            platform.now(),
        );
        let (commented, record) = {
            let tx = platform.read().await?;
            let commented = CommentedContent::find(&tx, actor, &thread.of).await?;
            let record = commented.comment(&tx, &thread.comment).await?;
            (commented, record)
        };
        let (pages, _) = platform.current_pages(&commented, slice::from_ref(&record)).await?;
        platform.write_comment(actor, &operation, thread, &pages).await
    }

    /// Deletes a comment and its replies. Returns `false` if the comment does not exist or the actor may not see it.
    ///
    /// The comment and its replies become invisible immediately. If there are many replies, a job removes the remaining
    /// rows.
    ///
    /// # Errors
    /// `Forbidden` unless the actor posted it or has the `create` role.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let thread = &Thread { of: self.of.to_content_version(), comment: self.comment.clone() };
        let (now, job) = (platform.now(), platform.id());
        let operation = write::comment_deletion(actor, thread, now, &job);
        Error::ignore_not_found(platform.write(actor, &operation).await)
    }

    /// Lists the replies to a comment, oldest first.
    #[boxed]
    pub async fn list_replies(
        self,
        format: ContentFormat,
        page: &'p PageRequest,
    ) -> Result<Page<CommentReply>> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let thread = &Thread { of: self.of.to_content_version(), comment: self.comment.clone() };
        let tx = platform.read().await?;
        let commented = CommentedContent::find(&tx, actor, &thread.of).await?;
        let comment = commented.comment(&tx, &thread.comment).await?;
        let prefix = ReplyRecord::by_comment(&comment.id);
        let mut list = Lister::new(ListSpec::new(tag::COMMENT_REPLIES, prefix), page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let ids = ids_of::<CommentReplyId>(&rows)?;
            let items = rows.iter().zip(&ids);
            let items =
                items.map(|((row, _), id)| Some((row.clone(), ReplyRecord::key_for(&comment.id, id))));
            list.offer_all(&rows, items);
        }
        let count = tx.number(&CommentRecord::reply_count(&comment.id)).await?;
        let cursors = list.cursors();
        let page = list.finish(&tx, u64::try_from(count).ok()).await?;
        let (rows, keys): (Vec<Key>, Vec<Key>) = page.items.into_iter().unzip();
        let records = read_bounded(&tx, keys.into_iter().map(Some), |of: &ReplyRecord| &of.posted).await?;
        let records: Vec<Arc<ReplyRecord>> = records.into_iter().flatten().collect();
        let items =
            platform.reply_views(&tx, CommentReader { content: &commented, actor, format }, &records).await?;
        let next = cursors.next(&rows, items.len(), page.next);
        Ok(Page { items, next, count: page.count })
    }

    /// Posts a reply.
    ///
    /// # Errors
    /// `Forbidden` without the `comment` role; `Invalid` for an empty body.
    #[boxed]
    pub async fn post_reply(self, new: PostCommentReply, format: ContentFormat) -> Result<CommentReply> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let thread = &Thread { of: self.of.to_content_version(), comment: self.comment.clone() };
        let done = platform.idempotent(
            actor,
            Right::Space(thread.of.space.clone(), SpaceAction::Comment),
            async move {
                let text = parse_text(&new.body, "body")?;
                let (id, posted) = (&platform.id(), platform.new_post(actor.require_user()?, text));
                let operation = write::reply_creation(actor, thread, id, &posted);
                let of = ReplyLookup { thread, id, format };
                platform
                    .write_and_show(actor, &operation, |done| {
                        Box::pin(platform.read_reply_view(done.tx, actor, of))
                    })
                    .await
            },
        );
        done.await
    }
}

impl<'p> ReplyHandle<'p> {
    /// Reads a reply.
    #[boxed]
    pub async fn get(self, format: ContentFormat) -> Result<CommentReply> {
        let (platform, ref actor, _, _, id) = self.parts();
        let thread = &Thread { of: self.of.to_content_version(), comment: self.comment.clone() };
        let tx = platform.read().await?;
        platform.read_reply_view(&tx, actor, ReplyLookup { thread, id, format }).await
    }

    /// Changes or reacts to a reply, like [`CommentHandle::update`](crate::platform::CommentHandle::update).
    ///
    /// # Errors
    /// Same as [`CommentHandle::update`](crate::platform::CommentHandle::update).
    #[boxed]
    pub async fn update(self, change: UpdateCommentReply) -> Result<CommentReply> {
        let (platform, ref actor, _, _, id) = self.parts();
        let thread = &Thread { of: self.of.to_content_version(), comment: self.comment.clone() };
        let edit = write::PostEdit::new(change.body, &change.added_reactions, &change.removed_reactions)?;
        let by = actor.require_user()?;
        let operation = write::reply_update(actor, by, thread, id, &edit, platform.now());
        let of = ReplyLookup { thread, id, format: ContentFormat::default() };
        platform
            .change_and_show(actor, &operation, |done| Box::pin(platform.read_reply_view(done.tx, actor, of)))
            .await
    }

    /// Deletes a reply. Returns `false` if the reply does not exist or the actor may not see it.
    ///
    /// # Errors
    /// `Forbidden` unless the actor posted it or has the `create` role.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, _, _, id) = self.parts();
        let thread = &Thread { of: self.of.to_content_version(), comment: self.comment.clone() };
        let operation = write::reply_deletion(actor, thread, id);
        Error::ignore_not_found(platform.write(actor, &operation).await)
    }
}

impl Platform {
    /// Runs a write and returns the updated comment.
    ///
    /// `pages` must be read before the transaction. Objects must not be read within it, because that may need the same
    /// connection pool, nor after it.
    async fn write_comment<O: Operation>(
        &self,
        actor: &Actor,
        operation: &O,
        thread: &Thread,
        pages: &CurrentPages,
    ) -> Result<Comment> {
        let show = self.change_and_show(actor, operation, |done| {
            Box::pin(self.read_comment_view(done.tx, actor, thread, pages))
        });
        show.await
    }

    /// Creates a post timestamped with the current time.
    pub(in crate::platform) fn new_post(&self, by: &UserId, text: crate::model::CommentText) -> Post {
        Post { by: by.clone(), at: self.now(), edited_at: None, text, reactions: Vec::new() }
    }

    /// Resolves the page, and optionally the block, that a new comment refers to.
    async fn target(
        &self,
        commented: &CommentedContent,
        page: &str,
        node: Option<NodeKey>,
    ) -> Result<PageTarget> {
        let missing = || Error::invalid("page", "the content has no such page");
        let id: PageId = page.parse().map_err(|_| missing())?;
        let now = self.current_page(commented, &id, node.as_deref()).await?.ok_or_else(missing)?;
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
