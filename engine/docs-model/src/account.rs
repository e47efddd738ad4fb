//! Account settings of organizations: plan, trial, billing and block. Only the embedding application changes them. The
//! platform stores and returns them but charges nothing.

use std::collections::BTreeMap;

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
    /// `none`: pay as you go.
    CreditsBundle = "none",
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
    /// The trial ended with a decision of the organization.
    Ended,
    /// The trial ended without a decision of the organization.
    Expired,
}

/// The decision that an organization makes at the end of its trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TrialDecision {
    /// The organization continues on a smaller plan.
    Downgrade,
}

/// The trial of an organization's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    pub status: TrialStatus,
    /// The number of trials that the organization has used.
    #[serde(default)]
    pub count: u32,
    /// End of the trial; in the past if the trial is over.
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

/// A price, in the currency that the embedding application uses.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Price {
    pub monthly: f64,
    pub yearly: f64,
}

/// The price per member, by plan.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MemberPricing {
    pub plus_2024: Price,
    pub pro_2024: Price,
}

/// The price per site, by site type.
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

/// A usage-based addon of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct UsageAddon {
    pub enabled: bool,
}

/// Billing information of an organization.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OrganizationBilling {
    pub interval: BillingInterval,
    /// End of the paid period, or `null` without one.
    pub end_date: Option<Timestamp>,
    /// `true` if the last payment failed.
    pub has_payment_failed: bool,
    /// `true` if the organization can pay for a plan now.
    #[serde(default)]
    pub can_checkout: bool,
    /// `true` if the organization can change the payment interval.
    #[serde(default)]
    pub can_change_interval: bool,
    /// `true` if the plan includes single sign-on with SAML.
    #[serde(default, rename = "canUseSAML")]
    pub can_use_saml: bool,
    /// The usage-based addons by name.
    #[serde(default)]
    pub usage_addons: BTreeMap<String, UsageAddon>,
    /// The bundle of AI credits, or `null` if AI usage is not billed.
    #[serde(default)]
    pub credits_bundle: Option<CreditsBundle>,
    /// The percentage of AI credits at which an alert is sent, or `null` without alerts.
    #[serde(default)]
    pub ai_credit_alert_threshold: Option<f64>,
    /// `true` if the plan is canceled at the end of the paid period.
    pub is_scheduled_to_cancel: bool,
    pub pricing: OrganizationPricing,
}

/// The reason an organization is blocked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BlockReason {
    /// The organization endangers the security of others.
    Security,
}

/// An organization's block, set by the operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationBlock {
    pub reason: BlockReason,
}

/// A partial update of an organization's account settings. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateAccount {
    pub plan: Option<Plan>,
    /// The type of the organization.
    pub kind: Option<OrganizationType>,
    /// The organization's use case.
    pub use_case: Patch<OrganizationUseCase>,
    pub community_type: Patch<OrganizationCommunityType>,
    pub billing: Patch<OrganizationBilling>,
    pub trial: Option<Trial>,
    pub blocked: Patch<OrganizationBlock>,
    /// The organization's custom hostname.
    pub custom_hostname: Patch<SiteHostname>,
}

/// The organization that a hostname resolves to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationPointer {
    /// Always `organization`.
    #[serde(rename = "type")]
    pub kind: OrganizationPointerType,
    /// The id of the organization.
    pub organization: OrgId,
}

/// A hostname of an organization and the resource it resolves to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Subdomain {
    /// Always `subdomain`.
    pub object: SubdomainObject,
    /// The hostname, in lower case.
    pub subdomain: String,
    /// The organization that owns the hostname.
    pub target: OrganizationPointer,
    /// `true` if the hostname resolves; `false` while the organization is blocked.
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
