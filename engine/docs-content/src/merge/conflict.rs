//! Conflicts of a merge.

use docs_model::{FileId, PageId, ReusableId};
use serde::{Deserialize, Serialize};

/// The subject of a conflict.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "type", content = "id", rename_all = "camelCase")]
pub enum Subject {
    Page(PageId),
    File(FileId),
    Reusable(ReusableId),
    Variable(String),
}

/// A conflict and how it was resolved.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "conflict", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Conflict {
    /// Both sides set a field to different values. The value of the change request was kept.
    Field {
        /// The name of the field in [`FieldClashes`](crate::FieldClashes).
        field: String,
    },
    /// Both sides changed the same part of the text. The record contains all terms.
    Text,
    /// One side deleted an item that the other side changed. The item was kept.
    Existence,
    /// The parent was deleted. The page was moved up.
    ParentGone {
        /// The deleted parent.
        parent: PageId,
    },
    /// The page would have become its own ancestor. The move by the change request was undone.
    Cycle,
    /// The combined changes would have put the page under a parent that cannot contain it. The page was moved up.
    Misplaced,
    /// A sibling has the same slug. The page received a different one.
    SlugTaken {
        /// The previous slug.
        slug: String,
    },
}

/// A conflict and its subject.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ConflictNote {
    pub subject: Subject,
    #[serde(flatten)]
    pub conflict: Conflict,
}
