//! Permissions on sites.

use std::sync::Arc;

use super::{EffectiveRole, Layer, OrgAccess, effective_role, missing_role_error, resolved_level};
use crate::{
    Error, Result,
    model::{DefaultLevel, Role, SitePermissions},
    store::records::SiteRecord,
};

/// An action on a site.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteAction {
    /// Read the site and its settings.
    View,
    /// Change the site's settings and spaces, publish it, and grant roles on it.
    Manage,
    /// Delete the site, but not its spaces.
    Delete,
}

/// Proof that an actor may read a site and its settings, with their role on it.
#[derive(Clone, Debug)]
pub struct SiteAccess {
    site: Arc<SiteRecord>,
    standing: EffectiveRole,
    is_creator: bool,
}

impl OrgAccess {
    /// Creates the access to a site of the organization. `layer` contains the actor's grants on the site.
    ///
    /// A site without grants and with the default level `inherit` has the role in the organization. Roles on a site
    /// have no effect on its spaces.
    ///
    /// # Errors
    /// `NotFound` if the site is hidden from the actor.
    pub fn site(&self, site: Arc<SiteRecord>, layer: Layer) -> Result<SiteAccess> {
        let layers = [layer];
        let role = effective_role(self.role, &layers).filter(|_| site.organization == self.org.id);
        let role = role.ok_or_else(|| Error::not_found("site"))?;
        let standing = EffectiveRole { role, level: resolved_level(self.role, &layers) };
        Ok(SiteAccess { site, standing, is_creator: layer.is_creator })
    }
}

impl SiteAccess {
    #[must_use]
    pub fn site(&self) -> &Arc<SiteRecord> {
        &self.site
    }

    #[must_use]
    pub fn role(&self) -> Role {
        self.standing.role
    }

    /// Returns the role on the site and its resolved default level.
    #[must_use]
    pub fn effective_role(&self) -> EffectiveRole {
        self.standing
    }

    #[must_use]
    pub fn level(&self) -> DefaultLevel {
        self.site.default_level
    }

    /// Checks that the actor may perform an action.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, action: SiteAction) -> Result<&Arc<SiteRecord>> {
        if self.may(action) {
            return Ok(&self.site);
        }
        Err(match action {
            SiteAction::View | SiteAction::Delete => missing_role_error(self.needs(action), "on the site"),
            SiteAction::Manage => Error::forbidden(
                "this needs the role `admin` on the site; the creator of the site needs `create`",
            ),
        })
    }

    const fn needs(&self, action: SiteAction) -> Role {
        match action {
            SiteAction::View => Role::Read,
            SiteAction::Delete => Role::Create,
            // Creators can manage their site as long as they may create content.
            SiteAction::Manage if self.is_creator => Role::Create,
            SiteAction::Manage => Role::Admin,
        }
    }

    fn may(&self, action: SiteAction) -> bool {
        self.standing.role.includes(self.needs(action))
    }

    /// Returns the actor's permissions on the site.
    #[must_use]
    pub fn permissions(&self) -> SitePermissions {
        let manages = self.may(SiteAction::Manage);
        SitePermissions {
            view: true,
            access: true,
            edit: self.standing.role.includes(Role::Edit),
            create: manages,
            admin: manages,
            install_integration: false,
            view_adaptive_schema: self.may(SiteAction::View),
            edit_adaptive_schema: manages,
        }
    }
}

/// The source of a role on a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteRoleSource {
    /// A role granted to the member directly.
    Member,
    /// A role granted to one of the member's teams.
    Team,
    /// The default level of the site.
    Level,
    /// The role in the organization.
    Organization,
}

/// Returns a member's role on a site and its source, or `None` if the site is hidden from the member. `org` is the role
/// in the organization, or `None` for a guest.
#[must_use]
pub fn site_role(org: Option<Role>, layer: Layer) -> Option<(Role, SiteRoleSource)> {
    let role = effective_role(org, &[layer])?;
    let source = match layer {
        _ if org == Some(Role::Admin) => SiteRoleSource::Organization,
        Layer { member: Some(_), .. } => SiteRoleSource::Member,
        Layer { team: Some(_), .. } => SiteRoleSource::Team,
        Layer { level: DefaultLevel::Role(_), .. } => SiteRoleSource::Level,
        // The creator keeps the role in the organization on a closed site.
        Layer { level: DefaultLevel::Inherit | DefaultLevel::Nobody, .. } => SiteRoleSource::Organization,
    };
    Some((role, source))
}
