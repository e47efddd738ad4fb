//! Findings about the content of a site. The platform finds broken links.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, ChangedPage, Document, List, NextPage, RevisionId, SiteFindingId, SpaceId, Timestamp,
    formed_text::formed_text, list::constants,
};

constants! {
    /// `site-finding`.
    SiteFindingObject = "site-finding",
    /// `site-finding-page`.
    SiteFindingPageObject = "site-finding-page",
    /// `site-question`.
    SiteQuestionObject = "site-question",
    /// `context-record`.
    ContextRecordObject = "context-record",
}

formed_text! {
    /// A filter for the evidence of findings.
    SiteFindingSource(1, 200, is_source, "`questions`, or `connection:` and the id of a connection",
        { "pattern": "^(questions|connection:.+)$" }),
}

fn is_source(text: &str) -> bool {
    text == "questions" || text.strip_prefix("connection:").is_some_and(|id| !id.is_empty())
}

/// The title of a finding.
pub type SiteFindingTitle = BoundedText<1, 256>;

/// The status of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SiteFindingStatus {
    /// The finding is not confirmed yet. No finding of the platform has this status.
    Candidate,
    /// The finding needs attention.
    Open,
    /// The problem is marked as solved.
    Done,
    /// The finding is dismissed.
    Canceled,
}

impl SiteFindingStatus {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Open => "open",
            Self::Done => "done",
            Self::Canceled => "canceled",
        }
    }
}

/// The statuses that a client can set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SettableFindingStatus {
    Open,
    Done,
    Canceled,
}

impl From<SettableFindingStatus> for SiteFindingStatus {
    fn from(status: SettableFindingStatus) -> Self {
        match status {
            SettableFindingStatus::Open => Self::Open,
            SettableFindingStatus::Done => Self::Done,
            SettableFindingStatus::Canceled => Self::Canceled,
        }
    }
}

/// The type of a finding. All findings of the platform are broken links.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SiteFindingType {
    /// Content that is no longer correct.
    ContentOutdated,
    /// Content that is not correct.
    ContentIncorrect,
    /// Content that is missing.
    ContentGap,
    /// A link whose target does not exist.
    BrokenLink,
    /// A link to a URL that does not respond.
    OutboundLinkError,
    Other,
}

impl SiteFindingType {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ContentOutdated => "content-outdated",
            Self::ContentIncorrect => "content-incorrect",
            Self::ContentGap => "content-gap",
            Self::BrokenLink => "broken-link",
            Self::OutboundLinkError => "outbound-link-error",
            Self::Other => "other",
        }
    }
}

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SiteFindingSeverity {
    /// One page is affected.
    Low,
    /// Several pages are affected.
    Medium,
    /// Ten or more pages are affected.
    High,
}

impl SiteFindingSeverity {
    /// Returns the severity of a finding that affects this number of pages.
    ///
    /// ```
    /// use docs_model::SiteFindingSeverity as Severity;
    /// let severities = [1, 2, 9, 10].map(Severity::of_pages);
    /// assert_eq!(severities, [Severity::Low, Severity::Medium, Severity::Medium, Severity::High]);
    /// ```
    #[must_use]
    pub const fn of_pages(pages: usize) -> Self {
        match pages {
            0 | 1 => Self::Low,
            2..=9 => Self::Medium,
            _ => Self::High,
        }
    }

    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The order of a list of findings. Findings that are equal in it are ordered by id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SiteFindingOrder {
    /// By the time of the last update, most recent first.
    #[default]
    UpdatedAt,
    /// By severity, most severe first, then by the time of the last update.
    Severity,
    /// By the number of sources, then by the time of the last update. No finding of the platform has sources.
    Sources,
}

impl SiteFindingOrder {
    /// Returns the value used on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UpdatedAt => "updatedAt",
            Self::Severity => "severity",
            Self::Sources => "sources",
        }
    }
}

/// A finding about the content of a site: a broken target of the links in one of its spaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteFinding {
    /// Always `site-finding`.
    pub object: SiteFindingObject,
    /// The id, which depends only on the space and the target.
    pub id: SiteFindingId,
    /// The id of the revision of the space that has the broken links.
    pub scan: RevisionId,
    /// Always `null`, since the platform has no topics.
    pub topic: Option<String>,
    /// The title, with the target as the content refers to it.
    pub title: SiteFindingTitle,
    /// The number of change requests for the finding, which is 0.
    pub change_requests: u64,
    /// The number of pages with links to the target, in their own text or in reusable content.
    pub pages: u64,
    /// The number of records of evidence, which is 0.
    pub records: u64,
    /// The number of questions of readers, which is 0.
    pub questions: u64,
    pub status: SiteFindingStatus,
    #[serde(rename = "type")]
    pub kind: SiteFindingType,
    /// The severity, by the number of pages.
    pub severity: SiteFindingSeverity,
    /// The explanation of the finding.
    pub description: Document,
    /// Always `false`, since the platform has no AI model.
    pub auto_fixable: bool,
    /// The time of the revision of the space that has the broken links.
    pub created_at: Timestamp,
    /// The time of that revision, or of the last change of the status if it is later.
    pub updated_at: Timestamp,
    pub urls: SiteFindingUrls,
}

/// The URLs of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteFindingUrls {
    /// The URL of the finding in the API.
    pub location: String,
}

/// A change of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UpdateSiteFinding {
    /// The new status.
    pub status: SettableFindingStatus,
}

/// A page of a list of findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteFindingList {
    /// The position of the next page; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextPage>,
    /// The total number of items, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The items of this page.
    pub items: Vec<SiteFinding>,
    /// `false` if the site has more links than one request examines. Findings are then missing.
    pub complete: bool,
}

impl SiteFindingList {
    /// Creates a page of a list of findings.
    #[must_use]
    pub fn new(list: List<SiteFinding>, complete: bool) -> Self {
        Self { next: list.next, count: list.count, items: list.items, complete }
    }
}

/// A page with links to the target of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteFindingPage {
    /// Always `site-finding-page`.
    pub object: SiteFindingPageObject,
    /// The space of the page.
    pub space_id: SpaceId,
    pub page: ChangedPage,
}

/// Counts of the findings of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteFindingStats {
    /// The number of findings that match the filters.
    pub total: u64,
    /// Their number by status.
    pub statuses: SiteFindingStatuses,
    /// Their number by severity.
    pub severities: SiteFindingSeverities,
    /// Their number by the connector of their evidence, which is empty.
    pub connectors: SiteFindingConnectors,
    /// The number of findings with questions of readers, which is 0.
    pub questions: u64,
    /// The number of merged change requests for findings, which is 0.
    pub merged_change_requests: u64,
    /// `false` if the site has more links than one request examines. Findings are then missing.
    pub complete: bool,
}

/// The number of findings by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteFindingStatuses {
    pub open: u64,
    pub done: u64,
    pub canceled: u64,
}

/// The number of findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteFindingSeverities {
    pub low: u64,
    pub medium: u64,
    pub high: u64,
}

/// The number of findings by connector. The platform has no connectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteFindingConnectors {}

/// A question of readers. The platform has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteQuestion {
    /// Always `site-question`.
    pub object: SiteQuestionObject,
    pub id: String,
    /// The text of the question.
    pub question: String,
}

/// A record of evidence for a finding. The platform has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ContextRecord {
    /// Always `context-record`.
    pub object: ContextRecordObject,
    pub id: String,
    pub title: String,
}
