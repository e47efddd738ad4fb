//! Records of OpenAPI specifications and their versions.

use serde::{Deserialize, Serialize};

use super::{counter, text, unique};
use crate::{
    model::{
        OpenApiSpecId, OpenApiSpecSlug, OpenApiSpecVersionId, OrgId, SpecErrorCode, SpecFormat,
        SpecProcessingError, SpecProcessingState, SpecVisibility, Timestamp, Url, UserId,
    },
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A reference to bytes stored in the objects of a specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBytes {
    /// The hash of the whole content. Without `parts`, it is also the key of the object.
    pub blob: Hash,
    /// The object that lists the parts, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Hash>,
    pub size: u64,
}

/// The source of a specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredSpecSource {
    /// The URL that it is fetched from.
    Url(Url),
    /// An uploaded document.
    Text(StoredBytes),
}

impl StoredSpecSource {
    /// Returns the URL of a fetched specification.
    #[must_use]
    pub const fn url(&self) -> Option<&Url> {
        match self {
            Self::Url(url) => Some(url),
            Self::Text(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenApiSpecRecord {
    pub id: OpenApiSpecId,
    pub organization: OrgId,
    pub slug: OpenApiSpecSlug,
    pub source: StoredSpecSource,
    /// Number of times that processing was requested. Results of jobs from earlier rounds are discarded.
    pub round: u64,
    pub state: SpecProcessingState,
    #[serde(default)]
    pub visibility: SpecVisibility,
    #[serde(default)]
    pub last_version: Option<OpenApiSpecVersionId>,
    #[serde(default)]
    pub last_processed_at: Option<Timestamp>,
    /// The error of the last processing run, if it failed.
    #[serde(default)]
    pub error_code: Option<SpecErrorCode>,
    /// Findings of the last processing run.
    #[serde(default)]
    pub errors: Vec<SpecProcessingError>,
    /// The creator, or `None` for the platform itself.
    #[serde(default)]
    pub created_by: Option<UserId>,
    pub created_at: Timestamp,
    /// The time of the last change or processing run.
    pub updated_at: Timestamp,
}

impl Entity for OpenApiSpecRecord {
    const KIND: &'static str = "oas";
}

impl OpenApiSpecRecord {
    /// The key of a specification.
    #[must_use]
    pub fn key_for(id: &OpenApiSpecId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the specifications of an organization, by creation time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("oas.o").part(organization.as_str())
    }

    /// Unique index from a slug to its specification.
    #[must_use]
    pub fn by_slug(organization: &OrgId, slug: &str) -> Key {
        unique("oas.slug", organization.as_str(), slug)
    }

    /// Counter of the specifications of an organization.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "openapi-specs")
    }

    /// Returns the storage domain of a specification's objects.
    #[must_use]
    pub fn domain(id: &OpenApiSpecId) -> String {
        format!("{SPEC_DOMAIN_PREFIX}{id}")
    }

    /// Returns the id of the specification with a storage domain, or `None` for the domain of a space.
    #[must_use]
    pub fn id_from_domain(domain: &str) -> Option<OpenApiSpecId> {
        domain.strip_prefix(SPEC_DOMAIN_PREFIX)?.parse().ok()
    }
}

/// Prefix of the storage domains of specifications.
const SPEC_DOMAIN_PREFIX: &str = "openapi-";

impl Indexed for OpenApiSpecRecord {
    const INDEXES: &'static [&'static str] = &["oas.o", "u", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let row = Self::by_org(&self.organization).time(self.created_at.time()).part(id);
        vec![
            Row::Index(row.key(), Value::Unit),
            Row::Unique(Self::by_slug(&self.organization, self.slug.as_str()), text(id)),
            Row::Count(Self::count_in(&self.organization)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// A version of an OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenApiSpecVersionRecord {
    pub id: OpenApiSpecVersionId,
    pub organization: OrgId,
    pub spec: OpenApiSpecId,
    /// Digest of the contents of all files.
    pub digest: Hash,
    /// The format of the root document.
    pub format: SpecFormat,
    /// The root document, unmodified.
    pub document: StoredBytes,
    /// All files in the form returned by the API, as a single JSON object.
    pub filesystem: StoredBytes,
    /// The outline, as JSON.
    pub outline: StoredBytes,
    pub created_at: Timestamp,
}

impl Entity for OpenApiSpecVersionRecord {
    const KIND: &'static str = "oav";
}

impl OpenApiSpecVersionRecord {
    #[must_use]
    pub fn key_for(id: &OpenApiSpecVersionId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the versions of a specification, by creation time.
    #[must_use]
    pub fn by_spec(spec: &OpenApiSpecId) -> KeyBuf {
        KeyBuf::new("oav.s").part(spec.as_str())
    }

    /// Counter of the versions of a specification.
    #[must_use]
    pub fn count_of(spec: &OpenApiSpecId) -> Key {
        counter(spec.as_str(), "versions")
    }

    /// Returns the references to all stored objects of this version.
    #[must_use]
    pub const fn objects(&self) -> [&StoredBytes; 3] {
        [&self.document, &self.filesystem, &self.outline]
    }
}

impl Indexed for OpenApiSpecVersionRecord {
    const INDEXES: &'static [&'static str] = &["oav.s", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_spec(&self.spec).time(self.created_at.time()).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit), Row::Count(Self::count_of(&self.spec))]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
