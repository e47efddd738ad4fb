//! Operations on change requests.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    content::{Conflict, ConflictNote, ContentMerge, Subject, ThreeWay, clash_field},
    model::{
        self, ChangeRequest, ChangeRequestId, ChangeRequestObject, ChangeRequestStatus, ChangeRequestUrls,
        ConflictSubject, CreateChangeRequest, JobId, MergeConflict, MergeOutcome, MergeResult, PageId,
        RevisionId, SpaceId, Timestamp, UpdateChangeRequest, UpdateOutcome, UpdateResult, UserId,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right, write::MAX_WRITE_ATTEMPTS},
        library::{follow::git, head::move_head},
        nouns::{ChangeRequestHandle, ChangeRequests, RequestRef, filters::RequestFilter, list_identities},
    },
    policy::{SpaceAccess, SpaceAction, SpaceProof},
    store::{
        Key, KeyBuf, ListSpec, Lister, Operation, Page, PageRequest, Tx, Value,
        records::{ChangeRequestRecord, RevisionKind, RevisionRecord, SpaceRecord, counter, linked_id},
        topic,
    },
};

impl<'p> ChangeRequests<'p> {
    /// Lists the change requests of a space, newest first.
    #[boxed]
    pub async fn list(self, filter: &'p RequestFilter, page: &'p PageRequest) -> Result<Page<ChangeRequest>> {
        let (platform, ref actor, space) = self.parts();
        let tx = platform.read().await?;
        let access = access::space(&tx, actor, space).await?;
        let contributor = filter.contributor.as_ref().map(|user| user.parse::<UserId>());
        // A string that is not a valid id matches no user.
        let nobody = matches!(contributor, Some(Err(_)));
        let prefix = match (&contributor, filter.status) {
            (Some(Ok(user)), _) => ChangeRequestRecord::by_contributor(space, user),
            (Some(Err(_)), _) => ChangeRequestRecord::by_space(space),
            (None, Some(status)) => ChangeRequestRecord::by_status(space, status),
            (None, None) => ChangeRequestRecord::by_space(space),
        };
        let identity = list_identities::change_requests(filter);
        let mut list = Lister::new(ListSpec { prefix, rev: true, identity }, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let keys = rows.iter().map(|(_, value)| request_key(value)).collect::<Result<Vec<Key>>>()?;
            let found = tx.get_many::<ChangeRequestRecord>(&keys).await?;
            let fits = |request: &Arc<ChangeRequestRecord>| {
                !nobody
                    && filter.status.is_none_or(|status| status == request.status)
                    && filter.creator.as_ref().is_none_or(|user| user == request.created_by.as_str())
            };
            list.offer_all(&rows, found.into_iter().map(|request| request.filter(fits)));
        }
        let counted = filter.contributor.is_none() && filter.creator.is_none();
        let count = match counted {
            true => {
                u64::try_from(tx.number(&ChangeRequestRecord::count_in(space, filter.status)).await?).ok()
            }
            false => None,
        };
        let page = list.finish(&tx, count).await?;
        let items = platform.request_views(&tx, actor, access.space(), &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Creates a draft change request from the current content of the space.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the `edit` role.
    #[boxed]
    pub async fn create(self, new: CreateChangeRequest) -> Result<ChangeRequest> {
        let (platform, ref actor, space) = self.parts();
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Edit), async move {
            let operation = ChangeRequestCreation {
                by: actor.require_user()?.clone(),
                actor: actor.clone(),
                space: space.clone(),
                id: platform.id(),
                new,
                now: platform.now(),
            };
            let name = operation.id.as_str();
            platform.write_request(actor, &operation, space, name).await
        });
        done.await
    }
}

impl<'p> ChangeRequestHandle<'p> {
    /// Reads a change request, by id or number.
    #[boxed]
    pub async fn get(self) -> Result<ChangeRequest> {
        let Self { caller, at: RequestRef { space, request: name } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        platform.read_request_view(&tx, actor, space, name).await
    }

    /// Changes the subject or status of a change request. Omitted fields are left unchanged.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role, or without `review` for another user's request; `Conflict` if the status of
    /// a merged request would change.
    #[boxed]
    pub async fn update(self, change: UpdateChangeRequest) -> Result<ChangeRequest> {
        let Self { caller, at: RequestRef { space, request: name } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let (job, now) = (platform.id(), platform.now());
        let operation = change_request_update(actor, space, name, &change, &job, now);
        platform.write_request(actor, &operation, space, name).await
    }

    /// Merges a change request into its space. Conflicts do not abort the merge: they are recorded in the content.
    ///
    /// The cost is proportional to the changes on both sides, not to the size of the space.
    ///
    /// # Errors
    /// `Forbidden` without the `review` role; `Conflict` for a merged or archived request.
    #[boxed]
    pub async fn merge(self) -> Result<MergeResult> {
        let Self { caller, at: RequestRef { space, request: name } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Review), async move {
            let id: RevisionId = platform.id();
            for _ in 0..MAX_WRITE_ATTEMPTS {
                let storing = platform.begin_write_window();
                let at = platform.read_merge_sides(actor, space, name, SpaceAction::Review).await?;
                let (main, request) = (&at.space, &at.request);
                let merged = platform
                    .content()
                    .merge(
                        &main.domain,
                        ThreeWay { base: request.base_root, ours: main.root, theirs: request.root },
                    )
                    .await?;
                let by = actor.require_user()?.clone();
                let revision = RevisionRecord {
                    parents: vec![main.head.clone(), request.head.clone()],
                    kind: RevisionKind::Merge(request.id.clone()),
                    conflicts: conflicting_pages(&merged),
                    ..RevisionRecord::new(id.clone(), space.clone(), merged.root, platform.now(), by)
                };
                let result = if merged.is_clean() { MergeOutcome::Merge } else { MergeOutcome::Conflicts };
                let done = MergeResult { revision: id.clone(), result, conflicts: merge_conflicts(&merged) };
                let job = platform.id();
                let merge = merge_change_request(actor, &at, &revision, &job);
                platform.check_write_window(storing)?;
                let stored = platform.write_unless_moved(actor, &merge, || done.clone());
                if let Some(done) = stored.await? {
                    return Ok(done);
                }
            }
            Err(Error::conflict("the space kept changing; try again"))
        });
        done.await
    }

    /// Updates a change request with the current content of its space. Conflicts are recorded in the content of the
    /// request.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role; `Conflict` for a merged or archived request.
    #[boxed]
    pub async fn pull(self) -> Result<UpdateResult> {
        let Self { caller, at: RequestRef { space, request: name } } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let done = platform.idempotent(actor, Right::Space(space.clone(), SpaceAction::Edit), async move {
            let id: RevisionId = platform.id();
            for _ in 0..MAX_WRITE_ATTEMPTS {
                let storing = platform.begin_write_window();
                let at = platform.read_merge_sides(actor, space, name, SpaceAction::Edit).await?;
                let (main, request) = (&at.space, &at.request);
                if main.head == *request.base() {
                    return Ok(UpdateResult {
                        revision: request.head.clone(),
                        result: UpdateOutcome::Update,
                        conflicts: Vec::new(),
                    });
                }
                let merged = platform
                    .content()
                    .merge(
                        &main.domain,
                        ThreeWay { base: request.base_root, ours: main.root, theirs: request.root },
                    )
                    .await?;
                let by = actor.require_user()?.clone();
                let revision = RevisionRecord {
                    parents: vec![request.head.clone(), main.head.clone()],
                    kind: RevisionKind::Update,
                    conflicts: conflicting_pages(&merged),
                    ..RevisionRecord::new(id.clone(), space.clone(), merged.root, platform.now(), by)
                };
                let result = if merged.is_clean() { UpdateOutcome::Update } else { UpdateOutcome::Conflicts };
                let done = UpdateResult { revision: id.clone(), result, conflicts: merge_conflicts(&merged) };
                let pull = pull_change_request(actor, &at, &revision);
                platform.check_write_window(storing)?;
                let stored = platform.write_unless_moved(actor, &pull, || done.clone());
                if let Some(done) = stored.await? {
                    return Ok(done);
                }
            }
            Err(Error::conflict("the space kept changing; try again"))
        });
        done.await
    }
}

impl Platform {
    /// Reads a change request within a transaction.
    pub(in crate::platform) async fn read_request_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceId,
        name: &str,
    ) -> Result<ChangeRequest> {
        let access = access::space(tx, actor, space).await?;
        let request = find(tx, space, name).await?;
        let shown = self.request_views(tx, actor, access.space(), &[request]).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("change request"))
    }

    /// Runs a write and returns the updated change request.
    async fn write_request<O: Operation>(
        &self,
        actor: &Actor,
        operation: &O,
        space: &SpaceId,
        name: &str,
    ) -> Result<ChangeRequest> {
        self.change_and_show(actor, operation, |done| {
            Box::pin(self.read_request_view(done.tx, actor, space, name))
        })
        .await
    }

    /// Reads the two sides of a merge: the space and the change request.
    async fn read_merge_sides(
        &self,
        actor: &Actor,
        space: &SpaceId,
        name: &str,
        action: SpaceAction,
    ) -> Result<MergeSides> {
        let tx = self.read().await?;
        let access = access::space(&tx, actor, space).await?;
        let space = Arc::clone(access.require(action)?.space());
        let request = find(&tx, &space.id, name).await?;
        require_editable(&request)?;
        Ok(MergeSides { space, request, action })
    }

    /// Builds the views of change requests of one space.
    pub(in crate::platform) async fn request_views(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceRecord,
        requests: &[Arc<ChangeRequestRecord>],
    ) -> Result<Vec<ChangeRequest>> {
        let users: Vec<UserId> = requests.iter().map(|request| request.created_by.clone()).collect();
        let users = self.visible_users(tx, (actor, &space.organization), &users).await?;
        let counters: Vec<Key> =
            requests.iter().map(|request| counter(request.id.as_str(), "comments")).collect();
        let comments = tx.numbers(&counters).await?;
        let shown = requests.iter().zip(users).zip(comments).map(|((request, created_by), comments)| {
            let (location, app) = self.urls().change_request(&space.id, &request.id, request.number);
            ChangeRequest {
                object: ChangeRequestObject::Is,
                id: request.id.clone(),
                number: request.number,
                status: request.status,
                subject: request.subject.clone(),
                created_by,
                created_at: request.created_at,
                updated_at: request.updated_at,
                space: space.id.clone(),
                revision: request.head.clone(),
                revision_initial: request.initial.clone(),
                revision_merged_ancestor: request.ancestor.clone(),
                revision_merged: request.merged.clone(),
                comments: u64::try_from(comments).unwrap_or(0),
                outdated: is_outdated(space, request),
                urls: ChangeRequestUrls { app, location },
            }
        });
        Ok(shown.collect())
    }
}

/// Returns `true` if an editable change request is outdated, because its space has changed.
fn is_outdated(space: &SpaceRecord, request: &ChangeRequestRecord) -> bool {
    is_editable(request.status) && space.head != *request.base() && space.root != request.base_root
}

/// Returns `true` if a change request with this status can be edited and merged.
pub(in crate::platform) const fn is_editable(status: ChangeRequestStatus) -> bool {
    matches!(status, ChangeRequestStatus::Draft | ChangeRequestStatus::Open)
}

/// Rejects changes to the subject or status of another user's request without the `review` role.
pub(in crate::platform) fn require_own(
    access: &SpaceAccess,
    actor: &Actor,
    request: &ChangeRequestRecord,
) -> Result<()> {
    if actor.user() != Some(&request.created_by) {
        access.require(SpaceAction::Review)?;
    }
    Ok(())
}

/// Rejects content changes to a merged or archived request.
pub(in crate::platform) fn require_editable(request: &ChangeRequestRecord) -> Result<()> {
    if is_editable(request.status) {
        return Ok(());
    }
    Err(Error::conflict(format!("the change request is {}", request.status.as_str())))
}

/// Finds a change request of a space by id or number.
pub(in crate::platform) async fn find(
    tx: &Tx,
    space: &SpaceId,
    name: &str,
) -> Result<Arc<ChangeRequestRecord>> {
    let missing = || Error::not_found("change request");
    let id: ChangeRequestId = if name.bytes().all(|b| b.is_ascii_digit()) {
        let number = name.parse().map_err(|_| missing())?;
        let row = tx.get_value(&ChangeRequestRecord::by_number(space, number)).await?.ok_or_else(missing)?;
        linked_id(&row)?
    } else {
        name.parse().map_err(|_| missing())?
    };
    let request: Option<Arc<ChangeRequestRecord>> = tx.get(&ChangeRequestRecord::key_for(&id)).await?;
    request.filter(|request| request.space == *space).ok_or_else(missing)
}

fn request_key(value: &Value) -> Result<Key> {
    Ok(ChangeRequestRecord::key_for(&linked_id::<ChangeRequestId>(value)?))
}

/// Returns the pages with conflicts between the two sides of a merge.
pub(in crate::platform) fn conflicting_pages(merged: &ContentMerge) -> Vec<PageId> {
    note_pages(&merged.conflicts)
}

/// The first [`RevisionRecord::MAX_CONFLICTS`] pages with conflict notes, in id order.
fn note_pages(conflicts: &[ConflictNote]) -> Vec<PageId> {
    let pages: BTreeSet<&PageId> = conflicts
        .iter()
        .filter_map(|note| match &note.subject {
            Subject::Page(page) => Some(page),
            Subject::File(_) | Subject::Reusable(_) | Subject::Variable(_) => None,
        })
        .collect();
    pages.into_iter().take(RevisionRecord::MAX_CONFLICTS).cloned().collect()
}

/// The merge conflicts returned to the caller, at most [`RevisionRecord::MAX_CONFLICTS`].
fn merge_conflicts(merged: &ContentMerge) -> Vec<MergeConflict> {
    let shown = merged.conflicts.iter().take(RevisionRecord::MAX_CONFLICTS).map(|note| {
        let (kind, id) = match &note.subject {
            Subject::Page(id) => (ConflictSubject::Page, id.to_string()),
            Subject::File(id) => (ConflictSubject::File, id.to_string()),
            Subject::Reusable(id) => (ConflictSubject::ReusableContent, id.to_string()),
            Subject::Variable(name) => (ConflictSubject::Variable, name.clone()),
        };
        let field = match &note.conflict {
            Conflict::Field { field } => field.as_str(),
            Conflict::Text => "document",
            Conflict::Existence => clash_field::EXISTENCE,
            Conflict::ParentGone { .. } | Conflict::Cycle | Conflict::Misplaced => clash_field::POSITION,
            Conflict::SlugTaken { .. } => "slug",
        };
        MergeConflict { kind, id, field: field.to_owned() }
    });
    shown.collect()
}

/// Publishes a head change of the request on the feed.
pub(in crate::platform) fn feed_head(tx: &mut Tx, request: &ChangeRequestRecord) {
    tx.feed(topic::HEAD, KeyBuf::new("head").part(request.space.as_str()).part(request.id.as_str()).key());
}

/// The space and the change request, as read before a merge.
struct MergeSides {
    space: Arc<SpaceRecord>,
    request: Arc<ChangeRequestRecord>,
    action: SpaceAction,
}

impl MergeSides {
    /// Reads both records again and checks permissions. Returns `None` if either head has changed.
    async fn reread(&self, tx: &Tx, actor: &Actor) -> Result<Option<(SpaceProof, Arc<ChangeRequestRecord>)>> {
        let access = access::space(tx, actor, &self.space.id).await?;
        let proof = access.require(self.action)?;
        let request = find(tx, &self.space.id, self.request.id.as_str()).await?;
        require_editable(&request)?;
        let same = proof.space().head == self.space.head && request.head == self.request.head;
        Ok(same.then_some((proof, request)))
    }
}

struct ChangeRequestCreation {
    actor: Actor,
    by: UserId,
    space: SpaceId,
    id: ChangeRequestId,
    new: CreateChangeRequest,
    now: Timestamp,
}

#[async_trait]
impl Operation for ChangeRequestCreation {
    type Output = ();
    const NAME: &'static str = "change_request_create";

    fn hot_keys(&self) -> Vec<Key> {
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

/// Creates a draft with the current content of its space and the space's next request number.
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
        subject: model::Subject::default(),
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

/// Changes a change request; `job` unblocks work that waits for the request.
#[operation("change_request_update")]
async fn change_request_update(
    tx: &mut Tx,
    actor: &Actor,
    space: &SpaceId,
    name: &str,
    change: &UpdateChangeRequest,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let access = access::space(tx, actor, space).await?;
    access.require(SpaceAction::Edit)?;
    let old = find(tx, space, name).await?;
    require_own(&access, actor, &old)?;
    let mut new = ChangeRequestRecord::clone(&old);
    if let Some(status) = change.status {
        if old.status == ChangeRequestStatus::Merged {
            return Err(Error::conflict("status: cannot change after a merge"));
        }
        new.status = status.into();
    }
    new.subject = change.subject.clone().unwrap_or(new.subject);
    if new != *old {
        new.updated_at = now.later_than(old.updated_at);
        let new = tx.put(&*old, new)?;
        if !is_editable(new.status) {
            git::resume_after_conflict(tx, access.space(), &new.id, job.clone(), now).await?;
        }
    }
    Ok(())
}

/// Stores a merge. `Output` is `false` if either head has changed. `job` unblocks work that waits for the request.
#[operation("change_request_merge")]
async fn merge_change_request(
    tx: &mut Tx,
    actor: &Actor,
    at: &MergeSides,
    revision: &RevisionRecord,
    job: &JobId,
) -> Result<bool> {
    let Some((proof, old)) = at.reread(tx, actor).await? else { return Ok(false) };
    let now = revision.created_at;
    move_head(tx, &proof, revision.clone()).await?;
    let new = ChangeRequestRecord {
        status: ChangeRequestStatus::Merged,
        merged: Some(revision.id.clone()),
        updated_at: now.later_than(old.updated_at),
        ..ChangeRequestRecord::clone(&old)
    };
    let new = tx.put(&*old, new)?;
    git::resume_after_conflict(tx, proof.space(), &new.id, job.clone(), now).await?;
    Ok(true)
}

/// Stores an update. `Output` is `false` if either head has changed.
#[operation("change_request_pull")]
async fn pull_change_request(
    tx: &mut Tx,
    actor: &Actor,
    at: &MergeSides,
    revision: &RevisionRecord,
) -> Result<bool> {
    let Some((proof, old)) = at.reread(tx, actor).await? else { return Ok(false) };
    let space = proof.space();
    let new = ChangeRequestRecord {
        head: revision.id.clone(),
        root: revision.root,
        ancestor: Some(space.head.clone()),
        base_root: space.root,
        updated_at: revision.created_at.later_than(old.updated_at),
        ..ChangeRequestRecord::clone(&old)
    };
    tx.create(revision.clone());
    feed_head(tx, &old);
    tx.put(&*old, new)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_names_a_bounded_number_of_conflicts() {
        let count = |pages: usize| {
            let note = |page| {
                let page: PageId = format!("page{page}").parse().expect("an id");
                ConflictNote { subject: Subject::Page(page), conflict: Conflict::Text }
            };
            note_pages(&(0..pages).map(note).collect::<Vec<_>>()).len()
        };
        let most = RevisionRecord::MAX_CONFLICTS;
        assert_eq!([most - 1, most, most + 1].map(count), [most - 1, most, most]);
    }
}
