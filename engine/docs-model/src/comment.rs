//! Comments and replies.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, ChangeRequestId, CommentId, CommentReplyId, Document, Emoji, PageBase, ReviewId, RevisionId,
    SpaceId, Timestamp, User, UserUrls, list::constants, patch::given,
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
    /// The id.
    pub id: CommentId,
    /// Who posted it.
    pub posted_by: User,
    /// When it was posted.
    pub posted_at: Timestamp,
    /// When its text was last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    /// The reactions to it, by emoji in the order of the first of each.
    pub reactions: Vec<EmojiReaction>,
    /// How many replies it has.
    pub replies: u64,
    /// What it says.
    pub body: CommentBody,
    /// What it is about.
    pub target: CommentTarget,
    /// Where it is in this API.
    pub urls: UserUrls,
    /// What the reader may do with it.
    pub permissions: CommentPermissions,
    /// Open, or resolved by whom and when.
    #[serde(flatten)]
    pub state: CommentState,
}

/// Whether a comment is settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "status", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum CommentState {
    /// It waits for an answer.
    Open,
    /// It is settled.
    Resolved {
        /// When it was resolved.
        resolved_at: Timestamp,
        /// Who resolved it.
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
    /// The id.
    pub id: CommentReplyId,
    /// Who posted it.
    pub posted_by: User,
    /// When it was posted.
    pub posted_at: Timestamp,
    /// When its text was last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
    /// The reactions to it, by emoji in the order of the first of each.
    pub reactions: Vec<EmojiReaction>,
    /// What it says.
    pub body: CommentBody,
    /// Where it is in this API.
    pub urls: UserUrls,
    /// What the reader may do with it.
    pub permissions: CommentPermissions,
}

/// Who reacted with an emoji.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EmojiReaction {
    /// The emoji.
    pub emoji: Emoji,
    /// How many people reacted with it.
    pub count: u64,
    /// The first of these people, the first one first; fewer where there are many emoji. Whoever reads is among them
    /// when they reacted.
    pub users: Vec<Reactor>,
}

/// A person who reacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Reactor {
    /// The person.
    pub user: User,
    /// When.
    pub reacted_at: Timestamp,
}

/// What a comment says, in the form that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommentBody {
    /// As Markdown.
    Markdown(String),
    /// As a document tree.
    Document(Document),
}

/// What a comment is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommentTarget {
    /// The block of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<CommentNode>,
    /// The change request it was posted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_request: Option<ChangeRequestId>,
    /// The review it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewId>,
    /// The page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<CommentPage>,
    /// The space.
    pub space: SpaceId,
    /// The revision that was active when it was posted.
    pub revision: RevisionId,
}

/// A block that a comment is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CommentNode {
    /// The key of the block.
    pub id: String,
    /// What the block says, or said when it was last there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// A page that a comment is about: as it is now or, once it is gone, as it was when the comment was posted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommentPage {
    /// Id, title and times.
    #[serde(flatten)]
    pub base: PageBase,
    /// Its path; empty for a page that has none.
    pub path: String,
    /// The page, or the block, is not part of the content any more.
    pub outdated: bool,
}

/// What somebody may do with a comment or a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CommentPermissions {
    /// See it.
    pub view: bool,
    /// Change its text.
    pub edit: bool,
    /// Reply to it.
    pub reply: bool,
    /// React to it with emoji; published clients demand it.
    pub react: bool,
    /// Delete it.
    pub delete: bool,
}

/// What a comment or a reply shall say: one of the two.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("oneOf" = crate::schema::given(&[("markdown", "string"), ("document", "object")]))))]
pub struct CommentInput {
    /// Markdown.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::NOT_BLANK)))]
    pub markdown: Option<CommentText>,
    /// A document tree of at least one block.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(extend("properties" = { "nodes": { "minItems": 1 } })))]
    pub document: Option<Document>,
}

/// A comment to post.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{ "required": ["page"] }, crate::schema::absent("node")])))]
pub struct PostComment {
    /// The key of a block of the page.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub node: Option<NodeKey>,
    /// The id of the page it is about; about the content as a whole when absent.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub page: Option<String>,
    /// What it says.
    pub body: CommentInput,
}

/// A reply to post.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PostCommentReply {
    /// What it says.
    pub body: CommentInput,
}

/// A change of a comment; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateComment {
    /// `true` resolves it, `false` opens it again.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub resolved: Option<bool>,
    /// What it says from now on.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub body: Option<CommentInput>,
    /// Emoji to react with.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = UpdateComment::MAX_REACTIONS)))]
    pub added_reactions: Vec<Emoji>,
    /// Emoji to take back.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = UpdateComment::MAX_REACTIONS)))]
    pub removed_reactions: Vec<Emoji>,
}

impl UpdateComment {
    /// Most emoji that are added, and most that are taken back.
    pub const MAX_REACTIONS: usize = 50;
}

/// A change of a reply; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateCommentReply {
    /// What it says from now on.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub body: Option<CommentInput>,
    /// Emoji to react with.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = UpdateComment::MAX_REACTIONS)))]
    pub added_reactions: Vec<Emoji>,
    /// Emoji to take back.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = UpdateComment::MAX_REACTIONS)))]
    pub removed_reactions: Vec<Emoji>,
}

impl UpdateCommentReply {
    /// Most emoji that are added, and most that are taken back.
    pub const MAX_REACTIONS: usize = UpdateComment::MAX_REACTIONS;
}

/// Which comments to list, by their state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommentStatus {
    /// Open and resolved ones.
    #[default]
    All,
    /// Those that wait for an answer.
    Open,
    /// Those that are settled.
    Resolved,
}

/// In which order to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ListOrder {
    /// The oldest first.
    Asc,
    /// The newest first.
    #[default]
    Desc,
}
