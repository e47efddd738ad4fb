//! Views of versions, and the URLs of their documents.

use std::sync::Arc;

use docs_macros::boxed;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{array::as_array, find, process::file_name};
use crate::{
    Error, ErrorKind, Result,
    content::run_blocking,
    model::{
        OpenApiSpecContent, OpenApiSpecContentUrls, OpenApiSpecId, OpenApiSpecRawContent, OpenApiSpecVersion,
        OpenApiSpecVersionId, OpenApiSpecVersionObject, OpenApiSpecVersionUrls, OrgId, SpecTextFormat,
        SpecVisibility,
    },
    platform::{
        access,
        content::files::{Bearer, FilePlace, FileReach, StoredFile},
        kernel::{actor::Actor, platform::Platform},
    },
    policy::OrgAction,
    ports::SpecFormat,
    store::{
        Tx,
        records::{OpenApiSpecRecord, OpenApiSpecVersionRecord},
    },
};

/// The sealed content of a document URL.
#[derive(Serialize, Deserialize)]
struct DocumentAddress {
    spec: OpenApiSpecId,
    version: OpenApiSpecVersionId,
    bearer: Bearer,
}

impl Platform {
    pub(super) fn version_view(
        &self,
        spec: &OpenApiSpecRecord,
        version: &OpenApiSpecVersionRecord,
        actor: &Actor,
    ) -> Result<OpenApiSpecVersion> {
        let location = self.urls().openapi_spec_version(&spec.organization, spec.slug.as_str(), &version.id);
        Ok(OpenApiSpecVersion {
            object: OpenApiSpecVersionObject::Is,
            id: version.id.clone(),
            created_at: version.created_at,
            url: self.document_url(spec, version, actor)?,
            urls: OpenApiSpecVersionUrls { location },
        })
    }

    /// Returns the URL of a version's document for an actor. It is deterministic. For a visitor, it is the public one,
    /// or that of the version in the API, which requires a member's token.
    fn document_url(
        &self,
        spec: &OpenApiSpecRecord,
        version: &OpenApiSpecVersionRecord,
        actor: &Actor,
    ) -> Result<String> {
        if let Actor::Visitor(_) = actor {
            let (org, slug) = (&spec.organization, spec.slug.as_str());
            return Ok(match spec.visibility {
                SpecVisibility::Public => self.urls().published_spec(org, slug),
                SpecVisibility::Private => self.urls().openapi_spec_version(org, slug, &version.id),
            });
        }
        let address = DocumentAddress {
            spec: version.spec.clone(),
            version: version.id.clone(),
            bearer: Bearer::for_member(actor)?,
        };
        let address = serde_json::to_string(&address).map_err(Error::internal)?;
        let sealed = self.seal_deterministic(&purpose(&version.organization), &address)?;
        Ok(self.urls().spec_document(&version.organization, &sealed, file_name(version.format)))
    }

    /// Returns all files of a version, the entry file first.
    pub(super) async fn spec_content(
        &self,
        spec: &OpenApiSpecRecord,
        version: &OpenApiSpecVersionRecord,
        actor: &Actor,
    ) -> Result<OpenApiSpecContent> {
        let bytes = self.spec_bytes(&spec.id, &version.filesystem).await?;
        let filesystem = String::from_utf8(bytes.into()).map_err(Error::internal)?;
        let filesystem = RawValue::from_string(filesystem).map_err(Error::internal)?;
        let filesystem = match actor {
            Actor::Visitor(_) => {
                let array = run_blocking(move || as_array(&filesystem)).await;
                array.ok_or_else(|| Error::internal("the files were not converted"))??
            }
            Actor::User(_) | Actor::Token(_) | Actor::Platform => filesystem,
        };
        let url = self.document_url(spec, version, actor)?;
        let source = spec.source.url().map_or_else(|| url.clone(), ToString::to_string);
        let urls = OpenApiSpecContentUrls { source, public: self.published_spec_url(spec) };
        Ok(OpenApiSpecContent { filesystem, url, urls })
    }

    /// Returns the unmodified entry document of a version.
    pub(super) async fn raw_spec_content(
        &self,
        spec: &OpenApiSpecRecord,
        version: &OpenApiSpecVersionRecord,
    ) -> Result<OpenApiSpecRawContent> {
        let bytes = self.spec_bytes(&spec.id, &version.document).await?;
        let text = String::from_utf8(bytes.into());
        let text = text.map_err(|_| Error::not_found("text of the OpenAPI specification"))?;
        let format = match version.format {
            SpecFormat::Json => SpecTextFormat::Json,
            SpecFormat::Yaml => SpecTextFormat::Yaml,
        };
        Ok(OpenApiSpecRawContent { text, format })
    }

    /// Finds the document of a version of an OpenAPI specification by the sealed part of its URL.
    ///
    /// The URL does not expire. Each use checks that the actor it was issued to may still read the specification.
    ///
    /// # Errors
    ///
    /// `NotFound`.
    #[boxed('a)]
    pub async fn find_spec_document<'a>(&'a self, org: &'a OrgId, sealed: &'a str) -> Result<StoredFile> {
        let found = self.secrets().open(&purpose(org), sealed).map_err(|_| missing())?;
        let DocumentAddress { spec, version, bearer } =
            serde_json::from_str(&found).map_err(|_| missing())?;
        let actor = self.member_actor(&bearer).ok_or_else(missing)?;
        let tx = self.read().await?;
        access::org(&tx, &actor, org)
            .await
            .and_then(|access| access.require(OrgAction::ReadSpecs).map(drop))
            .map_err(|error| match error.kind() {
                ErrorKind::NotFound | ErrorKind::Forbidden => missing(),
                _ => error,
            })?;
        let spec: Option<Arc<OpenApiSpecRecord>> = tx.get(&OpenApiSpecRecord::key_for(&spec)).await?;
        let spec = spec.filter(|spec| spec.organization == *org).ok_or_else(missing)?;
        read_document(&tx, &spec, &version).await
    }

    /// Finds the document of the latest version of a public OpenAPI specification, for an anonymous visitor.
    ///
    /// # Errors
    ///
    /// `NotFound`, also for a private specification.
    #[boxed('a)]
    pub async fn find_published_spec<'a>(&'a self, org: &'a OrgId, slug: &'a str) -> Result<StoredFile> {
        let tx = self.read().await?;
        let spec = find(&tx, org, slug).await?;
        let spec = spec.filter(|spec| spec.visibility == SpecVisibility::Public).ok_or_else(missing)?;
        read_document(&tx, &spec, spec.last_version.as_ref().ok_or_else(missing)?).await
    }
}

fn missing() -> Error {
    Error::not_found("OpenAPI specification")
}

/// Returns the purpose for sealing a document URL. The URL is only valid in its own organization.
fn purpose(org: &OrgId) -> String {
    format!("OpenAPI specification of {org}")
}

/// Returns the entry document. Clients revalidate the response, because the document at the URL can change.
async fn read_document(
    tx: &Tx,
    spec: &OpenApiSpecRecord,
    version: &OpenApiSpecVersionId,
) -> Result<StoredFile> {
    let version: Option<Arc<OpenApiSpecVersionRecord>> =
        tx.get(&OpenApiSpecVersionRecord::key_for(version)).await?;
    let version = version.filter(|version| version.spec == spec.id).ok_or_else(missing)?;
    let content_type = match version.format {
        SpecFormat::Json => "application/json",
        SpecFormat::Yaml => "application/yaml",
    };
    Ok(StoredFile::new(
        OpenApiSpecRecord::domain(&spec.id),
        FilePlace::from_stored(&version.document),
        version.document.size,
        content_type,
        FileReach::Bearer,
    ))
}
