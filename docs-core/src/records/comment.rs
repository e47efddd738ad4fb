//! Records of comments and replies.

use serde::{Deserialize, Serialize};

use super::{SpaceRecord, counter};
use crate::{
    model::{
        ChangeRequestId, CommentId, CommentReplyId, CommentStatus, CommentText, Emoji, NodeKey, PageBase,
        PageId, ReviewId, RevisionId, SpaceId, Timestamp, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, StoreError, StoreResult, Value},
};

/// Name of the counters of posts per user.
const COMMENTERS: &str = "commenters";

/// The content that comments belong to: the live content of a space, or one of its change requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommentScope {
    pub space: SpaceId,
    /// The change request, or `None` for the live content.
    #[serde(default)]
    pub request: Option<ChangeRequestId>,
}

impl CommentScope {
    /// Returns the id used in the keys of the scope's rows and counters.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.request.as_ref().map_or(self.space.as_str(), ChangeRequestId::as_str)
    }

    /// Counter of open comments.
    #[must_use]
    pub fn open_count(&self) -> Key {
        counter(self.owner(), "comments")
    }

    /// Counter of resolved comments.
    #[must_use]
    pub fn resolved_count(&self) -> Key {
        counter(self.owner(), "comments.resolved")
    }

    /// Counters of posts by user. A counter remains at 0 after all posts of a user are deleted.
    #[must_use]
    pub fn commenters(&self) -> KeyBuf {
        KeyBuf::new(super::COUNTERS).part(self.owner()).part(COMMENTERS)
    }

    fn author_row(&self, user: &UserId) -> Row {
        Row::Count(self.commenters().part(user.as_str()).key())
    }
}

/// The users who reacted with one emoji, in chronological order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reactions {
    pub emoji: Emoji,
    /// The users, each with the time of the reaction. Never empty.
    pub users: Vec<(UserId, Timestamp)>,
}

/// The state of a page when it was commented on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageTarget {
    pub page: PageBase,
    /// The path of the page, or an empty string if it has none.
    pub path: String,
    /// The commented block, with its text at the time.
    #[serde(default)]
    pub node: Option<(NodeKey, Option<String>)>,
}

/// The user who resolved a comment, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    pub at: Timestamp,
    pub by: UserId,
}

/// Fields shared by comments and replies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Post {
    pub by: UserId,
    pub at: Timestamp,
    /// The time of the last edit of the text.
    #[serde(default)]
    pub edited_at: Option<Timestamp>,
    /// The text as Markdown.
    pub text: CommentText,
    /// Reactions, at most [`Post::MAX_REACTIONS`].
    #[serde(default)]
    pub reactions: Vec<Reactions>,
}

impl Post {
    /// Maximum number of reactions to a comment or reply. Together with the text, they must fit into one store value.
    pub const MAX_REACTIONS: usize = 500;
    /// Maximum number of distinct emoji among the reactions to a comment or reply.
    pub const MAX_EMOJI: usize = 100;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommentRecord {
    pub id: CommentId,
    #[serde(rename = "board")]
    pub scope: CommentScope,
    pub posted: Post,
    /// The resolution, or `None` if the comment is open.
    #[serde(default)]
    pub resolved: Option<Resolution>,
    /// The head revision when the comment was posted.
    pub revision: RevisionId,
    /// The page that was commented on.
    #[serde(default)]
    pub target: Option<PageTarget>,
    /// The block that was commented on, if the comment names no page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeKey>,
    /// The review that the comment was submitted with.
    #[serde(default)]
    pub review: Option<ReviewId>,
}

impl Entity for CommentRecord {
    const KIND: &'static str = "cmt";
}

impl CommentRecord {
    #[must_use]
    pub fn key_for(id: &CommentId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the comments in a scope by time, optionally restricted to a page and a status.
    #[must_use]
    pub fn by_scope(owner: &str, page: Option<&PageId>, status: CommentStatus) -> KeyBuf {
        let status = match status {
            CommentStatus::All => "",
            CommentStatus::Open => "open",
            CommentStatus::Resolved => "resolved",
        };
        KeyBuf::new("cmt.l").part(owner).part(page.map_or("", PageId::as_str)).part(status)
    }

    /// Counter of the replies to a comment.
    #[must_use]
    pub fn reply_count(id: &CommentId) -> Key {
        counter(id.as_str(), "replies")
    }

    #[must_use]
    pub fn status(&self) -> CommentStatus {
        if self.resolved.is_some() { CommentStatus::Resolved } else { CommentStatus::Open }
    }
}

impl Indexed for CommentRecord {
    const INDEXES: &'static [&'static str] = &["cmt.l", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let page = self.target.as_ref().map(|target| &target.page.id);
        let mut rows = vec![self.scope.author_row(&self.posted.by)];
        rows.push(Row::Count(match self.status() {
            CommentStatus::Resolved => self.scope.resolved_count(),
            CommentStatus::All | CommentStatus::Open => self.scope.open_count(),
        }));
        for page in std::iter::once(None).chain(page.map(Some)) {
            for status in [CommentStatus::All, self.status()] {
                let row = Self::by_scope(self.scope.owner(), page, status).time(self.posted.at.time());
                // The row contains the author, so that filtering by author reads no records.
                rows.push(Row::Index(row.part(self.id.as_str()).key(), super::text(self.posted.by.as_str())));
            }
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::As(SpaceRecord::key_for(&self.scope.space))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplyRecord {
    pub id: CommentReplyId,
    pub comment: CommentId,
    #[serde(rename = "board")]
    pub scope: CommentScope,
    pub posted: Post,
}

/// The author and the time of a reply, as contained in its index row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplyAuthor {
    pub at: Timestamp,
    pub by: UserId,
}

impl ReplyAuthor {
    fn to_value(&self) -> Value {
        Value::Json(serde_json::json!(self).to_string().into())
    }

    /// Parses the value of a row of [`ReplyRecord::by_comment`].
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if the row contains no author.
    pub fn from_value(value: &Value) -> StoreResult<Self> {
        match value {
            Value::Json(json) => serde_json::from_slice(json).map_err(|error| {
                StoreError::Corrupt(format!("a row of a reply contains no author: {error}"))
            }),
            _ => Err(StoreError::Corrupt("a row of a reply contains no author".into())),
        }
    }
}

impl Entity for ReplyRecord {
    const KIND: &'static str = "cmr";
}

impl ReplyRecord {
    #[must_use]
    pub fn key_for(comment: &CommentId, id: &CommentReplyId) -> Key {
        KeyBuf::new(Self::KIND).part(comment.as_str()).part(id.as_str()).key()
    }

    /// Index of the replies to a comment, by time. A row contains the time and the author.
    #[must_use]
    pub fn by_comment(comment: &CommentId) -> KeyBuf {
        KeyBuf::new("cmr.t").part(comment.as_str())
    }
}

impl Indexed for ReplyRecord {
    const INDEXES: &'static [&'static str] = &["cmr.t", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.comment, &self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_comment(&self.comment).time(self.posted.at.time()).part(self.id.as_str());
        vec![
            Row::Index(row.key(), ReplyAuthor { at: self.posted.at, by: self.posted.by.clone() }.to_value()),
            Row::Count(CommentRecord::reply_count(&self.comment)),
            self.scope.author_row(&self.posted.by),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(SpaceRecord::key_for(&self.scope.space))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stored_field_names_of_comments_and_replies_are_stable() {
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
