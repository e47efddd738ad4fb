//! Organizations.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    BoundedText, EmailDomain, Hostname, OrgId, OrganizationBilling, OrganizationBlock, Patch, Role,
    SiteHostname, SiteId, Timestamp, Trial, Url, list::constants, patch::given,
};

constants! {
    /// `organization`.
    OrganizationObject = "organization",
    /// `site`.
    SitePointerType = "site",
}

/// Title of an organization.
pub type OrganizationTitle = BoundedText<2, 255>;

/// What an organization is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OrganizationType {
    /// A business.
    #[default]
    Business,
    /// A community.
    Community,
}

/// What an organization uses the platform for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum OrganizationUseCase {
    InternalDocs,
    DocsSite,
    AudienceControlledSite,
    ProductDocs,
    TeamKnowledgeBase,
    DesignSystem,
    OpenSourceDocs,
    Notes,
    Other,
}

/// The kind of a community.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum OrganizationCommunityType {
    NonProfit,
    OpenSource,
    Education,
}

/// The plan of an organization. The platform bills nobody: new organizations have the widest one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum Plan {
    #[serde(rename = "free_2024")]
    Free2024,
    #[serde(rename = "plus_2024")]
    Plus2024,
    #[serde(rename = "pro_2024")]
    Pro2024,
    #[default]
    #[serde(rename = "enterprise_2024")]
    Enterprise2024,
    #[serde(rename = "community_2024")]
    Community2024,
    #[serde(rename = "free")]
    Free,
    #[serde(rename = "plus")]
    Plus,
    #[serde(rename = "pro")]
    Pro,
}

/// What a visitor of the organization sees first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SitePointer {
    /// Always `site`.
    #[serde(rename = "type")]
    pub kind: SitePointerType,
    /// The site.
    pub site: SiteId,
}

/// An organization.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Organization {
    /// Always `organization`.
    pub object: OrganizationObject,
    /// The organization's id.
    pub id: OrgId,
    /// Its title.
    pub title: OrganizationTitle,
    /// When it was created.
    pub created_at: Timestamp,
    /// Domains whose e-mail addresses may join.
    pub email_domains: Vec<EmailDomain>,
    /// Default host name for public content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Hostname>,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: OrganizationType,
    /// What it uses the platform for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_case: Option<OrganizationUseCase>,
    /// The kind of community.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub community_type: Option<OrganizationCommunityType>,
    /// Role of those who join; `null` for guest.
    pub default_role: Option<Role>,
    /// What a visitor sees first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_content: Option<SitePointer>,
    /// Whether single sign-on is enforced.
    pub sso: bool,
    /// Whether AI features are enabled.
    pub ai: bool,
    /// Whether invite links are enabled.
    pub invite_links: bool,
    /// The plan.
    pub plan: Plan,
    /// How the plan is paid, where the host says so; for those who may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing: Option<OrganizationBilling>,
    /// The trial.
    pub trial: Trial,
    /// Why the host has blocked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<OrganizationBlock>,
    /// The host name of its own that the host has given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_hostname: Option<SiteHostname>,
    /// Deprecated; always true.
    #[serde(rename = "internal_isOnNewTrial")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub internal_is_on_new_trial: bool,
    /// Addresses of the organization.
    pub urls: OrganizationUrls,
    /// What the reader may do.
    pub permissions: OrganizationPermissions,
}

/// The organizations that claim an e-mail domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DomainOrganizations {
    /// One, or none.
    pub organizations: Vec<Organization>,
}

/// Addresses of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OrganizationUrls {
    /// The organization in this API.
    pub location: String,
    /// The organization for people.
    pub app: String,
    /// Its logo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<Url>,
}

/// What the reader may do in an organization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the wire format is an object of flags")]
pub struct OrganizationPermissions {
    /// See it.
    pub view: bool,
    /// Change its settings and people.
    pub admin: bool,
    /// Manage the members of a team.
    pub own_team: bool,
    /// Create spaces and sites.
    pub create_content: bool,
    /// Create OpenAPI specs.
    #[serde(rename = "createOpenAPISpec")]
    pub create_openapi_spec: bool,
    /// Feed conversations to it.
    pub ingest_conversations: bool,
    /// See its billing.
    pub view_billing: bool,
    /// List its members.
    pub list_members: bool,
    /// List its teams.
    pub list_teams: bool,
    /// List its integrations.
    pub list_integrations: bool,
}

/// A change of an organization; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateOrganization {
    /// The title.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub title: Option<OrganizationTitle>,
    /// Replaces the domains.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(length(max = 100)))]
    pub email_domains: Option<Vec<EmailDomain>>,
    /// The host name, unique among organizations.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub hostname: Option<Hostname>,
    /// A role, or `null` for guest.
    #[serde(default)]
    pub default_role: Patch<Role>,
    /// A site, or `null`.
    #[serde(default)]
    pub default_content: Patch<SitePointer>,
    /// The address of a picture, or `null`.
    #[serde(default)]
    pub logo: Patch<Url>,
    /// Enforce single sign-on.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub sso: Option<bool>,
    /// Enable AI features.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub ai: Option<bool>,
    /// Enable invite links.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub invite_links: Option<bool>,
}
