//! Semantic changes between two revisions.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeRequest, Dimensions, FileId, PageAttributes, PageId, PageType, ReusableId, VariableValue};

/// The changes between two revisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevisionSemanticChanges {
    /// The change request that the revision merged, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_from: Option<Box<ChangeRequest>>,
    /// The changes of pages in reading order, with deleted pages at their former position, followed by those of
    /// reusable content blocks, files and variables.
    pub changes: Vec<SemanticChange>,
    /// The number of changes omitted because of the limit; absent if the list is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<u64>,
}

/// A change between two revisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "RevisionSemanticChange"))]
pub enum SemanticChange {
    /// A page was added.
    PageCreated {
        /// The new page.
        page: ChangedPage,
    },
    /// Fields or the content of a page changed.
    PageEdited {
        /// The page after the change.
        page: ChangedPage,
        /// The changed fields. At least one is present.
        attributes: Box<PageAttributes>,
    },
    /// A page was removed.
    PageDeleted {
        /// The page before its removal.
        page: ChangedPage,
    },
    /// A page has a different parent, or a different position among the same siblings.
    PageMoved {
        /// The page after the move.
        page: ChangedPage,
        /// The parent before and after the move; absent for the top level.
        parent: Changed<ChangedPage>,
    },
    /// A file was added.
    FileCreated {
        /// The new file.
        file: ChangedFile,
    },
    /// A file changed.
    FileEdited {
        /// The file after the change.
        file: ChangedFile,
        /// The changed fields. At least one is present.
        attributes: Box<FileAttributes>,
    },
    /// A file was removed.
    FileDeleted {
        /// The file before its removal.
        file: ChangedFile,
    },
    /// Variables of the space changed.
    VariablesEdited {
        /// The changed variables by name.
        variables: BTreeMap<String, Changed<VariableValue>>,
    },
    /// A reusable content block was added.
    ReusableContentCreated {
        /// The new block.
        reusable_content: ChangedReusableContent,
    },
    /// A reusable content block changed.
    ReusableContentEdited {
        /// The block after the change.
        reusable_content: ChangedReusableContent,
        /// The changed fields. At least one is present.
        attributes: ReusableContentAttributes,
    },
    /// A reusable content block was removed.
    ReusableContentDeleted {
        /// The block before its removal.
        reusable_content: ChangedReusableContent,
    },
}

/// The values before and after a change. An unset value is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Changed{T}"))]
pub struct Changed<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<T>,
}

impl<T: PartialEq> Changed<T> {
    /// Returns a change, or `None` if the values are equal.
    #[must_use]
    pub fn from_values(before: Option<T>, after: Option<T>) -> Option<Self> {
        (before != after).then_some(Self { before, after })
    }
}

/// A page in a list of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ChangedRevisionPage"))]
pub struct ChangedPage {
    pub id: PageId,
    #[serde(rename = "type")]
    pub kind: PageType,
    pub title: String,
    /// The path of the page; absent for links and computed pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A file in a list of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "ChangedRevisionFile"))]
pub struct ChangedFile {
    pub id: FileId,
    pub name: String,
    pub content_type: String,
    /// The download URL of the file.
    #[serde(rename = "downloadURL")]
    pub download_url: String,
}

/// A reusable content block in a list of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ChangedRevisionReusableContent"))]
pub struct ChangedReusableContent {
    pub id: ReusableId,
    pub title: String,
    /// The id of its document; absent if the block is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// The changed fields of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "RevisionFileChangeAttributes", extend("minProperties" = 1)))]
pub struct FileAttributes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Changed<String>>,
    /// The download URL, which changes with the content of the file.
    #[serde(rename = "downloadURL", default, skip_serializing_if = "Option::is_none")]
    pub download_url: Option<Changed<String>>,
    /// The size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Changed<u64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<Changed<String>>,
    /// Width and height of an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Changed<Dimensions>>,
}

/// The changed fields of a reusable content block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RevisionReusableContentChangeAttributes", extend("minProperties" = 1)))]
pub struct ReusableContentAttributes {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Changed<String>>,
    /// The document ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Changed<String>>,
    /// The source of a computed reusable content block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<Changed<serde_json::Value>>,
}
