//! Parents in the tree: permission checks and invariants.

use std::sync::Arc;

use super::MAX_CHILDREN;
use crate::{
    Error, ErrorKind, Result,
    model::{CollectionId, OrgId},
    platform::{
        access::{self, MAX_COLLECTION_DEPTH},
        kernel::actor::Actor,
    },
    policy::{CollectionAction, OrgAction},
    store::{
        Entity as _, StoreError, Tx, decode,
        records::{CollectionRecord, GrantRecord, LinkInviteRecord, Parent},
    },
};

/// Checks the permission to add content to a parent or to remove content from it.
///
/// # Errors
///
/// `Forbidden`; `NotFound` if the organization is not visible to the actor.
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
        // Access to content does not imply access to its parent.
        ErrorKind::NotFound => Error::forbidden("this needs the role `create` on the parent collection"),
        _ => error,
    })?;
    access.require(CollectionAction::Manage).map(|_| ())
}

/// Resolves the `parent` field of a request to a collection, and checks the permission to add content to it.
///
/// # Errors
///
/// `Invalid` if no such collection is visible to the actor; `Conflict` if it belongs to another organization;
/// `Forbidden`.
pub(in crate::platform) async fn resolve_named_parent(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    parent: &str,
) -> Result<Arc<CollectionRecord>> {
    let id: CollectionId = parent.parse().map_err(|_| missing_collection())?;
    let access = access::collection(tx, actor, &id).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing_collection(),
        _ => error,
    })?;
    if access.collection().organization != *org {
        return Err(Error::conflict("parent: must belong to the same organization"));
    }
    access.require(CollectionAction::Manage).cloned()
}

/// Resolves the parent of new content. `None` is the top level of the organization.
///
/// # Errors
///
/// `NotFound` if the organization is not visible to the actor; `Forbidden` without the `create` role in the parent;
/// `Invalid` if no such collection in the organization is visible to the actor; `Conflict` if it is full.
pub(in crate::platform) async fn resolve_parent(
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
    let parent = resolve_named_parent(tx, actor, org, parent).await.map_err(|error| match error.kind() {
        ErrorKind::Conflict => missing_collection(),
        _ => error,
    })?;
    check_capacity(tx, &parent.id, 1).await?;
    Ok(Some(parent))
}

fn missing_collection() -> Error {
    Error::invalid("parent", "the organization has no such collection")
}

/// Returns a collection and its ancestors, innermost first.
///
/// Callers must write in the same transaction, so that concurrent moves cannot create a cycle.
pub(in crate::platform) async fn chain(
    tx: &Tx,
    collection: &Arc<CollectionRecord>,
) -> Result<Vec<Arc<CollectionRecord>>> {
    let mut chain = vec![Arc::clone(collection)];
    let mut parent = collection.parent.clone();
    while let Some(id) = parent {
        if chain.len() > MAX_COLLECTION_DEPTH {
            return Err(Error::from(StoreError::Corrupt(format!(
                "collection `{id}` exceeds the nesting limit"
            ))));
        }
        let above: Option<Arc<CollectionRecord>> = tx.get(&CollectionRecord::key_for(&id)).await?;
        let above = above.ok_or_else(|| StoreError::Corrupt(format!("collection `{id}` does not exist")))?;
        parent = above.parent.clone();
        chain.push(above);
    }
    Ok(chain)
}

/// Rejects collections that are nested too deeply.
pub(in crate::platform) fn check_depth(depth: usize) -> Result<()> {
    if depth <= MAX_COLLECTION_DEPTH {
        return Ok(());
    }
    Err(Error::conflict(format!("collections must be nested at most {MAX_COLLECTION_DEPTH} levels deep")))
}

/// Rejects content that exceeds the capacity of a collection.
pub(in crate::platform) async fn check_capacity(tx: &Tx, parent: &CollectionId, more: u64) -> Result<()> {
    let there = u64::try_from(tx.number(&Parent::In(parent).count()).await?).unwrap_or(0);
    if there + more <= MAX_CHILDREN {
        return Ok(());
    }
    Err(Error::conflict(format!("a collection must have at most {MAX_CHILDREN} spaces and collections")))
}

/// Removes a batch of grants on content. Returns `true` if more may remain.
pub(in crate::platform) async fn drop_grants(tx: &mut Tx, content: &str, most: u32) -> Result<bool> {
    let rows = tx.scan_prefix(&GrantRecord::by_content(content), most).await?;
    let more = rows.len() == most as usize;
    for (_, value) in rows {
        let grant: Arc<GrantRecord> = decode(value)?;
        tx.delete(&*grant);
    }
    Ok(more)
}

/// Removes a batch of invite links to deleted content. Returns `true` if more may remain.
pub(in crate::platform) async fn drop_links(tx: &mut Tx, content: &str) -> Result<bool> {
    let rows = tx.scan_prefix(&LinkInviteRecord::by_content(content), LINK_PURGE_BATCH).await?;
    tx.delete_all::<LinkInviteRecord>(&LinkInviteRecord::named_by_all(&rows)).await?;
    Ok(rows.len() == LINK_PURGE_BATCH as usize)
}

/// Number of invite links removed per transaction.
const LINK_PURGE_BATCH: u32 = 200;
