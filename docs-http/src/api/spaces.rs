//! Spaces.

use docs_core::{
    Platform,
    model::{CreateSpace, List, MoveContent, Space, TransferContent, UpdateSpace},
};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Reader, Tag, id};
use crate::{
    conditions::Condition,
    idempotency::Idempotency,
    wire::{
        error::Answer,
        params::{PageQuery, Query},
        payload::{Optional, Strict},
        reply::{Conditional, Created, Empty, NoContent, Reply},
    },
};

/// Operations of this noun.
#[derive(Debug)]
pub struct Spaces(pub(super) Platform);

#[OpenApi(tag = "Tag::Spaces")]
impl Spaces {
    /// List the spaces of an organization
    ///
    /// In the order of the tree: those of a collection stand where the collection stands.
    #[oai(
        path = "/orgs/:organizationId/spaces",
        method = "get",
        operation_id = "listSpacesInOrganizationById"
    )]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<Space>>> {
        let org = id(&org, "organization")?;
        Ok(Reply(auth.caller(&self.0).org(&org).spaces().list(&page.0).await?.into()))
    }

    /// List the deleted spaces of an organization
    ///
    /// Those that the user may restore, deleted last first. `restorableUntil` says until when; then they are removed
    /// for good.
    #[oai(
        path = "/orgs/:organizationId/deleted-spaces",
        method = "get",
        operation_id = "listDeletedSpacesInOrganizationById"
    )]
    async fn list_deleted(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<String>,
        page: PageQuery,
    ) -> Answer<Reply<List<Space>>> {
        let org = id(&org, "organization")?;
        Ok(Reply(auth.caller(&self.0).org(&org).spaces().list_deleted(&page.0).await?.into()))
    }

    /// Create a space
    ///
    /// With an empty content, behind everything that is where it is created. It needs the role `create` there.
    #[oai(path = "/orgs/:organizationId/spaces", method = "post", operation_id = "createSpace")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<String>,
        new: Optional<CreateSpace>,
    ) -> Answer<Created<Space>> {
        let space = auth
            .caller(&idempotency.platform(&self.0))
            .org(&id(&org, "organization")?)
            .spaces()
            .create(new.0)
            .await?;
        let location = space.urls.location.clone();
        Ok(Created::new(space).at(location))
    }

    /// Get a space
    ///
    /// A deleted space is shown as long as it can be restored, with `deletedAt`.
    #[oai(path = "/spaces/:spaceId", method = "get", operation_id = "getSpaceById")]
    async fn get(
        &self,
        auth: Reader,
        #[oai(name = "spaceId")] space: Path<String>,
        /// The key of a share link of the site that publishes the space: its address then leads through the link, and
        /// whoever has it reads the space.
        #[oai(name = "shareKey")]
        share_key: Query<String>,
    ) -> Answer<Reply<Space>> {
        let space = id(&space, "space")?;
        Ok(Reply(auth.caller(&self.0).space(&space).get_shared(share_key.0.as_deref()).await?))
    }

    /// Change a space
    ///
    /// What the request leaves out stays.
    #[oai(path = "/spaces/:spaceId", method = "patch", operation_id = "updateSpaceById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<String>,
        change: Strict<UpdateSpace>,
    ) -> Answer<Conditional<Space>> {
        Ok(Conditional(
            auth.caller(&condition.platform(&self.0)).space(&id(&space, "space")?).update(change.0).await?,
        ))
    }

    /// Delete a space
    ///
    /// It can be restored for a while. A space that is missing is no error.
    #[oai(path = "/spaces/:spaceId", method = "delete", operation_id = "deleteSpaceById")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "spaceId")] space: Path<String>,
    ) -> Answer<NoContent> {
        if let Ok(space) = space.parse() {
            auth.caller(&condition.platform(&self.0)).space(&space).delete().await?;
        }
        Ok(Empty)
    }

    /// Copy a space
    ///
    /// The copy is put behind the space. It has the content, but no history, change requests or sites.
    #[oai(path = "/spaces/:spaceId/duplicate", method = "post", operation_id = "duplicateSpace")]
    async fn duplicate(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "spaceId")] space: Path<String>,
    ) -> Answer<Created<Space>> {
        let space =
            auth.caller(&idempotency.platform(&self.0)).space(&id(&space, "space")?).duplicate().await?;
        let location = space.urls.location.clone();
        Ok(Created::new(space).at(location))
    }

    /// Restore a space
    ///
    /// Only spaces that were deleted and can be restored.
    #[oai(path = "/spaces/:spaceId/restore", method = "post", operation_id = "restoreSpace")]
    async fn restore(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
    ) -> Answer<Reply<Space>> {
        Ok(Reply(auth.caller(&self.0).space(&id(&space, "space")?).restore().await?))
    }

    /// Move a space
    ///
    /// To a collection, to the top of the organization, or to another position. Without a position it is put behind
    /// everything else.
    #[oai(path = "/spaces/:spaceId/move", method = "post", operation_id = "moveSpace")]
    async fn relocate(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        to: Strict<MoveContent>,
    ) -> Answer<Reply<Space>> {
        Ok(Reply(auth.caller(&self.0).space(&id(&space, "space")?).move_to(to.0).await?))
    }

    /// Transfer a space to another organization
    ///
    /// It is put at the end of the top there. Roles that people and teams have on it by name end.
    #[oai(path = "/spaces/:spaceId/transfer", method = "post", operation_id = "transferSpace")]
    async fn transfer(
        &self,
        auth: Auth,
        #[oai(name = "spaceId")] space: Path<String>,
        to: Strict<TransferContent>,
    ) -> Answer<Conditional<Space>> {
        Ok(Conditional(auth.caller(&self.0).space(&id(&space, "space")?).transfer(to.0).await?))
    }
}
