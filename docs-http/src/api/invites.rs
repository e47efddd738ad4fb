//! Invites: ways into an organization.

use docs_core::{
    Platform,
    model::{
        CreateLinkInvite, InviteUsers, InvitedUsers, JoinedOrganization, LinkInvite, List, MemberInvite,
        UpdateLinkInvite,
    },
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::{
    conditions::Condition,
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::PageQuery,
        payload::Strict,
        reply::{Created, NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Invites(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId", tag = "Tag::Organizations")]
impl Invites {
    /// Invite people by their e-mail addresses
    ///
    /// Users who have one of them become members at once; other addresses are invited for a while.
    #[oai(path = "/invites", method = "post", operation_id = "inviteUsersToOrganization")]
    async fn invite(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        new: Strict<InviteUsers>,
    ) -> Answer<Reply<InvitedUsers>> {
        Ok(Reply(
            auth.caller(&idempotency.platform(&self.0))
                .org(&id(&org, "organization")?)
                .invites()
                .send(new.0)
                .await?,
        ))
    }

    /// Join an organization by an invite
    ///
    /// A link, or the invitation of one's address. It raises who has less, and takes nothing from who has more.
    #[oai(path = "/invites/:inviteId", method = "post", operation_id = "joinOrganizationWithInvite")]
    async fn join(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "inviteId")] invite: Path<String>,
    ) -> Answer<Reply<JoinedOrganization>> {
        let (org, invite) = (id(&org, "organization")?, id(&invite, "invite")?);
        Ok(Reply(auth.caller(&self.0).org(&org).invite(&invite).join().await?))
    }

    /// List the invite links of an organization
    ///
    /// Those that give a role in it, the oldest first.
    #[oai(path = "/link-invites", method = "get", operation_id = "listOrganizationInviteLinks")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<MemberInvite>>> {
        let org = id(&org, "organization")?;
        Ok(Reply(auth.caller(&self.0).org(&org).invites().list_links(&page.0).await?.into()))
    }

    /// Create an invite link
    ///
    /// To the organization with a role, or to a space or a collection with a level: who joins by that becomes a guest
    /// who has the level on it. While `inviteLinks` of the organization is `false`, none is made: 409.
    #[oai(path = "/link-invites", method = "post", operation_id = "createOrganizationInvite")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        new: Strict<CreateLinkInvite>,
    ) -> Answer<Created<LinkInvite>> {
        let org = id(&org, "organization")?;
        let link = auth.caller(&idempotency.platform(&self.0)).org(&org).invites().create_link(new.0).await?;
        let location = self.0.urls().link_invite(&org, link.id());
        Ok(Created::new(link).at(location))
    }

    /// Get an invite link
    ///
    /// For those who could have created it. A link whose content is gone is not found.
    #[oai(path = "/link-invites/:inviteId", method = "get", operation_id = "getOrganizationInviteLink")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "inviteId")] invite: Path<String>,
    ) -> Answer<Reply<LinkInvite>> {
        let (org, invite) = (id(&org, "organization")?, id(&invite, "invite")?);
        Ok(Reply(auth.caller(&self.0).org(&org).invite(&invite).get().await?))
    }

    /// Change what an invite link gives
    ///
    /// Whoever has joined by it stays what they are. From now on it depends on the rights of whoever changed it.
    #[oai(path = "/link-invites/:inviteId", method = "patch", operation_id = "updateOrganizationInviteById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "inviteId")] invite: Path<String>,
        change: Strict<UpdateLinkInvite>,
    ) -> Answer<Reply<LinkInvite>> {
        let (org, invite) = (id(&org, "organization")?, id(&invite, "invite")?);
        Ok(Reply(auth.caller(&condition.platform(&self.0)).org(&org).invite(&invite).update(change.0).await?))
    }

    /// Delete an invite
    ///
    /// A link, or the invitation of an address. One that is missing is no error.
    #[oai(path = "/link-invites/:inviteId", method = "delete", operation_id = "deleteOrganizationInviteById")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        #[oai(name = "inviteId")] invite: Path<String>,
    ) -> Answer<NoContent> {
        if let (Ok(org), Ok(invite)) = (org.parse(), invite.parse()) {
            auth.caller(&self.0).org(&org).invite(&invite).delete().await?;
        }
        Ok(NoContent::default())
    }
}
