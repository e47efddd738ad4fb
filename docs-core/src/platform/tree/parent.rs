//! Parents in the tree: who may put something into one, and what has to hold.

use std::sync::Arc;

use super::MAX_CHILDREN;
use crate::{
    Error, ErrorKind, Result,
    model::{CollectionId, OrgId},
    platform::{
        Actor,
        access::{self, MAX_DEPTH},
    },
    policy::{CollectionAction, OrgAction},
    store::{
        StoreError, Tx, decode,
        records::{CollectionRecord, GrantRecord, Parent},
    },
};

/// Demands the right to put something into a place, or to take it from there.
///
/// # Errors
/// `Forbidden`; `NotFound` where the organization is unknown to the actor.
pub(in crate::platform) async fn require_parent(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    parent: Option<&CollectionId>,
) -> Result<()> {
    let Some(parent) = parent else {
        access::org(tx, actor, org).await?.require(OrgAction::CreateContent)?;
        return Ok(());
    };
    let access = access::collection(tx, actor, parent).await.map_err(|error| match error.kind() {
        // Whoever sees something need not see what it lies in.
        ErrorKind::NotFound => Error::forbidden("this needs the role `create` on the collection it lies in"),
        _ => error,
    })?;
    access.require(CollectionAction::Manage).map(|_| ())
}

/// The collection that a request names as `parent`, with the right to put something into it.
///
/// # Errors
/// `Invalid` where the actor sees no such collection; `Conflict` where it is another organization's; `Forbidden`.
pub(in crate::platform) async fn named_parent(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    parent: &str,
) -> Result<Arc<CollectionRecord>> {
    let id: CollectionId = parent.parse().map_err(|_| no_collection())?;
    let access = access::collection(tx, actor, &id).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound => no_collection(),
        _ => error,
    })?;
    if access.collection().organization != *org {
        return Err(Error::conflict("parent: the collection belongs to another organization"));
    }
    access.require(CollectionAction::Manage).cloned()
}

/// The collection that something new is created in, as a request names it; `None` for the top of the organization.
///
/// # Errors
/// `NotFound` where the organization is unknown to the actor; `Forbidden` without the role `create` there; `Invalid`
/// where the organization has no such collection that the actor sees; `Conflict` when it is full.
pub(in crate::platform) async fn room_in(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    parent: Option<&str>,
) -> Result<Option<Arc<CollectionRecord>>> {
    let access = access::org(tx, actor, org).await?;
    let Some(parent) = parent else {
        access.require(OrgAction::CreateContent)?;
        return Ok(None);
    };
    let parent = named_parent(tx, actor, org, parent).await.map_err(|error| match error.kind() {
        ErrorKind::Conflict => no_collection(),
        _ => error,
    })?;
    check_number(tx, &parent.id, 1).await?;
    Ok(Some(parent))
}

fn no_collection() -> Error {
    Error::invalid("parent", "the organization has no such collection")
}

/// A collection and those it lies in, from the inside out.
///
/// Whoever decides on them writes in the same transaction, so that no two moves together make a circle.
pub(in crate::platform) async fn chain(
    tx: &Tx,
    collection: &Arc<CollectionRecord>,
) -> Result<Vec<Arc<CollectionRecord>>> {
    let mut chain = vec![Arc::clone(collection)];
    let mut parent = collection.parent.clone();
    while let Some(id) = parent {
        if chain.len() > MAX_DEPTH {
            return Err(Error::from(StoreError::Corrupt(format!("collection `{id}` lies too deep"))));
        }
        let above: Option<Arc<CollectionRecord>> = tx.get(&CollectionRecord::at(&id)).await?;
        let above = above.ok_or_else(|| StoreError::Corrupt(format!("there is no collection `{id}`")))?;
        parent = above.parent.clone();
        chain.push(above);
    }
    Ok(chain)
}

/// Refuses what would make collections lie too deep in each other.
pub(in crate::platform) fn check_depth(depth: usize) -> Result<()> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(Error::conflict(format!("collections lie at most {MAX_DEPTH} deep in each other")))
}

/// Refuses more in a collection than it may hold.
pub(in crate::platform) async fn check_number(tx: &Tx, parent: &CollectionId, more: u64) -> Result<()> {
    let there = u64::try_from(tx.number(&Parent::In(parent).count()).await?).unwrap_or(0);
    if there + more <= MAX_CHILDREN {
        return Ok(());
    }
    Err(Error::conflict(format!("a collection holds at most {MAX_CHILDREN} spaces and collections")))
}

/// Removes some of the roles by name on content; answers whether there may be more.
pub(in crate::platform) async fn drop_grants(tx: &mut Tx, content: &str, most: u32) -> Result<bool> {
    let rows = tx.below(&GrantRecord::on(content), most).await?;
    let more = rows.len() == most as usize;
    for (_, value) in rows {
        let grant: Arc<GrantRecord> = decode(value)?;
        tx.delete(&*grant);
    }
    Ok(more)
}
