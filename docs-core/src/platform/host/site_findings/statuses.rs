//! Stored statuses of the findings of a site.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use docs_macros::operation;

use crate::{
    Error, Result,
    model::{OrgId, SettableFindingStatus, SiteFinding, SiteFindingId, SiteId, SpaceId},
    platform::{access, kernel::actor::Actor, nouns::SiteRef},
    policy::SiteAction,
    store::{
        Tx,
        records::{FindingStatus, SiteFindingsRecord},
    },
};

/// Maximum number of stored statuses per site.
pub(in crate::platform) const MAX_STORED_STATUSES: usize = 1_000;

/// Reads the stored statuses of a site.
pub(super) async fn load(tx: &Tx, site: &SiteId) -> Result<Option<Arc<SiteFindingsRecord>>> {
    Ok(tx.get(&SiteFindingsRecord::key_for(site)).await?)
}

/// Returns a finding with its status as of the transaction.
pub(super) async fn with_current_status(
    tx: &Tx,
    actor: &Actor,
    at: SiteRef<'_>,
    shown: &SiteFinding,
) -> Result<SiteFinding> {
    access::require_site(tx, actor, at, SiteAction::Manage).await?;
    let stored = load(tx, at.site).await?;
    let status = stored.as_ref().and_then(|stored| stored.statuses.get(&shown.id));
    let mut shown = shown.clone();
    shown.status = status.map_or(SettableFindingStatus::Open, |status| status.status).into();
    shown.updated_at = status.map_or(shown.created_at, |status| shown.created_at.max(status.updated_at));
    Ok(shown)
}

/// A change of the status of a finding.
pub(super) struct StatusChange {
    pub(super) id: SiteFindingId,
    pub(super) new: FindingStatus,
    /// The current findings.
    pub(super) findings: BTreeSet<SiteFindingId>,
    /// The spaces whose findings are all known.
    pub(super) examined: BTreeSet<SpaceId>,
    /// All spaces of the site.
    pub(super) site_spaces: BTreeSet<SpaceId>,
}

impl StatusChange {
    /// Returns the stored statuses after the change, without those of findings that no longer exist.
    fn apply(&self, mut statuses: Statuses) -> Result<Statuses> {
        let now = statuses.get(&self.id).map_or(SettableFindingStatus::Open, |stored| stored.status);
        if now == self.new.status {
            return Ok(statuses);
        }
        statuses.retain(|id, stored| {
            let is_known = self.examined.contains(&stored.space);
            self.site_spaces.contains(&stored.space) && (!is_known || self.findings.contains(id))
        });
        statuses.insert(self.id.clone(), self.new.clone());
        if statuses.len() > MAX_STORED_STATUSES {
            // A finding without a stored status is open.
            statuses.retain(|_, stored| stored.status != SettableFindingStatus::Open);
        }
        if statuses.len() > MAX_STORED_STATUSES {
            return Err(Error::conflict(format!(
                "at most {MAX_STORED_STATUSES} findings of a site can be done or canceled; repair their links, or set \
                 some of them to `open`"
            )));
        }
        Ok(statuses)
    }
}

type Statuses = BTreeMap<SiteFindingId, FindingStatus>;

#[operation("site_findings_update")]
pub(super) async fn findings_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    site: &SiteId,
    change: &StatusChange,
) -> Result<()> {
    access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await?;
    let old = load(tx, site).await?;
    let before = old.as_ref().map(|old| old.statuses.clone()).unwrap_or_default();
    let statuses = change.apply(before.clone())?;
    if statuses == before {
        return Ok(());
    }
    let new = SiteFindingsRecord { site: site.clone(), statuses };
    match old {
        None => drop(tx.create(new)),
        Some(old) => drop(tx.put(&*old, new)?),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::model::Timestamp;

    fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(name: &str) -> T {
        name.parse().expect("an id")
    }

    fn stored(space: &str, status: SettableFindingStatus) -> FindingStatus {
        FindingStatus { space: id(space), status, updated_at: Timestamp::new(DateTime::UNIX_EPOCH) }
    }

    /// Creates a change of the finding `new` of the space `seen`. The site also has the space `hidden`.
    fn change(status: SettableFindingStatus) -> StatusChange {
        StatusChange {
            id: id("new"),
            new: stored("seen", status),
            findings: BTreeSet::from([id("new"), id("current")]),
            examined: BTreeSet::from([id("seen")]),
            site_spaces: BTreeSet::from([id("seen"), id("hidden")]),
        }
    }

    #[test]
    fn statuses_of_vanished_findings_are_dropped_by_a_change() {
        let done = SettableFindingStatus::Done;
        let before = Statuses::from([
            (id("current"), stored("seen", done)),
            (id("vanished"), stored("seen", done)),
            (id("unknown"), stored("hidden", done)),
            (id("elsewhere"), stored("removed", done)),
        ]);
        let after = change(done).apply(before.clone()).expect("changed");
        let kept: Vec<&str> = after.keys().map(SiteFindingId::as_str).collect();
        assert_eq!(kept, ["current", "new", "unknown"]);
        let unchanged = change(SettableFindingStatus::Open).apply(before.clone());
        assert_eq!(unchanged.expect("unchanged"), before);
    }

    #[test]
    fn stored_statuses_of_a_site_are_bounded() {
        let full = |status| -> Statuses {
            (0..MAX_STORED_STATUSES).map(|n| (id(&format!("f{n}")), stored("hidden", status))).collect()
        };
        let done = SettableFindingStatus::Done;
        let refused = change(done).apply(full(SettableFindingStatus::Canceled)).expect_err("full");
        assert!(refused.message().starts_with("at most 1000 findings of a site"), "{}", refused.message());
        let mut before = full(done);
        before.insert(id("new"), stored("seen", done));
        before.remove(&id::<SiteFindingId>("f0"));
        assert_eq!(
            change(SettableFindingStatus::Open).apply(before).expect("open").len(),
            MAX_STORED_STATUSES
        );
        let after = change(done).apply(full(SettableFindingStatus::Open)).expect("open ones are evicted");
        assert_eq!(after.into_keys().collect::<Vec<_>>(), [id("new")]);
    }
}
