//! Comments and replies.

use serde::{Deserialize, Serialize};

use super::{SpaceRecord, counter};
use crate::{
    model::{
        ChangeRequestId, CommentId, CommentReplyId, CommentStatus, CommentText, Emoji, NodeKey, PageBase,
        PageId, ReviewId, RevisionId, SpaceId, Timestamp, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// What the counters of those who commented are called.
const COMMENTERS: &str = "commenters";

/// Where comments are: on a space's own content, or in one of its change requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentScope {
    /// The space.
    pub space: SpaceId,
    /// The change request, by id.
    #[serde(default)]
    pub request: Option<ChangeRequestId>,
}

impl CommentScope {
    /// What the rows and counters of the scope belong to.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.request.as_ref().map_or(self.space.as_str(), ChangeRequestId::as_str)
    }

    /// How many comments are open.
    #[must_use]
    pub fn count_of_open(&self) -> Key {
        counter(self.owner(), "comments")
    }

    /// How many comments are resolved.
    #[must_use]
    pub fn count_of_resolved(&self) -> Key {
        counter(self.owner(), "comments.resolved")
    }

    /// The counters of what each user posted, by user; they stay at 0 when everything of a user is gone.
    #[must_use]
    pub fn commenters(&self) -> KeyBuf {
        KeyBuf::new(super::COUNTERS).part(self.owner()).part(COMMENTERS)
    }

    fn posted_by(&self, user: &UserId) -> Row {
        Row::Count(self.commenters().part(user.as_str()).key())
    }
}

/// Those who reacted with an emoji, the first one first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reactions {
    /// The emoji.
    pub emoji: Emoji,
    /// Who, and when; never empty.
    pub users: Vec<(UserId, Timestamp)>,
}

/// A page as it was when a comment about it was posted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageTarget {
    /// Id, title and times.
    pub page: PageBase,
    /// Its path; empty for a page that has none.
    pub path: String,
    /// The block, and what it said.
    #[serde(default)]
    pub node: Option<(NodeKey, Option<String>)>,
}

/// Who resolved a comment, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: UserId,
}

/// What comments and replies have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Posted {
    /// Who posted it.
    pub by: UserId,
    /// When it was posted.
    pub at: Timestamp,
    /// When its text was last changed.
    #[serde(default)]
    pub edited_at: Option<Timestamp>,
    /// What it says, as Markdown.
    pub text: CommentText,
    /// The reactions to it, at most [`Posted::MAX_REACTIONS`].
    #[serde(default)]
    pub reactions: Vec<Reactions>,
}

impl Posted {
    /// Most reactions to one comment or reply: with its text it still fits into a value of the store.
    pub const MAX_REACTIONS: usize = 500;
    /// Most different emoji among them.
    pub const MAX_EMOJI: usize = 100;
}

/// A comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommentRecord {
    /// The id.
    pub id: CommentId,
    /// Where it is.
    #[serde(rename = "board")]
    pub scope: CommentScope,
    /// What was posted.
    pub posted: Posted,
    /// Who resolved it; `None` while it is open.
    #[serde(default)]
    pub resolved: Option<Resolution>,
    /// The revision that was active when it was posted.
    pub revision: RevisionId,
    /// The page it is about.
    #[serde(default)]
    pub target: Option<PageTarget>,
    /// The review it came with.
    #[serde(default)]
    pub review: Option<ReviewId>,
}

impl Entity for CommentRecord {
    const KIND: &'static str = "cmt";
}

impl CommentRecord {
    /// The key of a comment.
    #[must_use]
    pub fn at(id: &CommentId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The comments of a scope, about a page or all, in a status or all, by the time they were posted.
    #[must_use]
    pub fn on(owner: &str, page: Option<&PageId>, status: CommentStatus) -> KeyBuf {
        let status = match status {
            CommentStatus::All => "",
            CommentStatus::Open => "open",
            CommentStatus::Resolved => "resolved",
        };
        KeyBuf::new("cmt.l").part(owner).part(page.map_or("", PageId::as_str)).part(status)
    }

    /// How many replies a comment has.
    #[must_use]
    pub fn count_of_replies(id: &CommentId) -> Key {
        counter(id.as_str(), "replies")
    }

    /// Open or resolved.
    #[must_use]
    pub fn status(&self) -> CommentStatus {
        if self.resolved.is_some() { CommentStatus::Resolved } else { CommentStatus::Open }
    }
}

impl Indexed for CommentRecord {
    const INDEXES: &'static [&'static str] = &["cmt.l", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let page = self.target.as_ref().map(|target| &target.page.id);
        let mut rows = vec![self.scope.posted_by(&self.posted.by)];
        rows.push(Row::Count(match self.status() {
            CommentStatus::Resolved => self.scope.count_of_resolved(),
            CommentStatus::All | CommentStatus::Open => self.scope.count_of_open(),
        }));
        for page in std::iter::once(None).chain(page.map(Some)) {
            for status in [CommentStatus::All, self.status()] {
                let row = Self::on(self.scope.owner(), page, status).time(self.posted.at.time());
                // The author, so that a filter needs no record.
                rows.push(Row::Index(row.part(self.id.as_str()).key(), super::text(self.posted.by.as_str())));
            }
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::As(SpaceRecord::at(&self.scope.space))
    }
}

/// A reply to a comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplyRecord {
    /// The id.
    pub id: CommentReplyId,
    /// The comment.
    pub comment: CommentId,
    /// Where the comment is.
    #[serde(rename = "board")]
    pub scope: CommentScope,
    /// What was posted.
    pub posted: Posted,
}

impl Entity for ReplyRecord {
    const KIND: &'static str = "cmr";
}

impl ReplyRecord {
    /// The key of a reply.
    #[must_use]
    pub fn at(comment: &CommentId, id: &CommentReplyId) -> Key {
        KeyBuf::new(Self::KIND).part(comment.as_str()).part(id.as_str()).key()
    }

    /// The replies to a comment, by the time they were posted.
    #[must_use]
    pub fn to(comment: &CommentId) -> KeyBuf {
        KeyBuf::new("cmr.t").part(comment.as_str())
    }
}

impl Indexed for ReplyRecord {
    const INDEXES: &'static [&'static str] = &["cmr.t", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.comment, &self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::to(&self.comment).time(self.posted.at.time()).part(self.id.as_str());
        vec![
            Row::Index(row.key(), Value::Unit),
            Row::Count(CommentRecord::count_of_replies(&self.comment)),
            self.scope.posted_by(&self.posted.by),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(SpaceRecord::at(&self.scope.space))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn comments_and_replies_are_stored_under_the_names_they_always_had() {
        let board = json!({ "space": "space1", "request": "request1" });
        let posted = json!({
            "by": "user1", "at": "2026-01-31T12:00:00.000Z", "edited_at": null, "text": "Why?", "reactions": [],
        });
        let reply = json!({ "id": "reply1", "comment": "comment1", "board": board, "posted": posted });
        let read: ReplyRecord = serde_json::from_value(reply.clone()).expect("a reply");
        assert_eq!(serde_json::to_value(&read).expect("written"), reply);
        let comment = json!({
            "id": "comment1", "board": board, "posted": posted, "resolved": null, "revision": "revision1",
            "target": null, "review": null,
        });
        let read: CommentRecord = serde_json::from_value(comment.clone()).expect("a comment");
        assert_eq!(serde_json::to_value(&read).expect("written"), comment);
    }
}
