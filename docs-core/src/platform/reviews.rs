//! Reviews of change requests, who was asked for one, and who contributed.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;

use super::{
    Actor, ContentOf, Platform,
    access::{self, Sight},
    change_requests::{find, require_living, require_own},
    comments::{PagesNow, Place, Reader, drop_some, text_of},
    people::later,
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    model::{
        ChangeRequestStatus, CommentId, ContentFormat, Contributor, RequestReviewers, RequestedReviewer,
        RequestedReviewerObject, RequestedReviewers, Review, ReviewId, ReviewObject, ReviewStatus,
        ReviewerKind, SpaceId, Subject, SubmitReview, Timestamp, UserId,
    },
    policy::{OrgAccess, SpaceAction},
    store::{
        Key, ListSpec, Lister, Operation, Page, PageRequest, Tx, ids_of,
        records::{
            ChangeRequestRecord, CommentRecord, MemberRecord, OrgRecord, Posted, RequestedReviewerRecord,
            ReviewRecord, SpaceRecord,
        },
    },
};

/// Most people that one request asks.
const MAX_USERS: usize = 50;
/// Most people that a change request waits for.
const MAX_REVIEWERS: i64 = 100;
/// Reviews that one transaction removes, and as many requests for one.
const DROP_CHUNK: u32 = 100;

impl Platform {
    /// Lists the reviews of a change request, the newest first: every one that was submitted, later ones of the same
    /// reviewer included.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_reviews<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a SpaceId, &'a str),
        format: ContentFormat,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<Review>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let place = Place::find(&tx, actor, &ContentOf::request(of.0.clone(), of.1)).await?;
            let request = request_of(&place)?;
            let prefix = ReviewRecord::of_request(&request.id);
            let mut list = Lister::new(ListSpec { prefix, rev: true, filters: String::new() }, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                let ids = ids_of::<ReviewId>(&rows)?;
                list.offer_all(&rows, ids.iter().map(|id| Some(ReviewRecord::at(&request.id, id))));
            }
            let count = u64::try_from(tx.number(&ReviewRecord::count_in(&request.id)).await?).ok();
            let page = list.finish(&tx, count).await?;
            let records: Vec<Arc<ReviewRecord>> =
                tx.get_many(&page.items).await?.into_iter().flatten().collect();
            let items = self.review_views(&tx, Reader { place: &place, actor, format }, &records).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Submits a review of what the change request is now. What the reviewer says becomes a comment of the request.
    /// Whoever was asked for the review is not waited for any more.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `review`; `Conflict` for a request that is merged or archived;
    /// `Invalid` for an empty comment.
    ///
    /// # Cancel safety
    /// Dropping the future leaves review and comment submitted, or neither.
    pub fn submit_review<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a SpaceId, &'a str),
        new: SubmitReview,
    ) -> BoxFuture<'a, Result<Review>> {
        Box::pin(self.once(actor, async move {
            let by = actor.require_user()?;
            let text = new.comment.map(|comment| text_of(&comment, "comment")).transpose()?;
            let operation = Submit {
                actor: actor.clone(),
                by: by.clone(),
                of: ContentOf::request(of.0.clone(), of.1),
                id: self.id(),
                status: new.status,
                comment: text.map(|text| (self.id(), self.posted(by, text))),
                now: self.now(),
            };
            let (of, id) = (&operation.of, &operation.id);
            self.write_and_show(actor, &operation, |done| Box::pin(self.review_seen(done.tx, actor, of, id)))
                .await
        }))
    }

    async fn review_seen(&self, tx: &Tx, actor: &Actor, of: &ContentOf, id: &ReviewId) -> Result<Review> {
        let place = Place::find(tx, actor, of).await?;
        let key = ReviewRecord::at(&request_of(&place)?.id, id);
        let record: Option<Arc<ReviewRecord>> = tx.get(&key).await?;
        let record = record.ok_or_else(|| Error::not_found("review"))?;
        let reader = Reader { place: &place, actor, format: ContentFormat::default() };
        let shown = self.review_views(tx, reader, &[record]).await?;
        shown.into_iter().next().ok_or_else(|| Error::not_found("review"))
    }

    /// Lists those who were asked to review a change request and have not yet, in the order in which they were asked.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_requested_reviewers<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a SpaceId, &'a str),
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<RequestedReviewer>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::space(&tx, actor, of.0).await?;
            let request = find(&tx, of.0, of.1).await?;
            let prefix = RequestedReviewerRecord::of_request(&request.id);
            let mut list = Lister::new(ListSpec { prefix, rev: false, filters: String::new() }, page)?;
            while let Some(rows) = list.rows(&tx).await? {
                list.offer_all(&rows, ids_of::<UserId>(&rows)?.into_iter().map(Some));
            }
            let count = tx.number(&RequestedReviewerRecord::count_in(&request.id)).await?;
            let page = list.finish(&tx, u64::try_from(count).ok()).await?;
            let items = self.requested_views(&tx, &request, &page.items).await?;
            Ok(Page { items, next: page.next, count: page.count })
        })
    }

    /// Asks members to review a change request; a draft becomes open by it. Who was asked before is left as it was.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` without the role `edit`; `Conflict` for a request that is merged or archived, or that
    /// waits for 100 people; `Invalid` for a user who is no member that may see the space.
    ///
    /// # Cancel safety
    /// Dropping the future leaves all of them asked or nobody.
    pub fn request_reviewers<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a SpaceId, &'a str),
        new: RequestReviewers,
    ) -> BoxFuture<'a, Result<RequestedReviewers>> {
        Box::pin(self.once(actor, async move {
            let users = distinct(&new.users)?;
            let operation = Ask {
                actor: actor.clone(),
                by: actor.require_user()?.clone(),
                of: (of.0.clone(), of.1.to_owned()),
                users,
                subject: new.subject,
                now: self.now(),
            };
            let asked: Vec<UserId> = operation.users.iter().map(|(_, user)| user.clone()).collect();
            self.write_and_show(actor, &operation, |done| {
                Box::pin(self.asked_seen(done.tx, actor, of, &asked))
            })
            .await
        }))
    }

    async fn asked_seen(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: (&SpaceId, &str),
        asked: &[UserId],
    ) -> Result<RequestedReviewers> {
        access::space(tx, actor, of.0).await?;
        let request = find(tx, of.0, of.1).await?;
        Ok(RequestedReviewers { users: self.requested_views(tx, &request, asked).await? })
    }

    /// Waits for somebody's review no longer. Answers whether it did: where nobody was asked, and where the actor may
    /// not see the request, nothing is wrong.
    ///
    /// # Errors
    /// `Forbidden` without the role `edit`.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the person asked or not.
    pub fn remove_requested_reviewer<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a SpaceId, &'a str),
        user: &'a UserId,
    ) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let operation =
                Unask { actor: actor.clone(), of: (of.0.clone(), of.1.to_owned()), user: user.clone() };
            match self.write(actor, &operation).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                done => done,
            }
        })
    }

    /// Lists who changed a change request, in the order of the first time.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn list_contributors<'a>(
        &'a self,
        actor: &'a Actor,
        of: (&'a SpaceId, &'a str),
    ) -> BoxFuture<'a, Result<Page<Contributor>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            access::space(&tx, actor, of.0).await?;
            let request = find(&tx, of.0, of.1).await?;
            let users = self.user_views(&tx, &request.contributors).await?;
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
                    }
                })
                .collect();
            Ok(Page { count: Some(items.len() as u64), items, next: None })
        })
    }

    async fn review_views(
        &self,
        tx: &Tx,
        reader: Reader<'_>,
        records: &[Arc<ReviewRecord>],
    ) -> Result<Vec<Review>> {
        let request = request_of(reader.place)?;
        let reviewers: Vec<UserId> = records.iter().map(|record| record.reviewer.clone()).collect();
        let reviewers = self.user_views(tx, &reviewers).await?;
        let askers: Vec<UserId> = records.iter().filter_map(|record| record.requested_by.clone()).collect();
        let mut askers = self.user_views(tx, &askers).await?.into_iter();
        let said: Vec<&CommentId> = records.iter().filter_map(|record| record.comment.as_ref()).collect();
        let keys: Vec<Key> = said.iter().map(|id| CommentRecord::at(id)).collect();
        let comments: Vec<Arc<CommentRecord>> = tx.get_many(&keys).await?.into_iter().flatten().collect();
        // Those that were deleted are missing, the others are in order. What a reviewer says is about no page.
        let pages = PagesNow::default();
        let comments = self.comments_beside(tx, reader, &comments, &pages).await?;
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
        });
        Ok(shown.collect())
    }

    /// Shows those of the users who are waited for.
    async fn requested_views(
        &self,
        tx: &Tx,
        request: &ChangeRequestRecord,
        users: &[UserId],
    ) -> Result<Vec<RequestedReviewer>> {
        let keys: Vec<Key> =
            users.iter().map(|user| RequestedReviewerRecord::at(&request.id, user)).collect();
        let records: Vec<Arc<RequestedReviewerRecord>> =
            tx.get_many(&keys).await?.into_iter().flatten().collect();
        let people: Vec<UserId> =
            records.iter().flat_map(|record| [record.user.clone(), record.requested_by.clone()]).collect();
        let mut people = self.user_views(tx, &people).await?.into_iter();
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

/// Removes some of what people said and were asked of a change request; tells whether there was anything.
pub(super) async fn drop_some_of_request(tx: &mut Tx, request: &ChangeRequestRecord) -> Result<bool> {
    if drop_some(tx, request.id.as_str()).await? {
        return Ok(true);
    }
    let reviews = tx.below(&ReviewRecord::of_request(&request.id), DROP_CHUNK).await?;
    let keys: Vec<Key> =
        ids_of::<ReviewId>(&reviews)?.iter().map(|id| ReviewRecord::at(&request.id, id)).collect();
    tx.delete_all::<ReviewRecord>(&keys).await?;
    let asked = tx.below(&RequestedReviewerRecord::of_request(&request.id), DROP_CHUNK).await?;
    let users = ids_of::<UserId>(&asked)?;
    let keys: Vec<Key> = users.iter().map(|user| RequestedReviewerRecord::at(&request.id, user)).collect();
    tx.delete_all::<RequestedReviewerRecord>(&keys).await?;
    Ok(!reviews.is_empty() || !asked.is_empty())
}

/// The users of a request, each once, with their place in it.
fn distinct(users: &[String]) -> Result<Vec<(usize, UserId)>> {
    if users.is_empty() || users.len() > MAX_USERS {
        let has = users.len();
        return Err(Error::invalid("users", format_args!("must be 1 to {MAX_USERS} users, has {has}")));
    }
    let mut seen = BTreeSet::new();
    let mut distinct = Vec::new();
    for (at, user) in users.iter().enumerate() {
        let user: UserId = user.parse().map_err(|_| no_reviewer(at))?;
        if seen.insert(user.clone()) {
            distinct.push((at, user));
        }
    }
    Ok(distinct)
}

fn no_reviewer(at: usize) -> Error {
    Error::invalid(&format!("users[{at}]"), "no member of the organization who may see the space has this id")
}

/// The change request of a place.
fn request_of(place: &Place) -> Result<&Arc<ChangeRequestRecord>> {
    place.request.as_ref().ok_or_else(|| Error::not_found("change request"))
}

struct Submit {
    actor: Actor,
    by: UserId,
    of: ContentOf,
    id: ReviewId,
    status: ReviewStatus,
    comment: Option<(CommentId, Posted)>,
    now: Timestamp,
}

#[async_trait]
impl Operation for Submit {
    type Out = ();
    const NAME: &'static str = "review_submit";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let place = Place::find(tx, &self.actor, &self.of).await?;
        place.access.require(SpaceAction::Review)?;
        let request = request_of(&place)?;
        require_living(request)?;
        let key = RequestedReviewerRecord::at(&request.id, &self.by);
        let asked: Option<Arc<RequestedReviewerRecord>> = tx.get(&key).await?;
        if let Some(asked) = &asked {
            tx.delete(&**asked);
        }
        if let Some((id, posted)) = &self.comment {
            tx.create(CommentRecord {
                id: id.clone(),
                board: place.board(),
                posted: posted.clone(),
                resolved: None,
                revision: request.head.clone(),
                target: None,
                review: Some(self.id.clone()),
            });
        }
        tx.create(ReviewRecord {
            id: self.id.clone(),
            request: request.id.clone(),
            revision: request.head.clone(),
            reviewer: self.by.clone(),
            requested_by: asked.map(|asked| asked.requested_by.clone()),
            status: self.status,
            comment: self.comment.as_ref().map(|(id, _)| id.clone()),
            created_at: self.now,
        });
        Ok(())
    }
}

struct Ask {
    actor: Actor,
    by: UserId,
    of: (SpaceId, String),
    users: Vec<(usize, UserId)>,
    subject: Option<Subject>,
    now: Timestamp,
}

impl Ask {
    /// Refuses those who could not see what they are asked to review.
    async fn check(&self, tx: &Tx, space: &Arc<SpaceRecord>) -> Result<()> {
        let org: Option<Arc<OrgRecord>> = tx.get(&OrgRecord::at(&space.organization)).await?;
        let keys: Vec<Key> =
            self.users.iter().map(|(_, user)| MemberRecord::at(&space.organization, user)).collect();
        let members = tx.get_many::<MemberRecord>(&keys).await?;
        for ((at, user), member) in self.users.iter().zip(members) {
            let access = OrgAccess::of_member(org.clone(), member.as_deref());
            let mut sight = Sight::of(access.map_err(|_| no_reviewer(*at))?, Some(user.clone()));
            let sees = sight.spaces(tx, vec![Some(Arc::clone(space))]).await?;
            sees.into_iter().flatten().next().ok_or_else(|| no_reviewer(*at))?;
        }
        Ok(())
    }
}

#[async_trait]
impl Operation for Ask {
    type Out = ();
    const NAME: &'static str = "reviewers_ask";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let access = access::space(tx, &self.actor, &self.of.0).await?;
        access.require(SpaceAction::Edit)?;
        let old = find(tx, &self.of.0, &self.of.1).await?;
        require_living(&old)?;
        self.check(tx, access.space()).await?;
        let keys: Vec<Key> =
            self.users.iter().map(|(_, user)| RequestedReviewerRecord::at(&old.id, user)).collect();
        let known = tx.get_many::<RequestedReviewerRecord>(&keys).await?;
        let mut waiting = tx.number(&RequestedReviewerRecord::count_in(&old.id)).await?;
        for ((_, user), known) in self.users.iter().zip(known) {
            if known.is_some() {
                continue;
            }
            if waiting >= MAX_REVIEWERS {
                return Err(Error::conflict(format!(
                    "users: the change request waits for {MAX_REVIEWERS} people already"
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
        // Asking opens the request, whoever of its editors asks; its subject is its creator's.
        new.status = ChangeRequestStatus::Open;
        if let Some(subject) = self.subject.clone().filter(|subject| *subject != new.subject) {
            require_own(&access, &self.actor, &old)?;
            new.subject = subject;
        }
        if new != *old {
            new.updated_at = later(self.now, old.updated_at);
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

/// Takes back that somebody was asked; `Out` tells whether they were.
struct Unask {
    actor: Actor,
    of: (SpaceId, String),
    user: UserId,
}

#[async_trait]
impl Operation for Unask {
    type Out = bool;
    const NAME: &'static str = "reviewer_unask";

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        access::space(tx, &self.actor, &self.of.0).await?.require(SpaceAction::Edit)?;
        let request = find(tx, &self.of.0, &self.of.1).await?;
        require_living(&request)?;
        let key = RequestedReviewerRecord::at(&request.id, &self.user);
        let asked: Option<Arc<RequestedReviewerRecord>> = tx.get(&key).await?;
        if let Some(asked) = &asked {
            tx.delete(&**asked);
        }
        Ok(asked.is_some())
    }
}
