//! Account data of organizations that the embedding application sets: plan, trial, billing, block. The platform stores
//! and returns it but charges nothing.

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
    /// The organization's plan has no trial.
    #[default]
    NotApplicable,
    /// No trial was started.
    None,
    /// The trial is running.
    Active,
    /// The trial ended with a decision.
    Ended,
    /// The trial ended without a decision.
    Expired,
}

/// The decision of an organization at the end of its trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TrialDecision {
    /// The organization continues on a smaller plan.
    Downgrade,
}

/// The trial of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    pub status: TrialStatus,
    /// End of the trial; in the past once it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_date: Option<Timestamp>,
    /// The decision at the end of the trial, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<TrialDecision>,
}

/// The payment interval of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BillingInterval {
    Monthly,
    Yearly,
}

/// A price in the currency of the embedding application.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Price {
    pub monthly: f64,
    pub yearly: f64,
}

/// The price of a member in each plan.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemberPricing {
    pub plus_2024: Price,
    pub pro_2024: Price,
}

/// The price of a site of each type.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SitePricing {
    pub premium: Price,
    pub ultimate: Price,
}

/// The prices that apply to an organization.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationPricing {
    pub members: MemberPricing,
    pub sites: SitePricing,
}

/// The billing of an organization.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OrganizationBilling {
    pub interval: BillingInterval,
    /// End of the paid period; `null` if there is no paid period.
    pub end_date: Option<Timestamp>,
    /// `true` if the last payment failed.
    pub has_payment_failed: bool,
    /// `true` if the plan ends with the paid period.
    pub is_scheduled_to_cancel: bool,
    pub pricing: OrganizationPricing,
}

/// A reason to block an organization.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlockReason {
    /// The organization endangers others.
    Security,
}

/// The block of an organization by the operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationBlock {
    pub reason: BlockReason,
}

/// A partial update of the account data of an organization. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateAccount {
    pub plan: Option<Plan>,
    /// The type of the organization.
    pub kind: Option<OrganizationType>,
    /// The use of the platform.
    pub use_case: Patch<OrganizationUseCase>,
    pub community_type: Patch<OrganizationCommunityType>,
    pub billing: Patch<OrganizationBilling>,
    pub trial: Option<Trial>,
    pub blocked: Patch<OrganizationBlock>,
    /// The organization's own host name.
    pub custom_hostname: Patch<SiteHostname>,
}

/// The organization that a host name resolves to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationPointer {
    /// Always `organization`.
    #[serde(rename = "type")]
    pub kind: OrganizationPointerType,
    /// The id of the organization.
    pub organization: OrgId,
}

/// The host name of an organization and its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Subdomain {
    /// Always `subdomain`.
    pub object: SubdomainObject,
    /// The host name, in lower case.
    pub subdomain: String,
    /// The organization that owns the host name.
    pub target: OrganizationPointer,
    /// `true` if the host name is in use; `false` while the organization is blocked.
    pub is_active: bool,
}

/// Version information of the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ApiInformation {
    /// The version of the program.
    pub version: String,
    /// The release date, for example 2026-01-31.
    pub build: String,
}
