//! Operations on an organization's OpenAPI specifications and their versions.

use docs_core::{
    Platform,
    model::{
        CreateOpenApiSpec, List, OpenApiSpec, OpenApiSpecContent, OpenApiSpecRawContent, OpenApiSpecVersion,
        OpenApiSpecVersionId, OrgId, PutOpenApiSpec, UpdateOpenApiSpec,
    },
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Condition, Created, Deleted, Empty, Idempotency, NoContent,
    PageQuery, Path, Reply, Strict,
};

#[derive(Debug)]
pub struct OpenApiSpecs(pub(super) Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/openapi", tag = "ApiTag::OpenApi")]
impl OpenApiSpecs {
    /// List the OpenAPI specifications of an organization
    ///
    /// Oldest first.
    #[oai(path = "/", method = "get", operation_id = "listOpenAPISpecs")]
    async fn list(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<OpenApiSpec>>> {
        Ok(Reply(auth.caller(&self.0).org(&org).openapi_specs().list(&page.0).await?.into()))
    }

    /// Create an OpenAPI specification
    ///
    /// The source is a URL, which is fetched again every few hours, or the specification itself: Swagger 2.0, OpenAPI
    /// 3.0 or 3.1, in JSON or YAML. `processingState` is `pending` until the specification was fetched and parsed.
    #[oai(path = "/", method = "post", operation_id = "createOpenAPISpec")]
    async fn create(
        &self,
        auth: Auth,
        #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        new: Strict<CreateOpenApiSpec>,
    ) -> ApiResult<Created<OpenApiSpec>> {
        let platform = idempotency.platform(&self.0);
        Ok(Created::new(auth.caller(&platform).org(&org).openapi_specs().create(new.0).await?))
    }

    /// Get an OpenAPI specification
    ///
    /// Returns the specification with its processing state and the problems found during the last processing.
    #[oai(path = "/:specSlug", method = "get", operation_id = "getOpenAPISpecBySlug")]
    async fn get(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
    ) -> ApiResult<Reply<OpenApiSpec>> {
        Ok(Reply(auth.caller(&self.0).org(&org).openapi_spec(&slug).get().await?))
    }

    /// Create or update an OpenAPI specification
    ///
    /// Sets the source and processes it again. A URL is fetched again even if it did not change. A new version is
    /// created if the files differ from the latest version.
    #[oai(path = "/:specSlug", method = "put", operation_id = "createOrUpdateOpenAPISpecBySlug")]
    async fn put(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
        put: Strict<PutOpenApiSpec>,
    ) -> ApiResult<Reply<OpenApiSpec>> {
        let platform = condition.platform(&self.0);
        Ok(Reply(auth.caller(&platform).org(&org).openapi_spec(&slug).put(put.0).await?))
    }

    /// Change the visibility of an OpenAPI specification
    ///
    /// A public specification has a URL that requires no token.
    #[oai(path = "/:specSlug", method = "patch", operation_id = "updateOpenAPISpecBySlug")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
        change: Strict<UpdateOpenApiSpec>,
    ) -> ApiResult<Reply<OpenApiSpec>> {
        let platform = condition.platform(&self.0);
        Ok(Reply(auth.caller(&platform).org(&org).openapi_spec(&slug).update(change.0).await?))
    }

    /// Delete an OpenAPI specification
    ///
    /// Deletes the specification with all its versions. Content that references it no longer shows it. Succeeds if the
    /// specification does not exist.
    #[oai(path = "/:specSlug", method = "delete", operation_id = "deleteOpenAPISpecBySlug")]
    async fn delete(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "organizationId")] org: Path<OrgId, Deleted>,
        #[oai(name = "specSlug")] slug: Path<String>,
    ) -> ApiResult<NoContent> {
        auth.caller(&condition.platform(&self.0)).org(&org).openapi_spec(&slug).delete().await?;
        Ok(Empty)
    }

    /// List the versions of an OpenAPI specification
    ///
    /// Newest first.
    #[oai(path = "/:specSlug/versions", method = "get", operation_id = "listOpenAPISpecVersions")]
    async fn list_versions(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
        page: PageQuery,
    ) -> ApiResult<Reply<List<OpenApiSpecVersion>>> {
        let spec = auth.caller(&self.0);
        Ok(Reply(spec.org(&org).openapi_spec(&slug).list_versions(&page.0).await?.into()))
    }

    /// Get the latest version of an OpenAPI specification
    ///
    /// Returns 404 until the specification has been processed successfully.
    #[oai(path = "/:specSlug/versions/latest", method = "get", operation_id = "getLatestOpenAPISpecVersion")]
    async fn get_latest_version(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
    ) -> ApiResult<Reply<OpenApiSpecVersion>> {
        Ok(Reply(auth.caller(&self.0).org(&org).openapi_spec(&slug).latest_version().get().await?))
    }

    /// Get the content of the latest version of an OpenAPI specification
    ///
    /// Returns all files as JSON, the entry document first. The token of a visitor of a site reads the content of a
    /// public specification, and of a private one if the site requires a secret link or a sign-in.
    #[oai(
        path = "/:specSlug/versions/latest/content",
        method = "get",
        operation_id = "getLatestOpenAPISpecVersionContent"
    )]
    async fn get_latest_content(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
    ) -> ApiResult<Reply<OpenApiSpecContent>> {
        Ok(Reply(auth.caller(&self.0).org(&org).openapi_spec(&slug).latest_version().content().await?))
    }

    /// Get the text of the latest version of an OpenAPI specification
    ///
    /// Returns the entry document as it was submitted or fetched.
    #[oai(
        path = "/:specSlug/versions/latest/content/raw",
        method = "get",
        operation_id = "getLatestOpenAPISpecVersionContentRaw"
    )]
    async fn get_latest_raw_content(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
    ) -> ApiResult<Reply<OpenApiSpecRawContent>> {
        Ok(Reply(auth.caller(&self.0).org(&org).openapi_spec(&slug).latest_version().raw_content().await?))
    }

    /// Get a version of an OpenAPI specification
    ///
    /// Versions are immutable.
    #[oai(
        path = "/:specSlug/versions/:versionId",
        method = "get",
        operation_id = "getOpenAPISpecVersionById"
    )]
    async fn get_version(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
        #[oai(name = "versionId")] version: Path<OpenApiSpecVersionId>,
    ) -> ApiResult<Reply<OpenApiSpecVersion>> {
        Ok(Reply(auth.caller(&self.0).org(&org).openapi_spec(&slug).version(&version).get().await?))
    }

    /// Get the content of a version of an OpenAPI specification
    ///
    /// Returns all files as JSON, the entry document first.
    #[oai(
        path = "/:specSlug/versions/:versionId/content",
        method = "get",
        operation_id = "getOpenAPISpecVersionContentById"
    )]
    async fn get_content(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "specSlug")] slug: Path<String>,
        #[oai(name = "versionId")] version: Path<OpenApiSpecVersionId>,
    ) -> ApiResult<Reply<OpenApiSpecContent>> {
        Ok(Reply(auth.caller(&self.0).org(&org).openapi_spec(&slug).version(&version).content().await?))
    }
}
