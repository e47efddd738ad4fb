//! Operations on spaces.

use docs_core::{
    Platform,
    model::{CreateSpace, List, MoveContent, OrgId, Space, SpaceId, TransferContent, UpdateSpace},
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Conditional, Created, Deleted, Empty, Idempotency,
    MaybeAuth, NoContent, Optional, PageQuery, Path, Query, Reply, Strict,
};

#[derive(Debug)]
pub struct Spaces(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Spaces")]
impl Spaces {
    /// List the spaces of an organization
    ///
    /// Ordered by position in the tree; the spaces of a collection appear at the position of the collection.
    #[oai(
        path = "/orgs/:organizationId/spaces",
        method = "get",
        operation_id = "listSpacesInOrganizationById"
    )]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<Space>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).spaces().list(&page.0).await?.into()))
    }

    /// List the deleted spaces of an organization
    ///
    /// Returns the spaces that the caller can restore, most recently deleted first. After `restorableUntil`, a space is
    /// removed permanently.
    #[oai(
        path = "/orgs/:organizationId/deleted-spaces",
        method = "get",
        operation_id = "listDeletedSpacesInOrganizationById"
    )]
    async fn list_deleted(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<Space>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).spaces().list_deleted(&page.0).await?.into()))
    }

    /// Create a space
    ///
    /// The space is empty and becomes the last sibling at its location. Requires the role `create` there.
    #[oai(path = "/orgs/:organizationId/spaces", method = "post", operation_id = "createSpace")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Optional<CreateSpace>,
    ) -> ApiResult<Created<Space>> {
        let space = auth.caller(&idempotency.platform(&self.0)).org(&org).spaces().create(new.0).await?;
        let location = space.urls.location.clone();
        Ok(Created::new(space).with_location(location))
    }

    /// Get a space
    ///
    /// A deleted space is returned with `deletedAt` while it can be restored.
    #[oai(path = "/spaces/:spaceId", method = "get", operation_id = "getSpaceById")]
    async fn get(
        &self,
        auth: MaybeAuth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        /// Key of a share link of the site that publishes the space. It grants access to the space, and is included in
        /// the returned URL.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
    ) -> ApiResult<Reply<Space>> {
        Ok(Reply(auth.caller(&self.0).space(&space).get_shared(share_key.0.as_deref()).await?))
    }

    /// Change a space
    ///
    /// Omitted fields are unchanged.
    #[oai(path = "/spaces/:spaceId", method = "patch", operation_id = "updateSpaceById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        change: Strict<UpdateSpace>,
    ) -> ApiResult<Conditional<Space>> {
        Ok(Conditional(auth.caller(&condition.platform(&self.0)).space(&space).update(change.0).await?))
    }

    /// Delete a space
    ///
    /// The space can be restored for a limited time. Succeeds if the space does not exist.
    #[oai(path = "/spaces/:spaceId", method = "delete", operation_id = "deleteSpaceById")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<SpaceId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&condition.platform(&self.0)).space(&space).delete().await?;
        Ok(Empty)
    }

    /// Copy a space
    ///
    /// The copy is placed after the space. It has the same content, but no history, change requests or sites.
    #[oai(path = "/spaces/:spaceId/duplicate", method = "post", operation_id = "duplicateSpace")]
    async fn duplicate(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
    ) -> ApiResult<Created<Space>> {
        let space = auth.caller(&idempotency.platform(&self.0)).space(&space).duplicate().await?;
        let location = space.urls.location.clone();
        Ok(Created::new(space).with_location(location))
    }

    /// Restore a space
    ///
    /// Restores a deleted space that has not been removed permanently.
    #[oai(path = "/spaces/:spaceId/restore", method = "post", operation_id = "restoreSpace")]
    async fn restore(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
    ) -> ApiResult<Reply<Space>> {
        Ok(Reply(auth.caller(&self.0).space(&space).restore().await?))
    }

    /// Move a space
    ///
    /// Moves the space to a collection, to the top level of the organization, or to another position. If no position is
    /// given, it becomes the last sibling.
    #[oai(path = "/spaces/:spaceId/move", method = "post", operation_id = "moveSpace")]
    async fn relocate(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        to: Strict<MoveContent>,
    ) -> ApiResult<Reply<Space>> {
        Ok(Reply(auth.caller(&self.0).space(&space).move_to(to.0).await?))
    }

    /// Transfer a space to another organization
    ///
    /// Transfers the space to another organization, where it becomes the last item of the top level. Roles of users and
    /// teams on the space are removed.
    #[oai(path = "/spaces/:spaceId/transfer", method = "post", operation_id = "transferSpace")]
    async fn transfer(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<SpaceId>,
        to: Strict<TransferContent>,
    ) -> ApiResult<Conditional<Space>> {
        Ok(Conditional(auth.caller(&self.0).space(&space).transfer(to.0).await?))
    }
}
