//! Operations on invites to an organization.

use docs_core::{
    Platform,
    model::{
        CreateLinkInvite, InviteId, InviteUsers, InvitedUsers, JoinedOrganization, LinkInvite, List,
        MemberInvite, OrgId, UpdateLinkInvite,
    },
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Deleted, Idempotency, NoContent, PageQuery,
    Path, Reply, Strict,
};

#[derive(Debug)]
pub struct Invites(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "ApiTag::Organizations")]
impl Invites {
    /// Invite people by their e-mail addresses
    ///
    /// Users with one of the addresses become members immediately. Other addresses receive an invite, which expires.
    #[oai(path = "/invites", method = "post", operation_id = "inviteUsersToOrganization")]
    async fn invite(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Strict<InviteUsers>,
    ) -> ApiResult<Reply<InvitedUsers>> {
        Ok(Reply(auth.caller(&idempotency.platform(&self.0)).org(&org).invites().send(new.0).await?))
    }

    /// Join an organization by an invite
    ///
    /// Accepts an invite link, or an invite to the caller's address. The caller's role is raised if it is lower, and
    /// never lowered.
    #[oai(path = "/invites/:inviteId", method = "post", operation_id = "joinOrganizationWithInvite")]
    async fn join(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "inviteId")] invite: Path<InviteId>,
    ) -> ApiResult<Reply<JoinedOrganization>> {
        Ok(Reply(auth.caller(&self.0).org(&org).invite(&invite).join().await?))
    }

    /// List the invite links of an organization
    ///
    /// Returns links that grant a role in the organization, oldest first.
    #[oai(path = "/link-invites", method = "get", operation_id = "listOrganizationInviteLinks")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<MemberInvite>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).invites().list_links(&page.0).await?.into()))
    }

    /// Create an invite link
    ///
    /// Creates a link that grants a role in the organization, or a level on a space or collection. Users who join by a
    /// link to content become guests with that level on the content. Returns 409 while `inviteLinks` of the
    /// organization is `false`.
    #[oai(path = "/link-invites", method = "post", operation_id = "createOrganizationInvite")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Strict<CreateLinkInvite>,
    ) -> ApiResult<Created<LinkInvite>> {
        let link = auth.caller(&idempotency.platform(&self.0)).org(&org).invites().create_link(new.0).await?;
        let location = self.0.urls().link_invite(&org, link.id());
        Ok(Created::new(link).with_location(location))
    }

    /// Get an invite link
    ///
    /// Available to users who may create such a link. Returns 404 if the link grants access to content that was
    /// deleted.
    #[oai(path = "/link-invites/:inviteId", method = "get", operation_id = "getOrganizationInviteLink")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "inviteId")] invite: Path<InviteId>,
    ) -> ApiResult<Reply<LinkInvite>> {
        Ok(Reply(auth.caller(&self.0).org(&org).invite(&invite).get().await?))
    }

    /// Change the role of an invite link
    ///
    /// Members who joined by the link keep their role. The link now depends on the permissions of the user who changed
    /// it.
    #[oai(path = "/link-invites/:inviteId", method = "patch", operation_id = "updateOrganizationInviteById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "inviteId")] invite: Path<InviteId>,
        change: Strict<UpdateLinkInvite>,
    ) -> ApiResult<Reply<LinkInvite>> {
        Ok(Reply(auth.caller(&condition.platform(&self.0)).org(&org).invite(&invite).update(change.0).await?))
    }

    /// Delete an invite
    ///
    /// Deletes an invite link, or an invite to an address. Succeeds if the invite does not exist.
    #[oai(path = "/link-invites/:inviteId", method = "delete", operation_id = "deleteOrganizationInviteById")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "inviteId")] invite: Path<InviteId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&self.0).org(&org).invite(&invite).delete().await?;
        Ok(NoContent::default())
    }
}
