//! SAML providers of organizations.

use data_encoding::BASE64;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    BoundedText, Patch, Role, SamlProviderId, Team, Timestamp, Url, formed_text::formed_text,
    list::constants, patch::deserialize_non_null,
};

formed_text! {
    /// A certificate of a SAML provider: PEM, or DER in base64.
    Certificate(1, 10_000, is_certificate, "an X.509 certificate: PEM, or DER in base64"),
    /// The entity id of a SAML provider.
    SamlEntityId(1, 1024, is_entity_id, "the entity id of the provider, without control characters and \
                                         surrounding white space",
        { "pattern": r"^[^\s\u0000-\u001f\u007f-\u009f]([^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f])?$" }),
}

constants! {
    /// `saml-provider`.
    SamlProviderObject = "saml-provider",
}

/// The label of a SAML provider.
pub type SamlLabel = BoundedText<1, 30>;

/// The state of a SAML provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SamlProviderStatus {
    /// Users can sign in: sign-in URL, entity id and certificate are set.
    Active,
    /// The sign-in URL, the entity id or the certificate is missing.
    Pending,
}

/// A SAML provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SamlProvider {
    /// Always `saml-provider`.
    pub object: SamlProviderObject,
    pub id: SamlProviderId,
    /// The label shown to members.
    pub label: SamlLabel,
    /// The sign-in URL of the provider; empty if not set.
    #[serde(rename = "ssoURL")]
    pub sso_url: String,
    /// The entity id of the provider; empty if not set.
    #[serde(rename = "entityID")]
    pub entity_id: String,
    /// The signing certificate of the provider; empty if not set.
    pub certificate: String,
    /// The team that new members from this provider join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_team: Option<Team>,
    /// The role of new members from this provider; `null` for guest.
    pub default_role: Option<Role>,
    /// `true` if sign-in can be initiated by the provider as well as by this service.
    pub idp_initiated: bool,
    pub created_at: Timestamp,
    pub status: SamlProviderStatus,
    /// The values to configure in the provider.
    pub service: SamlService,
    pub urls: SamlProviderUrls,
}

/// The values of this service to configure in a SAML provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SamlService {
    /// The URL to which the provider sends assertions.
    #[serde(rename = "acsURL")]
    pub acs_url: String,
    /// The URL at which a sign-in starts.
    #[serde(rename = "startURL")]
    pub start_url: String,
    /// The entity id of this service.
    #[serde(rename = "entityID")]
    pub entity_id: String,
}

/// URLs of a SAML provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SamlProviderUrls {
    /// The provider in this API.
    pub location: String,
}

/// A new SAML provider.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateSamlProvider {
    /// The label shown to members.
    pub label: SamlLabel,
    /// The entity id of the provider; empty if not known yet.
    #[serde(default, rename = "entityID", deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub entity_id: Option<OrEmpty<SamlEntityId>>,
    /// The signing certificate of the provider; empty if not known yet.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub certificate: Option<OrEmpty<Certificate>>,
    /// The sign-in URL of the provider; empty if not known yet.
    #[serde(default, rename = "ssoURL", deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub sso_url: Option<OrEmpty<Url>>,
    /// The id of the team that new members join.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_team: Option<String>,
    /// The role of new members, or `null` (the default) for guest.
    #[serde(default)]
    pub default_role: Option<Role>,
    /// `true` permits sign-in initiated by the provider; `false` by default. The service then cannot verify that the
    /// browser that delivers the assertion belongs to the user who signed in.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub idp_initiated: Option<bool>,
}

/// A partial update of a SAML provider. Omitted fields are unchanged.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSamlProvider {
    /// The label shown to members.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub label: Option<SamlLabel>,
    /// The entity id of the provider; an empty string or `null` removes it.
    #[serde(default, rename = "entityID")]
    pub entity_id: Patch<OrEmpty<SamlEntityId>>,
    /// The signing certificate of the provider; an empty string or `null` removes it.
    #[serde(default)]
    pub certificate: Patch<OrEmpty<Certificate>>,
    /// The sign-in URL of the provider; an empty string or `null` removes it.
    #[serde(default, rename = "ssoURL")]
    pub sso_url: Patch<OrEmpty<Url>>,
    /// The id of the team that new members join; `null` removes it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_team: Patch<String>,
    /// The role of new members, or `null` for guest.
    #[serde(default)]
    pub default_role: Patch<Role>,
    /// `true` permits sign-in initiated by the provider.
    #[serde(default, deserialize_with = "deserialize_non_null")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub idp_initiated: Option<bool>,
}

/// A single sign-on option of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SsoLogin {
    /// The id of the SAML provider.
    pub id: SamlProviderId,
    /// The label of the provider.
    pub label: SamlLabel,
    /// The URL at which a sign-in starts.
    #[serde(rename = "startURL")]
    pub start_url: String,
}

/// The single sign-on options of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SsoLogins {
    /// The active SAML providers.
    pub items: Vec<SsoLogin>,
}

/// A string of a certain format, or an empty string for a missing value. Responses contain empty strings for missing
/// values, so they can be sent back unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrEmpty<T>(pub Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrEmpty<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Self(None));
        }
        let text = serde::de::value::StringDeserializer::<serde::de::value::Error>::new(text);
        T::deserialize(text).map(|value| Self(Some(value))).map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for OrEmpty<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}OrEmpty", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        if let Some(schema) = schema.as_object_mut() {
            schema.remove("minLength");
            // The pattern covers both the format and the empty string, so `format` is removed.
            if let Some(serde_json::Value::String(pattern)) = schema.get_mut("pattern") {
                *pattern = format!("^$|{pattern}");
                schema.remove("format");
            }
        }
        schema
    }
}

/// Returns `true` if the string is a valid entity id. Entity ids are usually URLs but are only compared, not fetched.
fn is_entity_id(text: &str) -> bool {
    text.trim() == text && !text.contains(char::is_control)
}

/// Returns `true` if the string looks like a single certificate: PEM, or plain base64 of a DER sequence that begins
/// with another sequence.
fn is_certificate(text: &str) -> bool {
    let text = text.trim();
    let body = match text.strip_prefix("-----BEGIN CERTIFICATE-----") {
        Some(framed) => match framed.strip_suffix("-----END CERTIFICATE-----") {
            Some(body) => body,
            None => return false,
        },
        None => text,
    };
    let compact: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    BASE64.decode(compact.as_bytes()).is_ok_and(|der| {
        let whole = der_sequence(&der).filter(|(_, rest)| rest.is_empty());
        whole.and_then(|(inside, _)| der_sequence(inside)).is_some()
    })
}

/// Splits bytes into the content of the leading DER sequence and the remaining bytes.
fn der_sequence(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // A certificate has at most 10,000 base64 characters, so two length bytes are sufficient.
        0x81 | 0x82 => {
            let (length, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    if tag == 0x30 && length > 0 { rest.split_at_checked(length) } else { None }
}
