//! Lookup of comments and of the content they belong to.

use std::sync::Arc;

use crate::{
    Error, Result,
    model::{CommentId, CommentReplyId, CommentStatus, RevisionId, UserId},
    platform::{
        access,
        content::change_requests,
        kernel::{
            actor::Actor,
            content_version::{ContentVersion, Version},
        },
    },
    policy::SpaceAccess,
    store::{
        Hash, Key, Tx, Value, id_of,
        records::{ChangeRequestRecord, CommentRecord, CommentScope, ReplyRecord, linked_id},
    },
};

/// The space or change request that comments belong to, with proof of access.
#[derive(Debug)]
pub(in crate::platform) struct CommentedContent {
    pub(in crate::platform) access: SpaceAccess,
    pub(in crate::platform) request: Option<Arc<ChangeRequestRecord>>,
}

impl CommentedContent {
    /// Finds the content if the actor has access to it.
    pub(in crate::platform) async fn find(tx: &Tx, actor: &Actor, of: &ContentVersion) -> Result<Self> {
        let access = access::space(tx, actor, &of.space).await?;
        if let Version::Revision(_) = of.version {
            return Err(Error::invalid("version", "a comment belongs to a space or a change request"));
        }
        let request = match of.request_name() {
            None => None,
            Some(name) => Some(change_requests::find(tx, &of.space, name).await?),
        };
        Ok(Self { access, request })
    }

    pub(in crate::platform) fn scope(&self) -> CommentScope {
        CommentScope {
            space: self.access.space().id.clone(),
            request: self.request.as_ref().map(|request| request.id.clone()),
        }
    }

    /// Returns the head revision and the root hash of its content.
    pub(in crate::platform) fn head(&self) -> (&RevisionId, Hash) {
        let space = self.access.space();
        self.request.as_ref().map_or((&space.head, space.root), |request| (&request.head, request.root))
    }

    pub(super) async fn comment(&self, tx: &Tx, id: &CommentId) -> Result<Arc<CommentRecord>> {
        let comment: Option<Arc<CommentRecord>> = tx.get(&CommentRecord::key_for(id)).await?;
        let here = self.scope();
        comment.filter(|comment| comment.scope == here).ok_or_else(|| Error::not_found("comment"))
    }

    /// Reads a reply. Replies to a deleted comment are not found, even while their rows still exist.
    pub(super) async fn reply(
        &self,
        tx: &Tx,
        comment: &CommentId,
        id: &CommentReplyId,
    ) -> Result<Arc<ReplyRecord>> {
        self.comment(tx, comment).await?;
        let reply: Option<Arc<ReplyRecord>> = tx.get(&ReplyRecord::key_for(comment, id)).await?;
        reply.ok_or_else(|| Error::not_found("reply"))
    }
}

/// Returns the number of comments with a status.
pub(super) async fn count(tx: &Tx, scope: &CommentScope, status: CommentStatus) -> Result<Option<u64>> {
    let counters = match status {
        CommentStatus::Open => vec![scope.open_count()],
        CommentStatus::Resolved => vec![scope.resolved_count()],
        CommentStatus::All => vec![scope.open_count(), scope.resolved_count()],
    };
    Ok(u64::try_from(tx.numbers(&counters).await?.into_iter().sum::<i64>()).ok())
}

/// Extracts the comment id from the key of an index row.
pub(super) fn comment_id(row: &Key) -> Result<CommentId> {
    id_of(row)
}

/// Returns `true` if the author in an index row is one of `authors`.
pub(super) fn has_author(author: &Value, authors: &[String]) -> Result<bool> {
    let author: UserId = linked_id(author)?;
    Ok(authors.iter().any(|wanted| wanted == author.as_str()))
}
