//! Change requests.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as SerdeError},
};
use serde_json::Value;

use super::{
    BoundedText, ChangeRequestId, ContentRef, DeleteFilesChange, DeleteReusableContentChange, DocumentInput,
    InsertFilesChange, InsertReusableContentChange, PageFields, PageId, PageType, Patch, ReusableContent,
    RevisionFile, RevisionId, Timestamp, UpdateReusableContentChange, UpdateVariablesChange, User,
    list::constants, patch::given,
};

constants! {
    /// `change-request`.
    ChangeRequestObject = "change-request",
    /// `page`.
    PageRefObject = "page",
}

/// Subject of a change request; may be empty.
pub type Subject = BoundedText<0, 100>;

/// Where a change request stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangeRequestStatus {
    /// Being written.
    Draft,
    /// In review.
    Open,
    /// Put away; may be reopened.
    Archived,
    /// Its changes are in the space: final.
    Merged,
}

impl ChangeRequestStatus {
    /// The status as it is written.
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

/// A change request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangeRequest {
    /// Always `change-request`.
    pub object: ChangeRequestObject,
    /// The id.
    pub id: ChangeRequestId,
    /// 1, 2, 3 … within the space.
    pub number: u64,
    /// Where it stands.
    pub status: ChangeRequestStatus,
    /// What it is about.
    pub subject: Subject,
    /// Who created it.
    pub created_by: User,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it, or its content, last changed.
    pub updated_at: Timestamp,
    /// The space it belongs to.
    pub space: super::SpaceId,
    /// Its active revision.
    pub revision: RevisionId,
    /// The revision of the space it was created from.
    pub revision_initial: RevisionId,
    /// The space's revision it was last brought up to date with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_merged_ancestor: Option<RevisionId>,
    /// The revision that came of the merge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_merged: Option<RevisionId>,
    /// Opened comments.
    pub comments: u64,
    /// The space has content that the request does not.
    pub outdated: bool,
    /// Addresses of the request.
    pub urls: ChangeRequestUrls,
}

/// Addresses of a change request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChangeRequestUrls {
    /// The request for people.
    pub app: String,
    /// The request in this API.
    pub location: String,
}

/// What a new change request is made of.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateChangeRequest {
    /// What it is about.
    pub subject: Option<Subject>,
    /// The agent task the request implements; kept with the request.
    pub agent_task_id: Option<BoundedText<0, 100>>,
}

/// A change of a change request; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateChangeRequest {
    /// What it is about.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub subject: Option<Subject>,
    /// `draft`, `open` or `archived`; a request becomes `merged` only by merging it.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub status: Option<SettableStatus>,
}

/// The statuses that a change request can be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "see `ChangeRequestStatus`")]
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

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MergeResult {
    /// The space's new revision.
    pub revision: RevisionId,
    /// How it went.
    pub result: MergeOutcome,
    /// What this merge could not unite; the pages show the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MergeConflict>,
}

/// Something that a merge could not unite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeConflict {
    /// What it is about.
    #[serde(rename = "type")]
    pub kind: ConflictSubject,
    /// Its id; the name of a variable.
    pub id: String,
    /// The field: `title`, `slug`, `document` and so on; `position` for where a page stands, `existence` when one side
    /// deleted what the other changed.
    pub field: String,
}

/// What a conflict is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum ConflictSubject {
    Page,
    File,
    ReusableContent,
    Variable,
}

/// How a merge went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MergeOutcome {
    /// Everything fitted.
    Merge,
    /// Merged, with conflicts that are kept in the content.
    Conflicts,
}

/// What came of an update.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateResult {
    /// The request's revision.
    pub revision: RevisionId,
    /// How it went.
    pub result: UpdateOutcome,
    /// What this update could not unite; the pages show the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MergeConflict>,
}

/// How an update went.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum UpdateOutcome {
    /// Everything fitted.
    Update,
    /// Updated, with conflicts that are kept in the content.
    Conflicts,
}

/// Changes of a request's content, applied in order and all or none.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateContent {
    /// The changes, in their order.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = UpdateContent::MAX_CHANGES)))]
    pub changes: Vec<ContentEdit>,
}

impl UpdateContent {
    /// Most changes.
    pub const MAX_CHANGES: usize = 50;
}

/// One edit of content that a request asks for.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(rename = "ContentChange", tag = "operation", rename_all = "snake_case")
)]
pub enum ContentEdit {
    /// Changes a page.
    UpdatePage(UpdatePageChange),
    /// Adds a page.
    InsertPage(InsertPageChange),
    /// Removes a page and its subpages.
    DeletePage(DeletePageChange),
    /// Takes a page back to what it was.
    RevertPage(RevertPageChange),
    /// Adds files.
    InsertFiles(InsertFilesChange),
    /// Removes files.
    DeleteFiles(DeleteFilesChange),
    /// Sets and removes variables of the space.
    UpdateVariables(UpdateVariablesChange),
    /// Adds a reusable content.
    InsertReusableContent(InsertReusableContentChange),
    /// Changes a reusable content.
    UpdateReusableContent(UpdateReusableContentChange),
    /// Removes a reusable content.
    DeleteReusableContent(DeleteReusableContentChange),
}

impl ContentEdit {
    /// The operations by their names on the wire.
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

/// What a JSON value is, in words.
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

/// Parses a value whose type only its content tells, keeping the name of the wrong field in the message.
pub(crate) fn part<T: DeserializeOwned, E: SerdeError>(value: Value) -> Result<T, E> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        if path == "." {
            E::custom(error.inner())
        } else {
            E::custom(format_args!("{path}: {}", error.inner()))
        }
    })
}

/// Changes a page.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = crate::schema::not_both("emoji", "icon"))))]
pub struct UpdatePageChange {
    /// The page.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub page: String,
    /// The type that the page has: it keeps it.
    #[cfg_attr(feature = "schema", schemars(rename = "type", transform = crate::schema::not_null))]
    pub kind: Option<PageType>,
    /// Replaces the whole content of a document.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub document: Option<DocumentInput>,
    /// Where a link leads.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub target: Option<ContentRef>,
    /// Fields to set.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub fields: PageFields,
    /// The new parent; `null` for the top level.
    #[cfg_attr(feature = "schema", schemars(default))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub into: Patch<String>,
    /// The position among the new siblings, from 0.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub at: Option<u32>,
}

impl<'de> Deserialize<'de> for UpdatePageChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Own {
            page: String,
            #[serde(rename = "type", default, deserialize_with = "given")]
            kind: Option<PageType>,
            #[serde(default, deserialize_with = "given")]
            document: Option<DocumentInput>,
            #[serde(default, deserialize_with = "given")]
            target: Option<ContentRef>,
            #[serde(default)]
            into: Patch<String>,
            #[serde(default, deserialize_with = "given")]
            at: Option<u32>,
        }
        let value = Value::deserialize(deserializer)?;
        let own: Own = part(value.clone())?;
        let Own { page, kind, document, target, into, at } = own;
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
    /// What it is; a document when absent. Computed pages cannot be added.
    #[cfg_attr(feature = "schema", schemars(rename = "type", transform = crate::schema::not_null))]
    pub kind: Option<PageType>,
    /// The content of a document, which is required; groups and links have none.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub document: Option<DocumentInput>,
    /// Where a link leads, which is required; documents and groups lead nowhere.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub target: Option<ContentRef>,
    /// Fields to set.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub fields: PageFields,
    /// The parent; top level when absent.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub into: Option<String>,
    /// The position among its siblings, from 0; last when absent.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub at: Option<u32>,
    /// A name for the page within this request, so that others may link to it.
    #[cfg_attr(feature = "schema", schemars(rename = "ref", transform = crate::schema::not_null))]
    pub reference: Option<BoundedText<1, 256>>,
}

impl<'de> Deserialize<'de> for InsertPageChange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Own {
            #[serde(rename = "type", default, deserialize_with = "given")]
            kind: Option<PageType>,
            #[serde(default, deserialize_with = "given")]
            document: Option<DocumentInput>,
            #[serde(default, deserialize_with = "given")]
            target: Option<ContentRef>,
            #[serde(default, deserialize_with = "given")]
            into: Option<String>,
            #[serde(default, deserialize_with = "given")]
            at: Option<u32>,
            #[serde(rename = "ref", default, deserialize_with = "given")]
            reference: Option<BoundedText<1, 256>>,
        }
        let value = Value::deserialize(deserializer)?;
        let own: Own = part(value.clone())?;
        let Own { kind, document, target, into, at, reference } = own;
        if document.is_none() && matches!(kind, None | Some(PageType::Document)) {
            return Err(D::Error::missing_field("document"));
        }
        Ok(Self { kind, document, target, fields: part(value)?, into, at, reference })
    }
}

/// Removes a page and its subpages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DeletePageChange {
    /// The page.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub page: String,
}

/// Takes a page back to what it was.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RevertPageChange {
    /// The page.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub page: String,
    /// The revision to take it from; the one the request is based on when absent.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::something))]
    pub revision: Option<String>,
    /// Keys of blocks to take back, instead of the whole page.
    pub block: Option<Vec<String>>,
}

/// What a change of content did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContentUpdate {
    /// The request after it.
    pub change_request: ChangeRequest,
    /// Each affected page once, in the order of first touch.
    pub changes: Vec<ContentUpdateChange>,
    /// The files that were added, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inserted_files: Option<Vec<RevisionFile>>,
    /// The reusable contents that were added, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inserted_reusable_contents: Option<Vec<ReusableContent>>,
}

/// What happened to a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "object", rename_all = "snake_case")]
pub enum ContentUpdateChange {
    /// A page was added.
    CreatedPage {
        /// The name that the request gave it.
        #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        /// The page.
        page: PageRef,
    },
    /// A page was changed.
    UpdatedPage {
        /// The page.
        page: PageRef,
    },
    /// A page was removed.
    DeletedPage {
        /// The page.
        page: PageId,
    },
}

/// A page, by id and address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PageRef {
    /// Always `page`.
    pub object: PageRefObject,
    /// The page's id.
    pub id: PageId,
    /// Addresses of the page.
    pub urls: super::UserUrls,
}

/// What a change of content answers: the request alone, or with what was changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum ContentAnswer {
    /// With what was changed.
    Update(Box<ContentUpdate>),
    /// The request alone, as clients of before expect it.
    Request(Box<ChangeRequest>),
}

impl ContentAnswer {
    /// The answer with what was changed.
    #[must_use]
    pub fn update(update: ContentUpdate) -> Self {
        Self::Update(Box::new(update))
    }

    /// The answer as clients of before expect it.
    #[must_use]
    pub fn compatible(update: ContentUpdate) -> Self {
        Self::Request(Box::new(update.change_request))
    }
}
