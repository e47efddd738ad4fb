//! Who may do what: pure functions over records, and the proofs they give.
//!
//! Only this module makes proofs. What changes a space's content takes one, so forgetting the check does not compile.

mod inherit;
mod team;
mod translation;

use std::sync::Arc;

pub use inherit::{Layer, effective_role, inherited_role, resolved_level};
pub use team::{TeamAccess, TeamAction};
pub use translation::{TranslatedSpaces, TranslationAccess};

use crate::{
    Error, Result,
    model::{
        CollectionPermissions, CommentPermissions, DefaultLevel, OrganizationPermissions, Role,
        SpacePermissions, UserId,
    },
    store::records::{CollectionRecord, MemberRecord, OrgRecord, SpaceRecord},
};

/// How the bearer of a token of the platform came to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignIn {
    /// They were given it.
    Token,
    /// They signed in through a provider of the organization.
    Sso,
}

/// What somebody wants to do in an organization.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrgAction {
    /// See its members and teams.
    ListPeople,
    /// Read its OpenAPI specifications.
    ReadSpecs,
    /// Create spaces, sites and OpenAPI specifications.
    CreateContent,
    /// Change its settings.
    Administrate,
}

/// What somebody wants to do with a space.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpaceAction {
    /// Post comments and replies, react to them.
    Comment,
    /// Create change requests and edit them.
    Edit,
    /// Review and merge change requests, and change those of others.
    Review,
    /// Rename, lock, duplicate, delete, restore it; import into it.
    Manage,
}

/// What somebody wants to do with a comment, or a reply.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommentAction {
    /// Change its text.
    Edit,
    /// Delete it.
    Delete,
    /// Resolve it, or open it again.
    Resolve,
}

/// What somebody wants to do with a site.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteAction {
    /// See it.
    View,
    /// Change its settings and spaces, publish it.
    Manage,
    /// Delete it; its spaces stay.
    Delete,
}

impl OrgAction {
    const fn needs(self) -> Role {
        match self {
            Self::ListPeople | Self::ReadSpecs => Role::Read,
            Self::CreateContent => Role::Create,
            Self::Administrate => Role::Admin,
        }
    }
}

impl SpaceAction {
    const fn needs(self) -> Role {
        match self {
            Self::Comment => Role::Comment,
            Self::Edit => Role::Edit,
            Self::Review => Role::Review,
            Self::Manage => Role::Create,
        }
    }
}

/// Says that somebody has not the role that something needs.
fn lacks(role: Role, place: &str) -> Error {
    Error::forbidden(format!("this needs the role `{role}` {place}"))
}

/// Proof that an actor is a member of an organization, and with what role.
#[derive(Clone, Debug)]
pub struct OrgAccess {
    org: Arc<OrgRecord>,
    role: Option<Role>,
}

impl OrgAccess {
    /// The access of a member.
    ///
    /// # Errors
    /// `NotFound` where there is no membership: an organization is known to its members only.
    pub fn of_member(org: Option<Arc<OrgRecord>>, member: Option<&MemberRecord>) -> Result<Self> {
        match (org, member) {
            (Some(org), Some(member)) if member.organization == org.id => Ok(Self { org, role: member.role }),
            _ => Err(Error::not_found("organization")),
        }
    }

    /// The access of a member who sent a token of the platform.
    ///
    /// # Errors
    /// `NotFound` where there is no membership, and for a session of single sign-on of a member who does not sign in so
    /// any more; `Forbidden` for other tokens where the organization insists on single sign-on. Its administrators keep
    /// them: whoever breaks the way in has to be able to mend it.
    pub fn of_bearer(
        org: Option<Arc<OrgRecord>>,
        member: Option<&MemberRecord>,
        sign_in: SignIn,
    ) -> Result<Self> {
        let linked = member.is_some_and(|member| member.sso);
        let access = Self::of_member(org, member)?;
        match sign_in {
            SignIn::Sso if !linked => Err(Error::not_found("organization")),
            SignIn::Token if !access.takes_tokens() => {
                Err(Error::forbidden("the organization insists on single sign-on"))
            }
            SignIn::Sso | SignIn::Token => Ok(access),
        }
    }

    /// Tells whether the organization takes tokens that members were given, of this one.
    #[must_use]
    pub fn takes_tokens(&self) -> bool {
        !self.org.sso || self.role == Some(Role::Admin)
    }

    /// The access of the platform itself.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn of_platform(org: Option<Arc<OrgRecord>>) -> Result<Self> {
        Ok(Self { org: org.ok_or_else(|| Error::not_found("organization"))?, role: Some(Role::Admin) })
    }

    /// The organization.
    #[must_use]
    pub fn org(&self) -> &Arc<OrgRecord> {
        &self.org
    }

    /// The role in the organization; `None` for a guest.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        self.role
    }

    /// Demands a right.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, action: OrgAction) -> Result<&Self> {
        if self.may(action) {
            return Ok(self);
        }
        Err(match action {
            OrgAction::ListPeople => {
                Error::forbidden("guests of an organization do not see its members and teams")
            }
            OrgAction::ReadSpecs => {
                Error::forbidden("guests of an organization do not see its OpenAPI specifications")
            }
            OrgAction::CreateContent | OrgAction::Administrate => {
                lacks(action.needs(), "in the organization")
            }
        })
    }

    fn may(&self, action: OrgAction) -> bool {
        self.role >= Some(action.needs())
    }

    /// What the actor may do in the organization.
    #[must_use]
    pub fn permissions(&self) -> OrganizationPermissions {
        let (admin, creator) = (self.may(OrgAction::Administrate), self.may(OrgAction::CreateContent));
        let lists = self.may(OrgAction::ListPeople);
        OrganizationPermissions {
            view: true,
            admin,
            own_team: false,
            create_content: creator,
            create_openapi_spec: creator,
            ingest_conversations: false,
            view_billing: admin,
            list_members: lists,
            list_teams: lists,
            list_integrations: false,
        }
    }

    /// The access to a space of the organization, for somebody who holds this on it and on what it lies in.
    ///
    /// # Errors
    /// `NotFound` where the actor may not see it.
    pub fn space(&self, space: Arc<SpaceRecord>, layers: &[Layer]) -> Result<SpaceAccess> {
        let role = effective_role(self.role, layers).filter(|_| space.organization == self.org.id);
        let role = role.ok_or_else(|| Error::not_found("space"))?;
        let stated = space.default_level;
        Ok(SpaceAccess {
            space,
            standing: Standing { role, level: resolved_level(self.role, layers) },
            stated,
        })
    }

    /// The access to a collection of the organization, for somebody who holds this on it and on what it lies in.
    ///
    /// # Errors
    /// `NotFound` where the actor may not see it.
    pub fn collection(
        &self,
        collection: Arc<CollectionRecord>,
        layers: &[Layer],
    ) -> Result<CollectionAccess> {
        let role = effective_role(self.role, layers).filter(|_| collection.organization == self.org.id);
        let role = role.ok_or_else(|| Error::not_found("collection"))?;
        Ok(CollectionAccess {
            collection,
            standing: Standing { role, level: resolved_level(self.role, layers) },
        })
    }

    /// Demands a right on a site of the organization.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require_site(
        &self,
        action: SiteAction,
        created_by: Option<&UserId>,
        user: Option<&UserId>,
    ) -> Result<()> {
        let needed = match action {
            SiteAction::View => Role::Read,
            SiteAction::Delete => Role::Create,
            // Whoever created the site keeps it, as long as they may create content at all.
            SiteAction::Manage if created_by.is_some() && created_by == user => Role::Create,
            SiteAction::Manage => Role::Admin,
        };
        match self.role {
            None => Err(Error::not_found("site")),
            Some(role) if role.includes(needed) => Ok(()),
            Some(_) if needed == Role::Create => Err(lacks(needed, "in the organization")),
            Some(_) => Err(Error::forbidden("this needs the role `admin`, or to be the creator of the site")),
        }
    }
}

/// What somebody has on content, and what its level gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The role of the actor.
    pub role: Role,
    /// The role that the [level comes down to](resolved_level); `None` where it hides the content.
    pub level: Option<Role>,
}

/// Proof that an actor may see a space, and what else.
#[derive(Clone, Debug)]
pub struct SpaceAccess {
    space: Arc<SpaceRecord>,
    standing: Standing,
    stated: DefaultLevel,
}

impl SpaceAccess {
    /// The access of a visitor whom a published site shows the space: reading, whatever its level is for members.
    #[must_use]
    pub const fn of_visitor(space: Arc<SpaceRecord>) -> Self {
        let standing = Standing { role: Role::Read, level: Some(Role::Read) };
        Self { space, standing, stated: DefaultLevel::Role(Role::Read) }
    }

    /// The space.
    #[must_use]
    pub fn space(&self) -> &Arc<SpaceRecord> {
        &self.space
    }

    /// The role on the space.
    #[must_use]
    pub fn role(&self) -> Role {
        self.standing.role
    }

    /// The role on the space, and what its level comes down to.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// The level that is set on the space.
    #[must_use]
    pub fn level(&self) -> DefaultLevel {
        self.stated
    }

    /// Demands a right.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, action: SpaceAction) -> Result<SpaceProof> {
        if self.may(action) {
            return Ok(SpaceProof { space: Arc::clone(&self.space) });
        }
        Err(lacks(action.needs(), "on the space"))
    }

    fn may(&self, action: SpaceAction) -> bool {
        self.standing.role.includes(action.needs())
    }

    /// Demands a right on a comment or a reply on the space's content: its author has it, and whoever administrates
    /// the space; whoever edits content also resolves. Authors keep it for as long as they may comment at all.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require_comment(
        &self,
        action: CommentAction,
        author: &UserId,
        user: Option<&UserId>,
    ) -> Result<SpaceProof> {
        let own = user == Some(author);
        let least = match action {
            CommentAction::Edit | CommentAction::Delete => Role::Create,
            CommentAction::Resolve => Role::Edit,
        };
        if own {
            return self.require(SpaceAction::Comment);
        }
        if self.standing.role.includes(least) {
            return Ok(SpaceProof { space: Arc::clone(&self.space) });
        }
        let what = match action {
            CommentAction::Edit => "change",
            CommentAction::Delete => "delete",
            CommentAction::Resolve => "resolve",
        };
        let why = format!("only its author, or the role `{least}` on the space, can {what} this");
        Err(Error::forbidden(why))
    }

    /// What the actor may do with a comment or a reply of an author.
    #[must_use]
    pub fn comment_permissions(&self, author: &UserId, user: Option<&UserId>) -> CommentPermissions {
        let may = |action| self.require_comment(action, author, user).is_ok();
        CommentPermissions {
            view: true,
            edit: may(CommentAction::Edit),
            reply: self.may(SpaceAction::Comment),
            react: self.may(SpaceAction::Comment),
            delete: may(CommentAction::Delete),
        }
    }

    /// What the actor may do with the space.
    #[must_use]
    pub fn permissions(&self) -> SpacePermissions {
        let manages = self.may(SpaceAction::Manage);
        SpacePermissions {
            view: true,
            access: true,
            admin: manages,
            view_invite_links: manages,
            edit: self.may(SpaceAction::Edit),
            trigger_git_sync: manages,
            comment: self.may(SpaceAction::Comment),
            merge: self.may(SpaceAction::Review),
            review: self.may(SpaceAction::Review),
        }
    }
}

/// What somebody wants to do with a collection.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionAction {
    /// Create spaces and collections in it, rename, move and delete it, grant it.
    Manage,
}

impl CollectionAction {
    const fn needs(self) -> Role {
        match self {
            Self::Manage => Role::Create,
        }
    }
}

/// Proof that an actor may see a collection, and what else.
#[derive(Clone, Debug)]
pub struct CollectionAccess {
    collection: Arc<CollectionRecord>,
    standing: Standing,
}

impl CollectionAccess {
    /// The collection.
    #[must_use]
    pub fn collection(&self) -> &Arc<CollectionRecord> {
        &self.collection
    }

    /// The role on the collection.
    #[must_use]
    pub fn role(&self) -> Role {
        self.standing.role
    }

    /// The role on the collection, and what its level comes down to.
    #[must_use]
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// The level that is set on the collection.
    #[must_use]
    pub fn level(&self) -> DefaultLevel {
        self.collection.default_level
    }

    /// Demands a right.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, action: CollectionAction) -> Result<&Arc<CollectionRecord>> {
        if self.may(action) { Ok(&self.collection) } else { Err(lacks(action.needs(), "on the collection")) }
    }

    fn may(&self, action: CollectionAction) -> bool {
        self.standing.role.includes(action.needs())
    }

    /// What the actor may do with the collection.
    #[must_use]
    pub fn permissions(&self) -> CollectionPermissions {
        let manages = self.may(CollectionAction::Manage);
        CollectionPermissions { view: true, admin: manages, view_invite_links: manages, create: manages }
    }
}

/// Proof of one right on a space. Functions that change a space demand it.
#[derive(Clone, Debug)]
pub struct SpaceProof {
    space: Arc<SpaceRecord>,
}

impl SpaceProof {
    /// The space.
    #[must_use]
    pub fn space(&self) -> &Arc<SpaceRecord> {
        &self.space
    }
}
