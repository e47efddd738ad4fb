//! Comments and replies: the same operations for a space and for a change request.
//!
//! What is posted on a space's own content and what is posted in a change request are lists apart: comments of a
//! request stay with it, whatever becomes of the request. A request that is merged or archived still takes comments
//! and replies: they change no content, and what is said of a decision belongs where it was made.

mod text;
mod view;
mod write;

use std::{slice, sync::Arc};

use super::{Actor, ContentOf, Platform, Version, access, change_requests};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        Comment, CommentId, CommentReply, CommentReplyId, CommentStatus, ContentFormat, ListOrder, Member,
        NodeKey, PageId, PostComment, PostCommentReply, RevisionId, UpdateComment, UpdateCommentReply,
        UserId,
    },
    policy::{OrgAction, SpaceAccess, SpaceAction},
    store::{
        Hash, Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, Value, id_of, ids_of,
        records::{
            Board, ChangeRequestRecord, CommentRecord, MemberRecord, PageTarget, Posted, ReplyRecord,
            linked_id,
        },
    },
};

pub(super) use self::{
    text::text_of,
    view::{PagesNow, Reader},
    write::{PURGE_REPLIES, drop_some},
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

/// A reply, and the form of what it says.
#[derive(Clone, Copy)]
struct ReplyOf<'r> {
    thread: &'r Thread,
    id: &'r CommentReplyId,
    format: ContentFormat,
}

impl Platform {
    /// Lists the comments of a space, or of a change request (SPEC 4.1, 4.2).
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_comments<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        query: &'a CommentQuery,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Comment>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let place = Place::find(&tx, actor, of).await?;
            let board = place.board();
            let target = query.target_page.as_ref().map(|page| page.parse::<PageId>());
            // No page has an id that cannot be one.
            let nothing = matches!(target, Some(Err(_)));
            let target = target.and_then(std::result::Result::ok);
            let prefix = CommentRecord::on(board.owner(), target.as_ref(), query.status);
            let filters = format!("{:?}", (&query.target_page, &query.authors));
            let spec = ListSpec { prefix, rev: query.order == ListOrder::Desc, filters };
            let mut list = Lister::new(spec, page)?;
            while let Some(rows) = if nothing { None } else { list.rows(&tx).await? } {
                let fitting = rows.iter().map(|(row, author)| -> Result<Option<CommentId>> {
                    let fits = query.authors.is_empty() || is_of(author, &query.authors)?;
                    if fits { comment_of(row).map(Some) } else { Ok(None) }
                });
                list.offer_all(&rows, fitting.collect::<Result<Vec<_>>>()?);
            }
            let count = match (&query.target_page, query.authors.is_empty()) {
                (None, true) => count(&tx, &board, query.status).await?,
                _ => None,
            };
            let page = list.finish(&tx, count).await?;
            let keys: Vec<Key> = page.items.iter().map(CommentRecord::at).collect();
            let records: Vec<Arc<CommentRecord>> = tx.get_many(&keys).await?.into_iter().flatten().collect();
            let reader = Reader { place: &place, actor, format: query.format };
            let items = self.comment_views(tx, reader, &records).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Posts a comment (SPEC 4.1, 4.2).
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `comment`; `Invalid` for an empty body, a page that the content does
    /// not have, and a block without its page.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the comment posted or not.
    pub fn post_comment<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        new: PostComment,
    ) -> BoxFuture<'a, Result<Comment>> {
        Box::pin(self.once(actor, async move {
            let by = actor.require_user()?;
            let text = text_of(&new.body, "body")?;
            if new.node.is_some() && new.page.is_none() {
                return Err(Error::invalid("page", "is needed, as `node` is a block of a page"));
            }
            let place = {
                let tx = self.read().await?;
                Place::find(&tx, actor, of).await?
            };
            place.access.require(SpaceAction::Comment)?;
            let target = match &new.page {
                Some(page) => Some(self.target(&place, page, new.node).await?),
                None => None,
            };
            let record = CommentRecord {
                id: self.id(),
                board: place.board(),
                posted: self.posted(by, text),
                resolved: None,
                revision: place.head().0.clone(),
                target,
                review: None,
            };
            let thread = Thread { of: of.clone(), comment: record.id.clone() };
            let record = Arc::new(record);
            let pages = self.pages_now(&place, slice::from_ref(&record)).await?;
            let post = write::Post { actor: actor.clone(), of: of.clone(), record };
            self.write_comment(actor, &post, &thread, &pages).await
        }))
    }

    /// Reads a comment.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_comment<'a>(
        &'a self,
        actor: &'a Actor,
        thread: &'a Thread,
        format: ContentFormat,
    ) -> BoxFuture<'a, Result<Comment>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let place = Place::find(&tx, actor, &thread.of).await?;
            let record = place.comment(&tx, &thread.comment).await?;
            let shown = self.comment_views(tx, Reader { place: &place, actor, format }, &[record]).await?;
            shown.into_iter().next().ok_or_else(|| Error::not_found("comment"))
        })
    }

    /// Runs a write, and answers with a comment as the write leaves it. The page that the comment is about was read
    /// before: no object is read within a transaction, as it may come through the same connections, nor after it.
    async fn write_comment<O: Operation>(
        &self,
        actor: &Actor,
        operation: &O,
        thread: &Thread,
        pages: &PagesNow,
    ) -> Result<Comment> {
        let show = self.write_and_show(actor, operation, |done| {
            Box::pin(self.comment_seen(done.tx, actor, thread, pages))
        });
        show.await
    }

    async fn comment_seen(
        &self,
        tx: &Tx,
        actor: &Actor,
        thread: &Thread,
        pages: &PagesNow,
    ) -> Result<Comment> {
        let place = Place::find(tx, actor, &thread.of).await?;
        let record = place.comment(tx, &thread.comment).await?;
        let reader = Reader { place: &place, actor, format: ContentFormat::default() };
        let shown = self.comments_beside(tx, reader, &[record], pages).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("comment"))
    }

    /// Changes, resolves, reopens or reacts to a comment (SPEC 3, 4.1, 4.2): all that the request asks for, or
    /// nothing. Reactions are a set: adding twice is adding once, and what is both added and removed is removed.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `comment`, and where the text is of somebody else; `Invalid` for an
    /// empty body and for what is no emoji; `Conflict` when the comment has all the reactions it takes.
    ///
    /// # Cancel safety
    /// Dropping the future leaves all of it done or nothing.
    pub fn update_comment<'a>(
        &'a self,
        actor: &'a Actor,
        thread: &'a Thread,
        change: UpdateComment,
    ) -> BoxFuture<'a, Result<Comment>> {
        Box::pin(async move {
            let edit = write::Edit::new(change.body, &change.added_reactions, &change.removed_reactions)?;
            let operation = write::Update {
                actor: actor.clone(),
                by: actor.require_user()?.clone(),
                thread: thread.clone(),
                resolved: change.resolved,
                edit,
                now: self.now(),
            };
            let (place, record) = {
                let tx = self.read().await?;
                let place = Place::find(&tx, actor, &thread.of).await?;
                let record = place.comment(&tx, &thread.comment).await?;
                (place, record)
            };
            let pages = self.pages_now(&place, slice::from_ref(&record)).await?;
            self.write_comment(actor, &operation, thread, &pages).await
        })
    }

    /// Deletes a comment and its replies. Answers whether there was one: a comment that is missing, or that the actor
    /// may not see, is none.
    ///
    /// The comment and its replies are gone at once. Where there are more than 200, a job removes the rows of the
    /// others.
    ///
    /// # Errors
    /// `Forbidden` unless the actor posted it or has the role `create`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the comment deleted or as it was.
    pub fn delete_comment<'a>(&'a self, actor: &'a Actor, thread: &'a Thread) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let operation = write::Delete {
                actor: actor.clone(),
                thread: thread.clone(),
                now: self.now(),
                job: self.id(),
            };
            found(self.write(actor, &operation).await)
        })
    }

    /// Lists the replies to a comment, the oldest first.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_replies<'a>(
        &'a self,
        actor: &'a Actor,
        thread: &'a Thread,
        format: ContentFormat,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<CommentReply>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let place = Place::find(&tx, actor, &thread.of).await?;
            let comment = place.comment(&tx, &thread.comment).await?;
            let prefix = ReplyRecord::to(&comment.id);
            let mut list = Lister::new(ListSpec { prefix, rev: false, filters: String::new() }, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let ids = ids_of::<CommentReplyId>(&rows)?;
                list.offer_all(&rows, ids.iter().map(|id| Some(ReplyRecord::at(&comment.id, id))));
            }
            let count = tx.number(&CommentRecord::count_of_replies(&comment.id)).await?;
            let page = list.finish(&tx, u64::try_from(count).ok()).await?;
            let records: Vec<Arc<ReplyRecord>> =
                tx.get_many(&page.items).await?.into_iter().flatten().collect();
            let items = self.reply_views(&tx, Reader { place: &place, actor, format }, &records).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Posts a reply (SPEC 4.1, 4.2).
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `comment`; `Invalid` for an empty body.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the reply posted or not.
    pub fn post_reply<'a>(
        &'a self,
        actor: &'a Actor,
        thread: &'a Thread,
        new: PostCommentReply,
        format: ContentFormat,
    ) -> BoxFuture<'a, Result<CommentReply>> {
        Box::pin(self.once(actor, async move {
            let text = text_of(&new.body, "body")?;
            let operation = write::Reply {
                actor: actor.clone(),
                thread: thread.clone(),
                id: self.id(),
                posted: self.posted(actor.require_user()?, text),
            };
            let of = ReplyOf { thread, id: &operation.id, format };
            self.write_and_show(actor, &operation, |done| Box::pin(self.reply_seen(done.tx, actor, of))).await
        }))
    }

    /// Reads a reply.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_reply<'a>(
        &'a self,
        actor: &'a Actor,
        thread: &'a Thread,
        id: &'a CommentReplyId,
        format: ContentFormat,
    ) -> BoxFuture<'a, Result<CommentReply>> {
        Box::pin(async move {
            let tx = self.read().await?;
            self.reply_seen(&tx, actor, ReplyOf { thread, id, format }).await
        })
    }

    async fn reply_seen(&self, tx: &Tx, actor: &Actor, of: ReplyOf<'_>) -> Result<CommentReply> {
        let ReplyOf { thread, id, format } = of;
        let place = Place::find(tx, actor, &thread.of).await?;
        let record = place.reply(tx, &thread.comment, id).await?;
        let shown = self.reply_views(tx, Reader { place: &place, actor, format }, &[record]).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("reply"))
    }

    /// Changes a reply, or reacts to it, as [`update_comment`](Platform::update_comment) does.
    ///
    /// # Errors
    /// As [`update_comment`](Platform::update_comment).
    ///
    /// # Cancel safety
    /// Dropping the future leaves all of it done or nothing.
    pub fn update_reply<'a>(
        &'a self,
        actor: &'a Actor,
        thread: &'a Thread,
        id: &'a CommentReplyId,
        change: UpdateCommentReply,
    ) -> BoxFuture<'a, Result<CommentReply>> {
        Box::pin(async move {
            let edit = write::Edit::new(change.body, &change.added_reactions, &change.removed_reactions)?;
            let operation = write::UpdateReply {
                actor: actor.clone(),
                by: actor.require_user()?.clone(),
                thread: thread.clone(),
                id: id.clone(),
                edit,
                now: self.now(),
            };
            let of = ReplyOf { thread, id, format: ContentFormat::default() };
            self.write_and_show(actor, &operation, |done| Box::pin(self.reply_seen(done.tx, actor, of))).await
        })
    }

    /// Deletes a reply. Answers whether there was one: a reply that is missing, or that the actor may not see, is none.
    ///
    /// # Errors
    /// `Forbidden` unless the actor posted it or has the role `create`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the reply deleted or as it was.
    pub fn delete_reply<'a>(
        &'a self,
        actor: &'a Actor,
        thread: &'a Thread,
        id: &'a CommentReplyId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let operation =
                write::DeleteReply { actor: actor.clone(), thread: thread.clone(), id: id.clone() };
            found(self.write(actor, &operation).await)
        })
    }

    /// Lists the members who commented or replied, in a space or a change request, in the order of their ids. Those
    /// who left the organization are not among them.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests; `Invalid` for a wrong page or limit.
    pub fn list_commenters<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Member>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let place = Place::find(&tx, actor, of).await?;
            let org = &place.access.space().organization;
            access::org(&tx, actor, org).await?.require(OrgAction::ListPeople)?;
            let prefix = place.board().commenters();
            let mut list = Lister::new(ListSpec { prefix, rev: false, filters: String::new() }, page)?;
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
            let items = self.member_views(&tx, &page.items).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// What somebody posts now.
    pub(super) fn posted(&self, by: &UserId, text: crate::model::CommentText) -> Posted {
        Posted { by: by.clone(), at: self.now(), edited_at: None, text, reactions: Vec::new() }
    }

    /// The page, and the block of it, that a new comment is about.
    async fn target(&self, place: &Place, page: &str, node: Option<NodeKey>) -> Result<PageTarget> {
        let missing = || Error::invalid("page", "the content has no such page");
        let id: PageId = page.parse().map_err(|_| missing())?;
        let now = self.page_now(place, &id, node.as_deref()).await?.ok_or_else(missing)?;
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

/// Where comments are, found and allowed.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) access: SpaceAccess,
    pub(super) request: Option<Arc<ChangeRequestRecord>>,
}

impl Place {
    /// Finds it, where the actor may see it.
    pub(super) async fn find(tx: &Tx, actor: &Actor, of: &ContentOf) -> Result<Self> {
        let access = access::space(tx, actor, &of.space).await?;
        if let Version::Revision(_) = of.version {
            return Err(Error::invalid("version", "comments stand at a space or a change request"));
        }
        let request = match of.request_name() {
            None => None,
            Some(name) => Some(change_requests::find(tx, &of.space, name).await?),
        };
        Ok(Self { access, request })
    }

    pub(super) fn board(&self) -> Board {
        Board {
            space: self.access.space().id.clone(),
            request: self.request.as_ref().map(|request| request.id.clone()),
        }
    }

    /// The active revision, and the root of its content.
    pub(super) fn head(&self) -> (&RevisionId, Hash) {
        let space = self.access.space();
        self.request.as_ref().map_or((&space.head, space.root), |request| (&request.head, request.root))
    }

    async fn comment(&self, tx: &Tx, id: &CommentId) -> Result<Arc<CommentRecord>> {
        let comment: Option<Arc<CommentRecord>> = tx.get(&CommentRecord::at(id)).await?;
        let here = self.board();
        comment.filter(|comment| comment.board == here).ok_or_else(|| Error::not_found("comment"))
    }

    /// A reply; one whose comment is gone waits for its removal, and is not found.
    async fn reply(&self, tx: &Tx, comment: &CommentId, id: &CommentReplyId) -> Result<Arc<ReplyRecord>> {
        self.comment(tx, comment).await?;
        let reply: Option<Arc<ReplyRecord>> = tx.get(&ReplyRecord::at(comment, id)).await?;
        reply.ok_or_else(|| Error::not_found("reply"))
    }
}

/// How many comments there are in a state.
async fn count(tx: &Tx, board: &Board, status: CommentStatus) -> Result<Option<u64>> {
    let counters = match status {
        CommentStatus::Open => vec![board.count_of_open()],
        CommentStatus::Resolved => vec![board.count_of_resolved()],
        CommentStatus::All => vec![board.count_of_open(), board.count_of_resolved()],
    };
    Ok(u64::try_from(tx.numbers(&counters).await?.into_iter().sum::<i64>()).ok())
}

/// The comment that a row leads to.
fn comment_of(row: &Key) -> Result<CommentId> {
    id_of(row)
}

/// Tells whether the author that a row names is one of these.
fn is_of(author: &Value, authors: &[String]) -> Result<bool> {
    let author: UserId = linked_id(author)?;
    Ok(authors.iter().any(|wanted| wanted == author.as_str()))
}

/// What a deletion answers: nothing is wrong with what is not there.
fn found(done: Result<()>) -> Result<bool> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        other => other.map(|()| true),
    }
}
