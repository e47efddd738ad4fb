//! Sites.

use serde::{Deserialize, Serialize};

use super::{counter, text, unique};
use crate::{
    model::{
        AdaptiveContent, AgentsContext, Basename, Favicon, OrgId, ProxyOrigin, SectionId, SiteHostname,
        SiteId, SiteSpaceId, SiteTitle, SiteType, SiteVisibility, Timestamp, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, MAX_SCAN, Owner, Row, Scan, Value},
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
    /// What browsers show beside the title: that of its look.
    #[serde(default)]
    pub icon: Option<Favicon>,
    /// Where it is mounted on another host, unique.
    #[serde(default)]
    pub proxy: Option<ProxyOrigin>,
    /// The host of its own that it is published on, unique.
    #[serde(default)]
    pub hostname: Option<SiteHostname>,
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
    /// What a visitor sees first; `None` while the site is empty, and while it has sections, which have their own.
    #[serde(default)]
    pub default_site_space: Option<SiteSpaceId>,
    /// The section that a visitor sees first; `None` while the site has no sections.
    #[serde(default)]
    pub default_section: Option<SectionId>,
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

    /// Leads from the place a site is mounted on to the site; hosts are the same in any case. A host alone is the place
    /// of a site that is published on a host of its own.
    #[must_use]
    pub fn by_proxy(origin: &str) -> Key {
        let (host, path) = origin.split_once('/').unwrap_or((origin, ""));
        unique("site.proxy", "", &format!("{}/{path}", host.to_lowercase()))
    }

    /// All that are mounted below a place: a range of keys, in the order of the places.
    #[must_use]
    pub fn proxied_below(origin: &str) -> Scan {
        let (from, to) = (Self::by_proxy(&format!("{origin}/")), Self::by_proxy(&format!("{origin}0")));
        Scan { from, to, rev: false, limit: MAX_SCAN }
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
        if let Some(hostname) = &self.hostname {
            rows.push(Row::Unique(Self::by_proxy(hostname.as_str()), text(self.id.as_str())));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
