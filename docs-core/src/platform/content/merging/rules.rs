//! Enforcement of merge rules.

use std::{collections::BTreeMap, sync::Arc};

use docs_expression::{Budget, Context, MAX_STEPS};
use serde_json::Value;

use crate::{
    Error, Result,
    model::{MergeRule, OrganizationMergeRules, ReviewId, ReviewStatus, SpaceMergeRules, UserId},
    platform::{
        content::{
            change_requests::{has_description, is_outdated},
            comments::{CommentReader, CommentedContent},
        },
        kernel::{actor::Actor, platform::Platform},
    },
    policy::SpaceAccess,
    store::{
        Batches, Key, MAX_SCAN, Tx, ids_of,
        records::{ChangeRequestRecord, OrgRecord, ReviewRecord},
    },
};

/// Maximum number of users that the message for an unmet rule names.
const NAMED_USERS: usize = 5;

/// Checks that the actor may merge a change request under the merge rules in effect for its space.
///
/// # Errors
/// `Conflict` with the rules that are not met, unless a rule exempts the actor.
pub(super) async fn require_merge_rules(
    platform: &Platform,
    tx: &Tx,
    actor: &Actor,
    access: &SpaceAccess,
    request: &Arc<ChangeRequestRecord>,
) -> Result<()> {
    let user = actor.require_user()?;
    let space = access.space();
    let org: Option<Arc<OrgRecord>> = match &space.merge_rules {
        SpaceMergeRules::Inherit => tx.get(&OrgRecord::key_for(&space.organization)).await?,
        SpaceMergeRules::None | SpaceMergeRules::Rules { .. } => None,
    };
    let inherited = org.as_ref().map_or(&OrganizationMergeRules::None, |org| &org.merge_rules);
    let rules = space.merge_rules.in_effect(inherited);
    let may_bypass =
        |rule: &MergeRule| matches!(rule, MergeRule::AllowBypass { users } if users.contains(user));
    if rules.is_empty() || rules.iter().any(may_bypass) {
        return Ok(());
    }
    let reviews = latest_reviews(tx, request).await?;
    let context = match rules.iter().any(|rule| matches!(rule, MergeRule::Custom { .. })) {
        true => platform.merge_context(tx, actor, access, request, &reviews).await?,
        false => Context::empty(),
    };
    let is_outdated = is_outdated(space, request);
    let mut candidate =
        MergeCandidate { request, is_outdated, user, reviews: &reviews, context, budget: Budget(MAX_STEPS) };
    let unmet: Vec<String> = rules.iter().filter_map(|rule| candidate.unmet(rule)).collect();
    match unmet.is_empty() {
        true => Ok(()),
        false => Err(Error::conflict(format!("mergeRules: {}", unmet.join("; ")))),
    }
}

/// Reads the latest review of each reviewer, in the order of their ids.
async fn latest_reviews(tx: &Tx, request: &ChangeRequestRecord) -> Result<Vec<Arc<ReviewRecord>>> {
    let mut latest: BTreeMap<UserId, Arc<ReviewRecord>> = BTreeMap::new();
    let mut batches = Batches::of(ReviewRecord::by_request(&request.id).scan(MAX_SCAN));
    while let Some(rows) = batches.next(tx).await? {
        let ids = ids_of::<ReviewId>(&rows)?;
        let keys: Vec<Key> = ids.iter().map(|id| ReviewRecord::key_for(&request.id, id)).collect();
        let records = tx.get_many::<ReviewRecord>(&keys).await?;
        latest.extend(records.into_iter().flatten().map(|review| (review.reviewer.clone(), review)));
    }
    Ok(latest.into_values().collect())
}

impl Platform {
    /// Returns the names that custom rules can read.
    async fn merge_context(
        &self,
        tx: &Tx,
        actor: &Actor,
        access: &SpaceAccess,
        request: &Arc<ChangeRequestRecord>,
        reviews: &[Arc<ReviewRecord>],
    ) -> Result<Context> {
        let (user, space) = (actor.require_user()?.clone(), access.space());
        let user = self.visible_users(tx, (actor, &space.organization), &[user]).await?.pop();
        let shown = self.space_views(tx, std::slice::from_ref(access)).await?.pop();
        let requests = self.request_views(tx, actor, space, std::slice::from_ref(request)).await?;
        let content = CommentedContent { access: access.clone(), request: Some(Arc::clone(request)) };
        let reader = CommentReader { content: &content, actor, format: Default::default() };
        // Without comments, the reviews never exceed the bound of a response.
        let plain =
            reviews.iter().map(|review| ReviewRecord { comment: None, ..ReviewRecord::clone(review) });
        let plain: Vec<_> = plain.map(Arc::new).collect();
        let reviews = self.review_views(tx, reader, &plain).await?;
        let json = |value: serde_json::Result<Value>| value.map_err(Error::internal);
        Ok(Context::empty()
            .with_value("space", &json(serde_json::to_value(shown))?)
            .with_value("changeRequest", &json(serde_json::to_value(requests.first()))?)
            .with_value("reviews", &json(serde_json::to_value(reviews))?)
            .with_value("actor", &json(serde_json::to_value(user))?))
    }
}

/// A change request that a user attempts to merge.
struct MergeCandidate<'a> {
    request: &'a ChangeRequestRecord,
    is_outdated: bool,
    user: &'a UserId,
    /// The latest review of each reviewer.
    reviews: &'a [Arc<ReviewRecord>],
    context: Context,
    /// The steps that all custom rules together may take.
    budget: Budget,
}

impl MergeCandidate<'_> {
    /// Returns the requirement of a rule that is not met.
    fn unmet(&mut self, rule: &MergeRule) -> Option<String> {
        let (request, others) = (self.request, |review: &&ReviewRecord| self.is_by_other(review));
        let (is_met, requirement) = match rule {
            MergeRule::AllowBypass { .. } => return None,
            MergeRule::Custom { expression, message } => {
                let value = expression.expression().evaluate_within(&self.context, &mut self.budget);
                return match (value, message) {
                    (Ok(value), _) if value.is_truthy() => None,
                    (_, Some(message)) => Some(message.to_string()),
                    (Ok(_), None) => Some(format!("`{expression}` must be true")),
                    (Err(error), None) => Some(format!("`{expression}` must be true, but {error}")),
                };
            }
            MergeRule::RequireSpecificReviewers { users } => {
                let missing: Vec<&UserId> = users.iter().filter(|user| !self.is_approved_by(user)).collect();
                let named = named(&missing);
                (missing.is_empty(), format!("the current content must be approved by {named}"))
            }
            MergeRule::RequireOneOfSpecificReviewers { users } => {
                let named = named(&users.iter().collect::<Vec<_>>());
                let is_met = users.iter().any(|user| self.is_approved_by(user));
                (is_met, format!("the current content must be approved by one of {named}"))
            }
            MergeRule::RequireAtLeastOneReview => (
                self.reviews().filter(others).any(|review| self.is_current(review)),
                "the current content must be reviewed by a user other than its creator".to_owned(),
            ),
            MergeRule::RequireAtLeastOneApprovedReview => (
                self.reviews().filter(others).any(|review| self.approves(review)),
                "the current content must be approved by a user other than its creator".to_owned(),
            ),
            MergeRule::RequireAllReviewsApproved => {
                let open = self.reviews().filter(|review| !self.approves(review));
                let open: Vec<&UserId> = open.map(|review| &review.reviewer).collect();
                let named = named(&open);
                (
                    open.is_empty(),
                    format!("all reviews must approve the current content, also those by {named}"),
                )
            }
            MergeRule::RequireUpToDateChangeRequest => (
                !self.is_outdated,
                "the change request must be updated with the latest content of the space".to_owned(),
            ),
            MergeRule::RequireChangeRequestSubject => {
                (!request.subject.trim().is_empty(), "the change request must have a subject".to_owned())
            }
            MergeRule::RequireChangeRequestDescription => {
                (has_description(request), "the change request must have a description".to_owned())
            }
            MergeRule::RequireAuthorToMerge => (
                *self.user == request.created_by,
                "the creator of the change request must merge it".to_owned(),
            ),
        };
        (!is_met).then_some(requirement)
    }

    fn reviews(&self) -> impl Iterator<Item = &ReviewRecord> {
        self.reviews.iter().map(|review| &**review)
    }

    fn is_by_other(&self, review: &ReviewRecord) -> bool {
        review.reviewer != self.request.created_by
    }

    fn is_current(&self, review: &ReviewRecord) -> bool {
        review.revision == self.request.head
    }

    fn approves(&self, review: &ReviewRecord) -> bool {
        review.status == ReviewStatus::Approved && self.is_current(review)
    }

    fn is_approved_by(&self, user: &UserId) -> bool {
        self.reviews().any(|review| review.reviewer == *user && self.approves(review))
    }
}

/// Lists users in a message.
fn named(users: &[&UserId]) -> String {
    let mut names: Vec<String> = users.iter().take(NAMED_USERS).map(|user| format!("`{user}`")).collect();
    if users.len() > NAMED_USERS {
        names.push(format!("{} more", users.len() - NAMED_USERS));
    }
    format!("the users {}", names.join(", "))
}
