//! How visitors of a site prove who they are.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, Patch, Url, list::constants, patch::given};

constants! {
    /// `publishing-auth`.
    PublishingAuthObject = "publishing-auth",
}

/// Name of an integration.
pub type IntegrationName = BoundedText<1, 64>;

/// Who signs the tokens of visitors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum VisitorAuthBackend {
    /// A program of the site's owner.
    #[default]
    Custom,
    /// An integration.
    Integration,
}

/// How visitors of a site prove who they are: for those who manage the site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PublishingAuth {
    /// Always `publishing-auth`.
    pub object: PublishingAuthObject,
    /// Who signs.
    pub backend: VisitorAuthBackend,
    /// The signing key: the bytes of this text are the key of HS256.
    pub private_key: String,
    /// Where visitors without a valid token are sent.
    #[serde(rename = "fallbackURL", default, skip_serializing_if = "Option::is_none")]
    pub fallback_url: Option<Url>,
    /// The integration that signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integration: Option<IntegrationName>,
}

/// A change of how visitors prove who they are; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "properties": { "backend": { "type": "string", "enum": ["integration"] } } },
    { "properties": { "integration": { "type": "null" } } },
])))]
#[serde(rename_all = "camelCase")]
pub struct UpdatePublishingAuth {
    /// Who signs.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub backend: Option<VisitorAuthBackend>,
    /// Where visitors without a valid token are sent; `null` for nowhere.
    #[serde(rename = "fallbackURL", default)]
    pub fallback_url: Patch<Url>,
    /// The integration that signs, where one does; `null` for none.
    #[serde(default)]
    pub integration: Patch<IntegrationName>,
}
