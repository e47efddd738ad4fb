//! Write operations of collections.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use docs_macros::operation;

use super::{GRANTS_CHUNK, PurgeGrants};
use crate::{
    Error, Result,
    model::{CollectionId, ContentTarget, JobId, Rank, SpaceId, Timestamp, UpdateCollection},
    platform::{
        access,
        jobs::Payload as _,
        kernel::actor::Actor,
        library::tree::{
            Gap, MAX_MOVED, chain, check_depth, check_number, drop_grants, make_room, parent, require_parent,
            room_in,
        },
    },
    policy::CollectionAction,
    store::{
        MAX_BATCH_OPS, MAX_SCAN, Operation, StoreResult, Tx, ids_of, jobs,
        records::{CollectionRecord, Parent, SpaceRecord, target_of},
    },
};

#[operation("collection_create")]
pub(super) async fn collection_creation(
    tx: &mut Tx,
    actor: &Actor,
    record: &CollectionRecord,
    parent: Option<&str>,
) -> Result<()> {
    let mut record = record.clone();
    let org = &record.organization;
    if let Some(parent) = room_in(tx, actor, org, parent).await? {
        check_depth(chain(tx, &parent).await?.len() + 1)?;
        record.parent = Some(parent.id.clone());
    }
    tx.create(record);
    Ok(())
}

#[operation("collection_update")]
pub(super) async fn collection_update(
    tx: &mut Tx,
    actor: &Actor,
    id: &CollectionId,
    change: &UpdateCollection,
) -> Result<()> {
    let access = access::collection(tx, actor, id).await?;
    let old = access.require(CollectionAction::Manage)?;
    let change = change.clone();
    let mut new = CollectionRecord::clone(old);
    new.title = change.title.unwrap_or(new.title);
    new.description = change.description.apply(new.description);
    new.default_level = old.default_level.patched(&change.default_level);
    let new_level = new.default_level != old.default_level;
    if new != **old {
        tx.put(&**old, new)?;
    }
    if new_level {
        let after = access::collection(tx, actor, id).await;
        access::check_level(access.standing(), after.map(|after| after.standing()))?;
    }
    Ok(())
}

pub(super) struct CollectionDeletion {
    pub(super) actor: Actor,
    pub(super) id: CollectionId,
    pub(super) now: Timestamp,
    pub(super) job: JobId,
}

#[async_trait]
impl Operation for CollectionDeletion {
    type Out = ();
    const NAME: &'static str = "collection_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::collection(tx, &self.actor, &self.id).await?;
        let old = Arc::clone(access.require(CollectionAction::Manage)?);
        self.empty(tx, &old).await?;
        tx.delete(&*old);
        if self.leaves_more(tx, &old).await? {
            let job = PurgeGrants { content: old.id.to_string() }.about(&self.job, &old.id, self.now)?;
            jobs::enqueue(tx, self.now, job).await?;
        }
        Ok(())
    }
}

impl CollectionDeletion {
    /// Removes some of the roles and links of the collection, within the limit of the batch that also moves its
    /// content.
    ///
    /// Returns `true` if there may be more.
    async fn leaves_more(&self, tx: &mut Tx, old: &CollectionRecord) -> Result<bool> {
        if tx.changes() > MAX_BATCH_OPS / 2 {
            return Ok(true);
        }
        let id = old.id.as_str();
        Ok(drop_grants(tx, id, GRANTS_CHUNK / 10).await? | parent::drop_links(tx, id).await?)
    }

    /// Moves the content of the collection to its parent.
    async fn empty(&self, tx: &mut Tx, old: &CollectionRecord) -> Result<()> {
        let children = tx.below(&Parent::In(&old.id).children(), MAX_SCAN).await?;
        let children: Vec<ContentTarget> = children.iter().map(target_of).collect::<StoreResult<_>>()?;
        let deleted = tx.below(&SpaceRecord::deleted_in(&old.id), MAX_SCAN).await?;
        let deleted: Vec<SpaceId> = ids_of(&deleted)?;
        let number = children.len() + deleted.len();
        if number == 0 {
            return Ok(());
        }
        require_parent(tx, &self.actor, &old.organization, old.parent.as_ref()).await?;
        if number > MAX_MOVED {
            return Err(Error::conflict(
                "the collection contains too many deleted spaces; move part of its content, or wait until \
                 they are purged",
            ));
        }
        if let Some(parent) = &old.parent {
            // The collection itself leaves its parent, so one place becomes free.
            let more = (children.len() as u64).saturating_sub(1);
            check_number(tx, parent, more).await?;
        }
        self.raise(tx, old, children.into_iter().chain(deleted.into_iter().map(ContentTarget::Space))).await
    }

    async fn raise(
        &self,
        tx: &mut Tx,
        old: &CollectionRecord,
        inside: impl Iterator<Item = ContentTarget>,
    ) -> Result<()> {
        let (mut spaces, mut collections) = (Vec::new(), Vec::new());
        for child in inside {
            match child {
                ContentTarget::Space(id) => spaces.push(SpaceRecord::at(&id)),
                ContentTarget::Collection(id) => collections.push(CollectionRecord::at(&id)),
            }
        }
        let spaces: Vec<Arc<SpaceRecord>> = tx.get_many(&spaces).await?.into_iter().flatten().collect();
        let collections: Vec<Arc<CollectionRecord>> =
            tx.get_many(&collections).await?.into_iter().flatten().collect();
        let parent = Parent::of(&old.organization, old.parent.as_ref());
        let gap = Gap::before(parent, &old.rank, old.id.as_str())
            .without(ContentTarget::Collection(old.id.clone()));
        let ranks = make_room(tx, &gap, spaces.len() + collections.len(), self.now).await?;
        let mut order: Vec<(Rank, &str)> =
            spaces.iter().map(|space| (space.rank(), space.id.as_str())).collect();
        order.extend(collections.iter().map(|inner| (inner.rank.clone(), inner.id.as_str())));
        order.sort();
        let new: HashMap<&str, Rank> = order.into_iter().map(|(_, id)| id).zip(ranks).collect();
        let rank_of =
            |id: &str| new.get(id).cloned().ok_or_else(|| Error::internal("fewer ranks than requested"));
        for space in &spaces {
            let (parent, rank) = (old.parent.clone(), Some(rank_of(space.id.as_str())?));
            tx.put(&**space, SpaceRecord { parent, rank, ..SpaceRecord::clone(space) })?;
        }
        for inner in &collections {
            let (parent, rank) = (old.parent.clone(), rank_of(inner.id.as_str())?);
            tx.put(&**inner, CollectionRecord { parent, rank, ..CollectionRecord::clone(inner) })?;
        }
        Ok(())
    }
}
