//! Change requests.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;

use super::{Actor, Platform, access, at_once, people::later};
use crate::{
    BoxFuture, Error, Result,
    content::{Conflict, Merged, Side, Subject, clash_field},
    model::{
        ChangeRequest, ChangeRequestId, ChangeRequestObject, ChangeRequestStatus, ChangeRequestUrls,
        ConflictSubject, CreateChangeRequest, MergeConflict, MergeOutcome, MergeResult, PageId, RevisionId,
        SpaceId, Timestamp, UpdateChangeRequest, UpdateOutcome, UpdateResult, UserId,
    },
    platform::spaces::move_head,
    policy::{SpaceAccess, SpaceAction, SpaceProof},
    store::{
        Key, KeyBuf, ListSpec, Lister, Operation, Page, PageRequest, Tx, Value,
        records::{ChangeRequestRecord, RevisionKind, RevisionRecord, SpaceRecord, counter, linked_id},
        topic,
    },
};

/// How often a merge starts again because the space moved meanwhile.
const MAX_MOVES: usize = 10;

/// Which change requests to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// Only those in this status.
    pub status: Option<ChangeRequestStatus>,
    /// Only those that this user changed.
    pub contributor: Option<String>,
    /// Only those that this user created.
    pub creator: Option<String>,
}

impl Platform {
    /// Lists the change requests of a space, newest first (SPEC 4.12).
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_change_requests<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        filter: &'a RequestFilter,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<ChangeRequest>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let access = access::space(&tx, actor, space).await?;
            let contributor = filter.contributor.as_ref().map(|user| user.parse::<UserId>());
            // Nobody has an id that cannot be one.
            let nobody = matches!(contributor, Some(Err(_)));
            let prefix = match (&contributor, filter.status) {
                (Some(Ok(user)), _) => ChangeRequestRecord::by_contributor(space, user),
                (Some(Err(_)), _) => ChangeRequestRecord::of_space(space),
                (None, Some(status)) => ChangeRequestRecord::in_status(space, status),
                (None, None) => ChangeRequestRecord::of_space(space),
            };
            let mut list = Lister::new(ListSpec { prefix, rev: true, filters: format!("{filter:?}") }, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let keys = rows.iter().map(|(_, value)| linked(value)).collect::<Result<Vec<Key>>>()?;
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
            let items = self.request_views(&tx, access.space(), &page.items).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Creates a change request: a draft, with the content that the space has now.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `edit`.
    pub fn create_change_request<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        new: CreateChangeRequest,
    ) -> BoxFuture<'a, Result<ChangeRequest>> {
        Box::pin(self.once(actor, async move {
            let operation = Create {
                by: actor.require_user()?.clone(),
                actor: actor.clone(),
                space: space.clone(),
                id: self.id(),
                new,
                now: self.now(),
            };
            let name = operation.id.as_str();
            self.write_request(actor, &operation, space, name).await
        }))
    }

    /// Reads a change request, by id or number.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_change_request<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        name: &'a str,
    ) -> BoxFuture<'a, Result<ChangeRequest>> {
        Box::pin(async move {
            let tx = self.read().await?;
            self.request_seen(&tx, actor, space, name).await
        })
    }

    /// A change request, as a transaction sees it.
    pub(super) async fn request_seen(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceId,
        name: &str,
    ) -> Result<ChangeRequest> {
        let access = access::space(tx, actor, space).await?;
        let request = find(tx, space, name).await?;
        let shown = self.request_views(tx, access.space(), &[request]).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("change request"))
    }

    /// Runs a write, and answers with a change request as the write leaves it.
    async fn write_request<O: Operation>(
        &self,
        actor: &Actor,
        operation: &O,
        space: &SpaceId,
        name: &str,
    ) -> Result<ChangeRequest> {
        self.write_and_show(actor, operation, |done| Box::pin(self.request_seen(done.tx, actor, space, name)))
            .await
    }

    /// Changes subject or status (SPEC 3). What the request leaves out stays.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `edit`, or `review` for a request of somebody else; `Conflict` for a
    /// new status of a merged request.
    pub fn update_change_request<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        name: &'a str,
        change: UpdateChangeRequest,
    ) -> BoxFuture<'a, Result<ChangeRequest>> {
        Box::pin(async move {
            let operation = Update {
                actor: actor.clone(),
                space: space.clone(),
                name: name.to_owned(),
                change,
                now: self.now(),
            };
            self.write_request(actor, &operation, space, name).await
        })
    }

    /// Merges a change request into its space (SPEC 3). Conflicts do not stop it: they are kept in the content.
    ///
    /// Costs what the two sides changed, not what the space holds.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `review`; `Conflict` for a request that is merged or archived.
    pub fn merge_change_request<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        name: &'a str,
    ) -> BoxFuture<'a, Result<MergeResult>> {
        Box::pin(self.once(actor, async move {
            let id: RevisionId = self.id();
            for _ in 0..MAX_MOVES {
                let at = self.two_sides(actor, space, name, SpaceAction::Review).await?;
                let (main, request) = (&at.space, &at.request);
                let merged = self
                    .content()
                    .merge(&main.domain, request.base_root, (main.root, request.root), Side::Theirs)
                    .await?;
                let conflicts = conflicted(&merged);
                let revision = RevisionRecord {
                    id: id.clone(),
                    space: space.clone(),
                    parents: vec![main.head.clone(), request.head.clone()],
                    root: merged.root,
                    kind: RevisionKind::Merge(request.id.clone()),
                    created_at: self.now(),
                    by: actor.require_user()?.clone(),
                    git: None,
                    conflicts,
                };
                let result = if merged.is_clean() { MergeOutcome::Merge } else { MergeOutcome::Conflicts };
                let done = MergeResult { revision: id.clone(), result, conflicts: shown_conflicts(&merged) };
                let merge = Merge { actor: actor.clone(), at, revision };
                let stored = self
                    .write_and_show(actor, &merge, |stored| at_once(Ok(stored.out.then(|| done.clone()))));
                if let Some(done) = stored.await? {
                    return Ok(done);
                }
            }
            Err(Error::conflict("the space kept changing meanwhile; try again"))
        }))
    }

    /// Brings a change request up to date with its space (SPEC 3). Conflicts are kept in the request's content.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `edit`; `Conflict` for a request that is merged or archived.
    pub fn pull_change_request<'a>(
        &'a self,
        actor: &'a Actor,
        space: &'a SpaceId,
        name: &'a str,
    ) -> BoxFuture<'a, Result<UpdateResult>> {
        Box::pin(self.once(actor, async move {
            let id: RevisionId = self.id();
            for _ in 0..MAX_MOVES {
                let at = self.two_sides(actor, space, name, SpaceAction::Edit).await?;
                let (main, request) = (&at.space, &at.request);
                if main.head == *request.base() {
                    return Ok(UpdateResult {
                        revision: request.head.clone(),
                        result: UpdateOutcome::Update,
                        conflicts: Vec::new(),
                    });
                }
                let merged = self
                    .content()
                    .merge(&main.domain, request.base_root, (request.root, main.root), Side::Ours)
                    .await?;
                let revision = RevisionRecord {
                    id: id.clone(),
                    space: space.clone(),
                    parents: vec![request.head.clone(), main.head.clone()],
                    root: merged.root,
                    kind: RevisionKind::Update,
                    created_at: self.now(),
                    by: actor.require_user()?.clone(),
                    git: None,
                    conflicts: conflicted(&merged),
                };
                let result = if merged.is_clean() { UpdateOutcome::Update } else { UpdateOutcome::Conflicts };
                let done = UpdateResult { revision: id.clone(), result, conflicts: shown_conflicts(&merged) };
                let pull = Pull { actor: actor.clone(), at, revision };
                let stored =
                    self.write_and_show(actor, &pull, |stored| at_once(Ok(stored.out.then(|| done.clone()))));
                if let Some(done) = stored.await? {
                    return Ok(done);
                }
            }
            Err(Error::conflict("the space kept changing meanwhile; try again"))
        }))
    }

    /// Reads a request and its space as a merge needs them.
    async fn two_sides(
        &self,
        actor: &Actor,
        space: &SpaceId,
        name: &str,
        action: SpaceAction,
    ) -> Result<Sides> {
        let tx = self.read().await?;
        let access = access::space(&tx, actor, space).await?;
        let space = Arc::clone(access.require(action)?.space());
        let request = find(&tx, &space.id, name).await?;
        require_living(&request)?;
        Ok(Sides { space, request, action })
    }

    /// Shows change requests of one space.
    pub(super) async fn request_views(
        &self,
        tx: &Tx,
        space: &SpaceRecord,
        requests: &[Arc<ChangeRequestRecord>],
    ) -> Result<Vec<ChangeRequest>> {
        let users: Vec<UserId> = requests.iter().map(|request| request.created_by.clone()).collect();
        let users = self.user_views(tx, &users).await?;
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

/// Tells whether the space has content that a living request was not brought up to date with.
fn is_outdated(space: &SpaceRecord, request: &ChangeRequestRecord) -> bool {
    is_living(request.status) && space.head != *request.base() && space.root != request.base_root
}

const fn is_living(status: ChangeRequestStatus) -> bool {
    matches!(status, ChangeRequestStatus::Draft | ChangeRequestStatus::Open)
}

/// Refuses to change subject or status of somebody else's request without the role `review`.
pub(super) fn require_own(access: &SpaceAccess, actor: &Actor, request: &ChangeRequestRecord) -> Result<()> {
    if actor.user() != Some(&request.created_by) {
        access.require(SpaceAction::Review)?;
    }
    Ok(())
}

/// Refuses work on the content of a request that is merged or archived.
pub(super) fn require_living(request: &ChangeRequestRecord) -> Result<()> {
    if is_living(request.status) {
        return Ok(());
    }
    Err(Error::conflict(format!("the change request is {}", request.status.as_str())))
}

/// A change request of a space, by id or number.
pub(super) async fn find(tx: &Tx, space: &SpaceId, name: &str) -> Result<Arc<ChangeRequestRecord>> {
    let missing = || Error::not_found("change request");
    let id: ChangeRequestId = if name.bytes().all(|b| b.is_ascii_digit()) {
        let number = name.parse().map_err(|_| missing())?;
        let row = tx.get_value(&ChangeRequestRecord::by_number(space, number)).await?.ok_or_else(missing)?;
        linked_id(&row)?
    } else {
        name.parse().map_err(|_| missing())?
    };
    let request: Option<Arc<ChangeRequestRecord>> = tx.get(&ChangeRequestRecord::at(&id)).await?;
    request.filter(|request| request.space == *space).ok_or_else(missing)
}

fn linked(value: &Value) -> Result<Key> {
    Ok(ChangeRequestRecord::at(&linked_id::<ChangeRequestId>(value)?))
}

fn conflicted(merged: &Merged) -> Vec<PageId> {
    let pages: BTreeSet<&PageId> = merged
        .conflicts
        .iter()
        .filter_map(|note| match &note.subject {
            Subject::Page(page) => Some(page),
            Subject::File(_) | Subject::Reusable(_) | Subject::Variable(_) => None,
        })
        .collect();
    pages.into_iter().take(RevisionRecord::MAX_CONFLICTS).cloned().collect()
}

/// What a merge could not unite, as it is told to who merged; of very many, the first.
fn shown_conflicts(merged: &Merged) -> Vec<MergeConflict> {
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

/// Tells the feed that the head of a change request moved.
pub(super) fn feed_head(tx: &mut Tx, request: &ChangeRequestRecord) {
    tx.feed(topic::HEAD, KeyBuf::new("head").part(request.space.as_str()).part(request.id.as_str()).key());
}

/// A request and its space, as they were when two sides were brought together.
struct Sides {
    space: Arc<SpaceRecord>,
    request: Arc<ChangeRequestRecord>,
    action: SpaceAction,
}

impl Sides {
    /// Reads both again, with the right; `None` when one of them moved.
    async fn again(&self, tx: &Tx, actor: &Actor) -> Result<Option<(SpaceProof, Arc<ChangeRequestRecord>)>> {
        let access = access::space(tx, actor, &self.space.id).await?;
        let proof = access.require(self.action)?;
        let request = find(tx, &self.space.id, self.request.id.as_str()).await?;
        require_living(&request)?;
        let same = proof.space().head == self.space.head && request.head == self.request.head;
        Ok(same.then_some((proof, request)))
    }
}

struct Create {
    actor: Actor,
    by: UserId,
    space: SpaceId,
    id: ChangeRequestId,
    new: CreateChangeRequest,
    now: Timestamp,
}

#[async_trait]
impl Operation for Create {
    type Out = ();
    const NAME: &'static str = "change_request_create";

    fn hot(&self) -> Vec<Key> {
        vec![ChangeRequestRecord::last_number(&self.space)]
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let proof = access::space(tx, &self.actor, &self.space).await?.require(SpaceAction::Edit)?;
        let space = proof.space();
        let last = ChangeRequestRecord::last_number(&self.space);
        let number = tx.number(&last).await? + 1;
        tx.put_value(last, Value::Int(number));
        let mut record = ChangeRequestRecord {
            id: self.id.clone(),
            space: self.space.clone(),
            number: u64::try_from(number).map_err(Error::internal)?,
            status: ChangeRequestStatus::Draft,
            subject: self
                .new
                .subject
                .clone()
                .unwrap_or_else(|| "".parse().unwrap_or_else(|_| unreachable!())),
            agent_task: self.new.agent_task_id.as_ref().map(ToString::to_string),
            created_by: self.by.clone(),
            created_at: self.now,
            updated_at: self.now,
            head: space.head.clone(),
            root: space.root,
            initial: space.head.clone(),
            ancestor: None,
            base_root: space.root,
            merged: None,
            contributors: Vec::new(),
            contributions: BTreeMap::new(),
        };
        record.contribute(&self.by, self.now);
        tx.create(record);
        Ok(())
    }
}

struct Update {
    actor: Actor,
    space: SpaceId,
    name: String,
    change: UpdateChangeRequest,
    now: Timestamp,
}

#[async_trait]
impl Operation for Update {
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
                return Err(Error::conflict("status: a merged change request stays merged"));
            }
            new.status = status.into();
        }
        new.subject = self.change.subject.clone().unwrap_or(new.subject);
        if new != *old {
            new.updated_at = later(self.now, old.updated_at);
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

/// Stores a merge; `Out` tells whether both sides were still where they had been.
struct Merge {
    actor: Actor,
    at: Sides,
    revision: RevisionRecord,
}

#[async_trait]
impl Operation for Merge {
    type Out = bool;
    const NAME: &'static str = "change_request_merge";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some((proof, old)) = self.at.again(tx, &self.actor).await? else { return Ok(false) };
        let now = self.revision.created_at;
        move_head(tx, &proof, self.revision.clone())?;
        let new = ChangeRequestRecord {
            status: ChangeRequestStatus::Merged,
            merged: Some(self.revision.id.clone()),
            updated_at: later(now, old.updated_at),
            ..ChangeRequestRecord::clone(&old)
        };
        tx.put(&*old, new)?;
        Ok(true)
    }
}

/// Stores an update; `Out` tells whether both sides were still where they had been.
struct Pull {
    actor: Actor,
    at: Sides,
    revision: RevisionRecord,
}

#[async_trait]
impl Operation for Pull {
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
            updated_at: later(self.revision.created_at, old.updated_at),
            ..ChangeRequestRecord::clone(&old)
        };
        tx.create(self.revision.clone());
        feed_head(tx, &old);
        tx.put(&*old, new)?;
        Ok(true)
    }
}
