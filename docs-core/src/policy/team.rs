//! Permissions on teams.

use std::sync::Arc;

use super::OrgAccess;
use crate::{
    Error, Result,
    model::{Role, TeamPermissions, TeamRole},
    store::records::{TeamMemberRecord, TeamRecord},
};

#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TeamAction {
    /// View the team and its members.
    View,
    /// Add and remove members, and appoint owners.
    ManageMembers,
    /// Rename and delete the team.
    Administrate,
}

/// Proof that an actor may see a team, with their permissions on it.
#[derive(Clone, Debug)]
pub struct TeamAccess {
    team: Arc<TeamRecord>,
    may: TeamAction,
}

impl OrgAccess {
    /// Creates the access to a team. `place` is the actor's membership in the team, if any.
    ///
    /// # Errors
    /// `NotFound` for guests, or if the organization has no such team.
    pub fn team(
        &self,
        team: Option<Arc<TeamRecord>>,
        place: Option<&TeamMemberRecord>,
    ) -> Result<TeamAccess> {
        let team = team.filter(|team| team.organization == self.org().id && self.role().is_some());
        let team = team.ok_or_else(|| Error::not_found("team"))?;
        let owns = place.is_some_and(|place| place.team == team.id && place.role == TeamRole::Owner);
        let may = match self.role() {
            Some(Role::Admin) => TeamAction::Administrate,
            _ if owns => TeamAction::ManageMembers,
            _ => TeamAction::View,
        };
        Ok(TeamAccess { team, may })
    }
}

impl TeamAccess {
    #[must_use]
    pub fn team(&self) -> &Arc<TeamRecord> {
        &self.team
    }

    /// Checks that the actor may perform an action.
    ///
    /// # Errors
    /// `Forbidden`.
    pub fn require(&self, action: TeamAction) -> Result<&Arc<TeamRecord>> {
        let allowed = match action {
            TeamAction::View => true,
            TeamAction::ManageMembers => self.may != TeamAction::View,
            TeamAction::Administrate => self.may == TeamAction::Administrate,
        };
        if allowed {
            return Ok(&self.team);
        }
        Err(Error::forbidden(match action {
            TeamAction::View => "this needs the right to see the team",
            TeamAction::ManageMembers => {
                "this needs to be an owner of the team, or the role `admin` in the organization"
            }
            TeamAction::Administrate => "this needs the role `admin` in the organization",
        }))
    }

    /// Returns the actor's permissions on the team.
    #[must_use]
    pub fn permissions(&self) -> TeamPermissions {
        TeamPermissions { admin: self.require(TeamAction::ManageMembers).is_ok(), view: true }
    }
}
