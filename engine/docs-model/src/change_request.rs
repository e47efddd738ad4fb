//! Change requests and the edits of their content.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as SerdeError};
use serde_json::Value;

use super::{
    BoundedText, BoundedVec, ChangeRequestId, ChangeRequestLinkInput, ChangeRequestLinks, ContentRef,
    DeleteFilesChange, DeleteReusableContentChange, Document, DocumentInput, InsertFilesChange,
    InsertReusableContentChange, PageFields, PageId, PageType, Patch, ReusableContent, RevisionFile,
    RevisionId, Timestamp, Unsupported, UpdateReusableContentChange, UpdateVariablesChange, User,
    list::constants, patch::deserialize_non_null, typed_value::part, unsupported::reject_request_template,
};

constants! {
    /// `change-request`.
    ChangeRequestObject = "change-request",
    /// `page`.
    PageRefObject = "page",
}

/// Subject of a change request. May be empty.
pub type Subject = BoundedText<0, 100>;

/// The state of a change request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangeRequestStatus {
    /// In progress; no review has been requested.
    Draft,
    /// In review.
    Open,
    /// Closed without merging; can be reopened.
    Archived,
    /// Merged into the space; final.
    Merged,
}

impl ChangeRequestStatus {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Open => "open",
            Self::Archived => "archived",
            Self::Merged => "merged",
        }
    }
}

/// The order of a list of change requests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ChangeRequestOrder {
    /// By creation time, newest first.
    #[default]
    CreatedAt,
    /// By the time of the last change of the request or its content, most recent first.
    UpdatedAt,
}

impl ChangeRequestOrder {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CreatedAt => "createdAt",
            Self::UpdatedAt => "updatedAt",
        }
    }
}

/// A change request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangeRequest {
    /// Always `change-request`.
    pub object: ChangeRequestObject,
    pub id: ChangeRequestId,
    /// Sequential number within the space, starting at 1.
    pub number: u64,
    pub status: ChangeRequestStatus,
    /// Short description of the change request.
    pub subject: Subject,
    /// Description of the change request. Absent if it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Document>,
    /// The user who created the change request.
    pub created_by: User,
    pub created_at: Timestamp,
    /// Time of the last change to the request or to its content.
    pub updated_at: Timestamp,
    /// The user who merged the change request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_by: Option<User>,
    /// Time of the merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Timestamp>,
    /// The space that the request changes.
    pub space: super::SpaceId,
    /// The current revision of the request's content.
    pub revision: RevisionId,
    /// The revision of the space when the change request was created.
    pub revision_initial: RevisionId,
    /// The space revision that was last merged into the change request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_merged_ancestor: Option<RevisionId>,
    /// The space revision created by merging the change request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_merged: Option<RevisionId>,
    /// The number of open comments.
    pub comments: u64,
    /// `true` if the space has changes that the change request does not contain.
    pub outdated: bool,
    /// Links to related web pages, for example tickets.
    pub links: ChangeRequestLinks,
    pub urls: ChangeRequestUrls,
}

impl ChangeRequest {
    /// Returns the change request without the e-mail address of its creator.
    #[must_use]
    pub fn without_email(mut self) -> Self {
        self.created_by.email = None;
        self
    }
}

/// URLs of a change request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangeRequestUrls {
    /// The change request in the web application.
    pub app: String,
    /// The change request in this API.
    pub location: String,
}

/// A new change request.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateChangeRequest {
    /// Short description of the change request.
    pub subject: Option<Subject>,
    /// The agent task that the change request implements. It is stored, but has no effect.
    pub agent_task_id: Option<BoundedText<0, 100>>,
    /// Not supported.
    #[serde(default, deserialize_with = "reject_request_template")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub template: Unsupported,
}

/// A partial update of a change request. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateChangeRequest {
    /// Short description of the change request.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub subject: Option<Subject>,
    /// Description of the change request. An empty document removes it.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub description: Option<Document>,
    /// The new list of links, replacing the previous one.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub links: Option<BoundedVec<ChangeRequestLinkInput, 0, 10>>,
    /// `draft`, `open` or `archived`. Only a merge sets `merged`.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub status: Option<SettableStatus>,
}

/// The states that a client can set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SettableStatus {
    Draft,
    Open,
    Archived,
}

impl From<SettableStatus> for ChangeRequestStatus {
    fn from(status: SettableStatus) -> Self {
        match status {
            SettableStatus::Draft => Self::Draft,
            SettableStatus::Open => Self::Open,
            SettableStatus::Archived => Self::Archived,
        }
    }
}

/// The result of a merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MergeResult {
    /// The new revision of the space.
    pub revision: RevisionId,
    pub result: MergeOutcome,
    /// The conflicts of this merge. The affected pages contain the conflicting values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MergeConflict>,
}

/// A conflict between two versions of the content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeConflict {
    /// The type of the conflicting item.
    #[serde(rename = "type")]
    pub kind: ConflictSubject,
    /// The id of the item, or the name of a variable.
    pub id: String,
    /// The conflicting field, for example `title`, `slug` or `document`. `position` is the position of a page in the
    /// page tree. `existence` means that one side deleted an item that the other changed.
    pub field: String,
}

/// The type of a conflicting item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ConflictSubject {
    Page,
    File,
    ReusableContent,
    Variable,
}

/// The outcome of a merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MergeOutcome {
    /// Merged without conflicts.
    Merge,
    /// Merged; the content contains conflicts.
    Conflicts,
}

/// The result of updating a change request from its space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateResult {
    /// The new revision of the request.
    pub revision: RevisionId,
    pub result: UpdateOutcome,
    /// The conflicts of this update. The affected pages contain the conflicting values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MergeConflict>,
}

/// The outcome of updating a change request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum UpdateOutcome {
    /// Updated without conflicts.
    Update,
    /// Updated; the content contains conflicts.
    Conflicts,
}

/// Edits to the content of a change request, applied in order and atomically.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateContent {
    /// The edits, in order of application.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = UpdateContent::MAX_CHANGES)))]
    pub changes: Vec<ContentEdit>,
}

impl UpdateContent {
    /// Maximum number of edits in a request.
    pub const MAX_CHANGES: usize = 50;
}

/// An edit of the content.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "ContentChange", tag = "operation", rename_all = "snake_case")
)]
pub enum ContentEdit {
    /// Changes the fields, content or position of a page.
    UpdatePage(UpdatePageChange),
    /// Adds a page.
    InsertPage(InsertPageChange),
    /// Deletes a page and its subpages.
    DeletePage(DeletePageChange),
    /// Restores an earlier version of a page.
    RevertPage(RevertPageChange),
    /// Adds files.
    InsertFiles(InsertFilesChange),
    /// Deletes files.
    DeleteFiles(DeleteFilesChange),
    /// Sets and removes variables of the space.
    UpdateVariables(UpdateVariablesChange),
    /// Adds a reusable content block.
    InsertReusableContent(InsertReusableContentChange),
    /// Changes a reusable content block.
    UpdateReusableContent(UpdateReusableContentChange),
    /// Deletes a reusable content block.
    DeleteReusableContent(DeleteReusableContentChange),
}

impl ContentEdit {
    /// The values of `operation` in the wire format.
    const OPERATIONS: [&str; 10] = [
        "update_page",
        "insert_page",
        "delete_page",
        "revert_page",
        "insert_files",
        "delete_files",
        "update_variables",
        "insert_reusable_content",
        "update_reusable_content",
        "delete_reusable_content",
    ];
}

impl<'de> Deserialize<'de> for ContentEdit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if !value.is_object() {
            return Err(D::Error::custom(format_args!(
                "must be an object with `operation`, is {}",
                kind(&value)
            )));
        }
        match value.get("operation").and_then(Value::as_str) {
            Some("update_page") => part(value).map(Self::UpdatePage),
            Some("insert_page") => part(value).map(Self::InsertPage),
            Some("delete_page") => part(value).map(Self::DeletePage),
            Some("revert_page") => part(value).map(Self::RevertPage),
            Some("insert_files") => part(value).map(Self::InsertFiles),
            Some("delete_files") => part(value).map(Self::DeleteFiles),
            Some("update_variables") => part(value).map(Self::UpdateVariables),
            Some("insert_reusable_content") => part(value).map(Self::InsertReusableContent),
            Some("update_reusable_content") => part(value).map(Self::UpdateReusableContent),
            Some("delete_reusable_content") => part(value).map(Self::DeleteReusableContent),
            _ => {
                let names = Self::OPERATIONS.map(|name| format!("`{name}`")).join(", ");
                Err(D::Error::custom(format_args!("operation: must be {names}")))
            }
        }
    }
}

/// Returns the name of the JSON type for error messages.
const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Changes the fields, content or position of a page.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = crate::schema::not_both("emoji", "icon"))))]
pub struct UpdatePageChange {
    /// The id of the page.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub page: String,
    /// The page type. It must equal the current type, which cannot be changed.
    #[cfg_attr(feature = "schema", schemars(rename = "type", transform = crate::schema::not_null))]
    pub kind: Option<PageType>,
    /// The new content of a document page, replacing all of it.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub document: Option<DocumentInput>,
    /// The target of a link page.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub target: Option<ContentRef>,
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub fields: PageFields,
    /// The id of the new parent; `null` for the top level.
    #[cfg_attr(feature = "schema", schemars(default))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub into: Patch<String>,
    /// The zero-based position among the new siblings.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub at: Option<u32>,
}

impl<'de> Deserialize<'de> for UpdatePageChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct PageUpdateFields {
            page: String,
            #[serde(rename = "type", default, deserialize_with = "deserialize_non_null")]
            kind: Option<PageType>,
            #[serde(default, deserialize_with = "deserialize_non_null")]
            document: Option<DocumentInput>,
            #[serde(default, deserialize_with = "deserialize_non_null")]
            target: Option<ContentRef>,
            #[serde(default)]
            into: Patch<String>,
            #[serde(default, deserialize_with = "deserialize_non_null")]
            at: Option<u32>,
        }
        let value = Value::deserialize(deserializer)?;
        let own: PageUpdateFields = part(value.clone())?;
        let PageUpdateFields { page, kind, document, target, into, at } = own;
        Ok(Self { page, kind, document, target, fields: part(value)?, into, at })
    }
}

/// Adds a page.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("allOf" = [
    { "anyOf": crate::schema::not_both("emoji", "icon") },
    { "anyOf": [
        { "allOf": [crate::schema::absent("target"), {
            "required": ["document"], "properties": { "type": { "type": "string", "enum": ["document"] } },
        }] },
        { "allOf": [crate::schema::absent("target"), { "required": ["type"], "properties": {
            "type": { "type": "string", "enum": ["group"] },
            "document": { "maxProperties": 0 }, "description": { "type": ["string", "null"], "enum": ["", null] },
        } }] },
        { "allOf": [crate::schema::absent("slug"), { "required": ["type", "target"], "properties": {
            "type": { "type": "string", "enum": ["link"] },
            "document": { "maxProperties": 0 }, "description": { "type": ["string", "null"], "enum": ["", null] },
            "noIndex": { "enum": [false] }, "noRobotsIndex": { "enum": [false] },
        } }] },
    ] },
])))]
pub struct InsertPageChange {
    /// The page type; `document` by default. Computed pages cannot be added.
    #[cfg_attr(feature = "schema", schemars(rename = "type", transform = crate::schema::not_null))]
    pub kind: Option<PageType>,
    /// The content of the page. Required for documents; not allowed for groups and links.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub document: Option<DocumentInput>,
    /// The target of the link. Required for link pages; not allowed for other types.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub target: Option<ContentRef>,
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub fields: PageFields,
    /// The id of the parent, or the `ref` of a page inserted by this request; the top level by default.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub into: Option<String>,
    /// The zero-based position among the siblings; last by default.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub at: Option<u32>,
    /// A local name by which other edits in this request refer to the page.
    #[cfg_attr(feature = "schema", schemars(rename = "ref", transform = crate::schema::not_null))]
    pub reference: Option<BoundedText<1, 256>>,
}

impl<'de> Deserialize<'de> for InsertPageChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct PageInsertFields {
            #[serde(rename = "type", default, deserialize_with = "deserialize_non_null")]
            kind: Option<PageType>,
            #[serde(default, deserialize_with = "deserialize_non_null")]
            document: Option<DocumentInput>,
            #[serde(default, deserialize_with = "deserialize_non_null")]
            target: Option<ContentRef>,
            #[serde(default, deserialize_with = "deserialize_non_null")]
            into: Option<String>,
            #[serde(default, deserialize_with = "deserialize_non_null")]
            at: Option<u32>,
            #[serde(rename = "ref", default, deserialize_with = "deserialize_non_null")]
            reference: Option<BoundedText<1, 256>>,
        }
        let value = Value::deserialize(deserializer)?;
        let own: PageInsertFields = part(value.clone())?;
        let PageInsertFields { kind, document, target, into, at, reference } = own;
        if document.is_none() && matches!(kind, None | Some(PageType::Document)) {
            return Err(D::Error::missing_field("document"));
        }
        Ok(Self { kind, document, target, fields: part(value)?, into, at, reference })
    }
}

/// Deletes a page and its subpages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DeletePageChange {
    /// The id of the page.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub page: String,
}

/// Restores an earlier version of a page.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevertPageChange {
    /// The id of the page.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub page: String,
    /// The revision to restore from; by default the one that the change request is based on.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::require_non_empty))]
    pub revision: Option<String>,
    /// The keys of the blocks to restore; by default the whole page.
    pub block: Option<Vec<String>>,
}

/// The result of editing the content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContentUpdate {
    /// The change request after the edits.
    pub change_request: ChangeRequest,
    /// The affected pages in the order of their first edit, without duplicates.
    pub changes: Vec<ContentUpdateChange>,
    /// The added files, in the order of the edits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inserted_files: Option<Vec<RevisionFile>>,
    /// The added reusable content blocks, in the order of the edits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inserted_reusable_contents: Option<Vec<ReusableContent>>,
    /// Messages about the text of edited pages: unknown blocks, tables with a wrong number of columns, and links
    /// without a target. The last message states the number of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The effect of an edit on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "object", rename_all = "snake_case")]
pub enum ContentUpdateChange {
    /// A page was added.
    CreatedPage {
        /// The `ref` of the page in the request.
        #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// The added page.
        page: PageRef,
    },
    /// A page was changed.
    UpdatedPage {
        /// The changed page.
        page: PageRef,
    },
    /// A page was removed.
    DeletedPage {
        /// The id of the removed page.
        page: PageId,
    },
}

/// The id and URLs of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageRef {
    /// Always `page`.
    pub object: PageRefObject,
    pub id: PageId,
    pub urls: super::UserUrls,
}

/// The response to a content update: the change request, with or without the list of effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum ContentAnswer {
    /// The change request and the effects of the edits.
    Update(Box<ContentUpdate>),
    /// The change request only, for compatibility with older clients.
    Request(Box<ChangeRequest>),
}

impl ContentAnswer {
    /// Wraps the complete response.
    #[must_use]
    pub fn update(update: ContentUpdate) -> Self {
        Self::Update(Box::new(update))
    }

    /// Returns the response for older clients.
    #[must_use]
    pub fn compatible(update: ContentUpdate) -> Self {
        Self::Request(Box::new(update.change_request))
    }
}
