//! What the host of the platform keeps of organizations: plans, trials, billing. The platform itself bills nobody.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    OrgId, OrganizationCommunityType, OrganizationType, OrganizationUseCase, Patch, Plan, SiteHostname,
    Timestamp, list::constants,
};

constants! {
    /// `organization`.
    OrganizationPointerType = "organization",
    /// `subdomain`.
    SubdomainObject = "subdomain",
}

/// The state of a trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TrialStatus {
    /// The organization's plan knows no trial.
    #[default]
    NotApplicable,
    /// None was begun.
    None,
    /// It is on.
    Active,
    /// It ended with a decision.
    Ended,
    /// It ended without one.
    Expired,
}

/// What an organization decided at the end of its trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TrialDecision {
    /// It goes on with less.
    Downgrade,
}

/// The trial of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// Its state.
    pub status: TrialStatus,
    /// When it ends, or ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_date: Option<Timestamp>,
    /// What was decided at its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<TrialDecision>,
}

/// How often a plan is paid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum BillingInterval {
    Monthly,
    Yearly,
}

/// What something costs, in the host's currency.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct Price {
    pub monthly: f64,
    pub yearly: f64,
}

/// What a member costs in each plan.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct MemberPricing {
    pub plus_2024: Price,
    pub pro_2024: Price,
}

/// What a site of each type costs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct SitePricing {
    pub premium: Price,
    pub ultimate: Price,
}

/// What an organization pays for.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationPricing {
    /// Members.
    pub members: MemberPricing,
    /// Sites.
    pub sites: SitePricing,
}

/// How an organization pays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OrganizationBilling {
    /// How often.
    pub interval: BillingInterval,
    /// The end of what is paid; `null` where there is none.
    pub end_date: Option<Timestamp>,
    /// Whether the last payment failed.
    pub has_payment_failed: bool,
    /// Whether the plan ends with what is paid.
    pub is_scheduled_to_cancel: bool,
    /// The prices.
    pub pricing: OrganizationPricing,
}

/// A reason to block an organization.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlockReason {
    /// It is a danger to others.
    Security,
}

/// The block of an organization.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationBlock {
    /// Its reason.
    pub reason: BlockReason,
}

/// A change of what the host keeps of an organization; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateAccount {
    /// The plan.
    pub plan: Option<Plan>,
    /// What the organization is.
    pub kind: Option<OrganizationType>,
    /// What it uses the platform for.
    pub use_case: Patch<OrganizationUseCase>,
    /// The kind of community.
    pub community_type: Patch<OrganizationCommunityType>,
    /// How it pays.
    pub billing: Patch<OrganizationBilling>,
    /// Its trial.
    pub trial: Option<Trial>,
    /// Its block.
    pub blocked: Patch<OrganizationBlock>,
    /// Its own host name.
    pub custom_hostname: Patch<SiteHostname>,
}

/// An organization that something leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationPointer {
    /// Always `organization`.
    #[serde(rename = "type")]
    pub kind: OrganizationPointerType,
    /// The organization.
    pub organization: OrgId,
}

/// The host name of an organization, and what it leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Subdomain {
    /// Always `subdomain`.
    pub object: SubdomainObject,
    /// The host name, in lower case.
    pub subdomain: String,
    /// The organization that has it.
    pub target: OrganizationPointer,
    /// Whether it may be used: not while the organization is blocked.
    pub is_active: bool,
}

/// The service as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ApiInformation {
    /// The version of the program.
    pub version: String,
    /// The day of its release, as in 2026-01-31.
    pub build: String,
}
