//! Authentication of site visitors.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, Patch, Url, list::constants, patch::deserialize_non_null};

constants! {
    /// `publishing-auth`.
    PublishingAuthObject = "publishing-auth",
}

/// Name of an integration.
pub type IntegrationName = BoundedText<1, 64>;

/// The signer of visitor tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum VisitorAuthBackend {
    /// A service of the site's owner.
    #[default]
    Custom,
    /// An integration.
    Integration,
}

/// The authentication of site visitors, as returned to managers of the site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PublishingAuth {
    /// Always `publishing-auth`.
    pub object: PublishingAuthObject,
    pub backend: VisitorAuthBackend,
    /// The signing key. HS256 uses the bytes of this string as the key.
    pub private_key: String,
    /// The redirect target for visitors without a valid token.
    #[serde(rename = "fallbackURL", default, skip_serializing_if = "Option::is_none")]
    pub fallback_url: Option<Url>,
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
    /// The redirect target for visitors without a valid token; `null` disables the redirect.
    #[serde(rename = "fallbackURL", default)]
    pub fallback_url: Patch<Url>,
    /// The integration that signs tokens; `null` removes it.
    #[serde(default)]
    pub integration: Patch<IntegrationName>,
}
