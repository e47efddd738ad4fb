//! Operations on change requests.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    content::document,
    model::{
        self, ChangeRequest, ChangeRequestId, ChangeRequestLink, ChangeRequestLinkId, ChangeRequestLinkInput,
        ChangeRequestLinks, ChangeRequestObject, ChangeRequestOrder, ChangeRequestStatus, ChangeRequestUrls,
        CreateChangeRequest, Document, JobId, SpaceId, Timestamp, UpdateChangeRequest, UserId,
    },
    platform::{
        access,
        content::short_documents::ShortDocument,
        kernel::{actor::Actor, platform::Platform, request::Right},
        library::follow::git,
        nouns::{ChangeRequestHandle, ChangeRequests, RequestRef, filters::RequestFilter, list_identities},
    },
    policy::{SpaceAccess, SpaceAction},
    store::{
        Key, KeyBuf, ListSpec, Lister, Operation, Page, PageRequest, Tx, Value,
        records::{
            ChangeRequestRecord, RequestedReviewerRecord, RevisionRecord, SpaceRecord, counter, linked_id,
        },
        topic,
    },
};

/// Maximum size of the description of a change request as Markdown, in bytes.
pub(in crate::platform) const MAX_DESCRIPTION_BYTES: usize = 8 << 10;
/// Maximum total size of the descriptions in a list, as JSON, in bytes. The list ends earlier.
pub(in crate::platform) const MAX_LISTED_DESCRIPTION_BYTES: usize = 1024 * 1024;

impl<'p> ChangeRequests<'p> {
    /// Lists the change requests of a space: newest first, or those changed most recently first.
    #[boxed]
    pub async fn list(self, filter: &'p RequestFilter, page: &'p PageRequest) -> Result<Page<ChangeRequest>> {
        let (platform, ref actor, space) = self.parts();
        let tx = platform.read().await?;
        let access = access::space(&tx, actor, space).await?;
        let contributor = filter.contributor.as_ref().map(|user| user.parse::<UserId>());
        let reviewer = filter.requested_reviewer.as_ref().map(|user| user.parse::<UserId>());
        // A string that is not a valid id matches no user.
        let nobody = matches!(contributor, Some(Err(_))) || matches!(reviewer, Some(Err(_)));
        let nothing = nobody || filter.topic.is_some();
        let reviewer = reviewer.and_then(std::result::Result::ok);
        let contributor = contributor.and_then(std::result::Result::ok);
        let prefix = match (filter.order, &contributor, filter.status) {
            (ChangeRequestOrder::UpdatedAt, _, _) => ChangeRequestRecord::by_update(space),
            (ChangeRequestOrder::CreatedAt, Some(user), _) => {
                ChangeRequestRecord::by_contributor(space, user)
            }
            (ChangeRequestOrder::CreatedAt, None, Some(status)) => {
                ChangeRequestRecord::by_status(space, status)
            }
            (ChangeRequestOrder::CreatedAt, None, None) => ChangeRequestRecord::by_space(space),
        };
        let identity = list_identities::change_requests(filter);
        let mut list = Lister::new(ListSpec { prefix, rev: true, identity }, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let keys = rows.iter().map(|(_, value)| request_key(value)).collect::<Result<Vec<Key>>>()?;
            let found = tx.get_many::<ChangeRequestRecord>(&keys).await?;
            let found = keep_waiting_for(&tx, found, reviewer.as_ref()).await?;
            let fits = |request: &Arc<ChangeRequestRecord>| {
                !nothing
                    && filter.status.is_none_or(|status| status == request.status)
                    && contributor.as_ref().is_none_or(|user| request.contributors.contains(user))
                    && filter.creator.as_ref().is_none_or(|user| user == request.created_by.as_str())
            };
            let fitting = rows
                .iter()
                .zip(found)
                .map(|((row, _), request)| request.filter(fits).map(|request| (row.clone(), request)));
            list.offer_all(&rows, fitting);
        }
        let RequestFilter { status, order, .. } = *filter;
        let counted = *filter == RequestFilter { status, order, ..RequestFilter::default() };
        let count = match counted {
            true => {
                u64::try_from(tx.number(&ChangeRequestRecord::count_in(space, filter.status)).await?).ok()
            }
            false => None,
        };
        let cursors = list.cursors();
        let page = list.finish(&tx, count).await?;
        let (rows, mut requests): (Vec<Key>, Vec<_>) = page.items.into_iter().unzip();
        let mut bytes = 0_usize;
        let fitting = requests.iter().take_while(|request: &&Arc<ChangeRequestRecord>| {
            let is_first = bytes == 0;
            bytes += request.description.len();
            is_first || bytes <= MAX_LISTED_DESCRIPTION_BYTES
        });
        let shown = fitting.count();
        requests.truncate(shown);
        let items = platform.request_views(&tx, actor, access.space(), &requests).await?;
        Ok(Page { items, next: cursors.next(&rows, shown, page.next), count: page.count })
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
        let reader = platform.reader_of_history(&tx, actor, space).await?;
        let request = platform.read_request_view(&tx, &reader, space, name).await?;
        Ok(if reader == *actor { request } else { request.without_email() })
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
        let description = change.description.as_ref().map(stored_description).transpose()?;
        let new_links: Vec<ChangeRequestLinkId> =
            change.links.iter().flat_map(|links| links.iter()).map(|_| platform.id()).collect();
        let sent =
            SentMetadata { change: &change, description: description.as_deref(), new_links: &new_links };
        let operation = change_request_update(actor, space, name, &sent, &job, now);
        platform.write_request(actor, &operation, space, name).await
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

    /// Builds the views of change requests of one space.
    pub(in crate::platform) async fn request_views(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceRecord,
        requests: &[Arc<ChangeRequestRecord>],
    ) -> Result<Vec<ChangeRequest>> {
        let merged: Vec<Key> = requests
            .iter()
            .filter_map(|request| Some(RevisionRecord::key_for(&request.space, request.merged.as_ref()?)))
            .collect();
        let mut merges = tx.get_many::<RevisionRecord>(&merged).await?.into_iter();
        let merges: Vec<Option<Arc<RevisionRecord>>> = requests
            .iter()
            .map(|request| request.merged.as_ref().and_then(|_| merges.next().flatten()))
            .collect();
        let creators = requests.iter().map(|request| &request.created_by);
        let users: Vec<UserId> =
            creators.chain(merges.iter().flatten().map(|merge| &merge.by)).cloned().collect();
        let mut users = self.visible_users(tx, (actor, &space.organization), &users).await?;
        let mut mergers = users.split_off(requests.len()).into_iter();
        let counters: Vec<Key> =
            requests.iter().map(|request| counter(request.id.as_str(), "comments")).collect();
        let comments = tx.numbers(&counters).await?;
        let shown = requests.iter().zip(merges).zip(users).zip(comments);
        let shown = shown.map(|(((request, merge), created_by), comments)| {
            let (location, app) = self.urls().change_request(&space.id, &request.id, request.number);
            let description = match request.description.is_empty() {
                true => None,
                false => Some(ShortDocument::parse(&request.description)?),
            };
            Ok(ChangeRequest {
                object: ChangeRequestObject::Is,
                id: request.id.clone(),
                number: request.number,
                status: request.status,
                subject: request.subject.clone(),
                description,
                created_by,
                created_at: request.created_at,
                updated_at: request.updated_at,
                merged_by: merge.as_ref().and_then(|_| mergers.next()),
                merged_at: merge.map(|merge| merge.created_at),
                space: space.id.clone(),
                revision: request.head.clone(),
                revision_initial: request.initial.clone(),
                revision_merged_ancestor: request.ancestor.clone(),
                revision_merged: request.merged.clone(),
                comments: u64::try_from(comments).unwrap_or(0),
                outdated: is_outdated(space, request),
                links: request.links.clone(),
                urls: ChangeRequestUrls { app, location },
            })
        });
        shown.collect()
    }
}

/// Removes the change requests without a pending review request for a user.
pub(in crate::platform) async fn keep_waiting_for(
    tx: &Tx,
    requests: Vec<Option<Arc<ChangeRequestRecord>>>,
    reviewer: Option<&UserId>,
) -> Result<Vec<Option<Arc<ChangeRequestRecord>>>> {
    let Some(reviewer) = reviewer else { return Ok(requests) };
    let present = requests.iter().flatten();
    let keys: Vec<Key> =
        present.map(|request| RequestedReviewerRecord::key_for(&request.id, reviewer)).collect();
    let mut waiting = tx.get_many::<RequestedReviewerRecord>(&keys).await?.into_iter();
    let keep =
        |request: Option<Arc<ChangeRequestRecord>>| request.filter(|_| waiting.next().flatten().is_some());
    Ok(requests.into_iter().map(keep).collect())
}

/// Returns `true` if an editable change request is outdated, because its space has changed.
pub(in crate::platform) fn is_outdated(space: &SpaceRecord, request: &ChangeRequestRecord) -> bool {
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

pub(in crate::platform) fn request_key(value: &Value) -> Result<Key> {
    Ok(ChangeRequestRecord::key_for(&linked_id::<ChangeRequestId>(value)?))
}

/// Publishes a head change of the request on the feed.
pub(in crate::platform) fn feed_head(tx: &mut Tx, request: &ChangeRequestRecord) {
    tx.feed(topic::HEAD, KeyBuf::new("head").part(request.space.as_str()).part(request.id.as_str()).key());
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
        description: String::new(),
        links: ChangeRequestLinks::default(),
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

/// An update of a change request, with the values computed before its transaction.
struct SentMetadata<'c> {
    change: &'c UpdateChangeRequest,
    description: Option<&'c str>,
    /// An id for each link.
    new_links: &'c [ChangeRequestLinkId],
}

/// Checks the description in a request, and returns its stored form.
pub(in crate::platform) fn stored_description(sent: &Document) -> Result<String> {
    ShortDocument::new(sent, "description", MAX_DESCRIPTION_BYTES).map(|document| document.json)
}

/// Returns `true` if a change request has a description with content.
pub(in crate::platform) fn has_description(request: &ChangeRequestRecord) -> bool {
    let text = ShortDocument::parse(&request.description).ok().and_then(|of| document::print(&of).ok());
    text.is_some_and(|text| !text.trim().is_empty())
}

/// Replaces the links of a change request. Links with the id of an existing link keep it.
fn updated_links(
    old: &[ChangeRequestLink],
    sent: &[ChangeRequestLinkInput],
    ids: &[ChangeRequestLinkId],
) -> Result<ChangeRequestLinks> {
    let mut links: Vec<ChangeRequestLink> = Vec::with_capacity(sent.len());
    for (at, (link, new)) in sent.iter().zip(ids).enumerate() {
        let field = || format!("links[{at}].id");
        if link.id.as_ref().is_some_and(|id| !old.iter().any(|old| old.id == *id)) {
            return Err(Error::invalid(
                &field(),
                "must be the id of a link of the change request, or omitted",
            ));
        }
        let id = link.id.as_ref().unwrap_or(new).clone();
        if links.iter().any(|link| link.id == id) {
            return Err(Error::invalid(&field(), "must not occur twice"));
        }
        links.push(ChangeRequestLink { id, reference: link.reference.clone(), title: link.title.clone() });
    }
    ChangeRequestLinks::new(links).map_err(|error| Error::invalid("links", error))
}

/// Changes a change request; `job` unblocks work that waits for the request.
#[operation("change_request_update")]
async fn change_request_update(
    tx: &mut Tx,
    actor: &Actor,
    space: &SpaceId,
    name: &str,
    sent: &SentMetadata<'_>,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let access = access::space(tx, actor, space).await?;
    access.require(SpaceAction::Edit)?;
    let old = find(tx, space, name).await?;
    require_own(&access, actor, &old)?;
    let mut new = ChangeRequestRecord::clone(&old);
    let change = sent.change;
    if let Some(status) = change.status {
        if old.status == ChangeRequestStatus::Merged {
            return Err(Error::conflict("status: cannot change after a merge"));
        }
        new.status = status.into();
    }
    new.subject = change.subject.clone().unwrap_or(new.subject);
    new.description = sent.description.map_or(new.description, str::to_owned);
    if let Some(links) = &change.links {
        new.links = updated_links(&old.links, links, sent.new_links)?;
    }
    if new != *old {
        new.updated_at = now.later_than(old.updated_at);
        let new = tx.put(&*old, new)?;
        if !is_editable(new.status) {
            git::resume_after_conflict(tx, access.space(), &new.id, job.clone(), now).await?;
        }
    }
    Ok(())
}
