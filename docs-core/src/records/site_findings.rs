//! Record of the statuses that users set for the findings of a site.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SiteRecord;
use crate::{
    model::{SettableFindingStatus, SiteFindingId, SiteId, SpaceId, Timestamp},
    store::{Entity, Indexed, Key, KeyBuf, Owner},
};

/// The statuses of the findings of a site. The findings themselves are derived from the content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteFindingsRecord {
    pub site: SiteId,
    /// The findings whose status was set.
    pub statuses: BTreeMap<SiteFindingId, FindingStatus>,
}

/// The status of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingStatus {
    /// The space with the broken links.
    pub space: SpaceId,
    pub status: SettableFindingStatus,
    /// The time of the last change of the status.
    pub updated_at: Timestamp,
}

impl Entity for SiteFindingsRecord {
    const KIND: &'static str = "sfd";
}

impl SiteFindingsRecord {
    /// The key of the statuses of a site's findings.
    #[must_use]
    pub fn key_for(site: &SiteId) -> Key {
        KeyBuf::new(Self::KIND).part(site.as_str()).key()
    }
}

impl Indexed for SiteFindingsRecord {
    fn key(&self) -> Key {
        Self::key_for(&self.site)
    }
    fn owner(&self) -> Owner {
        Owner::As(SiteRecord::key_for(&self.site))
    }
}
