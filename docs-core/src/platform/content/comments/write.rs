//! Write operations on comments and replies.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::operation;
use serde::{Deserialize, Serialize};

use super::{CommentedContent, text};
use crate::{
    Error, Result,
    model::{
        CommentId, CommentInput, CommentReplyId, CommentStatus, CommentText, Emoji, JobId, Timestamp, UserId,
    },
    platform::{
        jobs::{Payload, Purge},
        kernel::{actor::Actor, content_version::ContentVersion},
        nouns::addresses::Thread,
    },
    policy::{CommentAction, SpaceAction},
    store::{
        Key, Tx, ids_of, jobs,
        records::{CommentRecord, Post, Reactions, ReplyRecord, Resolution},
    },
};

/// Number of replies removed per transaction, together with their index rows.
const REPLY_PURGE_BATCH: u32 = 200;
/// Number of comments examined for removal per transaction.
const COMMENT_PURGE_BATCH: u32 = 20;
/// Number of pending changes at which a purge transaction stops taking further comments.
const PURGE_CHANGE_LIMIT: usize = 600;

/// Job that removes the replies of a deleted comment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeReplies {
    comment: CommentId,
}

impl Payload for PurgeReplies {
    const KIND: &'static str = "comment_replies_purge";
}

#[async_trait]
impl Purge for PurgeReplies {
    async fn purge_some(&self, tx: &mut Tx) -> Result<bool> {
        drop_replies(tx, &self.comment).await
    }
}

/// Removes a batch of comments and replies in a scope. Returns `true` if there were any.
pub(in crate::platform) async fn delete_batch(tx: &mut Tx, owner: &str) -> Result<bool> {
    let prefix = CommentRecord::by_scope(owner, None, CommentStatus::All);
    let rows = tx.scan_prefix(&prefix, COMMENT_PURGE_BATCH).await?;
    for (row, _) in &rows {
        let comment: Option<Arc<CommentRecord>> =
            tx.get(&CommentRecord::key_for(&super::comment_id(row)?)).await?;
        let Some(comment) = comment else { continue };
        if drop_replies(tx, &comment.id).await? {
            break;
        }
        tx.delete(&*comment);
        if tx.changes() > PURGE_CHANGE_LIMIT {
            break;
        }
    }
    Ok(!rows.is_empty())
}

/// Removes a batch of replies to a comment. Returns `true` if more may remain.
async fn drop_replies(tx: &mut Tx, comment: &CommentId) -> Result<bool> {
    let rows = tx.scan_prefix(&ReplyRecord::by_comment(comment), REPLY_PURGE_BATCH).await?;
    let ids: Vec<CommentReplyId> = ids_of(&rows)?;
    let keys: Vec<Key> = ids.iter().map(|id| ReplyRecord::key_for(comment, id)).collect();
    tx.delete_all::<ReplyRecord>(&keys).await?;
    Ok(rows.len() == REPLY_PURGE_BATCH as usize)
}

/// A validated change to a post.
pub(super) struct PostEdit {
    text: Option<CommentText>,
    added: Vec<Emoji>,
    removed: Vec<Emoji>,
}

impl PostEdit {
    pub(super) fn new(body: Option<CommentInput>, added: &[Emoji], removed: &[Emoji]) -> Result<Self> {
        Ok(Self {
            text: body.map(|body| text::parse_text(&body, "body")).transpose()?,
            added: text::normalize_emojis(added, "addedReactions")?,
            removed: text::normalize_emojis(removed, "removedReactions")?,
        })
    }

    /// Applies the change for a user who may comment.
    fn apply(
        &self,
        posted: &mut Post,
        commented: &CommentedContent,
        by: &UserId,
        now: Timestamp,
    ) -> Result<()> {
        if let Some(text) = &self.text {
            commented.access.require_comment(CommentAction::Edit, &posted.by, Some(by))?;
            if *text != posted.text {
                posted.text = text.clone();
                posted.edited_at = Some(now.later_than(posted.edited_at.unwrap_or(posted.at)));
            }
        }
        for of in posted.reactions.iter_mut().filter(|of| self.removed.contains(&of.emoji)) {
            of.users.retain(|(user, _)| user != by);
        }
        posted.reactions.retain(|of| !of.users.is_empty());
        for emoji in self.added.iter().filter(|emoji| !self.removed.contains(emoji)) {
            react(&mut posted.reactions, emoji, by, now)?;
        }
        Ok(())
    }
}

/// Adds a reaction unless it is already present.
fn react(reactions: &mut Vec<Reactions>, emoji: &Emoji, by: &UserId, now: Timestamp) -> Result<()> {
    let full = || {
        Error::conflict(
            "addedReactions: the comment has the maximum number of reactions; remove \
                                   one first",
        )
    };
    let of = reactions.iter().position(|of| of.emoji == *emoji);
    if of.is_some_and(|at| reactions[at].users.iter().any(|(user, _)| user == by)) {
        return Ok(());
    }
    let all: usize = reactions.iter().map(|of| of.users.len()).sum();
    if all >= Post::MAX_REACTIONS {
        return Err(full());
    }
    match of {
        Some(at) => reactions[at].users.push((by.clone(), now)),
        None if reactions.len() >= Post::MAX_EMOJI => return Err(full()),
        None => reactions.push(Reactions { emoji: emoji.clone(), users: vec![(by.clone(), now)] }),
    }
    Ok(())
}

#[operation("comment_post")]
pub(super) async fn comment_creation(
    tx: &mut Tx,
    actor: &Actor,
    of: &ContentVersion,
    record: &CommentRecord,
) -> Result<()> {
    let commented = CommentedContent::find(tx, actor, of).await?;
    commented.access.require(SpaceAction::Comment)?;
    tx.create(record.clone());
    Ok(())
}

#[operation("comment_update")]
pub(super) async fn comment_update(
    tx: &mut Tx,
    actor: &Actor,
    by: &UserId,
    thread: &Thread,
    resolved: Option<bool>,
    edit: &PostEdit,
    now: Timestamp,
) -> Result<()> {
    let commented = CommentedContent::find(tx, actor, &thread.of).await?;
    commented.access.require(SpaceAction::Comment)?;
    let old = commented.comment(tx, &thread.comment).await?;
    let mut new = CommentRecord::clone(&old);
    if let Some(resolved) = resolved {
        commented.access.require_comment(CommentAction::Resolve, &old.posted.by, Some(by))?;
        new.resolved = match (resolved, new.resolved) {
            (false, _) => None,
            (true, Some(before)) => Some(before),
            (true, None) => Some(Resolution { at: now, by: by.clone() }),
        };
    }
    edit.apply(&mut new.posted, &commented, by, now)?;
    if new != *old {
        tx.put(&*old, new)?;
    }
    Ok(())
}

#[operation("comment_delete")]
pub(super) async fn comment_deletion(
    tx: &mut Tx,
    actor: &Actor,
    thread: &Thread,
    now: Timestamp,
    job: &JobId,
) -> Result<()> {
    let commented = CommentedContent::find(tx, actor, &thread.of).await?;
    let old = commented.comment(tx, &thread.comment).await?;
    commented.access.require_comment(CommentAction::Delete, &old.posted.by, actor.user())?;
    let more = drop_replies(tx, &old.id).await?;
    tx.delete(&*old);
    if more {
        let purge = PurgeReplies { comment: old.id.clone() };
        let job = purge.to_new_job(job, &old.scope.space, now)?;
        jobs::enqueue(tx, now, job).await?;
    }
    Ok(())
}

#[operation("comment_reply_post")]
pub(super) async fn reply_creation(
    tx: &mut Tx,
    actor: &Actor,
    thread: &Thread,
    id: &CommentReplyId,
    posted: &Post,
) -> Result<()> {
    let commented = CommentedContent::find(tx, actor, &thread.of).await?;
    commented.access.require(SpaceAction::Comment)?;
    let comment = commented.comment(tx, &thread.comment).await?;
    tx.create(ReplyRecord {
        id: id.clone(),
        comment: comment.id.clone(),
        scope: comment.scope.clone(),
        posted: posted.clone(),
    });
    Ok(())
}

#[operation("comment_reply_update")]
pub(super) async fn reply_update(
    tx: &mut Tx,
    actor: &Actor,
    by: &UserId,
    thread: &Thread,
    id: &CommentReplyId,
    edit: &PostEdit,
    now: Timestamp,
) -> Result<()> {
    let commented = CommentedContent::find(tx, actor, &thread.of).await?;
    commented.access.require(SpaceAction::Comment)?;
    let old = commented.reply(tx, &thread.comment, id).await?;
    let mut new = ReplyRecord::clone(&old);
    edit.apply(&mut new.posted, &commented, by, now)?;
    if new != *old {
        tx.put(&*old, new)?;
    }
    Ok(())
}

#[operation("comment_reply_delete")]
pub(super) async fn reply_deletion(
    tx: &mut Tx,
    actor: &Actor,
    thread: &Thread,
    id: &CommentReplyId,
) -> Result<()> {
    let commented = CommentedContent::find(tx, actor, &thread.of).await?;
    let old = commented.reply(tx, &thread.comment, id).await?;
    commented.access.require_comment(CommentAction::Delete, &old.posted.by, actor.user())?;
    tx.delete(&*old);
    Ok(())
}
