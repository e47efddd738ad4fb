//! Operations on the members of an organization.

use docs_core::{
    Platform,
    model::{BoundedText, List, ListOrder, Member, MemberRole, MemberSort, MemberSpace, OrgId, UpdateMember},
    platform::MemberFilter,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Deleted, NoContent, OrgMember, PageQuery, Path, Query,
    Reply, Strict,
};

#[derive(Debug)]
pub struct Members(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/members", tag = "ApiTag::Organizations")]
impl Members {
    /// List the members of an organization
    ///
    /// With `search`, a page can be incomplete or empty and still have a `next` page, because each request examines a
    /// limited number of members.
    #[oai(path = "/", method = "get", operation_id = "listMembersInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// The sort direction; `desc` by default.
        order: Query<ListOrder>,
        /// Restricts the list to members with this role.
        role: Query<MemberRole>,
        /// Restricts the list to members whose name or e-mail address contains this text, ignoring case. Text of one or
        /// two characters matches only at the beginning of a word.
        search: Query<BoundedText<0, 512>>,
        /// The sort key. With `lastSeenAt`, members who never visited are omitted.
        sort: Query<MemberSort>,
    ) -> ApiResult<Reply<List<Member>>> {
        let filter = MemberFilter {
            role: role.0,
            search: search.0,
            sort: sort.0.unwrap_or_default(),
            order: order.0.unwrap_or_default(),
        };
        Ok(Reply(auth.caller(&self.0).org(&org).members().list(&filter, &page.0).await?.into()))
    }

    /// Get a member of an organization
    ///
    /// Guests can only see themselves.
    #[oai(path = "/:userId", method = "get", operation_id = "getMemberInOrganizationById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "userId")] user: Path<OrgMember>,
    ) -> ApiResult<Reply<Member>> {
        Ok(Reply(auth.caller(&self.0).org(&org).member(&user).get().await?))
    }

    /// Change the role of a member
    ///
    /// Returns 409 if the organization would lose its last administrator.
    #[oai(path = "/:userId", method = "patch", operation_id = "updateMemberInOrganizationById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "userId")] user: Path<OrgMember>,
        change: Strict<UpdateMember>,
    ) -> ApiResult<Reply<Member>> {
        Ok(Reply(auth.caller(&condition.platform(&self.0)).org(&org).member(&user).update(change.0).await?))
    }

    /// Remove a member from an organization
    ///
    /// Removes the member with their explicit roles, team memberships and pending review requests. Members can remove
    /// themselves. Succeeds if the user is not a member.
    #[oai(path = "/:userId", method = "delete", operation_id = "removeMemberFromOrganizationById")]
    async fn remove(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "userId")] user: Path<OrgMember, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).member(&user).remove().await?;
        Ok(NoContent::default())
    }

    /// Enable single sign-on for a member
    ///
    /// Requires the role `admin`. Returns 404 if the user is not a member.
    #[oai(path = "/:userId/sso", method = "post", operation_id = "setUserAsSSOMemberForOrganization")]
    async fn set_sso(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "userId")] user: Path<OrgMember>,
    ) -> ApiResult<Reply<Member>> {
        Ok(Reply(auth.caller(&self.0).org(&org).member(&user).set_sso().await?))
    }

    /// List the spaces that a member can see
    ///
    /// Returns the spaces with the member's role, ordered by creation time. Available to the member and to
    /// administrators.
    #[oai(path = "/:userId/spaces", method = "get", operation_id = "listSpacesForOrganizationMember")]
    async fn spaces(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "userId")] user: Path<OrgMember>,
        page: PageQuery,
        /// The sort direction; `desc` by default.
        order: Query<ListOrder>,
    ) -> ApiResult<Reply<List<MemberSpace>>> {
        let order = order.0.unwrap_or_default();
        Ok(Reply(auth.caller(&self.0).org(&org).member(&user).list_spaces(order, &page.0).await?.into()))
    }
}
