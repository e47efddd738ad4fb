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

/// A conflict and its resolution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(tag = "conflict", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Conflict {
    /// Both sides set a field differently; the value of the change request is kept.
    Field {
        /// The name of the field in `FieldClashes`.
        field: String,
    },
    /// Both sides changed the same part of the text; the record contains all terms.
    Text,
    /// One side deleted the item that the other changed; it was kept.
    Existence,
    /// The parent was deleted; the page moved up.
    ParentGone {
        /// The deleted parent.
        parent: PageId,
    },
    /// The page would be its own ancestor; the move of the change request was undone.
    Cycle,
    /// The combined changes would put the page under a parent that cannot have it; it moved up.
    Misplaced,
    /// A sibling has the same slug; the page got another one.
    SlugTaken {
        /// The previous slug.
        slug: String,
    },
}

/// A conflict with its subject.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct ConflictNote {
    pub subject: Subject,
    #[serde(flatten)]
    pub conflict: Conflict,
}
