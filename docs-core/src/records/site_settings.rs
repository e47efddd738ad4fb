//! Records of site settings other than the structure.

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

/// The customization of a site, or of a site space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomizationRecord {
    pub site: SiteId,
    pub look: CustomizationEntry,
}

/// A customization together with its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CustomizationEntry {
    Site(Box<Customization>),
    SiteSpace(SiteSpaceId, Box<CustomizationOverride>),
}

impl Entity for CustomizationRecord {
    const KIND: &'static str = "cust";
}

impl CustomizationRecord {
    /// Prefix of the customization keys of a site and its site spaces.
    #[must_use]
    pub fn by_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new(Self::KIND).part(site.as_str())
    }

    /// The key of the site's own customization.
    #[must_use]
    pub fn key_for(site: &SiteId) -> Key {
        Self::by_site(site).part("site").key()
    }

    /// The key of the overrides of a site space.
    #[must_use]
    pub fn key_for_place(site: &SiteId, place: &SiteSpaceId) -> Key {
        Self::by_site(site).part("space").part(place.as_str()).key()
    }

    /// Prefix of the keys of the overrides of all site spaces.
    #[must_use]
    pub fn places_by_site(site: &SiteId) -> KeyBuf {
        Self::by_site(site).part("space")
    }
}

impl Indexed for CustomizationRecord {
    fn key(&self) -> Key {
        match &self.look {
            CustomizationEntry::Site(_) => Self::key_for(&self.site),
            CustomizationEntry::SiteSpace(place, _) => Self::key_for_place(&self.site, place),
        }
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareLinkRecord {
    pub id: ShareLinkId,
    pub site: SiteId,
    pub name: ShareLinkName,
    /// `true` if the link is active.
    pub active: bool,
    /// The sealed secret.
    pub sealed: String,
    /// The hash of the secret, for lookup.
    pub digest: String,
    pub created_at: Timestamp,
}

impl Entity for ShareLinkRecord {
    const KIND: &'static str = "shl";
}

impl ShareLinkRecord {
    /// Returns `true` if the link currently grants access to the site.
    #[must_use]
    pub fn is_valid_for(&self, site: &SiteId) -> bool {
        self.active && self.site == *site
    }

    #[must_use]
    pub fn key_for(id: &ShareLinkId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the share links of a site, by creation time.
    #[must_use]
    pub fn by_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("shl.t").part(site.as_str())
    }

    /// Counter of the share links of a site.
    #[must_use]
    pub fn count_in(site: &SiteId) -> Key {
        counter(site.as_str(), "shareLinks")
    }

    /// Unique index from the hash of a secret to its share link.
    #[must_use]
    pub fn by_digest(digest: &str) -> Key {
        unique("shl.digest", "", digest)
    }
}

impl Indexed for ShareLinkRecord {
    const INDEXES: &'static [&'static str] = &["shl.t", "u", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        vec![
            Row::Index(Self::by_site(&self.site).time(self.created_at.time()).part(id).key(), Value::Unit),
            Row::Unique(Self::by_digest(&self.digest), text(id)),
            Row::Count(Self::count_in(&self.site)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}

/// The visitor authentication settings of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteAuthRecord {
    pub site: SiteId,
    /// The kind of signer of visitor tokens.
    #[serde(default)]
    pub backend: VisitorAuthBackend,
    /// The integration that signs visitor tokens, if any.
    #[serde(default)]
    pub integration: Option<IntegrationName>,
    /// The redirect target for visitors without a valid token.
    #[serde(default)]
    pub fallback_url: Option<Url>,
    /// The URL at which visitors sign out of the service that signs their tokens.
    #[serde(default)]
    pub logout_url: Option<Url>,
    /// The sealed signing key.
    pub sealed: String,
}

impl Entity for SiteAuthRecord {
    const KIND: &'static str = "sauth";
}

impl SiteAuthRecord {
    /// The key of a site's authentication settings.
    #[must_use]
    pub fn key_for(site: &SiteId) -> Key {
        KeyBuf::new(Self::KIND).part(site.as_str()).key()
    }
}

impl Indexed for SiteAuthRecord {
    fn key(&self) -> Key {
        Self::key_for(&self.site)
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedirectRecord {
    pub id: RedirectId,
    pub site: SiteId,
    /// The source path.
    pub source: RedirectSource,
    pub destination: RedirectDestination,
    pub created_at: Timestamp,
    /// The time of the last change, or `None` if the redirect was never changed.
    #[serde(default)]
    pub updated_at: Option<Timestamp>,
    /// `true` if the redirect has no effect.
    #[serde(default)]
    pub draft: bool,
    /// `true` if the text that the wildcard matches is appended to the destination.
    #[serde(default)]
    pub capture_wildcard: bool,
    /// `true` if visitors of a public site are redirected permanently.
    #[serde(default)]
    pub permanent: bool,
}

impl Entity for RedirectRecord {
    const KIND: &'static str = "srd";
}

impl RedirectRecord {
    #[must_use]
    pub fn key_for(id: &RedirectId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the redirects of a site, by creation time.
    #[must_use]
    pub fn by_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("srd.t").part(site.as_str())
    }

    /// Index of the redirects of a site, by the time of the last change.
    #[must_use]
    pub fn by_change(site: &SiteId) -> KeyBuf {
        KeyBuf::new("srd.c").part(site.as_str())
    }

    /// Index of the redirects of a site, by normalized source path.
    #[must_use]
    pub fn by_path(site: &SiteId) -> KeyBuf {
        KeyBuf::new("srd.s").part(site.as_str())
    }

    /// Index of the redirects that target a section or a site space, or a page in it, by the id of the section or site
    /// space.
    #[must_use]
    pub fn by_target(part: &str) -> KeyBuf {
        KeyBuf::new("srd.d").part(part)
    }

    /// Counter of the redirects of a site.
    #[must_use]
    pub fn count_in(site: &SiteId) -> Key {
        counter(site.as_str(), "redirects")
    }

    /// Counter of the redirects of a site that are drafts.
    #[must_use]
    pub fn count_drafts_in(site: &SiteId) -> Key {
        counter(site.as_str(), "redirectDrafts")
    }

    /// Counter of the redirects of a site that have a wildcard and are not drafts.
    #[must_use]
    pub fn count_wildcards_in(site: &SiteId) -> Key {
        counter(site.as_str(), "redirectWildcards")
    }

    /// Unique index from a normalized source path on a site to its live redirect.
    #[must_use]
    pub fn by_source(site: &SiteId, normalized: &str) -> Key {
        unique("srd.source", site.as_str(), normalized)
    }

    /// Unique index from a normalized source path on a site to its draft.
    #[must_use]
    pub fn by_draft_source(site: &SiteId, normalized: &str) -> Key {
        unique("srd.draft", site.as_str(), normalized)
    }
}

impl Indexed for RedirectRecord {
    const INDEXES: &'static [&'static str] = &["srd.t", "srd.c", "srd.s", "srd.d", "u", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let index = |key: KeyBuf| Row::Index(key.part(id).key(), Value::Unit);
        let (source, changed) = (self.source.normalized(), self.updated_at.unwrap_or(self.created_at));
        let mut rows = vec![
            index(Self::by_site(&self.site).time(self.created_at.time())),
            index(Self::by_change(&self.site).time(changed.time())),
            index(Self::by_path(&self.site).part(&source)),
            Row::Unique(
                match self.draft {
                    true => Self::by_draft_source(&self.site, &source),
                    false => Self::by_source(&self.site, &source),
                },
                text(id),
            ),
            Row::Count(Self::count_in(&self.site)),
        ];
        rows.extend(self.destination.part().map(|part| index(Self::by_target(part))));
        if self.draft {
            rows.push(Row::Count(Self::count_drafts_in(&self.site)));
        } else if self.source.is_wildcard() {
            rows.push(Row::Count(Self::count_wildcards_in(&self.site)));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}

/// The visitor claims schema of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdaptiveRecord {
    pub site: SiteId,
    /// The schema of the claims.
    pub schema: AdaptiveJsonSchema,
    pub updated_at: Timestamp,
}

impl Entity for AdaptiveRecord {
    const KIND: &'static str = "adap";
}

impl AdaptiveRecord {
    /// The key of the visitor claims schema of a site.
    #[must_use]
    pub fn key_for(site: &SiteId) -> Key {
        KeyBuf::new(Self::KIND).part(site.as_str()).key()
    }
}

impl Indexed for AdaptiveRecord {
    fn key(&self) -> Key {
        Self::key_for(&self.site)
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}
