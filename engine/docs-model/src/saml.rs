//! SAML providers of organizations.

use data_encoding::BASE64;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    BoundedText, Patch, Role, SamlProviderId, Team, Timestamp, Url, formed_text::formed_text,
    list::constants, patch::given,
};

formed_text! {
    /// A certificate of a SAML provider: PEM, or DER in base64.
    Certificate(1, 10_000, is_certificate, "an X.509 certificate: PEM, or DER in base64"),
    /// Entity id of a SAML provider.
    SamlEntityId(1, 1024, is_entity_id, "the provider's name for itself, without control characters, and white space around it",
        { "pattern": r"^[^\s\u0000-\u001f\u007f-\u009f]([^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f])?$" }),
}

constants! {
    /// `saml-provider`.
    SamlProviderObject = "saml-provider",
}

/// Label of a SAML provider.
pub type SamlLabel = BoundedText<1, 30>;

/// Whether people can sign in through a SAML provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum SamlProviderStatus {
    /// Its address, its entity id and its certificate are known.
    Active,
    /// Something of that is still missing.
    Pending,
}

/// A SAML provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SamlProvider {
    /// Always `saml-provider`.
    pub object: SamlProviderObject,
    /// The id.
    pub id: SamlProviderId,
    /// The label that members see.
    pub label: SamlLabel,
    /// Where members sign in; empty while it is not known.
    #[serde(rename = "ssoURL")]
    pub sso_url: String,
    /// The provider's entity id; empty while it is not known.
    #[serde(rename = "entityID")]
    pub entity_id: String,
    /// The certificate that the provider signs with; empty while it is not known.
    pub certificate: String,
    /// The team that those who join through the provider come into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_team: Option<Team>,
    /// The role of those who join through the provider; `null` for guest.
    pub default_role: Option<Role>,
    /// People may begin at the provider, without being sent there from here.
    pub idp_initiated: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// Whether people can sign in through it.
    pub status: SamlProviderStatus,
    /// What the provider has to know of this service.
    pub service: SamlService,
    /// Addresses of the provider.
    pub urls: SamlProviderUrls,
}

/// What a SAML provider has to know of this service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SamlService {
    /// Where the provider sends its assertions.
    #[serde(rename = "acsURL")]
    pub acs_url: String,
    /// Where signing in begins.
    #[serde(rename = "startURL")]
    pub start_url: String,
    /// The entity id of this service.
    #[serde(rename = "entityID")]
    pub entity_id: String,
}

/// Addresses of a SAML provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SamlProviderUrls {
    /// The provider in this API.
    pub location: String,
}

/// What a new SAML provider is made of.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateSamlProvider {
    /// What it is called.
    pub label: SamlLabel,
    /// The name that the provider has for itself; empty when it is not known yet.
    #[serde(default, rename = "entityID", deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub entity_id: Option<OrEmpty<SamlEntityId>>,
    /// The certificate that its answers are signed with; empty when it is not known yet.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub certificate: Option<OrEmpty<Certificate>>,
    /// Where members sign in; empty when it is not known yet.
    #[serde(default, rename = "ssoURL", deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub sso_url: Option<OrEmpty<Url>>,
    /// A team of the organization.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_team: Option<String>,
    /// A role, or `null` for guest, which is also what holds when absent.
    #[serde(default)]
    pub default_role: Option<Role>,
    /// Let people begin at the provider, without being sent there from here; not when absent. Then nothing tells
    /// whether the browser that brings an answer is that of the one who signed in.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub idp_initiated: Option<bool>,
}

/// A change of a SAML provider; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSamlProvider {
    /// What it is called.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub label: Option<SamlLabel>,
    /// The name that the provider has for itself; empty or `null` to remove it.
    #[serde(default, rename = "entityID")]
    pub entity_id: Patch<OrEmpty<SamlEntityId>>,
    /// The certificate that its answers are signed with; empty or `null` to remove it.
    #[serde(default)]
    pub certificate: Patch<OrEmpty<Certificate>>,
    /// Where members sign in; empty or `null` to remove it.
    #[serde(default, rename = "ssoURL")]
    pub sso_url: Patch<OrEmpty<Url>>,
    /// A team of the organization, or `null` for none.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::id))]
    pub default_team: Patch<String>,
    /// A role, or `null` for guest.
    #[serde(default)]
    pub default_role: Patch<Role>,
    /// Let people begin at the provider, without being sent there from here.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub idp_initiated: Option<bool>,
}

/// A way to sign in to an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SsoLogin {
    /// The id of the provider.
    pub id: SamlProviderId,
    /// Its label.
    pub label: SamlLabel,
    /// Where signing in begins.
    #[serde(rename = "startURL")]
    pub start_url: String,
}

/// The ways to sign in to an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SsoLogins {
    /// Each provider that is active.
    pub items: Vec<SsoLogin>,
}

/// Text of a form, or empty text, which stands for none: what is not known is shown as empty, and can be sent back.
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
            // Of what has a form, the pattern says the form, and that it may be missing.
            if let Some(serde_json::Value::String(pattern)) = schema.get_mut("pattern") {
                *pattern = format!("^$|{pattern}");
                schema.remove("format");
            }
        }
        schema
    }
}

/// Tells whether text may be the name that a provider has for itself: usually an address, of which nothing is made
/// here.
fn is_entity_id(text: &str) -> bool {
    text.trim() == text && !text.contains(char::is_control)
}

/// Tells whether text is one certificate, as far as its outer form goes: PEM or plain base64 of one DER sequence that
/// begins with another.
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

/// The content of a DER sequence at the beginning of bytes, and what follows it.
fn der_sequence(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // At most 10,000 characters of base64: two bytes tell any length.
        0x81 | 0x82 => {
            let (length, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (length.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    if tag == 0x30 && length > 0 { rest.split_at_checked(length) } else { None }
}
