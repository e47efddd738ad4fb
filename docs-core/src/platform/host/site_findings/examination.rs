//! Examination of the content of a site.

use std::{collections::BTreeSet, sync::Arc};

use super::statuses::{self, StatusChange};
use crate::{
    Error, Result,
    content::yield_after_each,
    model::{
        BASE32, SettableFindingStatus, SiteFindingId, SiteFindingSeverity, SiteFindingStatus, SpaceId,
        Timestamp,
    },
    platform::{
        access,
        content::links::broken::{BrokenTarget, LinkedSpaces, YIELD_INTERVAL},
        kernel::{actor::Actor, platform::Platform},
        nouns::SiteRef,
        publishing::outline::SiteOutline,
    },
    policy::SiteAction,
    store::{
        Key, Tx,
        records::{FindingStatus, RevisionRecord, SpaceRecord},
    },
};

/// Length of the hash in the id of a finding, in bytes.
const ID_BYTES: usize = 16;

/// A broken target with its id and its status.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) id: SiteFindingId,
    pub(super) target: BrokenTarget,
    pub(super) severity: SiteFindingSeverity,
    pub(super) status: SiteFindingStatus,
    /// The time of the revision.
    pub(super) created_at: Timestamp,
    pub(super) updated_at: Timestamp,
}

impl Finding {
    fn new(id: SiteFindingId, target: BrokenTarget, created_at: Timestamp) -> Self {
        let severity = SiteFindingSeverity::of_pages(target.pages.len());
        let status = SiteFindingStatus::Open;
        Self { id, target, severity, status, created_at, updated_at: created_at }
    }

    fn with_status(self, stored: Option<&FindingStatus>) -> Self {
        let Some(stored) = stored else { return self };
        let updated_at = self.created_at.max(stored.updated_at);
        Self { status: stored.status.into(), updated_at, ..self }
    }
}

/// The findings of a site that an actor can see.
pub(super) struct Examination {
    pub(super) findings: Vec<Finding>,
    /// The examined spaces.
    pub(super) spaces: LinkedSpaces,
    /// All spaces of the site, including drafts and those that the actor cannot read.
    pub(super) site_spaces: BTreeSet<SpaceId>,
    /// `false` if the site has more links than were examined.
    pub(super) is_complete: bool,
}

impl Examination {
    /// Returns the change of the status of one of the findings.
    pub(super) fn status_change(
        &self,
        finding: &Finding,
        status: SettableFindingStatus,
        now: Timestamp,
    ) -> StatusChange {
        let id = |space: &SpaceRecord| space.id.clone();
        let space = id(self.spaces.get(finding.target.space).0);
        StatusChange {
            id: finding.id.clone(),
            new: FindingStatus { space, status, updated_at: now },
            findings: self.findings.iter().map(|finding| finding.id.clone()).collect(),
            examined: if self.is_complete {
                self.spaces.records().map(id).collect()
            } else {
                BTreeSet::new()
            },
            site_spaces: self.site_spaces.clone(),
        }
    }
}

impl Platform {
    /// Examines the spaces of a site that the actor can read, except drafts. Requires the right to manage the site.
    pub(super) async fn examine_site(&self, actor: &Actor, at: SiteRef<'_>) -> Result<Examination> {
        let tx = self.read().await?;
        let (_, site) = access::require_site(&tx, actor, at, SiteAction::Manage).await?;
        let outline = SiteOutline::load(&tx, &site).await?;
        let (ids, site_spaces) = spaces_of(&outline);
        let spaces = self.linked_spaces(&tx, actor, &ids).await?;
        let times = revision_times(&tx, &spaces).await?;
        let stored = statuses::load(&tx, at.site).await?;
        // Objects may need the same connection pool as the transaction, so it is ended first.
        drop(tx);
        let broken = self.broken_targets(actor, &spaces).await?;
        let mut findings = Vec::with_capacity(broken.targets.len());
        for (named, target) in broken.targets.into_iter().enumerate() {
            yield_after_each(YIELD_INTERVAL, named + 1).await;
            let id = finding_id(&spaces.get(target.space).0.id, &target.destination)?;
            let status = stored.as_ref().and_then(|stored| stored.statuses.get(&id));
            let created_at = times[target.space];
            findings.push(Finding::new(id, target, created_at).with_status(status));
        }
        Ok(Examination { findings, spaces, site_spaces, is_complete: broken.is_complete })
    }
}

/// Returns the spaces of a site that are not drafts, in the order of the site and without duplicates, and all spaces.
fn spaces_of(outline: &SiteOutline) -> (Vec<SpaceId>, BTreeSet<SpaceId>) {
    let (mut shown, mut known, mut all) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for place in outline.all_places() {
        all.insert(place.space.clone());
        if !outline.is_draft_place(place) && known.insert(&place.space) {
            shown.push(place.space.clone());
        }
    }
    (shown, all)
}

/// Returns the times of the live revisions of spaces.
async fn revision_times(tx: &Tx, spaces: &LinkedSpaces) -> Result<Vec<Timestamp>> {
    let keys: Vec<Key> =
        spaces.records().map(|space| RevisionRecord::key_for(&space.id, &space.head)).collect();
    let revisions: Vec<Option<Arc<RevisionRecord>>> = tx.get_many(&keys).await?;
    let time = |revision: Option<Arc<RevisionRecord>>| {
        let missing = || Error::internal("the live revision of a space has no record");
        revision.map(|revision| revision.created_at).ok_or_else(missing)
    };
    revisions.into_iter().map(time).collect()
}

/// Returns the id of the finding about a target in a space. It does not depend on the site.
fn finding_id(space: &SpaceId, destination: &str) -> Result<SiteFindingId> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(space.as_str().as_bytes()).update(b"\0").update(destination.as_bytes());
    let hash = hasher.finalize();
    BASE32.encode(&hash.as_bytes()[..ID_BYTES]).parse().map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_findings_are_stable() {
        let id = |space: &str, destination: &str| {
            finding_id(&space.parse().expect("an id"), destination).expect("an id").to_string()
        };
        assert_eq!(id("space", "/gone.md"), "5qxh6wbcx2q3szfznaawe3ao54");
        let ids = [id("space", "/a"), id("space", "/b"), id("spac", "e/a"), id("other", "/a")];
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    }
}
