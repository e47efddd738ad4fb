//! What changed between two revisions, as clients show it to people.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ChangeRequest, Dimensions, FileId, PageAttributes, PageId, ReusableId, VariableValue};

/// What changed between two revisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevisionSemanticChanges {
    /// The change request that the revision merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_from: Option<Box<ChangeRequest>>,
    /// Pages in reading order (deleted ones where they were), then reusable contents, files and variables.
    pub changes: Vec<SemanticChange>,
    /// How many changes were cut off; absent when none were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<u64>,
}

/// One change between two revisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "RevisionSemanticChange"))]
pub enum SemanticChange {
    /// A page was added.
    PageCreated {
        /// The page.
        page: ChangedPage,
    },
    /// Fields or the content of a page changed.
    PageEdited {
        /// The page, as it is now.
        page: ChangedPage,
        /// What changed; at least one.
        attributes: Box<PageAttributes>,
    },
    /// A page was removed.
    PageDeleted {
        /// The page, as it was.
        page: ChangedPage,
    },
    /// A page stands elsewhere: below another page, or at another place among the same siblings.
    PageMoved {
        /// The page, as it is now.
        page: ChangedPage,
        /// The pages it stood and stands below; absent for the top level.
        parent: Changed<ChangedPage>,
    },
    /// A file was added.
    FileCreated {
        /// The file.
        file: ChangedFile,
    },
    /// A file changed.
    FileEdited {
        /// The file, as it is now.
        file: ChangedFile,
        /// What changed; at least one.
        attributes: Box<FileAttributes>,
    },
    /// A file was removed.
    FileDeleted {
        /// The file, as it was.
        file: ChangedFile,
    },
    /// Variables of the space changed.
    VariablesEdited {
        /// The variables that changed, by name.
        variables: BTreeMap<String, Changed<VariableValue>>,
    },
    /// A reusable content was added.
    ReusableContentCreated {
        /// The reusable content.
        reusable_content: ChangedReusableContent,
    },
    /// A reusable content changed.
    ReusableContentEdited {
        /// The reusable content, as it is now.
        reusable_content: ChangedReusableContent,
        /// What changed; at least one.
        attributes: ReusableContentAttributes,
    },
    /// A reusable content was removed.
    ReusableContentDeleted {
        /// The reusable content, as it was.
        reusable_content: ChangedReusableContent,
    },
}

/// A value before and after a change; what is absent was, or is, not set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Changed{T}"))]
pub struct Changed<T> {
    /// The value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<T>,
    /// The value after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<T>,
}

impl<T: PartialEq> Changed<T> {
    /// A change, where the values differ.
    #[must_use]
    pub fn between(before: Option<T>, after: Option<T>) -> Option<Self> {
        (before != after).then_some(Self { before, after })
    }
}

/// What kind of page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", schemars(rename = "RevisionPageType"))]
pub enum PageType {
    /// A page with content.
    Document,
    /// A titled group of pages.
    Group,
    /// A link in the tree of pages.
    Link,
    /// Pages that a source computes.
    Computed,
}

/// A page in a list of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ChangedRevisionPage"))]
pub struct ChangedPage {
    /// The page's id.
    pub id: PageId,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: PageType,
    /// Its title.
    pub title: String,
    /// Its path; absent for links and computed pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A file in a list of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "ChangedRevisionFile"))]
pub struct ChangedFile {
    /// The file's id.
    pub id: FileId,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// Where its bytes are.
    #[serde(rename = "downloadURL")]
    pub download_url: String,
}

/// A reusable content in a list of changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ChangedRevisionReusableContent"))]
pub struct ChangedReusableContent {
    /// The id.
    pub id: ReusableId,
    /// Its title.
    pub title: String,
    /// Names its content; absent when it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// What changed on a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "RevisionFileChangeAttributes", extend("minProperties" = 1)))]
pub struct FileAttributes {
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Changed<String>>,
    /// Where the bytes are: other bytes are elsewhere.
    #[serde(rename = "downloadURL", default, skip_serializing_if = "Option::is_none")]
    pub download_url: Option<Changed<String>>,
    /// The size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Changed<u64>>,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<Changed<String>>,
    /// The size of a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Changed<Dimensions>>,
}

/// What changed on a reusable content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "RevisionReusableContentChangeAttributes", extend("minProperties" = 1)))]
pub struct ReusableContentAttributes {
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Changed<String>>,
    /// The content, by the names of the documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<Changed<String>>,
    /// What a computed one is made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computed: Option<Changed<serde_json::Value>>,
}
