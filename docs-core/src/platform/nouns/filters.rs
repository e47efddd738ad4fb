//! List filters.

use std::sync::Arc;

use crate::{
    model::{
        BoundedText, ChangeRequestOrder, ChangeRequestStatus, CommentStatus, ContentFormat,
        ImportRunSelection, ListOrder, MemberRole, OrgId, RedirectOrder, SiteFindingOrder,
        SiteFindingSeverity, SiteFindingSource, SiteFindingStatus, SiteFindingType, SiteType, Timestamp,
        UserId,
    },
    store::records::{RedirectRecord, SiteRecord},
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

/// Filter for the audit log of an organization as events. An event must match all fields that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditEventFilter {
    /// Events with this action, such as `space_create`.
    pub action: Option<String>,
    /// Events of this actor: the id of a user, or `platform`.
    pub actor: Option<String>,
    /// Events about the record with this id.
    pub target: Option<String>,
    /// Events at or after this time.
    pub since: Option<Timestamp>,
    /// Events before this time.
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
    /// Only change requests with a pending review request for this user.
    pub requested_reviewer: Option<String>,
    /// Only change requests that belong to this topic of a site. The platform has no topics, so there are none.
    pub topic: Option<String>,
    pub order: ChangeRequestOrder,
}

/// Filter for a list of the change requests of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrgRequestFilter {
    /// Only change requests with one of these statuses. Empty for all statuses.
    pub statuses: Vec<ChangeRequestStatus>,
    /// Only change requests created by this user.
    pub creator: Option<String>,
    /// Only change requests to which this user contributed.
    pub contributor: Option<String>,
    /// Only change requests with a pending review request for this user.
    pub requested_reviewer: Option<String>,
    /// Only change requests of the spaces of this site.
    pub site: Option<String>,
    /// Only change requests of this space.
    pub space: Option<String>,
    /// Only change requests that belong to this topic of a site. The platform has no topics, so there are none.
    pub topic: Option<String>,
    /// The order: by creation time within each space, or by the time of the last change across all spaces.
    pub order: ChangeRequestOrder,
}

/// Filter for a list of import runs. A run must match all fields that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportRunFilter {
    /// Only runs into this space.
    pub space: Option<String>,
    /// Only runs into this change request, by id.
    pub change_request: Option<String>,
    /// Only runs for this site, and into the spaces of this site.
    pub site: Option<String>,
    pub status: Option<ImportRunSelection>,
}

/// Filter and format for a list of reviews.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewQuery {
    /// Only reviews of earlier content, or only reviews of the current content.
    pub outdated: Option<bool>,
    /// Format of the comments.
    pub format: ContentFormat,
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

/// Filter and order for the list of redirects of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedirectFilter {
    /// Selects redirects whose source contains this text, ignoring case.
    pub search: Option<String>,
    /// Selects the drafts instead of the live redirects.
    pub draft: bool,
    pub order: RedirectOrder,
}

impl RedirectFilter {
    pub(in crate::platform) fn matches(&self, redirect: &RedirectRecord) -> bool {
        let source = || redirect.source.as_str().to_lowercase();
        redirect.draft == self.draft
            && self.search.as_ref().is_none_or(|part| source().contains(&part.to_lowercase()))
    }
}

/// Filter for a list of the members who have a role on a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SitePermissionFilter {
    /// Only members with this role on the site. Guests of the organization are listed with their role on the site, so
    /// `guest` selects no members.
    pub role: Option<MemberRole>,
    /// Only members whose name or e-mail address contains this text, ignoring case. A text shorter than three
    /// characters must be the prefix of a word.
    pub search: Option<BoundedText<0, 512>>,
    /// Only members of this team, by id.
    pub team: Option<String>,
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

/// Filter and order for the findings of a site. A finding must match all fields that are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteFindingFilter {
    /// Only findings with this status.
    pub status: Option<SiteFindingStatus>,
    /// Only findings of these types. Empty for all types.
    pub types: Vec<SiteFindingType>,
    /// Only findings with this severity.
    pub severity: Option<SiteFindingSeverity>,
    /// Only findings with or without change requests. No finding has change requests.
    pub has_change_requests: Option<bool>,
    /// Only findings of this topic. The platform has no topics, so there are none.
    pub topic: Option<String>,
    /// Only findings with this question as evidence. The platform has no questions, so there are none.
    pub question: Option<String>,
    /// Only findings with evidence from these sources. No finding has evidence. Empty for all findings.
    pub sources: Vec<SiteFindingSource>,
    /// Only findings updated at or after this time.
    pub updated_after: Option<Timestamp>,
    /// Only findings updated before this time.
    pub updated_before: Option<Timestamp>,
    pub order: SiteFindingOrder,
}

impl SiteFindingFilter {
    /// Tests if a broken link matches.
    pub(in crate::platform) fn matches(
        &self,
        status: SiteFindingStatus,
        severity: SiteFindingSeverity,
        updated_at: Timestamp,
    ) -> bool {
        self.status.is_none_or(|wanted| wanted == status)
            && (self.types.is_empty() || self.types.contains(&SiteFindingType::BrokenLink))
            && self.severity.is_none_or(|wanted| wanted == severity)
            && self.has_change_requests != Some(true)
            && self.topic.is_none()
            && self.question.is_none()
            && self.sources.is_empty()
            && self.updated_after.is_none_or(|after| updated_at >= after)
            && self.updated_before.is_none_or(|before| updated_at < before)
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
