//! Permanent removal of deleted spaces.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::boxed;

use crate::{
    Error, Result,
    model::Timestamp,
    platform::{
        content::{comments, reviews},
        jobs::{Effect, Job, JobRun},
        kernel::{actor::Actor, platform::Platform},
        library::{
            follow,
            spaces::operations::PurgeSpace,
            tree::{self, parent},
        },
        nouns::SpaceHandle,
        sites::{settings, structure::places},
    },
    store::{
        Key, Operation, Scan, Tx, id_of,
        records::{ChangeRequestRecord, RevisionRecord, SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

/// Number of records removed per purge transaction.
const SPACE_PURGE_BATCH: u32 = 500;

impl<'p> SpaceHandle<'p> {
    /// Permanently removes a deleted space, even before its restore window ends: its record, revisions, comments,
    /// change requests, site placements, and the translations from and into it.
    ///
    /// Its objects, which other spaces may share, are removed by a later [collection](crate::platform::Caller::collect)
    /// once they are unreferenced. Reserved for the platform itself.
    ///
    /// # Errors
    ///
    /// `Forbidden` for users; `NotFound` unless the space is deleted.
    #[boxed]
    pub async fn purge(self) -> Result<()> {
        let (platform, ref actor, id) = self.parts();
        actor.require_platform()?;
        let space: Option<Arc<SpaceRecord>> = platform.read().await?.get(&SpaceRecord::key_for(id)).await?;
        let deleted_at =
            space.and_then(|space| space.deleted_at).ok_or_else(|| Error::not_found("deleted space"))?;
        PurgeSpace { space: id.clone(), deleted_at }.purge(platform).await
    }
}

impl PurgeSpace {
    async fn purge(&self, platform: &Platform) -> Result<()> {
        let step = PurgeStep { purge: self.clone(), now: platform.now() };
        while !platform.write(&Actor::Platform, &step).await? {}
        Ok(())
    }
}

#[async_trait]
impl Job for PurgeSpace {
    async fn run(self, platform: &Platform, _: &mut JobRun) -> Result<Effect> {
        self.purge(platform).await?;
        Ok(Effect::Done)
    }
}

/// Removes a batch of a deleted space's records. `Output` is `true` if nothing remains.
struct PurgeStep {
    purge: PurgeSpace,
    now: Timestamp,
}

#[async_trait]
impl Operation for PurgeStep {
    type Output = bool;
    const NAME: &'static str = "space_purge";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&self.purge.space)).await?;
        // The space was restored, or deleted again with another job.
        let Some(space) = space.filter(|space| space.deleted_at == Some(self.purge.deleted_at)) else {
            return Ok(true);
        };
        if !space.purging {
            // From here on, it cannot be restored, so a restored space is never incomplete.
            tx.put(&*space, SpaceRecord { purging: true, ..SpaceRecord::clone(&space) })?;
            return Ok(false);
        }
        self.drop_part(tx, &space).await?;
        if !tx.is_empty() {
            return Ok(false);
        }
        tx.delete_value(ChangeRequestRecord::last_number(&space.id));
        tx.delete(&*space);
        Ok(true)
    }
}

impl PurgeStep {
    /// Removes a batch from the first remaining part. Each batch fits into a transaction; all batches together may not.
    async fn drop_part(&self, tx: &mut Tx, space: &SpaceRecord) -> Result<()> {
        let id = space.id.as_str();
        if self.drop_places(tx, space).await?
            || self.drop_requests(tx, space).await?
            || comments::delete_batch(tx, id).await?
            || follow::translations::delete_batch(tx, &space.id, self.now).await?
        {
            return Ok(());
        }
        tree::drop_grants(tx, id, SPACE_PURGE_BATCH).await?;
        if tx.is_empty() {
            parent::drop_links(tx, id).await?;
        }
        if tx.is_empty() {
            let rows = tx.scan_prefix(&RevisionRecord::by_space(&space.id), SPACE_PURGE_BATCH / 2).await?;
            let keys: Vec<Key> = rows.into_iter().map(|(key, _)| key).collect();
            tx.delete_all::<RevisionRecord>(&keys).await?;
        }
        Ok(())
    }

    async fn drop_places(&self, tx: &mut Tx, space: &SpaceRecord) -> Result<bool> {
        let rows = tx.scan_prefix(&SiteSpaceRecord::by_space(&space.id), SPACE_PURGE_BATCH / 10).await?;
        for (row, _) in &rows {
            let id = id_of(row)?;
            let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::key_for(&id)).await?;
            let Some(place) = place else { continue };
            let parts = vec![place.id.to_string()];
            // The next step removes the remaining redirects and the placement.
            if !settings::delete_redirect_batch(tx, parts).await?.is_empty() {
                break;
            }
            let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(&place.site)).await?;
            if let Some(site) = site {
                places::remove_place(tx, &site, &place).await?;
            }
            if tx.changes() > SPACE_PURGE_BATCH as usize {
                break;
            }
        }
        Ok(!rows.is_empty())
    }

    async fn drop_requests(&self, tx: &mut Tx, space: &SpaceRecord) -> Result<bool> {
        let (from, to) = ChangeRequestRecord::by_space(&space.id).prefix_range();
        let rows = tx.scan(&Scan { from, to, rev: false, limit: SPACE_PURGE_BATCH / 10 }).await?;
        for (_, value) in &rows {
            let id = crate::store::records::linked_id(value)?;
            let request: Option<Arc<ChangeRequestRecord>> =
                tx.get(&ChangeRequestRecord::key_for(&id)).await?;
            if let Some(request) = request {
                if reviews::delete_request_batch(tx, &request).await? {
                    break;
                }
                tx.delete(&*request);
            }
            // A change request may have many contributors, each in a separate row.
            if tx.changes() > SPACE_PURGE_BATCH as usize {
                break;
            }
        }
        Ok(!rows.is_empty())
    }
}
