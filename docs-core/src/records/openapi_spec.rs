//! OpenAPI specifications of organizations, and their versions.

use serde::{Deserialize, Serialize};

use super::{counter, text, unique};
use crate::{
    model::{
        OpenApiSpecId, OpenApiSpecSlug, OpenApiSpecVersionId, OrgId, SpecErrorCode, SpecFormat,
        SpecProcessingError, SpecProcessingState, SpecVisibility, Timestamp, Url, UserId,
    },
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// The bytes of something, among the objects of a specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBytes {
    /// The hash of all of them, which is the object where there are no parts.
    pub blob: Hash,
    /// The object that lists the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Hash>,
    /// The number of bytes.
    pub size: u64,
}

/// What a specification is made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredSpecSource {
    /// What is at an address.
    Url(Url),
    /// A text.
    Text(StoredBytes),
}

/// An OpenAPI specification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenApiSpecRecord {
    /// The id.
    pub id: OpenApiSpecId,
    /// The organization it belongs to.
    pub organization: OrgId,
    /// The slug.
    pub slug: OpenApiSpecSlug,
    /// What it is made from.
    pub source: StoredSpecSource,
    /// Counts how often it was to be processed: only the job of the last time has an effect.
    pub round: u64,
    /// How far that is.
    pub state: SpecProcessingState,
    /// Who may read it.
    #[serde(default)]
    pub visibility: SpecVisibility,
    /// The latest version.
    #[serde(default)]
    pub last_version: Option<OpenApiSpecVersionId>,
    /// When it was last processed.
    #[serde(default)]
    pub last_processed_at: Option<Timestamp>,
    /// Why it could not be processed the last time.
    #[serde(default)]
    pub error_code: Option<SpecErrorCode>,
    /// What was found wrong the last time.
    #[serde(default)]
    pub errors: Vec<SpecProcessingError>,
    /// Who created it; absent for the platform itself.
    #[serde(default)]
    pub created_by: Option<UserId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed or processed.
    pub updated_at: Timestamp,
}

impl Entity for OpenApiSpecRecord {
    const KIND: &'static str = "oas";
}

impl OpenApiSpecRecord {
    /// The key of a specification.
    #[must_use]
    pub fn at(id: &OpenApiSpecId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The specifications of an organization, by the time of their creation.
    #[must_use]
    pub fn of_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("oas.o").part(organization.as_str())
    }

    /// Leads from a slug to its specification.
    #[must_use]
    pub fn by_slug(organization: &OrgId, slug: &str) -> Key {
        unique("oas.slug", organization.as_str(), slug)
    }

    /// How many specifications an organization has.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "openapi-specs")
    }

    /// The storage area of the specification's objects.
    #[must_use]
    pub fn domain(id: &OpenApiSpecId) -> String {
        format!("{SPEC_DOMAINS}{id}")
    }

    /// The specification that a storage area is of; `None` for areas of spaces.
    #[must_use]
    pub fn of_domain(domain: &str) -> Option<OpenApiSpecId> {
        domain.strip_prefix(SPEC_DOMAINS)?.parse().ok()
    }
}

/// What the storage areas of specifications begin with.
const SPEC_DOMAINS: &str = "openapi-";

impl Indexed for OpenApiSpecRecord {
    const INDEXES: &'static [&'static str] = &["oas.o", "u", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let row = Self::of_org(&self.organization).time(self.created_at.time()).part(id);
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
    /// The id.
    pub id: OpenApiSpecVersionId,
    /// The organization it belongs to.
    pub organization: OrgId,
    /// The specification it is of.
    pub spec: OpenApiSpecId,
    /// Names what all its files say.
    pub digest: Hash,
    /// What the document that it begins with is written in.
    pub format: SpecFormat,
    /// That document, as it came.
    pub document: StoredBytes,
    /// All files as they are answered, in one object of JSON.
    pub filesystem: StoredBytes,
    /// The outline, as JSON.
    pub outline: StoredBytes,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Entity for OpenApiSpecVersionRecord {
    const KIND: &'static str = "oav";
}

impl OpenApiSpecVersionRecord {
    /// The key of a version.
    #[must_use]
    pub fn at(id: &OpenApiSpecVersionId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The versions of a specification, by the time of their creation.
    #[must_use]
    pub fn of_spec(spec: &OpenApiSpecId) -> KeyBuf {
        KeyBuf::new("oav.s").part(spec.as_str())
    }

    /// How many versions a specification has.
    #[must_use]
    pub fn count_of(spec: &OpenApiSpecId) -> Key {
        counter(spec.as_str(), "versions")
    }

    /// Everything that is stored of it.
    #[must_use]
    pub const fn stored(&self) -> [&StoredBytes; 3] {
        [&self.document, &self.filesystem, &self.outline]
    }
}

impl Indexed for OpenApiSpecVersionRecord {
    const INDEXES: &'static [&'static str] = &["oav.s", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::of_spec(&self.spec).time(self.created_at.time()).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit), Row::Count(Self::count_of(&self.spec))]
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
