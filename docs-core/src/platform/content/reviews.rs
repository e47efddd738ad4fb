//! Reviews of change requests, requested reviewers, and contributors.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use crate::{
    Error, ErrorKind, Result,
    model::{
        ChangeRequestStatus, CommentId, ContentFormat, Contributor, ContributorAction, RequestReviewers,
        RequestedReviewer, RequestedReviewerObject, RequestedReviewers, Review, ReviewId, ReviewObject,
        ReviewStatus, ReviewerKind, SpaceId, Subject, SubmitReview, Timestamp, UserId, UserUrls,
    },
    platform::{
        access::{self, AccessResolver},
        content::{
            change_requests::{find, require_editable, require_own, stored_description},
            comments::{
                CommentReader, CommentedContent, CurrentPages, delete_batch, parse_text, read_bounded,
            },
        },
        kernel::{actor::Actor, content_version::ContentVersion, platform::Platform, request::Right},
        nouns::{
            ChangeRequestHandle, RequestRef,
            filters::ReviewQuery,
            list_identities::{self, tag},
        },
    },
    policy::{OrgAccess, SpaceAction},
    store::{
        Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, ids_of,
        records::{
            ChangeRequestRecord, CommentRecord, MemberRecord, OrgRecord, Post, RequestedReviewerRecord,
            ReviewRecord, SpaceRecord,
        },
    },
};

/// Maximum number of requested reviewers per change request.
pub(in crate::platform) const MAX_REVIEWERS: i64 = 100;
/// Number of reviews and review requests removed per transaction.
const REVIEW_PURGE_BATCH: u32 = 100;

impl<'p> ChangeRequestHandle<'p> {
    /// Lists the submitted reviews of a change request, newest first. A reviewer may have submitted several.
    #[boxed]
    pub async fn list_reviews(self, query: ReviewQuery, page: &'p PageRequest) -> Result<Page<Review>> {
        let (platform, ref actor, of) = self.parts();
        let tx = platform.read().await?;
        let commented =
            CommentedContent::find(&tx, actor, &ContentVersion::request(of.space.clone(), of.request))
                .await?;
        let request = require_request(&commented)?;
        let identity = list_identities::reviews(query.outdated);
        let prefix = ReviewRecord::by_request(&request.id);
        let mut list = Lister::new(ListSpec { prefix, rev: true, identity }, page)?;
        let fits = |review: &Arc<ReviewRecord>| {
            query.outdated.is_none_or(|wanted| wanted == (review.revision != request.head))
        };
        while let Some(rows) = list.rows(&tx).await? {
            let ids = ids_of::<ReviewId>(&rows)?;
            let keys: Vec<Key> = ids.iter().map(|id| ReviewRecord::key_for(&request.id, id)).collect();
            let found = tx.get_many::<ReviewRecord>(&keys).await?;
            let items = rows.iter().zip(found);
            let items =
                items.map(|((row, _), review)| review.filter(fits).map(|review| (row.clone(), review)));
            list.offer_all(&rows, items);
        }
        let count = match query.outdated {
            None => u64::try_from(tx.number(&ReviewRecord::count_in(&request.id)).await?).ok(),
            Some(_) => None,
        };
        let cursors = list.cursors();
        let page = list.finish(&tx, count).await?;
        let (rows, records): (Vec<Key>, Vec<Arc<ReviewRecord>>) = page.items.into_iter().unzip();
        let reader = CommentReader { content: &commented, actor, format: query.format };
        let items = platform.review_views(&tx, reader, &records).await?;
        let next = cursors.next(&rows, items.len(), page.next);
        Ok(Page { items, next, count: page.count })
    }

    /// Reads a review of a change request.
    ///
    /// # Errors
    /// `NotFound`.
    #[boxed]
    pub async fn get_review(self, review: &'p ReviewId, format: ContentFormat) -> Result<Review> {
        let (platform, ref actor, of) = self.parts();
        let tx = platform.read().await?;
        let of = ContentVersion::request(of.space.clone(), of.request);
        platform.read_review_view(&tx, actor, &of, (review, format)).await
    }

    /// Submits a review of the current content of the change request.
    ///
    /// The review text becomes a comment on the request. A pending review request for this reviewer is fulfilled.
    ///
    /// # Errors
    /// `Forbidden` without the `review` role; `Conflict` for a merged or archived request; `Invalid` for an empty
    /// comment.
    #[boxed]
    pub async fn submit_review(self, new: SubmitReview) -> Result<Review> {
        let (platform, ref actor, of) = self.parts();
        let done =
            platform.idempotent(actor, Right::Space(of.space.clone(), SpaceAction::Review), async move {
                let by = actor.require_user()?;
                let text = new.comment.map(|comment| parse_text(&comment, "comment")).transpose()?;
                let (of, id) = (&ContentVersion::request(of.space.clone(), of.request), &platform.id());
                let comment = text.map(|text| (platform.id(), platform.new_post(by, text)));
                let (comment, now) = (comment.as_ref(), platform.now());
                let operation = review_submission(actor, by, of, id, new.status, comment, now);
                platform
                    .write_and_show(actor, &operation, |done| {
                        Box::pin(platform.read_review_view(
                            done.tx,
                            actor,
                            of,
                            (id, ContentFormat::default()),
                        ))
                    })
                    .await
            });
        done.await
    }

    /// Lists the users with a pending request to review a change request, in request order.
    #[boxed]
    pub async fn list_requested_reviewers(self, page: &'p PageRequest) -> Result<Page<RequestedReviewer>> {
        let (platform, ref actor, of) = self.parts();
        let tx = platform.read().await?;
        let access = access::space(&tx, actor, of.space).await?;
        let request = find(&tx, of.space, of.request).await?;
        let prefix = RequestedReviewerRecord::by_request(&request.id);
        let mut list = Lister::new(ListSpec::new(tag::REQUESTED_REVIEWERS, prefix), page)?;
        while let Some(rows) = list.rows(&tx).await? {
            list.offer_all(&rows, ids_of::<UserId>(&rows)?.into_iter().map(Some));
        }
        let count = tx.number(&RequestedReviewerRecord::count_in(&request.id)).await?;
        let page = list.finish(&tx, u64::try_from(count).ok()).await?;
        let items = platform.requested_views(&tx, actor, access.space(), &request, &page.items).await?;
        Ok(Page { items, next: page.next, count: page.count })
    }

    /// Requests reviews of a change request from members. A draft becomes open. Pending requests are left unchanged.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role; `Conflict` for a merged or archived request, or if it has the maximum
    /// number of requested reviewers; `Invalid` for a user who is not a member with permission to review the space's
    /// content.
    #[boxed]
    pub async fn request_reviewers(self, new: RequestReviewers) -> Result<RequestedReviewers> {
        let (platform, ref actor, of) = self.parts();
        let done =
            platform.idempotent(actor, Right::Space(of.space.clone(), SpaceAction::Edit), async move {
                let users = distinct(&new.users)?;
                let operation = RequestReviews {
                    actor: actor.clone(),
                    by: actor.require_user()?.clone(),
                    space: of.space.clone(),
                    request: of.request.to_owned(),
                    users,
                    subject: new.subject,
                    description: new.description.as_ref().map(stored_description).transpose()?,
                    now: platform.now(),
                };
                let asked: Vec<UserId> = operation.users.iter().map(|(_, user)| user.clone()).collect();
                platform
                    .write_and_show(actor, &operation, |done| {
                        Box::pin(platform.read_requested_reviewers(done.tx, actor, of, &asked))
                    })
                    .await
            });
        done.await
    }

    /// Withdraws the request for a user's review.
    ///
    /// Returns `false` if there was no request, or if the actor has no access to the change request.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role.
    #[boxed]
    pub async fn remove_requested_reviewer(self, user: &'p UserId) -> Result<bool> {
        let (platform, ref actor, of) = self.parts();
        let operation = cancel_review_request(actor, of.space, of.request, user);
        match platform.write(actor, &operation).await {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            done => done,
        }
    }

    /// Lists the users who edited a change request, in the order of their first edit.
    #[boxed]
    pub async fn list_contributors(self) -> Result<Page<Contributor>> {
        let (platform, ref actor, of) = self.parts();
        let tx = platform.read().await?;
        let access = access::space(&tx, actor, of.space).await?;
        let request = find(&tx, of.space, of.request).await?;
        let org = &access.space().organization;
        let users = platform.visible_users(&tx, (actor, org), &request.contributors).await?;
        let items: Vec<Contributor> = request
            .contributors
            .iter()
            .zip(users)
            .map(|(id, user)| {
                let seen = request.contributions.get(id);
                Contributor {
                    updated_at: seen.map_or(request.created_at, |seen| seen.at),
                    count: seen.map_or(1, |seen| seen.count),
                    user,
                    action_type: ContributorAction::Is,
                }
            })
            .collect();
        Ok(Page { count: Some(items.len() as u64), items, next: None })
    }
}

impl Platform {
    async fn read_review_view(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: &ContentVersion,
        (id, format): (&ReviewId, ContentFormat),
    ) -> Result<Review> {
        let commented = CommentedContent::find(tx, actor, of).await?;
        let key = ReviewRecord::key_for(&require_request(&commented)?.id, id);
        let record: Option<Arc<ReviewRecord>> = tx.get(&key).await?;
        let record = record.ok_or_else(|| Error::not_found("review"))?;
        let reader = CommentReader { content: &commented, actor, format };
        let shown = self.review_views(tx, reader, &[record]).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("review"))
    }

    async fn read_requested_reviewers(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: RequestRef<'_>,
        asked: &[UserId],
    ) -> Result<RequestedReviewers> {
        let access = access::space(tx, actor, of.space).await?;
        let request = find(tx, of.space, of.request).await?;
        let users = self.requested_views(tx, actor, access.space(), &request, asked).await?;
        Ok(RequestedReviewers { users })
    }

    /// Builds the views of reviews. Returns fewer views than records if their comments exceed the bound of a response,
    /// but always the first.
    pub(in crate::platform) async fn review_views(
        &self,
        tx: &Tx,
        reader: CommentReader<'_>,
        records: &[Arc<ReviewRecord>],
    ) -> Result<Vec<Review>> {
        let request = require_request(reader.content)?;
        let keys = records.iter().map(|record| record.comment.as_ref().map(CommentRecord::key_for));
        let comments = read_bounded(tx, keys, |of: &CommentRecord| &of.posted).await?;
        let records = &records[..comments.len()];
        let reviewers: Vec<UserId> = records.iter().map(|record| record.reviewer.clone()).collect();
        let of = (reader.actor, &reader.content.access.space().organization);
        let reviewers = self.visible_users(tx, of, &reviewers).await?;
        let askers: Vec<UserId> = records.iter().filter_map(|record| record.requested_by.clone()).collect();
        let mut askers = self.visible_users(tx, of, &askers).await?.into_iter();
        // Deleted comments are missing; the others are in order. Review comments do not refer to pages.
        let comments: Vec<Arc<CommentRecord>> = comments.into_iter().flatten().collect();
        let pages = CurrentPages::default();
        let comments = self.comment_views_with_pages(tx, reader, &comments, &pages).await?;
        let mut comments = comments.into_iter().peekable();
        let shown = records.iter().zip(reviewers).map(|(record, reviewer)| Review {
            object: ReviewObject::Is,
            id: record.id.clone(),
            revision: record.revision.clone(),
            reviewer,
            requested_by: record.requested_by.as_ref().and_then(|_| askers.next()),
            status: record.status,
            outdated: record.revision != request.head,
            comment: comments.next_if(|comment| record.comment.as_ref() == Some(&comment.id)),
            created_at: record.created_at,
            updated_at: record.created_at,
            urls: UserUrls { location: self.urls().review(&request.space, &request.id, &record.id) },
        });
        Ok(shown.collect())
    }

    /// Builds the views of users with a pending review request.
    async fn requested_views(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceRecord,
        request: &ChangeRequestRecord,
        users: &[UserId],
    ) -> Result<Vec<RequestedReviewer>> {
        let keys: Vec<Key> =
            users.iter().map(|user| RequestedReviewerRecord::key_for(&request.id, user)).collect();
        let records: Vec<Arc<RequestedReviewerRecord>> =
            tx.get_many(&keys).await?.into_iter().flatten().collect();
        let people: Vec<UserId> =
            records.iter().flat_map(|record| [record.user.clone(), record.requested_by.clone()]).collect();
        let people = self.visible_users(tx, (actor, &space.organization), &people).await?;
        let mut people = people.into_iter();
        let shown = records.iter().filter_map(|record| {
            let (user, requested_by) = (people.next()?, people.next()?);
            Some(RequestedReviewer {
                object: RequestedReviewerObject::Is,
                revision: record.revision.clone(),
                requested_by,
                created_at: record.created_at,
                kind: ReviewerKind::Is,
                user,
            })
        });
        Ok(shown.collect())
    }
}

/// Removes a batch of the comments, reviews and review requests of a change request. Returns `true` if there were any.
pub(in crate::platform) async fn delete_request_batch(
    tx: &mut Tx,
    request: &ChangeRequestRecord,
) -> Result<bool> {
    if delete_batch(tx, request.id.as_str()).await? {
        return Ok(true);
    }
    let reviews = tx.scan_prefix(&ReviewRecord::by_request(&request.id), REVIEW_PURGE_BATCH).await?;
    let keys: Vec<Key> =
        ids_of::<ReviewId>(&reviews)?.iter().map(|id| ReviewRecord::key_for(&request.id, id)).collect();
    tx.delete_all::<ReviewRecord>(&keys).await?;
    let asked = tx.scan_prefix(&RequestedReviewerRecord::by_request(&request.id), REVIEW_PURGE_BATCH).await?;
    let users = ids_of::<UserId>(&asked)?;
    let keys: Vec<Key> =
        users.iter().map(|user| RequestedReviewerRecord::key_for(&request.id, user)).collect();
    tx.delete_all::<RequestedReviewerRecord>(&keys).await?;
    Ok(!reviews.is_empty() || !asked.is_empty())
}

/// Deduplicates the requested users. Each is returned with its index.
fn distinct(users: &[String]) -> Result<Vec<(usize, UserId)>> {
    let (has, most) = (users.len(), RequestReviewers::MAX_USERS);
    if !(1..=most).contains(&has) {
        return Err(Error::invalid("users", format_args!("must be 1 to {most} users, has {has}")));
    }
    let mut seen = BTreeSet::new();
    let mut distinct = Vec::new();
    for (at, user) in users.iter().enumerate() {
        let user: UserId = user.parse().map_err(|_| unknown_reviewer(at))?;
        if seen.insert(user.clone()) {
            distinct.push((at, user));
        }
    }
    Ok(distinct)
}

fn unknown_reviewer(at: usize) -> Error {
    Error::invalid(&format!("users[{at}]"), "must be a member of the organization with access to the space")
}

/// Returns the change request that the reviews belong to.
fn require_request(commented: &CommentedContent) -> Result<&Arc<ChangeRequestRecord>> {
    commented.request.as_ref().ok_or_else(|| Error::not_found("change request"))
}

#[operation("review_submit")]
async fn review_submission(
    tx: &mut Tx,
    actor: &Actor,
    by: &UserId,
    of: &ContentVersion,
    id: &ReviewId,
    status: ReviewStatus,
    comment: Option<&(CommentId, Post)>,
    now: Timestamp,
) -> Result<()> {
    let commented = CommentedContent::find(tx, actor, of).await?;
    commented.access.require(SpaceAction::Review)?;
    let request = require_request(&commented)?;
    require_editable(request)?;
    let key = RequestedReviewerRecord::key_for(&request.id, by);
    let asked: Option<Arc<RequestedReviewerRecord>> = tx.get(&key).await?;
    if let Some(asked) = &asked {
        tx.delete(&**asked);
    }
    if let Some((comment, posted)) = comment {
        tx.create(CommentRecord {
            id: comment.clone(),
            scope: commented.scope(),
            posted: posted.clone(),
            resolved: None,
            revision: request.head.clone(),
            target: None,
            node: None,
            review: Some(id.clone()),
        });
    }
    tx.create(ReviewRecord {
        id: id.clone(),
        request: request.id.clone(),
        revision: request.head.clone(),
        reviewer: by.clone(),
        requested_by: asked.map(|asked| asked.requested_by.clone()),
        status,
        comment: comment.map(|(comment, _)| comment.clone()),
        created_at: now,
    });
    Ok(())
}

struct RequestReviews {
    actor: Actor,
    by: UserId,
    space: SpaceId,
    request: String,
    users: Vec<(usize, UserId)>,
    subject: Option<Subject>,
    /// The new description in its stored form.
    description: Option<String>,
    now: Timestamp,
}

impl RequestReviews {
    /// Rejects users who may not review the content.
    async fn check(&self, tx: &Tx, space: &Arc<SpaceRecord>) -> Result<()> {
        let org: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::key_for(&space.organization)).await?;
        let keys: Vec<Key> =
            self.users.iter().map(|(_, user)| MemberRecord::key_for(&space.organization, user)).collect();
        let members = tx.get_many::<MemberRecord>(&keys).await?;
        for ((at, user), member) in self.users.iter().zip(members) {
            let access = OrgAccess::for_member(org.clone(), member.as_deref());
            let mut resolver =
                AccessResolver::for_user(access.map_err(|_| unknown_reviewer(*at))?, Some(user.clone()));
            let sees = resolver.spaces(tx, vec![Some(Arc::clone(space))]).await?;
            let access = sees.into_iter().flatten().next().ok_or_else(|| unknown_reviewer(*at))?;
            if access.require(SpaceAction::Review).is_err() {
                let why = "must have the role `review` on the space";
                return Err(Error::invalid(&format!("users[{at}]"), why));
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Operation for RequestReviews {
    type Output = ();
    const NAME: &'static str = "reviewers_ask";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::space(tx, &self.actor, &self.space).await?;
        access.require(SpaceAction::Edit)?;
        let old = find(tx, &self.space, &self.request).await?;
        require_editable(&old)?;
        self.check(tx, access.space()).await?;
        let keys: Vec<Key> =
            self.users.iter().map(|(_, user)| RequestedReviewerRecord::key_for(&old.id, user)).collect();
        let known = tx.get_many::<RequestedReviewerRecord>(&keys).await?;
        let mut waiting = tx.number(&RequestedReviewerRecord::count_in(&old.id)).await?;
        for ((_, user), known) in self.users.iter().zip(known) {
            if known.is_some() {
                continue;
            }
            if waiting >= MAX_REVIEWERS {
                return Err(Error::conflict(format!(
                    "users: at most {MAX_REVIEWERS} reviewers can be requested for a change request"
                )));
            }
            waiting += 1;
            tx.create(RequestedReviewerRecord {
                request: old.id.clone(),
                user: user.clone(),
                requested_by: self.by.clone(),
                revision: old.head.clone(),
                created_at: self.now,
            });
        }
        let mut new = ChangeRequestRecord::clone(&old);
        // Any editor may open the request this way. Changing its subject or description requires the permissions of
        // its creator or of a reviewer.
        new.status = ChangeRequestStatus::Open;
        new.subject = self.subject.clone().unwrap_or(new.subject);
        new.description = self.description.clone().unwrap_or(new.description);
        if (&new.subject, &new.description) != (&old.subject, &old.description) {
            require_own(&access, &self.actor, &old)?;
        }
        if new != *old {
            new.updated_at = self.now.later_than(old.updated_at);
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

/// Withdraws a review request. `Output` is `true` if there was one.
#[operation("reviewer_unask")]
async fn cancel_review_request(
    tx: &mut Tx,
    actor: &Actor,
    space: &SpaceId,
    request: &str,
    user: &UserId,
) -> Result<bool> {
    access::space(tx, actor, space).await?.require(SpaceAction::Edit)?;
    let request = find(tx, space, request).await?;
    require_editable(&request)?;
    let key = RequestedReviewerRecord::key_for(&request.id, user);
    let asked: Option<Arc<RequestedReviewerRecord>> = tx.get(&key).await?;
    if let Some(asked) = &asked {
        tx.delete(&**asked);
    }
    Ok(asked.is_some())
}
