//! Writes of OpenAPI specifications.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::{MAX_SPECS, find, process::ProcessSpec, read_spec};
use crate::{
    Error, Result,
    model::{JobId, OpenApiSpecId, OpenApiSpecSlug, OrgId, SpecProcessingState, SpecVisibility, Timestamp},
    platform::{
        access,
        jobs::{Payload, Purge},
        kernel::{actor::Actor, platform::Platform},
    },
    policy::OrgAction,
    store::{
        Entity as _, Key, Operation, Tx, jobs,
        records::{OpenApiSpecRecord, OpenApiSpecVersionRecord, StoredSpecSource},
    },
};

/// The message of a write that raced with the creation or deletion of the specification.
pub(super) const ANOTHER: &str = "the specification was created or deleted during the request; try again";
/// Versions that one transaction of a purge removes.
const PURGE_CHUNK: u32 = 20;

impl Platform {
    /// Returns a new specification that waits to be processed.
    pub(super) fn new_spec(
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
    jobs::enqueue(tx, now, job).await
}

pub(super) struct SpecCreation {
    pub(super) actor: Actor,
    pub(super) record: OpenApiSpecRecord,
}

#[async_trait]
impl Operation for SpecCreation {
    type Out = ();
    const NAME: &'static str = "openapi_spec_create";

    fn taken(&self, _: &Key) -> Error {
        Error::conflict("slug: is in use by another OpenAPI specification of the organization")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        access::org(tx, &self.actor, &self.record.organization).await?.require(OrgAction::CreateContent)?;
        create(tx, &self.record).await
    }
}

/// Replaces the source of a specification, or creates the specification.
pub(super) struct SpecPut {
    pub(super) actor: Actor,
    /// The record to store if the specification is new.
    pub(super) record: OpenApiSpecRecord,
}

#[async_trait]
impl Operation for SpecPut {
    type Out = ();
    const NAME: &'static str = "openapi_spec_put";

    fn taken(&self, _: &Key) -> Error {
        Error::conflict(ANOTHER)
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let org = &self.record.organization;
        access::org(tx, &self.actor, org).await?.require(OrgAction::CreateContent)?;
        let Some(old) = find(tx, org, self.record.slug.as_str()).await? else {
            // The text was stored for a specification that no longer exists.
            return create(tx, &self.record).await;
        };
        if old.id != self.record.id {
            return Err(Error::conflict(ANOTHER));
        }
        let new = OpenApiSpecRecord {
            source: self.record.source.clone(),
            round: old.round + 1,
            state: SpecProcessingState::Pending,
            updated_at: self.record.created_at,
            ..OpenApiSpecRecord::clone(&old)
        };
        let new = tx.put(&*old, new)?;
        enqueue(tx, &new, self.record.created_at).await
    }
}

/// Changes the visibility of a specification.
pub(super) struct SpecChange {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) slug: String,
    pub(super) visibility: SpecVisibility,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for SpecChange {
    type Out = ();
    const NAME: &'static str = "openapi_spec_update";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (access, old) = read_spec(tx, &self.actor, &self.org, &self.slug).await?;
        access.require(OrgAction::CreateContent)?;
        if old.visibility != self.visibility {
            let (visibility, updated_at) = (self.visibility, self.now);
            tx.put(&*old, OpenApiSpecRecord { visibility, updated_at, ..OpenApiSpecRecord::clone(&old) })?;
        }
        Ok(())
    }
}

/// Deletes a specification. A job removes its versions in batches.
pub(super) struct SpecDeletion {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) slug: String,
    pub(super) now: Timestamp,
    pub(super) job: JobId,
}

#[async_trait]
impl Operation for SpecDeletion {
    type Out = ();
    const NAME: &'static str = "openapi_spec_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (access, old) = read_spec(tx, &self.actor, &self.org, &self.slug).await?;
        access.require(OrgAction::CreateContent)?;
        tx.delete(&*old);
        let purge = PurgeSpec { spec: old.id.clone() };
        jobs::enqueue(tx, self.now, purge.about(&self.job, &old.id, self.now)?).await
    }
}

/// The job that removes the versions of a deleted specification. A later garbage collection removes their objects.
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
        let spec: Option<Arc<OpenApiSpecRecord>> = tx.get(&OpenApiSpecRecord::at(&self.spec)).await?;
        if spec.is_some() {
            return Ok(false);
        }
        let rows = tx.below(&OpenApiSpecVersionRecord::of_spec(&self.spec), PURGE_CHUNK).await?;
        tx.delete_all::<OpenApiSpecVersionRecord>(&OpenApiSpecVersionRecord::named_by_all(&rows)).await?;
        Ok(rows.len() == PURGE_CHUNK as usize)
    }
}
