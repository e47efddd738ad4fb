//! Sites and the spaces on them.

use serde::{Deserialize, Serialize};

use super::{counter, text, unique};
use crate::{
    model::{
        AdaptiveContent, AgentsContext, Basename, OrgId, ProxyOrigin, SiteId, SiteSpaceId, SiteSpacePath,
        SiteTitle, SiteType, SiteVisibility, SpaceId, Timestamp, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteRecord {
    /// The id.
    pub id: SiteId,
    /// The organization.
    pub organization: OrgId,
    /// Its type.
    #[serde(default)]
    pub kind: SiteType,
    /// The title.
    pub title: SiteTitle,
    /// The base name in the published address, unique.
    pub basename: Basename,
    /// Where it is mounted on another host, unique.
    #[serde(default)]
    pub proxy: Option<ProxyOrigin>,
    /// Who may see it.
    #[serde(default)]
    pub visibility: SiteVisibility,
    /// Whether that audience can reach it.
    #[serde(default)]
    pub published: bool,
    /// Who created it.
    pub created_by: UserId,
    /// When it was created.
    pub created_at: Timestamp,
    /// Whether content adapts to its visitor.
    #[serde(default)]
    pub adaptive_content: AdaptiveContent,
    /// Whether agents may use it.
    #[serde(default)]
    pub agents_context: AgentsContext,
    /// What a visitor sees first; `None` while the site is empty.
    #[serde(default)]
    pub default_site_space: Option<SiteSpaceId>,
}

impl Entity for SiteRecord {
    const KIND: &'static str = "site";
}

impl SiteRecord {
    /// The key of a site.
    #[must_use]
    pub fn at(id: &SiteId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The sites of an organization, by the time of their creation.
    #[must_use]
    pub fn of_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("site.t").part(organization.as_str())
    }

    /// How many sites an organization has.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "sites")
    }

    /// Leads from a base name to its site.
    #[must_use]
    pub fn by_basename(basename: &str) -> Key {
        unique("site.basename", "", basename)
    }

    /// Leads from the place a site is mounted on to the site.
    #[must_use]
    pub fn by_proxy(origin: &str) -> Key {
        unique("site.proxy", "", origin)
    }
}

impl Indexed for SiteRecord {
    const INDEXES: &'static [&'static str] = &["site.t", "u", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::of_org(&self.organization).time(self.created_at.time()).part(self.id.as_str());
        let mut rows = vec![
            Row::Index(row.key(), Value::Unit),
            Row::Count(Self::count_in(&self.organization)),
            Row::Unique(Self::by_basename(self.basename.as_str()), text(self.id.as_str())),
        ];
        if let Some(proxy) = &self.proxy {
            rows.push(Row::Unique(Self::by_proxy(proxy.as_str()), text(self.id.as_str())));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}

/// A space on a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteSpaceRecord {
    /// The id.
    pub id: SiteSpaceId,
    /// The site.
    pub site: SiteId,
    /// The space.
    pub space: SpaceId,
    /// Its path on the site, unique there.
    pub path: SiteSpacePath,
    /// Its place among the site's spaces: ascending, with room between.
    pub rank: u64,
    /// Who sees it.
    #[serde(default)]
    pub condition: Option<String>,
}

impl Entity for SiteSpaceRecord {
    const KIND: &'static str = "ssp";
}

impl SiteSpaceRecord {
    /// The key of a site space.
    #[must_use]
    pub fn at(id: &SiteSpaceId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The spaces of a site, in order.
    #[must_use]
    pub fn of_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("ssp.r").part(site.as_str())
    }

    /// The places on sites where a space is.
    #[must_use]
    pub fn of_space(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("ssp.s").part(space.as_str())
    }

    /// How many spaces a site has.
    #[must_use]
    pub fn count_in(site: &SiteId) -> Key {
        counter(site.as_str(), "spaces")
    }

    /// Leads from a path on a site to what is there.
    #[must_use]
    pub fn by_path(site: &SiteId, path: &str) -> Key {
        unique("ssp.path", site.as_str(), path)
    }
}

impl Indexed for SiteSpaceRecord {
    const INDEXES: &'static [&'static str] = &["ssp.r", "ssp.s", "u", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        vec![
            Row::Index(Self::of_site(&self.site).number(self.rank).part(id).key(), Value::Unit),
            Row::Index(Self::of_space(&self.space).part(self.site.as_str()).part(id).key(), Value::Unit),
            Row::Unique(Self::by_path(&self.site, &self.path), text(id)),
            Row::Count(Self::count_in(&self.site)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}
