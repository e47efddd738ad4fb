//! Operations on collections.

mod change;

use async_trait::async_trait;
use docs_macros::boxed;
use serde::{Deserialize, Serialize};

use self::change::{CollectionDeletion, collection_creation, collection_update};
use crate::{
    Error, Result,
    model::{
        Collection, CollectionId, CollectionTitle, ContentTarget, CreateCollection, MoveContent, Space,
        TransferContent, UpdateCollection,
    },
    platform::{
        access::{self, AccessResolver},
        jobs::{Payload, Purge},
        kernel::{actor::Actor, platform::Platform, request::Right},
        library::tree::{ContentMove, Transfer, TreeRow, TreeWalk, drop_grants, parent},
        nouns::{
            CollectionHandle, Collections,
            filters::{ContentKind, Reach},
        },
    },
    policy::{CollectionAccess, OrgAction},
    store::{
        Operation, Page, PageRequest, Tx,
        records::{CollectionRecord, Parent},
    },
};

/// Number of explicit roles removed per transaction.
const GRANTS_CHUNK: u32 = 500;

/// Job that removes the explicit roles on deleted content.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeGrants {
    content: String,
}

impl Payload for PurgeGrants {
    const KIND: &'static str = "grants_purge";
}

#[async_trait]
impl Purge for PurgeGrants {
    async fn purge_some(&self, tx: &mut Tx) -> Result<bool> {
        // Invite links to the content are removed as well.
        Ok(drop_grants(tx, &self.content, GRANTS_CHUNK).await?
            | parent::drop_links(tx, &self.content).await?)
    }
}

impl<'p> Collections<'p> {
    /// Lists the collections of an organization that the actor has access to.
    ///
    /// They are in tree order: each precedes its descendants. `reach` selects only top-level collections, or all.
    ///
    /// # Errors
    /// `NotFound` unless the actor is a member.
    #[boxed]
    pub async fn list(self, reach: Reach, page: &'p PageRequest) -> Result<Page<Collection>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        // The total count is returned only to actors with access to all collections.
        let all = reach == Reach::Nested && access.require(OrgAction::Administrate).is_ok();
        let mut resolver = AccessResolver::new(access, actor);
        let mut walk = TreeWalk::new(Parent::Top(org), ContentKind::Collections, reach, page)?;
        while let Some(met) = walk.next(&tx).await? {
            let seen = resolve_collections(&tx, &mut resolver, &met).await?;
            for (met, access) in met.iter().zip(seen) {
                if !walk.offer(met, access.map(|access| platform.collection_view(&access))) {
                    break;
                }
            }
        }
        let count = if all { Some(tx.number(&CollectionRecord::count_in(org)).await?) } else { None };
        walk.finish(&tx, count.and_then(|n| u64::try_from(n).ok())).await
    }

    /// Creates a collection as the last child of its parent.
    ///
    /// # Errors
    /// `Forbidden` without the `create` role in the parent; `Invalid` for an unknown parent collection; `Conflict` if
    /// the parent is full or nested too deeply.
    #[boxed]
    pub async fn create(self, new: CreateCollection) -> Result<Collection> {
        let (platform, ref actor, org) = self.parts();
        let done = platform.idempotent(
            actor,
            Right::CreateIn(org.clone(), new.parent.as_deref().map(Into::into)),
            async move {
                let untitled = CollectionTitle::from_truncated("Untitled")
                    .ok_or_else(|| Error::internal("the constant title is within the limit"))?;
                let now = platform.now();
                let record = CollectionRecord {
                    id: platform.id(),
                    organization: org.clone(),
                    parent: None,
                    rank: crate::model::Rank::from_time(now),
                    title: new.title.unwrap_or(untitled),
                    description: None,
                    default_level: Default::default(),
                    created_by: actor.require_user()?.clone(),
                    created_at: now,
                };
                let id = record.id.clone();
                let create = collection_creation(actor, &record, new.parent.as_deref());
                platform.write_collection(actor, &create, &id).await
            },
        );
        done.await
    }
}

impl<'p> CollectionHandle<'p> {
    /// Lists the spaces directly in a collection to which the actor has access, in order.
    #[boxed]
    pub async fn list_spaces(self, page: &'p PageRequest) -> Result<Page<Space>> {
        let (platform, ref actor, id) = self.parts();
        let tx = platform.read().await?;
        let org = access::collection(&tx, actor, id).await?.collection().organization.clone();
        let resolver = AccessResolver::new(access::org(&tx, actor, &org).await?, actor);
        let walk = TreeWalk::new(Parent::In(id), ContentKind::Spaces, Reach::Direct, page)?;
        platform.walk_spaces(&tx, resolver, walk, None).await
    }

    /// Reads a collection.
    #[boxed]
    pub async fn get(self) -> Result<Collection> {
        let (platform, ref actor, id) = self.parts();
        let tx = platform.read().await?;
        platform.read_collection_view(&tx, actor, id).await
    }

    /// Changes a collection. Omitted fields are left unchanged.
    ///
    /// # Errors
    /// `Forbidden` without the `create` role on it, or for a level above the actor's role; `Precondition` for a level
    /// that would hide the collection from the actor.
    #[boxed]
    pub async fn update(self, change: UpdateCollection) -> Result<Collection> {
        let (platform, ref actor, id) = self.parts();
        platform.write_collection(actor, &collection_update(actor, id, &change), id).await
    }

    /// Deletes a collection. Its children, including deleted spaces, move to its parent in the same order.
    ///
    /// Returns `false` if the collection does not exist or is not visible to the actor.
    ///
    /// # Errors
    /// `Forbidden` without the `create` role on it, or on its parent if it has children; `Conflict` if the parent lacks
    /// capacity for them.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, id) = self.parts();
        let operation = CollectionDeletion {
            actor: actor.clone(),
            id: id.clone(),
            now: platform.now(),
            job: platform.id(),
        };
        let done = platform
            .change(actor, &operation, |seen| Box::pin(platform.read_collection_view(seen.tx, actor, id)));
        Error::ignore_not_found(done.await)
    }

    /// Moves a collection with its content to another collection, to the top level of its organization, or to another
    /// position.
    ///
    /// Without a position, it becomes the last child of its parent.
    ///
    /// # Errors
    /// `Forbidden` without the `create` role on it, on its parent and on the new parent; `Invalid` for a missing or
    /// unknown target; `Conflict` if it would become its own ancestor, be nested too deeply, move to another
    /// organization, or exceed the capacity of the new parent.
    #[boxed]
    pub async fn move_to(self, request: MoveContent) -> Result<Collection> {
        let (platform, ref actor, id) = self.parts();
        let moved = ContentMove::new(actor, ContentTarget::Collection(id.clone()), request, platform.now())?;
        platform.write_collection(actor, &moved, id).await
    }

    /// Transfers a collection with its content to the top level of another organization. Explicit roles on all of it
    /// are removed.
    ///
    /// # Errors
    /// `NotFound`, also for the other organization; `Forbidden` without the `create` role in both organizations and on
    /// everything in the collection; `Conflict` if it already belongs to that organization; `Precondition` if a space
    /// in it is deleted, on a site or being imported, or if it has too much content.
    #[boxed]
    pub async fn transfer(self, request: TransferContent) -> Result<Collection> {
        let (platform, ref actor, id) = self.parts();
        let child = ContentTarget::Collection(id.clone());
        let to = request.organization;
        let transfer = Transfer { actor: actor.clone(), child, to, now: platform.now() };
        platform.write_collection(actor, &transfer, id).await
    }
}

impl Platform {
    async fn read_collection_view(&self, tx: &Tx, actor: &Actor, id: &CollectionId) -> Result<Collection> {
        Ok(self.collection_view(&access::collection(tx, actor, id).await?))
    }

    /// Runs a write and returns the updated collection.
    async fn write_collection<O: Operation>(
        &self,
        actor: &Actor,
        operation: &O,
        id: &CollectionId,
    ) -> Result<Collection> {
        self.change_and_show(actor, operation, |done| Box::pin(self.read_collection_view(done.tx, actor, id)))
            .await
    }
}

async fn resolve_collections(
    tx: &Tx,
    resolver: &mut AccessResolver,
    met: &[TreeRow],
) -> Result<Vec<Option<CollectionAccess>>> {
    let ids = met.iter().filter_map(|met| match &met.child {
        ContentTarget::Collection(id) => Some(id),
        ContentTarget::Space(_) => None,
    });
    let keys: Vec<_> = ids.map(CollectionRecord::key_for).collect();
    resolver.collections(tx, tx.get_many(&keys).await?).await
}
