//! The filter of the change requests of an organization.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    ErrorKind, Result,
    model::{ChangeRequestStatus, SiteId, SpaceId, UserId},
    platform::{
        access::require_site,
        content::change_requests::{keep_waiting_for, request_key},
        kernel::actor::Actor,
        nouns::{SiteRef, filters::OrgRequestFilter},
    },
    policy::{OrgAccess, SiteAction},
    store::{
        Key, MAX_SCAN, Tx, Value, id_of,
        records::{ChangeRequestRecord, SiteSpaceRecord},
    },
};

/// The parsed filter of a list.
pub(super) struct Conditions {
    pub(super) statuses: Vec<ChangeRequestStatus>,
    creator: Option<UserId>,
    contributor: Option<UserId>,
    reviewer: Option<UserId>,
    /// The only spaces whose change requests are listed.
    pub(super) spaces: Option<BTreeSet<SpaceId>>,
}

impl Conditions {
    /// Parses a filter. Returns `None` if it matches nothing.
    pub(super) async fn new(
        tx: &Tx,
        actor: &Actor,
        access: &OrgAccess,
        filter: &OrgRequestFilter,
    ) -> Result<Option<Self>> {
        let user = |name: &Option<String>| name.as_ref().map(|name| name.parse::<UserId>()).transpose();
        let users = (user(&filter.creator), user(&filter.contributor), user(&filter.requested_reviewer));
        // A string that is not a valid id matches nothing.
        let (Ok(creator), Ok(contributor), Ok(reviewer)) = users else { return Ok(None) };
        if filter.topic.is_some() {
            return Ok(None);
        }
        let mut spaces = match filter.site.as_deref().map(str::parse::<SiteId>) {
            Some(Ok(site)) => Some(spaces_of_site(tx, actor, access, &site).await?.unwrap_or_default()),
            Some(Err(_)) => return Ok(None),
            None => None,
        };
        if let Some(space) = &filter.space {
            let Ok(space) = space.parse::<SpaceId>() else { return Ok(None) };
            let is_on_site = spaces.as_ref().is_none_or(|spaces| spaces.contains(&space));
            spaces = Some(is_on_site.then_some(space).into_iter().collect());
        }
        let statuses = filter.statuses.clone();
        Ok(Some(Self { statuses, creator, contributor, reviewer, spaces }))
    }

    /// Reads the change requests of index rows. Those that do not match are `None`.
    pub(super) async fn matching(
        &self,
        tx: &Tx,
        rows: &[(Key, Value)],
    ) -> Result<Vec<Option<Arc<ChangeRequestRecord>>>> {
        let keys = rows.iter().map(|(_, value)| request_key(value)).collect::<Result<Vec<Key>>>()?;
        let records = tx.get_many::<ChangeRequestRecord>(&keys).await?;
        let records = keep_waiting_for(tx, records, self.reviewer.as_ref()).await?;
        Ok(records.into_iter().map(|request| request.filter(|request| self.fits(request))).collect())
    }

    fn fits(&self, request: &ChangeRequestRecord) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&request.status))
            && self.creator.as_ref().is_none_or(|user| request.created_by == *user)
            && self.contributor.as_ref().is_none_or(|user| request.contributors.contains(user))
    }
}

/// Returns `true` if the actor may see a site of the organization.
pub(in crate::platform) async fn sees_site(
    tx: &Tx,
    actor: &Actor,
    access: &OrgAccess,
    site: &SiteId,
) -> Result<bool> {
    let at = SiteRef { org: &access.org().id, site };
    match require_site(tx, actor, at, SiteAction::View).await {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the spaces of a site of the organization, or `None` if the actor may not see it.
pub(in crate::platform) async fn spaces_of_site(
    tx: &Tx,
    actor: &Actor,
    access: &OrgAccess,
    site: &SiteId,
) -> Result<Option<BTreeSet<SpaceId>>> {
    if !sees_site(tx, actor, access, site).await? {
        return Ok(None);
    }
    let rows = tx.scan_prefix(&SiteSpaceRecord::by_site(site), MAX_SCAN).await?;
    let keys = rows.iter().map(|(row, _)| Ok(SiteSpaceRecord::key_for(&id_of(row)?)));
    let places = tx.get_many::<SiteSpaceRecord>(&keys.collect::<Result<Vec<Key>>>()?).await?;
    Ok(Some(places.into_iter().flatten().map(|place| place.space.clone()).collect()))
}
