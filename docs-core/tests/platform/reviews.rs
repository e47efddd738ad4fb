//! Reviews: requested reviewers, submitted reviews, and contributors.

use std::time::Duration;

use docs_core::{
    Actor, ErrorKind,
    model::{ChangeRequestStatus, RequestReviewers, Role},
    store::PageRequest,
};
use serde_json::json;

use crate::{
    comments::edit,
    support::{Refused, World},
};

#[tokio::test]
async fn review_request_opens_a_draft_and_ends_with_the_review() {
    let w = World::new().await;
    let (p, space) = (&w.platform, w.space().await);
    let (eve, rita) = (w.member("Eve", Some(Role::Edit)).await, w.member("Rita", Some(Role::Review)).await);
    let rex = w.member("Rex", Some(Role::Review)).await;
    let name = w.request(&space).await;
    let eves = p.as_actor(&eve).space(&space).change_request(&name);
    let ritas = p.as_actor(&rita).space(&space).change_request(&name);
    let user = |actor: &Actor| actor.user().expect("a user").to_string();
    let ask = |users: Vec<String>| RequestReviewers { users, subject: None, description: None };
    let twice = ask(vec![user(&rita), user(&rex), user(&rita)]);
    let asked = eves.request_reviewers(twice).await.expect("asked").users;
    assert_eq!(asked.iter().map(|of| of.user.id.to_string()).collect::<Vec<_>>(), [user(&rita), user(&rex)]);
    let error = eves.request_reviewers(ask(vec![user(&eve)])).await.refused(ErrorKind::Invalid);
    assert!(error.message().starts_with("users[0]: must have the role `review`"), "{error}");
    let shown = eves.get().await.expect("read");
    assert_eq!(shown.status, ChangeRequestStatus::Open);
    let review = |status: &str| serde_json::from_value(json!({ "status": status })).expect("a review");
    eves.submit_review(review("approved")).await.refused(ErrorKind::Forbidden);
    let first = ritas.submit_review(review("changes-requested")).await.expect("submitted");
    assert_eq!(first.requested_by.map(|by| by.id.to_string()), Some(user(&eve)));
    let waiting = async || {
        let list = ritas.list_requested_reviewers(&PageRequest::default()).await.expect("listed");
        assert_eq!(list.count, Some(list.items.len() as u64));
        list.items.into_iter().map(|of| of.user.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(waiting().await, [user(&rex)], "whoever has reviewed is not waited for");
    edit(&w, &space, &name, json!({ "operation": "insert_page", "document": {} })).await;
    let second = ritas.submit_review(review("approved")).await.expect("submitted");
    assert_eq!(second.requested_by, None, "nobody asked again");
    let list = eves.list_reviews(Default::default(), &PageRequest::default()).await.expect("listed");
    let both: Vec<_> = list.items.iter().map(|review| (&review.id, review.outdated)).collect();
    assert!(both.contains(&(&first.id, true)) && both.contains(&(&second.id, false)), "{both:?}");
    assert!(eves.remove_requested_reviewer(&user(&rex).parse().expect("an id")).await.expect("done"));
    assert!(!eves.remove_requested_reviewer(&user(&rex).parse().expect("an id")).await.expect("done"));
    assert_eq!(waiting().await, [""; 0]);
    ritas.merge().await.expect("merged");
    ritas.submit_review(review("approved")).await.refused(ErrorKind::Conflict);
    eves.request_reviewers(ask(vec![user(&rita)])).await.refused(ErrorKind::Conflict);
    w.check().await;
}

#[tokio::test]
async fn contributor_count_is_the_number_of_their_changes() {
    let w = World::new().await;
    let (p, space) = (&w.platform, w.space().await);
    let eve = w.member("Eve", Some(Role::Edit)).await;
    let name = w.request(&space).await;
    let change =
        || serde_json::from_value(json!({ "changes": [{ "operation": "insert_page", "document": {} }] }));
    for _ in 0..3 {
        w.clock.advance(Duration::from_secs(1));
        p.as_actor(&eve)
            .space(&space)
            .change_request(&name)
            .edit(change().expect("a change"))
            .await
            .expect("changed");
    }
    let list = w.as_admin().space(&space).change_request(&name).list_contributors().await.expect("listed");
    let counts: Vec<_> = list.items.iter().map(|by| (&by.user.id, by.count)).collect();
    assert_eq!(counts, [(w.admin.user().expect("a user"), 1), (eve.user().expect("a user"), 3)]);
    let shown = w.as_admin().space(&space).change_request(&name).get().await.expect("read");
    assert_eq!(list.items[1].updated_at, shown.updated_at);
    assert_eq!(list.items[0].updated_at, shown.created_at);
}

#[tokio::test]
async fn a_change_request_waits_for_a_bounded_number_of_reviewers() {
    let w = World::new().await;
    let space = w.space().await;
    let name = w.request(&space).await;
    let request = w.as_admin().space(&space).change_request(&name);
    let mut users = Vec::new();
    for number in 0..=100 {
        let reviewer = w.member(&format!("Reviewer {number}"), Some(Role::Review)).await;
        users.push(reviewer.user().expect("a user").to_string());
    }
    let ask = |users: &[String]| RequestReviewers { users: users.to_vec(), subject: None, description: None };
    for users in users[..100].chunks(RequestReviewers::MAX_USERS) {
        request.request_reviewers(ask(users)).await.expect("asked");
    }
    let error = request.request_reviewers(ask(&users[100..])).await.refused(ErrorKind::Conflict);
    assert_eq!(error.message(), "users: at most 100 reviewers can be requested for a change request");
}
