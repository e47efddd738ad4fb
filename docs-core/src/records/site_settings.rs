//! What is set on a site besides its structure.

use serde::{Deserialize, Serialize};

use super::{SiteRecord, counter, text, unique};
use crate::{
    model::{
        AdaptiveJsonSchema, Customization, CustomizationOverride, IntegrationName, RedirectDestination,
        RedirectId, RedirectSource, ShareLinkId, ShareLinkName, SiteId, SiteSpaceId, Timestamp, Url,
        VisitorAuthBackend,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// How a site, or a space on it, looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomizationRecord {
    /// The site.
    pub site: SiteId,
    /// What it is of.
    pub look: Look,
}

/// Whose customization, and which.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Look {
    /// The site's own.
    Site(Box<Customization>),
    /// How a space on it differs.
    SiteSpace(SiteSpaceId, Box<CustomizationOverride>),
}

impl Entity for CustomizationRecord {
    const KIND: &'static str = "cust";
}

impl CustomizationRecord {
    /// The customization of a site, and of the spaces on it.
    #[must_use]
    pub fn of_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new(Self::KIND).part(site.as_str())
    }

    /// The key of a site's own customization.
    #[must_use]
    pub fn at(site: &SiteId) -> Key {
        Self::of_site(site).part("site").key()
    }

    /// The key of what differs on a space of a site.
    #[must_use]
    pub fn at_place(site: &SiteId, place: &SiteSpaceId) -> Key {
        Self::of_site(site).part("space").part(place.as_str()).key()
    }

    /// What differs on the spaces of a site.
    #[must_use]
    pub fn of_places(site: &SiteId) -> KeyBuf {
        Self::of_site(site).part("space")
    }
}

impl Indexed for CustomizationRecord {
    const INDEXES: &'static [&'static str] = &[];
    fn key(&self) -> Key {
        match &self.look {
            Look::Site(_) => Self::at(&self.site),
            Look::SiteSpace(place, _) => Self::at_place(&self.site, place),
        }
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}

/// A share link of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareLinkRecord {
    /// The id.
    pub id: ShareLinkId,
    /// The site.
    pub site: SiteId,
    /// What it is called.
    pub name: ShareLinkName,
    /// Whether it opens the site.
    pub active: bool,
    /// The secret, sealed.
    pub sealed: String,
    /// The hash of the secret, by which it is found.
    pub digest: String,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Entity for ShareLinkRecord {
    const KIND: &'static str = "shl";
}

impl ShareLinkRecord {
    /// Tells whether the link opens a site.
    #[must_use]
    pub fn opens(&self, site: &SiteId) -> bool {
        self.active && self.site == *site
    }

    /// The key of a share link.
    #[must_use]
    pub fn at(id: &ShareLinkId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The share links of a site, by the time of their creation.
    #[must_use]
    pub fn of_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("shl.t").part(site.as_str())
    }

    /// How many share links a site has.
    #[must_use]
    pub fn count_in(site: &SiteId) -> Key {
        counter(site.as_str(), "shareLinks")
    }

    /// Leads from the hash of a secret to its share link.
    #[must_use]
    pub fn by_digest(digest: &str) -> Key {
        unique("shl.digest", "", digest)
    }
}

impl Indexed for ShareLinkRecord {
    const INDEXES: &'static [&'static str] = &["shl.t", "u", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        vec![
            Row::Index(Self::of_site(&self.site).time(self.created_at.time()).part(id).key(), Value::Unit),
            Row::Unique(Self::by_digest(&self.digest), text(id)),
            Row::Count(Self::count_in(&self.site)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}

/// How visitors of a site prove who they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteAuthRecord {
    /// The site.
    pub site: SiteId,
    /// Who signs.
    #[serde(default)]
    pub backend: VisitorAuthBackend,
    /// The integration that signs.
    #[serde(default)]
    pub integration: Option<IntegrationName>,
    /// Where visitors without a valid token are sent.
    #[serde(default)]
    pub fallback_url: Option<Url>,
    /// The signing key, sealed.
    pub sealed: String,
}

impl Entity for SiteAuthRecord {
    const KIND: &'static str = "sauth";
}

impl SiteAuthRecord {
    /// The key of a site's.
    #[must_use]
    pub fn at(site: &SiteId) -> Key {
        KeyBuf::new(Self::KIND).part(site.as_str()).key()
    }
}

impl Indexed for SiteAuthRecord {
    const INDEXES: &'static [&'static str] = &[];
    fn key(&self) -> Key {
        Self::at(&self.site)
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}

/// A redirect of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedirectRecord {
    /// The id.
    pub id: RedirectId,
    /// The site.
    pub site: SiteId,
    /// The path it begins at.
    pub source: RedirectSource,
    /// Where it leads.
    pub destination: RedirectDestination,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Entity for RedirectRecord {
    const KIND: &'static str = "srd";
}

impl RedirectRecord {
    /// The key of a redirect.
    #[must_use]
    pub fn at(id: &RedirectId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The redirects of a site, by the time of their creation.
    #[must_use]
    pub fn of_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("srd.t").part(site.as_str())
    }

    /// The redirects to a section, or to a site space or a page of it, by the id of the section or site space.
    #[must_use]
    pub fn leading_to(part: &str) -> KeyBuf {
        KeyBuf::new("srd.d").part(part)
    }

    /// How many redirects a site has.
    #[must_use]
    pub fn count_in(site: &SiteId) -> Key {
        counter(site.as_str(), "redirects")
    }

    /// Leads from a path on a site to the redirect that begins there.
    #[must_use]
    pub fn by_source(site: &SiteId, source: &RedirectSource) -> Key {
        unique("srd.source", site.as_str(), &source.normal())
    }
}

impl Indexed for RedirectRecord {
    const INDEXES: &'static [&'static str] = &["srd.t", "srd.d", "u", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        vec![
            Row::Index(Self::of_site(&self.site).time(self.created_at.time()).part(id).key(), Value::Unit),
            Row::Index(Self::leading_to(self.destination.part()).part(id).key(), Value::Unit),
            Row::Unique(Self::by_source(&self.site, &self.source), text(id)),
            Row::Count(Self::count_in(&self.site)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}

/// What is known of the visitors of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveRecord {
    /// The site.
    pub site: SiteId,
    /// The schema of their claims.
    pub schema: AdaptiveJsonSchema,
    /// When it was set.
    pub updated_at: Timestamp,
}

impl Entity for AdaptiveRecord {
    const KIND: &'static str = "adap";
}

impl AdaptiveRecord {
    /// The key of a site's.
    #[must_use]
    pub fn at(site: &SiteId) -> Key {
        KeyBuf::new(Self::KIND).part(site.as_str()).key()
    }
}

impl Indexed for AdaptiveRecord {
    const INDEXES: &'static [&'static str] = &[];
    fn key(&self) -> Key {
        Self::at(&self.site)
    }
    fn rows(&self) -> Vec<Row> {
        Vec::new()
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}
