//! Organizations.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, EmailDomain, Hostname, OrgId, OrganizationBilling, OrganizationBlock,
    OrganizationCommunityType, OrganizationMergeRules, OrganizationType, OrganizationUseCase, Patch, Plan,
    Role, SiteHostname, SiteId, Timestamp, Trial, Url, list::constants, patch::deserialize_non_null,
};

constants! {
    /// `organization`.
    OrganizationObject = "organization",
    /// `site`.
    SitePointerType = "site",
}

/// Title of an organization.
pub type OrganizationTitle = BoundedText<2, 255>;

/// The default content of an organization, which is a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SitePointer {
    /// Always `site`.
    #[serde(rename = "type")]
    pub kind: SitePointerType,
    /// The id of the site.
    pub site: SiteId,
}

/// An organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Organization {
    /// Always `organization`.
    pub object: OrganizationObject,
    pub id: OrgId,
    pub title: OrganizationTitle,
    pub created_at: Timestamp,
    /// E-mail domains whose users may join.
    pub email_domains: Vec<EmailDomain>,
    /// The default hostname of public content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Hostname>,
    #[serde(rename = "type")]
    pub kind: OrganizationType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_case: Option<OrganizationUseCase>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub community_type: Option<OrganizationCommunityType>,
    /// The role of new members; `null` for guest.
    pub default_role: Option<Role>,
    /// The content shown by default to visitors of the organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_content: Option<SitePointer>,
    /// `true` if single sign-on is enforced.
    pub sso: bool,
    /// `true` if AI features are enabled.
    pub ai: bool,
    /// `true` if invite links are enabled.
    pub invite_links: bool,
    /// The rules for merging change requests in spaces without rules of their own.
    #[serde(default)]
    pub merge_rules: OrganizationMergeRules,
    pub plan: Plan,
    /// Billing information, if the embedding application sets it. Returned only to callers with the `viewBilling`
    /// permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing: Option<OrganizationBilling>,
    pub trial: Trial,
    /// The block that the embedding application has set, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<OrganizationBlock>,
    /// The organization's custom hostname, assigned by the embedding application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_hostname: Option<SiteHostname>,
    /// Deprecated; always `true`.
    #[serde(rename = "internal_isOnNewTrial")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub internal_is_on_new_trial: bool,
    pub urls: OrganizationUrls,
    /// The caller's permissions for the organization.
    pub permissions: OrganizationPermissions,
}

/// The organizations that claim an e-mail domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DomainOrganizations {
    /// At most one organization.
    pub organizations: Vec<Organization>,
}

/// URLs of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationUrls {
    /// The organization in this API.
    pub location: String,
    /// The organization in the web application.
    pub app: String,
    /// The logo, if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<Url>,
}

/// The caller's permissions for an organization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the wire format is an object of flags")]
pub struct OrganizationPermissions {
    /// The caller can see the organization.
    pub view: bool,
    /// The caller can see the organization in the web application.
    pub access: bool,
    /// The caller can change settings and members.
    pub admin: bool,
    /// The caller can manage the members of their own teams.
    pub own_team: bool,
    /// The caller can create spaces and sites.
    pub create_content: bool,
    /// The caller can create OpenAPI specifications.
    #[serde(rename = "createOpenAPISpec")]
    pub create_openapi_spec: bool,
    /// The caller can ingest conversations.
    pub ingest_conversations: bool,
    /// The caller can see billing information.
    pub view_billing: bool,
    /// The caller can list members.
    pub list_members: bool,
    /// The caller can list teams.
    pub list_teams: bool,
    /// The caller can list integrations.
    pub list_integrations: bool,
    /// The caller can list installations of integrations.
    pub list_installations: bool,
    /// The caller can install integrations.
    pub install_integration: bool,
}

/// A new organization.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateOrganization {
    pub title: OrganizationTitle,
    /// E-mail domains whose users may join. A user can only claim the domain of their own address.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub email_domains: Option<Vec<EmailDomain>>,
}

/// A partial update of an organization. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateOrganization {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<OrganizationTitle>,
    /// The new list of e-mail domains, replacing the previous one.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub email_domains: Option<Vec<EmailDomain>>,
    /// The default hostname of public content, unique among organizations.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub hostname: Option<Hostname>,
    /// The role of new members, or `null` for guest.
    #[serde(default)]
    pub default_role: Patch<Role>,
    /// The default content; `null` removes it.
    #[serde(default)]
    pub default_content: Patch<SitePointer>,
    /// The URL of the logo; `null` removes it.
    #[serde(default)]
    pub logo: Patch<Url>,
    /// `true` enforces single sign-on.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub sso: Option<bool>,
    /// `true` enables AI features.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub ai: Option<bool>,
    /// `true` enables invite links.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub invite_links: Option<bool>,
    /// The rules for merging change requests in spaces without rules of their own.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub merge_rules: Option<OrganizationMergeRules>,
}
