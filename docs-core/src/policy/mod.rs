//! Permissions: pure functions over records, which return proofs of access.
//!
//! Only this module can create proofs. Functions that change the content of a space take a proof as an argument, so a
//! missing check is a compile error.

mod inherit;
mod site;
mod team;
mod translation;

use std::sync::Arc;

pub use inherit::{Layer, effective_role, inherited_role, resolved_level};
pub use site::{SiteAccess, SiteAction, SiteRoleSource, site_role};
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

/// The origin of a platform token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignIn {
    /// Created by or for the user.
    Token,
    /// Issued by single sign-on through a provider of the organization.
    Sso,
}

/// An action on an organization.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrgAction {
    /// List its members and teams.
    ListPeople,
    /// Read its OpenAPI specifications.
    ReadSpecs,
    /// Upload files for imports.
    UploadFiles,
    /// Create spaces, sites and OpenAPI specifications.
    CreateContent,
    /// Change its settings.
    Administrate,
}

#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpaceAction {
    /// Post comments and replies, and react to them.
    Comment,
    /// Create change requests and edit them.
    Edit,
    /// Review and merge change requests, and edit those of other users.
    Review,
    /// Rename, lock, duplicate, delete and restore the space, and import content into it.
    Manage,
}

/// An action on a comment or a reply.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommentAction {
    /// Edit the text.
    Edit,
    Delete,
    /// Resolve or reopen the comment.
    Resolve,
}

impl OrgAction {
    const fn needs(self) -> Role {
        match self {
            Self::ListPeople | Self::ReadSpecs => Role::Read,
            Self::UploadFiles => Role::Edit,
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

fn missing_role_error(role: Role, place: &str) -> Error {
    Error::forbidden(format!("this needs the role `{role}` {place}"))
}

/// Proof that an actor is a member of an organization, with their role in it.
#[derive(Clone, Debug)]
pub struct OrgAccess {
    org: Arc<OrgRecord>,
    role: Option<Role>,
}

impl OrgAccess {
    /// Creates a member's access.
    ///
    /// # Errors
    /// `NotFound` without a membership, so that non-members cannot detect that an organization exists.
    pub fn for_member(org: Option<Arc<OrgRecord>>, member: Option<&MemberRecord>) -> Result<Self> {
        match (org, member) {
            (Some(org), Some(member)) if member.organization == org.id => Ok(Self { org, role: member.role }),
            _ => Err(Error::not_found("organization")),
        }
    }

    /// Creates the access of a member authenticated by a platform token.
    ///
    /// # Errors
    /// `NotFound` without a membership, or for a single sign-on session of a member who no longer uses single sign-on;
    /// `Forbidden` for other tokens if the organization enforces single sign-on. Its administrators can still use other
    /// tokens, so that they can repair a broken provider.
    pub fn for_bearer(
        org: Option<Arc<OrgRecord>>,
        member: Option<&MemberRecord>,
        sign_in: SignIn,
    ) -> Result<Self> {
        let linked = member.is_some_and(|member| member.sso);
        let access = Self::for_member(org, member)?;
        match sign_in {
            SignIn::Sso if !linked => Err(Error::not_found("organization")),
            SignIn::Token if !access.accepts_tokens() => {
                Err(Error::forbidden("the organization requires single sign-on"))
            }
            SignIn::Sso | SignIn::Token => Ok(access),
        }
    }

    /// Returns `true` if the organization accepts tokens of this member that were not issued by single sign-on.
    #[must_use]
    pub fn accepts_tokens(&self) -> bool {
        !self.org.sso || self.role == Some(Role::Admin)
    }

    /// Creates the access of the platform itself, which has all permissions.
    ///
    /// # Errors
    /// `NotFound` without an organization.
    pub fn for_platform(org: Option<Arc<OrgRecord>>) -> Result<Self> {
        Ok(Self { org: org.ok_or_else(|| Error::not_found("organization"))?, role: Some(Role::Admin) })
    }

    #[must_use]
    pub fn org(&self) -> &Arc<OrgRecord> {
        &self.org
    }

    /// Returns the role in the organization, or `None` for a guest.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        self.role
    }

    /// Checks that the actor may perform an action.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, action: OrgAction) -> Result<&Self> {
        if self.may(action) {
            return Ok(self);
        }
        Err(match action {
            OrgAction::ListPeople => {
                Error::forbidden("guests cannot see the members and teams of the organization")
            }
            OrgAction::ReadSpecs => {
                Error::forbidden("guests cannot see the OpenAPI specifications of the organization")
            }
            OrgAction::UploadFiles | OrgAction::CreateContent | OrgAction::Administrate => {
                missing_role_error(action.needs(), "in the organization")
            }
        })
    }

    pub(crate) fn may(&self, action: OrgAction) -> bool {
        self.role >= Some(action.needs())
    }

    /// Returns the actor's permissions in the organization.
    #[must_use]
    pub fn permissions(&self) -> OrganizationPermissions {
        let (admin, creator) = (self.may(OrgAction::Administrate), self.may(OrgAction::CreateContent));
        let lists = self.may(OrgAction::ListPeople);
        OrganizationPermissions {
            view: true,
            access: true,
            admin,
            own_team: false,
            create_content: creator,
            create_openapi_spec: creator,
            ingest_conversations: false,
            view_billing: admin,
            list_members: lists,
            list_teams: lists,
            list_integrations: false,
            list_installations: false,
            install_integration: false,
        }
    }

    /// Creates the access to a space of the organization. `layers` contains the actor's grants on the space and its
    /// ancestors.
    ///
    /// # Errors
    /// `NotFound` if the space is hidden from the actor.
    pub fn space(&self, space: Arc<SpaceRecord>, layers: &[Layer]) -> Result<SpaceAccess> {
        let role = effective_role(self.role, layers).filter(|_| space.organization == self.org.id);
        let role = role.ok_or_else(|| Error::not_found("space"))?;
        let stated = space.default_level;
        Ok(SpaceAccess {
            space,
            standing: EffectiveRole { role, level: resolved_level(self.role, layers) },
            stated,
        })
    }

    /// Creates the access to a collection of the organization. `layers` contains the actor's grants on the collection
    /// and its ancestors.
    ///
    /// # Errors
    /// `NotFound` if the collection is hidden from the actor.
    pub fn collection(
        &self,
        collection: Arc<CollectionRecord>,
        layers: &[Layer],
    ) -> Result<CollectionAccess> {
        let role = effective_role(self.role, layers).filter(|_| collection.organization == self.org.id);
        let role = role.ok_or_else(|| Error::not_found("collection"))?;
        Ok(CollectionAccess {
            collection,
            standing: EffectiveRole { role, level: resolved_level(self.role, layers) },
        })
    }
}

/// An actor's role on content, and its resolved default level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveRole {
    /// The role of the actor.
    pub role: Role,
    /// The [resolved default level](resolved_level), or `None` if it hides the content.
    pub level: Option<Role>,
}

/// Proof that an actor may read a space, with their role on it.
#[derive(Clone, Debug)]
pub struct SpaceAccess {
    space: Arc<SpaceRecord>,
    standing: EffectiveRole,
    stated: DefaultLevel,
}

impl SpaceAccess {
    /// Creates read access for a visitor of a published site that contains the space, regardless of the space's default
    /// level.
    #[must_use]
    pub fn for_visitor(space: Arc<SpaceRecord>) -> Self {
        let standing = EffectiveRole { role: Role::Read, level: Some(Role::Read) };
        let stated = space.default_level;
        Self { space, standing, stated }
    }

    #[must_use]
    pub fn space(&self) -> &Arc<SpaceRecord> {
        &self.space
    }

    #[must_use]
    pub fn role(&self) -> Role {
        self.standing.role
    }

    /// Returns the role on the space and its resolved default level.
    #[must_use]
    pub fn effective_role(&self) -> EffectiveRole {
        self.standing
    }

    #[must_use]
    pub fn level(&self) -> DefaultLevel {
        self.stated
    }

    /// Checks that the actor may perform an action, and returns the proof.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, action: SpaceAction) -> Result<SpaceProof> {
        if self.may(action) {
            return Ok(SpaceProof { space: Arc::clone(&self.space) });
        }
        Err(missing_role_error(action.needs(), "on the space"))
    }

    fn may(&self, action: SpaceAction) -> bool {
        self.standing.role.includes(action.needs())
    }

    /// Checks that the actor may perform an action on a comment or reply in this space. Its author may perform all
    /// actions, provided they may comment at all, and so may administrators of the space. Editors may also resolve it.
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
        let why = format!("only the author, or a user with the role `{least}` on the space, can {what} this");
        Err(Error::forbidden(why))
    }

    /// Returns the actor's permissions on a comment or reply by `author`.
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

    /// Returns the actor's permissions on the space.
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
            install_integration: false,
        }
    }
}

#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CollectionAction {
    /// Create spaces and collections in the collection, rename, move and delete it, and grant roles on it.
    Manage,
}

impl CollectionAction {
    const fn needs(self) -> Role {
        match self {
            Self::Manage => Role::Create,
        }
    }
}

/// Proof that an actor has access to a collection, with their role on it.
#[derive(Clone, Debug)]
pub struct CollectionAccess {
    collection: Arc<CollectionRecord>,
    standing: EffectiveRole,
}

impl CollectionAccess {
    #[must_use]
    pub fn collection(&self) -> &Arc<CollectionRecord> {
        &self.collection
    }

    #[must_use]
    pub fn role(&self) -> Role {
        self.standing.role
    }

    /// Returns the role on the collection and its resolved default level.
    #[must_use]
    pub fn effective_role(&self) -> EffectiveRole {
        self.standing
    }

    #[must_use]
    pub fn level(&self) -> DefaultLevel {
        self.collection.default_level
    }

    /// Checks that the actor may perform an action.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, action: CollectionAction) -> Result<&Arc<CollectionRecord>> {
        if self.may(action) {
            Ok(&self.collection)
        } else {
            Err(missing_role_error(action.needs(), "on the collection"))
        }
    }

    fn may(&self, action: CollectionAction) -> bool {
        self.standing.role.includes(action.needs())
    }

    /// Returns the actor's permissions on the collection.
    #[must_use]
    pub fn permissions(&self) -> CollectionPermissions {
        let manages = self.may(CollectionAction::Manage);
        CollectionPermissions { view: true, admin: manages, view_invite_links: manages, create: manages }
    }
}

/// Proof that an actor may perform an action on a space. Functions that change a space take it as an argument.
#[derive(Clone, Debug)]
pub struct SpaceProof {
    space: Arc<SpaceRecord>,
}

impl SpaceProof {
    #[must_use]
    pub fn space(&self) -> &Arc<SpaceRecord> {
        &self.space
    }
}
