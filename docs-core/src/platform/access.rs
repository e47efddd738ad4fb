//! Resolves ids in requests to proofs of access.

mod audience;
mod granted;
pub(super) mod resolver;

use std::sync::Arc;

pub(super) use self::{
    audience::{Audience, HeldLayer},
    granted::granted,
    resolver::{AccessResolver, MAX_COLLECTION_DEPTH, MAX_TEAM_GRANTS},
};
use crate::{
    Error, ErrorKind, Result,
    model::{CollectionId, ContentTarget, OrgId, Role, SpaceId, UserId},
    platform::{
        kernel::{actor::Actor, token_user::TokenUser},
        nouns::SiteRef,
    },
    policy::{CollectionAccess, EffectiveRole, OrgAccess, SignIn, SiteAccess, SiteAction, SpaceAccess},
    store::{
        Entity as _, Key, Tx,
        records::{CollectionRecord, MemberRecord, OrgRecord, SamlProviderRecord, SiteRecord, SpaceRecord},
    },
};

/// Returns an actor's access to an organization.
pub(super) async fn org(tx: &Tx, actor: &Actor, id: &OrgId) -> Result<OrgAccess> {
    match actor {
        Actor::Platform => OrgAccess::for_platform(tx.get(&OrgRecord::key_for(id)).await?),
        Actor::User(user) => {
            let (org, member) = membership(tx, user, id).await?;
            OrgAccess::for_member(org, member.as_deref())
        }
        Actor::Token(token) if !token.reaches(id) => Err(Error::not_found("organization")),
        Actor::Token(token) => {
            let (org, member) = membership(tx, token.user(), id).await?;
            match org_from_records(actor, org, member.as_deref()) {
                Err(error) if error.kind() == ErrorKind::Forbidden => {
                    Err(sso_required_error(tx, token, id).await?)
                }
                access => access,
            }
        }
        Actor::Visitor(_) => Err(Error::not_found("organization")),
    }
}

/// Returns a user's access to an organization that their token covers, derived from their membership.
pub(super) fn org_from_records(
    actor: &Actor,
    org: Option<Arc<OrgRecord>>,
    member: Option<&MemberRecord>,
) -> Result<OrgAccess> {
    match actor {
        Actor::Token(token) => OrgAccess::for_bearer(org, member, token.sign_in()),
        _ => OrgAccess::for_member(org, member),
    }
}

/// Returns the minimal access required to read the sign-in settings of an organization.
///
/// A token that does not belong to a single sign-on session is treated as its user, so that members can read how to
/// sign in before they satisfy the organization's single sign-on requirement.
pub(super) async fn org_before_sign_in(tx: &Tx, actor: &Actor, id: &OrgId) -> Result<OrgAccess> {
    match actor {
        Actor::Token(token) if token.session_org().is_none() => {
            org(tx, &Actor::User(token.user().clone()), id).await
        }
        _ => org(tx, actor, id).await,
    }
}

/// Reads an organization and the membership of a user in it.
async fn membership(
    tx: &Tx,
    user: &UserId,
    id: &OrgId,
) -> Result<(Option<Arc<OrgRecord>>, Option<Arc<MemberRecord>>)> {
    let found = tx.get_values(&[OrgRecord::key_for(id), MemberRecord::key_for(id, user)]).await?;
    let [org, member] = <[_; 2]>::try_from(found).map_err(|_| Error::not_found("organization"))?;
    let org = org.map(crate::store::decode::<OrgRecord>).transpose()?;
    let member = member.map(crate::store::decode::<MemberRecord>).transpose()?;
    Ok((org, member))
}

/// Returns the role that the platform asserts for a user on sites.
///
/// `None` for guests and former members, and if the organization does not accept the user's sign-in method. `sign_in`
/// is `None` for users that the embedding application authenticated.
pub(super) async fn asserted_role(
    tx: &Tx,
    id: &OrgId,
    user: &UserId,
    sign_in: Option<SignIn>,
) -> Result<Option<Role>> {
    let (org, member) = membership(tx, user, id).await?;
    let access = match sign_in {
        Some(sign_in) => OrgAccess::for_bearer(org, member.as_deref(), sign_in),
        None => OrgAccess::for_member(org, member.as_deref()),
    };
    match access {
        Ok(access) => Ok(access.role()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Builds the error for a token that the organization does not accept. Its message states where to sign in.
async fn sso_required_error(tx: &Tx, token: &TokenUser, id: &OrgId) -> Result<Error> {
    let active = active_providers(tx, id).await?;
    Ok(Error::forbidden(match active.first() {
        Some(provider) => format!(
            "the organization requires single sign-on; sign in at {}",
            token.urls().saml_service(&provider.id).start_url
        ),
        None => {
            "the organization requires single sign-on, and no sign-in is configured; ask an administrator"
                .to_owned()
        }
    }))
}

/// Returns an actor's access to a space, which may be deleted.
pub(super) async fn any_space(tx: &Tx, actor: &Actor, id: &SpaceId) -> Result<SpaceAccess> {
    let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(id)).await?;
    let Some(space) = space else { return Err(Error::not_found("space")) };
    let org = org(tx, actor, &space.organization).await.map_err(|error| hide(error, "space"))?;
    let seen = AccessResolver::new(org, actor).spaces(tx, vec![Some(space)]).await?.pop().flatten();
    seen.ok_or_else(|| Error::not_found("space"))
}

/// Returns an actor's access to a collection.
pub(super) async fn collection(tx: &Tx, actor: &Actor, id: &CollectionId) -> Result<CollectionAccess> {
    let collection: Option<Arc<CollectionRecord>> = tx.get(&CollectionRecord::key_for(id)).await?;
    let Some(collection) = collection else { return Err(Error::not_found("collection")) };
    let org = org(tx, actor, &collection.organization).await.map_err(|error| hide(error, "collection"))?;
    let seen = AccessResolver::new(org, actor).collections(tx, vec![Some(collection)]).await?.pop().flatten();
    seen.ok_or_else(|| Error::not_found("collection"))
}

/// Returns an actor's access to a space that is not deleted.
pub(super) async fn space(tx: &Tx, actor: &Actor, id: &SpaceId) -> Result<SpaceAccess> {
    let access = any_space(tx, actor, id).await?;
    if access.space().deleted_at.is_some() {
        return Err(Error::not_found("space"));
    }
    Ok(access)
}

/// Returns an actor's role on content that is not deleted, or `None` without access.
pub(super) async fn role_on(tx: &Tx, actor: &Actor, content: &ContentTarget) -> Result<Option<Role>> {
    let role = match content {
        ContentTarget::Space(id) => space(tx, actor, id).await.map(|access| access.role()),
        ContentTarget::Collection(id) => collection(tx, actor, id).await.map(|access| access.role()),
    };
    match role {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        role => role.map(Some),
    }
}

/// Returns an actor's access to a site of an organization.
pub(super) async fn site(tx: &Tx, actor: &Actor, of: SiteRef<'_>) -> Result<(OrgAccess, SiteAccess)> {
    let org = org(tx, actor, of.org).await?;
    let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(of.site)).await?;
    let site = site.filter(|site| site.organization == *of.org).ok_or_else(|| Error::not_found("site"))?;
    let seen = AccessResolver::new(org.clone(), actor).sites(tx, vec![Some(site)]).await?.pop().flatten();
    Ok((org, seen.ok_or_else(|| Error::not_found("site"))?))
}

/// Reads a site of an organization and checks that the actor may perform an action on it.
pub(super) async fn require_site(
    tx: &Tx,
    actor: &Actor,
    of: SiteRef<'_>,
    action: SiteAction,
) -> Result<(OrgAccess, Arc<SiteRecord>)> {
    let (org, access) = site(tx, actor, of).await?;
    let site = Arc::clone(access.require(action)?);
    Ok((org, site))
}

/// Checks that a content manager may change the default access level of the content.
///
/// The change must not grant or revoke a role above the manager's own, and the manager must be able to revert it.
///
/// # Errors
/// `Forbidden`; `Precondition` if the manager would lose sight or control of the content.
pub(super) fn check_level(before: EffectiveRole, after: Result<EffectiveRole>) -> Result<()> {
    let after = check_level_bounds(before, after, |after| *after)?;
    if !after.role.includes(Role::Create) {
        return Err(lost_control_error("create"));
    }
    Ok(())
}

/// Checks that a manager of a site may change its default level, with the same rules as [`check_level`].
///
/// # Errors
/// Same as [`check_level`].
pub(super) fn check_site_level(before: &SiteAccess, after: Result<SiteAccess>) -> Result<()> {
    let after = check_level_bounds(before.effective_role(), after, SiteAccess::effective_role)?;
    let manages = after.require(SiteAction::Manage);
    manages.map(drop).map_err(|_| lost_control_error(before.role().as_str()))
}

/// Checks that a new default level neither hides the resource from the actor nor involves a role above their own.
fn check_level_bounds<A>(
    before: EffectiveRole,
    after: Result<A>,
    role: impl FnOnce(&A) -> EffectiveRole,
) -> Result<A> {
    let hidden = "defaultLevel: must not hide the content from you; ask an administrator or its creator";
    let after = after.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::new(ErrorKind::Precondition, hidden.to_owned()),
        _ => error,
    })?;
    let now = role(&after);
    if before.level.max(now.level).max(Some(now.role)) > Some(before.role) {
        return Err(Error::forbidden("defaultLevel: must not be above your own role"));
    }
    Ok(after)
}

fn lost_control_error(role: &str) -> Error {
    let lost = "defaultLevel: must not remove your permission to change it";
    Error::new(ErrorKind::Precondition, format!("{lost}; get the role `{role}` by a direct grant first"))
}

/// Changes a `NotFound` error to name the requested resource, so that it does not reveal the parent.
fn hide(error: Error, noun: &str) -> Error {
    if error.kind() == ErrorKind::NotFound { Error::not_found(noun) } else { error }
}

pub(in crate::platform) async fn is_deleted(tx: &Tx, content: &ContentTarget) -> Result<bool> {
    let ContentTarget::Space(id) = content else { return Ok(false) };
    let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(id)).await?;
    Ok(space.is_some_and(|space| space.deleted_at.is_some()))
}

/// The active SAML providers of an organization, oldest first.
pub(in crate::platform) async fn active_providers(
    tx: &Tx,
    org: &OrgId,
) -> Result<Vec<Arc<SamlProviderRecord>>> {
    let rows = tx.scan_prefix(&SamlProviderRecord::by_org(org), MAX_PROVIDERS).await?;
    let keys: Vec<Key> = SamlProviderRecord::named_by_all(&rows);
    let providers = tx.get_many::<SamlProviderRecord>(&keys).await?.into_iter().flatten();
    Ok(providers.filter(|provider| provider.is_active()).collect())
}

/// Maximum number of SAML providers per organization.
pub(in crate::platform) const MAX_PROVIDERS: u32 = 50;
