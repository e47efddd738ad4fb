//! Write operations on collections.

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
            InsertionPoint, MAX_MOVED, allocate_ranks, chain, check_capacity, check_depth, drop_grants,
            parent, require_parent, resolve_parent,
        },
    },
    policy::CollectionAction,
    store::{
        MAX_BATCH_OPS, MAX_SCAN, Operation, StoreResult, Tx, ids_of, jobs,
        records::{CollectionRecord, Parent, SpaceRecord, parse_target},
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
    if let Some(parent) = resolve_parent(tx, actor, org, parent).await? {
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
        access::check_level(access.effective_role(), after.map(|after| after.effective_role()))?;
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
    type Output = ();
    const NAME: &'static str = "collection_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::collection(tx, &self.actor, &self.id).await?;
        let old = Arc::clone(access.require(CollectionAction::Manage)?);
        self.empty(tx, &old).await?;
        tx.delete(&*old);
        if self.leaves_more(tx, &old).await? {
            let job = PurgeGrants { content: old.id.to_string() }.to_new_job(&self.job, &old.id, self.now)?;
            jobs::enqueue(tx, self.now, job).await?;
        }
        Ok(())
    }
}

impl CollectionDeletion {
    /// Removes some of the explicit roles and invite links of the collection, leaving room in the transaction to move
    /// its children.
    ///
    /// Returns `true` if more may remain.
    async fn leaves_more(&self, tx: &mut Tx, old: &CollectionRecord) -> Result<bool> {
        if tx.changes() > MAX_BATCH_OPS / 2 {
            return Ok(true);
        }
        let id = old.id.as_str();
        Ok(drop_grants(tx, id, GRANTS_CHUNK / 10).await? | parent::drop_links(tx, id).await?)
    }

    /// Moves the children of the collection to its parent.
    async fn empty(&self, tx: &mut Tx, old: &CollectionRecord) -> Result<()> {
        let children = tx.scan_prefix(&Parent::In(&old.id).children(), MAX_SCAN).await?;
        let children: Vec<ContentTarget> = children.iter().map(parse_target).collect::<StoreResult<_>>()?;
        let deleted = tx.scan_prefix(&SpaceRecord::deleted_by_parent(&old.id), MAX_SCAN).await?;
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
            // The collection itself leaves its parent, which frees one slot.
            let more = (children.len() as u64).saturating_sub(1);
            check_capacity(tx, parent, more).await?;
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
                ContentTarget::Space(id) => spaces.push(SpaceRecord::key_for(&id)),
                ContentTarget::Collection(id) => collections.push(CollectionRecord::key_for(&id)),
            }
        }
        let spaces: Vec<Arc<SpaceRecord>> = tx.get_many(&spaces).await?.into_iter().flatten().collect();
        let collections: Vec<Arc<CollectionRecord>> =
            tx.get_many(&collections).await?.into_iter().flatten().collect();
        let parent = Parent::new(&old.organization, old.parent.as_ref());
        let gap = InsertionPoint::before_child(parent, &old.rank, old.id.as_str())
            .without_child(ContentTarget::Collection(old.id.clone()));
        let ranks = allocate_ranks(tx, &gap, spaces.len() + collections.len(), self.now).await?;
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
