//! OpenAPI specifications of an organization: their sources and versions.
//!
//! A job processes a specification: it fetches the source, parses it, and stores the result as a version. Each
//! processing request starts a new round, and only the job of the latest round has an effect. The last source set by
//! `put` therefore determines the final state.

mod array;
mod audience;
mod content;
mod detail;
mod feed;
pub(in crate::platform) mod fetch;
mod html;
pub(in crate::platform) mod process;
mod source;
mod subjects;

use std::sync::Arc;

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

pub(in crate::platform) use self::audience::SpecAudience;
pub use self::detail::{
    AlternativeDetail, BodyDetail, CallbackDetail, ChoiceDetail, CodeSampleDetail, ExampleDetail,
    ExternalDocsDetail, FieldDetail, FieldName, FlowDetail, FormFieldDetail, LinkDetail, LinkedOperation,
    OperationDetail, ParameterDetail, RequestDetail, ResponseDetail, SampleDetails, SchemaDetail,
    SchemaLimit, SchemeDetail, SchemeKind, ScopeDetail, ServerDetail, ShownSpec, SpecDetail, SpecSubject,
    ValueDetail, VariableDetail,
};
pub(in crate::platform) use self::feed::SPEC_FEED;
pub(in crate::platform) use self::subjects::{MAX_SHOWN_SUBJECTS, SpecDetailCache};
use self::{feed::feed_spec, process::ProcessSpec};
use crate::{
    Error, Result,
    model::{
        CreateOpenApiSpec, JobId, OpenApiSpec, OpenApiSpecContent, OpenApiSpecId, OpenApiSpecObject,
        OpenApiSpecPermissions, OpenApiSpecRawContent, OpenApiSpecSlug, OpenApiSpecUrls, OpenApiSpecVersion,
        OrgId, PutOpenApiSpec, SpecProcessingState, SpecVisibility, Timestamp, UpdateOpenApiSpec,
    },
    platform::{
        access,
        jobs::{Payload, Purge},
        kernel::{actor::Actor, platform::Platform, request::Right},
        nouns::{OpenApiSpecHandle, OpenApiSpecVersionHandle, OpenApiSpecs, list_identities::tag},
    },
    policy::{OrgAccess, OrgAction},
    store::{
        Entity as _, Key, ListSpec, Lister, Page, PageRequest, Tx,
        jobs::{self, NewJob},
        records::{OpenApiSpecRecord, OpenApiSpecVersionRecord, StoredSpecSource, linked_id},
    },
};

/// Maximum number of specifications per organization.
pub(in crate::platform) const MAX_SPECS: i64 = 500;
impl<'p> OpenApiSpecs<'p> {
    /// Lists the OpenAPI specifications of an organization, oldest first.
    ///
    /// # Errors
    ///
    /// `Forbidden` for guests.
    #[boxed]
    pub async fn list(self, page: &'p PageRequest) -> Result<Page<OpenApiSpec>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        let access = access::org(&tx, actor, org).await?;
        access.require(OrgAction::ReadSpecs)?;
        let spec = ListSpec::new(tag::OPENAPI_SPECS, OpenApiSpecRecord::by_org(org));
        let mut list = Lister::new(spec, page)?;
        list.fill(&tx, |_| true).await?;
        let count = u64::try_from(tx.number(&OpenApiSpecRecord::count_in(org)).await?).ok();
        let page = list.finish(&tx, count).await?;
        let items = page.items.iter().map(|spec| platform.spec_view(&access, spec)).collect();
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Creates an OpenAPI specification. It is pending until a job has fetched and parsed it.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization; `Invalid` for a URL with credentials; `Conflict` if
    /// the slug is taken, or if the organization has the maximum number of specifications; `Precondition` if the
    /// platform has no specification reader.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::{CreateOpenApiSpec, OrgId, SpecSource}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<(), Box<dyn std::error::Error>> {
    /// let source = SpecSource::Url(docs_core::model::Url::new("https://api.example.com/openapi.json")?);
    /// let new = CreateOpenApiSpec { slug: docs_core::model::OpenApiSpecSlug::new("pets")?, source };
    /// println!("{}", me.org(org).openapi_specs().create(new).await?.id);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, new: CreateOpenApiSpec) -> Result<OpenApiSpec> {
        let (platform, ref actor, org) = self.parts();
        let done =
            platform.idempotent(actor, Right::Org(org.clone(), OrgAction::CreateContent), async move {
                platform.require_spec_writer(actor, org).await?;
                let (id, storing) = (platform.id(), platform.begin_write_window());
                let source = platform.store_source(&id, new.source).await?;
                let record = platform.new_spec(actor, org, id, new.slug, source);
                platform.check_write_window(storing)?;
                let create = spec_creation(actor, &record);
                platform
                    .write_and_show(actor, &create, |done| {
                        Box::pin(platform.read_spec_view(done.tx, actor, org, record.slug.as_str()))
                    })
                    .await
            });
        done.await
    }
}

impl<'p> OpenApiSpecHandle<'p> {
    /// Reads an OpenAPI specification.
    ///
    /// # Errors
    ///
    /// `Forbidden` for guests.
    #[boxed]
    pub async fn get(self) -> Result<OpenApiSpec> {
        let (platform, ref actor, org, slug) = self.parts();
        let tx = platform.read().await?;
        platform.read_spec_view(&tx, actor, org, slug).await
    }

    /// Sets the source of an OpenAPI specification and processes it again. Creates the specification if it does not
    /// exist.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization; `Invalid` for a malformed slug or a URL with
    /// credentials; `Conflict` if the organization has the maximum number of specifications; `Precondition` if the
    /// platform has no specification reader.
    #[boxed]
    pub async fn put(self, put: PutOpenApiSpec) -> Result<OpenApiSpec> {
        let (platform, ref actor, org, slug) = self.parts();
        platform.require_spec_writer(actor, org).await?;
        let slug = OpenApiSpecSlug::new(slug).map_err(|error| Error::invalid("specSlug", error))?;
        // The storage domain of the document depends on the id of the specification, which changes if the specification
        // is created or deleted concurrently.
        for _ in 0..PUT_ATTEMPTS {
            let known = find(&platform.read().await?, org, slug.as_str()).await?;
            let (id, storing) =
                (known.map_or_else(|| platform.id(), |spec| spec.id.clone()), platform.begin_write_window());
            let source = platform.store_source(&id, put.source.clone()).await?;
            let record = platform.new_spec(actor, org, id, slug.clone(), source);
            platform.check_write_window(storing)?;
            let put = spec_put(actor, &record);
            let done = platform.change_and_show(actor, &put, |done| {
                Box::pin(platform.read_spec_view(done.tx, actor, org, record.slug.as_str()))
            });
            match done.await {
                Err(error) if error.message() == CREATE_RACE_MESSAGE => {}
                done => return done,
            }
        }
        Err(Error::conflict("the specification kept being created and deleted; try again"))
    }

    /// Changes the visibility of an OpenAPI specification.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization.
    #[boxed]
    pub async fn update(self, change: UpdateOpenApiSpec) -> Result<OpenApiSpec> {
        let (platform, ref actor, org, slug) = self.parts();
        let update = spec_change(actor, org, slug, change.visibility, platform.now());
        platform
            .change_and_show(actor, &update, |done| {
                Box::pin(platform.read_spec_view(done.tx, actor, org, slug))
            })
            .await
    }

    /// Deletes an OpenAPI specification with all its versions. Returns `true` if it existed.
    ///
    /// Content blocks that embed it then show it as missing.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let (platform, ref actor, org, slug) = self.parts();
        let (now, job) = (platform.now(), platform.id());
        let deletion = spec_deletion(actor, org, slug, now, &job);
        let done = platform
            .change(actor, &deletion, |seen| Box::pin(platform.read_spec_view(seen.tx, actor, org, slug)));
        Error::ignore_not_found(done.await)
    }

    /// Lists the versions of an OpenAPI specification, newest first.
    ///
    /// # Errors
    ///
    /// `Forbidden` for guests.
    #[boxed]
    pub async fn list_versions(self, page: &'p PageRequest) -> Result<Page<OpenApiSpecVersion>> {
        let (platform, ref actor, org, slug) = self.parts();
        let tx = platform.read().await?;
        let (_, spec) = read_spec(&tx, actor, org, slug).await?;
        let list = OpenApiSpecVersionRecord::by_spec(&spec.id);
        let list = ListSpec { rev: true, ..ListSpec::new(tag::OPENAPI_SPEC_VERSIONS, list) };
        let mut list = Lister::<Arc<OpenApiSpecVersionRecord>>::new(list, page)?;
        list.fill(&tx, |_| true).await?;
        let count = u64::try_from(tx.number(&OpenApiSpecVersionRecord::count_of(&spec.id)).await?).ok();
        let page = list.finish(&tx, count).await?;
        let view = |version: &Arc<OpenApiSpecVersionRecord>| platform.version_view(&spec, version, actor);
        let items = page.items.iter().map(view).collect::<Result<_>>()?;
        Ok(Page { items, next: page.next, count: page.count })
    }
}

impl<'p> OpenApiSpecVersionHandle<'p> {
    /// Reads a version of an OpenAPI specification.
    ///
    /// # Errors
    ///
    /// `NotFound`, also if no version has been processed yet; `Forbidden` for guests.
    #[boxed]
    pub async fn get(self) -> Result<OpenApiSpecVersion> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let tx = platform.read().await?;
        let (spec, version) = self.read_version(&tx).await?;
        platform.version_view(&spec, &version, actor)
    }

    /// Reads all files of a version of an OpenAPI specification.
    ///
    /// A visitor with a content token reads the latest version of the public specifications of the site's organization,
    /// on a site that requires a secret or a sign-in also of private ones. The files are then an array.
    ///
    /// # Errors
    ///
    /// `NotFound`, also if no version has been processed yet; `Forbidden` for guests.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let content = me.org(org).openapi_spec("pets").latest_version().content().await?;
    /// println!("{} bytes of JSON", content.filesystem.get().len());
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn content(self) -> Result<OpenApiSpecContent> {
        let (platform, actor) = (self.caller.platform, &self.caller.actor());
        let tx = platform.read().await?;
        let (spec, version) = match (actor, self.version) {
            (Actor::Visitor(visitor), None) => {
                let spec = platform.visitor_spec(&tx, visitor, (self.org, self.slug)).await?;
                self.version_of(&tx, spec).await?
            }
            _ => self.read_version(&tx).await?,
        };
        // Object reads may use the connection pool of the transaction, so the transaction is closed first.
        drop(tx);
        platform.spec_content(&spec, &version, actor).await
    }

    /// Reads the unmodified entry document of a version of an OpenAPI specification.
    ///
    /// # Errors
    ///
    /// `NotFound`, also if no version has been processed yet; `Forbidden` for guests.
    #[boxed]
    pub async fn raw_content(self) -> Result<OpenApiSpecRawContent> {
        let platform = self.caller.platform;
        let tx = platform.read().await?;
        let (spec, version) = self.read_version(&tx).await?;
        // Object reads may use the connection pool of the transaction, so the transaction is closed first.
        drop(tx);
        platform.raw_spec_content(&spec, &version).await
    }

    async fn read_version(&self, tx: &Tx) -> Result<(Arc<OpenApiSpecRecord>, Arc<OpenApiSpecVersionRecord>)> {
        let (_, spec) = read_spec(tx, &self.caller.actor(), self.org, self.slug).await?;
        self.version_of(tx, spec).await
    }

    async fn version_of(
        &self,
        tx: &Tx,
        spec: Arc<OpenApiSpecRecord>,
    ) -> Result<(Arc<OpenApiSpecRecord>, Arc<OpenApiSpecVersionRecord>)> {
        let missing = || Error::not_found("version of the OpenAPI specification");
        let id = self.version.or(spec.last_version.as_ref()).ok_or_else(missing)?;
        let version: Option<Arc<OpenApiSpecVersionRecord>> =
            tx.get(&OpenApiSpecVersionRecord::key_for(id)).await?;
        let version = version.filter(|version| version.spec == spec.id).ok_or_else(missing)?;
        Ok((spec, version))
    }
}

/// Maximum number of attempts of a `put` that races with creations and deletions.
const PUT_ATTEMPTS: usize = 4;

impl Platform {
    /// Checks the permission to change specifications before anything is stored.
    async fn require_spec_writer(&self, actor: &Actor, org: &OrgId) -> Result<()> {
        let tx = self.read().await?;
        access::org(&tx, actor, org).await?.require(OrgAction::CreateContent)?;
        drop(tx);
        self.spec_reader().map(drop)
    }

    async fn read_spec_view(&self, tx: &Tx, actor: &Actor, org: &OrgId, slug: &str) -> Result<OpenApiSpec> {
        let (access, spec) = read_spec(tx, actor, org, slug).await?;
        Ok(self.spec_view(&access, &spec))
    }

    pub(in crate::platform) fn spec_view(&self, access: &OrgAccess, spec: &OpenApiSpecRecord) -> OpenApiSpec {
        let (location, app) = self.urls().openapi_spec(&spec.organization, spec.slug.as_str());
        OpenApiSpec {
            object: OpenApiSpecObject::Is,
            id: spec.id.clone(),
            created_at: spec.created_at,
            updated_at: spec.updated_at,
            slug: spec.slug.clone(),
            source_url: spec.source.url().cloned(),
            processing_state: spec.state,
            visibility: spec.visibility,
            last_version: spec.last_version.clone(),
            last_processed_at: spec.last_processed_at,
            last_process_error_code: spec.error_code,
            last_processed_errors: (!spec.errors.is_empty()).then(|| spec.errors.clone()),
            last_processed_error_count: spec.errors.len() as u64,
            permissions: OpenApiSpecPermissions {
                view: access.require(OrgAction::ReadSpecs).is_ok(),
                edit: access.require(OrgAction::CreateContent).is_ok(),
            },
            urls: OpenApiSpecUrls { location, app, published: self.published_spec_url(spec) },
        }
    }

    /// Returns the public URL of the latest version's document, if there is one.
    fn published_spec_url(&self, spec: &OpenApiSpecRecord) -> Option<String> {
        let is_published = spec.visibility == SpecVisibility::Public && spec.last_version.is_some();
        is_published.then(|| self.urls().published_spec(&spec.organization, spec.slug.as_str()))
    }
}

/// Finds a specification by slug.
pub(in crate::platform) async fn find(
    tx: &Tx,
    org: &OrgId,
    slug: &str,
) -> Result<Option<Arc<OpenApiSpecRecord>>> {
    // A malformed slug has no valid key.
    if OpenApiSpecSlug::new(slug).is_err() {
        return Ok(None);
    }
    let Some(id) = tx.get_value(&OpenApiSpecRecord::by_slug(org, slug)).await? else { return Ok(None) };
    let id: OpenApiSpecId = linked_id(&id)?;
    Ok(tx.get(&OpenApiSpecRecord::key_for(&id)).await?)
}

/// Finds the specifications with the given slugs, in the same order.
pub(in crate::platform) async fn find_all(
    tx: &Tx,
    org: &OrgId,
    slugs: &[String],
) -> Result<Vec<Option<Arc<OpenApiSpecRecord>>>> {
    let is_slug = |slug: &&String| OpenApiSpecSlug::new(slug.as_str()).is_ok();
    let keys: Vec<Key> =
        slugs.iter().filter(is_slug).map(|slug| OpenApiSpecRecord::by_slug(org, slug)).collect();
    let mut ids = tx.get_values(&keys).await?.into_iter();
    let mut named = Vec::with_capacity(slugs.len());
    for slug in slugs {
        let id = if is_slug(&slug) { ids.next().flatten() } else { None };
        named.push(id.map(|id| linked_id::<OpenApiSpecId>(&id)).transpose()?);
    }
    let keys: Vec<Key> = named.iter().flatten().map(OpenApiSpecRecord::key_for).collect();
    let mut found = tx.get_many::<OpenApiSpecRecord>(&keys).await?.into_iter();
    Ok(named.into_iter().map(|id| id.and_then(|_| found.next().flatten())).collect())
}

/// Returns a specification if the actor may read it.
pub(in crate::platform) async fn read_spec(
    tx: &Tx,
    actor: &Actor,
    org: &OrgId,
    slug: &str,
) -> Result<(OrgAccess, Arc<OpenApiSpecRecord>)> {
    let access = access::org(tx, actor, org).await?;
    access.require(OrgAction::ReadSpecs)?;
    let spec = find(tx, org, slug).await?.ok_or_else(|| Error::not_found("OpenAPI specification"))?;
    Ok((access, spec))
}

/// The error message for a write that raced with the creation or deletion of the specification.
const CREATE_RACE_MESSAGE: &str = "the specification was created or deleted during the request; try again";
/// Number of versions removed per purge transaction.
const VERSION_PURGE_BATCH: u32 = 20;

impl Platform {
    /// Builds a new specification that is pending processing.
    fn new_spec(
        &self,
        actor: &Actor,
        org: &OrgId,
        id: OpenApiSpecId,
        slug: OpenApiSpecSlug,
        source: StoredSpecSource,
    ) -> OpenApiSpecRecord {
        let now = self.now();
        OpenApiSpecRecord {
            id,
            organization: org.clone(),
            slug,
            source,
            round: 1,
            state: SpecProcessingState::Pending,
            visibility: SpecVisibility::default(),
            last_version: None,
            last_processed_at: None,
            error_code: None,
            errors: Vec::new(),
            created_by: actor.user().cloned(),
            created_at: now,
            updated_at: now,
        }
    }
}

/// Creates a specification and enqueues the job of its first round.
async fn create(tx: &mut Tx, record: &OpenApiSpecRecord) -> Result<()> {
    if tx.number(&OpenApiSpecRecord::count_in(&record.organization)).await? >= MAX_SPECS {
        return Err(Error::conflict(format!(
            "an organization must have at most {MAX_SPECS} OpenAPI specifications; delete one first"
        )));
    }
    tx.create(record.clone());
    enqueue(tx, record, record.created_at).await
}

async fn enqueue(tx: &mut Tx, spec: &OpenApiSpecRecord, now: Timestamp) -> Result<()> {
    let job = ProcessSpec { spec: spec.id.clone(), round: spec.round }.job(now)?;
    jobs::enqueue(tx, now, NewJob { owner: Some(spec.organization.to_string()), ..job }).await
}

#[operation(
    "openapi_spec_create",
    taken_error = |_| Error::conflict("slug: is in use by another OpenAPI specification of the organization")
)]
async fn spec_creation(tx: &mut Tx, actor: &Actor, record: &OpenApiSpecRecord) -> Result<()> {
    access::org(tx, actor, &record.organization).await?.require(OrgAction::CreateContent)?;
    create(tx, record).await
}

/// Replaces the source of a specification, or creates the specification as `record`.
#[operation("openapi_spec_put", taken_error = |_| Error::conflict(CREATE_RACE_MESSAGE))]
async fn spec_put(tx: &mut Tx, actor: &Actor, record: &OpenApiSpecRecord) -> Result<()> {
    let org = &record.organization;
    access::org(tx, actor, org).await?.require(OrgAction::CreateContent)?;
    let Some(old) = find(tx, org, record.slug.as_str()).await? else {
        // The specification is new, or was deleted after its document was stored.
        return create(tx, record).await;
    };
    if old.id != record.id {
        return Err(Error::conflict(CREATE_RACE_MESSAGE));
    }
    let new = OpenApiSpecRecord {
        source: record.source.clone(),
        round: old.round + 1,
        state: SpecProcessingState::Pending,
        updated_at: record.created_at,
        ..OpenApiSpecRecord::clone(&old)
    };
    let new = tx.put(&*old, new)?;
    enqueue(tx, &new, record.created_at).await
}

/// Changes the visibility of a specification.
#[operation("openapi_spec_update")]
async fn spec_change(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    slug: &str,
    visibility: SpecVisibility,
    now: Timestamp,
) -> Result<()> {
    let (access, old) = read_spec(tx, actor, org, slug).await?;
    access.require(OrgAction::CreateContent)?;
    if old.visibility != visibility {
        let new = OpenApiSpecRecord { visibility, updated_at: now, ..OpenApiSpecRecord::clone(&old) };
        tx.put(&*old, new)?;
        feed_spec(tx, org);
    }
    Ok(())
}

/// Deletes a specification. A job removes its versions in batches.
#[operation("openapi_spec_delete")]
async fn spec_deletion(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    slug: &str,
    now: Timestamp,
    job: &JobId,
) -> Result<()> {
    let (access, old) = read_spec(tx, actor, org, slug).await?;
    access.require(OrgAction::CreateContent)?;
    tx.delete(&*old);
    feed_spec(tx, org);
    let purge = PurgeSpec { spec: old.id.clone() };
    jobs::enqueue(tx, now, purge.to_new_job(job, &old.id, now)?).await
}

/// Job that removes the versions of a deleted specification. A later garbage collection removes their objects.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct PurgeSpec {
    spec: OpenApiSpecId,
}

impl Payload for PurgeSpec {
    const KIND: &'static str = "openapi_spec_purge";
}

#[async_trait]
impl Purge for PurgeSpec {
    async fn purge_some(&self, tx: &mut Tx) -> Result<bool> {
        let spec: Option<Arc<OpenApiSpecRecord>> = tx.get(&OpenApiSpecRecord::key_for(&self.spec)).await?;
        if spec.is_some() {
            return Ok(false);
        }
        let rows =
            tx.scan_prefix(&OpenApiSpecVersionRecord::by_spec(&self.spec), VERSION_PURGE_BATCH).await?;
        tx.delete_all::<OpenApiSpecVersionRecord>(&OpenApiSpecVersionRecord::named_by_all(&rows)).await?;
        Ok(rows.len() == VERSION_PURGE_BATCH as usize)
    }
}
