//! From an id in a request to a proof of access.

mod audience;
mod sight;

use std::sync::Arc;

pub(super) use audience::Audience;
pub(super) use sight::{MAX_DEPTH, MAX_TEAM_GRANTS, Sight};

use super::Actor;
use crate::{
    Error, ErrorKind, Result,
    model::{CollectionId, OrgId, Role, SiteId, SpaceId},
    policy::{CollectionAccess, OrgAccess, SiteAction, SpaceAccess},
    store::{
        Tx,
        records::{Child, CollectionRecord, MemberRecord, OrgRecord, SiteRecord, SpaceRecord},
    },
};

/// The access of an actor to an organization.
pub(super) async fn org(tx: &Tx, actor: &Actor, id: &OrgId) -> Result<OrgAccess> {
    match actor {
        Actor::Platform => OrgAccess::of_platform(tx.get(&OrgRecord::at(id)).await?),
        Actor::User(user) => {
            let found = tx.get_values(&[OrgRecord::at(id), MemberRecord::at(id, user)]).await?;
            let [org, member] = <[_; 2]>::try_from(found).map_err(|_| Error::not_found("organization"))?;
            let org = org.map(crate::store::decode::<OrgRecord>).transpose()?;
            let member = member.map(crate::store::decode::<MemberRecord>).transpose()?;
            OrgAccess::of_member(org, member.as_deref())
        }
        Actor::Visitor(_) => Err(Error::not_found("organization")),
    }
}

/// The access of an actor to a space, deleted or not.
pub(super) async fn any_space(tx: &Tx, actor: &Actor, id: &SpaceId) -> Result<SpaceAccess> {
    let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::at(id)).await?;
    let Some(space) = space else { return Err(Error::not_found("space")) };
    let org = org(tx, actor, &space.organization).await.map_err(|error| hide(error, "space"))?;
    let seen = Sight::new(org, actor).spaces(tx, vec![Some(space)]).await?.pop().flatten();
    seen.ok_or_else(|| Error::not_found("space"))
}

/// The access of an actor to a collection.
pub(super) async fn collection(tx: &Tx, actor: &Actor, id: &CollectionId) -> Result<CollectionAccess> {
    let collection: Option<Arc<CollectionRecord>> = tx.get(&CollectionRecord::at(id)).await?;
    let Some(collection) = collection else { return Err(Error::not_found("collection")) };
    let org = org(tx, actor, &collection.organization).await.map_err(|error| hide(error, "collection"))?;
    let seen = Sight::new(org, actor).collections(tx, vec![Some(collection)]).await?.pop().flatten();
    seen.ok_or_else(|| Error::not_found("collection"))
}

/// The access of an actor to a space that is not deleted.
pub(super) async fn space(tx: &Tx, actor: &Actor, id: &SpaceId) -> Result<SpaceAccess> {
    let access = any_space(tx, actor, id).await?;
    if access.space().deleted_at.is_some() {
        return Err(Error::not_found("space"));
    }
    Ok(access)
}

/// The role of an actor on content that is not deleted; `None` where they see none.
pub(super) async fn role_on(tx: &Tx, actor: &Actor, content: &Child) -> Result<Option<Role>> {
    let role = match content {
        Child::Space(id) => space(tx, actor, id).await.map(|access| access.role()),
        Child::Collection(id) => collection(tx, actor, id).await.map(|access| access.role()),
    };
    match role {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        role => role.map(Some),
    }
}

/// A site of an organization, with the right to do something with it.
pub(super) async fn site(
    tx: &Tx,
    actor: &Actor,
    of: (&OrgId, &SiteId),
    action: SiteAction,
) -> Result<(OrgAccess, Arc<SiteRecord>)> {
    let org = org(tx, actor, of.0).await?;
    let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::at(of.1)).await?;
    let site = site.filter(|site| site.organization == *of.0).ok_or_else(|| Error::not_found("site"))?;
    org.require_site(action, Some(&site.created_by), actor.user())?;
    Ok((org, site))
}

/// Whether somebody may change the level of content: that neither gives nor takes a role above their own, and leaves them
/// the content in sight. `before` is their role and what the level came down to, `after` the same afterwards.
///
/// # Errors
/// `Forbidden`; `Precondition` where the content would be hidden from them.
pub(super) fn check_level(before: (Role, Option<Role>), after: Result<(Role, Option<Role>)>) -> Result<()> {
    let hidden = "defaultLevel: this would hide it from you; an administrator, or its creator, can do that";
    let (role, level) = after.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::new(ErrorKind::Precondition, hidden.to_owned()),
        _ => error,
    })?;
    let (own, was) = before;
    if was.max(level).max(Some(role)) <= Some(own) {
        return Ok(());
    }
    Err(Error::forbidden("defaultLevel: a level above your own role is given and taken by those who have it"))
}

/// Speaks of the noun the actor asked for, not of what stands behind it.
fn hide(error: Error, noun: &str) -> Error {
    if error.kind() == ErrorKind::NotFound { Error::not_found(noun) } else { error }
}
