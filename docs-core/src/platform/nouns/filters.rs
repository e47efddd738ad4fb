//! Filters of lists.

use std::sync::Arc;

use crate::{
    model::{
        ChangeRequestStatus, CommentStatus, ContentFormat, ListOrder, OrgId, SiteType, Timestamp, UserId,
    },
    store::records::SiteRecord,
};

/// Filter of the audit log. An entry must match all fields that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Changes in this organization.
    pub organization: Option<OrgId>,
    /// Changes by this user.
    pub user: Option<UserId>,
    /// Changes of the record with this key, as entries contain it.
    pub subject: Option<Arc<str>>,
    /// Changes by the operation with this name, such as `space_create`.
    pub operation: Option<String>,
    /// Changes at this time or later.
    pub since: Option<Timestamp>,
    /// Changes before this time.
    pub until: Option<Timestamp>,
}

/// Filter of a list of change requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Only change requests with this status.
    pub status: Option<ChangeRequestStatus>,
    /// Only change requests that this user contributed to.
    pub contributor: Option<String>,
    /// Only change requests that this user created.
    pub creator: Option<String>,
}

/// Filter, order and format of a list of comments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentQuery {
    /// Only comments with this status.
    pub status: CommentStatus,
    /// Order by posting time.
    pub order: ListOrder,
    /// Only comments about this page.
    pub target_page: Option<String>,
    /// Only comments of these users; empty for all users.
    pub authors: Vec<String>,
    /// Format of the returned bodies.
    pub format: ContentFormat,
}

/// A filter for teams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamFilter {
    /// Selects teams whose members this user may manage, by user id: the teams they own, or all teams for an
    /// administrator.
    pub owner: Option<String>,
    /// Selects teams by a part of their title, case-insensitively.
    pub title: Option<String>,
}

/// A filter for sites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteFilter {
    /// Selects sites with this space.
    pub space: Option<String>,
    /// Selects sites by a part of their title, case-insensitively.
    pub title: Option<String>,
    /// Selects only published, or only unpublished sites.
    pub published: Option<bool>,
    /// Selects sites of these types; all if empty.
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
