//! Comments on content, and replies to them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, ChangeRequestId, CommentId, CommentReplyId, Document, Emoji, PageBase, ReviewId, RevisionId,
    SpaceId, Timestamp, User, UserUrls, list::constants, patch::deserialize_non_null,
};

constants! {
    /// `comment`.
    CommentObject = "comment",
    /// `comment-reply`.
    CommentReplyObject = "comment-reply",
}

/// The Markdown of a comment or a reply.
pub type CommentText = BoundedText<0, 20_000>;

/// The key of a block of a page.
pub type NodeKey = BoundedText<1, 128>;

/// A comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// Always `comment`.
    pub object: CommentObject,
    pub id: CommentId,
    /// The author of the comment.
    pub posted_by: User,
    pub posted_at: Timestamp,
    /// Time of the last edit of the text; absent if it was never edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    /// Reactions by emoji, ordered by the first reaction with each emoji.
    pub reactions: Vec<EmojiReaction>,
    /// The number of replies.
    pub replies: u64,
    /// The authors of the latest replies, latest first.
    pub repliers: Vec<Replier>,
    /// The text, in the requested format.
    pub body: CommentBody,
    /// The content that the comment refers to.
    pub target: CommentTarget,
    pub urls: UserUrls,
    /// The caller's permissions for the comment.
    pub permissions: CommentPermissions,
    /// The state of the comment; if resolved, when and by whom.
    #[serde(flatten)]
    pub state: CommentState,
}

/// An author of replies to a comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Replier {
    /// Time of the user's latest reply.
    pub updated_at: Timestamp,
    /// The number of the user's replies among the latest replies.
    pub count: u64,
    pub user: User,
}

/// The state of a comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "status", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum CommentState {
    /// Not resolved.
    Open,
    /// Resolved by a user.
    Resolved {
        /// Time of the resolution.
        resolved_at: Timestamp,
        /// The user who resolved it.
        resolved_by: Box<User>,
    },
}

/// A reply to a comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommentReply {
    /// Always `comment-reply`.
    pub object: CommentReplyObject,
    pub id: CommentReplyId,
    /// The author of the reply.
    pub posted_by: User,
    pub posted_at: Timestamp,
    /// Time of the last edit of the text; absent if it was never edited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    /// Reactions by emoji, ordered by the first reaction with each emoji.
    pub reactions: Vec<EmojiReaction>,
    /// The text, in the requested format.
    pub body: CommentBody,
    pub urls: UserUrls,
    /// The caller's permissions for the reply.
    pub permissions: CommentPermissions,
}

/// The reactions with one emoji.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EmojiReaction {
    pub emoji: Emoji,
    /// The number of users who reacted with this emoji.
    pub count: u64,
    /// The users who reacted first, oldest first. The list is shorter if there are many emoji. It always includes the
    /// caller if they reacted.
    pub users: Vec<Reactor>,
}

/// A user who reacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reactor {
    pub user: User,
    pub reacted_at: Timestamp,
}

/// The body of a comment or a reply, in the requested format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommentBody {
    /// The text as Markdown.
    Markdown(String),
    /// The text as a document tree.
    Document(Document),
}

/// The content that a comment refers to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommentTarget {
    /// The block of the page, if the comment refers to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<CommentNode>,
    /// The change request to which the comment was posted, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<ChangeRequestId>,
    /// The review to which the comment belongs, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewId>,
    /// The page, if the comment refers to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<CommentPage>,
    pub space: SpaceId,
    /// The revision that was current when the comment was posted.
    pub revision: RevisionId,
}

/// The block that a comment refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CommentNode {
    /// The key of the block.
    pub id: String,
    /// The text of the block, or its last known text if the block was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// The page that a comment refers to: the current version or, if the page was deleted, the version at the time of the
/// comment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommentPage {
    /// Id, title and times of the page.
    #[serde(flatten)]
    pub base: PageBase,
    /// The path of the page; empty if it has none.
    pub path: String,
    /// `true` if the page or the block no longer exists.
    pub outdated: bool,
}

/// A user's permissions for a comment or a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CommentPermissions {
    pub view: bool,
    /// The user can edit the text.
    pub edit: bool,
    pub reply: bool,
    /// The user can add reactions. Published clients require this field.
    pub react: bool,
    pub delete: bool,
}

/// The body of a comment or a reply: exactly one of the two fields.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = crate::schema::one_of_required(&[("markdown", "string"), ("document", "object")]))))]
pub struct CommentInput {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub markdown: Option<CommentText>,
    /// A document tree with at least one block.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(extend("properties" = { "nodes": { "minItems": 1 } })))]
    pub document: Option<Document>,
}

/// A new comment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PostComment {
    /// The key of the block that the comment refers to. Without `page`, it is returned with the comment, but not
    /// resolved.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub node: Option<NodeKey>,
    /// The id of the page that the comment refers to; by default, the comment refers to the content as a whole.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub page: Option<String>,
    pub body: CommentInput,
}

/// A new reply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PostCommentReply {
    pub body: CommentInput,
}

/// A partial update of a comment. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateComment {
    /// `true` resolves the comment, `false` reopens it.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub resolved: Option<bool>,
    /// The new body.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub body: Option<CommentInput>,
    /// The emoji of reactions to add.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = UpdateComment::MAX_REACTIONS)))]
    pub added_reactions: Vec<Emoji>,
    /// The emoji of reactions to remove.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = UpdateComment::MAX_REACTIONS)))]
    pub removed_reactions: Vec<Emoji>,
}

impl UpdateComment {
    /// Maximum number of added and of removed reactions in an update.
    pub const MAX_REACTIONS: usize = 50;
}

/// A partial update of a reply. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateCommentReply {
    /// The new body.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub body: Option<CommentInput>,
    /// The emoji of reactions to add.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = UpdateComment::MAX_REACTIONS)))]
    pub added_reactions: Vec<Emoji>,
    /// The emoji of reactions to remove.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = UpdateComment::MAX_REACTIONS)))]
    pub removed_reactions: Vec<Emoji>,
}

impl UpdateCommentReply {
    /// Maximum number of added and of removed reactions in an update.
    pub const MAX_REACTIONS: usize = UpdateComment::MAX_REACTIONS;
}

/// A filter for comments by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommentStatus {
    /// Open and resolved comments.
    #[default]
    All,
    /// Unresolved comments.
    Open,
    /// Resolved comments.
    Resolved,
}

/// The sort order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ListOrder {
    /// Oldest first.
    Asc,
    /// Newest first.
    #[default]
    Desc,
}
