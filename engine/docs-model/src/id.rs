//! Identifiers of all resources.

use std::{
    borrow::Cow,
    fmt,
    str::FromStr,
    sync::{Arc, LazyLock},
};

use data_encoding::{Encoding, Specification};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Lower-case base32 without padding, the encoding of ids and hashes.
pub static BASE32: LazyLock<Encoding> = LazyLock::new(|| {
    let mut alphabet = Specification::new();
    alphabet.symbols.push_str("abcdefghijklmnopqrstuvwxyz234567");
    alphabet.encoding().expect("32 distinct characters are a valid alphabet")
});

/// Formats a UUID as lower-case base32.
///
/// ```
/// use docs_model::id_text;
/// assert_eq!(id_text(uuid::Uuid::nil()), "a".repeat(26));
/// ```
#[must_use]
pub fn id_text(id: uuid::Uuid) -> String {
    BASE32.encode(id.as_bytes())
}

/// Maximum length of an id in characters.
pub const MAX_ID: usize = 64;

/// The pattern of ids that [`check`] accepts.
#[cfg(feature = "schema")]
pub(crate) const ID_PATTERN: &str = "^[A-Za-z0-9_-]{1,64}$";

/// The error of parsing text that is not a valid id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be an id of 1 to {MAX_ID} letters, digits, `-` or `_`")]
pub struct NotAnId;

/// Checks the alphabet and the length of an id.
fn check(text: &str) -> Result<(), NotAnId> {
    let fits = !text.is_empty()
        && text.len() <= MAX_ID
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if fits { Ok(()) } else { Err(NotAnId) }
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// An id has letters, digits, `-` and `_`, at most [`MAX_ID`] (64) of them. The platform generates
        /// lower-case base32.
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Returns the id as a string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NotAnId;
            fn from_str(text: &str) -> Result<Self, NotAnId> {
                check(text).map(|()| Self(text.into()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        #[cfg(feature = "schema")]
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": ID_PATTERN })
            }
        }
    )*};
}

ids! {
    /// A user.
    UserId,
    /// An organization.
    OrgId,
    /// A space.
    SpaceId,
    /// A collection of spaces.
    CollectionId,
    /// A team.
    TeamId,
    /// An invite to an organization.
    InviteId,
    /// A SAML provider.
    SamlProviderId,
    /// A change request.
    ChangeRequestId,
    /// A comment.
    CommentId,
    /// A reply to a comment.
    CommentReplyId,
    /// A review of a change request.
    ReviewId,
    /// A revision of a space's content.
    RevisionId,
    /// A page.
    PageId,
    /// A file of a space.
    FileId,
    /// A reusable content of a space.
    ReusableId,
    /// A site.
    SiteId,
    /// A section of a site.
    SectionId,
    /// A group of sections of a site.
    SectionGroupId,
    /// A space on a site.
    SiteSpaceId,
    /// A share link of a site.
    ShareLinkId,
    /// A redirect of a site.
    RedirectId,
    /// An OpenAPI specification.
    OpenApiSpecId,
    /// A version of an OpenAPI specification.
    OpenApiSpecVersionId,
    /// A background job.
    JobId,
    /// An API token.
    TokenId,
    /// An entry of the audit log.
    AuditId,
    /// A translation of a space.
    TranslationId,
}
