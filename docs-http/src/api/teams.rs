//! Teams.

use docs_core::{
    Platform,
    model::{
        CreateTeam, List, MemberTeam, PutTeamMember, Team, TeamId, TeamMember, UpdateTeam, UpdateTeamMembers,
    },
    platform::TeamFilter,
};
use poem_openapi::{OpenApi, param::Path};

use super::{Auth, Limit, Tag, id, page};
use crate::{
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::Query,
        payload::{Optional, Strict},
        reply::{Created, Empty, NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Teams(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "Tag::Teams")]
impl Teams {
    /// List the teams of an organization
    ///
    /// By title. Guests of the organization do not see its teams.
    #[oai(path = "/teams", method = "get", operation_id = "listTeamsInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// Only teams that this member owns.
        owner: Query<String>,
        /// Only teams whose title contains this, whatever the case.
        title: Query<String>,
    ) -> Answer<Reply<List<Team>>> {
        let org = id(&org, "organization")?;
        let filter = TeamFilter { owner: owner.0, title: title.0 };
        Ok(Reply(self.0.list_teams(&auth.0, &org, &filter, &page(cursor.0, limit.0)).await?.into()))
    }

    /// Create a team
    #[oai(path = "/teams", method = "put", operation_id = "createOrganizationTeam")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        new: Strict<CreateTeam>,
    ) -> Answer<Created<Team>> {
        Ok(Created::new(
            idempotency.on(&self.0).create_team(&auth.0, &id(&org, "organization")?, new.0).await?,
        ))
    }

    /// Get a team
    #[oai(path = "/teams/:teamId", method = "get", operation_id = "getTeamInOrganizationById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "teamId")] team: Path<String>,
    ) -> Answer<Reply<Team>> {
        let (org, team) = (id(&org, "organization")?, id(&team, "team")?);
        Ok(Reply(self.0.get_team(&auth.0, &org, &team).await?))
    }

    /// Change a team
    #[oai(path = "/teams/:teamId", method = "patch", operation_id = "updateTeamInOrganizationById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "teamId")] team: Path<String>,
        change: Strict<UpdateTeam>,
    ) -> Answer<Reply<Team>> {
        let (org, team) = (id(&org, "organization")?, id(&team, "team")?);
        Ok(Reply(self.0.update_team(&auth.0, &org, &team, change.0).await?))
    }

    /// Delete a team
    ///
    /// What was granted to it is gone with it. A team that is missing is no error.
    #[oai(path = "/teams/:teamId", method = "delete", operation_id = "removeTeamFromOrganizationById")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "teamId")] team: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(team)) = (org.parse(), team.parse()) {
            self.0.delete_team(&auth.0, &org, &team).await?;
        }
        Ok(Empty)
    }

    /// List the members of a team
    ///
    /// In the order in which they were added.
    #[oai(
        path = "/teams/:teamId/members",
        method = "get",
        operation_id = "listTeamMembersInOrganizationById"
    )]
    async fn members(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "teamId")] team: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
    ) -> Answer<Reply<List<TeamMember>>> {
        let (org, team) = (id(&org, "organization")?, id(&team, "team")?);
        let page = page(cursor.0, limit.0);
        Ok(Reply(self.0.list_team_members(&auth.0, &org, &team, &page).await?.into()))
    }

    /// Add, change and remove members of a team
    ///
    /// At most 300 of them. Whoever is both added and removed is removed.
    #[oai(path = "/teams/:teamId/members", method = "put", operation_id = "updateMembersInOrganizationTeam")]
    async fn update_members(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "teamId")] team: Path<String>,
        change: Strict<UpdateTeamMembers>,
    ) -> Answer<NoContent> {
        let (org, team) = (id(&org, "organization")?, id(&team, "team")?);
        self.0.update_team_members(&auth.0, &org, &team, change.0).await?;
        Ok(Empty)
    }

    /// Add a member to a team, or change the member's role in it
    #[oai(
        path = "/teams/:teamId/members/:userId",
        method = "put",
        operation_id = "addMemberToOrganizationTeamById"
    )]
    async fn put_member(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "teamId")] team: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
        place: Optional<PutTeamMember>,
    ) -> Answer<NoContent> {
        let (org, team) = (id(&org, "organization")?, id::<TeamId>(&team, "team")?);
        self.0.put_team_member(&auth.0, (&org, &team), &id(&user, "member")?, place.0).await?;
        Ok(Empty)
    }

    /// Remove a member from a team
    ///
    /// A member who is not in the team is no error.
    #[oai(
        path = "/teams/:teamId/members/:userId",
        method = "delete",
        operation_id = "deleteMemberFromOrganizationTeamById"
    )]
    async fn remove_member(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "teamId")] team: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(team), Ok(user)) = (org.parse(), team.parse(), user.parse()) {
            self.0.remove_team_member(&auth.0, &org, &team, &user).await?;
        }
        Ok(Empty)
    }

    /// List the teams of a member
    ///
    /// Guests of the organization do not see its teams.
    #[oai(path = "/members/:userId/teams", method = "get", operation_id = "listTeamsForOrganizationMember")]
    async fn of_member(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
        /// The `next.page` of the page before.
        #[oai(name = "page")]
        cursor: Query<String>,
        /// Most items of a page; 50 when absent.
        limit: Query<Limit>,
        /// Only teams whose title contains this, whatever the case.
        title: Query<String>,
    ) -> Answer<Reply<List<MemberTeam>>> {
        let (org, user) = (id(&org, "organization")?, id(&user, "member")?);
        let page = page(cursor.0, limit.0);
        let list = self.0.list_member_teams(&auth.0, (&org, &user), title.0.as_deref(), &page);
        Ok(Reply(list.await?.into()))
    }
}
