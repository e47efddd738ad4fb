//! Members of organizations.

use docs_core::{
    Platform,
    model::{BoundedText, List, ListOrder, Member, MemberRole, MemberSort, MemberSpace, UpdateMember},
    platform::MemberFilter,
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    conditions::Condition,
    wire::{
        error::Answer,
        params::{PageQuery, Query},
        payload::Strict,
        reply::{NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Members(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/members", tag = "Tag::Organizations")]
impl Members {
    /// List the members of an organization
    ///
    /// A page may be short, or empty, and have a `next`: where a search has to compare many members to find few.
    #[oai(path = "/", method = "get", operation_id = "listMembersInOrganizationById")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        page: PageQuery,
        /// Which way; `desc` when absent.
        order: Query<ListOrder>,
        /// Only those with this role.
        role: Query<MemberRole>,
        /// Only those whose name or e-mail address contains this, whatever the case. One or two characters have to
        /// begin a word of it.
        search: Query<BoundedText<0, 512>>,
        /// What they are listed by; by `lastSeenAt`, members who were never there are left out.
        sort: Query<MemberSort>,
    ) -> Answer<Reply<List<Member>>> {
        let filter = MemberFilter {
            role: role.0,
            search: search.0,
            sort: sort.0.unwrap_or_default(),
            order: order.0.unwrap_or_default(),
        };
        let org = id(&org, "organization")?;
        Ok(Reply(auth.caller(&self.0).org(&org).members().list(&filter, &page.0).await?.into()))
    }

    /// Get a member of an organization
    ///
    /// Guests see nobody but themselves.
    #[oai(path = "/:userId", method = "get", operation_id = "getMemberInOrganizationById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
    ) -> Answer<Reply<Member>> {
        let (org, user) = (id(&org, "organization")?, id(&user, "member")?);
        Ok(Reply(auth.caller(&self.0).org(&org).member(&user).get().await?))
    }

    /// Change the role of a member
    ///
    /// An organization keeps at least one administrator.
    #[oai(path = "/:userId", method = "patch", operation_id = "updateMemberInOrganizationById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
        change: Strict<UpdateMember>,
    ) -> Answer<Reply<Member>> {
        let (org, user) = (id(&org, "organization")?, id(&user, "member")?);
        Ok(Reply(auth.caller(&condition.platform(&self.0)).org(&org).member(&user).update(change.0).await?))
    }

    /// Remove a member from an organization
    ///
    /// With the roles they were given by name, their places in teams and the reviews they were asked for. A member may
    /// leave; somebody who is no member is no error.
    #[oai(path = "/:userId", method = "delete", operation_id = "removeMemberFromOrganizationById")]
    async fn remove(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(user)) = (org.parse(), user.parse()) {
            auth.caller(&self.0).org(&org).member(&user).remove().await?;
        }
        Ok(NoContent::default())
    }

    /// Let a member sign in through the organization's single sign-on
    ///
    /// For administrators. A user who is no member is not found.
    #[oai(path = "/:userId/sso", method = "post", operation_id = "setUserAsSSOMemberForOrganization")]
    async fn set_sso(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
    ) -> Answer<Reply<Member>> {
        let (org, user) = (id(&org, "organization")?, id(&user, "member")?);
        Ok(Reply(auth.caller(&self.0).org(&org).member(&user).set_sso().await?))
    }

    /// List the spaces that a member may see
    ///
    /// With the member's role on each, by the time of their creation. For the member, and for administrators.
    #[oai(path = "/:userId/spaces", method = "get", operation_id = "listSpacesForOrganizationMember")]
    async fn spaces(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "userId")] user: Path<String>,
        page: PageQuery,
        /// Which way; `desc` when absent.
        order: Query<ListOrder>,
    ) -> Answer<Reply<List<MemberSpace>>> {
        let (org, user) = (id(&org, "organization")?, id(&user, "member")?);
        let order = order.0.unwrap_or_default();
        Ok(Reply(auth.caller(&self.0).org(&org).member(&user).list_spaces(order, &page.0).await?.into()))
    }
}
