//! Records of sites.

use serde::{Deserialize, Serialize};

use super::{counter, text, unique};
use crate::{
    model::{
        AdaptiveContent, AgentsContext, Basename, DefaultLevel, Favicon, OrgId, ProxyOrigin, SectionId,
        SiteHostname, SiteId, SiteSpaceId, SiteTitle, SiteType, SiteVisibility, Timestamp, UserId,
    },
    store::{Entity, Indexed, Key, KeyBuf, MAX_SCAN, Owner, Row, Scan, Value},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteRecord {
    pub id: SiteId,
    pub organization: OrgId,
    #[serde(default)]
    pub kind: SiteType,
    pub title: SiteTitle,
    /// The base name in the published URL. Unique.
    pub basename: Basename,
    /// The favicon, denormalized from the customization of the site.
    #[serde(default)]
    pub icon: Option<Favicon>,
    /// The location on another host where a proxy mounts the site. Unique.
    #[serde(default)]
    pub proxy: Option<ProxyOrigin>,
    /// The site's custom host name. Unique.
    #[serde(default)]
    pub hostname: Option<SiteHostname>,
    /// The audience of the site.
    #[serde(default)]
    pub visibility: SiteVisibility,
    /// `true` if the site is published to its audience.
    #[serde(default)]
    pub published: bool,
    /// The default role on the site.
    #[serde(default)]
    pub default_level: DefaultLevel,
    pub created_by: UserId,
    pub created_at: Timestamp,
    /// Settings for content that adapts to the visitor.
    #[serde(default)]
    pub adaptive_content: AdaptiveContent,
    /// Settings for access by AI agents.
    #[serde(default)]
    pub agents_context: AgentsContext,
    /// The site space displayed first. `None` if the site is empty, or if it has sections, which have their own
    /// defaults.
    #[serde(default)]
    pub default_site_space: Option<SiteSpaceId>,
    /// The section displayed first. `None` if the site has no sections.
    #[serde(default)]
    pub default_section: Option<SectionId>,
}

impl Entity for SiteRecord {
    const KIND: &'static str = "site";
}

impl SiteRecord {
    #[must_use]
    pub fn key_for(id: &SiteId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the sites of an organization, by creation time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("site.t").part(organization.as_str())
    }

    /// Counter of the sites of an organization.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "sites")
    }

    /// Index of the closed sites of an organization, whose default level hides them from members.
    #[must_use]
    pub fn closed_by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("site.c").part(organization.as_str())
    }

    /// Unique index from a base name to its site.
    #[must_use]
    pub fn by_basename(basename: &str) -> Key {
        unique("site.basename", "", basename)
    }

    /// Unique index from a mount point to its site. Hosts are compared ignoring case. A host without a path is the
    /// mount point of a site with a custom host name.
    #[must_use]
    pub fn by_proxy(origin: &str) -> Key {
        let (host, path) = origin.split_once('/').unwrap_or((origin, ""));
        unique("site.proxy", "", &format!("{}/{path}", host.to_lowercase()))
    }

    /// Returns a scan of all sites mounted below a path, ordered by mount point.
    #[must_use]
    pub fn scan_mounts_below(origin: &str) -> Scan {
        let (from, to) = (Self::by_proxy(&format!("{origin}/")), Self::by_proxy(&format!("{origin}0")));
        Scan { from, to, rev: false, limit: MAX_SCAN }
    }
}

impl Indexed for SiteRecord {
    const INDEXES: &'static [&'static str] = &["site.t", "site.c", "u", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_org(&self.organization).time(self.created_at.time()).part(self.id.as_str());
        let mut rows = vec![
            Row::Index(row.key(), Value::Unit),
            Row::Count(Self::count_in(&self.organization)),
            Row::Unique(Self::by_basename(self.basename.as_str()), text(self.id.as_str())),
        ];
        if self.default_level == DefaultLevel::Nobody {
            let closed = Self::closed_by_org(&self.organization).part(self.id.as_str());
            rows.push(Row::Index(closed.key(), Value::Unit));
        }
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
