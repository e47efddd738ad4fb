//! Invite links to an organization, a space or a collection.

use std::sync::Arc;

use docs_macros::{boxed, operation};

use crate::{
    Error, ErrorKind, Result,
    model::{
        CollectionInvite, ContentTarget, CreateLinkInvite, InviteId, InviteObject, LinkInvite, MemberInvite,
        OrgId, Patch, Role, SpaceInvite, ToCollection, ToOrganization, ToSpace, UpdateLinkInvite,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{InviteHandle, Invites, list_identities::tag},
        people::joining::{LinkInviteAccess, authorize_link},
    },
    policy::{OrgAccess, OrgAction},
    store::{
        Entity, Key, ListSpec, Lister, Page, PageRequest, Tx,
        records::{EmailInviteRecord, LinkInviteGrant, LinkInviteRecord},
    },
};

impl<'p> Invites<'p> {
    /// Lists the invite links that grant a role in an organization, oldest first. Links to content are not included.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn list_links(self, page: &'p PageRequest) -> Result<Page<MemberInvite>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        access.require(OrgAction::Administrate)?;
        let prefix = LinkInviteRecord::by_org(org);
        let mut list = Lister::new(ListSpec::new(tag::LINK_INVITES, prefix), page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let keys: Vec<Key> = LinkInviteRecord::named_by_all(&rows);
            let found = tx.get_many::<LinkInviteRecord>(&keys).await?;
            let shown = |link: Arc<LinkInviteRecord>| match link.gives {
                LinkInviteGrant::Member(role) => Some(member_invite(&link, role, &access)),
                LinkInviteGrant::Content(..) => None,
            };
            list.offer_all(&rows, found.into_iter().map(|link| link.and_then(shown)));
        }
        list.finish(&tx, None).await
    }

    /// Creates an invite link to the organization with a role, or to one of its spaces or collections with an access
    /// level.
    ///
    /// A user who joins through a link to content becomes a guest with that role on the content. The link is valid
    /// while the actor may grant its role.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization, or has the `create` role on the content
    /// and grants no more than their own role; `Conflict` while invite links are disabled in the organization;
    /// `Invalid` for missing or contradictory fields, or for unknown content.
    #[boxed]
    pub async fn create_link(self, new: CreateLinkInvite) -> Result<LinkInvite> {
        let (platform, ref actor, org) = self.parts();
        let gives = link_grant(&new)?;
        let done = platform.idempotent(actor, Right::Link(org.clone(), gives.clone()), async move {
            let link = LinkInviteRecord {
                id: platform.id(),
                organization: org.clone(),
                gives,
                vouched_by: actor.require_user()?.clone(),
                created_at: platform.now(),
            };
            let id = link.id.clone();
            let create = link_invite_creation(actor, &link);
            platform
                .write_and_show(actor, &create, |done| Box::pin(platform.read_link(done.tx, actor, org, &id)))
                .await
        });
        done.await
    }
}

impl<'p> InviteHandle<'p> {
    /// Reads an invite link.
    ///
    /// # Errors
    /// `NotFound`, also if its content is deleted; `Forbidden` for actors who could not have created it.
    #[boxed]
    pub async fn get(self) -> Result<LinkInvite> {
        let (platform, ref actor, org, id) = self.parts();
        let tx = platform.read().await?;
        platform.read_link(&tx, actor, org, id).await
    }

    /// Changes the grant of an invite link. Users who have already joined through it keep their role.
    ///
    /// The validity of the link then depends on the rights of the actor, as if they had created it.
    ///
    /// # Errors
    /// `Forbidden` as for [creating](crate::platform::Invites::create_link) it; `Invalid` for a role if the link has a
    /// level, or a level if it has a role.
    #[boxed]
    pub async fn update(self, change: UpdateLinkInvite) -> Result<LinkInvite> {
        let (platform, ref actor, org, id) = self.parts();
        let update = link_invite_update(actor, org, id, &change);
        platform
            .change_and_show(actor, &update, |done| Box::pin(platform.read_link(done.tx, actor, org, id)))
            .await
    }

    /// Deletes an invite link or an e-mail invitation. It can no longer be used to join.
    ///
    /// Returns `false` if there was no such invite visible to the actor.
    ///
    /// # Errors
    /// `Forbidden` as for [creating](crate::platform::Invites::create_link) a link, or unless the actor is an
    /// administrator of the organization.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, org, id) = self.parts();
        let operation = link_invite_deletion(actor, org, id);
        Error::ignore_not_found(platform.write(actor, &operation).await)
    }
}

impl Platform {
    async fn read_link(&self, tx: &Tx, actor: &Actor, org: &OrgId, id: &InviteId) -> Result<LinkInvite> {
        let link = find(tx, actor, org, id).await?;
        let (object, id) = (InviteObject::Is, link.id.clone());
        Ok(match (authorize_link(tx, actor, &link).await?, &link.gives) {
            (LinkInviteAccess::Space(access), LinkInviteGrant::Content(_, level)) => {
                let redundant = access.role() >= *level;
                let shown = self.space_views(tx, std::slice::from_ref(&access)).await?.pop();
                let space = shown.ok_or_else(|| Error::not_found("space"))?;
                let (target, level) = (ToSpace::Is, *level);
                LinkInvite::Space(Box::new(SpaceInvite { object, id, target, level, redundant, space }))
            }
            (LinkInviteAccess::Collection(access), LinkInviteGrant::Content(_, level)) => {
                let (redundant, collection) = (access.role() >= *level, self.collection_view(&access));
                let (target, level) = (ToCollection::Is, *level);
                let shown = CollectionInvite { object, id, target, level, redundant, collection };
                LinkInvite::Collection(Box::new(shown))
            }
            (LinkInviteAccess::Org(access), LinkInviteGrant::Member(role)) => {
                LinkInvite::Member(member_invite(&link, *role, &access))
            }
            _ => return Err(Error::internal("the grant of a link does not match its target")),
        })
    }
}

fn member_invite(link: &LinkInviteRecord, role: Option<Role>, reader: &OrgAccess) -> MemberInvite {
    MemberInvite {
        object: InviteObject::Is,
        id: link.id.clone(),
        target: ToOrganization::Is,
        role,
        redundant: reader.role() >= role,
    }
}

/// Returns the grant of a new link.
pub(in crate::platform) fn link_grant(new: &CreateLinkInvite) -> Result<LinkInviteGrant> {
    let role = match new.role {
        Patch::Keep => None,
        Patch::Clear => Some(None),
        Patch::Set(role) => Some(Some(role)),
    };
    let other = |field: &str| {
        Err(Error::invalid(
            field,
            "must not be set for a link with a role in the \
                                                         organization",
        ))
    };
    match (role, &new.space, &new.collection) {
        (Some(_), Some(_), _) => other("space"),
        (Some(_), None, Some(_)) => other("collection"),
        (Some(_), None, None) if !new.level.is_keep() => other("level"),
        (Some(role), None, None) => Ok(LinkInviteGrant::Member(role)),
        (None, Some(_), Some(_)) => {
            Err(Error::invalid("collection", "must not be set together with `space`"))
        }
        (None, Some(space), None) => {
            let id = space.parse().map_err(|_| unknown("space"))?;
            Ok(LinkInviteGrant::Content(ContentTarget::Space(id), level(new.level)?))
        }
        (None, None, Some(collection)) => {
            let id = collection.parse().map_err(|_| unknown("collection"))?;
            Ok(LinkInviteGrant::Content(ContentTarget::Collection(id), level(new.level)?))
        }
        (None, None, None) => {
            Err(Error::invalid("role", "is required, unless `level` is set with `space` or `collection`"))
        }
    }
}

pub(in crate::platform) fn level(level: Patch<Role>) -> Result<Role> {
    level.apply(None).ok_or_else(|| Error::invalid("level", "must be a role"))
}

fn unknown(noun: &str) -> Error {
    Error::invalid(noun, format_args!("the organization has no such {noun}"))
}

/// Finds an invite link of an organization of which the actor is a member.
async fn find(tx: &Tx, actor: &Actor, org: &OrgId, id: &InviteId) -> Result<Arc<LinkInviteRecord>> {
    access::org(tx, actor, org).await?;
    let link: Option<Arc<LinkInviteRecord>> = tx.get(&LinkInviteRecord::key_for(id)).await?;
    link.filter(|link| link.organization == *org).ok_or_else(|| Error::not_found("invite"))
}

#[operation("link_invite_create")]
async fn link_invite_creation(tx: &mut Tx, actor: &Actor, link: &LinkInviteRecord) -> Result<()> {
    let org = access::org(tx, actor, &link.organization).await?;
    let unknown = |error: Error| match (error.kind(), &link.gives) {
        (ErrorKind::NotFound, LinkInviteGrant::Content(ContentTarget::Space(_), _)) => unknown("space"),
        (ErrorKind::NotFound, LinkInviteGrant::Content(ContentTarget::Collection(_), _)) => {
            unknown("collection")
        }
        _ => error,
    };
    authorize_link(tx, actor, link).await.map_err(unknown)?;
    if !org.org().invite_links {
        let off = "invite links are turned off for this organization; set its `inviteLinks` to turn \
                   them on";
        return Err(Error::conflict(off));
    }
    tx.create(link.clone());
    Ok(())
}

#[operation("link_invite_update")]
async fn link_invite_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &InviteId,
    change: &UpdateLinkInvite,
) -> Result<()> {
    let old = find(tx, actor, org, id).await?;
    authorize_link(tx, actor, &old).await?;
    let mut new = LinkInviteRecord::clone(&old);
    new.vouched_by = actor.user().unwrap_or(&old.vouched_by).clone();
    new.gives = match (&old.gives, change.role, change.level) {
        (LinkInviteGrant::Member(_), _, Patch::Clear | Patch::Set(_)) => {
            return Err(Error::invalid(
                "level",
                "must not be set for a link with a role in the organization; change `role`",
            ));
        }
        (LinkInviteGrant::Content(..), Patch::Clear | Patch::Set(_), _) => {
            return Err(Error::invalid(
                "role",
                "must not be set for a link with a role on content; \
                                               change `level`",
            ));
        }
        (LinkInviteGrant::Member(role), change, _) => LinkInviteGrant::Member(change.apply(*role)),
        (LinkInviteGrant::Content(content, role), _, Patch::Keep) => {
            LinkInviteGrant::Content(content.clone(), *role)
        }
        (LinkInviteGrant::Content(content, _), _, change) => {
            LinkInviteGrant::Content(content.clone(), level(change)?)
        }
    };
    authorize_link(tx, actor, &new).await?;
    if new != *old {
        tx.put(&*old, new)?;
    }
    Ok(())
}

#[operation("link_invite_delete")]
async fn link_invite_deletion(tx: &mut Tx, actor: &Actor, org: &OrgId, id: &InviteId) -> Result<()> {
    let access = access::org(tx, actor, org).await?;
    let email: Option<Arc<EmailInviteRecord>> = tx.get(&EmailInviteRecord::key_for(id)).await?;
    if let Some(email) = email.filter(|invite| invite.organization == *org) {
        access.require(OrgAction::Administrate)?;
        tx.delete(&*email);
        return Ok(());
    }
    let link = find(tx, actor, org, id).await?;
    // An administrator can also remove links to deleted content.
    if access.require(OrgAction::Administrate).is_err() {
        authorize_link(tx, actor, &link).await?;
    }
    tx.delete(&*link);
    Ok(())
}
