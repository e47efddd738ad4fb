//! Operations on collections.

use docs_core::{
    Platform,
    model::{
        Collection, CollectionId, CreateCollection, List, MoveContent, OrgId, Space, TransferContent,
        UpdateCollection,
    },
    platform::Reach,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Conditional, Created, Deleted, Empty, Idempotency,
    NoContent, Optional, PageQuery, Path, Query, Reply, Strict,
};

#[derive(Debug)]
pub struct Collections(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Collections")]
impl Collections {
    /// List the collections of an organization
    ///
    /// Ordered by position in the tree: each collection precedes its children.
    #[oai(
        path = "/orgs/:organizationId/collections",
        method = "get",
        operation_id = "listCollectionsInOrganizationById"
    )]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
        /// `false` omits collections within other collections; `true` by default.
        nested: Query<bool>,
    ) -> ApiResult<Reply<List<Collection>>> {
        let reach = if nested.0.unwrap_or(true) { Reach::Nested } else { Reach::Direct };
        Ok(Reply(auth.caller(&self.0).org(&org).collections().list(reach, &page.0).await?.into()))
    }

    /// Create a collection
    ///
    /// The collection is added as the last sibling at its location. Requires the role `create` there.
    #[oai(path = "/orgs/:organizationId/collections", method = "post", operation_id = "createCollection")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Optional<CreateCollection>,
    ) -> ApiResult<Created<Collection>> {
        let collection =
            auth.caller(&idempotency.platform(&self.0)).org(&org).collections().create(new.0).await?;
        let location = collection.urls.location.clone();
        Ok(Created::new(collection).with_location(location))
    }

    /// Get a collection
    ///
    /// Returns 404 if the caller may not see the collection.
    #[oai(path = "/collections/:collectionId", method = "get", operation_id = "getCollectionById")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "collectionId")] collection: Path<CollectionId>,
    ) -> ApiResult<Reply<Collection>> {
        Ok(Reply(auth.caller(&self.0).collection(&collection).get().await?))
    }

    /// Change a collection
    ///
    /// Omitted fields are unchanged; `null` removes the value of optional fields.
    #[oai(path = "/collections/:collectionId", method = "patch", operation_id = "updateCollectionById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "collectionId")] collection: Path<CollectionId>,
        change: Strict<UpdateCollection>,
    ) -> ApiResult<Conditional<Collection>> {
        Ok(Conditional(
            auth.caller(&condition.platform(&self.0)).collection(&collection).update(change.0).await?,
        ))
    }

    /// Delete a collection
    ///
    /// The content of the collection moves to its parent. Succeeds if the collection does not exist.
    #[oai(path = "/collections/:collectionId", method = "delete", operation_id = "deleteCollectionById")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "collectionId")] collection: Path<CollectionId, Deleted>,
    ) -> ApiResult<NoContent> {
        auth.caller(&condition.platform(&self.0)).collection(&collection).delete().await?;
        Ok(Empty)
    }

    /// List the spaces of a collection
    ///
    /// Returns the direct spaces of the collection in display order.
    #[oai(
        path = "/collections/:collectionId/spaces",
        method = "get",
        operation_id = "listSpacesInCollectionById"
    )]
    async fn spaces(
        &self,
        auth: Auth,
        #[oai(name = "collectionId")] collection: Path<CollectionId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<Space>>> {
        Ok(Reply(auth.caller(&self.0).collection(&collection).list_spaces(&page.0).await?.into()))
    }

    /// Move a collection
    ///
    /// Moves the collection with its content to another collection, to the top level of the organization, or to another
    /// position. If no position is given, it becomes the last sibling.
    #[oai(path = "/collections/:collectionId/move", method = "post", operation_id = "moveCollection")]
    async fn relocate(
        &self,
        auth: Auth,
        #[oai(name = "collectionId")] collection: Path<CollectionId>,
        to: Strict<MoveContent>,
    ) -> ApiResult<Reply<Collection>> {
        Ok(Reply(auth.caller(&self.0).collection(&collection).move_to(to.0).await?))
    }

    /// Transfer a collection to another organization
    ///
    /// Transfers the collection with its content to another organization, where it becomes the last item of the top
    /// level. Roles of users and teams on the transferred content are removed.
    #[oai(path = "/collections/:collectionId/transfer", method = "post", operation_id = "transferCollection")]
    async fn transfer(
        &self,
        auth: Auth,
        #[oai(name = "collectionId")] collection: Path<CollectionId>,
        to: Strict<TransferContent>,
    ) -> ApiResult<Conditional<Collection>> {
        Ok(Conditional(auth.caller(&self.0).collection(&collection).transfer(to.0).await?))
    }
}
