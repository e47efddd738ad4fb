//! Deleted spaces: listing them, and excluding them from counters.
//!
//! Grants on deleted spaces and their site placements do not count. Each such record states whether its space is
//! deleted, so that counters can be derived from records alone. Deleting or restoring a space marks as many records as
//! fit into the transaction; a job marks the rest.

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use crate::{
    Result,
    model::{ContentTarget, JobId, Space, SpaceId, Timestamp},
    platform::{
        access::{self, AccessResolver, is_deleted},
        jobs::{Effect, Job, JobRun, Payload},
        kernel::{actor::Actor, platform::Platform},
        library::head::RESTORE_WINDOW,
        nouns::{Spaces, list_identities::tag},
    },
    policy::{SpaceAccess, SpaceAction},
    store::{
        Entity, Key, KeyBuf, ListIdentity, ListSpec, Lister, Page, PageRequest, Scan, Tx, decode, jobs, key,
        records::{GrantRecord, SiteSpaceRecord, SpaceRecord},
    },
};

/// Number of records of one kind examined per transaction.
const MARK_CHUNK: u32 = 200;

impl<'p> Spaces<'p> {
    /// Lists the deleted spaces of an organization that the actor may restore, most recent deletion first, each with
    /// the end of its restore window.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member.
    #[boxed]
    pub async fn list_deleted(self, page: &'p PageRequest) -> Result<Page<Space>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let mut resolver = AccessResolver::new(access::org(&tx, actor, org).await?, actor);
        let (prefix, identity) = (SpaceRecord::deleted_by_org(org), ListIdentity::new(tag::DELETED_SPACES));
        let mut list = Lister::new(ListSpec { prefix, rev: true, identity }, page)?;
        // Spaces past their restore window are omitted, even if the purge job is late.
        let oldest = platform.now().time() - RESTORE_WINDOW;
        list.not_below(&SpaceRecord::deleted_by_org(org).time(oldest).key());
        while let Some(rows) = list.rows(&tx).await? {
            let found = tx.get_many::<SpaceRecord>(&SpaceRecord::named_by_all(&rows)).await?;
            let seen = resolver.spaces(&tx, found).await?;
            list.offer_all(&rows, seen.into_iter().map(|space| space.filter(is_restorable)));
        }
        let page = list.finish(&tx, None).await?;
        let items = platform.space_views(&tx, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }
}

/// Returns `true` if the actor may restore the space.
fn is_restorable(access: &SpaceAccess) -> bool {
    !access.space().purging && access.require(SpaceAction::Manage).is_ok()
}

/// The payload of the job that marks the remaining records.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct MarkTrash {
    space: SpaceId,
}

impl Payload for MarkTrash {
    const KIND: &'static str = "space_trash_mark";
}

#[async_trait]
impl Job for MarkTrash {
    async fn run(self, platform: &Platform, _: &mut JobRun) -> Result<Effect> {
        let mut after = After::default();
        loop {
            let next = platform.write(&Actor::Platform, &mark_step(&self.space, &after)).await?;
            let Some(next) = next else { return Ok(Effect::Done) };
            after = next;
        }
    }
}

/// The last examined record of each kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct After {
    grant: Option<Key>,
    place: Option<Key>,
}

/// Marks a batch of records of a space. `Output` is the position from which to continue.
#[operation("space_trash_mark")]
async fn mark_step(tx: &mut Tx, space: &SpaceId, after: &After) -> Result<Option<After>> {
    let record: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(space)).await?;
    match record {
        Some(record) => mark_batch(tx, space, record.deleted_at.is_some(), after).await,
        None => Ok(None),
    }
}

/// Marks the records of a deleted or restored space. A job marks the records that exceed the batch.
pub(super) async fn mark(tx: &mut Tx, space: &SpaceId, job: &JobId, now: Timestamp) -> Result<()> {
    let is_deleted = is_deleted(tx, &ContentTarget::Space(space.clone())).await?;
    if mark_batch(tx, space, is_deleted, &After::default()).await?.is_some() {
        jobs::enqueue(tx, now, MarkTrash { space: space.clone() }.to_new_job(job, space, now)?).await?;
    }
    Ok(())
}

async fn mark_batch(
    tx: &mut Tx,
    space: &SpaceId,
    space_deleted: bool,
    after: &After,
) -> Result<Option<After>> {
    let grants = tx.scan(&scan(&GrantRecord::by_content(space.as_str()), after.grant.as_ref())).await?;
    let places = tx.scan(&scan(&SiteSpaceRecord::by_space(space), after.place.as_ref())).await?;
    let last = |rows: &[(Key, _)]| rows.last().map(|(key, _)| Key::clone(key));
    let next = After {
        grant: last(&grants).or_else(|| after.grant.clone()),
        place: last(&places).or_else(|| after.place.clone()),
    };
    let is_full = |rows: usize| rows == MARK_CHUNK as usize;
    let more = is_full(grants.len()) || is_full(places.len());
    for (_, value) in grants {
        let old: Arc<GrantRecord> = decode(value)?;
        if old.space_deleted != space_deleted {
            tx.put(&*old, GrantRecord { space_deleted, ..GrantRecord::clone(&old) })?;
        }
    }
    let keys: Vec<Key> = places.iter().map(|(row, _)| SiteSpaceRecord::named_by(row)).collect();
    for old in tx.get_many::<SiteSpaceRecord>(&keys).await?.into_iter().flatten() {
        if old.space_deleted != space_deleted {
            tx.put(&*old, SiteSpaceRecord { space_deleted, ..SiteSpaceRecord::clone(&old) })?;
        }
    }
    Ok(more.then_some(next))
}

fn scan(prefix: &KeyBuf, after: Option<&Key>) -> Scan {
    let mut scan = prefix.scan(MARK_CHUNK);
    if let Some(last) = after {
        scan.from = key::successor(last);
    }
    scan
}
