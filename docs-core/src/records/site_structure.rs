//! Records of the structure of a site: sections, section groups, external links and site spaces.
//!
//! Siblings are ordered by a number stored in each record, with gaps for insertions. There is no index of the last
//! sibling, because a site is small enough to be read as a whole.

use serde::{Deserialize, Serialize};

use super::{SiteRecord, counter, text, unique};
use crate::{
    model::{
        Condition, ExternalLinkId, Icon, LocalizedDescription, LocalizedTitle, SectionDescription,
        SectionGroupId, SectionGroupTitle, SectionId, SiteId, SitePath, SiteSpaceId, SiteTitle, SpaceId,
        Timestamp, Url,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A previous path of a section or site space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormerPath {
    pub path: SitePath,
    /// The time when the path was replaced.
    pub until: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SectionRecord {
    pub id: SectionId,
    pub site: SiteId,
    /// The group that contains the section, or `None` for a top-level section.
    #[serde(default)]
    pub group: Option<SectionGroupId>,
    /// The position among sibling sections and groups. Ascending, with gaps.
    pub rank: u64,
    pub title: SiteTitle,
    /// The path on the site. Unique within the site.
    pub path: SitePath,
    /// Previous paths, newest first.
    #[serde(default)]
    pub former_paths: Vec<FormerPath>,
    #[serde(default)]
    pub description: Option<SectionDescription>,
    /// The name of the icon, if any.
    #[serde(default)]
    pub icon: Option<Icon>,
    /// The visibility condition, if any.
    #[serde(default)]
    pub condition: Option<Condition>,
    /// The site space displayed first, or `None` if the section is empty.
    #[serde(default)]
    pub default_site_space: Option<SiteSpaceId>,
    #[serde(default)]
    pub localized_title: LocalizedTitle,
    #[serde(default)]
    pub localized_description: LocalizedDescription,
    /// `true` if visitors cannot see the section and its spaces.
    #[serde(default)]
    pub draft: bool,
}

impl Entity for SectionRecord {
    const KIND: &'static str = "sec";
}

impl SectionRecord {
    #[must_use]
    pub fn key_for(id: &SectionId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of all sections of a site, inside and outside groups, by rank.
    #[must_use]
    pub fn by_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("sec.r").part(site.as_str())
    }

    /// Unique index from a path on a site to its section.
    #[must_use]
    pub fn by_path(site: &SiteId, path: &str) -> Key {
        unique("sec.path", site.as_str(), path)
    }
}

impl Indexed for SectionRecord {
    const INDEXES: &'static [&'static str] = &["sec.r", "u"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        vec![
            Row::Index(Self::by_site(&self.site).number(self.rank).part(id).key(), Value::Unit),
            Row::Unique(Self::by_path(&self.site, self.path.as_str()), text(id)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}

/// A group of sections and other groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SectionGroupRecord {
    pub id: SectionGroupId,
    pub site: SiteId,
    /// The parent group, or `None` at the top level.
    #[serde(default)]
    pub parent: Option<SectionGroupId>,
    /// The position among sibling sections and groups. Ascending, with gaps.
    pub rank: u64,
    pub title: SectionGroupTitle,
    /// The name of the icon, if any.
    #[serde(default)]
    pub icon: Option<Icon>,
    #[serde(default)]
    pub localized_title: LocalizedTitle,
    /// `true` if visitors cannot see the group and everything in it.
    #[serde(default)]
    pub draft: bool,
}

impl Entity for SectionGroupRecord {
    const KIND: &'static str = "sgr";
}

impl SectionGroupRecord {
    #[must_use]
    pub fn key_for(id: &SectionGroupId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the groups of a site, by rank.
    #[must_use]
    pub fn by_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("sgr.r").part(site.as_str())
    }
}

impl Indexed for SectionGroupRecord {
    const INDEXES: &'static [&'static str] = &["sgr.r"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_site(&self.site).number(self.rank).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}

/// A link to another website, next to sections and groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExternalLinkRecord {
    pub id: ExternalLinkId,
    pub site: SiteId,
    /// The group that contains the link, or `None` at the top level.
    #[serde(default)]
    pub group: Option<SectionGroupId>,
    /// The position among sibling sections, groups and links. Ascending, with gaps.
    pub rank: u64,
    pub title: SiteTitle,
    #[serde(default)]
    pub localized_title: LocalizedTitle,
    #[serde(default)]
    pub description: Option<SectionDescription>,
    #[serde(default)]
    pub localized_description: LocalizedDescription,
    /// The name of the icon, if any.
    #[serde(default)]
    pub icon: Option<Icon>,
    pub url: Url,
    /// `true` if visitors cannot see the link.
    #[serde(default)]
    pub draft: bool,
    /// The visibility condition, if any.
    #[serde(default)]
    pub condition: Option<Condition>,
}

impl Entity for ExternalLinkRecord {
    const KIND: &'static str = "slk";
}

impl ExternalLinkRecord {
    #[must_use]
    pub fn key_for(id: &ExternalLinkId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the external links of a site, by rank.
    #[must_use]
    pub fn by_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("slk.r").part(site.as_str())
    }
}

impl Indexed for ExternalLinkRecord {
    const INDEXES: &'static [&'static str] = &["slk.r"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::by_site(&self.site).number(self.rank).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteSpaceRecord {
    pub id: SiteSpaceId,
    pub site: SiteId,
    /// The section that contains the site space, or `None` on a site without sections.
    #[serde(default)]
    pub section: Option<SectionId>,
    pub space: SpaceId,
    /// The path. Unique within the section, or within a site without sections.
    pub path: SitePath,
    /// Previous paths, newest first.
    #[serde(default)]
    pub former_paths: Vec<FormerPath>,
    /// The position among sibling site spaces. Ascending, with gaps.
    pub rank: u64,
    /// The visibility condition, if any.
    #[serde(default)]
    pub condition: Option<Condition>,
    /// `true` if the space is deleted. Site spaces of deleted spaces are not counted.
    #[serde(default)]
    pub space_deleted: bool,
    /// The title on the site, or `None` for the title of the space.
    #[serde(default)]
    pub title: Option<SiteTitle>,
    /// `true` if visitors cannot see the space.
    #[serde(default)]
    pub draft: bool,
    /// `true` if the navigation omits the space.
    #[serde(default)]
    pub hidden: bool,
}

impl Entity for SiteSpaceRecord {
    const KIND: &'static str = "ssp";
}

impl SiteSpaceRecord {
    #[must_use]
    pub fn key_for(id: &SiteSpaceId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the site spaces of a site, across all sections, by rank.
    #[must_use]
    pub fn by_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("ssp.r").part(site.as_str())
    }

    /// Index of the site spaces that contain a space.
    #[must_use]
    pub fn by_space(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("ssp.s").part(space.as_str())
    }

    /// Counter of the site spaces of a site, excluding deleted spaces.
    #[must_use]
    pub fn count_in(site: &SiteId) -> Key {
        counter(site.as_str(), "spaces")
    }

    /// Unique index from a path, within a section or a site without sections, to its site space.
    #[must_use]
    pub fn by_path(site: &SiteId, section: Option<&SectionId>, path: &str) -> Key {
        unique("ssp.path", section.map_or(site.as_str(), SectionId::as_str), path)
    }
}

impl Indexed for SiteSpaceRecord {
    const INDEXES: &'static [&'static str] = &["ssp.r", "ssp.s", "u", "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let path = Self::by_path(&self.site, self.section.as_ref(), self.path.as_str());
        let mut rows = vec![
            Row::Index(Self::by_site(&self.site).number(self.rank).part(id).key(), Value::Unit),
            Row::Index(Self::by_space(&self.space).part(self.site.as_str()).part(id).key(), Value::Unit),
            Row::Unique(path, text(id)),
        ];
        if !self.space_deleted {
            rows.push(Row::Count(Self::count_in(&self.site)));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}
