//! What a site consists of: sections, groups of them, and the spaces on it.
//!
//! The order among siblings is a number on each record, with room between neighbours; no row says which is the last, as
//! a site is small enough to be read as a whole.

use serde::{Deserialize, Serialize};

use super::{SiteRecord, counter, text, unique};
use crate::{
    model::{
        Condition, Icon, SectionDescription, SectionGroupId, SectionGroupTitle, SectionId, SiteId, SitePath,
        SiteSpaceId, SiteTitle, SpaceId, Timestamp,
    },
    store::{Entity, Indexed, Key, KeyBuf, Owner, Row, Value},
};

/// A path that a part of a site had before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormerPath {
    /// The path.
    pub path: SitePath,
    /// When it got another one.
    pub until: Timestamp,
}

/// A section of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SectionRecord {
    /// The id.
    pub id: SectionId,
    /// The site.
    pub site: SiteId,
    /// The group it is in.
    #[serde(default)]
    pub group: Option<SectionGroupId>,
    /// Its place among the sections and groups beside it: ascending, with room between.
    pub rank: u64,
    /// The title.
    pub title: SiteTitle,
    /// Its path on the site, unique there.
    pub path: SitePath,
    /// The paths it had before, newest first.
    #[serde(default)]
    pub former_paths: Vec<FormerPath>,
    /// What it is about.
    #[serde(default)]
    pub description: Option<SectionDescription>,
    /// The name of its icon.
    #[serde(default)]
    pub icon: Option<Icon>,
    /// Who sees it.
    #[serde(default)]
    pub condition: Option<Condition>,
    /// Which of its spaces a visitor sees first; `None` while it is empty.
    #[serde(default)]
    pub default_site_space: Option<SiteSpaceId>,
}

impl Entity for SectionRecord {
    const KIND: &'static str = "sec";
}

impl SectionRecord {
    /// The key of a section.
    #[must_use]
    pub fn at(id: &SectionId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The sections of a site, in groups and outside, by their ranks.
    #[must_use]
    pub fn of_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("sec.r").part(site.as_str())
    }

    /// Leads from a path on a site to the section that has it.
    #[must_use]
    pub fn by_path(site: &SiteId, path: &str) -> Key {
        unique("sec.path", site.as_str(), path)
    }
}

impl Indexed for SectionRecord {
    const INDEXES: &'static [&'static str] = &["sec.r", "u"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        vec![
            Row::Index(Self::of_site(&self.site).number(self.rank).part(id).key(), Value::Unit),
            Row::Unique(Self::by_path(&self.site, self.path.as_str()), text(id)),
        ]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}

/// A group of sections, and of other groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SectionGroupRecord {
    /// The id.
    pub id: SectionGroupId,
    /// The site.
    pub site: SiteId,
    /// The group it is in.
    #[serde(default)]
    pub parent: Option<SectionGroupId>,
    /// Its place among the sections and groups beside it: ascending, with room between.
    pub rank: u64,
    /// The title.
    pub title: SectionGroupTitle,
    /// The name of its icon.
    #[serde(default)]
    pub icon: Option<Icon>,
}

impl Entity for SectionGroupRecord {
    const KIND: &'static str = "sgr";
}

impl SectionGroupRecord {
    /// The key of a group.
    #[must_use]
    pub fn at(id: &SectionGroupId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The groups of a site, by their ranks.
    #[must_use]
    pub fn of_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("sgr.r").part(site.as_str())
    }
}

impl Indexed for SectionGroupRecord {
    const INDEXES: &'static [&'static str] = &["sgr.r"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let row = Self::of_site(&self.site).number(self.rank).part(self.id.as_str());
        vec![Row::Index(row.key(), Value::Unit)]
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}

/// A space on a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteSpaceRecord {
    /// The id.
    pub id: SiteSpaceId,
    /// The site.
    pub site: SiteId,
    /// The section it is in; `None` on a site without sections.
    #[serde(default)]
    pub section: Option<SectionId>,
    /// The space.
    pub space: SpaceId,
    /// Its path in the section, or on a site without sections, unique there.
    pub path: SitePath,
    /// The paths it had before, newest first.
    #[serde(default)]
    pub former_paths: Vec<FormerPath>,
    /// Its place among the spaces beside it: ascending, with room between.
    pub rank: u64,
    /// Who sees it.
    #[serde(default)]
    pub condition: Option<Condition>,
    /// The space is deleted: it is not counted.
    #[serde(default)]
    pub space_deleted: bool,
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

    /// The spaces of a site, in all its sections, by their ranks.
    #[must_use]
    pub fn of_site(site: &SiteId) -> KeyBuf {
        KeyBuf::new("ssp.r").part(site.as_str())
    }

    /// The places on sites where a space is.
    #[must_use]
    pub fn of_space(space: &SpaceId) -> KeyBuf {
        KeyBuf::new("ssp.s").part(space.as_str())
    }

    /// How many spaces a site has, deleted ones left out.
    #[must_use]
    pub fn count_in(site: &SiteId) -> Key {
        counter(site.as_str(), "spaces")
    }

    /// Leads from a path in a section, or on a site without sections, to what is there.
    #[must_use]
    pub fn by_path(site: &SiteId, section: Option<&SectionId>, path: &str) -> Key {
        unique("ssp.path", section.map_or(site.as_str(), SectionId::as_str), path)
    }
}

impl Indexed for SiteSpaceRecord {
    const INDEXES: &'static [&'static str] = &["ssp.r", "ssp.s", "u", "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        let id = self.id.as_str();
        let path = Self::by_path(&self.site, self.section.as_ref(), self.path.as_str());
        let mut rows = vec![
            Row::Index(Self::of_site(&self.site).number(self.rank).part(id).key(), Value::Unit),
            Row::Index(Self::of_space(&self.space).part(self.site.as_str()).part(id).key(), Value::Unit),
            Row::Unique(path, text(id)),
        ];
        if !self.space_deleted {
            rows.push(Row::Count(Self::count_in(&self.site)));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::at(&self.site))
    }
}
