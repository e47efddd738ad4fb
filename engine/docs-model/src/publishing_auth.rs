//! Authentication of site visitors.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, Patch, Url, list::constants, patch::deserialize_non_null};

constants! {
    /// `publishing-auth`.
    PublishingAuthObject = "publishing-auth",
}

/// Integration name.
pub type IntegrationName = BoundedText<1, 64>;

/// The issuer of visitor tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum VisitorAuthBackend {
    /// A service run by the site owner.
    #[default]
    Custom,
    /// An integration.
    Integration,
}

/// The visitor authentication settings of a site, as returned to its managers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PublishingAuth {
    /// Always `publishing-auth`.
    pub object: PublishingAuthObject,
    pub backend: VisitorAuthBackend,
    /// The signing key. With HS256, the bytes of this string are the key.
    pub private_key: String,
    /// The URL to which visitors without a valid token are redirected.
    #[serde(rename = "fallbackURL", default, skip_serializing_if = "Option::is_none")]
    pub fallback_url: Option<Url>,
    /// The URL at which visitors sign out of the service that signs their tokens.
    #[serde(rename = "logoutURL", default, skip_serializing_if = "Option::is_none")]
    pub logout_url: Option<Url>,
    /// The integration that signs tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<IntegrationName>,
}

/// A partial update of visitor authentication. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "properties": { "backend": { "type": "string", "enum": ["integration"] } } },
    { "properties": { "integration": { "type": "null" } } },
])))]
#[serde(rename_all = "camelCase")]
pub struct UpdatePublishingAuth {
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub backend: Option<VisitorAuthBackend>,
    /// The URL to which visitors without a valid token are redirected; `null` disables the redirect.
    #[serde(rename = "fallbackURL", default)]
    pub fallback_url: Patch<Url>,
    /// The URL at which visitors sign out of the service that signs their tokens; `null` removes it.
    #[serde(rename = "logoutURL", default)]
    pub logout_url: Patch<Url>,
    /// The integration that signs tokens; `null` removes it.
    #[serde(default)]
    pub integration: Patch<IntegrationName>,
}
