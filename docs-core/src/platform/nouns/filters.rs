//! List filters.

use std::sync::Arc;

use crate::{
    model::{
        ChangeRequestStatus, CommentStatus, ContentFormat, ListOrder, OrgId, SiteType, Timestamp, UserId,
    },
    store::records::SiteRecord,
};

/// Filter for the audit log. An entry must match all fields that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Changes in this organization.
    pub organization: Option<OrgId>,
    /// Changes by this user.
    pub user: Option<UserId>,
    /// Changes to the record with this key, as contained in entries.
    pub subject: Option<Arc<str>>,
    /// Changes by the operation with this name, such as `space_create`.
    pub operation: Option<String>,
    /// Changes at or after this time.
    pub since: Option<Timestamp>,
    /// Changes before this time.
    pub until: Option<Timestamp>,
}

/// Filter for a list of change requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Only change requests with this status.
    pub status: Option<ChangeRequestStatus>,
    /// Only change requests to which this user contributed.
    pub contributor: Option<String>,
    /// Only change requests created by this user.
    pub creator: Option<String>,
}

/// Filter, order and format for a list of comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentQuery {
    /// Only comments with this status.
    pub status: CommentStatus,
    /// Order by posting time.
    pub order: ListOrder,
    /// Only comments on this page.
    pub target_page: Option<String>,
    /// Only comments by these users. Empty for all users.
    pub authors: Vec<String>,
    /// Format of the returned bodies.
    pub format: ContentFormat,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamFilter {
    /// Selects teams whose members this user (by id) may manage: the teams they own, or all teams for an administrator.
    pub owner: Option<String>,
    /// Selects teams whose title contains this text, ignoring case.
    pub title: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteFilter {
    /// Selects sites that contain this space.
    pub space: Option<String>,
    /// Selects sites whose title contains this text, ignoring case.
    pub title: Option<String>,
    /// Selects only published or only unpublished sites.
    pub published: Option<bool>,
    /// Selects sites of these types. Empty for all types.
    pub types: Vec<SiteType>,
}

impl SiteFilter {
    pub(in crate::platform) fn matches(&self, site: &SiteRecord) -> bool {
        self.published.is_none_or(|wanted| site.published == wanted)
            && (self.types.is_empty() || self.types.contains(&site.kind))
            && self.title.as_ref().is_none_or(|part| site.title.to_lowercase().contains(&part.to_lowercase()))
    }

    pub(in crate::platform) fn is_selective(&self) -> bool {
        *self != Self::default()
    }
}

/// The kind of content to list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::platform) enum ContentKind {
    Spaces,
    Collections,
}

/// The depth of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// The direct children of the parent.
    Direct,
    /// All descendants, each after its collection.
    Nested,
}
