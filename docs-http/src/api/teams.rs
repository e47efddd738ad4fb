//! Operations on teams.

use docs_core::{
    Platform,
    model::{
        CreateTeam, List, MemberTeam, OrgId, PutTeamMember, Team, TeamId, TeamMember, UpdateTeam,
        UpdateTeamMembers,
    },
    platform::TeamFilter,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Deleted, Empty, Idempotency, NoContent,
    Optional, OrgMember, PageQuery, Path, Query, Reply, Strict,
};

#[derive(Debug)]
pub struct Teams(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "ApiTag::Teams")]
impl Teams {
    /// List the teams of an organization
    ///
    /// Ordered by title. Guests of the organization cannot see its teams.
    #[oai(path = "/teams", method = "get", operation_id = "listTeamsInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// Restricts the list to teams that this user can manage: the teams they own, or all teams for an
        /// administrator.
        owner: Query<String>,
        /// Restricts the list to teams whose title contains this text, ignoring case.
        title: Query<String>,
    ) -> ApiResult<Reply<List<Team>>> {
        let filter = TeamFilter { owner: owner.0, title: title.0 };
        Ok(Reply(auth.caller(&self.0).org(&org).teams().list(&filter, &page.0).await?.into()))
    }

    /// Create a team
    ///
    /// The team has no owners. Administrators can manage all teams.
    #[oai(path = "/teams", method = "put", operation_id = "createOrganizationTeam")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Strict<CreateTeam>,
    ) -> ApiResult<Created<Team>> {
        Ok(Created::new(auth.caller(&idempotency.platform(&self.0)).org(&org).teams().create(new.0).await?))
    }

    /// Get a team
    ///
    /// Guests of the organization cannot see its teams.
    #[oai(path = "/teams/:teamId", method = "get", operation_id = "getTeamInOrganizationById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "teamId")] team: Path<TeamId>,
    ) -> ApiResult<Reply<Team>> {
        Ok(Reply(auth.caller(&self.0).org(&org).team(&team).get().await?))
    }

    /// Change a team
    ///
    /// Changes the title. Separate operations change the members.
    #[oai(path = "/teams/:teamId", method = "patch", operation_id = "updateTeamInOrganizationById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "teamId")] team: Path<TeamId>,
        change: Strict<UpdateTeam>,
    ) -> ApiResult<Reply<Team>> {
        Ok(Reply(auth.caller(&condition.platform(&self.0)).org(&org).team(&team).update(change.0).await?))
    }

    /// Delete a team
    ///
    /// The team's roles on content are removed with it. Succeeds if the team does not exist.
    #[oai(path = "/teams/:teamId", method = "delete", operation_id = "removeTeamFromOrganizationById")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "teamId")] team: Path<TeamId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&condition.platform(&self.0)).org(&org).team(&team).delete().await?;
        Ok(Empty)
    }

    /// List the members of a team
    ///
    /// Ordered by the time of joining the team.
    #[oai(
        path = "/teams/:teamId/members",
        method = "get",
        operation_id = "listTeamMembersInOrganizationById"
    )]
    async fn members(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "teamId")] team: Path<TeamId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<TeamMember>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).team(&team).list_members(&page.0).await?.into()))
    }

    /// Add, change and remove members of a team
    ///
    /// A member who is both added and removed is removed.
    #[oai(path = "/teams/:teamId/members", method = "put", operation_id = "updateMembersInOrganizationTeam")]
    async fn update_members(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "teamId")] team: Path<TeamId>,
        change: Strict<UpdateTeamMembers>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).team(&team).update_members(change.0).await?;
        Ok(Empty)
    }

    /// Add a member to a team, or change the member's role in it
    ///
    /// Available to owners of the team and to administrators. Returns 404 if the user is not a member of the
    /// organization.
    #[oai(
        path = "/teams/:teamId/members/:userId",
        method = "put",
        operation_id = "addMemberToOrganizationTeamById"
    )]
    async fn put_member(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "teamId")] team: Path<TeamId>,
        #[oai(name = "userId")] user: Path<OrgMember>,
        place: Optional<PutTeamMember>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).team(&team).put_member(&user, place.0).await?;
        Ok(Empty)
    }

    /// Remove a member from a team
    ///
    /// Succeeds if the member is not in the team.
    #[oai(
        path = "/teams/:teamId/members/:userId",
        method = "delete",
        operation_id = "deleteMemberFromOrganizationTeamById"
    )]
    async fn remove_member(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "teamId")] team: Path<TeamId, Deleted>,
        #[oai(name = "userId")] user: Path<OrgMember, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).team(&team).remove_member(&user).await?;
        Ok(Empty)
    }

    /// List the teams of a member
    ///
    /// Guests of the organization cannot see its teams.
    #[oai(path = "/members/:userId/teams", method = "get", operation_id = "listTeamsForOrganizationMember")]
    async fn list_by_member(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "userId")] user: Path<OrgMember>,
        page: PageQuery,
        /// Restricts the list to teams whose title contains this text, ignoring case.
        title: Query<String>,
    ) -> ApiResult<Reply<List<MemberTeam>>> {
        let list = auth.caller(&self.0).org(&org).member(&user).list_teams(title.0.as_deref(), &page.0);
        Ok(Reply(list.await?.into()))
    }
}
