//! Space content: files, specifications, revisions, change requests, reading, editing and comments.

pub(super) mod by_url;
pub(super) mod change_requests;
pub(super) mod comments;
pub(super) mod computed;
pub(super) mod edit;
pub(super) mod files;
pub(super) mod links;
pub(super) mod merging;
pub(super) mod openapi_specs;
pub(super) mod org_requests;
pub(super) mod read;
pub(super) mod reviews;
pub(super) mod revisions;
pub(super) mod short_documents;
