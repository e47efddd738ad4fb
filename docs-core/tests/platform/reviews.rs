//! Reviews: who is asked, who answers, and who contributed.

use std::time::Duration;

use docs_core::{
    Actor, ErrorKind,
    model::{ChangeRequestStatus, RequestReviewers, Role},
    store::PageRequest,
};
use serde_json::json;

use crate::{
    comments::{edit, request, space},
    support::{Refused, World},
};

#[tokio::test]
async fn asking_for_a_review_opens_a_draft_and_reviewing_answers_it() {
    let w = World::new().await;
    let (p, space) = (&w.platform, space(&w).await);
    let (eve, rita) = (w.member("Eve", Some(Role::Edit)).await, w.member("Rita", Some(Role::Review)).await);
    let name = request(&w, &space).await;
    let of = (&space, name.as_str());
    let user = |actor: &Actor| actor.user().expect("a user").to_string();
    let ask = |users: Vec<String>| RequestReviewers { users, subject: None };
    let twice = ask(vec![user(&rita), user(&eve), user(&rita)]);
    let asked = p.request_reviewers(&eve, of, twice).await.expect("asked").users;
    assert_eq!(asked.iter().map(|of| of.user.id.to_string()).collect::<Vec<_>>(), [user(&rita), user(&eve)]);
    let shown = p.get_change_request(&eve, &space, &name).await.expect("read");
    assert_eq!(shown.status, ChangeRequestStatus::Open);
    let review = |status: &str| serde_json::from_value(json!({ "status": status })).expect("a review");
    p.submit_review(&eve, of, review("approved")).await.refused(ErrorKind::Forbidden);
    let first = p.submit_review(&rita, of, review("changes-requested")).await.expect("submitted");
    assert_eq!(first.requested_by.map(|by| by.id.to_string()), Some(user(&eve)));
    let waiting = async || {
        let list = p.list_requested_reviewers(&rita, of, &PageRequest::default()).await.expect("listed");
        assert_eq!(list.count, Some(list.items.len() as u64));
        list.items.into_iter().map(|of| of.user.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(waiting().await, [user(&eve)], "whoever has reviewed is not waited for");
    edit(&w, &space, &name, json!({ "operation": "insert_page", "document": {} })).await;
    let second = p.submit_review(&rita, of, review("approved")).await.expect("submitted");
    assert_eq!(second.requested_by, None, "nobody asked again");
    let list = p.list_reviews(&eve, of, Default::default(), &PageRequest::default()).await.expect("listed");
    let both: Vec<_> = list.items.iter().map(|review| (&review.id, review.outdated)).collect();
    assert!(both.contains(&(&first.id, true)) && both.contains(&(&second.id, false)), "{both:?}");
    assert!(p.remove_requested_reviewer(&eve, of, &user(&eve).parse().expect("an id")).await.expect("done"));
    assert!(!p.remove_requested_reviewer(&eve, of, &user(&eve).parse().expect("an id")).await.expect("done"));
    assert_eq!(waiting().await, [""; 0]);
    p.merge_change_request(&rita, &space, &name).await.expect("merged");
    p.submit_review(&rita, of, review("approved")).await.refused(ErrorKind::Conflict);
    p.request_reviewers(&eve, of, ask(vec![user(&rita)])).await.refused(ErrorKind::Conflict);
    w.check().await;
}

#[tokio::test]
async fn contributors_are_counted_by_what_they_did() {
    let w = World::new().await;
    let (p, space) = (&w.platform, space(&w).await);
    let eve = w.member("Eve", Some(Role::Edit)).await;
    let name = request(&w, &space).await;
    let change =
        || serde_json::from_value(json!({ "changes": [{ "operation": "insert_page", "document": {} }] }));
    for _ in 0..3 {
        w.clock.advance(Duration::from_secs(1));
        p.edit_content(&eve, &space, &name, change().expect("a change")).await.expect("changed");
    }
    let list = p.list_contributors(&w.admin, (&space, &name)).await.expect("listed");
    let counts: Vec<_> = list.items.iter().map(|by| (&by.user.id, by.count)).collect();
    assert_eq!(counts, [(w.admin.user().expect("a user"), 1), (eve.user().expect("a user"), 3)]);
    let shown = p.get_change_request(&w.admin, &space, &name).await.expect("read");
    assert_eq!(list.items[1].updated_at, shown.updated_at);
    assert_eq!(list.items[0].updated_at, shown.created_at);
}
