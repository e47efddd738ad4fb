//! Collections.

mod change;

use change::{Create, Delete, DropGrants, Update};
use serde::{Deserialize, Serialize};

use super::{
    Actor, Platform,
    access::{self, Sight},
    tree::{Met, Move, Reach, Transfer, Walk, Wanted},
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        Collection, CollectionId, CollectionObject, CollectionTitle, CollectionUrls, CreateCollection,
        MoveContent, OrgId, Space, TransferContent, UpdateCollection,
    },
    policy::{CollectionAccess, OrgAction, SpaceAccess},
    store::{
        Operation, Page, PageRequest, Tx,
        records::{Child, CollectionRecord, Place, SpaceRecord},
    },
};

/// The kind of the job that removes roles on content that is gone.
pub(super) const PURGE_GRANTS: &str = "grants_purge";
/// Roles by name that one transaction removes.
const GRANTS_CHUNK: u32 = 500;

/// What the removal of roles on content that is gone works on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PurgeGrants {
    content: String,
}

impl Platform {
    /// Lists the collections of an organization that the actor may see, in the order of the tree (SPEC 4.3): each
    /// before those that lie in it. `reach` tells whether those that lie in others are listed.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member; `Invalid` for a wrong page or limit.
    pub fn list_collections<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        reach: Reach,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Collection>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let access = access::org(&tx, actor, org).await?;
            // The number of all collections is for those only who may see them all.
            let all = reach == Reach::Nested && access.require(OrgAction::Administrate).is_ok();
            let mut sight = Sight::new(access, actor);
            let mut walk = Walk::new(Place::Top(org), (Wanted::Collections, reach), page)?;
            while let Some(met) = walk.next(&tx).await? {
                let seen = seen_collections(&tx, &mut sight, &met).await?;
                for (met, access) in met.iter().zip(seen) {
                    if !walk.offer(met, access.map(|access| self.collection_view(&access))) {
                        break;
                    }
                }
            }
            let count = if all { Some(tx.number(&CollectionRecord::count_in(org)).await?) } else { None };
            walk.finish(&tx, count.and_then(|n| u64::try_from(n).ok())).await
        })
    }

    /// Lists the spaces that lie directly in a collection and that the actor may see, in their order (SPEC 4.3).
    ///
    /// # Errors
    /// `NotFound` where there is no such collection, or none the actor may see; `Invalid` for a wrong page or limit.
    pub fn list_collection_spaces<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a CollectionId,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Space>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let org = access::collection(&tx, actor, id).await?.collection().organization.clone();
            let sight = Sight::new(access::org(&tx, actor, &org).await?, actor);
            let walk = Walk::new(Place::In(id), (Wanted::Spaces, Reach::Direct), page)?;
            self.walked_spaces(&tx, sight, walk, None).await
        })
    }

    /// The page of spaces of a walk.
    pub(super) async fn walked_spaces(
        &self,
        tx: &Tx,
        mut sight: Sight,
        mut walk: Walk<SpaceAccess>,
        count: Option<u64>,
    ) -> Result<Page<Space>> {
        while let Some(met) = walk.next(tx).await? {
            let seen = seen_spaces(tx, &mut sight, &met).await?;
            for (met, access) in met.iter().zip(seen) {
                if !walk.offer(met, access) {
                    break;
                }
            }
        }
        let page = walk.finish(tx, count).await?;
        let items = self.space_views(tx, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Creates a collection, behind everything that is where it is created (SPEC 4.3).
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` where it is created; `Invalid` for an unknown collection to
    /// create it in; `Conflict` when that holds too much, or lies too deep.
    pub fn create_collection<'a>(
        &'a self,
        actor: &'a Actor,
        org: &'a OrgId,
        new: CreateCollection,
    ) -> BoxFuture<'a, Result<Collection>> {
        Box::pin(self.once(actor, async move {
            let untitled =
                CollectionTitle::cut("Untitled").ok_or_else(|| Error::internal("a constant title fits"))?;
            let now = self.now();
            let record = CollectionRecord {
                id: self.id(),
                organization: org.clone(),
                parent: None,
                rank: crate::model::Rank::at_time(now),
                title: new.title.unwrap_or(untitled),
                description: None,
                default_level: Default::default(),
                created_by: actor.require_user()?.clone(),
                created_at: now,
            };
            let id = record.id.clone();
            let create = Create { actor: actor.clone(), record, parent: new.parent };
            self.write_collection(actor, &create, &id).await
        }))
    }

    /// Reads a collection.
    ///
    /// # Errors
    /// `NotFound` where there is none, or none the actor may see.
    pub fn get_collection<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a CollectionId,
    ) -> BoxFuture<'a, Result<Collection>> {
        Box::pin(async move {
            let tx = self.read().await?;
            self.collection_seen(&tx, actor, id).await
        })
    }

    async fn collection_seen(&self, tx: &Tx, actor: &Actor, id: &CollectionId) -> Result<Collection> {
        Ok(self.collection_view(&access::collection(tx, actor, id).await?))
    }

    /// Runs a write, and answers with a collection as the write leaves it.
    async fn write_collection<O: Operation>(
        &self,
        actor: &Actor,
        operation: &O,
        id: &CollectionId,
    ) -> Result<Collection> {
        self.write_and_show(actor, operation, |done| Box::pin(self.collection_seen(done.tx, actor, id))).await
    }

    /// Changes a collection (SPEC 4.3). What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on it, and for a level above the actor's role; `Precondition`
    /// for a level that would hide it from the actor.
    pub fn update_collection<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a CollectionId,
        change: UpdateCollection,
    ) -> BoxFuture<'a, Result<Collection>> {
        Box::pin(async move {
            self.write_collection(actor, &Update { actor: actor.clone(), id: id.clone(), change }, id).await
        })
    }

    /// Deletes a collection. What it contains, deleted spaces too, comes to lie where it lay, in the same order. Answers
    /// whether there was one: a collection that is missing, or that the actor may not see, is none.
    ///
    /// # Errors
    /// `Forbidden` without the role `create` on it, and where it lies when something is in it; `Conflict` when what
    /// it contains is more than fits there.
    pub fn delete_collection<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a CollectionId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let operation = Delete { actor: actor.clone(), id: id.clone(), now: self.now(), job: self.id() };
            match self.write(actor, &operation).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                other => other.map(|()| true),
            }
        })
    }

    /// Moves a collection, with all that is in it, to another collection, to the top of its organization, or to another
    /// position where it is (SPEC 4.3). Without a position it comes to lie behind everything else.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on it, where it lies and where it goes; `Invalid` for a
    /// request that says nothing, or names what is not there; `Conflict` when it would lie in itself, too deep, in
    /// another organization, or where there is too much.
    pub fn move_collection<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a CollectionId,
        request: MoveContent,
    ) -> BoxFuture<'a, Result<Collection>> {
        Box::pin(async move {
            let moved = Move::new(actor, Child::Collection(id.clone()), request, self.now())?;
            self.write_collection(actor, &moved, id).await
        })
    }

    /// Gives a collection, with all that is in it, to another organization, where it lies at the top (SPEC 4.3).
    /// Roles that somebody has on any of it by name end.
    ///
    /// # Errors
    /// `NotFound`, for the other organization too; `Forbidden` without the role `create` in both and on everything in
    /// the collection; `Conflict` when it is there already; `Precondition` when a space in it is deleted, on a site
    /// or being imported, or when there is too much in it.
    pub fn transfer_collection<'a>(
        &'a self,
        actor: &'a Actor,
        id: &'a CollectionId,
        request: TransferContent,
    ) -> BoxFuture<'a, Result<Collection>> {
        Box::pin(async move {
            let child = Child::Collection(id.clone());
            let to = request.organization;
            let transfer = Transfer { actor: actor.clone(), child, to, now: self.now() };
            self.write_collection(actor, &transfer, id).await
        })
    }

    pub(super) fn collection_view(&self, access: &CollectionAccess) -> Collection {
        let collection = access.collection();
        let (location, app) = self.urls().collection(&collection.id);
        Collection {
            object: CollectionObject::Is,
            id: collection.id.clone(),
            title: collection.title.clone(),
            description: collection.description.clone(),
            organization: collection.organization.clone(),
            parent: collection.parent.clone(),
            default_level: access.level(),
            urls: CollectionUrls { location, app },
            permissions: access.permissions(),
        }
    }

    /// One run of the job that removes roles on content that is gone.
    pub(super) async fn purge_grants(&self, purge: PurgeGrants) -> Result<()> {
        let step = DropGrants(purge.content);
        while self.write(&Actor::Platform, &step).await? {}
        Ok(())
    }
}

async fn seen_collections(tx: &Tx, sight: &mut Sight, met: &[Met]) -> Result<Vec<Option<CollectionAccess>>> {
    let ids = met.iter().filter_map(|met| match &met.child {
        Child::Collection(id) => Some(id),
        Child::Space(_) => None,
    });
    let keys: Vec<_> = ids.map(CollectionRecord::at).collect();
    sight.collections(tx, tx.get_many(&keys).await?).await
}

async fn seen_spaces(tx: &Tx, sight: &mut Sight, met: &[Met]) -> Result<Vec<Option<SpaceAccess>>> {
    let ids = met.iter().filter_map(|met| match &met.child {
        Child::Space(id) => Some(id),
        Child::Collection(_) => None,
    });
    let keys: Vec<_> = ids.map(SpaceRecord::at).collect();
    sight.spaces(tx, tx.get_many(&keys).await?).await
}
