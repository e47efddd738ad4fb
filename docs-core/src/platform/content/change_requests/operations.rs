//! Write operations of change requests.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;

use super::{feed_head, find, is_living, require_living, require_own};
use crate::{
    Error, Result,
    model::{
        ChangeRequestId, ChangeRequestStatus, CreateChangeRequest, JobId, SpaceId, Subject, Timestamp,
        UpdateChangeRequest, UserId,
    },
    platform::{
        access,
        kernel::actor::Actor,
        library::{follow::git, head::move_head},
    },
    policy::{SpaceAction, SpaceProof},
    store::{
        Key, Operation, Tx, Value,
        records::{ChangeRequestRecord, RevisionRecord, SpaceRecord},
    },
};

/// A space and a change request as they were read for a merge.
pub(super) struct Sides {
    pub(super) space: Arc<SpaceRecord>,
    pub(super) request: Arc<ChangeRequestRecord>,
    pub(super) action: SpaceAction,
}

impl Sides {
    /// Reads both again and checks the right; `None` if one of the heads moved.
    async fn again(&self, tx: &Tx, actor: &Actor) -> Result<Option<(SpaceProof, Arc<ChangeRequestRecord>)>> {
        let access = access::space(tx, actor, &self.space.id).await?;
        let proof = access.require(self.action)?;
        let request = find(tx, &self.space.id, self.request.id.as_str()).await?;
        require_living(&request)?;
        let same = proof.space().head == self.space.head && request.head == self.request.head;
        Ok(same.then_some((proof, request)))
    }
}

pub(super) struct ChangeRequestCreation {
    pub(super) actor: Actor,
    pub(super) by: UserId,
    pub(super) space: SpaceId,
    pub(super) id: ChangeRequestId,
    pub(super) new: CreateChangeRequest,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for ChangeRequestCreation {
    type Out = ();
    const NAME: &'static str = "change_request_create";

    fn hot(&self) -> Vec<Key> {
        vec![ChangeRequestRecord::last_number(&self.space)]
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let proof = access::space(tx, &self.actor, &self.space).await?.require(SpaceAction::Edit)?;
        let space = proof.space();
        let record = ChangeRequestRecord {
            subject: self.new.subject.clone().unwrap_or_default(),
            agent_task: self.new.agent_task_id.as_ref().map(ToString::to_string),
            ..new_request(tx, space, &self.id, &self.by, self.now).await?
        };
        tx.create(record);
        Ok(())
    }
}

/// Creates a draft with the current content of its space and the next number of the space.
pub(in crate::platform) async fn new_request(
    tx: &mut Tx,
    space: &SpaceRecord,
    id: &ChangeRequestId,
    by: &UserId,
    now: Timestamp,
) -> Result<ChangeRequestRecord> {
    let last = ChangeRequestRecord::last_number(&space.id);
    let number = tx.number(&last).await? + 1;
    tx.put_value(last, Value::Int(number));
    let mut record = ChangeRequestRecord {
        id: id.clone(),
        space: space.id.clone(),
        number: u64::try_from(number).map_err(Error::internal)?,
        status: ChangeRequestStatus::Draft,
        subject: Subject::default(),
        agent_task: None,
        created_by: by.clone(),
        created_at: now,
        updated_at: now,
        head: space.head.clone(),
        root: space.root,
        initial: space.head.clone(),
        ancestor: None,
        base_root: space.root,
        merged: None,
        contributors: Vec::new(),
        contributions: BTreeMap::new(),
    };
    record.contribute(by, now);
    Ok(record)
}

pub(super) struct ChangeRequestUpdate {
    pub(super) actor: Actor,
    pub(super) space: SpaceId,
    pub(super) name: String,
    pub(super) change: UpdateChangeRequest,
    /// Id for the job that unblocks work waiting for the request.
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for ChangeRequestUpdate {
    type Out = ();
    const NAME: &'static str = "change_request_update";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::space(tx, &self.actor, &self.space).await?;
        access.require(SpaceAction::Edit)?;
        let old = find(tx, &self.space, &self.name).await?;
        require_own(&access, &self.actor, &old)?;
        let mut new = ChangeRequestRecord::clone(&old);
        if let Some(status) = self.change.status {
            if old.status == ChangeRequestStatus::Merged {
                return Err(Error::conflict("status: cannot change after a merge"));
            }
            new.status = status.into();
        }
        new.subject = self.change.subject.clone().unwrap_or(new.subject);
        if new != *old {
            new.updated_at = self.now.later_than(old.updated_at);
            let new = tx.put(&*old, new)?;
            if !is_living(new.status) {
                git::settled(tx, access.space(), &new.id, self.job.clone(), self.now).await?;
            }
        }
        Ok(())
    }
}

/// Stores a merge; `Out` is `false` if one of the heads had moved.
pub(super) struct MergeChangeRequest {
    pub(super) actor: Actor,
    pub(super) at: Sides,
    pub(super) revision: RevisionRecord,
    /// Id for the job that unblocks work waiting for the request.
    pub(super) job: JobId,
}

#[async_trait]
impl Operation for MergeChangeRequest {
    type Out = bool;
    const NAME: &'static str = "change_request_merge";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some((proof, old)) = self.at.again(tx, &self.actor).await? else { return Ok(false) };
        let now = self.revision.created_at;
        move_head(tx, &proof, self.revision.clone()).await?;
        let new = ChangeRequestRecord {
            status: ChangeRequestStatus::Merged,
            merged: Some(self.revision.id.clone()),
            updated_at: now.later_than(old.updated_at),
            ..ChangeRequestRecord::clone(&old)
        };
        let new = tx.put(&*old, new)?;
        git::settled(tx, proof.space(), &new.id, self.job.clone(), now).await?;
        Ok(true)
    }
}

/// Stores an update; `Out` is `false` if one of the heads had moved.
pub(super) struct PullChangeRequest {
    pub(super) actor: Actor,
    pub(super) at: Sides,
    pub(super) revision: RevisionRecord,
}

#[async_trait]
impl Operation for PullChangeRequest {
    type Out = bool;
    const NAME: &'static str = "change_request_pull";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some((proof, old)) = self.at.again(tx, &self.actor).await? else { return Ok(false) };
        let space = proof.space();
        let new = ChangeRequestRecord {
            head: self.revision.id.clone(),
            root: self.revision.root,
            ancestor: Some(space.head.clone()),
            base_root: space.root,
            updated_at: self.revision.created_at.later_than(old.updated_at),
            ..ChangeRequestRecord::clone(&old)
        };
        tx.create(self.revision.clone());
        feed_head(tx, &old);
        tx.put(&*old, new)?;
        Ok(true)
    }
}
