//! Collections.

mod change;

use async_trait::async_trait;
use change::{CollectionCreation, CollectionDeletion, CollectionUpdate, DropGrants};
use serde::{Deserialize, Serialize};

use super::{
    Actor, Platform, Right,
    access::{self, AccessResolver},
    jobs::{Effect, Job, Run},
    nouns::{CollectionHandle, Collections},
    tree::{ContentMove, Met, Reach, Transfer, Walk, Wanted},
};
use crate::{
    BoxFuture, Error, Result,
    model::{
        Collection, CollectionId, CollectionObject, CollectionTitle, CollectionUrls, ContentTarget,
        CreateCollection, MoveContent, Space, TransferContent, UpdateCollection,
    },
    policy::{CollectionAccess, OrgAction, SpaceAccess},
    store::{
        Operation, Page, PageRequest, Tx,
        records::{CollectionRecord, Parent, SpaceRecord},
    },
};

/// Roles by name that one transaction removes.
const GRANTS_CHUNK: u32 = 500;

/// What the removal of roles on content that is gone works on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PurgeGrants {
    content: String,
}

#[async_trait]
impl Job for PurgeGrants {
    const KIND: &'static str = "grants_purge";

    async fn run(self, platform: &Platform, _: &mut Run) -> Result<Effect> {
        let step = DropGrants(self.content);
        while platform.write(&Actor::Platform, &step).await? {}
        Ok(Effect::Done)
    }
}

impl<'p> Collections<'p> {
    /// Lists the collections of an organization that the actor may see, in the order of the tree: each before those
    /// that lie in it. `reach` decides whether those that lie in others are listed.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, Reach}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let top = me.org(org).collections().list(Reach::Direct, &PageRequest::default()).await?;
    /// for collection in top.items {
    ///     println!("{}", collection.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(self, reach: Reach, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<Collection>>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let access = access::org(&tx, actor, org).await?;
            // The number of all collections is for those only who may see them all.
            let all = reach == Reach::Nested && access.require(OrgAction::Administrate).is_ok();
            let mut resolver = AccessResolver::new(access, actor);
            let mut walk = Walk::new(Parent::Top(org), (Wanted::Collections, reach), page)?;
            while let Some(met) = walk.next(&tx).await? {
                let seen = seen_collections(&tx, &mut resolver, &met).await?;
                for (met, access) in met.iter().zip(seen) {
                    if !walk.offer(met, access.map(|access| platform.collection_view(&access))) {
                        break;
                    }
                }
            }
            let count = if all { Some(tx.number(&CollectionRecord::count_in(org)).await?) } else { None };
            walk.finish(&tx, count.and_then(|n| u64::try_from(n).ok())).await
        })
    }

    /// Creates a collection, behind everything that is where it is created.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` where it is created; `Invalid` for an unknown collection to
    /// create it in; `Conflict` when that holds too much, or lies too deep.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{CreateCollection, OrgId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = CreateCollection { title: Some("Handbooks".parse()?), ..Default::default() };
    /// let handbooks = me.org(org).collections().create(new).await?;
    /// println!("{}", handbooks.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(self, new: CreateCollection) -> BoxFuture<'p, Result<Collection>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let done = platform.once(
                actor,
                Right::CreateIn(org.clone(), new.parent.as_deref().map(Into::into)),
                async move {
                    let untitled = CollectionTitle::cut("Untitled")
                        .ok_or_else(|| Error::internal("a constant title fits"))?;
                    let now = platform.now();
                    let record = CollectionRecord {
                        id: platform.id(),
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
                    let create = CollectionCreation { actor: actor.clone(), record, parent: new.parent };
                    platform.write_collection(actor, &create, &id).await
                },
            );
            done.await
        })
    }
}

impl<'p> CollectionHandle<'p> {
    /// Lists the spaces that lie directly in a collection and that the actor may see, in their order.
    ///
    /// # Errors
    /// `NotFound` where there is no such collection, or none the actor may see; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::CollectionId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, collection: &CollectionId) -> Result<()> {
    /// let page = PageRequest { limit: Some(20), ..Default::default() };
    /// for space in me.collection(collection).list_spaces(&page).await?.items {
    ///     println!("{}", space.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_spaces(self, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<Space>>> {
        Box::pin(async move {
            let Self { caller, collection: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            let org = access::collection(&tx, actor, id).await?.collection().organization.clone();
            let resolver = AccessResolver::new(access::org(&tx, actor, &org).await?, actor);
            let walk = Walk::new(Parent::In(id), (Wanted::Spaces, Reach::Direct), page)?;
            platform.walked_spaces(&tx, resolver, walk, None).await
        })
    }

    /// Reads a collection.
    ///
    /// # Errors
    /// `NotFound` where there is none, or none the actor may see.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::CollectionId, platform::Caller};
    /// # async fn example(me: Caller<'_>, collection: &CollectionId) -> Result<()> {
    /// let handbooks = me.collection(collection).get().await?;
    /// println!("{}", handbooks.title);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(self) -> BoxFuture<'p, Result<Collection>> {
        Box::pin(async move {
            let Self { caller, collection: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            platform.collection_seen(&tx, actor, id).await
        })
    }

    /// Changes a collection. What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on it, and for a level above the actor's role; `Precondition`
    /// for a level that would hide it from the actor.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{CollectionId, Patch, UpdateCollection}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, collection: &CollectionId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let description = Patch::Set("What everybody should have read".parse()?);
    /// let change = UpdateCollection { description, ..Default::default() };
    /// let handbooks = me.collection(collection).update(change).await?;
    /// println!("{}: {:?}", handbooks.title, handbooks.description);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(self, change: UpdateCollection) -> BoxFuture<'p, Result<Collection>> {
        Box::pin(async move {
            let Self { caller, collection: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            platform
                .write_collection(
                    actor,
                    &CollectionUpdate { actor: actor.clone(), id: id.clone(), change },
                    id,
                )
                .await
        })
    }

    /// Deletes a collection. What it contains, deleted spaces too, comes to lie where it lay, in the same order.
    /// Answers whether there was one: a collection that is missing, or that the actor may not see, is none.
    ///
    /// # Errors
    /// `Forbidden` without the role `create` on it, and where it lies when something is in it; `Conflict` when what
    /// it contains is more than fits there.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::CollectionId, platform::Caller};
    /// # async fn example(me: Caller<'_>, collection: &CollectionId) -> Result<()> {
    /// if me.collection(collection).delete().await? {
    ///     println!("its spaces are where the collection was");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(self) -> BoxFuture<'p, Result<bool>> {
        Box::pin(async move {
            let Self { caller, collection: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let operation = CollectionDeletion {
                actor: actor.clone(),
                id: id.clone(),
                now: platform.now(),
                job: platform.id(),
            };
            let done = platform
                .change(actor, &operation, |seen| Box::pin(platform.collection_seen(seen.tx, actor, id)));
            Error::existed(done.await)
        })
    }

    /// Moves a collection, with all that is in it, to another collection, to the top of its organization, or to another
    /// position where it is. Without a position it comes to lie behind everything else.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `create` on it, where it lies and where it goes; `Invalid` for a
    /// request that says nothing, or names what is not there; `Conflict` when it would lie in itself, too deep, in
    /// another organization, or where there is too much.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CollectionId, MoveContent, Patch}, platform::Caller};
    /// # async fn example(me: Caller<'_>, collection: &CollectionId, archive: &CollectionId) -> Result<()> {
    /// let into = MoveContent { parent: Patch::Set(archive.to_string()), ..Default::default() };
    /// let moved = me.collection(collection).move_to(into).await?;
    /// assert_eq!(moved.parent.as_ref(), Some(archive));
    /// # Ok(())
    /// # }
    /// ```
    pub fn move_to(self, request: MoveContent) -> BoxFuture<'p, Result<Collection>> {
        Box::pin(async move {
            let Self { caller, collection: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let moved =
                ContentMove::new(actor, ContentTarget::Collection(id.clone()), request, platform.now())?;
            platform.write_collection(actor, &moved, id).await
        })
    }

    /// Gives a collection, with all that is in it, to another organization, where it lies at the top.
    /// Roles that somebody has on any of it by name end.
    ///
    /// # Errors
    /// `NotFound`, for the other organization too; `Forbidden` without the role `create` in both and on everything in
    /// the collection; `Conflict` when it is there already; `Precondition` when a space in it is deleted, on a site
    /// or being imported, or when there is too much in it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CollectionId, OrgId, TransferContent}, platform::Caller};
    /// # async fn example(me: Caller<'_>, collection: &CollectionId, other: &OrgId) -> Result<()> {
    /// let request = TransferContent { organization: other.to_string() };
    /// let transferred = me.collection(collection).transfer(request).await?;
    /// assert_eq!(&transferred.organization, other);
    /// # Ok(())
    /// # }
    /// ```
    pub fn transfer(self, request: TransferContent) -> BoxFuture<'p, Result<Collection>> {
        Box::pin(async move {
            let Self { caller, collection: id } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let child = ContentTarget::Collection(id.clone());
            let to = request.organization;
            let transfer = Transfer { actor: actor.clone(), child, to, now: platform.now() };
            platform.write_collection(actor, &transfer, id).await
        })
    }
}

impl Platform {
    /// The page of spaces of a walk.
    pub(super) async fn walked_spaces(
        &self,
        tx: &Tx,
        mut resolver: AccessResolver,
        mut walk: Walk<SpaceAccess>,
        count: Option<u64>,
    ) -> Result<Page<Space>> {
        while let Some(met) = walk.next(tx).await? {
            let seen = seen_spaces(tx, &mut resolver, &met).await?;
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
        self.change_and_show(actor, operation, |done| Box::pin(self.collection_seen(done.tx, actor, id)))
            .await
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
            default_level: access.level().stated(),
            urls: CollectionUrls { location, app },
            permissions: access.permissions(),
        }
    }
}

async fn seen_collections(
    tx: &Tx,
    resolver: &mut AccessResolver,
    met: &[Met],
) -> Result<Vec<Option<CollectionAccess>>> {
    let ids = met.iter().filter_map(|met| match &met.child {
        ContentTarget::Collection(id) => Some(id),
        ContentTarget::Space(_) => None,
    });
    let keys: Vec<_> = ids.map(CollectionRecord::at).collect();
    resolver.collections(tx, tx.get_many(&keys).await?).await
}

async fn seen_spaces(
    tx: &Tx,
    resolver: &mut AccessResolver,
    met: &[Met],
) -> Result<Vec<Option<SpaceAccess>>> {
    let ids = met.iter().filter_map(|met| match &met.child {
        ContentTarget::Space(id) => Some(id),
        ContentTarget::Collection(_) => None,
    });
    let keys: Vec<_> = ids.map(SpaceRecord::at).collect();
    resolver.spaces(tx, tx.get_many(&keys).await?).await
}
