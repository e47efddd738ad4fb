//! Computes the spaces covered by a search in an organization. The cost is proportional to the restricted spaces for
//! members, and to the grants for guests.

use std::collections::BTreeSet;

use crate::{
    Result,
    model::{CollectionId, ContentTarget, PermissionTarget, SpaceId, UserId},
    platform::{
        access::{self, AccessResolver},
        kernel::actor::Actor,
    },
    policy::{OrgAccess, OrgAction},
    ports::search::Scope,
    store::{
        Key, KeyBuf, MAX_SCAN, StoreResult, Tx, Value, key,
        records::{CollectionRecord, Parent, SpaceRecord, parse_target},
    },
};

/// Number of spaces per batch of the access check.
const ACCESS_BATCH: usize = 500;

/// Returns the spaces covered by an actor's search.
///
/// Merely filtering hidden spaces from the results would leak their content through short pages.
pub(super) async fn search_scope(tx: &Tx, access: OrgAccess, actor: &Actor) -> Result<Scope> {
    let org = access.org().id.clone();
    let Some(user) = actor.user().filter(|_| access.require(OrgAction::Administrate).is_err()) else {
        return Ok(Scope::Organization(org));
    };
    if access.role().is_none() {
        let granted = spaces_under(tx, granted_content(tx, &access, user).await?).await?;
        return Ok(Scope::Spaces(split_visible(tx, access, actor, granted).await?.0));
    }
    let closed = spaces_under(tx, restricted_content(tx, &access).await?).await?;
    Ok(Scope::OrganizationBut(org, split_visible(tx, access, actor, closed).await?.1))
}

/// Partitions spaces into those visible to the actor and the others.
async fn split_visible(
    tx: &Tx,
    access: OrgAccess,
    actor: &Actor,
    spaces: BTreeSet<SpaceId>,
) -> Result<(BTreeSet<SpaceId>, BTreeSet<SpaceId>)> {
    let mut resolver = AccessResolver::new(access, actor);
    let (mut seen, mut hidden) = (BTreeSet::new(), BTreeSet::new());
    let spaces: Vec<SpaceId> = spaces.into_iter().collect();
    for chunk in spaces.chunks(ACCESS_BATCH) {
        let keys: Vec<Key> = chunk.iter().map(SpaceRecord::key_for).collect();
        let access = resolver.spaces(tx, tx.get_many::<SpaceRecord>(&keys).await?).await?;
        for (space, access) in chunk.iter().zip(access) {
            if access.is_some() { &mut seen } else { &mut hidden }.insert(space.clone());
        }
    }
    Ok((seen, hidden))
}

/// Returns the spaces and collections whose default level hides content from members.
async fn restricted_content(tx: &Tx, access: &OrgAccess) -> Result<BTreeSet<ContentTarget>> {
    let org = &access.org().id;
    let mut closed = BTreeSet::new();
    for (row, _) in all(tx, &SpaceRecord::closed_by_org(org)).await? {
        closed.extend(key::last_segment(&row).parse().map(ContentTarget::Space));
    }
    for (row, _) in all(tx, &CollectionRecord::closed_by_org(org)).await? {
        closed.extend(key::last_segment(&row).parse().map(ContentTarget::Collection));
    }
    Ok(closed)
}

/// Returns the content granted to a user directly or through a team.
async fn granted_content(tx: &Tx, access: &OrgAccess, user: &UserId) -> Result<BTreeSet<ContentTarget>> {
    let granted = access::granted(tx, &access.org().id, user).await?.into_iter();
    let contents = granted.filter_map(|target| match target {
        PermissionTarget::Collection(id) => Some(ContentTarget::Collection(id)),
        PermissionTarget::Space(id) => Some(ContentTarget::Space(id)),
        PermissionTarget::Site(_) => None,
    });
    Ok(contents.collect())
}

/// Returns the given spaces, and all spaces in the given collections.
async fn spaces_under(tx: &Tx, contents: BTreeSet<ContentTarget>) -> Result<BTreeSet<SpaceId>> {
    let (mut spaces, mut walked) = (BTreeSet::new(), BTreeSet::<CollectionId>::new());
    let mut open: Vec<ContentTarget> = contents.into_iter().collect();
    while let Some(content) = open.pop() {
        match content {
            ContentTarget::Space(id) => drop(spaces.insert(id)),
            ContentTarget::Collection(id) if walked.insert(id.clone()) => {
                for row in all(tx, &Parent::In(&id).children()).await? {
                    open.push(parse_target(&row)?);
                }
            }
            ContentTarget::Collection(_) => {}
        }
    }
    Ok(spaces)
}

/// Reads all rows with a prefix.
async fn all(tx: &Tx, prefix: &KeyBuf) -> StoreResult<Vec<(Key, Value)>> {
    let mut scan = prefix.scan(MAX_SCAN);
    let mut found = Vec::new();
    loop {
        let rows = tx.scan(&scan).await?;
        let is_last = rows.len() < MAX_SCAN as usize;
        scan.from = rows.last().map_or(scan.to.clone(), |(last, _)| key::successor(last));
        found.extend(rows);
        if is_last {
            return Ok(found);
        }
    }
}
